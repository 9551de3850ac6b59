//! The index worker: one thread per process that scans, plans and writes until the index matches the disk.
//!
//! The decisions are in `plan.rs`; here they are carried out, in this order: scan, plan, write pages, write
//! code, answer the searches that wait, write commits.

mod adopt;
mod commits;
mod indexed;
mod project_state;
mod recovery;
mod vectors;
mod write;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(super) use adopt::{find_wrong_entries, keep_what_is_here};
use commits::CommitSync;
pub(super) use project_state::ProjectState;
use recovery::{Fallback, Recovery};
pub(super) use vectors::{VectorFiller, fill_in_background};
use write::FileWriter;

use super::disk::WriterLock;
use super::options::Corpus;
use super::plan::{ErrorResponse, SyncOutcome, respond_to};
use super::scan::Watcher;
use super::shared::Shared;
use super::state::{SyncRequest, WorkerStatus};
use crate::files::MOVED_PROJECT;
use crate::store::StoreError;

/// Debounce: file changes are indexed after this much silence, or at once when a search is waiting.
const DEBOUNCE: Duration = Duration::from_millis(400);

/// Delay before the first background scan, so that it does not compete with the first request for CPU.
const IDLE_START_DELAY: Duration = Duration::from_millis(200);

/// Runs until the index is dropped.
pub(super) fn run(shared: &Arc<Shared>) {
    let _guard = WorkerExitGuard(shared);
    let mut worker = Worker::new(shared);
    worker.state.restore(shared);
    while let Some(request) = worker.wait_for_work() {
        worker.sync(&request);
    }
}

/// Marks the worker as stopped when its thread ends, panics included, so that the next search starts a new
/// one.
struct WorkerExitGuard<'a>(&'a Shared);

impl Drop for WorkerExitGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.worker = WorkerStatus::Absent;
        state.answer_all();
    }
}

