//! A section as the store keeps it: what a result says of it, and what finds its text in its file again.

use docent_core::docs::page;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// A part of a page that can be found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSection {
    pub path: String,
    /// The name behind the `#`; `""` for a page that is one section.
    pub name: String,
    pub heading: String,
    /// The headings above it, the outermost first.
    pub above: Vec<String>,
    /// Where it is in its file, in bytes.
    pub start: usize,
    pub end: usize,
    /// Of its text.
    pub hash: u64,
    /// What its page is labelled with, each key before its value.
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

    /// What its vector is known by, beyond one index.
    pub(crate) fn meaning(&self) -> u64 {
        xxh3_64(format!("section\0{}\0{}\0{:x}", self.id(), self.breadcrumb(), self.hash).as_bytes())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("it is plain data with string keys")
    }

    /// Nothing where the bytes are not those of a section.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
