//! Text search over the project with ripgrep's engine.
//!
//! There are two passes: the first counts matching lines of every file, in parallel and without storing text;
//! the second reads the few files, in order of path, that the answer has room for. A match is a matching
//! line, as in ripgrep. Files with a NUL byte are binary and never match.
//!
//! Invariant: the total is exact, the order does not depend on threads, and memory depends only on the number
//! of matching files.

mod matching_lines;
mod selection;

use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use docent_core::path::RepoPath;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink};

use crate::deadline::{Deadline, Expired};
use crate::files::{OpenedFile, Root};
use crate::walk::{self, Missed, VisitOutcome, WalkedFile};

pub use matching_lines::MatchedLine;
use matching_lines::{LineCounter, MatchCollector};
use selection::FileSelection;
pub use selection::{FileFilter, FileKind};

/// Directories that are never searched: dependencies, build output and docent's own.
pub const EXCLUDED: &[&str] = &["node_modules", ".git", "dist", "build", ".next", ".context"];

/// Limits of a line and of a file. A file beyond them is skipped and named.
const MAX_HEAP_BYTES: usize = 64 << 20;
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Files up to this size are read with one system call, where the search engine's reader takes three. In a
/// slice, the engine looks for NUL bytes only up to this size.
const MAX_SMALL_FILE_BYTES: usize = 64 << 10;

/// A text search.
#[derive(Clone, Debug)]
pub struct GrepQuery<'a> {
    pub pattern: &'a str,
    /// Only files whose path matches.
    pub file_pattern: Option<&'a str>,
    /// Only files that one of these names: files, directories or globs. Empty: all files.
    pub paths: &'a [String],
    /// Only files of these kinds. Empty: all files.
    pub kinds: &'a [FileKind],
    pub case: Case,
    /// Lines of context on each side of a match.
    pub context_lines: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Sensitive,
    Insensitive,
}

/// The matching files of a query.
#[derive(Debug)]
pub struct GrepCounts {
    /// Files with matches, by path.
    pub files: Vec<MatchingFile>,
    /// Number of all matches.
    pub total: u64,
    /// Number of files that were read to their end.
    pub files_searched: u64,
    /// Files and directories that could not be read.
    pub missed: Missed,
}

/// A file with matches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchingFile {
    walked: WalkedFile,
    /// Number of its matching lines.
    pub lines: u64,
}

impl MatchingFile {
    pub fn path(&self) -> &RepoPath {
        self.walked.path()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum GrepError {
    #[error("{0}")]
    Pattern(String),
    #[error("{0}")]
    FilePattern(String),
    #[error(transparent)]
    Expired(#[from] Expired),
}

/// A text search whose pattern and filters are compiled.
pub struct Grep<'a> {
    run: GrepRun<'a>,
    filter: FileSelection,
    context_lines: usize,
}

impl<'a> Grep<'a> {
    pub fn new(root: &'a Root, query: &GrepQuery<'_>, deadline: &'a Deadline) -> Result<Self, GrepError> {
        Ok(Self {
            run: GrepRun {
                root,
                matcher: build_matcher(query)?,
                deadline,
            },
            filter: FileSelection::new(root, query)?,
            context_lines: query.context_lines,
        })
    }

    /// The first pass: counts the matching lines of all files.
    pub fn count(&self) -> Result<GrepCounts, GrepError> {
        count_matches(&self.run, &self.filter)
    }

    /// The second pass: the first matches of these files, in their order.
    pub fn read<'f>(
        &self,
        files: impl IntoIterator<Item = &'f MatchingFile>,
        limit: usize,
    ) -> Result<Vec<MatchedLine>, GrepError> {
        let mut matches = Vec::new();
        let mut searcher = FileSearcher::new(
            build_searcher()
                .line_number(true)
                .before_context(self.context_lines)
                .after_context(self.context_lines)
                .build(),
        );
        for file in files {
            if matches.len() >= limit {
                break;
            }
            let mut collect =
                MatchCollector::new(&self.run.matcher, limit - matches.len(), self.context_lines);
            // A file that has changed since it was counted gives the matches that it has now.
            let _ = self.run.search_file(&file.walked, &mut searcher, &mut collect);
            matches.extend(collect.finish(file.path()));
        }
        self.run.deadline.check()?;
        Ok(matches)
    }
}

/// Counts the matching lines of every file.
fn count_matches(search: &GrepRun<'_>, filter: &FileSelection) -> Result<GrepCounts, GrepError> {
    let (root, deadline) = (search.root, search.deadline);
    let searched = AtomicU64::new(0);
    let matching = Mutex::new(Vec::new());

    let missed = walk::visit_files_in(root, &filter.extent, EXCLUDED, deadline, || {
        let mut searcher = FileSearcher::new(build_searcher().line_number(false).build());
        let (searched, matching) = (&searched, &matching);
        move |walked| {
            if deadline.check().is_err() {
                return VisitOutcome::Stop;
            }
            if !filter.accepts(walked.path()) {
                return VisitOutcome::Continue;
            }
            let mut count = LineCounter::default();
            if search.search_file(walked, &mut searcher, &mut count).is_err() {
                return VisitOutcome::Missed;
            }
            searched.fetch_add(1, Ordering::Relaxed);
            if count.lines > 0 {
                matching.lock().expect(NO_PANIC).push(MatchingFile {
                    walked: walked.clone(),
                    lines: count.lines,
                });
            }
            VisitOutcome::Continue
        }
    });
    deadline.check()?;

    let mut files = matching.into_inner().expect(NO_PANIC);
    files.sort_unstable();
    Ok(GrepCounts {
        total: files.iter().map(|file| file.lines).sum(),
        files,
        files_searched: searched.into_inner(),
        missed,
    })
}

const NO_PANIC: &str = "no visitor panics while it adds a file";

/// The parts of a query that are the same for every file.
struct GrepRun<'a> {
    root: &'a Root,
    matcher: RegexMatcher,
    deadline: &'a Deadline,
}

