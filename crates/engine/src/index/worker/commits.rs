//! Commits in the index: their messages tell decisions, and which files belong to which words.
//!
//! The list of commits is compared with what is indexed, as files are, so a rewritten history loses the
//! commits that are no longer in it. git runs on a thread of its own, for a few commits at a time, so that a
//! search for code never waits for it.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use docent_core::discovery::CommitMessage;

use super::indexed::LISTED_FACT;
use super::project_state::ProjectState;
use crate::deadline::Deadline;
use crate::git::{Git, GitError, Heads};
use crate::index::disk::{CommitId, DocKey, IndexedFile, OpenIndex, TableChange, WriterLock, table_error};
use crate::index::extract::extract_commit;
use crate::index::options::Corpus;
use crate::index::plan::{self, Action};
use crate::index::shared::Shared;
use crate::store::{StoreEntry, StoreError};

/// Reads commits in the background and writes them into the index.
#[derive(Default)]
pub(super) struct CommitSync {
    /// The heads for which commits were listed. `None` before the first list.
    listed_for: Option<Heads>,
    /// The question that git is working on.
    request: Option<GitRequest>,
    /// Commits that were read and are not written yet.
    extracted: Vec<(Action<CommitId>, Vec<StoreEntry>)>,
    /// When to try again after a failure.
    pub(super) retry: Option<Instant>,
}

/// A question to git, with the channel of its answer.
enum GitRequest {
    List(Heads, Answer<Vec<String>>),
    Messages(Vec<Action<CommitId>>, Answer<Vec<CommitMessage>>),
}

/// The mutex makes a receiver shareable between threads; it is never contended.
type Answer<T> = Mutex<Receiver<Result<T, GitError>>>;

/// Commits whose messages are read with one call of git, and written with one commit of the store if no
/// search interrupts.
const READ_BATCH_COMMITS: usize = 200;
const WRITE_BATCH_COMMITS: usize = 4_000;

const GIT_TIMEOUT: Duration = Duration::from_mins(1);
const HISTORY_RETRY: Duration = Duration::from_secs(30);

