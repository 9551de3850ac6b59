//! A private copy of the changed files of the working tree, in which `git diff` reads them.
//!
//! Git opens files by their paths. A directory that is replaced by a link after git has checked the path
//! would make the diff show a file from outside the project. So git only names the changed files in the
//! real working tree; docent reads them by handle and writes them into a private directory, and git
//! compares there. Git takes unchanged files from the index, because their entries in a copy of the index
//! are marked as not checked out.
//!
//! Invariant: no command that prints content runs in the project's own working tree.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, OpenOptions};

use super::command::{Runner, stream};
use super::links::find_submodule;
use super::location;
use super::objects::MAX_OBJECT_BYTES;
use super::raw::{FieldEnd, MAX_CHANGES, peek, read_until};
use super::{GitError, Repository};
use crate::deadline::Deadline;
use crate::files::{FileError, PrivateFolder, Root, TrackedFile};

/// The copy of a working tree, with its index.
#[derive(Debug)]
pub(super) struct WorkTreeCopy {
    folder: PrivateFolder,
    /// Handle of the copied tree. No write through it leaves the tree.
    tree: Dir,
    copied_bytes: u64,
}

/// A path that differs.
struct ChangedPath {
    /// The new mode: `000000` if the file is missing.
    mode: String,
    id_digits: usize,
}

/// Changed paths by their bytes: names need not be UTF-8.
type ChangedPaths = BTreeMap<Vec<u8>, ChangedPath>;

/// Differences beyond this size are not copied.
const MAX_COPIED_BYTES: u64 = 1 << 30;

/// Longer paths do not exist on disk.
const MAX_PATH_BYTES: usize = 8 << 10;

/// Larger attribute files are not copied.
const MAX_ATTRIBUTES_BYTES: u64 = 4 << 20;

/// A larger index is not copied. That of a repository with a million files has about 100 MB.
const MAX_INDEX_BYTES: u64 = 512 << 20;

/// Bytes of the index that are copied between two looks at the deadline.
const MAX_INDEX_PART_BYTES: u64 = 4 << 20;

/// Modification time of the copies. No tracked file has it, so git compares the content.
const COPIED_AT: Duration = Duration::from_secs(1);

/// The error for a tree that was rearranged between two reads.
const CHANGED_MEANWHILE: GitError = GitError::Failed("files changed while they were compared");

impl WorkTreeCopy {
    /// Copies the files below `limit` that differ from the index, for a comparison with `commit` or with the
    /// index. `None` if the files are those of the index and nothing else is compared.
    pub(super) fn make(
        folder: PrivateFolder,
        repository: &Repository,
        root: &Root,
        commit: Option<&str>,
        limit: Option<&str>,
        deadline: &Deadline,
    ) -> Result<Option<Self>, GitError> {
        let mut copy = Self::copy_index(folder, repository, deadline)?;
        let runner = &repository.runner;
        let list = copy.command_in_place(runner, "diff");
        let unstaged = list_changed(list, None, limit, deadline)?;
        if unstaged.is_empty() && commit.is_none() {
            return Ok(None);
        }
        copy.mark_unchanged(runner, &unstaged, limit, deadline)?;
        copy.copy_changed(repository, root, &unstaged, deadline)?;
        let mut paths: HashSet<Vec<u8>> = unstaged.into_keys().collect();
        if let Some(commit) = commit {
            paths.extend(copy.list_staged(runner, commit, limit, deadline)?);
        }
        copy.copy_attributes(repository, root, paths.iter())?;
        Ok(Some(copy))
    }

    /// Copies the index and no file but attributes, for a comparison of the index with a commit or tree.
    pub(super) fn of_index(
        folder: PrivateFolder,
        repository: &Repository,
        root: &Root,
        commit: &str,
        limit: Option<&str>,
        deadline: &Deadline,
    ) -> Result<Self, GitError> {
        let copy = Self::copy_index(folder, repository, deadline)?;
        let paths = copy.list_staged(&repository.runner, commit, limit, deadline)?;
        copy.copy_attributes(repository, root, paths.iter())?;
        Ok(copy)
    }

