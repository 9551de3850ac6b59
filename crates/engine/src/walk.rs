//! The project's files: a parallel walk that respects ignore rules and the access rules.
//!
//! Ignore files count whether or not the project is a git repository; those above the root only up to the top of
//! the work tree the root lies in. Hidden files are listed (`.github/` is part of a project), links are not followed, and
//! names that cannot be written as a path of the project (not UTF-8, control characters, backslashes) are
//! passed over.
//!
//! Invariant: the walk ends with its deadline, and what it could not look into is named. Ignore files are
//! opened by the `ignore` library, by name and whatever they are, so they are looked at first: a directory is not
//! entered whose ignore file is a pipe, a device, a link that leads outside, or made to be costly.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use docent_core::glob::is_reasonable;
use docent_core::path::RepoPath;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::deadline::Deadline;
use crate::files::Root;
use crate::stamp::Stamp;

/// A file that a walk has found and the rules allow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkedFile(RepoPath);

/// What a visitor says of a file: it was looked into, it could not be, or the walk should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Continue,
    Missed,
    Stop,
}

/// What could not be looked into: how many, and the first few by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    pub count: u64,
    pub first: BTreeSet<String>,
}

/// The files of a directory that the library reads rules from.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", OWN_IGNORE_FILE];

/// Says what docent leaves out, and with `!` what it looks at although git does not. Beats the others.
const OWN_IGNORE_FILE: &str = ".docentignore";

/// Files by which a directory says that it is a cache or a virtual environment.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Ignore files beyond this are no ignore files.
const MAX_IGNORE_FILE_BYTES: u64 = 256 << 10;
const MAX_IGNORE_LINES: usize = 10_000;

impl WalkedFile {
    pub fn path(&self) -> &RepoPath {
        &self.0
    }
}

impl Missed {
    /// Names that are kept.
    const NAMED: usize = 5;

    fn add(&mut self, name: &str) {
        self.count += 1;
        self.first.insert(name.to_owned());
        if self.first.len() > Self::NAMED {
            self.first.pop_last();
        }
    }
}

/// Collects what was missed, from every thread of a walk.
#[derive(Clone, Debug, Default)]
struct Misses(Arc<Mutex<Missed>>);

impl Misses {
    fn lock(&self) -> MutexGuard<'_, Missed> {
        self.0.lock().expect("nothing panics while it adds a name")
    }
}

/// Visits every file from several threads, in no order. Each thread has a visitor of its own, made by
/// `visitor`. Directories named in `excluded` are passed over at any depth. Returns what was missed.
pub fn files<V>(
    root: &Root,
    excluded: &'static [&'static str],
    deadline: &Deadline,
    mut visitor: impl FnMut() -> V,
) -> Missed
where
    V: FnMut(&WalkedFile) -> Next + Send,
{
    let bounds = Bounds {
        reach: WalkExtent::Everything,
        excluded,
        marked: Marked::Entered,
    };
    walk(root, &bounds, deadline, || {
        let mut visit = visitor();
        move |entry: &DirEntry, listed: Option<RepoPath>| match listed {
            Some(path) if is_file(entry) => visit(&WalkedFile(path)),
            _ => Next::Continue,
        }
    })
}

/// What a project holds: every file with its stamp, in order, and every directory they may be in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    pub(crate) files: Vec<(RepoPath, Stamp)>,
    /// Each with what tells it from another of the same name.
    pub(crate) directories: Vec<(RepoPath, u64)>,
    /// Files whose names cannot be written as a path of the project.
    pub(crate) unnameable: u64,
    pub(crate) missed: Missed,
}

/// Directories that hold what a build made, unless `.docentignore` asks for them.
const BUILT: &[&str] = &["dist", ".next"];

/// Lists the files that an index should know, in the whole project or a part of it. Besides what is ignored,
/// directories that say they are somebody else's are left out: caches, virtual environments, other work trees of the
/// same repository.
pub(crate) fn survey(root: &Root, part: &WalkExtent, deadline: &Deadline) -> Survey {
    let bounds = Bounds {
        reach: part.clone(),
        excluded: if asks_for_built(root) { &[] } else { BUILT },
        marked: Marked::LeftOut,
    };
    let found: Mutex<Survey> = Mutex::default();
    let missed = walk(root, &bounds, deadline, || {
        let mut part = ThreadFindings {
            survey: Survey::default(),
            whole: &found,
        };
        move |entry: &DirEntry, listed: Option<RepoPath>| {
            match listed {
                Some(path) if is_file(entry) => {
                    if let Ok(metadata) = entry.metadata() {
                        part.survey.files.push((path, Stamp::of(&metadata)));
                    }
                }
                Some(path) if is_directory(entry) => part.survey.directories.push((path, identity(entry))),
                None if is_file(entry) => part.survey.unnameable += 1,
                _ => {}
            }
            Next::Continue
        }
    });
    let mut survey = found.into_inner().expect("nothing panics while it adds its part");
    survey.missed = missed;
    survey.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    survey.directories.sort_unstable();
    survey
}

