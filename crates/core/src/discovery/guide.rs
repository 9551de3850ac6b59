//! Guides for contributors and agents: sentences and list items that tell people what to do.
//!
//! A guide also explains, thanks and walks through an installation. Only what insists counts, or what a list of conventions
//! asks for.

use super::prose::{LineNumbers, Unit, sentences, units};
use super::{Discovery, DiscoveryKind, DiscoverySource, cut};
use crate::path::RepoPath;

const NAMES: [&str; 10] = [
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

/// Directories whose pages are guides, whatever they are called.
const DIRECTORIES: [&str; 3] = [".cursor/rules", ".github/instructions", ".agent_instructions"];

pub(super) fn is_guide(path: &RepoPath) -> bool {
    let name = path.as_str().to_ascii_lowercase();
    let (directory, file) = name.rsplit_once('/').unwrap_or(("", &name));
    let extension = path.extension().unwrap_or_default();
    let is_page = ["md", "mdc"]
        .iter()
        .any(|page| extension.eq_ignore_ascii_case(page));
    NAMES.contains(&file) || (is_page && DIRECTORIES.iter().any(|name| directory.ends_with(name)))
}

pub(super) fn read(text: &str) -> Vec<Discovery> {
    let numbers = LineNumbers::of(text);
    let mut found = Vec::new();
    for unit in units(text) {
        if unit.headings.iter().any(|heading| is_aside(heading)) {
            continue;
        }
        let lines = numbers.at(unit.bytes.start)..=numbers.at(unit.bytes.end.saturating_sub(1));
        let title = unit.headings.last().cloned().unwrap_or_default();
        for content in rules(&unit) {
            found.push(Discovery {
                kind: DiscoveryKind::Rule,
                source: DiscoverySource::Guide,
                title: title.clone(),
                content: cut(&content),
                lines: Some(lines.clone()),
                ..Discovery::default()
            });
        }
    }
    found
}

/// The rules in a paragraph or an item. An item is one thing; of a paragraph each sentence that insists is one.
fn rules(unit: &Unit) -> Vec<String> {
    let whole = unit.text.trim();
    if unit.is_item {
        // What a list asks for it asks for in its first words, or in those that announce it; a step of an installation insists
        // or is none.
        let announced = insists(&unit.lead);
        let is_rule = insists(whole)
            || (announced && !is_errand(whole))
            || (!unit.is_step && begins_with_order(whole) && !is_errand(whole));
        let content = if announced {
            format!("{} {whole}", unit.lead)
        } else {
            whole.to_owned()
        };
        return Vec::from_iter((is_rule && is_complete(&content)).then_some(content));
    }
    let insisting = sentences(whole)
        .into_iter()
        .filter(|sentence| insists(sentence) && is_complete(sentence));
    insisting.map(str::to_owned).collect()
}

/// Headings under which there is nothing to obey.
fn is_aside(heading: &str) -> bool {
    const ASIDE: [&str; 21] = [
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
    ASIDE.iter().any(|aside| heading.contains(aside))
}

/// Words by which a sentence insists.
const INSISTING: [&str; 26] = [
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

/// Phrases with such a word that insist on nothing.
const IDLE: [&str; 41] = [
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

fn insists(sentence: &str) -> bool {
    let plain: String = sentence
        .to_lowercase()
        .replace('’', "'")
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' })
        .collect();
    let spaced = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
    let says = |words: &&str| spaced.contains(&format!(" {words} "));
    let describes = [
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
        && !describes.iter().any(|start| sentence.starts_with(start))
        && INSISTING.iter().any(says)
        && !IDLE.iter().any(|words| spaced.contains(words))
}

/// Verbs that a convention begins with.
const ORDERS: [&str; 34] = [
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

fn begins_with_order(item: &str) -> bool {
    let first: String = item
        .trim_start_matches(['*', '_', '`', ' '])
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    ORDERS.iter().any(|order| first.eq_ignore_ascii_case(order))
}

/// Something to do once at a keyboard rather than a way to do things.
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

/// A sentence that can be understood by itself: long enough, and not the beginning of a list.
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
        let found = read(text);
        let found: Vec<&str> = found.iter().map(|one| one.content.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_insists_is_a_rule() {
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
    fn what_walks_through_an_installation_is_none() {
        check(
            "# Contributing\n\n## Getting started\n\n- You must have Rust\n\n## Steps\n\n1. Add a remote for your fork\n2. Run it\n\n\
             You need to follow these rules:\n",
            &[],
        );
    }

    #[test]
    fn guides_are_known_by_name() {
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
