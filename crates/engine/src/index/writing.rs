//! Writing: reads what has changed, cuts it, and puts it into the index.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use docent_core::memory::MemoryFile;
use docent_core::path::RepoPath;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::build::{Job, Prepared, prepare, prepare_page};
use super::known::Known;
use super::place::{OpenIndex, of_table};
use super::table::{IndexedFile, TableChange};
use super::{Corpus, Progress, Shared};
use crate::memory::MAX_FILE_BYTES;
use crate::stamp::Stamp;
use crate::store::{Store, StoreChange, StoreError};

/// Files that are read and cut at a time: few in the beginning, so that there is soon something to find.
const FIRST_BATCH_FILES: usize = 40;
const BATCH_FILES: usize = 300;
const BATCH_BYTES: u64 = 2 << 20;

/// When the first part of a long build is committed; each further one takes twice as long as the one before.
const FIRST_COMMIT_INTERVAL: Duration = Duration::from_millis(300);
/// Pages are soon done, and a commit costs what could have been them; who asks meanwhile waits a little longer than this.
const FIRST_DOCS_COMMIT_INTERVAL: Duration = Duration::from_millis(750);
const MAX_COMMIT_INTERVAL: Duration = Duration::from_secs(20);

impl Known {
    pub(super) fn write_pages(&mut self, shared: &Shared, opened: &OpenIndex) -> Result<(), StoreError> {
        let pending = self.pending(Corpus::Docs);
        let prepare = |known: &Self, path: &RepoPath| {
            let (stamp, rules) = known.pages.known.get(path)?;
            let job = Job {
                rules: *rules,
                largest: shared.options.largest_file,
                ..job(shared, path, *stamp, known.indexed_pages.get(path))
            };
            Some(prepare_page(&job, shared.options.embedder, || {
                known.pages.manifests.rules(path)
            }))
        };
        self.write(shared, opened, Corpus::Docs, &*opened.sections, &pending, prepare)
    }

    pub(super) fn write_chunks(&mut self, shared: &Shared, opened: &OpenIndex) -> Result<(), StoreError> {
        let pending = self.pending(Corpus::Code);
        let prepare = |known: &Self, path: &RepoPath| {
            let stamp = known.files.get(path)?;
            Some(prepare(
                &job(shared, path, *stamp, known.indexed.get(path)),
                shared.options.embedder,
            ))
        };
        self.write(shared, opened, Corpus::Code, &*opened.chunks, &pending, prepare)
    }