/// What one thread of a walk has found, which is added to the whole in the end.
struct ThreadFindings<'a> {
    survey: Survey,
    whole: &'a Mutex<Survey>,
}

impl Drop for ThreadFindings<'_> {
    fn drop(&mut self) {
        if let Ok(mut whole) = self.whole.lock() {
            whole.files.append(&mut self.survey.files);
            whole.directories.append(&mut self.survey.directories);
            whole.unnameable += self.survey.unnameable;
        }
    }
}

/// Where a walk goes.
struct Bounds {
    reach: WalkExtent,
    excluded: &'static [&'static str],
    marked: Marked,
}

/// How much of a project is walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WalkExtent {
    Everything,
    /// A directory and all below it.
    Below(PathBuf),
    /// The files of a directory.
    Inside(PathBuf),
}

impl WalkExtent {
    /// True when a walk that has come to `path` should look at it.
    fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Everything => true,
            Self::Below(directory) => path.starts_with(directory) || directory.starts_with(path),
            Self::Inside(directory) => path.parent() == Some(directory) || directory.starts_with(path),
        }
    }
}

/// How far below the root directories are asked whether they are part of the project; each question takes time.
const DEEPEST_MARK: usize = 4;

/// What happens to directories that say they are no part of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marked {
    Entered,
    LeftOut,
}

fn walk<V>(root: &Root, bounds: &Bounds, deadline: &Deadline, mut visitor: impl FnMut() -> V) -> Missed
where
    V: FnMut(&DirEntry, Option<RepoPath>) -> Next + Send,
{
    let misses = Misses::default();
    let trusted = IGNORE_FILES.iter().all(|name| is_harmless(root, name));
    if !trusted {
        misses.lock().add(IGNORE_FILES[0]);
    }
    let in_git = work_tree(root.path()).is_some();
    let mut builder = WalkBuilder::new(root.path());
    if trusted {
        builder.add_custom_ignore_filename(OWN_IGNORE_FILE);
    }
    let walk = builder
        .hidden(false)
        .require_git(in_git)
        .parents(in_git)
        .ignore(trusted)
        .git_ignore(trusted)
        // The library would read this file of every repository inside the project; ours is read below.
        .git_exclude(false)
        .threads(thread::available_parallelism().map_or(2, |n| n.get().min(12)))
        .filter_entry({
            let steward = Steward {
                root: root.clone(),
                exclude: exclude(root),
                reach: bounds.reach.clone(),
                excluded: bounds.excluded,
                marked: bounds.marked,
                deadline: deadline.clone(),
                misses: misses.clone(),
            };
            move |entry| steward.admits(entry)
        })
        .build_parallel();
    walk.run(|| {
        let mut visit = visitor();
        let misses = &misses;
        Box::new(move |entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    misses.lock().add(&name_of(root, &error));
                    return WalkState::Continue;
                }
            };
            let listed = relative(root, entry.path());
            if listed
                .as_ref()
                .is_some_and(|path| !root.access().allows_path(path))
            {
                return WalkState::Continue;
            }
            match visit(&entry, listed) {
                Next::Continue => WalkState::Continue,
                Next::Missed => {
                    misses
                        .lock()
                        .add(relative(root, entry.path()).as_ref().map_or("", RepoPath::as_str));
                    WalkState::Continue
                }
                Next::Stop => WalkState::Quit,
            }
        })
    });
    misses.lock().clone()
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

#[cfg(unix)]
fn identity(entry: &DirEntry) -> u64 {
    entry.ino().unwrap_or_default()
}

#[cfg(not(unix))]
fn identity(_: &DirEntry) -> u64 {
    0
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// True for a file by whose coming, going or changing a walk finds others than before.
pub(crate) fn steers(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name == ".git" || IGNORE_FILES.contains(&name) || MARKS.contains(&name))
}

/// Whether the project's own ignore file takes back that what builds make is left out.
fn asks_for_built(root: &Root) -> bool {
    let path = RepoPath::parse(OWN_IGNORE_FILE).expect("a literal path");
    let Ok(Some(bytes)) = root.steering(&path, MAX_IGNORE_FILE_BYTES) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .filter_map(|line| line.trim().strip_prefix('!'))
        .any(|line| BUILT.iter().any(|name| line.split('/').any(|part| part == *name)))
}

