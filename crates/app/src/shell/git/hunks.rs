//! Hunks of one file, with fewer unchanged lines around changes, as far as they fit.
//!
//! Invariant: a shown line is exact, or its end is cut and counted; a header names the lines below it.

use std::ops::Range;

use docent_core::shell::git::patch::{PatchFile, PatchHunk, lines};

use crate::markdown::length;

/// Characters of a line.
const MAX_LINE_CHARS: usize = 300;

/// Hunks of a file.
pub(super) struct HunkView {
    pub(super) text: String,
    /// Lines and hunks of the patch that are shown.
    pub(super) lines: usize,
    pub(super) hunks: usize,
}

/// A line of a hunk, and the numbers that it or the next line has on both sides.
#[derive(Clone, Copy)]
struct NumberedLine<'a> {
    text: &'a [u8],
    sign: u8,
    old: usize,
    new: usize,
}

/// The hunks of a file with at most `context` unchanged lines around changes, in at most `max_chars`.
pub(super) fn view_hunks(text: &[u8], file: &PatchFile, context: usize, max_chars: usize) -> HunkView {
    let mut view = HunkView {
        text: String::new(),
        lines: 0,
        hunks: 0,
    };
    let mut left = max_chars;
    for hunk in &file.hunks {
        let before = view.lines;
        let is_complete = if hunk.is_whitespace_only(text) {
            let header = String::from_utf8_lossy(&text[hunk.header.clone()]);
            let mark = format!(
                "{} only whitespace differs, +{} -{}\n",
                ranges_of(&header),
                hunk.added,
                hunk.removed
            );
            let fits = length(&mark) <= left;
            if fits {
                left -= length(&mark);
                view.text += &mark;
            }
            fits
        } else if hunk.columns > 1 || context == usize::MAX {
            view.add_whole(text, hunk, &mut left)
        } else {
            view.add_parts(text, hunk, context, &mut left)
        };
        view.hunks += usize::from(view.lines > before);
        if !is_complete {
            if view.lines > 0 {
                view.text += "…\n";
            }
            break;
        }
    }
    view
}

impl HunkView {
    /// Adds a hunk as git printed it. Only lines that fit are added, in a combined patch too.
    fn add_whole(&mut self, text: &[u8], hunk: &PatchHunk, left: &mut usize) -> bool {
        let all: Vec<Range<usize>> = lines(text, hunk.body.clone()).collect();
        let header = show_line(&text[hunk.header.clone()]);
        let shown: Vec<String> = all.iter().map(|line| show_line(&text[line.clone()])).collect();
        let mut used = length(&header);
        let fitting = shown.iter().take_while(|line| {
            used += length(line);
            used <= *left
        });
        let count = fitting.count();
        if count == 0 {
            return false;
        }
        self.text += &header;
        self.text.extend(shown[..count].iter().map(String::as_str));
        self.lines += count;
        let chars: usize = shown[..count].iter().map(|line| length(line)).sum();
        *left -= (chars + length(&header)).min(*left);
        count == all.len()
    }

    /// Adds the parts of a hunk around its changes.
    fn add_parts(&mut self, text: &[u8], hunk: &PatchHunk, context: usize, left: &mut usize) -> bool {
        let all = number_lines(text, hunk);
        let header = String::from_utf8_lossy(&text[hunk.header.clone()]);
        let mut function = header.trim_end().splitn(3, "@@").nth(2).unwrap_or_default();
        for part in split_parts(&all, context) {
            let lines = &all[part];
            let room = left.saturating_sub(length(function) + 24);
            let mut used = 0;
            let shown: Vec<String> = lines.iter().map(|line| show_line(line.text)).collect();
            let count = shown
                .iter()
                .take_while(|line| {
                    used += length(line);
                    used <= room
                })
                .count();
            // Unchanged lines alone show nothing.
            if !lines[..count].iter().any(|line| matches!(line.sign, b'+' | b'-')) {
                return false;
            }
            let header = format!("{}{function}\n", header_of(&lines[..count]));
            let chars: usize = shown[..count].iter().map(|line| length(line)).sum();
            *left -= (chars + length(&header)).min(*left);
            self.text += &header;
            self.text.extend(shown[..count].iter().map(String::as_str));
            self.lines += count;
            if count < lines.len() {
                return false;
            }
            function = "";
        }
        true
    }
}

/// `@@ -1,2 +3,4 @@` without the function behind it.
fn ranges_of(header: &str) -> &str {
    let end = header[2..]
        .find("@@")
        .map_or(header.trim_end().len(), |at| at + 4);
    &header[..end]
}

