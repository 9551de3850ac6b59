//! The index worker: one thread per process that scans, compares and writes until the index matches the disk.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use docent_core::path::RepoPath;

use super::known::Known;
use super::place::{Lock, OpenIndex, of_table};
use super::view::View;
use super::watch::Watcher;
use super::{Corpus, Keeper, Shared};
use crate::store::StoreError;

/// File changes are indexed after this much silence, or at once when a search is waiting.
const DEBOUNCE: Duration = Duration::from_millis(400);

/// Delay before the first background scan, so that it does not compete with the first request for CPU.
const IDLE_START_DELAY: Duration = Duration::from_millis(200);

/// Delays until the next try: while another process holds the lock, and while nothing can be written.
const LOCK_RETRY: Duration = Duration::from_millis(40);
const WRITE_RETRY: Duration = Duration::from_secs(5);

/// Marks the worker as stopped when its thread ends, panics included, so that the next search starts a new one.
struct WorkerExitGuard<'a>(&'a Shared);

impl Drop for WorkerExitGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.keeper = Keeper::Absent;
        state.give_up();
    }
}

/// What a round ended with.
enum Outcome {
    /// All is in the index.
    Complete,
    /// Another process writes.
    Busy,
    /// It cannot be written now.
    Stuck,
    /// There is more to do.
    Again,
}

/// Runs until the index is dropped.
pub(super) fn keep(shared: &Arc<Shared>) {
    let _gone = WorkerExitGuard(shared);
    let mut known = Known::default();
    // A search that comes first is answered by the first look.
    let mut next = Some(Instant::now() + IDLE_START_DELAY);
    let mut watch: Option<Instant> = None;
    let mut told = 0;
    known.recall(shared);
    loop {
        let mut state = shared.lock();
        loop {
            if state.ended {
                return;
            }
            let quiet = shared
                .watcher()
                .and_then(Watcher::last_change)
                .map(|last| last + DEBOUNCE);
            let due = [next, quiet].into_iter().flatten().min();
            // Start the watcher even under a steady stream of searches: they profit from it most.
            if watch.take_if(|watch| *watch <= Instant::now()).is_some() {
                known.watched = known.watch(shared);
            }
            if state.asked > state.answered || due.is_some_and(|due| due <= Instant::now()) {
                break;
            }
            let due = due.into_iter().chain(watch).min();
            let wait = due.map_or(Duration::from_mins(10), |due| {
                due.saturating_duration_since(Instant::now())
            });
            state = shared.wait(state, wait);
        }
        let asked = state.asked;
        state.looking = asked;
        state.keeper = Keeper::AtWork;
        let (renew, damage) = (std::mem::take(&mut state.renew), state.damage.take());
        drop(state);

        let outcome = if shared.root.is_still_there() {
            known.look(shared);
            known.return_to_disk(shared);
            known.round(shared, renew, damage.as_deref())
        } else {
            // Files are opened below a handle of the directory; what is at its path now is another.
            known.obstacle =
                Some("The project's directory was moved or made anew; start docent again".to_owned());
            Outcome::Stuck
        };
        known.tell_docs(shared, asked);
        let mut state = shared.lock();
        state.answered = asked;
        state.keeper = match outcome {
            Outcome::Stuck => Keeper::Stuck,
            _ => Keeper::Idle,
        };
        state.trusted = known.trusted;
        state.unwatched = known.unwatched.clone();
        state.freshness = known.freshness(Corpus::Code);
        drop(state);
        shared.changed.notify_all();
        let outcome = known.history_round(shared, outcome, asked);
        if known.changes != told {
            told = known.changes;
            shared.lock().written = told;
            shared.changed.notify_all();
            shared.tell_of_change();
        }
        next = match outcome {
            Outcome::Complete => known.history.retry,
            Outcome::Again => Some(Instant::now()),
            Outcome::Busy => Some(Instant::now() + LOCK_RETRY),
            Outcome::Stuck => Some(Instant::now() + WRITE_RETRY),
        };
        if matches!(outcome, Outcome::Complete) {
            // Told once, with the answer that it concerned.
            known.troubles.clear();
        }
        if matches!(outcome, Outcome::Complete) && shared.options.watch && !known.watched && watch.is_none() {
            watch = Some(Instant::now() + IDLE_START_DELAY);
        }
    }
}

impl Known {
    /// Compares and writes, once.
    fn round(&mut self, shared: &Shared, renew: bool, damage: Option<&str>) -> Outcome {
        match self.try_round(shared, renew, damage) {
            Ok(outcome) => outcome,
            Err(StoreError::Busy) => Outcome::Busy,
            // A second damage report in a row cannot be a race with a writer. Give up until the next start.
            Err(StoreError::Damaged(what)) if damage.is_some() => {
                self.obstacle = Some(format!("The index cannot be used ({what})"));
                Outcome::Stuck
            }
            Err(StoreError::Damaged(what)) => {
                shared.lock().damage = Some(what);
                Outcome::Again
            }
            Err(StoreError::Io(error)) => self.hindered(shared, &error),
        }
    }

