//! Open connections: how many there may be, and which one is closed for a new one.
//!
//! A connection that has not sent a whole request costs its sender nothing. If such connections could hold
//! every place, one client could lock out all others, who may share its address: on loopback all do.
//!
//! Invariant: no connection waits to be accepted. One that finds every place taken replaces another that is
//! not being answered, or is closed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::sync::CancellationToken;

/// Connections open at once.
const MAX_CONNECTIONS: usize = 1_000;

/// The open connections of a server.
#[derive(Clone)]
pub(super) struct Connections(Arc<Mutex<ConnectionTable>>);

/// One open connection. Its place is free again when it is dropped.
pub(super) struct Connection {
    connections: Connections,
    number: u64,
    /// Cancelled when the connection has to close for another one.
    pub(super) closed: CancellationToken,
}

impl Connections {
    pub(super) fn new(max_per_address: usize) -> Self {
        Self(Arc::new(Mutex::new(ConnectionTable {
            open: BTreeMap::new(),
            next_number: 0,
            changes: 0,
            max: MAX_CONNECTIONS,
            max_per_address: max_per_address.clamp(1, MAX_CONNECTIONS),
        })))
    }

    /// Takes a place for a new connection. `None` if every place is taken by one that is being answered.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Connection> {
        let closed = CancellationToken::new();
        let number = self.table().admit(address, closed.clone())?;
        Some(Connection {
            connections: self.clone(),
            number,
            closed,
        })
    }

    /// Closes a connection that is not being answered, because no file descriptors are left.
    pub(super) fn close_one(&self) {
        self.table().evict(|_| true);
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// True after the head of the first request.
    pub(super) fn has_sent_head(&self) -> bool {
        self.connections.table().phase(self.number) != Some(Phase::SendsHead)
    }

    pub(super) fn set_phase(&self, phase: Phase) {
        self.connections.table().set_phase(self.number, phase);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.table().open.remove(&self.number);
    }
}

/// What a connection does now. The first that applies is closed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It has not sent the head of its first request.
    SendsHead,
    /// It sends the body of a request.
    SendsBody,
    /// Its last request is answered; the next may be on its way.
    Idle,
    /// It listens to notifications, and a client that is cut off listens again.
    Listens,
    /// It waits for an answer. It is never closed for another one.
    AwaitsAnswer,
}

/// Which connections are open, and which is to be closed. Without I/O, for tests.
struct ConnectionTable {
    open: BTreeMap<u64, OpenConnection>,
    next_number: u64,
    /// Counts changes of phases. The clock is too coarse for an order.
    changes: u64,
    max: usize,
    max_per_address: usize,
}

struct OpenConnection {
    address: IpAddr,
    phase: Phase,
    phase_since: u64,
    closed: CancellationToken,
}

impl ConnectionTable {
    fn admit(&mut self, address: IpAddr, closed: CancellationToken) -> Option<u64> {
        let of_address = self.open.values().filter(|open| open.address == address).count();
        if of_address >= self.max_per_address && !self.evict(|open| open.address == address) {
            return None;
        }
        if self.open.len() >= self.max && !self.evict(|_| true) {
            return None;
        }
        let number = self.next_number;
        self.next_number += 1;
        self.changes += 1;
        let connection = OpenConnection {
            address,
            phase: Phase::SendsHead,
            phase_since: self.changes,
            closed,
        };
        self.open.insert(number, connection);
        Some(number)
    }

    /// Closes the connection that is in the earliest phase, for the longest. Returns false if all of them are
    /// being answered.
    fn evict(&mut self, is_eligible: impl Fn(&OpenConnection) -> bool) -> bool {
        let evicted = self
            .open
            .iter()
            .filter(|(_, open)| open.phase != Phase::AwaitsAnswer && is_eligible(open))
            .min_by_key(|(_, open)| (open.phase, open.phase_since))
            .map(|(number, _)| *number);
        let connection = evicted.and_then(|number| self.open.remove(&number));
        if let Some(connection) = &connection {
            connection.closed.cancel();
        }
        connection.is_some()
    }

