//! The walk of `find`: every entry in the order of its directory, links not followed.
//!
//! Invariant: a file is asked for its size or time only if the expression reaches a test that needs it.

use std::io;
use std::os::fd::BorrowedFd;

use docent_core::shell::find::{
    AgeUnit, Charset, CountTest, EntryKind, FindAction, FindCommand, FindExpression, FindTest, FormatPart,
    PatternMatch,
};
use rustix::fs::{AtFlags, CWD, Stat, lstat, statat};

use super::directory::{Directory, Entry, allow_depth, kind_of};
use super::near::NearSearch;
use super::{Listing, ListingContext, ListingError, describe, join, quote};

/// Directories of more entries are listed by inode by `find`, which saves it seeks.
const MAX_UNSORTED_ENTRIES: usize = 10_000;

const DAY_NANOSECONDS: i128 = 86_400_000_000_000;
const MINUTE_NANOSECONDS: i128 = 60_000_000_000;

/// Lists what the command finds. Relative starting points are those of the process's working directory.
pub fn run_find(command: &FindCommand, context: &ListingContext) -> Result<Listing, ListingError> {
    let mut walk = FindWalk {
        command,
        charset: context.charset,
        now: context.now.as_nanosecond(),
        listing: Listing::default(),
        near: NearSearch::for_expression(&command.expression),
        unclear: None,
    };
    for start in &command.starts {
        if walk.visit_start(start.as_bytes()) == WalkStep::End {
            break;
        }
    }
    if let Some(path) = walk.unclear {
        return Err(ListingError::Unclear(path));
    }
    let mut listing = walk.listing;
    if listing.out.is_empty() {
        listing.near = walk.near.finish();
    }
    Ok(listing)
}

struct FindWalk<'a> {
    command: &'a FindCommand,
    charset: Charset,
    /// Nanoseconds since 1970.
    now: i128,
    listing: Listing,
    near: NearSearch,
    /// The first path whose answer is not known.
    unclear: Option<String>,
}

/// An entry as tests see it.
struct Visited<'a> {
    path: &'a [u8],
    /// The last component, without slashes behind it.
    name: &'a [u8],
    /// Length of the starting point, with its slash.
    below: usize,
    depth: usize,
    kind: EntryKind,
    parent: BorrowedFd<'a>,
    /// The name below `parent`.
    name_below: &'a [u8],
    stat: Option<Stat>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkStep {
    Enter,
    /// `-prune`, or no directory.
    Skip,
    /// `-quit`, or an answer that is not known.
    End,
}

