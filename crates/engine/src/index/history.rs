//! What commits tell, in the index: found beside everything else, after everything else.
//!
//! The list of commits is compared with what is indexed, as files are; a history that was rewritten loses what is no longer
//! in it. Messages are read a few at a time, so that whoever asks for code in between does not wait.

use std::time::Duration;

use docent_core::discovery::in_commit;
use docent_core::path::RepoPath;

use super::build::note_entry;
use super::known::Known;
use super::place::{Lock, Opened, of_table};
use super::table::{Row, Written};
use super::{Corpus, Shared};
use crate::deadline::Deadline;
use crate::git::{Git, GitError};
use crate::store::{Entry, StoreError};

/// Messages read at a time, and written at once where nobody waits.
const BATCH: usize = 200;
const MOST_AT_ONCE: usize = 4_000;

/// A repository that takes longer to answer is left alone until it changes.
const LONGEST: Duration = Duration::from_mins(1);

impl Known {
    /// Learns which commits there are, where something else may be checked out than before.
    pub(super) fn look_at_history(&mut self, shared: &Shared) {
        let Some(git) = &shared.options.git else { return };
        let heads = &self.elsewhere.heads;
        if self.listed.as_ref() == Some(heads) {
            return;
        }
        match git.recent(shared.options.commits, &Deadline::after(LONGEST)) {
            Ok(ids) => self.commits = ids.iter().filter_map(|id| RepoPath::parse(id).ok()).collect(),
            Err(GitError::NotARepository) => self.commits.clear(),
            // What is known stays known.
            Err(_) => {
                self.commits = self.indexed_commits.keys().cloned().collect();
            }
        }
        self.listed = Some(heads.clone());
    }

    /// Indexes what is not, until all is or somebody asks for something else. True where all is.
    pub(super) fn write_history(&mut self, shared: &Shared) -> Result<bool, StoreError> {
        let Some(git) = shared.options.git.clone() else {
            return Ok(true);
        };
        self.look_at_history(shared);
        let opened = shared.open()?;
        self.read_table(&opened)?;
        if self.pending(Corpus::History).is_empty() {
            return Ok(true);
        }
        let _lock = if opened.is_on_disk() {
            shared.place.try_lock()?
        } else {
            Lock::unneeded()
        };
        let opened = shared.current()?.unwrap_or(opened);
        self.read_table(&opened)?;
        let pending = self.pending(Corpus::History);
        let mut change = opened.pieces.change(0)?;
        let mut written: Vec<Written> = Vec::new();
        for batch in pending.chunks(BATCH) {
            for (id, entries) in self.tell(&git, batch) {
                change.remove(&key(&id));
                let pieces = entries.len();
                for entry in entries {
                    change.add(entry)?;
                }
                written.push(if self.commits.contains(&id) {
                    let pieces = u32::try_from(pieces).unwrap_or(u32::MAX);
                    Written::Indexed(
                        id,
                        Row {
                            pieces,
                            ..Row::default()
                        },
                    )
                } else {
                    Written::Gone(id)
                });
            }
            if written.len() >= MOST_AT_ONCE || shared.is_wanted() {
                break;
            }
        }
        self.commit_history(shared, &opened, &mut *change, written)?;
        change.finish()?;
        Ok(self.pending(Corpus::History).is_empty())
    }

    /// What each of these commits tells; nothing of those that are no longer in the history.
    fn tell(&self, git: &Git, ids: &[RepoPath]) -> Vec<(RepoPath, Vec<Entry>)> {
        let wanted: Vec<&str> = ids
            .iter()
            .filter(|id| self.commits.contains(*id))
            .map(RepoPath::as_str)
            .collect();
        // One that cannot be read tells nothing, and is not asked again.
        let messages = git
            .messages(&wanted, &Deadline::after(LONGEST))
            .unwrap_or_default();
        let told = |id: &RepoPath| {
            let message = messages.iter().find(|message| message.id == id.as_str())?;
            Some(note_entry(&message.id, &key(id), in_commit(message)?, 0))
        };
        ids.iter()
            .map(|id| (id.clone(), Vec::from_iter(told(id))))
            .collect()
    }

    fn commit_history(
        &mut self,
        shared: &Shared,
        opened: &Opened,
        change: &mut dyn crate::store::Change<Entry>,
        written: Vec<Written>,
    ) -> Result<(), StoreError> {
        let number = opened.pieces.committed()? + 1;
        change.commit(number)?;
        opened
            .table()
            .write(Corpus::History, &written, number)
            .map_err(of_table)?;
        opened.pieces.reload()?;
        self.take_note(shared, Corpus::History, written);
        Ok(())
    }
}

/// What a commit is called among files.
fn key(id: &RepoPath) -> String {
    format!("commit {id}")
}
