//! The keeper: looks at the files, compares them with what is indexed, and writes the difference.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use docent_core::path::RepoPath;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::build::{Prepared, prepare};
use super::known::Known;
use super::place::{Lock, Opened, of_table};
use super::table::Written;
use super::watch::Watcher;
use super::{Keeper, Shared};
use crate::store::{Change, StoreError};

/// Changes are written when nothing more has come for so long, unless a search asks for them.
const QUIET: Duration = Duration::from_millis(400);

/// What nobody has asked for waits, so that it does not stand in the way of the first answers.
const UNASKED: Duration = Duration::from_millis(200);

/// How long until another try, where another process writes and where nothing can be written.
const SOON: Duration = Duration::from_millis(40);
const LATER: Duration = Duration::from_secs(5);

/// Files that are read and cut at a time.
const BATCH_FILES: usize = 300;
const BATCH_BYTES: u64 = 2 << 20;

/// When the first part of a long build is committed; each further one takes twice as long as the one before.
const FIRST_COMMIT: Duration = Duration::from_millis(300);
const LONGEST_COMMIT: Duration = Duration::from_secs(20);

/// Says that there is no keeper, however it ended: the next search starts another.
struct Gone<'a>(&'a Shared);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.keeper = Keeper::Absent;
        state.answered = state.asked;
    }
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
    let _gone = Gone(shared);
    let mut known = Known::default();
    // A search that comes first is answered by the first look.
    let mut next = Some(Instant::now() + UNASKED);
    let mut watch: Option<Instant> = None;
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
            if watch.take_if(|watch| *watch <= Instant::now()).is_some() {
                known.watched = known.watch(shared);
            }
            let due = due.into_iter().chain(watch).min();
            let wait = due.map_or(Duration::from_mins(10), |due| {
                due.saturating_duration_since(Instant::now())
            });
            state = shared.wait(state, wait);
        }
        let asked = state.asked;
        state.keeper = Keeper::AtWork;
        let (renew, damage) = (std::mem::take(&mut state.renew), state.damage.take());
        drop(state);

        let outcome = if shared.root.is_still_there() {
            known.look(shared);
            known.return_to_disk(shared);
            known.round(shared, renew, damage.as_deref())
        } else {
            // Files are opened below a handle of the directory; what is at its path now is another.
            known.obstacle =
                Some("The project's directory was moved or made anew; start docent again".to_owned());
            Outcome::Stuck
        };
        let mut state = shared.lock();
        state.answered = asked;
        state.keeper = match outcome {
            Outcome::Stuck => Keeper::Stuck,
            _ => Keeper::Idle,
        };
        state.trusted = known.trusted;
        state.rules = known.rules.clone().unwrap_or_default();
        state.standing = known.standing();
        drop(state);
        shared.changed.notify_all();
        next = match outcome {
            Outcome::Complete => None,
            Outcome::Again => Some(Instant::now()),
            Outcome::Busy => Some(Instant::now() + SOON),
            Outcome::Stuck => Some(Instant::now() + LATER),
        };
        if matches!(outcome, Outcome::Complete) {
            // Told once, with the answer that it concerned.
            known.troubles.clear();
        }
        if matches!(outcome, Outcome::Complete) && shared.options.watch && !known.watched {
            watch = Some(Instant::now() + UNASKED);
        }
    }
}

