//! Project files: the only place that opens them.
//!
//! A file is opened below a handle of the root, one step at a time, never by a path string that was checked
//! before: a symlink swapped in between cannot lead the open elsewhere. Links that end inside the project
//! are followed, and the access rules are applied to where they end as well as to how they were named.
//!
//! Invariant: an [`OpenedFile`] file is a regular file that the rules allow, inside the root unless `Root::anywhere`
//! opened it. Pipes, devices and directories are refused without being read.

mod folder;
mod own;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};
use docent_core::access::Access;
use docent_core::path::{PathError, RepoPath};
use uuid::Uuid;

pub(crate) use folder::OpenFolder;
pub use own::read_own;
pub(crate) use own::{UNFINISHED, make_private, replace, replace_like};

use crate::stamp::FileVersion;
use crate::walk::WalkedFile;

/// A project's directory and what may be shown of it. Clones share the handle.
#[derive(Clone, Debug)]
pub struct Root {
    path: Arc<Path>,
    /// The path as it was given, which links may have been written with.
    given: Arc<Path>,
    dir: Arc<Dir>,
    access: Arc<Access>,
}

/// A file that may be shown.
#[derive(Debug)]
pub struct OpenedFile {
    pub file: File,
    pub size: u64,
    pub modified: Option<SystemTime>,
}

/// A file's bytes and what the file system says about it.
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
    #[error("{0} cannot be opened: {1}")]
    Unreadable(PathBuf, io::Error),
}

/// Why a file is not shown.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("there is no such file")]
    Missing,
    #[error("the path is blocked because it may hold secrets or machinery")]
    Blocked,
    #[error("the path leads outside the project")]
    Outside,
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

