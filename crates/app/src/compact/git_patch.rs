//! Patches in the compact form: hunks below their place in the new file, unchanged lines only around changes.
//!
//! Invariant: a shown line is exact or marked as cut, and lines that are left out are counted.

use docent_core::text::reveal::reveal_part;

use super::line_range;
use crate::markdown::{inline_to, length};

/// Characters of a line.
const MAX_LINE_CHARS: usize = 500;

/// Characters of the function that git names in the header of a hunk.
const MAX_FUNCTION_CHARS: usize = 80;

/// How much of a patch is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchView {
    /// Unchanged lines around each change.
    pub(crate) context: usize,
    /// Lines of the patch to skip.
    pub(crate) offset: usize,
    pub(crate) max_chars: usize,
}

/// The part of a patch that fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownPatch {
    pub(crate) text: String,
    /// Changed lines that did not fit.
    pub(crate) left_out: usize,
    /// The line of the patch to read on at, if some did not fit.
    pub(crate) next: Option<usize>,
}

/// Consecutive lines of a hunk, shown below one header.
struct HunkPart<'a> {
    function: &'a str,
    lines: Vec<PatchLine<'a>>,
}

/// A line of a patch, with its sign.
#[derive(Clone, Copy)]
struct PatchLine<'a> {
    text: &'a str,
    /// Its position in the patch.
    at: usize,
    /// Its number in the new file, or that of the next line.
    number: usize,
    is_change: bool,
    is_new: bool,
}

/// The lines of a patch. If all of them end in CR LF, the CR is left out. If only some do, it is part of the
/// difference.
pub(crate) fn split_patch(patch: &str) -> Vec<&str> {
    let is_text = |line: &&str| !line.starts_with(['@', '\\']);
    let lines: Vec<&str> = patch.split_terminator('\n').collect();
    if lines
        .iter()
        .filter(|line| is_text(line))
        .all(|line| line.ends_with('\r'))
    {
        return lines
            .into_iter()
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .collect();
    }
    lines
}

/// Shows a patch from a line on, as much as fits.
pub(crate) fn show_patch(patch: &str, view: PatchView) -> ShownPatch {
    let mut shown = ShownPatch::default();
    let mut used = 0;
    let mut is_full = false;
    for part in split_hunks(patch, view.context) {
        let mut lines = part.lines.iter().filter(|line| line.at >= view.offset).peekable();
        let Some(first) = lines.peek().copied() else {
            continue;
        };
        let function = inline_to(part.function, MAX_FUNCTION_CHARS);
        let header_chars = length(&function) + 16;
        let next_before = shown.next;
        let mut body = String::new();
        let mut body_chars = header_chars;
        let mut last = None;
        let mut has_change = false;
        for line in lines {
            let text = show_line(line.text);
            // The first line is always shown, so that reading on never stands still.
            let is_first = shown.text.is_empty() && body.is_empty();
            is_full |= used + body_chars + length(&text) >= view.max_chars && !is_first;
            if is_full {
                shown.next = shown.next.or(Some(line.at));
                shown.left_out += usize::from(line.is_change);
                continue;
            }
            body_chars += length(&text) + 1;
            body += &text;
            body.push('\n');
            has_change |= line.is_change;
            if line.is_new {
                last = Some(line.number);
            }
        }
        // Without a change, the lines of a part that was cut show nothing.
        if is_full && !has_change && !shown.text.is_empty() {
            shown.next = next_before.or(Some(first.at));
            continue;
        }
        if !body.is_empty() {
            used += body_chars;
            let range = line_range(first.number, last.unwrap_or(first.number));
            shown.text += format!("@@ {range} {function}").trim_end();
            shown.text.push('\n');
            shown.text += &body;
        }
    }
    shown
}

fn show_line(line: &str) -> String {
    // An unchanged line without text.
    if line == " " {
        return String::new();
    }
    let shown = reveal_part(line);
    let all = length(&shown);
    if all <= MAX_LINE_CHARS {
        return shown.into_owned();
    }
    let kept: String = shown.chars().take(MAX_LINE_CHARS).collect();
    format!("{kept} … {} more characters", all - MAX_LINE_CHARS)
}

/// Splits hunks so that no unchanged line is further than `context` lines from a change.
fn split_hunks(patch: &str, context: usize) -> Vec<HunkPart<'_>> {
    let mut parts = Vec::new();
    let mut hunk: Option<(HunkPart<'_>, usize)> = None;
    for (at, line) in split_patch(patch).into_iter().enumerate() {
        if let Some((first, function)) = parse_header(line) {
            let lines = Vec::new();
            let before = hunk.replace((HunkPart { function, lines }, first));
            parts.extend(before.into_iter().flat_map(|(hunk, _)| trim(hunk, context)));
            continue;
        }
        let Some((hunk, number)) = &mut hunk else { continue };
        let sign = line.as_bytes().first();
        let is_new = !matches!(sign, Some(b'-' | b'\\'));
        hunk.lines.push(PatchLine {
            text: line,
            at,
            number: *number,
            // The second column counts in the combined form of conflicts.
            is_change: matches!(sign, Some(b'+' | b'-')),
            is_new,
        });
        *number += usize::from(is_new);
    }
    parts.extend(hunk.into_iter().flat_map(|(hunk, _)| trim(hunk, context)));
    parts
}

