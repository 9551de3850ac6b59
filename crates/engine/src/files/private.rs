//! A temporary directory that only the user can read.
//!
//! Invariant: it is removed with its owner. A killed process leaves it behind, and a later process removes
//! it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use uuid::Uuid;

/// A directory that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder(PathBuf);

/// Prefix of the names of private directories.
const PREFIX: &str = "docent-private-";

/// Age after which a directory counts as left behind by a killed process. No call takes that long.
const MAX_AGE: Duration = Duration::from_hours(6);

impl PrivateFolder {
    /// A directory in memory, if the system has a place for that: it is faster, and its content does not
    /// reach a disk.
    pub(crate) fn in_memory(temporary: &Path) -> io::Result<Self> {
        let shared_memory = Path::new("/dev/shm");
        if cfg!(target_os = "linux") && shared_memory.is_dir() {
            static SWEEP: Once = Once::new();
            SWEEP.call_once(|| remove_old(shared_memory));
            if let Ok(folder) = Self::create_in(shared_memory) {
                return Ok(folder);
            }
        }
        Self::on_disk(temporary)
    }

    /// A directory in `temporary`, the system's place for temporary files.
    pub(crate) fn on_disk(temporary: &Path) -> io::Result<Self> {
        static SWEEP: Once = Once::new();
        SWEEP.call_once(|| remove_old(temporary));
        Self::create_in(temporary)
    }

    fn create_in(directory: &Path) -> io::Result<Self> {
        let folder = directory.join(format!("{PREFIX}{}", Uuid::new_v4().simple()));
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&folder)?;
        // A user's temporary directory is their own on other systems.
        #[cfg(not(unix))]
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes the directories that killed processes have left. Those of other users cannot be removed and stay.
fn remove_old(temporary: &Path) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the system's temporary directory, not the project"
    )]
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let is_old = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > MAX_AGE));
        if is_old {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_folder_is_removed_with_its_owner() {
        let temporary = tempfile::tempdir().unwrap();
        let temporary = temporary.path();
        for folder in [
            PrivateFolder::in_memory(temporary),
            PrivateFolder::on_disk(temporary),
        ] {
            let folder = folder.unwrap();
            let path = folder.path().to_owned();
            fs::create_dir(path.join("inner")).unwrap();
            drop(folder);
            assert!(!path.exists());
        }
    }

    #[test]
    fn only_old_folders_of_this_kind_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * MAX_AGE;
        for (name, is_old) in [
            ("docent-private-1", true),
            ("docent-private-2", false),
            ("other", true),
        ] {
            let path = directory.path().join(name);
            fs::create_dir(&path).unwrap();
            #[expect(clippy::disallowed_methods, reason = "a directory of this test")]
            if is_old {
                fs::File::open(&path).unwrap().set_modified(old).unwrap();
            }
        }
        remove_old(directory.path());
        let is_left = |name: &str| directory.path().join(name).exists();
        assert!(!is_left("docent-private-1") && is_left("docent-private-2") && is_left("other"));
    }
}
