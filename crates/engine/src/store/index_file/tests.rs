//! Files of an index that another program changes while they are open.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use tantivy::Directory;
use tantivy::directory::{ManagedDirectory, TerminatingWrite};
use tempfile::TempDir;

use super::*;
use crate::store::folder::IndexFolder;

const LARGE: usize = 3 * VERIFIED_BYTES + 17;
const SMALL: usize = 4_000;

struct Stored {
    _folder: TempDir,
    path: PathBuf,
    content: Vec<u8>,
}

/// A file with this many bytes of content, as tantivy writes it.
fn stored(name: &str, bytes: usize) -> Stored {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let directory = ManagedDirectory::wrap(Box::new(IndexFolder::new(folder.path()))).unwrap();
    let mut writer = directory.open_write(Path::new(name)).unwrap();
    writer.write_all(&content).unwrap();
    writer.terminate().unwrap();
    // Written long ago: the clock of the file system is coarse, and the next change must have another time.
    let path = folder.path().join(name);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    Stored {
        _folder: folder,
        path,
        content,
    }
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

#[test]
fn a_file_is_read_as_it_was_written() {
    for (name, bytes) in [
        ("a.idx", LARGE),
        ("a.store", LARGE),
        ("a.term", LARGE),
        ("a.idx", SMALL),
    ] {
        let stored = stored(name, bytes);
        let file = IndexFile::open(&stored.path).unwrap();
        for range in [0..bytes, 0..0, bytes / 2..bytes / 2 + 100, bytes - 1..bytes] {
            assert_eq!(
                file.read_bytes(range.clone()).unwrap().as_slice(),
                &stored.content[range]
            );
        }
        assert!(file.read_bytes(0..file.len() + 1).is_err());
    }
}

/// Damages an open file. A part that is read from disk must fail, also if it was read before; one in memory
/// must be as it was.
#[track_caller]
fn check_damaged(damage: impl Fn(&Path)) {
    for (name, bytes) in [
        ("a.idx", LARGE),
        ("a.store", LARGE),
        ("a.term", LARGE),
        ("a.idx", SMALL),
    ] {
        let stored = stored(name, bytes);
        let file = IndexFile::open(&stored.path).unwrap();
        file.read_bytes(0..10).unwrap();
        damage(&stored.path);
        let on_disk = !matches!(file.content, Content::Copied(_));
        assert_eq!(on_disk, name != "a.term" && bytes == LARGE);
        for range in [0..10, bytes - 10..bytes, 0..bytes] {
            match file.read_bytes(range.clone()) {
                Ok(read) => assert!(!on_disk && read.as_slice() == &stored.content[range]),
                // The store takes an error without a code of the operating system for damage.
                Err(error) => assert!(on_disk && error.raw_os_error().is_none(), "{error}"),
            }
        }
        let opened = IndexFile::open(&stored.path);
        assert!(opened.is_err_and(|error| error.raw_os_error().is_none()));
    }
}

#[test]
fn a_file_that_is_truncated_while_open_is_damaged() {
    for keep in [0, 1, 5, 1_000, 3_999] {
        check_damaged(|path| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(keep).unwrap();
        });
    }
}

#[test]
fn a_file_that_is_overwritten_while_open_is_damaged() {
    check_damaged(|path| overwrite(path, 2_000, &[0xee]));
    check_damaged(|path| overwrite(path, 0, &[0; SMALL]));
    check_damaged(|path| {
        let length = fs::metadata(path).unwrap().len();
        overwrite(path, length - 1, &[0xee]);
    });
}

#[test]
fn a_file_that_is_deleted_while_open_is_read_on() {
    for bytes in [LARGE, SMALL] {
        let stored = stored("a.idx", bytes);
        let file = IndexFile::open(&stored.path).unwrap();
        fs::remove_file(&stored.path).unwrap();
        assert_eq!(
            file.read_bytes(0..bytes).unwrap().as_slice(),
            stored.content.as_slice()
        );
    }
}
