//! Reads a section of a page by its id, with the sections around it.
//!
//! How much of it fits into an answer is decided in the app.
//!
//! Invariant: the text is that of the file now, not that of the index.

use docent_core::docs::DocsFileKind;
use docent_core::docs::page::PageTarget;
use docent_core::path::RepoPath;

use super::read_page;
use crate::files::{FileError, Root};
use crate::index::Index;
use crate::store::StoreError;

/// A section with its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The page's path.
    pub path: String,
    /// In the order of the page.
    pub sections: Vec<DocSection>,
    /// Number of sections of the page.
    pub total: usize,
}

/// A section of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocSection {
    pub id: String,
    /// The heading with those above it.
    pub breadcrumb: String,
    /// Position in the page, counted from 1.
    pub at: usize,
    /// Distance from the requested section, negative before it.
    pub offset: isize,
    pub text: String,
    pub lines: (usize, usize),
    /// Byte offset in the file.
    pub start: usize,
}

/// Why a section cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("it is no path of a page, with or without a heading behind a #")]
    Malformed,
    #[error("there is no such section")]
    Missing,
    #[error("more than one section is called that")]
    Ambiguous(Vec<String>),
    #[error(transparent)]
    File(FileError),
    #[error(transparent)]
    Index(#[from] StoreError),
}

/// Reads the section with an id, and up to `around` sections before and after it.
pub fn read(root: &Root, index: &Index, id: &str, around: usize) -> Result<Doc, ReadError> {
    let is_page = |path: &RepoPath| {
        Ok::<_, StoreError>(DocsFileKind::of(path) == Some(DocsFileKind::Page) && index.has_page(path)?)
    };
    let (path, name) = match RepoPath::parse(id) {
        // A file name may contain a `#` as well.
        Ok(path) if is_page(&path)? => (path, ""),
        _ => split_id(id)?,
    };
    if !is_page(&path)? {
        return Err(ReadError::Missing);
    }
    let (page, text) = match read_page(root, &path, index.rules(&path)) {
        Ok(page) => page,
        Err(
            FileError::Missing
            | FileError::Blocked
            | FileError::Outside
            | FileError::Ambiguous(_)
            | FileError::Directory,
        ) => {
            return Err(ReadError::Missing);
        }
        Err(error) => return Err(ReadError::File(error)),
    };
    let target = match page.find(name) {
        PageTarget::One(at) => at,
        PageTarget::None => return Err(ReadError::Missing),
        PageTarget::Several(matches) => {
            let ids = matches.iter().map(|at| page.sections[*at].id(path.as_str()));
            return Err(ReadError::Ambiguous(ids.collect()));
        }
    };
    let from = target.saturating_sub(around);
    let until = (target + around + 1).min(page.sections.len());
    let sections = (from..until).map(|at| {
        let section = &page.sections[at];
        DocSection {
            id: section.id(path.as_str()),
            breadcrumb: section.breadcrumb(),
            at: at + 1,
            offset: at.cast_signed() - target.cast_signed(),
            text: text[section.bytes.clone()].to_owned(),
            lines: section.lines,
            start: section.bytes.start,
        }
    });
    Ok(Doc {
        path: path.to_string(),
        sections: sections.collect(),
        total: page.sections.len(),
    })
}

/// Splits an id into the path of a page and the name of a section behind the `#`.
fn split_id(id: &str) -> Result<(RepoPath, &str), ReadError> {
    let (path, name) = match id.rsplit_once('#') {
        Some((_, "")) => return Err(ReadError::Malformed),
        Some((path, name)) => (path, name),
        None => (id, ""),
    };
    let path = RepoPath::parse(path).map_err(|_| ReadError::Malformed)?;
    Ok((path, name))
}
