//! What the operating system tells of changes, directory by directory.
//!
//! Only directories that are indexed are watched, so what is ignored makes no noise. Reading raises events too; they are
//! dropped before anything else. Where watches run out, or events were lost, the files are looked at instead; so they are on
//! systems other than Linux, which tell of changes late or out of order.
//!
//! Invariant: after [`Watcher::fence`] has said yes, every change made before it was called is among the changes. It makes a
//! file in a watched directory of the cache, and events come in the order of what caused them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use docent_core::path::RepoPath;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::files::make_private;

/// Watches a project's directories.
pub(super) struct Watcher {
    library: Mutex<RecommendedWatcher>,
    seen: Arc<Seen>,
    fences: PathBuf,
    count: AtomicU64,
}

/// What was seen and not yet taken.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingChanges {
    pub(super) paths: BTreeSet<PathBuf>,
    /// Too much has changed to name it, or something was missed.
    pub(super) everything: bool,
    /// When the last of it came.
    pub(super) last: Option<Instant>,
}

impl PendingChanges {
    /// With more than this, looking at everything is cheaper.
    const MAX_PENDING_PATHS: usize = 4_000;

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.everything
    }
}

/// Called when something has changed in the project.
pub(super) type Alarm = Box<dyn Fn() + Send + Sync>;

struct Seen {
    inside: Mutex<Inside>,
    arrived: Condvar,
    fences: PathBuf,
    alarm: Alarm,
}

#[derive(Default)]
struct Inside {
    changes: PendingChanges,
    /// Those that are waited for, and whether they were heard of.
    fences: BTreeMap<PathBuf, bool>,
}

impl Seen {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, event: notify::Result<Event>) {
        let mut inside = self.lock();
        match event {
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) => {
                let rescan = event.need_rescan();
                inside.changes.everything |= rescan;
                let (fences, paths): (Vec<_>, Vec<_>) = event
                    .paths
                    .into_iter()
                    .partition(|path| path.starts_with(&self.fences));
                if paths.is_empty() && !rescan {
                    for fence in fences {
                        if let Some(heard) = inside.fences.get_mut(&fence) {
                            *heard = true;
                        }
                    }
                    drop(inside);
                    self.arrived.notify_all();
                    return;
                }
                inside.changes.paths.extend(paths);
                if inside.changes.paths.len() > PendingChanges::MAX_PENDING_PATHS {
                    inside.changes.paths.clear();
                    inside.changes.everything = true;
                }
            }
            Err(_) => inside.changes.everything = true,
        }
        inside.changes.last = Some(Instant::now());
        drop(inside);
        (self.alarm)();
    }
}

/// Why a project cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system has no more watches, or watchers, for this user.
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
    /// Watches nothing yet but its own directory in `folder`, which is the project's part of the cache.
    fn new(folder: &Path, alarm: Alarm) -> Result<Self, notify::Error> {
        let fences = folder.join("watch");
        make_private(&fences)?;
        let seen = Arc::new(Seen {
            inside: Mutex::default(),
            arrived: Condvar::new(),
            fences: fences.clone(),
            alarm,
        });
        let mut library = notify::recommended_watcher({
            let seen = seen.clone();
            move |event| seen.add(event)
        })?;
        library.watch(&fences, RecursiveMode::NonRecursive)?;
        Ok(Self {
            library: Mutex::new(library),
            seen,
            fences,
            count: AtomicU64::new(0),
        })
    }

    /// Watches a project, as far as its directories are known.
    pub(super) fn over(
        root: &Path,
        directories: &[RepoPath],
        folder: &Path,
        alarm: Alarm,
    ) -> Result<Self, notify::Error> {
        let watcher = Self::new(folder, alarm)?;
        watcher.add(root)?;
        for directory in directories {
            watcher.add(&root.join(directory.as_str()))?;
        }
        Ok(watcher)
    }

    /// Watches one more directory.
    pub(super) fn add(&self, directory: &Path) -> Result<(), notify::Error> {
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        match library.watch(directory, RecursiveMode::NonRecursive) {
            // It went away meanwhile, which its parent tells of.
            Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => Ok(()),
            Err(error) if is_gone(&error) => Ok(()),
            outcome => outcome,
        }
    }

    /// Takes what has changed.
    pub(super) fn take(&self) -> PendingChanges {
        std::mem::take(&mut self.seen.lock().changes)
    }

    /// When the last change came that was not taken.
    pub(super) fn last_change(&self) -> Option<Instant> {
        let inside = self.seen.lock();
        (!inside.changes.is_empty())
            .then_some(inside.changes.last)
            .flatten()
    }

    /// Waits until everything that has happened so far was told. False where that cannot be known.
    pub(super) fn fence(&self) -> bool {
        const FENCE_TIMEOUT: Duration = Duration::from_millis(150);
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let file = self.fences.join(format!("{}-{number}", std::process::id()));
        self.seen.lock().fences.insert(file.clone(), false);
        let written = fs::write(&file, "").is_ok();
        let until = Instant::now() + FENCE_TIMEOUT;
        let mut inside = self.seen.lock();
        let told = loop {
            let left = until.saturating_duration_since(Instant::now());
            if inside.fences.get(&file) == Some(&true) {
                break true;
            }
            if !written || left.is_zero() {
                break false;
            }
            inside = self
                .seen
                .arrived
                .wait_timeout(inside, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        };
        inside.fences.remove(&file);
        drop(inside);
        let _ = fs::remove_file(&file);
        told
    }
}

fn is_gone(error: &notify::Error) -> bool {
    matches!(&error.kind, notify::ErrorKind::Io(error)
        if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory))
}
