//! The project's memory: entries that are appended to files in the project, and those that wait for the user to approve them.
//!
//! What is appended is written as given. Who wrote it and when is kept beside it, in `origins.jsonl`. What waits lies with the
//! user's own state and not in the project, so that nothing that arrives with a clone can ask to be approved.
//!
//! Invariant: an entry that was acknowledged is on disk, whole and once; one that was not is there whole or not at all, whichever
//! processes are killed. Whoever appends holds the lock, writes what is about to be appended into the journal, appends, and
//! takes the journal away. A process killed in between leaves the journal, by which the next one takes back half an entry.
//! Nothing else is ever taken out of a file: what people and their tools write there meanwhile stays.

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
    /// Where entries wait for approval; nowhere, where the user has no place for state.
    waiting: Option<PathBuf>,
}

/// Who an entry is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub session: String,
    /// What the client calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// What was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// All of them, with what sets the entry off.
    pub bytes: u64,
    pub at: Timestamp,
}

/// Where an entry of a file came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntryOrigin {
    file: MemoryFile,
    /// Of the entry's text.
    entry: String,
    #[serde(flatten)]
    pub(crate) author: Author,
    pub(crate) date: String,
}

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("{0}")]
    File(#[from] FileError),
    #[error("another process holds the memory")]
    Busy,
    #[error(transparent)]
    Expired(#[from] Expired),
    /// The file is as it was.
    #[error("it cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// Who wrote what, one object a line.
pub(crate) const ORIGINS: &str = "origins.jsonl";

/// Is there while somebody appends.
pub(crate) const JOURNAL: &str = ".journal";

/// How long a process waits for others that append, and how long it pauses before it tries again.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_POLL_INTERVAL: Duration = Duration::from_micros(500);

/// Journals beyond this are not ours.
const MAX_JOURNAL_BYTES: u64 = 64 << 10;

impl Memory {
    pub fn new(root: Root, clock: Clock, waiting: Option<PathBuf>) -> Self {
        Self { root, clock, waiting }
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
        let mut journal = Journal::take(&folder, deadline)?;
        journal.recover().inspect_err(|_| journal.keep = true)?;
        let bytes = journal.append(entry, &origin)?;
        Ok(Appended { bytes, at })
    }

    /// What a file holds.
    pub fn read(&self, file: MemoryFile) -> Result<String, FileError> {
        match self.root.read(&file.path(), MAX_FILE_BYTES) {
            Ok(content) => Ok(crate::files::lossy_text(content.bytes)),
            Err(FileError::Missing) => Ok(String::new()),
            Err(error) => Err(error),
        }
    }
}

/// Memory files are read up to this size.
pub(crate) const MAX_FILE_BYTES: u64 = 32 << 20;

/// Knows an entry by its text.
pub(crate) fn key(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

/// The lock, and what is about to be appended.
struct Journal<'a> {
    folder: &'a OpenFolder,
    file: File,
    /// It says what the next process has to take back.
    keep: bool,
}

/// What stands in a journal before the bytes to append.
#[derive(Serialize, Deserialize)]
struct Plan {
    file: MemoryFile,
    /// How long the file was before.
    length: u64,
    bytes: u64,
}

impl<'a> Journal<'a> {
    /// Waits for those who append, but not for ever: one of them may have been stopped.
    fn take(folder: &'a OpenFolder, deadline: &Deadline) -> Result<Self, MemoryError> {
        let until = Instant::now() + LOCK_TIMEOUT;
        loop {
            deadline.check()?;
            let file = folder.open(JOURNAL)?;
            match file.try_lock() {
                Ok(()) if folder.is_named(&file, JOURNAL) => {
                    return Ok(Self {
                        folder,
                        file,
                        keep: false,
                    });
                }
                // Who was here before has taken it away; the next one is another file.
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) if Instant::now() > until => return Err(MemoryError::Busy),
                Err(TryLockError::WouldBlock) => thread::park_timeout(LOCK_POLL_INTERVAL),
            }
        }
    }

    /// Takes back what a process that was killed had half appended.
    fn recover(&mut self) -> Result<(), MemoryError> {
        let mut bytes = Vec::new();
        (&self.file).take(MAX_JOURNAL_BYTES).read_to_end(&mut bytes)?;
        let Some((plan, planned)) = plan(&bytes) else {
            return Ok(());
        };
        let mut file = self.folder.open(plan.file.name())?;
        take_back(&mut file, &plan, planned)?;
        Ok(())
    }

    /// Appends, or leaves everything as it was.
    fn append(&mut self, entry: &MemoryEntry, origin: &EntryOrigin) -> Result<u64, MemoryError> {
        let name = entry.file.name();
        for _ in 0..MAX_TRIES {
            let mut file = self.folder.open_to_append(name)?;
            let length = file.metadata()?.len();
            let text = format!(
                "{}{}\n",
                entry.file.separator_after(&end(&mut file, length)?),
                entry.text()
            );
            let plan = Plan {
                file: entry.file,
                length,
                bytes: text.len() as u64,
            };
            let written = self.write_planned(&mut file, &plan, &text, origin);
            // The disk is full, most likely; what was written of the entry goes. Where even that fails, the journal stays.
            let take_back = |journal: &mut Self, file: &mut File| {
                journal.keep = take_back(file, &plan, text.as_bytes()).is_err();
                if length == 0 && file.metadata().is_ok_and(|file| file.len() == 0) {
                    let _ = journal.folder.remove(name);
                }
            };
            match written {
                Ok(Landed::Here) => return Ok(text.len() as u64),
                // Somebody else has written, or the file is another now; nothing of the entry is in it.
                Ok(Landed::Nowhere) => {}
                Err(error) => {
                    take_back(self, &mut file);
                    return Err(error.into());
                }
            }
        }
        Err(MemoryError::Busy)
    }

    /// Writes the plan, and then what is planned.
    fn write_planned(
        &mut self,
        file: &mut File,
        plan: &Plan,
        text: &str,
        origin: &EntryOrigin,
    ) -> io::Result<Landed> {
        let name = plan.file.name();
        let head = serde_json::to_string(&plan).expect("plain data");
        self.write(&format!("{head}\n{text}"))?;
        self.note(origin)?;
        let is_ours = self.folder.is_named(&self.file, JOURNAL);
        if file.metadata()?.len() != plan.length || !self.folder.is_named(file, name) || !is_ours {
            return Ok(Landed::Nowhere);
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if plan.length == 0 {
            self.folder.sync()?;
        }
        // A checkout may have put another file in its place just now.
        Ok(if self.folder.is_named(file, name) {
            Landed::Here
        } else {
            Landed::Nowhere
        })
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(text.as_bytes())
    }

    /// Writes down where an entry comes from, before it is there: one without an entry says nothing.
    fn note(&self, origin: &EntryOrigin) -> io::Result<()> {
        let mut file = self.folder.open_to_append(ORIGINS).map_err(io::Error::other)?;
        let length = file.metadata()?.len();
        let mut line = serde_json::to_string(origin).expect("plain data") + "\n";
        if !matches!(end(&mut file, length)?.as_slice(), [] | [.., b'\n']) {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes()).inspect_err(|_| {
            let _ = file.set_len(length);
        })
    }
}

/// All is appended, or nothing. A journal that cannot be removed says so to the next process.
impl Drop for Journal<'_> {
    fn drop(&mut self) {
        // Where somebody has removed it, one of that name is another's.
        if !self.keep && self.folder.is_named(&self.file, JOURNAL) {
            let _ = self.folder.remove(JOURNAL);
        }
    }
}

/// Where what was written has come to be.
enum Landed {
    Here,
    Nowhere,
}

/// How often it is tried, where others write at the same time.
const MAX_TRIES: usize = 20;

/// Takes half an entry out of a file again. Whatever else is behind what was there before was written by others and stays.
fn take_back(file: &mut File, plan: &Plan, planned: &[u8]) -> io::Result<()> {
    let length = file.metadata()?.len();
    if length <= plan.length || length >= plan.length + plan.bytes {
        return Ok(());
    }
    let mut there = Vec::new();
    file.seek(SeekFrom::Start(plan.length))?;
    file.take(plan.bytes).read_to_end(&mut there)?;
    if planned.starts_with(&there) {
        file.set_len(plan.length)?;
        file.sync_all()?;
    }
    Ok(())
}

/// What a file ends with, as much as tells how it is gone on with.
fn end(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let known = length.min(2);
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(length - known))?;
    file.take(known).read_to_end(&mut end)?;
    Ok(end)
}

