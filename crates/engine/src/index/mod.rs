//! The index of a project: chunks of files, sections of pages and discoveries of commits, and how it stays up
//! to date.
//!
//! One thread per process, the worker, scans the files, plans what must be done and writes it. Searches
//! request a sync and wait for a moment; they never wait for a whole build. Several processes may serve one
//! project: one of them writes at a time, under a lock, and the others see what it has committed.
//!
//! The rooms, in the order of a saved file: `scan` (what is on disk) → `plan` (what must be done, pure) →
//! `worker` (does it) → `extract` (from text to entries) → `disk` (generations, lock, table of files).
//! `state` and `shared` are what searches and the worker have in common.

mod content_hash;
mod disk;
mod extract;
mod freshness;
mod options;
mod plan;
mod rerank;
mod scan;
mod shared;
mod state;
mod status;
mod transfer;
mod view;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

pub(crate) use content_hash::hash;
use disk::{CacheDir, CommitMark, FileTable, NotedFile, OpenIndex, table_error};
pub use disk::{ExportFileError, TransferError};
use docent_core::chunk::{Unparsed, has_grammar};
use docent_core::docs::manifest::PageRules;
use docent_core::language::Language;
use docent_core::path::RepoPath;
use extract::SkipReason;
pub use freshness::{Filled, Freshness, Patience, Progress};
use freshness::{MAX_HISTORY_WAIT, STALL_TIMEOUT, max_wait};
pub use options::{Corpus, IndexOptions};
pub use rerank::RerankSkipped;
pub use scan::WatchError;
pub(crate) use scan::{MAX_MANIFEST_BYTES, Manifests};
use shared::{Shared, VisibleIndex};
use state::{SyncState, WorkerStatus};
pub use status::IndexStatus;
pub use transfer::{Exported, Imported};
pub use view::View;
use worker::VectorFiller;

use crate::accesses::Accesses;
use crate::deadline::Deadline;
use crate::embed::{Embedder, EmbeddingError};
use crate::files::{Root, decode_file};
use crate::overview::{Overview, OverviewSources, files_with_main};
use crate::store::{
    ChunkHit, ChunkQuery, DiscoveryQuery, FileChunks, SectionSnapshot, StoreError, StoredDiscovery,
    SymbolStore,
};

/// The index of one project, as this process sees it.
pub struct Index {
    shared: Arc<Shared>,
    overview: CommitCache<Arc<Overview>>,
    unparsed_files: CommitCache<usize>,
}

/// A value that was computed from the table of files, and the commit that it was computed from.
type CommitCache<T> = Mutex<Option<(Option<CommitMark>, T)>>;

impl Index {
    /// `folder` is the project's folder in the cache. Without it, the index is in memory. No work is done
    /// yet.
    pub fn new(root: Root, folder: Option<PathBuf>, accesses: Arc<Accesses>, options: IndexOptions) -> Self {
        let rules = format!(
            "{:?}{}{:?}{}{}",
            root.access(),
            options.largest_file,
            options.pages,
            options.embedder.name(),
            options.commits
        );
        let cache_dir = CacheDir {
            project: folder,
            rules: format!("{:08x}", hash(&rules) >> 32),
        };
        Self {
            overview: Mutex::default(),
            unparsed_files: Mutex::default(),
            shared: Arc::new(Shared::new(root, options, cache_dir, accesses)),
        }
    }

    /// Starts the worker, so that the index is built in the background.
    pub fn begin(&self) {
        self.ensure_worker(&mut self.shared.lock());
    }

    /// Starts the worker if there is none.
    fn ensure_worker(&self, state: &mut SyncState) {
        if state.worker != WorkerStatus::Absent {
            return;
        }
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name("index".into());
        if thread.spawn(move || worker::run(&shared)).is_err() {
            // Without a thread, searches use what was indexed before.
            state.answer_all();
            return;
        }
        state.worker = WorkerStatus::Idle;
        let options = &self.shared.options;
        if let Some(remote) = options.remote.clone().filter(|_| options.fills) {
            let shared = self.shared.clone();
            let thread = thread::Builder::new().name("embed".into());
            // Without a thread, results are ranked without the embedding server.
            let _ = thread.spawn(move || worker::fill_in_background(&shared, &remote));
        }
    }

