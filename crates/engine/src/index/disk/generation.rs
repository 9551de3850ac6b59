//! One generation of the index: a directory with the chunks, the sections of pages and the table of files.
//!
//! Invariant: the table may lag behind the stores' commits and never leads them; a table that leads means
//! that a commit was lost, and the generation is damaged.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lock::WriterLock;
use super::table::FileTable;
use crate::files::UNFINISHED;
use crate::index::options::Corpus;
use crate::sqlite;
use crate::stamp::Stamp;
use crate::store::{ChunkStore, EmbeddedChunks, EmbeddedSections, SectionStore, StoreError};

/// Version of the stored format. Another version is another folder, and is built from the files and the
/// history.
pub(in crate::index) const FORMAT_VERSION: u32 = 10;

/// The directory with the sections of pages, inside a generation.
pub(super) const PAGES: &str = "pages";

/// Stamps of the stores' lists of segments. They change with every commit, in whichever process.
pub(in crate::index) type CommitMark = [Stamp; 2];

/// The table of files of a generation.
pub(super) const TABLE_FILE: &str = "files.db";

/// An open generation, or an index in memory.
pub(in crate::index) struct OpenIndex {
    pub(in crate::index) chunks: Box<dyn ChunkStore>,
    pub(in crate::index) sections: Box<dyn SectionStore>,
    table: Mutex<FileTable>,
    /// The generation's name. `None` for an index in memory.
    pub(in crate::index) generation: Option<String>,
    directory: Option<PathBuf>,
}

impl OpenIndex {
    pub(in crate::index) fn table(&self) -> MutexGuard<'_, FileTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::index) fn in_memory() -> Result<Self, StoreError> {
        Ok(Self {
            chunks: Box::new(EmbeddedChunks::in_memory()?),
            sections: Box::new(EmbeddedSections::in_memory()?),
            table: Mutex::new(FileTable::in_memory().map_err(table_error)?),
            generation: None,
            directory: None,
        })
    }

    /// Opens a generation, and verifies what is stored in it.
    pub(super) fn open(directory: &Path, generation: &str) -> Result<Self, StoreError> {
        let chunks = EmbeddedChunks::open(directory)?;
        let sections = EmbeddedSections::open(&directory.join(PAGES))?;
        let opened = Self::with_stores(chunks, sections, directory, generation)?;
        for corpus in Corpus::ALL {
            let written = opened.table().commit(corpus).map_err(table_error)?;
            if opened.committed(corpus)? < written {
                return Err(StoreError::Damaged("its newest commit is lost".into()));
            }
        }
        Ok(opened)
    }

    /// Creates a generation in an existing directory.
    pub(super) fn create(directory: &Path, generation: &str) -> Result<Self, StoreError> {
        let chunks = EmbeddedChunks::create(directory)?;
        let sections = EmbeddedSections::create(&directory.join(PAGES))?;
        Self::with_stores(chunks, sections, directory, generation)
    }

    fn with_stores(
        chunks: EmbeddedChunks,
        sections: EmbeddedSections,
        directory: &Path,
        generation: &str,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            chunks: Box::new(chunks),
            sections: Box::new(sections),
            table: Mutex::new(FileTable::open(&directory.join(TABLE_FILE)).map_err(table_error)?),
            generation: Some(generation.to_owned()),
            directory: Some(directory.to_owned()),
        })
    }

    /// Removes other generations, and the unfinished files of a process that was killed. The lock shows that
    /// no other process writes.
    pub(in crate::index) fn remove_leftovers(&self, _: &WriterLock) {
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
            // A process that still reads an old generation keeps its files open until it lets go of them.
            let _ = fs::remove_dir_all(entry.path());
        }
    }

    /// The number of the newest commit of a corpus.
    fn committed(&self, corpus: Corpus) -> Result<u64, StoreError> {
        match corpus {
            Corpus::Docs => self.sections.last_commit(),
            Corpus::Code | Corpus::History => self.chunks.last_commit(),
        }
    }

    /// Makes new commits visible to searches.
    pub(in crate::index) fn reload(&self) -> Result<(), StoreError> {
        self.chunks.reload()?;
        self.sections.reload()
    }

    pub(in crate::index) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    pub(in crate::index) fn is_on_disk(&self) -> bool {
        self.directory.is_some()
    }

    /// Tells the newest commit from the ones before it. `None` for an index in memory, and for one that was
    /// deleted.
    pub(in crate::index) fn commit_mark(&self) -> Option<CommitMark> {
        const SEGMENT_LIST: &str = "meta.json";
        let directory = self.directory.as_ref()?;
        Some([
            Stamp::at(&directory.join(SEGMENT_LIST))?,
            Stamp::at(&directory.join(PAGES).join(SEGMENT_LIST))?,
        ])
    }

    /// Bytes on disk.
    pub(in crate::index) fn size(&self) -> u64 {
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

/// The entries of a directory of the cache; none if it cannot be read.
pub(super) fn entries(directory: &Path) -> impl Iterator<Item = fs::DirEntry> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a folder of the cache, not of a project"
    )]
    fs::read_dir(directory).into_iter().flatten().flatten()
}

/// The index's error for a failure of its table.
#[expect(clippy::needless_pass_by_value, reason = "the signature `map_err` wants")]
pub(in crate::index) fn table_error(error: rusqlite::Error) -> StoreError {
    if sqlite::is_damage(&error) {
        StoreError::Damaged(format!("the table of files: {error}"))
    } else {
        StoreError::Io(io::Error::other(error.to_string()))
    }
}
