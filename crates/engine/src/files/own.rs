//! Files outside the project: docent's own, and those that the user names.
//!
//! Project files are opened by [`Root`](super::Root), after the guard and by handle.
//!
//! Invariant: no path here comes from the caller of a tool.

use std::fs::Metadata;
use std::io::{self, Write};
use std::path::Path;

use uuid::Uuid;

/// Reads a file that the user has named, or that belongs to another program of theirs. `None` if it does not
/// exist.
pub fn read_own(path: &Path) -> io::Result<Option<String>> {
    #[expect(clippy::disallowed_methods, reason = "the user has named it")]
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Prefix of the temporary file that [`replace`] writes before it renames it.
pub(crate) const UNFINISHED: &str = ".new-";

/// Replaces a file of docent's own atomically: a reader finds the old content or the new one, never a part.
pub(crate) fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    replace_like(file, content, None)
}

/// Like [`replace`], for any file. The new file gets the permissions of `like` before anything is written,
/// because other programs store secrets in theirs.
pub(crate) fn replace_like(file: &Path, content: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    let new = file.with_file_name(format!("{UNFINISHED}{}", Uuid::new_v4().simple()));
    let write = || -> io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if like.is_some() {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(&new)?.write_all(content)?;
        if let Some(like) = like {
            std::fs::set_permissions(&new, like.permissions())?;
        }
        std::fs::rename(&new, file)
    };
    write().inspect_err(|_| {
        // If the temporary file cannot be removed either, only the first error is worth reporting.
        let _ = std::fs::remove_file(&new);
    })
}

/// Creates a directory that only its owner can read.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
