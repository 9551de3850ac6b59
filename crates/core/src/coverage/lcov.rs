//! LCOV coverage reports, parsed as a stream: bytes in, a [`Report`] out.
//!
//! Only line coverage is read. Function and branch records are skipped, because no tool of docent reports
//! them, and so are unknown records, because every producer of LCOV adds some.
//!
//! `DA` lines decide. The totals `LF` and `LH` count only for a file without `DA` lines: some producers count
//! lines there that they do not list, and totals of several runs cannot be merged. A report of several runs
//! has several sections for one file; a line is hit if any of them hit it.
//!
//! Invariant: memory is bounded, and grows with the number of code lines in the report, not with its length.

use std::collections::HashMap;
use std::mem;

use memchr::memchr;

use super::{FileCoverage, FileNames, LineHits, Report};

/// Parses one report.
#[derive(Debug)]
pub struct LcovParser<'a> {
    names: &'a FileNames,
    files: HashMap<String, FileLines>,
    /// The open section: its file and the lines seen so far.
    section: Option<(String, FileLines)>,
    /// The beginning of a line whose end has not been fed yet.
    partial_line: Vec<u8>,
    /// Lines read so far.
    line: u64,
    /// Approximate memory of the closed sections.
    held_bytes: usize,
}

/// The reason why a report is refused, in words for a caller. Never quotes the report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LcovError {
    #[error("invalid format: the file is empty")]
    Empty,
    #[error("invalid format: there is no coverage record in it")]
    NoRecord,
    #[error("invalid format: it is UTF-16; write it as UTF-8")]
    Utf16,
    #[error("invalid format in line {line}: {problem}")]
    Malformed { line: u64, problem: &'static str },
    #[error("invalid format: it ends in the middle of a record, line {0}; perhaps it is still being written")]
    Unfinished(u64),
    #[error("it is about more code than fits into memory")]
    TooMuch,
}

/// Bytes of one line. Function names, which are skipped, can be very long.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Memory for one report: enough for half a million files or a hundred million lines of code.
const MAX_HELD_BYTES: usize = 256 << 20;

/// Memory of a file beside its lines and its name: its entry in a hash table that has just grown.
const FILE_ENTRY_BYTES: usize = 400;

impl<'a> LcovParser<'a> {
    /// A parser that names files by `names`.
    pub fn new(names: &'a FileNames) -> Self {
        Self {
            names,
            files: HashMap::new(),
            section: None,
            partial_line: Vec::new(),
            line: 0,
            held_bytes: 0,
        }
    }

