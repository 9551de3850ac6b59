//! The text of one definition inside an answer: whole if there is room, otherwise its signature and the lines
//! around those that the answer is about.
//!
//! This is the one place that decides which lines of a definition are shown. No header is written here: some
//! answers write the path once for several definitions.
//!
//! Invariant: marked lines are always shown, and lines that are left out are counted by a fold.

use std::borrow::Cow;
use std::ops::Range;

use docent_core::fold::{Focus, FoldBudget, FoldedPart, fold};
use docent_core::language::Language;
use docent_core::text::reveal::reveal_part;

use super::{fold_marker, number_lines};

/// Longer lines are cut at their end, unless they are the only line that is left.
const MAX_LINE_CHARS: usize = 240;

/// How often a smaller fold is tried, because the margin did not leave enough room.
const MAX_FOLD_TRIES: usize = 4;

/// A gap of this many lines or fewer is shown: its fold would be as long.
const MAX_GAP_LINES: usize = 1;

/// A definition, or another part of a file that belongs together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    /// Its first line, counted from 1.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// With its scope: `Row.render`. Empty for a part without a name.
    pub(crate) name: &'a str,
    pub(crate) language: Language,
    /// The whole text from `first` to `last`.
    pub(crate) text: &'a str,
    /// Numbers of the lines that the answer is about, such as the matches of a search, in ascending order.
    pub(crate) marked: &'a [usize],
}

/// The lines of a definition with their margin, in at most `room` characters, invisible characters written
/// out. `None` if not even the signature and the marked lines fit.
pub(crate) fn show_body(body: &Body<'_>, room: usize) -> Option<String> {
    let lines: Vec<Cow<'_, str>> = body.text.lines().map(show_line).collect();
    let whole = render(body, &lines, std::iter::once(0..lines.len()));
    if whole.chars().count() <= room {
        return Some(whole);
    }
    show_folded(body, &lines, room).or_else(|| {
        let shown = render(body, &lines, ranges_around(body, &lines, 0).into_iter());
        (shown.chars().count() <= room).then_some(shown)
    })
}

/// A definition folded to its signature, its marked lines and the lines that matter most. `None` if a marked
/// line would be folded.
fn show_folded(body: &Body<'_>, lines: &[Cow<'_, str>], room: usize) -> Option<String> {
    let focus = Focus {
        lines: body.marked,
        ..Focus::default()
    };
    // The margin takes some of the room.
    let mut chars = room;
    for _ in 0..MAX_FOLD_TRIES {
        let parts = fold(
            body.text,
            body.first,
            body.language,
            &focus,
            FoldBudget::Chars(chars),
        );
        let ranges: Vec<Range<usize>> = parts
            .iter()
            .filter(|part| part.is_shown())
            .map(FoldedPart::lines)
            .map(|lines| lines.start() - body.first..lines.end() + 1 - body.first)
            .collect();
        let is_shown = |line: &usize| ranges.iter().any(|range| range.contains(&(line - body.first)));
        let mut inside = body
            .marked
            .iter()
            .filter(|line| (body.first..=body.last).contains(line));
        if !inside.all(is_shown) {
            return None;
        }
        let shown = render(body, lines, ranges.into_iter());
        let length = shown.chars().count();
        if length <= room {
            return Some(shown);
        }
        chars = chars * room / length * 95 / 100;
    }
    None
}

/// A line of the file without spaces at its end, cut if it is long, with invisible characters written out.
fn show_line(line: &str) -> Cow<'_, str> {
    let line = line.trim_end();
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", reveal_part(&line[..end]))),
        None => reveal_part(line),
    }
}

/// The parts of the definition that are shown: its signature, and `around` lines on each side of every marked
/// line. Positions count from 0.
fn ranges_around(body: &Body<'_>, lines: &[Cow<'_, str>], around: usize) -> Vec<Range<usize>> {
    let signature = find_signature(body.name, lines);
    let marked = body
        .marked
        .iter()
        .filter(|line| (body.first..=body.last).contains(line))
        .map(|line| line - body.first);
    let mut wanted: Vec<Range<usize>> = marked
        .map(|at| at.saturating_sub(around)..(at + around + 1).min(lines.len()))
        .filter(|range| range.start < range.end)
        .collect();
    wanted.push(signature..(signature + 1).min(lines.len()));
    wanted.sort_unstable_by_key(|range| (range.start, range.end));

    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(wanted.len());
    for range in wanted {
        match ranges.last_mut() {
            Some(last) if range.start <= last.end + MAX_GAP_LINES => last.end = last.end.max(range.end),
            _ => ranges.push(range),
        }
    }
    ranges
}

