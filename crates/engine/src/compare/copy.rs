//! A private copy of an earlier state of the project: its files, written object by object into a temporary
//! folder.
//!
//! Links and submodules are left out, and files that docent would not index anyway.
//!
//! Invariant: it is removed with its owner. A killed process leaves it behind, and a later one removes it.

use std::fs;
use std::path::{Path, PathBuf};

use super::CompareError;
use crate::deadline::Deadline;
use crate::files::PrivateFolder;
use crate::git::{Git, PastFile};

/// Larger files are left out, as they are of an index.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The folder with the copy, and with everything that is made of it.
#[derive(Debug)]
pub struct PrivateCopy {
    folder: PrivateFolder,
}

impl PrivateCopy {
    /// Writes the files of a state below the system's place for temporary files.
    pub fn write(
        git: &Git,
        files: &[PastFile],
        temporary: &Path,
        deadline: &Deadline,
    ) -> Result<Self, CompareError> {
        let copy = Self {
            folder: PrivateFolder::on_disk(temporary)?,
        };
        fs::create_dir(copy.root())?;
        let written: Vec<&PastFile> = files.iter().filter(|file| is_written(file)).collect();
        let objects: Vec<&str> = written.iter().map(|file| file.object.as_str()).collect();
        let root = copy.root();
        git.contents(&objects, deadline, |at, bytes| {
            let path = root.join(written[at].path.as_str());
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
            fs::write(path, bytes)
        })?;
        Ok(copy)
    }

    /// The directory of the project.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// A directory for what is derived from the copy.
    pub fn directory(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// False for files of git and for settings of the state, which would decide how docent answers.
fn is_written(file: &PastFile) -> bool {
    let mut components = file.path.components();
    let is_machinery =
        components.any(|name| name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case(".context"));
    file.bytes <= MAX_FILE_BYTES && !is_machinery
}