/// How often a wait for git checks whether a search wants something else.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl CommitSync {
    /// Reads and writes commits until all are indexed or a search interrupts. True if nothing more can be
    /// done now.
    pub(super) fn advance(&mut self, shared: &Shared, state: &mut ProjectState) -> Result<bool, StoreError> {
        let Some(git) = &shared.options.git else {
            return Ok(true);
        };
        if self.retry.is_some_and(|retry| Instant::now() < retry) {
            return Ok(true);
        }
        // Otherwise the worker would find a retry that is due after every sync.
        self.retry = None;
        let opened = shared.open()?;
        state.indexed.load(&opened)?;
        self.recall_list(shared, state)?;
        let is_done = loop {
            let request = self.request.take();
            let Some(request) = request.or_else(|| self.next_request(git, state, shared.options.commits))
            else {
                break true;
            };
            if let Err(unanswered) = self.receive(request, shared, state) {
                self.request = Some(unanswered);
                break false;
            }
            if self.retry.is_some() {
                break true;
            }
            if self.extracted.len() >= WRITE_BATCH_COMMITS || shared.is_interrupted() {
                break false;
            }
        };
        self.write(shared, state, opened)?;
        if self.retry.is_none() {
            state.problems.history = None;
            if is_done {
                self.remember_list(shared, state)?;
            }
        }
        Ok(is_done)
    }

    /// Reports that commits could not be written, and tries again later.
    pub(super) fn on_write_error(&mut self, state: &mut ProjectState, error: &StoreError) {
        state.problems.history = Some(format!("What commits tell cannot be indexed ({error})"));
        self.retry = Some(Instant::now() + HISTORY_RETRY);
    }

    /// Skips the listing of commits if `HEAD` is where it was when an earlier process had indexed the whole
    /// history. git need not run then.
    fn recall_list(&mut self, shared: &Shared, state: &mut ProjectState) -> Result<(), StoreError> {
        let heads = &state.scan.unwatched.heads;
        if self.listed_for.is_some() {
            return Ok(());
        }
        let Some(key) = list_key(heads, shared.options.commits) else {
            return Ok(());
        };
        let listed = shared.open()?.table().fact(LISTED_FACT).map_err(table_error)?;
        if listed == Some(key) {
            self.listed_for = Some(heads.clone());
            state.listed_commits = state.indexed.commits.clone();
        }
        Ok(())
    }

    /// Stores for which heads all commits are indexed.
    fn remember_list(&self, shared: &Shared, state: &ProjectState) -> Result<(), StoreError> {
        let heads = self.listed_for.as_ref();
        let Some(key) = heads.and_then(|heads| list_key(heads, shared.options.commits)) else {
            return Ok(());
        };
        if state.listed_commits != state.indexed.commits {
            return Ok(());
        }
        let opened = shared.open()?;
        let table = opened.table();
        if table.fact(LISTED_FACT).map_err(table_error)?.as_ref() != Some(&key) {
            table.set_fact(LISTED_FACT, &key).map_err(table_error)?;
        }
        Ok(())
    }

    /// The next question to git. `None` if all commits are known.
    fn next_request(&self, git: &Arc<Git>, state: &ProjectState, max_commits: usize) -> Option<GitRequest> {
        let heads = &state.scan.unwatched.heads;
        if self.listed_for.as_ref() != Some(heads) {
            let list = move |git: &Git| git.recent(max_commits, &Deadline::after(GIT_TIMEOUT));
            return Some(GitRequest::List(heads.clone(), ask_git(git, list)));
        }
        let extracted: HashSet<&Action<CommitId>> = self.extracted.iter().map(|(action, _)| action).collect();
        let actions = plan::commit_actions(&state.listed_commits, &state.indexed.commits);
        let next: Vec<Action<CommitId>> = actions
            .into_iter()
            .filter(|action| !extracted.contains(action))
            .take(READ_BATCH_COMMITS)
            .collect();
        if next.is_empty() {
            return None;
        }
        let ids: Vec<String> = next
            .iter()
            .filter(|action| matches!(action, Action::Update(_)))
            .map(|action| action.key().to_string())
            .collect();
        let read = move |git: &Git| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            read_messages(git, &ids, &Deadline::after(GIT_TIMEOUT))
        };
        Some(GitRequest::Messages(next, ask_git(git, read)))
    }

    /// Waits for git's answer and takes it over. Gives the request back if a search interrupts.
    fn receive(
        &mut self,
        request: GitRequest,
        shared: &Shared,
        state: &mut ProjectState,
    ) -> Result<(), GitRequest> {
        let error = match request {
            GitRequest::List(heads, answer) => match wait_for(&answer, shared) {
                None => return Err(GitRequest::List(heads, answer)),
                Some(Ok(ids)) => {
                    state.listed_commits = ids.iter().filter_map(|id| CommitId::parse(id)).collect();
                    self.listed_for = Some(heads);
                    None
                }
                Some(Err(GitError::NotARepository | GitError::NotInstalled)) => {
                    state.listed_commits.clear();
                    self.listed_for = Some(heads);
                    None
                }
                Some(Err(error)) => Some(error),
            },
            GitRequest::Messages(actions, answer) => match wait_for(&answer, shared) {
                None => return Err(GitRequest::Messages(actions, answer)),
                Some(Ok(messages)) => {
                    for action in actions {
                        let id = action.key();
                        let message = messages.iter().find(|message| message.id == id.as_str());
                        let key = DocKey::Commit(id.clone());
                        let entries = message.map(|message| extract_commit(message, &key));
                        self.extracted.push((action, entries.unwrap_or_default()));
                    }
                    None
                }
                Some(Err(error)) => Some(error),
            },
        };
        self.retry = error.as_ref().map(|_| Instant::now() + HISTORY_RETRY);
        state.problems.history = error.map(|error| format!("The history cannot be read ({error})"));
        Ok(())
    }

    /// Writes the commits that were read, in one commit of the store.
    fn write(
        &mut self,
        shared: &Shared,
        state: &mut ProjectState,
        opened: Arc<OpenIndex>,
    ) -> Result<(), StoreError> {
        if self.extracted.is_empty() {
            return Ok(());
        }
        let _lock = if opened.is_on_disk() {
            shared.cache_dir.try_lock()?
        } else {
            WriterLock::unneeded()
        };
        let opened = shared.current()?.unwrap_or(opened);
        state.indexed.load(&opened)?;
        // Another process may have written the same commits in the meantime.
        let actions = plan::commit_actions(&state.listed_commits, &state.indexed.commits);
        let pending: HashSet<Action<CommitId>> = actions.into_iter().collect();
        let mut change = opened.chunks.change(0)?;
        let mut rows: Vec<TableChange> = Vec::new();
        for (action, entries) in &self.extracted {
            if !pending.contains(action) {
                continue;
            }
            let key = DocKey::Commit(action.key().clone());
            change.remove(&key.removal_key());
            for entry in entries {
                change.add(entry.clone())?;
            }
            let row = IndexedFile {
                chunks: u32::try_from(entries.len()).unwrap_or(u32::MAX),
                ..IndexedFile::default()
            };
            rows.push(match action {
                Action::Update(_) => TableChange::Indexed(key, row),
                Action::Remove(_) => TableChange::Removed(key),
            });
        }
        let number = opened.chunks.last_commit()? + 1;
        change.commit(number)?;
        opened
            .table()
            .write(Corpus::History, &rows, number)
            .map_err(table_error)?;
        opened.chunks.reload()?;
        self.extracted.clear();
        state.record(shared, Corpus::History, rows);
        change.finish()
    }
}

