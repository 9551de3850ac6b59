//! What commits tell, in the index: found beside everything else, after everything else.
//!
//! The list of commits is compared with what is indexed, as files are; a history that was rewritten loses what is no longer
//! in it. git is asked by a thread of its own, a few commits at a time, so that whoever asks for code in between does not wait
//! for it, however slow it is.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use docent_core::discovery::{CommitMessage, in_commit};
use docent_core::path::RepoPath;
use docent_core::tokens::words_into;

use super::build::note_entry;
use super::known::Known;
use super::place::{Lock, OpenIndex, of_table};
use super::table::{IndexedFile, TableChange};
use super::{Corpus, Shared};
use crate::deadline::Deadline;
use crate::git::{Git, GitError, Heads};
use crate::store::{CommitEntry, StoreEntry, StoreError};

/// What is known of the history, and what is being asked.
#[derive(Default)]
pub(super) struct HistoryState {
    /// What was checked out when commits were listed.
    listed: Option<Heads>,
    asked: Option<GitRequest>,
    /// Commits with what they tell, to be written.
    told: Vec<(RepoPath, Vec<StoreEntry>)>,
    /// Why not all of it is known.
    pub(super) trouble: Option<String>,
    /// When to try again.
    pub(super) retry: Option<Instant>,
}

/// Something that git is asked.
enum GitRequest {
    Commits(Heads, Answer<Vec<String>>),
    Messages(Vec<RepoPath>, Answer<Vec<CommitMessage>>),
}

/// What git answers; with a lock, because what is known is looked at by many threads.
type Answer<T> = Mutex<Receiver<Result<T, GitError>>>;

/// Messages read at a time, and written at once where nobody waits.
const BATCH: usize = 200;
const MAX_BATCH_COMMITS: usize = 4_000;

/// Time for one question, and until the next try where one fails.
const GIT_TIMEOUT: Duration = Duration::from_mins(1);
const HISTORY_RETRY: Duration = Duration::from_secs(30);

/// How often it is looked whether somebody wants something else.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl Known {
    /// Indexes what is not, until all is or somebody asks for something else. True where nothing more can be done now.
    pub(super) fn write_history(&mut self, shared: &Shared) -> Result<bool, StoreError> {
        let Some(git) = &shared.options.git else {
            return Ok(true);
        };
        if self.history.retry.is_some_and(|retry| Instant::now() < retry) {
            return Ok(true);
        }
        let opened = shared.open()?;
        self.read_table(&opened)?;
        let is_done = loop {
            if self.history.asked.is_none() {
                self.history.asked = self.question(git, shared.options.commits);
            }
            let Some(asked) = self.history.asked.take() else {
                break true;
            };
            if let Err(asked) = self.hear(asked, shared) {
                self.history.asked = Some(asked);
                break false;
            }
            if self.history.retry.is_some() {
                break true;
            }
            if self.history.told.len() >= MAX_BATCH_COMMITS || shared.is_wanted() {
                break false;
            }
        };
        self.commit_history(shared, opened)?;
        Ok(is_done)
    }

    /// What git should be asked next; nothing where all is known.
    fn question(&self, git: &Arc<Git>, commits: usize) -> Option<GitRequest> {
        let heads = &self.unwatched.heads;
        if self.history.listed.as_ref() != Some(heads) {
            let list = move |git: &Git| git.recent(commits, &Deadline::after(GIT_TIMEOUT));
            return Some(GitRequest::Commits(heads.clone(), beside(git, list)));
        }
        let told: HashSet<&RepoPath> = self.history.told.iter().map(|(id, _)| id).collect();
        let pending = self.pending(Corpus::History);
        let next: Vec<RepoPath> = pending
            .into_iter()
            .filter(|id| !told.contains(id))
            .take(BATCH)
            .collect();
        if next.is_empty() {
            return None;
        }
        let wanted: Vec<String> = next
            .iter()
            .filter(|id| self.commits.contains(*id))
            .map(ToString::to_string)
            .collect();
        let read = move |git: &Git| {
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            messages(git, &wanted, &Deadline::after(GIT_TIMEOUT))
        };
        Some(GitRequest::Messages(next, beside(git, read)))
    }

    /// Waits for an answer and takes it in; gives the question back where somebody wants something else.
    fn hear(&mut self, asked: GitRequest, shared: &Shared) -> Result<(), GitRequest> {
        let failed = match asked {
            GitRequest::Commits(heads, answer) => match wait(&answer, shared) {
                None => return Err(GitRequest::Commits(heads, answer)),
                Some(Ok(ids)) => {
                    self.commits = ids.iter().filter_map(|id| RepoPath::parse(id).ok()).collect();
                    self.history.listed = Some(heads);
                    None
                }
                Some(Err(GitError::NotARepository | GitError::NotInstalled)) => {
                    self.commits.clear();
                    self.history.listed = Some(heads);
                    None
                }
                Some(Err(error)) => Some(error),
            },
            GitRequest::Messages(ids, answer) => match wait(&answer, shared) {
                None => return Err(GitRequest::Messages(ids, answer)),
                Some(Ok(messages)) => {
                    for id in ids {
                        let message = messages.iter().find(|message| message.id == id.as_str());
                        let entries = message.map(|message| entries(message, &key(&id)));
                        self.history.told.push((id, entries.unwrap_or_default()));
                    }
                    None
                }
                Some(Err(error)) => Some(error),
            },
        };
        self.history.trouble = failed.map(|error| format!("The history cannot be read ({error})"));
        self.history.retry = self
            .history
            .trouble
            .as_ref()
            .map(|_| Instant::now() + HISTORY_RETRY);
        Ok(())
    }

    /// Writes what was told, all at once.
    fn commit_history(&mut self, shared: &Shared, opened: Arc<OpenIndex>) -> Result<(), StoreError> {
        if self.history.told.is_empty() {
            return Ok(());
        }
        let _lock = if opened.is_on_disk() {
            shared.place.try_lock()?
        } else {
            Lock::unneeded()
        };
        let opened = shared.current()?.unwrap_or(opened);
        self.read_table(&opened)?;
        // Another process may have been quicker.
        let pending: HashSet<RepoPath> = self.pending(Corpus::History).into_iter().collect();
        let mut change = opened.chunks.change(0)?;
        let mut written: Vec<TableChange> = Vec::new();
        for (id, entries) in self.history.told.iter().filter(|(id, _)| pending.contains(id)) {
            change.remove(&key(id));
            let row = IndexedFile {
                chunks: u32::try_from(entries.len()).unwrap_or(u32::MAX),
                ..IndexedFile::default()
            };
            for entry in entries {
                change.add(entry.clone())?;
            }
            written.push(if self.commits.contains(id) {
                TableChange::Indexed(id.clone(), row)
            } else {
                TableChange::Gone(id.clone())
            });
        }
        let number = opened.chunks.committed()? + 1;
        change.commit(number)?;
        opened
            .table()
            .write(Corpus::History, &written, number)
            .map_err(of_table)?;
        opened.chunks.reload()?;
        self.history.told.clear();
        self.take_note(shared, Corpus::History, written);
        change.finish()
    }

    /// It could not be written. Another try is made later.
    pub(super) fn history_failed(&mut self, error: &StoreError) {
        self.history.trouble = Some(format!("What commits tell cannot be indexed ({error})"));
        self.history.retry = Some(Instant::now() + HISTORY_RETRY);
    }
}

