//! The store: where chunks, discoveries, commits and sections of pages are found by their words, and symbols
//! by their names.
//!
//! This file is the seam, traits and values; `embedded.rs` is the implementation. A store knows words and
//! entries. It knows no files, no grammar, and no ranking beyond BM25 and the similarity of vectors. There is
//! one store for chunks of files and one for sections of pages, and both change in the same way.

mod chunk;
mod chunks;
mod discovery;
mod embedded;
mod file_chunks;
mod folder;
mod index_file;
mod section;
mod sections;
mod spelling;
mod symbols;
mod top;

pub use chunk::{StoredChunk, StoredNested};
pub(crate) use chunks::EmbeddedChunks;
pub use discovery::StoredDiscovery;
pub use section::StoredSection;
pub(crate) use sections::EmbeddedSections;

use std::sync::Arc;

use docent_core::discovery::DiscoveryKind;
use xxhash_rust::xxh3::xxh3_64;

use crate::embed::Vector;
use crate::grep::FileFilter;

/// A store of entries of one kind, which one writer at a time may change.
pub trait Store<E>: Send + Sync {
    /// Begins a change of about `bytes` bytes of text. Searches do not see it before it is committed.
    fn change(&self, bytes: u64) -> Result<Box<dyn StoreChange<E> + '_>, StoreError>;

    /// Makes store commits since the last reload, of this or another process, visible to searches.
    fn reload(&self) -> Result<(), StoreError>;

    /// The number of the newest store commit, 0 before the first.
    fn last_commit(&self) -> Result<u64, StoreError>;

    /// How many entries can be found.
    fn count(&self) -> u64;
}

/// A transaction of the store.
pub trait StoreChange<E> {
    /// Removes every entry of a file, or of a commit, by its key.
    fn remove(&mut self, key: &str);

    fn add(&mut self, entry: E) -> Result<(), StoreError>;

    /// Makes the change so far visible and lasting at once, as the store commit `number`. The change
    /// continues.
    fn commit(&mut self, number: u64) -> Result<(), StoreError>;

    /// Ends the change and merges segments, which may take a while.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// Finds chunks of files, discoveries and symbols.
pub trait ChunkStore: Store<StoreEntry> {
    /// The symbols of files as the newest store commit that was loaded has them.
    fn symbols(&self) -> Box<dyn SymbolStore>;

