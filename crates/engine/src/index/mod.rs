//! The index of a project: which files it knows, what they were cut into, and how it stays true.
//!
//! One thread of the process, the keeper, looks at the files, writes what has changed and says how things stand. Searches
//! ask it to look and wait for a moment; they never wait for a whole build. Other processes of the same project keep the
//! same index: who finds something to write takes the lock, the others see what was written.

mod build;
mod filling;
mod history;
mod keeper;
mod known;
mod pages;
mod place;
mod shared;
mod status;
mod table;
mod unwatched;
mod view;
mod watch;
mod writing;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

pub(crate) use build::hash;
use docent_core::docs::manifest::PageRules;
use docent_core::path::RepoPath;
pub use filling::RerankSkipped;
pub(crate) use pages::{MAX_MANIFEST_BYTES, Manifests};
use place::{CacheDir, Mark, OpenIndex, of_table};
use unwatched::UnwatchedState;
pub use view::View;
pub use watch::WatchError;
use watch::Watcher;

use crate::accesses::Accesses;
use crate::clock::Clock;
use crate::deadline::Deadline;
use crate::embed::{Embedder, Remote, bundled};
use crate::files::Root;
use crate::git::{Git, Heads};
use crate::overview::Overview;
use crate::store::{ChunkHit, ChunkQuery, DiscoveryQuery, Look, StoreError, StoredDiscovery};

/// The index of one project, as this process sees it.
pub struct Index {
    shared: Arc<Shared>,
    /// What the project consists of, and by which commit.
    overview: Mutex<Option<(Option<Mark>, Arc<Overview>)>>,
}

/// How an index is kept.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// Larger files are left out.
    pub largest_file: u64,
    /// Whether changes are watched for, rather than looked for with each search.
    pub watch: bool,
    /// Where the documentation is; everywhere, where nothing is named.
    pub pages: Vec<RepoPath>,
    /// What gives chunks and sections the vectors that are a part of the index.
    pub embedder: &'static dyn Embedder,
    /// A model on a server, which has a say in the order of what is found.
    pub remote: Option<Arc<Remote>>,
    /// Whether the model is made to know what is indexed, in the background.
    pub fills: bool,
    /// Where commits come from; without, there are none.
    pub git: Option<Arc<Git>>,
    /// How many of them are read, the newest.
    pub commits: usize,
    /// Measures how long a search has waited for the index.
    pub clock: Clock,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            largest_file: 4 << 20,
            watch: false,
            pages: Vec::new(),
            embedder: bundled(),
            remote: None,
            fills: false,
            git: None,
            commits: 10_000,
            clock: Clock::System,
        }
    }
}

/// What the index keeps of a project's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corpus {
    /// Sections of pages. They are few and soon done, so they come first.
    Docs,
    /// Chunks of every file, pages included.
    Code,
    /// What commits tell. Nobody waits for it who has not asked for it, so it comes last.
    History,
}

impl Corpus {
    const ALL: [Self; 3] = [Self::Docs, Self::Code, Self::History];
    /// Those that are made from files.
    const OF_FILES: [Self; 2] = [Self::Docs, Self::Code];

    fn name(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Code => "code",
            Self::History => "history",
        }
    }
}

/// How long a search waits for what has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// A moment: less while the index is built for the first time.
    Moment,
    /// Until all is in, as long as there is progress.
    UntilDone,
}

/// How things stand: what a search may find, and what it cannot know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// Files that belong in the index.
    pub files: usize,
    /// Those of them whose present content is not in it.
    pub pending: usize,
    /// It was complete at least once.
    pub was_complete: bool,
    /// What went wrong, each in a sentence.
    pub troubles: Vec<String>,
    /// What could not be looked into.
    pub missed: u64,
    /// Nothing is known yet: the files have not been looked at.
    pub unknown: bool,
}

/// How far a build has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
    pub chunks: u64,
    pub bytes: u64,
}

/// How much of what is indexed a model on a server knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    pub files: usize,
    /// Those of them whose vectors it has not given yet.
    pub missing: usize,
}

