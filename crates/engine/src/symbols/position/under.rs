//! The definition or use at a position of the asked file.

use docent_core::symbols::{DefinitionId, Reference, SourcePosition};

use super::PositionSearch;
use crate::symbols::SymbolError;
use crate::symbols::loaded::{DefinitionRef, FileId};

/// The name at a position.
#[derive(Clone, Copy, Debug)]
pub(super) enum SymbolUnder {
    Definition(DefinitionRef),
    Use(Reference),
    /// A part of the path that an import names, at so many bytes from the start of the line.
    ImportPath(FileId),
}

/// Characters before a name that belong to it in the text but not in the symbol: `@rows`, `$rows`, `:rows`.
const MAX_SIGIL_BYTES: usize = 4;

impl PositionSearch<'_> {
    /// The name at the asked position. `None` if there is none that is known.
    pub(super) fn find_under(&self) -> Result<Option<SymbolUnder>, SymbolError> {
        let text = &*self.asked.text;
        let positions = self.asked.positions(self.query.encoding);
        let byte = positions.byte(self.query.at);
        let at = positions.source_position(byte);
        let line_start = byte - at.column as usize;
        let line = text[line_start..].lines().next().unwrap_or_default();
        let loaded = self.search.resolver.files.file(self.file);

        // An editor's cursor behind a name means the name, unless another begins there.
        let mut best: Option<(bool, u32, SymbolUnder)> = None;
        let mut consider = |name: &str, start: SourcePosition, found: SymbolUnder| {
            let Some(begin) = name_in_line(line, start.column, name) else {
                return;
            };
            let end = begin + last_part(name).len();
            let column = at.column as usize;
            if !(start.column as usize..=end).contains(&column) {
                return;
            }
            let candidate = (column < end, start.column, found);
            if best.is_none_or(|(is_inside, start, _)| (is_inside, start) < (candidate.0, candidate.1)) {
                best = Some(candidate);
            }
        };
        for (id, definition) in (0..).map(DefinitionId).zip(loaded.definitions()) {
            if definition.name_at.line == at.line {
                let one = DefinitionRef { file: self.file, id };
                let name = loaded.name(definition.name);
                consider(name, definition.name_at, SymbolUnder::Definition(one));
            }
        }
        for reference in loaded.references()? {
            if reference.at.line == at.line {
                let name = loaded.name(reference.name);
                consider(name, reference.at, SymbolUnder::Use(reference));
            }
        }
        if let Some((_, _, found)) = best {
            return Ok(Some(found));
        }
        for binding in loaded.imports().iter().filter(|binding| binding.line == at.line) {
            let written = loaded.name(binding.written);
            let starts = line.match_indices(written).map(|(start, _)| start);
            let mut spans = starts.map(|start| start..=start + written.len());
            if !written.is_empty() && spans.any(|span| span.contains(&(at.column as usize))) {
                let files = self.search.resolver.import_files(self.file, &loaded, binding)?;
                if let Some(file) = files.first() {
                    return Ok(Some(SymbolUnder::ImportPath(*file)));
                }
            }
        }
        Ok(None)
    }
}

/// Where the last part of a name stands in a line: at its column, or behind a sigil there. `None` if the
/// line does not have it.
pub(super) fn name_in_line(line: &str, column: u32, name: &str) -> Option<usize> {
    let rest = line.get(column as usize..)?;
    let near = &rest[..rest.floor_char_boundary(name.len() + MAX_SIGIL_BYTES)];
    Some(column as usize + near.find(last_part(name))?)
}

/// The name that stands at the place of a definition: `Row` of `Zoo.Row`.
pub(super) fn last_part(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((_, last)) if !last.is_empty() => last,
        _ => name,
    }
}
