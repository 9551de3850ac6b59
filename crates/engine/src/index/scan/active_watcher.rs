//! Whether changes are heard from the operating system: the watcher, once it runs and as long as it misses
//! nothing.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::watcher::Watcher;

/// The watcher of a project. It starts late and may give up; then every search scans for itself.
#[derive(Default)]
pub(in crate::index) struct ActiveWatcher {
    watcher: OnceLock<Option<Watcher>>,
    /// No more directories can be watched, so changes in new ones would be missed.
    is_exhausted: AtomicBool,
}

impl ActiveWatcher {
    /// The watcher. `None` before it has started, and after it has given up.
    pub(in crate::index) fn active(&self) -> Option<&Watcher> {
        let watcher = self.watcher.get()?.as_ref();
        watcher.filter(|_| !self.is_exhausted.load(Ordering::Relaxed))
    }

    /// Uses a watcher from now on; `None` if it could not be started.
    pub(in crate::index) fn set(&self, watcher: Option<Watcher>) {
        let _ = self.watcher.set(watcher);
    }

    /// Gives up watching.
    pub(in crate::index) fn give_up(&self) {
        self.is_exhausted.store(true, Ordering::Relaxed);
    }
}
