//! Object stores: the directories whose objects git reads for a repository.
//!
//! `objects/info/alternates` names further stores, and each of them may name more. An archive can contain
//! such a file, and git would then show the objects of any repository on the machine under this project's
//! name.
//! `http-alternates`, which git reads for transfers only, is held to the same rule.
//!
//! Invariant: every store that git reads lies in the repository, or in a directory that the user has allowed.

use std::borrow::Cow;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use super::GitError;
use super::location::{GitFileStamp, open};

/// Files of a store that name further stores.
const LISTS: [&str; 2] = ["info/alternates", "info/http-alternates"];

/// Longer lists are refused.
const MAX_LIST_BYTES: u64 = 64 << 10;

/// Stores of one repository. More are refused.
const MAX_STORES: usize = 100;

/// Refuses a repository whose objects lie elsewhere. Returns the stamp of everything that decides where they
/// lie, which differs if a store was added and removed again meanwhile.
pub(super) fn check_stores(common: &Path, allowed: &[PathBuf]) -> Result<GitFileStamp, GitError> {
    let mut stamp = GitFileStamp::default();
    let mut checked: Vec<PathBuf> = Vec::new();
    let mut named = vec![common.join("objects")];
    while let Some(store) = named.pop() {
        // git ignores a store that does not exist. It could be created before git looks.
        let store = store.canonicalize().map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => GitError::Denied,
            _ => GitError::ForeignStore,
        })?;
        if checked.contains(&store) {
            continue;
        }
        let is_own = store.starts_with(common) || is_allowed(&store, allowed);
        if !is_own || checked.len() == MAX_STORES {
            return Err(GitError::ForeignStore);
        }
        stamp.add(fs::symlink_metadata(store.join("info")).ok().as_ref());
        for list in LISTS {
            let list = store.join(list);
            stamp.add(fs::symlink_metadata(&list).ok().as_ref());
            let text = read_list(&list)?;
            for entry in parse_list(&text) {
                let entry = store.join(to_path(&entry));
                // Older versions of git remove `..` before they follow links, newer ones do so afterwards.
                named.push(remove_parents(&entry));
                named.push(entry);
            }
        }
        checked.push(store);
    }
    Ok(stamp)
}

/// A path without `..`, each removed together with the name before it.
fn remove_parents(path: &Path) -> PathBuf {
    let mut shortened = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            shortened.pop();
        } else {
            shortened.push(component);
        }
    }
    shortened
}

/// Whether a canonical path is one of the directories that the user has allowed, or lies in one.
pub(super) fn is_allowed(path: &Path, allowed: &[PathBuf]) -> bool {
    allowed
        .iter()
        .filter_map(|directory| directory.canonicalize().ok())
        .any(|directory| path.starts_with(directory))
}

/// Reads a list of stores. It is empty if there is no file.
fn read_list(path: &Path) -> Result<Vec<u8>, GitError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_LIST_BYTES => {}
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            return Ok(Vec::new());
        }
        _ => return Err(GitError::ForeignStore),
    }
    let mut text = Vec::new();
    open(path)
        .and_then(|file| file.take(MAX_LIST_BYTES + 1).read_to_end(&mut text))
        .map_err(|_| GitError::ForeignStore)?;
    if text.len() as u64 > MAX_LIST_BYTES {
        return Err(GitError::ForeignStore);
    }
    Ok(text)
}

/// The entries of a list, split exactly as git splits them: a difference would hide a store from the check.
fn parse_list(text: &[u8]) -> Vec<Vec<u8>> {
    // git reads the list as a C string.
    let mut rest = until_nul(text);
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let (entry, length) = match (rest[0], unquote(rest)) {
            (b'#', _) => (Vec::new(), line.len()),
            // The next entry begins one byte behind the quote, whatever that byte is.
            (_, Some(unquoted)) => unquoted,
            (_, None) => (line.to_vec(), line.len()),
        };
        let entry = until_nul(&entry);
        if !entry.is_empty() {
            entries.push(entry.to_vec());
        }
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    entries
}

fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Undoes the quoting of a C string. Returns it with the length of its quoted form; `None` if the text does
/// not begin with a complete one.
pub(crate) fn unquote(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut bytes = text.iter().copied().enumerate().skip(1);
    if text.first() != Some(&b'"') {
        return None;
    }
    let mut unquoted = Vec::new();
    loop {
        match bytes.next()? {
            (at, b'"') => return Some((unquoted, at + 1)),
            (_, b'\\') => {}
            (_, byte) => {
                unquoted.push(byte);
                continue;
            }
        }
        unquoted.push(match bytes.next()?.1 {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            byte @ (b'\\' | b'"') => byte,
            first @ b'0'..=b'3' => {
                let mut value = first - b'0';
                for _ in 0..2 {
                    let (_, digit @ b'0'..=b'7') = bytes.next()? else {
                        return None;
                    };
                    value = value << 3 | (digit - b'0');
                }
                value
            }
            _ => return None,
        });
    }
}

#[cfg(unix)]
fn to_path(bytes: &[u8]) -> Cow<'_, Path> {
    use std::os::unix::ffi::OsStrExt;
    Cow::Borrowed(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn to_path(bytes: &[u8]) -> Cow<'_, Path> {
    Cow::Owned(PathBuf::from(String::from_utf8_lossy(bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_as_git_splits_it() {
        let check = |text: &str, expected: &[&str]| {
            let entries = parse_list(text.as_bytes());
            let entries: Vec<String> = entries
                .iter()
                .map(|entry| String::from_utf8_lossy(entry).into_owned())
                .collect();
            assert_eq!(entries, expected, "{text:?}");
        };
        check("", &[]);
        check("\n\n", &[]);
        check("/a\n/b", &["/a", "/b"]);
        check("# /a\n/b\n", &["/b"]);
        check(" # /a\n", &[" # /a"]);
        check("/a\r\n", &["/a\r"]);
        check("\"/a b\"\n/c\n", &["/a b", "/c"]);
        check("\"/\\141\\n\\\"\"\n", &["/a\n\""]);
        check("\"/a\nb\"\n", &["/a\nb"]);
        check("\"/a\"x/b\n", &["/a", "/b"]);
        check("\"/a\n/b\n", &["\"/a", "/b"]);
        check("\"/a\\q\"\n", &["\"/a\\q\""]);
        check("\"/a\\400\"\n", &["\"/a\\400\""]);
        check("/a\0\n/b\n", &["/a"]);
        check("\"/a\\000b\"\n", &["/a"]);
    }

    #[test]
    fn only_an_allowed_directory_and_what_lies_in_it_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("store/objects")).unwrap();
        let allowed = [root.join("store"), root.join("absent")];
        assert!(is_allowed(&root.join("store"), &allowed));
        assert!(is_allowed(&root.join("store/objects"), &allowed));
        assert!(!is_allowed(&root.join("store2"), &allowed));
        assert!(!is_allowed(&root.join("absent"), &allowed));
        assert!(!is_allowed(&root, &allowed));
    }
}
