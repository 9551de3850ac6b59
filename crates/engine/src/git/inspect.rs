//! One commit in full, and the messages of several.
//!
//! Invariant: messages are bounded like every field of git's output.

use std::sync::Arc;

use super::command::stream;
use super::diff::Diff;
use super::log::{Commit, FORMAT, read_commit_with};
use super::raw::{read_field, skip_separators};
use super::{Git, GitError, shorten};
use crate::deadline::Deadline;

/// A commit with its whole message and the numbers of lines that it changed.
#[derive(Clone, Debug)]
pub struct InspectedCommit {
    pub commit: Commit,
    /// The message without its subject.
    pub body: String,
    /// Against the first parent, or against nothing.
    pub diff: Arc<Diff>,
}

impl Git {
    /// The commit that `reference` names.
    pub fn inspect(&self, reference: &str, deadline: &Deadline) -> Result<InspectedCommit, GitError> {
        self.answer(deadline, |repository| {
            let id = repository.resolve_commit(reference, deadline)?;
            let mut command = repository.runner.command("log");
            command.args(["--no-walk", "--encoding=UTF-8", "--no-renames", "-s", "-z"]);
            command.arg(format!("{FORMAT}%b%x00")).arg(&id).arg("--");
            let read = stream(command, None, deadline, |out| read_commit_with(out, read_field))?;
            let (mut commit, body) = read.ok_or(GitError::Truncated)?;
            commit.short = shorten(&commit.id, repository.id_digits(deadline)?);
            let before = match commit.parents.first() {
                Some(parent) => parent.clone(),
                None => repository.empty_tree(deadline)?,
            };
            let diff = self.count_changes(repository, &before, &id, deadline)?;
            Ok(InspectedCommit { commit, body, diff })
        })
    }

    /// The messages of commits without their subjects, in the order of `ids`.
    pub fn bodies(&self, ids: &[&str], deadline: &Deadline) -> Result<Vec<String>, GitError> {
        if ids.is_empty() {
            // Without an id, git would list the newest commit.
            return Ok(Vec::new());
        }
        self.answer(deadline, |repository| {
            let mut command = repository.runner.command("log");
            command.args(["--no-walk=unsorted", "--stdin", "--encoding=UTF-8", "-s", "-z"]);
            command.arg("--format=%H%x00%b%x00");
            let input = ids.join("\n");
            stream(command, Some(input.as_bytes()), deadline, |out| {
                let mut bodies = Vec::new();
                while skip_separators(out)? {
                    read_field(out)?;
                    bodies.push(read_field(out)?);
                }
                Ok(bodies)
            })
        })
    }
}
