//! The parallel walk over the project's files, by ignore rules and access rules.
//!
//! Ignore files count whether or not the project is a git repository; above the root, only up to the top of
//! the work tree. Hidden files are listed (`.github/` is part of a project), links are not followed, and
//! names that cannot be written as a path of the project (not UTF-8, control characters, backslashes) are
//! skipped.
//!
//! Invariant: the walk ends with its deadline and names what it could not read. The `ignore` library opens
//! ignore files by name and without limits, so we check them first: a directory is skipped if its ignore file
//! is a pipe, a device, a link out of the project, or expensive to compile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use docent_core::access::NameOf;
use docent_core::glob::is_reasonable;
use docent_core::path::RepoPath;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::deadline::Deadline;
use crate::files::Root;
use crate::stamp::Stamp;

/// A file that a walk has found and the access rules allow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkedFile(RepoPath);

/// The result of visiting a file: it was read, it could not be read, or the walk should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitOutcome {
    Continue,
    Missed,
    Stop,
}

/// Files and directories that could not be read: their number, and the first few names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    pub count: u64,
    pub first: BTreeSet<String>,
}

/// Ignore files that the library reads in each directory.
pub(crate) const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", OWN_IGNORE_FILE];

/// Docent's own ignore file. It has precedence; with `!` it includes files that git ignores.
const OWN_IGNORE_FILE: &str = ".docentignore";

/// Files that mark a directory as a cache or a virtual environment.
const MARKER_FILES: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];

/// Directories with larger ignore files are skipped.
const MAX_IGNORE_FILE_BYTES: u64 = 256 << 10;
const MAX_IGNORE_LINES: usize = 10_000;

impl WalkedFile {
    pub fn path(&self) -> &RepoPath {
        &self.0
    }
}

impl Missed {
    /// How many names are listed.
    const MAX_NAMES: usize = 5;

    fn add(&mut self, name: &str) {
        self.count += 1;
        self.first.insert(name.to_owned());
        if self.first.len() > Self::MAX_NAMES {
            self.first.pop_last();
        }
    }
}

/// What a walk did not enter.
#[derive(Clone, Debug, Default)]
struct Skipped {
    missed: Missed,
    /// Directories that a file marks as no part of the project.
    marked: Vec<RepoPath>,
}

/// A [`Skipped`] that all threads of a walk add to.
#[derive(Clone, Debug, Default)]
struct SharedSkipped(Arc<Mutex<Skipped>>);

impl SharedSkipped {
    fn lock(&self) -> MutexGuard<'_, Skipped> {
        self.0.lock().expect("nothing panics while it adds a name")
    }

    fn add_missed(&self, name: &str) {
        self.lock().missed.add(name);
    }
}

/// Visits every file from several threads, in no order. `visitor` makes a visitor for each thread.
/// Directories named in `excluded` are skipped at any depth. Returns what could not be read.
pub fn visit_files<V>(
    root: &Root,
    excluded: &'static [&'static str],
    deadline: &Deadline,
    mut visitor: impl FnMut() -> V,
) -> Missed
where
    V: FnMut(&WalkedFile) -> VisitOutcome + Send,
{
    let bounds = WalkBounds {
        extent: WalkExtent::Everything,
        excluded,
        marked: MarkedDirectories::Enter,
    };
    let skipped = walk(root, &bounds, deadline, || {
        let mut visit = visitor();
        move |entry: &DirEntry, path: Option<RepoPath>| match path {
            Some(path) if is_file(entry) => visit(&WalkedFile(path)),
            _ => VisitOutcome::Continue,
        }
    });
    skipped.missed
}

/// The result of a full walk: every file with its stamp, and every directory, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    pub(crate) files: Vec<(RepoPath, Stamp)>,
    /// Directories with their inode, which differs in a new directory of the same name.
    pub(crate) directories: Vec<(RepoPath, u64)>,
    /// Directories that were skipped because a file in them marks them as no part of the project.
    pub(crate) marked: Vec<RepoPath>,
    /// Number of files whose names cannot be written as a path of the project, or whose path is too long.
    pub(crate) unnameable: u64,
    pub(crate) missed: Missed,
}

/// Directories of build output, skipped unless `.docentignore` includes them.
const BUILD_DIRECTORIES: &[&str] = &["dist", ".next"];

