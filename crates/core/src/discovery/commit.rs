//! Discoveries in commit messages: what a fix repaired, and why something was done the way it was.
//!
//! Commits of bots, housekeeping and commits that only touch tests or documents are left out.

use std::collections::BTreeMap;

use super::commit_subject::CommitSubject;
use super::prose::split_sentences;
use super::{Discovery, DiscoveryKind, DiscoverySource, cut_content};
use crate::module::module_of;
use crate::path::RepoPath;
use crate::role::FileRole;

/// A commit with its message and the files it changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitMessage {
    pub id: String,
    /// RFC 3339.
    pub date: String,
    pub author: String,
    pub subject: String,
    pub body: String,
    /// Changed files, relative to the project.
    pub paths: Vec<String>,
}

/// Extracts the discovery of a commit, if it has one.
pub fn extract_from_commit(message: &CommitMessage) -> Option<Discovery> {
    let subject = CommitSubject::of(&message.subject);
    let is_bot = message.author.contains("[bot]");
    if is_bot || subject.is_housekeeping() || !touches_program(&message.paths) {
        return None;
    }
    let (kind, details) = if subject.is_fix() {
        (
            DiscoveryKind::Issue,
            describe_fault(&subject, &prose_paragraphs(&message.body, SquashedCommits::Read))?,
        )
    } else {
        (
            DiscoveryKind::Decision,
            find_reasons(&subject, &prose_paragraphs(&message.body, SquashedCommits::Skip))?,
        )
    };
    let title = subject.title();
    Some(Discovery {
        kind,
        source: DiscoverySource::Commit,
        title: title.to_owned(),
        content: cut_content(&format!("{title}\n{details}")),
        module: subject
            .scope
            .map_or_else(|| main_module(&message.paths), str::to_owned),
        session: None,
        date: Some(message.date.clone()).filter(|date| !date.is_empty()),
        lines: None,
    })
}

/// True if any of the files is part of the program, as opposed to tests, documents, examples and build files.
/// True if no file is known.
fn touches_program(paths: &[String]) -> bool {
    const OTHER_DIRECTORIES: [&str; 9] = [
        "examples",
        "example",
        "samples",
        "golden",
        "e2e",
        "__tests__",
        "requirements",
        "stories",
        "testdata",
    ];
    const OTHER_ENDINGS: [&str; 13] = [
        ".md", ".rst", ".svg", ".png", ".snap", ".csproj", ".props", ".lock", ".gradle", ".cabal", ".nix",
        "spec.hs", ".yml",
    ];
    let is_other = |path: &String| {
        let lower = path.to_ascii_lowercase();
        let parsed = RepoPath::parse(path);
        lower.starts_with('.')
            || OTHER_ENDINGS.iter().any(|ending| lower.ends_with(ending))
            || lower.contains(".stories.")
            || lower.split('/').any(|part| OTHER_DIRECTORIES.contains(&part))
            || parsed.is_ok_and(|path| !matches!(FileRole::of(&path), FileRole::Entry | FileRole::Core))
    };
    paths.is_empty() || !paths.iter().all(is_other)
}

/// The sentences of a body that describe the fault, beyond the subject. `None` if neither names a fault.
fn describe_fault(subject: &CommitSubject<'_>, body: &[String]) -> Option<String> {
    if !subject.is_informative() {
        return None;
    }
    let all: Vec<&str> = body
        .iter()
        .flat_map(|paragraph| split_sentences(paragraph))
        .collect();
    let names_fault = |text: &str| {
        let lower = format!(" {} ", text.to_lowercase());
        FAULT_WORDS.iter().any(|fault| lower.contains(fault))
    };
    let telling = subject.count_telling_words();
    let fault = all.iter().position(|sentence| {
        names_fault(sentence) && (5..=80).contains(&sentence.split_whitespace().count())
    });
    let two_from = |from: usize| all[from..].iter().take(2).copied().collect::<Vec<_>>().join(" ");
    match fault {
        _ if telling == 0 => None,
        Some(at) => Some(two_from(at)),
        None if telling < MIN_TELLING_WORDS => None,
        None if names_fault(subject.text) || subject.is_specific() => Some(two_from(0)),
        None => None,
    }
}

/// Words that a subject must have besides fillers if the body names no fault: "Fix the 108th issue" has none.
const MIN_TELLING_WORDS: usize = 2;

