//! The file system watcher, by the operating system's events.
//!
//! On Linux there is one watch per directory, and only directories that are indexed are watched, so that
//! ignored ones (`target`, `node_modules`) cause no events. macOS and Windows watch a whole tree at once;
//! events of directories that are not indexed are dropped. There, events come late or out of order: they
//! start an update in the background, and prove nothing, so that a search looks at all files. Events of
//! reading are dropped. If events were lost, or watches ran out, the files are scanned instead.
//!
//! Invariant: when [`Watcher::fence`] returns true, every change made before the call is among the pending
//! changes. The fence creates a file in a watched directory of the cache and waits for its event; events
//! arrive in order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use docent_core::path::RepoPath;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::files::make_private;

/// How the operating system watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchMode {
    /// A watch for each directory; events keep their order.
    PerDirectory,
    /// One watch of the whole tree; events may come out of order.
    WholeTree,
}

impl WatchMode {
    const HERE: Self = if cfg!(target_os = "linux") {
        Self::PerDirectory
    } else {
        Self::WholeTree
    };
}

/// Watches a project's directories.
pub(in crate::index) struct Watcher {
    mode: WatchMode,
    notifier: Mutex<RecommendedWatcher>,
    events: Arc<EventQueue>,
    fence_directory: PathBuf,
    fence_count: AtomicU64,
}

/// Changes that were heard of and not yet scanned.
#[derive(Clone, Debug, Default)]
pub(in crate::index) struct PendingChanges {
    pub(in crate::index) paths: BTreeSet<PathBuf>,
    /// Too many paths have changed to list them, or an event was lost: everything must be scanned.
    pub(in crate::index) everything: bool,
    /// When the last event came.
    pub(in crate::index) last: Option<Instant>,
}

impl PendingChanges {
    /// With more paths than this, a full scan is cheaper.
    const MAX_PENDING_PATHS: usize = 4_000;

    pub(in crate::index) fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.everything
    }
}

/// Called after a change in the project.
pub(in crate::index) type OnChange = Box<dyn Fn() + Send + Sync>;

/// Receives events on the watcher's thread, and hands them to the worker's.
struct EventQueue {
    pending: Mutex<PendingEvents>,
    fence_passed: Condvar,
    fence_directory: PathBuf,
    /// The directories whose events count. `None` if others have no watch.
    indexed_directories: Option<Mutex<BTreeSet<PathBuf>>>,
    on_change: OnChange,
}

#[derive(Default)]
struct PendingEvents {
    changes: PendingChanges,
    /// Fences that a thread waits for, and whether their event has arrived.
    fences: BTreeMap<PathBuf, bool>,
}

impl EventQueue {
    fn lock(&self) -> MutexGuard<'_, PendingEvents> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an event is about an indexed directory, or about a file or directory in one.
    fn is_about_indexed(&self, event: &Event) -> bool {
        let Some(directories) = &self.indexed_directories else {
            return true;
        };
        let directories = directories.lock().unwrap_or_else(PoisonError::into_inner);
        let is_indexed = |path: &Path| directories.contains(path);
        event
            .paths
            .iter()
            .any(|path| is_indexed(path) || path.parent().is_some_and(is_indexed))
    }

    /// Sorts an event: a fence, a change, or nothing of interest.
    fn add(&self, event: notify::Result<Event>) {
        let mut pending = self.lock();
        match event {
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) if !event.need_rescan() && !self.is_about_indexed(&event) => return,
            Ok(event) => {
                let rescan = event.need_rescan();
                pending.changes.everything |= rescan;
                let (fences, paths): (Vec<_>, Vec<_>) = event
                    .paths
                    .into_iter()
                    .partition(|path| path.starts_with(&self.fence_directory));
                if paths.is_empty() && !rescan {
                    for fence in fences {
                        if let Some(passed) = pending.fences.get_mut(&fence) {
                            *passed = true;
                        }
                    }
                    drop(pending);
                    self.fence_passed.notify_all();
                    return;
                }
                pending.changes.paths.extend(paths);
                if pending.changes.paths.len() > PendingChanges::MAX_PENDING_PATHS {
                    pending.changes.paths.clear();
                    pending.changes.everything = true;
                }
            }
            Err(_) => pending.changes.everything = true,
        }
        pending.changes.last = Some(Instant::now());
        drop(pending);
        (self.on_change)();
    }
}

/// Why a project cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The user's limit of watches, or of watchers, is reached.
    #[error("{0}")]
    Exhausted(notify::Error),
    #[error("{0}")]
    Hindered(notify::Error),
}

