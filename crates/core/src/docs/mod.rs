//! Documentation: pages of markdown, reStructuredText and AsciiDoc, cut into sections that have names and
//! labels.
//!
//! The nearest manifest (`manifest`) and the page's own front matter (`front_matter`) decide how a page is
//! cut and labelled. The labels of all pages make up the taxonomy (`taxonomy`). Templates beside the pages
//! are prompts (`prompt`). `listing` decides which names of a project reach clients before any call.

pub mod cursor;
pub mod front_matter;
pub mod listing;
pub mod manifest;
pub mod minor;
pub mod page;
pub mod prompt;
pub mod snippet;
pub mod taxonomy;

use crate::path::RepoPath;
use crate::text::reveal::reveal;

/// The kind of a file in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocsFileKind {
    /// Text that is cut into sections.
    Page,
    /// A prompt with gaps to fill in.
    Template,
    /// Decides how the pages below its directory are cut and labelled.
    Manifest,
}

impl DocsFileKind {
    /// The kind of the file at a path; `None` if it is no documentation.
    pub fn of(path: &RepoPath) -> Option<Self> {
        let name = path.file_name();
        if reveal(path.as_str()) != path.as_str() {
            // A caller could not repeat a name whose invisible characters are shown escaped.
            return None;
        }
        if name == manifest::MANIFEST_FILE {
            return Some(Self::Manifest);
        }
        let lower = name.to_ascii_lowercase();
        if prompt::SUFFIXES.iter().any(|suffix| lower.ends_with(suffix)) {
            return Some(Self::Template);
        }
        page::Markup::of_path(path).map(|_| Self::Page)
    }
}

/// True if a file lies in one of these directories. Always true without any.
pub fn is_within(path: &RepoPath, directories: &[RepoPath]) -> bool {
    let below = |directory: &RepoPath| {
        let rest = path.as_str().strip_prefix(directory.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    directories.is_empty() || directories.iter().any(below)
}

/// A mistake in a page, manifest or template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

impl Problem {
    /// A problem of a file as a whole.
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
    fn the_name_of_a_file_tells_its_kind() {
        let kind = |path: &str| DocsFileKind::of(&RepoPath::parse(path).unwrap());
        assert_eq!(kind("README.md"), Some(DocsFileKind::Page));
        assert_eq!(kind("docs/a.MDX"), Some(DocsFileKind::Page));
        assert_eq!(kind("docs/a.markdown"), Some(DocsFileKind::Page));
        assert_eq!(kind("docs/a.rst"), Some(DocsFileKind::Page));
        assert_eq!(kind("docs/a.adoc"), Some(DocsFileKind::Page));
        assert_eq!(kind("docs/a.asciidoc"), Some(DocsFileKind::Page));
        assert_eq!(kind("docs/.md"), None);
        assert_eq!(kind("docs/a.template.md"), Some(DocsFileKind::Template));
        assert_eq!(kind("docs/a.template.yaml"), Some(DocsFileKind::Template));
        assert_eq!(kind("docs/a.yaml"), None);
        assert_eq!(kind("docs/.docs-mcp.json"), Some(DocsFileKind::Manifest));
        assert_eq!(kind("src/main.rs"), None);
    }
}
