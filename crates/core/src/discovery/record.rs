//! Architecture decision records: one decision each, with its title, its status and its text.
//!
//! Headings are read in the forms of markdown, `reStructuredText` and `AsciiDoc`. A page in the same
//! directory without a decision, such as an index or a template, is no record.

use super::{
    Discovery, DiscoveryKind, DiscoverySource, MAX_DISCOVERY_CHARS, cut_content, is_day, module_named_in,
};
use crate::path::RepoPath;

/// Directories that hold records.
const DIRECTORIES: [&str; 8] = [
    "adr",
    "adrs",
    "decisions",
    "decision-records",
    "decision_records",
    "architecture-decisions",
    "architecture_decisions",
    "architectural-decisions",
];

const EXTENSIONS: [&str; 6] = ["md", "markdown", "mdx", "rst", "adoc", "asciidoc"];

/// File names beside records that are none.
const OTHER_STEMS: [&str; 6] = ["readme", "index", "template", "process", "about", "_category_"];

/// True for a file in a directory of records, or with the name of one.
pub(super) fn is_record(path: &RepoPath) -> bool {
    let mut names: Vec<String> = path.components().map(str::to_ascii_lowercase).collect();
    let Some(file) = names.pop() else { return false };
    let Some((stem, extension)) = file.rsplit_once('.') else {
        return false;
    };
    let is_numbered = stem.strip_prefix("adr").is_some_and(|rest| {
        rest.trim_start_matches(['-', '_'])
            .starts_with(|c: char| c.is_ascii_digit())
    });
    EXTENSIONS.contains(&extension)
        && !OTHER_STEMS
            .iter()
            .any(|other| stem == *other || stem.contains("template"))
        && (is_numbered || names.iter().any(|name| DIRECTORIES.contains(&name.as_str())))
}

/// The part of a page under one heading.
struct RecordPart<'a> {
    heading: String,
    level: usize,
    lines: Vec<(usize, &'a str)>,
}

pub(super) fn extract(path: &RepoPath, text: &str) -> Option<Discovery> {
    let (front, parts) = split_parts(text);
    let part_named = |names: &[&str]| {
        parts.iter().find(|part| {
            let heading = part.heading.to_ascii_lowercase();
            let heading = heading.trim_start_matches(|c: char| !c.is_alphabetic());
            names.iter().any(|name| heading.starts_with(name))
        })
    };
    let decision_part = part_named(&[
        "decision",
        "outcome",
        "solution",
        "resolution",
        "we will",
        "proposed decision",
    ])?;
    let title = front_value(&front, "title")
        .or_else(|| {
            parts
                .iter()
                .find(|part| part.level == 1)
                .map(|part| part.heading.clone())
        })
        .or_else(|| parts.first().map(|part| part.heading.clone()))
        .filter(|title| !title.is_empty())?;
    let status = part_named(&["status"])
        .and_then(|part| read_status(&parts, part))
        .or_else(|| front_value(&front, "status"))
        .or_else(|| is_superseded(text).then(|| "superseded".to_owned()));
    let decision = part_text(&parts, decision_part);
    let decision = skip_preliminaries(&decision);
    if decision.split_whitespace().count() < 5 {
        return None;
    }
    let title = without_number(&title);
    let status_suffix = match &status {
        Some(status) if !status.eq_ignore_ascii_case("accepted") => format!(" ({status})"),
        _ => String::new(),
    };
    let first = parts
        .first()
        .and_then(|part| part.lines.first())
        .map_or(1, |(line, _)| *line);
    let last = decision_part.lines.last().map_or(first, |(line, _)| *line);
    Some(Discovery {
        kind: DiscoveryKind::Decision,
        source: DiscoverySource::Record,
        content: cut_content(&format!("{title}{status_suffix}\n{decision}")),
        title,
        module: module_named_in(decision).unwrap_or_default(),
        session: None,
        date: find_date(path, &front, text),
        lines: Some(decision_part.lines.first().map_or(first, |(line, _)| *line)..=last),
    })
}