    fn phase(&self, number: u64) -> Option<Phase> {
        self.open.get(&number).map(|open| open.phase)
    }

    fn set_phase(&mut self, number: u64, phase: Phase) {
        self.changes += 1;
        if let Some(open) = self.open.get_mut(&number) {
            open.phase = phase;
            open.phase_since = self.changes;
        }
    }
}

/// A response body that holds `guard` until it is written or the client has hung up.
pub(super) struct GuardedBody<G> {
    body: Body,
    _guard: G,
}

impl<G: Send + Unpin + 'static> GuardedBody<G> {
    pub(super) fn wrap(body: Body, guard: G) -> Body {
        Body::new(Self { body, _guard: guard })
    }
}

impl<G: Unpin> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Marks a connection as idle when its answer is written.
pub(super) struct AnswerGuard(pub(super) Arc<Connection>);

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        self.0.set_phase(Phase::Idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(max: usize, max_per_address: usize) -> ConnectionTable {
        ConnectionTable {
            open: BTreeMap::new(),
            next_number: 0,
            changes: 0,
            max,
            max_per_address,
        }
    }

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn admit(table: &mut ConnectionTable, last: u8) -> Option<u64> {
        table.admit(address(last), CancellationToken::new())
    }

    fn open(table: &ConnectionTable) -> Vec<u64> {
        table.open.keys().copied().collect()
    }

    #[test]
    fn the_oldest_unfinished_request_gives_way() {
        let mut table = table(10, 3);
        for _ in 0..3 {
            admit(&mut table, 1);
        }
        table.set_phase(0, Phase::AwaitsAnswer);
        assert_eq!(admit(&mut table, 1), Some(3));
        assert_eq!(open(&table), [0, 2, 3]);
        assert_eq!(
            admit(&mut table, 2),
            Some(4),
            "other addresses have places of their own"
        );
        assert_eq!(open(&table), [0, 2, 3, 4]);
    }

    #[test]
    fn idle_connections_give_way_before_listening_ones() {
        let mut table = table(10, 3);
        for _ in 0..3 {
            admit(&mut table, 1);
        }
        table.set_phase(0, Phase::Listens);
        table.set_phase(1, Phase::Idle);
        table.set_phase(2, Phase::Idle);
        for (number, left) in [(3, [0, 2, 3]), (4, [0, 2, 4]), (5, [0, 2, 5])] {
            assert_eq!(admit(&mut table, 1), Some(number));
            assert_eq!(open(&table), left);
        }
        table.set_phase(5, Phase::AwaitsAnswer);
        admit(&mut table, 1);
        assert_eq!(open(&table), [0, 5, 6]);
        table.set_phase(6, Phase::AwaitsAnswer);
        admit(&mut table, 1);
        assert_eq!(open(&table), [5, 6, 7]);
    }

    #[test]
    fn an_answer_is_never_cut_off() {
        let mut table = table(3, 2);
        for last in [1, 1, 2] {
            let number = admit(&mut table, last).unwrap();
            table.set_phase(number, Phase::AwaitsAnswer);
        }
        assert_eq!(admit(&mut table, 1), None);
        assert_eq!(admit(&mut table, 3), None);
        table.set_phase(1, Phase::Idle);
        assert_eq!(admit(&mut table, 3), Some(3));
        assert_eq!(open(&table), [0, 2, 3]);
    }

    #[test]
    fn the_closed_connection_hears_of_it_and_frees_its_place_once() {
        let connections = Connections::new(1);
        let first = connections.admit(address(1)).unwrap();
        let second = connections.admit(address(1)).unwrap();
        assert!(first.closed.is_cancelled());
        assert!(!second.closed.is_cancelled());
        drop(first);
        assert_eq!(open(&connections.table()), [1]);
        assert!(!second.has_sent_head());
        second.set_phase(Phase::AwaitsAnswer);
        assert!(second.has_sent_head());
        drop(second);
        assert!(open(&connections.table()).is_empty());
    }
}
