//! Whether changes are heard from the operating system: the watcher, once it runs and as long as it misses
//! nothing.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::watcher::Watcher;

/// The watcher of a project. It starts late and may give up; then every search scans for itself.
#[derive(Default)]
pub(in crate::index) struct ActiveWatcher {
    watcher: OnceLock<Option<Watcher>>,
    /// A directory cannot be watched, so changes in it would be missed.
    has_given_up: AtomicBool,
}

impl ActiveWatcher {
    /// The watcher. `None` before it has started, and after it has given up.
    pub(in crate::index) fn active(&self) -> Option<&Watcher> {
        let watcher = self.watcher.get()?.as_ref();
        watcher.filter(|_| !self.has_given_up.load(Ordering::Relaxed))
    }

    /// Uses a watcher from now on; `None` if it could not be started.
    pub(in crate::index) fn set(&self, watcher: Option<Watcher>) {
        let _ = self.watcher.set(watcher);
    }

    /// Gives up watching.
    pub(in crate::index) fn give_up(&self) {
        self.has_given_up.store(true, Ordering::Relaxed);
    }
}
