//! The only opener of project files.
//!
//! A file is opened below a handle of the root, one component at a time, and never by a path that was checked
//! before: otherwise a symlink that is swapped in between could lead outside. Links that end inside the
//! project are followed, and the access rules are applied to the target of a link as well as to its name.
//!
//! Invariant: an [`OpenedFile`] is a regular file that the rules allow, inside the root unless
//! `Root::open_anywhere` opened it. Pipes, devices and directories are refused without being read.

mod folder;
mod own;
mod private;
#[cfg(test)]
mod tests;
mod text;
mod tracked;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};
use docent_core::access::Access;
use docent_core::path::{PathError, RepoPath, WindowsHazard};
use uuid::Uuid;

pub(crate) use folder::OpenFolder;
pub use own::read_own;
pub(crate) use own::{UNFINISHED, make_private, replace, replace_like};
pub(crate) use private::PrivateFolder;
pub(crate) use text::{decode_file, has_utf16_mark, is_binary, lossy_text};
pub(crate) use tracked::TrackedFile;

use crate::stamp::FileVersion;
use crate::walk::WalkedFile;

/// A project's directory with its access rules. Clones share the handle.
#[derive(Clone, Debug)]
pub struct Root {
    path: Arc<Path>,
    /// The path before it was canonicalized. Absolute links in the project may begin with it.
    given: Arc<Path>,
    dir: Arc<Dir>,
    access: Arc<Access>,
    system: NameRules,
}

/// What the operating system makes of names, beside what the access rules fold on every system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameRules {
    /// A name is the file that is listed under it.
    Plain,
    /// A name may be a device, a stream or another file: such names are refused.
    Windows,
}

impl NameRules {
    const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Plain };
}

/// An open file that the access rules allow.
#[derive(Debug)]
pub struct OpenedFile {
    pub file: File,
    pub size: u64,
    pub modified: Option<SystemTime>,
}

/// The content of a file, and its modification time.
#[derive(Debug)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    pub modified: Option<SystemTime>,
}

/// Why a project's directory cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("there is no directory {0}")]
    Missing(PathBuf),
    #[error("{0} is not a directory")]
    NotADirectory(PathBuf),
    #[error("{0} cannot be read ({1}): give your user the right to read it")]
    Unreadable(PathBuf, io::Error),
}

/// Why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("there is no such file")]
    Missing,
    #[error("the path is blocked because it may hold secrets or machinery")]
    Blocked,
    #[error("the path leads outside the project")]
    Outside,
    #[error("the path would open something else: {0}")]
    Ambiguous(WindowsHazard),
    #[error("the path is a link, and nothing is written through links")]
    Link,
    #[error("the path is a directory")]
    Directory,
    #[error("the path is not a regular file")]
    Special,
    #[error("the file has {size} bytes, over the limit of {limit}")]
    TooLarge { size: u64, limit: u64 },
    #[error("the operating system denies access")]
    Denied,
    #[error("the file system fails: {0}")]
    Io(io::Error),
}

/// Said when [`Root::is_still_there`] is false.
pub const MOVED_PROJECT: &str = "The project directory was moved or replaced. Restart docent";

/// Links followed before a path counts as a loop, as on Linux.
const MAX_LINKS: usize = 40;

