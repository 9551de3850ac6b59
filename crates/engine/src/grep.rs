//! Text search over the project with ripgrep's engine.
//!
//! There are two passes: the first counts matching lines of every file, in parallel and without storing text;
//! the second reads the few files, in order of path, that the answer has room for. A match is a matching
//! line, as in ripgrep. Files with a NUL byte are binary and never match.
//!
//! Invariant: the total is exact, the order does not depend on threads, and memory depends only on the number
//! of matching files.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use docent_core::glob::is_reasonable;
use docent_core::path::RepoPath;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::deadline::{Deadline, Expired};
use crate::files::{OpenedFile, Root};
use crate::walk::{self, Missed, VisitOutcome, WalkedFile};

/// Directories that are never searched: dependencies, build output and docent's own.
pub const EXCLUDED: &[&str] = &["node_modules", ".git", "dist", "build", ".next", ".context"];

/// Lines of context on each side of a match.
const CONTEXT_LINES: usize = 2;

/// Longer lines are cut around their match.
const MAX_LINE_BYTES: usize = 400;

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
    pub case: Case,
    /// Maximum number of matches to return.
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Sensitive,
    Insensitive,
}

/// The matches of a query.
#[derive(Debug)]
pub struct GrepResult {
    /// The first matches, by path and line.
    pub matches: Vec<MatchedLine>,
    /// Number of all matches.
    pub total: u64,
    /// Number of files that were read to their end.
    pub files_searched: u64,
    /// Files and directories that could not be read.
    pub missed: Missed,
}

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

