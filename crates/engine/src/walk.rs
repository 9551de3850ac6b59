//! The project's files: a parallel walk that respects ignore rules and the access rules.
//!
//! Ignore files count whether or not the project is a git repository; those above the root only where the
//! root lies in one. Hidden files are listed (`.github/` is part of a project), links are not followed, and
//! names that cannot be written as a path of the project (not UTF-8, control characters, backslashes) are
//! passed over.

use std::path::Path;
use std::thread;

use docent_core::path::RepoPath;
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::files::Root;

/// A file that a walk has found and the rules allow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed(RepoPath);

/// What a visitor wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Continue,
    Stop,
}

impl Listed {
    pub fn path(&self) -> &RepoPath {
        &self.0
    }

    pub fn into_path(self) -> RepoPath {
        self.0
    }
}

/// Visits every file from several threads, in no order. Each thread has a visitor of its own, made by
/// `visitor`. Directories named in `excluded` are passed over at any depth.
pub fn files<V>(root: &Root, excluded: &'static [&'static str], mut visitor: impl FnMut() -> V)
where
    V: FnMut(Listed) -> Next + Send,
{
    let access = root.access().clone();
    let walk = WalkBuilder::new(root.path())
        .hidden(false)
        .require_git(false)
        .parents(in_git(root.path()))
        .threads(thread::available_parallelism().map_or(2, |n| n.get().min(12)))
        .filter_entry(move |entry| {
            let Some(name) = entry.file_name().to_str() else {
                return false;
            };
            entry.depth() == 0 || (access.allows_name(name) && !(is_dir(entry) && excluded.contains(&name)))
        })
        .build_parallel();
    walk.run(|| {
        let mut visit = visitor();
        Box::new(move |entry| {
            let Ok(entry) = entry else {
                return WalkState::Continue;
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return WalkState::Continue;
            }
            let Some(listed) = list(root, entry.path()) else {
                return WalkState::Continue;
            };
            match visit(listed) {
                Next::Continue => WalkState::Continue,
                Next::Stop => WalkState::Quit,
            }
        })
    });
}

fn list(root: &Root, path: &Path) -> Option<Listed> {
    let relative = path.strip_prefix(root.path()).ok()?.to_str()?;
    let named = RepoPath::parse(relative).ok()?;
    // Parsing reads a backslash as a separator; a name that has one would be taken for another file.
    let faithful = cfg!(windows) || named.as_str() == relative;
    (faithful && root.access().allows_path(&named)).then_some(Listed(named))
}

fn is_dir(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// True where the directory, or one above it, is a git work tree.
fn in_git(path: &Path) -> bool {
    path.ancestors().any(|directory| directory.join(".git").exists())
}
