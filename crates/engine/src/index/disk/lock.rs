//! The writer's lock: one process at a time changes an index.
//!
//! It is a lock of the operating system on an open file. The system releases it when the process ends, even
//! after a crash, so there is no stale lock to detect.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};

use crate::store::StoreError;

/// Held by the process that writes, and released when it is dropped.
#[derive(Debug)]
pub(in crate::index) struct WriterLock {
    _file: Option<File>,
}

impl WriterLock {
    /// For an index in memory, which no other process can see.
    pub(in crate::index) fn unneeded() -> Self {
        Self { _file: None }
    }

    /// Takes the lock, or fails with [`StoreError::Busy`] while another process holds it.
    pub(super) fn try_take(mut file: File) -> Result<Self, StoreError> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy),
            Err(TryLockError::Error(error)) => return Err(StoreError::Io(error)),
        }
        // The process id is only for people to read; the lock does not depend on it.
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = write!(file, "{}", std::process::id());
        Ok(Self { _file: Some(file) })
    }

    /// The id of the process that holds the lock. `None` if no process does.
    pub(super) fn holder(mut file: File) -> Option<String> {
        if file.try_lock().is_ok() {
            return None;
        }
        let mut process = String::new();
        file.read_to_string(&mut process).ok()?;
        Some(process.trim().to_owned()).filter(|process| !process.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::path::Path;

    use super::*;

    fn open(path: &Path) -> File {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        options.open(path).unwrap()
    }

    #[test]
    fn a_second_writer_is_refused_until_the_first_lets_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writer.lock");
        let first = WriterLock::try_take(open(&path)).unwrap();
        assert!(matches!(WriterLock::try_take(open(&path)), Err(StoreError::Busy)));
        assert_eq!(
            WriterLock::holder(open(&path)),
            Some(std::process::id().to_string())
        );
        drop(first);
        // A process that another test is starting holds a copy of the lock's file until it executes its
        // program.
        while WriterLock::holder(open(&path)).is_some() {
            std::thread::yield_now();
        }
        while matches!(WriterLock::try_take(open(&path)), Err(StoreError::Busy)) {
            std::thread::yield_now();
        }
    }
}
