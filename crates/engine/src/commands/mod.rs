//! Shell commands answered from the files of the project, exactly as their programs would answer.
//!
//! The programs read every file that the user may read, so these readers do too; they only read. Which
//! content an answer may show is decided here once, by [`ShownContent`]: not that of a file that the access
//! rules block, or that a link leads to from outside. Such a file is searched and counted.
//!
//! Invariant: no program is run, and nothing is written.

mod binary;
pub mod lines;
pub mod search;
mod walk;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use binary::grep_notice;
use docent_core::access::Access;
use docent_core::path::RepoPath;

/// Which files of a project may be shown.
#[derive(Clone, Debug)]
pub struct ShownContent {
    /// Canonical, so that it can be compared with the target of a link.
    root: PathBuf,
    access: Access,
}

impl ShownContent {
    pub fn new(root: &Path, access: Access) -> std::io::Result<Self> {
        Ok(Self {
            root: root.canonicalize()?,
            access,
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether lines of the file may be shown. Its name and, behind links, its target are both checked.
    pub fn allows(&self, path: &Path) -> bool {
        let Ok(canonical) = path.canonicalize() else {
            return false;
        };
        let is_allowed = |path: &Path| {
            self.project_path(path)
                .is_some_and(|path| self.access.allows(&path))
        };
        let named = absolute_lexically(path);
        is_allowed(&canonical)
            && (named == canonical || self.project_path(&named).is_none() || is_allowed(&named))
    }

    /// The path inside the project. `None` outside, and for names that no tool of docent shows.
    pub fn project_path(&self, path: &Path) -> Option<RepoPath> {
        let inside = path.strip_prefix(&self.root).ok()?;
        RepoPath::parse(inside.to_str()?).ok()
    }
}

/// The path without `.` and `..`, by its text alone.
fn absolute_lexically(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

/// The characters that patterns and texts are made of, by the user's locale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharacterSet {
    /// Each byte is a character: the locale `C`.
    Bytes,
    Utf8,
}

impl CharacterSet {
    /// The set of the locale that these variables choose, the first that is set: `LC_ALL`, `LC_CTYPE`,
    /// `LANG`.
    /// `is_installed` tells whether the system has a locale: another one falls back to `C`.
    pub fn of_locale(variables: [Option<&OsStr>; 3], is_installed: impl Fn(&str) -> bool) -> Self {
        let name = variables.into_iter().flatten().find(|name| !name.is_empty());
        let Some(name) = name.and_then(OsStr::to_str) else {
            return Self::Bytes;
        };
        let folded = name.to_ascii_lowercase().replace('-', "");
        let is_utf8 = folded.contains("utf8");
        if is_utf8 && (folded == "c.utf8" || is_installed(name)) {
            Self::Utf8
        } else {
            Self::Bytes
        }
    }
}
