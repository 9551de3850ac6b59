//! Commits that change how often a text occurs, by `git log -S`.
//!
//! Invariant: a file that the access rules block never makes a commit match. Otherwise a caller could guess
//! its content piece by piece.

use docent_core::access::Access;

use super::command::stream;
use super::log::{CHANGES, Commit, FORMAT, LogQuery, Span, read_commit};
use super::{GitError, Repository};
use crate::deadline::Deadline;

/// Commits that change a text.
#[derive(Debug, Default)]
pub(super) struct FoundCommits {
    pub(super) commits: Vec<Commit>,
    /// Git failed before the end of the history.
    pub(super) is_cut_short: bool,
}

impl Repository {
    /// The requested commits that add or remove `text`, and one more if there is one. Their files are those
    /// in which they do so.
    pub(super) fn log_of_text(
        &self,
        query: &LogQuery,
        text: &str,
        (from, span): (&str, &Span),
        access: &Access,
        deadline: &Deadline,
    ) -> Result<FoundCommits, GitError> {
        let mut command = self.runner.command("log");
        // Without rename detection, a renamed file would count as one that loses and one that gains the text.
        command
            .args(["--encoding=UTF-8", "-M", "-l1000", FORMAT])
            .args(CHANGES)
            .arg(format!("-S{text}"));
        self.select_commits(&mut command, query, from, span);
        let mut found = FoundCommits::default();
        let mut skipped = 0;
        let outcome = stream(command, None, deadline, |out| {
            // Git cannot skip and count here, because it counts commits that match in blocked files only.
            while found.commits.len() <= query.count
                && let Some(mut commit) = read_commit(out)?
            {
                commit
                    .files
                    .retain(|change| change.names().all(|name| self.allows(name, access)));
                if commit.files.is_empty() {
                    continue;
                }
                if skipped < query.skip {
                    skipped += 1;
                } else {
                    found.commits.push(commit);
                }
            }
            Ok(())
        });
        match outcome {
            // Partial clones lack old content. The newer commits are still an answer.
            Err(GitError::Failed(_) | GitError::Truncated | GitError::Incomplete)
                if !found.commits.is_empty() =>
            {
                found.is_cut_short = true;
            }
            outcome => outcome?,
        }
        Ok(found)
    }
}
