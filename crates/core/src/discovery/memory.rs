//! Discoveries in the project's memory.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::prose::{LineNumbers, Unit, units};
use super::{Discovery, DiscoveryKind, DiscoverySource, cut, is_day, module_named};
use crate::memory::MemoryFile;

/// Who wrote an entry and when, by what the entry is known by.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    known: HashMap<String, Origin>,
    key: Option<fn(&str) -> String>,
}

/// A session and a date.
type Origin = (Option<String>, Option<String>);

#[derive(Deserialize)]
struct MemoryLine {
    entry: String,
    session: Option<String>,
    date: Option<String>,
}

impl Origins {
    /// Reads them from their file; `key` is what an entry is known by. What cannot be read says nothing.
    pub fn read(text: &str, key: fn(&str) -> String) -> Self {
        let origins = text
            .lines()
            .filter_map(|line| serde_json::from_str::<MemoryLine>(line).ok());
        Self {
            known: origins
                .map(|origin| (origin.entry, (origin.session, origin.date)))
                .collect(),
            key: Some(key),
        }
    }

    fn of(&self, entry: &str) -> Option<&Origin> {
        self.known.get(&self.key?(entry.trim()))
    }
}

pub(super) fn read(file: MemoryFile, text: &str, origins: &Origins) -> Vec<Discovery> {
    let text = text.trim_start_matches('\u{feff}');
    if file == MemoryFile::BestPractices {
        return practices(text, origins);
    }
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| {
            let fields: Map<String, Value> = serde_json::from_str(line).ok()?;
            let kind = match file {
                MemoryFile::ProgressLog => is_issue(&fields).then_some(DiscoveryKind::Issue)?,
                _ => DiscoveryKind::Decision,
            };
            let (session, date) = origins.of(line).cloned().unwrap_or_default();
            let content = said(&fields);
            Some(Discovery {
                kind,
                source: DiscoverySource::Memory,
                title: String::new(),
                module: named(&fields, &["module", "component", "area", "scope"])
                    .or_else(|| module_named(&content))
                    .unwrap_or_else(|| "root".to_owned()),
                session: named(&fields, &["session", "session_id", "sessionId"]).or(session),
                date: self::date(&fields).or(date),
                lines: Some(number..=number),
                content,
            })
        })
        .filter(|one| !one.content.is_empty())
        .collect()
}

const DATES: &[&str] = &["timestamp", "date", "time", "created", "created_at"];

/// Fields that say what an entry is about, and not what it says.
const ABOUT: &[&str] = &[
    "module",
    "component",
    "area",
    "scope",
    "session",
    "session_id",
    "sessionId",
    "timestamp",
    "date",
    "time",
    "created",
    "created_at",
    "id",
    "type",
    "kind",
    "event",
    "status",
    "tags",
    "author",
];

/// Fields that say the most, in the order in which they are read.
const FIRST: &[&str] = &[
    "decision",
    "title",
    "summary",
    "blocker",
    "issue",
    "bug",
    "problem",
    "error",
    "fix",
    "task",
    "content",
    "text",
    "message",
    "description",
];

/// What an entry says, as a text: what matters first, the rest behind it with its name.
fn said(fields: &Map<String, Value>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let texts: Vec<(&str, String)> = fields
        .iter()
        .filter(|(name, _)| !ABOUT.contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name.as_str(), plain(value)?)))
        .collect();
    let main = FIRST
        .iter()
        .find_map(|first| texts.iter().find(|(name, _)| name.eq_ignore_ascii_case(first)));
    if let Some((_, text)) = main {
        parts.push(text.clone());
    }
    for (name, text) in &texts {
        if main.is_none_or(|(first, _)| first != name) {
            parts.push(format!("{name}: {text}"));
        }
    }
    cut(&parts.join("\n"))
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(plain).collect();
            Some(items.join(", ")).filter(|text| !text.is_empty())
        }
        Value::Null | Value::Bool(_) => None,
        Value::Number(_) | Value::Object(_) => Some(value.to_string()),
    }
}

/// A word that an entry is labelled with; what is too long for one is none.
fn named(fields: &Map<String, Value>, names: &[&str]) -> Option<String> {
    const LONGEST: usize = 100;
    let text = names.iter().find_map(|name| fields.get(*name)?.as_str())?;
    let text = text.trim();
    let is_word = !text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_control);
    is_word.then(|| text.to_owned())
}

/// The date of an entry, where it has one that begins with a day.
fn date(fields: &Map<String, Value>) -> Option<String> {
    let date = named(fields, DATES)?;
    date.get(..10)
        .is_some_and(|day| is_day(day.as_bytes()))
        .then_some(date)
}

/// Whether an entry of the log tells of something that stood in the way, or was mended.
fn is_issue(fields: &Map<String, Value>) -> bool {
    const SIGNS: [&str; 8] = [
        "block", "fix", "bug", "issue", "error", "fail", "problem", "regress",
    ];
    let tells = |text: &str| {
        let text = text.to_ascii_lowercase();
        SIGNS.iter().any(|sign| text.contains(sign))
    };
    fields.iter().any(|(name, value)| match name.as_str() {
        "event" | "type" | "kind" | "status" | "category" => value.as_str().is_some_and(tells),
        name => tells(name) && plain(value).is_some(),
    })
}

