//! Links between projects: the other projects that a search may include.
//!
//! Which links a search follows is decided in the app.
//!
//! Invariant: links lie in the user's settings and not in the project, so that no clone can make docent read
//! another project.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files::{make_private, replace};

/// The file with all links of a user.
#[derive(Clone, Debug)]
pub struct Links {
    file: Option<PathBuf>,
}

/// Why links cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("there is no place for settings: neither XDG_CONFIG_HOME nor HOME is set")]
    Nowhere,
    #[error("{0} is not a list of links: {1}")]
    Malformed(PathBuf, String),
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
}

/// Linked projects that one search includes.
const MAX_LINKED_PROJECTS: usize = 32;

type Table = BTreeMap<String, Vec<String>>;

impl Links {
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file }
    }

    /// The projects that one links to, in the order of their links.
    pub fn of(&self, root: &Path) -> Result<Vec<PathBuf>, LinkError> {
        let linked = self.read()?.remove(&key(root)).unwrap_or_default();
        Ok(linked.into_iter().map(PathBuf::from).collect())
    }

    /// The projects that can be reached from one over links, the nearest first, each once, without itself.
    pub fn reachable(&self, root: &Path) -> Result<Vec<PathBuf>, LinkError> {
        let table = self.read()?;
        let mut reached = vec![key(root)];
        let mut next = 0;
        while next < reached.len() && reached.len() <= MAX_LINKED_PROJECTS {
            for linked in table.get(&reached[next]).into_iter().flatten() {
                if !reached.contains(linked) {
                    reached.push(linked.clone());
                }
            }
            next += 1;
        }
        reached.truncate(MAX_LINKED_PROJECTS + 1);
        Ok(reached.into_iter().skip(1).map(PathBuf::from).collect())
    }

    /// Adds a link. Returns false if it exists.
    pub fn add(&self, root: &Path, other: &Path) -> Result<bool, LinkError> {
        self.change(|table| {
            let linked = table.entry(key(root)).or_default();
            let new = !linked.contains(&key(other));
            if new {
                linked.push(key(other));
            }
            new
        })
    }

    /// Removes a link. Returns false if there was none.
    pub fn remove(&self, root: &Path, other: &Path) -> Result<bool, LinkError> {
        self.change(|table| {
            let Some(linked) = table.get_mut(&key(root)) else {
                return false;
            };
            let before = linked.len();
            linked.retain(|one| *one != key(other));
            linked.len() < before
        })
    }

    fn read(&self) -> Result<Table, LinkError> {
        let Some(file) = &self.file else {
            return Ok(Table::new());
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "the user's own file, outside of any project"
        )]
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Table::new()),
            Err(error) => return Err(LinkError::Io(file.clone(), error)),
        };
        let malformed = |reason: &str| LinkError::Malformed(file.clone(), reason.to_owned());
        let value: Value = serde_json::from_str(&text).map_err(|error| malformed(&error.to_string()))?;
        let object = value.as_object().ok_or_else(|| malformed("it is no object"))?;
        let mut table = Table::new();
        for (root, linked) in object {
            let linked = linked.as_array().ok_or_else(|| malformed("a value is no list"))?;
            let linked = linked.iter().filter_map(Value::as_str).map(str::to_owned);
            table.insert(root.clone(), linked.collect());
        }
        Ok(table)
    }

    /// Reads, changes and replaces the file, under a lock, so that two processes do not lose each other's
    /// links.
    fn change(&self, change: impl FnOnce(&mut Table) -> bool) -> Result<bool, LinkError> {
        let file = self.file.as_ref().ok_or(LinkError::Nowhere)?;
        let io = |error| LinkError::Io(file.clone(), error);
        let folder = file.parent().unwrap_or(Path::new("."));
        make_private(folder).map_err(io)?;
        let lock = fs::File::create(folder.join("links.lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        let mut table = self.read()?;
        let changed = change(&mut table);
        if changed {
            table.retain(|_, linked| !linked.is_empty());
            let text = serde_json::to_string_pretty(&table).expect("names and lists of names are JSON");
            replace(file, (text + "\n").as_bytes()).map_err(io)?;
        }
        Ok(changed)
    }
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_and_cycles_end() {
        let folder = tempfile::tempdir().unwrap();
        let links = Links::new(Some(folder.path().join("docent/links.json")));
        let path = |name: &str| PathBuf::from(name);
        assert_eq!(links.reachable(&path("/a")).unwrap(), [] as [PathBuf; 0]);
        for (from, to) in [("/a", "/b"), ("/b", "/c"), ("/c", "/a"), ("/b", "/b")] {
            assert!(links.add(&path(from), &path(to)).unwrap());
        }
        assert!(!links.add(&path("/a"), &path("/b")).unwrap());
        assert_eq!(links.of(&path("/b")).unwrap(), [path("/c"), path("/b")]);
        assert_eq!(links.reachable(&path("/a")).unwrap(), [path("/b"), path("/c")]);
        assert!(links.remove(&path("/b"), &path("/c")).unwrap());
        assert!(!links.remove(&path("/b"), &path("/c")).unwrap());
        assert_eq!(links.reachable(&path("/a")).unwrap(), [path("/b")]);
    }

    #[test]
    fn a_broken_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("links.json");
        fs::write(&file, "[1]").unwrap();
        let error = Links::new(Some(file))
            .of(Path::new("/a"))
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("links.json is not a list of links: it is no object"),
            "{error}"
        );
    }
}
