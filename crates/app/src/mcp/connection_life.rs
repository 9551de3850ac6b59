//! The life of one client's connection: tasks that end with it, and how many requests listen to it.
//!
//! Invariant: nothing that is started for a connection outlives it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio_util::sync::CancellationToken;

/// The life of a client's connection, which ends when rmcp drops the last view of it.
pub(super) struct ConnectionLife {
    /// The client has said that it is initialized. It may say so any number of times.
    is_initialized: AtomicBool,
    ended: CancellationToken,
    /// Requests that listen to notifications.
    listening: AtomicUsize,
}

/// Requests of one connection that may listen at once. None of them has to be answered soon, so their number
/// has a limit of its own.
pub(super) const MAX_LISTENING: usize = 16;

impl ConnectionLife {
    pub(super) fn begin() -> Arc<Self> {
        Arc::new(Self {
            is_initialized: AtomicBool::new(false),
            ended: CancellationToken::new(),
            listening: AtomicUsize::new(0),
        })
    }

    /// Notes that the client is initialized. Returns false if it has said so before.
    pub(super) fn initialize(&self) -> bool {
        !self.is_initialized.swap(true, Ordering::Relaxed)
    }

    /// Cancelled when the connection ends.
    pub(super) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// Counts a request that listens, until the guard is dropped. `None` if there are too many.
    pub(super) fn begin_listening(self: &Arc<Self>) -> Option<ListeningGuard> {
        let guard = ListeningGuard(self.clone());
        (self.listening.fetch_add(1, Ordering::Relaxed) < MAX_LISTENING).then_some(guard)
    }
}

/// One request that listens.
pub(super) struct ListeningGuard(Arc<ConnectionLife>);

impl Drop for ListeningGuard {
    fn drop(&mut self) {
        self.0.listening.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for ConnectionLife {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_initialized_once() {
        let life = ConnectionLife::begin();
        assert!(life.initialize());
        assert!(!life.initialize());
    }

    #[test]
    fn requests_that_listen_are_limited_and_leave_room_when_they_end() {
        let life = ConnectionLife::begin();
        let mut listening: Vec<_> = (0..MAX_LISTENING)
            .map(|_| life.begin_listening().unwrap())
            .collect();
        assert!(life.begin_listening().is_none());
        listening.pop();
        assert!(life.begin_listening().is_some());
    }

    #[test]
    fn the_end_is_heard() {
        let life = ConnectionLife::begin();
        let ended = life.ended();
        assert!(!ended.is_cancelled());
        drop(life);
        assert!(ended.is_cancelled());
    }
}