impl Root {
    pub fn open(path: &Path, access: Access) -> Result<Self, RootError> {
        let canonical = path.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => RootError::Missing(path.to_owned()),
            _ => RootError::Unreadable(path.to_owned(), error),
        })?;
        if !canonical.is_dir() {
            return Err(RootError::NotADirectory(path.to_owned()));
        }
        let dir = Dir::open_ambient_dir(&canonical, cap_std::ambient_authority())
            .map_err(|error| RootError::Unreadable(path.to_owned(), error))?;
        // A directory that can be entered but not listed would look like an empty project.
        dir.entries()
            .map_err(|error| RootError::Unreadable(path.to_owned(), error))?;
        Ok(Self {
            path: canonical.into(),
            given: std::path::absolute(path)
                .unwrap_or_else(|_| path.to_owned())
                .into(),
            dir: Arc::new(dir),
            access: Arc::new(access),
            system: NameRules::HERE,
        })
    }

    /// The same directory under other rules.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self {
            access: Arc::new(access),
            ..self
        }
    }

    /// A directory of the project as a root, with the same rules. No link leads to it.
    pub(crate) fn directory(&self, path: &RepoPath) -> Result<Self, FileError> {
        let mut dir = self.dir.try_clone()?;
        for name in path.components() {
            dir = dir.open_dir_nofollow(name)?;
        }
        Ok(Self {
            path: self.path.join(path.as_str()).into(),
            given: self.given.join(path.as_str()).into(),
            dir: Arc::new(dir),
            access: self.access.clone(),
            system: self.system,
        })
    }

    /// The canonical path, for naming the project and for walking. Files are opened by handle.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still names the directory in which files are opened.
    #[cfg(unix)]
    pub fn is_still_there(&self) -> bool {
        use cap_std::fs::MetadataExt as _;
        use std::os::unix::fs::MetadataExt as _;
        match (std::fs::metadata(&*self.path), self.dir.dir_metadata()) {
            (Ok(named), Ok(open)) => (named.dev(), named.ino()) == (open.dev(), open.ino()),
            _ => false,
        }
    }

    /// Other systems do not replace a directory that is open.
    #[cfg(not(unix))]
    pub fn is_still_there(&self) -> bool {
        self.path.is_dir()
    }

    /// An id for the project, derived from its path.
    pub fn id(&self) -> String {
        let path = self.path.as_os_str().as_encoded_bytes();
        Uuid::new_v5(&Uuid::NAMESPACE_URL, path).simple().to_string()
    }

    /// The path before it was canonicalized, which may contain links.
    pub(crate) fn path_as_given(&self) -> &Path {
        &self.given
    }

    /// The part of an absolute path below the root. `None` outside.
    pub(crate) fn strip_root<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.path)
            .or_else(|_| path.strip_prefix(&self.given))
            .ok()
    }

    /// An absolute path as a path of the project. `None` outside.
    pub fn relative(&self, path: &Path) -> Option<RepoPath> {
        RepoPath::parse(self.strip_root(path)?.to_str()?).ok()
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Opens a file that a caller named.
    pub fn file(&self, path: &RepoPath) -> Result<OpenedFile, FileError> {
        self.check_name(path)?;
        self.open_unchecked(path)
    }

    /// Refuses a name that the access rules block, or that the system takes for something else.
    fn check_name(&self, path: &RepoPath) -> Result<(), FileError> {
        if !self.access.allows(path) {
            return Err(FileError::Blocked);
        }
        match path.windows_hazard() {
            Some(hazard) if self.system == NameRules::Windows => Err(FileError::Ambiguous(hazard)),
            _ => Ok(()),
        }
    }

    /// Whether the file exists and may be shown.
    pub(crate) fn has_file(&self, path: &RepoPath) -> bool {
        self.file(path).is_ok()
    }

    /// Whether the access rules allow a directory, links followed: one may lead to a directory whose own name
    /// is blocked, or out of the project. The empty path is the root.
    pub fn allows_directory(&self, directory: &str) -> bool {
        let named = self.path.join(directory);
        let resolved = named.canonicalize().unwrap_or_else(|_| named.clone());
        match resolved.strip_prefix(&self.path).ok().and_then(Path::to_str) {
            Some("") => true,
            Some(resolved) => RepoPath::parse(resolved).is_ok_and(|path| self.access.allows(&path)),
            None => false,
        }
    }

    /// Sorted names of the files in a directory, and of its directories with a `/` at the end. Blocked names
    /// are left out, and a directory that cannot be read has none. The empty path is the root.
    pub(crate) fn names_in(&self, directory: &str) -> Vec<String> {
        if !self.allows_directory(directory) {
            return Vec::new();
        }
        let entries = match directory {
            "" => self.dir.entries(),
            _ => self.dir.read_dir(directory),
        };
        let name_if_shown = |entry: cap_std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let path = if directory.is_empty() {
                name.clone()
            } else {
                format!("{directory}/{name}")
            };
            let is_allowed = RepoPath::parse(&path).is_ok_and(|path| self.access.allows(&path));
            let kind = entry.file_type().ok()?;
            let is_shown = is_allowed
                && (!kind.is_symlink() || RepoPath::parse(&path).is_ok_and(|path| self.has_file(&path)));
            is_shown.then(|| if kind.is_dir() { name + "/" } else { name })
        };
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(name_if_shown)
            .collect();
        names.sort_unstable();
        names
    }

    /// Opens a file that a walk has found. The walk has applied the access rules, and does not follow links.
    pub fn open_walked(&self, walked: &WalkedFile) -> Result<OpenedFile, FileError> {
        self.open_unchecked(walked.path())
    }

    /// Opens a file anywhere on the machine, for the user who runs docent. A relative path begins at the
    /// root. The access rules are applied to the target. The content may be parsed, but not shown.
    pub(crate) fn open_anywhere(&self, path: &Path) -> Result<OpenedFile, FileError> {
        let path = self.path.join(path).canonicalize()?;
        let names = self.strip_root(&path).unwrap_or(&path).components();
        let names: Vec<&str> = names
            .filter_map(|component| match component {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        match RepoPath::parse(&names.join("/")) {
            Ok(guarded) if !self.access.allows(&guarded) => return Err(FileError::Blocked),
            Ok(_) => {}
            Err(PathError::Empty) => return Err(FileError::Directory),
            Err(_) => return Err(FileError::Blocked),
        }
        let file =
            cap_std::fs::File::open_ambient_with(&path, &read_options(), cap_std::ambient_authority())?;
        OpenedFile::new(file.into_std())
    }

    /// Reads a whole file of at most `limit` bytes.
    pub fn read(&self, path: &RepoPath, limit: u64) -> Result<FileContent, FileError> {
        self.file(path)?.read(limit)
    }

    /// Creates a file. An existing file is an error and is left as it is.
    pub fn create(&self, path: &RepoPath, content: &[u8]) -> Result<(), FileError> {
        self.check_name(path)?;
        // A link may lead to a directory whose own name is blocked.
        let mut directory = path.as_str();
        while let Some((above, _)) = directory.rsplit_once('/') {
            if self.dir.symlink_metadata(above)?.is_symlink() {
                return Err(FileError::Blocked);
            }
            directory = above;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = self.dir.open_with(path.as_str(), &options)?;
        Ok(file.write_all(content).inspect_err(|_| {
            // A partial file would make the next attempt fail.
            let _ = self.dir.remove_file(path.as_str());
        })?)
    }

    /// Reads a file that controls a walk, an ignore file for example. It is never shown, so the access rules
    /// do not apply to its name. `None` if there is none.
    pub(crate) fn read_walk_rules(&self, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        let opened = self.open_unchecked(path);
        match opened.and_then(|opened| opened.read(limit)) {
            Ok(content) => Ok(Some(content.bytes)),
            Err(FileError::Missing | FileError::Directory) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a path whose name the access rules allow.
    fn open_unchecked(&self, path: &RepoPath) -> Result<OpenedFile, FileError> {
        match self
            .open_directly(path)
            .filter(|_| self.system == NameRules::Plain)
        {
            Some(file) => OpenedFile::new(file?),
            None => self.open_through_links(path),
        }
    }

    /// One system call for the common case of a path without links. `None` if the path contains a link, or
    /// the system does not have the call.
    #[cfg(target_os = "linux")]
    fn open_directly(&self, path: &RepoPath) -> Option<Result<File, FileError>> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::Errno;

        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(&*self.dir, path.as_str(), flags, Mode::empty(), resolve) {
            Ok(handle) => Some(Ok(File::from(handle))),
            // A sandbox may refuse the call itself with EPERM, an old kernel with ENOSYS.
            Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL | Errno::TOOBIG) => {
                None
            }
            Err(errno) => Some(Err(io::Error::from(errno).into())),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_directly(&self, _path: &RepoPath) -> Option<Result<File, FileError>> {
        None
    }

    /// Opens the path one component at a time without following links, and resolves links by reading them. It
    /// works on every system and applies the access rules to the target.
    fn open_through_links(&self, path: &RepoPath) -> Result<OpenedFile, FileError> {
        let mut ahead: Vec<String> = path.components().rev().map(str::to_owned).collect();
        let mut behind: Vec<(Dir, String)> = Vec::new();
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == ".." {
                behind.pop().ok_or(FileError::Outside)?;
                continue;
            }
            // Asking for a device by its name may already open it.
            let step = RepoPath::parse(&name).map_err(|_| FileError::Blocked)?;
            if let (NameRules::Windows, Some(hazard)) = (self.system, step.windows_hazard()) {
                return Err(FileError::Ambiguous(hazard));
            }
            let here = behind.last().map_or(&*self.dir, |(dir, _)| dir);
            let kind = here.symlink_metadata(&name)?.file_type();
            if kind.is_symlink() {
                links += 1;
                if links > MAX_LINKS {
                    return Err(FileError::Missing);
                }
                let target = here.read_link_contents(&name)?;
                if target.is_absolute() {
                    behind.clear();
                }
                ahead.extend(self.link_components(&target)?.into_iter().rev());
            } else if kind.is_dir() {
                if ahead.is_empty() {
                    return Err(FileError::Directory);
                }
                let inner = here.open_dir_nofollow(&name)?;
                behind.push((inner, name));
            } else if ahead.is_empty() {
                let mut end = String::new();
                for (_, directory) in &behind {
                    end.push_str(directory);
                    end.push('/');
                }
                end.push_str(&name);
                let end = RepoPath::parse(&end).map_err(|_| FileError::Blocked)?;
                self.check_name(&end)?;
                return OpenedFile::new(here.open_with(&name, &read_options())?.into_std());
            } else {
                return Err(FileError::Missing);
            }
        }
        Err(FileError::Directory)
    }

    /// The components of a link's target, relative to the link's directory, or to the root if the target is
    /// absolute and inside the project.
    fn link_components(&self, target: &Path) -> Result<Vec<String>, FileError> {
        let relative = if target.is_absolute() {
            self.strip_root(target).ok_or(FileError::Outside)?
        } else {
            target
        };
        let mut components = Vec::new();
        for component in relative.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => components.push("..".to_owned()),
                Component::Normal(name) => {
                    components.push(name.to_str().ok_or(FileError::Missing)?.to_owned());
                }
                Component::RootDir | Component::Prefix(_) => return Err(FileError::Outside),
            }
        }
        Ok(components)
    }
}

/// Options for reading: a link is not followed, and opening a pipe does not block.
pub(crate) fn read_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    options
}

