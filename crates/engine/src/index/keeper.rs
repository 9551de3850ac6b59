//! The keeper: looks at the files, compares them with what is indexed, and writes the difference.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use docent_core::path::RepoPath;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::build::{Prepared, prepare};
use super::place::{Lock, Opened, of_table};
use super::table::{Row, Written};
use super::watch::{Changes, Watcher};
use super::{Keeper, Shared, Standing};
use crate::deadline::Deadline;
use crate::store::{Change, StoreError};
use crate::walk::{self, Reach, Stamp};

/// Changes are written when nothing more has come for so long, unless a search asks for them.
const QUIET: Duration = Duration::from_millis(400);

/// How long until another try, where another process writes and where nothing can be written.
const SOON: Duration = Duration::from_millis(40);
const LATER: Duration = Duration::from_secs(5);

/// Files that are read and cut at a time.
const BATCH_FILES: usize = 400;
const BATCH_BYTES: u64 = 6 << 20;

/// When the first part of a long build is committed; each further one takes twice as long as the one before.
const FIRST_COMMIT: Duration = Duration::from_millis(300);
const LONGEST_COMMIT: Duration = Duration::from_secs(20);

/// What is known of the project's files.
#[derive(Default)]
pub(super) struct Known {
    /// As they are now.
    files: BTreeMap<RepoPath, Stamp>,
    directories: BTreeSet<RepoPath>,
    pub(super) unnameable: u64,
    pub(super) missed: u64,
    /// As they are in the index, by which version of the table of which generation.
    pub(super) indexed: BTreeMap<RepoPath, Row>,
    read: Option<(Option<String>, i64)>,
    /// It was complete at least once.
    was_complete: bool,
    pub(super) troubles: Vec<String>,
    /// Why the index is in memory, or is not written.
    obstacle: Option<String>,
    watched: bool,
    /// Something may have changed between the last look and the first watch.
    unseen: bool,
}

/// What a round ended with.
enum Outcome {
    /// All is in the index.
    Complete,
    /// Another process writes.
    Busy,
    /// It cannot be written now.
    Stuck,
    /// There is more to do.
    Again,
}

/// Runs until the index is dropped.
pub(super) fn keep(shared: &Arc<Shared>) {
    let mut known = Known::default();
    let mut next: Option<Instant> = None;
    loop {
        let mut state = shared.lock();
        loop {
            if state.ended {
                return;
            }
            let quiet = shared
                .watcher()
                .and_then(Watcher::last_change)
                .map(|last| last + QUIET);
            let due = [next, quiet].into_iter().flatten().min();
            if state.asked > state.answered || due.is_some_and(|due| due <= Instant::now()) {
                break;
            }
            let wait = due.map_or(Duration::from_mins(10), |due| {
                due.saturating_duration_since(Instant::now())
            });
            state = shared.wait(state, wait);
        }
        let asked = state.asked;
        state.keeper = Keeper::AtWork;
        let (renew, damage) = (std::mem::take(&mut state.renew), state.damage.take());
        drop(state);

        known.look(shared);
        let outcome = known.round(shared, renew, damage.as_deref());
        let mut state = shared.lock();
        state.answered = asked;
        let watch_now = matches!(outcome, Outcome::Complete) && shared.options.watch && !known.watched;
        state.keeper = match outcome {
            Outcome::Stuck => Keeper::Stuck,
            // Until all was looked at once more, nothing is known by watching.
            _ if watch_now => Keeper::AtWork,
            _ => Keeper::Idle,
        };
        state.unnameable = known.unnameable;
        state.standing = known.standing(matches!(outcome, Outcome::Busy));
        drop(state);
        shared.changed.notify_all();
        next = match outcome {
            Outcome::Complete => None,
            Outcome::Again => Some(Instant::now()),
            Outcome::Busy => Some(Instant::now() + SOON),
            Outcome::Stuck => Some(Instant::now() + LATER),
        };
        if watch_now {
            known.watched = true;
            known.watch(shared);
            known.unseen = true;
            next = Some(Instant::now());
        }
    }
}

