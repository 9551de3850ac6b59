//! `grep` and `rg` over files: the lines that they print, with ripgrep's engine.
//!
//! Left out: the printing itself, which the caller shortens.
//!
//! Invariant: the same lines as the program, in its order of files (ripgrep has none; by path here).

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use docent_core::shell::CommandRefusal;
use docent_core::shell::search::{
    BinaryFiles, Characters, LineSearchRequest, PatternRules, SearchOutput, SearchProgram, translate,
};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use rayon::prelude::*;

use super::binary::grown_buffer;
use super::lines::{FoundLine, FoundLineKind, SearchedFile, SearchedFiles};
use super::walk::{ListedFile, Reason, SelectionError, WalkError, list_files};
use super::{CharacterSet, ShownContent};

/// GNU grep looks for NUL bytes in the first buffer before it prints anything.
pub(super) const GREP_BUFFER_BYTES: usize = 96 << 10;

/// Larger files are not answered.
const MAX_FILE_BYTES: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Refused(#[from] CommandRefusal),
    #[error("{0}")]
    Selection(#[from] SelectionError),
    #[error("the pattern is not answered: {0}")]
    Pattern(String),
    #[error("{0} is larger than 1 GiB")]
    TooLarge(String),
}

/// A compiled search.
pub struct LineSearch<'a> {
    pub(super) request: &'a LineSearchRequest,
    matcher: RegexMatcher,
    pub(super) characters: CharacterSet,
    shown: &'a ShownContent,
}

impl<'a> LineSearch<'a> {
    pub fn new(
        request: &'a LineSearchRequest,
        characters: CharacterSet,
        shown: &'a ShownContent,
    ) -> Result<Self, SearchError> {
        let matcher = match compile(request, characters) {
            // git has searched; a pattern that is not answered only leaves its lines uncut.
            Err(_) if request.program == SearchProgram::GitGrep => match_nothing()?,
            compiled => compiled?,
        };
        Ok(Self {
            request,
            matcher,
            characters,
            shown,
        })
    }

