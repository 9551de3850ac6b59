//! The path of a question: a file, a directory, or a line of a file.

use std::path::Path;

use docent_core::path::RepoPath;

use crate::files::Root;

/// Where definitions are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum SymbolLocation {
    #[default]
    Anywhere,
    File(RepoPath),
    Directory(RepoPath),
    Line(RepoPath, u32),
    /// A path outside of the project, which has no definitions.
    Nowhere,
}

impl SymbolLocation {
    pub(super) fn parse(root: &Root, written: Option<&str>) -> Self {
        let Some(written) = written.map(str::trim).filter(|written| !written.is_empty()) else {
            return Self::Anywhere;
        };
        let inside = root.strip_root(Path::new(written)).and_then(Path::to_str);
        let written = match inside {
            // The root itself.
            Some("") => return Self::Anywhere,
            Some(inside) => inside,
            None => written,
        };
        // A name may end with `:12`, so a file with the whole name comes first.
        if let Ok(path) = RepoPath::parse(written)
            && root.has_file(&path)
        {
            return Self::File(path);
        }
        let (path, line) = split_line(written);
        match (RepoPath::parse(path), line) {
            (Ok(path), Some(line)) => Self::Line(path, line),
            (Ok(path), None) => Self::Directory(path),
            (Err(docent_core::path::PathError::Empty), None) => Self::Anywhere,
            (Err(_), _) => Self::Nowhere,
        }
    }

    /// The one file that is meant.
    pub(super) fn file(&self) -> Option<&RepoPath> {
        match self {
            Self::File(path) | Self::Line(path, _) => Some(path),
            Self::Anywhere | Self::Directory(_) | Self::Nowhere => None,
        }
    }

    pub(super) fn line(&self) -> Option<u32> {
        match self {
            Self::Line(_, line) => Some(*line),
            _ => None,
        }
    }

    pub(super) fn contains(&self, path: &RepoPath) -> bool {
        match self {
            Self::Anywhere => true,
            Self::File(file) | Self::Line(file, _) => file == path,
            // A file that is gone looks like a directory.
            Self::Directory(directory) => {
                let below = path.as_str().strip_prefix(directory.as_str());
                below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            }
            Self::Nowhere => false,
        }
    }
}

/// Splits `FILE:LINE`, `FILE:LINE:COLUMN` and `FILE:LINE-LINE`.
fn split_line(written: &str) -> (&str, Option<u32>) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((path, last)) = written.rsplit_once(':') else {
        return (written, None);
    };
    let first = last.split_once('-').map_or(last, |(first, _)| first);
    if !is_number(first) {
        return (written, None);
    }
    match path.rsplit_once(':') {
        Some((path, line)) if is_number(line) => (path, line.parse().ok()),
        _ => (path, first.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_from_its_path() {
        for (written, expected) in [
            ("src/a.rs", ("src/a.rs", None)),
            ("src/a.rs:12", ("src/a.rs", Some(12))),
            ("src/a.rs:12:5", ("src/a.rs", Some(12))),
            ("src/a.rs:12-20", ("src/a.rs", Some(12))),
            ("src/a:b", ("src/a:b", None)),
            ("src/a.rs:", ("src/a.rs:", None)),
        ] {
            assert_eq!(split_line(written), expected, "{written}");
        }
    }

    #[test]
    fn a_directory_contains_what_is_below_it() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let directory = SymbolLocation::Directory(path("src/ui"));
        assert!(directory.contains(&path("src/ui/row.rs")));
        assert!(!directory.contains(&path("src/ui.rs")));
        assert!(!SymbolLocation::Nowhere.contains(&path("src/ui.rs")));
    }
}
