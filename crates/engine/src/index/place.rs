//! Where an index lies: a folder of the project's cache, in generations, with a lock for whoever writes.
//!
//! `current` names the generation in use. A new one is begun beside it and named when it can be opened, so a process that
//! reads is never left without; what is not named is thrown away by the next that writes.
//!
//! Invariant: nothing is changed but by who holds the lock. The lock is the operating system's and dies with its process.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::Corpus;
use super::table::{self, FileTable};
use crate::files::{UNFINISHED, make_private, replace};
use crate::stamp::Stamp;
use crate::store::{ChunkStore, EmbeddedChunks, EmbeddedSections, Sections, StoreError};

/// The form of what is stored; another form is another folder.
pub(super) const VERSION: u32 = 6;

/// The folder of an index, or none where nothing can be kept.
#[derive(Clone, Debug)]
pub(super) struct CacheDir {
    /// The project's part of the cache.
    pub(super) project: Option<PathBuf>,
    /// Tells indexes apart that were made by different rules.
    pub(super) rules: String,
}

/// Where the sections of pages are, inside a generation.
const PAGES: &str = "pages";

/// Changes with every commit.
pub(super) type Mark = [Stamp; 2];

/// An index that is open.
pub(super) struct OpenIndex {
    pub(super) chunks: Box<dyn ChunkStore>,
    pub(super) sections: Box<dyn Sections>,
    table: Mutex<FileTable>,
    /// Which one it is; nothing for one in memory.
    pub(super) generation: Option<String>,
    directory: Option<PathBuf>,
}

/// Held by who writes.
#[derive(Debug)]
pub(super) struct Lock {
    _file: Option<File>,
}

