//! Writing files into the index: reads what has changed, in batches, and commits from time to time.
//!
//! Invariant: rows of the table are written after the commit of their entries (see `disk/table.rs`).

use std::time::Instant;

use docent_core::memory::MemoryFile;
use docent_core::path::RepoPath;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::project_state::ProjectState;
use crate::index::disk::{DocKey, IndexedFile, OpenIndex, TableChange, table_error};
use crate::index::extract::{Extracted, FileJob, extract_code, extract_sections};
use crate::index::options::Corpus;
use crate::index::plan::{self, Action, BatchSchedule};
use crate::index::shared::Shared;
use crate::memory::MAX_FILE_BYTES;
use crate::stamp::Stamp;
use crate::store::{Store, StoreChange, StoreError};

/// Writes into one open index, for the holder of the lock.
pub(super) struct FileWriter<'a> {
    pub(super) shared: &'a Shared,
    pub(super) opened: &'a OpenIndex,
}

/// Serves a search for documentation in the middle of a build.
pub(super) type OnDocsRequest<'a> = &'a mut dyn FnMut(&mut ProjectState) -> Result<(), StoreError>;

/// A change of the store that begins with its first entry: an unchanged file must not cost a commit.
struct LazyChange<'a, E> {
    store: &'a dyn Store<E>,
    /// About how many bytes of text will be written.
    bytes: u64,
    change: Option<Box<dyn StoreChange<E> + 'a>>,
    commit: u64,
}

impl FileWriter<'_> {
    /// Writes the pages that differ.
    pub(super) fn write_docs(&self, state: &mut ProjectState) -> Result<(), StoreError> {
        let shared = self.shared;
        let extract = |state: &ProjectState, path: &RepoPath| {
            let (stamp, rules) = state.scan.docs.pages.get(path)?;
            let job = FileJob {
                rules: *rules,
                max_bytes: shared.options.largest_file,
                ..self.job(path, *stamp, state.indexed.pages.get(path))
            };
            let page_rules = || state.scan.docs.manifests.rules(path);
            Some(extract_sections(&job, shared.options.embedder, page_rules))
        };
        let actions = state.plan().docs;
        self.write(
            state,
            Corpus::Docs,
            &*self.opened.sections,
            &actions,
            extract,
            None,
        )
    }

    /// Writes the files that differ.
    pub(super) fn write_code(
        &self,
        state: &mut ProjectState,
        on_docs_request: OnDocsRequest<'_>,
    ) -> Result<(), StoreError> {
        let extract = |state: &ProjectState, path: &RepoPath| {
            let stamp = state.scan.files.get(path)?;
            let job = self.job(path, *stamp, state.indexed.files.get(path));
            Some(extract_code(&job, self.shared.options.embedder))
        };
        let actions = state.plan().code;
        let store = &*self.opened.chunks;
        self.write(
            state,
            Corpus::Code,
            store,
            &actions,
            extract,
            Some(on_docs_request),
        )
    }

    /// Carries out the actions of a corpus. `extract` returns `None` for a file that is no longer in the
    /// scan.
    fn write<E: Send>(
        &self,
        state: &mut ProjectState,
        corpus: Corpus,
        store: &dyn Store<E>,
        actions: &[Action<RepoPath>],
        extract: impl Fn(&ProjectState, &RepoPath) -> Option<Extracted<E>> + Sync,
        mut on_docs_request: Option<OnDocsRequest<'_>>,
    ) -> Result<(), StoreError> {
        if actions.is_empty() {
            return Ok(());
        }
        let shared = self.shared;
        shared.publish_freshness(corpus, state.freshness(corpus));

        let size_of = |state: &ProjectState, action: &Action<RepoPath>| {
            state.scan.files.get(action.key()).map_or(0, |stamp| stamp.size)
        };
        let bytes = actions.iter().map(|action| size_of(state, action)).sum();
        let mut change = LazyChange::new(store, bytes)?;
        let mut rows: Vec<TableChange> = Vec::new();
        let mut schedule = BatchSchedule::new(corpus);
        let mut last_commit = Instant::now();
        let mut rest = actions;
        while !rest.is_empty() {
            let files = schedule.next_batch(rest.iter().map(|action| size_of(state, action)));
            let (batch, after) = rest.split_at(files);
            rest = after;
            let reading: &ProjectState = state;
            let extracted: Vec<Extracted<E>> = batch
                .par_iter()
                // Not by the action alone: a scan in the middle of the build may have found the file again,
                // or lost it.
                .map(|action| extract(reading, action.key()).unwrap_or(Extracted::Gone))
                .collect();
            for (action, extracted) in batch.iter().zip(extracted) {
                rows.push(self.write_file(corpus, &mut change, action.key(), extracted)?);
            }
            shared.progress.add_files(batch.len());
            shared.wake();
            let docs_request = on_docs_request
                .as_mut()
                .filter(|_| shared.lock().is_docs_waited_for());
            // Before another scan, what was written so far must be recorded as indexed.
            if rest.is_empty() || docs_request.is_some() || last_commit.elapsed() > schedule.commit_interval {
                self.commit(state, corpus, &mut change, std::mem::take(&mut rows))?;
                if rest.is_empty() && corpus == Corpus::Code && !state.indexed.was_complete(corpus) {
                    self.opened
                        .table()
                        .set_fact("complete", "1")
                        .map_err(table_error)?;
                }
                schedule.after_commit();
                last_commit = Instant::now();
            }
            if let Some(serve_docs) = docs_request {
                serve_docs(state)?;
            }
            if shared.lock().is_ending {
                return Ok(());
            }
        }
        change.finish()
    }

    /// Puts the entries of one file into the store, and returns its row.
    fn write_file<E>(
        &self,
        corpus: Corpus,
        change: &mut LazyChange<'_, E>,
        path: &RepoPath,
        extracted: Extracted<E>,
    ) -> Result<TableChange, StoreError> {
        let key = DocKey::File(path.clone());
        Ok(match extracted {
            Extracted::Same(row) => TableChange::Indexed(key, row),
            Extracted::Gone => {
                change.begin()?.remove(&key.removal_key());
                TableChange::Removed(key)
            }
            Extracted::Changed { row, entries, bytes } => {
                let change = change.begin()?;
                change.remove(&key.removal_key());
                if corpus == Corpus::Code {
                    self.shared.progress.add_chunks(row.chunks as usize, bytes);
                }
                for entry in entries {
                    change.add(entry)?;
                }
                TableChange::Indexed(key, row)
            }
        })
    }

    /// Commits the store, then the rows.
    fn commit<E>(
        &self,
        state: &mut ProjectState,
        corpus: Corpus,
        change: &mut LazyChange<'_, E>,
        rows: Vec<TableChange>,
    ) -> Result<(), StoreError> {
        if corpus == Corpus::Code {
            // Before the commit: a search that sees the new name should see the statistics of the old one.
            for (old, new) in plan::find_renames(&rows, &state.indexed.files) {
                // Without its statistics a file only ranks a little lower.
                let _ = self.shared.accesses.rename(old, new);
            }
        }
        let number = change.commit()?;
        self.opened
            .table()
            .write(corpus, &rows, number)
            .map_err(table_error)?;
        change.store.reload()?;
        state.record(self.shared, corpus, rows);
        Ok(())
    }

    fn job<'b>(
        &'b self,
        path: &'b RepoPath,
        scanned: Stamp,
        indexed: Option<&'b IndexedFile>,
    ) -> FileJob<'b> {
        FileJob {
            root: &self.shared.root,
            path,
            scanned,
            indexed,
            rules: 0,
            // The memory is indexed whatever its size.
            max_bytes: match MemoryFile::from_path(path.as_str()) {
                Some(_) => MAX_FILE_BYTES,
                None => self.shared.options.largest_file,
            },
        }
    }
}