/// Everything there is to say about an index.
#[derive(Clone, Debug, Default)]
pub struct IndexStatus {
    pub freshness: Freshness,
    pub indexed: usize,
    pub chunks: u64,
    /// Pages of documentation, and their sections.
    pub pages: usize,
    pub sections: u64,
    /// Files by language, most first.
    pub languages: Vec<(String, usize)>,
    /// Why files were left out or cut by lines, with how many and the first few of them.
    pub notes: Vec<(String, usize, Vec<String>)>,
    pub bytes_on_disk: u64,
    /// Where it lies; nothing where it is in memory.
    pub folder: Option<PathBuf>,
    /// The process that is writing.
    pub writer: Option<String>,
    /// Indexes of the same project that other versions have made.
    pub others: Vec<String>,
    /// Names that cannot be written as a path of the project.
    pub unnameable: u64,
    /// What is stored cannot be read, or nothing can be stored.
    pub is_unreadable: bool,
    pub is_unwritable: bool,
}

struct Shared {
    root: Root,
    options: IndexOptions,
    place: CacheDir,
    accesses: Arc<Accesses>,
    state: Mutex<State>,
    /// Something in the state has changed.
    changed: Condvar,
    opened: RwLock<Option<VisibleIndex>>,
    /// Called when the index has changed.
    listener: OnceLock<Box<dyn Fn() + Send + Sync>>,
    watcher: OnceLock<Option<Watcher>>,
    /// Watches have run out.
    watches_exhausted: AtomicBool,
    counted: Counted,
}

/// The open index, and which of its commits searches see.
#[derive(Clone)]
struct VisibleIndex {
    opened: Arc<OpenIndex>,
    mark: Option<Mark>,
}

#[derive(Default)]
struct State {
    keeper: Keeper,
    ended: bool,
    /// How often somebody asked for a look, which of these is being answered, and which was.
    asked: u64,
    looking: u64,
    answered: u64,
    /// The same for the documentation alone, which is done before the rest, and in between.
    asked_docs: u64,
    answered_docs: u64,
    /// And for the history, which is done after the rest.
    answered_history: u64,
    /// What searches have found wrong with the index.
    damage: Option<String>,
    /// Somebody wants it built anew.
    renew: bool,
    /// What is watched is all there is.
    trusted: bool,
    /// What no watch covers, as it was when the keeper looked.
    unwatched: UnwatchedState,
    /// How often the index was seen to be another than before.
    written: u64,
    freshness: Freshness,
    docs: Freshness,
    history: Freshness,
    view: Option<Arc<View>>,
    /// By which the pages of the view were cut.
    manifests: Arc<Manifests>,
}

impl State {
    /// Nobody will look: who waits goes on with what there is.
    fn give_up(&mut self) {
        self.answered = self.asked;
        self.answered_docs = self.asked;
        self.answered_history = self.asked;
    }
}

/// What the keeper is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Keeper {
    #[default]
    Absent,
    Idle,
    AtWork,
    /// It cannot write, and tries again later.
    Stuck,
}

#[derive(Default)]
struct Counted {
    done: AtomicU64,
    total: AtomicU64,
    chunks: AtomicU64,
    bytes: AtomicU64,
}

impl Counted {
    fn read(&self) -> Progress {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Progress {
            done: read(&self.done),
            total: read(&self.total),
            chunks: read(&self.chunks),
            bytes: read(&self.bytes),
        }
    }

    fn set(&self, progress: Progress) {
        let set = |number: &AtomicU64, value: u64| number.store(value, Ordering::Relaxed);
        set(&self.done, progress.done);
        set(&self.total, progress.total);
        set(&self.chunks, progress.chunks);
        set(&self.bytes, progress.bytes);
    }
}

impl Index {
    /// `folder` is the project's part of the cache; without, the index is in memory. Nothing is done yet.
    pub fn new(root: Root, folder: Option<PathBuf>, accesses: Arc<Accesses>, options: IndexOptions) -> Self {
        let rules = format!(
            "{:?}{}{:?}{}{}",
            root.access(),
            options.largest_file,
            options.pages,
            options.embedder.name(),
            options.commits
        );
        let place = CacheDir {
            project: folder,
            rules: format!("{:08x}", hash(&rules) >> 32),
        };
        Self {
            overview: Mutex::default(),
            shared: Arc::new(Shared {
                root,
                options,
                place,
                accesses,
                state: Mutex::default(),
                changed: Condvar::new(),
                opened: RwLock::default(),
                listener: OnceLock::new(),
                watcher: OnceLock::new(),
                watches_exhausted: AtomicBool::new(false),
                counted: Counted::default(),
            }),
        }
    }

