//! An index that is carried from one machine to another, from CI to laptops: `docent index --export` and
//! `--import`.
//!
//! Invariant: an imported index has entries only of files and commits that this working tree has, with the
//! same content. Some of these files are extracted once more and compared, and an import that differs is
//! refused.

use std::path::Path;

use super::disk::TransferError;
use super::shared::Shared;
use super::worker::{ProjectState, find_wrong_entries, keep_what_is_here};
use crate::deadline::Deadline;

/// An export that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The SHA-256 of its manifest, which has the hashes of all parts.
    pub digest: String,
    /// Bytes of the file.
    pub bytes: u64,
}

/// An export that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub digest: String,
    /// Files that this project has with the same content.
    pub files: usize,
}

/// Appends the index in use to a file.
pub(super) fn export(shared: &Shared, file: &Path) -> Result<Exported, TransferError> {
    let lock = shared.cache_dir.lock()?;
    let opened = shared.open()?;
    let (digest, bytes) = shared.cache_dir.export(&opened, &lock, file)?;
    Ok(Exported { digest, bytes })
}

/// Replaces the index by an export.
pub(super) fn import(shared: &Shared, file: &Path, digest: Option<&str>) -> Result<Imported, TransferError> {
    let mut state = ProjectState::default();
    state.scan.refresh(
        &shared.root,
        &shared.watch,
        shared.unwatched(),
        &shared.options.pages,
    );
    let commits = match &shared.options.git {
        Some(git) => git
            .recent(shared.options.commits, &Deadline::default())
            .unwrap_or_default(),
        None => Vec::new(),
    };
    let lock = shared.cache_dir.lock()?;
    let (opened, digest) = shared.cache_dir.unpack(file, digest)?;
    let files = keep_what_is_here(shared, &state, &opened, &commits)?;
    if let Some(path) = find_wrong_entries(shared, &state, &opened)? {
        return Err(TransferError::WrongEntries(path.as_str().to_owned()));
    }
    shared.cache_dir.publish(&opened, &lock)?;
    Ok(Imported {
        digest,
        files: files.unwrap_or_default(),
    })
}
