//! Gives what is indexed the vectors of a model on a server: in the background of whoever serves, or for who waits for it.
//!
//! Texts are cut from the files once more, because an index keeps none; only those that have no vector yet are sent.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use docent_core::path::RepoPath;

use super::build::{Job, Prepared, chunk_texts, hash, page_texts};
use super::place::{VERSION, of_table};
use super::table::IndexedFile;
use super::{Corpus, Filled, Index, Shared};
use crate::deadline::Deadline;
use crate::embed::{EmbeddingError, QuantizedVector, Remote, Text};

/// Why results are in the order they have without a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RerankSkipped {
    #[error("The embedding server {host} {trouble}; results are ordered without it")]
    Trouble { host: String, trouble: EmbeddingError },
    #[error("{model} does not know enough of the results yet; they are ordered without it")]
    Unknown { model: String },
}

/// A file whose vectors are not all known.
struct Unfilled {
    corpus: Corpus,
    path: RepoPath,
    row: IndexedFile,
}

/// A server that does not know more than one in so many of what was found yet has no say.
const MIN_KNOWN_PARTS: usize = 10;

/// Tries without any progress, after which who waits is told.
const MAX_TRIES: u32 = 4;

impl Index {
    /// Whether a model on a server has a say.
    pub(crate) fn has_server(&self) -> bool {
        self.shared.options.remote.is_some()
    }

    /// How near each of what was found is to a query, from 0 for the furthest to 1 for the nearest, by the model on the server.
    /// Nothing without a server. What it does not know stands in the middle.
    pub(crate) fn similarity(
        &self,
        query: &str,
        keys: &[u64],
        deadline: &Deadline,
    ) -> Result<Option<Vec<f32>>, RerankSkipped> {
        let Some(remote) = &self.shared.options.remote else {
            return Ok(None);
        };
        if keys.is_empty() {
            return Ok(None);
        }
        let near = remote
            .query(query, deadline)
            .and_then(|asked: QuantizedVector| remote.similarity(&asked, keys));
        let (near, unknown) = near.map_err(|trouble| RerankSkipped::Trouble {
            host: remote.server().host().to_owned(),
            trouble,
        })?;
        let known: Vec<f32> = near.iter().flatten().copied().collect();
        if unknown * MIN_KNOWN_PARTS > near.len() {
            // It may have turned out only now that all must be asked for anew.
            self.shared.changed.notify_all();
            return Err(RerankSkipped::Unknown {
                model: remote.server().model.clone(),
            });
        }
        // Models differ in how near to each other even strangers are; only the order tells.
        let furthest = known.iter().copied().fold(f32::INFINITY, f32::min);
        let nearest = known.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let reach = (nearest - furthest).max(f32::MIN_POSITIVE);
        let scaled = |near: Option<f32>| near.map_or(0.5, |near| (near - furthest) / reach);
        Ok(Some(near.into_iter().map(scaled).collect()))
    }

    /// How much of what is indexed the model on the server knows; nothing without a server.
    pub fn filled(&self) -> Option<Result<Filled, EmbeddingError>> {
        let remote = self.shared.options.remote.as_ref()?;
        if self.shared.seen().is_none()
            && self.shared.place.current().is_some()
            // What cannot be opened has no files, and is reported there.
            && let Ok(opened) = self.shared.place.open()
        {
            self.shared.set(Arc::new(opened), None);
        }
        let counted = || -> Result<Filled, EmbeddingError> {
            let (missing, files) = self.shared.unfilled(remote)?;
            Ok(Filled {
                files,
                missing: missing.len(),
            })
        };
        Some(counted())
    }

    /// Has the model on the server learn all that is indexed, and waits for it, also where the server fails now and then.
    pub fn fill(&self, report: &dyn Fn(Filled)) -> Result<(), EmbeddingError> {
        let Some(remote) = &self.shared.options.remote else {
            return Ok(());
        };
        let (mut tries, mut known) = (0, remote.count()?);
        loop {
            let outcome = self.shared.fill(remote, report);
            let before = std::mem::replace(&mut known, remote.count()?);
            tries = if known == before { tries + 1 } else { 1 };
            match outcome {
                // All may have had to be asked for anew.
                Ok(()) if known == before || self.shared.unfilled(remote)?.0.is_empty() => return Ok(()),
                Ok(()) => {}
                Err(trouble) if !trouble.is_temporary() || tries >= MAX_TRIES => return Err(trouble),
                // A thread may wake up before its time.
                Err(_) => {
                    while let Some((_, left)) = remote.pause_reason() {
                        thread::park_timeout(left);
                    }
                }
            }
        }
    }
}

