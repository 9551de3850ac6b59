//! What the file system says about a file, by which it is told from what it was before.
//!
//! Invariant: no write leaves a stamp as it was, but for one within the same tick of the file system's clock, and some through
//! a memory map.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// A file as it is now. It can be stored and compared after the system was started anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    /// When its content was last changed, and when anything about it was, which a program cannot set back; in nanoseconds.
    pub(crate) modified: i64,
    pub(crate) changed: i64,
    pub(crate) inode: u64,
}

/// The same of a file that may be any on the machine, for as long as the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    stamp: Stamp,
    #[cfg(unix)]
    device: u64,
}

impl Stamp {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().map_or(0, nanoseconds);
        Self {
            size: metadata.len(),
            modified,
            changed: modified,
            inode: 0,
        }
    }

    /// Of the file at a path of docent's own, or of the user's; nothing where there is none.
    pub(crate) fn at(file: &Path) -> Option<Self> {
        fs::metadata(file).ok().map(|metadata| Self::of(&metadata))
    }

    /// True when a change after `now` will show. Two changes within a tick of the file system's clock look like one: whole
    /// seconds come from file systems that know no better.
    fn is_older_than(&self, now: SystemTime) -> bool {
        const TICK: i64 = 20_000_000;
        let tick = if self.changed % 1_000_000_000 == 0 {
            100 * TICK
        } else {
            TICK
        };
        self.changed > 0 && self.changed.saturating_add(tick) < nanoseconds(now)
    }

    /// The stamp to keep of a file that was read at `now`. One that may be changed again without showing it is kept as a stamp
    /// that no file has.
    pub(crate) fn settled(self, now: SystemTime) -> Self {
        if self.is_older_than(now) {
            self
        } else {
            Self { changed: 0, ..self }
        }
    }

    /// True for a stamp that was kept like that.
    pub(crate) fn is_unsettled(self) -> bool {
        self.changed == 0
    }
}

impl FileVersion {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            stamp: Stamp::of(metadata),
            #[cfg(unix)]
            device: std::os::unix::fs::MetadataExt::dev(metadata),
        }
    }

    /// True when a change after `now` will show.
    pub(crate) fn is_older_than(&self, now: SystemTime) -> bool {
        self.stamp.is_older_than(now)
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_nanos()).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_changed_just_now_is_kept_as_one_that_no_file_is_like() {
        let settles = |changed: u64, later: u64| {
            let stamp = Stamp {
                changed: i64::try_from(changed).unwrap(),
                ..Stamp::default()
            };
            let now = SystemTime::UNIX_EPOCH + Duration::from_nanos(changed + later);
            !stamp.settled(now).is_unsettled()
        };
        let millisecond = 1_000_000;
        assert!(!settles(1_500 * millisecond, 0));
        assert!(!settles(1_500 * millisecond, 20 * millisecond));
        assert!(settles(1_500 * millisecond, 21 * millisecond));
        // A file system that keeps whole seconds.
        assert!(!settles(5_000 * millisecond, 1_999 * millisecond));
        assert!(settles(5_000 * millisecond, 2_001 * millisecond));
    }
}
