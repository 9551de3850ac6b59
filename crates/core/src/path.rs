//! Paths as callers name them: relative to the project root.
//!
//! This module only reads text. The engine decides whether a path exists, or leads outside through a symlink.
//!
//! Invariant: a [`RepoPath`] is never empty and never absolute, has no `.` or `..` component and no control
//! character, and has `/` between components.

pub(crate) mod windows;

use std::fmt;

pub use windows::WindowsHazard;

/// A path below the project root, as `/`-separated components.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

/// Why a caller's text is not a path inside the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("absolute paths are not allowed; name the file relative to the project root")]
    Absolute,
    #[error("`..` is not allowed; name the file relative to the project root")]
    Traversal,
    #[error("the path contains a control character")]
    Control,
}

impl RepoPath {
    /// Parses a caller's path. Both separators are accepted; `./` and doubled separators are dropped.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if is_normalised(text) {
            return Ok(Self(text.to_owned()));
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::Control);
        }
        if is_absolute(text) {
            return Err(PathError::Absolute);
        }
        let mut path = String::with_capacity(text.len());
        for component in text.split(['/', '\\']) {
            match component {
                "" | "." => {}
                ".." => return Err(PathError::Traversal),
                name => {
                    if !path.is_empty() {
                        path.push('/');
                    }
                    path.push_str(name);
                }
            }
        }
        if path.is_empty() {
            Err(PathError::Empty)
        } else {
            Ok(Self(path))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Why Windows would open something else than a file of this path. On other systems the path means
    /// itself.
    pub fn windows_hazard(&self) -> Option<WindowsHazard> {
        self.components().find_map(WindowsHazard::of_name)
    }

    /// The last component.
    pub fn file_name(&self) -> &str {
        self.components()
            .next_back()
            .expect("a RepoPath has at least one component")
    }

    /// The part after the last dot of the file name; `None` if there is nothing before the dot.
    pub fn extension(&self) -> Option<&str> {
        match self.file_name().rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() => Some(extension),
            _ => None,
        }
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Any path, relative or absolute, with `/` between components, without `.`, and with `..` resolved as far as
/// possible. Works on text alone: symlinks are not followed.
pub fn normalise_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let (start, rest) = path.split_at(match path.as_bytes() {
        [letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => 3,
        [b'/', ..] => 1,
        _ => 0,
    });
    let mut components: Vec<&str> = Vec::new();
    for component in rest.split('/') {
        match component {
            "" | "." => {}
            ".." if components.last().is_some_and(|&last| last != "..") => drop(components.pop()),
            ".." if !start.is_empty() => {}
            name => components.push(name),
        }
    }
    start.to_ascii_uppercase() + &components.join("/")
}

/// True for a path that needs no change, as directory walks produce them: printable ASCII with `/` between
/// components.
fn is_normalised(text: &str) -> bool {
    let mut component = 0;
    let mut dots = 0;
    for byte in text.bytes() {
        match byte {
            b'/' if component == 0 || (component == dots && dots <= 2) => return false,
            b'/' => (component, dots) = (0, 0),
            b'.' => (component, dots) = (component + 1, dots + 1),
            b'\\' | b':' | 0..=0x1f | 0x7f.. => return false,
            _ => component += 1,
        }
    }
    component > 0 && !(component == dots && dots <= 2)
}

/// True for every spelling that some platform reads as absolute, because a project is served the same way on
/// all platforms.
fn is_absolute(text: &str) -> bool {
    let drive = matches!(text.as_bytes(), [letter, b':', rest @ ..]
        if letter.is_ascii_alphabetic() && matches!(rest, [] | [b'/' | b'\\', ..]));
    drive || text.starts_with(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: Result<&str, PathError>) {
        assert_eq!(
            RepoPath::parse(text).as_ref().map(RepoPath::as_str),
            expected.as_ref().copied(),
            "{text:?}"
        );
    }

    #[test]
    fn relative_paths_are_normalised() {
        check("src/main.rs", Ok("src/main.rs"));
        check("./src//main.rs", Ok("src/main.rs"));
        check(r"src\main.rs", Ok("src/main.rs"));
        check("src/./lib/", Ok("src/lib"));
        check("~/notes", Ok("~/notes"));
        check("a:b", Ok("a:b"));
        check("....//x", Ok("..../x"));
    }

    #[test]
    fn absolute_paths_are_refused_in_every_platforms_spelling() {
        for text in [
            "/etc/passwd",
            "//server/share",
            r"\etc",
            r"\\server\share",
            r"C:\Windows",
            "c:/x",
            "C:",
        ] {
            check(text, Err(PathError::Absolute));
        }
    }

    #[test]
    fn parent_components_are_refused_in_every_spelling() {
        for text in [
            "..",
            "../x",
            "a/..",
            "a/../b",
            r"..\x",
            r"a\..\..\x",
            "./../x",
            "a//../b",
        ] {
            check(text, Err(PathError::Traversal));
        }
    }

    #[test]
    fn control_characters_and_empty_paths_are_refused() {
        check("a\0b", Err(PathError::Control));
        check("a\nb", Err(PathError::Control));
        check("a\u{7f}", Err(PathError::Control));
        check("", Err(PathError::Empty));
        check("./", Err(PathError::Empty));
    }

    #[test]
    fn extensions_need_a_stem() {
        let extension = |text: &str| RepoPath::parse(text).unwrap().extension().map(str::to_owned);
        assert_eq!(extension("a/b.tar.gz").as_deref(), Some("gz"));
        assert_eq!(extension("a.b/.gitignore"), None);
        assert_eq!(extension("Makefile"), None);
    }

    proptest! {
        #[test]
        fn every_parsed_path_keeps_the_invariant(text in any::<String>()) {
            if let Ok(path) = RepoPath::parse(&text) {
                prop_assert!(path.components().all(|c| !c.is_empty() && c != "." && c != ".."));
                prop_assert!(!path.as_str().starts_with('/') && !path.as_str().contains(['\\', '\0']));
                let again = RepoPath::parse(path.as_str());
                prop_assert_eq!(again.as_ref(), Ok(&path));
            }
        }

        #[test]
        fn a_path_taken_unchanged_is_normalised(text in "[a./\\\\:\u{1}é]{0,8}") {
            if is_normalised(&text) {
                prop_assert!(text.split('/').all(|c| !matches!(c, "" | "." | "..")), "{}", text);
                let is_plain = !is_absolute(&text) && !text.contains(['\\', '\u{1}']);
                prop_assert!(is_plain, "{}", text);
            }
        }
    }
}