/// The parts of a hunk around its changes.
fn trim(hunk: HunkPart<'_>, context: usize) -> Vec<HunkPart<'_>> {
    if !hunk.lines.iter().any(|line| line.is_change) {
        return vec![hunk];
    }
    let changes: Vec<usize> = (0..hunk.lines.len())
        .filter(|at| hunk.lines[*at].is_change)
        .collect();
    let mut parts: Vec<HunkPart<'_>> = Vec::new();
    let mut next = 0;
    for change in changes {
        let first = change.saturating_sub(context).max(next);
        let last = change.saturating_add(context).min(hunk.lines.len() - 1);
        if first > next || parts.is_empty() {
            let function = if parts.is_empty() { hunk.function } else { "" };
            let lines = Vec::new();
            parts.push(HunkPart { function, lines });
        }
        if let Some(part) = parts.last_mut()
            && last >= first
        {
            part.lines.extend_from_slice(&hunk.lines[first..=last]);
            next = last + 1;
        }
    }
    if context < usize::MAX {
        parts.iter_mut().for_each(drop_blank_edges);
    }
    parts
}

/// Drops unchanged lines without text at both ends, which show nothing.
fn drop_blank_edges(part: &mut HunkPart<'_>) {
    let is_blank = |line: &PatchLine<'_>| !line.is_change && line.text.trim().is_empty();
    let first = part.lines.iter().take_while(|line| is_blank(line)).count();
    part.lines.drain(..first);
    let last = part.lines.iter().rev().take_while(|line| is_blank(line)).count();
    part.lines.truncate(part.lines.len() - last);
}

/// The first new line and the function of `@@ -1,2 +3,4 @@ fn x()`, or of the combined form with more signs.
fn parse_header(line: &str) -> Option<(usize, &str)> {
    let signs = line.len() - line.trim_start_matches('@').len();
    let (signs, rest) = line.split_at(signs);
    let (ranges, function) = rest.strip_prefix(" -")?.split_once(&format!(" {signs}"))?;
    let new = ranges.rsplit_once(" +")?.1;
    let (start, count) = new.split_once(',').unwrap_or((new, "1"));
    let start: usize = start.parse().ok()?;
    // A side without lines names the line before it.
    Some((start + usize::from(count == "0"), function.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str =
        "@@ -10,9 +10,9 @@ fn draw() {\n a\n b\n-c\n+C\n d\n \n f\n g\n-h\n+H\n@@ -40,0 +41 @@\n+x\n";

    fn show(context: usize, offset: usize, max_chars: usize) -> ShownPatch {
        show_patch(
            PATCH,
            PatchView {
                context,
                offset,
                max_chars,
            },
        )
    }

    #[test]
    fn unchanged_lines_are_shown_around_changes_only() {
        assert_eq!(
            show(1, 0, 1_000).text,
            "@@ 11-13 fn draw() {\n b\n-c\n+C\n d\n@@ 16-17\n g\n-h\n+H\n@@ 41\n+x\n"
        );
        assert_eq!(
            show(9, 0, 1_000).text,
            "@@ 10-17 fn draw() {\n a\n b\n-c\n+C\n d\n\n f\n g\n-h\n+H\n@@ 41\n+x\n"
        );
    }

    #[test]
    fn what_does_not_fit_is_counted_and_can_be_read_on() {
        let cut = show(9, 0, 37);
        assert_eq!(cut.text, "@@ 10-11 fn draw() {\n a\n b\n-c\n");
        assert_eq!((cut.left_out, cut.next), (4, Some(4)));
        let rest = show(9, 4, 1_000);
        assert_eq!(
            rest.text,
            "@@ 12-17 fn draw() {\n+C\n d\n\n f\n g\n-h\n+H\n@@ 41\n+x\n"
        );
        assert_eq!(show(9, 100, 1_000), ShownPatch::default());
    }

    #[test]
    fn headers_of_both_forms_are_parsed() {
        assert_eq!(parse_header("@@ -1,2 +3,4 @@ fn x()"), Some((3, "fn x()")));
        assert_eq!(parse_header("@@ -5,2 +4,0 @@"), Some((5, "")));
        assert_eq!(parse_header("@@@ -1,5 -1,5 +7,9 @@@ y"), Some((7, "y")));
        assert_eq!(parse_header("+@@ -1 +1 @@"), None);
    }
}