impl OpenIndex {
    pub(super) fn table(&self) -> MutexGuard<'_, FileTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn in_memory() -> Result<Self, StoreError> {
        Ok(Self {
            chunks: Box::new(EmbeddedChunks::in_memory()?),
            sections: Box::new(EmbeddedSections::in_memory()?),
            table: Mutex::new(FileTable::in_memory().map_err(of_table)?),
            generation: None,
            directory: None,
        })
    }

    /// Opens a generation. Its table may lag behind the commits, and must not lead: then a commit was lost.
    fn in_directory(directory: &Path, generation: &str) -> Result<Self, StoreError> {
        let chunks = EmbeddedChunks::open(directory)?;
        let sections = EmbeddedSections::open(&directory.join(PAGES))?;
        let opened = Self::with(chunks, sections, directory, generation)?;
        for corpus in Corpus::ALL {
            let written = opened.table().commit(corpus).map_err(of_table)?;
            if opened.committed(corpus)? < written {
                return Err(StoreError::Damaged("its newest commit is lost".into()));
            }
        }
        Ok(opened)
    }

    fn with(
        chunks: EmbeddedChunks,
        sections: EmbeddedSections,
        directory: &Path,
        generation: &str,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            chunks: Box::new(chunks),
            sections: Box::new(sections),
            table: Mutex::new(FileTable::open(&directory.join("files.db")).map_err(of_table)?),
            generation: Some(generation.to_owned()),
            directory: Some(directory.to_owned()),
        })
    }

    /// Removes other generations, and what a process that was killed has left half written. For who holds the lock.
    pub(super) fn sweep(&self, _: &Lock) {
        let Some(directory) = &self.directory else { return };
        let folder = directory.parent().unwrap_or(directory);
        for place in [folder, directory, &directory.join(PAGES)] {
            for entry in entries(place) {
                if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        for entry in entries(folder).filter(|entry| entry.path() != *directory && entry.path().is_dir()) {
            // What others still read stays theirs until they let go of it.
            let _ = fs::remove_dir_all(entry.path());
        }
    }

    /// The number of the newest commit.
    fn committed(&self, corpus: Corpus) -> Result<u64, StoreError> {
        match corpus {
            Corpus::Docs => self.sections.committed(),
            Corpus::Code | Corpus::History => self.chunks.committed(),
        }
    }

    /// Lets searches see what was committed.
    pub(super) fn reload(&self) -> Result<(), StoreError> {
        self.chunks.reload()?;
        self.sections.reload()
    }

    /// Reads everything that is stored.
    pub(super) fn verify(&self) -> Result<(), StoreError> {
        self.chunks.verify()?;
        self.sections.verify()
    }

    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    pub(super) fn is_on_disk(&self) -> bool {
        self.directory.is_some()
    }

    /// Changes with every commit, whoever makes it.
    pub(super) fn mark(&self) -> Option<Mark> {
        const LIST: &str = "meta.json";
        let directory = self.directory.as_ref()?;
        Some([
            Stamp::at(&directory.join(LIST))?,
            Stamp::at(&directory.join(PAGES).join(LIST))?,
        ])
    }

    /// Bytes on disk.
    pub(super) fn size(&self) -> u64 {
        let Some(directory) = &self.directory else {
            return 0;
        };
        entries(directory)
            .chain(entries(&directory.join(PAGES)))
            .filter_map(|entry| entry.metadata().ok())
            .filter(Metadata::is_file)
            .map(|metadata| metadata.len())
            .sum()
    }
}

impl CacheDir {
    fn folder(&self) -> Option<PathBuf> {
        let project = self.project.as_ref()?;
        Some(project.join(format!("index-{VERSION}-{}", self.rules)))
    }

    /// Opens the index in use, begins one where there is none.
    pub(super) fn open(&self) -> Result<OpenIndex, StoreError> {
        let Some(folder) = self.folder() else {
            return OpenIndex::in_memory();
        };
        if let Some(generation) = self.current() {
            return OpenIndex::in_directory(&folder.join(&generation), &generation);
        }
        // Whoever has the lock and no generation yet is about to name one.
        self.open_with(&self.lock()?)
    }

    /// The same for who holds the lock.
    pub(super) fn open_with(&self, lock: &Lock) -> Result<OpenIndex, StoreError> {
        match (self.folder(), self.current()) {
            (Some(folder), Some(generation)) => {
                OpenIndex::in_directory(&folder.join(&generation), &generation)
            }
            _ => self.renew(lock),
        }
    }

    /// Begins a new generation, makes it the one in use and throws all others away.
    pub(super) fn renew(&self, lock: &Lock) -> Result<OpenIndex, StoreError> {
        let Some(folder) = self.folder() else {
            return OpenIndex::in_memory();
        };
        let generation = Uuid::new_v4().simple().to_string();
        let directory = folder.join(&generation);
        let pages = directory.join(PAGES);
        make_private(&pages).map_err(StoreError::Io)?;
        let chunks = EmbeddedChunks::create(&directory)?;
        let opened = OpenIndex::with(chunks, EmbeddedSections::create(&pages)?, &directory, &generation)?;
        replace(&folder.join("current"), generation.as_bytes()).map_err(StoreError::Io)?;
        opened.sweep(lock);
        Ok(opened)
    }

    /// The generation in use.
    pub(super) fn current(&self) -> Option<String> {
        #[expect(clippy::disallowed_methods, reason = "a file of the cache, not of a project")]
        let name = fs::read_to_string(self.folder()?.join("current")).ok()?;
        (name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
    }

    /// Takes the lock, or says that another has it.
    pub(super) fn try_lock(&self) -> Result<Lock, StoreError> {
        let Some(file) = self.lock_file()? else {
            return Ok(Lock::unneeded());
        };
        match file.try_lock() {
            Ok(()) => Ok(Lock::sign(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy),
            Err(TryLockError::Error(error)) => Err(StoreError::Io(error)),
        }
    }

    /// Waits for the lock, but not for ever: who holds it may have been stopped.
    pub(super) fn lock(&self) -> Result<Lock, StoreError> {
        const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
        const POLL_INTERVAL: Duration = Duration::from_millis(20);
        let until = Instant::now() + LOCK_TIMEOUT;
        loop {
            match self.try_lock() {
                Err(StoreError::Busy) if Instant::now() < until => thread::park_timeout(POLL_INTERVAL),
                outcome => return outcome,
            }
        }
    }

    fn lock_file(&self) -> Result<Option<File>, StoreError> {
        let Some(folder) = self.folder() else {
            return Ok(None);
        };
        make_private(&folder).map_err(StoreError::Io)?;
        self.tag();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join("writer.lock"));
        file.map(Some).map_err(StoreError::Io)
    }

    /// Says to whoever walks by, docent included, that this is a cache.
    fn tag(&self) {
        let cache = self
            .project
            .as_ref()
            .and_then(|project| project.parent()?.parent());
        if let Some(tag) = cache.map(|cache| cache.join("CACHEDIR.TAG"))
            && !tag.exists()
        {
            // Without it, a project around the cache would index it.
            let _ = fs::write(tag, "Signature: 8a477f597d28d172789f06886806bc55\n");
        }
    }

    /// The process that is writing now.
    pub(super) fn writer(&self) -> Option<String> {
        self.current()?;
        let mut file = self.lock_file().ok()??;
        if file.try_lock().is_ok() {
            return None;
        }
        let mut process = String::new();
        file.read_to_string(&mut process).ok()?;
        Some(process.trim().to_owned()).filter(|process| !process.is_empty())
    }

    /// Why nothing could be written now.
    pub(super) fn hindrance(&self) -> Option<io::Error> {
        let folder = self.folder()?;
        let probe = folder.join(format!("probe-{}", std::process::id()));
        let outcome = make_private(&folder).and_then(|()| fs::write(&probe, [0; 8_192]));
        let _ = fs::remove_file(&probe);
        if self.current().is_none() {
            // Only where it is empty, which it was before.
            let _ = fs::remove_dir(&folder);
        }
        outcome.err()
    }

    /// Folders of this project that other versions of docent, or other rules, have made.
    pub(super) fn others(&self) -> Vec<String> {
        let Some((project, folder)) = self.project.as_ref().zip(self.folder()) else {
            return Vec::new();
        };
        let mut others: Vec<String> = entries(project)
            .filter(|entry| entry.path() != folder)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with("index-"))
            .collect();
        others.sort_unstable();
        others
    }

    /// Removes every index of the project that this version has made, whatever the rules. True where there was one.
    pub(super) fn clear(&self) -> Result<bool, StoreError> {
        let Some(project) = &self.project else {
            return Ok(false);
        };
        let mut was_there = false;
        let prefix = format!("index-{VERSION}-");
        for entry in entries(project).filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let place = Self {
                rules: name[prefix.len()..].to_owned(),
                ..self.clone()
            };
            was_there |= place.current().is_some();
            // The lock itself stays: who waits for it waits for this file.
            let _lock = place.lock()?;
            let _ = fs::remove_file(entry.path().join("current"));
            for inner in entries(&entry.path()).filter(|inner| inner.path().is_dir()) {
                fs::remove_dir_all(inner.path()).map_err(StoreError::Io)?;
            }
        }
        Ok(was_there)
    }
}

impl Lock {
    /// For what no other process can see.
    pub(super) fn unneeded() -> Self {
        Self { _file: None }
    }

    /// Writes down who holds it.
    fn sign(mut file: File) -> Self {
        // Only for people to read; the lock itself does not depend on it.
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = write!(file, "{}", std::process::id());
        Self { _file: Some(file) }
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = fs::DirEntry> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a folder of the cache, not of a project"
    )]
    fs::read_dir(directory).into_iter().flatten().flatten()
}

/// What a failing table means for the index.
#[expect(clippy::needless_pass_by_value, reason = "the signature `map_err` wants")]
pub(super) fn of_table(error: rusqlite::Error) -> StoreError {
    if table::is_damage(&error) {
        StoreError::Damaged(format!("the table of files: {error}"))
    } else {
        StoreError::Io(io::Error::other(error.to_string()))
    }
}
