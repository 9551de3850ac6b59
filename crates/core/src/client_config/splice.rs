//! Changing a text in few places, and where its lines begin and end.

use std::ops::Range;

use super::Position;

/// A change: what stands in the range goes, the text comes in its place.
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

/// `text` with all changes made. Those at one place come in the order they are given in.
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

/// How lines end here: as the first one does.
pub(super) fn eol(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Where the line begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line ends, before what ends it.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text[at..].split('\n').next().unwrap_or_default();
    let is_ended = at + rest.len() < text.len();
    at + match rest.strip_suffix('\r') {
        Some(rest) if is_ended => rest.len(),
        _ => rest.len(),
    }
}

/// Where the line before ends, given where a line begins.
pub(super) fn break_before(text: &str, start: usize) -> usize {
    let before = &text[..start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.strip_suffix('\r').unwrap_or(before).len()
}

/// Whether nothing but blanks stands before it on its line.
pub(super) fn starts_line(text: &str, at: usize) -> bool {
    is_blank(&text[line_start(text, at)..at])
}

/// What a line is indented with.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Line and column of a byte, both from one; columns are characters.
pub(super) fn position(text: &str, at: usize) -> Position {
    let before = &text[..text.floor_char_boundary(at)];
    let line = line_start(before, before.len());
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line..].chars().count() + 1,
    }
}

/// A string in quotes, as both JSON and TOML read it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}