    /// Begins to look at the files, beside whatever the process does.
    pub fn begin(&self) {
        let mut state = self.shared.lock();
        self.shared.start(&mut state);
    }

    /// Has `listener` hear of it when the index has changed; the first one that asks.
    pub fn on_change(&self, listener: Box<dyn Fn() + Send + Sync>) {
        let _ = self.shared.listener.set(listener);
    }

    /// The documentation as it was indexed last. Where it never was indexed as a whole, waits for that at most `patience`.
    pub fn docs(&self, patience: Duration) -> Arc<View> {
        let waited = self.shared.options.clock.stopwatch();
        let mut state = self.shared.lock();
        self.shared.start(&mut state);
        loop {
            let left = patience.saturating_sub(waited.elapsed());
            let is_final = state.docs.was_complete || matches!(state.keeper, Keeper::Stuck | Keeper::Absent);
            if left.is_zero() || is_final {
                return state.view.clone().unwrap_or_default();
            }
            // Nobody may have asked for a look, and one is wanted now.
            if state.asked == state.answered && state.looking == state.answered {
                state.asked += 1;
                self.shared.changed.notify_all();
            }
            state = self.shared.wait(state, left);
        }
    }

    /// How a page is cut, by the manifest that governs it.
    pub(crate) fn rules(&self, page: &RepoPath) -> PageRules {
        let manifests = self.shared.lock().manifests.clone();
        manifests.rules(page)
    }

    /// Brings a corpus up to date, as far as patience reaches, and says how things stand. `report` hears how far it is.
    pub fn freshen(
        &self,
        corpus: Corpus,
        patience: Patience,
        deadline: &Deadline,
        report: &dyn Fn(Progress),
    ) -> Freshness {
        const POLL_INTERVAL: Duration = Duration::from_millis(100);
        let shared = &self.shared;
        if let Some(freshness) = shared.known_fresh(corpus) {
            return freshness;
        }
        let waited = shared.options.clock.stopwatch();
        let mut state = shared.lock();
        state.asked += 1;
        let ticket = state.asked;
        if corpus == Corpus::Docs {
            state.asked_docs = ticket;
        }
        shared.start(&mut state);
        shared.changed.notify_all();
        let (mut seen, mut since_progress) = ((0, 0, 0), waited);
        loop {
            let (answered, freshness) = match corpus {
                Corpus::Docs => (state.answered_docs, &state.docs),
                Corpus::Code => (state.answered, &state.freshness),
                Corpus::History => (state.answered_history, &state.history),
            };
            let looked = answered >= ticket;
            let is_stuck = state.keeper == Keeper::Stuck
                || (corpus == Corpus::History && !freshness.troubles.is_empty());
            if looked && (freshness.pending == 0 || is_stuck) {
                return freshness.clone();
            }
            let state_now = (answered, freshness.pending, self.progress().done);
            if state_now != seen {
                (seen, since_progress) = (state_now, shared.options.clock.stopwatch());
            }
            let left = match patience {
                Patience::UntilDone if since_progress.elapsed() > STALL_TIMEOUT => Duration::ZERO,
                Patience::UntilDone => POLL_INTERVAL,
                Patience::Moment => {
                    let most = match freshness {
                        freshness if freshness.was_complete => UPDATE_WAIT,
                        // Nothing is worth less than something, and a part less than all of it.
                        freshness if freshness.pending == freshness.files || self.is_half_done() => {
                            NEARLY_DONE_WAIT
                        }
                        _ => FIRST_BUILD_WAIT,
                    };
                    most.saturating_sub(waited.elapsed())
                }
            };
            if left.is_zero() || deadline.check().is_err() {
                return Freshness {
                    unknown: !looked && freshness.pending == 0,
                    ..freshness.clone()
                };
            }
            state = shared.wait(state, left.min(POLL_INTERVAL));
            report(self.progress());
        }
    }

    /// How things stand with a corpus, as far as is known without a look.
    pub fn freshness(&self, corpus: Corpus) -> Freshness {
        let state = self.shared.lock();
        match corpus {
            Corpus::Docs => state.docs.clone(),
            Corpus::Code => state.freshness.clone(),
            Corpus::History => Freshness {
                // Nobody has looked yet, and there is something to look at.
                unknown: state.answered_history == 0
                    && !state.history.was_complete
                    && state.unwatched.heads != Heads::default(),
                ..state.history.clone()
            },
        }
    }

