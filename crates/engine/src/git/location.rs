//! The location of a project's repository, and the checks that it belongs to the project.
//!
//! An archive can contain a `.git` of any form. One that leads git to a directory which does not name this
//! project would show another repository's history under this project's name, so it is refused.
//!
//! Invariant: the directory of a [`RepoLocation`] lies in the project (or in a directory above it that has
//! the same owner), or it names the project back: as a linked worktree or as a submodule. A bare repository
//! is allowed by the user.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::stores::is_allowed;
use super::{GitEnvironment, GitError};

/// A repository and the project in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RepoLocation {
    /// The value of `GIT_DIR`.
    pub(super) git_dir: PathBuf,
    /// Directory of configuration and objects. Differs from `git_dir` in linked worktrees.
    pub(super) common: PathBuf,
    /// `None` in bare repositories.
    pub(super) work_tree: Option<PathBuf>,
    /// The project within the work tree: empty, or a path that ends with `/`.
    pub(super) prefix: String,
    /// True if only `core.worktree` can prove that the directory belongs to this work tree.
    pub(super) needs_worktree: bool,
    /// Differs if another repository, or another of its directories, was put at the same path.
    identity: GitFileStamp,
}

/// Size, times and inode of one or several files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct GitFileStamp(Vec<u64>);

/// The error for a `.git` file whose target does not name it back.
pub(super) const NOT_LINKED_BACK: GitError =
    GitError::Refused("its .git file leads to a directory that does not belong to it");

/// Files that name a directory are short. Longer ones are cut.
const MAX_POINTER_BYTES: u64 = 8_192;

impl RepoLocation {
    /// The repository around `root`, a canonical path. A bare one must lie in a directory that the user has
    /// allowed: its files are plain files, which any clone may contain.
    pub(super) fn find(root: &Path, allowed: &[PathBuf]) -> Result<Self, GitError> {
        let mut has_bare_layout = false;
        for directory in root.ancestors() {
            let dot_git = directory.join(".git");
            let location = match fs::symlink_metadata(&dot_git) {
                Ok(metadata) => Self::at(directory, &dot_git, &metadata)?,
                Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(GitError::Denied),
                Err(_) if directory == root && is_repository(root) => {
                    has_bare_layout = true;
                    if is_allowed(root, allowed) {
                        check_no_common_directory(root)?;
                        Some(Self::new(root, root, None))
                    } else {
                        None
                    }
                }
                Err(_) => None,
            };
            let Some(mut location) = location else { continue };
            if directory != root {
                check_same_owner(directory, root)?;
                let below = root.strip_prefix(directory).expect("an ancestor is a prefix");
                let below = below.to_str().ok_or(GitError::Refused(
                    "the way from the repository to the project is not UTF-8",
                ))?;
                if below.contains(char::is_control) {
                    return Err(GitError::Refused(
                        "the way from the repository to the project has control characters",
                    ));
                }
                let below = if cfg!(windows) {
                    below.replace('\\', "/")
                } else {
                    below.to_owned()
                };
                location.prefix = format!("{below}/");
            }
            return Ok(location);
        }
        Err(if has_bare_layout {
            GitError::BareNotAllowed
        } else {
            GitError::NotARepository
        })
    }

    /// Reads the `.git` of a directory. `None` if it is a directory and no repository.
    fn at(directory: &Path, dot_git: &Path, metadata: &Metadata) -> Result<Option<Self>, GitError> {
        if metadata.is_symlink() {
            return Err(GitError::Refused("its .git is a link to another place"));
        }
        if metadata.is_dir() {
            check_no_common_directory(dot_git)?;
            fs::metadata(dot_git.join("HEAD"))
                .map(drop)
                .or_else(|error| match error.kind() {
                    ErrorKind::PermissionDenied => Err(GitError::Denied),
                    _ => Ok(()),
                })?;
            return Ok(is_repository(dot_git).then(|| Self::new(dot_git, dot_git, Some(directory))));
        }
        if !metadata.is_file() {
            return Err(GitError::Refused("its .git is neither a directory nor a file"));
        }
        Self::follow(directory, dot_git).map(Some)
    }