impl OpenedFile {
    pub(crate) fn new(file: File) -> Result<Self, FileError> {
        let metadata = file.metadata().map_err(FileError::from)?;
        if metadata.is_dir() {
            return Err(FileError::Directory);
        }
        if !metadata.is_file() {
            return Err(FileError::Special);
        }
        Ok(Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            file,
        })
    }

    /// The current version of the file.
    pub(crate) fn version(&self) -> Result<FileVersion, FileError> {
        Ok(FileVersion::of(&self.file.metadata()?))
    }

    /// Whether the user who runs docent owns the file.
    #[cfg(unix)]
    pub(crate) fn is_own(&self) -> Result<bool, FileError> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.file.metadata()?.uid() == rustix::process::geteuid().as_raw())
    }

    /// Whether the file has another hard link.
    #[cfg(unix)]
    pub(crate) fn has_other_names(&self) -> Result<bool, FileError> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.file.metadata()?.nlink() > 1)
    }

    /// Other systems do not tell.
    #[cfg(not(unix))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "as on other systems"
    )]
    pub(crate) fn has_other_names(&self) -> Result<bool, FileError> {
        Ok(false)
    }

    /// On other systems, temporary directories belong to one user.
    #[cfg(not(unix))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "as on other systems"
    )]
    pub(crate) fn is_own(&self) -> Result<bool, FileError> {
        Ok(true)
    }

    pub(crate) fn read(self, limit: u64) -> Result<FileContent, FileError> {
        let Self { file, size, modified } = self;
        if size > limit {
            return Err(FileError::TooLarge { size, limit });
        }
        // The size is a hint: a file may grow while it is read, and files in `/proc` have size 0.
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(FileError::from)?;
        let read = bytes.len() as u64;
        if read > limit {
            return Err(FileError::TooLarge { size: read, limit });
        }
        Ok(FileContent { bytes, modified })
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
                Self::Missing
            }
            io::ErrorKind::PermissionDenied => Self::Denied,
            io::ErrorKind::IsADirectory => Self::Directory,
            // NXIO: a socket. LOOP: a link that was swapped in between two steps.
            _ => match error.raw_os_error() {
                #[cfg(target_os = "linux")]
                Some(code) if code == rustix::io::Errno::NXIO.raw_os_error() => Self::Special,
                #[cfg(target_os = "linux")]
                Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => Self::Outside,
                _ => Self::Io(error),
            },
        }
    }
}