    pub fn request(&self) -> &'a LineSearchRequest {
        self.request
    }

    /// Where a line first matches, in bytes.
    pub fn find_in(&self, line: &[u8]) -> Option<(usize, usize)> {
        let found = self.matcher.find(line).ok().flatten()?;
        Some((found.start(), found.end()))
    }

    /// Searches the files of the request.
    pub fn run(&self, directory: &Path) -> Result<SearchedFiles, SearchError> {
        let listing = list_files(self.request, directory)?;
        let mut searched: Vec<Result<SearchedFile, FileFailure>> = listing
            .files
            .par_iter()
            .map_init(
                || {
                    [BinaryDetection::none(), BinaryDetection::quit(b'\0')]
                        .map(|binary| self.searcher(binary))
                },
                |[searcher, stopping], file| match (self.request.program, file.is_operand) {
                    (SearchProgram::Ripgrep, false) => self.search_file(stopping, file, GREP_BUFFER_BYTES),
                    _ => self.search_file(searcher, file, GREP_BUFFER_BYTES),
                },
            )
            .collect();
        if self.request.program == SearchProgram::Grep {
            self.search_with_grown_buffer(&listing.files, &mut searched);
        }
        let mut result = SearchedFiles {
            searched: searched.len() as u64,
            ..SearchedFiles::default()
        };
        let mut errors = listing.errors.into_iter().peekable();
        for (at, (outcome, listed)) in searched.into_iter().zip(&listing.files).enumerate() {
            while let Some(error) = errors.next_if(|error| error.after <= at) {
                self.add_error(&mut result, &error);
            }
            match outcome {
                Ok(file) => self.add_file(&mut result, file),
                Err(FileFailure::TooLarge) => {
                    return Err(SearchError::TooLarge(
                        String::from_utf8_lossy(&listed.name).into_owned(),
                    ));
                }
                Err(FileFailure::System(error)) => {
                    let name = listed.name.clone();
                    let reason = Reason::System(error);
                    self.add_error(
                        &mut result,
                        &WalkError {
                            name,
                            reason,
                            after: at,
                        },
                    );
                }
            }
        }
        for error in errors {
            self.add_error(&mut result, &error);
        }
        Ok(result)
    }

    /// grep keeps a buffer that a long line has made it grow, so that it finds the NUL bytes of later files
    /// sooner.
    fn search_with_grown_buffer(
        &self,
        listed: &[ListedFile],
        searched: &mut [Result<SearchedFile, FileFailure>],
    ) {
        let mut buffer_bytes = GREP_BUFFER_BYTES;
        for (listed, outcome) in listed.iter().zip(searched) {
            let Ok(file) = outcome else { continue };
            buffer_bytes = grown_buffer(buffer_bytes, file.longest_line);
            if file.late_nul.is_some() && buffer_bytes > GREP_BUFFER_BYTES {
                let mut searcher = self.searcher(BinaryDetection::none());
                *outcome = self.search_file(&mut searcher, listed, buffer_bytes);
            }
        }
    }

    fn add_file(&self, result: &mut SearchedFiles, mut file: SearchedFile) {
        // GNU grep 3.5 and later: a message, which is no error.
        if self.request.program == SearchProgram::Grep
            && let Some(notice) = file.binary_notice.take()
        {
            result.errors.push(String::from_utf8_lossy(&notice).into_owned());
        }
        let has_match = file.matches > 0;
        let is_printed = match self.request.output {
            SearchOutput::Lines | SearchOutput::Parts | SearchOutput::FilesWithMatch => has_match,
            SearchOutput::FilesWithoutMatch => !has_match && !file.is_left_out,
            SearchOutput::Counts => has_match || self.request.program == SearchProgram::Grep,
            SearchOutput::Nothing => false,
        };
        // GNU grep 3.5 and later: a selected line is a success for `-L` too.
        result.is_success |= match (self.request.output, self.request.program) {
            (SearchOutput::FilesWithoutMatch, SearchProgram::Ripgrep) => !has_match,
            (SearchOutput::FilesWithoutMatch, SearchProgram::Silver) => is_printed,
            _ => has_match && !file.is_left_out,
        };
        if is_printed {
            result.files.push(file);
        }
    }

    fn add_error(&self, result: &mut SearchedFiles, error: &WalkError) {
        // A loop of links is a warning only.
        result.has_error |= !matches!(error.reason, Reason::Loop);
        if self.request.hides_errors {
            return;
        }
        let name = String::from_utf8_lossy(&error.name);
        result.errors.push(match (&error.reason, self.request.program) {
            (Reason::Loop, _) => format!("grep: {name}: warning: recursive directory loop"),
            (Reason::IsDirectory, _) => format!("grep: {name}: Is a directory"),
            (Reason::System(error), SearchProgram::Grep) => {
                format!("grep: {name}: {}", system_message(error))
            }
            (Reason::System(error), _) => format!("rg: {name}: {error}"),
        });
    }

    fn searcher(&self, binary: BinaryDetection) -> Searcher {
        let (before, after) = match self.request.output {
            SearchOutput::Lines => self.request.context,
            _ => (0, 0),
        };
        SearcherBuilder::new()
            .line_number(true)
            .invert_match(self.request.inverted)
            .before_context(before)
            .after_context(after)
            .bom_sniffing(false)
            .binary_detection(binary)
            .build()
    }

    fn search_file(
        &self,
        searcher: &mut Searcher,
        listed: &ListedFile,
        buffer_bytes: usize,
    ) -> Result<SearchedFile, FileFailure> {
        let content = read_file(&listed.path)?;
        let mut file = SearchedFile {
            name: listed.name.clone(),
            path: listed.path.clone(),
            ..SearchedFile::default()
        };
        let text = self.decode(&content);
        let content = text.as_deref().unwrap_or(&content);
        let mut lines = LineSink {
            search: self,
            file: &mut file,
            last_line: 0,
            stopped_at: None,
        };
        let binary = self.binary_from(content, buffer_bytes);
        let split = binary.and_then(|nul| self.split_at_nul(content, nul));
        let content = split.as_deref().unwrap_or(content);
        match binary {
            Some(nul) if self.request.binary == BinaryFiles::Skipped => searcher
                .search_slice(&self.matcher, self.before_nul(content, nul), &mut lines)
                .map_err(FileFailure::System)?,
            // ripgrep stops at the buffer with the NUL byte, so the buffers have to be its own.
            Some(_) if self.request.program == SearchProgram::Ripgrep && !listed.is_operand => searcher
                .search_reader(&self.matcher, content, &mut lines)
                .map_err(FileFailure::System)?,
            _ => searcher
                .search_slice(&self.matcher, content, &mut lines)
                .map_err(FileFailure::System)?,
        }
        let stopped_at = lines.stopped_at;
        file.late_nul = binary
            .map(|nul| nul.offset)
            .filter(|offset| *offset >= GREP_BUFFER_BYTES);
        if self.request.program == SearchProgram::Grep && content.len() > GREP_BUFFER_BYTES / 2 {
            file.longest_line = longest_line(content);
        }
        // What `-I` has printed before the first NUL byte is no success.
        file.is_left_out =
            binary.is_some() && self.request.binary == BinaryFiles::Skipped && !file.lines.is_empty();
        if let Some(offset) = stopped_at {
            self.hide_rest(&mut file, offset);
        } else if let Some(nul) =
            binary.filter(|_| self.request.program == SearchProgram::Grep || listed.is_operand)
        {
            self.hide_binary_lines(&mut file, content, nul);
        } else {
            self.hide_wrong_encoding(&mut file, content);
        }
        self.hide_silver_binary(&mut file, content);
        // Only files that print something are worth resolving links for.
        file.is_hidden = file.matches > 0 && !self.shown.allows(&file.path);
        Ok(file)
    }
}

/// Bytes of the longest line, without its end.
fn longest_line(content: &[u8]) -> usize {
    let mut start = 0;
    let mut longest = 0;
    for end in memchr::memchr_iter(b'\n', content).chain([content.len()]) {
        longest = longest.max(end - start);
        start = end + 1;
    }
    longest
}

