//! The plan: what must be done so that the index matches the disk.
//!
//! Everything here is a pure function from values to values: no file, no clock, no thread. The worker carries
//! the decisions out: which documents to index, in which batches, how often to commit to the store, when to
//! try again, and how to respond to an error. Such rules belong here, where a test can break them.
//!
//! Invariants, which the property tests hold: carrying out a plan makes the next one empty; a plan names each
//! document once, in order; batches cover the plan and none is empty.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use docent_core::path::RepoPath;

use super::disk::{CommitId, DocKey, IndexedFile, TableChange};
use super::options::Corpus;
use crate::stamp::Stamp;
use crate::store::StoreError;

/// A change of the index for one document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Action<K> {
    /// It is new or has changed: index it.
    Update(K),
    /// It is indexed and no longer there.
    Remove(K),
}

impl<K> Action<K> {
    pub(super) fn key(&self) -> &K {
        match self {
            Self::Update(key) | Self::Remove(key) => key,
        }
    }
}

/// All changes of the index for the files of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Pages, whose sections come first because they are quickly done.
    pub(super) docs: Vec<Action<RepoPath>>,
    pub(super) code: Vec<Action<RepoPath>>,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.docs.is_empty() && self.code.is_empty()
    }

    /// Whether the plan removes a file. Another process may have indexed a file that was created after our
    /// scan; it would be taken for one that is gone. So a plan that removes files must be made from a scan
    /// taken while we hold the writer's lock.
    pub(super) fn removes_files(&self) -> bool {
        let mut actions = self.docs.iter().chain(&self.code);
        actions.any(|action| matches!(action, Action::Remove(_)))
    }
}

/// Pages that differ from the index. A page is compared by its stamp and by the rules it is cut by.
pub(super) fn docs_actions(
    pages: &BTreeMap<RepoPath, (Stamp, u64)>,
    indexed: &BTreeMap<RepoPath, IndexedFile>,
) -> Vec<Action<RepoPath>> {
    compare(pages, indexed, |(stamp, rules), row| {
        row.stamp == *stamp && row.rules == *rules
    })
}

/// Files that differ from the index.
pub(super) fn code_actions(
    files: &BTreeMap<RepoPath, Stamp>,
    indexed: &BTreeMap<RepoPath, IndexedFile>,
) -> Vec<Action<RepoPath>> {
    compare(files, indexed, |stamp, row| row.stamp == *stamp)
}

/// Commits that differ from the index. A commit never changes, so its id is all there is to compare.
pub(super) fn commit_actions(
    listed: &BTreeSet<CommitId>,
    indexed: &BTreeSet<CommitId>,
) -> Vec<Action<CommitId>> {
    let listed = listed.iter().map(|id| (id, &()));
    let indexed = indexed.iter().map(|id| (id, &()));
    compare(listed, indexed, |(), ()| true)
}

/// Merges two ordered lists and returns what is not the same in both.
fn compare<'a, K: Ord + Clone + 'a, P: 'a, I: 'a>(
    present: impl IntoIterator<Item = (&'a K, &'a P)>,
    indexed: impl IntoIterator<Item = (&'a K, &'a I)>,
    is_same: impl Fn(&P, &I) -> bool,
) -> Vec<Action<K>> {
    let mut actions = Vec::new();
    let mut indexed = indexed.into_iter().peekable();
    for (key, value) in present {
        while let Some((gone, _)) = indexed.next_if(|(other, _)| *other < key) {
            actions.push(Action::Remove(gone.clone()));
        }
        let row = indexed.next_if(|(other, _)| *other == key);
        if row.is_none_or(|(_, row)| !is_same(value, row)) {
            actions.push(Action::Update(key.clone()));
        }
    }
    actions.extend(indexed.map(|(gone, _)| Action::Remove(gone.clone())));
    actions
}

/// How many files are read at a time, and how often the result is committed. Both grow during a build: the
/// first results come soon, and a long build is not slowed down by commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchSchedule {
    max_files: usize,
    /// Time between two commits.
    pub(super) commit_interval: Duration,
}