#[derive(Debug, thiserror::Error)]
pub enum GrepError {
    #[error("{0}")]
    Pattern(String),
    #[error("{0}")]
    FilePattern(String),
    #[error(transparent)]
    Expired(#[from] Expired),
}

/// Searches the project.
pub fn grep(root: &Root, query: &GrepQuery<'_>, deadline: &Deadline) -> Result<GrepResult, GrepError> {
    let filter = query.file_pattern.map(FileFilter::new).transpose()?;
    let search = GrepRun {
        root,
        matcher: build_matcher(query)?,
        deadline,
    };
    let searched = AtomicU64::new(0);
    let matching = Mutex::new(Vec::new());

    let missed = walk::visit_files(root, EXCLUDED, deadline, || {
        let mut searcher = FileSearcher::new(build_searcher().line_number(false).build());
        let (search, filter, searched, matching) = (&search, &filter, &searched, &matching);
        move |walked| {
            if deadline.check().is_err() {
                return VisitOutcome::Stop;
            }
            if filter
                .as_ref()
                .is_some_and(|filter| !filter.accepts(walked.path()))
            {
                return VisitOutcome::Continue;
            }
            let mut count = LineCounter::default();
            if search.search_file(walked, &mut searcher, &mut count).is_err() {
                return VisitOutcome::Missed;
            }
            searched.fetch_add(1, Ordering::Relaxed);
            if count.lines > 0 {
                matching
                    .lock()
                    .expect(NO_PANIC)
                    .push((walked.clone(), count.lines));
            }
            VisitOutcome::Continue
        }
    });
    deadline.check()?;

    let mut matching = matching.into_inner().expect(NO_PANIC);
    matching.sort_unstable();
    let total = matching.iter().map(|(_, lines)| lines).sum();
    let mut matches = Vec::new();
    let mut searcher = FileSearcher::new(
        build_searcher()
            .line_number(true)
            .before_context(CONTEXT_LINES)
            .after_context(CONTEXT_LINES)
            .build(),
    );
    for (walked, _) in matching {
        if matches.len() >= query.limit {
            break;
        }
        let mut collect = MatchCollector::new(&search.matcher, query.limit - matches.len());
        // A file that has changed since it was counted gives the matches that it has now.
        let _ = search.search_file(&walked, &mut searcher, &mut collect);
        matches.extend(collect.finish(walked.path()));
    }
    deadline.check()?;
    Ok(GrepResult {
        matches,
        total,
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

/// A glob over paths. Without a `/` it matches file names at any depth, with one at its start or inside it
/// matches paths from the root. A pattern that ends with a plain name or a `/` selects a directory of that
/// name with all files below it; one that ends with a wildcard selects files only. A leading `!` negates it,
/// and then a wildcard excludes directories as well, as in ripgrep.
#[derive(Debug)]
pub struct FileFilter {
    globs: GlobSet,
    accepts_matches: bool,
}

impl FileFilter {
    pub fn new(pattern: &str) -> Result<Self, GrepError> {
        let fail = |error: &globset::Error| GrepError::FilePattern(error.kind().to_string());
        if !is_reasonable(pattern) {
            return Err(GrepError::FilePattern("it is too long or too deep".to_owned()));
        }
        let (pattern, accepts_matches) = pattern
            .strip_prefix('!')
            .map_or((pattern, true), |rest| (rest, false));
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let selects_directories = !accepts_matches || pattern.ends_with('/') || !ends_with_wildcard(pattern);
        let pattern = pattern.trim_end_matches('/');
        let pattern = match pattern.strip_prefix('/') {
            Some(rooted) => rooted.to_owned(),
            None if pattern.is_empty() || pattern == "." => "**".to_owned(),
            None if pattern.contains('/') => pattern.to_owned(),
            None => format!("**/{pattern}"),
        };
        let mut globs = GlobSetBuilder::new();
        let below = selects_directories.then(|| format!("{pattern}/**"));
        for glob in below.into_iter().chain([pattern]) {
            let glob = GlobBuilder::new(&glob).literal_separator(true).build();
            globs.add(glob.map_err(|error| fail(&error))?);
        }
        Ok(Self {
            globs: globs.build().map_err(|error| fail(&error))?,
            accepts_matches,
        })
    }

    pub fn accepts(&self, path: &RepoPath) -> bool {
        self.globs.is_match(path.as_str()) == self.accepts_matches
    }
}

/// True if the last part of a glob has a wildcard. A `/` inside alternatives does not begin a part, because
/// `{src/*,lib/x}` ends in either of them.
fn ends_with_wildcard(pattern: &str) -> bool {
    let (mut depth, mut is_escaped, mut has_wildcard) = (0_usize, false, false);
    for c in pattern.chars() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match c {
            '\\' => is_escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => has_wildcard = false,
            '*' | '?' | '[' => has_wildcard = true,
            _ => {}
        }
    }
    has_wildcard
}

/// Counts matching lines. A binary file has none.
#[derive(Debug, Default)]
struct LineCounter {
    lines: u64,
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
struct MatchCollector<'m> {
    matcher: &'m RegexMatcher,
    max_rows: usize,
    rows: Vec<CollectedLine>,
    /// The last lines with their numbers, oldest first.
    recent: VecDeque<(u64, String)>,
}

struct CollectedLine {
    line: u64,
    column: usize,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

impl<'m> MatchCollector<'m> {
    fn new(matcher: &'m RegexMatcher, max_rows: usize) -> Self {
        Self {
            matcher,
            max_rows,
            rows: Vec::new(),
            recent: VecDeque::with_capacity(CONTEXT_LINES + 1),
        }
    }

    fn finish(self, path: &RepoPath) -> impl Iterator<Item = MatchedLine> {
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
        let in_reach = self
            .rows
            .iter_mut()
            .rev()
            .take_while(|row| row.line + CONTEXT_LINES as u64 >= number);
        in_reach.for_each(|row| row.after.push(text.clone()));
        self.recent.push_back((number, text));
        if self.recent.len() > CONTEXT_LINES {
            self.recent.pop_front();
        }
        let last = self.rows.last().map_or(0, |row| row.line);
        self.rows.len() < self.max_rows || number < last + CONTEXT_LINES as u64
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
            .filter(|(before, _)| before + CONTEXT_LINES as u64 >= number);
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
            after: Vec::with_capacity(CONTEXT_LINES),
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

    #[test]
    fn a_search_stops_when_its_time_is_up() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.txt"), "x").unwrap();
        let access = docent_core::access::Access::new([]).unwrap();
        let root = Root::open(directory.path(), access).unwrap();
        let query = GrepQuery {
            pattern: "x",
            file_pattern: None,
            case: Case::Sensitive,
            limit: 1,
        };
        let late = Deadline::after(std::time::Duration::ZERO);
        assert!(matches!(grep(&root, &query, &late), Err(GrepError::Expired(_))));
        assert!(grep(&root, &query, &Deadline::default()).is_ok());
    }

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
