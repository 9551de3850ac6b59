//! How an index is built, and of which corpora it consists.

use std::sync::Arc;

use docent_core::path::RepoPath;

use crate::clock::Clock;
use crate::embed::{Embedder, Remote, bundled};
use crate::git::Git;

/// How an index is built and kept up to date.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// Larger files are skipped.
    pub largest_file: u64,
    /// Watch for changes instead of scanning with each search.
    pub watch: bool,
    /// Directories of the documentation. Empty: documentation may be anywhere.
    pub pages: Vec<RepoPath>,
    /// Makes the vectors that are stored in the index.
    pub embedder: &'static dyn Embedder,
    /// An embedding server whose similarities take part in ranking.
    pub remote: Option<Arc<Remote>>,
    /// Fetch the server's vectors of everything that is indexed, in the background.
    pub fills: bool,
    /// Source of commits. `None`: no history.
    pub git: Option<Arc<Git>>,
    /// How many commits are indexed, the newest first.
    pub commits: usize,
    /// Measures how long a search has waited for the index.
    pub clock: Clock,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            largest_file: 4 << 20,
            watch: false,
            pages: Vec::new(),
            embedder: bundled(),
            remote: None,
            fills: false,
            git: None,
            commits: 10_000,
            clock: Clock::System,
        }
    }
}

/// A part of the index that is searched and becomes complete by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corpus {
    /// Sections of pages. They are few and quickly done, so they come first.
    Docs,
    /// Chunks of every file, pages included.
    Code,
    /// Commits: the discoveries in their messages, and the words that rank the files they changed. Few
    /// searches wait for them, so they come last.
    History,
}

impl Corpus {
    pub(super) const ALL: [Self; 3] = [Self::Docs, Self::Code, Self::History];
    /// The corpora that are made from files.
    pub(super) const OF_FILES: [Self; 2] = [Self::Docs, Self::Code];

    /// The name under which it is stored.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Code => "code",
            Self::History => "history",
        }
    }
}
