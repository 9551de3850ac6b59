//! The index: its differences from the last commit, and files that a diff of the working tree does not show.
//!
//! Invariant: git compares in a private copy of the index, as for the working tree.

use std::sync::Arc;

use docent_core::path::RepoPath;

use super::command::{read_text, stream};
use super::diff::{Diff, PatchLimit};
use super::raw::{MAX_CHANGES, peek, read_field};
use super::work_tree::WorkTreeCopy;
use super::{Git, GitError, Repository};
use crate::deadline::Deadline;
use crate::files::lossy_text;

/// Changed files that a diff between the index and the working tree does not show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingFiles {
    /// Files in which the index differs from the last commit.
    pub staged: Vec<String>,
    /// Files that git neither tracks nor ignores. A directory without tracked files counts once, with a `/`
    /// at its end.
    pub untracked: Vec<String>,
}

impl Git {
    /// Compares the last commit with the index.
    pub(super) fn diff_staged(
        &self,
        repository: &Repository,
        path: Option<&str>,
        patches: PatchLimit,
        deadline: &Deadline,
    ) -> Result<Arc<Diff>, GitError> {
        if repository.runner.location().work_tree.is_none() {
            return Err(GitError::Bare);
        }
        let commit = repository.head_or_empty_tree(deadline)?;
        let access = self.root.access();
        let diff = self.with_private_folder(|folder| {
            let copy = WorkTreeCopy::of_index(folder, repository, &self.root, &commit, path, deadline)?;
            let ends = ["--cached", commit.as_str()];
            repository.diff(&ends, path, patches, access, Some(&copy), deadline)
        })?;
        Ok(Arc::new(diff))
    }

    /// The staged and the untracked files, of the project or below `path`.
    pub fn pending(&self, path: Option<&RepoPath>, deadline: &Deadline) -> Result<PendingFiles, GitError> {
        self.answer(deadline, |repository| {
            if repository.runner.location().work_tree.is_none() {
                return Err(GitError::Bare);
            }
            let commit = repository.head_or_empty_tree(deadline)?;
            let limit = repository.path_limit(path);
            let limit = limit.as_deref();
            self.with_private_folder(|folder| {
                let copy = WorkTreeCopy::copy_index(folder, repository, deadline)?;
                let staged = copy.list_staged(&repository.runner, &commit, limit, deadline)?;
                let staged: Vec<String> = staged.into_iter().map(lossy_text).collect();
                Ok(PendingFiles {
                    staged: repository.names_in_project(&staged),
                    untracked: repository.list_untracked(&copy, limit, deadline)?,
                })
            })
        })
    }
}

impl Repository {
    /// The last commit, or the empty tree before the first one.
    fn head_or_empty_tree(&self, deadline: &Deadline) -> Result<String, GitError> {
        match self.head(deadline)? {
            Some(id) => Ok(id),
            None => self.empty_tree(deadline),
        }
    }

    /// The id of the empty tree, which depends on the repository's hash function. Git has it built in.
    pub(super) fn empty_tree(&self, deadline: &Deadline) -> Result<String, GitError> {
        let mut command = self.runner.command("hash-object");
        command.args(["-t", "tree", "--no-filters", "--stdin"]);
        let id = read_text(command, 1_000, deadline)?;
        Ok(id.trim().to_owned())
    }

    /// Names the untracked files. Their content is not read.
    fn list_untracked(
        &self,
        copy: &WorkTreeCopy,
        limit: Option<&str>,
        deadline: &Deadline,
    ) -> Result<Vec<String>, GitError> {
        let mut command = copy.command_in_place(&self.runner, "ls-files");
        command.args(["-z", "--full-name", "--others", "--exclude-standard"]);
        command
            .args(["--directory", "--no-empty-directory", "--"])
            .args(limit);
        let names = stream(command, None, deadline, |out| {
            let mut names = Vec::new();
            while peek(out)?.is_some() && names.len() < MAX_CHANGES {
                names.push(read_field(out)?);
            }
            Ok(names)
        })?;
        Ok(self.names_in_project(&names))
    }

    fn names_in_project(&self, names: &[String]) -> Vec<String> {
        let location = self.runner.location();
        names
            .iter()
            .filter_map(|name| location.in_project(name).map(str::to_owned))
            .collect()
    }
}