    /// Parses the next bytes. They may end anywhere, also inside a line.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), LcovError> {
        if !self.partial_line.is_empty() {
            let end = memchr(b'\n', bytes);
            self.keep_partial_line(&bytes[..end.unwrap_or(bytes.len())])?;
            let Some(end) = end else { return Ok(()) };
            self.read_partial_line()?;
            bytes = &bytes[end + 1..];
        }
        loop {
            // Fast path: nearly all lines of a report have this form.
            if let Some((_, lines)) = &mut self.section
                && let Some((line, hit, rest)) = read_plain_line(bytes)
            {
                self.line += 1;
                lines.mark(line, hit)?;
                bytes = rest;
                continue;
            }
            let Some(end) = memchr(b'\n', bytes) else {
                return self.keep_partial_line(bytes);
            };
            self.read_line(&bytes[..end])?;
            bytes = &bytes[end + 1..];
        }
    }

    /// The report, once all bytes have been fed.
    pub fn finish(mut self) -> Result<Report, LcovError> {
        if self.line == 0 && self.partial_line.is_empty() {
            return Err(LcovError::Empty);
        }
        if !self.partial_line.is_empty() {
            self.read_partial_line()?;
        }
        if self.section.is_some() {
            return Err(LcovError::Unfinished(self.line));
        }
        if self.files.is_empty() {
            return Err(LcovError::NoRecord);
        }
        let files = self.files.into_iter().map(|(path, lines)| FileCoverage {
            path,
            lines: lines.count(),
        });
        Ok(Report::new(files.collect()))
    }

    /// Keeps the beginning of a line until its end comes.
    fn keep_partial_line(&mut self, bytes: &[u8]) -> Result<(), LcovError> {
        if self.partial_line.len() + bytes.len() > MAX_LINE_BYTES {
            self.line += 1;
            return self.malformed("it is longer than a megabyte");
        }
        self.partial_line.extend_from_slice(bytes);
        Ok(())
    }

    /// Reads the kept line, which is now complete.
    fn read_partial_line(&mut self) -> Result<(), LcovError> {
        let mut line = mem::take(&mut self.partial_line);
        self.read_line(&line)?;
        line.clear();
        self.partial_line = line;
        Ok(())
    }

    /// Reads one line, without its end.
    fn read_line(&mut self, mut line: &[u8]) -> Result<(), LcovError> {
        self.line += 1;
        if self.line == 1 {
            if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
                return Err(LcovError::Utf16);
            }
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        match line.trim_ascii_start() {
            [b'D', b'A', b':', mark @ ..] => self.record_line(mark),
            [b'S', b'F', b':', path @ ..] => self.open_section(path),
            [b'L', b'F', b':', count @ ..] => self.record_total(count, |totals| &mut totals.found),
            [b'L', b'H', b':', count @ ..] => self.record_total(count, |totals| &mut totals.hit),
            [b'e', ..] if line.trim_ascii() == b"end_of_record" => self.close_section(),
            _ => Ok(()),
        }
    }

    /// `SF:PATH`
    fn open_section(&mut self, path: &[u8]) -> Result<(), LcovError> {
        if self.section.is_some() {
            return self.malformed("SF inside a record; the end_of_record before it is missing");
        }
        let name = self.names.normalise(decode_path(path).trim());
        if name.is_empty() {
            return self.malformed("SF names no file");
        }
        let (name, mut lines) = self.files.remove_entry(&name).unwrap_or_else(|| {
            self.held_bytes += FILE_ENTRY_BYTES + name.len();
            (name, FileLines::default())
        });
        self.held_bytes = self.held_bytes.saturating_sub(lines.held_bytes());
        lines.max_words = MAX_HELD_BYTES
            .checked_sub(self.held_bytes)
            .ok_or(LcovError::TooMuch)?
            / size_of::<LineWord>();
        self.section = Some((name, lines));
        Ok(())
    }

    /// `DA:LINE,COUNT`, in any form that the fast path does not take.
    fn record_line(&mut self, mark: &[u8]) -> Result<(), LcovError> {
        match (&mut self.section, read_line_and_hit(mark)) {
            (Some((_, lines)), Some((line, hit))) => lines.mark(line, hit),
            (None, _) => self.malformed("DA outside of a record"),
            (_, None) => self.malformed("DA without a line number and a count"),
        }
    }

    /// `LF:COUNT` or `LH:COUNT`. The largest of several sections counts: the other runs met the same lines or
    /// fewer.
    fn record_total(&mut self, count: &[u8], which: fn(&mut LineHits) -> &mut u64) -> Result<(), LcovError> {
        let Some((_, lines)) = &mut self.section else {
            return self.malformed("LF or LH outside of a record");
        };
        // An invalid total matters only if the record has no DA lines, which its end will show.
        match str::from_utf8(count).map(|count| count.trim().parse::<u32>()) {
            Ok(Ok(count)) => {
                let total = which(&mut lines.totals);
                *total = u64::from(count).max(*total);
            }
            _ => lines.has_invalid_total = true,
        }
        Ok(())
    }

    /// `end_of_record`
    fn close_section(&mut self) -> Result<(), LcovError> {
        let Some((name, lines)) = self.section.take() else {
            return self.malformed("end_of_record without a record");
        };
        if lines.words.is_empty() && lines.has_invalid_total {
            return self.malformed("LF or LH of the record is no count");
        }
        if lines.words.is_empty() && lines.totals.hit > lines.totals.found {
            return self.malformed("the record claims more lines hit than found");
        }
        self.held_bytes += lines.held_bytes();
        self.files.insert(name, lines);
        Ok(())
    }

    fn malformed(&self, problem: &'static str) -> Result<(), LcovError> {
        Err(LcovError::Malformed {
            line: self.line,
            problem,
        })
    }
}

