//! A session: one client's connection, the module it works in, the lines it was sent, and how often it has
//! called each tool.
//!
//! `engine::sessions` has the log of past sessions; this is the part that lives as long as the connection.
//!
//! Invariant: a rate limit holds in any minute, counted back from now, so that a burst at the turn of a
//! minute is refused.

mod shown;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use docent_core::text::redact::redact;
use docent_engine::memory::Author;
use docent_engine::sessions::{SessionRecord, SessionUse, Sessions};
use jiff::Timestamp;

use crate::markdown::shorten;
pub(crate) use shown::ShownParts;

/// The time in which calls are counted.
const RATE_WINDOW: Duration = Duration::from_mins(1);

/// One client's connection, or one run of the command line.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    started: Timestamp,
    /// The log of all sessions of the project.
    log: Arc<Sessions>,
    /// The name that the client gave in its handshake.
    client: OnceLock<String>,
    /// The module of the last file or search.
    module: Mutex<Option<String>>,
    /// The calls of each tool in the last minute.
    recent_calls: Mutex<HashMap<&'static str, VecDeque<Instant>>>,
    /// The lines it was sent. `None` if several clients may share the session, who do not see the answers to
    /// each other.
    shown: Option<ShownParts>,
}

impl Session {
    pub(crate) fn new(log: Arc<Sessions>) -> Self {
        Self::with_shown(log, Some(ShownParts::default()))
    }

    /// A session of callers that cannot be told apart.
    pub(crate) fn shared(log: Arc<Sessions>) -> Self {
        Self::with_shown(log, None)
    }

    fn with_shown(log: Arc<Sessions>, shown: Option<ShownParts>) -> Self {
        Self {
            id: uuid::Uuid::new_v4().to_string(),
            started: log.now(),
            log,
            client: OnceLock::new(),
            module: Mutex::default(),
            recent_calls: Mutex::default(),
            shown,
        }
    }

    /// The lines of files that the client was sent lately.
    pub(crate) fn shown(&self) -> Option<&ShownParts> {
        self.shown.as_ref()
    }

    /// Sets the client's name, if it is not set yet.
    pub(crate) fn set_client(&self, client: &str) {
        self.client.get_or_init(|| shorten(client));
    }

    /// The session as the author of a memory entry.
    pub(crate) fn author(&self) -> Author {
        Author {
            session: self.id.clone(),
            client: self.client.get().cloned(),
        }
    }

    /// Records a use of a tool, file, search or project in the log.
    pub(crate) fn record_use(&self, how: SessionUse, name: &str) {
        let client = self.client.get().map(String::as_str);
        self.log
            .record_use(&self.id, client, self.started, how, &shorten(&redact(name)));
    }

    /// Records the end of the session.
    pub(crate) fn end(&self) {
        self.log.record_end(&self.id);
    }

    /// The session as the log would have it before its first use.
    pub(crate) fn to_past(&self) -> SessionRecord {
        SessionRecord {
            id: self.id.clone(),
            client: self.client.get().cloned(),
            started: self.started,
            last: self.started,
            ..SessionRecord::default()
        }
    }

    /// Sets the module that the session works in. A caller may choose it, so it is cut before it is kept.
    pub(crate) fn set_module(&self, module: &str) {
        *self.module.lock().unwrap_or_else(PoisonError::into_inner) = Some(shorten(module));
    }

    /// The module the session works in.
    pub(crate) fn module(&self) -> Option<String> {
        self.module.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a call at `now`, or returns the seconds until the next one is allowed. A limit of 0 allows any
    /// number.
    pub(crate) fn admit(&self, tool: &'static str, per_minute: u32, now: Instant) -> Result<(), u64> {
        if per_minute == 0 {
            return Ok(());
        }
        let mut recent = self.recent_calls.lock().expect("nothing panics while it counts");
        let calls = recent.entry(tool).or_default();
        while calls
            .front()
            .is_some_and(|&call| now.duration_since(call) >= RATE_WINDOW)
        {
            calls.pop_front();
        }
        match calls.front() {
            Some(&oldest) if calls.len() >= per_minute as usize => {
                let wait = RATE_WINDOW.saturating_sub(now.duration_since(oldest));
                Err(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
            }
            _ => {
                calls.push_back(now);
                Ok(())
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_engine::clock::Clock;

    fn session() -> Session {
        Session::new(Arc::new(Sessions::new(None, Clock::System)))
    }

    #[test]
    fn the_minute_slides() {
        let session = session();
        let start = Instant::now();
        let admit = |after: u64| session.admit("grep", 2, start + Duration::from_secs(after));

        assert_eq!(admit(0), Ok(()));
        assert_eq!(admit(30), Ok(()));
        assert_eq!(admit(31), Err(29));
        assert_eq!(admit(59), Err(1));
        assert_eq!(admit(60), Ok(()));
        assert_eq!(admit(61), Err(29));
        assert_eq!(admit(90), Ok(()));
    }

    #[test]
    fn strings_of_the_caller_are_cut_before_they_are_kept() {
        let session = session();
        let long = "x".repeat(1_000_000);
        session.set_client(&long);
        session.set_module(&long);
        assert!(session.admit("grep", 1, Instant::now()).is_ok());
        let kept = format!("{session:?}");
        assert!(kept.len() < 3_000, "{kept}");
        assert_eq!(session.module().unwrap().chars().count(), 301);
    }

    #[test]
    fn tools_and_sessions_are_counted_apart() {
        let (one, two) = (session(), session());
        let now = Instant::now();
        assert_eq!(one.admit("grep", 1, now), Ok(()));
        assert_eq!(one.admit("hello", 1, now), Ok(()));
        assert_eq!(two.admit("grep", 1, now), Ok(()));
        assert_eq!(one.admit("grep", 1, now), Err(60));
        assert_eq!(one.admit("free", 0, now), Ok(()));
    }
}
