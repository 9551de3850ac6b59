//! Commit messages: what was broken and mended, and why something was done as it was.

use std::collections::BTreeMap;

use super::commit_subject::Subject;
use super::prose::sentences;
use super::{Discovery, DiscoveryKind, DiscoverySource, cut};
use crate::module::module_of;
use crate::path::RepoPath;
use crate::role::FileRole;

/// A commit as its message has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitMessage {
    pub id: String,
    /// RFC 3339.
    pub date: String,
    pub author: String,
    pub subject: String,
    pub body: String,
    /// Files it changed, as the project names them.
    pub paths: Vec<String>,
}

/// What a commit tells, if it tells something.
pub fn in_commit(message: &CommitMessage) -> Option<Discovery> {
    let subject = Subject::of(&message.subject);
    let is_bot = message.author.contains("[bot]");
    if is_bot || subject.is_housekeeping() || !touches_program(&message.paths) {
        return None;
    }
    let (kind, more) = if subject.is_fix() {
        (
            DiscoveryKind::Issue,
            broken(&subject, &prose(&message.body, Squashed::ReadOn))?,
        )
    } else {
        (
            DiscoveryKind::Decision,
            reasons(&subject, &prose(&message.body, Squashed::Ends))?,
        )
    };
    let said = subject.said();
    Some(Discovery {
        kind,
        source: DiscoverySource::Commit,
        title: said.to_owned(),
        content: cut(&format!("{said}\n{more}")),
        module: subject
            .scope
            .map_or_else(|| module(&message.paths), str::to_owned),
        session: None,
        date: Some(message.date.clone()).filter(|date| !date.is_empty()),
        lines: None,
    })
}

/// Whether any of the files is a part of the program: not a test, a document, an example, or what builds and checks it. Where
/// none is known, that is left open.
fn touches_program(paths: &[String]) -> bool {
    const ASIDE: [&str; 9] = [
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
    const ENDINGS: [&str; 13] = [
        ".md", ".rst", ".svg", ".png", ".snap", ".csproj", ".props", ".lock", ".gradle", ".cabal", ".nix",
        "spec.hs", ".yml",
    ];
    let is_aside = |path: &String| {
        let lower = path.to_ascii_lowercase();
        let parsed = RepoPath::parse(path);
        lower.starts_with('.')
            || ENDINGS.iter().any(|ending| lower.ends_with(ending))
            || lower.contains(".stories.")
            || lower.split('/').any(|part| ASIDE.contains(&part))
            || parsed.is_ok_and(|path| !matches!(FileRole::of(&path), FileRole::Entry | FileRole::Core))
    };
    paths.is_empty() || !paths.iter().all(is_aside)
}

/// What a fix says of what was broken, beyond its subject. Nothing where neither names a fault.
fn broken(subject: &Subject<'_>, body: &[String]) -> Option<String> {
    if !subject.tells() {
        return None;
    }
    let all: Vec<&str> = body.iter().flat_map(|paragraph| sentences(paragraph)).collect();
    let is_fault = |text: &str| {
        let lower = format!(" {} ", text.to_lowercase());
        FAULTS.iter().any(|fault| lower.contains(fault))
    };
    let fault = all
        .iter()
        .position(|sentence| is_fault(sentence) && (5..=80).contains(&sentence.split_whitespace().count()));
    let more = |from: usize| all[from..].iter().take(2).copied().collect::<Vec<_>>().join(" ");
    match fault {
        Some(at) => Some(more(at)),
        None if is_fault(subject.text) || subject.is_specific() => Some(more(0)),
        None => None,
    }
}

/// Words by which something is told to be wrong.
const FAULTS: [&str; 38] = [
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

/// Characters of a body that are read.
const MAX_BODY_CHARS: usize = 4_000;

/// What comes after a list of the commits that were squashed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Squashed {
    /// Is of one of them, and of this as well.
    ReadOn,
    /// Is of one of them alone.
    Ends,
}

/// The paragraphs of a body that are prose, each in one line. Trailers, code, quotes and headings are none.
fn prose(body: &str, squashed: Squashed) -> Vec<String> {
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
            if squashed == Squashed::Ends {
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

/// `Signed-off-by: …` and its kind, or a reference to something elsewhere.
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

/// Words by which a sentence tells of a choice.
const CHOICES: [&str; 13] = [
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

/// Words by which a sentence gives a reason, which may also be one for something that went wrong.
const REASONS: [&str; 5] = [
    " because ",
    " so that ",
    " to avoid ",
    " to prevent ",
    " the reason ",
];

/// Words of a sentence that tells how something went.
const FAILURES: [&str; 16] = [
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

/// Words of a sentence that is about something else: how it was before, a side remark, a condition.
const BESIDE: [&str; 14] = [
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

/// The sentences of a body that say what was chosen and why, at most two, each with the one it refers to.
fn reasons(subject: &Subject<'_>, body: &[String]) -> Option<String> {
    let mut why: Vec<&str> = Vec::new();
    for paragraph in body {
        let sentences = sentences(paragraph);
        for (at, sentence) in sentences.iter().enumerate() {
            if !is_choice(subject, sentence) || why.len() >= 3 {
                continue;
            }
            if refers_back(sentence) {
                // By itself nobody would know what it is about.
                let Some(before) = at.checked_sub(1).map(|at| sentences[at]) else {
                    continue;
                };
                why.push(before);
            }
            why.push(sentence);
        }
    }
    why.dedup();
    (!why.is_empty()).then(|| why.join(" "))
}

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

fn is_choice(subject: &Subject<'_>, sentence: &str) -> bool {
    let lower = format!(" {} ", sentence.to_lowercase());
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let words = sentence.split_whitespace().count();
    let is_sentence = (7..=80).contains(&words)
        && !sentence.contains('?')
        && !sentence.ends_with(':')
        && !["Also", "Fixed", "Moreso", "Note "]
            .iter()
            .any(|start| sentence.starts_with(start))
        && sentence.starts_with(|c: char| c.is_uppercase() || c == '`');
    // A reason counts where somebody acts on it.
    let acts = says(&[
        " we ", " use ", " uses ", " using ", " keep", " remove", " replace", " move", " now ", " make",
    ]);
    let reason = says(&REASONS) && acts;
    // What a new feature does instead of something is no choice yet.
    let choice =
        says(&CHOICES) && (!subject.adds() || says(&[" we ", " decided", " chose", " favor", " favour"]));
    is_sentence && !says(&FAILURES) && !says(&BESIDE) && (choice || reason)
}

/// The module that most of the files are in. Tests, documents and what belongs to tools count where there is nothing else.
fn module(paths: &[String]) -> String {
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
        let found = in_commit(&message);
        let found = found
            .as_ref()
            .map(|one| (one.kind, one.module.as_str(), one.content.as_str()));
        assert_eq!(found, expected, "{subject}");
    }

    #[test]
    fn a_fix_says_what_was_broken() {
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
        ] {
            check(none, "", None);
        }
    }

    #[test]
    fn a_body_that_says_why_is_a_decision() {
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
