//! Symbols of a project: where a name is defined, where it is used, and what a file consists of.
//!
//! The index stores the symbols of each file on its own ([`docent_core::symbols`]). A question is answered
//! in two steps: the store names the files in which the name occurs, and `resolve` follows scopes, imports
//! and receivers from each use to a definition, at the time of the question.
//!
//! Invariant: a use that is called exact was followed to its definition; all others of that name are listed
//! as found by name. An answer says how many files it rests on.

mod call_tree;
mod candidate;
mod constructors;
mod current;
mod exports;
mod family;
mod find;
mod free_names;
mod implementations;
mod includes;
mod loaded;
mod location;
mod name_query;
mod order;
mod outline;
mod overlay;
pub mod position;
mod references;
mod resolve;
mod select;
mod stored;
mod values;

pub use find::find_symbols;
pub use outline::{MAX_OUTLINED_FILES, outline_directory, outline_file};
pub use overlay::{OverlaidFile, Overlay};
pub use references::find_references;
pub use select::{OutlineMatches, find_in_outline};
pub use stored::{DefinitionLines, StoredDefinitions, StoredSymbols};

use docent_core::path::RepoPath;
use docent_core::symbols::{ReferenceRole, SymbolKind};

use crate::deadline::{Deadline, Expired};
use crate::files::Root;
use crate::index::{Freshness, Index, Patience, Progress};
use crate::store::{StoreError, SymbolStore};
use overlay::OverlaidSymbols;

/// The project that a question is about, and how long it may take.
#[derive(Clone, Copy)]
pub struct SymbolContext<'a> {
    pub root: &'a Root,
    pub index: &'a Index,
    /// How long to wait for the index.
    pub patience: Patience,
    pub deadline: &'a Deadline,
    /// Called with the progress of indexing during a wait.
    pub report: &'a (dyn Fn(Progress) + Sync),
    /// Texts in place of files on disk.
    pub overlay: Option<&'a Overlay>,
}

impl SymbolContext<'_> {
    /// Asks the stored symbols, with those of the overlay in place of them. The default value before there is
    /// an index, if there is no overlay either.
    fn symbols<T: Default>(
        &self,
        question: impl FnOnce(&dyn SymbolStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.overlay.filter(|overlay| !overlay.is_empty()) {
            None => self.index.symbols(question),
            Some(overlay) => self
                .index
                .symbols_if_any(|stored| question(&OverlaidSymbols { stored, overlay })),
        }
    }
}

/// A question for definitions by name.
#[derive(Clone, Copy, Debug)]
pub struct SymbolQuery<'a> {
    /// A name, a name with its scope (`Row::replace`, `Row.replace`), a prefix, or several joined by `|`.
    pub name: &'a str,
    /// Only definitions in this file or below this directory. `FILE:LINE` means the definition at that line.
    pub path: Option<&'a str>,
    pub kind: Option<SymbolKind>,
    pub limit: usize,
}

/// The definitions that a question found.
#[derive(Clone, Debug, Default)]
pub struct SymbolOutcome {
    /// The best first, at most the limit.
    pub symbols: Vec<FoundSymbol>,
    /// How many there are, before the cut at the limit.
    pub total: usize,
    /// Names of the question without any definition.
    pub missing: Vec<String>,
    pub ground: Ground,
}

/// A definition as its file has it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSymbol {
    pub path: RepoPath,
    pub name: String,
    /// Names around it joined by `.`, empty at the top level.
    pub scope: String,
    pub kind: SymbolKind,
    /// First line, comments above it included. Lines count from 1.
    pub first_line: u32,
    pub last_line: u32,
    /// Line of the name.
    pub line: u32,
    /// Column of the name, in characters, counted from 1.
    pub column: u32,
    /// The definition up to its body, on one line.
    pub signature: String,
    /// First sentence or line of its documentation, empty without one.
    pub doc: String,
    pub matched: NameMatch,
}

/// How a definition matches the name that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    #[default]
    Exact,
    /// Equal but for upper and lower case.
    OtherCase,
    Prefix,
    /// Within one edit: a letter more, less or other, or two swapped.
    Similar,
}

/// A question for the uses of a definition.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceQuery<'a> {
    /// A name, with its scope if need be.
    pub symbol: &'a str,
    /// The file or directory of the definition; `FILE:LINE` for the definition at that line.
    pub path: Option<&'a str>,
    /// 1 for uses, 2 and 3 for callers of callers.
    pub depth: u8,
    pub direction: Direction,
    /// Uses that are returned, at most.
    pub limit: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Uses of the definition, callers first.
    #[default]
    Callers,
    /// Definitions that the definition uses.
    Callees,
    /// Types that implement or extend it, and methods that override it.
    Implementations,
}

/// The uses of a definition.
#[derive(Clone, Debug, Default)]
pub struct ReferenceOutcome {
    /// The definitions that the question means. Empty if there is none.
    pub targets: Vec<FoundSymbol>,
    /// Uses by file: files with calls first, files of tests last.
    pub files: Vec<FileUses>,
    /// Counts of all uses, before the cut at the limit.
    pub exact: usize,
    pub by_name: usize,
    /// Files that use the name and were not followed, because too many do.
    pub unfollowed: usize,
    /// Callers of callers for depth 2 and 3, in the order of `files`. The definitions for callees and
    /// implementations.
    pub tree: Vec<TreeNode>,
    /// Near names if there is no target.
    pub suggestions: Vec<FoundSymbol>,
    pub ground: Ground,
}

/// The uses in one file, in source order.
#[derive(Clone, Debug)]
pub struct FileUses {
    pub path: RepoPath,
    pub is_test: bool,
    pub uses: Vec<SymbolUse>,
}

/// A use of a definition.
#[derive(Clone, Debug)]
pub struct SymbolUse {
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
    pub role: ReferenceRole,
    pub grade: Grade,
    /// The innermost named definition around it. `None` at the top level of the file.
    pub within: Option<EnclosingSymbol>,
    /// The line, without its indentation.
    pub text: String,
}

/// How sure it is that a use means the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Followed through scopes, imports and receivers.
    Exact,
    /// The name is the same; its receiver or import could not be followed.
    ByName,
}

/// The definition around a use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnclosingSymbol {
    /// With its scope: `Row.render`.
    pub name: String,
    pub kind: SymbolKind,
    pub first_line: u32,
    pub last_line: u32,
}

/// A definition in a tree of callers, callees or implementations.
#[derive(Clone, Debug)]
pub struct TreeNode {
    pub symbol: FoundSymbol,
    pub grade: Grade,
    /// Lines of the calls, in the file of the caller.
    pub lines: Vec<u32>,
    pub children: Vec<TreeNode>,
    /// True if its own callers are not followed because they are shown elsewhere in the tree.
    pub is_repeated: bool,
}

/// What an answer rests on.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// Files with symbols that were searched.
    pub files: usize,
    /// Files of a known language whose symbols are unknown: too large, generated, not parsed.
    pub unparsed: usize,
    pub freshness: Freshness,
}

/// The definitions of one file, or of the files of a directory.
#[derive(Clone, Debug, Default)]
pub struct FileOutline {
    pub path: String,
    /// Language of the file as it is shown.
    pub language: String,
    /// In source order.
    pub definitions: Vec<FoundSymbol>,
    /// Why it has no definitions: not parsed, or no grammar for its language.
    pub unparsed: Option<&'static str>,
}

/// Why a question about symbols cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum SymbolError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Expired(#[from] Expired),
}

#[cfg(test)]
mod tests;
