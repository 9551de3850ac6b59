//! What is known of a project's files: as they are, and as the index has them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use docent_core::memory::{MEMORY_DIRECTORY, MemoryFile};
use docent_core::path::RepoPath;

use super::history::HistoryState;
use super::pages::Pages;
use super::table::IndexedFile;
use super::unwatched::UnwatchedState;
use super::watch::{PendingChanges, Watcher};
use super::{Corpus, Freshness, Shared};
use crate::deadline::Deadline;
use crate::memory::{JOURNAL, ORIGINS};
use crate::stamp::Stamp;
use crate::walk::{self, WalkExtent};

/// What is known of the project's files.
#[derive(Default)]
pub(super) struct Known {
    /// As they are now.
    pub(super) files: BTreeMap<RepoPath, Stamp>,
    /// Each with what tells it from another of the same name.
    directories: BTreeMap<RepoPath, u64>,
    pub(super) unnameable: u64,
    pub(super) missed: u64,
    /// Those of them that are documentation.
    pub(super) pages: Pages,
    /// As they are in the index, by which version of the table of which generation.
    pub(super) indexed: BTreeMap<RepoPath, IndexedFile>,
    pub(super) indexed_pages: BTreeMap<RepoPath, IndexedFile>,
    /// Commits by their ids: those there are, and those that are indexed.
    pub(super) commits: BTreeSet<RepoPath>,
    pub(super) indexed_commits: BTreeMap<RepoPath, IndexedFile>,
    pub(super) history: HistoryState,
    pub(super) read: Option<(Option<String>, i64)>,
    /// Which corpus was complete at least once, by their order.
    pub(super) was_complete: [bool; 3],
    pub(super) troubles: Vec<String>,
    /// Why the index is in memory, or is not written.
    pub(super) obstacle: Option<String>,
    /// When to try whether there can be one on disk again.
    pub(super) retry: Option<Instant>,
    pub(super) watched: bool,
    /// What no watch covers, as it was before the last look.
    pub(super) unwatched: UnwatchedState,
    /// The directories that were handed to the watcher in the beginning.
    handed: BTreeMap<RepoPath, u64>,
    /// All was looked at since it is watched.
    pub(super) trusted: bool,
    /// How often the index was seen to be another than before.
    pub(super) changes: u64,
    /// Files were looked at in the middle of a build, and may have changed once more.
    pub(super) has_glanced: bool,
}

impl Known {
    /// Learns what has changed on disk.
    pub(super) fn look(&mut self, shared: &Shared) {
        let before = std::mem::replace(&mut self.unwatched, shared.unwatched());
        self.look_at_files(shared, self.unwatched.rules != before.rules);
        self.look_at_memory();
        self.pages
            .sort_out(&shared.root, &self.files, &shared.options.pages);
    }

    /// The memory belongs to the project whether or not it is ignored; what docent writes beside it does not.
    fn look_at_memory(&mut self) {
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

    fn look_at_files(&mut self, shared: &Shared, other_rules: bool) {
        let changes = match shared.watcher() {
            Some(watcher) if watcher.fence() => watcher.take(),
            _ => PendingChanges {
                everything: true,
                ..PendingChanges::default()
            },
        };
        let root = shared.root.path();
        // What changed between the last look and the first watch was not told of.
        let unseen = shared.watcher().is_some() && !self.trusted;
        if unseen {
            self.trusted = true;
            // Those that came meanwhile are known and not watched.
            self.directories = std::mem::take(&mut self.handed);
            return self.survey(shared, &WalkExtent::Everything);
        }
        if changes.everything
            || other_rules
            || self.files.is_empty()
            || changes.paths.iter().any(|path| walk::steers(path))
        {
            // A directory that took another's place looks the same and is not watched, so all are taken for new.
            self.directories.clear();
            return self.survey(shared, &WalkExtent::Everything);
        }
        let mut reaches: Vec<WalkExtent> = Vec::new();
        for path in &changes.paths {
            let Some(named) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
                continue;
            };
            let Ok(named) = RepoPath::parse(named) else {
                continue;
            };
            match std::fs::symlink_metadata(path) {
                // It came, or another took its place.
                Ok(metadata) if metadata.is_dir() => {
                    self.forget(&named);
                    reaches.push(WalkExtent::Below(path.clone()));
                }
                Ok(metadata) if metadata.is_file() => match self.files.get_mut(&named) {
                    Some(stamp) => *stamp = Stamp::of(&metadata),
                    None => reaches.push(WalkExtent::Inside(path.parent().unwrap_or(root).to_owned())),
                },
                _ => self.forget(&named),
            }
        }
        reaches.dedup();
        if reaches.len() > 50 {
            return self.survey(shared, &WalkExtent::Everything);
        }
        for reach in reaches {
            self.survey(shared, &reach);
        }
    }

