//! The key of a document: the file or the commit that entries were made from, and by which they are removed.

use std::borrow::Cow;
use std::fmt;

use docent_core::path::RepoPath;

/// The source of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::index) enum DocKey {
    File(RepoPath),
    Commit(CommitId),
}

/// The id of a commit, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::index) struct CommitId(String);

impl DocKey {
    /// The value of the column `path` in the table of files.
    pub(in crate::index) fn column(&self) -> &str {
        match self {
            Self::File(path) => path.as_str(),
            Self::Commit(id) => id.as_str(),
        }
    }

    /// The value by which the store removes entries. Files and commits share one store. A path inside the
    /// project never begins with `/`, so a commit's key cannot be the name of a file.
    pub(in crate::index) fn removal_key(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => Cow::Borrowed(path.as_str()),
            Self::Commit(id) => Cow::Owned(format!("/commit/{id}")),
        }
    }
}

impl CommitId {
    /// `None` if it is not a hexadecimal number.
    pub(in crate::index) fn parse(id: &str) -> Option<Self> {
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| Self(id.to_owned()))
    }

    pub(in crate::index) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_removed_by_another_key_than_a_file_of_the_same_name() {
        let id = CommitId::parse("c0ffee").unwrap();
        let file = DocKey::File(RepoPath::parse("c0ffee").unwrap());
        let commit = DocKey::Commit(id);
        assert_eq!(file.column(), commit.column());
        assert_ne!(file.removal_key(), commit.removal_key());
        assert!(RepoPath::parse(&commit.removal_key()).is_err());
    }

    #[test]
    fn a_commit_id_is_a_hexadecimal_number() {
        assert!(CommitId::parse("0123456789abcdef0123456789abcdef01234567").is_some());
        assert!(CommitId::parse("").is_none());
        assert!(CommitId::parse("../x").is_none());
        assert!(CommitId::parse("HEAD").is_none());
    }
}