/// A `grep` that selects lines of a pipe.
pub struct LineFilter {
    matcher: RegexMatcher,
    inverted: bool,
}

/// Compiles the request of a filter.
pub fn filter_for(request: &LineSearchRequest, characters: CharacterSet) -> Result<LineFilter, SearchError> {
    Ok(LineFilter {
        matcher: compile(request, characters)?,
        inverted: request.inverted,
    })
}

impl LineFilter {
    /// Whether a line without its end is selected.
    pub fn selects(&self, line: &[u8]) -> bool {
        self.matcher.is_match(line).unwrap_or(false) != self.inverted
    }
}

/// The content of a file. Its path is looked up once, which takes a search of many files most of its time.
fn read_file(path: &Path) -> Result<Vec<u8>, FileFailure> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a program reads what the user may read; what is shown of it is decided by `ShownContent`"
    )]
    let mut file = fs::File::open(path).map_err(FileFailure::System)?;
    let size = file.metadata().map_err(FileFailure::System)?.len();
    if size > MAX_FILE_BYTES {
        return Err(FileFailure::TooLarge);
    }
    // One byte more, so that the end of the file is seen without another buffer.
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.read_to_end(&mut content).map_err(FileFailure::System)?;
    Ok(content)
}

/// Why a file was not searched.
enum FileFailure {
    System(io::Error),
    TooLarge,
}

fn match_nothing() -> Result<RegexMatcher, SearchError> {
    RegexMatcher::new(r"\b\B").map_err(|error| SearchError::Pattern(error.to_string()))
}

fn compile(request: &LineSearchRequest, characters: CharacterSet) -> Result<RegexMatcher, SearchError> {
    let set = match (characters, request.program) {
        (CharacterSet::Bytes, SearchProgram::Grep) | (_, SearchProgram::Silver) => Characters::Bytes,
        _ => Characters::Unicode,
    };
    let pattern = translate(&request.patterns, PatternRules::of(request), set)?;
    RegexMatcherBuilder::new()
        .multi_line(true)
        .unicode(set == Characters::Unicode)
        .octal(false)
        .line_terminator(Some(b'\n'))
        .build(&pattern)
        .map_err(|error| SearchError::Pattern(error.to_string()))
}

/// The message of a system error without its number, as the C library has it.
fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" (os error") {
        Some((message, _)) => message.to_owned(),
        None => text,
    }
}

/// Collects the lines of a file.
struct LineSink<'a> {
    search: &'a LineSearch<'a>,
    file: &'a mut SearchedFile,
    /// Number of the line that was printed last.
    last_line: u64,
    /// Where the search stopped because of a NUL byte.
    stopped_at: Option<u64>,
}

impl LineSink<'_> {
    fn push(&mut self, number: u64, text: &[u8], kind: FoundLineKind) {
        let has_context = self.search.request.context != (0, 0);
        self.file.lines.push(FoundLine {
            number,
            text: text.to_vec(),
            kind,
            follows_gap: has_context && self.last_line > 0 && number > self.last_line + 1,
        });
        self.last_line = number;
    }

    /// The matches of a line behind its first one, which `ag` counts too.
    fn count_more_parts(&self, line: &[u8]) -> u64 {
        let mut count = 0_u64;
        let mut at = 0;
        while let Ok(Some(found)) = self.search.matcher.find_at(line, at) {
            count += 1;
            at = found.end().max(at + 1);
        }
        count.saturating_sub(1)
    }

    fn push_parts(&mut self, number: u64, line: &[u8]) {
        let mut at = 0;
        while let Ok(Some(found)) = self.search.matcher.find_at(line, at) {
            if !found.is_empty() {
                self.push(number, &line[found.start()..found.end()], FoundLineKind::Match);
            }
            at = if found.is_empty() {
                found.end() + 1
            } else {
                found.end()
            };
            if at > line.len() {
                break;
            }
        }
    }
}

impl Sink for &mut LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let request = self.search.request;
        if request.max_count == Some(self.file.matches) {
            return Ok(false);
        }
        self.file.matches += 1;
        if request.program == SearchProgram::Silver && request.output == SearchOutput::Counts {
            self.file.matches += self.count_more_parts(found.bytes());
        }
        let number = found.line_number().unwrap_or_default();
        let line = found.bytes().strip_suffix(b"\n").unwrap_or(found.bytes());
        match request.output {
            SearchOutput::Lines => self.push(number, line, FoundLineKind::Match),
            SearchOutput::Parts if !request.inverted => self.push_parts(number, line),
            _ => {}
        }
        let needs_more = matches!(
            request.output,
            SearchOutput::Lines | SearchOutput::Parts | SearchOutput::Counts
        );
        Ok(needs_more && request.max_count != Some(self.file.matches))
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let line = found.bytes().strip_suffix(b"\n").unwrap_or(found.bytes());
        self.push(
            found.line_number().unwrap_or_default(),
            line,
            FoundLineKind::Context,
        );
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.stopped_at = finish.binary_byte_offset();
        Ok(())
    }
}
