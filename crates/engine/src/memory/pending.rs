//! Pending entries: the queue of entries that the user has to approve, one file each.
//!
//! Asking the user is done in the app.
//!
//! Invariant: the file name is a hash of the entry, so the same entry is pending once, and a lock makes sure
//! that an approved entry is appended once.

use std::fs::{self, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use docent_core::memory::{EntryError, MemoryEntry, MemoryFile};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Appended, Author, Memory, MemoryError};
use crate::clock::rfc3339;
use crate::deadline::Deadline;
use crate::files::{make_private, replace};

/// An entry that waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    #[serde(skip)]
    pub id: String,
    pub file: MemoryFile,
    pub entry: String,
    #[serde(flatten)]
    pub author: Author,
    /// Time at which it was queued.
    pub date: String,
}

/// Why an entry cannot be queued, approved or rejected.
#[derive(Debug, thiserror::Error)]
pub enum PendingError {
    #[error("there is no place to keep it: neither XDG_STATE_HOME nor HOME is set")]
    NoStateFolder,
    #[error("{0} entries wait already; approve or reject some first")]
    TooMany(usize),
    #[error("no entry {0} waits for approval")]
    Unknown(String),
    #[error("another process is deciding; try again in a moment")]
    Busy,
    #[error("the entry is no longer what may be written: {0}")]
    MemoryEntry(#[from] EntryError),
    #[error("{0}")]
    Memory(#[from] MemoryError),
    #[error("it cannot be kept: {0}")]
    Io(#[from] io::Error),
}

/// More entries than anybody would review.
const MAX_PENDING: usize = 1_000;

impl Memory {
    /// Queues an entry for approval, and returns its id.
    pub fn queue(&self, entry: &MemoryEntry, author: &Author) -> Result<String, PendingError> {
        let folder = self.pending_folder()?;
        make_private(folder)?;
        let mut id = pending_id(entry, SHORT_ID_DIGITS);
        if self
            .read_pending(&id)
            .is_ok_and(|other| other.entry != entry.text())
        {
            id = pending_id(entry, usize::MAX);
        }
        let file = folder.join(file_name(&id));
        if !file.exists() {
            let count = self.pending()?.len();
            if count >= MAX_PENDING {
                return Err(PendingError::TooMany(count));
            }
            let pending = Pending {
                id: id.clone(),
                file: entry.file,
                entry: entry.text().to_owned(),
                author: author.clone(),
                date: rfc3339(self.clock.now()),
            };
            let text = serde_json::to_string(&pending).expect("plain data");
            replace(&file, text.as_bytes())?;
        }
        Ok(id)
    }

    /// All pending entries, the oldest first.
    pub fn pending(&self) -> Result<Vec<Pending>, PendingError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a folder of the user's state, not of a project"
        )]
        let entries = match fs::read_dir(self.pending_folder()?) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut pending: Vec<Pending> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter_map(|name| self.read_pending(name.strip_suffix(PENDING_SUFFIX)?).ok())
            .collect();
        pending.sort_by(|a, b| a.date.cmp(&b.date).then_with(|| a.id.cmp(&b.id)));
        Ok(pending)
    }

    /// Appends a pending entry in its author's name.
    pub fn approve(&self, id: &str) -> Result<(Pending, Appended), PendingError> {
        let _lock = self.lock()?;
        let pending = self.read_pending(id)?;
        let entry = MemoryEntry::new(pending.file, &pending.entry)?;
        let (file, taken) = (
            self.pending_folder()?.join(file_name(id)),
            self.pending_folder()?.join(format!("{id}{TAKEN_SUFFIX}")),
        );
        // If this process is killed now, the next one finds the taken file and checks whether the entry was
        // written.
        fs::rename(&file, &taken)?;
        let appended = self.append(&entry, &pending.author, &Deadline::default());
        let appended = appended.inspect_err(|_| drop(fs::rename(&taken, &file)))?;
        fs::remove_file(taken)?;
        Ok((pending, appended))
    }

    /// Removes an entry from the queue, if it is there, because it was decided in another way.
    pub fn settle(&self, entry: &MemoryEntry) {
        for digits in [SHORT_ID_DIGITS, usize::MAX] {
            let id = pending_id(entry, digits);
            if self.read_pending(&id).is_ok_and(|one| one.entry == entry.text()) {
                let _ = self.reject(&id);
            }
        }
    }

