//! Splices: replacing byte ranges of a text, and finding where its lines begin and end.
//!
//! Nothing here knows JSON or TOML.
//!
//! Invariant: bytes outside of every splice's range are copied unchanged, in order.

use std::ops::Range;

use super::Position;

/// Replaces a byte range by a text.
pub(super) struct Splice {
    range: Range<usize>,
    text: String,
}

impl Splice {
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }

    pub(super) fn remove(range: Range<usize>) -> Self {
        Self::replace(range, "")
    }

    pub(super) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }
}

/// Applies all splices. Those at the same position are applied in the order given.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.range.start);
    let mut changed = String::with_capacity(text.len() + 256);
    let mut copied = 0;
    for splice in splices {
        changed.push_str(&text[copied..splice.range.start.max(copied)]);
        changed.push_str(&splice.text);
        copied = copied.max(splice.range.end);
    }
    changed.push_str(&text[copied..]);
    changed
}

/// The line ending of a text: that of its first line.
pub(super) fn detect_eol(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Start of the line that `at` is on.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// End of the line that `at` is on, before its line ending.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text[at..].split('\n').next().unwrap_or_default();
    let is_ended = at + rest.len() < text.len();
    at + match rest.strip_suffix('\r') {
        Some(rest) if is_ended => rest.len(),
        _ => rest.len(),
    }
}

/// Start of the line ending before a line that begins at `start`.
pub(super) fn line_break_before(text: &str, start: usize) -> usize {
    let before = &text[..start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.strip_suffix('\r').unwrap_or(before).len()
}

/// Whether only blanks precede `at` on its line.
pub(super) fn is_first_on_line(text: &str, at: usize) -> bool {
    is_blank(&text[line_start(text, at)..at])
}

/// The indentation of the line that `at` is on.
pub(super) fn indentation_at(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Line and column of a byte offset.
pub(super) fn position_at(text: &str, at: usize) -> Position {
    let before = &text[..text.floor_char_boundary(at)];
    let line = line_start(before, before.len());
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line..].chars().count() + 1,
    }
}

/// Quotes a string so that both JSON and TOML read it. TOML forbids a bare DEL, which JSON does not escape.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}