    /// The chunks that match best. What is damaged is told to the keeper.
    pub fn find_chunks(&self, wanted: &ChunkQuery<'_>) -> Result<Vec<ChunkHit>, StoreError> {
        self.ask(|opened| opened.chunks.search(wanted))
    }

    /// The files that commits changed whose messages match best.
    pub fn changed(&self, words: &[String], most: usize) -> Result<Vec<(Vec<String>, f32)>, StoreError> {
        self.ask(|opened| opened.chunks.changed(words, most))
    }

    /// The discoveries that match best.
    pub fn find_discoveries(
        &self,
        sought: &DiscoveryQuery<'_>,
    ) -> Result<Vec<(StoredDiscovery, f32)>, StoreError> {
        self.ask(|opened| opened.chunks.discoveries(sought))
    }

    /// What the project consists of, as it was indexed last.
    pub fn overview(&self) -> Result<Arc<Overview>, StoreError> {
        let Some(seen) = self.seen() else {
            return Ok(Arc::default());
        };
        let mark = seen.opened.mark();
        let mut known = self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, overview)) = &*known
            && of.is_some()
            && *of == mark
        {
            return Ok(overview.clone());
        }
        let files = self.report_damage(seen.opened.table().languages().map_err(of_table))?;
        let overview = Arc::new(Overview::of(&files));
        *known = Some((mark, overview.clone()));
        Ok(overview)
    }

    /// The sections of the documentation as they are now; nothing before there is an index.
    pub(crate) fn sections(&self) -> Option<Box<dyn Look>> {
        Some(self.seen()?.opened.sections.look())
    }

    /// Whether a file belongs to the documentation, as it was indexed.
    pub fn has_page(&self, path: &RepoPath) -> Result<bool, StoreError> {
        self.ask(|opened| opened.sections.has_page(path.as_str()))
    }

    /// Words of the documentation that are written almost like one.
    pub(crate) fn similar(&self, word: &str, most: usize) -> Result<Vec<String>, StoreError> {
        self.ask(|opened| opened.sections.similar(word, most))
    }

    /// Asks what is open of the index; there is nothing to find before it is.
    fn ask<T: Default>(
        &self,
        question: impl FnOnce(&OpenIndex) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.seen().map_or_else(
            || Ok(T::default()),
            |seen| self.report_damage(question(&seen.opened)),
        )
    }

    /// What is open of the index, with everything that was committed.
    fn seen(&self) -> Option<VisibleIndex> {
        let seen = self.shared.seen()?;
        // How things stand was told of this index. Where it is gone meanwhile, what is open of it serves this search.
        let _ = self.shared.catch_up(&seen);
        Some(seen)
    }

    /// Tells the keeper of what is damaged.
    pub(crate) fn report_damage<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        outcome.inspect_err(|error| {
            if let StoreError::Damaged(what) = error {
                self.shared.lock().damage = Some(what.clone());
            }
        })
    }

    /// What gives texts their vectors here.
    pub(crate) fn embedder(&self) -> &'static dyn Embedder {
        self.shared.options.embedder
    }

    fn is_half_done(&self) -> bool {
        let Progress { done, total, .. } = self.progress();
        done * 2 > total
    }

    /// How far the keeper is.
    pub fn progress(&self) -> Progress {
        self.shared.counted.read()
    }

    /// Has the index built anew with the next look.
    pub fn renew(&self) {
        self.shared.lock().renew = true;
    }

    /// Removes what is stored. True where there was something.
    pub fn clear(&self) -> Result<bool, StoreError> {
        self.shared.place.clear()
    }

    /// Tries to watch all of the project, and says how many directories that are.
    pub fn try_watching(&self) -> Result<usize, WatchError> {
        self.shared.try_watching()
    }

    /// Looks at the files and tells everything; changes no index.
    pub fn status(&self) -> IndexStatus {
        self.shared.status()
    }
}

/// A caller that waits for a complete index gives up after this long without progress.
const STALL_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a search waits for the index: during a first build, if that build has nothing yet or is nearly done, and for updates
/// of a complete index.
const FIRST_BUILD_WAIT: Duration = Duration::from_millis(900);
const NEARLY_DONE_WAIT: Duration = Duration::from_secs(2);
const UPDATE_WAIT: Duration = Duration::from_millis(1_500);

impl Drop for Index {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