/// Links followed before a path counts as a loop; what Linux allows.
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
        Ok(Self {
            path: canonical.into(),
            given: std::path::absolute(path)
                .unwrap_or_else(|_| path.to_owned())
                .into(),
            dir: Arc::new(dir),
            access: Arc::new(access),
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

    /// The directory's canonical path; for naming the project and for walking, not for opening files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what is at the directory's path is still the directory that files are opened in.
    #[cfg(unix)]
    pub fn is_still_there(&self) -> bool {
        use cap_std::fs::MetadataExt as _;
        use std::os::unix::fs::MetadataExt as _;
        match (std::fs::metadata(&*self.path), self.dir.dir_metadata()) {
            (Ok(there), Ok(held)) => (there.dev(), there.ino()) == (held.dev(), held.ino()),
            _ => false,
        }
    }

    /// Elsewhere a directory that is open cannot be replaced.
    #[cfg(not(unix))]
    pub fn is_still_there(&self) -> bool {
        self.path.is_dir()
    }

    /// A word for the project that no other has: made of its path.
    pub fn id(&self) -> String {
        let path = self.path.as_os_str().as_encoded_bytes();
        Uuid::new_v5(&Uuid::NAMESPACE_URL, path).simple().to_string()
    }

    /// The directory as it was named, which may lead through links.
    pub(crate) fn given(&self) -> &Path {
        &self.given
    }

    /// The part of an absolute path that is below the project's directory.
    pub(crate) fn inside<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.path)
            .or_else(|_| path.strip_prefix(&self.given))
            .ok()
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Opens a file a caller named.
    pub fn file(&self, path: &RepoPath) -> Result<OpenedFile, FileError> {
        if !self.access.allows(path) {
            return Err(FileError::Blocked);
        }
        self.open_either_way(path)
    }

    /// Whether there is a file that may be shown.
    pub(crate) fn has_file(&self, path: &RepoPath) -> bool {
        self.file(path).is_ok()
    }

    /// Names in a directory, sorted: of files, and with a `/` behind them of directories. What may not be shown is left out,
    /// and so is everything where the directory cannot be read; the empty path is the root.
    pub(crate) fn names_in(&self, directory: &str) -> Vec<String> {
        // Through a link it may be a directory whose own name is blocked.
        let place = self.path.join(directory);
        let resolved = place.canonicalize().unwrap_or_else(|_| place.clone());
        let resolved = resolved.strip_prefix(&self.path).ok().and_then(Path::to_str);
        let is_allowed = match resolved {
            Some("") => true,
            Some(resolved) => RepoPath::parse(resolved).is_ok_and(|path| self.access.allows(&path)),
            None => false,
        };
        if !is_allowed {
            return Vec::new();
        }
        let entries = match directory {
            "" => self.dir.entries(),
            _ => self.dir.read_dir(directory),
        };
        let shown = |entry: cap_std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let path = if directory.is_empty() {
                name.clone()
            } else {
                format!("{directory}/{name}")
            };
            let allowed = RepoPath::parse(&path).is_ok_and(|path| self.access.allows(&path));
            let kind = entry.file_type().ok()?;
            let shown = allowed
                && (!kind.is_symlink() || RepoPath::parse(&path).is_ok_and(|path| self.has_file(&path)));
            shown.then(|| if kind.is_dir() { name + "/" } else { name })
        };
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(shown)
            .collect();
        names.sort_unstable();
        names
    }

    /// Opens a file that a walk listed. The walk has applied the rules, and does not follow links.
    pub fn listed(&self, listed: &WalkedFile) -> Result<OpenedFile, FileError> {
        self.open_either_way(listed.path())
    }

    /// Opens a file wherever on the machine it is, for the user who runs docent; a relative path begins at the root. The
    /// rules are applied to where it ends. For what is read and not shown.
    pub(crate) fn anywhere(&self, path: &Path) -> Result<OpenedFile, FileError> {
        let path = self.path.join(path).canonicalize()?;
        let names = self.inside(&path).unwrap_or(&path).components();
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
        let file = cap_std::fs::File::open_ambient_with(&path, &to_read(), cap_std::ambient_authority())?;
        OpenedFile::new(file.into_std())
    }

    /// Reads a whole file of at most `limit` bytes.
    pub fn read(&self, path: &RepoPath, limit: u64) -> Result<FileContent, FileError> {
        self.file(path)?.read(limit)
    }

    /// Writes a file that is not there yet; one that is stays as it is, and is an error.
    pub fn create(&self, path: &RepoPath, content: &[u8]) -> Result<(), FileError> {
        if !self.access.allows(path) {
            return Err(FileError::Blocked);
        }
        // Through a link it may be a directory whose own name is blocked.
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
            // Half a file would be in the way of another try.
            let _ = self.dir.remove_file(path.as_str());
        })?)
    }

    /// Reads a file that steers a walk and is never shown, so that no access rule applies to how it is named.
    /// Nothing where there is none.
    pub(crate) fn steering(&self, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        let opened = self.open_either_way(path);
        match opened.and_then(|opened| opened.read(limit)) {
            Ok(content) => Ok(Some(content.bytes)),
            Err(FileError::Missing | FileError::Directory) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open_either_way(&self, path: &RepoPath) -> Result<OpenedFile, FileError> {
        match self.open_directly(path) {
            Some(file) => OpenedFile::new(file?),
            None => self.open_through_links(path),
        }
    }

    /// One system call for the common case of a path without links. `None` where a link is on the way, or
    /// the system cannot open like this.
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

    /// Walks the path one component at a time, each opened without following links, and follows links by
    /// reading them. Works everywhere, and knows where the path ended.
    fn open_through_links(&self, path: &RepoPath) -> Result<OpenedFile, FileError> {
        let mut ahead: Vec<String> = path.components().rev().map(str::to_owned).collect();
        let mut behind: Vec<(Dir, String)> = Vec::new();
        let mut links = 0;
        while let Some(name) = ahead.pop() {
            if name == ".." {
                behind.pop().ok_or(FileError::Outside)?;
                continue;
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
                ahead.extend(self.steps(&target)?.into_iter().rev());
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
                if !self.access.allows(&end) {
                    return Err(FileError::Blocked);
                }
                return OpenedFile::new(here.open_with(&name, &to_read())?.into_std());
            } else {
                return Err(FileError::Missing);
            }
        }
        Err(FileError::Directory)
    }

    /// The steps a link's target takes from the directory it stands in, or from the root where it is absolute
    /// and points into the project.
    fn steps(&self, target: &Path) -> Result<Vec<String>, FileError> {
        let relative = if target.is_absolute() {
            self.inside(target).ok_or(FileError::Outside)?
        } else {
            target
        };
        let mut steps = Vec::new();
        for component in relative.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => steps.push("..".to_owned()),
                Component::Normal(name) => steps.push(name.to_str().ok_or(FileError::Missing)?.to_owned()),
                Component::RootDir | Component::Prefix(_) => return Err(FileError::Outside),
            }
        }
        Ok(steps)
    }
}