impl Known {
    /// Learns what has changed on disk.
    fn look(&mut self, shared: &Shared) {
        let changes = match shared.watcher() {
            Some(watcher) if watcher.fence() => watcher.take(),
            _ => Changes {
                everything: true,
                ..Changes::default()
            },
        };
        let root = shared.root.path();
        let steers = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            matches!(name, Some(".gitignore" | ".ignore" | ".docentignore" | ".git"))
        };
        let unseen = std::mem::take(&mut self.unseen);
        if changes.everything
            || unseen
            || self.files.is_empty()
            || changes.paths.iter().any(|path| steers(path))
        {
            return self.survey(shared, &Reach::Everything);
        }
        let mut reaches: Vec<Reach> = Vec::new();
        for path in &changes.paths {
            let Some(named) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
                continue;
            };
            let Ok(named) = RepoPath::parse(named) else {
                continue;
            };
            match std::fs::symlink_metadata(path) {
                Ok(metadata) if metadata.is_dir() => {
                    if !self.directories.contains(&named) {
                        reaches.push(Reach::Below(path.clone()));
                    }
                }
                Ok(metadata) if metadata.is_file() => match self.files.get_mut(&named) {
                    Some(stamp) => *stamp = Stamp::of(&metadata),
                    None => reaches.push(Reach::Inside(path.parent().unwrap_or(root).to_owned())),
                },
                _ => self.forget(&named),
            }
        }
        reaches.dedup();
        if reaches.len() > 50 {
            return self.survey(shared, &Reach::Everything);
        }
        for reach in reaches {
            self.survey(shared, &reach);
        }
    }

    pub(super) fn survey(&mut self, shared: &Shared, reach: &Reach) {
        let survey = walk::survey(&shared.root, reach, &Deadline::default());
        let new: Vec<RepoPath> = survey
            .directories
            .iter()
            .filter(|directory| !self.directories.contains(directory))
            .cloned()
            .collect();
        if *reach == Reach::Everything {
            self.files = survey.files.into_iter().collect();
            self.directories = survey.directories.into_iter().collect();
            self.unnameable = survey.unnameable;
            self.missed = survey.missed.count;
        } else {
            self.files.extend(survey.files);
            self.directories.extend(survey.directories);
        }
        if let Some(watcher) = shared.watcher() {
            for directory in &new {
                if watcher.add(&shared.root.path().join(directory.as_str())).is_err() {
                    return shared.stop_watching();
                }
            }
            // What was made in a new directory before it was watched.
            if !new.is_empty() && *reach != Reach::Everything {
                let again = walk::survey(&shared.root, reach, &Deadline::default());
                self.files.extend(again.files);
            }
        }
    }

    /// A file or a directory that is no longer there.
    fn forget(&mut self, gone: &RepoPath) {
        self.files.remove(gone);
        let below = format!("{gone}/");
        let inside = |path: &RepoPath| path.as_str().starts_with(&below);
        if self.directories.remove(gone) {
            self.files.retain(|path, _| !inside(path));
            self.directories.retain(|path| !inside(path));
        }
    }

    fn watch(&mut self, shared: &Arc<Shared>) {
        let Some(folder) = shared.place.project.as_ref().filter(|_| self.obstacle.is_none()) else {
            return;
        };
        let alarm = {
            let shared = Arc::downgrade(shared);
            Box::new(move || {
                if let Some(shared) = shared.upgrade() {
                    shared.changed.notify_all();
                }
            })
        };
        let watcher = Watcher::new(folder, alarm).and_then(|watcher| {
            watcher.add(shared.root.path())?;
            for directory in &self.directories {
                watcher.add(&shared.root.path().join(directory.as_str()))?;
            }
            Ok(watcher)
        });
        // Where there are too few watches, every search looks for itself.
        let _ = shared.watcher.set(watcher.ok());
    }

    /// Files whose present content is not in the index, in order. Both lists are, so they are gone through side by side.
    fn pending(&self) -> Vec<RepoPath> {
        let mut pending = Vec::new();
        let mut indexed = self.indexed.iter().peekable();
        for (path, stamp) in &self.files {
            while let Some((gone, _)) = indexed.next_if(|(other, _)| *other < path) {
                pending.push(gone.clone());
            }
            let row = indexed.next_if(|(other, _)| *other == path);
            if row.is_none_or(|(_, row)| row.stamp != *stamp) {
                pending.push(path.clone());
            }
        }
        pending.extend(indexed.map(|(gone, _)| gone.clone()));
        pending
    }

    pub(super) fn standing(&self, other_writes: bool) -> Standing {
        Standing {
            files: self.files.len(),
            pending: self.pending().len(),
            was_complete: self.was_complete,
            other_writes,
            troubles: self.obstacle.iter().chain(&self.troubles).cloned().collect(),
            missed: self.missed,
        }
    }

    /// Compares and writes, once.
    fn round(&mut self, shared: &Shared, renew: bool, damage: Option<&str>) -> Outcome {
        match self.try_round(shared, renew, damage) {
            Ok(outcome) => outcome,
            Err(StoreError::Busy) => Outcome::Busy,
            Err(StoreError::Damaged(what)) => {
                shared.lock().damage = Some(what);
                Outcome::Again
            }
            Err(StoreError::Io(error)) => self.hindered(shared, &error),
        }
    }

    fn try_round(
        &mut self,
        shared: &Shared,
        renew: bool,
        damage: Option<&str>,
    ) -> Result<Outcome, StoreError> {
        if renew || damage.is_some() {
            let lock = shared.place.lock()?;
            let opened = shared.place.renew(&lock)?;
            if let Some(what) = damage {
                self.troubles = vec![format!("The index was damaged ({what}) and is built anew")];
                let _ = opened.table().set_fact("damage", what);
            }
            self.was_complete = false;
            self.read = None;
            shared.set(Arc::new(opened), None);
        }
        let opened = if let Some(opened) = shared.current()? {
            opened
        } else {
            let opened = Arc::new(shared.place.open()?);
            if opened.is_on_disk() {
                opened.store.verify()?;
            }
            shared.set(opened.clone(), None);
            opened
        };
        self.read_table(&opened)?;
        if self.pending().is_empty() {
            self.was_complete = true;
            return Ok(Outcome::Complete);
        }
        let lock = if opened.is_on_disk() {
            shared.place.try_lock()?
        } else {
            Lock::unneeded()
        };
        // Another process may have written since.
        let opened = shared.current()?.unwrap_or(opened);
        self.read_table(&opened)?;
        let pending = self.pending();
        if !pending.is_empty() {
            self.write(shared, &opened, &lock, &pending)?;
        }
        // What could not be read settles with the next look.
        self.was_complete = true;
        Ok(Outcome::Complete)
    }

    /// Where the index cannot be written: one in memory if there is nothing to search, else what there is.
    fn hindered(&mut self, shared: &Shared, error: &std::io::Error) -> Outcome {
        let on_disk = shared
            .current()
            .ok()
            .flatten()
            .filter(|opened| opened.is_on_disk());
        let useful = on_disk.is_some_and(|opened| opened.store.count() > 0);
        let reason = format!("The index cannot be written ({error})");
        if useful {
            self.obstacle = Some(format!("{reason}; what was indexed before is searched"));
            self.read = None;
            return Outcome::Stuck;
        }
        self.obstacle = Some(format!("{reason}; it is kept in memory until this process ends"));
        self.read = None;
        match super::place::Place::open_in_memory() {
            Ok(opened) => {
                shared.set(Arc::new(opened), None);
                match self.try_round(shared, false, None) {
                    Ok(outcome) => outcome,
                    Err(_) => Outcome::Stuck,
                }
            }
            Err(_) => Outcome::Stuck,
        }
    }

    pub(super) fn read_table(&mut self, opened: &Opened) -> Result<(), StoreError> {
        let table = opened.table();
        let version = Some((opened.generation.clone(), table.version().map_err(of_table)?));
        if self.read != version {
            self.indexed = table.files().map_err(of_table)?;
            self.was_complete |= table.fact("complete").map_err(of_table)?.is_some();
            self.read = version;
        }
        Ok(())
    }

    /// Reads, cuts and commits, in order and in batches.
    fn write(
        &mut self,
        shared: &Shared,
        opened: &Opened,
        lock: &Lock,
        pending: &[RepoPath],
    ) -> Result<(), StoreError> {
        opened.sweep(lock);
        let counted = &shared.counted;
        for number in [&counted.done, &counted.pieces, &counted.bytes] {
            number.store(0, Ordering::Relaxed);
        }
        counted.total.store(pending.len() as u64, Ordering::Relaxed);
        shared.lock().standing = self.standing(false);

        let size = pending
            .iter()
            .filter_map(|path| self.files.get(path))
            .map(|stamp| stamp.size)
            .sum();
        // Begun with the first file that says something new.
        let mut change: Option<Box<dyn Change + '_>> = None;
        let mut written: Vec<Written> = Vec::new();
        let mut interval = FIRST_COMMIT;
        let mut committed = Instant::now();
        let mut rest = pending;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(self.batch(rest));
            rest = after;
            let prepared: Vec<Prepared> = batch
                .par_iter()
                .map(|path| {
                    if self.files.contains_key(path) {
                        let before = self.indexed.get(path);
                        prepare(&shared.root, path, before, shared.options.largest_file)
                    } else {
                        Prepared::Gone
                    }
                })
                .collect();
            for (path, prepared) in batch.iter().zip(prepared) {
                match prepared {
                    Prepared::Same(row) => written.push(Written::Indexed(path.clone(), row)),
                    Prepared::Gone => {
                        begun(&mut change, opened, size)?.remove(path.as_str());
                        written.push(Written::Gone(path.clone()));
                    }
                    Prepared::Changed { row, entries, bytes } => {
                        let change = begun(&mut change, opened, size)?;
                        change.remove(path.as_str());
                        counted.pieces.fetch_add(entries.len() as u64, Ordering::Relaxed);
                        counted.bytes.fetch_add(bytes, Ordering::Relaxed);
                        for entry in entries {
                            change.add(entry)?;
                        }
                        written.push(Written::Indexed(path.clone(), row));
                    }
                }
            }
            counted.done.fetch_add(batch.len() as u64, Ordering::Relaxed);
            shared.changed.notify_all();
            if rest.is_empty() || committed.elapsed() > interval {
                if let Some(change) = &mut change {
                    change.commit()?;
                }
                self.write_down(shared, opened, std::mem::take(&mut written), rest.is_empty())?;
                interval = (interval * 2).min(LONGEST_COMMIT);
                committed = Instant::now();
            }
            if shared.lock().ended {
                return Ok(());
            }
        }
        change.map_or(Ok(()), Change::finish)
    }

    /// How many of these files are cut at a time.
    fn batch(&self, rest: &[RepoPath]) -> usize {
        let mut bytes = 0;
        rest.iter()
            .take(BATCH_FILES)
            .take_while(|path| {
                let before = bytes;
                bytes += self.files.get(*path).map_or(0, |stamp| stamp.size);
                before < BATCH_BYTES
            })
            .count()
    }

    /// After a commit: puts it into the table, moves what is known of renamed files along, and lets searches see it.
    fn write_down(
        &mut self,
        shared: &Shared,
        opened: &Opened,
        written: Vec<Written>,
        last: bool,
    ) -> Result<(), StoreError> {
        {
            let mut table = opened.table();
            table.write(&written).map_err(of_table)?;
            if last && !self.was_complete {
                table.set_fact("complete", "1").map_err(of_table)?;
            }
        }
        self.follow_renames(shared, &written);
        for written in written {
            match written {
                Written::Indexed(path, row) => {
                    // A file that changed while it was read, or just before, is looked at again.
                    self.files.insert(path.clone(), row.stamp);
                    self.indexed.insert(path, row);
                }
                Written::Gone(path) => {
                    self.files.remove(&path);
                    self.indexed.remove(&path);
                }
            }
        }
        opened.store.reload()?;
        shared.lock().standing = self.standing(false);
        shared.changed.notify_all();
        Ok(())
    }

    /// A file that is gone and one that came with the same content are one file under another name.
    fn follow_renames(&self, shared: &Shared, written: &[Written]) {
        let gone: HashMap<u64, &RepoPath> = written
            .iter()
            .filter_map(|written| match written {
                Written::Gone(path) => self.indexed.get(path).map(|row| (row.hash, path)),
                Written::Indexed(..) => None,
            })
            .filter(|(hash, _)| *hash != 0)
            .collect();
        if gone.is_empty() {
            return;
        }
        for new in written {
            if let Written::Indexed(path, row) = new
                && !self.indexed.contains_key(path)
                && let Some(old) = gone.get(&row.hash)
            {
                // Statistics that stay behind only change an order.
                let _ = shared.accesses.rename(old, path);
            }
        }
    }
}

fn begun<'a, 'b>(
    change: &'a mut Option<Box<dyn Change + 'b>>,
    opened: &'b Opened,
    bytes: u64,
) -> Result<&'a mut Box<dyn Change + 'b>, StoreError> {
    match change {
        Some(change) => Ok(change),
        None => Ok(change.insert(opened.store.change(bytes)?)),
    }
}

impl Shared {
    /// The watcher, as long as it misses nothing.
    pub(super) fn watcher(&self) -> Option<&Watcher> {
        self.watcher
            .get()?
            .as_ref()
            .filter(|_| !self.unwatched.load(Ordering::Relaxed))
    }

    /// Watches have run out: from now on every search looks for itself.
    fn stop_watching(&self) {
        self.unwatched.store(true, Ordering::Relaxed);
    }
}
