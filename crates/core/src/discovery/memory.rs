//! Discoveries in the project's memory: every decision, every practice, and the log entries about something
//! broken.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::prose::{LineNumbers, ProseBlock, split_blocks};
use super::{Discovery, DiscoveryKind, DiscoverySource, cut_content, is_day, module_named_in};
use crate::memory::MemoryFile;

/// Session and date of memory entries, by a key of the entry's text.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    by_key: HashMap<String, Origin>,
    key: Option<fn(&str) -> String>,
}

/// A session and a date.
type Origin = (Option<String>, Option<String>);

#[derive(Deserialize)]
struct OriginLine {
    entry: String,
    session: Option<String>,
    date: Option<String>,
}

impl Origins {
    /// Reads the file of origins. `key` makes the key of an entry from its text. Unreadable lines are
    /// skipped.
    pub fn read(text: &str, key: fn(&str) -> String) -> Self {
        let origins = text
            .lines()
            .filter_map(|line| serde_json::from_str::<OriginLine>(line).ok());
        Self {
            by_key: origins
                .map(|origin| (origin.entry, (origin.session, origin.date)))
                .collect(),
            key: Some(key),
        }
    }

    fn of(&self, entry: &str) -> Option<&Origin> {
        self.by_key.get(&self.key?(entry.trim()))
    }
}

pub(super) fn extract(file: MemoryFile, text: &str, origins: &Origins) -> Vec<Discovery> {
    let text = text.trim_start_matches('\u{feff}');
    if file == MemoryFile::BestPractices {
        return extract_practices(text, origins);
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
            let content = describe_entry(&fields);
            Some(Discovery {
                kind,
                source: DiscoverySource::Memory,
                title: String::new(),
                module: read_label(&fields, &["module", "component", "area", "scope"])
                    .or_else(|| module_named_in(&content))
                    .unwrap_or_else(|| "root".to_owned()),
                session: read_label(&fields, &["session", "session_id", "sessionId"]).or(session),
                date: read_date(&fields).or(date),
                lines: Some(number..=number),
                content,
            })
        })
        .filter(|discovery| !discovery.content.is_empty())
        .collect()
}

/// Fields that hold a date.
const DATE_FIELDS: &[&str] = &["timestamp", "date", "time", "created", "created_at"];

/// Fields with metadata of an entry, which are left out of its content.
const METADATA_FIELDS: &[&str] = &[
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

/// Fields with the main statement of an entry, the most important first.
const MAIN_FIELDS: &[&str] = &[
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

/// The content of an entry as text: the main field first, then the others with their names.
fn describe_entry(fields: &Map<String, Value>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let texts: Vec<(&str, String)> = fields
        .iter()
        .filter(|(name, _)| !METADATA_FIELDS.contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name.as_str(), value_text(value)?)))
        .collect();
    let main = MAIN_FIELDS
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
    cut_content(&parts.join("\n"))
}

/// A JSON value as text; `None` if it says nothing.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(value_text).collect();
            Some(items.join(", ")).filter(|text| !text.is_empty())
        }
        Value::Null | Value::Bool(_) => None,
        Value::Number(_) | Value::Object(_) => Some(value.to_string()),
    }
}

/// The value of the first of these fields that is a short text.
fn read_label(fields: &Map<String, Value>, names: &[&str]) -> Option<String> {
    const MAX_LABEL_BYTES: usize = 100;
    let text = names.iter().find_map(|name| fields.get(*name)?.as_str())?;
    let text = text.trim();
    let is_word = !text.is_empty() && text.len() <= MAX_LABEL_BYTES && !text.contains(char::is_control);
    is_word.then(|| text.to_owned())
}

/// The date of an entry, if it begins with a day.
fn read_date(fields: &Map<String, Value>) -> Option<String> {
    let date = read_label(fields, DATE_FIELDS)?;
    date.get(..10)
        .is_some_and(|day| is_day(day.as_bytes()))
        .then_some(date)
}

