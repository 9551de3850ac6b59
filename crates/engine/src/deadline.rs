//! How long a call may go on. Loops that can be long ask [`Deadline::check`] as they go, so that a call ends
//! soon after its time is up or its caller has lost interest.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Shared between a call and whoever may end it early.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    at: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

/// Why a call has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Expired {
    #[error("the time for this call is up")]
    TimedOut,
    #[error("the caller cancelled")]
    Cancelled,
}

impl Deadline {
    pub fn after(time: Duration) -> Self {
        Self {
            at: Instant::now().checked_add(time),
            cancelled: Arc::default(),
        }
    }

    /// Ends the call at its next check.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub fn check(&self) -> Result<(), Expired> {
        if self.cancelled.load(Ordering::Relaxed) {
            Err(Expired::Cancelled)
        } else if self.at.is_some_and(|at| Instant::now() >= at) {
            Err(Expired::TimedOut)
        } else {
            Ok(())
        }
    }

    /// Reads from `inner` until time is up, so that even one huge file cannot outlast the call.
    pub fn reader<R: Read>(&self, inner: R) -> impl Read {
        DeadlineReader {
            inner,
            deadline: self.clone(),
        }
    }
}

struct DeadlineReader<R> {
    inner: R,
    deadline: Deadline,
}

impl<R: Read> Read for DeadlineReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.deadline
            .check()
            .map_err(|expired| io::Error::new(io::ErrorKind::TimedOut, expired))?;
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_ends_when_its_time_is_up_or_it_is_cancelled() {
        assert_eq!(Deadline::default().check(), Ok(()));
        assert_eq!(Deadline::after(Duration::ZERO).check(), Err(Expired::TimedOut));
        let deadline = Deadline::after(Duration::from_hours(1));
        deadline.clone().cancel();
        assert_eq!(deadline.check(), Err(Expired::Cancelled));
    }

    #[test]
    fn reading_stops_with_the_call() {
        let deadline = Deadline::default();
        let mut reader = deadline.reader(io::repeat(b'x'));
        let mut buffer = [0; 8];
        assert_eq!(reader.read(&mut buffer).unwrap(), 8);
        deadline.cancel();
        assert!(reader.read(&mut buffer).is_err());
    }
}
