//! Earlier states of the project, read object by object: which commits came since, what they changed, and a
//! state's files.
//!
//! A state is never checked out by git, so that no filter or hook of the repository runs and its index stays
//! as it is.
//!
//! Invariant: only paths inside the project are listed, and only regular files.

use docent_core::path::RepoPath;

use super::command::{read_bytes, read_text};
use super::objects::is_id;
use super::{Git, GitError};
use crate::deadline::Deadline;

/// Limits of lists of commits and of files.
const MAX_LIST_BYTES: u64 = 64 << 20;

/// A file of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastFile {
    pub path: RepoPath,
    /// The object with its content.
    pub object: String,
    pub bytes: u64,
}

/// A regular file that a commit modified, neither added nor deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModifiedFile {
    pub path: RepoPath,
    pub before: String,
    pub after: String,
}

/// A commit without its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCommit {
    pub id: String,
    pub subject: String,
}

impl Git {
    /// The commit so many steps behind the one that is checked out, by first parents. `None` if there are
    /// fewer.
    pub fn ancestor(&self, steps: usize, deadline: &Deadline) -> Result<Option<String>, GitError> {
        self.answer(deadline, |repository| {
            let Some(head) = repository.head(deadline)? else {
                return Ok(None);
            };
            let mut command = repository.runner.command("rev-list");
            command.args([
                "--first-parent",
                "--max-count=1",
                &format!("--skip={steps}"),
                &head,
                "--",
            ]);
            let id = read_text(command, MAX_LIST_BYTES, deadline)?.trim().to_owned();
            Ok(is_id(&id).then_some(id))
        })
    }

    /// The commits since `base` that changed the project, without merges, the newest first.
    pub fn since(&self, base: &str, deadline: &Deadline) -> Result<Vec<PastCommit>, GitError> {
        check_id(base)?;
        self.answer(deadline, |repository| {
            let Some(head) = repository.head(deadline)? else {
                return Ok(Vec::new());
            };
            let mut command = repository.runner.command("log");
            command.args(["--no-merges", "--encoding=UTF-8", "-z", "--format=%H %s"]);
            command.args([&head, &format!("^{base}"), "--"]);
            command.args(repository.path_limit(None));
            let list = read_text(command, MAX_LIST_BYTES, deadline)?;
            let commits = list.split('\0').filter_map(|line| {
                let (id, subject) = line.trim_start().split_once(' ')?;
                Some(PastCommit {
                    id: id.to_owned(),
                    subject: subject.to_owned(),
                })
            });
            Ok(commits.collect())
        })
    }

    /// The files that a commit modified. `None` if it changed more than `limit` files in any way.
    pub fn modified_files(
        &self,
        commit: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Option<Vec<ModifiedFile>>, GitError> {
        check_id(commit)?;
        self.answer(deadline, |repository| {
            let mut command = repository.runner.command("diff-tree");
            command.args([
                "-r",
                "-z",
                "--no-renames",
                "--no-commit-id",
                "--no-abbrev",
                "--raw",
                commit,
                "--",
            ]);
            command.args(repository.path_limit(None));
            let bytes = read_bytes(command, MAX_LIST_BYTES, deadline)?;
            let fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
            // A row, then its path.
            let (pairs, _) = fields.as_chunks::<2>();
            if pairs.len() > limit {
                return Ok(None);
            }
            let location = repository.runner.location();
            let files = pairs.iter().filter_map(|[row, path]| {
                let (before, after) = parse_modified(str::from_utf8(row).ok()?)?;
                let path = RepoPath::parse(location.in_project(str::from_utf8(path).ok()?)?).ok()?;
                Some(ModifiedFile { path, before, after })
            });
            Ok(Some(files.collect()))
        })
    }

    /// The regular files of a state.
    pub fn files_at(&self, commit: &str, deadline: &Deadline) -> Result<Vec<PastFile>, GitError> {
        check_id(commit)?;
        self.answer(deadline, |repository| {
            let mut command = repository.runner.command("ls-tree");
            command.args(["-r", "-z", "-l", "--full-tree", commit]);
            let bytes = read_bytes(command, MAX_LIST_BYTES, deadline)?;
            let location = repository.runner.location();
            let files = bytes.split(|byte| *byte == 0).filter_map(|row| {
                let (about, path) = str::from_utf8(row).ok()?.split_once('\t')?;
                let [mode, "blob", object, bytes] = about.split_whitespace().collect::<Vec<_>>()[..] else {
                    return None;
                };
                is_regular(mode).then_some(())?;
                Some(PastFile {
                    path: RepoPath::parse(location.in_project(path)?).ok()?,
                    object: object.to_owned(),
                    bytes: bytes.parse().ok()?,
                })
            });
            Ok(files.collect())
        })
    }

    /// The contents of objects that the functions above have named, in their order.
    pub fn contents(
        &self,
        objects: &[&str],
        deadline: &Deadline,
        mut take: impl FnMut(usize, Vec<u8>) -> std::io::Result<()>,
    ) -> Result<(), GitError> {
        let repository = {
            let trusted = self.check_trust()?;
            self.open(trusted.location, deadline)?
        };
        for (at, object) in objects.iter().enumerate() {
            check_id(object)?;
            take(at, repository.objects.content(object, deadline)?).map_err(GitError::Pipe)?;
        }
        Ok(())
    }
}

/// Ids come from git itself. Anything else would be an option or a reference.
fn check_id(id: &str) -> Result<(), GitError> {
    if is_id(id) {
        Ok(())
    } else {
        Err(GitError::MalformedReference(id.to_owned()))
    }
}

fn is_regular(mode: &str) -> bool {
    matches!(mode, "100644" | "100755")
}

/// The objects before and after of a row `:MODE MODE ID ID M`. `None` for other changes.
fn parse_modified(row: &str) -> Option<(String, String)> {
    let [before_mode, after_mode, before, after, "M"] = row.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let is_file = is_regular(before_mode.strip_prefix(':')?) && is_regular(after_mode);
    (is_file && is_id(before) && is_id(after)).then(|| (before.to_owned(), after.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_that_were_modified_count() {
        let id = "a".repeat(40);
        let row =
            |modes: &str, status: &str| parse_modified(&format!(":{modes} {id} {id} {status}")).is_some();
        assert!(row("100644 100755", "M"));
        assert!(!row("120000 120000", "M"), "a link");
        assert!(!row("160000 160000", "M"), "a submodule");
        assert!(!row("000000 100644", "A"));
        assert!(!row("100644 000000", "D"));
    }
}
