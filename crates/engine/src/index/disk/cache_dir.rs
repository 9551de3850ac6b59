//! The folder of an index in the user's cache: one generation in use, and a lock for the writer.
//!
//! The file `current` names the generation in use. A new generation is created beside it and named once it
//! can be opened, so a process that reads always has one. The next writer removes generations that are not
//! named.
//!
//! Invariant: only the process that holds the lock changes anything.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::generation::{FORMAT_VERSION, OpenIndex, PAGES, TABLE_FILE, entries};
use super::lock::WriterLock;
use super::table::FileTable;
use crate::files::{make_private, replace};
use crate::store::StoreError;

/// Location of an index.
#[derive(Clone, Debug)]
pub(in crate::index) struct CacheDir {
    /// The project's folder in the cache. `None` if nothing can be stored; then the index is in memory.
    pub(in crate::index) project: Option<PathBuf>,
    /// Hash of the options by which the index is built. Indexes of other options have other folders.
    pub(in crate::index) rules: String,
}

impl CacheDir {
    fn folder(&self) -> Option<PathBuf> {
        let project = self.project.as_ref()?;
        Some(project.join(format!("index-{FORMAT_VERSION}-{}", self.rules)))
    }

    /// Opens the generation in use, or creates the first.
    pub(in crate::index) fn open(&self) -> Result<OpenIndex, StoreError> {
        let Some(folder) = self.folder() else {
            return OpenIndex::in_memory();
        };
        if let Some(generation) = self.current() {
            return OpenIndex::open(&folder.join(&generation), &generation);
        }
        // Another process that holds the lock may be creating the first generation: wait for it.
        self.open_locked(&self.lock()?)
    }

    /// Opens the generation in use. `None` before there is one: nothing is created and no lock is waited for.
    pub(in crate::index) fn open_existing(&self) -> Option<Result<OpenIndex, StoreError>> {
        let (folder, generation) = self.folder().zip(self.current())?;
        Some(OpenIndex::open(&folder.join(&generation), &generation))
    }

    /// Opens the table of files of the generation in use, and nothing else. `None` before there is one.
    pub(in crate::index) fn open_table(&self) -> rusqlite::Result<Option<FileTable>> {
        let generation = self.folder().zip(self.current());
        let file = generation.map(|(folder, generation)| folder.join(generation).join(TABLE_FILE));
        match file.filter(|file| file.exists()) {
            Some(file) => FileTable::open(&file).map(Some),
            None => Ok(None),
        }
    }

    /// [`Self::open`] for the holder of the lock.
    pub(in crate::index) fn open_locked(&self, lock: &WriterLock) -> Result<OpenIndex, StoreError> {
        match (self.folder(), self.current()) {
            (Some(folder), Some(generation)) => OpenIndex::open(&folder.join(&generation), &generation),
            _ => self.rebuild(lock),
        }
    }

    /// Creates an empty generation, makes it the one in use and removes all others.
    pub(in crate::index) fn rebuild(&self, lock: &WriterLock) -> Result<OpenIndex, StoreError> {
        let Some((directory, generation)) = self.new_generation()? else {
            return OpenIndex::in_memory();
        };
        let opened = OpenIndex::create(&directory, &generation)?;
        self.publish(&opened, lock)?;
        Ok(opened)
    }

    /// Makes a generation that was filled beside the one in use the one in use, and removes all others.
    pub(in crate::index) fn publish(&self, opened: &OpenIndex, lock: &WriterLock) -> Result<(), StoreError> {
        if let Some((folder, generation)) = self.folder().zip(opened.generation.as_ref()) {
            replace(&folder.join("current"), generation.as_bytes()).map_err(StoreError::Io)?;
            opened.remove_leftovers(lock);
        }
        Ok(())
    }

    /// A new directory for a generation, and its name.
    pub(super) fn new_generation(&self) -> Result<Option<(PathBuf, String)>, StoreError> {
        let Some(folder) = self.folder() else {
            return Ok(None);
        };
        let generation = Uuid::new_v4().simple().to_string();
        let directory = folder.join(&generation);
        make_private(&directory.join(PAGES)).map_err(StoreError::Io)?;
        Ok(Some((directory, generation)))
    }

    /// The directory of the generation in use.
    pub(super) fn current_directory(&self) -> Option<PathBuf> {
        Some(self.folder()?.join(self.current()?))
    }

    /// Indexes of other projects on this machine that were built by the same options.
    pub(in crate::index) fn siblings(&self) -> Vec<Self> {
        let Some(project) = &self.project else {
            return Vec::new();
        };
        let projects = project.parent().into_iter().flat_map(entries);
        let siblings = projects
            .filter(|entry| entry.path() != *project)
            .map(|entry| Self {
                project: Some(entry.path()),
                rules: self.rules.clone(),
            });
        siblings.filter(|sibling| sibling.current().is_some()).collect()
    }

