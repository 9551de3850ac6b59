//! The names that a session has searched for lately, for the outline that answers its reads.
//!
//! Left out: the names. Each is remembered as a hash of the session and the name, which answers only whether
//! a name at hand is one of them.
//!
//! Invariant: the file is bounded; the oldest searches are forgotten first.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::files::{make_private, read_own, replace};

/// A larger file loses its older half.
const MAX_FILE_BYTES: usize = 32 * 1024;

/// Bytes of a hash and its line end.
const LINE_BYTES: usize = 17;

/// The names that one session has searched for.
#[derive(Clone, Debug, Default)]
pub struct RecentSearches {
    session: String,
    hashes: HashSet<String>,
}

impl RecentSearches {
    /// Reads what is remembered in a folder of docent's own. Nothing if it cannot be read.
    pub fn read(folder: &Path, session: &str) -> Self {
        let text = read_own(&file_of(folder)).ok().flatten().unwrap_or_default();
        Self {
            session: session.to_owned(),
            hashes: text.lines().map(str::to_owned).collect(),
        }
    }

    /// Whether the session has searched for this name.
    pub fn has(&self, name: &str) -> bool {
        !self.hashes.is_empty() && self.hashes.contains(&hash_of(&self.session, name))
    }
}

/// Remembers in a folder of docent's own that a session has searched for names.
pub fn remember_searches<'a>(
    folder: &Path,
    session: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> io::Result<()> {
    let before = RecentSearches::read(folder, session);
    let mut lines = String::new();
    for name in names {
        let hash = hash_of(session, name);
        if !before.hashes.contains(&hash) && !lines.contains(&hash) {
            lines += &format!("{hash}\n");
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    make_private(folder)?;
    let file = file_of(folder);
    let text = read_own(&file)?.unwrap_or_default();
    if text.len() + lines.len() > MAX_FILE_BYTES {
        let kept = text
            .get(text.len() / LINE_BYTES / 2 * LINE_BYTES..)
            .unwrap_or_default();
        return replace(&file, format!("{kept}{lines}").as_bytes());
    }
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.append(true).create(true).open(file)?;
    file.write_all(lines.as_bytes())
}

fn file_of(folder: &Path) -> PathBuf {
    folder.join("hook-searches-1")
}

fn hash_of(session: &str, name: &str) -> String {
    format!("{:016x}", xxh3_64(format!("{session}\n{name}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_knows_its_own_names_and_no_name_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        assert!(!RecentSearches::read(&folder, "a").has("lend"));
        remember_searches(&folder, "a", ["lend", "lend", "give_back"]).unwrap();
        remember_searches(&folder, "a", ["lend"]).unwrap();
        let (mine, other) = (
            RecentSearches::read(&folder, "a"),
            RecentSearches::read(&folder, "b"),
        );
        assert!(mine.has("lend") && mine.has("give_back") && !mine.has("len"));
        assert!(!other.has("lend"));
        let text = read_own(&file_of(&folder)).unwrap().unwrap();
        assert_eq!(text.len(), 2 * LINE_BYTES);
        assert!(!text.contains("lend"), "{text}");
    }

    #[test]
    fn the_oldest_searches_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..5_000).map(|number| format!("name_{number}")).collect();
        for some in names.chunks(100) {
            remember_searches(folder.path(), "a", some.iter().map(String::as_str)).unwrap();
        }
        let text = read_own(&file_of(folder.path())).unwrap().unwrap();
        assert!(text.len() <= MAX_FILE_BYTES, "{}", text.len());
        let recent = RecentSearches::read(folder.path(), "a");
        assert!(recent.has("name_4999") && !recent.has("name_0"));
    }
}
