//! Where the pieces of a project are kept so that they can be found: the seam between what is indexed and how.
//!
//! A store knows words and pieces. It knows no files, no grammar and no ranking beyond how well words match.

mod embedded;
mod folder;
mod piece;

pub use embedded::Embedded;
pub use piece::Piece;

/// Finds pieces, and lets one writer at a time change them.
pub trait Store: Send + Sync {
    /// The pieces that match best, the best first.
    fn search(&self, wanted: &Wanted<'_>) -> Result<Vec<Hit>, StoreError>;

    /// Begins a change of about so many bytes of text. Nothing of it is found before it is committed.
    fn change(&self, bytes: u64) -> Result<Box<dyn Change + '_>, StoreError>;

    /// Makes what was committed since, here or in another process, visible to searches.
    fn reload(&self) -> Result<(), StoreError>;

    /// The number of the newest commit; 0 before the first.
    fn committed(&self) -> Result<u64, StoreError>;

    /// How many pieces can be found.
    fn count(&self) -> u64;

    /// Reads everything that is stored, and names the first thing that is not as it was written.
    fn verify(&self) -> Result<(), StoreError>;
}

/// A change of the store.
pub trait Change {
    /// Takes away every piece of a file.
    fn remove(&mut self, path: &str);

    fn add(&mut self, entry: Entry) -> Result<(), StoreError>;

    /// Makes all of it visible and lasting at once, under a number. The change goes on.
    fn commit(&mut self, number: u64) -> Result<(), StoreError>;

    /// Tidies up behind the change, which may take a while, and ends it.
    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// A piece with the words it is found by.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub piece: Piece,
    pub module: String,
    /// Words, each with a space behind it: of the text, of what it is called, and of where it is.
    pub text: String,
    pub name: String,
    pub place: String,
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub words: &'a [String],
    /// Names that a piece may be called, as a whole.
    pub names: &'a [String],
    /// Only pieces of these kinds; any, where there is none.
    pub kinds: &'a [&'static str],
    /// Only pieces of this module.
    pub module: Option<&'a str>,
    pub most: usize,
}

/// A piece that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    pub piece: Piece,
    /// How well its words match.
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