impl From<notify::Error> for WatchError {
    fn from(error: notify::Error) -> Self {
        // EMFILE and ENOSPC.
        const NO_MORE: [i32; 2] = [24, 28];
        let is_exhausted = match &error.kind {
            notify::ErrorKind::MaxFilesWatch => true,
            notify::ErrorKind::Io(error) => error.raw_os_error().is_some_and(|code| NO_MORE.contains(&code)),
            _ => false,
        };
        if is_exhausted {
            Self::Exhausted(error)
        } else {
            Self::Hindered(error)
        }
    }
}

impl Watcher {
    /// Watches only the directory of fences in `folder`, the project's folder in the cache.
    fn new(folder: &Path, mode: WatchMode, on_change: OnChange) -> Result<Self, notify::Error> {
        let fence_directory = folder.join("watch");
        make_private(&fence_directory)?;
        let events = Arc::new(EventQueue {
            pending: Mutex::default(),
            fence_passed: Condvar::new(),
            fence_directory: fence_directory.clone(),
            indexed_directories: (mode == WatchMode::WholeTree).then(Mutex::default),
            on_change,
        });
        let mut notifier = notify::recommended_watcher({
            let events = events.clone();
            move |event| events.add(event)
        })?;
        if mode == WatchMode::PerDirectory {
            notifier.watch(&fence_directory, RecursiveMode::NonRecursive)?;
        }
        Ok(Self {
            mode,
            notifier: Mutex::new(notifier),
            events,
            fence_directory,
            fence_count: AtomicU64::new(0),
        })
    }

    /// Watches the root and the given directories of a project.
    pub(in crate::index) fn start(
        root: &Path,
        directories: &[RepoPath],
        folder: &Path,
        on_change: OnChange,
    ) -> Result<Self, notify::Error> {
        Self::start_in_mode(WatchMode::HERE, root, directories, folder, on_change)
    }

    fn start_in_mode(
        mode: WatchMode,
        root: &Path,
        directories: &[RepoPath],
        folder: &Path,
        on_change: OnChange,
    ) -> Result<Self, notify::Error> {
        let watcher = Self::new(folder, mode, on_change)?;
        if mode == WatchMode::WholeTree {
            let mut notifier = watcher.notifier.lock().unwrap_or_else(PoisonError::into_inner);
            notifier.watch(root, RecursiveMode::Recursive)?;
        }
        watcher.add(root)?;
        for directory in directories {
            watcher.add(&root.join(directory.as_str()))?;
        }
        Ok(watcher)
    }

    /// Watches another directory.
    pub(in crate::index) fn add(&self, directory: &Path) -> Result<(), notify::Error> {
        if let Some(directories) = &self.events.indexed_directories {
            let mut directories = directories.lock().unwrap_or_else(PoisonError::into_inner);
            directories.insert(directory.to_owned());
            return Ok(());
        }
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        match notifier.watch(directory, RecursiveMode::NonRecursive) {
            // It was removed in the meantime; the watch of its parent reports that.
            Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => Ok(()),
            Err(error) if is_gone(&error) => Ok(()),
            // The walk cannot look into it either, so none of its files is indexed. It must not keep the
            // others from being watched.
            Err(error) if is_too_long(&error) => Ok(()),
            outcome => outcome,
        }
    }

    /// Takes the pending changes.
    pub(in crate::index) fn take(&self) -> PendingChanges {
        std::mem::take(&mut self.events.lock().changes)
    }

    /// When the last pending change came. `None` if none is pending.
    pub(in crate::index) fn last_change(&self) -> Option<Instant> {
        let pending = self.events.lock();
        (!pending.changes.is_empty())
            .then_some(pending.changes.last)
            .flatten()
    }

    /// Waits until the events of all changes made so far have arrived. False if that cannot be known.
    pub(in crate::index) fn fence(&self) -> bool {
        const FENCE_TIMEOUT: Duration = Duration::from_millis(150);
        if self.mode == WatchMode::WholeTree {
            return false;
        }
        let number = self.fence_count.fetch_add(1, Ordering::Relaxed);
        let file = self
            .fence_directory
            .join(format!("{}-{number}", std::process::id()));
        self.events.lock().fences.insert(file.clone(), false);
        let written = fs::write(&file, "").is_ok();
        let until = Instant::now() + FENCE_TIMEOUT;
        let mut pending = self.events.lock();
        let passed = loop {
            let left = until.saturating_duration_since(Instant::now());
            if pending.fences.get(&file) == Some(&true) {
                break true;
            }
            if !written || left.is_zero() {
                break false;
            }
            pending = self
                .events
                .fence_passed
                .wait_timeout(pending, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        };
        pending.fences.remove(&file);
        drop(pending);
        let _ = fs::remove_file(&file);
        passed
    }
}

fn is_gone(error: &notify::Error) -> bool {
    matches!(&error.kind, notify::ErrorKind::Io(error)
        if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory))
}

