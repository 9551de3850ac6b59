//! The scan: which files the project has on disk, with their stamps.
//!
//! With a watcher, only what changed is scanned again. Without one, every refresh walks the whole project.
//!
//! Invariant: after [`Scan::refresh`], every change made before the call is in the scan. A watcher is
//! believed only once a full scan has completed after it started; before that, changes between scan and watch
//! would be missed.

mod active_watcher;
mod docs_files;
mod saved;
mod unwatched;
mod watcher;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use docent_core::memory::{MEMORY_DIRECTORY, MemoryFile};
use docent_core::path::RepoPath;

pub(super) use active_watcher::ActiveWatcher;
pub(super) use docs_files::{DocsFiles, directory_of};
pub(crate) use docs_files::{MAX_MANIFEST_BYTES, Manifests};
pub(super) use saved::{SAVED_SCAN_FILE, SavedScan};
use saved::{SavedDifference, hash_rules};
pub(super) use unwatched::UnwatchedState;
use watcher::PendingChanges;
pub use watcher::WatchError;
pub(super) use watcher::Watcher;

use crate::deadline::Deadline;
use crate::files::Root;
use crate::memory::{JOURNAL, ORIGINS};
use crate::stamp::Stamp;
use crate::walk::{self, Missed, WalkExtent};

/// Above so many directories to walk, one walk of everything is cheaper.
const MAX_PARTIAL_WALKS: usize = 50;

/// The files of a project on disk.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) files: BTreeMap<RepoPath, Stamp>,
    /// Directories with their inodes: a new directory may take the name of an old one.
    directories: BTreeMap<RepoPath, u64>,
    /// Directories that are skipped because a file in them marks them as no part of the project.
    marked: BTreeSet<RepoPath>,
    /// When the scan of all directories began. Changes from then on may be missing from a saved scan.
    began: Option<SystemTime>,
    /// The scan that an earlier process saved, and the files that it has indexed.
    earlier: Option<(SavedScan, Vec<RepoPath>)>,
    /// The directories are saved as they are.
    is_saved: bool,
    /// A walk of some directories could not read all of them. `missed` has only what a full walk could not
    /// read.
    is_incomplete: bool,
    /// Files whose names cannot be written as a path of the project, or whose path is too long.
    pub(super) unnameable: u64,
    /// Directories that could not be read.
    pub(super) missed: Missed,
    pub(super) docs: DocsFiles,
    /// As it was before the last refresh began.
    pub(super) unwatched: UnwatchedState,
    /// The directories that the watcher was started with.
    handed_to_watcher: BTreeMap<RepoPath, u64>,
    /// A full scan has completed since the watcher started, so events alone are enough from here on.
    pub(super) is_covered: bool,
}

impl Scan {
    /// Finds what has changed on disk. `docs_directories` limits where pages are; empty: anywhere.
    pub(super) fn refresh(
        &mut self,
        root: &Root,
        watch: &ActiveWatcher,
        unwatched: UnwatchedState,
        docs_directories: &[RepoPath],
    ) {
        let before = std::mem::replace(&mut self.unwatched, unwatched);
        self.refresh_files(root, watch, self.unwatched.ignore_files != before.ignore_files);
        self.refresh_memory();
        self.docs.refresh(root, &self.files, docs_directories);
    }

    /// The memory's own files belong to the project even if git ignores them. What docent writes beside them
    /// does not.
    fn refresh_memory(&mut self) {
        self.files.retain(|path, _| {
            let name = path
                .as_str()
                .strip_prefix(MEMORY_DIRECTORY)
                .and_then(|below| below.strip_prefix('/'));
            name.is_none_or(|name| {
                MemoryFile::from_name(name).is_none() && ![ORIGINS, JOURNAL].contains(&name)
            })
        });
        self.files.extend(self.unwatched.memory.iter().cloned());
    }

    /// Takes over the scan of an earlier process, which the first refresh compares with the disk.
    pub(super) fn restore(&mut self, saved: SavedScan, files: Vec<RepoPath>) {
        self.earlier = Some((saved, files));
    }

