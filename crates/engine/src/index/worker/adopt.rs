//! Adoption: the first index of a working tree begins as a copy of that of another working tree of the same
//! repository, such as a worktree or a second clone. Only files that differ are parsed.
//!
//! The other tree is one whose index has commits of this history. Every entry of the copy is compared with
//! this tree before the copy is used: files by their content, commits by their ids.
//!
//! Invariant: an adopted index has no entry of a file or commit that this working tree does not have, and it
//! answers as one that was built here.

use std::collections::BTreeSet;

use docent_core::memory::MEMORY_DIRECTORY;
use docent_core::path::RepoPath;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::project_state::ProjectState;
use crate::deadline::Deadline;
use crate::index::disk::{CacheDir, CommitId, DocKey, IndexedFile, OpenIndex, TableChange, table_error};
use crate::index::extract::{Extracted, FileJob, extract_code};
use crate::index::options::Corpus;
use crate::index::shared::Shared;
use crate::stamp::Stamp;
use crate::store::{Store, StoreError};

/// Commits by which another tree of the repository is recognised: the newest, and older ones at growing
/// distances.
const COMPARED_COMMITS: u32 = 14;

/// git lists the commits of a large repository in a fraction of this.
const GIT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Publishes a copy of the nearest index of the same repository, if there is no index yet and the copy can be
/// made now. Otherwise the index is built from the files.
pub(super) fn adopt_sibling(shared: &Shared, state: &ProjectState) {
    let cache_dir = &shared.cache_dir;
    // Every sync comes here. One that has an index open reads no file for it.
    if shared.visible().is_some() || cache_dir.project.is_none() || cache_dir.current().is_some() {
        return;
    }
    let Some(commits) = shared.options.git.as_ref().and_then(|git| {
        let listed = git.recent(shared.options.commits, &Deadline::after(GIT_TIMEOUT));
        listed.ok().filter(|commits| !commits.is_empty())
    }) else {
        return;
    };
    for sibling in nearest_siblings(cache_dir, &commits) {
        // A failure leaves everything as it was, and costs the time to build the index.
        if let Ok(true) = adopt(shared, state, &sibling, &commits) {
            return;
        }
    }
}

/// Indexes of other trees with commits of this history, the one with the newest common commit first.
fn nearest_siblings(cache_dir: &CacheDir, commits: &[String]) -> Vec<CacheDir> {
    let positions = (0..COMPARED_COMMITS)
        .map(|exponent| 2_usize.pow(exponent) - 1)
        .filter(|position| *position < commits.len());
    let compared: Vec<(usize, &str)> = positions
        .map(|position| (position, commits[position].as_str()))
        .collect();
    let mut siblings: Vec<(usize, CacheDir)> = Vec::new();
    for sibling in cache_dir.siblings() {
        if let Ok(Some(table)) = sibling.open_table()
            && let Ok(Some(position)) = table.first_known_commit(compared.iter().copied())
        {
            siblings.push((position, sibling));
        }
    }
    siblings.sort_by(|(one, first), (other, second)| (one, &first.project).cmp(&(other, &second.project)));
    siblings.into_iter().map(|(_, sibling)| sibling).collect()
}

/// Copies the index of a sibling, removes what this tree does not have, and publishes the copy. False if the
/// copy was not made.
fn adopt(
    shared: &Shared,
    state: &ProjectState,
    sibling: &CacheDir,
    commits: &[String],
) -> Result<bool, StoreError> {
    let lock = shared.cache_dir.try_lock()?;
    if shared.cache_dir.current().is_some() {
        return Ok(true);
    }
    let Some(opened) = shared.cache_dir.copy_of(sibling)? else {
        return Ok(false);
    };
    let Some(files) = keep_what_is_here(shared, state, &opened, commits)? else {
        return Ok(false);
    };
    shared.cache_dir.publish(&opened, &lock)?;
    shared.progress.set_adopted(files);
    Ok(true)
}

/// Removes the entries of files and commits that this tree does not have, in an index that is not in use yet.
/// Returns the number of files that remain, or `None` if the process is ending.
pub(in crate::index) fn keep_what_is_here(
    shared: &Shared,
    state: &ProjectState,
    opened: &OpenIndex,
    commits: &[String],
) -> Result<Option<usize>, StoreError> {
    let comparison = TreeComparison {
        shared,
        state,
        opened,
    };
    if comparison.keep_files(Corpus::Docs, &*opened.sections)?.is_none() {
        return Ok(None);
    }
    let files = comparison.keep_files(Corpus::Code, &*opened.chunks)?;
    comparison.keep_commits(commits)?;
    // These files have not changed. The sync that follows counts those that have.
    shared.progress.start(0, 0);
    Ok(files)
}