impl<'a, E> LazyChange<'a, E> {
    fn new(store: &'a dyn Store<E>, bytes: u64) -> Result<Self, StoreError> {
        Ok(Self {
            store,
            bytes,
            change: None,
            commit: store.last_commit()?,
        })
    }

    fn begin(&mut self) -> Result<&mut (dyn StoreChange<E> + 'a), StoreError> {
        let change = match self.change.take() {
            Some(change) => change,
            None => self.store.change(self.bytes)?,
        };
        Ok(&mut **self.change.insert(change))
    }

    /// Commits what was begun, and returns the number of the newest commit.
    fn commit(&mut self) -> Result<u64, StoreError> {
        if let Some(change) = &mut self.change {
            self.commit += 1;
            change.commit(self.commit)?;
        }
        Ok(self.commit)
    }

    fn finish(self) -> Result<(), StoreError> {
        self.change.map_or(Ok(()), StoreChange::finish)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use docent_core::access::Access;

    use super::*;
    use crate::accesses::Accesses;
    use crate::clock::Clock;
    use crate::files::Root;
    use crate::index::disk::CacheDir;
    use crate::index::options::IndexOptions;

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name).unwrap()
    }

    #[test]
    fn a_file_that_comes_back_during_a_build_is_indexed() {
        let project = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(project.path().join(name), "fn walrus() {}\n").unwrap();
        let mut state = ProjectState::default();
        // More than the first batch, so that the plan is interrupted before its end.
        for number in 0..60 {
            let name = format!("{number:03}.rs");
            write(&name);
            state.scan.files.insert(path(&name), Stamp::default());
        }
        let gone = path("zzz.rs");
        state.indexed.files.insert(gone.clone(), IndexedFile::default());
        let root = Root::open(project.path(), Access::new([]).unwrap()).unwrap();
        let in_memory = CacheDir {
            project: None,
            rules: String::new(),
        };
        let accesses = Arc::new(Accesses::new(None, Clock::System));
        let shared = Shared::new(root, IndexOptions::default(), in_memory, accesses);
        let opened = OpenIndex::in_memory().unwrap();
        let writer = FileWriter {
            shared: &shared,
            opened: &opened,
        };
        let ticket = shared.lock().request(Corpus::Docs);
        let mut serve_docs = |state: &mut ProjectState| {
            write("zzz.rs");
            state.scan.files.insert(gone.clone(), Stamp::default());
            shared.update(|state| state.answer(Corpus::Docs, ticket));
            Ok(())
        };
        writer.write_code(&mut state, &mut serve_docs).unwrap();
        assert!(state.indexed.files.contains_key(&gone));
        assert!(state.scan.files.contains_key(&gone));
        assert_eq!(opened.table().files(Corpus::Code).unwrap().len(), 61);
    }
}
