//! The queue of calls: which waiting call runs next, and how many run at once.
//!
//! Sessions take turns, so that a session with sixty slow calls delays the call of another by one of them at
//! most. Calls that take whole cores are limited further, so that there is always a thread and some CPU time
//! for the others.
//!
//! Invariant: [`Schedule`] decides without I/O or a clock; [`CallQueue`] only wakes those whose turn it is.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Calls that run at once.
pub(crate) const MAX_CONCURRENT_CALLS: usize = 16;

/// Calls of one session that may wait for their turn. stdio reads no further request before there are more.
pub(crate) const MAX_WAITING_CALLS: usize = 64;

const LIMITS: QueueLimits = QueueLimits {
    running: MAX_CONCURRENT_CALLS,
    running_per_session: 8,
    heavy: 4,
    heavy_per_session: 2,
    waiting_per_session: MAX_WAITING_CALLS,
};

/// How much of the machine a call takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallWeight {
    #[default]
    Light,
    /// It reads the whole project or its history, on all cores or in a process of its own.
    Heavy,
}

/// Too many calls of the session wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// The calls of all sessions.
pub(crate) struct CallQueue(Mutex<QueueState>);

struct QueueState {
    schedule: Schedule,
    wakers: HashMap<Ticket, oneshot::Sender<()>>,
}

/// A call's place: in the queue, then among the running calls. Free again when it is dropped.
pub(crate) struct CallSlot {
    queue: Arc<CallQueue>,
    ticket: Ticket,
}

impl CallQueue {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(QueueState {
            schedule: Schedule::new(LIMITS),
            wakers: HashMap::new(),
        })))
    }

    /// Waits until the call may run. A future that is dropped leaves the queue.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        session: &str,
        weight: CallWeight,
    ) -> Result<CallSlot, QueueFull> {
        let (waker, turn) = oneshot::channel();
        let ticket = {
            let mut state = self.state();
            let ticket = state.schedule.enqueue(session, weight)?;
            state.wakers.insert(ticket, waker);
            state.start_calls();
            ticket
        };
        let slot = CallSlot {
            queue: self.clone(),
            ticket,
        };
        // The waker is dropped only with the slot, which is still here.
        let _ = turn.await;
        Ok(slot)
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    fn start_calls(&mut self) {
        while let Some(ticket) = self.schedule.start_next() {
            if let Some(waker) = self.wakers.remove(&ticket) {
                let _ = waker.send(());
            }
        }
    }
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.wakers.remove(&self.ticket);
        state.schedule.leave(self.ticket);
        state.start_calls();
    }
}

#[derive(Clone, Copy, Debug)]
struct QueueLimits {
    running: usize,
    running_per_session: usize,
    heavy: usize,
    heavy_per_session: usize,
    waiting_per_session: usize,
}

type Ticket = u64;

/// Which calls wait and run.
struct Schedule {
    limits: QueueLimits,
    next_ticket: Ticket,
    running: BTreeMap<Ticket, (Arc<str>, CallWeight)>,
    sessions: HashMap<Arc<str>, SessionCalls>,
    /// Sessions with waiting calls. The first has its turn.
    turns: VecDeque<Arc<str>>,
}

#[derive(Default)]
struct SessionCalls {
    running: usize,
    running_heavy: usize,
    waiting: VecDeque<(Ticket, CallWeight)>,
}

