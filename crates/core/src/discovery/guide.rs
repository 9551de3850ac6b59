//! Rules in guides for contributors and agents: sentences and list items that tell people what to do.
//!
//! A guide also explains, thanks and walks through an installation. Only demanding sentences count (must,
//! never, avoid), and items of a list that begin with an imperative.

use super::prose::{LineNumbers, ProseBlock, split_blocks, split_sentences};
use super::{Discovery, DiscoveryKind, DiscoverySource, cut_content};
use crate::path::RepoPath;

/// File names of guides.
const FILE_NAMES: [&str; 10] = [
    "agents.md",
    "agent.md",
    "claude.md",
    "gemini.md",
    "contributing.md",
    "contributing.markdown",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    "conventions.md",
];

/// Directories in which every page is a guide.
const DIRECTORIES: [&str; 3] = [".cursor/rules", ".github/instructions", ".agent_instructions"];

pub(super) fn is_guide(path: &RepoPath) -> bool {
    let name = path.as_str().to_ascii_lowercase();
    let (directory, file) = name.rsplit_once('/').unwrap_or(("", &name));
    let extension = path.extension().unwrap_or_default();
    let is_page = ["md", "mdc"]
        .iter()
        .any(|page| extension.eq_ignore_ascii_case(page));
    FILE_NAMES.contains(&file) || (is_page && DIRECTORIES.iter().any(|name| directory.ends_with(name)))
}

pub(super) fn extract(text: &str) -> Vec<Discovery> {
    let numbers = LineNumbers::of(text);
    let mut found = Vec::new();
    for block in split_blocks(text) {
        if block.headings.iter().any(|heading| is_without_rules(heading)) {
            continue;
        }
        let lines = numbers.at(block.bytes.start)..=numbers.at(block.bytes.end.saturating_sub(1));
        let title = block.headings.last().cloned().unwrap_or_default();
        for content in find_rules(&block) {
            found.push(Discovery {
                kind: DiscoveryKind::Rule,
                source: DiscoverySource::Guide,
                title: title.clone(),
                content: cut_content(&content),
                lines: Some(lines.clone()),
                ..Discovery::default()
            });
        }
    }
    found
}

/// The rules in a list item or a paragraph. An item is one rule; a paragraph has one per demanding sentence.
fn find_rules(block: &ProseBlock) -> Vec<String> {
    let whole = block.text.trim();
    if block.is_item {
        // An item is a rule if it demands something itself, if the sentence before the list does, or if it
        // begins with an imperative. The last does not hold for steps of numbered lists, which are often
        // installations.
        let is_announced = is_demand(&block.lead);
        let is_rule = is_demand(whole)
            || (is_announced && !is_errand(whole))
            || (!block.is_step && begins_with_imperative(whole) && !is_errand(whole));
        let content = if is_announced {
            format!("{} {whole}", block.lead)
        } else {
            whole.to_owned()
        };
        return Vec::from_iter((is_rule && is_complete(&content)).then_some(content));
    }
    let demands = split_sentences(whole)
        .into_iter()
        .filter(|sentence| is_demand(sentence) && is_complete(sentence));
    demands.map(str::to_owned).collect()
}

/// True for headings of sections that have no rules, such as an installation.
fn is_without_rules(heading: &str) -> bool {
    const HEADING_WORDS: [&str; 21] = [
        "troubleshoot",
        "report",
        "meeting",
        "notes",
        "faq",
        "getting started",
        "install",
        "setup",
        "set up",
        "setting up",
        "prerequisite",
        "requirements",
        "quick start",
        "quickstart",
        "table of contents",
        "license",
        "licence",
        "acknowledg",
        "contact",
        "resources",
        "help",
    ];
    let heading = heading.to_ascii_lowercase();
    HEADING_WORDS.iter().any(|word| heading.contains(word))
}

/// Words that make a sentence a demand.
const DEMAND_WORDS: [&str; 26] = [
    "must",
    "always",
    "never",
    "do not",
    "don't",
    "should",
    "shouldn't",
    "shall",
    "avoid",
    "prefer",
    "required to",
    "is required",
    "are required",
    "mandatory",
    "forbidden",
    "prohibited",
    "not allowed",
    "only use",
    "make sure",
    "ensure",
    "be sure to",
    "need to",
    "needs to",
    "has to",
    "have to",
    "cannot be",
];

