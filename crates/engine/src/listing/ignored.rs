//! Which directories git ignores, by the `.gitignore` files above them. It decides which entries of a long
//! list are shown and which are counted, never which are listed.
//!
//! Left out: ignore files above the first directory of a path, those of the user, and patterns for single
//! files.
//!
//! Invariant: only a plain file of a moderate size is opened, so that no list hangs on a pipe.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::gitignore::Gitignore;

/// Larger ignore files are not read.
const MAX_IGNORE_FILE_BYTES: u64 = 256 << 10;

/// Answers for the directories of one list.
#[derive(Debug, Default)]
pub struct IgnoredDirectories {
    answers: HashMap<PathBuf, bool>,
    rules: HashMap<PathBuf, Option<Gitignore>>,
}

impl IgnoredDirectories {
    /// Whether a directory, relative to the working directory, or one above it is ignored.
    pub fn contains(&mut self, directory: &[u8]) -> bool {
        self.is_ignored(Path::new(OsStr::from_bytes(directory)))
    }

    fn is_ignored(&mut self, directory: &Path) -> bool {
        if let Some(answer) = self.answers.get(directory) {
            return *answer;
        }
        let Some(parent) = directory.parent() else {
            return false;
        };
        let answer = self.is_ignored(parent) || self.is_named(directory);
        self.answers.insert(directory.to_owned(), answer);
        answer
    }

    /// Whether a rule names the directory itself. The nearest file that has a rule for it decides.
    fn is_named(&mut self, directory: &Path) -> bool {
        for above in directory.ancestors().skip(1) {
            let rules = self.rules.entry(above.to_owned());
            if let Some(rules) = rules.or_insert_with(|| read_rules(above)) {
                let answer = rules.matched(directory, true);
                if !answer.is_none() {
                    return answer.is_ignore();
                }
            }
        }
        false
    }
}

fn read_rules(directory: &Path) -> Option<Gitignore> {
    let file = directory.join(".gitignore");
    let metadata = file.symlink_metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_IGNORE_FILE_BYTES {
        return None;
    }
    Some(Gitignore::new(file).0)
}