    /// Copies the index beside an empty tree.
    pub(super) fn copy_index(
        folder: PrivateFolder,
        repository: &Repository,
        deadline: &Deadline,
    ) -> Result<Self, GitError> {
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).map_err(GitError::Pipe)?;
        let index = repository.runner.location().git_dir.join("index");
        copy_index(&index, &folder.path().join("index"), deadline)?;
        Ok(Self {
            tree: Dir::open_ambient_dir(&tree, cap_std::ambient_authority()).map_err(GitError::Pipe)?,
            folder,
            copied_bytes: 0,
        })
    }

    /// The paths in which the index differs from a commit or tree.
    pub(super) fn list_staged(
        &self,
        runner: &Runner,
        commit: &str,
        limit: Option<&str>,
        deadline: &Deadline,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let mut list = self.command(runner, "diff");
        list.arg("--cached");
        let changed = list_changed(list, Some(commit), limit, deadline)?;
        Ok(changed.into_keys().collect())
    }

    /// `git SUBCOMMAND` in the copy.
    pub(super) fn command(&self, runner: &Runner, subcommand: &str) -> Command {
        let tree = self.folder.path().join("tree");
        let mut command = self.command_in_place(runner, subcommand);
        command.env("GIT_WORK_TREE", &tree).current_dir(tree);
        command
    }

    /// `git SUBCOMMAND` in the real working tree, with the copy of the index.
    pub(super) fn command_in_place(&self, runner: &Runner, subcommand: &str) -> Command {
        let mut command = runner.command(subcommand);
        command.env("GIT_INDEX_FILE", self.folder.path().join("index"));
        command
    }

    /// Marks the entries that the working tree has unchanged, so that git does not look for their files.
    fn mark_unchanged(
        &self,
        runner: &Runner,
        unstaged: &ChangedPaths,
        limit: Option<&str>,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        let mut list = self.command(runner, "ls-files");
        list.args(["-z", "--full-name", "--"]).args(limit);
        let marked = stream(list, None, deadline, |out| {
            let mut marked = Vec::new();
            let mut path = Vec::new();
            while read_until(out, 0, MAX_PATH_BYTES, &mut path)? != FieldEnd::EndOfInput {
                if !unstaged.contains_key(&path) {
                    marked.extend_from_slice(&path);
                    marked.push(0);
                }
            }
            Ok(marked)
        })?;
        if !marked.is_empty() {
            let mut mark = self.command(runner, "update-index");
            mark.args(["--skip-worktree", "-z", "--stdin"]);
            stream(mark, Some(&marked), deadline, |_| Ok(()))?;
        }
        Ok(())
    }

    fn copy_changed(
        &mut self,
        repository: &Repository,
        root: &Root,
        unstaged: &ChangedPaths,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        let mut links = Vec::new();
        for (path, change) in unstaged {
            deadline.check()?;
            let Some(in_tree) = to_path(path) else { continue };
            if change.mode == "160000" {
                self.copy_submodule(repository, &in_tree, change, deadline)?;
                continue;
            }
            let Some(in_project) = repository.project_path(path) else {
                continue;
            };
            match root.read_tracked(&in_project, MAX_OBJECT_BYTES) {
                Ok(TrackedFile::Regular { bytes, is_executable }) => {
                    self.copied_bytes += bytes.len() as u64;
                    if self.copied_bytes > MAX_COPIED_BYTES {
                        return Err(GitError::TooManyFiles);
                    }
                    self.write(&in_tree, &bytes, is_executable)?;
                }
                // Git calls files of this size binary without reading them, so zeros are enough.
                Ok(TrackedFile::Large { size, is_executable }) => {
                    let file = self.create(&in_tree, is_executable)?;
                    file.set_len(size)
                        .and_then(|()| file.set_modified(SystemTime::UNIX_EPOCH + COPIED_AT))
                        .map_err(GitError::Pipe)?;
                }
                Ok(TrackedFile::Link(target)) => links.push((in_tree, target)),
                // In the place of a file in conflict, git takes a directory for an empty file.
                Ok(TrackedFile::Directory) => self.tree.create_dir_all(&in_tree).map_err(explain_write)?,
                Ok(TrackedFile::Absent) => {}
                Err(FileError::Denied) => return Err(GitError::Denied),
                Err(FileError::Io(error)) => return Err(GitError::Pipe(error)),
                Err(_) => return Err(CHANGED_MEANWHILE),
            }
        }
        // Links come last, so that no file is written through one.
        for (path, target) in links {
            self.create_parents(&path)?;
            self.link(&target, &path)?;
        }
        Ok(())
    }

    /// Makes a submodule whose repository is the real one. One that does not belong to the project gets a
    /// commit id that says nothing.
    fn copy_submodule(
        &self,
        repository: &Repository,
        path: &Path,
        change: &ChangedPath,
        deadline: &Deadline,
    ) -> Result<(), GitError> {
        let dot_git = path.join(".git");
        let location = repository.runner.location();
        let git_dir = path
            .to_str()
            .and_then(|path| find_submodule(location, path, deadline));
        if let Some(git_dir) = git_dir {
            return self.write(
                &dot_git,
                format!("gitdir: {}\n", git_dir.display()).as_bytes(),
                false,
            );
        }
        for directory in ["objects", "refs"] {
            let directory = dot_git.join(directory);
            self.tree.create_dir_all(directory).map_err(explain_write)?;
        }
        let head = format!("{}\n", "1".repeat(change.id_digits));
        self.write(&dot_git.join("HEAD"), head.as_bytes(), false)
    }

    /// Copies the attribute files that apply to the changed paths: they say what is binary and which line
    /// ends are converted.
    fn copy_attributes<'a>(
        &self,
        repository: &Repository,
        root: &Root,
        changed: impl Iterator<Item = &'a Vec<u8>>,
    ) -> Result<(), GitError> {
        let mut directories: HashSet<&[u8]> = HashSet::from([&b""[..]]);
        for path in changed {
            let mut directory = &path[..];
            while let Some(end) = directory.iter().rposition(|byte| *byte == b'/') {
                directory = &directory[..end];
                if !directories.insert(directory) {
                    break;
                }
            }
        }
        for directory in directories {
            let mut name = directory.to_owned();
            if !name.is_empty() {
                name.push(b'/');
            }
            name.extend_from_slice(b".gitattributes");
            let Some(path) = to_path(&name) else { continue };
            let content = match repository.project_path(&name) {
                Some(in_project) => match root.read_tracked(&in_project, MAX_ATTRIBUTES_BYTES) {
                    Ok(TrackedFile::Regular { bytes, .. }) => Some(bytes),
                    _ => None,
                },
                None => read_attributes(&repository.runner.location().directory().join(&path)),
            };
            // A changed attribute file is there already, and a file may stand in the directory's place.
            let is_free = self
                .tree
                .symlink_metadata(&path)
                .is_err_and(|error| error.kind() == ErrorKind::NotFound);
            if let Some(content) = content.filter(|_| is_free) {
                self.write(&path, &content, false)?;
            }
        }
        Ok(())
    }

    fn write(&self, path: &Path, content: &[u8], is_executable: bool) -> Result<(), GitError> {
        let mut file = self.create(path, is_executable)?;
        file.write_all(content).map_err(GitError::Pipe)?;
        file.set_modified(SystemTime::UNIX_EPOCH + COPIED_AT)
            .map_err(GitError::Pipe)
    }

    fn create(&self, path: &Path, is_executable: bool) -> Result<fs::File, GitError> {
        self.create_parents(path)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, if is_executable { 0o700 } else { 0o600 });
        #[cfg(not(unix))]
        let _ = is_executable;
        let file = self.tree.open_with(path, &options).map_err(explain_write)?;
        Ok(file.into_std())
    }

    fn create_parents(&self, path: &Path) -> Result<(), GitError> {
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => {
                self.tree.create_dir_all(parent).map_err(explain_write)
            }
            _ => Ok(()),
        }
    }

    #[cfg(unix)]
    fn link(&self, target: &Path, path: &Path) -> Result<(), GitError> {
        self.tree.symlink_contents(target, path).map_err(explain_write)
    }

    /// Without links, git has the target's name in a file.
    #[cfg(not(unix))]
    fn link(&self, target: &Path, path: &Path) -> Result<(), GitError> {
        self.write(path, target.to_string_lossy().as_bytes(), false)
    }
}

