//! Commit messages: what was broken and mended, and why something was done as it was.

use std::collections::BTreeMap;

use super::prose::sentences;
use super::{Discovery, DiscoveryKind, Source, cut};
use crate::module::module_of;
use crate::path::RepoPath;
use crate::role::Role;

/// A commit as its message has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
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
pub fn in_commit(message: &Message) -> Option<Discovery> {
    let subject = Subject::of(&message.subject);
    if message.author.contains("[bot]") || subject.is_housekeeping() {
        return None;
    }
    let body = prose(&message.body);
    let (kind, more) = if subject.is_fix() {
        if !subject.tells() {
            return None;
        }
        let first = body
            .first()
            .map(|paragraph| sentences(paragraph).into_iter().take(3).collect::<Vec<_>>());
        (DiscoveryKind::Issue, first.unwrap_or_default().join(" "))
    } else {
        (DiscoveryKind::Decision, reasons(&body)?)
    };
    let said = subject.said();
    Some(Discovery {
        kind,
        source: Source::Commit,
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

/// A subject, taken apart as conventional commits write it.
struct Subject<'a> {
    kind: &'a str,
    scope: Option<&'a str>,
    text: &'a str,
}

/// Scopes and kinds of changes that leave the program as it is.
const HOUSEKEEPING: [&str; 24] = [
    "ci",
    "docs",
    "doc",
    "lint",
    "style",
    "build",
    "deps",
    "dep",
    "release",
    "changelog",
    "readme",
    "typo",
    "typos",
    "tests",
    "test",
    "chore",
    "wip",
    "merge",
    "bump",
    "formatting",
    "format",
    "i18n",
    "l10n",
    "translations",
];

/// What a fix is of that is worth no search.
const TRIVIAL: [&str; 43] = [
    "typo",
    "typos",
    "doc",
    "lint",
    "linter",
    "linting",
    "lints",
    "format",
    "formatting",
    "whitespace",
    "spelling",
    "grammar",
    "indentation",
    "changelog",
    "readme",
    "docs",
    "documentation",
    "comment",
    "comments",
    "docstring",
    "test",
    "tests",
    "spec",
    "specs",
    "ci",
    "build",
    "compile",
    "compilation",
    "warning",
    "warnings",
    "clippy",
    "nit",
    "nits",
    "review",
    "imports",
    "import",
    "link",
    "links",
    "merge",
    "conflict",
    "conflicts",
    "wording",
    "workflow",
];

impl<'a> Subject<'a> {
    fn of(subject: &'a str) -> Self {
        let subject = subject.trim();
        if let Some((head, text)) = subject.split_once(": ")
            && !head.contains(' ')
            && head.len() <= 60
        {
            let head = head.trim_end_matches('!');
            let (kind, scope) = match head.split_once('(') {
                Some((kind, rest)) => (kind, rest.strip_suffix(')')),
                None => (head, None),
            };
            if kind.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                return Self {
                    kind,
                    scope: scope.filter(|scope| !scope.is_empty()),
                    text: text.trim(),
                };
            }
        }
        Self {
            kind: "",
            scope: None,
            text: subject,
        }
    }

    fn words(&self) -> impl Iterator<Item = String> + '_ {
        let words = self.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
    }

    /// The subject without the number of the request it came in, and without what only says that it is a fix.
    fn said(&self) -> &'a str {
        let text = self.text;
        match text.rfind(" (#") {
            Some(at) if text.ends_with(')') => text[..at].trim_end(),
            _ => text,
        }
    }

    fn is_housekeeping(&self) -> bool {
        let is = |word: &str| HOUSEKEEPING.iter().any(|other| word.eq_ignore_ascii_case(other));
        is(self.kind) || self.scope.is_some_and(is) || self.words().next().is_some_and(|first| is(&first))
    }

    /// Says that something was broken.
    fn is_fix(&self) -> bool {
        is_fix(&self.kind.to_ascii_lowercase()) || self.words().next().is_some_and(|first| is_fix(&first))
    }

    /// Says what was.
    fn tells(&self) -> bool {
        let telling: Vec<String> = self
            .words()
            .filter(|word| !is_fix(word) && word.len() > 2 && !word.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
        telling.len() >= 3 && !telling.iter().any(|word| TRIVIAL.contains(&word.as_str()))
    }
}

fn is_fix(word: &str) -> bool {
    ["fix", "fixes", "fixed", "fixing", "bugfix", "hotfix"].contains(&word)
}

/// Characters of a body that are read.
const MOST_BODY: usize = 4_000;

/// The paragraphs of a body that are prose, each in one line. A list of the commits that were squashed is none, nor is what
/// comes after it; nor are trailers, code, quotes and headings.
fn prose(body: &str) -> Vec<String> {
    let end = body
        .char_indices()
        .nth(MOST_BODY)
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
            break;
        }
        if trimmed.is_empty()
            || is_code
            || is_indented
            || is_trailer(trimmed)
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

/// The sentences of a body that say what was chosen and why, at most two.
fn reasons(body: &[String]) -> Option<String> {
    let all = body.iter().flat_map(|paragraph| sentences(paragraph));
    let why: Vec<&str> = all.filter(|sentence| is_choice(sentence)).take(2).collect();
    (!why.is_empty()).then(|| why.join(" "))
}

fn is_choice(sentence: &str) -> bool {
    let lower = format!(" {} ", sentence.to_lowercase());
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let words = sentence.split_whitespace().count();
    let is_sentence = (7..=80).contains(&words)
        && !sentence.contains('?')
        && sentence.starts_with(|c: char| c.is_uppercase() || c == '`');
    // A reason counts where somebody acts on it.
    let acts = says(&[
        " we ", " use ", " uses ", " using ", " keep", " remove", " replace", " move", " now ", " make",
    ]);
    is_sentence && !says(&FAILURES) && (says(&CHOICES) || (says(&REASONS) && acts))
}

/// The module that most of the files are in. Tests, documents and what belongs to tools count where there is nothing else.
fn module(paths: &[String]) -> String {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for path in paths.iter().filter_map(|path| RepoPath::parse(path).ok()) {
        let is_code = matches!(Role::of(&path), Role::Entry | Role::Core) && !path.as_str().starts_with('.');
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
        let message = Message {
            subject: subject.into(),
            body: body.into(),
            paths: vec!["src/auth/a.ts".into(), "src/auth/b.ts".into(), "README.md".into()],
            ..Message::default()
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
