//! Deadlines: the timeout and the cancellation of a call.
//!
//! Nothing is interrupted from outside.
//!
//! Invariant: loops that can be long call [`Deadline::check`], so that a call ends soon after its timeout or
//! its cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::{Clock, Stopwatch};

/// A deadline. Clones share the cancellation.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    /// The time since the start of the call, and its timeout.
    limit: Option<(Stopwatch, Duration)>,
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
        Self::by(Clock::System, time)
    }

    /// A deadline by a clock that may be fixed. Then only a timeout of zero is ever reached.
    pub fn by(clock: Clock, time: Duration) -> Self {
        Self {
            limit: Some((clock.stopwatch(), time)),
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
        } else if self.limit.is_some_and(|(passed, time)| passed.elapsed() >= time) {
            Err(Expired::TimedOut)
        } else {
            Ok(())
        }
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
}