struct Worker<'a> {
    shared: &'a Arc<Shared>,
    state: ProjectState,
    commits: CommitSync,
    recovery: Recovery,
    /// When to sync without being asked.
    next_sync: Option<Instant>,
    /// When to start the watcher.
    watch_start: Option<Instant>,
    is_watch_started: bool,
    /// The count of index changes that was announced last.
    announced_changes: u64,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Arc<Shared>) -> Self {
        Self {
            shared,
            state: ProjectState::default(),
            commits: CommitSync::default(),
            recovery: Recovery::default(),
            next_sync: Some(Instant::now() + IDLE_START_DELAY),
            watch_start: None,
            is_watch_started: false,
            announced_changes: 0,
        }
    }

    /// Waits for a request, a change of files or the next try. `None` when the index is dropped.
    fn wait_for_work(&mut self) -> Option<SyncRequest> {
        const MAX_IDLE: Duration = Duration::from_mins(10);
        let shared = self.shared;
        let mut state = shared.lock();
        loop {
            if state.is_ending {
                return None;
            }
            let last_change = shared.watch.active().and_then(Watcher::last_change);
            let debounced = last_change.map(|last| last + DEBOUNCE);
            let due = [self.next_sync, debounced].into_iter().flatten().min();
            // Start the watcher even under a steady stream of searches: they profit from it most.
            if self
                .watch_start
                .take_if(|start| *start <= Instant::now())
                .is_some()
            {
                self.is_watch_started = self.start_watch();
            }
            if !state.is_all_answered() || due.is_some_and(|due| due <= Instant::now()) {
                return Some(state.begin_sync());
            }
            let wake_at = due.into_iter().chain(self.watch_start).min();
            let wait = wake_at.map_or(MAX_IDLE, |at| at.saturating_duration_since(Instant::now()));
            state = shared.wait(state, wait);
        }
    }

    /// Brings the index up to date once: first the files, then the commits.
    fn sync(&mut self, request: &SyncRequest) {
        let shared = self.shared;
        let outcome = self.sync_files(request);
        self.state.answer_docs(shared, request.ticket);
        let freshness = self.state.freshness(Corpus::Code);
        shared.update(|state| {
            state.worker = match outcome {
                SyncOutcome::CannotWrite => WorkerStatus::CannotWrite,
                _ => WorkerStatus::Idle,
            };
            state.is_covered = self.state.scan.is_covered;
            state.unwatched = self.state.scan.unwatched.clone();
            state.set_freshness(Corpus::Code, freshness);
            state.answer(Corpus::Code, request.ticket);
        });
        if outcome == SyncOutcome::Done {
            self.state.save_scan(shared);
        }
        let outcome = self.sync_commits(outcome, request.ticket);
        self.announce_changes();
        self.schedule(outcome);
    }

    fn sync_files(&mut self, request: &SyncRequest) -> SyncOutcome {
        let shared = self.shared;
        if !shared.root.is_still_there() {
            // Files are opened through a handle of the directory. Another directory at its path is another
            // project.
            self.state.problems.write_obstacle = Some(MOVED_PROJECT.to_owned());
            // Pending changes would wake the worker again at once.
            shared.watch.active().map(Watcher::take);
            return SyncOutcome::CannotWrite;
        }
        self.scan();
        self.recovery.return_to_disk(shared, &mut self.state);
        match self.try_sync_files(request.rebuild, request.damage.as_deref()) {
            Ok(outcome) => {
                self.recovery.on_success();
                outcome
            }
            Err(error) => self.on_error(error, request.damage.is_some()),
        }
    }

    fn scan(&mut self) {
        let shared = self.shared;
        let unwatched = shared.unwatched();
        self.state
            .scan
            .refresh(&shared.root, &shared.watch, unwatched, &shared.options.pages);
    }

    fn try_sync_files(&mut self, rebuild: bool, damage: Option<&str>) -> Result<SyncOutcome, StoreError> {
        let shared = self.shared;
        if !rebuild {
            adopt::adopt_sibling(shared, &self.state);
        }
        // Another process may hold the lock for longer than we wait. The next sync tries again.
        if rebuild {
            Recovery::rebuild(shared, &mut self.state).inspect_err(|_| shared.lock().rebuild = true)?;
        }
        if let Some(what) = damage {
            Recovery::verify(shared, &mut self.state, what).inspect_err(|error| {
                if matches!(error, StoreError::Busy) {
                    shared.lock().damage = Some(what.to_owned());
                }
            })?;
        }
        let opened = shared.open()?;
        self.state.indexed.load(&opened)?;
        let plan = self.state.plan();
        if plan.docs.is_empty() {
            self.complete_docs();
        }
        if plan.is_empty() {
            self.state.indexed.set_complete(Corpus::Code);
            self.state.clear_obstacle(opened.is_on_disk());
            return Ok(SyncOutcome::Done);
        }

        let lock = if opened.is_on_disk() {
            shared.cache_dir.try_lock()?
        } else {
            WriterLock::unneeded()
        };
        // Another process may have written before we got the lock.
        let opened = shared.current()?.unwrap_or(opened);
        self.state.indexed.load(&opened)?;
        if self.state.plan().removes_files() {
            self.scan();
        }
        opened.remove_leftovers(&lock);
        let plan = self.state.plan();
        shared.progress.start(plan.docs.len(), plan.code.len());
        let writer = FileWriter {
            shared,
            opened: &opened,
        };
        writer.write_docs(&mut self.state)?;
        if shared.lock().is_ending {
            return Ok(SyncOutcome::Done);
        }
        self.complete_docs();
        let has_scanned_again = self.write_code(&writer)?;
        self.state.clear_obstacle(opened.is_on_disk());
        // A file that could not be read is tried again when its stamp changes.
        self.state.indexed.set_complete(Corpus::Code);
        Ok(if has_scanned_again {
            SyncOutcome::MoreToDo
        } else {
            SyncOutcome::Done
        })
    }

    /// Writes code. A search for documentation interrupts it for another scan of the pages, because a build
    /// takes long and pages are quickly done. True if that happened: then code may have changed as well.
    fn write_code(&mut self, writer: &FileWriter<'_>) -> Result<bool, StoreError> {
        let shared = self.shared;
        let mut has_scanned_again = false;
        let mut serve_docs = |state: &mut ProjectState| {
            let ticket = shared.lock().docs_requested();
            has_scanned_again = true;
            state.scan.refresh(
                &shared.root,
                &shared.watch,
                shared.unwatched(),
                &shared.options.pages,
            );
            shared.progress.expect_more(state.plan().docs.len());
            writer.write_docs(state)?;
            state.answer_docs(shared, ticket);
            Ok(())
        };
        writer.write_code(&mut self.state, &mut serve_docs)?;
        Ok(has_scanned_again)
    }

    fn complete_docs(&mut self) {
        self.state.indexed.set_complete(Corpus::Docs);
        let ticket = self.shared.lock().in_progress();
        self.state.answer_docs(self.shared, ticket);
    }

    fn on_error(&mut self, error: StoreError, was_damaged: bool) -> SyncOutcome {
        match respond_to(error, was_damaged) {
            ErrorResponse::WaitForLock => SyncOutcome::LockedByOther,
            ErrorResponse::Verify(what) => {
                self.shared.lock().damage = Some(what);
                SyncOutcome::MoreToDo
            }
            ErrorResponse::GiveUp(what) => {
                self.state.problems.write_obstacle = Some(format!("The index cannot be used ({what})"));
                SyncOutcome::CannotWrite
            }
            ErrorResponse::Recover(error) => self.on_io_error(&error),
        }
    }

    fn on_io_error(&mut self, error: &std::io::Error) -> SyncOutcome {
        match self.recovery.fall_back(self.shared, &mut self.state, error) {
            Ok(Fallback::NewGeneration) => SyncOutcome::MoreToDo,
            Ok(Fallback::Memory) => self
                .try_sync_files(false, None)
                .unwrap_or(SyncOutcome::CannotWrite),
            Err(_) => SyncOutcome::CannotWrite,
        }
    }

    /// Goes on with commits after the files are done, until a search interrupts.
    fn sync_commits(&mut self, files: SyncOutcome, ticket: u64) -> SyncOutcome {
        let shared = self.shared;
        let mut outcome = files;
        let mut is_done = files == SyncOutcome::CannotWrite;
        if files == SyncOutcome::Done {
            (outcome, is_done) = match self.commits.advance(shared, &mut self.state) {
                Ok(true) => {
                    self.state.indexed.set_complete(Corpus::History);
                    (SyncOutcome::Done, true)
                }
                Ok(false) => (SyncOutcome::MoreToDo, false),
                Err(StoreError::Busy) => (SyncOutcome::LockedByOther, false),
                Err(StoreError::Damaged(what)) => {
                    shared.lock().damage = Some(what);
                    (SyncOutcome::MoreToDo, false)
                }
                Err(error) => {
                    self.commits.on_write_error(&mut self.state, &error);
                    (SyncOutcome::Done, true)
                }
            };
        }
        let freshness = self.state.freshness(Corpus::History);
        shared.update(|state| {
            state.set_freshness(Corpus::History, freshness);
            if is_done {
                state.answer(Corpus::History, ticket);
            }
        });
        outcome
    }

    /// Tells listeners and the vector filler that the index has changed.
    fn announce_changes(&mut self) {
        let changes = self.state.indexed.changes();
        if changes != self.announced_changes {
            self.announced_changes = changes;
            self.shared.update(|state| state.index_changes = changes);
            self.shared.notify_listener();
        }
    }

    fn schedule(&mut self, outcome: SyncOutcome) {
        let retry = outcome.retry_delay().map(|delay| Instant::now() + delay);
        if outcome != SyncOutcome::Done {
            self.next_sync = retry;
            return;
        }
        self.next_sync = self.commits.retry;
        // The answers of this sync have reported them.
        self.state.problems.passing.clear();
        if self.shared.options.watch && !self.is_watch_started && self.watch_start.is_none() {
            self.watch_start = Some(Instant::now() + IDLE_START_DELAY);
        }
    }

    /// Starts the watcher on a thread of its own, because thousands of directories take a while. True if that
    /// was begun, or never can be.
    fn start_watch(&mut self) -> bool {
        let can_write = self.state.problems.write_obstacle.is_none();
        let Some(folder) = self.shared.cache_dir.project.clone().filter(|_| can_write) else {
            return false;
        };
        let directories = self.state.scan.hand_to_watcher();
        let root = self.shared.root.path().to_owned();
        // Weak: a watcher must not keep a dropped index alive.
        let shared = Arc::downgrade(self.shared);
        let start = move || {
            let on_change = {
                let shared = shared.clone();
                Box::new(move || {
                    if let Some(shared) = shared.upgrade() {
                        shared.wake();
                    }
                })
            };
            let watcher = Watcher::start(&root, &directories, &folder, on_change);
            if let Some(shared) = shared.upgrade() {
                // If it cannot be started, every search scans for itself.
                shared.watch.set(watcher.ok());
                shared.update(|state| state.request(Corpus::Code));
            }
        };
        thread::Builder::new().name("watch".into()).spawn(start).is_ok()
    }
}
