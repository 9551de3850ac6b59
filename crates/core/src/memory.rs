//! The project's memory: which files it has, and what may be added to them.
//!
//! An entry is refused rather than mended: what a user approved is what is written, to the byte.
//!
//! Invariant: a [`MemoryEntry`] is safe to append. One of a JSON Lines file is one line and one object whose keys say one thing
//! each; one of a markdown file holds nothing that a reader would not see.

use std::collections::HashSet;
use std::fmt;

use pulldown_cmark::{Event, Parser, Tag};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::path::RepoPath;
use crate::text::redact::secret_in;
use crate::text::reveal::hidden_in;

/// Where the files are.
pub const DIRECTORY: &str = ".context/memory";

/// An entry may have so many bytes.
pub const MAX_ENTRY_BYTES: usize = 10_240;

/// Objects and lists may stand inside each other so deep.
const DEEPEST: usize = 32;

/// A file of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MemoryFile {
    #[serde(rename = "progress_log.jsonl")]
    ProgressLog,
    #[serde(rename = "decisions.jsonl")]
    Decisions,
    #[serde(rename = "best_practices.md")]
    BestPractices,
}

impl MemoryFile {
    pub const ALL: [Self; 3] = [Self::ProgressLog, Self::Decisions, Self::BestPractices];

    pub fn name(self) -> &'static str {
        match self {
            Self::ProgressLog => "progress_log.jsonl",
            Self::Decisions => "decisions.jsonl",
            Self::BestPractices => "best_practices.md",
        }
    }

    /// The file with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|file| file.name() == name)
    }

    /// The file at this path of a project.
    pub fn at(path: &str) -> Option<Self> {
        Self::named(path.strip_prefix(DIRECTORY)?.strip_prefix('/')?)
    }

    /// Its path in a project.
    pub fn path(self) -> RepoPath {
        RepoPath::parse(&format!("{DIRECTORY}/{}", self.name())).expect("made of literal paths")
    }

    pub fn is_json(self) -> bool {
        self != Self::BestPractices
    }

    /// What must stand between what a file ends with and a further entry.
    pub fn gap(self, end: &[u8]) -> &'static str {
        match (self.is_json(), end) {
            (_, []) | (true, [.., b'\n']) | (false, [b'\n'] | [.., b'\n', b'\n']) => "",
            (true, _) | (false, [.., b'\n']) => "\n",
            (false, _) => "\n\n",
        }
    }
}

/// Something that may be added to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryEntry {
    pub file: MemoryFile,
    text: String,
}