    /// Reads, cuts and commits, in order and in batches. `prepare` says what becomes of a file; nothing where it is gone.
    fn write<E: Send>(
        &mut self,
        shared: &Shared,
        opened: &OpenIndex,
        corpus: Corpus,
        store: &dyn Store<E>,
        pending: &[RepoPath],
        prepare: impl Fn(&Self, &RepoPath) -> Option<Prepared<E>> + Sync,
    ) -> Result<(), StoreError> {
        if pending.is_empty() {
            return Ok(());
        }
        let counted = &shared.counted;
        counted.set(Progress {
            total: pending.len() as u64,
            ..Progress::default()
        });
        self.say(shared, corpus);

        let size = pending
            .iter()
            .filter_map(|path| self.files.get(path))
            .map(|stamp| stamp.size)
            .sum();
        // Begun with the first file that says something new.
        let mut change: Option<Box<dyn StoreChange<E> + '_>> = None;
        let mut commit = store.committed()?;
        let mut written: Vec<TableChange> = Vec::new();
        let (mut interval, mut files) = match corpus {
            Corpus::Docs => (FIRST_DOCS_COMMIT_INTERVAL, BATCH_FILES),
            Corpus::Code | Corpus::History => (FIRST_COMMIT_INTERVAL, FIRST_BATCH_FILES),
        };
        let mut committed = Instant::now();
        let mut rest = pending;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(self.batch(rest, files));
            rest = after;
            files = (files * 2).min(BATCH_FILES);
            let known: &Self = self;
            let prepared: Vec<Prepared<E>> = batch
                .par_iter()
                .map(|path| prepare(known, path).unwrap_or(Prepared::Gone))
                .collect();
            for (path, prepared) in batch.iter().zip(prepared) {
                match prepared {
                    Prepared::Same(row) => written.push(TableChange::Indexed(path.clone(), row)),
                    Prepared::Gone => {
                        begun(&mut change, store, size)?.remove(path.as_str());
                        written.push(TableChange::Gone(path.clone()));
                    }
                    Prepared::Changed { row, entries, bytes } => {
                        let change = begun(&mut change, store, size)?;
                        change.remove(path.as_str());
                        counted.chunks.fetch_add(entries.len() as u64, Ordering::Relaxed);
                        counted.bytes.fetch_add(bytes, Ordering::Relaxed);
                        for entry in entries {
                            change.add(entry)?;
                        }
                        written.push(TableChange::Indexed(path.clone(), row));
                    }
                }
            }
            counted.done.fetch_add(batch.len() as u64, Ordering::Relaxed);
            shared.changed.notify_all();
            // What is cut already is known to be so before files are looked at once more.
            let glances = corpus == Corpus::Code && shared.wants_docs();
            if rest.is_empty() || glances || committed.elapsed() > interval {
                // Before others see the new names, or they would see them without their statistics.
                if corpus == Corpus::Code {
                    self.follow_renames(shared, &written);
                }
                if let Some(change) = &mut change {
                    commit += 1;
                    change.commit(commit)?;
                }
                opened.table().write(corpus, &written, commit).map_err(of_table)?;
                store.reload()?;
                self.take_note(shared, corpus, std::mem::take(&mut written));
                if rest.is_empty() && corpus == Corpus::Code && !self.was_complete[Corpus::Code as usize] {
                    opened.table().set_fact("complete", "1").map_err(of_table)?;
                }
                interval = (interval * 2).min(MAX_COMMIT_INTERVAL);
                committed = Instant::now();
            }
            if glances {
                self.glance(shared, opened)?;
            }
            if shared.lock().ended {
                return Ok(());
            }
        }
        change.map_or(Ok(()), StoreChange::finish)
    }

    /// How many of these files are cut at a time.
    fn batch(&self, rest: &[RepoPath], files: usize) -> usize {
        let mut bytes = 0;
        rest.iter()
            .take(files)
            .take_while(|path| {
                let before = bytes;
                bytes += self.files.get(*path).map_or(0, |stamp| stamp.size);
                before < BATCH_BYTES
            })
            .count()
    }

    /// After a commit: knows what was written.
    pub(super) fn take_note(&mut self, shared: &Shared, corpus: Corpus, written: Vec<TableChange>) {
        self.changes += 1;
        for written in written {
            // A file that changed while it was read, or just before, is looked at again.
            match (corpus, written) {
                (Corpus::Code, TableChange::Indexed(path, row)) => {
                    self.files.insert(path.clone(), row.stamp);
                    self.indexed.insert(path, row);
                }
                (Corpus::Code, TableChange::Gone(path)) => {
                    self.files.remove(&path);
                    self.indexed.remove(&path);
                }
                (Corpus::Docs, TableChange::Indexed(path, row)) => {
                    self.pages.known.insert(path.clone(), (row.stamp, row.rules));
                    self.indexed_pages.insert(path, row);
                }
                (Corpus::Docs, TableChange::Gone(path)) => {
                    self.pages.known.remove(&path);
                    self.indexed_pages.remove(&path);
                }
                (Corpus::History, TableChange::Indexed(id, row)) => {
                    drop(self.indexed_commits.insert(id, row));
                }
                (Corpus::History, TableChange::Gone(id)) => drop(self.indexed_commits.remove(&id)),
            }
        }
        if corpus == Corpus::Docs {
            self.publish(shared);
        }
        self.say(shared, corpus);
    }

    /// Tells those who wait how things stand.
    fn say(&self, shared: &Shared, corpus: Corpus) {
        let freshness = self.freshness(corpus);
        let mut state = shared.lock();
        match corpus {
            Corpus::Docs => state.docs = freshness,
            Corpus::Code => state.freshness = freshness,
            Corpus::History => state.history = freshness,
        }
        drop(state);
        shared.changed.notify_all();
    }

    /// A file that is gone and one that came with the same content are one file under another name.
    fn follow_renames(&self, shared: &Shared, written: &[TableChange]) {
        let gone: HashMap<u64, &RepoPath> = written
            .iter()
            .filter_map(|written| match written {
                TableChange::Gone(path) => self.indexed.get(path).map(|row| (row.hash, path)),
                TableChange::Indexed(..) => None,
            })
            .filter(|(hash, _)| *hash != 0)
            .collect();
        if gone.is_empty() {
            return;
        }
        for new in written {
            if let TableChange::Indexed(path, row) = new
                && !self.indexed.contains_key(path)
                && let Some(old) = gone.get(&row.hash)
            {
                // Statistics that stay behind only change an order.
                let _ = shared.accesses.rename(old, path);
            }
        }
    }
}

fn begun<'a, 'b, E>(
    change: &'a mut Option<Box<dyn StoreChange<E> + 'b>>,
    store: &'b dyn Store<E>,
    bytes: u64,
) -> Result<&'a mut Box<dyn StoreChange<E> + 'b>, StoreError> {
    match change {
        Some(change) => Ok(change),
        None => Ok(change.insert(store.change(bytes)?)),
    }
}

fn job<'a>(
    shared: &'a Shared,
    path: &'a RepoPath,
    listed: Stamp,
    before: Option<&'a IndexedFile>,
) -> Job<'a> {
    Job {
        root: &shared.root,
        path,
        listed,
        before,
        rules: 0,
        // What is remembered is found, however much it is.
        largest: match MemoryFile::from_path(path.as_str()) {
            Some(_) => MAX_FILE_BYTES,
            None => shared.options.largest_file,
        },
    }
}