    /// The chunks that match best, the best first.
    fn find_chunks(&self, query: &ChunkQuery<'_>) -> Result<Vec<ChunkHit>, StoreError>;

    /// The chunks of each of these files, with what each word of the query scores in them. The limit and the
    /// filters by module and path do not count: the files have passed them.
    fn chunks_of_files(&self, query: &ChunkQuery<'_>, paths: &[&str]) -> Result<Vec<FileChunks>, StoreError>;

    /// The discoveries that match best, the best first, each with its BM25 score.
    fn find_discoveries(&self, query: &DiscoveryQuery<'_>)
    -> Result<Vec<(StoredDiscovery, f32)>, StoreError>;

    /// For each word, in how many chunks it is, in their text, name or path; removed chunks may count.
    fn count_words(&self, words: &[String]) -> Result<Vec<u64>, StoreError>;

    /// Words of chunks that a misspelt word may stand for, the most frequent of the closest first: within two
    /// edits (one for short words), or longer words that begin with it.
    fn similar_words(&self, word: &str, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Calls `visit` with the key of every entry: the paths of files, and others that are no paths.
    fn visit_keys(&self, visit: &mut dyn FnMut(&str)) -> Result<(), StoreError>;

    /// How many of the entries are chunks of files.
    fn count_chunks(&self) -> Result<u64, StoreError>;

    /// The commits whose messages match best, the best first: the files that each changed, and its BM25
    /// score.
    fn find_commits(&self, words: &[String], limit: usize) -> Result<Vec<(Vec<String>, f32)>, StoreError>;
}

/// Finds the symbols of files by name, on one state of the store.
pub trait SymbolStore {
    /// At most `limit` files that define a name.
    fn files_defining(&self, name: &str, limit: usize) -> Result<FilesWithName, StoreError>;

    /// Files that use a name.
    fn files_using(&self, query: &UsingQuery<'_>) -> Result<FilesWithName, StoreError>;

    /// The file at a path. `None` if it has no symbols: not indexed, not parsed, or without a grammar.
    fn find_file(&self, path: &str) -> Result<Option<SymbolsAddress>, StoreError>;

    /// Reads the symbols of a file that this store has found.
    fn read_symbols(&self, file: SymbolsAddress) -> Result<SymbolsDocument, StoreError>;

    /// The symbols of the file at a path.
    fn symbols_of(&self, path: &str) -> Result<Option<SymbolsDocument>, StoreError> {
        let file = self.find_file(path)?;
        file.map(|file| self.read_symbols(file)).transpose()
    }

    /// Defined names that begin with a prefix, in their order.
    fn names_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Defined names that differ from a name only in upper and lower case.
    fn names_in_other_case(&self, name: &str, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Defined names within `edits` of a name, two at most: a letter more, less or other, or two swapped.
    fn similar_names(&self, name: &str, edits: u8, limit: usize) -> Result<Vec<String>, StoreError>;

    /// How many files have symbols.
    fn count_symbol_files(&self) -> Result<u64, StoreError>;
}

/// An entry of a file, or of a commit.
#[derive(Clone, Debug)]
pub enum StoreEntry {
    Chunk(ChunkEntry),
    Discovery(DiscoveryEntry),
    Commit(CommitEntry),
    Symbols(SymbolsEntry),
}

/// The symbols of a file, with the names they are found by.
#[derive(Clone, Debug, Default)]
pub struct SymbolsEntry {
    pub document: SymbolsDocument,
    /// Each name once. Names of more than 200 bytes are not found.
    pub defined: Vec<String>,
    pub used: Vec<String>,
}

/// A question for the files that use a name.
#[derive(Clone, Copy, Debug)]
pub struct UsingQuery<'a> {
    pub name: &'a str,
    /// If more than `narrow_above` files use the name, only those that use or define one of these are meant.
    /// Ignored if it is empty.
    pub beside: &'a [String],
    pub narrow_above: usize,
    /// Files that are returned, at most.
    pub limit: usize,
}

/// Files in which a name occurs.
#[derive(Clone, Debug, Default)]
pub struct FilesWithName {
    /// In the order of their keys, which is the same in every index of the same files.
    pub files: Vec<SymbolsAddress>,
    /// How many files have the name, those that were left out included.
    pub total: usize,
}

/// Where the symbols of a file are in one state of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SymbolsAddress {
    /// [`Self::key_of`] its path.
    pub key: u64,
    pub(super) segment: u32,
    pub(super) document: u32,
}

impl SymbolsAddress {
    /// The key of a path: files are told apart by it before they are read.
    pub fn key_of(path: &str) -> u64 {
        xxh3_64(path.as_bytes())
    }

    /// The address of a file that is not in the store but in an overlay, at this place.
    pub(crate) fn of_overlay(path: &str, at: usize) -> Self {
        Self {
            key: Self::key_of(path),
            segment: Self::OVERLAY,
            document: u32::try_from(at).unwrap_or(u32::MAX),
        }
    }

    /// The place in the overlay. `None` for a file of the store.
    pub(crate) fn overlay_position(self) -> Option<usize> {
        (self.segment == Self::OVERLAY).then_some(self.document as usize)
    }

    /// No index has so many segments.
    const OVERLAY: u32 = u32::MAX;
}

/// The symbols of a file as they were when it was indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolsDocument {
    pub path: String,
    /// Hash of the content that they were read from.
    pub content_hash: u64,
    /// To be read by [`docent_core::symbols::SymbolsReader`].
    pub bytes: Vec<u8>,
}

/// The message of a commit, and the files it changed.
#[derive(Clone, Debug, Default)]
pub struct CommitEntry {
    /// Removes it ([`StoreChange::remove`]).
    pub key: String,
    pub paths: Vec<String>,
    /// Words, each followed by a space.
    pub text: String,
}

/// A discovery with the words it is found by.
#[derive(Clone, Debug, Default)]
pub struct DiscoveryEntry {
    /// Removes it ([`StoreChange::remove`]).
    pub key: String,
    pub discovery: StoredDiscovery,
    /// Words, each followed by a space.
    pub text: String,
}

/// A chunk with the words it is found by.
#[derive(Clone, Debug, Default)]
pub struct ChunkEntry {
    pub chunk: StoredChunk,
    /// `None` for a text that the embedder does not know, and for generated code.
    pub vector: Option<Vector>,
    pub module: String,
    /// Words of its text, of its name and of its path, each followed by a space.
    pub text: String,
    pub name: String,
    pub path_words: String,
    /// Its name and those of the definitions inside, each as a whole.
    pub defined_names: String,
}

/// A query for chunks.
#[derive(Clone, Copy, Debug)]
pub struct ChunkQuery<'a> {
    pub words: &'a [String],
    /// Multiplies the score of each word. Empty if all count alike.
    pub weights: &'a [f32],
    /// Names that a chunk may have, as a whole.
    pub names: &'a [String],
    /// Only chunks of these kinds, or with a definition of these kinds inside. Empty for any.
    pub kinds: &'a [&'static str],
    /// Only chunks of this module.
    pub module: Option<&'a str>,
    /// Only chunks of files that it accepts.
    pub paths: Option<&'a FileFilter>,
    /// Only chunks of these files. Empty for any.
    pub files: &'a [String],
    /// Vector of the query. It finds no chunks itself; chunks found by words get their similarity to it.
    pub vector: Option<Vector>,
    /// How many are found at most, beside definitions of `names`.
    pub limit: usize,
}

/// A query for discoveries.
#[derive(Clone, Copy, Debug)]
pub struct DiscoveryQuery<'a> {
    /// Empty to find every discovery of the module, the newest first.
    pub words: &'a [String],
    /// Only of these kinds. Empty for any.
    pub kinds: &'a [DiscoveryKind],
    /// Only of this module.
    pub module: Option<&'a str>,
    /// Only of files that it accepts, so none of commits.
    pub paths: Option<&'a FileFilter>,
    pub limit: usize,
}

/// A chunk that a query found.
#[derive(Clone, Debug)]
pub struct ChunkHit {
    pub chunk: StoredChunk,
    /// Its BM25 score.
    pub score: f32,
    /// Similarity to the query's vector, 0 if one of both has none.
    pub similarity: f32,
}

/// The chunks of one file, in the order of their lines.
#[derive(Clone, Debug, Default)]
pub struct FileChunks {
    /// How many chunks the file has. Those with few of the query's words may be left out of `chunks`.
    pub total: usize,
    /// By the words of the query: how many chunks of the file have it.
    pub chunks_with_word: Vec<usize>,
    pub chunks: Vec<FileChunk>,
}

/// A chunk of a file that was asked for by its path.
#[derive(Clone, Debug)]
pub struct FileChunk {
    /// Its score is the sum of `word_scores`.
    pub hit: ChunkHit,
    /// By the words of the query: the BM25 score of the word in the chunk's text and name.
    pub word_scores: Vec<f32>,
}

/// Finds sections of pages.
pub trait SectionStore: Store<SectionEntry> {
    /// The sections as of now. Later store commits do not change a snapshot.
    fn snapshot(&self) -> Box<dyn SectionSnapshot>;