fn number_lines<'a>(text: &'a [u8], hunk: &PatchHunk) -> Vec<NumberedLine<'a>> {
    let header = String::from_utf8_lossy(&text[hunk.header.clone()]);
    let mut starts = header.split(' ').skip(1).map(|side| {
        let (start, count) = side[1..].split_once(',').unwrap_or((&side[1..], "1"));
        // A side without lines names the line before it.
        start.parse::<usize>().unwrap_or(0) + usize::from(count == "0")
    });
    let (mut old, mut new) = (starts.next().unwrap_or(1), starts.next().unwrap_or(1));
    let mut numbered = Vec::with_capacity(hunk.lines);
    for line in lines(text, hunk.body.clone()) {
        let line = &text[line];
        let sign = line[0];
        numbered.push(NumberedLine {
            text: line,
            sign,
            old,
            new,
        });
        old += usize::from(!matches!(sign, b'+' | b'\\'));
        new += usize::from(!matches!(sign, b'-' | b'\\'));
    }
    numbered
}

/// The lines around changes.
fn split_parts(all: &[NumberedLine<'_>], context: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (at, line) in all.iter().enumerate() {
        if !matches!(line.sign, b'+' | b'-') {
            continue;
        }
        let start = at.saturating_sub(context);
        let end = (at + context + 1).min(all.len());
        match parts.last_mut() {
            Some(part) if part.end >= start => part.end = end,
            _ => parts.push(start..end),
        }
    }
    parts
}

/// The header of consecutive lines.
fn header_of(lines: &[NumberedLine<'_>]) -> String {
    let side = |start: usize, other_sign: u8| {
        let count = lines
            .iter()
            .filter(|line| line.sign != other_sign && line.sign != b'\\')
            .count();
        match count {
            0 => format!("{},0", start.saturating_sub(1)),
            1 => start.to_string(),
            count => format!("{start},{count}"),
        }
    };
    format!(
        "@@ -{} +{} @@",
        side(lines[0].old, b'+'),
        side(lines[0].new, b'-')
    )
}

/// A line with its end.
fn show_line(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let chars = length(text);
    if chars <= MAX_LINE_CHARS {
        return format!("{text}\n");
    }
    let kept: String = text.chars().take(MAX_LINE_CHARS - 40).collect();
    format!("{kept} … {} more characters\n", chars + 40 - MAX_LINE_CHARS)
}

#[cfg(test)]
mod tests {
    use docent_core::shell::git::patch::{PatchNames, PatchPart, parse_patches};

    use super::*;

    const PATCH: &str = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -10,9 +10,9 @@ fn draw() {\n a\n b\n-c\n+C\n d\n \
        e\n f\n g\n-h\n+H\n i\n@@ -40,0 +41 @@\n+x\n@@ -50 +51 @@\n-  y\n+y\n";

    fn view(context: usize, max_chars: usize) -> HunkView {
        let parts = parse_patches(PATCH.as_bytes(), PatchNames::Prefixed).unwrap();
        let [PatchPart::File(file)] = parts.as_slice() else {
            panic!("one file: {parts:?}")
        };
        view_hunks(PATCH.as_bytes(), file, context, max_chars)
    }

    #[test]
    fn headers_name_the_lines_below_them() {
        let view = view(1, 1_000);
        assert_eq!(
            view.text,
            "@@ -11,3 +11,3 @@ fn draw() {\n b\n-c\n+C\n d\n@@ -16,3 +16,3 @@\n g\n-h\n+H\n i\n\
             @@ -40,0 +41 @@\n+x\n@@ -50 +51 @@ only whitespace differs, +1 -1\n"
        );
        assert_eq!((view.lines, view.hunks), (9, 2));
    }

    #[test]
    fn what_does_not_fit_is_not_counted_as_shown() {
        let cut = view(1, 46);
        assert_eq!(cut.text, "@@ -11,2 +11,2 @@ fn draw() {\n b\n-c\n+C\n…\n");
        assert_eq!((cut.lines, cut.hunks), (3, 1));
        assert_eq!(view(1, 10).lines, 0);
    }

    #[test]
    fn a_long_line_is_cut_and_counted() {
        let line = format!("+{}\n", "x".repeat(999));
        let shown = show_line(line.as_bytes());
        assert!(shown.ends_with(" … 740 more characters\n"), "{shown}");
    }
}
