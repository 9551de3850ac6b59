//! Freshness: how far the index matches the disk, how long a search waits for it, and how far a build has
//! come.
//!
//! Pure values and one decision, [`max_wait`]; the waiting itself is in [`super::Index::freshen`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How far a corpus matches the disk: what a search may find, and what it cannot know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// Files that belong in the index.
    pub files: usize,
    /// How many of them have changed since they were indexed, or are not indexed yet.
    pub pending: usize,
    /// The corpus was complete at least once.
    pub was_complete: bool,
    /// Problems, a sentence each.
    pub troubles: Vec<String>,
    /// Directories that could not be read.
    pub missed: u64,
    /// The files have not been scanned yet.
    pub unknown: bool,
}

/// How long a search waits for the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// At most 0.9 to 2 s, by the state of the index.
    Moment,
    /// Until the index is complete, as long as there is progress.
    UntilDone,
}

/// How far a sync has come, from its plan to its end. A page counts twice: once for its sections, once for
/// its chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
    /// Files of the code that the sync updates or removes.
    pub changed: u64,
    /// Files of the code that searches find as they are now.
    pub searchable: u64,
    pub chunks: u64,
    pub bytes: u64,
}

impl Progress {
    pub(super) fn is_half_done(self) -> bool {
        self.done * 2 > self.total
    }
}

/// How many indexed files have all their vectors from the embedding server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    pub files: usize,
    /// Files of which a vector is missing.
    pub missing: usize,
}

/// A caller that waits for a complete index gives up after this long without progress.
pub(super) const STALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Wait during a first build that has something to find.
const FIRST_BUILD_WAIT: Duration = Duration::from_millis(900);
/// Wait during a first build that has nothing yet, or more than half of all.
const EMPTY_OR_HALF_DONE_WAIT: Duration = Duration::from_secs(2);
/// Wait for changes of a complete index.
const UPDATE_WAIT: Duration = Duration::from_millis(1_500);

/// How long a search for code waits until commits were read for the first time.
pub(super) const MAX_HISTORY_WAIT: Duration = Duration::from_millis(400);

/// How long a search with [`Patience::Moment`] waits for a corpus in this state.
pub(super) fn max_wait(freshness: &Freshness, progress: Progress) -> Duration {
    if freshness.was_complete {
        UPDATE_WAIT
    } else if freshness.pending == freshness.files || progress.is_half_done() {
        // An answer from an empty index is useless, and a complete one is near: both are worth a longer wait.
        EMPTY_OR_HALF_DONE_WAIT
    } else {
        FIRST_BUILD_WAIT
    }
}

/// Counts the progress of a build, across threads.
#[derive(Default)]
pub(super) struct ProgressCounter {
    done: AtomicU64,
    total: AtomicU64,
    changed: AtomicU64,
    chunks: AtomicU64,
    bytes: AtomicU64,
    /// Files that were taken over from another index.
    adopted: AtomicU64,
}

impl ProgressCounter {
    pub(super) fn read(&self) -> Progress {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Progress {
            done: read(&self.done),
            total: read(&self.total),
            changed: read(&self.changed),
            searchable: 0,
            chunks: read(&self.chunks),
            bytes: read(&self.bytes),
        }
    }

    /// Begins to count towards so many pages and files.
    pub(super) fn start(&self, pages: usize, files: usize) {
        let set = |number: &AtomicU64, value: usize| number.store(value as u64, Ordering::Relaxed);
        set(&self.done, 0);
        set(&self.total, pages + files);
        set(&self.changed, files);
        set(&self.chunks, 0);
        set(&self.bytes, 0);
    }

    /// Counts towards more pages, which were found during the build.
    pub(super) fn expect_more(&self, pages: usize) {
        self.total.fetch_add(pages as u64, Ordering::Relaxed);
    }

    pub(super) fn add_files(&self, files: usize) {
        self.done.fetch_add(files as u64, Ordering::Relaxed);
    }

    pub(super) fn add_chunks(&self, chunks: usize, bytes: u64) {
        self.chunks.fetch_add(chunks as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn set_adopted(&self, files: usize) {
        self.adopted.store(files as u64, Ordering::Relaxed);
    }

    pub(super) fn adopted(&self) -> u64 {
        self.adopted.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: usize, pending: usize, was_complete: bool, done: u64, expected: Duration) {
        let freshness = Freshness {
            files,
            pending,
            was_complete,
            ..Freshness::default()
        };
        let progress = Progress {
            done,
            total: 100,
            ..Progress::default()
        };
        assert_eq!(max_wait(&freshness, progress), expected);
    }

    #[test]
    fn a_search_waits_for_an_update_of_a_complete_index() {
        check(100, 1, true, 0, UPDATE_WAIT);
        check(100, 100, true, 90, UPDATE_WAIT);
    }

    #[test]
    fn a_search_waits_longer_while_a_first_build_has_nothing() {
        check(100, 100, false, 0, EMPTY_OR_HALF_DONE_WAIT);
    }

    #[test]
    fn a_search_waits_longer_when_a_first_build_is_past_its_half() {
        check(100, 49, false, 51, EMPTY_OR_HALF_DONE_WAIT);
        check(100, 50, false, 50, FIRST_BUILD_WAIT);
    }

    #[test]
    fn a_search_answers_soon_from_a_part_of_the_index() {
        check(100, 90, false, 10, FIRST_BUILD_WAIT);
    }

    #[test]
    fn progress_is_read_as_it_was_counted() {
        let counter = ProgressCounter::default();
        counter.start(3, 7);
        counter.add_files(2);
        counter.add_chunks(5, 300);
        counter.add_chunks(1, 20);
        let expected = Progress {
            done: 2,
            total: 10,
            changed: 7,
            searchable: 0,
            chunks: 6,
            bytes: 320,
        };
        assert_eq!(counter.read(), expected);
        counter.expect_more(1);
        assert_eq!((counter.read().done, counter.read().total), (2, 11));
        counter.start(0, 1);
        assert_eq!((counter.read().chunks, counter.read().total), (0, 1));
    }
}
