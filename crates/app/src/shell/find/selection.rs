//! Which directories and names come first, and how a name is written so that it is read back in one way.
//!
//! Invariant: both orders depend on paths alone, so that the same list gives the same answer.

use std::cmp::Ordering;

use docent_core::path::RepoPath;
use docent_core::role::FileRole;

/// The place of a directory among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DirectoryClass {
    Code,
    Test,
    /// Hidden, generated, or code of other projects.
    Foreign,
}

/// Directories of other projects' code, of build output, and of caches.
const FOREIGN: [&[u8]; 20] = [
    b"node_modules",
    b"vendor",
    b"vendored",
    b"third_party",
    b"thirdparty",
    b"third-party",
    b"generated",
    b"__generated__",
    b"__pycache__",
    b"site-packages",
    b"dist",
    b"build",
    b"target",
    b"out",
    b"coverage",
    b"venv",
    b"env",
    b"bower_components",
    b"jspm_packages",
    b"DerivedData",
];

const TEST: [&[u8]; 9] = [
    b"test",
    b"tests",
    b"__tests__",
    b"spec",
    b"specs",
    b"testdata",
    b"fixtures",
    b"__fixtures__",
    b"__snapshots__",
];

impl DirectoryClass {
    pub(super) fn of(directory: &[u8]) -> Self {
        let mut class = Self::Code;
        for component in directory.split(|byte| *byte == b'/') {
            let is_hidden = component.starts_with(b".") && !matches!(component, b"." | b".." | b".github");
            if is_hidden || FOREIGN.contains(&component) {
                return Self::Foreign;
            }
            if TEST.contains(&component) {
                class = Self::Test;
            }
        }
        class
    }
}

/// The order of names in a directory that is not shown whole: code, then the rest, tests and locks last.
pub(super) fn compare_names(directory: &[u8], one: &[u8], other: &[u8]) -> Ordering {
    let rank = |name: &[u8]| {
        let path = [directory.strip_prefix(b"/").unwrap_or(directory), name].concat();
        let path = String::from_utf8_lossy(&path);
        RepoPath::parse(&path).map_or(4, |path| match FileRole::of(&path) {
            FileRole::Entry => 0,
            FileRole::Core => 1,
            FileRole::Config | FileRole::Docs | FileRole::IssueTemplate => 2,
            FileRole::Test | FileRole::Changelog | FileRole::Translation => 3,
            FileRole::Lock | FileRole::Fixture => 4,
        })
    };
    rank(one).cmp(&rank(other)).then_with(|| one.cmp(other))
}

/// A name as it is; in double quotes, with escapes, if it could be read in another way.
pub(super) fn quote(name: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(name)
        && is_plain(text)
    {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '"' | '\\' => quoted.extend(['\\', char]),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                _ if char.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(char))),
                _ => quoted.push(char),
            }
        }
        for byte in chunk.invalid() {
            quoted.push_str(&format!("\\x{byte:02x}"));
        }
    }
    quoted.push('"');
    quoted
}

/// Characters of [`quote`]'s text.
pub(super) fn count_quoted(name: &[u8]) -> usize {
    let is_simple = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    if name.iter().all(is_simple) && !name.is_empty() {
        name.len()
    } else {
        quote(name).chars().count()
    }
}

fn is_plain(text: &str) -> bool {
    let is_special =
        |char: char| char.is_whitespace() || char.is_control() || matches!(char, '"' | '\\' | '…');
    text != "->" && !text.ends_with(':') && !text.chars().any(is_special)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_read_in_two_ways_are_quoted() {
        assert_eq!(quote(b"a.rs"), "a.rs");
        assert_eq!(quote("é.rs".as_bytes()), "é.rs");
        assert_eq!(quote(b"a b"), "\"a b\"");
        assert_eq!(quote(b"a\"b\\\n"), "\"a\\\"b\\\\\\n\"");
        assert_eq!(quote(b"bad\xff"), "\"bad\\xff\"");
        assert_eq!(quote(b"dir:"), "\"dir:\"");
        assert_eq!(quote(b"->"), "\"->\"");
    }

    #[test]
    fn a_directory_is_judged_by_its_components() {
        for (directory, class) in [
            ("", DirectoryClass::Code),
            ("./src/net/", DirectoryClass::Code),
            (".github/workflows/", DirectoryClass::Code),
            ("src/tests/", DirectoryClass::Test),
            ("tests/vendor/", DirectoryClass::Foreign),
            (".git/objects/", DirectoryClass::Foreign),
        ] {
            assert_eq!(DirectoryClass::of(directory.as_bytes()), class, "{directory}");
        }
    }

    #[test]
    fn code_comes_before_tests_and_locks() {
        let mut names = ["Cargo.lock", "a_test.go", "README.md", "b.go", "main.go"];
        names.sort_by(|a, b| compare_names(b"", a.as_bytes(), b.as_bytes()));
        assert_eq!(names, ["main.go", "b.go", "README.md", "a_test.go", "Cargo.lock"]);
    }
}
