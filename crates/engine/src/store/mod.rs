//! Where the parts of a project are kept so that they can be found: the seam between what is indexed and how.
//!
//! A store knows words and what they were found in. It knows no files, no grammar and no ranking beyond how well words match.
//! There is one for chunks of files and one for sections of pages; both change in the same way.

mod chunk;
mod chunks;
mod discovery;
mod embedded;
mod folder;
mod section;
mod sections;

pub use chunk::StoredChunk;
pub(crate) use chunks::EmbeddedChunks;
pub use discovery::StoredDiscovery;
pub use section::StoredSection;
pub(crate) use sections::EmbeddedSections;

use std::sync::Arc;

use docent_core::discovery::DiscoveryKind;

use crate::embed::Vector;

/// Keeps entries of one kind, and lets one writer at a time change them.
pub trait Store<E>: Send + Sync {
    /// Begins a change of about so many bytes of text. Nothing of it is found before it is committed.
    fn change(&self, bytes: u64) -> Result<Box<dyn StoreChange<E> + '_>, StoreError>;

    /// Makes what was committed since, here or in another process, visible to searches.
    fn reload(&self) -> Result<(), StoreError>;

    /// The number of the newest commit; 0 before the first.
    fn committed(&self) -> Result<u64, StoreError>;

    /// How many entries can be found.
    fn count(&self) -> u64;

    /// Reads everything that is stored, and names the first thing that is not as it was written.
    fn verify(&self) -> Result<(), StoreError>;
}

/// A change of the store.
pub trait StoreChange<E> {
    /// Takes away every entry of a file.
    fn remove(&mut self, path: &str);

    fn add(&mut self, entry: E) -> Result<(), StoreError>;

    /// Makes all of it visible and lasting at once, under a number. The change goes on.
    fn commit(&mut self, number: u64) -> Result<(), StoreError>;

    /// Tidies up behind the change, which may take a while, and ends it.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// Finds chunks of files, and discoveries.
pub trait ChunkStore: Store<StoreEntry> {
    /// The chunks that match best, the best first.
    fn search(&self, wanted: &ChunkQuery<'_>) -> Result<Vec<ChunkHit>, StoreError>;

    /// The discoveries that match best, the best first.
    fn discoveries(&self, sought: &DiscoveryQuery<'_>) -> Result<Vec<(StoredDiscovery, f32)>, StoreError>;

    /// How many of the entries are chunks of files.
    fn chunks(&self) -> Result<u64, StoreError>;

    /// The files that commits changed whose messages match best, the best first.
    fn changed(&self, words: &[String], most: usize) -> Result<Vec<(Vec<String>, f32)>, StoreError>;
}

/// What is kept of a file, or of a commit.
#[derive(Clone, Debug)]
pub enum StoreEntry {
    Chunk(ChunkEntry),
    Discovery(DiscoveryEntry),
    Commit(CommitEntry),
}

/// What a commit said, and of which files.
#[derive(Clone, Debug, Default)]
pub struct CommitEntry {
    /// What it is removed by.
    pub key: String,
    pub paths: Vec<String>,
    /// Words, each with a space behind it.
    pub text: String,
}

/// A discovery with the words it is found by.
#[derive(Clone, Debug, Default)]
pub struct DiscoveryEntry {
    /// What it is removed by.
    pub key: String,
    pub note: StoredDiscovery,
    /// Words, each with a space behind it.
    pub text: String,
}

/// A chunk with the words it is found by.
#[derive(Clone, Debug, Default)]
pub struct ChunkEntry {
    pub chunk: StoredChunk,
    /// What it is about.
    pub vector: Option<Vector>,
    pub module: String,
    /// Words, each with a space behind it: of the text, of what it is called, and of where it is.
    pub text: String,
    pub name: String,
    pub place: String,
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct ChunkQuery<'a> {
    pub words: &'a [String],
    /// Names that a chunk may be called, as a whole.
    pub names: &'a [String],
    /// Only chunks of these kinds; any, where there is none.
    pub kinds: &'a [&'static str],
    /// Only chunks of this module.
    pub module: Option<&'a str>,
    /// What chunks should be about. It finds none, and says how near those are that words have found.
    pub vector: Option<Vector>,
    pub most: usize,
}

/// Which discoveries to look for.
#[derive(Clone, Copy, Debug)]
pub struct DiscoveryQuery<'a> {
    /// Where there are none, every discovery of the module is found.
    pub words: &'a [String],
    /// Only of these kinds; any, where there is none.
    pub kinds: &'a [DiscoveryKind],
    /// Only of this module.
    pub module: Option<&'a str>,
    pub most: usize,
}

/// A chunk that was found.
#[derive(Clone, Debug)]
pub struct ChunkHit {
    pub chunk: StoredChunk,
    /// How well its words match.
    pub score: f32,
    /// How near it is to what was asked for; 0 where that is not known.
    pub similarity: f32,
}

/// Finds sections of pages.
pub trait Sections: Store<SectionEntry> {
    /// The sections as they are now, whatever is committed meanwhile.
    fn look(&self) -> Box<dyn Look>;

    /// Whether there are sections of a page.
    fn has_page(&self, path: &str) -> Result<bool, StoreError>;

    /// Words that sections hold and that are written almost like this one, the commonest first.
    fn similar(&self, word: &str, most: usize) -> Result<Vec<String>, StoreError>;
}

/// Sections at one moment.
pub trait Look {
    /// Looks for sections in several ways at once.
    fn find(&self, asked: &SectionQuery<'_>) -> Result<SectionHits, StoreError>;

    fn section(&self, place: SectionAddress) -> Result<StoredSection, StoreError>;
}

/// Where a section is, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionAddress(u64);

/// A section with what it is found by.
#[derive(Clone, Debug, Default)]
pub struct SectionEntry {
    pub section: StoredSection,
    /// Words, each with a space behind it. What counts more is there more often.
    pub text: String,
    /// What it is about.
    pub vector: Option<Vector>,
    /// What it can be filtered by.
    pub labels: Arc<[Label]>,
}

/// Something a section can be filtered by: a label of its page, or a directory that the page is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    Value {
        key: String,
        value: String,
    },
    Directory(String),
    /// Whatever the language: a guide, or a page that belongs to none.
    ForAll,
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct SectionQuery<'a> {
    pub words: &'a [String],
    /// Words that should stand one behind the other; none where there are too few to matter.
    pub phrase: &'a [String],
    /// What sections should be about.
    pub vector: Option<Vector>,
    /// Of each of these lists, a section must have one.
    pub filters: &'a [Vec<Label>],
    pub most: usize,
}

/// Sections that were found, by each way of looking, the best first.
#[derive(Clone, Debug, Default)]
pub struct SectionHits {
    pub by_words: Vec<Ranked>,
    pub by_phrase: Vec<Ranked>,
    pub by_meaning: Vec<Ranked>,
}

/// A section in a list.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    pub place: SectionAddress,
    /// Puts those that match equally well into an order, whenever they were indexed.
    pub key: u64,
    pub score: f32,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// What is stored cannot be read as what it should be.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The file system does not let it be read or written.
    #[error("{0}")]
    Io(std::io::Error),
    /// Another writer is there.
    #[error("another process is writing")]
    Busy,
}