    /// Makes the index that lies on disk visible to questions, as it is: nothing is built, and nothing is
    /// waited for. False if there is none, or if it cannot be opened.
    pub fn open_stored(&self) -> bool {
        if self.shared.visible().is_some() {
            return true;
        }
        match self.shared.cache_dir.open_existing() {
            Some(Ok(opened)) => self.shared.show(Arc::new(opened)),
            Some(Err(_)) | None => return false,
        }
        true
    }

    /// Calls `listener` whenever the index has changed. Only the first listener is kept.
    pub fn on_change(&self, listener: Box<dyn Fn() + Send + Sync>) {
        self.shared.set_listener(listener);
    }

    /// The documentation as it was indexed last. Waits at most `max_wait` if it was never indexed completely.
    pub fn docs(&self, max_wait: Duration) -> Arc<View> {
        let waited = self.shared.options.clock.stopwatch();
        let mut state = self.shared.lock();
        self.ensure_worker(&mut state);
        loop {
            let left = max_wait.saturating_sub(waited.elapsed());
            let is_final = state.freshness(Corpus::Docs).was_complete
                || matches!(state.worker, WorkerStatus::CannotWrite | WorkerStatus::Absent);
            if left.is_zero() || is_final {
                return state.view.clone().unwrap_or_default();
            }
            if state.request_if_idle() {
                self.shared.wake();
            }
            state = self.shared.wait(state, left);
        }
    }

    /// The rules by which a page is cut, from the manifest that governs it.
    pub(crate) fn rules(&self, page: &RepoPath) -> PageRules {
        let manifests = self.shared.lock().manifests.clone();
        manifests.rules(page)
    }

    /// Brings a corpus up to date, as far as patience reaches, and returns its freshness. `report` is called
    /// with the progress of the build.
    pub fn freshen(
        &self,
        corpus: Corpus,
        patience: Patience,
        deadline: &Deadline,
        report: &dyn Fn(Progress),
    ) -> Freshness {
        const POLL_INTERVAL: Duration = Duration::from_millis(100);
        let shared = &self.shared;
        if let Some(freshness) = shared.proven_freshness(corpus) {
            return freshness;
        }
        let waited = shared.options.clock.stopwatch();
        let mut state = shared.lock();
        let ticket = state.request(corpus);
        self.ensure_worker(&mut state);
        shared.wake();
        let (mut last_progress, mut since_progress) = ((0, 0, 0), waited);
        loop {
            let freshness = state.freshness(corpus);
            let is_my_ticket_answered = state.answered(corpus) >= ticket;
            let has_failed = state.worker == WorkerStatus::CannotWrite
                || (corpus == Corpus::History && !freshness.troubles.is_empty());
            if is_my_ticket_answered && (freshness.pending == 0 || has_failed) {
                return freshness.clone();
            }
            let progress = (state.answered(corpus), freshness.pending, self.progress().done);
            if progress != last_progress {
                (last_progress, since_progress) = (progress, shared.options.clock.stopwatch());
            }
            let left = match patience {
                Patience::UntilDone if since_progress.elapsed() > STALL_TIMEOUT => Duration::ZERO,
                Patience::UntilDone => POLL_INTERVAL,
                Patience::Moment => max_wait(freshness, self.progress()).saturating_sub(waited.elapsed()),
            };
            if left.is_zero() || deadline.check().is_err() {
                return Freshness {
                    unknown: !is_my_ticket_answered && freshness.pending == 0,
                    ..freshness.clone()
                };
            }
            state = shared.wait(state, left.min(POLL_INTERVAL));
            let code = state.freshness(Corpus::Code);
            report(Progress {
                searchable: code.files.saturating_sub(code.pending) as u64,
                ..self.progress()
            });
        }
    }

