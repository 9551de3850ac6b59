//! The project's documentation: found by meaning, read in order.
//!
//! Searches go through the index; what is read comes from the pages themselves, as they are now.

mod advice;
mod check;
mod prompts;
mod reading;
mod search;

pub use advice::{Advice, advice};
pub use check::{DocsFinding, Proposal, check, propose};
pub use prompts::{Prompts, prompts};
pub use reading::{Doc, ReadError, Shown, read};
pub use search::{Results, SectionHit, SectionRequest, Ways, search};

use docent_core::docs::manifest::{DocsManifest, MANIFEST_FILE, PageRules};
use docent_core::docs::page::Page;
use docent_core::path::RepoPath;

use crate::files::{FileError, Root, lossy_text};
use crate::index::MAX_MANIFEST_BYTES;

/// Larger pages were not indexed, whatever was configured.
const MAX_PAGE_BYTES: u64 = 256 << 20;

/// The text of a page as it is now.
fn text(root: &Root, path: &RepoPath) -> Result<String, FileError> {
    Ok(lossy_text(root.read(path, MAX_PAGE_BYTES)?.bytes))
}

/// A page as it is now, cut by these rules, and its text.
fn page(root: &Root, path: &RepoPath, rules: PageRules) -> Result<(Page, String), FileError> {
    let text = text(root, path)?;
    Ok((Page::of(&text, rules), text))
}

/// What the project's own manifest says to clients about its documentation.
pub fn instructions(root: &Root) -> Option<String> {
    let places = [
        MANIFEST_FILE.to_owned(),
        format!("docs/{MANIFEST_FILE}"),
        format!("doc/{MANIFEST_FILE}"),
        format!("documentation/{MANIFEST_FILE}"),
    ];
    places.iter().find_map(|place| {
        let content = root
            .read(&RepoPath::parse(place).ok()?, MAX_MANIFEST_BYTES)
            .ok()?;
        DocsManifest::parse(&lossy_text(content.bytes)).ok()?.instructions
    })
}