impl Repository {
    /// The path relative to the project of a path relative to the repository. `None` outside the project.
    fn project_path(&self, path: &[u8]) -> Option<PathBuf> {
        to_path(path.strip_prefix(self.runner.location().prefix.as_bytes())?)
    }
}

/// A file and a directory of the same name come from two moments of the working tree.
fn explain_write(error: std::io::Error) -> GitError {
    match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::NotFound => CHANGED_MEANWHILE,
        _ => GitError::Pipe(error),
    }
}

/// Lists the paths that differ. Git reads content to compare it, and prints only names.
fn list_changed(
    mut command: Command,
    commit: Option<&str>,
    limit: Option<&str>,
    deadline: &Deadline,
) -> Result<ChangedPaths, GitError> {
    command.args([
        "--raw",
        "-z",
        "--no-renames",
        "--no-abbrev",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-relative",
        "--ignore-submodules=dirty",
    ]);
    command.args(commit).arg("--").args(limit);
    stream(command, None, deadline, |out| {
        let mut changed = ChangedPaths::new();
        while let Some((path, change)) = read_changed_path(out)? {
            if changed.len() == MAX_CHANGES {
                return Err(GitError::TooManyFiles);
            }
            if !is_inside(&path) {
                return Err(GitError::Refused("its index names files outside the project"));
            }
            // A file in conflict has a second entry, as it is on disk.
            changed.insert(path, change);
        }
        Ok(changed)
    })
}

