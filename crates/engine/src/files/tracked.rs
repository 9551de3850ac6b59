//! Files of the working tree as git tracks them: a link is its target's name, and no link is followed.
//!
//! Invariant: a directory that was replaced by a link is not entered, at whatever moment it was replaced.

use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use super::{FileError, OpenedFile, Root, read_options};

/// A path of the working tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TrackedFile {
    Regular {
        bytes: Vec<u8>,
        is_executable: bool,
    },
    /// A regular file over the limit.
    Large {
        size: u64,
        is_executable: bool,
    },
    /// A link, with the text of its target.
    Link(PathBuf),
    Directory,
    /// Nothing that git could track: no entry, a pipe, or a path through a link.
    Absent,
}

/// How often a file that changes while it is read is read.
const MAX_READS: usize = 2;

impl Root {
    /// Reads a path relative to the root. The access rules do not apply: the content may be compared and
    /// counted, but it must not be shown unless they allow it.
    pub(crate) fn read_tracked(&self, path: &Path, limit: u64) -> Result<TrackedFile, FileError> {
        for attempt in 1.. {
            let opened = match self.open_tracked(path) {
                Ok(opened) => opened,
                Err(FileError::Directory) => return Ok(TrackedFile::Directory),
                Err(FileError::Missing | FileError::Special | FileError::Link) => {
                    return Ok(TrackedFile::Absent);
                }
                Err(error) => return Err(error),
            };
            let opened = match opened {
                TrackedEntry::Link(target) => return Ok(TrackedFile::Link(target)),
                TrackedEntry::File(opened) => opened,
            };
            let (size, is_executable) = (opened.size, opened.is_executable()?);
            if size > limit {
                return Ok(TrackedFile::Large { size, is_executable });
            }
            let (before, again) = (opened.version()?, opened.file.try_clone()?);
            match opened.read(limit) {
                Ok(content) => {
                    let after = crate::stamp::FileVersion::of(&again.metadata()?);
                    // A file that is saved meanwhile may have been read in part.
                    if before == after || attempt == MAX_READS {
                        let bytes = content.bytes;
                        return Ok(TrackedFile::Regular { bytes, is_executable });
                    }
                }
                Err(FileError::TooLarge { size, .. }) => {
                    return Ok(TrackedFile::Large { size, is_executable });
                }
                Err(error) => return Err(error),
            }
        }
        unreachable!("the loop returns at the last attempt")
    }

    /// Opens a path one component at a time.
    fn open_tracked(&self, path: &Path) -> Result<TrackedEntry, FileError> {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(name),
                _ => return Err(FileError::Outside),
            }
        }
        let name = names.pop().ok_or(FileError::Directory)?;
        let mut inner: Option<Dir> = None;
        for directory in names {
            let here = inner.as_ref().unwrap_or(&self.dir);
            inner = Some(
                here.open_dir_nofollow(directory)
                    .map_err(|_| FileError::Missing)?,
            );
        }
        let here = inner.as_ref().unwrap_or(&self.dir);
        if here.symlink_metadata(name)?.is_symlink() {
            return Ok(TrackedEntry::Link(here.read_link_contents(name)?));
        }
        let file = here.open_with(name, &read_options()).map_err(|error| {
            // It may have become a link after the check, which is not followed.
            let is_link = here
                .symlink_metadata(name)
                .is_ok_and(|metadata| metadata.is_symlink());
            if is_link { FileError::Link } else { error.into() }
        })?;
        Ok(TrackedEntry::File(OpenedFile::new(file.into_std())?))
    }
}

enum TrackedEntry {
    File(OpenedFile),
    Link(PathBuf),
}

impl OpenedFile {
    #[cfg(unix)]
    fn is_executable(&self) -> Result<bool, FileError> {
        use std::os::unix::fs::PermissionsExt;
        Ok(self.file.metadata()?.permissions().mode() & 0o100 != 0)
    }

    /// Other systems do not tell.
    #[cfg(not(unix))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "as on other systems"
    )]
    fn is_executable(&self) -> Result<bool, FileError> {
        Ok(false)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use docent_core::access::Access;

    use super::*;

    #[test]
    fn a_link_is_its_target_and_is_never_followed() {
        let directory = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("f"), "secret").unwrap();
        fs::create_dir(directory.path().join("d")).unwrap();
        fs::write(directory.path().join("d/f"), "12345").unwrap();
        fs::set_permissions(directory.path().join("d/f"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink(outside.path(), directory.path().join("out")).unwrap();
        symlink("d", directory.path().join("in")).unwrap();
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let read = |path: &str, limit| root.read_tracked(Path::new(path), limit).unwrap();
        let regular = TrackedFile::Regular {
            bytes: b"12345".into(),
            is_executable: true,
        };
        assert_eq!(read("d/f", 5), regular);
        assert_eq!(
            read("d/f", 4),
            TrackedFile::Large {
                size: 5,
                is_executable: true
            }
        );
        assert_eq!(read("out", 9), TrackedFile::Link(outside.path().into()));
        assert_eq!(read("d", 9), TrackedFile::Directory);
        for path in ["out/f", "in/f", "absent", "d/f/x"] {
            assert_eq!(read(path, 9), TrackedFile::Absent, "{path}");
        }
        assert!(matches!(
            root.read_tracked(Path::new("d/../d/f"), 9),
            Err(FileError::Outside)
        ));
    }
}
