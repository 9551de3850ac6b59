//! Lines of a file: numbered, with folds between them, cut to the room that is left.

use super::{count_of, fold_marker, line_range, number_lines, place};
use crate::markdown::{count, length};

/// Characters kept for the lines that say what is left out.
const NOTE_CHARS: usize = 400;

/// Ranges that a line about a cut names.
const MAX_LISTED_RANGES: usize = 10;

/// Lines of a file in the order of their numbers, for one answer.
pub(crate) struct NumberedText {
    text: String,
    left: usize,
    /// The last line that is shown, folded or named.
    last: Option<usize>,
    /// A line did not fit, so nothing more is added.
    is_full: bool,
}

impl NumberedText {
    pub(crate) fn new(room: usize) -> Self {
        Self {
            text: String::new(),
            left: room.saturating_sub(NOTE_CHARS),
            last: None,
            is_full: false,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Adds lines from `first` on, as many as fit. Returns how many do.
    pub(crate) fn add_lines(&mut self, first: usize, text: &str) -> usize {
        let mut fitting = 0;
        let mut end = 0;
        for line in text.split_inclusive('\n') {
            // A number, a tab and a line end.
            let cost = length(line.trim_end_matches(['\n', '\r'])) + 2 + digits_of(first, first + fitting);
            let Some(left) = self.left.checked_sub(cost) else {
                self.is_full = true;
                break;
            };
            self.left = left;
            end += line.len();
            fitting += 1;
        }
        self.text += &number_lines(first, &text[..end], |_| false);
        if fitting > 0 {
            self.last = Some(first + fitting - 1);
        }
        fitting
    }

    /// The characters that are left.
    pub(crate) fn room(&self) -> usize {
        self.left
    }

    /// The last line that is shown, folded or named. `None` before the first.
    pub(crate) fn last(&self) -> Option<usize> {
        self.last
    }

    /// Adds the beginning of a line that is longer than an answer. It takes the rest of the room.
    pub(crate) fn add_line_start(&mut self, number: usize, start: &str) {
        self.text += &number_lines(number, start, |_| false);
        self.left = 0;
        self.is_full = true;
        self.last = Some(number);
    }

    /// Adds a fold.
    pub(crate) fn fold(&mut self, first: usize, last: usize) {
        self.note(&fold_marker(first, last));
        self.last = Some(last);
    }

    /// Adds the fold between the last line and `next`.
    pub(crate) fn fold_up_to(&mut self, next: usize) {
        if let Some(last) = self.last
            && last + 1 < next
        {
            self.fold(last + 1, next - 1);
        }
    }

    /// Adds a line in place of lines that the client was sent before.
    pub(crate) fn name_shown(&mut self, path: &str, first: usize, last: usize) {
        self.note(&shown_above(path, first, last, "again: true"));
        self.last = Some(last);
    }

    /// Adds a line of docent's own.
    pub(crate) fn note(&mut self, line: &str) {
        self.left = self.left.saturating_sub(length(line) + 1);
        self.text += line;
        self.text.push('\n');
    }

    /// Adds a line that names the ranges that did not fit.
    pub(crate) fn note_rest(&mut self, spans: &[(usize, usize)]) {
        let lines: usize = spans.iter().map(|(first, last)| last + 1 - first).sum();
        if lines == 0 {
            return;
        }
        let mut ranges: Vec<String> = spans
            .iter()
            .take(MAX_LISTED_RANGES)
            .map(|(first, last)| line_range(*first, *last))
            .collect();
        if spans.len() > MAX_LISTED_RANGES {
            ranges.push("…".to_owned());
        }
        let count = count_of(lines, "line", "lines");
        self.note(&format!("… {count} {}: read on with ranges", ranges.join(", ")));
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// The digits in the margin of a line. Not every line has its number there.
fn digits_of(first: usize, number: usize) -> usize {
    if number == first || number.is_multiple_of(super::NUMBERED_LINE_STEP) {
        number.ilog10() as usize + 1
    } else {
        0
    }
}

/// Names lines that the client was sent before. `repeat` is the argument or call that sends them again.
pub(crate) fn shown_above(path: &str, first: usize, last: usize, repeat: &str) -> String {
    let place = place(path, first, last);
    format!("shown above: {place} ({repeat} repeats it)")
}

/// The heading of lines of a file: `src/grid.rs:412-447 of 900`.
pub(crate) fn file_header(path: &str, first: usize, last: usize, lines: usize) -> String {
    match lines {
        0 => format!("{path}: empty"),
        _ if (first, last) == (1, lines) => place(path, first, last),
        _ => format!("{} of {lines}", place(path, first, last)),
    }
}

/// The heading of a part of the file that the call names: `412-447 of 900`.
///
/// The path is left out, because the caller knows it, and it would be a tenth of the answer about a short
/// function.
pub(crate) fn part_header(first: usize, last: usize, lines: usize) -> String {
    format!("{} of {lines}", line_range(first, last))
}

/// The heading of a long file whose outline is shown in place of its text:
/// `src/grid.rs:1-900, 34,102 characters, outline`.
pub(crate) fn long_file_header(path: &str, lines: usize, chars: usize) -> String {
    format!(
        "{}, {} characters, outline",
        place(path, 1, lines.max(1)),
        count(chars as u64)
    )
}

/// The heading of a file whose outline is asked for.
pub(crate) fn outline_header(path: &str, lines: usize) -> String {
    format!("{path}, {}", count_of(lines, "line", "lines"))
}

/// Says how to read the rest of a line that is longer than the answer.
pub(crate) fn describe_cut_line(number: usize, shown: usize, all: usize, next_byte: usize) -> String {
    format!(
        "… line {number}: {} of {} characters; read_repo_file with offset {next_byte} reads on",
        count(shown as u64),
        count(all as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_after_the_last_that_fits() {
        let text = "0123456789\n".repeat(30);
        let mut lines = NumberedText::new(NOTE_CHARS + 50);
        let fitting = lines.add_lines(8, &text);
        assert!(lines.is_full());
        lines.note_rest(&[(8 + fitting, 37)]);
        let shown = lines.finish();
        assert_eq!(
            shown,
            "8\t0123456789\n\t0123456789\n10\t0123456789\n… 27 lines 11-37: read on with ranges\n"
        );
    }

    #[test]
    fn ranges_have_a_fold_between_them() {
        let mut lines = NumberedText::new(1_000);
        lines.add_lines(3, "a\nb\n");
        lines.fold_up_to(5);
        lines.add_lines(5, "c\n");
        lines.fold_up_to(9);
        lines.name_shown("a.rs", 9, 12);
        assert_eq!(
            lines.finish(),
            "3\ta\n\tb\n5\tc\n… 3 lines 6-8\nshown above: a.rs:9-12 (again: true repeats it)\n"
        );
    }

    #[test]
    fn a_heading_names_the_lines_and_how_many_there_are() {
        assert_eq!(file_header("a.rs", 3, 9, 20), "a.rs:3-9 of 20");
        assert_eq!(part_header(3, 9, 20), "3-9 of 20");
        assert_eq!(file_header("a.rs", 1, 20, 20), "a.rs:1-20");
        assert_eq!(file_header("a.rs", 1, 0, 0), "a.rs: empty");
    }
}
