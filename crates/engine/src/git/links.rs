//! Symbolic links in the directories that git reads references and objects from.
//!
//! A link there could show the history of another repository. Links that stay inside the repository are
//! followed and checked too.
//!
//! Invariant: references and objects of a checked repository are files inside it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::GitError;
use super::location::{self, RepoLocation, list_entries, open};
use crate::deadline::Deadline;

/// References and reflogs that are checked. More are refused.
const MAX_REF_ENTRIES: u32 = 200_000;

/// Levels of directories that are checked below references and reflogs.
const MAX_REF_DEPTH: u32 = 20;

/// Levels below `objects`: `info/commit-graphs/FILE`, `pack/FILE`, `ab/FILE`.
const MAX_OBJECT_DEPTH: u32 = 3;

const LEADS_OUT: GitError = GitError::Refused("parts of its .git directory are links to other places");

/// Refuses a repository with links to other places.
pub(super) fn check_links(git_dir: &Path, common: &Path, deadline: &Deadline) -> Result<(), GitError> {
    let mut refs = LinkCheck {
        common,
        budget: MAX_REF_ENTRIES,
        deadline,
    };
    for directory in [git_dir, common] {
        refs.check(directory, 1)?;
    }
    // A link anywhere below references or reflogs could name commits of another repository. The references of
    // other worktrees can be named as `worktrees/NAME/HEAD`.
    for (directory, name) in [
        (common, "refs"),
        (common, "logs"),
        (common, "reftable"),
        (common, "worktrees"),
        (git_dir, "refs"),
        (git_dir, "logs"),
    ] {
        refs.check(&directory.join(name), MAX_REF_DEPTH)?;
    }
    // A repository may have any number of loose objects. Only the deadline bounds them.
    let mut objects = LinkCheck {
        budget: u32::MAX,
        ..refs
    };
    objects.check(&common.join("objects"), MAX_OBJECT_DEPTH)
}

/// The repository of a submodule as git creates it: inside the submodule, or in `modules` of ours. `None` if
/// it lies or leads elsewhere: to show the commit of a submodule, git reads `HEAD` and references there.
pub(super) fn find_submodule(location: &RepoLocation, path: &str, deadline: &Deadline) -> Option<PathBuf> {
    let dot_git = location.directory().join(path).join(".git");
    // A link on the way to it would lead to another directory.
    if dot_git.canonicalize().ok()? != dot_git {
        return None;
    }
    let git_dir = match location::read_target(&dot_git) {
        None if dot_git.is_dir() => dot_git,
        None => return None,
        Some(target) => {
            let is_ours = [&location.common, &location.git_dir]
                .iter()
                .any(|directory| target.starts_with(directory.join("modules")));
            is_ours.then_some(target)?
        }
    };
    let is_separate = fs::symlink_metadata(git_dir.join("commondir")).is_err()
        && has_own_references(&git_dir)
        && check_links(&git_dir, &git_dir, deadline).is_ok()
        // The path is written into a `.git` file, which must name the directory that was checked.
        && git_dir
            .to_str()
            .is_some_and(|path| !path.contains(char::is_control));
    is_separate.then_some(git_dir)
}

/// Whether the configuration leaves the references where they are. A newer git takes an address in
/// `extensions.refStorage`, which may lead to the references of another repository.
fn has_own_references(git_dir: &Path) -> bool {
    const MAX_CONFIG_BYTES: u64 = 1 << 20;
    let mut text = Vec::new();
    let Ok(read) =
        open(&git_dir.join("config")).and_then(|file| file.take(MAX_CONFIG_BYTES).read_to_end(&mut text))
    else {
        // Without a configuration git takes its defaults.
        return true;
    };
    let text = String::from_utf8_lossy(&text).to_lowercase();
    let is_plain = |value: &str| {
        let value = value.trim_start_matches([' ', '\t', '=', '"']);
        let rest = value
            .strip_prefix("files")
            .or_else(|| value.strip_prefix("reftable"));
        let rest = rest.map(|rest| rest.strip_prefix('"').unwrap_or(rest));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']))
    };
    (read as u64) < MAX_CONFIG_BYTES && text.split("refstorage").skip(1).all(is_plain)
}

/// A walk through directories of one repository.
struct LinkCheck<'a> {
    common: &'a Path,
    /// Entries that may still be looked at.
    budget: u32,
    deadline: &'a Deadline,
}

impl LinkCheck<'_> {
    fn check(&mut self, directory: &Path, depth: u32) -> Result<(), GitError> {
        self.deadline.check()?;
        for entry in list_entries(directory) {
            self.budget = self
                .budget
                .checked_sub(1)
                .ok_or(GitError::Refused("it has more references than can be checked"))?;
            let (Ok(kind), mut path) = (entry.file_type(), entry.path()) else {
                return Err(LEADS_OUT);
            };
            let mut is_directory = kind.is_dir();
            if kind.is_symlink() {
                path = path.canonicalize().map_err(|_| LEADS_OUT)?;
                if !path.starts_with(self.common) {
                    return Err(LEADS_OUT);
                }
                is_directory = path.is_dir();
            }
            if is_directory && depth > 1 {
                self.check(&path, depth - 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_a_submodule_lie_where_git_puts_them() {
        let directory = tempfile::tempdir().unwrap();
        let check = |text: &str| {
            fs::write(directory.path().join("config"), text).unwrap();
            has_own_references(directory.path())
        };
        assert!(check("[core]\n\tbare = false\n"));
        assert!(check("[extensions]\n\trefStorage = reftable\n[core]\n"));
        assert!(check("[extensions]\nrefstorage=\"files\""));
        assert!(!check("[extensions]\n\trefStorage = files:///home/other/.git\n"));
        assert!(!check("[extensions]\n\trefStorage = \"reftable\"://x\n"));
        assert!(!check("[extensions]\n\trefStorage = \\\nfiles:///x\n"));
    }
}
