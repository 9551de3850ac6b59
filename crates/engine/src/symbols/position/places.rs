//! Definitions and uses as places in files as they are now.

use docent_core::symbols::{SourcePosition, SymbolDefinition};
use docent_core::text::positions::{TextPositions, TextSpan};

use super::under::{last_part, name_in_line};
use super::{PlacedSymbol, PlacedUse, PositionSearch};
use crate::symbols::Grade;
use crate::symbols::current::SymbolFile;
use crate::symbols::loaded::{DefinitionRef, FileId, LoadedFile};
use crate::symbols::references::GradedUse;

impl PositionSearch<'_> {
    /// The place of a definition. `None` if its file has changed since it was indexed, or is gone.
    pub(super) fn place(&self, of: DefinitionRef, grade: Grade) -> Option<PlacedSymbol> {
        self.in_file(of.file, |file, loaded, positions| {
            let definition = loaded.definition(of.id);
            let name = loaded.name(definition.name);
            Some(PlacedSymbol {
                path: loaded.path.clone(),
                name: name.to_owned(),
                scope: loaded.name(definition.scope).to_owned(),
                kind: definition.kind,
                name_span: name_span(&file.text, positions, definition.name_at, name)?,
                whole: whole_span(positions, definition),
                signature: definition.signature_line(&file.text),
                grade,
            })
        })?
    }

    /// The places of definitions that are found. Files that have changed since are left out.
    pub(super) fn place_all(&self, found: &[(DefinitionRef, Grade)]) -> Vec<PlacedSymbol> {
        let places = found.iter().filter_map(|(of, grade)| self.place(*of, *grade));
        places.collect()
    }

    /// The places of uses in one file. Empty if it has changed since it was indexed.
    pub(super) fn place_uses(&self, of: FileId, uses: &[GradedUse]) -> Vec<PlacedUse> {
        let placed = self.in_file(of, |file, loaded, positions| {
            let placed = uses.iter().filter_map(|one| {
                let name = loaded.name(one.reference.name);
                Some(PlacedUse {
                    path: loaded.path.clone(),
                    span: name_span(&file.text, positions, one.reference.at, name)?,
                    grade: one.grade,
                    is_definition: false,
                })
            });
            placed.collect()
        });
        placed.unwrap_or_default()
    }

    /// Calls `read` with a file as it is now, if it is as it was indexed.
    fn in_file<T>(
        &self,
        id: FileId,
        read: impl FnOnce(&SymbolFile, &LoadedFile, &TextPositions<'_>) -> T,
    ) -> Option<T> {
        let loaded = self.search.resolver.files.file(id);
        let mut files = self.files.borrow_mut();
        let file = files.load(&loaded.path)?;
        if file.content_hash != loaded.content_hash {
            return None;
        }
        let positions = file.positions(self.query.encoding);
        Some(read(file, &loaded, &positions))
    }
}

/// The place of a name. `None` if the text does not have it there.
pub(super) fn name_span(
    text: &str,
    positions: &TextPositions<'_>,
    at: SourcePosition,
    name: &str,
) -> Option<TextSpan> {
    let row_start = positions.source_byte(SourcePosition { column: 0, ..at })?;
    let line = text.get(row_start..)?.lines().next()?;
    let begin = row_start + name_in_line(line, at.column, name)?;
    Some(positions.span(begin, begin + last_part(name).len()))
}

/// The lines of a definition, from the first character of the first to the end of the last.
pub(super) fn whole_span(positions: &TextPositions<'_>, definition: &SymbolDefinition) -> TextSpan {
    let first = SourcePosition {
        line: definition.first_line.min(definition.name_at.line),
        column: 0,
    };
    let start = positions.source_byte(first).unwrap_or_default();
    positions.span(
        start,
        positions.row_end(definition.last_line.max(definition.name_at.line)),
    )
}
