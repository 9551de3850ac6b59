//! A section as stored: the fields that a result shows, and those that find its text in its file again.
//!
//! The text itself is not stored.

use docent_core::docs::page;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// A stored section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSection {
    pub path: String,
    /// The name behind the `#`. Empty for a page that is one section.
    pub name: String,
    pub heading: String,
    /// The headings above it, the outermost first.
    pub above: Vec<String>,
    /// Byte range in its file.
    pub start: usize,
    pub end: usize,
    /// Hash of its text.
    pub hash: u64,
    /// Labels of its page, as key and value.
    pub labels: Vec<(String, String)>,
}

impl StoredSection {
    pub fn id(&self) -> String {
        page::section_id(&self.path, &self.name)
    }

    /// The heading with those above it.
    pub fn breadcrumb(&self) -> String {
        page::breadcrumb(&self.above, &self.heading)
    }

    /// Cache key of its vector, the same in every index that has this section with the same text.
    pub(crate) fn vector_key(&self) -> u64 {
        xxh3_64(format!("section\0{}\0{}\0{:x}", self.id(), self.breadcrumb(), self.hash).as_bytes())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it is plain data with string keys")
    }

    /// `None` if the bytes are not those of a section.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