    /// Deletes a pending entry.
    pub fn reject(&self, id: &str) -> Result<Pending, PendingError> {
        let _lock = self.lock()?;
        let pending = self.read_pending(id)?;
        fs::remove_file(self.pending_folder()?.join(file_name(id)))?;
        Ok(pending)
    }

    fn pending_folder(&self) -> Result<&Path, PendingError> {
        self.pending_folder.as_deref().ok_or(PendingError::NoStateFolder)
    }

    /// Takes the lock of the one process that decides, so that an entry that is approved twice is written
    /// once.
    fn lock(&self) -> Result<fs::File, PendingError> {
        let folder = self.pending_folder()?;
        make_private(folder)?;
        let lock = fs::File::create(folder.join("lock"))?;
        let until = Instant::now() + LOCK_TIMEOUT;
        while let Err(error) = lock.try_lock() {
            match error {
                TryLockError::Error(error) => return Err(error.into()),
                TryLockError::WouldBlock if Instant::now() > until => return Err(PendingError::Busy),
                TryLockError::WouldBlock => thread::park_timeout(LOCK_POLL_INTERVAL),
            }
        }
        self.finish_taken(folder)?;
        Ok(lock)
    }

    /// Finishes what a killed process had begun: the entry was written, or is pending again.
    fn finish_taken(&self, folder: &Path) -> io::Result<()> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a folder of the user's state, not of a project"
        )]
        let names = fs::read_dir(folder)?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        for name in names {
            let Some(id) = name.strip_suffix(TAKEN_SUFFIX) else {
                continue;
            };
            let (taken, file) = (folder.join(&name), folder.join(file_name(id)));
            fs::rename(&taken, &file)?;
            if let Ok(pending) = self.read_pending(id)
                && self
                    .read(pending.file)
                    .is_ok_and(|text| text.contains(&format!("{}\n", pending.entry)))
            {
                fs::remove_file(file)?;
            }
        }
        Ok(())
    }

    fn read_pending(&self, id: &str) -> Result<Pending, PendingError> {
        let unknown = || PendingError::Unknown(id.to_owned());
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a file of the user's state, not of a project"
        )]
        let text = fs::read_to_string(self.pending_folder()?.join(file_name(id))).map_err(|_| unknown())?;
        let pending: Pending = serde_json::from_str(&text).map_err(|_| unknown())?;
        Ok(Pending {
            id: id.to_owned(),
            ..pending
        })
    }
}

const PENDING_SUFFIX: &str = ".json";

fn file_name(id: &str) -> String {
    format!("{id}{PENDING_SUFFIX}")
}

/// Suffix of the file while its entry is being written.
const TAKEN_SUFFIX: &str = ".taken";

/// Digits of an id, which people have to type. If two entries share them, the second one gets all digits.
const SHORT_ID_DIGITS: usize = 10;

/// How long a process waits for the lock, and how often it tries.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The id of a pending entry: the first digits of its hash.
fn pending_id(entry: &MemoryEntry, digits: usize) -> String {
    let whole = format!("{}\n{}", entry.file.name(), entry.text());
    let mut id = format!("{:016x}", xxh3_64(whole.as_bytes()));
    id.truncate(digits);
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::files::Root;
    use docent_core::access::Access;

    #[test]
    fn an_entry_is_pending_once_and_decided_once() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let memory = Memory::new(root, Clock::System, Some(directory.path().join("state/waiting")));
        let author = Author {
            session: "s".into(),
            client: None,
        };
        let entry = |text: &str| MemoryEntry::new(MemoryFile::Decisions, text).unwrap();
        assert_eq!(memory.pending().unwrap(), []);
        let one = memory.queue(&entry(r#"{"a":1}"#), &author).unwrap();
        assert_eq!(memory.queue(&entry(r#"{"a":1}"#), &author).unwrap(), one);
        let two = memory.queue(&entry(r#"{"a":2}"#), &author).unwrap();
        assert_eq!(memory.pending().unwrap().len(), 2);
        assert_eq!(memory.read(MemoryFile::Decisions).unwrap(), "");

        let (approved, appended) = memory.approve(&one).unwrap();
        assert_eq!((approved.author, appended.bytes), (author, 8));
        assert_eq!(memory.reject(&two).unwrap().entry, r#"{"a":2}"#);
        assert_eq!(memory.read(MemoryFile::Decisions).unwrap(), "{\"a\":1}\n");
        for id in [one.as_str(), &two, "", "../lock", "x"] {
            assert!(
                matches!(memory.approve(id), Err(PendingError::Unknown(_))),
                "{id}"
            );
        }
        assert_eq!(memory.pending().unwrap(), []);
    }
}
