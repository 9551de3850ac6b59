//! Text search over the project with ripgrep's engine.
//!
//! Two passes: the first counts matching lines of every file, in parallel and without keeping text; the second
//! reads the few files, in order of path, that the answer has room for. So the total is exact, the order does
//! not depend on threads, and memory depends on the number of matching files only.
//!
//! A match is a matching line, as in ripgrep. Files with a NUL byte are binary and never match.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use docent_core::path::RepoPath;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::deadline::{Deadline, Expired};
use crate::files::Root;
use crate::walk::{self, Listed, Next};

/// Directories that are never searched: what tools and builds put into a project.
pub const EXCLUDED: &[&str] = &["node_modules", ".git", "dist", "build", ".next", ".context"];

/// Lines of context on each side of a match.
const CONTEXT: usize = 2;

/// The longest line shown whole, in bytes; a longer one is cut around its match.
const LONGEST_LINE: usize = 400;

/// The longest line the engine reads. A file with a longer one is passed over and counted.
const HEAP_LIMIT: usize = 64 << 20;

/// What to look for.
#[derive(Clone, Debug)]
pub struct Query<'a> {
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
pub struct Found {
    /// The first matches by path, then line.
    pub matches: Vec<Match>,
    /// How many there are in all.
    pub total: u64,
    pub files_searched: u64,
    /// Files that could not be read to their end.
    pub files_unread: u64,
}

/// A matching line and its surroundings. Long lines are cut and marked with `…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
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
pub fn grep(root: &Root, query: &Query<'_>, deadline: &Deadline) -> Result<Found, GrepError> {
    let matcher = matcher(query)?;
    let filter = query.file_pattern.map(FileFilter::new).transpose()?;
    let searched = AtomicU64::new(0);
    let unread = AtomicU64::new(0);
    let matching = Mutex::new(Vec::new());

    walk::files(root, EXCLUDED, || {
        let mut searcher = searcher().line_number(false).build();
        let (matcher, filter, searched, unread, matching) =
            (&matcher, &filter, &searched, &unread, &matching);
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
            let outcome = search(root, &listed, &mut searcher, matcher, deadline, &mut count);
            searched.fetch_add(1, Ordering::Relaxed);
            match outcome {
                Ok(()) if count.lines > 0 => {
                    matching
                        .lock()
                        .expect("no visitor panics while it adds a file")
                        .push((listed, count.lines));
                }
                Ok(()) => {}
                Err(_) => {
                    unread.fetch_add(1, Ordering::Relaxed);
                }
            }
            Next::Continue
        }
    });
    deadline.check()?;

    let mut matching = matching
        .into_inner()
        .expect("no visitor panics while it adds a file");
    matching.sort_unstable();
    let total = matching.iter().map(|(_, lines)| lines).sum();
    let mut matches = Vec::new();
    let mut searcher = searcher().line_number(true).passthru(true).build();
    for (listed, _) in matching {
        if matches.len() >= query.limit {
            break;
        }
        let mut collect = Collect::new(&matcher, query.limit - matches.len());
        // A file that has changed or gone since it was counted gives what it still has.
        let _ = search(root, &listed, &mut searcher, &matcher, deadline, &mut collect);
        matches.extend(collect.finish(listed.path()));
    }
    deadline.check()?;
    Ok(Found {
        matches,
        total,
        files_searched: searched.into_inner(),
        files_unread: unread.into_inner(),
    })
}

fn search<S: Sink<Error = io::Error>>(
    root: &Root,
    listed: &Listed,
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    deadline: &Deadline,
    sink: S,
) -> io::Result<()> {
    let opened = root.listed(listed).map_err(io::Error::other)?;
    searcher.search_reader(matcher, deadline.reader(opened.file), sink)
}

/// The same dialect as ripgrep's default engine.
fn matcher(query: &Query<'_>) -> Result<RegexMatcher, GrepError> {
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

/// A glob over paths: without a `/` it speaks of the file name at any depth, a directory means all below
/// it, and a leading `!` means all but these.
#[derive(Debug)]
struct FileFilter {
    globs: GlobSet,
    wanted: bool,
}

impl FileFilter {
    fn new(pattern: &str) -> Result<Self, GrepError> {
        let fail = |error: &globset::Error| GrepError::FilePattern(error.kind().to_string());
        let (pattern, wanted) = pattern
            .strip_prefix('!')
            .map_or((pattern, true), |rest| (rest, false));
        let pattern = pattern.trim_start_matches("./").trim_matches('/');
        let pattern = if pattern.contains('/') {
            pattern.to_owned()
        } else {
            format!("**/{pattern}")
        };
        let mut globs = GlobSetBuilder::new();
        for glob in [format!("{pattern}/**"), pattern] {
            globs.add(
                GlobBuilder::new(&glob)
                    .literal_separator(true)
                    .build()
                    .map_err(|error| fail(&error))?,
            );
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

/// Keeps the first matches of one file with the lines around them. It is shown every line.
struct Collect<'m> {
    matcher: &'m RegexMatcher,
    room: usize,
    matches: Vec<Row>,
    /// The last lines seen, oldest first.
    recent: Vec<String>,
    /// The first match that may still need lines after it.
    open: usize,
}

struct Row {
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
            matches: Vec::new(),
            recent: Vec::new(),
            open: 0,
        }
    }

    fn finish(self, path: &RepoPath) -> impl Iterator<Item = Match> {
        self.matches.into_iter().map(
            |Row {
                 line,
                 column,
                 text,
                 before,
                 after,
             }| Match {
                path: path.clone(),
                line,
                column,
                text,
                before,
                after,
            },
        )
    }

    /// Hands a line to the matches that want it as context. False when nothing more is needed.
    fn pass(&mut self, line: &[u8]) -> bool {
        let text = excerpt(line, 0);
        for row in &mut self.matches[self.open..] {
            row.after.push(text.clone());
        }
        while self
            .matches
            .get(self.open)
            .is_some_and(|row| row.after.len() >= CONTEXT)
        {
            self.open += 1;
        }
        if self.recent.len() == CONTEXT {
            self.recent.remove(0);
        }
        self.recent.push(text);
        self.matches.len() < self.room || self.open < self.matches.len()
    }
}

impl Sink for &mut Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = without_line_end(found.bytes());
        let before = self.recent.clone();
        let goes_on = self.pass(line);
        if self.matches.len() < self.room {
            let at = self
                .matcher
                .find(line)
                .ok()
                .flatten()
                .map_or(0, |found| found.start());
            self.matches.push(Row {
                line: found.line_number().unwrap_or(0),
                column: characters(&line[..at]) + 1,
                text: excerpt(line, at),
                before,
                after: Vec::with_capacity(CONTEXT),
            });
            return Ok(true);
        }
        Ok(goes_on)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.pass(without_line_end(context.bytes())))
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
    if line.len() <= LONGEST_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    let start = boundary(
        line,
        at.saturating_sub(LONGEST_LINE / 4).min(line.len() - LONGEST_LINE),
    );
    let end = boundary(line, start + LONGEST_LINE);
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
