//! The project's memory: appends entries to files in the project, and queues those that the user has to
//! approve.
//!
//! Entries are written as given; their author and date go into `origins.jsonl` beside them. Pending entries
//! lie in the user's state directory and not in the project, so that no clone can bring an entry that asks
//! for approval.
//!
//! Invariant: an acknowledged entry is on disk, whole and once; one that was not acknowledged is there whole
//! or not at all, whichever process is killed. To append, a process takes the lock, writes the entry into the
//! journal, appends it and removes the journal. A process that is killed leaves its journal, by which the
//! next one removes a partial entry. No other bytes are ever removed: what people and their tools write there
//! meanwhile stays.

mod pending;

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use docent_core::memory::{MAX_ENTRY_BYTES, MEMORY_DIRECTORY, MemoryEntry, MemoryFile};
use docent_core::path::RepoPath;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

pub use pending::{Pending, PendingError};

use crate::clock::{Clock, rfc3339};
use crate::deadline::{Deadline, Expired};
use crate::files::{FileError, OpenFolder, Root};

/// The memory of one project.
#[derive(Debug)]
pub struct Memory {
    root: Root,
    clock: Clock,
    /// Directory of pending entries. `None` if the user has no state directory.
    pending_folder: Option<PathBuf>,
}

/// The session that wrote an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub session: String,
    /// The name that the client gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// Size and time of an appended entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Bytes written, with the separator before the entry.
    pub bytes: u64,
    pub at: Timestamp,
}

/// Author and date of an entry: a line of `origins.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntryOrigin {
    file: MemoryFile,
    /// Hash of the entry's text.
    entry: String,
    #[serde(flatten)]
    pub(crate) author: Author,
    pub(crate) date: String,
}

