//! LCOV coverage reports, read as they come: bytes in, a [`Report`] out.
//!
//! Only line coverage is read; function and branch records are passed over, because no tool reports them. So is
//! everything this reader does not know, for every producer of LCOV adds something of its own.
//!
//! `DA` lines are the truth. The totals `LF` and `LH` count only for a file that has no `DA`: some producers count
//! lines there that they do not list, and totals of several runs cannot be merged. A report of several runs has
//! several sections about one file; a line is reached when any of them reached it.
//!
//! Invariant: memory depends on how many lines of code the report is about, not on how long it is, and is bounded.

use std::collections::HashMap;
use std::mem;

use memchr::memchr;

use crate::coverage::{FileCoverage, LineHits, Names, Report};

/// Reads one report.
#[derive(Debug)]
pub struct Parser<'a> {
    names: &'a Names,
    files: HashMap<String, Gathered>,
    /// The section that is open: its file and what is known about that.
    section: Option<(String, Gathered)>,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
    /// Lines read so far.
    line: u64,
    /// Bytes of memory taken by closed sections, more or less.
    held: usize,
}

/// What is wrong with a report, as a reason to give a caller. Never repeats what the report says.
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

/// How long a line of a report can be. Names of functions, which are passed over, can be very long.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Memory for one report: enough for half a million files, or a hundred million lines of code.
const MAX_HELD_BYTES: usize = 256 << 20;

/// What a file costs beside its lines and its name: its entry in a table that has just grown.
const FILE_COST: usize = 400;

impl<'a> Parser<'a> {
    /// A reader that calls files as `names` does.
    pub fn new(names: &'a Names) -> Self {
        Self {
            names,
            files: HashMap::new(),
            section: None,
            begun: Vec::new(),
            line: 0,
            held: 0,
        }
    }

    /// Reads on. The bytes may end anywhere.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), LcovError> {
        if !self.begun.is_empty() {
            let end = memchr(b'\n', bytes);
            self.begin(&bytes[..end.unwrap_or(bytes.len())])?;
            let Some(end) = end else { return Ok(()) };
            self.read_begun()?;
            bytes = &bytes[end + 1..];
        }
        loop {
            // Nearly all of a report is lines of this one form.
            if let Some((_, gathered)) = &mut self.section
                && let Some((line, hit, rest)) = plain_mark(bytes)
            {
                self.line += 1;
                gathered.mark(line, hit)?;
                bytes = rest;
                continue;
            }
            let Some(end) = memchr(b'\n', bytes) else {
                return self.begin(bytes);
            };
            self.read(&bytes[..end])?;
            bytes = &bytes[end + 1..];
        }
    }

    /// The report, once all of it was fed.
    pub fn finish(mut self) -> Result<Report, LcovError> {
        if self.line == 0 && self.begun.is_empty() {
            return Err(LcovError::Empty);
        }
        if !self.begun.is_empty() {
            self.read_begun()?;
        }
        if self.section.is_some() {
            return Err(LcovError::Unfinished(self.line));
        }
        if self.files.is_empty() {
            return Err(LcovError::NoRecord);
        }
        let files = self.files.into_iter().map(|(path, gathered)| FileCoverage {
            path,
            lines: gathered.lines(),
        });
        Ok(Report::new(files.collect()))
    }

    /// Keeps the beginning of a line.
    fn begin(&mut self, bytes: &[u8]) -> Result<(), LcovError> {
        if self.begun.len() + bytes.len() > MAX_LINE_BYTES {
            self.line += 1;
            return self.malformed("it is longer than a megabyte");
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }

    /// Reads the line that was begun and is now complete.
    fn read_begun(&mut self) -> Result<(), LcovError> {
        let mut line = mem::take(&mut self.begun);
        self.read(&line)?;
        line.clear();
        self.begun = line;
        Ok(())
    }

    /// Reads one line, without its end.
    fn read(&mut self, mut line: &[u8]) -> Result<(), LcovError> {
        self.line += 1;
        if self.line == 1 {
            if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
                return Err(LcovError::Utf16);
            }
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        match line.trim_ascii_start() {
            [b'D', b'A', b':', mark @ ..] => self.mark(mark),
            [b'S', b'F', b':', path @ ..] => self.open(path),
            [b'L', b'F', b':', count @ ..] => self.claim(count, |claimed| &mut claimed.found),
            [b'L', b'H', b':', count @ ..] => self.claim(count, |claimed| &mut claimed.hit),
            [b'e', ..] if line.trim_ascii() == b"end_of_record" => self.close(),
            _ => Ok(()),
        }
    }

    /// `SF:PATH`
    fn open(&mut self, path: &[u8]) -> Result<(), LcovError> {
        if self.section.is_some() {
            return self.malformed("SF inside a record; the end_of_record before it is missing");
        }
        let name = self.names.name(text(path).trim());
        if name.is_empty() {
            return self.malformed("SF names no file");
        }
        let (name, mut gathered) = self.files.remove_entry(&name).unwrap_or_else(|| {
            self.held += FILE_COST + name.len();
            (name, Gathered::default())
        });
        self.held = self.held.saturating_sub(gathered.held());
        gathered.room =
            MAX_HELD_BYTES.checked_sub(self.held).ok_or(LcovError::TooMuch)? / size_of::<LineWord>();
        self.section = Some((name, gathered));
        Ok(())
    }

    /// `DA:LINE,COUNT`, in any form but the plain one.
    fn mark(&mut self, mark: &[u8]) -> Result<(), LcovError> {
        match (&mut self.section, line_and_hit(mark)) {
            (Some((_, gathered)), Some((line, hit))) => gathered.mark(line, hit),
            (None, _) => self.malformed("DA outside of a record"),
            (_, None) => self.malformed("DA without a line number and a count"),
        }
    }

    /// `LF:COUNT` or `LH:COUNT`. Of several sections the largest stands: the runs met the same lines, or more.
    fn claim(&mut self, count: &[u8], which: fn(&mut LineHits) -> &mut u64) -> Result<(), LcovError> {
        let Some((_, gathered)) = &mut self.section else {
            return self.malformed("LF or LH outside of a record");
        };
        // Whether it matters is known at the end of the record.
        match str::from_utf8(count).map(|count| count.trim().parse::<u32>()) {
            Ok(Ok(count)) => {
                let claimed = which(&mut gathered.claimed);
                *claimed = u64::from(count).max(*claimed);
            }
            _ => gathered.claims_nonsense = true,
        }
        Ok(())
    }

    /// `end_of_record`
    fn close(&mut self) -> Result<(), LcovError> {
        let Some((name, gathered)) = self.section.take() else {
            return self.malformed("end_of_record without a record");
        };
        if gathered.words.is_empty() && gathered.claims_nonsense {
            return self.malformed("LF or LH of the record is no count");
        }
        if gathered.words.is_empty() && gathered.claimed.hit > gathered.claimed.found {
            return self.malformed("the record claims more lines hit than found");
        }
        self.held += gathered.held();
        self.files.insert(name, gathered);
        Ok(())
    }

    fn malformed(&self, problem: &'static str) -> Result<(), LcovError> {
        Err(LcovError::Malformed {
            line: self.line,
            problem,
        })
    }
}

