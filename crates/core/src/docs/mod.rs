//! Documentation: markdown pages cut into sections that can be named, filtered and read in order.
//!
//! How a page is cut and labelled is said by the manifest that governs it (`manifest`), and by the page itself (`front`).
//! What the labels of all pages amount to is the corpus's taxonomy (`taxonomy`). Templates beside the pages are prompts
//! (`prompt`).

pub mod cursor;
pub mod front_matter;
pub mod manifest;
pub mod page;
pub mod prompt;
pub mod snippet;
pub mod taxonomy;

use crate::path::RepoPath;
use crate::text::reveal::reveal;

/// What a file is to the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocsFileKind {
    /// Text that is cut into sections.
    Page,
    /// Text with gaps, to be filled in.
    Template,
    /// Says how the pages around it are treated.
    Manifest,
}

impl DocsFileKind {
    /// What the file at a path is; nothing where it is no documentation.
    pub fn of(path: &RepoPath) -> Option<Self> {
        let name = path.file_name();
        if reveal(path.as_str()) != path.as_str() {
            // It could not be asked for by what is shown of it.
            return None;
        }
        if name == manifest::FILE {
            return Some(Self::Manifest);
        }
        let lower = name.to_ascii_lowercase();
        if prompt::SUFFIXES.iter().any(|suffix| lower.ends_with(suffix)) {
            return Some(Self::Template);
        }
        let is_page = [".md", ".mdx", ".markdown"]
            .iter()
            .any(|suffix| lower.ends_with(suffix) && lower.len() > suffix.len());
        is_page.then_some(Self::Page)
    }
}

/// Whether a file lies in one of these directories; in any, where none is named.
pub fn is_within(path: &RepoPath, directories: &[RepoPath]) -> bool {
    let below = |directory: &RepoPath| {
        let rest = path.as_str().strip_prefix(directory.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    directories.is_empty() || directories.iter().any(below)
}

/// Something in a file that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

impl Problem {
    /// Of a file as a whole.
    pub fn at_top(message: impl Into<String>) -> Self {
        Self::new(1, message)
    }

    fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_names() {
        let part = |path: &str| DocsFileKind::of(&RepoPath::parse(path).unwrap());
        assert_eq!(part("README.md"), Some(DocsFileKind::Page));
        assert_eq!(part("docs/a.MDX"), Some(DocsFileKind::Page));
        assert_eq!(part("docs/a.markdown"), Some(DocsFileKind::Page));
        assert_eq!(part("docs/.md"), None);
        assert_eq!(part("docs/a.template.md"), Some(DocsFileKind::Template));
        assert_eq!(part("docs/a.template.yaml"), Some(DocsFileKind::Template));
        assert_eq!(part("docs/a.yaml"), None);
        assert_eq!(part("docs/.docs-mcp.json"), Some(DocsFileKind::Manifest));
        assert_eq!(part("src/main.rs"), None);
    }
}
