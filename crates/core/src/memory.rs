//! The project's memory: its files, and the checks that an entry must pass before it is appended.
//!
//! An entry is refused rather than repaired, because the user approved exactly these bytes.
//!
//! Invariant: a [`MemoryEntry`] is safe to append. In a JSON Lines file it is one line with one object
//! without duplicate keys; in a markdown file it holds nothing that a reader would not see.

use std::collections::HashSet;
use std::fmt;

use pulldown_cmark::{Event, Parser, Tag};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::path::RepoPath;
use crate::text::redact::find_secret;
use crate::text::reveal::find_hidden_char;

/// The directory of the memory's files.
pub const MEMORY_DIRECTORY: &str = ".context/memory";

/// Bytes of one entry.
pub const MAX_ENTRY_BYTES: usize = 10_240;

/// Levels of nested objects and lists in an entry.
const MAX_JSON_DEPTH: usize = 32;

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
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|file| file.name() == name)
    }

    /// The file at this path of a project.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::from_name(path.strip_prefix(MEMORY_DIRECTORY)?.strip_prefix('/')?)
    }

    /// Its path in a project.
    pub fn path(self) -> RepoPath {
        RepoPath::parse(&format!("{MEMORY_DIRECTORY}/{}", self.name())).expect("made of literal paths")
    }

    pub fn is_json(self) -> bool {
        self != Self::BestPractices
    }

    /// The text to write before the next entry, after a file that ends with `end`.
    pub fn separator_after(self, end: &[u8]) -> &'static str {
        match (self.is_json(), end) {
            (_, []) | (true, [.., b'\n']) | (false, [b'\n'] | [.., b'\n', b'\n']) => "",
            (true, _) | (false, [.., b'\n']) => "\n",
            (false, _) => "\n\n",
        }
    }
}

/// An entry that may be appended to a file of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryEntry {
    pub file: MemoryFile,
    text: String,
}

/// The reason why an entry is refused.
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
    /// Checks an entry. White space around it is dropped.
    pub fn new(file: MemoryFile, text: &str) -> Result<Self, EntryError> {
        if text.len() > MAX_ENTRY_BYTES {
            return Err(EntryError::TooLarge(text.len()));
        }
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if text.is_empty() {
            return Err(EntryError::Empty);
        }
        if let Some(hidden) = find_hidden_char(text) {
            return Err(EntryError::Hidden(hidden.into()));
        }
        let mut plain = text.to_owned();
        if file.is_json() {
            if text.contains(['\n', '\r']) {
                return Err(EntryError::ManyLines(file.name()));
            }
            plain = check_json(text)?;
            if let Some(hidden) = find_hidden_char(&plain) {
                return Err(EntryError::Hidden(hidden.into()));
            }
        } else if let Some(element) = find_active_content(text) {
            return Err(EntryError::Active(element));
        } else if has_open_block(text) {
            return Err(EntryError::Open);
        }
        if let Some(secret) = find_secret(text).or_else(|| find_secret(&plain)) {
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

/// Reads one JSON object strictly and returns its keys and strings as plain text, in which secrets are looked
/// for.
fn check_json(text: &str) -> Result<String, EntryError> {
    let not_json = |error: serde_json::Error| EntryError::NotJson(error.to_string());
    let mut plain = String::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let visitor = StrictVisitor {
        depth: 0,
        plain: &mut plain,
    };
    visitor.deserialize(&mut reader).map_err(not_json)?;
    reader.end().map_err(not_json)?;
    if text.starts_with('{') {
        Ok(plain)
    } else {
        Err(EntryError::NotAnObject)
    }
}

/// Visits a JSON value and refuses duplicate keys and deep nesting.
struct StrictVisitor<'a> {
    depth: usize,
    plain: &'a mut String,
}

impl StrictVisitor<'_> {
    fn inner<E: serde::de::Error>(&mut self) -> Result<StrictVisitor<'_>, E> {
        if self.depth >= MAX_JSON_DEPTH {
            return Err(E::custom(format!(
                "more than {MAX_JSON_DEPTH} levels inside each other"
            )));
        }
        Ok(StrictVisitor {
            depth: self.depth + 1,
            plain: self.plain,
        })
    }
}

impl<'de> DeserializeSeed<'de> for StrictVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictVisitor<'_> {
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
        self.plain.push_str(text);
        self.plain.push('\n');
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.inner()?)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut keys: HashSet<String> = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.plain.push_str(&key);
            self.plain.push_str(": ");
            fields.next_value_seed(self.inner()?)?;
            if let Some(twice) = keys.replace(key) {
                return Err(A::Error::custom(format!("the key \"{twice}\" is there twice")));
            }
        }
        Ok(())
    }
}

/// HTML elements that run code or load something.
const ACTIVE_ELEMENTS: [&str; 14] = [
    "script", "iframe", "object", "embed", "style", "link", "meta", "base", "svg", "form", "img", "video",
    "audio", "frame",
];

/// Finds HTML or a link in markdown that would run code or load something when it is rendered. Code blocks
/// are safe.
fn find_active_content(text: &str) -> Option<String> {
    for event in Parser::new(text) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let name = html.trim_start_matches(['<', '/']);
                let end = name
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .unwrap_or(name.len());
                let name = name[..end].to_ascii_lowercase();
                if ACTIVE_ELEMENTS.contains(&name.as_str()) || has_event_handler(&html) {
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

/// True if a tag has an event handler: `onerror=…`.
fn has_event_handler(html: &str) -> bool {
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

/// True if a code block or comment is not closed, so that it would swallow the entries after it.
fn has_open_block(text: &str) -> bool {
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
    fn deeply_nested_json_is_refused() {
        let nested = |depth: usize| format!("{{\"a\": {}1{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(MemoryEntry::new(MemoryFile::ProgressLog, &nested(MAX_JSON_DEPTH - 1)).is_ok());
        for depth in [MAX_JSON_DEPTH, 200, 5_000] {
            let refused = MemoryEntry::new(MemoryFile::ProgressLog, &nested(depth));
            assert!(matches!(refused, Err(EntryError::NotJson(_))), "{depth}");
        }
    }

    #[test]
    fn the_limit_counts_bytes_and_not_characters() {
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
    fn markdown_with_hidden_or_active_content_is_refused() {
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
    fn secrets_are_refused_even_if_escaped() {
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
    fn an_entry_is_separated_from_the_text_before_it() {
        let separator = |file: MemoryFile, end: &str| file.separator_after(end.as_bytes());
        for (end, json, markdown) in [
            ("", "", ""),
            ("x", "\n", "\n\n"),
            ("x\n", "", "\n"),
            ("x\n\n", "", ""),
            ("\n", "", ""),
        ] {
            assert_eq!(separator(MemoryFile::Decisions, end), json, "{end:?}");
            assert_eq!(separator(MemoryFile::BestPractices, end), markdown, "{end:?}");
        }
    }

    #[test]
    fn files_are_found_by_name_and_by_path() {
        for file in MemoryFile::ALL {
            assert_eq!(MemoryFile::from_name(file.name()), Some(file));
            assert_eq!(MemoryFile::from_path(file.path().as_str()), Some(file));
        }
        assert_eq!(MemoryFile::from_path("decisions.jsonl"), None);
        assert_eq!(MemoryFile::from_path("docs/decisions.jsonl"), None);
    }
}