/// True for a log entry about something that blocked the work or was fixed.
fn is_issue(fields: &Map<String, Value>) -> bool {
    const SIGNS: [&str; 8] = [
        "block", "fix", "bug", "issue", "error", "fail", "problem", "regress",
    ];
    let names_issue = |text: &str| {
        let text = text.to_ascii_lowercase();
        SIGNS.iter().any(|sign| text.contains(sign))
    };
    fields.iter().any(|(name, value)| match name.as_str() {
        "event" | "type" | "kind" | "status" | "category" => value.as_str().is_some_and(names_issue),
        name => names_issue(name) && value_text(value).is_some(),
    })
}

/// Each list item and paragraph is a pattern; with must, always or never it is a rule.
fn extract_practices(text: &str, origins: &Origins) -> Vec<Discovery> {
    let numbers = LineNumbers::of(text);
    let entries = find_entries_with_origin(text, origins);
    let to_discovery = |block: ProseBlock| {
        let content = cut_content(&block.text);
        let before = entries.partition_point(|(bytes, _)| bytes.start <= block.bytes.start);
        let of = entries[..before]
            .last()
            .filter(|(bytes, _)| block.bytes.start < bytes.end);
        let (session, date) = of.map(|(_, origin)| *origin).cloned().unwrap_or_default();
        Discovery {
            kind: if is_demand(&content) {
                DiscoveryKind::Rule
            } else {
                DiscoveryKind::Pattern
            },
            source: DiscoverySource::Memory,
            title: block.headings.last().cloned().unwrap_or_default(),
            module: module_named_in(&content).unwrap_or_else(|| "root".to_owned()),
            session,
            date,
            lines: Some(numbers.at(block.bytes.start)..=numbers.at(block.bytes.end.saturating_sub(1))),
            content,
        }
    };
    split_blocks(text).into_iter().map(to_discovery).collect()
}

/// Finds the entries with a known origin, in order. An entry may contain blank lines, so each paragraph is
/// tried alone and together with those that follow it.
fn find_entries_with_origin<'a>(text: &str, origins: &'a Origins) -> Vec<(Range<usize>, &'a Origin)> {
    /// Blank lines inside one entry.
    const MAX_BLANK_LINES: usize = 12;
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for (end, gap) in text.match_indices("\n\n") {
        blocks.push(start..end);
        start = end + gap.len();
    }
    blocks.push(start..text.len());
    blocks.retain(|block| !text[block.clone()].trim().is_empty());
    let mut entries = Vec::new();
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
            entries.push((bytes, origin));
            length
        });
        rest = &rest[length..];
    }
    entries
}

fn is_demand(text: &str) -> bool {
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
        let found = extract(file, text, &Origins::default());
        let found: Vec<(DiscoveryKind, &str, &str)> = found
            .iter()
            .map(|discovery| {
                (
                    discovery.kind,
                    discovery.module.as_str(),
                    discovery.content.as_str(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_decision_has_its_main_field_first() {
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
    fn only_issues_of_the_log_are_discoveries() {
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
    fn demanding_practices_are_rules() {
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
    fn an_origin_is_found_by_the_text_of_its_entry() {
        let origins = concat!(
            r#"{"entry": "{\"a\":\"b\"}", "session": "s1", "date": "2026-01-09T10:30:00Z"}"#,
            "\nhalf a li\n",
            r#"{"entry": "- One\n\n- Two", "session": "s2"}"#,
        );
        let origins = Origins::read(origins, str::to_owned);
        let decision = &extract(MemoryFile::Decisions, "{\"a\":\"b\"}\n", &origins)[0];
        assert_eq!(decision.session.as_deref(), Some("s1"));
        assert_eq!(decision.date.as_deref(), Some("2026-01-09T10:30:00Z"));
        let practices = extract(MemoryFile::BestPractices, "- Zero\n\n- One\n\n- Two\n", &origins);
        let sessions: Vec<Option<&str>> = practices
            .iter()
            .map(|discovery| discovery.session.as_deref())
            .collect();
        assert_eq!(sessions, [None, Some("s2"), Some("s2")]);
    }
}
