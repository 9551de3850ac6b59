//! The entries of a directory, by handle, in the order in which the file system has them.
//!
//! A handle reaches directories whose path is longer than the system takes.
//!
//! Invariant: an entry's type comes from the directory itself; a file is asked only where that has none.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use docent_core::shell::find::EntryKind;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

/// An entry of a directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: CString,
    pub(super) kind: EntryKind,
    pub(super) inode: u64,
}

/// An open directory with its entries, `.` and `..` aside.
#[derive(Debug)]
pub(super) struct Directory {
    handle: OwnedFd,
    pub(super) entries: Vec<Entry>,
}

/// Open files that every process may have.
const USUAL_OPEN_FILES: usize = 500;

impl Directory {
    /// Opens a directory below another, or below the working directory, and reads it.
    pub(super) fn open(parent: Option<BorrowedFd<'_>>, name: &[u8]) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        // An entry was a directory when it was listed; a link that replaced it is not followed.
        let flags = if parent.is_some() {
            flags | OFlags::NOFOLLOW
        } else {
            flags
        };
        let handle = openat(parent.unwrap_or(CWD), name, flags, Mode::empty())?;
        let entries = read_entries(&handle)?;
        Ok(Self { handle, entries })
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Reads a directory with one large buffer: most need two calls of the system.
#[cfg(target_os = "linux")]
fn read_entries(handle: &OwnedFd) -> io::Result<Vec<Entry>> {
    const BUFFER_BYTES: usize = 32 << 10;
    let mut buffer: Vec<u8> = Vec::with_capacity(BUFFER_BYTES);
    let mut stream = rustix::fs::RawDir::new(handle, buffer.spare_capacity_mut());
    let mut entries = Vec::new();
    while let Some(entry) = stream.next() {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            entries.push(Entry {
                kind: known_kind(handle.as_fd(), name, entry.file_type()),
                inode: entry.ino(),
                name: name.to_owned(),
            });
        }
    }
    Ok(entries)
}

#[cfg(not(target_os = "linux"))]
fn read_entries(handle: &OwnedFd) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::read_from(handle)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            entries.push(Entry {
                kind: known_kind(handle.as_fd(), name, entry.file_type()),
                inode: entry.ino(),
                name: name.to_owned(),
            });
        }
    }
    Ok(entries)
}

/// The type of an entry, which some file systems tell only of the file itself.
fn known_kind(directory: BorrowedFd<'_>, name: &CStr, told: FileType) -> EntryKind {
    let kind = match told {
        FileType::Unknown => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
        known => known,
    };
    kind_of(kind)
}

pub(super) fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// Lets the process open as many files as the system allows it: a walk has one open for each level.
pub(super) fn allow_depth(depth: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    if depth == USUAL_OPEN_FILES {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let raised = Rlimit {
            current: maximum,
            maximum,
        };
        // If it is refused, the walk ends with an error of its own, which is reported.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}
