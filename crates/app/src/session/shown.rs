//! Lines of files that a client was sent lately, so that an answer names them instead of sending them twice.
//!
//! A client's context holds what it was sent, until it is compacted or cut. So only the last calls count.
//!
//! Invariant: lines are reported as shown only if each of them was sent under the same number and with the
//! same text. A changed file is sent again.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// Calls after which shown lines are forgotten.
const MAX_CALLS_AGO: u64 = 20;

/// Characters of answers after which shown lines are forgotten.
const MAX_CHARS_AGO: u64 = 60_000;

/// Parts that are remembered at most. A call shows a few; folded text shows many.
const MAX_PARTS: usize = 500;

/// The parts of files that a session was sent in its last calls.
#[derive(Debug, Default)]
pub(crate) struct ShownParts(Mutex<ShownLog>);

#[derive(Debug, Default)]
struct ShownLog {
    /// Oldest first.
    parts: VecDeque<ShownPart>,
    /// Calls and characters of answers so far.
    calls: u64,
    chars: u64,
}

/// Consecutive lines of a file as they were sent.
#[derive(Debug)]
struct ShownPart {
    path: String,
    first_line: usize,
    /// A hash of each line. Lines inside the part can then be compared too.
    lines: Vec<u64>,
    /// The session's counts when it was sent.
    calls: u64,
    chars: u64,
}

impl ShownParts {
    /// True if these lines of a file, of which `first_line` is the first, were sent lately as they are now.
    pub(crate) fn is_shown(&self, path: &str, first_line: usize, text: &str) -> bool {
        let lines = hash_lines(text);
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_in = |part: &ShownPart| {
            let start = first_line.checked_sub(part.first_line);
            let same = start.and_then(|start| part.lines.get(start..start + lines.len()));
            part.path == path && same == Some(lines.as_slice())
        };
        !lines.is_empty() && log.parts.iter().any(|part| log.is_recent(part) && is_in(part))
    }

    /// Records that lines of a file are sent.
    pub(crate) fn record(&self, path: &str, first_line: usize, text: &str) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let part = ShownPart {
            path: path.to_owned(),
            first_line,
            lines: hash_lines(text),
            calls: log.calls,
            chars: log.chars,
        };
        log.parts.push_back(part);
        while log.parts.len() > MAX_PARTS || log.parts.front().is_some_and(|part| !log.is_recent(part)) {
            log.parts.pop_front();
        }
    }

    /// Counts a call of any tool, with the characters of its answer.
    pub(crate) fn count_answer(&self, chars: usize) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.calls += 1;
        log.chars += chars as u64;
    }
}

impl ShownLog {
    fn is_recent(&self, part: &ShownPart) -> bool {
        self.calls - part.calls <= MAX_CALLS_AGO && self.chars - part.chars <= MAX_CHARS_AGO
    }
}

fn hash_lines(text: &str) -> Vec<u64> {
    let hash = |line: &str| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    };
    text.lines().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_inside_a_shown_part_count_as_shown() {
        let shown = ShownParts::default();
        shown.record("a.rs", 10, "one\ntwo\nthree\n");
        assert!(shown.is_shown("a.rs", 10, "one\ntwo\nthree"));
        assert!(shown.is_shown("a.rs", 11, "two\nthree\n"));
        assert!(!shown.is_shown("a.rs", 9, "zero\none\n"));
        assert!(!shown.is_shown("a.rs", 12, "three\nfour\n"));
        assert!(!shown.is_shown("a.rs", 11, "two\nchanged\n"));
        assert!(!shown.is_shown("b.rs", 10, "one\n"));
        assert!(!shown.is_shown("a.rs", 10, ""));
    }

    #[test]
    fn shown_lines_are_forgotten_after_some_calls_or_characters() {
        let shown = ShownParts::default();
        shown.record("a.rs", 1, "one\n");
        for _ in 0..MAX_CALLS_AGO {
            shown.count_answer(100);
        }
        assert!(shown.is_shown("a.rs", 1, "one\n"));
        shown.count_answer(100);
        assert!(!shown.is_shown("a.rs", 1, "one\n"));

        shown.record("a.rs", 1, "one\n");
        shown.count_answer(usize::try_from(MAX_CHARS_AGO).unwrap());
        assert!(shown.is_shown("a.rs", 1, "one\n"));
        shown.count_answer(1);
        assert!(!shown.is_shown("a.rs", 1, "one\n"));
    }

    #[test]
    fn the_memory_is_bounded() {
        let shown = ShownParts::default();
        for line in 1..=2 * MAX_PARTS {
            shown.record("a.rs", line, "one\n");
        }
        assert_eq!(shown.0.lock().unwrap().parts.len(), MAX_PARTS);
        shown.count_answer(usize::MAX / 2);
        shown.record("a.rs", 1, "one\n");
        assert_eq!(shown.0.lock().unwrap().parts.len(), 1);
    }
}
