//! AsciiDoc: blocks, headings, and the text as a reader sees it.
//!
//! A heading is a line that begins with `=` to `======` (or `#`), or a line above a row of marks that is as
//! long. Macros and includes are not run. Nothing inside a delimited block is a heading.

use super::blocks::Block;
use super::lines::{BlockList, Line, lines_from};

/// The outermost blocks of a text from byte `from` on, and its plain text.
pub(super) fn split_blocks(text: &str, from: usize) -> (Vec<Block>, String) {
    let mark = if from == 0 {
        text.len() - text.trim_start_matches('\u{feff}').len()
    } else {
        from
    };
    let lines = lines_from(text, mark);
    let mut list = BlockList::default();
    let mut fence: Option<&str> = None;
    // Where the lines of attributes above the next block begin.
    let mut attributes: Option<usize> = None;
    let mut is_discrete = false;
    let mut may_begin = true;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if let Some(open) = fence {
            if line.text == open {
                fence = None;
            } else {
                list.add_joint(line.start);
                list.add_line(line.text);
            }
            may_begin = fence.is_none();
            continue;
        }
        if is_attributes(line.text) && may_begin {
            attributes = attributes.or(Some(line.start));
            is_discrete |= matches!(line.text, "[discrete]" | "[float]");
            continue;
        }
        let start = attributes.take().unwrap_or(line.start);
        let heading = heading_at(line, lines.get(at), may_begin).filter(|_| !is_discrete);
        if !line.is_blank() {
            is_discrete = false;
        }
        if let Some(heading) = heading {
            list.open_heading(start, heading.level, &clean_inline(heading.text));
            at += heading.lines - 1;
            may_begin = true;
            continue;
        }
        if let Some(open) = delimiter(line.text) {
            list.open(start);
            fence = Some(open);
            continue;
        }
        if !line.is_blank() {
            if (may_begin && !line.is_indented()) || list.blocks.is_empty() {
                list.open(start);
            } else if !line.is_indented() {
                list.add_joint(line.start);
            }
            if !line.text.starts_with("//") {
                list.add_line(&clean_inline(line.text));
            }
        }
        may_begin = line.is_blank();
    }
    (list.blocks, list.plain)
}

struct AsciiDocHeading<'a> {
    level: usize,
    text: &'a str,
    lines: usize,
}

/// Marks of headings in two lines, by level.
const ROWS: [char; 5] = ['=', '-', '~', '^', '+'];

/// The heading that a line begins, given the line after it.
fn heading_at<'a>(line: &Line<'a>, next: Option<&Line<'a>>, may_begin: bool) -> Option<AsciiDocHeading<'a>> {
    for mark in ['=', '#'] {
        let rest = line.text.trim_start_matches(mark);
        let level = line.text.len() - rest.len();
        if (1..=6).contains(&level) && rest.starts_with([' ', '\t']) && !rest.trim().is_empty() {
            let closing = &line.text[..level];
            let text = rest.trim();
            let text = text
                .strip_suffix(closing)
                .filter(|text| text.ends_with(' '))
                .unwrap_or(text);
            let text = text.trim_end();
            return Some(AsciiDocHeading {
                level,
                text,
                lines: 1,
            });
        }
    }
    let row = next?.text;
    let mark = row.chars().next()?;
    let level = ROWS.iter().position(|other| *other == mark)? + 1;
    let length = line.text.chars().count();
    let is_heading = may_begin
        && !line.is_indented()
        && row.chars().all(|c| c == mark)
        && row.len().abs_diff(length) <= 1
        && row.len() > 2
        && line.text.contains(char::is_alphanumeric)
        && !line.text.starts_with(['.', '*', '-', '|', ':']);
    is_heading.then_some(AsciiDocHeading {
        level,
        text: line.text,
        lines: 2,
    })
}

/// The line that ends the delimited block which this line begins: the same.
fn delimiter(line: &str) -> Option<&str> {
    let is_run = |mark: char| line.len() >= 4 && line.chars().all(|c| c == mark);
    let is_table = matches!(line, "|===" | ",===" | ":===" | "!===");
    if line.starts_with("```") {
        return Some("```");
    }
    (line == "--" || is_table || "-=.*_+/".chars().any(is_run)).then_some(line)
}

/// True for lines such as `[source,rust]` and `[[anchor]]`, which describe the block below them.
fn is_attributes(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']') && !line.contains("](")
}

/// Text without backquotes and targets of links: `xref:a.adoc[Guide]` is `Guide`.
fn clean_inline(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, macro_text, after)) = next_link(rest) {
        shown.push_str(before);
        shown.push_str(macro_text);
        rest = after;
    }
    shown.push_str(rest);
    shown.replace('`', "")
}

/// The first link of a text that has a label: what stands before it, its label, and the rest.
fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    const STARTS: [&str; 5] = ["xref:", "link:", "https://", "http://", "<<"];
    let start = STARTS.iter().filter_map(|start| text.find(start)).min()?;
    let (before, link) = text.split_at(start);
    if let Some(inner) = link.strip_prefix("<<") {
        let (inner, after) = inner.split_once(">>")?;
        let label = inner
            .split_once(',')
            .map_or(inner, |(_, label)| label.trim_start());
        return Some((before, label, after));
    }
    let end = link
        .find(|c: char| c == '[' || c.is_whitespace())
        .unwrap_or(link.len());
    if !link[end..].starts_with('[') {
        return Some((&text[..start + end], "", &link[end..]));
    }
    let (label, after) = link[end + 1..].split_once(']')?;
    Some((before, label, after))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{headings, sections_of};
    use crate::docs::page::{Markup, plain_text};

    #[test]
    fn marks_tell_the_level() {
        let text = "= Guide\n:toc:\n\nIntro.\n\n== First\n\n=== Inner ===\nText.\n\n[[second]]\n== Second\n";
        assert_eq!(
            headings(Markup::AsciiDoc, text),
            ["1 Guide", "2 First", "3 Inner", "2 Second"]
        );
        assert_eq!(
            sections_of(Markup::AsciiDoc, text),
            ["_preamble", "guide/first", "guide/second"]
        );
    }

    #[test]
    fn a_row_below_a_line_is_a_heading() {
        let text = "guide(1)\n========\n\nNAME\n----\nguide\n\n----\ncode\n----\n";
        assert_eq!(headings(Markup::AsciiDoc, text), ["1 guide(1)", "2 NAME"]);
    }

    #[test]
    fn nothing_inside_a_block_is_a_heading() {
        let text =
            "= A\n\n----\n== code\n----\n\n====\n== example\n====\n\n[discrete]\n== No section\n\n== B\n";
        assert_eq!(headings(Markup::AsciiDoc, text), ["1 A", "2 B"]);
    }

    #[test]
    fn targets_of_links_are_no_text() {
        let check = |text: &str, expected: &str| {
            assert_eq!(plain_text(text, Markup::AsciiDoc).trim_end(), expected, "{text}");
        };
        check(
            "See xref:a.adoc[the guide] and `code()`.",
            "See the guide and code().",
        );
        check(
            "<<id,Label>>, <<plain>>, https://x.example now",
            "Label, plain, https://x.example now",
        );
        check("// comment", "");
        check("[source,rust]\n----\nfn x() {}\n----", "fn x() {}");
    }
}