/// Position of the line with the definition's name, after comments and attributes. The first line if none has
/// it.
fn find_signature(name: &str, lines: &[Cow<'_, str>]) -> usize {
    let name = name.rsplit(['.', ':']).next().unwrap_or(name);
    let is_comment = |line: &str| {
        let line = line.trim_start();
        line.starts_with('*')
            || line.starts_with('#') && !line.starts_with("#define")
            || ["//", "/*", "--", "\"\"\"", "'''", "@"]
                .iter()
                .any(|sign| line.starts_with(sign))
    };
    let has_name = |line: &&Cow<'_, str>| !is_comment(line) && contains_word(line, name);
    lines.iter().position(|line| has_name(&line)).unwrap_or(0)
}

fn contains_word(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !word.is_empty()
        && line.match_indices(word).any(|(at, _)| {
            !is_part(line[..at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next())
        })
}

fn render(body: &Body<'_>, lines: &[Cow<'_, str>], ranges: impl Iterator<Item = Range<usize>>) -> String {
    let mut shown = String::new();
    let mut next = 0;
    let fold = |from: usize, to: usize, shown: &mut String| {
        if from < to {
            shown.push_str(&fold_marker(body.first + from, body.first + to - 1));
            shown.push('\n');
        }
    };
    for range in ranges {
        fold(next, range.start, &mut shown);
        next = range.end;
        // The line end keeps an empty last line.
        let text = lines[range.clone()].join("\n") + "\n";
        let is_marked = |number: usize| body.marked.binary_search(&number).is_ok();
        shown.push_str(&number_lines(body.first + range.start, &text, is_marked));
    }
    fold(next, lines.len(), &mut shown);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "/// Adds.\nfn add(a: i32) {\n    let b = 1;\n    let c = 2;\n\n    let d = 3;\n    a + b + c + d;\n    done()\n}";
    fn check(marked: &[usize], room: usize, expected: Option<&str>) {
        let body = Body {
            first: 40,
            last: 48,
            name: "Sum::add",
            language: Language::Rust,
            text: TEXT,
            marked,
        };
        assert_eq!(show_body(&body, room).as_deref(), expected);
    }

    #[test]
    fn a_definition_that_fits_is_whole() {
        check(
            &[46],
            1_000,
            Some(
                "40\t/// Adds.\n\tfn add(a: i32) {\n\t    let b = 1;\n\t    let c = 2;\n\t\n45\t    let d = 3;\n\
                 46\t    a + b + c + d;\n\t    done()\n\t}\n",
            ),
        );
    }

    #[test]
    fn a_long_definition_has_its_signature_and_the_lines_around_its_marks() {
        check(
            &[47],
            100,
            Some(
                "40\t/// Adds.\n\tfn add(a: i32) {\n… 4 lines 42-45\n46\t    a + b + c + d;\n47\t    done()\n\t}\n",
            ),
        );
        check(
            &[],
            60,
            Some("40\t/// Adds.\n\tfn add(a: i32) {\n… 6 lines 42-47\n48\t}\n"),
        );
        check(&[47], 30, None);
    }

    #[test]
    fn invisible_characters_are_written_out_and_long_lines_are_cut() {
        let text = format!("a\u{202e}\n{}", "x".repeat(300));
        let body = Body {
            first: 1,
            last: 2,
            name: "",
            language: Language::Markdown,
            text: &text,
            marked: &[],
        };
        let shown = show_body(&body, 1_000).unwrap();
        assert_eq!(shown, format!("1\ta\\u{{202E}}\n\t{}…\n", "x".repeat(240)));
    }

    proptest! {
        #[test]
        fn a_shown_body_fits_and_has_every_marked_line(
            text in "([a-z ]{0,30}\n){1,40}",
            marked in proptest::collection::btree_set(1_usize..60, 0..4),
            room in 0_usize..1_500,
        ) {
            let marked: Vec<usize> = marked.into_iter().collect();
            let count = text.lines().count();
            let body = Body { first: 10, last: 9 + count, name: "", language: Language::Markdown, text: &text, marked: &marked };
            if let Some(shown) = show_body(&body, room) {
                prop_assert!(shown.chars().count() <= room);
                for line in marked.iter().filter(|line| (10..10 + count).contains(line)) {
                    let margin = format!("{line}\t");
                    prop_assert!(shown.lines().any(|one| one.starts_with(&margin)), "{line} in {shown}");
                }
            }
        }
    }
}