    fn try_round(
        &mut self,
        shared: &Shared,
        renew: bool,
        damage: Option<&str>,
    ) -> Result<Outcome, StoreError> {
        if renew {
            let lock = shared.place.lock()?;
            self.begin(shared, shared.place.renew(&lock)?);
        }
        if let Some(what) = damage {
            self.mend(shared, what)?;
        }
        let opened = shared.open()?;
        self.read_table(&opened)?;
        let pages = self.pending(Corpus::Docs);
        if pages.is_empty() {
            self.was_complete[Corpus::Docs as usize] = true;
            self.tell_docs(shared, shared.answering());
        }
        if pages.is_empty() && self.pending(Corpus::Code).is_empty() {
            self.was_complete[Corpus::Code as usize] = true;
            if opened.is_on_disk() {
                self.obstacle = None;
            }
            return Ok(Outcome::Complete);
        }
        let lock = if opened.is_on_disk() {
            shared.place.try_lock()?
        } else {
            Lock::unneeded()
        };
        // Another process may have written since.
        let opened = shared.current()?.unwrap_or(opened);
        self.read_table(&opened)?;
        let gone = |path: &RepoPath| !self.files.contains_key(path);
        if Corpus::OF_FILES
            .into_iter()
            .any(|corpus| self.pending(corpus).iter().any(gone))
        {
            // Another process may have indexed a file created after our scan. Without a new scan we would delete it as missing.
            self.look(shared);
        }
        opened.sweep(&lock);
        self.write_pages(shared, &opened)?;
        if shared.lock().ended {
            return Ok(Outcome::Complete);
        }
        self.was_complete[Corpus::Docs as usize] = true;
        self.tell_docs(shared, shared.answering());
        self.has_glanced = false;
        self.write_chunks(shared, &opened)?;
        if opened.is_on_disk() {
            self.obstacle = None;
        }
        // What could not be read settles with the next look.
        self.was_complete[Corpus::Code as usize] = true;
        Ok(if self.has_glanced {
            Outcome::Again
        } else {
            Outcome::Complete
        })
    }

    /// After a round over the files: goes on with the history, as far as nobody asks for something else.
    fn history_round(&mut self, shared: &Shared, files: Outcome, asked: u64) -> Outcome {
        let (mut outcome, mut is_done) = (files, true);
        if matches!(outcome, Outcome::Complete) {
            match self.write_history(shared) {
                Ok(true) => self.was_complete[Corpus::History as usize] = true,
                Ok(false) => (outcome, is_done) = (Outcome::Again, false),
                Err(StoreError::Busy) => (outcome, is_done) = (Outcome::Busy, false),
                Err(StoreError::Damaged(what)) => {
                    shared.lock().damage = Some(what);
                    (outcome, is_done) = (Outcome::Again, false);
                }
                Err(error) => self.history_failed(&error),
            }
        } else {
            is_done = matches!(outcome, Outcome::Stuck);
        }
        let mut state = shared.lock();
        state.history = self.freshness(Corpus::History);
        if is_done {
            state.answered_history = asked;
        }
        drop(state);
        shared.changed.notify_all();
        outcome
    }

    /// Uses an index that was begun anew.
    fn begin(&mut self, shared: &Shared, opened: OpenIndex) {
        self.was_complete = [false; 3];
        self.read = None;
        shared.set(Arc::new(opened), None);
    }