/// Lists the files to index, in the whole project or a part of it. Besides ignored files, it skips
/// directories that are marked as caches, virtual environments or other work trees of the same repository.
pub(crate) fn survey(root: &Root, part: &WalkExtent, deadline: &Deadline) -> Survey {
    let bounds = WalkBounds {
        extent: part.clone(),
        excluded: if includes_build_directories(root) {
            &[]
        } else {
            BUILD_DIRECTORIES
        },
        marked: MarkedDirectories::Skip,
    };
    let whole: Mutex<Survey> = Mutex::default();
    let skipped = walk(root, &bounds, deadline, || {
        let mut part = ThreadFindings {
            survey: Survey::default(),
            whole: &whole,
        };
        move |entry: &DirEntry, path: Option<RepoPath>| {
            match path {
                Some(path) if is_file(entry) => {
                    match entry.metadata() {
                        Ok(metadata) => part.survey.files.push((path, Stamp::of(&metadata))),
                        Err(error) if is_path_too_long(&error) => part.survey.unnameable += 1,
                        // It was removed during the walk.
                        Err(_) => {}
                    }
                }
                Some(path) if is_directory(entry) => part.survey.directories.push((path, inode(entry))),
                None if is_file(entry) => part.survey.unnameable += 1,
                _ => {}
            }
            VisitOutcome::Continue
        }
    });
    let mut survey = whole.into_inner().expect("nothing panics while it adds its part");
    survey.missed = skipped.missed;
    survey.marked = skipped.marked;
    survey.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    survey.directories.sort_unstable();
    survey.marked.sort_unstable();
    survey
}

/// Whether the path of an entry is longer than the operating system takes.
fn is_path_too_long(error: &ignore::Error) -> bool {
    error
        .io_error()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::InvalidFilename)
}

/// The findings of one thread of a walk. They are added to the whole when the thread ends.
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

/// The part of the project that a walk covers.
struct WalkBounds {
    extent: WalkExtent,
    excluded: &'static [&'static str],
    marked: MarkedDirectories,
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
    /// Whether the walk should visit `path`, or pass through it.
    fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Everything => true,
            Self::Below(directory) => path.starts_with(directory) || directory.starts_with(path),
            Self::Inside(directory) => path.parent() == Some(directory) || directory.starts_with(path),
        }
    }
}

/// Depth up to which directories are checked for markers. Each check costs system calls.
const MAX_MARKER_DEPTH: usize = 4;

/// Whether a walk enters directories that are marked as no part of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkedDirectories {
    Enter,
    Skip,
}

fn walk<V>(root: &Root, bounds: &WalkBounds, deadline: &Deadline, mut visitor: impl FnMut() -> V) -> Skipped
where
    V: FnMut(&DirEntry, Option<RepoPath>) -> VisitOutcome + Send,
{
    let skipped = SharedSkipped::default();
    let is_trusted = IGNORE_FILES.iter().all(|name| is_safe_ignore_file(root, name));
    if !is_trusted {
        skipped.add_missed(IGNORE_FILES[0]);
    }
    let in_git = work_tree(root.path()).is_some();
    let mut builder = WalkBuilder::new(root.path());
    if is_trusted {
        builder.add_custom_ignore_filename(OWN_IGNORE_FILE);
    }
    let walk = builder
        .hidden(false)
        .require_git(in_git)
        .parents(in_git)
        .ignore(is_trusted)
        .git_ignore(is_trusted)
        // The library would read this file of every repository inside the project. We read only the root's.
        .git_exclude(false)
        .threads(thread::available_parallelism().map_or(2, |n| n.get().min(12)))
        .filter_entry({
            let filter = EntryFilter {
                root: root.clone(),
                exclude: read_exclude_file(root),
                extent: bounds.extent.clone(),
                excluded: bounds.excluded,
                marked: bounds.marked,
                deadline: deadline.clone(),
                skipped: skipped.clone(),
            };
            move |entry| filter.admits(entry)
        })
        .build_parallel();
    walk.run(|| {
        let mut visit = visitor();
        let skipped = &skipped;
        Box::new(move |entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    skipped.add_missed(&name_in_error(root, &error));
                    return WalkState::Continue;
                }
            };
            let path = relative(root, entry.path());
            if path.as_ref().is_some_and(|path| !root.access().allows_path(path)) {
                return WalkState::Continue;
            }
            match visit(&entry, path) {
                VisitOutcome::Continue => WalkState::Continue,
                VisitOutcome::Missed => {
                    skipped.add_missed(relative(root, entry.path()).as_ref().map_or("", RepoPath::as_str));
                    WalkState::Continue
                }
                VisitOutcome::Stop => WalkState::Quit,
            }
        })
    });
    skipped.lock().clone()
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

#[cfg(unix)]
fn inode(entry: &DirEntry) -> u64 {
    entry.ino().unwrap_or_default()
}

#[cfg(not(unix))]
fn inode(_: &DirEntry) -> u64 {
    0
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Whether a walk depends on this file: after it has changed, other files may be listed.
pub(crate) fn steers(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name == ".git" || IGNORE_FILES.contains(&name) || MARKER_FILES.contains(&name))
}

/// Whether `.docentignore` includes the directories of build output.
fn includes_build_directories(root: &Root) -> bool {
    let path = RepoPath::parse(OWN_IGNORE_FILE).expect("a literal path");
    let Ok(Some(bytes)) = root.read_walk_rules(&path, MAX_IGNORE_FILE_BYTES) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .filter_map(|line| line.trim().strip_prefix('!'))
        .any(|line| {
            BUILD_DIRECTORIES
                .iter()
                .any(|name| line.split('/').any(|part| part == *name))
        })
}

/// The top of the git work tree that contains `path`.
pub fn work_tree(path: &Path) -> Option<&Path> {
    path.ancestors().find(|directory| directory.join(".git").exists())
}

