//! The two sides that the worker compares: the scan and the index, with what stands between them.

use std::collections::BTreeSet;

use crate::index::disk::{CommitId, DocKey, TableChange};
use crate::index::freshness::Freshness;
use crate::index::options::Corpus;
use crate::index::plan::{self, Plan};
use crate::index::scan::{SavedScan, Scan};
use crate::index::shared::Shared;
use crate::index::view::View;
use crate::index::worker::indexed::IndexedState;

/// The files on disk, the entries in the index, and the problems between them.
#[derive(Default)]
pub(in crate::index) struct ProjectState {
    pub(in crate::index) scan: Scan,
    pub(in crate::index) indexed: IndexedState,
    /// The commits of the history, as git has listed them.
    pub(super) listed_commits: BTreeSet<CommitId>,
    pub(in crate::index) problems: Problems,
}

/// Why an answer may be incomplete, a sentence each.
#[derive(Default)]
pub(in crate::index) struct Problems {
    /// Told once, with the next answer.
    pub(in crate::index) passing: Vec<String>,
    /// Why the index is not written to disk. Told until it is.
    pub(super) write_obstacle: Option<String>,
    /// Why commits cannot be read or indexed.
    pub(super) history: Option<String>,
}

impl ProjectState {
    /// The actions that make the index match the scan.
    pub(super) fn plan(&self) -> Plan {
        Plan {
            docs: plan::docs_actions(&self.scan.docs.pages, &self.indexed.pages),
            code: plan::code_actions(&self.scan.files, &self.indexed.files),
        }
    }

    /// How far a corpus matches the disk.
    pub(in crate::index) fn freshness(&self, corpus: Corpus) -> Freshness {
        let (files, pending) = match corpus {
            Corpus::Docs => (
                self.scan.docs.pages.len(),
                plan::docs_actions(&self.scan.docs.pages, &self.indexed.pages).len(),
            ),
            Corpus::Code => (
                self.scan.files.len(),
                plan::code_actions(&self.scan.files, &self.indexed.files).len(),
            ),
            Corpus::History => (
                self.listed_commits.len(),
                plan::commit_actions(&self.listed_commits, &self.indexed.commits).len(),
            ),
        };
        let problems = &self.problems;
        Freshness {
            files,
            pending,
            was_complete: self.indexed.was_complete(corpus),
            troubles: match corpus {
                Corpus::History => problems.history.iter().cloned().collect(),
                _ => problems
                    .write_obstacle
                    .iter()
                    .chain(&problems.passing)
                    .cloned()
                    .collect(),
            },
            missed: self.scan.missed.count,
            unknown: false,
        }
    }

    /// Takes over rows that were written, and publishes what they change.
    pub(super) fn record(&mut self, shared: &Shared, corpus: Corpus, changes: Vec<TableChange>) {
        self.indexed.count_change();
        for change in changes {
            self.record_one(corpus, change);
        }
        if corpus == Corpus::Docs {
            self.publish_view(shared);
        }
        shared.publish_freshness(corpus, self.freshness(corpus));
    }

    fn record_one(&mut self, corpus: Corpus, change: TableChange) {
        // The scan takes over the stamp that was indexed. If the file changed while it was read, that stamp
        // is unsettled, and the next scan of the file, which the change causes, finds a difference.
        match (corpus, change) {
            (Corpus::Code, TableChange::Indexed(DocKey::File(path), row)) => {
                self.scan.files.insert(path.clone(), row.stamp);
                self.indexed.files.insert(path, row);
            }
            (Corpus::Code, TableChange::Removed(DocKey::File(path))) => {
                self.scan.files.remove(&path);
                self.indexed.files.remove(&path);
            }
            (Corpus::Docs, TableChange::Indexed(DocKey::File(path), row)) => {
                self.scan.docs.pages.insert(path.clone(), (row.stamp, row.rules));
                self.indexed.pages.insert(path, row);
            }
            (Corpus::Docs, TableChange::Removed(DocKey::File(path))) => {
                self.scan.docs.pages.remove(&path);
                self.indexed.pages.remove(&path);
            }
            (Corpus::History, TableChange::Indexed(DocKey::Commit(id), _)) => {
                self.indexed.commits.insert(id);
            }
            (Corpus::History, TableChange::Removed(DocKey::Commit(id))) => {
                self.indexed.commits.remove(&id);
            }
            _ => debug_assert!(false, "a corpus holds files or commits, never both"),
        }
    }

    pub(super) fn publish_view(&self, shared: &Shared) {
        let docs = &self.scan.docs;
        shared.publish_view(View::new(docs, &self.indexed.pages), docs.manifests.clone());
    }

    /// Answers searches for documentation that have a ticket up to this one.
    pub(super) fn answer_docs(&self, shared: &Shared, ticket: u64) {
        self.publish_view(shared);
        let freshness = self.freshness(Corpus::Docs);
        shared.update(|state| {
            state.set_freshness(Corpus::Docs, freshness);
            state.answer(Corpus::Docs, ticket);
        });
    }

    /// Publishes the documentation as it was indexed by an earlier process, before the first scan.
    pub(super) fn restore(&mut self, shared: &Shared) {
        if shared.cache_dir.current().is_none() {
            return;
        }
        // The first sync meets the same error, and can do something about it.
        let Ok(opened) = shared.open() else { return };
        if self.indexed.load(&opened).is_ok() && self.indexed.was_complete(Corpus::Code) {
            let files = self.indexed.files.keys();
            self.scan.docs.restore(&shared.root, files, &shared.options.pages);
            if let Some(saved) = opened.directory().and_then(SavedScan::read) {
                self.scan
                    .restore(saved, self.indexed.files.keys().cloned().collect());
            }
            self.publish_view(shared);
            let has_history = self.indexed.was_complete(Corpus::History);
            shared.update(|state| {
                state.restore_completeness(Corpus::Docs);
                if has_history {
                    state.restore_completeness(Corpus::History);
                }
            });
        }
    }

    /// Saves the scan for the next process, if all of its files are in the index.
    pub(super) fn save_scan(&mut self, shared: &Shared) {
        let is_same = self.scan.files.keys().eq(self.indexed.files.keys());
        if let (true, Ok(opened)) = (is_same, shared.open())
            && let Some(directory) = opened.directory()
        {
            self.scan.save(&shared.root, directory);
        }
    }

    /// Clears what kept the index from being written, if it is on disk again.
    pub(super) fn clear_obstacle(&mut self, is_on_disk: bool) {
        if is_on_disk {
            self.problems.write_obstacle = None;
        }
    }
}
