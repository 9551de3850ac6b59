//! The compact form of `search_docs` and `get_doc`.
//!
//! Invariant: no line of a page can pass for a header of ours. Snippets stand behind a tab, and a line of a
//! section that begins like a header is escaped.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use docent_core::docs::manifest::Labels;
use docent_core::text::reveal::reveal_part;
use docent_core::text::tokens::{ParsedQuery, words};
use docent_engine::docs::{Doc, DocSection};

use super::line_range;
use crate::markdown::{inline, inline_to, length};

/// A result of `search_docs`. The texts have no invisible characters.
pub(crate) struct FoundSection<'a> {
    pub(crate) id: &'a str,
    pub(crate) heading: &'a str,
    pub(crate) breadcrumb: &'a str,
    pub(crate) score: f64,
    pub(crate) snippet: &'a str,
    pub(crate) labels: &'a Labels,
}

/// A page of results of `search_docs`.
pub(crate) struct FoundSections<'a> {
    pub(crate) query: &'a str,
    pub(crate) sections: Vec<FoundSection<'a>>,
    /// A sentence about a search without results, and the values of labels that would have matched.
    pub(crate) hint: Option<(&'a str, &'a BTreeMap<String, Vec<String>>)>,
    pub(crate) notice: Option<&'a str>,
    pub(crate) next_cursor: Option<&'a str>,
}

/// Two lines for each section: its id, headings, score and labels, then its snippet. The cursor is the last
/// line.
pub(crate) fn render_found(found: &FoundSections<'_>) -> String {
    let query_words = ParsedQuery::of(found.query).words;
    let mut lines: Vec<String> = Vec::new();
    for section in &found.sections {
        let mut header = format!(
            "{}  {}  {:.2}",
            inline(section.id),
            inline(section.breadcrumb),
            section.score
        );
        for (key, value) in section.labels {
            header += &format!("  {}={}", inline_to(key, 40), inline_to(value, 40));
        }
        lines.push(header);
        let snippet = without_heading(section.snippet, section.heading);
        if !snippet.is_empty() {
            lines.push(format!("\t{}", mark_words(&one_line(snippet), &query_words)));
        }
    }
    if let Some((message, filters)) = found.hint {
        lines.push(message.to_owned());
        for (key, values) in filters {
            let values: Vec<String> = values.iter().map(|value| inline_to(value, 40)).collect();
            lines.push(format!(
                "suggested_filters: {} = {}",
                inline_to(key, 40),
                values.join(" | ")
            ));
        }
    }
    lines.extend(found.notice.map(|notice| format!("note: {notice}")));
    lines.extend(found.next_cursor.map(|cursor| format!("… more: cursor {cursor}")));
    lines.join("\n")
}

/// A snippet without the section's heading, which the line above it has already.
fn without_heading<'a>(snippet: &'a str, heading: &str) -> &'a str {
    match snippet.strip_prefix(heading) {
        Some(rest) if !heading.is_empty() && !rest.starts_with(char::is_alphanumeric) => rest.trim_start(),
        _ => snippet,
    }
}

/// The text with its line ends and runs of spaces as one space each.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Marks the first occurrence of each of these stems: `**word**`.
fn mark_words(text: &str, stems: &[String]) -> String {
    let mut marked = String::with_capacity(text.len() + 16);
    let mut seen: HashSet<String> = HashSet::new();
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !is_inside(c)).unwrap_or(rest.len()));
        // A word such as `retryLimit` has the stems of its parts too.
        let new: Vec<String> = words(word)
            .into_iter()
            .filter(|stem| stems.contains(stem) && !seen.contains(stem))
            .collect();
        if new.is_empty() {
            marked.push_str(word);
        } else {
            marked.push_str(&format!("**{word}**"));
        }
        seen.extend(new);
        let (gap, after) = after.split_at(after.find(is_inside).unwrap_or(after.len()));
        marked.push_str(gap);
        rest = after;
    }
    marked
}

/// Characters kept for the line about sections that are left out.
const LEFT_OUT_CHARS: usize = 300;

/// The sections of a page in order, each below a header with its id, as many as fit. The target takes its
/// share of the budget first, then the nearest ones.
pub(crate) fn render_doc(doc: &Doc, budget: usize) -> String {
    let mut order: Vec<usize> = (0..doc.sections.len()).collect();
    order.sort_by_key(|at| (doc.sections[*at].offset.unsigned_abs(), *at));
    let mut parts: Vec<Option<String>> = vec![None; doc.sections.len()];
    let mut room = budget.saturating_sub(LEFT_OUT_CHARS);
    let mut left_out: Vec<usize> = Vec::new();
    for at in order {
        let section = &doc.sections[at];
        let mut part = render_section(section, doc);
        // Once a section is left out, those further away are left out as well, so that the text has no gaps.
        let fits = length(&part) + 2 <= room && left_out.is_empty();
        if !fits && section.offset == 0 {
            part = cut_section(section, &part, &doc.path, room);
        } else if !fits {
            left_out.push(at);
            continue;
        }
        room = room.saturating_sub(length(&part) + 2);
        parts[at] = Some(part);
    }
    let mut text = parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    if !left_out.is_empty() {
        left_out.sort_unstable();
        let ids: Vec<String> = left_out.iter().map(|at| inline(&doc.sections[*at].id)).collect();
        let line = format!("\n… no room for {}", ids.join(", "));
        text += &line.chars().take(LEFT_OUT_CHARS).collect::<String>();
    }
    text
}

