//! The compact form of answers: values in, plain text for models out.
//!
//! The tools, the command line and every other door share these texts. No I/O happens here, and no budget is
//! decided: a caller says how much room there is.
//!
//! Invariant: a shown line of a file is exact, and a line that is left out is counted.

pub(crate) mod body;
pub(crate) mod coverage;
pub(crate) mod docs;
pub(crate) mod file;
pub(crate) mod git_blame;
pub(crate) mod git_diff;
pub(crate) mod git_log;
pub(crate) mod git_patch;
pub(crate) mod grep;
pub(crate) mod hover;
pub(crate) mod outline;
pub(crate) mod search;

use std::fmt::Write as _;

/// A line of code has its number if the number is a multiple of this, or if it is the first line of its part.
///
/// Numbers on all lines cost a tenth of what an agent reads; with these it can still name every line.
const NUMBERED_LINE_STEP: usize = 5;

/// A part of a file as callers write it: `src/grid.rs:412-447`, or `src/grid.rs:412` for one line.
pub(crate) fn place(path: &str, first: usize, last: usize) -> String {
    format!("{path}:{}", line_range(first, last))
}

/// Lines as callers write them: `412-447`, or `412` for one line.
pub(crate) fn line_range(first: usize, last: usize) -> String {
    if last > first {
        format!("{first}-{last}")
    } else {
        first.to_string()
    }
}

/// Lines of a file from `first` on, each after a margin that ends with a tab. The margin has the number of
/// the first line, of every fifth, and of those that `is_marked` selects.
pub(crate) fn number_lines(first: usize, text: &str, is_marked: impl Fn(usize) -> bool) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / 8);
    for (number, line) in (first..).zip(text.lines()) {
        if number == first || number.is_multiple_of(NUMBERED_LINE_STEP) || is_marked(number) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{number}");
        }
        shown.push('\t');
        shown.push_str(line);
        shown.push('\n');
    }
    shown
}

/// The line that stands for lines that are not shown: `… 24 lines 310-333`.
pub(crate) fn fold_marker(first: usize, last: usize) -> String {
    format!(
        "… {} {}",
        count_of(last + 1 - first, "line", "lines"),
        line_range(first, last)
    )
}

/// A number and its noun: `1 match`, `1,204 files`.
pub(crate) fn count_of(number: usize, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", crate::markdown::count(number as u64))
}

/// The most characters that each of several texts may have so that all fit into `room`: texts below it stay
/// whole, and longer ones are cut to it.
pub(crate) fn fair_share(lengths: impl Iterator<Item = usize>, room: usize) -> usize {
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let mut left = room;
    for (at, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - at);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_leave_their_room_to_long_ones() {
        let share = |lengths: &[usize], room| fair_share(lengths.iter().copied(), room);
        assert_eq!(share(&[10, 500, 90], 400), 300);
        assert_eq!(share(&[500, 500], 400), 200);
        assert_eq!(share(&[1, 2], 3), usize::MAX);
        assert_eq!(share(&[], 0), usize::MAX);
    }

    #[test]
    fn a_place_has_one_number_for_one_line() {
        assert_eq!(place("a.rs", 3, 9), "a.rs:3-9");
        assert_eq!(place("a.rs", 3, 3), "a.rs:3");
    }

    #[test]
    fn the_first_line_every_fifth_and_marked_lines_are_numbered() {
        assert_eq!(
            number_lines(8, "a\n  b\n\nc\r\n\td", |line| line == 11),
            "8\ta\n\t  b\n10\t\n11\tc\n\t\td\n"
        );
    }

    #[test]
    fn a_fold_counts_its_lines() {
        assert_eq!(fold_marker(310, 333), "… 24 lines 310-333");
        assert_eq!(fold_marker(7, 7), "… 1 line 7");
        assert_eq!(count_of(1204, "file", "files"), "1,204 files");
    }
}