    /// Saves the directories for the next process, unless they are saved or not all were read. The caller
    /// knows that all files of the scan are in the index.
    pub(super) fn save(&mut self, root: &Root, generation: &Path) {
        // A directory that is not in the saved scan is not looked for again, even once it can be read.
        let is_complete = self.missed.count == 0 && !self.is_incomplete;
        let Some(began) = self.began.filter(|_| !self.is_saved && is_complete) else {
            return;
        };
        self.is_saved = true;
        let rules = hash_rules(root, &self.unwatched.ignore_files);
        let walked = self.directories.keys().cloned().collect();
        // Without the file, the next process walks everything.
        if let Some(saved) = SavedScan::of(root, rules, self.unnameable, &walked, &self.marked, began) {
            let _ = saved.write(generation);
        }
    }

    /// Resumes from the scan of an earlier process: reads the stamps of its files, and walks the directories
    /// that differ. False if everything has to be walked.
    fn resume(
        &mut self,
        root: &Root,
        watch: &ActiveWatcher,
        saved: &SavedScan,
        files: Vec<RepoPath>,
    ) -> bool {
        let began = SystemTime::now();
        let rules = hash_rules(root, &self.unwatched.ignore_files);
        let SavedDifference::Directories(different) = saved.compare(root, rules) else {
            return false;
        };
        if different.len() > MAX_PARTIAL_WALKS {
            return false;
        }
        self.files = files
            .into_iter()
            .filter_map(|path| {
                let metadata = std::fs::symlink_metadata(root.path().join(path.as_str())).ok()?;
                metadata.is_file().then(|| (path, Stamp::of(&metadata)))
            })
            .collect();
        for directory in &saved.directories {
            if directory.is_walked {
                self.directories
                    .insert(directory.path.clone(), directory.stamp.inode);
            } else {
                self.marked.insert(directory.path.clone());
            }
        }
        self.unnameable = saved.unnameable;
        self.began = Some(began);
        self.is_saved = different.is_empty();
        let mut walked: Option<&RepoPath> = None;
        for directory in &different {
            // Paths are in order, so a directory comes before all that it contains.
            if walked.is_some_and(|outer| directory.as_str().starts_with(&format!("{outer}/"))) {
                continue;
            }
            self.forget(directory);
            self.walk(
                root,
                watch,
                &WalkExtent::Below(root.path().join(directory.as_str())),
            );
            walked = Some(directory);
        }
        // Only a full walk counts and names what it could not read.
        !self.is_incomplete
    }

    fn refresh_files(&mut self, root: &Root, watch: &ActiveWatcher, ignore_files_changed: bool) {
        if let Some((saved, files)) = self.earlier.take()
            && watch.active().is_none()
            && self.resume(root, watch, &saved, files)
        {
            return;
        }
        let changes = match watch.active() {
            Some(watcher) if watcher.fence() => watcher.take(),
            unproven => {
                // The walk below sees the changes whose events have come. Kept, they would start another one.
                if let Some(watcher) = unproven {
                    watcher.take();
                }
                PendingChanges {
                    everything: true,
                    ..PendingChanges::default()
                }
            }
        };
        if watch.active().is_some() && !self.is_covered {
            self.is_covered = true;
            // A directory created between the last scan and the start of the watcher is in `directories` and
            // not watched. Compared with what the watcher was given, it counts as new.
            self.directories = std::mem::take(&mut self.handed_to_watcher);
            return self.walk(root, watch, &WalkExtent::Everything);
        }
        if changes.everything
            || ignore_files_changed
            || self.files.is_empty()
            || changes.paths.iter().any(|path| walk::steers(path))
        {
            // A directory that replaced another has the same name and is not watched: take all of them for
            // new.
            self.directories.clear();
            return self.walk(root, watch, &WalkExtent::Everything);
        }
        let mut extents = self.apply_changes(root.path(), &changes);
        extents.dedup();
        if extents.len() > MAX_PARTIAL_WALKS {
            return self.walk(root, watch, &WalkExtent::Everything);
        }
        for extent in extents {
            self.walk(root, watch, &extent);
        }
    }