/// A file whose row is not what its content yields, if one is among those that are extracted once more.
pub(in crate::index) fn find_wrong_entries(
    shared: &Shared,
    state: &ProjectState,
    opened: &OpenIndex,
) -> Result<Option<RepoPath>, StoreError> {
    const CHECKED_FILES: usize = 50;
    let rows = opened.table().files(Corpus::Code).map_err(table_error)?;
    let step = rows.len().div_ceil(CHECKED_FILES).max(1);
    for (path, row) in rows.iter().step_by(step) {
        let job = FileJob {
            root: &shared.root,
            path,
            scanned: state.scan.files.get(path).copied().unwrap_or_default(),
            indexed: None,
            rules: 0,
            max_bytes: shared.options.largest_file,
        };
        let is_right = match extract_code(&job, shared.options.embedder) {
            Extracted::Changed { row: now, .. } => {
                (now.chunks, &now.language, &now.note) == (row.chunks, &row.language, &row.note)
            }
            // It was removed in the meantime.
            Extracted::Same(_) | Extracted::Gone => true,
        };
        if !is_right {
            return Ok(Some(path.clone()));
        }
    }
    Ok(None)
}

/// A copy of an index beside the working tree that it shall serve.
struct TreeComparison<'a> {
    shared: &'a Shared,
    state: &'a ProjectState,
    opened: &'a OpenIndex,
}

impl TreeComparison<'_> {
    /// Keeps the entries of files that have the same content here, and returns the number of these files.
    /// `None` if the process is ending.
    fn keep_files<E>(&self, corpus: Corpus, store: &dyn Store<E>) -> Result<Option<usize>, StoreError> {
        /// Between two of these, the end of the process is noticed.
        const BATCH_FILES: usize = 1_000;
        let rows = self.opened.table().files(corpus).map_err(table_error)?;
        let rows: Vec<(&RepoPath, &IndexedFile)> = rows.iter().collect();
        if corpus == Corpus::Code {
            self.shared.progress.start(0, rows.len());
        }
        let mut changes = Vec::with_capacity(rows.len());
        for batch in rows.chunks(BATCH_FILES) {
            if self.shared.lock().is_ending {
                return Ok(None);
            }
            let compare = |(path, row): &(&RepoPath, &IndexedFile)| {
                let key = DocKey::File((*path).clone());
                match self.compare(corpus, path, row) {
                    Some(row) => TableChange::Indexed(key, row),
                    None => TableChange::Removed(key),
                }
            };
            changes.extend(batch.par_iter().map(compare).collect::<Vec<_>>());
            self.shared.progress.add_files(batch.len());
            self.shared.wake();
        }
        self.write(corpus, store, &changes)?;
        let kept = changes
            .iter()
            .filter(|change| matches!(change, TableChange::Indexed(..)));
        Ok(Some(kept.count()))
    }

    /// The row of a file for this tree, if it has the file with the same content.
    fn compare(&self, corpus: Corpus, path: &RepoPath, row: &IndexedFile) -> Option<IndexedFile> {
        // The entries of the memory tell their authors, who are in another file.
        if path.as_str().starts_with(MEMORY_DIRECTORY) {
            return None;
        }
        let scan = &self.state.scan;
        let (scanned, rules): (Stamp, u64) = match corpus {
            Corpus::Docs => *scan.docs.pages.get(path)?,
            _ => (*scan.files.get(path)?, 0),
        };
        let job = FileJob {
            root: &self.shared.root,
            path,
            scanned,
            indexed: Some(row),
            rules,
            max_bytes: self.shared.options.largest_file,
        };
        match job.run(|_, _| Vec::<()>::new()) {
            Extracted::Same(row) => Some(row),
            Extracted::Changed { .. } | Extracted::Gone => None,
        }
    }

    /// Keeps the entries of commits that are in this history.
    fn keep_commits(&self, commits: &[String]) -> Result<(), StoreError> {
        let here: BTreeSet<CommitId> = commits.iter().filter_map(|id| CommitId::parse(id)).collect();
        let indexed = self.opened.table().commits().map_err(table_error)?;
        let changes: Vec<TableChange> = indexed
            .difference(&here)
            .map(|id| TableChange::Removed(DocKey::Commit(id.clone())))
            .collect();
        self.write(Corpus::History, &*self.opened.chunks, &changes)
    }

    /// Writes the rows, after the entries of those that are removed.
    fn write<E>(
        &self,
        corpus: Corpus,
        store: &dyn Store<E>,
        changes: &[TableChange],
    ) -> Result<(), StoreError> {
        let mut number = store.last_commit()?;
        let removed: Vec<&DocKey> = changes
            .iter()
            .filter_map(|change| match change {
                TableChange::Removed(key) => Some(key),
                TableChange::Indexed(..) => None,
            })
            .collect();
        if !removed.is_empty() {
            number += 1;
            let mut change = store.change(0)?;
            for key in removed {
                change.remove(&key.removal_key());
            }
            change.commit(number)?;
            change.finish()?;
        }
        let mut table = self.opened.table();
        table.write(corpus, changes, number).map_err(table_error)
    }
}