/// How a file is opened to be read: it is the very one that is named, and a pipe is not waited for.
pub(crate) fn to_read() -> OpenOptions {
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

    /// Which version of the file this is, as of now.
    pub(crate) fn version(&self) -> Result<FileVersion, FileError> {
        Ok(FileVersion::of(&self.file.metadata()?))
    }

    /// True when the user who runs docent owns the file.
    #[cfg(unix)]
    pub(crate) fn is_own(&self) -> Result<bool, FileError> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.file.metadata()?.uid() == rustix::process::geteuid().as_raw())
    }

    /// True when the file is known by another name too.
    #[cfg(unix)]
    pub(crate) fn has_other_names(&self) -> Result<bool, FileError> {
        use std::os::unix::fs::MetadataExt;
        Ok(self.file.metadata()?.nlink() > 1)
    }

    /// Elsewhere nobody says.
    #[cfg(not(unix))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "as on other systems"
    )]
    pub(crate) fn has_other_names(&self) -> Result<bool, FileError> {
        Ok(false)
    }

    /// Elsewhere, temporary directories belong to one user.
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
        // The size is a hint: a file may grow while it is read, and files made by the kernel claim to be empty.
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

/// The text that bytes are; what is not UTF-8 shows as replacement characters.
pub(crate) fn lossy_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
                Self::Missing
            }
            io::ErrorKind::PermissionDenied => Self::Denied,
            io::ErrorKind::IsADirectory => Self::Directory,
            // A socket cannot be opened; an open that expected no link found one, swapped in just now.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The portable walk must agree with the system call it stands in for, on paths that both can open.
    #[test]
    fn both_ways_of_opening_agree() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("a/b/secrets")).unwrap();
        for path in ["top.txt", "a/b/deep.txt", "a/b/secrets/x.txt", "a/empty"] {
            fs::write(directory.path().join(path), path).unwrap();
        }
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let content = |opened: Result<OpenedFile, FileError>| {
            opened.map_err(|error| error.to_string()).map(|mut opened| {
                let mut text = String::new();
                opened.file.read_to_string(&mut text).unwrap();
                (text, opened.size)
            })
        };
        for path in [
            "top.txt",
            "a/b/deep.txt",
            "a/empty",
            "a/b",
            "absent",
            "a/absent/x",
            "top.txt/x",
            "a/b/secrets/x.txt",
        ] {
            let path = RepoPath::parse(path).unwrap();
            assert_eq!(
                content(root.file(&path)),
                content(root.open_through_links(&path)),
                "{path}"
            );
        }
        let long = RepoPath::parse(&"x".repeat(5_000)).unwrap();
        assert!(matches!(root.file(&long), Err(FileError::Missing)));
        assert!(matches!(root.open_through_links(&long), Err(FileError::Missing)));
    }

    #[test]
    fn a_file_over_the_limit_is_too_large() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("f"), "12345").unwrap();
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let path = RepoPath::parse("f").unwrap();
        assert_eq!(root.read(&path, 5).unwrap().bytes, b"12345");
        assert!(matches!(
            root.read(&path, 4),
            Err(FileError::TooLarge { size: 5, limit: 4 })
        ));
    }

    #[test]
    fn a_root_that_is_no_directory_is_named() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("f"), "").unwrap();
        let open =
            |path: &str| Root::open(&directory.path().join(path), Access::new([]).unwrap()).unwrap_err();
        assert!(matches!(open("absent"), RootError::Missing(_)));
        assert!(matches!(open("f"), RootError::NotADirectory(_)));
    }
}
