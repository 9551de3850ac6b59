//! Vectors of an embedding server for everything that is indexed: in the background of a server process, or
//! for a caller that waits.
//!
//! The index keeps no texts, so files are cut once more; only texts without a vector are sent.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use docent_core::path::RepoPath;

use crate::embed::{EmbeddingError, Remote, Text};
use crate::index::content_hash::hash;
use crate::index::disk::{FORMAT_VERSION, IndexedFile, table_error};
use crate::index::extract::{Extracted, FileJob, chunk_texts, section_texts};
use crate::index::freshness::Filled;
use crate::index::options::Corpus;
use crate::index::shared::Shared;

/// Gives up after so many tries without any new vector.
const MAX_TRIES: u32 = 4;

/// Fetches vectors from one server.
pub(in crate::index) struct VectorFiller<'a> {
    pub(in crate::index) shared: &'a Shared,
    pub(in crate::index) remote: &'a Remote,
}

/// A file of which a vector is missing.
struct UnfilledFile {
    corpus: Corpus,
    path: RepoPath,
    row: IndexedFile,
}

/// Runs in the background until the index is dropped.
pub(in crate::index) fn fill_in_background(shared: &Arc<Shared>, remote: &Remote) {
    const MAX_PAUSE: Duration = Duration::from_mins(10);
    const MIN_PAUSE: Duration = Duration::from_secs(1);
    let filler = VectorFiller { shared, remote };
    // The state of the index and of the vector cache for which all vectors were fetched.
    let mut filled = (0, 0);
    let mut must_pause = false;
    loop {
        let epoch = remote.epoch().unwrap_or_default();
        let mut state = shared.lock();
        loop {
            if state.is_ending {
                return;
            }
            let pause = remote.pause_reason().map(|(_, left)| left);
            let pause = pause.or(std::mem::take(&mut must_pause).then_some(MIN_PAUSE));
            if pause.is_none() && (state.index_changes, epoch) != filled {
                break;
            }
            state = shared.wait(state, pause.unwrap_or(MAX_PAUSE));
            if pause.is_none() {
                break;
            }
        }
        let current = (state.index_changes, epoch);
        drop(state);
        if current == filled {
            // Woken up for nothing, or another process has started the vector cache over: read the epoch
            // again.
            continue;
        }
        // The next search reports a failure. It is tried again when the server may be asked again.
        match filler.fill_once(&|_| {}) {
            Ok(()) => filled = current,
            Err(_) => must_pause = true,
        }
    }
}

impl VectorFiller<'_> {
    /// Fetches all missing vectors, with several tries if the server fails now and then.
    pub(in crate::index) fn fill(&self, report: &dyn Fn(Filled)) -> Result<(), EmbeddingError> {
        let (mut tries, mut count) = (0, self.remote.count()?);
        loop {
            let outcome = self.fill_once(report);
            let before = std::mem::replace(&mut count, self.remote.count()?);
            tries = if count == before { tries + 1 } else { 1 };
            match outcome {
                // The cache may have been started over in the meantime, so look whether something is missing
                // again.
                Ok(()) if count == before || self.unfilled()?.0.is_empty() => return Ok(()),
                Ok(()) => {}
                Err(trouble) if !trouble.is_temporary() || tries >= MAX_TRIES => return Err(trouble),
                Err(_) => {
                    // A thread may wake up early.
                    while let Some((_, left)) = self.remote.pause_reason() {
                        thread::park_timeout(left);
                    }
                }
            }
        }
    }

    /// How many files have all their vectors.
    pub(in crate::index) fn count(&self) -> Result<Filled, EmbeddingError> {
        let (missing, files) = self.unfilled()?;
        Ok(Filled {
            files,
            missing: missing.len(),
        })
    }

    /// Files of which a vector is missing, pages first, and the number of all files.
    fn unfilled(&self) -> Result<(Vec<UnfilledFile>, usize), EmbeddingError> {
        let Some(visible) = self.shared.visible() else {
            return Ok((Vec::new(), 0));
        };
        let filled = self.remote.files()?;
        let mut missing = Vec::new();
        let mut files = 0;
        for corpus in Corpus::OF_FILES {
            let rows = visible.opened.table().files(corpus);
            let rows = rows.map_err(|error| EmbeddingError::CannotStore(table_error(error).to_string()))?;
            for (path, row) in rows.into_iter().filter(|(_, row)| row.chunks > 0) {
                files += 1;
                if !filled.contains(&file_key(corpus, &path, &row)) {
                    missing.push(UnfilledFile { corpus, path, row });
                }
            }
        }
        Ok((missing, files))
    }

    /// Fetches missing vectors until all are there or the server fails.
    fn fill_once(&self, report: &dyn Fn(Filled)) -> Result<(), EmbeddingError> {
        let remote = self.remote;
        let epoch = remote.epoch()?;
        let (missing, files) = self.unfilled()?;
        let mut texts: Vec<Text> = Vec::new();
        // Files whose texts were all sent, or are in `texts`: the key of each file, and the keys of its
        // texts.
        let mut sent: Vec<(u64, Vec<u64>)> = Vec::new();
        for (at, file) in missing.iter().enumerate() {
            if let Some((key, of_file)) = self.texts(file) {
                sent.push((key, of_file.iter().map(|text| text.key).collect()));
                texts.extend(remote.missing(of_file)?);
            }
            let left = missing.len() - at - 1;
            // Send only full batches, except for the last one.
            if texts.len() < remote.most() && left > 0 {
                continue;
            }
            while texts.len() >= remote.most() || (left == 0 && !texts.is_empty()) {
                let rest = texts.split_off(remote.most().min(texts.len()));
                remote.fill(std::mem::replace(&mut texts, rest))?;
                if self.shared.lock().is_ending {
                    return Ok(());
                }
            }
            for (key, keys) in std::mem::take(&mut sent) {
                if remote.knows(&keys)? {
                    remote.add_file(key, epoch)?;
                } else if left > 0 {
                    sent.push((key, keys));
                }
            }
            report(Filled { files, missing: left });
        }
        Ok(())
    }

    /// The texts of a file, and the key under which the file is filled once they all have vectors. `None` if
    /// it is gone.
    fn texts(&self, file: &UnfilledFile) -> Option<(u64, Vec<Text>)> {
        let job = FileJob {
            root: &self.shared.root,
            path: &file.path,
            scanned: file.row.stamp,
            indexed: None,
            rules: file.row.rules,
            max_bytes: self.shared.options.largest_file,
        };
        let extracted = match file.corpus {
            Corpus::Docs => {
                let manifests = self.shared.lock().manifests.clone();
                section_texts(&job, || manifests.rules(&file.path))
            }
            Corpus::Code | Corpus::History => chunk_texts(&job),
        };
        match extracted {
            Extracted::Changed { row, entries, .. } => {
                Some((file_key(file.corpus, &file.path, &row), entries))
            }
            Extracted::Same(_) | Extracted::Gone => None,
        }
    }
}

fn file_key(corpus: Corpus, path: &RepoPath, row: &IndexedFile) -> u64 {
    hash(&format!(
        "{FORMAT_VERSION}\0{}\0{path}\0{:x}\0{:x}",
        corpus.name(),
        row.hash,
        row.rules
    ))
}