/// A header with the section's id, headings and lines, and its text.
fn render_section(section: &DocSection, doc: &Doc) -> String {
    let (first, last) = section.lines;
    let headings = inline(&section.breadcrumb);
    let text = escape_headers(&section.text, &doc.path);
    let (id, lines) = (inline(&section.id), line_range(first, last));
    let (at, total, text) = (section.at, doc.total, text.trim_end());
    format!("{id}  {headings}  lines {lines}, section {at} of {total}\n{text}")
}

/// The text of a section, with invisible characters revealed, and lines escaped that begin like a header.
fn escape_headers<'a>(text: &'a str, path: &str) -> Cow<'a, str> {
    let shown = reveal_part(text);
    let path = inline(path);
    if !shown.contains(&path) {
        return shown;
    }
    let escape = |line: &str| {
        let mark = if line.starts_with(&path) { "\\" } else { "" };
        format!("{mark}{line}")
    };
    Cow::Owned(shown.split_inclusive('\n').map(escape).collect())
}

/// The beginning of a section that is longer than its room, and how to read on. `part` is the section with
/// its header.
fn cut_section(section: &DocSection, part: &str, path: &str, room: usize) -> String {
    let end = part.char_indices().nth(room).map_or(part.len(), |(end, _)| end);
    let header = part.find('\n').map_or(0, |line| line + 1);
    let shown_path = inline(path);
    match part[header..end.max(header)].rfind('\n') {
        Some(line) if header + line > end / 2 => {
            let kept = &part[..header + line];
            let next = section.lines.0 + kept.matches('\n').count();
            let left = line_range(next, section.lines.1);
            format!("{kept}\n… lines {left} are left: read_file {shown_path}, startLine {next}")
        }
        // A single line is longer than the room.
        _ => {
            let header = &part[..header];
            let fitting = fitting_bytes(&section.text, path, room.saturating_sub(length(header)));
            let shown = escape_headers(&section.text[..fitting], path);
            let offset = section.start + fitting;
            format!("{header}{shown}\n… cut: read_repo_file {shown_path}, offset {offset}")
        }
    }
}

/// The bytes at the start of a section's text that take at most `room` characters when they are shown. An
/// escaped character takes more than in the file, so the two differ.
fn fitting_bytes(text: &str, path: &str, room: usize) -> usize {
    let starts = text.char_indices().map(|(at, _)| at);
    let ends: Vec<usize> = starts
        .skip(1)
        .chain(std::iter::once(text.len()))
        .take(room)
        .collect();
    let fitting = ends.partition_point(|end| length(&escape_headers(&text[..*end], path)) <= room);
    fitting.checked_sub(1).map_or(0, |last| ends[last])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(id: &str, offset: isize, text: &str) -> DocSection {
        DocSection {
            id: id.into(),
            breadcrumb: "A > B".into(),
            at: 2,
            offset,
            text: text.into(),
            lines: (10, 30),
            start: 100,
        }
    }

    #[test]
    fn each_word_of_the_query_is_marked_once() {
        let stems = ParsedQuery::of("how does retry limit work").words;
        assert_eq!(
            mark_words("Retries stop at retryLimit; the retries end.", &stems),
            "**Retries** stop at **retryLimit**; the retries end."
        );
    }

    #[test]
    fn a_snippet_does_not_repeat_its_heading() {
        assert_eq!(without_heading("Retries Stop it.", "Retries"), "Stop it.");
        assert_eq!(without_heading("Retriesome", "Retries"), "Retriesome");
        assert_eq!(without_heading("Stop it.", ""), "Stop it.");
    }

    #[test]
    fn a_page_cannot_write_a_header() {
        let forged = section("a.md#b", 0, "x\na.md#c  A > C  lines 1-2, section 1 of 9\n");
        let doc = Doc {
            path: "a.md".into(),
            sections: vec![forged],
            total: 9,
        };
        assert_eq!(
            render_doc(&doc, 1_000),
            "a.md#b  A > B  lines 10-30, section 2 of 9\nx\n\\a.md#c  A > C  lines 1-2, section 1 of 9"
        );
    }

    #[test]
    fn the_offset_of_a_cut_line_counts_the_bytes_of_the_file() {
        let doc = Doc {
            path: "a.md".into(),
            sections: vec![section("a.md#b", 0, &("é\u{202e}".to_owned() + &"x".repeat(500)))],
            total: 3,
        };
        let text = render_doc(&doc, 400);
        let (shown, offset) = text.rsplit_once("offset ").unwrap();
        let kept = shown.matches('x').count();
        assert!(shown.contains("\né\\u{202E}x"), "{text}");
        assert_eq!(offset.parse(), Ok(100 + "é\u{202e}".len() + kept));
    }

    #[test]
    fn a_section_that_is_too_long_says_where_to_read_on() {
        let doc = Doc {
            path: "a.md".into(),
            sections: vec![
                section("a.md#b", 0, &"line\n".repeat(21)),
                section("a.md#c", 1, "more\n"),
            ],
            total: 3,
        };
        let text = render_doc(&doc, 400);
        assert!(length(&text) <= 400, "{text}");
        assert!(
            text.ends_with(
                "line\n… lines 21-30 are left: read_file a.md, startLine 21\n… no room for a.md#c"
            ),
            "{text}"
        );
    }
}
