//! reStructuredText: blocks, headings by their adornment, and the text as a reader sees it.
//!
//! A heading is a line above a row of one punctuation mark, or between two such rows. Which mark means which
//! level is decided by the order of appearance in the page. Directives are not run: their arguments and
//! contents are text.

use super::blocks::Block;
use super::lines::{BlockList, Line, lines_from};

/// Deeper headings count as this level.
const MAX_LEVEL: usize = 6;

/// A row of at least this many marks may be shorter than the heading above it.
const MIN_SHORT_ROW: usize = 4;

/// Starts of lines that are other markup, so that a row of marks below them is no adornment.
const MARKUP_STARTS: [&str; 8] = ["- ", "* ", "+ ", ".. ", "| ", ">>> ", "+-", "__ "];

/// The outermost blocks of a text, and its plain text.
pub(super) fn split_blocks(text: &str) -> (Vec<Block>, String) {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let lines = lines_from(text, mark);
    let mut list = BlockList::default();
    // Each style of adornment, in the order of appearance.
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut label: Option<usize> = None;
    let mut may_begin = true;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if may_begin && let Some(heading) = heading_at(&lines[at..]) {
            let style = (heading.mark, heading.has_overline);
            let level = styles.iter().position(|other| *other == style);
            let level = level.unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            // A label belongs to the heading below it.
            let start = label.take().unwrap_or(line.start);
            list.blocks.pop_if(|block| block.start.text == start);
            list.open_heading(start, (level + 1).min(MAX_LEVEL), &clean_inline(heading.text));
            at += heading.lines;
            continue;
        }
        if !line.is_blank() {
            let begins = may_begin && !line.is_indented();
            if begins || list.blocks.is_empty() {
                list.open(line.start);
            } else if !line.is_indented() && !line.text.starts_with('|') {
                list.add_joint(line.start);
            }
            label = (begins && is_label(line.text)).then_some(line.start);
            if let Some(plain) = plain_line(line.text) {
                list.add_line(&plain);
            }
        }
        may_begin = line.is_blank() || line.text.starts_with(".. ");
        at += 1;
    }
    (list.blocks, list.plain)
}

struct AdornedHeading<'a> {
    text: &'a str,
    mark: char,
    has_overline: bool,
    lines: usize,
}

/// The heading that begins with the first of these lines.
fn heading_at<'a>(lines: &[Line<'a>]) -> Option<AdornedHeading<'a>> {
    let (first, second) = (lines.first()?, lines.get(1)?);
    if let Some((mark, length)) = row_of_marks(first.text) {
        let text = second.text.trim();
        let is_closed = row_of_marks(lines.get(2)?.text) == Some((mark, length));
        return (is_closed && !text.is_empty() && is_long_enough(length, text)).then_some(AdornedHeading {
            text,
            mark,
            has_overline: true,
            lines: 3,
        });
    }
    let text = first.text;
    let is_text = !first.is_blank()
        && !first.is_indented()
        && !is_field(text)
        && !MARKUP_STARTS.iter().any(|start| text.starts_with(start));
    let (mark, length) = row_of_marks(second.text).filter(|_| is_text)?;
    is_long_enough(length, text).then_some(AdornedHeading {
        text,
        mark,
        has_overline: false,
        lines: 2,
    })
}

/// True for `:name: value`. A role, as in ``:mod:`name` ``, is text.
fn is_field(line: &str) -> bool {
    let named = line.strip_prefix(':').and_then(|rest| rest.split_once(':'));
    named.is_some_and(|(_, value)| value.is_empty() || value.starts_with(' '))
}

fn is_long_enough(length: usize, text: &str) -> bool {
    length >= MIN_SHORT_ROW || length >= text.chars().count()
}

/// The mark and the length of a line that is one punctuation mark, repeated. `..` and `::` mean something
/// else.
fn row_of_marks(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    let is_row = line.chars().all(|c| c == mark) && !matches!(line, ".." | "::");
    is_row.then_some((mark, line.len()))
}

/// True for `.. _name:`, which names the place below it.
fn is_label(line: &str) -> bool {
    line.starts_with(".. _") && line.ends_with(':')
}