    /// Waits until all commits were read once, for a moment at most.
    pub fn await_history(&self, deadline: &Deadline) {
        let waited = self.shared.options.clock.stopwatch();
        let mut state = self.shared.lock();
        loop {
            let history = state.known_freshness(Corpus::History);
            let is_coming = (history.unknown || history.pending > 0)
                && history.troubles.is_empty()
                && matches!(state.worker, WorkerStatus::Idle | WorkerStatus::Syncing);
            let left = MAX_HISTORY_WAIT.saturating_sub(waited.elapsed());
            if history.was_complete || !is_coming || left.is_zero() || deadline.check().is_err() {
                return;
            }
            state = self.shared.wait(state, left);
        }
    }

    /// Whether all commits were read at least once.
    pub fn has_history(&self) -> bool {
        self.shared.lock().freshness(Corpus::History).was_complete
    }

    /// The freshness of a corpus, as far as it is known without a scan.
    pub fn freshness(&self, corpus: Corpus) -> Freshness {
        self.shared.lock().known_freshness(corpus)
    }

    /// The chunks that match a query best.
    pub fn find_chunks(&self, query: &ChunkQuery<'_>) -> Result<Vec<ChunkHit>, StoreError> {
        self.read(|opened| opened.chunks.find_chunks(query))
    }

    /// The chunks of each of these files, with what each word of the query scores in them.
    pub fn chunks_of_files(
        &self,
        query: &ChunkQuery<'_>,
        paths: &[&str],
    ) -> Result<Vec<FileChunks>, StoreError> {
        self.read(|opened| opened.chunks.chunks_of_files(query, paths))
    }

    /// For each word, in how many chunks it is; and how many chunks there are.
    pub fn count_words(&self, words: &[String]) -> Result<(Vec<u64>, u64), StoreError> {
        self.read(|opened| Ok((opened.chunks.count_words(words)?, opened.chunks.count_chunks()?)))
    }

    /// Words of chunks that a misspelt word may stand for, the closest first.
    pub(crate) fn similar_words(&self, word: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        self.read(|opened| opened.chunks.similar_words(word, limit))
    }

    /// Calls `visit` with the path of every indexed file, and with keys of other entries.
    pub(crate) fn visit_keys(&self, visit: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.read(|opened| opened.chunks.visit_keys(visit))
    }

