//! Commit messages with the paths that each commit changed, for the index of the history.
//!
//! Merges are left out: their messages rarely say more than that they merge.
//!
//! Invariant: only paths inside the project are listed.

use docent_core::discovery::CommitMessage;

use super::command::{Runner, read_text, stream};
use super::location::{GitFileStamp, RepoLocation};
use super::log::{CHANGES, FORMAT, read_commit_with};
use super::raw::read_field;
use super::{Git, GitError};
use crate::clock::rfc3339;
use crate::deadline::Deadline;

/// Stamp of the checked-out commit. It differs after any command that moved `HEAD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heads(Option<GitFileStamp>);

/// Format of the fields beyond those of a commit: date and body.
const EXTRA_FORMAT: &str = "%aI%x00%b%x00";

/// Limit for a list of commit ids, of 41 or 65 bytes each.
const MAX_LIST_BYTES: u64 = 8 << 20;

impl Heads {
    /// The stamp as a text that can be stored. `None` without a repository.
    pub(crate) fn to_text(&self) -> Option<String> {
        Some(self.0.as_ref()?.to_text())
    }
}

impl Git {
    /// The stamp of the checked-out commit, without running git.
    pub fn heads(&self) -> Heads {
        Heads(
            RepoLocation::find(self.root.path(), &self.environment.allowed_directories)
                .ok()
                .map(|location| location.heads()),
        )
    }

    /// The newest commits that changed the project, without merges.
    pub fn recent(&self, limit: usize, deadline: &Deadline) -> Result<Vec<String>, GitError> {
        self.answer(deadline, |repository| {
            let Some(head) = repository.head(deadline)? else {
                return Ok(Vec::new());
            };
            let mut command = repository.runner.command("rev-list");
            command.args(["--no-merges", &format!("--max-count={limit}"), &head, "--"]);
            command.args(repository.path_limit(None));
            let ids = read_text(command, MAX_LIST_BYTES, deadline)?;
            Ok(ids.lines().map(str::to_owned).collect())
        })
    }

    /// The messages of these commits, in their order.
    pub fn messages(&self, ids: &[&str], deadline: &Deadline) -> Result<Vec<CommitMessage>, GitError> {
        if ids.is_empty() {
            // Without an id, git would list the newest commit.
            return Ok(Vec::new());
        }
        self.answer(deadline, |repository| {
            let location = repository.runner.location();
            let mut messages = match read_messages(&repository.runner, ids, true, deadline) {
                // A partial clone may lack trees, and still has the messages.
                Err(GitError::Incomplete | GitError::Failed(_) | GitError::Truncated) => {
                    read_messages(&repository.runner, ids, false, deadline)?
                }
                messages => messages?,
            };
            for message in &mut messages {
                let inside = |path: &String| location.in_project(path).map(str::to_owned);
                message.paths = message.paths.iter().filter_map(inside).collect();
            }
            Ok(messages)
        })
    }
}

fn read_messages(
    runner: &Runner,
    ids: &[&str],
    with_paths: bool,
    deadline: &Deadline,
) -> Result<Vec<CommitMessage>, GitError> {
    let mut command = runner.command("log");
    command.args([
        "--no-walk=unsorted",
        "--stdin",
        "--encoding=UTF-8",
        "--no-renames",
    ]);
    command.arg(format!("{FORMAT}{EXTRA_FORMAT}"));
    if with_paths {
        command.args(CHANGES);
    } else {
        command.arg("-z");
    }
    let input = ids.join("\n");
    stream(command, Some(input.as_bytes()), deadline, |out| {
        let mut messages = Vec::new();
        while let Some((commit, (date, body))) =
            read_commit_with(out, |out| Ok((read_field(out)?, read_field(out)?)))?
        {
            messages.push(CommitMessage {
                id: commit.id,
                date: date.parse().map(rfc3339).unwrap_or_default(),
                author: commit.author,
                subject: commit.subject,
                body,
                paths: commit.files.into_iter().map(|change| change.path).collect(),
            });
        }
        Ok(messages)
    })
}
