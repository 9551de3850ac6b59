//! Questions about the symbol at a position of a file, as editors ask them.
//!
//! `under` finds the definition or use at the position in the file as the caller sees it, `targets` follows
//! it to definitions; the answers are places in files as they are now. The asked file is described in memory
//! if it is not what the index has.
//!
//! Invariant: a place in an answer has the symbol's name in the present text of its file, and no answer is
//! about a file that the access rules block.

mod by_name;
mod calls;
mod document;
mod hover;
mod places;
mod targets;
mod under;

use std::cell::RefCell;
use std::sync::Arc;

use docent_core::path::RepoPath;
use docent_core::symbols::SymbolKind;
use docent_core::text::positions::{PositionEncoding, TextPosition, TextSpan};

use super::current::SymbolFiles;
use super::find::freshen;
use super::loaded::{FileId, LoadedFiles};
use super::overlay::OverlaidFile;
use super::references::ReferenceSearch;
use super::resolve::SymbolResolver;
use super::{Grade, SymbolContext, SymbolError};
use crate::dependencies::RootFiles;
use crate::store::StoreError;
use document::present;

pub use by_name::find_placed;
pub use calls::{incoming_calls, outgoing_calls};
pub use document::{OutlinedSymbol, fold_document, outline_document};
pub use hover::{HoveredSymbol, hover};
pub use targets::{definitions, implementations, references, uses_in_file};

/// A position in a file.
#[derive(Clone, Copy)]
pub struct PositionQuery<'a> {
    pub path: &'a RepoPath,
    pub at: TextPosition,
    /// The units in which the caller counts columns, here and in the answer.
    pub encoding: PositionEncoding,
    /// The text of the file as the caller has it open.
    pub open: Option<&'a Arc<OverlaidFile>>,
}

/// A definition and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedSymbol {
    pub path: RepoPath,
    pub name: String,
    /// Names around it joined by `.`, empty at the top level.
    pub scope: String,
    pub kind: SymbolKind,
    pub name_span: TextSpan,
    /// All its lines, comments above it included.
    pub whole: TextSpan,
    /// The definition up to its body, on one line.
    pub signature: String,
    /// Whether it was followed to, or has the same name only.
    pub grade: Grade,
}

/// A use of the asked symbol, or its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedUse {
    pub path: RepoPath,
    pub span: TextSpan,
    pub grade: Grade,
    pub is_definition: bool,
}

/// A function next to another in the graph of calls.
#[derive(Clone, Debug)]
pub struct PlacedCall {
    /// The caller or the callee. `None` for the top level of the file.
    pub symbol: Option<PlacedSymbol>,
    /// The file of the caller or callee.
    pub path: RepoPath,
    /// Places of the calls, in the file of the caller.
    pub calls: Vec<TextSpan>,
}

/// The largest file that is read from disk. Larger ones are not parsed.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// One question about a position, on one state of the index.
pub(super) struct PositionSearch<'a> {
    pub(super) search: ReferenceSearch<'a>,
    pub(super) files: RefCell<SymbolFiles<'a>>,
    pub(super) query: PositionQuery<'a>,
    /// The asked file.
    pub(super) file: FileId,
    pub(super) asked: &'a OverlaidFile,
}

/// Asks about a position. The default value if the file has no symbols, or may not be shown.
fn ask<T: Default>(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
    question: impl Fn(&PositionSearch<'_>) -> Result<T, SymbolError>,
) -> Result<T, SymbolError> {
    freshen(context);
    let Some(asked) = present(context.root, query.path, query.open) else {
        return Ok(T::default());
    };
    match ask_once(context, query, &asked, &question) {
        // The index has reported the damage to its worker, which rebuilds it while the second try waits.
        Err(SymbolError::Store(StoreError::Damaged(_))) => {
            freshen(context);
            ask_once(context, query, &asked, &question)
        }
        answer => answer,
    }
}

fn ask_once<T: Default>(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
    asked: &Arc<OverlaidFile>,
    question: impl Fn(&PositionSearch<'_>) -> Result<T, SymbolError>,
) -> Result<T, SymbolError> {
    let mut overlay = context.overlay.cloned().unwrap_or_default();
    let stored = context
        .index
        .symbols(|store| store.symbols_of(query.path.as_str()))?;
    if stored.is_none_or(|stored| stored.content_hash != asked.content_hash) {
        overlay.add(asked.clone());
    }
    let context = SymbolContext {
        overlay: Some(&overlay),
        ..*context
    };
    let project = RootFiles { root: context.root };
    let outcome = context.symbols(|store| {
        let resolver = SymbolResolver::new(LoadedFiles::new(context.root, store), &project);
        let Some(file) = resolver.files.find(query.path.as_str())? else {
            return Ok(None);
        };
        let search = PositionSearch {
            search: ReferenceSearch::new(&resolver, context.deadline),
            files: RefCell::new(SymbolFiles::new(&context)),
            query,
            file,
            asked,
        };
        let answer = question(&search);
        resolver.files.check()?;
        match answer {
            Err(SymbolError::Store(error)) => Err(error),
            answer => Ok(Some(answer)),
        }
    })?;
    outcome.unwrap_or_else(|| Ok(T::default()))
}