/// The nearest directory at or above `path` that git calls the top of a work tree.
pub fn work_tree(path: &Path) -> Option<&Path> {
    path.ancestors().find(|directory| directory.join(".git").exists())
}

/// Decides what a walk looks at.
struct Steward {
    root: Root,
    exclude: Gitignore,
    reach: WalkExtent,
    excluded: &'static [&'static str],
    marked: Marked,
    deadline: Deadline,
    misses: Misses,
}

impl Steward {
    /// True when the walk should look at `entry` and, if it is a directory, go into it.
    fn admits(&self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return true;
        }
        let Some(name) = entry.file_name().to_str() else {
            // Counted by who visits it, and not entered.
            return is_file(entry) && self.reach.covers(entry.path());
        };
        if !self.reach.covers(entry.path()) {
            return false;
        }
        let is_dir = is_directory(entry);
        if !self.root.access().allows_name(name) || self.exclude.matched(entry.path(), is_dir).is_ignore() {
            return false;
        }
        !is_dir
            || (!self.excluded.contains(&name)
                && self.deadline.check().is_ok()
                && !(self.marked == Marked::LeftOut
                    && entry.depth() <= DEEPEST_MARK
                    && self.is_marked(entry.path()))
                && self.enters(entry.path()))
    }

    /// True for a directory that says it is no part of the project: a cache, a virtual environment, or another work tree of
    /// a repository, whose files are copies.
    fn is_marked(&self, directory: &Path) -> bool {
        if MARKS.iter().any(|mark| directory.join(mark).is_file()) {
            return true;
        }
        let git = relative(&self.root, directory).map(|path| format!("{path}/.git"));
        let Some(git) = git.and_then(|path| RepoPath::parse(&path).ok()) else {
            return false;
        };
        directory.join(".git").is_file()
            && matches!(self.root.steering(&git, 4_096), Ok(Some(bytes))
                if String::from_utf8_lossy(&bytes).replace('\\', "/").contains("/worktrees/"))
    }

    fn enters(&self, directory: &Path) -> bool {
        let Some(directory) = relative(&self.root, directory) else {
            return false;
        };
        let mut names = IGNORE_FILES.iter();
        let harmless = names.all(|name| is_harmless(&self.root, &format!("{directory}/{name}")));
        if !harmless {
            self.misses.lock().add(directory.as_str());
        }
        harmless
    }
}

/// The rules a user keeps beside the repository, in `.git/info/exclude`.
fn exclude(root: &Root) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root.path());
    let path = RepoPath::parse(".git/info/exclude").expect("a literal path");
    if let Ok(Some(bytes)) = root.steering(&path, MAX_IGNORE_FILE_BYTES)
        && is_reasonable_ignore_file(&bytes)
    {
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A line that is no pattern excludes nothing.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// True unless something stands at `path` that the library should not open as an ignore file.
fn is_harmless(root: &Root, path: &str) -> bool {
    RepoPath::parse(path).is_ok_and(|path| match root.steering(&path, MAX_IGNORE_FILE_BYTES) {
        Ok(Some(bytes)) => is_reasonable_ignore_file(&bytes),
        Ok(None) => true,
        Err(_) => false,
    })
}

fn is_reasonable_ignore_file(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.lines().count() <= MAX_IGNORE_LINES && text.lines().all(is_reasonable)
}

/// The path below the root, where it can be written as one. The walk joins names to the root's path, so text is
/// enough to take it off again.
fn relative(root: &Root, path: &Path) -> Option<RepoPath> {
    let text = path.to_str()?.strip_prefix(root.path().to_str()?)?;
    let text = text.strip_prefix(std::path::MAIN_SEPARATOR).unwrap_or(text);
    let named = RepoPath::parse(text).ok()?;
    // Parsing reads a backslash as a separator; a name that has one would be taken for another file.
    (cfg!(windows) || named.as_str() == text).then_some(named)
}

/// What an error of the walk is about, as far as it says.
fn name_of(root: &Root, error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, .. } | ignore::Error::Loop { child: path, .. } => path
            .strip_prefix(root.path())
            .unwrap_or(path)
            .display()
            .to_string(),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            name_of(root, err)
        }
        _ => "a directory".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_missed_names_are_kept_whatever_the_order() {
        let mut missed = Missed::default();
        for name in ["g", "b", "f", "a", "e", "d", "c"] {
            missed.add(name);
        }
        assert_eq!(missed.count, 7);
        assert_eq!(missed.first, ["a", "b", "c", "d", "e"].map(String::from).into());
    }
}