/// Why something may not be added.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    #[error("the entry is empty")]
    Empty,
    #[error("the entry has {0} bytes, over the limit of {MAX_ENTRY_BYTES}")]
    TooLarge(usize),
    #[error("the entry has more than one line, and each line of {0} is an entry")]
    ManyLines(&'static str),
    #[error("the entry is not valid JSON: {0}")]
    NotJson(String),
    #[error("the entry is not a JSON object")]
    NotAnObject,
    #[error("the entry has something that would run or load when it is shown: {0}")]
    Active(String),
    #[error("the entry begins a code block or a comment and does not end it")]
    Open,
    #[error("the entry has an invisible character: U+{0:04X}")]
    Hidden(u32),
    #[error("the entry seems to hold a secret: {0}")]
    Secret(&'static str),
}

impl MemoryEntry {
    /// Looks at what should be added; space around it does not count.
    pub fn new(file: MemoryFile, text: &str) -> Result<Self, EntryError> {
        if text.len() > MAX_ENTRY_BYTES {
            return Err(EntryError::TooLarge(text.len()));
        }
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if text.is_empty() {
            return Err(EntryError::Empty);
        }
        if let Some(hidden) = hidden_in(text) {
            return Err(EntryError::Hidden(hidden.into()));
        }
        let mut plain = text.to_owned();
        if file.is_json() {
            if text.contains(['\n', '\r']) {
                return Err(EntryError::ManyLines(file.name()));
            }
            plain = check_json(text)?;
            if let Some(hidden) = hidden_in(&plain) {
                return Err(EntryError::Hidden(hidden.into()));
            }
        } else if let Some(what) = active(text) {
            return Err(EntryError::Active(what));
        } else if is_open(text) {
            return Err(EntryError::Open);
        }
        if let Some(secret) = secret_in(text).or_else(|| secret_in(&plain)) {
            return Err(EntryError::Secret(secret));
        }
        Ok(Self {
            file,
            text: text.to_owned(),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Reads one object, strictly, and returns everything it says as plain text.
fn check_json(text: &str) -> Result<String, EntryError> {
    let not_json = |error: serde_json::Error| EntryError::NotJson(error.to_string());
    let mut said = String::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let strict = Strict {
        depth: 0,
        said: &mut said,
    };
    strict.deserialize(&mut reader).map_err(not_json)?;
    reader.end().map_err(not_json)?;
    if text.starts_with('{') {
        Ok(said)
    } else {
        Err(EntryError::NotAnObject)
    }
}

/// Walks through a JSON value: no key twice, not too deep.
struct Strict<'a> {
    depth: usize,
    said: &'a mut String,
}

impl Strict<'_> {
    fn inner<E: serde::de::Error>(&mut self) -> Result<Strict<'_>, E> {
        if self.depth >= DEEPEST {
            return Err(E::custom(format!("more than {DEEPEST} levels inside each other")));
        }
        Ok(Strict {
            depth: self.depth + 1,
            said: self.said,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.said.push_str(text);
        self.said.push('\n');
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.inner()?)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut keys: HashSet<String> = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.said.push_str(&key);
            self.said.push_str(": ");
            fields.next_value_seed(self.inner()?)?;
            if let Some(twice) = keys.replace(key) {
                return Err(A::Error::custom(format!("the key \"{twice}\" is there twice")));
            }
        }
        Ok(())
    }
}

/// Elements that run something, or load it from elsewhere.
const ACTIVE: [&str; 14] = [
    "script", "iframe", "object", "embed", "style", "link", "meta", "base", "svg", "form", "img", "video",
    "audio", "frame",
];

/// What in markdown would do something in whatever renders it. What is written as code does nothing.
fn active(text: &str) -> Option<String> {
    for event in Parser::new(text) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let name = html.trim_start_matches(['<', '/']);
                let end = name
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .unwrap_or(name.len());
                let name = name[..end].to_ascii_lowercase();
                if ACTIVE.contains(&name.as_str()) || has_handler(&html) {
                    return Some(format!("<{name}>"));
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let scheme = dest_url
                    .split(':')
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_ascii_lowercase();
                if ["javascript", "vbscript", "data"].contains(&scheme.as_str()) && dest_url.contains(':') {
                    return Some(format!("{scheme}:"));
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a tag says what to do when something happens: `onerror=…`.
fn has_handler(html: &str) -> bool {
    let lower = html.to_ascii_lowercase();
    let names = lower.split([' ', '\t', '\n', '\r', '/', '"', '\'']);
    names
        .map(|part| part.split_once('=').map_or(part, |(name, _)| name))
        .any(|name| {
            name.len() > 4
                && name.starts_with("on")
                && name[2..].bytes().all(|byte| byte.is_ascii_alphabetic())
                && lower.contains(&format!("{name}="))
        })
}

/// Whether a block is begun and not ended, so that it would swallow the entries after it.
fn is_open(text: &str) -> bool {
    let mut fence: Option<(char, usize)> = None;
    for line in text.lines() {
        let line = line.trim_start();
        let Some(mark) = line.chars().next().filter(|mark| "`~".contains(*mark)) else {
            continue;
        };
        let length = line.len() - line.trim_start_matches(mark).len();
        match fence {
            None if length >= 3 => fence = Some((mark, length)),
            Some((of, least)) if of == mark && length >= least && line.trim_end().len() == length => {
                fence = None;
            }
            _ => {}
        }
    }
    let comment = text.rfind("<!--").is_some_and(|at| !text[at..].contains("-->"));
    fence.is_some() || comment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn check(file: MemoryFile, text: &str, expected: Result<&str, EntryError>) {
        let entry = MemoryEntry::new(file, text);
        assert_eq!(
            entry.as_ref().map(MemoryEntry::text),
            expected.as_ref().copied(),
            "{text}"
        );
    }

    #[test]
    fn one_object_on_one_line() {
        let decisions = |text: &str, expected| check(MemoryFile::Decisions, text, expected);
        decisions(r#"{"a": 1}"#, Ok(r#"{"a": 1}"#));
        decisions(" {\"a\": [1, {\"b\": null}]}\n", Ok(r#"{"a": [1, {"b": null}]}"#));
        decisions("", Err(EntryError::Empty));
        decisions(" \n\t", Err(EntryError::Empty));
        decisions("[1]", Err(EntryError::NotAnObject));
        decisions("\"text\"", Err(EntryError::NotAnObject));
        decisions("{\"a\":\n1}", Err(EntryError::ManyLines("decisions.jsonl")));
        decisions(
            r#"{"a": 1} {"b": 2}"#,
            Err(EntryError::NotJson(
                "trailing characters at line 1 column 10".into(),
            )),
        );
        decisions(
            r#"{"a": {"b": 1, "b": 2}}"#,
            Err(EntryError::NotJson(
                "the key \"b\" is there twice at line 1 column 22".into(),
            )),
        );
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        let nested = |depth: usize| format!("{{\"a\": {}1{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(MemoryEntry::new(MemoryFile::ProgressLog, &nested(DEEPEST - 1)).is_ok());
        for depth in [DEEPEST, 200, 5_000] {
            let refused = MemoryEntry::new(MemoryFile::ProgressLog, &nested(depth));
            assert!(matches!(refused, Err(EntryError::NotJson(_))), "{depth}");
        }
    }

    #[test]
    fn bytes_are_counted_and_not_characters() {
        let fits = "é".repeat(MAX_ENTRY_BYTES / 2);
        assert!(MemoryEntry::new(MemoryFile::BestPractices, &fits).is_ok());
        let more = format!("{fits}x");
        check(
            MemoryFile::BestPractices,
            &more,
            Err(EntryError::TooLarge(MAX_ENTRY_BYTES + 1)),
        );
    }

    #[test]
    fn markdown_shows_all_it_holds() {
        let practice = |text: &str, expected| check(MemoryFile::BestPractices, text, expected);
        practice("- Use `<script>`? No.", Ok("- Use `<script>`? No."));
        practice(
            "<script>alert(1)</script>",
            Err(EntryError::Active("<script>".into())),
        );
        practice(
            "a <img src=x onerror=y> b",
            Err(EntryError::Active("<img>".into())),
        );
        practice("a <b onclick=\"y\">b</b>", Err(EntryError::Active("<b>".into())));
        practice("[a](javascript:b)", Err(EntryError::Active("javascript:".into())));
        practice("```\ncode", Err(EntryError::Open));
        practice("```\ncode\n```", Ok("```\ncode\n```"));
        practice("<!-- open", Err(EntryError::Open));
        practice("a < b and <em>c</em>", Ok("a < b and <em>c</em>"));
        practice("x\n<SCRIPT src=y>", Err(EntryError::Active("<script>".into())));
        practice("a\u{1b}[2Jb", Err(EntryError::Hidden(0x1b)));
        practice("a\u{202e}b", Err(EntryError::Hidden(0x202e)));
        practice("two\n\nlines\r\n", Ok("two\n\nlines"));
    }

    #[test]
    fn secrets_are_refused_however_they_are_written() {
        let key = ["AKIA", "ABCDEFGHIJKLMNOP"].concat();
        let escaped = key.replace('A', "\\u0041");
        for text in [format!(r#"{{"k": "{key}"}}"#), format!(r#"{{"k": "{escaped}"}}"#)] {
            check(
                MemoryFile::Decisions,
                &text,
                Err(EntryError::Secret("an AWS access key")),
            );
        }
    }

    #[test]
    fn entries_are_set_off_from_what_is_there() {
        let gap = |file: MemoryFile, end: &str| file.gap(end.as_bytes());
        for (end, json, markdown) in [
            ("", "", ""),
            ("x", "\n", "\n\n"),
            ("x\n", "", "\n"),
            ("x\n\n", "", ""),
            ("\n", "", ""),
        ] {
            assert_eq!(gap(MemoryFile::Decisions, end), json, "{end:?}");
            assert_eq!(gap(MemoryFile::BestPractices, end), markdown, "{end:?}");
        }
    }

    #[test]
    fn files_are_known_by_name_and_by_path() {
        for file in MemoryFile::ALL {
            assert_eq!(MemoryFile::named(file.name()), Some(file));
            assert_eq!(MemoryFile::at(file.path().as_str()), Some(file));
        }
        assert_eq!(MemoryFile::at("decisions.jsonl"), None);
        assert_eq!(MemoryFile::at("docs/decisions.jsonl"), None);
    }
}
