//! Text search over the project with ripgrep's engine.
//!
//! Two passes: the first counts matching lines of every file, in parallel and without keeping text; the second
//! reads the few files, in order of path, that the answer has room for. So the total is exact, the order does
//! not depend on threads, and memory depends on the number of matching files only.
//!
//! A match is a matching line, as in ripgrep. Files with a NUL byte are binary and never match.

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
use crate::walk::{self, Missed, Next, WalkedFile};

/// Directories that are never searched: what tools and builds put into a project.
pub const EXCLUDED: &[&str] = &["node_modules", ".git", "dist", "build", ".next", ".context"];

/// Lines of context on each side of a match.
const CONTEXT: usize = 2;

/// The longest line shown whole, in bytes; a longer one is cut around its match.
const MAX_LINE_BYTES: usize = 400;

/// The longest line the engine reads, and the largest file. What is longer is passed over and named.
const HEAP_LIMIT: usize = 64 << 20;
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Files up to this size are read at once, which takes one system call where the engine's own reading takes three. It
/// is as far as the engine looks for NUL bytes in text it is handed whole.
const MAX_SMALL_FILE_BYTES: usize = 64 << 10;

/// What to look for.
#[derive(Clone, Debug)]
pub struct GrepQuery<'a> {
    pub pattern: &'a str,
    /// Only files whose path matches.
    pub file_pattern: Option<&'a str>,
    pub case: Case,
    /// How many matches to return.
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Sensitive,
    Insensitive,
}

/// What was found.
#[derive(Debug)]
pub struct GrepResult {
    /// The first matches by path, then line.
    pub matches: Vec<MatchedLine>,
    /// How many there are in all.
    pub total: u64,
    /// Files read to their end.
    pub files_searched: u64,
    /// Files and directories that could not be.
    pub missed: Missed,
}

/// A matching line and its surroundings. Long lines are cut and marked with `…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    pub path: RepoPath,
    /// Counted from 1.
    pub line: u64,
    /// In characters of the whole line, counted from 1.
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
        matcher: matcher(query)?,
        deadline,
    };
    let searched = AtomicU64::new(0);
    let matching = Mutex::new(Vec::new());

    let missed = walk::files(root, EXCLUDED, deadline, || {
        let mut bench = Bench::new(searcher().line_number(false).build());
        let (search, filter, searched, matching) = (&search, &filter, &searched, &matching);
        move |listed| {
            if deadline.check().is_err() {
                return Next::Stop;
            }
            if filter
                .as_ref()
                .is_some_and(|filter| !filter.accepts(listed.path()))
            {
                return Next::Continue;
            }
            let mut count = Count::default();
            if search.file(listed, &mut bench, &mut count).is_err() {
                return Next::Missed;
            }
            searched.fetch_add(1, Ordering::Relaxed);
            if count.lines > 0 {
                matching
                    .lock()
                    .expect(NO_PANIC)
                    .push((listed.clone(), count.lines));
            }
            Next::Continue
        }
    });
    deadline.check()?;

    let mut matching = matching.into_inner().expect(NO_PANIC);
    matching.sort_unstable();
    let total = matching.iter().map(|(_, lines)| lines).sum();
    let mut matches = Vec::new();
    let mut bench = Bench::new(
        searcher()
            .line_number(true)
            .before_context(CONTEXT)
            .after_context(CONTEXT)
            .build(),
    );
    for (listed, _) in matching {
        if matches.len() >= query.limit {
            break;
        }
        let mut collect = Collect::new(&search.matcher, query.limit - matches.len());
        // A file that has changed or gone since it was counted gives what it still has.
        let _ = search.file(&listed, &mut bench, &mut collect);
        matches.extend(collect.finish(listed.path()));
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

/// What is the same for every file.
struct GrepRun<'a> {
    root: &'a Root,
    matcher: RegexMatcher,
    deadline: &'a Deadline,
}

/// What a thread uses again for every file.
struct Bench {
    searcher: Searcher,
    small: Vec<u8>,
}

impl Bench {
    fn new(searcher: Searcher) -> Self {
        Self {
            searcher,
            small: vec![0; MAX_SMALL_FILE_BYTES],
        }
    }
}

impl GrepRun<'_> {
    fn file<S: Sink<Error = io::Error>>(
        &self,
        listed: &WalkedFile,
        bench: &mut Bench,
        sink: S,
    ) -> io::Result<()> {
        let OpenedFile { file, size, .. } = self.root.listed(listed).map_err(io::Error::other)?;
        if size > MAX_FILE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut source = BoundedFile {
            file,
            left: size,
            deadline: self.deadline,
        };
        if size > MAX_SMALL_FILE_BYTES as u64 {
            return bench.searcher.search_reader(&self.matcher, source, sink);
        }
        let mut filled = 0;
        loop {
            match source.read(&mut bench.small[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        bench
            .searcher
            .search_slice(&self.matcher, &bench.small[..filled], sink)
    }
}

/// A file as long as it was when it was opened, read until time is up. That its end is known saves the read that
/// would only find it.
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
            // Most files are read at once; asking for the time is for those that are not.
            self.deadline.check().map_err(io::Error::other)?;
        }
        Ok(read)
    }
}

/// The same dialect as ripgrep's default engine.
fn matcher(query: &GrepQuery<'_>) -> Result<RegexMatcher, GrepError> {
    RegexMatcherBuilder::new()
        .case_insensitive(query.case == Case::Insensitive)
        .multi_line(true)
        .octal(false)
        .line_terminator(Some(b'\n'))
        .ban_byte(Some(b'\0'))
        .build(query.pattern)
        .map_err(|error| GrepError::Pattern(error.to_string()))
}

