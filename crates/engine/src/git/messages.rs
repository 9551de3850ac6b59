//! Messages of commits, for what they tell beyond what changed.

use docent_core::discovery::CommitMessage;

use super::command::{Runner, stream, text};
use super::log::{CHANGES, FORMAT, read_with};
use super::place::{GitFileStamp, RepoLocation};
use super::raw::field;
use super::{Git, GitError};
use crate::clock::rfc3339;
use crate::deadline::Deadline;

/// Changes when something else is checked out, by whichever command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heads(Option<GitFileStamp>);

/// What is read beyond a commit.
const MORE: &str = "%aI%x00%b%x00";

/// Bytes of a list of commits, of which each takes 41 or 65.
const MAX_LIST_BYTES: u64 = 8 << 20;

impl Git {
    /// What is checked out, at the price of a few looks at files.
    pub fn heads(&self) -> Heads {
        Heads(
            RepoLocation::find(self.root.path())
                .ok()
                .map(|place| place.heads()),
        )
    }

    /// The newest commits that changed the project, without merges.
    pub fn recent(&self, most: usize, deadline: &Deadline) -> Result<Vec<String>, GitError> {
        let repository = self.repository(deadline)?;
        let Some(head) = repository.head(deadline)? else {
            return Ok(Vec::new());
        };
        let mut command = repository.runner.command("rev-list");
        command.args(["--no-merges", &format!("--max-count={most}"), &head, "--"]);
        command.args(repository.limit(None));
        let ids = text(command, MAX_LIST_BYTES, deadline)?;
        Ok(ids.lines().map(str::to_owned).collect())
    }

    /// The messages of these commits, in their order.
    pub fn messages(&self, ids: &[&str], deadline: &Deadline) -> Result<Vec<CommitMessage>, GitError> {
        if ids.is_empty() {
            // Asked for none, git would tell of the newest.
            return Ok(Vec::new());
        }
        let repository = self.repository(deadline)?;
        let place = repository.runner.place();
        let mut messages = match read(&repository.runner, ids, true, deadline) {
            // Where trees are missing, the messages are still there.
            Err(GitError::Incomplete | GitError::Failed(_) | GitError::BrokenOff) => {
                read(&repository.runner, ids, false, deadline)?
            }
            messages => messages?,
        };
        for message in &mut messages {
            let inside = |path: &String| place.in_project(path).map(str::to_owned);
            message.paths = message.paths.iter().filter_map(inside).collect();
        }
        Ok(messages)
    }
}

fn read(
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
    command.arg(format!("{FORMAT}{MORE}"));
    if with_paths {
        command.args(CHANGES);
    } else {
        command.arg("-z");
    }
    let input = ids.join("\n");
    stream(command, Some(input.as_bytes()), deadline, |out| {
        let mut messages = Vec::new();
        while let Some((commit, (date, body))) = read_with(out, |out| Ok((field(out)?, field(out)?)))? {
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
