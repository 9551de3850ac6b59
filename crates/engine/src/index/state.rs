//! The state that searches and the index worker share: requests for a sync, and the results of the last one.
//!
//! A request gets a ticket, the next number. The worker answers all tickets up to the one that was current
//! when its scan began, so a search never gets an answer from a scan that is older than its request.

use std::sync::Arc;

use super::freshness::Freshness;
use super::options::Corpus;
use super::scan::{Manifests, UnwatchedState};
use super::view::View;
use crate::git::Heads;

/// The state that is shared under one lock.
#[derive(Default)]
pub(super) struct SyncState {
    pub(super) worker: WorkerStatus,
    /// The index is being dropped: threads end.
    pub(super) is_ending: bool,
    /// The newest ticket.
    requested: u64,
    /// The newest ticket that waits for documentation, which is synced first, and in the middle of a long
    /// build.
    docs_requested: u64,
    /// The ticket that the running sync will answer.
    in_progress: u64,
    /// The newest ticket that was answered, per corpus: compared with a scan that is newer than the request.
    /// What is not written yet counts as pending.
    answered: [u64; 3],
    freshness: [Freshness; 3],
    /// Damage that a search has met, for the worker to verify.
    pub(super) damage: Option<String>,
    /// A caller wants the index rebuilt.
    pub(super) rebuild: bool,
    /// The watcher covers the whole project, and a full scan has completed since it started.
    pub(super) is_covered: bool,
    /// The unwatched inputs as they were at the last scan.
    pub(super) unwatched: UnwatchedState,
    /// Counts how often the index was found to have changed.
    pub(super) index_changes: u64,
    pub(super) view: Option<Arc<View>>,
    /// The manifests by which the pages of the view were cut.
    pub(super) manifests: Arc<Manifests>,
}

/// Activity of the worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WorkerStatus {
    /// There is no thread.
    #[default]
    Absent,
    /// It is not syncing files. It may be reading commits.
    Idle,
    Syncing,
    /// It cannot write, and tries again later.
    CannotWrite,
}

/// The order for one sync.
#[derive(Debug)]
pub(super) struct SyncRequest {
    /// It answers tickets up to this one.
    pub(super) ticket: u64,
    pub(super) rebuild: bool,
    pub(super) damage: Option<String>,
}

impl SyncState {
    /// Asks for a sync, and returns the ticket to wait for.
    pub(super) fn request(&mut self, corpus: Corpus) -> u64 {
        self.requested += 1;
        if corpus == Corpus::Docs {
            self.docs_requested = self.requested;
        }
        self.requested
    }

    /// Asks for a sync unless one is requested or running.
    pub(super) fn request_if_idle(&mut self) -> bool {
        let is_idle = self.is_all_answered() && self.in_progress == self.answered(Corpus::Code);
        if is_idle {
            self.requested += 1;
        }
        is_idle
    }

    /// Begins a sync for all tickets so far.
    pub(super) fn begin_sync(&mut self) -> SyncRequest {
        self.worker = WorkerStatus::Syncing;
        self.in_progress = self.requested;
        SyncRequest {
            ticket: self.requested,
            rebuild: std::mem::take(&mut self.rebuild),
            damage: self.damage.take(),
        }
    }

    /// The ticket that the running sync will answer.
    pub(super) fn in_progress(&self) -> u64 {
        self.in_progress
    }

    /// The newest ticket that waits for documentation.
    pub(super) fn docs_requested(&self) -> u64 {
        self.docs_requested
    }

    /// The newest answered ticket of a corpus.
    pub(super) fn answered(&self, corpus: Corpus) -> u64 {
        self.answered[corpus as usize]
    }

    /// Answers the tickets of a corpus up to this one. An answer is never taken back.
    pub(super) fn answer(&mut self, corpus: Corpus, ticket: u64) {
        let answered = &mut self.answered[corpus as usize];
        *answered = ticket.max(*answered);
    }

    /// Answers every ticket with what there is, because no worker will.
    pub(super) fn answer_all(&mut self) {
        self.answered = [self.requested; 3];
    }

    /// Whether every request for files was answered.
    pub(super) fn is_all_answered(&self) -> bool {
        self.requested == self.answered(Corpus::Code)
    }

    /// Whether a search waits for documentation.
    pub(super) fn is_docs_waited_for(&self) -> bool {
        self.docs_requested > self.answered(Corpus::Docs)
    }

    pub(super) fn freshness(&self, corpus: Corpus) -> &Freshness {
        &self.freshness[corpus as usize]
    }

    pub(super) fn set_freshness(&mut self, corpus: Corpus, freshness: Freshness) {
        self.freshness[corpus as usize] = freshness;
    }