impl FindWalk<'_> {
    fn visit_start(&mut self, start: &[u8]) -> WalkStep {
        let stat = match lstat(start) {
            Ok(stat) => stat,
            Err(error) => {
                self.report(start, &error.into());
                return WalkStep::Enter;
            }
        };
        let mut visited = Visited {
            path: start,
            name: last_component(start),
            below: start.len() + usize::from(!start.ends_with(b"/")),
            depth: 0,
            kind: kind_of(rustix::fs::FileType::from_raw_mode(stat.st_mode)),
            parent: CWD,
            name_below: start,
            stat: Some(stat),
        };
        let step = self.visit(&mut visited);
        if step != WalkStep::Enter {
            return step;
        }
        match Directory::open(None, start) {
            Ok(directory) => self.visit_entries(directory, start, visited.below, 1),
            Err(error) => {
                self.report(start, &error);
                WalkStep::Enter
            }
        }
    }

    fn visit_entries(
        &mut self,
        mut directory: Directory,
        path: &[u8],
        below: usize,
        depth: usize,
    ) -> WalkStep {
        allow_depth(depth);
        let mut entries = std::mem::take(&mut directory.entries);
        if entries.len() > MAX_UNSORTED_ENTRIES && has_slow_seeks(&directory) {
            entries.sort_unstable_by_key(|entry| entry.inode);
        }
        let mut full = join(path, b"");
        let parent_length = full.len();
        for Entry { name, kind, .. } in entries {
            let name = name.as_bytes();
            full.truncate(parent_length);
            full.extend_from_slice(name);
            let mut visited = Visited {
                path: &full,
                name,
                below,
                depth,
                kind,
                parent: directory.handle(),
                name_below: name,
                stat: None,
            };
            match self.visit(&mut visited) {
                WalkStep::End => return WalkStep::End,
                WalkStep::Skip => {}
                WalkStep::Enter => match Directory::open(Some(directory.handle()), name) {
                    Ok(inner) => {
                        if self.visit_entries(inner, &full, below, depth + 1) == WalkStep::End {
                            return WalkStep::End;
                        }
                    }
                    Err(error) => self.report(&full, &error),
                },
            }
        }
        WalkStep::Enter
    }

    /// Evaluates the expression for an entry, and decides whether its entries are visited too.
    fn visit(&mut self, visited: &mut Visited<'_>) -> WalkStep {
        let mut step = if visited.kind == EntryKind::Directory && visited.depth < self.command.max_depth {
            WalkStep::Enter
        } else {
            WalkStep::Skip
        };
        if visited.depth >= self.command.min_depth {
            if self.listing.out.is_empty() {
                self.near.offer(visited.name, visited.path, visited.kind);
            }
            let command = self.command;
            self.evaluate(&command.expression, visited, &mut step);
        }
        if self.unclear.is_some() {
            WalkStep::End
        } else {
            step
        }
    }

    fn evaluate(
        &mut self,
        expression: &FindExpression,
        visited: &mut Visited<'_>,
        step: &mut WalkStep,
    ) -> bool {
        match expression {
            FindExpression::Test(test) => self.passes(test, visited),
            FindExpression::Action(action) => {
                self.act(action, visited, step);
                true
            }
            FindExpression::Not(inner) => !self.evaluate(inner, visited, step),
            FindExpression::And(parts) => parts
                .iter()
                .all(|part| *step != WalkStep::End && self.evaluate(part, visited, step)),
            FindExpression::Or(parts) => parts
                .iter()
                .any(|part| *step == WalkStep::End || self.evaluate(part, visited, step)),
        }
    }

    fn passes(&mut self, test: &FindTest, visited: &mut Visited<'_>) -> bool {
        match test {
            FindTest::Name(pattern) => {
                let answer = pattern.matches(visited.name, self.charset);
                self.decide(answer, visited)
            }
            FindTest::Path(pattern) => {
                let answer = pattern.matches(visited.path, self.charset);
                self.decide(answer, visited)
            }
            FindTest::Regex(regex) => {
                let answer = regex.matches(visited.path, self.charset);
                self.decide(answer, visited)
            }
            FindTest::Type(kinds) => kinds.contains(&visited.kind),
            FindTest::Size { unit, count } => {
                let size = self
                    .stat(visited)
                    .map(|stat| u64::try_from(stat.st_size).unwrap_or(0));
                size.is_some_and(|size| count.accepts(size.div_ceil(*unit)))
            }
            FindTest::Empty => match visited.kind {
                EntryKind::File => self.stat(visited).is_some_and(|stat| stat.st_size == 0),
                EntryKind::Directory => self.is_empty_directory(visited),
                EntryKind::Link | EntryKind::Other => false,
            },
            FindTest::Age { unit, count } => {
                let now = self.now;
                self.stat(visited)
                    .is_some_and(|stat| has_age(now - modified_at(&stat), *unit, *count))
            }
            FindTest::True => true,
            FindTest::False => false,
        }
    }

    fn decide(&mut self, answer: PatternMatch, visited: &Visited<'_>) -> bool {
        if answer == PatternMatch::Unclear && self.unclear.is_none() {
            self.unclear = Some(String::from_utf8_lossy(visited.path).into_owned());
        }
        answer == PatternMatch::Yes
    }

    fn act(&mut self, action: &FindAction, visited: &mut Visited<'_>, step: &mut WalkStep) {
        match action {
            FindAction::Print => {
                self.listing.out.extend_from_slice(visited.path);
                self.listing.out.push(b'\n');
            }
            FindAction::Format(parts) => {
                for part in parts {
                    self.print_part(part, visited);
                }
            }
            FindAction::Prune if *step == WalkStep::Enter => *step = WalkStep::Skip,
            FindAction::Prune => {}
            FindAction::Quit => *step = WalkStep::End,
        }
    }

    fn print_part(&mut self, part: &FormatPart, visited: &mut Visited<'_>) {
        match part {
            FormatPart::Text(text) => self.listing.out.extend_from_slice(text.as_bytes()),
            FormatPart::Path => self.listing.out.extend_from_slice(visited.path),
            FormatPart::PathBelowStart => {
                let below = visited.path.get(visited.below..).unwrap_or_default();
                self.listing.out.extend_from_slice(below);
            }
            FormatPart::Name => {
                // The slashes behind a starting point are printed.
                let at = visited.path.len() - name_with_slashes(visited.path).len();
                self.listing.out.extend_from_slice(&visited.path[at..]);
            }
            FormatPart::Size => {
                let size = self.stat(visited).map_or(0, |stat| stat.st_size);
                self.listing.out.extend_from_slice(size.to_string().as_bytes());
            }
            FormatPart::Depth => {
                let depth = visited.depth.to_string();
                self.listing.out.extend_from_slice(depth.as_bytes());
            }
        }
    }

    fn stat(&mut self, visited: &mut Visited<'_>) -> Option<Stat> {
        if visited.stat.is_none() {
            match statat(visited.parent, visited.name_below, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => visited.stat = Some(stat),
                Err(error) => self.report(visited.path, &error.into()),
            }
        }
        visited.stat
    }

    fn is_empty_directory(&mut self, visited: &Visited<'_>) -> bool {
        let parent = (visited.depth > 0).then_some(visited.parent);
        match Directory::open(parent, visited.name_below) {
            Ok(directory) => directory.entries.is_empty(),
            Err(error) => {
                self.report(visited.path, &error);
                false
            }
        }
    }

    fn report(&mut self, path: &[u8], error: &io::Error) {
        let line = format!("find: {}: {}\n", quote(path, self.charset), describe(error));
        self.listing.err.extend_from_slice(line.as_bytes());
        self.listing.status = 1;
    }
}