/// Runs until the index is dropped.
pub(super) fn keep_filling(shared: &Arc<Shared>, remote: &Remote) {
    const MAX_PAUSE: Duration = Duration::from_mins(10);
    const MIN_PAUSE: Duration = Duration::from_secs(1);
    let mut done = (0, 0);
    let mut rests = false;
    loop {
        let epoch = remote.epoch().unwrap_or_default();
        let mut state = shared.lock();
        loop {
            if state.ended {
                return;
            }
            let pause = remote.pause_reason().map(|(_, left)| left);
            let pause = pause.or(std::mem::take(&mut rests).then_some(MIN_PAUSE));
            if pause.is_none() && (state.written, epoch) != done {
                break;
            }
            state = shared.wait(state, pause.unwrap_or(MAX_PAUSE));
            if pause.is_none() {
                break;
            }
        }
        let looked = (state.written, epoch);
        drop(state);
        if looked == done {
            // Another process may have found that all must be asked for anew.
            continue;
        }
        // What goes wrong is told with the next search; and tried again, when the server is no longer left alone.
        match shared.fill(remote, &|_| {}) {
            Ok(()) => done = looked,
            Err(_) => rests = true,
        }
    }
}

impl Shared {
    /// Files whose vectors are not all known, pages first; and how many files there are.
    fn unfilled(&self, remote: &Remote) -> Result<(Vec<Unfilled>, usize), EmbeddingError> {
        let Some(seen) = self.seen() else {
            return Ok((Vec::new(), 0));
        };
        let known = remote.files()?;
        let mut missing = Vec::new();
        let mut files = 0;
        for corpus in Corpus::OF_FILES {
            let rows = seen.opened.table().files(corpus);
            let rows = rows.map_err(|error| EmbeddingError::CannotStore(of_table(error).to_string()))?;
            for (path, row) in rows.into_iter().filter(|(_, row)| row.chunks > 0) {
                files += 1;
                if !known.contains(&file_key(corpus, &path, &row)) {
                    missing.push(Unfilled { corpus, path, row });
                }
            }
        }
        Ok((missing, files))
    }

    /// Asks for all that is missing, as long as nothing goes wrong.
    fn fill(&self, remote: &Remote, report: &dyn Fn(Filled)) -> Result<(), EmbeddingError> {
        let epoch = remote.epoch()?;
        let (missing, files) = self.unfilled(remote)?;
        let mut texts: Vec<Text> = Vec::new();
        // Files whose texts are all sent, or about to be: what each is known by, and its texts.
        let mut sent: Vec<(u64, Vec<u64>)> = Vec::new();
        for (at, file) in missing.iter().enumerate() {
            if let Some((key, of_file)) = self.texts(file) {
                sent.push((key, of_file.iter().map(|text| text.key).collect()));
                texts.extend(remote.missing(of_file)?);
            }
            let left = missing.len() - at - 1;
            // Only whole rounds, until the last one.
            if texts.len() < remote.most() && left > 0 {
                continue;
            }
            while texts.len() >= remote.most() || (left == 0 && !texts.is_empty()) {
                let rest = texts.split_off(remote.most().min(texts.len()));
                remote.fill(std::mem::replace(&mut texts, rest))?;
                if self.lock().ended {
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

    /// What of a file has vectors, and what the file is known by when it has them all. Nothing where it is gone.
    fn texts(&self, file: &Unfilled) -> Option<(u64, Vec<Text>)> {
        let job = Job {
            root: &self.root,
            path: &file.path,
            listed: file.row.stamp,
            before: None,
            rules: file.row.rules,
            largest: self.options.largest_file,
        };
        let prepared = match file.corpus {
            Corpus::Docs => {
                let manifests = self.lock().manifests.clone();
                page_texts(&job, || manifests.rules(&file.path))
            }
            Corpus::Code | Corpus::History => chunk_texts(&job),
        };
        match prepared {
            Prepared::Changed { row, entries, .. } => {
                Some((file_key(file.corpus, &file.path, &row), entries))
            }
            Prepared::Same(_) | Prepared::Gone => None,
        }
    }
}

fn file_key(corpus: Corpus, path: &RepoPath, row: &IndexedFile) -> u64 {
    hash(&format!(
        "{VERSION}\0{}\0{path}\0{:x}\0{:x}",
        corpus.name(),
        row.hash,
        row.rules
    ))
}
