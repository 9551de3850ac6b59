//! Trusted projects: those whose authors' own descriptions the user lets reach clients.
//!
//! What trust allows is decided in the app.
//!
//! Invariant: decisions lie with the user's settings and not in the project, so that no clone can trust
//! itself. A project is identified by the canonical path of its root; another project that is put there later
//! has the same decision.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{make_private, read_own, replace};

/// The file with all decisions of a user.
#[derive(Clone, Debug)]
pub struct TrustList {
    file: Option<PathBuf>,
}

/// What the user has decided about a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustDecision {
    Trusted,
    Declined,
}

/// Why decisions cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("there is no place for settings: neither XDG_CONFIG_HOME nor HOME is set")]
    Nowhere,
    #[error("{0} is not a path in UTF-8, which a list of trusted projects needs")]
    NotUtf8(PathBuf),
    #[error("{0} is not a list of trusted projects: {1}")]
    Malformed(PathBuf, String),
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
}

/// The file as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredDecisions {
    version: u32,
    projects: BTreeMap<String, TrustDecision>,
}

/// The version of the file's format.
const FORMAT_VERSION: u32 = 1;

impl TrustList {
    /// `file` is `None` for a user without a home, who trusts nothing.
    pub fn new(file: Option<PathBuf>) -> Self {
        Self { file }
    }

    /// The decision about the project at `root`. `None` if the user has not decided.
    pub fn decision(&self, root: &Path) -> Result<Option<TrustDecision>, TrustError> {
        let Some(root) = root.to_str() else {
            return Ok(None);
        };
        Ok(self.read()?.get(root).copied())
    }

    /// Records a decision. Returns false if it was the same before.
    pub fn decide(&self, root: &Path, decision: TrustDecision) -> Result<bool, TrustError> {
        let root = root
            .to_str()
            .ok_or_else(|| TrustError::NotUtf8(root.to_owned()))?;
        self.change(|projects| projects.insert(root.to_owned(), decision) != Some(decision))
    }

    /// Removes the decision about a project. Returns false if there was none.
    pub fn forget(&self, root: &Path) -> Result<bool, TrustError> {
        let Some(root) = root.to_str() else {
            return Ok(false);
        };
        self.change(|projects| projects.remove(root).is_some())
    }

    /// The trusted projects, by path.
    pub fn trusted(&self) -> Result<Vec<PathBuf>, TrustError> {
        let projects = self.read()?.into_iter();
        let trusted = projects.filter(|(_, decision)| *decision == TrustDecision::Trusted);
        Ok(trusted.map(|(root, _)| root.into()).collect())
    }

    fn read(&self) -> Result<BTreeMap<String, TrustDecision>, TrustError> {
        let Some(file) = &self.file else {
            return Ok(BTreeMap::new());
        };
        let text = read_own(file).map_err(|error| TrustError::Io(file.clone(), error))?;
        let Some(text) = text else {
            return Ok(BTreeMap::new());
        };
        let malformed = |reason: String| TrustError::Malformed(file.clone(), reason);
        let stored: StoredDecisions =
            serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if stored.version != FORMAT_VERSION {
            return Err(malformed(format!("it has version {}", stored.version)));
        }
        Ok(stored.projects)
    }

    /// Reads, changes and replaces the file, under a lock, so that two processes do not lose each other's
    /// decisions.
    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, TrustDecision>) -> bool,
    ) -> Result<bool, TrustError> {
        let file = self.file.as_ref().ok_or(TrustError::Nowhere)?;
        let io = |error| TrustError::Io(file.clone(), error);
        let folder = file.parent().unwrap_or(Path::new("."));
        make_private(folder).map_err(io)?;
        let lock = fs::File::create(folder.join("trust.lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        let mut projects = self.read()?;
        let changed = change(&mut projects);
        if changed {
            let stored = StoredDecisions {
                version: FORMAT_VERSION,
                projects,
            };
            let text = serde_json::to_string_pretty(&stored).expect("paths and words are JSON");
            replace(file, (text + "\n").as_bytes()).map_err(io)?;
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_kept_by_path_and_can_be_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let list = TrustList::new(Some(folder.path().join("docent/trust.json")));
        let (one, other) = (Path::new("/a"), Path::new("/a/b"));
        assert_eq!(list.decision(one).unwrap(), None);
        assert!(list.decide(one, TrustDecision::Trusted).unwrap());
        assert!(!list.decide(one, TrustDecision::Trusted).unwrap());
        assert!(list.decide(other, TrustDecision::Declined).unwrap());
        assert_eq!(list.decision(one).unwrap(), Some(TrustDecision::Trusted));
        assert_eq!(list.decision(other).unwrap(), Some(TrustDecision::Declined));
        assert_eq!(list.trusted().unwrap(), [one]);
        assert!(list.forget(one).unwrap());
        assert!(!list.forget(one).unwrap());
        assert_eq!(list.decision(one).unwrap(), None);
    }

    #[test]
    fn nothing_is_trusted_without_a_home_or_with_a_broken_file() {
        let nowhere = TrustList::new(None);
        assert_eq!(nowhere.decision(Path::new("/a")).unwrap(), None);
        let refused = nowhere.decide(Path::new("/a"), TrustDecision::Trusted);
        assert!(matches!(refused, Err(TrustError::Nowhere)));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trust.json");
        for text in ["[", "{}", r#"{"version": 2, "projects": {"/a": "trusted"}}"#] {
            fs::write(&file, text).unwrap();
            let list = TrustList::new(Some(file.clone()));
            assert!(
                matches!(list.decision(Path::new("/a")), Err(TrustError::Malformed(..))),
                "{text}"
            );
            assert!(list.decide(Path::new("/a"), TrustDecision::Trusted).is_err());
            assert_eq!(
                read_own(&file).unwrap().as_deref(),
                Some(text),
                "a file of another version is not lost"
            );
        }
    }
}
