//! The project's documentation: searched, read and checked.
//!
//! How pages are chunked and labelled is in `core`.
//!
//! Invariant: searches use the index, but every text that is shown comes from the page as it is now.

mod advice;
mod check;
mod prompts;
mod reading;
mod search;

pub use advice::{Advice, advice};
pub use check::{DocsFinding, Proposal, check, propose};
pub use prompts::{Prompts, prompts};
pub use reading::{Doc, DocSection, ReadError, read};
pub use search::{Results, RetrievalMode, SectionHit, SectionRequest, search};

use docent_core::docs::manifest::{DocsManifest, MANIFEST_FILE, PageRules};
use docent_core::docs::page::{Markup, Page};
use docent_core::path::RepoPath;

use crate::files::{FileError, Root, decode_file, lossy_text};
use crate::index::MAX_MANIFEST_BYTES;

/// Larger pages are never indexed, whatever the settings say.
const MAX_PAGE_BYTES: u64 = 256 << 20;

/// The text of a page as it is now.
fn read_text(root: &Root, path: &RepoPath) -> Result<String, FileError> {
    Ok(decode_file(root.read(path, MAX_PAGE_BYTES)?.bytes))
}

/// A page as it is now, chunked by these rules, and its text.
fn read_page(root: &Root, path: &RepoPath, rules: PageRules) -> Result<(Page, String), FileError> {
    let text = read_text(root, path)?;
    Ok((Page::of(&text, markup_of(path), rules), text))
}

/// The markup of a page.
fn markup_of(path: &RepoPath) -> Markup {
    Markup::of_path(path).unwrap_or_default()
}

/// The instructions for clients in the project's manifest.
pub fn instructions(root: &Root) -> Option<String> {
    let paths = [
        MANIFEST_FILE.to_owned(),
        format!("docs/{MANIFEST_FILE}"),
        format!("doc/{MANIFEST_FILE}"),
        format!("documentation/{MANIFEST_FILE}"),
    ];
    paths.iter().find_map(|path| {
        let content = root.read(&RepoPath::parse(path).ok()?, MAX_MANIFEST_BYTES).ok()?;
        DocsManifest::parse(&lossy_text(content.bytes)).ok()?.instructions
    })
}