/// The search engine and the read buffer of one thread, reused for every file.
struct FileSearcher {
    engine: Searcher,
    buffer: Vec<u8>,
}

impl FileSearcher {
    fn new(engine: Searcher) -> Self {
        Self {
            engine,
            buffer: vec![0; MAX_SMALL_FILE_BYTES],
        }
    }
}

impl GrepRun<'_> {
    fn search_file<S: Sink<Error = io::Error>>(
        &self,
        walked: &WalkedFile,
        searcher: &mut FileSearcher,
        sink: S,
    ) -> io::Result<()> {
        let OpenedFile { file, size, .. } = self.root.open_walked(walked).map_err(io::Error::other)?;
        if size > MAX_FILE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut source = BoundedFile {
            file,
            left: size,
            deadline: self.deadline,
        };
        if size > MAX_SMALL_FILE_BYTES as u64 {
            return searcher.engine.search_reader(&self.matcher, source, sink);
        }
        let mut filled = 0;
        loop {
            match source.read(&mut searcher.buffer[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        searcher
            .engine
            .search_slice(&self.matcher, &searcher.buffer[..filled], sink)
    }
}

/// A file of the size that it had when it was opened, read until the deadline. The known size saves the last
/// read, which would only find the end.
struct BoundedFile<'a> {
    file: File,
    left: u64,
    deadline: &'a Deadline,
}

impl Read for BoundedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let read = self.file.read(buffer)?;
        self.left = if read == 0 {
            0
        } else {
            self.left.saturating_sub(read as u64)
        };
        if self.left > 0 {
            // Most files are read at once and need no check.
            self.deadline.check().map_err(io::Error::other)?;
        }
        Ok(read)
    }
}

/// Builds a matcher with the dialect of ripgrep's default engine.
fn build_matcher(query: &GrepQuery<'_>) -> Result<RegexMatcher, GrepError> {
    RegexMatcherBuilder::new()
        .case_insensitive(query.case == Case::Insensitive)
        .multi_line(true)
        .octal(false)
        .line_terminator(Some(b'\n'))
        .ban_byte(Some(b'\0'))
        .build(query.pattern)
        .map_err(|error| GrepError::Pattern(error.to_string()))
}

fn build_searcher() -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(b'\0'))
        .heap_limit(Some(MAX_HEAP_BYTES));
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_stops_when_its_time_is_up() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.txt"), "x").unwrap();
        let access = docent_core::access::Access::new([]).unwrap();
        let root = Root::open(directory.path(), access).unwrap();
        let query = GrepQuery {
            pattern: "x",
            file_pattern: None,
            paths: &[],
            kinds: &[],
            case: Case::Sensitive,
            context_lines: 2,
        };
        let count = |deadline| Grep::new(&root, &query, deadline)?.count();
        let late = Deadline::after(std::time::Duration::ZERO);
        assert!(matches!(count(&late), Err(GrepError::Expired(_))));
        assert!(count(&Deadline::default()).is_ok());
    }
}