/// Why an entry was not appended.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("{0}")]
    File(#[from] FileError),
    #[error("another process holds the memory")]
    Busy,
    #[error(transparent)]
    Expired(#[from] Expired),
    /// The file is unchanged.
    #[error("it cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Authors of entries, one JSON object per line.
pub(crate) const ORIGINS: &str = "origins.jsonl";

/// Exists while a process appends.
pub(crate) const JOURNAL: &str = ".journal";

/// How long a process waits for the lock, and how often it tries.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_POLL_INTERVAL: Duration = Duration::from_micros(500);

/// A longer journal is not ours.
const MAX_JOURNAL_BYTES: u64 = 64 << 10;

impl Memory {
    pub fn new(root: Root, clock: Clock, pending_folder: Option<PathBuf>) -> Self {
        Self {
            root,
            clock,
            pending_folder,
        }
    }

    /// Appends an entry. It is on disk when this returns.
    pub fn append(
        &self,
        entry: &MemoryEntry,
        author: &Author,
        deadline: &Deadline,
    ) -> Result<Appended, MemoryError> {
        let at = self.clock.now();
        let origin = EntryOrigin {
            file: entry.file,
            entry: key(entry.text()),
            author: author.clone(),
            date: rfc3339(at),
        };
        let directory = RepoPath::parse(MEMORY_DIRECTORY).expect("a literal path");
        if !self.root.access().allows(&entry.file.path()) {
            return Err(FileError::Blocked.into());
        }
        let folder = self.root.folder(&directory)?;
        let mut journal = Journal::lock(&folder, deadline)?;
        journal.recover().inspect_err(|_| journal.is_needed = true)?;
        let bytes = journal.append(entry, &origin)?;
        Ok(Appended { bytes, at })
    }

    /// The content of a memory file, empty if it does not exist.
    pub fn read(&self, file: MemoryFile) -> Result<String, FileError> {
        match self.root.read(&file.path(), MAX_FILE_BYTES) {
            Ok(content) => Ok(crate::files::lossy_text(content.bytes)),
            Err(FileError::Missing) => Ok(String::new()),
            Err(error) => Err(error),
        }
    }
}

/// Larger memory files are not read.
pub(crate) const MAX_FILE_BYTES: u64 = 32 << 20;

/// The hash by which `origins.jsonl` names an entry.
pub(crate) fn key(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

/// The lock file, with the entry that is being appended.
struct Journal<'a> {
    folder: &'a OpenFolder,
    file: File,
    /// The next process needs it to remove a partial entry.
    is_needed: bool,
}

/// The first line of a journal. The bytes to append follow.
#[derive(Serialize, Deserialize)]
struct JournalHeader {
    file: MemoryFile,
    /// Length of the file before.
    length: u64,
    bytes: u64,
}

impl<'a> Journal<'a> {
    /// Waits for the lock, but not for ever: its holder may have been stopped.
    fn lock(folder: &'a OpenFolder, deadline: &Deadline) -> Result<Self, MemoryError> {
        let until = Instant::now() + LOCK_TIMEOUT;
        loop {
            deadline.check()?;
            let file = folder.open(JOURNAL)?;
            match file.try_lock() {
                Ok(()) if folder.is_named(&file, JOURNAL) => {
                    return Ok(Self {
                        folder,
                        file,
                        is_needed: false,
                    });
                }
                // The last holder has removed it. Open the new file of this name.
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if Instant::now() > until => return Err(MemoryError::Busy),
                Err(TryLockError::WouldBlock) => thread::park_timeout(LOCK_POLL_INTERVAL),
            }
        }
    }

    /// Removes the partial entry of a process that was killed.
    fn recover(&mut self) -> Result<(), MemoryError> {
        let mut bytes = Vec::new();
        (&self.file).take(MAX_JOURNAL_BYTES).read_to_end(&mut bytes)?;
        let Some((header, entry)) = parse_journal(&bytes) else {
            return Ok(());
        };
        let mut file = self.folder.open(header.file.name())?;
        remove_partial_entry(&mut file, &header, entry)?;
        Ok(())
    }

    /// Appends an entry, or leaves the file as it was.
    fn append(&mut self, entry: &MemoryEntry, origin: &EntryOrigin) -> Result<u64, MemoryError> {
        let name = entry.file.name();
        for _ in 0..MAX_TRIES {
            let mut file = self.folder.open_to_append(name)?;
            let length = file.metadata()?.len();
            let text = format!(
                "{}{}\n",
                entry.file.separator_after(&read_end(&mut file, length)?),
                entry.text()
            );
            let header = JournalHeader {
                file: entry.file,
                length,
                bytes: text.len() as u64,
            };
            let outcome = self.write_entry(&mut file, &header, &text, origin);
            // Most likely the disk is full. Remove the partial entry; if even that fails, leave the journal.
            let roll_back = |journal: &mut Self, file: &mut File| {
                journal.is_needed = remove_partial_entry(file, &header, text.as_bytes()).is_err();
                if length == 0 && file.metadata().is_ok_and(|file| file.len() == 0) {
                    let _ = journal.folder.remove(name);
                }
            };
            match outcome {
                Ok(WriteOutcome::Written) => return Ok(text.len() as u64),
                Ok(WriteOutcome::Retry) => {}
                Err(error) => {
                    roll_back(self, &mut file);
                    return Err(error.into());
                }
            }
        }
        Err(MemoryError::Busy)
    }

    /// Writes the journal, the origin, and then the entry.
    fn write_entry(
        &mut self,
        file: &mut File,
        header: &JournalHeader,
        text: &str,
        origin: &EntryOrigin,
    ) -> io::Result<WriteOutcome> {
        let name = header.file.name();
        let first_line = serde_json::to_string(&header).expect("plain data");
        self.write_journal(&format!("{first_line}\n{text}"))?;
        self.write_origin(origin)?;
        let is_ours = self.folder.is_named(&self.file, JOURNAL);
        if file.metadata()?.len() != header.length || !self.folder.is_named(file, name) || !is_ours {
            return Ok(WriteOutcome::Retry);
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if header.length == 0 {
            self.folder.sync()?;
        }
        // A checkout may have replaced the file just now.
        Ok(if self.folder.is_named(file, name) {
            WriteOutcome::Written
        } else {
            WriteOutcome::Retry
        })
    }

    fn write_journal(&mut self, text: &str) -> io::Result<()> {
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(text.as_bytes())
    }

    /// Adds the origin before the entry is written: an origin without its entry is harmless.
    fn write_origin(&self, origin: &EntryOrigin) -> io::Result<()> {
        let mut file = self.folder.open_to_append(ORIGINS).map_err(io::Error::other)?;
        let length = file.metadata()?.len();
        let mut line = serde_json::to_string(origin).expect("plain data") + "\n";
        if !matches!(read_end(&mut file, length)?.as_slice(), [] | [.., b'\n']) {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes()).inspect_err(|_| {
            let _ = file.set_len(length);
        })
    }
}

/// Removes the journal: the entry is appended, or the file is as it was. If it cannot be removed, the next
/// process finds that there is nothing to undo.
impl Drop for Journal<'_> {
    fn drop(&mut self) {
        // If it was removed, a file of this name belongs to another process.
        if !self.is_needed && self.folder.is_named(&self.file, JOURNAL) {
            let _ = self.folder.remove(JOURNAL);
        }
    }
}

/// The outcome of one attempt to append.
enum WriteOutcome {
    Written,
    /// The file has changed or was replaced; it does not contain the entry.
    Retry,
}

/// Attempts to append while others write to the file.
const MAX_TRIES: usize = 20;

/// Removes a partial entry from the end of a file. Other bytes behind the old end were written by others and
/// stay.
fn remove_partial_entry(file: &mut File, header: &JournalHeader, entry: &[u8]) -> io::Result<()> {
    let length = file.metadata()?.len();
    if length <= header.length || length >= header.length + header.bytes {
        return Ok(());
    }
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(header.length))?;
    file.take(header.bytes).read_to_end(&mut tail)?;
    if entry.starts_with(&tail) {
        file.set_len(header.length)?;
        file.sync_all()?;
    }
    Ok(())
}

/// The last two bytes of a file, on which the separator before a new entry depends.
fn read_end(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let count = length.min(2);
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(length - count))?;
    file.take(count).read_to_end(&mut end)?;
    Ok(end)
}