/// Words of a sentence that says that something is wrong.
const FAULT_WORDS: [&str; 38] = [
    " bug",
    " crash",
    " panic",
    " error",
    " fail",
    " wrong",
    " missing",
    " incorrect",
    " correctly",
    " properly",
    " avoid",
    " prevent",
    " not ",
    "n't ",
    " nil ",
    " null",
    " duplicate",
    " leak",
    " issue",
    " broken",
    " race",
    " deadlock",
    " never ",
    " invalid",
    " overflow",
    " regression",
    " stuck",
    " lost ",
    " loses ",
    " unable",
    " cannot ",
    " ignored",
    " twice",
    " instead of ",
    " hang",
    " infinite",
    " stale",
    " problem",
];

/// Characters of a commit body that are read.
const MAX_BODY_CHARS: usize = 4_000;

/// The treatment of the text after a list of squashed commits, which belongs to one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SquashedCommits {
    /// A fault of one of them is a fault of the whole.
    Read,
    /// A reason for one of them need not be a reason for the whole.
    Skip,
}

/// The paragraphs of a body that are prose, each on one line. Trailers, code, quotes and headings are left
/// out.
fn prose_paragraphs(body: &str, squashed: SquashedCommits) -> Vec<String> {
    let end = body
        .char_indices()
        .nth(MAX_BODY_CHARS)
        .map_or(body.len(), |(end, _)| end);
    let mut paragraphs: Vec<String> = vec![String::new()];
    let mut is_code = false;
    for line in body[..end].lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        if trimmed.starts_with("---") || line.starts_with("* ") {
            if squashed == SquashedCommits::Skip {
                break;
            }
            paragraphs.push(String::new());
            continue;
        }
        if trimmed.is_empty()
            || is_code
            || is_indented
            || is_trailer(trimmed)
            || trimmed.contains("[ ]")
            || trimmed.contains("[x]")
            || trimmed.starts_with(['>', '#', '|', '<', '['])
        {
            paragraphs.push(String::new());
            continue;
        }
        if trimmed.starts_with("- ") {
            paragraphs.push(String::new());
        }
        let paragraph = paragraphs.last_mut().expect("there is always one");
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        paragraph.push_str(trimmed.trim_start_matches("- "));
    }
    paragraphs.retain(|paragraph| paragraph.split_whitespace().count() >= 4);
    paragraphs
}