    /// Marks a corpus as complete before the first scan, because the index on disk was.
    pub(super) fn restore_completeness(&mut self, corpus: Corpus) {
        self.freshness[corpus as usize].was_complete = true;
    }

    /// The freshness of a corpus as far as it is known without a sync.
    pub(super) fn known_freshness(&self, corpus: Corpus) -> Freshness {
        let freshness = self.freshness(corpus).clone();
        if corpus != Corpus::History {
            return freshness;
        }
        // Commits are listed only after the files were synced, so until then there may be some.
        let is_unknown = self.answered(Corpus::History) == 0
            && !freshness.was_complete
            && self.unwatched.heads != Heads::default();
        Freshness {
            unknown: is_unknown,
            ..freshness
        }
    }

    /// Whether the last sync left nothing to do for a corpus, and nothing was asked for since. Says nothing
    /// about changes on disk; the watcher does.
    pub(super) fn is_settled(&self, corpus: Corpus) -> bool {
        let freshness = self.freshness(corpus);
        self.worker == WorkerStatus::Idle
            && self.is_all_answered()
            && (corpus != Corpus::History || self.answered(Corpus::History) == self.answered(Corpus::Code))
            && self.damage.is_none()
            && !self.rebuild
            && freshness.pending == 0
            && freshness.troubles.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle() -> SyncState {
        SyncState {
            worker: WorkerStatus::Idle,
            ..SyncState::default()
        }
    }

    #[test]
    fn a_request_during_a_sync_is_not_answered_by_it() {
        let mut state = idle();
        let first = state.request(Corpus::Code);
        let sync = state.begin_sync();
        let second = state.request(Corpus::Code);
        state.answer(Corpus::Code, sync.ticket);
        assert!(state.answered(Corpus::Code) >= first);
        assert!(state.answered(Corpus::Code) < second);
        assert!(!state.is_all_answered());
    }

    #[test]
    fn an_answer_is_never_taken_back() {
        let mut state = idle();
        state.answer(Corpus::Docs, 5);
        state.answer(Corpus::Docs, 3);
        assert_eq!(state.answered(Corpus::Docs), 5);
    }

    #[test]
    fn only_a_request_for_documentation_is_waited_for_as_one() {
        let mut state = idle();
        state.request(Corpus::Code);
        assert!(!state.is_docs_waited_for());
        let ticket = state.request(Corpus::Docs);
        assert!(state.is_docs_waited_for());
        state.answer(Corpus::Docs, ticket);
        assert!(!state.is_docs_waited_for());
    }

    #[test]
    fn a_sync_takes_damage_and_a_rebuild_once() {
        let mut state = idle();
        state.damage = Some("torn".into());
        state.rebuild = true;
        let first = state.begin_sync();
        assert_eq!((first.damage.as_deref(), first.rebuild), (Some("torn"), true));
        let second = state.begin_sync();
        assert_eq!((second.damage, second.rebuild), (None, false));
    }

    #[test]
    fn a_sync_is_requested_once_while_nothing_happens() {
        let mut state = idle();
        assert!(state.request_if_idle());
        assert!(!state.request_if_idle());
        let sync = state.begin_sync();
        assert!(!state.request_if_idle());
        state.answer(Corpus::Code, sync.ticket);
        assert!(state.request_if_idle());
    }

    #[test]
    fn without_a_worker_every_request_is_answered() {
        let mut state = SyncState::default();
        let ticket = state.request(Corpus::Docs);
        state.answer_all();
        assert!(
            Corpus::ALL
                .into_iter()
                .all(|corpus| state.answered(corpus) >= ticket)
        );
    }

    #[test]
    fn a_state_is_settled_only_with_nothing_pending_and_nothing_asked() {
        assert!(idle().is_settled(Corpus::Code));
        assert!(!SyncState::default().is_settled(Corpus::Code));
        let unsettled: [fn(&mut SyncState); 5] = [
            |state| {
                state.request(Corpus::Code);
            },
            |state| state.rebuild = true,
            |state| state.damage = Some("torn".into()),
            |state| state.worker = WorkerStatus::CannotWrite,
            |state| {
                let freshness = Freshness {
                    pending: 1,
                    ..Freshness::default()
                };
                state.set_freshness(Corpus::Code, freshness);
            },
        ];
        for change in unsettled {
            let mut state = idle();
            change(&mut state);
            assert!(!state.is_settled(Corpus::Code));
        }
    }

    #[test]
    fn history_is_settled_after_the_files_are() {
        let mut state = idle();
        let ticket = state.request(Corpus::Code);
        state.answer(Corpus::Code, ticket);
        assert!(state.is_settled(Corpus::Code));
        assert!(!state.is_settled(Corpus::History));
        state.answer(Corpus::History, ticket);
        assert!(state.is_settled(Corpus::History));
    }
}