    /// Follows a `.git` file to a linked worktree or a submodule, if the target names this directory back.
    fn follow(directory: &Path, dot_git: &Path) -> Result<Self, GitError> {
        let text = read_pointer(dot_git)?;
        let target = text
            .strip_prefix("gitdir: ")
            .ok_or(GitError::Refused("its .git file does not name a directory"))?;
        let target = directory
            .join(target)
            .canonicalize()
            .map_err(|_| GitError::Refused("its .git file names a directory that is not there"))?;
        if !target.join("commondir").exists() {
            let mut location = Self::new(&target, &target, Some(directory));
            location.needs_worktree = true;
            return if is_repository(&target) {
                Ok(location)
            } else {
                Err(NOT_LINKED_BACK)
            };
        }
        let resolve = |name: &str| {
            target
                .join(read_pointer(&target.join(name)).ok()?)
                .canonicalize()
                .ok()
        };
        let common = resolve("commondir").ok_or(NOT_LINKED_BACK)?;
        let names_us_back = resolve("gitdir").is_some_and(|back| back == dot_git);
        let is_listed = target
            .parent()
            .is_some_and(|parent| parent == common.join("worktrees"));
        if !(names_us_back && is_listed && is_repository(&common)) {
            return Err(NOT_LINKED_BACK);
        }
        Ok(Self::new(&target, &common, Some(directory)))
    }

    fn new(git_dir: &Path, common: &Path, work_tree: Option<&Path>) -> Self {
        Self {
            git_dir: git_dir.to_owned(),
            common: common.to_owned(),
            work_tree: work_tree.map(Path::to_owned),
            prefix: String::new(),
            needs_worktree: false,
            identity: GitFileStamp::of_directories(git_dir, common),
        }
    }

    /// Stamp of the configuration files that git reads here.
    pub(super) fn configuration(&self) -> GitFileStamp {
        let mut stamp = GitFileStamp::default();
        for file in [self.common.join("config"), self.git_dir.join("config.worktree")] {
            stamp.add(fs::metadata(file).ok().as_ref());
        }
        stamp
    }

    /// Stamp of the files that say which commit is checked out: `HEAD`, the reference it names, and its
    /// reflog.
    pub(super) fn heads(&self) -> GitFileStamp {
        let head = self.git_dir.join("HEAD");
        let named = read_pointer(&head).ok().and_then(|text| {
            let name = text.strip_prefix("ref: ")?.trim_end().to_owned();
            (!name.contains("..") && !name.starts_with('/')).then_some(name)
        });
        let mut files = vec![
            head,
            self.git_dir.join("logs/HEAD"),
            self.common.join("packed-refs"),
            self.common.join("reftable/tables.list"),
            // The rest of a shallow history may be fetched later.
            self.common.join("shallow"),
        ];
        files.extend(named.map(|name| self.common.join(name)));
        let mut stamp = GitFileStamp::default();
        for file in files {
            stamp.add(fs::metadata(file).ok().as_ref());
        }
        stamp
    }

    /// The path in the repository of a path in the project.
    pub(super) fn in_repository(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// The path in the project of a path in the repository. `None` outside the project.
    pub(super) fn in_project<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&self.prefix)
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    /// False if the path of the object directory contains the separator of path lists, so that it cannot be
    /// passed in `GIT_ALTERNATE_OBJECT_DIRECTORIES`.
    pub(super) fn is_listable(&self) -> bool {
        let separators: &[char] = if cfg!(windows) {
            &[';', '"']
        } else {
            &[':', '"', '\n']
        };
        !self.objects().to_string_lossy().contains(separators)
    }

    /// Stamp of everything but commits that an answer depends on: mailmap, attributes, configuration, shallow
    /// file.
    pub(super) fn circumstances(&self) -> GitFileStamp {
        let mut stamp = self.configuration();
        for file in [
            self.directory().join(".mailmap"),
            self.directory().join(".gitattributes"),
            self.common.join("info/attributes"),
            self.common.join("shallow"),
        ] {
            stamp.add(fs::symlink_metadata(file).ok().as_ref());
        }
        stamp
    }

    /// Stamp of the directory of packs. Git derives the length of abbreviated ids from the objects in them.
    pub(super) fn packs(&self) -> GitFileStamp {
        let mut stamp = GitFileStamp::default();
        stamp.add(fs::metadata(self.objects().join("pack")).ok().as_ref());
        stamp
    }

    /// Stamp of the mailmap.
    pub(super) fn mailmap(&self) -> GitFileStamp {
        let mut stamp = GitFileStamp::default();
        let path = self.directory().join(".mailmap");
        stamp.add(fs::symlink_metadata(path).ok().as_ref());
        stamp
    }

    /// True if only git knows the history: grafts or a shallow clone change it, or a bare repository has its
    /// mailmap in a commit.
    pub(super) fn rewrites_history(&self) -> bool {
        self.work_tree.is_none() || self.common.join("info/grafts").exists() || self.is_shallow()
    }

    pub(super) fn is_shallow(&self) -> bool {
        fs::metadata(self.common.join("shallow")).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// The directory to run git in.
    pub(super) fn directory(&self) -> &Path {
        self.work_tree.as_deref().unwrap_or(&self.git_dir)
    }
}

impl GitFileStamp {
    /// The numbers, separated by spaces.
    pub(super) fn to_text(&self) -> String {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        numbers.join(" ")
    }