    /// Whether the page has sections here.
    fn has_page(&self, path: &str) -> Result<bool, StoreError>;

    /// Words of the sections within a small edit distance of `word`, the most frequent first.
    fn similar(&self, word: &str, limit: usize) -> Result<Vec<String>, StoreError>;
}

/// The sections at one moment.
pub trait SectionSnapshot {
    /// Finds sections by words, by phrase and by similarity.
    fn find(&self, query: &SectionQuery<'_>) -> Result<SectionHits, StoreError>;

    fn section(&self, address: SectionAddress) -> Result<StoredSection, StoreError>;
}

/// The address of a section within one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionAddress(u64);

/// A section with the words and labels it is found by.
#[derive(Clone, Debug, Default)]
pub struct SectionEntry {
    pub section: StoredSection,
    /// Words, each followed by a space. A word that counts more is repeated.
    pub text: String,
    /// Words that are on the page, but not in the text that a reader sees: targets of links, attributes,
    /// front matter. Each once.
    pub hidden: String,
    /// Words that the tokenizer leaves out because they are in every text.
    pub common: String,
    /// `None` for a text that the embedder does not know.
    pub vector: Option<Vector>,
    /// Filters that it passes.
    pub labels: Arc<[Label]>,
}

/// A filter of sections: a label of the page, or a directory that it is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    Value {
        key: String,
        value: String,
    },
    Directory(String),
    /// Passes every filter by language: a guide, or a page that belongs to no language.
    ForAll,
    /// A changelog, a template or a fixture.
    Minor,
}

/// A query for sections.
#[derive(Clone, Copy, Debug)]
pub struct SectionQuery<'a> {
    pub words: &'a [String],
    /// Words that are too common to be indexed with the others ([`SectionEntry::common`]).
    pub common: &'a [String],
    /// Words that should follow each other. Fewer than two are ignored.
    pub phrase: &'a [String],
    /// Vector of the query.
    pub vector: Option<Vector>,
    /// A section must have one label of each list.
    pub filters: &'a [Vec<Label>],
    /// Multiplies the scores of minor pages, such as changelogs.
    pub minor_factor: f32,
    pub limit: usize,
}

/// The sections found in each way, the best first.
#[derive(Clone, Debug, Default)]
pub struct SectionHits {
    pub by_words: Vec<Ranked>,
    pub by_phrase: Vec<Ranked>,
    pub by_meaning: Vec<Ranked>,
}

/// A section in a ranked list.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    pub address: SectionAddress,
    /// Orders sections with equal scores independently of when they were indexed.
    pub key: u64,
    pub score: f32,
    /// True for a minor page whose score was lowered.
    pub is_lowered: bool,
}

/// Why an operation of a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The stored bytes are not those that were written.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The file system refused to read or write.
    #[error("{0}")]
    Io(std::io::Error),
    /// Another writer holds the lock.
    #[error("another process is writing")]
    Busy,
}