impl Known {
    /// Compares and writes, once.
    fn round(&mut self, shared: &Shared, renew: bool, damage: Option<&str>) -> Outcome {
        match self.try_round(shared, renew, damage) {
            Ok(outcome) => outcome,
            Err(StoreError::Busy) => Outcome::Busy,
            // Told once more in a row, it is not the files that change.
            Err(StoreError::Damaged(what)) if damage.is_some() => {
                self.obstacle = Some(format!("The index cannot be used ({what})"));
                Outcome::Stuck
            }
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
        if renew {
            let lock = shared.place.lock()?;
            self.begin(shared, shared.place.renew(&lock)?);
        }
        if let Some(what) = damage {
            self.mend(shared, what)?;
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
            if opened.is_on_disk() {
                self.obstacle = None;
            }
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
        let mut pending = self.pending();
        if pending.iter().any(|path| !self.files.contains_key(path)) {
            // A file that came after we looked, and that another has indexed already, would be taken for one that is gone.
            self.look(shared);
            pending = self.pending();
        }
        if !pending.is_empty() {
            self.write(shared, &opened, &lock, &pending)?;
        }
        if opened.is_on_disk() {
            self.obstacle = None;
        }
        // What could not be read settles with the next look.
        self.was_complete = true;
        Ok(Outcome::Complete)
    }

    /// Uses an index that was begun anew.
    fn begin(&mut self, shared: &Shared, opened: Opened) {
        self.was_complete = false;
        self.read = None;
        shared.set(Arc::new(opened), None);
    }

    /// Something was found damaged. Files also vanish because another process tidies up or begins anew, so it is looked at once
    /// more while nobody else writes; what is damaged then is built anew.
    fn mend(&mut self, shared: &Shared, what: &str) -> Result<(), StoreError> {
        let lock = shared.place.lock()?;
        self.read = None;
        let whole = shared.place.open_with(&lock).and_then(|opened| {
            opened.store.verify()?;
            opened.table().files().map_err(of_table)?;
            Ok(opened)
        });
        match whole {
            Ok(opened) => shared.set(Arc::new(opened), None),
            Err(StoreError::Damaged(_)) => {
                let opened = shared.place.renew(&lock)?;
                self.troubles = vec![format!("The index was damaged ({what}) and is built anew")];
                let _ = opened.table().set_fact("damage", what);
                self.begin(shared, opened);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Where the index cannot be written: one in memory if there is nothing to search, else what there is. Another try is made
    /// later, because disks are cleared and permissions given back.
    fn hindered(&mut self, shared: &Shared, error: &std::io::Error) -> Outcome {
        self.read = None;
        let in_use = shared.seen().map(|seen| seen.opened);
        let on_disk = in_use.as_ref().filter(|opened| opened.is_on_disk());
        if on_disk.is_some_and(|opened| shared.place.current() != opened.generation) {
            // Another process has begun anew, and what failed is gone.
            return Outcome::Again;
        }
        let reason = format!("The index cannot be written ({error})");
        if on_disk.is_some_and(|opened| opened.store.count() > 0) {
            self.obstacle = Some(format!("{reason}; what was indexed before is searched"));
            return Outcome::Stuck;
        }
        self.obstacle = Some(format!("{reason}; it is kept in memory until this process ends"));
        self.retry = Some(Instant::now() + LATER);
        let in_memory = match in_use {
            Some(opened) if !opened.is_on_disk() => Ok(opened),
            _ => Opened::in_memory().map(Arc::new),
        };
        let outcome = in_memory.and_then(|opened| {
            shared.set(opened, None);
            self.try_round(shared, false, None)
        });
        outcome.unwrap_or(Outcome::Stuck)
    }

    /// Leaves the index in memory as soon as there can be one on disk.
    fn return_to_disk(&mut self, shared: &Shared) {
        if self.retry.is_none_or(|retry| Instant::now() < retry) {
            return;
        }
        self.retry = Some(Instant::now() + LATER);
        if shared.place.hindrance().is_none()
            && let Ok(opened) = shared.place.open()
        {
            self.retry = None;
            self.obstacle = None;
            self.begin(shared, opened);
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
        shared.lock().standing = self.standing();

        let size = pending
            .iter()
            .filter_map(|path| self.files.get(path))
            .map(|stamp| stamp.size)
            .sum();
        // Begun with the first file that says something new.
        let mut change: Option<Box<dyn Change + '_>> = None;
        let mut commit = opened.store.committed()?;
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
                    self.files.get(path).map_or(Prepared::Gone, |stamp| {
                        let before = self.indexed.get(path);
                        prepare(&shared.root, path, *stamp, before, shared.options.largest_file)
                    })
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
                    commit += 1;
                    change.commit(commit)?;
                }
                self.write_down(shared, opened, std::mem::take(&mut written), commit)?;
                if rest.is_empty() && !self.was_complete {
                    opened.table().set_fact("complete", "1").map_err(of_table)?;
                }
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
        commit: u64,
    ) -> Result<(), StoreError> {
        opened.table().write(&written, commit).map_err(of_table)?;
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
        shared.lock().standing = self.standing();
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
    pub(super) fn stop_watching(&self) {
        self.unwatched.store(true, Ordering::Relaxed);
    }
}