    pub(super) fn survey(&mut self, shared: &Shared, reach: &WalkExtent) {
        // What is made in a directory before it is watched shows when it is looked at once more.
        for _ in 0..5 {
            let mut survey = walk::survey(&shared.root, reach, &Deadline::default());
            if *reach == WalkExtent::Everything && survey.missed.count > self.missed {
                // A directory that was taken away just then is not one that cannot be looked into.
                survey = walk::survey(&shared.root, reach, &Deadline::default());
            }
            let mut new: Vec<RepoPath> = Vec::new();
            for (directory, identity) in &survey.directories {
                if self.directories.get(directory) != Some(identity) {
                    new.push(directory.clone());
                }
            }
            if *reach == WalkExtent::Everything {
                self.files = survey.files.into_iter().collect();
                self.directories = survey.directories.into_iter().collect();
                self.unnameable = survey.unnameable;
                self.missed = survey.missed.count;
            } else {
                self.files.extend(survey.files);
                self.directories.extend(survey.directories);
            }
            let Some(watcher) = shared.watcher().filter(|_| !new.is_empty()) else {
                return;
            };
            if new
                .iter()
                .any(|directory| watcher.add(&shared.root.path().join(directory.as_str())).is_err())
            {
                return shared.stop_watching();
            }
        }
    }

    pub(super) fn directories(&self) -> Vec<RepoPath> {
        self.directories.keys().cloned().collect()
    }

    /// A file or a directory that is no longer there.
    fn forget(&mut self, gone: &RepoPath) {
        self.files.remove(gone);
        let below = format!("{gone}/");
        let inside = |path: &RepoPath| path.as_str().starts_with(&below);
        if self.directories.remove(gone).is_some() {
            self.files.retain(|path, _| !inside(path));
            self.directories.retain(|path, _| !inside(path));
        }
    }

    /// Begins to watch, beside whatever else goes on: thousands of directories take their time. True where it was begun, or
    /// never can be.
    pub(super) fn watch(&mut self, shared: &Arc<Shared>) -> bool {
        if !cfg!(target_os = "linux") {
            return true;
        }
        let Some(folder) = shared.place.project.clone().filter(|_| self.obstacle.is_none()) else {
            return false;
        };
        self.handed = self.directories.clone();
        let directories = self.directories();
        let root = shared.root.path().to_owned();
        let shared = Arc::downgrade(shared);
        let begin = move || {
            let alarm = {
                let shared = shared.clone();
                Box::new(move || {
                    if let Some(shared) = shared.upgrade() {
                        shared.changed.notify_all();
                    }
                })
            };
            let watcher = Watcher::over(&root, &directories, &folder, alarm);
            if let Some(shared) = shared.upgrade() {
                // Where there are too few watches, every search looks for itself.
                let _ = shared.watcher.set(watcher.ok());
                shared.lock().asked += 1;
                shared.changed.notify_all();
            }
        };
        thread::Builder::new().name("watch".into()).spawn(begin).is_ok()
    }

    /// Files whose present content is not in the index, in order.
    pub(super) fn pending(&self, corpus: Corpus) -> Vec<RepoPath> {
        match corpus {
            Corpus::Docs => differing(&self.pages.known, &self.indexed_pages, |(stamp, rules), row| {
                row.stamp == *stamp && row.rules == *rules
            }),
            Corpus::Code => differing(&self.files, &self.indexed, |stamp, row| row.stamp == *stamp),
            Corpus::History => {
                let listed = self.commits.iter().map(|id| (id, &()));
                differing(listed, &self.indexed_commits, |(), _| true)
            }
        }
    }

    pub(super) fn freshness(&self, corpus: Corpus) -> Freshness {
        let files = match corpus {
            Corpus::Docs => self.pages.known.len(),
            Corpus::Code => self.files.len(),
            Corpus::History => self.commits.len(),
        };
        Freshness {
            files,
            pending: self.pending(corpus).len(),
            was_complete: self.was_complete[corpus as usize],
            troubles: match corpus {
                Corpus::History => self.history.trouble.iter().cloned().collect(),
                _ => self.obstacle.iter().chain(&self.troubles).cloned().collect(),
            },
            missed: self.missed,
            unknown: false,
        }
    }
}

/// What is not the same on both sides, in order. Both are in order, so they are gone through side by side.
fn differing<'a, T: 'a>(
    now: impl IntoIterator<Item = (&'a RepoPath, &'a T)>,
    indexed: &BTreeMap<RepoPath, IndexedFile>,
    same: impl Fn(&T, &IndexedFile) -> bool,
) -> Vec<RepoPath> {
    let mut differing = Vec::new();
    let mut indexed = indexed.iter().peekable();
    for (path, value) in now {
        while let Some((gone, _)) = indexed.next_if(|(other, _)| *other < path) {
            differing.push(gone.clone());
        }
        let row = indexed.next_if(|(other, _)| *other == path);
        if row.is_none_or(|(_, row)| !same(value, row)) {
            differing.push(path.clone());
        }
    }
    differing.extend(indexed.map(|(gone, _)| gone.clone()));
    differing
}
