//! The repository of a submodule, for a file that the project's own repository does not have.
//!
//! Invariant: the last commit says that the directory is a submodule, and its git directory passes the same
//! checks as the project's own.

use std::sync::{Arc, PoisonError};

use docent_core::path::RepoPath;

use super::links::find_submodule;
use super::{Git, GitError, Repository, command};
use crate::deadline::Deadline;

/// Submodules that are kept open.
const MAX_OPEN_SUBMODULES: usize = 16;

impl Git {
    /// The submodule that has `path`, and the path in it. `None` if the path is in no submodule, or in one
    /// that is not checked out.
    pub(super) fn open_submodule(
        &self,
        repository: &Repository,
        path: &RepoPath,
        deadline: &Deadline,
    ) -> Result<Option<(Arc<Self>, RepoPath)>, GitError> {
        let Some(directory) = repository.find_gitlink(path, deadline)? else {
            return Ok(None);
        };
        let inner = path
            .as_str()
            .get(directory.as_str().len() + 1..)
            .unwrap_or_default();
        let name = repository.repo_path(&directory);
        let location = repository.runner.location();
        let (Ok(inner), Some(_)) = (RepoPath::parse(inner), find_submodule(location, &name, deadline)) else {
            return Ok(None);
        };
        let mut open = self.submodules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(directory.as_str())
            && known.root.is_still_there()
        {
            return Ok(Some((known.clone(), inner)));
        }
        let Ok(root) = self.root.directory(&directory) else {
            return Ok(None);
        };
        let mut git = Self::new(root, self.environment.clone(), self.clock, None);
        // A search from the submodule would accept a program elsewhere in the project.
        git.program.clone_from(&self.program);
        let git = Arc::new(git);
        if open.len() == MAX_OPEN_SUBMODULES {
            open.clear();
        }
        open.insert(directory.to_string(), git.clone());
        Ok(Some((git, inner)))
    }
}

impl Repository {
    /// The directory above `path` that is a submodule in the last commit.
    fn find_gitlink(&self, path: &RepoPath, deadline: &Deadline) -> Result<Option<RepoPath>, GitError> {
        let mut directories = Vec::new();
        let mut directory = path.as_str();
        while let Some((above, _)) = directory.rsplit_once('/') {
            directories.push(RepoPath::parse(above).map_err(|_| GitError::Untracked(path.to_string()))?);
            directory = above;
        }
        if directories.is_empty() {
            return Ok(None);
        }
        let mut list = self.runner.command("ls-tree");
        list.args(["-z", "HEAD", "--"])
            .args(directories.iter().map(|directory| self.repo_path(directory)));
        let text = command::read_text(list, 1 << 20, deadline)?;
        // `MODE TYPE ID\tPATH`
        let links: Vec<&str> = text
            .split('\0')
            .filter(|entry| entry.starts_with("160000 "))
            .filter_map(|entry| Some(entry.split_once('\t')?.1))
            .collect();
        Ok(directories
            .into_iter()
            .find(|directory| links.contains(&self.repo_path(directory).as_str())))
    }
}