    /// The commits whose messages match best: the files that each has changed, and its BM25 score.
    pub fn find_commits(
        &self,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(Vec<String>, f32)>, StoreError> {
        self.read(|opened| opened.chunks.find_commits(words, limit))
    }

    /// The discoveries that match a query best.
    pub fn find_discoveries(
        &self,
        query: &DiscoveryQuery<'_>,
    ) -> Result<Vec<(StoredDiscovery, f32)>, StoreError> {
        self.read(|opened| opened.chunks.find_discoveries(query))
    }

    /// Finds symbols by their names. `question` is asked on the newest commit.
    pub(crate) fn symbols<T: Default>(
        &self,
        question: impl FnOnce(&dyn SymbolStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.read(|opened| {
            let store = opened.chunks.symbols();
            question(&*store)
        })
    }

    /// How many files of a language with a grammar have no symbols: too large, generated, not parsed.
    pub fn unparsed_files(&self) -> Result<usize, StoreError> {
        self.read_cached(&self.unparsed_files, |table| {
            let noted = table.notes()?;
            Ok(noted.iter().filter(|file| is_unparsed(file)).count())
        })
    }

    /// Languages, modules and programs of the project, as it was indexed last.
    pub fn overview(&self) -> Result<Arc<Overview>, StoreError> {
        const MAX_READ_BYTES: u64 = 1 << 20;
        let read = |path: &RepoPath| {
            let content = self.shared.root.read(path, MAX_READ_BYTES).ok()?;
            Some(decode_file(content.bytes))
        };
        self.read_cached(&self.overview, |table| {
            let sources = OverviewSources {
                read: &read,
                // Without symbols, programs are those of manifests.
                mains: self.symbols(files_with_main).unwrap_or_default(),
            };
            Ok(Arc::new(Overview::of(&table.languages()?, &sources)))
        })
    }

    /// Languages of the code with their number of files, as they were indexed last, the most frequent first.
    /// `None` before there is an index. Nothing but the table of files is opened.
    pub fn count_languages(&self) -> Result<Option<Vec<(String, usize)>>, StoreError> {
        let table = self.shared.cache_dir.open_table();
        match table.map_err(table_error)? {
            None => Ok(None),
            Some(table) => table.count_languages().map(Some).map_err(table_error),
        }
    }

    /// A value that is computed from the table of files, once for each commit. The default value before there
    /// is an index.
    fn read_cached<T: Clone + Default>(
        &self,
        cache: &CommitCache<T>,
        compute: impl FnOnce(&FileTable) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let Some(visible) = self.visible() else {
            return Ok(T::default());
        };
        let mark = visible.opened.commit_mark();
        let mut cached = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made_from, value)) = &*cached
            && made_from.is_some()
            && *made_from == mark
        {
            return Ok(value.clone());
        }
        let value = self.report_damage(compute(&visible.opened.table()).map_err(table_error))?;
        *cached = Some((mark, value.clone()));
        Ok(value)
    }

    /// A snapshot of the sections of the documentation. `None` before there is an index.
    pub(crate) fn sections(&self) -> Option<Box<dyn SectionSnapshot>> {
        Some(self.visible()?.opened.sections.snapshot())
    }

    /// Whether a file is a page of the documentation that is indexed.
    pub fn has_page(&self, path: &RepoPath) -> Result<bool, StoreError> {
        self.read(|opened| opened.sections.has_page(path.as_str()))
    }

    /// Words of the documentation that are spelt almost like this one.
    pub(crate) fn similar(&self, word: &str, most: usize) -> Result<Vec<String>, StoreError> {
        self.read(|opened| opened.sections.similar(word, most))
    }

    /// As [`Self::symbols`], and the question is also asked before there is an index, without a store.
    pub(crate) fn symbols_if_any<T>(
        &self,
        question: impl FnOnce(Option<&dyn SymbolStore>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.visible() {
            Some(visible) => self.report_damage(question(Some(&*visible.opened.chunks.symbols()))),
            None => question(None),
        }
    }

    /// Reads from the index. The default value before there is one.
    fn read<T: Default>(
        &self,
        question: impl FnOnce(&OpenIndex) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.visible() {
            Some(visible) => self.report_damage(question(&visible.opened)),
            None => Ok(T::default()),
        }
    }

    /// The index that searches use, at its newest commit.
    fn visible(&self) -> Option<VisibleIndex> {
        let visible = self.shared.visible()?;
        // The freshness that was reported is of this generation. If it was deleted in the meantime, its open
        // files serve this search.
        let _ = self.shared.catch_up(&visible);
        Some(visible)
    }

    /// Tells the worker about damage, so that it verifies the index.
    pub(crate) fn report_damage<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        outcome.inspect_err(|error| {
            if let StoreError::Damaged(what) = error {
                self.shared.lock().damage = Some(what.clone());
            }
        })
    }