fn searcher() -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(b'\0'))
        .heap_limit(Some(HEAP_LIMIT));
    builder
}

/// A glob over paths: without a `/` it speaks of the file name at any depth, with one at its start or inside of
/// the path from the root; a directory means all below it, and a leading `!` means all but these.
#[derive(Debug)]
struct FileFilter {
    globs: GlobSet,
    wanted: bool,
}

impl FileFilter {
    fn new(pattern: &str) -> Result<Self, GrepError> {
        let fail = |error: &globset::Error| GrepError::FilePattern(error.kind().to_string());
        if !is_reasonable(pattern) {
            return Err(GrepError::FilePattern("it is too long or too deep".to_owned()));
        }
        let (pattern, wanted) = pattern
            .strip_prefix('!')
            .map_or((pattern, true), |rest| (rest, false));
        let pattern = pattern
            .strip_prefix("./")
            .unwrap_or(pattern)
            .trim_end_matches('/');
        let pattern = match pattern.strip_prefix('/') {
            Some(rooted) => rooted.to_owned(),
            None if pattern.is_empty() || pattern == "." => "**".to_owned(),
            None if pattern.contains('/') => pattern.to_owned(),
            None => format!("**/{pattern}"),
        };
        let mut globs = GlobSetBuilder::new();
        for glob in [format!("{pattern}/**"), pattern] {
            let glob = GlobBuilder::new(&glob).literal_separator(true).build();
            globs.add(glob.map_err(|error| fail(&error))?);
        }
        Ok(Self {
            globs: globs.build().map_err(|error| fail(&error))?,
            wanted,
        })
    }

    fn accepts(&self, path: &RepoPath) -> bool {
        self.globs.is_match(path.as_str()) == self.wanted
    }
}

/// Counts matching lines; a binary file has none.
#[derive(Debug, Default)]
struct Count {
    lines: u64,
}

impl Sink for &mut Count {
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

/// Keeps the first matches of one file with the lines around them. It is shown those lines, each once, in order; two
/// matches may share some.
struct Collect<'m> {
    matcher: &'m RegexMatcher,
    room: usize,
    rows: Vec<CollectedLine>,
    /// The last lines seen with their numbers, oldest first.
    recent: VecDeque<(u64, String)>,
}

struct CollectedLine {
    line: u64,
    column: usize,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

impl<'m> Collect<'m> {
    fn new(matcher: &'m RegexMatcher, room: usize) -> Self {
        Self {
            matcher,
            room,
            rows: Vec::new(),
            recent: VecDeque::with_capacity(CONTEXT + 1),
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

    /// Hands a line to the matches just before it, and keeps it for those just after. False when nothing more is
    /// needed.
    fn pass(&mut self, number: u64, line: &[u8]) -> bool {
        let text = excerpt(line, 0);
        let near = self
            .rows
            .iter_mut()
            .rev()
            .take_while(|row| row.line + CONTEXT as u64 >= number);
        near.for_each(|row| row.after.push(text.clone()));
        self.recent.push_back((number, text));
        if self.recent.len() > CONTEXT {
            self.recent.pop_front();
        }
        let last = self.rows.last().map_or(0, |row| row.line);
        self.rows.len() < self.room || number < last + CONTEXT as u64
    }
}

impl Sink for &mut Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().expect("line numbers are asked for");
        let whole = found.bytes().strip_suffix(b"\n").unwrap_or(found.bytes());
        let line = without_line_end(whole);
        let near = self
            .recent
            .iter()
            .filter(|(before, _)| before + CONTEXT as u64 >= number);
        let before = near.map(|(_, text)| text.clone()).collect();
        let goes_on = self.pass(number, line);
        if self.rows.len() == self.room {
            return Ok(goes_on);
        }
        let at = self.matcher.find(whole).ok().flatten();
        let at = at.map_or(0, |found| found.start().min(line.len()));
        self.rows.push(CollectedLine {
            line: number,
            column: characters(&line[..at]) + 1,
            text: excerpt(line, at),
            before,
            after: Vec::with_capacity(CONTEXT),
        });
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().expect("line numbers are asked for");
        Ok(self.pass(number, without_line_end(context.bytes())))
    }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// How many characters `bytes` would show; a run of broken bytes counts as the marks that stand for it.
fn characters(bytes: &[u8]) -> usize {
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()))
        .sum()
}

/// The line as text; around byte `at` where it is too long to show whole.
fn excerpt(line: &[u8], at: usize) -> String {
    if line.len() <= MAX_LINE_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let wanted = at
        .saturating_sub(MAX_LINE_BYTES / 4)
        .min(line.len() - MAX_LINE_BYTES);
    let start = boundary(line, wanted);
    let end = boundary(line, (wanted + MAX_LINE_BYTES).min(line.len()));
    let open = if start > 0 { "…" } else { "" };
    let close = if end < line.len() { "…" } else { "" };
    format!("{open}{}{close}", String::from_utf8_lossy(&line[start..end]))
}

/// The next place at or after `at` where a character may begin.
fn boundary(line: &[u8], at: usize) -> usize {
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
        fn an_excerpt_is_a_part_of_the_line_around_the_place(line in "(文|é|x|😀){0,400}", at in 0_usize..2_000) {
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