/// What a journal says, where it was written to its end.
fn plan(journal: &[u8]) -> Option<(Plan, &[u8])> {
    let head = journal.iter().position(|byte| *byte == b'\n')?;
    let plan: Plan = serde_json::from_slice(&journal[..head]).ok()?;
    let bytes = &journal[head + 1..];
    (bytes.len() as u64 == plan.bytes && bytes.len() <= MAX_ENTRY_BYTES + 3).then_some((plan, bytes))
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
    fn what_is_there_stays_and_entries_follow_it() {
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

    /// What a process leaves that is killed when it has written so much of the entry.
    #[test]
    fn half_an_entry_is_taken_back_by_the_next_process() {
        let directory = tempfile::tempdir().unwrap();
        let memory = memory(directory.path());
        let folder = directory.path().join(MEMORY_DIRECTORY);
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        let planned =
            r#"{"file":"decisions.jsonl","length":8,"bytes":12}"#.to_owned() + "\n{\"b\":\"two\"}\n";
        memory
            .append(&entry(r#"{"a":1}"#), &Author::default(), &Deadline::default())
            .unwrap();
        for (there, journal, expected) in [
            ("{\"a\":1}\n{\"b\":", planned.as_str(), "{\"a\":1}\n{\"c\":3}\n"),
            ("{\"a\":1}\n", &planned, "{\"a\":1}\n{\"c\":3}\n"),
            // It was all there, and only not acknowledged.
            (
                "{\"a\":1}\n{\"b\":\"two\"}\n",
                &planned,
                "{\"a\":1}\n{\"b\":\"two\"}\n{\"c\":3}\n",
            ),
            // Changed by hand since.
            ("{\"a\":1}\n{\"x\":", &planned, "{\"a\":1}\n{\"x\":\n{\"c\":3}\n"),
            ("{}\n", &planned, "{}\n{\"c\":3}\n"),
            // Killed while it wrote the journal.
            ("{\"a\":1}\n", &planned[..30], "{\"a\":1}\n{\"c\":3}\n"),
            ("{\"a\":1}\n", &planned[..60], "{\"a\":1}\n{\"c\":3}\n"),
        ] {
            write("decisions.jsonl", there);
            write(JOURNAL, journal);
            memory
                .append(&entry(r#"{"c":3}"#), &Author::default(), &Deadline::default())
                .unwrap();
            assert_eq!(memory.read(MemoryFile::Decisions).unwrap(), expected, "{there}");
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