/// Phrases with such a word that demand nothing.
const IDLE_PHRASES: [&str; 41] = [
    "it never",
    "will remind",
    "should be receiving",
    "not forget",
    "do not edit banner",
    "don't forget",
    "should serve",
    "don't worry",
    "do not worry",
    "don't hesitate",
    "do not hesitate",
    "don't have to",
    "do not have to",
    "don't need to",
    "do not need to",
    "doesn't need to",
    "does not need to",
    "doesn't have to",
    "you should see",
    "should now",
    "should be able",
    "should see",
    "don't know",
    "do not know",
    "don't have",
    "do not have",
    "if you don't",
    "if you do not",
    "should work",
    "should look",
    "should help",
    "should give",
    "feel free",
    "always welcome",
    "why you should",
    "you may need to",
    "might need to",
    "no need to",
    "don't be afraid",
    "we always",
    "you'll need to",
];

fn is_demand(sentence: &str) -> bool {
    let plain: String = sentence
        .to_lowercase()
        .replace('’', "'")
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' })
        .collect();
    let spaced = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
    let has_phrase = |words: &&str| spaced.contains(&format!(" {words} "));
    let descriptive_starts = [
        "This ",
        "These ",
        "It ",
        "It's ",
        "I'll ",
        "We don",
        "We do not",
        "Note that we",
        "See ",
        "Sometimes",
        "For example",
    ];
    !sentence.contains('?')
        && !descriptive_starts.iter().any(|start| sentence.starts_with(start))
        && DEMAND_WORDS.iter().any(has_phrase)
        && !IDLE_PHRASES.iter().any(|words| spaced.contains(words))
}

/// Imperatives that a convention begins with.
const IMPERATIVES: [&str; 34] = [
    "use",
    "follow",
    "keep",
    "write",
    "add",
    "include",
    "update",
    "name",
    "put",
    "place",
    "document",
    "test",
    "cover",
    "avoid",
    "prefer",
    "limit",
    "mark",
    "handle",
    "return",
    "declare",
    "define",
    "import",
    "format",
    "wrap",
    "separate",
    "group",
    "respect",
    "reference",
    "sign",
    "squash",
    "rebase",
    "start",
    "leave",
    "maintain",
];

fn begins_with_imperative(item: &str) -> bool {
    let first: String = item
        .trim_start_matches(['*', '_', '`', ' '])
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    IMPERATIVES.iter().any(|verb| first.eq_ignore_ascii_case(verb))
}

/// True for something to do once at a keyboard, as opposed to a convention.
fn is_errand(item: &str) -> bool {
    let lower = item.to_lowercase();
    item.contains("http")
        || [
            "localhost",
            "your terminal",
            "your browser",
            "your fork",
            "your machine",
        ]
        .iter()
        .any(|sign| lower.contains(sign))
}

/// True for a sentence that can be understood by itself: long enough, and no introduction of a list.
fn is_complete(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic))
        .count();
    (4..=120).contains(&words) && !text.ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found = extract(text);
        let found: Vec<&str> = found.iter().map(|discovery| discovery.content.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn demands_are_rules() {
        check(
            "# Style\n\nThanks for helping! All code must be formatted. You should see a green tick. Don't worry.\n\n\
             - Use tabs in Makefiles\n- Tests live beside the code\n- `unwrap` is never used in the engine\n",
            &[
                "All code must be formatted.",
                "Use tabs in Makefiles",
                "`unwrap` is never used in the engine",
            ],
        );
    }

    #[test]
    fn steps_of_an_installation_are_no_rules() {
        check(
            "# Contributing\n\n## Getting started\n\n- You must have Rust\n\n## Steps\n\n1. Add a remote for your fork\n2. Run it\n\n\
             You need to follow these rules:\n",
            &[],
        );
    }

    #[test]
    fn guides_are_recognised_by_their_path() {
        for (path, expected) in [
            ("AGENTS.md", true),
            ("crates/core/CLAUDE.md", true),
            (".github/CONTRIBUTING.md", true),
            (".github/copilot-instructions.md", true),
            (".cursor/rules/style.mdc", true),
            ("docs/agents.rs", false),
            ("README.md", false),
        ] {
            assert_eq!(is_guide(&RepoPath::parse(path).unwrap()), expected, "{path}");
        }
    }
}