    /// The name of the generation in use. `None` before the first, and if the file that names it is damaged.
    pub(in crate::index) fn current(&self) -> Option<String> {
        #[expect(clippy::disallowed_methods, reason = "a file of the cache, not of a project")]
        let name = fs::read_to_string(self.folder()?.join("current")).ok()?;
        (name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
    }

    /// Takes the lock, or fails with [`StoreError::Busy`].
    pub(in crate::index) fn try_lock(&self) -> Result<WriterLock, StoreError> {
        match self.lock_file()? {
            Some(file) => WriterLock::try_take(file),
            None => Ok(WriterLock::unneeded()),
        }
    }

    /// Waits for the lock, but not for ever: its holder may be a process that was suspended.
    pub(in crate::index) fn lock(&self) -> Result<WriterLock, StoreError> {
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
        self.write_cache_tag();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join("writer.lock"));
        file.map(Some).map_err(StoreError::Io)
    }

    /// Marks the directory as a cache for backup programs, and for docent itself: otherwise a project that
    /// contains the cache would index it.
    fn write_cache_tag(&self) {
        let cache = self
            .project
            .as_ref()
            .and_then(|project| project.parent()?.parent());
        if let Some(tag) = cache.map(|cache| cache.join("CACHEDIR.TAG"))
            && !tag.exists()
        {
            let _ = fs::write(tag, "Signature: 8a477f597d28d172789f06886806bc55\n");
        }
    }

    /// The id of the process that is writing now.
    pub(in crate::index) fn writer(&self) -> Option<String> {
        self.current()?;
        WriterLock::holder(self.lock_file().ok()??)
    }

    /// Tries to write, and returns the error that would stop a writer.
    pub(in crate::index) fn write_error(&self) -> Option<io::Error> {
        let folder = self.folder()?;
        let probe = folder.join(format!("probe-{}", std::process::id()));
        let outcome = make_private(&folder).and_then(|()| fs::write(&probe, [0; 8_192]));
        let _ = fs::remove_file(&probe);
        if self.current().is_none() {
            // Succeeds only if the folder is empty, so this undoes `make_private` and nothing else.
            let _ = fs::remove_dir(&folder);
        }
        outcome.err()
    }

    /// Folders of this project's indexes with another format or other options.
    pub(in crate::index) fn others(&self) -> Vec<String> {
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

    /// Removes the indexes of the project that have an earlier format. Returns their names. A docent of that
    /// version that still runs keeps the files that it has open, and builds its index again.
    pub(in crate::index) fn clear_older(&self) -> Result<Vec<String>, StoreError> {
        let Some(project) = &self.project else {
            return Ok(Vec::new());
        };
        let is_older = |name: &String| {
            let format = name
                .strip_prefix("index-")
                .and_then(|rest| rest.split('-').next());
            format
                .and_then(|format| format.parse().ok())
                .is_some_and(|format: u32| format < FORMAT_VERSION)
        };
        let older: Vec<String> = self.others().into_iter().filter(is_older).collect();
        for name in &older {
            fs::remove_dir_all(project.join(name)).map_err(StoreError::Io)?;
        }
        Ok(older)
    }

    /// Removes every index of the project with this format, whatever its options. True if there was one.
    pub(in crate::index) fn clear(&self) -> Result<bool, StoreError> {
        let Some(project) = &self.project else {
            return Ok(false);
        };
        let mut was_there = false;
        let prefix = format!("index-{FORMAT_VERSION}-");
        for entry in entries(project).filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let cache_dir = Self {
                rules: name[prefix.len()..].to_owned(),
                ..self.clone()
            };
            was_there |= cache_dir.current().is_some();
            // The lock file itself stays: another process may be waiting for a lock on this very file.
            let _lock = cache_dir.lock()?;
            let _ = fs::remove_file(entry.path().join("current"));
            for inner in entries(&entry.path()).filter(|inner| inner.path().is_dir()) {
                fs::remove_dir_all(inner.path()).map_err(StoreError::Io)?;
            }
        }
        Ok(was_there)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn cache_dir(cache: &Path) -> CacheDir {
        CacheDir {
            project: Some(cache.join("projects/a")),
            rules: "rules".into(),
        }
    }

    #[test]
    fn a_generation_that_was_created_is_opened_again() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        assert_eq!(cache_dir.current(), None);
        let created = cache_dir.open().unwrap().generation;
        assert!(created.is_some());
        assert_eq!(cache_dir.current(), created);
        assert_eq!(cache_dir.open().unwrap().generation, created);
    }

