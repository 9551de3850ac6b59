//! Recovery: a damaged index is rebuilt, and one that cannot be written is replaced by one in memory for a
//! while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::project_state::ProjectState;
use crate::index::disk::{OpenIndex, table_error};
use crate::index::options::Corpus;
use crate::index::plan::WRITE_RETRY;
use crate::index::shared::Shared;
use crate::store::StoreError;

/// The index that is used while none can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    /// Another process has rebuilt the index in the meantime: use that.
    NewGeneration,
    /// An index in memory, to be filled.
    Memory,
}

/// Tries to leave an index in memory, from time to time.
#[derive(Default)]
pub(super) struct Recovery {
    /// When to try whether the index can be written again. `None` while it is on disk.
    next_try: Option<Instant>,
    /// Tries that failed in a row, although a small file could be written.
    failed_tries: u32,
}

/// The longest wait for the next try. Each costs a build in memory if the disk is almost full.
const MAX_TRY_DELAY: Duration = Duration::from_mins(10);

impl Recovery {
    /// Rebuilds the index on request.
    pub(super) fn rebuild(shared: &Shared, state: &mut ProjectState) -> Result<(), StoreError> {
        let lock = shared.cache_dir.lock()?;
        let opened = shared.cache_dir.rebuild(&lock)?;
        switch_to(shared, state, opened);
        Ok(())
    }

    /// Verifies an index that was reported as damaged, and rebuilds it if it is. Files also disappear because
    /// another process rebuilds the index, so it is verified while we hold the lock.
    pub(super) fn verify(shared: &Shared, state: &mut ProjectState, what: &str) -> Result<(), StoreError> {
        let lock = shared.cache_dir.lock()?;
        state.indexed.invalidate();
        let verified = shared.cache_dir.open_locked(&lock).and_then(|opened| {
            read_whole_table(&opened)?;
            Ok(opened)
        });
        match verified {
            Ok(opened) => shared.show(Arc::new(opened)),
            Err(StoreError::Damaged(_)) => {
                let opened = shared.cache_dir.rebuild(&lock)?;
                state.problems.passing = vec![format!("The index was damaged ({what}) and is being rebuilt")];
                let _ = opened.table().set_fact("damage", what);
                switch_to(shared, state, opened);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Chooses what to use while the index cannot be written, and tells searches why.
    pub(super) fn fall_back(
        &mut self,
        shared: &Shared,
        state: &mut ProjectState,
        error: &std::io::Error,
    ) -> Result<Fallback, StoreError> {
        state.indexed.invalidate();
        let in_use = shared.visible().map(|visible| visible.opened);
        let on_disk = in_use.as_ref().filter(|opened| opened.is_on_disk());
        if on_disk.is_some_and(|opened| shared.cache_dir.current() != opened.generation) {
            return Ok(Fallback::NewGeneration);
        }
        // Not the entries on disk: files that have changed since would not be found.
        state.problems.write_obstacle = Some(format!(
            "The index cannot be written ({error}); it is kept in memory until this process ends. Set XDG_CACHE_HOME to a \
             directory that can be written to keep it"
        ));
        // Disks are cleared, and permissions are given back.
        self.next_try = Some(Instant::now() + try_delay(self.failed_tries));
        self.failed_tries += 1;
        let in_memory = match in_use {
            Some(opened) if !opened.is_on_disk() => opened,
            _ => {
                // Until it is filled, answers say that it is being built.
                state.indexed.start_over();
                Arc::new(OpenIndex::in_memory()?)
            }
        };
        shared.show(in_memory);
        Ok(Fallback::Memory)
    }

    /// A sync has ended well. If the index is on disk, it can be written.
    pub(super) fn on_success(&mut self) {
        if self.next_try.is_none() {
            self.failed_tries = 0;
        }
    }

    /// Leaves an index in memory as soon as one can be written to disk.
    pub(super) fn return_to_disk(&mut self, shared: &Shared, state: &mut ProjectState) {
        if self.next_try.is_none_or(|next_try| Instant::now() < next_try) {
            return;
        }
        self.next_try = Some(Instant::now() + try_delay(self.failed_tries));
        if shared.cache_dir.write_error().is_none()
            && let Ok(opened) = shared.cache_dir.open()
        {
            self.next_try = None;
            state.problems.write_obstacle = None;
            switch_to(shared, state, opened);
        }
    }
}

/// The delay before the next try to write, which doubles with each that fails.
fn try_delay(failed_tries: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failed_tries);
    WRITE_RETRY.saturating_mul(factor).min(MAX_TRY_DELAY)
}

/// Makes searches use another index. Its table is read with the next sync.
fn switch_to(shared: &Shared, state: &mut ProjectState, opened: OpenIndex) {
    state.indexed.start_over();
    shared.show(Arc::new(opened));
}

fn read_whole_table(opened: &OpenIndex) -> Result<(), StoreError> {
    let table = opened.table();
    for corpus in Corpus::OF_FILES {
        table.files(corpus).map_err(table_error)?;
    }
    table.commits().map_err(table_error)?;
    Ok(())
}
