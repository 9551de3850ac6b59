//! The directory of an index: files that are written once, without fsync, and read without a memory map.
//!
//! fsync keeps an index whole when the power fails. Ours is derived and is verified when it is opened, so it
//! does without: a change is visible in a tenth of the time, and a lost one costs a rebuild, not a wrong
//! answer. For a process that is killed it makes no difference.
//!
//! A file that another program truncates under a memory map kills the process (SIGBUS), and one that it
//! overwrites changes answers without notice. So files are opened and read here: see [`IndexFile`].
//!
//! Invariant: bytes that tantivy gets are those that were written. Everything else is an error, which the
//! store reports as damage.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, TerminatingWrite, WatchCallback, WatchHandle,
    WritePtr,
};
use xxhash_rust::xxh3::xxh3_64;

use super::index_file::IndexFile;
use crate::files::replace;

/// Files of one index. Clones share the open files.
#[derive(Clone, Debug)]
pub(super) struct IndexFolder {
    path: PathBuf,
    /// tantivy opens all segments again after each commit. An open file is not read and verified again.
    opened: Arc<Mutex<HashMap<PathBuf, Weak<IndexFile>>>>,
}

impl IndexFolder {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            opened: Arc::default(),
        }
    }

    fn open_file(&self, path: &Path) -> io::Result<Arc<IndexFile>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = opened.get(path).and_then(Weak::upgrade) {
            return Ok(file);
        }
        let file = Arc::new(IndexFile::open(&self.path.join(path))?);
        // Segments are merged and deleted. Their entries would add up.
        opened.retain(|_, file| file.strong_count() > 0);
        opened.insert(path.to_owned(), Arc::downgrade(&file));
        Ok(file)
    }
}

/// A file that is written once and not synced; the operating system writes it to disk.
struct UnsyncedFile(File);

impl Write for UnsyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for UnsyncedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}

impl Directory for IndexFolder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.open_file(path) {
            Ok(file) => Ok(file),
            // tantivy takes a missing file of positions for one of an old format, and goes on.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(damage_error("is missing", path)),
            Err(error) => Err(OpenReadError::wrap_io_error(error, path.to_owned())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        fs::remove_file(self.path.join(path)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_owned()),
            _ => DeleteError::IoError {
                io_error: Arc::new(error),
                filepath: path.to_owned(),
            },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        let exists = self.path.join(path).try_exists();
        exists.map_err(|error| OpenReadError::wrap_io_error(error, path.to_owned()))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.path.join(path))
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
                _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
            })?;
        Ok(BufWriter::new(Box::new(UnsyncedFile(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        #[expect(clippy::disallowed_methods, reason = "a file of the cache, not of a project")]
        let content = fs::read(self.path.join(path)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_owned()),
            _ => OpenReadError::wrap_io_error(error, path.to_owned()),
        })?;
        check_sum(content).ok_or_else(|| damage_error("is not as it was written", path))
    }

    fn atomic_write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        replace(&self.path.join(path), &add_sum(content))
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// A lock of the operating system, which ends with the process. tantivy's default is a file that a killed
    /// process leaves behind.
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.path.join(&lock.filepath))
            .map_err(LockError::wrap_io_error)?;
        if lock.is_blocking {
            file.lock().map_err(LockError::wrap_io_error)?;
        } else {
            file.try_lock().map_err(|error| match error {
                TryLockError::WouldBlock => LockError::LockBusy,
                TryLockError::Error(error) => LockError::wrap_io_error(error),
            })?;
        }
        Ok(DirectoryLock::from(Box::new(file)))
    }

    /// Nobody is called: readers are reloaded by hand.
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// An error without a code of the operating system, which the store takes for damage.
fn damage_error(what: &str, path: &Path) -> OpenReadError {
    let error = io::Error::new(io::ErrorKind::InvalidData, format!("{} {what}", path.display()));
    OpenReadError::wrap_io_error(error, path.to_owned())
}

/// Bytes of the line after the content of a file that is replaced as a whole: a line break and the hash.
const SUM_BYTES: usize = 17;

/// Appends the content's hash. tantivy has checksums in the files of segments, but none in the lists of them.
fn add_sum(content: &[u8]) -> Vec<u8> {
    let mut summed = content.to_owned();
    summed.extend_from_slice(format!("\n{:016x}", xxh3_64(content)).as_bytes());
    summed
}

/// The content without its hash. `None` if it is not as it was written.
fn check_sum(mut summed: Vec<u8>) -> Option<Vec<u8>> {
    let length = summed.len().checked_sub(SUM_BYTES)?;
    let content = &summed[..length];
    if add_sum(content) != summed {
        return None;
    }
    summed.truncate(length);
    Some(summed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_segments_is_read_as_it_was_written_or_not_at_all() {
        for content in ["", "{}", "{\n  \"segments\": []\n}\n"] {
            let summed = add_sum(content.as_bytes());
            assert_eq!(check_sum(summed.clone()).as_deref(), Some(content.as_bytes()));
            for at in 0..summed.len() {
                let mut flipped = summed.clone();
                flipped[at] ^= 4;
                assert_eq!(check_sum(flipped), None, "byte {at} of {content:?}");
                assert_eq!(
                    check_sum(summed[..at].to_vec()),
                    None,
                    "{at} bytes of {content:?}"
                );
            }
        }
    }

    #[test]
    fn a_lock_is_busy_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock {
            filepath: ".lock".into(),
            is_blocking: false,
        };
        let (first, second) = (IndexFolder::new(folder.path()), IndexFolder::new(folder.path()));
        let held = first.acquire_lock(&lock).unwrap();
        assert!(matches!(second.acquire_lock(&lock), Err(LockError::LockBusy)));
        drop(held);
        // A process that another test is starting holds a copy of the file until it executes its program.
        while second.acquire_lock(&lock).is_err() {
            std::thread::yield_now();
        }
    }
}