/// Each list item and paragraph is a practice; one that says must, always or never is a rule.
fn practices(text: &str, origins: &Origins) -> Vec<Discovery> {
    let numbers = LineNumbers::of(text);
    let known = known_entries(text, origins);
    let discovery = |unit: Unit| {
        let content = cut(&unit.text);
        let before = known.partition_point(|(bytes, _)| bytes.start <= unit.bytes.start);
        let of = known[..before]
            .last()
            .filter(|(bytes, _)| unit.bytes.start < bytes.end);
        let (session, date) = of.map(|(_, origin)| *origin).cloned().unwrap_or_default();
        Discovery {
            kind: if insists(&content) {
                DiscoveryKind::Rule
            } else {
                DiscoveryKind::Pattern
            },
            source: DiscoverySource::Memory,
            title: unit.headings.last().cloned().unwrap_or_default(),
            module: module_named(&content).unwrap_or_else(|| "root".to_owned()),
            session,
            date,
            lines: Some(numbers.at(unit.bytes.start)..=numbers.at(unit.bytes.end.saturating_sub(1))),
            content,
        }
    };
    units(text).into_iter().map(discovery).collect()
}

/// The entries whose origin is known, in order. One may have blank lines of its own, so each text between two of them is looked
/// at with those that follow it.
fn known_entries<'a>(text: &str, origins: &'a Origins) -> Vec<(Range<usize>, &'a Origin)> {
    /// Blank lines an entry may have.
    const MAX_BLANK_LINES: usize = 12;
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for (end, gap) in text.match_indices("\n\n") {
        blocks.push(start..end);
        start = end + gap.len();
    }
    blocks.push(start..text.len());
    blocks.retain(|block| !text[block.clone()].trim().is_empty());
    let mut known = Vec::new();
    let mut rest = blocks.as_slice();
    while let Some(first) = rest.first() {
        let entry = rest
            .iter()
            .take(MAX_BLANK_LINES)
            .zip(1..)
            .find_map(|(last, length)| {
                let bytes = first.start..last.end;
                Some((length, origins.of(&text[bytes.clone()])?, bytes))
            });
        let length = entry.map_or(1, |(length, origin, bytes)| {
            known.push((bytes, origin));
            length
        });
        rest = &rest[length..];
    }
    known
}

fn insists(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        ["must", "always", "never"]
            .iter()
            .any(|sign| word.eq_ignore_ascii_case(sign))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: MemoryFile, text: &str, expected: &[(DiscoveryKind, &str, &str)]) {
        let found = read(file, text, &Origins::default());
        let found: Vec<(DiscoveryKind, &str, &str)> = found
            .iter()
            .map(|one| (one.kind, one.module.as_str(), one.content.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn each_decision_says_what_and_why() {
        check(
            MemoryFile::Decisions,
            concat!(
                r#"{"date": "2026-01-09", "module": "auth", "why": "XSS", "decision": "Keep JWT in cookies"}"#,
                "\nnot JSON\n",
                r#"{"text": "Use SQLite", "files": ["src/store/db.rs"]}"#,
                "\n{}\n",
            ),
            &[
                (DiscoveryKind::Decision, "auth", "Keep JWT in cookies\nwhy: XSS"),
                (
                    DiscoveryKind::Decision,
                    "store",
                    "Use SQLite\nfiles: src/store/db.rs",
                ),
            ],
        );
    }

    #[test]
    fn of_the_log_only_what_was_broken() {
        check(
            MemoryFile::ProgressLog,
            concat!(
                r#"{"event": "task_complete", "task": "EDA notebook"}"#,
                "\n",
                r#"{"event": "blocker", "text": "The API is down"}"#,
                "\n",
                r#"{"task": "login", "fix": "Token refresh raced; a mutex holds it"}"#,
                "\n",
            ),
            &[
                (DiscoveryKind::Issue, "root", "The API is down"),
                (
                    DiscoveryKind::Issue,
                    "root",
                    "Token refresh raced; a mutex holds it\ntask: login",
                ),
            ],
        );
    }

    #[test]
    fn practices_that_insist_are_rules() {
        check(
            MemoryFile::BestPractices,
            "# Errors\n\n- Wrap errors with context\n- Never swallow one\n\nClose files in `src/io/a.rs`.\n",
            &[
                (DiscoveryKind::Pattern, "root", "Wrap errors with context"),
                (DiscoveryKind::Rule, "root", "Never swallow one"),
                (DiscoveryKind::Pattern, "io", "Close files in `src/io/a.rs`."),
            ],
        );
    }

    #[test]
    fn an_entry_is_known_by_its_text() {
        let origins = concat!(
            r#"{"entry": "{\"a\":\"b\"}", "session": "s1", "date": "2026-01-09T10:30:00Z"}"#,
            "\nhalf a li\n",
            r#"{"entry": "- One\n\n- Two", "session": "s2"}"#,
        );
        let origins = Origins::read(origins, str::to_owned);
        let decision = &read(MemoryFile::Decisions, "{\"a\":\"b\"}\n", &origins)[0];
        assert_eq!(decision.session.as_deref(), Some("s1"));
        assert_eq!(decision.date.as_deref(), Some("2026-01-09T10:30:00Z"));
        let practices = read(MemoryFile::BestPractices, "- Zero\n\n- One\n\n- Two\n", &origins);
        let sessions: Vec<Option<&str>> = practices.iter().map(|one| one.session.as_deref()).collect();
        assert_eq!(sessions, [None, Some("s2"), Some("s2")]);
    }
}
