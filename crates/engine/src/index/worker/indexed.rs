//! The worker's copy of the table of files: everything that is indexed.

use std::collections::{BTreeMap, BTreeSet};

use docent_core::path::RepoPath;

use crate::index::disk::{CommitId, IndexedFile, OpenIndex, table_error};
use crate::index::options::Corpus;
use crate::store::StoreError;

/// The fact of the table that says for which heads all commits are indexed.
pub(super) const LISTED_FACT: &str = "history of";

/// The rows of the table, by corpus.
#[derive(Default)]
pub(in crate::index) struct IndexedState {
    pub(in crate::index) files: BTreeMap<RepoPath, IndexedFile>,
    pub(in crate::index) pages: BTreeMap<RepoPath, IndexedFile>,
    pub(in crate::index) commits: BTreeSet<CommitId>,
    /// Generation and version of the table that was read. `None`: it must be read again.
    version: Option<(Option<String>, i64)>,
    /// Whether each corpus was complete at least once.
    was_complete: [bool; 3],
    /// Counts how often the index was found to have changed.
    changes: u64,
}

impl IndexedState {
    /// Reads the table, unless it is the one that was read last.
    pub(in crate::index) fn load(&mut self, opened: &OpenIndex) -> Result<(), StoreError> {
        let table = opened.table();
        let version = Some((opened.generation.clone(), table.version().map_err(table_error)?));
        if self.version != version {
            self.files = table.files(Corpus::Code).map_err(table_error)?;
            self.pages = table.files(Corpus::Docs).map_err(table_error)?;
            self.commits = table.commits().map_err(table_error)?;
            if table.fact("complete").map_err(table_error)?.is_some() {
                self.set_complete(Corpus::Code);
                self.set_complete(Corpus::Docs);
            }
            // Commits are read after the files, so the files may be complete without them.
            if table.fact(LISTED_FACT).map_err(table_error)?.is_some() {
                self.set_complete(Corpus::History);
            }
            self.version = version;
            self.changes += 1;
        }
        Ok(())
    }

    /// Has the table read again next time.
    pub(super) fn invalidate(&mut self) {
        self.version = None;
    }

    /// For a new, empty generation.
    pub(super) fn start_over(&mut self) {
        self.was_complete = [false; 3];
        self.invalidate();
    }

    pub(in crate::index) fn was_complete(&self, corpus: Corpus) -> bool {
        self.was_complete[corpus as usize]
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn count_change(&mut self) {
        self.changes += 1;
    }

    pub(super) fn set_complete(&mut self, corpus: Corpus) {
        self.was_complete[corpus as usize] = true;
    }
}
