//! Shell commands answered from the files of the project, exactly as their programs would answer.
//!
//! The programs read every file that the user may read, so these readers do too; they only read. Which
//! content an answer may show is decided here once, by [`ShownContent`]: not that of a file that the access
//! rules block, or that a link leads to from outside. Such a file is searched and counted.
//!
//! Invariant: no program is run, and nothing is written.

mod binary;
mod encoding;
pub mod git_grep;
mod glob;
mod grep_release;
pub mod lines;
pub mod search;
#[cfg(unix)]
mod silver;
mod walk;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use binary::grep_notice;
use docent_core::access::Access;
use docent_core::path::RepoPath;
pub use glob::{GLOB_CHARS, expand_glob};
pub use grep_release::GrepRelease;

/// Standard input as a file.
pub const STANDARD_INPUT: &str = "/dev/stdin";

/// Whether ripgrep without a path would search its standard input: a pipe, a file or a socket.
pub fn has_readable_input() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = std::fs::metadata(STANDARD_INPUT).map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo() || kind.is_socket())
    }
    #[cfg(not(unix))]
    false
}

/// Whether `ag` without a path would search its standard input: a pipe or a file.
pub fn has_piped_input() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = std::fs::metadata(STANDARD_INPUT).map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo())
    }
    #[cfg(not(unix))]
    false
}

/// Which files of a project may be shown.
#[derive(Clone, Debug)]
pub struct ShownContent {
    /// Canonical, so that it can be compared with the target of a link.
    root: PathBuf,
    access: Access,
    /// Directories and where they really are. Resolving each of many files costs as much as searching it.
    directories: Arc<Mutex<HashMap<PathBuf, Option<PathBuf>>>>,
}

impl ShownContent {
    pub fn new(root: &Path, access: Access) -> std::io::Result<Self> {
        Ok(Self {
            root: root.canonicalize()?,
            access,
            directories: Arc::default(),
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether lines of the file may be shown. Its name and, behind links, its target are both checked.
    pub fn allows(&self, path: &Path) -> bool {
        // The caller has it already.
        if path == Path::new(STANDARD_INPUT) {
            return true;
        }
        let Some(canonical) = self.canonicalize(path) else {
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

    /// Where a file really is. `None` if it is gone.
    fn canonicalize(&self, path: &Path) -> Option<PathBuf> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().ok();
        };
        if path.symlink_metadata().ok()?.is_symlink() {
            return path.canonicalize().ok();
        }
        let mut directories = self.directories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = directories.get(above) {
            return known.as_ref().map(|above| above.join(name));
        }
        let real = above.canonicalize().ok();
        let canonical = real.as_ref().map(|above| above.join(name));
        directories.insert(above.to_owned(), real);
        canonical
    }

    /// Whether lines of a file that git has recorded under this name may be shown. It need not exist.
    pub fn allows_name(&self, path: &Path) -> bool {
        self.project_path(&absolute_lexically(path))
            .is_some_and(|path| self.access.allows(&path))
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