    #[test]
    fn a_rebuild_removes_the_generation_before_it() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        let before = cache_dir.open().unwrap().directory().unwrap().to_owned();
        let lock = cache_dir.lock().unwrap();
        let after = cache_dir.rebuild(&lock).unwrap().directory().unwrap().to_owned();
        assert!(!before.exists());
        assert!(after.exists());
    }

    #[test]
    fn leftovers_of_a_killed_writer_are_removed() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        let opened = cache_dir.open().unwrap();
        let half = opened
            .directory()
            .unwrap()
            .join(format!("{}1", crate::files::UNFINISHED));
        let orphan = cache_dir.folder().unwrap().join("orphaned-generation");
        fs::write(&half, "half").unwrap();
        fs::create_dir(&orphan).unwrap();
        opened.remove_leftovers(&cache_dir.lock().unwrap());
        assert!(!half.exists() && !orphan.exists());
        assert!(opened.directory().unwrap().exists());
    }

    #[test]
    fn indexes_of_earlier_formats_are_removed_and_no_others() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        cache_dir.open().unwrap();
        let project = cache_dir.project.clone().unwrap();
        let older = format!("index-{}-rules", FORMAT_VERSION - 1);
        let kept = [
            format!("index-{FORMAT_VERSION}-other-rules"),
            format!("index-{}-rules", FORMAT_VERSION + 1),
            "index-rules".to_owned(),
            "commits".to_owned(),
        ];
        for name in kept.iter().chain([&older]) {
            fs::create_dir(project.join(name)).unwrap();
        }
        assert_eq!(cache_dir.clear_older().unwrap(), std::slice::from_ref(&older));
        assert!(!project.join(older).exists() && cache_dir.current().is_some());
        assert!(kept.iter().all(|name| project.join(name).exists()));
    }

    #[test]
    fn a_damaged_name_of_the_generation_counts_as_none() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        cache_dir.open().unwrap();
        let current = cache_dir.folder().unwrap().join("current");
        for damaged in ["", "../../../etc", &"g".repeat(32), &"a".repeat(33)] {
            fs::write(&current, damaged).unwrap();
            assert_eq!(cache_dir.current(), None, "{damaged:?}");
        }
    }

    #[test]
    fn a_lost_commit_is_damage() {
        use crate::index::disk::{DocKey, IndexedFile, TableChange};
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        let opened = cache_dir.open().unwrap();
        let path = docent_core::path::RepoPath::parse("a.rs").unwrap();
        let row = TableChange::Indexed(DocKey::File(path), IndexedFile::default());
        let corpus = crate::index::options::Corpus::Code;
        opened.table().write(corpus, &[row], 1).unwrap();
        drop(opened);
        assert!(matches!(cache_dir.open(), Err(StoreError::Damaged(_))));
    }

    #[test]
    fn the_writer_is_named_while_it_holds_the_lock() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        // A process that another test is starting holds a copy of the lock's file until it executes its
        // program.
        let wait_until_released = || {
            while cache_dir.writer().is_some() {
                thread::yield_now();
            }
        };
        cache_dir.open().unwrap();
        wait_until_released();
        let lock = cache_dir.lock().unwrap();
        assert!(matches!(cache_dir.try_lock(), Err(StoreError::Busy)));
        assert_eq!(cache_dir.writer(), Some(std::process::id().to_string()));
        drop(lock);
        wait_until_released();
    }

    #[test]
    fn clearing_removes_indexes_of_all_options_and_leaves_other_formats() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        let other_options = CacheDir {
            rules: "other".into(),
            ..cache_dir.clone()
        };
        assert!(!cache_dir.clear().unwrap());
        cache_dir.open().unwrap();
        other_options.open().unwrap();
        let other_format = cache_dir.project.as_ref().unwrap().join("index-1-rules");
        fs::create_dir(&other_format).unwrap();
        assert_eq!(
            cache_dir.others(),
            ["index-1-rules", &format!("index-{FORMAT_VERSION}-other")]
        );
        assert!(cache_dir.clear().unwrap());
        assert_eq!((cache_dir.current(), other_options.current()), (None, None));
        assert!(other_format.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_created_is_a_write_error() {
        let cache = tempfile::tempdir().unwrap();
        let cache_dir = cache_dir(cache.path());
        assert!(cache_dir.write_error().is_none());
        // The probe leaves no trace before there is an index.
        assert!(!cache_dir.folder().unwrap().exists());
        fs::write(cache.path().join("file"), "").unwrap();
        let below_a_file = CacheDir {
            project: Some(cache.path().join("file/projects")),
            ..cache_dir
        };
        assert!(below_a_file.write_error().is_some());
    }

    #[test]
    fn without_a_cache_the_index_is_in_memory() {
        let nowhere = CacheDir {
            project: None,
            rules: String::new(),
        };
        assert!(!nowhere.open().unwrap().is_on_disk());
        assert_eq!((nowhere.current(), nowhere.writer()), (None, None));
        assert!(nowhere.write_error().is_none());
    }
}