/// Asks git from a thread of its own.
fn beside<T: Send + 'static>(
    git: &Arc<Git>,
    question: impl FnOnce(&Git) -> Result<T, GitError> + Send + 'static,
) -> Answer<T> {
    let (sender, answer) = channel();
    let git = git.clone();
    let ask = move || {
        // Who asked may have left.
        let _ = sender.send(question(&git));
    };
    // Without a thread the sender is gone, which is an answer too.
    let _ = thread::Builder::new().name("history".into()).spawn(ask);
    Mutex::new(answer)
}

/// The answer; nothing where somebody wants something else meanwhile.
fn wait<T>(answer: &Answer<T>, shared: &Shared) -> Option<Result<T, GitError>> {
    loop {
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
        match answer.recv_timeout(POLL_INTERVAL) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Disconnected) => return Some(Err(GitError::Truncated)),
            Err(RecvTimeoutError::Timeout) if shared.is_wanted() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The messages of commits. One that cannot be read tells nothing; where none can be, that is a failure.
fn messages(git: &Git, ids: &[&str], deadline: &Deadline) -> Result<Vec<CommitMessage>, GitError> {
    let is_of_one = |error: &GitError| {
        matches!(
            error,
            GitError::Failed(_) | GitError::Incomplete | GitError::Truncated
        )
    };
    let failed = match git.messages(ids, deadline) {
        Err(error) if ids.len() > 1 && is_of_one(&error) => error,
        answer => return answer,
    };
    let (first, second) = ids.split_at(ids.len() / 2);
    let mut read: Option<Vec<CommitMessage>> = None;
    for half in [first, second] {
        match messages(git, half, deadline) {
            Ok(messages) => read.get_or_insert_default().extend(messages),
            Err(error) if is_of_one(&error) => {}
            Err(error) => return Err(error),
        }
    }
    read.ok_or(failed)
}

/// Bytes of a message that say what it is about, and files that it can be about.
const TELLING: usize = 400;
const MAX_PATHS: usize = 20;

/// What the index keeps of a commit: what it tells, and which files it spoke of.
fn entries(message: &CommitMessage, key: &str) -> Vec<StoreEntry> {
    let told = in_commit(message).map(|told| note_entry(&message.id, key, told, 0));
    let mut entries = Vec::from_iter(told);
    // What changed everything says nothing of any of it.
    if (1..=MAX_PATHS).contains(&message.paths.len()) {
        let mut text = String::new();
        words_into(&message.subject, &mut text);
        words_into(
            &message.body[..message.body.floor_char_boundary(TELLING)],
            &mut text,
        );
        entries.push(StoreEntry::Commit(CommitEntry {
            key: key.to_owned(),
            paths: message.paths.clone(),
            text,
        }));
    }
    entries
}

/// What a commit is called among files.
fn key(id: &RepoPath) -> String {
    format!("commit {id}")
}