/// Whether the directory's path is longer than the operating system takes.
fn is_too_long(error: &notify::Error) -> bool {
    matches!(&error.kind, notify::ErrorKind::Io(error)
        if error.kind() == std::io::ErrorKind::InvalidFilename)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use tempfile::TempDir;

    use super::*;

    /// A watched project with one directory, and what is called after a change.
    fn watched() -> (TempDir, TempDir, Watcher, Receiver<()>) {
        let (project, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(project.path().join("src")).unwrap();
        let (sender, changes) = channel();
        let on_change = Box::new(move || {
            let _ = sender.send(());
        });
        let directories = [RepoPath::parse("src").unwrap()];
        let watcher = Watcher::start(project.path(), &directories, cache.path(), on_change).unwrap();
        (project, cache, watcher, changes)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_change_made_before_the_fence_is_pending_after_it() {
        let (project, _cache, watcher, changes) = watched();
        for number in 0..20 {
            let file = project.path().join(format!("src/{number}.rs"));
            fs::write(&file, "fn a() {}").unwrap();
            while !watcher.fence() {}
            assert!(watcher.last_change().is_some());
            assert!(watcher.take().paths.contains(&file));
            assert!(watcher.last_change().is_none());
        }
        changes.recv().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn reading_a_file_is_no_change() {
        let (project, _cache, watcher, _changes) = watched();
        let file = project.path().join("src/a.rs");
        fs::write(&file, "fn a() {}").unwrap();
        while !watcher.fence() {}
        watcher.take();
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        fs::read(&file).unwrap();
        while !watcher.fence() {}
        assert!(watcher.take().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn fences_leave_no_files_behind() {
        let (_project, cache, watcher, _changes) = watched();
        for _ in 0..5 {
            watcher.fence();
        }
        #[expect(clippy::disallowed_methods, reason = "a folder of the test")]
        let left = fs::read_dir(cache.path().join("watch")).unwrap().count();
        assert_eq!(left, 0);
        assert!(watcher.take().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_watch_of_the_whole_tree_tells_changes_of_indexed_directories_alone_and_proves_nothing() {
        let (project, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for directory in ["src/deep", "target"] {
            fs::create_dir_all(project.path().join(directory)).unwrap();
        }
        let (sender, changes) = channel();
        let on_change = Box::new(move || {
            let _ = sender.send(());
        });
        let directories = ["src", "src/deep"].map(|path| RepoPath::parse(path).unwrap());
        let mode = WatchMode::WholeTree;
        let watcher =
            Watcher::start_in_mode(mode, project.path(), &directories, cache.path(), on_change).unwrap();
        fs::write(project.path().join("target/ignored.o"), "").unwrap();
        let file = project.path().join("src/deep/a.rs");
        fs::write(&file, "fn a() {}").unwrap();
        // inotify keeps the order, so that the event of `target` has come before.
        while !watcher.events.lock().changes.paths.contains(&file) {
            changes.recv().unwrap();
        }
        assert!(
            watcher
                .take()
                .paths
                .iter()
                .all(|path| path.starts_with(project.path().join("src")))
        );
        assert!(!watcher.fence());

        watcher.add(&project.path().join("target")).unwrap();
        let file = project.path().join("target/indexed-now.rs");
        fs::write(&file, "fn b() {}").unwrap();
        while !watcher.events.lock().changes.paths.contains(&file) {
            changes.recv().unwrap();
        }
    }

    #[test]
    fn too_many_changes_ask_for_a_full_scan() {
        let (_project, _cache, watcher, _changes) = watched();
        let event =
            |number: usize| Ok(Event::new(EventKind::Any).add_path(PathBuf::from(format!("/p/{number}"))));
        for number in 0..PendingChanges::MAX_PENDING_PATHS {
            watcher.events.add(event(number));
        }
        assert!(!watcher.events.lock().changes.everything);
        watcher.events.add(event(usize::MAX));
        let changes = watcher.take();
        assert!(changes.everything && changes.paths.is_empty());
    }

    #[test]
    fn a_lost_event_asks_for_a_full_scan() {
        let (_project, _cache, watcher, _changes) = watched();
        watcher.events.add(Err(notify::Error::generic("queue overflow")));
        assert!(watcher.take().everything);
    }

    #[test]
    fn a_directory_that_was_removed_can_be_added() {
        let (project, _cache, watcher, _changes) = watched();
        watcher.add(&project.path().join("absent")).unwrap();
    }

    #[test]
    fn the_limit_of_watches_is_told_from_other_failures() {
        let exhausted = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        assert!(matches!(WatchError::from(exhausted), WatchError::Exhausted(_)));
        let full = notify::Error::io(std::io::Error::from_raw_os_error(28));
        assert!(matches!(WatchError::from(full), WatchError::Exhausted(_)));
        let other = notify::Error::io(std::io::Error::from_raw_os_error(13));
        assert!(matches!(WatchError::from(other), WatchError::Hindered(_)));
    }
}