    /// Takes over changes of single files, and returns what must be walked.
    fn apply_changes(&mut self, root: &Path, changes: &PendingChanges) -> Vec<WalkExtent> {
        let mut extents: Vec<WalkExtent> = Vec::new();
        for path in &changes.paths {
            let Some(relative) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
                continue;
            };
            let Ok(relative) = RepoPath::parse(relative) else {
                continue;
            };
            match std::fs::symlink_metadata(path) {
                // It is new, or has replaced another directory.
                Ok(metadata) if metadata.is_dir() => {
                    self.forget(&relative);
                    extents.push(WalkExtent::Below(path.clone()));
                }
                Ok(metadata) if metadata.is_file() => match self.files.get_mut(&relative) {
                    Some(stamp) => *stamp = Stamp::of(&metadata),
                    // Only a walk knows whether a new file is ignored.
                    None => extents.push(WalkExtent::Inside(path.parent().unwrap_or(root).to_owned())),
                },
                _ => self.forget(&relative),
            }
        }
        extents
    }

    /// Walks a part of the project, and watches the new directories in it.
    pub(super) fn walk(&mut self, root: &Root, watch: &ActiveWatcher, extent: &WalkExtent) {
        // A file created in a new directory before that is watched causes no event. Another walk finds it; so
        // walk until there is no new directory, but not for ever.
        const MAX_WALKS: usize = 5;
        for _ in 0..MAX_WALKS {
            let began = SystemTime::now();
            let mut survey = walk::survey(root, extent, &Deadline::default());
            if *extent == WalkExtent::Everything && survey.missed.count > self.missed.count {
                // A directory that was removed during the walk looks like one that cannot be read. It does so
                // only once.
                survey = walk::survey(root, extent, &Deadline::default());
            }
            let new: Vec<RepoPath> = survey
                .directories
                .iter()
                .filter(|(directory, inode)| self.directories.get(directory) != Some(inode))
                .map(|(directory, _)| directory.clone())
                .collect();
            if *extent == WalkExtent::Everything {
                self.files = survey.files.into_iter().collect();
                self.directories = survey.directories.into_iter().collect();
                self.marked = survey.marked.into_iter().collect();
                self.unnameable = survey.unnameable;
                self.missed = survey.missed;
                self.began = Some(began);
                self.is_saved = false;
                self.is_incomplete = false;
            } else {
                self.is_incomplete |= survey.missed.count > 0;
                self.files.extend(survey.files);
                self.directories.extend(survey.directories);
                self.marked.extend(survey.marked);
            }
            let Some(watcher) = watch.active().filter(|_| !new.is_empty()) else {
                return;
            };
            let is_watched =
                |directory: &RepoPath| watcher.add(&root.path().join(directory.as_str())).is_ok();
            if !new.iter().all(is_watched) {
                return watch.give_up();
            }
        }
    }

    /// The directories to start a watcher with.
    pub(super) fn hand_to_watcher(&mut self) -> Vec<RepoPath> {
        self.handed_to_watcher.clone_from(&self.directories);
        self.directories()
    }

    pub(super) fn directories(&self) -> Vec<RepoPath> {
        self.directories.keys().cloned().collect()
    }

    /// Removes a file or a directory, with everything in it.
    fn forget(&mut self, gone: &RepoPath) {
        self.files.remove(gone);
        let below = format!("{gone}/");
        let is_inside = |path: &RepoPath| path.as_str().starts_with(&below);
        self.marked.retain(|path| path != gone && !is_inside(path));
        if self.directories.remove(gone).is_some() {
            self.files.retain(|path, _| !is_inside(path));
            self.directories.retain(|path, _| !is_inside(path));
        }
    }
}

#[cfg(test)]
mod tests;