/// Decides which entries a walk visits.
struct EntryFilter {
    root: Root,
    exclude: Gitignore,
    extent: WalkExtent,
    excluded: &'static [&'static str],
    marked: MarkedDirectories,
    deadline: Deadline,
    skipped: SharedSkipped,
}

impl EntryFilter {
    /// Whether the walk should visit `entry` and, if it is a directory, enter it.
    fn admits(&self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return true;
        }
        let Some(name) = entry.file_name().to_str() else {
            // A file is counted by its visitor. A directory is not entered.
            return is_file(entry) && self.extent.covers(entry.path());
        };
        if !self.extent.covers(entry.path()) {
            return false;
        }
        let is_dir = is_directory(entry);
        let name_of = if is_dir { NameOf::Directory } else { NameOf::File };
        if !self.root.access().allows_name(name, name_of)
            || self.exclude.matched(entry.path(), is_dir).is_ignore()
        {
            return false;
        }
        !is_dir
            || (!self.excluded.contains(&name)
                && self.deadline.check().is_ok()
                && !self.skips_as_marked(entry)
                && self.can_enter(entry.path()))
    }

    /// Whether a directory is skipped because of a mark, which is recorded.
    fn skips_as_marked(&self, entry: &DirEntry) -> bool {
        let is_skipped = self.marked == MarkedDirectories::Skip
            && entry.depth() <= MAX_MARKER_DEPTH
            && self.is_marked(entry.path());
        if is_skipped {
            self.skipped
                .lock()
                .marked
                .extend(relative(&self.root, entry.path()));
        }
        is_skipped
    }

    /// Whether a directory is marked as a cache, a virtual environment, or another work tree of a repository,
    /// whose files are copies.
    fn is_marked(&self, directory: &Path) -> bool {
        if MARKER_FILES.iter().any(|mark| directory.join(mark).is_file()) {
            return true;
        }
        let git = relative(&self.root, directory).map(|path| format!("{path}/.git"));
        let Some(git) = git.and_then(|path| RepoPath::parse(&path).ok()) else {
            return false;
        };
        directory.join(".git").is_file()
            && matches!(self.root.read_walk_rules(&git, 4_096), Ok(Some(bytes))
                if String::from_utf8_lossy(&bytes).replace('\\', "/").contains("/worktrees/"))
    }

    /// Whether the ignore files of a directory are safe to read.
    fn can_enter(&self, directory: &Path) -> bool {
        let Some(directory) = relative(&self.root, directory) else {
            return false;
        };
        let mut names = IGNORE_FILES.iter();
        let is_harmless = names.all(|name| is_safe_ignore_file(&self.root, &format!("{directory}/{name}")));
        if !is_harmless {
            self.skipped.add_missed(directory.as_str());
        }
        is_harmless
    }
}

/// Reads the user's own rules in `.git/info/exclude`.
fn read_exclude_file(root: &Root) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root.path());
    let path = RepoPath::parse(".git/info/exclude").expect("a literal path");
    if let Ok(Some(bytes)) = root.read_walk_rules(&path, MAX_IGNORE_FILE_BYTES)
        && is_reasonable_ignore_file(&bytes)
    {
        for line in String::from_utf8_lossy(&bytes).lines() {
            // A line that is not a pattern is ignored.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Whether the library may open `path` as an ignore file. True if there is no file.
fn is_safe_ignore_file(root: &Root, path: &str) -> bool {
    RepoPath::parse(path).is_ok_and(|path| match root.read_walk_rules(&path, MAX_IGNORE_FILE_BYTES) {
        Ok(Some(bytes)) => is_reasonable_ignore_file(&bytes),
        Ok(None) => true,
        Err(_) => false,
    })
}

fn is_reasonable_ignore_file(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.lines().count() <= MAX_IGNORE_LINES && text.lines().all(is_reasonable)
}

/// The path relative to the root. `None` if it cannot be written as a [`RepoPath`]. The walk joins names to
/// the root's path, so removing that text is enough.
fn relative(root: &Root, path: &Path) -> Option<RepoPath> {
    let text = path.to_str()?.strip_prefix(root.path().to_str()?)?;
    let text = text.strip_prefix(std::path::MAIN_SEPARATOR).unwrap_or(text);
    let named = RepoPath::parse(text).ok()?;
    // Parsing reads a backslash as a separator, so a name with one would mean another file.
    (cfg!(windows) || named.as_str() == text).then_some(named)
}

/// The path that an error of the walk names.
fn name_in_error(root: &Root, error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, .. } | ignore::Error::Loop { child: path, .. } => path
            .strip_prefix(root.path())
            .unwrap_or(path)
            .display()
            .to_string(),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            name_in_error(root, err)
        }
        _ => "a directory".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_missed_names_are_listed_in_any_order() {
        let mut missed = Missed::default();
        for name in ["g", "b", "f", "a", "e", "d", "c"] {
            missed.add(name);
        }
        assert_eq!(missed.count, 7);
        assert_eq!(missed.first, ["a", "b", "c", "d", "e"].map(String::from).into());
    }
}