    /// False for a stamp of one file that does not exist.
    pub(super) fn exists(&self) -> bool {
        self.0 != [0]
    }

    /// Devices and inodes of the directories that references and objects are read from, without their
    /// content. A directory that was replaced by a link differs.
    fn of_directories(git_dir: &Path, common: &Path) -> Self {
        let mut stamp = Self::default();
        let parts = [
            "",
            "refs",
            "refs/heads",
            "objects",
            "objects/info",
            "objects/pack",
        ];
        for path in [git_dir.to_owned()]
            .into_iter()
            .chain(parts.map(|part| common.join(part)))
        {
            let metadata = fs::symlink_metadata(path).ok();
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt;
                let inode = metadata.map_or([0, 0], |metadata| [metadata.dev(), metadata.ino()]);
                stamp.0.extend(inode);
            }
            #[cfg(not(unix))]
            stamp
                .0
                .push(metadata.map_or(0, |metadata| 1 + u64::from(metadata.is_symlink())));
        }
        stamp
    }

    pub(super) fn add(&mut self, metadata: Option<&Metadata>) {
        let Some(metadata) = metadata else {
            self.0.push(0);
            return;
        };
        let nanoseconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok()?.as_nanos().try_into().ok();
        let modified = metadata.modified().ok().and_then(nanoseconds).unwrap_or(0);
        self.0.extend([1, metadata.len(), modified]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let changed = [metadata.ctime(), metadata.ctime_nsec()].map(i64::unsigned_abs);
            self.0.push(metadata.ino());
            self.0.extend(changed);
        }
    }
}

/// Refuses a `.git` directory with a `commondir`: only a linked worktree has its objects in another
/// directory.
fn check_no_common_directory(git_dir: &Path) -> Result<(), GitError> {
    match fs::symlink_metadata(git_dir.join("commondir")) {
        Ok(_) => Err(GitError::Refused(
            "its .git directory leads to another repository",
        )),
        Err(_) => Ok(()),
    }
}

/// Git's own test for a repository.
fn is_repository(directory: &Path) -> bool {
    directory.join("objects").is_dir()
        && directory.join("refs").exists()
        && fs::symlink_metadata(directory.join("HEAD")).is_ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "git's own directories, which are never shown"
)]
pub(super) fn list_entries(directory: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

/// The directory that a `.git` file names.
pub(super) fn read_target(dot_git: &Path) -> Option<PathBuf> {
    let text = read_pointer(dot_git).ok()?;
    dot_git
        .parent()?
        .join(text.strip_prefix("gitdir: ")?)
        .canonicalize()
        .ok()
}

/// Reads a file that names a directory or a reference.
fn read_pointer(path: &Path) -> Result<String, GitError> {
    const UNREADABLE: GitError = GitError::Refused("its .git file cannot be read");
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return Err(UNREADABLE);
    }
    let mut text = String::new();
    open(path)
        .and_then(|file| file.take(MAX_POINTER_BYTES).read_to_string(&mut text))
        .map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => GitError::Denied,
            _ => UNREADABLE,
        })?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Opens a regular file of git's own. A pipe in its place would block the call for ever, also if it is put
/// there after a check.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        ))
    }
}

/// Refuses a repository above the project that belongs to another user: anyone can create a `.git` in `/tmp`.
#[cfg(unix)]
fn check_same_owner(directory: &Path, root: &Path) -> Result<(), GitError> {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::metadata(path).map(|metadata| metadata.uid()).ok();
    if owner(&directory.join(".git")) == owner(root) {
        Ok(())
    } else {
        Err(GitError::Refused(
            "the repository around it belongs to another user",
        ))
    }
}

#[cfg(not(unix))]
fn check_same_owner(_: &Path, _: &Path) -> Result<(), GitError> {
    Ok(())
}

impl GitEnvironment {
    /// Finds a program on the `PATH`. Relative directories are skipped, and so are those inside the project:
    /// a clone must not bring the program that is run.
    pub fn find_program(&self, name: &str, root: &Path) -> Option<PathBuf> {
        self.find_program_outside(name, &[root.to_owned()])
    }

    /// The same outside of several projects.
    pub(super) fn find_program_outside(&self, name: &str, roots: &[PathBuf]) -> Option<PathBuf> {
        let name = format!("{name}{}", if cfg!(windows) { ".exe" } else { "" });
        let is_inside = |real: &Path| roots.iter().any(|root| real.starts_with(root));
        self.search
            .iter()
            .filter(|directory| directory.is_absolute())
            .filter(|directory| !directory.canonicalize().is_ok_and(|real| is_inside(&real)))
            .map(|directory| directory.join(&name))
            .find(|program| is_executable(program))
    }
}

#[cfg(unix)]
fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(program)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(program: &Path) -> bool {
    program.is_file()
}
