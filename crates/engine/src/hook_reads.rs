//! Which files a session has read whole, for the hook that answers the first such read with a part.
//!
//! Left out: names. A read is remembered as a hash of the session and the path.
//!
//! Invariant: a read counts as the first only once it is written down, so that the same read repeated is
//! never answered with a part.

use std::io::{self, Write};
use std::path::Path;

use docent_core::path::RepoPath;
use xxhash_rust::xxh3::xxh3_64;

use crate::files::{make_private, read_own};

/// A larger file is begun again. The reads of long ended sessions are in it.
const MAX_FILE_BYTES: usize = 128 * 1024;

/// Remembers in a folder of docent's own that a session has read a file. False if it had read it before.
pub fn remember_read(folder: &Path, session: &str, path: &RepoPath) -> io::Result<bool> {
    let file = folder.join("hook-reads-1");
    let read = format!("{:016x}", xxh3_64(format!("{session}\n{path}").as_bytes()));
    let before = read_own(&file)?.unwrap_or_default();
    if before.lines().any(|other| other == read) {
        return Ok(false);
    }
    make_private(folder)?;
    let mut options = std::fs::OpenOptions::new();
    if before.len() > MAX_FILE_BYTES {
        options.write(true).truncate(true);
    } else {
        options.append(true);
    }
    let mut file = options.create(true).open(&file)?;
    file.write_all(format!("{read}\n").as_bytes())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_read_is_the_first_once_in_a_session() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let path = |path: &str| RepoPath::parse(path).unwrap();
        let remember = |session: &str, name: &str| remember_read(&folder, session, &path(name)).unwrap();
        assert!(remember("a", "x.rs") && remember("a", "y.rs") && remember("b", "x.rs"));
        assert!(!remember("a", "x.rs") && !remember("b", "x.rs"));
        let file = folder.join("hook-reads-1");
        assert_eq!(read_own(&file).unwrap().unwrap().len(), 3 * 17);

        fs::write(&file, "0".repeat(MAX_FILE_BYTES + 1)).unwrap();
        assert!(remember("a", "x.rs"));
        assert_eq!(read_own(&file).unwrap().unwrap().len(), 17);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let path = RepoPath::parse("x.rs").unwrap();
        assert!(remember_read(&folder.path().join("file"), "a", &path).is_err());
    }
}