/// The lines of one file.
#[derive(Debug, Default)]
struct FileLines {
    /// The lines that `DA` lists.
    words: Vec<LineWord>,
    /// Number of words when they were last sorted.
    sorted_len: usize,
    /// True if words are out of order, or two of them cover the same lines.
    is_unsorted: bool,
    /// Number of words that memory allows.
    max_words: usize,
    /// The totals of `LF` and `LH`.
    totals: LineHits,
    has_invalid_total: bool,
}

/// A bit set of 64 lines: those found, and those hit.
#[derive(Clone, Copy, Debug)]
struct LineWord {
    /// Number of the first line, divided by 64.
    at: u64,
    found: u64,
    hit: u64,
}

impl FileLines {
    fn mark(&mut self, line: u64, hit: bool) -> Result<(), LcovError> {
        let (at, bit) = (line / 64, 1 << (line % 64));
        let hit = if hit { bit } else { 0 };
        match self.words.last_mut() {
            Some(word) if word.at == at => {
                word.found |= bit;
                word.hit |= hit;
                Ok(())
            }
            _ => self.push(LineWord { at, found: bit, hit }),
        }
    }

    /// Adds a word. Unsorted words are sorted each time their number has doubled, so that lines in random
    /// order cost little time, and repeated lines little memory.
    #[cold]
    fn push(&mut self, word: LineWord) -> Result<(), LcovError> {
        if self.words.len() >= self.max_words {
            return Err(LcovError::TooMuch);
        }
        self.is_unsorted |= self.words.last().is_some_and(|last| last.at >= word.at);
        self.words.push(word);
        if self.is_unsorted && self.words.len() > 2 * self.sorted_len + 64 {
            self.sort_words();
        }
        Ok(())
    }

    /// Sorts the words and merges those of the same lines.
    fn sort_words(&mut self) {
        if self.is_unsorted {
            self.words.sort_by_key(|word| word.at);
            self.words.dedup_by(|later, word| {
                let same = later.at == word.at;
                if same {
                    word.found |= later.found;
                    word.hit |= later.hit;
                }
                same
            });
            self.is_unsorted = false;
        }
        self.sorted_len = self.words.len();
    }

    fn count(mut self) -> LineHits {
        if self.words.is_empty() {
            return self.totals;
        }
        self.sort_words();
        let count_bits = |of: fn(&LineWord) -> u64| {
            self.words
                .iter()
                .map(|word| u64::from(of(word).count_ones()))
                .sum()
        };
        LineHits {
            found: count_bits(|word| word.found),
            hit: count_bits(|word| word.hit),
        }
    }

    fn held_bytes(&self) -> usize {
        self.words.len() * size_of::<LineWord>()
    }
}

/// A path as text. Bytes that are not UTF-8 become `%FF`, so that different paths stay different.
fn decode_path(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text += &format!("%{byte:02X}");
        }
    }
    text
}

/// Reads `DA:12,3` and a line end at the start of `bytes`: the line, whether it was hit, and the rest.
fn read_plain_line(bytes: &[u8]) -> Option<(u64, bool, &[u8])> {
    let mark = bytes.strip_prefix(b"DA:")?;
    let (line, count) = read_number(mark)?;
    let (times, rest) = read_number(count.strip_prefix(b",")?)?;
    let rest = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n"))?;
    Some((line, times > 0, rest))
}

/// Reads the number at the start of `bytes`, and the rest. `None` if it has more digits than always fit.
fn read_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate().take(19) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (at > 0).then_some((value, &bytes[at..]));
        }
        value = value * 10 + u64::from(digit);
    }
    None
}

/// Reads `12,3`, perhaps with a checksum after it: the line, and whether it was hit. Counts may be huge,
/// negative or fractional, because some producers add up a lot.
fn read_line_and_hit(mark: &[u8]) -> Option<(u64, bool)> {
    let mut fields = mark.split(|&byte| byte == b',').map(str::from_utf8);
    let line = fields.next()?.ok()?.trim().parse().ok()?;
    let count: f64 = fields.next()?.ok()?.trim().parse().ok()?;
    (!count.is_nan()).then_some((line, count > 0.0))
}

#[cfg(test)]
mod tests;
