//! Requests of one connection that are read and not answered yet.
//!
//! Over stdio nothing but the server bounds how much a client may send before it reads an answer. Requests
//! beyond a number are held back, and once much is held back, nothing more is read: then the pipe fills up
//! and the client waits. Reading goes on for a while behind a full number of requests, because a
//! cancellation or the user's answer to a question may be what ends one of them.
//!
//! Requests that are answered when the client stops listening are counted apart, so that they do not take the
//! places of others.
//!
//! Invariant: the memory for requests does not depend on how many a client sends.

use std::collections::{HashMap, HashSet, VecDeque};

use rmcp::model::RequestId;

use super::connection_life::MAX_LISTENING;
use crate::tools::queue::MAX_WAITING_CALLS;

/// Requests that are worked on at once. As many calls may wait, so that none of them is refused.
const MAX_UNANSWERED: usize = MAX_WAITING_CALLS;

/// Bytes of the requests that are worked on at once; a larger one is worked on alone.
const MAX_UNANSWERED_BYTES: usize = 8 << 20;

/// Bytes that are held back before the connection is not read any further.
const MAX_HELD_BYTES: usize = 1 << 20;

pub(crate) struct Backlog<M> {
    /// The size of each request that is worked on.
    unanswered: HashMap<RequestId, usize>,
    /// Requests that last as long as the client listens.
    listening: HashSet<RequestId>,
    /// Later requests, with their sizes.
    held: VecDeque<(RequestId, usize, M)>,
    held_bytes: usize,
}

impl<M> Default for Backlog<M> {
    fn default() -> Self {
        Self {
            unanswered: HashMap::new(),
            listening: HashSet::new(),
            held: VecDeque::new(),
            held_bytes: 0,
        }
    }
}

impl<M> Backlog<M> {
    pub(crate) fn add(&mut self, id: RequestId, bytes: usize, message: M) {
        self.held_bytes += bytes;
        self.held.push_back((id, bytes, message));
    }

    /// Counts a request that listens. Returns false if too many do: then it waits like any other.
    pub(crate) fn start_listening(&mut self, id: &RequestId) -> bool {
        self.listening.len() < MAX_LISTENING && self.listening.insert(id.clone())
    }

    /// Takes the next request to work on.
    pub(crate) fn start_next(&mut self) -> Option<M> {
        let (id, bytes, _) = self.held.front()?;
        // A second request with an id that is worked on waits for the answer to the first. Otherwise the two
        // would count as one.
        if self.unanswered.contains_key(id) {
            return None;
        }
        let busy_bytes: usize = self.unanswered.values().sum();
        let has_room = self.unanswered.len() < MAX_UNANSWERED && busy_bytes + bytes <= MAX_UNANSWERED_BYTES;
        if !has_room && !self.unanswered.is_empty() {
            return None;
        }
        let (id, bytes, message) = self.held.pop_front()?;
        self.held_bytes -= bytes;
        self.unanswered.insert(id, bytes);
        Some(message)
    }

    /// Whether nothing is held back.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether so much is held back that nothing more may be read.
    pub(crate) fn is_full(&self) -> bool {
        self.held_bytes >= MAX_HELD_BYTES
    }

    pub(crate) fn answered(&mut self, id: &RequestId) {
        self.unanswered.remove(id);
        self.listening.remove(id);
    }

    /// Forgets a request that the client has cancelled, which gets no answer. Returns false if it was held
    /// back, so that nobody else has heard of it.
    pub(crate) fn cancel(&mut self, id: &RequestId) -> bool {
        self.listening.remove(id);
        if self.unanswered.remove(id).is_some() {
            return true;
        }
        let Some(at) = self.held.iter().position(|(held, ..)| held == id) else {
            return true;
        };
        if let Some((_, bytes, _)) = self.held.remove(at) {
            self.held_bytes -= bytes;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    fn start_all(backlog: &mut Backlog<i64>) -> Vec<i64> {
        std::iter::from_fn(|| backlog.start_next()).collect()
    }

    #[test]
    fn requests_start_in_their_order_as_others_are_answered() {
        let mut backlog = Backlog::default();
        let count = i64::try_from(MAX_UNANSWERED).unwrap();
        for number in 0..count + 2 {
            backlog.add(id(number), 100, number);
        }
        assert_eq!(start_all(&mut backlog), (0..count).collect::<Vec<_>>());
        backlog.answered(&id(7));
        assert_eq!(start_all(&mut backlog), [count]);
        assert!(backlog.cancel(&id(8)), "it runs, so others must hear of it");
        assert_eq!(start_all(&mut backlog), [count + 1]);
    }

    #[test]
    fn a_cancelled_request_that_is_held_back_never_starts() {
        let mut backlog = Backlog::default();
        for number in 0..2 {
            backlog.add(id(number), MAX_UNANSWERED_BYTES, number);
        }
        assert_eq!(start_all(&mut backlog), [0]);
        assert!(!backlog.is_empty() && backlog.is_full());
        assert!(!backlog.cancel(&id(1)));
        assert!(backlog.is_empty() && !backlog.is_full());
        backlog.answered(&id(0));
        assert!(start_all(&mut backlog).is_empty());
    }

    #[test]
    fn a_second_request_with_the_same_id_waits_for_the_answer_to_the_first() {
        let mut backlog = Backlog::default();
        for message in [10, 11] {
            backlog.add(id(1), 100, message);
        }
        assert_eq!(start_all(&mut backlog), [10]);
        assert!(backlog.cancel(&id(1)), "the first one runs");
        assert_eq!(start_all(&mut backlog), [11]);
    }

    #[test]
    fn listening_requests_beyond_a_number_wait_like_others() {
        let mut backlog = Backlog::<i64>::default();
        let listening = |backlog: &mut Backlog<i64>| {
            (0..1_000)
                .filter(|number| backlog.start_listening(&id(*number)))
                .count()
        };
        assert_eq!(listening(&mut backlog), MAX_LISTENING);
        backlog.answered(&id(0));
        backlog.cancel(&id(1));
        assert_eq!(listening(&mut backlog), 2);
    }

    #[test]
    fn a_request_larger_than_all_the_room_runs_alone() {
        let mut backlog = Backlog::default();
        backlog.add(id(0), 10, 0);
        backlog.add(id(1), MAX_UNANSWERED_BYTES + 1, 1);
        backlog.add(id(2), 10, 2);
        for number in 0..3 {
            assert_eq!(start_all(&mut backlog), [number]);
            backlog.answered(&id(number));
        }
        assert_eq!(backlog.held_bytes, 0);
    }
}