/// Reads `:OLDMODE NEWMODE OLDID NEWID STATUS\0PATH\0`. `None` at the end.
fn read_changed_path(out: &mut dyn BufRead) -> Result<Option<(Vec<u8>, ChangedPath)>, GitError> {
    if peek(out)? != Some(b':') {
        return Ok(None);
    }
    let (mut header, mut path) = (Vec::new(), Vec::new());
    for (field, limit) in [(&mut header, 1_000), (&mut path, MAX_PATH_BYTES)] {
        if read_until(out, 0, limit, field)? != FieldEnd::Whole {
            return Err(GitError::Truncated);
        }
    }
    let header = String::from_utf8_lossy(&header);
    let mut words = header.split(' ').skip(1);
    let (Some(mode), Some(_), Some(id)) = (words.next(), words.next(), words.next()) else {
        return Err(GitError::Truncated);
    };
    let change = ChangedPath {
        mode: mode.to_owned(),
        id_digits: id.len(),
    };
    Ok(Some((path, change)))
}

/// Whether a path of the index stays below the directory that it is written into.
fn is_inside(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/')
        .all(|name| !matches!(name, b"" | b"." | b".."))
}

/// Copies the index, if there is one. A hostile one may be a pipe, or have gigabytes without any content.
fn copy_index(from: &Path, to: &Path, deadline: &Deadline) -> Result<(), GitError> {
    let from = match location::open(from) {
        Ok(file) => file,
        Err(error) => {
            return match error.kind() {
                ErrorKind::NotFound => Ok(()),
                ErrorKind::PermissionDenied => Err(GitError::Denied),
                ErrorKind::InvalidInput => Err(GitError::Refused("its index is not a regular file")),
                _ => Err(GitError::Pipe(error)),
            };
        }
    };
    if from.metadata().map_err(GitError::Pipe)?.len() > MAX_INDEX_BYTES {
        return Err(GitError::Refused("its index is too large"));
    }
    let mut from = from.take(MAX_INDEX_BYTES);
    let mut to = fs::File::create(to).map_err(GitError::Pipe)?;
    loop {
        deadline.check()?;
        let mut part = from.by_ref().take(MAX_INDEX_PART_BYTES);
        if io::copy(&mut part, &mut to).map_err(GitError::Pipe)? == 0 {
            return Ok(());
        }
    }
}

/// An attribute file above the project.
fn read_attributes(path: &Path) -> Option<Vec<u8>> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| location::open(path).ok()).flatten()?;
    let mut content = Vec::new();
    file.take(MAX_ATTRIBUTES_BYTES).read_to_end(&mut content).ok()?;
    Some(content)
}

/// A path of git's. Elsewhere than on Unix, one that is not UTF-8 names no file.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
fn to_path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn to_path(bytes: &[u8]) -> Option<PathBuf> {
    str::from_utf8(bytes).ok().map(PathBuf::from)
}