/// A line as a reader sees it. `None` if a reader sees nothing of it.
fn plain_line(line: &str) -> Option<String> {
    let trimmed = line.trim_start();
    if row_of_marks(trimmed).is_some() || is_label(trimmed) || trimmed.starts_with("+-") {
        return None;
    }
    let shown = match trimmed.strip_prefix(".. ").and_then(|rest| rest.split_once("::")) {
        // The name of a directive is markup, its argument is text.
        Some((name, argument)) if !name.contains(' ') => argument.trim_start(),
        _ => line,
    };
    Some(clean_inline(shown))
}

/// Text without inline markup: roles, emphasis, backquotes, targets of links.
fn clean_inline(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        shown.push_str(&rest[..at]);
        let fence = if rest[at..].starts_with("``") { "``" } else { "`" };
        let inside = &rest[at + fence.len()..];
        let Some(end) = inside.find(fence) else {
            rest = &rest[at..];
            break;
        };
        remove_role(&mut shown);
        let content = &inside[..end];
        let is_link = fence == "`" && content.ends_with('>');
        let named = content.rsplit_once('<').map(|(name, _)| name.trim_end());
        shown.push_str(
            named
                .filter(|name| is_link && !name.is_empty())
                .unwrap_or(content),
        );
        rest = inside[end + fence.len()..].trim_start_matches('_');
    }
    shown.push_str(rest);
    shown.replace("**", "")
}

/// Removes a role such as `:ref:` from the end of a text.
fn remove_role(text: &mut String) {
    let Some(inner) = text.strip_suffix(':') else {
        return;
    };
    let is_role = |c: char| c.is_ascii_alphanumeric() || "-_:.+".contains(c);
    let start = inner
        .rfind(|c: char| !is_role(c))
        .map_or(0, |at| at + inner[at..].chars().next().map_or(0, char::len_utf8));
    if inner[start..].len() > 1 && inner[start..].starts_with(':') {
        text.truncate(start);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{headings, sections_of};
    use super::*;
    use crate::docs::manifest::PageRules;
    use crate::docs::page::{Markup, plain_text};

    #[test]
    fn levels_are_the_order_of_appearance() {
        let text = "=====\nGuide\n=====\n\nIntro.\n\nFirst\n=====\n\nInner\n-----\nText.\n\nSecond\n======\n";
        assert_eq!(
            headings(Markup::RestructuredText, text),
            ["1 Guide", "2 First", "3 Inner", "2 Second"]
        );
        assert_eq!(
            sections_of(Markup::RestructuredText, text),
            ["_preamble", "guide/first", "guide/second"]
        );
    }

    #[test]
    fn only_adorned_lines_are_headings() {
        let text = "Title\n=====\n\n- item\n------\n\nText\ngoes on\n-------\n\n::\n\n    Code\n    ----\n\n-----\n\n=====  =====\na      b\n=====  =====\n\n:field: x\n---------\n\n:mod:`real` name\n----------------\n";
        assert_eq!(
            headings(Markup::RestructuredText, text),
            ["1 Title", "2 real name"]
        );
    }

    #[test]
    fn a_label_belongs_to_the_heading_below_it() {
        let text = "Title\n=====\n\nText.\n\n.. _inner:\n\nInner\n-----\n";
        let page = crate::docs::page::Page::of(text, Markup::RestructuredText, PageRules::default());
        assert!(text[page.sections[1].bytes.clone()].starts_with(".. _inner:"));
    }

    #[test]
    fn roles_and_targets_are_no_text() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                plain_text(text, Markup::RestructuredText).trim_end(),
                expected,
                "{text}"
            );
        };
        check(
            "See :ref:`the guide <guide>` and ``code()``.",
            "See the guide and code().",
        );
        check("`Docs <https://x.example>`_ of :class:`~a.B`", "Docs of ~a.B");
        check(".. function:: open(path)", "open(path)");
        check(".. _label:", "");
        check("**All** at 12:30: `x", "All at 12:30: `x");
    }

    #[test]
    fn a_row_of_marks_may_be_short() {
        assert_eq!(row_of_marks("===="), Some(('=', 4)));
        assert_eq!(row_of_marks("=-="), None);
        assert_eq!(row_of_marks(".."), None);
        assert_eq!(row_of_marks(""), None);
    }
}
