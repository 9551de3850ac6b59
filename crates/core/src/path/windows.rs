//! Names that Windows takes for something else than the file that a directory lists under them.
//!
//! Left out: the case of letters and Unicode, which the access rules fold on every system, and absolute paths
//! in all their spellings (`C:\`, `\\?\`, `\\.\`), which are never a [`super::RepoPath`].

/// Why Windows would open something else than a file of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowsHazard {
    #[error("the name is that of a device on Windows")]
    Device,
    #[error("a colon begins a stream or follows a drive on Windows")]
    Stream,
    #[error("Windows drops dots and spaces at the end of a name")]
    IgnoredEnd,
    #[error("Windows may know another file by this short name")]
    ShortName,
    #[error("Windows does not allow one of the characters of this name")]
    Reserved,
}

impl WindowsHazard {
    /// The hazard of one component of a path.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        if is_device(name) {
            Some(Self::Device)
        } else if name.contains(':') {
            Some(Self::Stream)
        } else if name.ends_with(['.', ' ']) {
            Some(Self::IgnoredEnd)
        } else if name.contains(['<', '>', '"', '|', '?', '*']) {
            Some(Self::Reserved)
        } else {
            is_short_name(name).then_some(Self::ShortName)
        }
    }
}

/// A device has its name with any extension, and with spaces before it.
fn is_device(name: &str) -> bool {
    let stem = name.split(['.', ':']).next().unwrap_or_default();
    let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
    if matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$"
    ) {
        return true;
    }
    let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    let mut number = number.unwrap_or_default().chars();
    // The superscripts count as digits.
    matches!(
        (number.next(), number.next()),
        (Some('0'..='9' | '¹' | '²' | '³'), None)
    )
}

/// `GIT~1`, `ENV~1.LOC`: up to eight characters that end in a tilde and a number, and an extension of up to
/// three.
pub(crate) fn is_short_name(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let Some((start, number)) = stem.split_once('~') else {
        return false;
    };
    (1..=6).contains(&start.chars().count())
        && (1..=6).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && extension.chars().count() <= 3
        && !extension.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{PathError, RepoPath};

    fn check(hazard: Option<WindowsHazard>, paths: &[&str]) {
        for path in paths {
            assert_eq!(RepoPath::parse(path).unwrap().windows_hazard(), hazard, "{path}");
        }
    }

    #[test]
    fn devices_are_known_with_any_extension_and_case() {
        check(
            Some(WindowsHazard::Device),
            &[
                "CON",
                "con",
                "Nul",
                "prn",
                "AUX",
                "aux.c",
                "src/aux.h",
                "nul.tar.gz",
                "COM1",
                "com0",
                "lpt9.txt",
                "COM¹",
                "LPT³.log",
                "CON .txt",
                "con/x",
                "CONIN$",
                "conout$",
                "NUL:",
                "a/com1:x",
            ],
        );
        check(
            None,
            &[
                "console.rs",
                "auxiliary",
                "null",
                "COM10",
                "COM",
                "LPTX",
                "my.con",
                "nul_",
                "xCON",
            ],
        );
    }

    #[test]
    fn streams_and_drives_are_known_by_their_colon() {
        check(
            Some(WindowsHazard::Stream),
            &[
                ".env::$DATA",
                "file::$DATA",
                "a.txt:hidden",
                "dir:$I30:$INDEX_ALLOCATION/x",
                "c:x",
                "a/b:c",
            ],
        );
    }

    #[test]
    fn dots_and_spaces_at_the_end_are_known() {
        check(
            Some(WindowsHazard::IgnoredEnd),
            &[".env.", ".env ", "a./b", "secrets /x", "a. .", "x..."],
        );
        check(None, &[".a", "a.b", "a b", ". a"]);
    }

    #[test]
    fn short_names_are_known_by_their_form() {
        check(
            Some(WindowsHazard::ShortName),
            &[
                "GIT~1",
                "git~1/config",
                "ENV~1",
                "ENV~1.LOC",
                "GI7EBA~1",
                "PROGRA~2",
                "a~123456.txt",
                "SECRET~1.PE",
            ],
        );
        check(
            None,
            &[
                "backup~",
                "a.c~1~",
                "~1",
                "longname~1",
                "a~b",
                "a~1.long",
                "a~1.b.c",
                "notes~2024-01",
                "~",
            ],
        );
    }

    #[test]
    fn characters_that_windows_keeps_for_itself_are_known() {
        check(
            Some(WindowsHazard::Reserved),
            &["a?", "a*b", "a<b", "x|y", "a\"b", "a/>"],
        );
    }

    #[test]
    fn absolute_spellings_of_windows_are_no_paths_of_a_project() {
        for text in [
            r"\\?\C:\Windows",
            r"\\.\pipe\docent",
            r"\??\C:\x",
            "//?/C:/x",
            r"\\server\share\x",
            r"C:\x",
            "c:/x",
            "C:",
        ] {
            assert_eq!(RepoPath::parse(text), Err(PathError::Absolute), "{text}");
        }
        assert_eq!(RepoPath::parse(r"a\..\..\x"), Err(PathError::Traversal));
    }
}