/// What is known about one file.
#[derive(Debug, Default)]
struct Gathered {
    /// The lines that `DA` lists.
    words: Vec<LineWord>,
    /// How many words there were when they were last put in order.
    settled: usize,
    /// True when words are out of order, or two of them are about the same lines.
    mixed: bool,
    /// How many words there may be.
    room: usize,
    /// What `LF` and `LH` say.
    claimed: LineHits,
    claims_nonsense: bool,
}

/// 64 lines: which of them can be reached, and which are.
#[derive(Clone, Copy, Debug)]
struct LineWord {
    /// The first line, divided by 64.
    at: u64,
    found: u64,
    hit: u64,
}

impl Gathered {
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

    /// Adds a word. Those that are out of order are put in order each time their number has doubled: lines in no order
    /// cost little time, and lines that are repeated little memory.
    #[cold]
    fn push(&mut self, word: LineWord) -> Result<(), LcovError> {
        if self.words.len() >= self.room {
            return Err(LcovError::TooMuch);
        }
        self.mixed |= self.words.last().is_some_and(|last| last.at >= word.at);
        self.words.push(word);
        if self.mixed && self.words.len() > 2 * self.settled + 64 {
            self.settle();
        }
        Ok(())
    }

    /// Puts the words in order, one for the same lines.
    fn settle(&mut self) {
        if self.mixed {
            self.words.sort_by_key(|word| word.at);
            self.words.dedup_by(|later, word| {
                let same = later.at == word.at;
                if same {
                    word.found |= later.found;
                    word.hit |= later.hit;
                }
                same
            });
            self.mixed = false;
        }
        self.settled = self.words.len();
    }

    fn lines(mut self) -> LineHits {
        if self.words.is_empty() {
            return self.claimed;
        }
        self.settle();
        let count = |of: fn(&LineWord) -> u64| {
            self.words
                .iter()
                .map(|word| u64::from(of(word).count_ones()))
                .sum()
        };
        LineHits {
            found: count(|word| word.found),
            hit: count(|word| word.hit),
        }
    }

    fn held(&self) -> usize {
        self.words.len() * size_of::<LineWord>()
    }
}

/// A path as text. Bytes that are none are written as `%FF`, so that two paths stay two.
fn text(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text += &format!("%{byte:02X}");
        }
    }
    text
}

/// `DA:12,3` and a line end at the start of `bytes`: the line, whether it was hit, and what follows.
fn plain_mark(bytes: &[u8]) -> Option<(u64, bool, &[u8])> {
    let mark = bytes.strip_prefix(b"DA:")?;
    let (line, count) = number(mark)?;
    let (times, rest) = number(count.strip_prefix(b",")?)?;
    let rest = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n"))?;
    Some((line, times > 0, rest))
}

/// The number at the start of `bytes`, if it has no more digits than always fit, and what follows.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
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

/// `12,3`, with a checksum after it or without: the line, and whether it was hit. Counts are written as large, negative and
/// broken numbers too, by producers that add up a lot.
fn line_and_hit(mark: &[u8]) -> Option<(u64, bool)> {
    let mut fields = mark.split(|&byte| byte == b',').map(str::from_utf8);
    let line = fields.next()?.ok()?.trim().parse().ok()?;
    let count: f64 = fields.next()?.ok()?.trim().parse().ok()?;
    (!count.is_nan()).then_some((line, count > 0.0))
}

#[cfg(test)]
mod tests;
