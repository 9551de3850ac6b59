//! File stamps: size, times and inode, by which a changed file is noticed without reading it.
//!
//! Hashes of contents are not here: the index computes them for files whose stamp differs.
//!
//! Invariant: every write changes the stamp, except a second one within the same tick of the file system's
//! clock, and some writes through a memory map.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// The state of a file. It can be stored and compared after a reboot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    /// `mtime` and `ctime` in nanoseconds. A program can set the first one back, but not the second.
    pub(crate) modified: i64,
    pub(crate) changed: i64,
    pub(crate) inode: u64,
}

/// A [`Stamp`] with the device, which tells any two files on the machine apart while the process runs.
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

    /// The stamp of a file of docent's own or of the user's. `None` if there is no file.
    pub(crate) fn at(file: &Path) -> Option<Self> {
        fs::metadata(file).ok().map(|metadata| Self::of(&metadata))
    }

    /// True if a change after `now` gives another stamp. Two changes within a tick of the file system's clock
    /// give the same one. A time in whole seconds is taken for a file system that stores no fractions.
    fn is_older_than(&self, now: SystemTime) -> bool {
        const TICK_NANOSECONDS: i64 = 20_000_000;
        let tick = if self.changed % 1_000_000_000 == 0 {
            100 * TICK_NANOSECONDS
        } else {
            TICK_NANOSECONDS
        };
        self.changed > 0 && self.changed.saturating_add(tick) < nanoseconds(now)
    }

    /// The stamp to store for a file that was read at `now`. If the file may change again within the same
    /// tick, this is a stamp that no file has, so that it is read again.
    pub(crate) fn settled(self, now: SystemTime) -> Self {
        if self.is_older_than(now) {
            self
        } else {
            Self { changed: 0, ..self }
        }
    }

    /// True for a stamp that no file has.
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

    /// True if a change after `now` gives another version.
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
    fn a_file_changed_just_now_gets_a_stamp_that_no_file_has() {
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
        // A file system that stores whole seconds.
        assert!(!settles(5_000 * millisecond, 1_999 * millisecond));
        assert!(settles(5_000 * millisecond, 2_001 * millisecond));
    }
}