/// The value of [`LISTED_FACT`]: the stamp of the heads, and how many commits are indexed at most.
fn list_key(heads: &Heads, max_commits: usize) -> Option<String> {
    Some(format!("{max_commits} {}", heads.to_text()?))
}

/// Runs a question to git on a thread of its own.
fn ask_git<T: Send + 'static>(
    git: &Arc<Git>,
    question: impl FnOnce(&Git) -> Result<T, GitError> + Send + 'static,
) -> Answer<T> {
    let (sender, answer) = channel();
    let git = git.clone();
    let ask = move || {
        // The receiver is gone if the index was dropped in the meantime.
        let _ = sender.send(question(&git));
    };
    // If no thread can be started, the sender is dropped, and the receiver reports that.
    let _ = thread::Builder::new().name("history".into()).spawn(ask);
    Mutex::new(answer)
}

/// Waits for git's answer. `None` if a search interrupts.
fn wait_for<T>(answer: &Answer<T>, shared: &Shared) -> Option<Result<T, GitError>> {
    loop {
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
        match answer.recv_timeout(POLL_INTERVAL) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Disconnected) => return Some(Err(GitError::Truncated)),
            Err(RecvTimeoutError::Timeout) if shared.is_interrupted() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Reads commit messages. A commit that cannot be read is left out; it is an error only if none can be read.
fn read_messages(git: &Git, ids: &[&str], deadline: &Deadline) -> Result<Vec<CommitMessage>, GitError> {
    let may_be_one_commit = |error: &GitError| {
        matches!(
            error,
            GitError::Failed(_) | GitError::Incomplete | GitError::Truncated
        )
    };
    let failed = match git.messages(ids, deadline) {
        Err(error) if ids.len() > 1 && may_be_one_commit(&error) => error,
        answer => return answer,
    };
    // Bisect until the broken commit is alone.
    let (first, second) = ids.split_at(ids.len() / 2);
    let mut read: Option<Vec<CommitMessage>> = None;
    for half in [first, second] {
        match read_messages(git, half, deadline) {
            Ok(messages) => read.get_or_insert_default().extend(messages),
            Err(error) if may_be_one_commit(&error) => {}
            Err(error) => return Err(error),
        }
    }
    read.ok_or(failed)
}