/// The status in a part: after the heading, in the first line, or in a table.
fn read_status(parts: &[RecordPart<'_>], part: &RecordPart<'_>) -> Option<String> {
    if let Some((_, status)) = part.heading.split_once(':') {
        return clean_status(status);
    }
    let text = part_text(parts, part);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    if rows.is_empty() {
        return text.split(['.', '\n']).next().and_then(clean_status);
    }
    let cells = |row: &str| -> String {
        let cells = row.split('|').map(str::trim).filter(|cell| !cell.is_empty());
        cells.collect::<Vec<_>>().join(" ")
    };
    // The first row is the head of the table.
    clean_status(
        &rows
            .iter()
            .skip(1)
            .map(|row| cells(row))
            .collect::<Vec<_>>()
            .join(", "),
    )
}

fn clean_status(status: &str) -> Option<String> {
    let status = status.trim().trim_matches(['*', '-', ' ', '>', '_', '`']);
    (!status.is_empty() && status.chars().count() < 100).then(|| status.to_owned())
}

/// True if a page says near its top that another record replaces it.
fn is_superseded(text: &str) -> bool {
    let top: String = text
        .lines()
        .take(12)
        .collect::<Vec<_>>()
        .join(" ")
        .to_ascii_lowercase();
    top.contains("superseded by") || top.contains("superceded by")
}

/// The decision from its first line that states one, if the text before it is so long that the limit would
/// cut it off.
fn skip_preliminaries(decision: &str) -> &str {
    const DECISION_WORDS: [&str; 8] = [
        " we ", " will ", " decid", " propos", " shall ", " must ", " use ", " adopt",
    ];
    let states_decision = |line: &str| {
        let lower = format!(" {} ", line.to_lowercase());
        DECISION_WORDS.iter().any(|word| lower.contains(word))
    };
    let mut at = 0;
    for line in decision.split_inclusive('\n') {
        if states_decision(line) {
            return if at > MAX_DISCOVERY_CHARS / 2 {
                &decision[at..]
            } else {
                decision
            };
        }
        at += line.len();
    }
    decision
}

/// A title without its number: `9. Use SQLite`, `ADR-9: Use SQLite`.
fn without_number(title: &str) -> String {
    let rest = title.trim().trim_start_matches("ADR").trim_start_matches("adr");
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || " .:-_—–#|".contains(c));
    if rest.is_empty() {
        title.trim().to_owned()
    } else {
        rest.to_owned()
    }
}

/// Splits a page into the lines of its front matter and its parts.
fn split_parts(text: &str) -> (Vec<&str>, Vec<RecordPart<'_>>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut front: Vec<&str> = Vec::new();
    let mut begin = 0;
    if lines.first().is_some_and(|line| line.trim_end() == "---")
        && let Some(end) = lines.iter().skip(1).position(|line| line.trim_end() == "---")
    {
        front = lines[1..=end].to_vec();
        begin = end + 2;
    }
    let mut parts: Vec<RecordPart<'_>> = Vec::new();
    let mut marks: Vec<char> = Vec::new();
    let mut is_code = false;
    let mut at = begin;
    while at < lines.len() {
        let line = lines[at];
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let underline = lines.get(at + 1).and_then(|next| underline_mark(line, next));
        let marked_heading = ["#", "="].iter().find_map(|mark| {
            let level = line.len() - line.trim_start_matches(mark).len();
            (1..=6)
                .contains(&level)
                .then(|| (level, line[level..].strip_prefix(' ')))
        });
        match (marked_heading, underline) {
            _ if is_code => add_line(&mut parts, at, line),
            (Some((level, Some(heading))), _) => {
                let heading = heading.trim_end_matches(['#', '=', ' ']).trim().to_owned();
                parts.push(RecordPart {
                    heading,
                    level,
                    lines: vec![(at + 1, line)],
                });
            }
            (_, Some(mark)) => {
                let level = marks.iter().position(|known| *known == mark).unwrap_or_else(|| {
                    marks.push(mark);
                    marks.len() - 1
                }) + 1;
                let heading = line.trim().to_owned();
                parts.push(RecordPart {
                    heading,
                    level,
                    lines: vec![(at + 1, line)],
                });
                at += 1;
            }
            _ => add_line(&mut parts, at, line),
        }
        at += 1;
    }
    (front, parts)
}

fn add_line<'a>(parts: &mut [RecordPart<'a>], at: usize, line: &'a str) {
    if let Some(part) = parts.last_mut() {
        part.lines.push((at + 1, line));
    }
}

/// The character of an underline that makes the line above it a heading.
fn underline_mark(line: &str, next: &str) -> Option<char> {
    let next = next.trim_end();
    let mark = next.chars().next().filter(|mark| "=-~^\"*+#".contains(*mark))?;
    let is_line = next.len() >= 3 && next.chars().all(|c| c == mark);
    let is_text = !line.trim().is_empty() && line.starts_with(char::is_alphanumeric);
    (is_line && is_text && next.len() + 3 >= line.trim_end().chars().count()).then_some(mark)
}

