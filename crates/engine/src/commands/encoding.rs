//! Lines that are not UTF-8, as `grep` prints them in a UTF-8 locale: not at all, with a message at the end.
//!
//! Around such lines the context of grep is odd: a line that was not printed is tried again for every line of
//! context that is due, and separators are printed before lines that are not.
//!
//! Invariant: only the lines that grep prints are kept, in its order, with its separators.

use docent_core::shell::search::{BinaryFiles, SearchProgram};

use super::CharacterSet;
use super::binary::grep_notice;
use super::lines::{FoundLine, FoundLineKind, SearchedFile};
use super::search::LineSearch;

impl LineSearch<'_> {
    /// Leaves out the lines of a file that grep does not print because they are not UTF-8.
    pub(super) fn hide_wrong_encoding(&self, file: &mut SearchedFile, content: &[u8]) {
        let is_checked = self.request.program == SearchProgram::Grep
            && self.characters == CharacterSet::Utf8
            && self.request.binary != BinaryFiles::Text;
        let is_wrong = |text: &[u8]| std::str::from_utf8(text).is_err();
        if !is_checked || !file.lines.iter().any(|line| is_wrong(&line.text)) {
            return;
        }
        if self.request.context == (0, 0) {
            file.lines.retain(|line| !is_wrong(&line.text));
        } else {
            let content = content.strip_suffix(b"\n").unwrap_or(content);
            let mut printing = Printing {
                lines: content.split(|byte| *byte == b'\n').collect(),
                printed: Vec::new(),
                next: None,
                due: 0,
                is_inverted: self.request.inverted,
            };
            printing.print(file, self.request.context);
            file.lines = printing.printed;
            file.has_own_separators = true;
        }
        if self.request.binary == BinaryFiles::Default {
            file.binary_notice = Some(grep_notice(&file.name));
        }
    }
}

/// The state of grep while it prints the lines of a file. Lines are counted from 0.
struct Printing<'c> {
    lines: Vec<&'c [u8]>,
    printed: Vec<FoundLine>,
    /// The line behind the one that was printed last.
    next: Option<usize>,
    /// Lines of context that are still to be printed.
    due: usize,
    is_inverted: bool,
}

impl Printing<'_> {
    fn print(&mut self, file: &SearchedFile, (before, after): (usize, usize)) {
        let is_match = |line: &&FoundLine| line.kind == FoundLineKind::Match;
        let matches = file.lines.iter().filter(is_match);
        let matches: Vec<usize> = matches
            .filter_map(|line| usize::try_from(line.number).ok()?.checked_sub(1))
            .collect();
        for (position, &line) in matches.iter().enumerate() {
            // `-v` prints neighbouring lines as one group.
            if self.is_inverted && position > 0 && matches[position - 1] + 1 == line {
                self.try_print(line, FoundLineKind::Match);
                continue;
            }
            self.print_due(line);
            let earliest = self.next.unwrap_or(0);
            let start = line.saturating_sub(before).max(earliest.min(line));
            // The separator before the first one depends on the files before.
            if position > 0 && self.next != Some(start) {
                self.push(line, FoundLineKind::Separator);
            }
            for context in start..line {
                self.try_print(context, FoundLineKind::Context);
            }
            self.try_print(line, FoundLineKind::Match);
            self.due = after;
        }
        self.print_due(self.lines.len());
    }

    /// Prints context up to a line. A line that cannot be printed uses up all that is due.
    fn print_due(&mut self, end: usize) {
        let mut next = self.next.unwrap_or(0);
        while self.due > 0 && next < end {
            self.try_print(next, FoundLineKind::Context);
            next = self.next.unwrap_or(0);
            self.due -= 1;
        }
    }

    fn try_print(&mut self, line: usize, kind: FoundLineKind) {
        if self
            .lines
            .get(line)
            .is_some_and(|text| std::str::from_utf8(text).is_ok())
        {
            self.push(line, kind);
            self.next = Some(line + 1);
        }
    }

    fn push(&mut self, line: usize, kind: FoundLineKind) {
        let text = match kind {
            FoundLineKind::Separator => Vec::new(),
            _ => self.lines[line].to_vec(),
        };
        self.printed.push(FoundLine {
            number: line as u64 + 1,
            text,
            kind,
            follows_gap: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed of lines of which some are not UTF-8, as `grep -n` prints it.
    fn print(lines: &[&[u8]], matches: &[u64], context: (usize, usize)) -> String {
        let line = |number: &u64| FoundLine {
            number: *number,
            text: Vec::new(),
            kind: FoundLineKind::Match,
            follows_gap: false,
        };
        let file = SearchedFile {
            lines: matches.iter().map(line).collect(),
            ..SearchedFile::default()
        };
        let mut printing = Printing {
            lines: lines.to_vec(),
            printed: Vec::new(),
            next: None,
            due: 0,
            is_inverted: false,
        };
        printing.print(&file, context);
        let show = |line: &FoundLine| match line.kind {
            FoundLineKind::Match => format!("{}:", line.number),
            FoundLineKind::Context => format!("{}-", line.number),
            FoundLineKind::Separator => "--".to_owned(),
        };
        printing.printed.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn context_is_as_odd_as_that_of_grep_around_lines_that_are_not_utf8() {
        let lines: [&[u8]; 3] = [b"import first", b"return caf\xe9", b"import second"];
        assert_eq!(print(&lines, &[3], (3, 3)), "1- 3:");
        assert_eq!(print(&lines, &[1], (0, 2)), "1:");
        assert_eq!(print(&lines, &[2, 3], (0, 1)), "1- -- 3:");
        assert_eq!(print(&lines, &[1, 3], (1, 1)), "1: 3:");
    }
}