/// True for trailers such as `Signed-off-by: …`, and for links and references to issues.
fn is_trailer(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_named = line.split_once(": ").is_some_and(|(name, _)| {
        name.contains('-')
            && !name.contains(' ')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
    });
    is_named
        || [
            "http",
            "closes #",
            "fixes #",
            "refs #",
            "fix #",
            "ref ",
            "see #",
            "resolves #",
            "part of #",
            "ticket",
            "jira",
            "co-authored",
            "bumps ",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// Words of a sentence about a choice.
const CHOICE_WORDS: [&str; 13] = [
    " instead of ",
    " rather than ",
    " in favor of ",
    " in favour of ",
    " decided ",
    " we chose ",
    " we choose ",
    " opted ",
    " trade-off",
    " tradeoff",
    " on purpose",
    " deliberately ",
    " as opposed to ",
];

/// Words of a sentence with a reason, which may also be a reason for a failure.
const REASON_WORDS: [&str; 5] = [
    " because ",
    " so that ",
    " to avoid ",
    " to prevent ",
    " the reason ",
];

/// Words of a sentence that reports how something went.
const REPORT_WORDS: [&str; 16] = [
    " fail",
    " broken",
    " breaks",
    " still ",
    " bug",
    " crash",
    " wip",
    " previously",
    " currently",
    " was ",
    " were ",
    "n't work",
    " error",
    " test",
    " turns out",
    " user decided",
];

/// Words of a sentence about something else: the state before, a side remark, a condition.
const ASIDE_WORDS: [&str; 14] = [
    " initially",
    " a while ago",
    " we thought",
    " used to ",
    " possible because",
    " while at it",
    " while here",
    " tasks.md",
    " you must",
    " you **must",
    " i opted",
    " could see",
    " would be",
    " will print",
];

/// Sentences after which no further reason is added.
const MAX_REASON_SENTENCES: usize = 3;

/// The sentences of a body that say what was chosen and why. A sentence that refers back comes with the one
/// before it.
fn find_reasons(subject: &CommitSubject<'_>, body: &[String]) -> Option<String> {
    let mut reasons: Vec<&str> = Vec::new();
    for paragraph in body {
        let sentences = split_sentences(paragraph);
        for (at, sentence) in sentences.iter().enumerate() {
            if !explains_choice(subject, sentence) || reasons.len() >= MAX_REASON_SENTENCES {
                continue;
            }
            if refers_back(sentence) {
                // Without the sentence before it, a reader would not know what it is about.
                let Some(before) = at.checked_sub(1).map(|at| sentences[at]) else {
                    continue;
                };
                reasons.push(before);
            }
            reasons.push(sentence);
        }
    }
    reasons.dedup();
    (!reasons.is_empty()).then(|| reasons.join(" "))
}

/// True for a sentence that needs the one before it.
fn refers_back(sentence: &str) -> bool {
    const STARTS: [&str; 12] = [
        "This ",
        "That ",
        "It ",
        "It's ",
        "These ",
        "Those ",
        "In that case",
        "In this case",
        "I propose",
        "They ",
        "Therefore",
        "Otherwise",
    ];
    STARTS.iter().any(|start| sentence.starts_with(start))
}

fn explains_choice(subject: &CommitSubject<'_>, sentence: &str) -> bool {
    let lower = format!(" {} ", sentence.to_lowercase());
    let has_any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let words = sentence.split_whitespace().count();
    let is_sentence = (7..=80).contains(&words)
        && !sentence.contains('?')
        && !sentence.ends_with(':')
        && !["Also", "Fixed", "Moreso", "Note "]
            .iter()
            .any(|start| sentence.starts_with(start))
        && sentence.starts_with(|c: char| c.is_uppercase() || c == '`');
    // A reason counts only together with an action.
    let has_action = has_any(&[
        " we ", " use ", " uses ", " using ", " keep", " remove", " replace", " move", " now ", " make",
    ]);
    let is_reason = has_any(&REASON_WORDS) && has_action;
    // A new feature that does one thing instead of another is no choice yet.
    let is_choice = has_any(&CHOICE_WORDS)
        && (!subject.is_addition() || has_any(&[" we ", " decided", " chose", " favor", " favour"]));
    is_sentence && !has_any(&REPORT_WORDS) && !has_any(&ASIDE_WORDS) && (is_choice || is_reason)
}

/// The module with the most changed code files. Other files count only if no module has code.
fn main_module(paths: &[String]) -> String {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for path in paths.iter().filter_map(|path| RepoPath::parse(path).ok()) {
        let is_code = matches!(FileRole::of(&path), FileRole::Entry | FileRole::Core)
            && !path.as_str().starts_with('.');
        let (code, all) = counts.entry(module_of(&path).to_owned()).or_default();
        *code += usize::from(is_code);
        *all += 1;
    }
    let most = counts
        .into_iter()
        .max_by(|(a, one), (b, other)| one.cmp(other).then_with(|| b.cmp(a)));
    most.map_or_else(|| "root".to_owned(), |(module, _)| module)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(subject: &str, body: &str, expected: Option<(DiscoveryKind, &str, &str)>) {
        let message = CommitMessage {
            subject: subject.into(),
            body: body.into(),
            paths: vec!["src/auth/a.ts".into(), "src/auth/b.ts".into(), "README.md".into()],
            ..CommitMessage::default()
        };
        let found = extract_from_commit(&message);
        let found = found.as_ref().map(|discovery| {
            (
                discovery.kind,
                discovery.module.as_str(),
                discovery.content.as_str(),
            )
        });
        assert_eq!(found, expected, "{subject}");
    }

    #[test]
    fn a_fix_that_says_what_was_broken_is_an_issue() {
        let issue = |module, content| Some((DiscoveryKind::Issue, module, content));
        check(
            "fix(tokens): refresh raced with logout (#12)",
            "Two requests refreshed at once.\nThe second lost.\n\nSigned-off-by: A <a@x>",
            issue(
                "tokens",
                "refresh raced with logout\nTwo requests refreshed at once. The second lost.",
            ),
        );
        check(
            "Fix crash when the list is empty",
            "",
            issue("auth", "Fix crash when the list is empty"),
        );
        for none in [
            "fix: typo in the greeting text",
            "fix(ci): use the right image for builds",
            "Fix #123",
            "fixes",
            "fix tests of the parser on windows",
            "Prefix the names of all the columns",
            "Fix the 108th issue",
            "Fixed another bug in the parser",
        ] {
            check(none, "", None);
        }
    }

    #[test]
    fn a_body_with_a_reason_is_a_decision() {
        check(
            "store: keep rows in SQLite",
            "Rows are small.\n\nWe use SQLite instead of a file of our own, because that must lose nothing.\n\n- more to come",
            Some((
                DiscoveryKind::Decision,
                "auth",
                "keep rows in SQLite\nWe use SQLite instead of a file of our own, because that must lose nothing.",
            )),
        );
        check("Add a button", "It is blue.", None);
        check("Squashed", "* one because of two things here\n* two", None);
        check(
            "chore: bump",
            "Done because the bot said that it had to be.",
            None,
        );
    }
}
