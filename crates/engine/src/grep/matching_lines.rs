//! Matching lines of one file: their number, or their text with the lines around them.

use std::collections::VecDeque;
use std::io;

use docent_core::path::RepoPath;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

/// Longer lines are cut around their match.
const MAX_LINE_BYTES: usize = 400;

/// A matching line with its context. Long lines are cut and marked with `…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    pub path: RepoPath,
    /// Counted from 1.
    pub line: u64,
    /// Column of the match in characters of the whole line, counted from 1.
    pub column: usize,
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// Counts matching lines. A binary file has none.
#[derive(Debug, Default)]
pub(super) struct LineCounter {
    pub(super) lines: u64,
}

impl Sink for &mut LineCounter {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.lines += 1;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        if finish.binary_byte_offset().is_some() {
            self.lines = 0;
        }
        Ok(())
    }
}

/// Collects the first matches of one file with their context. The engine passes each line once, in order; two
/// matches may share context.
pub(super) struct MatchCollector<'m> {
    matcher: &'m RegexMatcher,
    max_rows: usize,
    rows: Vec<CollectedLine>,
    /// The last lines with their numbers, oldest first.
    recent: VecDeque<(u64, String)>,
    context_lines: usize,
}

struct CollectedLine {
    line: u64,
    column: usize,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

impl<'m> MatchCollector<'m> {
    pub(super) fn new(matcher: &'m RegexMatcher, max_rows: usize, context_lines: usize) -> Self {
        Self {
            matcher,
            max_rows,
            rows: Vec::new(),
            recent: VecDeque::with_capacity(context_lines + 1),
            context_lines,
        }
    }

    pub(super) fn finish(self, path: &RepoPath) -> impl Iterator<Item = MatchedLine> {
        self.rows.into_iter().map(
            |CollectedLine {
                 line,
                 column,
                 text,
                 before,
                 after,
             }| MatchedLine {
                path: path.clone(),
                line,
                column,
                text,
                before,
                after,
            },
        )
    }

    /// Adds a line to the context of the matches before it, and remembers it for those after it. False if no
    /// further line is needed.
    fn add_line(&mut self, number: u64, line: &[u8]) -> bool {
        let text = excerpt(line, 0);
        let context_lines = self.context_lines as u64;
        let in_reach = self
            .rows
            .iter_mut()
            .rev()
            .take_while(|row| row.line + context_lines >= number);
        in_reach.for_each(|row| row.after.push(text.clone()));
        self.recent.push_back((number, text));
        if self.recent.len() > self.context_lines {
            self.recent.pop_front();
        }
        let last = self.rows.last().map_or(0, |row| row.line);
        self.rows.len() < self.max_rows || number < last + context_lines
    }
}

impl Sink for &mut MatchCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        let number = matched.line_number().expect("line numbers are enabled");
        let whole = matched.bytes().strip_suffix(b"\n").unwrap_or(matched.bytes());
        let line = without_line_end(whole);
        let context = self
            .recent
            .iter()
            .filter(|(before, _)| before + self.context_lines as u64 >= number);
        let before = context.map(|(_, text)| text.clone()).collect();
        let goes_on = self.add_line(number, line);
        if self.rows.len() == self.max_rows {
            return Ok(goes_on);
        }
        let at = self.matcher.find(whole).ok().flatten();
        let at = at.map_or(0, |matched| matched.start().min(line.len()));
        self.rows.push(CollectedLine {
            line: number,
            column: count_characters(&line[..at]) + 1,
            text: excerpt(line, at),
            before,
            after: Vec::with_capacity(self.context_lines),
        });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().expect("line numbers are enabled");
        Ok(self.add_line(number, without_line_end(context.bytes())))
    }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Counts the characters that `bytes` are shown as. A run of invalid bytes counts as one replacement
/// character.
fn count_characters(bytes: &[u8]) -> usize {
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()))
        .sum()
}

/// The line as text. A line that is too long is cut around byte `at`.
fn excerpt(line: &[u8], at: usize) -> String {
    if line.len() <= MAX_LINE_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let ideal_start = at
        .saturating_sub(MAX_LINE_BYTES / 4)
        .min(line.len() - MAX_LINE_BYTES);
    let start = char_boundary(line, ideal_start);
    let end = char_boundary(line, (ideal_start + MAX_LINE_BYTES).min(line.len()));
    let open = if start > 0 { "…" } else { "" };
    let close = if end < line.len() { "…" } else { "" };
    format!("{open}{}{close}", String::from_utf8_lossy(&line[start..end]))
}

/// The next position at or after `at` at which a character may begin.
fn char_boundary(line: &[u8], at: usize) -> usize {
    let continues = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    at + line[at..]
        .iter()
        .take(3)
        .take_while(|byte| continues(byte))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_excerpt_is_a_part_of_the_line_around_the_match(line in "(文|é|x|😀){0,400}", at in 0_usize..2_000) {
            let starts: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
            let at = starts.get(at % starts.len().max(1)).copied().unwrap_or(0);
            let shown = excerpt(line.as_bytes(), at);
            let inner = shown.trim_matches('…');
            prop_assert!(line.contains(inner));
            prop_assert!(inner.len() <= MAX_LINE_BYTES + 3);
            if let Some(there) = line[at..].chars().next() {
                prop_assert!(inner.contains(there));
            }
        }

        #[test]
        fn any_bytes_have_an_excerpt(line in proptest::collection::vec(any::<u8>(), 0..1_500), at in 0_usize..1_500) {
            let shown = excerpt(&line, at.min(line.len()));
            prop_assert!(shown.chars().count() <= MAX_LINE_BYTES + 5);
        }
    }
}
