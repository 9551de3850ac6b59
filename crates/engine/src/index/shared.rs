//! What searches and the keeper have in common: how things stand, and the index that is open.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::place::{Mark, OpenIndex};
use super::{Corpus, Freshness, Keeper, Shared, State, VisibleIndex, filling, keeper};
use crate::store::StoreError;

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed
            .wait_timeout(state, time)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    pub(super) fn start(self: &Arc<Self>, state: &mut State) {
        if state.keeper == Keeper::Absent {
            let shared = self.clone();
            let thread = thread::Builder::new().name("index".into());
            if thread.spawn(move || keeper::keep(&shared)).is_ok() {
                state.keeper = Keeper::Idle;
                self.start_filling();
            } else {
                // Without a thread, what was indexed before is searched.
                state.give_up();
            }
        }
    }

    fn start_filling(self: &Arc<Self>) {
        let Some(remote) = self.options.remote.clone().filter(|_| self.options.fills) else {
            return;
        };
        let shared = self.clone();
        let thread = thread::Builder::new().name("embed".into());
        // Without a thread, the model on the server has no say.
        let _ = thread.spawn(move || filling::keep_filling(&shared, &remote));
    }

    /// How things stand, where the watcher says that nothing has changed since the keeper looked last.
    pub(super) fn known_fresh(&self, corpus: Corpus) -> Option<Freshness> {
        let watcher = self.watcher()?;
        if !watcher.fence() || watcher.last_change().is_some() {
            return None;
        }
        // Watches are set by path. A project directory that was replaced before its watch was set is not heard of.
        if !self.root.is_still_there() {
            return None;
        }
        let is_current = self.seen().is_some_and(|seen| self.is_current(&seen.opened));
        let unwatched = self.unwatched();
        let state = self.lock();
        let idle = is_current
            && state.trusted
            && state.unwatched == unwatched
            && state.keeper == Keeper::Idle
            && state.asked == state.answered
            && (corpus != Corpus::History || state.answered == state.answered_history)
            && state.damage.is_none()
            && !state.renew;
        let freshness = match corpus {
            Corpus::Docs => &state.docs,
            Corpus::Code => &state.freshness,
            Corpus::History => &state.history,
        };
        (idle && freshness.pending == 0 && freshness.troubles.is_empty() && watcher.last_change().is_none())
            .then(|| freshness.clone())
    }

    /// The index that searches use now.
    pub(super) fn seen(&self) -> Option<VisibleIndex> {
        self.opened.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// False when another process has begun anew, or has thrown the index away.
    pub(super) fn is_current(&self, opened: &OpenIndex) -> bool {
        !opened.is_on_disk() || (opened.mark().is_some() && self.place.current() == opened.generation)
    }

    /// Lets searches see what was committed since, here or in another process. Not what was begun anew.
    pub(super) fn catch_up(&self, seen: &VisibleIndex) -> Result<(), StoreError> {
        // Taken before it is read: a commit that comes in between is seen next time.
        let mark = seen.opened.mark();
        if mark.is_some() && mark != seen.mark {
            seen.opened.reload()?;
            self.set(seen.opened.clone(), mark);
        }
        Ok(())
    }

    /// The index that should be used now, with everything that was committed.
    pub(super) fn current(&self) -> Result<Option<Arc<OpenIndex>>, StoreError> {
        let Some(seen) = self.seen() else {
            return Ok(None);
        };
        if !self.is_current(&seen.opened) {
            let opened = Arc::new(self.place.open()?);
            self.set(opened.clone(), None);
            return Ok(Some(opened));
        }
        self.catch_up(&seen)?;
        Ok(Some(seen.opened))
    }

    /// Has searches use this index from now on; `mark` is the commit of it that they see.
    pub(super) fn set(&self, opened: Arc<OpenIndex>, mark: Option<Mark>) {
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = Some(VisibleIndex { opened, mark });
    }
}