/// The text of a part with the parts below it, without code.
fn part_text(parts: &[RecordPart<'_>], part: &RecordPart<'_>) -> String {
    let at = parts
        .iter()
        .position(|other| std::ptr::eq(other, part))
        .unwrap_or_default();
    let below = parts[at + 1..]
        .iter()
        .take_while(|other| other.level > part.level);
    let mut text = String::new();
    let mut is_code = false;
    for (number, part) in [part].into_iter().chain(below).enumerate() {
        if number > 0 {
            text.push_str(&part.heading);
            text.push_str(":\n");
        }
        for (_, line) in part.lines.iter().skip(1) {
            let line = line.trim();
            if line.starts_with("```") {
                is_code = !is_code;
                // Drop the line that introduced the code.
                if is_code && text.trim_end().ends_with(':') {
                    let kept = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
                    text.truncate(kept);
                }
            } else if !is_code
                && !line.is_empty()
                && !["<!--", "| -", "|-", "![", ".. image"]
                    .iter()
                    .any(|start| line.starts_with(start))
            {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text.trim().to_owned()
}

fn front_value(front: &[&str], name: &str) -> Option<String> {
    let at = front.iter().position(|line| {
        line.split_once(':')
            .is_some_and(|(key, _)| key.trim().eq_ignore_ascii_case(name))
    })?;
    let (_, value) = front[at].split_once(':')?;
    let value = value.trim().trim_matches(['"', '\'', '[', ']']);
    // The value may begin on the next line.
    let value = match value {
        "|" | ">" | "" => front.get(at + 1).map_or("", |line| line.trim()),
        value => value,
    };
    Some(value.to_owned()).filter(|value| !value.is_empty())
}

/// The date of a record, from its front matter, its text or its file name.
fn find_date(path: &RepoPath, front: &[&str], text: &str) -> Option<String> {
    let file_name = path.as_str().rsplit('/').next().unwrap_or_default();
    let front = ["date", "created"]
        .iter()
        .find_map(|name| front_value(front, name));
    let line = text.lines().take(30).find(|line| {
        line.trim_start_matches(['*', '-', ' ', '#'])
            .to_ascii_lowercase()
            .starts_with("date")
    });
    [front.as_deref(), line, Some(file_name)]
        .into_iter()
        .flatten()
        .find_map(find_day)
}

/// The first day in a text, written as `2026-01-09`.
fn find_day(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let at = bytes.windows(10).position(is_day)?;
    Some(format!("{}T00:00:00Z", &text[at..at + 10]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(path: &str, text: &str) -> Option<(String, String, Option<String>)> {
        let path = RepoPath::parse(path).unwrap();
        assert!(is_record(&path), "{path}");
        extract(&path, text).map(|discovery| (discovery.title, discovery.content, discovery.date))
    }

    #[test]
    fn records_are_recognised_by_their_path() {
        for (path, expected) in [
            ("docs/adr/0001-use-rust.md", true),
            ("doc/adr/0001.rst", true),
            ("docs/decisions/0002-x.adoc", true),
            ("docs/architecture/adr-006-store.md", true),
            ("docs/adr/README.md", false),
            ("docs/adr/template.md", false),
            ("docs/adr/adr-template.md", false),
            ("src/adr.rs", false),
            ("docs/guide.md", false),
        ] {
            assert_eq!(is_record(&RepoPath::parse(path).unwrap()), expected, "{path}");
        }
    }

    #[test]
    fn a_record_has_its_title_status_and_decision() {
        let text = "# 9. Expose the context\n\nDate: 2024-05-06\n\n## Status\n\nSuperseded by 12\n\n## Context\n\nx\n\n\
                    ## Decision\n\nWe expose the request context to handlers.\n\n### Why\n\nTests need it.\n\n## Consequences\n\ny\n";
        assert_eq!(
            record("docs/adr/0009-expose.md", text),
            Some((
                "Expose the context".into(),
                "Expose the context (Superseded by 12)\nWe expose the request context to handlers.\nWhy:\nTests need it."
                    .into(),
                Some("2024-05-06T00:00:00Z".into())
            ))
        );
    }

    #[test]
    fn front_matter_and_other_markup_are_read() {
        let text = "---\ntitle: |\n  4. Use handles\nstatus: accepted\n---\n\n## Decision\n\nEffects are modelled by handles only.\n";
        assert_eq!(
            record("docs/adr/2021-06-08_004-use-handle.md", text),
            Some((
                "Use handles".into(),
                "Use handles\nEffects are modelled by handles only.".into(),
                Some("2021-06-08T00:00:00Z".into())
            ))
        );
        let text = "Roles\n-----\n\nStatus\n======\n\nAccepted - January 2021\n\nDecision\n========\n\nDeclare roles in one place, always.\n";
        assert_eq!(
            record("docs/decisions/0004-roles.rst", text).map(|(title, content, _)| (title, content)),
            Some((
                "Roles".into(),
                "Roles (Accepted - January 2021)\nDeclare roles in one place, always.".into()
            ))
        );
    }

    #[test]
    fn a_page_without_a_decision_is_skipped() {
        assert_eq!(record("docs/adr/0001-a.md", "# List\n\n- one\n- two\n"), None);
        assert_eq!(record("docs/adr/0002-b.md", "# T\n\n## Decision\n\nTBD\n"), None);
    }
}