impl Schedule {
    fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            next_ticket: 0,
            running: BTreeMap::new(),
            sessions: HashMap::new(),
            turns: VecDeque::new(),
        }
    }

    fn enqueue(&mut self, session: &str, weight: CallWeight) -> Result<Ticket, QueueFull> {
        let known = self
            .sessions
            .get_key_value(session)
            .map(|(session, _)| session.clone());
        let session = known.unwrap_or_else(|| session.into());
        let calls = self.sessions.entry(session.clone()).or_default();
        if calls.waiting.len() >= self.limits.waiting_per_session {
            return Err(QueueFull);
        }
        if calls.waiting.is_empty() {
            self.turns.push_back(session);
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        calls.waiting.push_back((ticket, weight));
        Ok(ticket)
    }

    /// Moves the next call from the queue to the running ones. `None` if none may start now.
    fn start_next(&mut self) -> Option<Ticket> {
        let limits = self.limits;
        if self.running.len() >= limits.running {
            return None;
        }
        let is_heavy_full = self
            .running
            .values()
            .filter(|(_, weight)| *weight == CallWeight::Heavy)
            .count()
            >= limits.heavy;
        let (turn, at) = self.turns.iter().enumerate().find_map(|(turn, session)| {
            let calls = self.sessions.get(session)?;
            if calls.running >= limits.running_per_session {
                return None;
            }
            let is_heavy_full = is_heavy_full || calls.running_heavy >= limits.heavy_per_session;
            // Light calls may overtake heavy ones of their session.
            let at = calls
                .waiting
                .iter()
                .position(|(_, weight)| *weight == CallWeight::Light || !is_heavy_full)?;
            Some((turn, at))
        })?;
        let session = self.turns.remove(turn)?;
        let calls = self.sessions.get_mut(&session)?;
        let (ticket, weight) = calls.waiting.remove(at)?;
        calls.running += 1;
        calls.running_heavy += usize::from(weight == CallWeight::Heavy);
        if !calls.waiting.is_empty() {
            self.turns.push_back(session.clone());
        }
        self.running.insert(ticket, (session, weight));
        Some(ticket)
    }

    /// Removes a call, whether it waits or runs.
    fn leave(&mut self, ticket: Ticket) {
        let session = if let Some((session, weight)) = self.running.remove(&ticket) {
            if let Some(calls) = self.sessions.get_mut(&session) {
                calls.running -= 1;
                calls.running_heavy -= usize::from(weight == CallWeight::Heavy);
            }
            session
        } else {
            let waits = |calls: &SessionCalls| calls.waiting.iter().any(|(other, _)| *other == ticket);
            let found = self.sessions.iter_mut().find(|(_, calls)| waits(calls));
            let Some((session, calls)) = found else { return };
            calls.waiting.retain(|(other, _)| *other != ticket);
            let session = session.clone();
            if calls.waiting.is_empty() {
                self.turns.retain(|other| *other != session);
            }
            session
        };
        // Otherwise every session that ever called would stay in the table.
        if self
            .sessions
            .get(&session)
            .is_some_and(|calls| calls.running == 0 && calls.waiting.is_empty())
        {
            self.sessions.remove(&session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CallWeight::{Heavy, Light};

    const SMALL: QueueLimits = QueueLimits {
        running: 4,
        running_per_session: 3,
        heavy: 2,
        heavy_per_session: 1,
        waiting_per_session: 5,
    };

    fn enqueue(schedule: &mut Schedule, session: &str, weights: &[CallWeight]) -> Vec<Ticket> {
        weights
            .iter()
            .map(|weight| schedule.enqueue(session, *weight).unwrap())
            .collect()
    }

    fn start_all(schedule: &mut Schedule) -> Vec<Ticket> {
        std::iter::from_fn(|| schedule.start_next()).collect()
    }

    #[test]
    fn sessions_take_turns() {
        let mut schedule = Schedule::new(QueueLimits { running: 6, ..SMALL });
        let a = enqueue(&mut schedule, "a", &[Light; 4]);
        let b = enqueue(&mut schedule, "b", &[Light; 2]);
        let c = enqueue(&mut schedule, "c", &[Light; 1]);
        assert_eq!(start_all(&mut schedule), [a[0], b[0], c[0], a[1], b[1], a[2]]);
        schedule.leave(b[0]);
        assert!(start_all(&mut schedule).is_empty(), "a has its share");
        schedule.leave(a[0]);
        assert_eq!(start_all(&mut schedule), [a[3]]);
    }

    #[test]
    fn one_session_cannot_take_every_place() {
        let mut schedule = Schedule::new(SMALL);
        let a = enqueue(&mut schedule, "a", &[Light; 5]);
        assert_eq!(start_all(&mut schedule), a[..3]);
        let b = enqueue(&mut schedule, "b", &[Light]);
        assert_eq!(start_all(&mut schedule), b, "at once, although a came first");
    }

    #[test]
    fn heavy_calls_leave_places_for_light_ones() {
        let mut schedule = Schedule::new(SMALL);
        let a = enqueue(&mut schedule, "a", &[Heavy, Heavy, Light]);
        assert_eq!(
            start_all(&mut schedule),
            [a[0], a[2]],
            "light calls overtake heavy ones"
        );
        let b = enqueue(&mut schedule, "b", &[Heavy, Heavy]);
        let c = enqueue(&mut schedule, "c", &[Heavy]);
        assert_eq!(start_all(&mut schedule), [b[0]]);
        schedule.leave(a[0]);
        assert_eq!(start_all(&mut schedule), [a[1]], "a waits for longer than c");
        schedule.leave(b[0]);
        assert_eq!(start_all(&mut schedule), [c[0]], "b had its turn, c had none");
        schedule.leave(c[0]);
        assert_eq!(start_all(&mut schedule), [b[1]]);
    }

    #[test]
    fn a_long_queue_is_refused_and_others_are_not() {
        let mut schedule = Schedule::new(SMALL);
        let a = enqueue(&mut schedule, "a", &[Heavy; 5]);
        assert_eq!(schedule.enqueue("a", Light), Err(QueueFull));
        assert!(schedule.enqueue("b", Light).is_ok());
        start_all(&mut schedule);
        assert!(schedule.enqueue("a", Light).is_ok(), "one of them runs now");
        schedule.leave(a[4]);
        assert!(schedule.enqueue("a", Light).is_ok(), "one has left the queue");
    }

    #[test]
    fn sessions_without_calls_are_forgotten() {
        let mut schedule = Schedule::new(SMALL);
        let a = enqueue(&mut schedule, "a", &[Heavy, Heavy]);
        let b = enqueue(&mut schedule, "b", &[Light]);
        start_all(&mut schedule);
        for ticket in [a[1], a[0], b[0], b[0]] {
            schedule.leave(ticket);
        }
        assert!(schedule.sessions.is_empty() && schedule.turns.is_empty() && schedule.running.is_empty());
    }

    #[test]
    fn a_dropped_call_leaves_the_queue_and_the_next_one_runs() {
        let queue = CallQueue::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let running = [
                queue.enter("a", Heavy).await.unwrap(),
                queue.enter("a", Heavy).await.unwrap(),
            ];
            let mut dropped = Box::pin(queue.enter("a", Heavy));
            let mut next = Box::pin(queue.enter("a", Heavy));
            for waiting in [&mut dropped, &mut next] {
                let is_pending = std::future::poll_fn(|context| {
                    std::task::Poll::Ready(waiting.as_mut().poll(context).is_pending())
                });
                assert!(is_pending.await);
            }
            drop(dropped);
            let [first, second] = running;
            drop(first);
            let next = next.await.unwrap();
            drop((second, next));
        });
        assert!(queue.state().schedule.sessions.is_empty());
        assert!(queue.state().wakers.is_empty());
    }
}