/// Parses a journal. `None` if it was not written to its end.
fn parse_journal(journal: &[u8]) -> Option<(JournalHeader, &[u8])> {
    let first_line = journal.iter().position(|byte| *byte == b'\n')?;
    let header: JournalHeader = serde_json::from_slice(&journal[..first_line]).ok()?;
    let bytes = &journal[first_line + 1..];
    (bytes.len() as u64 == header.bytes && bytes.len() <= MAX_ENTRY_BYTES + 3).then_some((header, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_core::access::Access;
    use std::fs;
    use std::path::Path;

    fn memory(directory: &Path) -> Memory {
        let root = Root::open(directory, Access::new([]).unwrap()).unwrap();
        let clock = Clock::Fixed("2026-01-09T10:30:00Z".parse().unwrap());
        Memory::new(root, clock, Some(directory.join("waiting")))
    }

    fn entry(text: &str) -> MemoryEntry {
        MemoryEntry::new(MemoryFile::Decisions, text).unwrap()
    }

    fn names(directory: &Path) -> Vec<String> {
        #[expect(clippy::disallowed_methods, reason = "a directory of the test")]
        let entries = fs::read_dir(directory.join(MEMORY_DIRECTORY)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn entries_are_appended_to_existing_content() {
        let directory = tempfile::tempdir().unwrap();
        let memory = memory(directory.path());
        let append = |text: &str| {
            memory
                .append(&entry(text), &Author::default(), &Deadline::default())
                .unwrap()
                .bytes
        };
        assert_eq!(append(r#"{"a":1}"#), 8);
        fs::write(
            directory.path().join(MEMORY_DIRECTORY).join("decisions.jsonl"),
            "by hand",
        )
        .unwrap();
        assert_eq!(append(r#"{"b":2}"#), 9);
        assert_eq!(
            memory.read(MemoryFile::Decisions).unwrap(),
            "by hand\n{\"b\":2}\n"
        );
        assert_eq!(names(directory.path()), ["decisions.jsonl", "origins.jsonl"]);
    }

    #[test]
    fn a_partial_entry_is_removed_by_the_next_process() {
        let directory = tempfile::tempdir().unwrap();
        let memory = memory(directory.path());
        let folder = directory.path().join(MEMORY_DIRECTORY);
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        let whole_journal =
            r#"{"file":"decisions.jsonl","length":8,"bytes":12}"#.to_owned() + "\n{\"b\":\"two\"}\n";
        memory
            .append(&entry(r#"{"a":1}"#), &Author::default(), &Deadline::default())
            .unwrap();
        for (before, journal, expected) in [
            (
                "{\"a\":1}\n{\"b\":",
                whole_journal.as_str(),
                "{\"a\":1}\n{\"c\":3}\n",
            ),
            ("{\"a\":1}\n", &whole_journal, "{\"a\":1}\n{\"c\":3}\n"),
            // The entry was complete, but not acknowledged.
            (
                "{\"a\":1}\n{\"b\":\"two\"}\n",
                &whole_journal,
                "{\"a\":1}\n{\"b\":\"two\"}\n{\"c\":3}\n",
            ),
            // Edited by hand since.
            (
                "{\"a\":1}\n{\"x\":",
                &whole_journal,
                "{\"a\":1}\n{\"x\":\n{\"c\":3}\n",
            ),
            ("{}\n", &whole_journal, "{}\n{\"c\":3}\n"),
            // Killed while writing the journal.
            ("{\"a\":1}\n", &whole_journal[..30], "{\"a\":1}\n{\"c\":3}\n"),
            ("{\"a\":1}\n", &whole_journal[..60], "{\"a\":1}\n{\"c\":3}\n"),
        ] {
            write("decisions.jsonl", before);
            write(JOURNAL, journal);
            memory
                .append(&entry(r#"{"c":3}"#), &Author::default(), &Deadline::default())
                .unwrap();
            assert_eq!(memory.read(MemoryFile::Decisions).unwrap(), expected, "{before}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let link =
            |to: &Path, name: &str| std::os::unix::fs::symlink(to, directory.path().join(name)).unwrap();
        let append =
            || memory(directory.path()).append(&entry("{}"), &Author::default(), &Deadline::default());
        link(outside.path(), ".context");
        assert!(matches!(append(), Err(MemoryError::File(FileError::Link))));
        fs::remove_file(directory.path().join(".context")).unwrap();
        fs::create_dir_all(directory.path().join(MEMORY_DIRECTORY)).unwrap();
        fs::write(outside.path().join("target"), "kept").unwrap();
        for name in ["decisions.jsonl", ORIGINS, JOURNAL] {
            let name = format!("{MEMORY_DIRECTORY}/{name}");
            link(&outside.path().join("target"), &name);
            assert!(append().is_err(), "{name}");
            fs::remove_file(directory.path().join(&name)).unwrap();
        }
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        let kept = fs::read_to_string(outside.path().join("target")).unwrap();
        assert_eq!(kept, "kept");
        assert_eq!(memory(directory.path()).read(MemoryFile::Decisions).unwrap(), "");
    }
}