const FIRST_BATCH_FILES: usize = 40;
const MAX_BATCH_FILES: usize = 300;
const MAX_BATCH_BYTES: u64 = 2 << 20;
const FIRST_COMMIT_INTERVAL: Duration = Duration::from_millis(300);
/// Pages are quickly done, and a commit costs as much as many of them. A search for pages waits a little
/// longer than this.
const FIRST_DOCS_COMMIT_INTERVAL: Duration = Duration::from_millis(750);
const MAX_COMMIT_INTERVAL: Duration = Duration::from_secs(20);

impl BatchSchedule {
    pub(super) fn new(corpus: Corpus) -> Self {
        match corpus {
            Corpus::Docs => Self {
                max_files: MAX_BATCH_FILES,
                commit_interval: FIRST_DOCS_COMMIT_INTERVAL,
            },
            Corpus::Code | Corpus::History => Self {
                max_files: FIRST_BATCH_FILES,
                commit_interval: FIRST_COMMIT_INTERVAL,
            },
        }
    }

    /// The number of files in the next batch, given the sizes of all files that are left. At least one, if
    /// any is left.
    pub(super) fn next_batch(&mut self, sizes: impl IntoIterator<Item = u64>) -> usize {
        let mut bytes = 0_u64;
        let files = sizes.into_iter().take(self.max_files).take_while(|size| {
            let before = bytes;
            bytes = bytes.saturating_add(*size);
            before < MAX_BATCH_BYTES
        });
        let files = files.count();
        self.max_files = (self.max_files * 2).min(MAX_BATCH_FILES);
        files
    }

    pub(super) fn after_commit(&mut self) {
        self.commit_interval = (self.commit_interval * 2).min(MAX_COMMIT_INTERVAL);
    }
}

/// Files that were renamed: removed under one name, and indexed with the same content under another.
/// `indexed` is the table before the changes.
pub(super) fn find_renames<'a>(
    changes: &'a [TableChange],
    indexed: &BTreeMap<RepoPath, IndexedFile>,
) -> Vec<(&'a RepoPath, &'a RepoPath)> {
    let mut removed: HashMap<u64, &RepoPath> = HashMap::new();
    for change in changes {
        if let TableChange::Removed(DocKey::File(path)) = change
            && let Some(row) = indexed.get(path)
            // Skipped files have no content hash.
            && row.hash != 0
        {
            removed.insert(row.hash, path);
        }
    }
    let mut renames = Vec::new();
    for change in changes {
        if let TableChange::Indexed(DocKey::File(new), row) = change
            && !indexed.contains_key(new)
            && let Some(old) = removed.get(&row.hash)
        {
            renames.push((*old, new));
        }
    }
    renames
}

/// How a sync of the index with the disk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyncOutcome {
    /// The index matches the scan.
    Done,
    /// Files may have changed during the sync, or a part is left.
    MoreToDo,
    /// Another process is writing.
    LockedByOther,
    /// The index cannot be written.
    CannotWrite,
}

/// Delays until the next try: while another process holds the lock, and while nothing can be written.
const LOCK_RETRY: Duration = Duration::from_millis(40);
pub(super) const WRITE_RETRY: Duration = Duration::from_secs(5);

impl SyncOutcome {
    /// How long the worker waits before the next sync. `None`: until something changes.
    pub(super) fn retry_delay(self) -> Option<Duration> {
        match self {
            Self::Done => None,
            Self::MoreToDo => Some(Duration::ZERO),
            Self::LockedByOther => Some(LOCK_RETRY),
            Self::CannotWrite => Some(WRITE_RETRY),
        }
    }
}

/// Response of the worker to an error of a sync.
#[derive(Debug)]
pub(super) enum ErrorResponse {
    WaitForLock,
    /// Verify the index with the next sync, and rebuild it if it is damaged.
    Verify(String),
    /// Stop using the index until the next start.
    GiveUp(String),
    /// Go on with an index in memory, or with what was indexed before.
    Recover(std::io::Error),
}

/// Decides what to do about an error. `was_damaged`: damage was reported before this sync, which has verified
/// the index.
pub(super) fn respond_to(error: StoreError, was_damaged: bool) -> ErrorResponse {
    match error {
        StoreError::Busy => ErrorResponse::WaitForLock,
        // Damage after a verification cannot be a race with another writer.
        StoreError::Damaged(what) if was_damaged => ErrorResponse::GiveUp(what),
        StoreError::Damaged(what) => ErrorResponse::Verify(what),
        StoreError::Io(error) => ErrorResponse::Recover(error),
    }
}

#[cfg(test)]
mod tests;