/// Whether `find` orders a large directory by inode: not on the file systems tmpfs, NFS and CIFS.
#[cfg(target_os = "linux")]
fn has_slow_seeks(directory: &Directory) -> bool {
    let is_fast = |kind| matches!(kind, 0x0102_1994 | 0x6969 | 0xFF53_4D42);
    rustix::fs::fstatfs(directory.handle()).is_ok_and(|file_system| !is_fast(file_system.f_type))
}

#[cfg(not(target_os = "linux"))]
fn has_slow_seeks(_: &Directory) -> bool {
    false
}

/// The last component of a path without slashes behind it. `/` is its own name.
fn last_component(path: &[u8]) -> &[u8] {
    let name = name_with_slashes(path);
    let length = name.iter().rposition(|byte| *byte != b'/').map_or(1, |at| at + 1);
    &name[..length.min(name.len())]
}

/// The last component of a path with the slashes behind it.
fn name_with_slashes(path: &[u8]) -> &[u8] {
    let Some(last) = path.iter().rposition(|byte| *byte != b'/') else {
        return &path[..path.len().min(1)];
    };
    let start = path[..last]
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1);
    &path[start..]
}

fn modified_at(stat: &Stat) -> i128 {
    i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec)
}

/// Days are whole days gone by; minutes are rounded up.
fn has_age(age: i128, unit: AgeUnit, count: CountTest) -> bool {
    match (unit, count) {
        (AgeUnit::Day, CountTest::LessThan(days)) => age < i128::from(days) * DAY_NANOSECONDS,
        (AgeUnit::Day, CountTest::MoreThan(days)) => age >= (i128::from(days) + 1) * DAY_NANOSECONDS,
        (AgeUnit::Day, CountTest::Exactly(days)) => age.div_euclid(DAY_NANOSECONDS) == i128::from(days),
        (AgeUnit::Minute, CountTest::LessThan(minutes)) => age < i128::from(minutes) * MINUTE_NANOSECONDS,
        (AgeUnit::Minute, CountTest::MoreThan(minutes)) => age > i128::from(minutes) * MINUTE_NANOSECONDS,
        (AgeUnit::Minute, CountTest::Exactly(minutes)) => {
            let end = i128::from(minutes) * MINUTE_NANOSECONDS;
            age <= end && age > end - MINUTE_NANOSECONDS
        }
    }
}
