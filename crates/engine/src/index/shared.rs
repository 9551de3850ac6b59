//! Everything that searches and the index worker share: the project, the state under a lock, the open index.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use super::disk::{CacheDir, CommitMark, OpenIndex};
use super::freshness::{Freshness, ProgressCounter};
use super::options::{Corpus, IndexOptions};
use super::scan::{ActiveWatcher, Manifests, UnwatchedState};
use super::state::SyncState;
use super::view::View;
use crate::accesses::Accesses;
use crate::files::Root;
use crate::store::StoreError;

/// One per index. Threads hold it by an `Arc`.
pub(super) struct Shared {
    pub(super) root: Root,
    pub(super) options: IndexOptions,
    pub(super) cache_dir: CacheDir,
    pub(super) accesses: Arc<Accesses>,
    pub(super) watch: ActiveWatcher,
    pub(super) progress: ProgressCounter,
    state: Mutex<SyncState>,
    /// Notified when the state has changed.
    changed: Condvar,
    visible: RwLock<Option<VisibleIndex>>,
    listener: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// The open index, and the commit of it that searches see.
#[derive(Clone)]
pub(super) struct VisibleIndex {
    pub(super) opened: Arc<OpenIndex>,
    mark: Option<CommitMark>,
}

impl Shared {
    pub(super) fn new(
        root: Root,
        options: IndexOptions,
        cache_dir: CacheDir,
        accesses: Arc<Accesses>,
    ) -> Self {
        Self {
            root,
            options,
            cache_dir,
            accesses,
            watch: ActiveWatcher::default(),
            progress: ProgressCounter::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
            visible: RwLock::default(),
            listener: OnceLock::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SyncState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change of the state, at most for `time`.
    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, SyncState>,
        time: Duration,
    ) -> MutexGuard<'a, SyncState> {
        self.changed
            .wait_timeout(state, time)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Changes the state and wakes up all that wait for a change.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut SyncState) -> T) -> T {
        let outcome = change(&mut self.lock());
        self.wake();
        outcome
    }

    /// Wakes up all that wait for a change.
    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Calls `listener` whenever the index has changed. Only the first listener is kept.
    pub(super) fn set_listener(&self, listener: Box<dyn Fn() + Send + Sync>) {
        let _ = self.listener.set(listener);
    }

    pub(super) fn notify_listener(&self) {
        if let Some(listener) = self.listener.get() {
            listener();
        }
    }

    /// Whether the worker should leave what it is doing: for a request, or to end.
    pub(super) fn is_interrupted(&self) -> bool {
        let state = self.lock();
        state.is_ending || !state.is_all_answered()
    }

    pub(super) fn unwatched(&self) -> UnwatchedState {
        UnwatchedState::read(&self.root, self.options.git.as_deref())
    }

    /// The freshness of a corpus, if the watcher proves that nothing has changed since the last sync.
    pub(super) fn proven_freshness(&self, corpus: Corpus) -> Option<Freshness> {
        let watcher = self.watch.active()?;
        if !watcher.fence() || watcher.last_change().is_some() {
            return None;
        }
        // Watches are set by path. The watcher does not notice a project directory that was replaced before
        // its watch was set.
        if !self.root.is_still_there() {
            return None;
        }
        let is_current = self
            .visible()
            .is_some_and(|visible| self.is_current(&visible.opened));
        let unwatched = self.unwatched();
        let state = self.lock();
        let is_proven = is_current
            && state.is_covered
            && state.unwatched == unwatched
            && state.is_settled(corpus)
            && watcher.last_change().is_none();
        is_proven.then(|| state.freshness(corpus).clone())
    }

    /// Tells waiting searches the freshness of a corpus.
    pub(super) fn publish_freshness(&self, corpus: Corpus, freshness: Freshness) {
        self.update(|state| state.set_freshness(corpus, freshness));
    }

    /// Tells searches and clients what the documentation consists of.
    pub(super) fn publish_view(&self, view: View, manifests: Arc<Manifests>) {
        let is_new = self.update(|state| {
            let is_new = state.view.as_deref() != Some(&view);
            if is_new {
                state.view = Some(Arc::new(view));
            }
            state.manifests = manifests;
            is_new
        });
        if is_new {
            self.notify_listener();
        }
    }

    /// The index that searches use now.
    pub(super) fn visible(&self) -> Option<VisibleIndex> {
        self.visible
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Makes searches use this index. They see its newest commit after the next [`Shared::catch_up`].
    pub(super) fn show(&self, opened: Arc<OpenIndex>) {
        self.show_commit(opened, None);
    }

    fn show_commit(&self, opened: Arc<OpenIndex>, mark: Option<CommitMark>) {
        *self.visible.write().unwrap_or_else(PoisonError::into_inner) = Some(VisibleIndex { opened, mark });
    }

    /// False if another process has rebuilt the index, or has deleted it.
    fn is_current(&self, opened: &OpenIndex) -> bool {
        !opened.is_on_disk()
            || (opened.commit_mark().is_some() && self.cache_dir.current() == opened.generation)
    }

    /// Makes new commits of this generation visible, by whichever process.
    pub(super) fn catch_up(&self, visible: &VisibleIndex) -> Result<(), StoreError> {
        // The mark is taken before reloading: a commit that comes in between is caught up with next time.
        let mark = visible.opened.commit_mark();
        if mark.is_some() && mark != visible.mark {
            visible.opened.reload()?;
            self.show_commit(visible.opened.clone(), mark);
        }
        Ok(())
    }

    /// The index in use, at its newest commit. Opens the new generation if another process has rebuilt it.
    /// `None` before it was opened for the first time.
    pub(super) fn current(&self) -> Result<Option<Arc<OpenIndex>>, StoreError> {
        let Some(visible) = self.visible() else {
            return Ok(None);
        };
        if !self.is_current(&visible.opened) {
            let opened = Arc::new(self.cache_dir.open()?);
            self.show(opened.clone());
            return Ok(Some(opened));
        }
        self.catch_up(&visible)?;
        Ok(Some(visible.opened))
    }

    /// The same, and opens it the first time.
    pub(super) fn open(&self) -> Result<Arc<OpenIndex>, StoreError> {
        if let Some(opened) = self.current()? {
            return Ok(opened);
        }
        let opened = Arc::new(self.cache_dir.open()?);
        self.show(opened.clone());
        Ok(opened)
    }
}
