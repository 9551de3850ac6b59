//! A folder of the project in which docent writes.
//!
//! The order of writes that survives a crash is in `memory.rs`.
//!
//! Invariant: neither the folder nor a file in it is opened through a link, so that no write leaves the
//! project.

use std::fs::File;
use std::io;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};
use docent_core::path::RepoPath;

use super::{FileError, OpenedFile, Root};

/// An open folder.
#[derive(Debug)]
pub(crate) struct OpenFolder(Dir);

impl Root {
    /// Opens a folder. Creates it if it does not exist.
    pub(crate) fn folder(&self, path: &RepoPath) -> Result<OpenFolder, FileError> {
        self.check_name(path)?;
        let mut dir = self.dir.try_clone()?;
        for name in path.components() {
            match dir.create_dir(name) {
                // A file in the new folder survives a crash only if the folder does.
                Ok(()) => sync(&dir)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
            let kind = dir.symlink_metadata(name)?.file_type();
            if kind.is_symlink() {
                return Err(FileError::Link);
            }
            if !kind.is_dir() {
                return Err(FileError::Special);
            }
            dir = dir.open_dir_nofollow(name)?;
        }
        Ok(OpenFolder(dir))
    }
}

impl OpenFolder {
    /// Opens a file for reading and writing. Creates it if it does not exist.
    pub(crate) fn open(&self, name: &str) -> Result<File, FileError> {
        self.open_with(
            name,
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false),
        )
    }

    /// Opens a file for reading and appending: the system writes at the end even if another process has
    /// appended. Creates it if it does not exist.
    pub(crate) fn open_to_append(&self, name: &str) -> Result<File, FileError> {
        self.open_with(name, OpenOptions::new().read(true).append(true).create(true))
    }

    fn open_with(&self, name: &str, options: &mut OpenOptions) -> Result<File, FileError> {
        match self.0.symlink_metadata(name) {
            Ok(existing) if existing.file_type().is_symlink() => return Err(FileError::Link),
            Ok(existing) if existing.is_dir() => return Err(FileError::Directory),
            _ => {}
        }
        options.follow(FollowSymlinks::No).nonblock(true);
        let opened = OpenedFile::new(self.0.open_with(name, options)?.into_std())?;
        // With another hard link, it may be a file outside the project as well.
        if opened.has_other_names()? {
            return Err(FileError::Link);
        }
        Ok(opened.file)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove_file(name)
    }

    /// Whether the name still stands for this open file.
    #[cfg(unix)]
    pub(crate) fn is_named(&self, file: &File, name: &str) -> bool {
        use cap_std::fs::MetadataExt as _;
        use std::os::unix::fs::MetadataExt as _;
        match (file.metadata(), self.0.symlink_metadata(name)) {
            (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
            _ => false,
        }
    }

    /// Other systems do not replace a file that is open.
    #[cfg(not(unix))]
    pub(crate) fn is_named(&self, _: &File, name: &str) -> bool {
        self.0.exists(name)
    }

    /// Syncs the directory, so that new and removed names survive a crash.
    pub(crate) fn sync(&self) -> io::Result<()> {
        sync(&self.0)
    }
}

#[cfg(unix)]
fn sync(dir: &Dir) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, fsync, openat};
    // Our handle is opened with O_PATH and cannot be synced.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(fsync(openat(dir, ".", flags, Mode::empty())?)?)
}

/// Other systems have no such call.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
fn sync(_: &Dir) -> io::Result<()> {
    Ok(())
}
