//! Whole documents: their definitions, and the lines that can be folded away. Neither needs an index.

use std::sync::Arc;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{FoldableLines, SourcePosition, find_folds};
use docent_core::text::positions::PositionEncoding;

use super::places::{name_span, whole_span};
use super::{MAX_FILE_BYTES, PlacedSymbol};
use crate::files::Root;
use crate::symbols::Grade;
use crate::symbols::overlay::OverlaidFile;

/// A definition of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlinedSymbol {
    pub symbol: PlacedSymbol,
    /// The definition around it, by its place in the list, which is smaller than its own.
    pub parent: Option<usize>,
}

/// The definitions of a document, in source order: of its text, if it is open. `None` if it is gone or
/// blocked.
pub fn outline_document(
    root: &Root,
    path: &RepoPath,
    open: Option<&Arc<OverlaidFile>>,
    encoding: PositionEncoding,
) -> Option<Vec<OutlinedSymbol>> {
    let file = present(root, path, open)?;
    let Some(symbols) = file.symbols() else {
        return Some(Vec::new());
    };
    let positions = file.positions(encoding);
    let mut outlined = Vec::with_capacity(symbols.definitions.len());
    // The place in the list of each definition: those without a place in the text are left out.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(symbols.definitions.len());
    for definition in &symbols.definitions {
        let name = symbols.name(definition.name);
        let Some(name_span) = name_span(&file.text, &positions, definition.name_at, name) else {
            places.push(None);
            continue;
        };
        let parent = definition
            .parent
            .and_then(|parent| *places.get(parent.0 as usize)?);
        places.push(Some(outlined.len()));
        outlined.push(OutlinedSymbol {
            symbol: PlacedSymbol {
                path: path.clone(),
                name: name.to_owned(),
                scope: symbols.name(definition.scope).to_owned(),
                kind: definition.kind,
                name_span,
                whole: whole_span(&positions, definition),
                signature: definition.signature_line(&file.text),
                grade: Grade::Exact,
            },
            parent,
        });
    }
    Some(outlined)
}

/// The lines of a document that can be folded away, counted from 0 as an editor counts them. `None` if it is
/// gone, blocked or not parsed.
pub fn fold_document(
    root: &Root,
    path: &RepoPath,
    open: Option<&Arc<OverlaidFile>>,
) -> Option<Vec<FoldableLines>> {
    let file = present(root, path, open)?;
    let folds = find_folds(Language::of_file(path, &file.text), &file.text)?;
    let positions = file.positions(PositionEncoding::Utf8);
    let line = |row: u32| {
        let at = SourcePosition {
            line: row + 1,
            column: 0,
        };
        let byte = positions.source_byte(at)?;
        Some(positions.position(byte).line)
    };
    let folds = folds.into_iter().filter_map(|fold| {
        Some(FoldableLines {
            first: line(fold.first)?,
            last: line(fold.last)?,
            ..fold
        })
    });
    Some(folds.collect())
}

/// A document as the caller sees it. `None` if it is gone, blocked or unreadable.
pub(super) fn present(
    root: &Root,
    path: &RepoPath,
    open: Option<&Arc<OverlaidFile>>,
) -> Option<Arc<OverlaidFile>> {
    if !root.access().allows(path) {
        return None;
    }
    if let Some(open) = open {
        return Some(open.clone());
    }
    let content = root.read(path, MAX_FILE_BYTES).ok()?;
    Some(Arc::new(OverlaidFile::of_disk(path.clone(), content.bytes)))
}
