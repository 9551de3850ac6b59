//! The clock, as a value that tests can fix, so that two runs of one call give the same answer.
//!
//! Timeouts are measured with a [`Stopwatch`] too. Under a fixed clock a wait ends only with its event, so a
//! test on a busy machine sees the same answer as on a quiet one.
//!
//! Invariant: answers that contain a time take it from here.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

/// The source of the time.
#[derive(Clone, Copy, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    /// Every moment is this one, and every duration is zero.
    Fixed(Timestamp),
}

/// A running measurement.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Option<Instant>,
}

impl Clock {
    pub fn now(self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Fixed(time) => time,
        }
    }

    /// A monotonic moment, for rate limits. Under a fixed clock it is always the same.
    pub fn instant(self) -> Instant {
        static FIXED: OnceLock<Instant> = OnceLock::new();
        match self {
            Self::System => Instant::now(),
            Self::Fixed(_) => *FIXED.get_or_init(Instant::now),
        }
    }

    pub fn stopwatch(self) -> Stopwatch {
        Stopwatch {
            started: matches!(self, Self::System).then(Instant::now),
        }
    }
}

impl Stopwatch {
    pub fn elapsed(self) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    pub fn milliseconds(self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// RFC 3339 in UTC, to the second: `2026-01-09T10:30:00Z`.
pub fn rfc3339(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second())
        .expect("seconds of a valid timestamp are valid")
        .to_string()
}

/// A file's modification time in the same form. `None` if the file system has none.
pub fn rfc3339_of(time: Option<SystemTime>) -> Option<String> {
    Timestamp::try_from(time?).ok().map(rfc3339)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_to_the_second() {
        let time: Timestamp = "2026-01-09T12:30:00.987+02:00".parse().unwrap();
        assert_eq!(rfc3339(time), "2026-01-09T10:30:00Z");
        assert_eq!(
            rfc3339_of(Some(SystemTime::UNIX_EPOCH)).as_deref(),
            Some("1970-01-01T00:00:00Z")
        );
    }

    #[test]
    fn a_fixed_clock_stands_still() {
        let clock = Clock::Fixed(Timestamp::UNIX_EPOCH);
        assert_eq!(clock.now(), clock.now());
        assert_eq!(clock.instant(), clock.instant());
        assert_eq!(clock.stopwatch().milliseconds(), 0);
    }
}