    /// The embedder whose vectors are stored in this index.
    pub(crate) fn embedder(&self) -> &'static dyn Embedder {
        self.shared.options.embedder
    }

    /// Whether an embedding server takes part in ranking.
    pub(crate) fn has_server(&self) -> bool {
        self.shared.options.remote.is_some()
    }

    /// The similarity of each stored text to a query, by the embedding server: 0 for the least similar, 1 for
    /// the most. `None` without a server.
    pub(crate) fn similarity(
        &self,
        query: &str,
        keys: &[u64],
        deadline: &Deadline,
    ) -> Result<Option<Vec<f32>>, RerankSkipped> {
        let Some(remote) = self.shared.options.remote.as_ref().filter(|_| !keys.is_empty()) else {
            return Ok(None);
        };
        let similarity = rerank::similarity(remote, query, keys, deadline);
        if matches!(similarity, Err(RerankSkipped::Unknown { .. })) {
            // The vector cache may have been started over just now. The filler checks that when it is woken
            // up.
            self.shared.wake();
        }
        similarity.map(Some)
    }

    /// How many indexed files have all their vectors from the embedding server. `None` without a server.
    pub fn filled(&self) -> Option<Result<Filled, EmbeddingError>> {
        let shared = &self.shared;
        let remote = shared.options.remote.as_ref()?;
        if shared.visible().is_none()
            && shared.cache_dir.current().is_some()
            // An index that cannot be opened counts no files; `status` reports why.
            && let Ok(opened) = shared.cache_dir.open()
        {
            shared.show(Arc::new(opened));
        }
        Some(VectorFiller { shared, remote }.count())
    }

    /// Fetches all missing vectors from the embedding server, and waits for them.
    pub fn fill(&self, report: &dyn Fn(Filled)) -> Result<(), EmbeddingError> {
        let shared = &self.shared;
        match &shared.options.remote {
            Some(remote) => VectorFiller { shared, remote }.fill(report),
            None => Ok(()),
        }
    }

    /// How far the worker is with the build.
    pub fn progress(&self) -> Progress {
        self.shared.progress.read()
    }

    /// Files that this process took over from the index of another working tree.
    pub fn adopted_files(&self) -> u64 {
        self.shared.progress.adopted()
    }

    /// Has the index rebuilt from the files with the next sync.
    pub fn rebuild(&self) {
        self.shared.lock().rebuild = true;
    }

    /// Appends the stored index to a file, for another machine.
    pub fn export(&self, file: &Path) -> Result<Exported, TransferError> {
        transfer::export(&self.shared, file)
    }

    /// Replaces the stored index by one that was exported, as far as it fits the files of this project. With
    /// a digest, only the export with this digest is taken.
    pub fn import(&self, file: &Path, digest: Option<&str>) -> Result<Imported, TransferError> {
        transfer::import(&self.shared, file, digest)
    }

    /// Removes the stored index. True if there was one.
    pub fn clear(&self) -> Result<bool, StoreError> {
        self.shared.cache_dir.clear()
    }

    /// Removes the project's indexes that earlier versions have made. Returns the names of their folders.
    pub fn clear_older(&self) -> Result<Vec<String>, StoreError> {
        self.shared.cache_dir.clear_older()
    }

    /// Tries to watch the whole project, and returns the number of its directories.
    pub fn try_watching(&self) -> Result<usize, WatchError> {
        status::try_watching(&self.shared)
    }

    /// Scans the files and reports everything about the index, without changing it.
    pub fn status(&self) -> IndexStatus {
        status::collect(&self.shared)
    }
}

/// Whether a file with a note has symbols that are unknown.
fn is_unparsed(file: &NotedFile) -> bool {
    let language = match file.language.as_str() {
        // A skipped file was not read.
        "" => Language::of_path(&file.path, ""),
        name => Language::from_name(name).unwrap_or(Language::PlainText),
    };
    // Generated code is not cut by its syntax, but its symbols are known.
    let has_symbols = file.note == Unparsed::Generated.name();
    has_grammar(language) && !has_symbols && file.note != SkipReason::Binary.to_string()
}

impl Drop for Index {
    fn drop(&mut self) {
        self.shared.update(|state| state.is_ending = true);
    }
}

#[cfg(test)]
mod tests;