    /// Something was found damaged. Files also vanish because another process tidies up or begins anew, so it is looked at once
    /// more while nobody else writes; what is damaged then is built anew.
    fn mend(&mut self, shared: &Shared, what: &str) -> Result<(), StoreError> {
        let lock = shared.place.lock()?;
        self.read = None;
        let whole = shared.place.open_with(&lock).and_then(|opened| {
            opened.verify()?;
            for corpus in Corpus::ALL {
                opened.table().files(corpus).map_err(of_table)?;
            }
            Ok(opened)
        });
        match whole {
            Ok(opened) => shared.set(Arc::new(opened), None),
            Err(StoreError::Damaged(_)) => {
                let opened = shared.place.renew(&lock)?;
                self.troubles = vec![format!("The index was damaged ({what}) and is built anew")];
                let _ = opened.table().set_fact("damage", what);
                self.begin(shared, opened);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Where the index cannot be written: one in memory if there is nothing to search, else what there is. Another try is made
    /// later, because disks are cleared and permissions given back.
    fn hindered(&mut self, shared: &Shared, error: &std::io::Error) -> Outcome {
        self.read = None;
        let in_use = shared.seen().map(|seen| seen.opened);
        let on_disk = in_use.as_ref().filter(|opened| opened.is_on_disk());
        if on_disk.is_some_and(|opened| shared.place.current() != opened.generation) {
            // Another process has begun anew, and what failed is gone.
            return Outcome::Again;
        }
        let reason = format!("The index cannot be written ({error})");
        if on_disk.is_some_and(|opened| opened.chunks.count() > 0) {
            self.obstacle = Some(format!("{reason}; what was indexed before is searched"));
            return Outcome::Stuck;
        }
        self.obstacle = Some(format!("{reason}; it is kept in memory until this process ends"));
        self.retry = Some(Instant::now() + WRITE_RETRY);
        let in_memory = match in_use {
            Some(opened) if !opened.is_on_disk() => Ok(opened),
            _ => OpenIndex::in_memory().map(Arc::new),
        };
        let outcome = in_memory.and_then(|opened| {
            shared.set(opened, None);
            self.try_round(shared, false, None)
        });
        outcome.unwrap_or(Outcome::Stuck)
    }

    /// Leaves the index in memory as soon as there can be one on disk.
    fn return_to_disk(&mut self, shared: &Shared) {
        if self.retry.is_none_or(|retry| Instant::now() < retry) {
            return;
        }
        self.retry = Some(Instant::now() + WRITE_RETRY);
        if shared.place.hindrance().is_none()
            && let Ok(opened) = shared.place.open()
        {
            self.retry = None;
            self.obstacle = None;
            self.begin(shared, opened);
        }
    }

    pub(super) fn read_table(&mut self, opened: &OpenIndex) -> Result<(), StoreError> {
        let table = opened.table();
        let version = Some((opened.generation.clone(), table.version().map_err(of_table)?));
        if self.read != version {
            self.indexed = table.files(Corpus::Code).map_err(of_table)?;
            self.indexed_pages = table.files(Corpus::Docs).map_err(of_table)?;
            self.indexed_commits = table.files(Corpus::History).map_err(of_table)?;
            // Pages come first, so that they are complete where the rest is.
            if table.fact("complete").map_err(of_table)?.is_some() {
                self.was_complete = [true; 3];
            }
            self.read = version;
            self.changes += 1;
        }
        Ok(())
    }

    /// What was known of the documentation when it was looked at last, by whichever process. Costs no look at the files.
    fn recall(&mut self, shared: &Shared) {
        if shared.place.current().is_none() {
            return;
        }
        // What goes wrong here does so again in the first round, which can mend it.
        let Ok(opened) = shared.open() else { return };
        if self.read_table(&opened).is_ok() && self.was_complete[Corpus::Code as usize] {
            self.pages
                .recall(&shared.root, self.indexed.keys(), &shared.options.pages);
            self.publish(shared);
            let mut state = shared.lock();
            state.docs.was_complete = true;
            state.history.was_complete = true;
            drop(state);
            shared.changed.notify_all();
        }
    }

    /// Says how things stand with the documentation, which is as far as this look brings it.
    fn tell_docs(&self, shared: &Shared, asked: u64) {
        self.publish(shared);
        let mut state = shared.lock();
        state.docs = self.freshness(Corpus::Docs);
        state.answered_docs = state.answered_docs.max(asked);
        drop(state);
        shared.changed.notify_all();
    }

    /// In the middle of a long build: who asks for documentation need not wait for the rest.
    pub(super) fn glance(&mut self, shared: &Shared, opened: &OpenIndex) -> Result<(), StoreError> {
        let asked = shared.lock().asked_docs;
        let counted = shared.counted.read();
        self.look(shared);
        self.has_glanced = true;
        self.write_pages(shared, opened)?;
        self.tell_docs(shared, asked);
        shared.counted.set(counted);
        Ok(())
    }

    pub(super) fn publish(&self, shared: &Shared) {
        let view = View::of(&self.pages, &self.indexed_pages);
        let mut state = shared.lock();
        let is_new = state.view.as_deref() != Some(&view);
        if is_new {
            state.view = Some(Arc::new(view));
        }
        state.manifests = self.pages.manifests.clone();
        drop(state);
        shared.changed.notify_all();
        if is_new {
            shared.tell_of_change();
        }
    }
}

impl Shared {
    /// The index that should be used now, opened and looked through where it is not yet.
    pub(super) fn open(&self) -> Result<Arc<OpenIndex>, StoreError> {
        if let Some(opened) = self.current()? {
            return Ok(opened);
        }
        let opened = Arc::new(self.place.open()?);
        if opened.is_on_disk() {
            opened.verify()?;
        }
        self.set(opened.clone(), None);
        Ok(opened)
    }

    fn tell_of_change(&self) {
        if let Some(listener) = self.listener.get() {
            listener();
        }
    }

    /// Whether somebody waits for a look, or for the end.
    pub(super) fn is_wanted(&self) -> bool {
        let state = self.lock();
        state.ended || state.asked > state.answered
    }

    /// Whether somebody waits for documentation.
    pub(super) fn wants_docs(&self) -> bool {
        let state = self.lock();
        state.asked_docs > state.answered_docs
    }

    /// What the keeper answers with what it looks at.
    fn answering(&self) -> u64 {
        self.lock().looking
    }

    /// The watcher, as long as it misses nothing.
    pub(super) fn watcher(&self) -> Option<&Watcher> {
        self.watcher
            .get()?
            .as_ref()
            .filter(|_| !self.watches_exhausted.load(Ordering::Relaxed))
    }

    /// Watches have run out: from now on every search looks for itself.
    pub(super) fn stop_watching(&self) {
        self.watches_exhausted.store(true, Ordering::Relaxed);
    }
}
