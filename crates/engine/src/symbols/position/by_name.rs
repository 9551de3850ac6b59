//! Definitions by name, with places as an editor counts them.

use std::collections::HashSet;

use docent_core::symbols::SourcePosition;
use docent_core::text::positions::PositionEncoding;

use super::PlacedSymbol;
use super::places::name_span;
use crate::symbols::current::SymbolFiles;
use crate::symbols::find::find_symbols;
use crate::symbols::{FoundSymbol, Grade, SymbolContext, SymbolError, SymbolQuery};

/// Finds definitions whose name is this, begins with it or is spelt almost like it. At most `limit`.
pub fn find_placed(
    context: &SymbolContext<'_>,
    name: &str,
    encoding: PositionEncoding,
    limit: usize,
) -> Result<Vec<PlacedSymbol>, SymbolError> {
    let name = name.trim();
    if name.is_empty() {
        return Ok(Vec::new());
    }
    let prefix = format!("{name}*");
    let asked = [name, &prefix];
    let mut found: Vec<FoundSymbol> = Vec::new();
    let mut known = HashSet::new();
    for name in asked {
        let query = SymbolQuery {
            name,
            path: None,
            kind: None,
            limit,
        };
        let symbols = find_symbols(context, &query)?.symbols;
        let is_new = |one: &FoundSymbol| known.insert((one.path.clone(), one.line, one.column));
        found.extend(symbols.into_iter().filter(is_new));
    }
    found.truncate(limit);
    let mut files = SymbolFiles::new(context);
    Ok(found
        .into_iter()
        .filter_map(|one| place(&mut files, one, encoding))
        .collect())
}

/// The place of a definition that was found. `None` if its file has changed in the meantime.
fn place(
    files: &mut SymbolFiles<'_>,
    found: FoundSymbol,
    encoding: PositionEncoding,
) -> Option<PlacedSymbol> {
    let file = files.load(&found.path)?;
    let positions = file.positions(encoding);
    let row = SourcePosition {
        line: found.line,
        column: 0,
    };
    let line = file.text.get(positions.source_byte(row)?..)?.lines().next()?;
    let characters = (found.column as usize).saturating_sub(1);
    let column = line.char_indices().nth(characters)?.0;
    let at = SourcePosition {
        line: found.line,
        column: u32::try_from(column).ok()?,
    };
    let name_span = name_span(&file.text, &positions, at, &found.name)?;
    let first = SourcePosition {
        line: found.first_line,
        column: 0,
    };
    let whole = positions.span(positions.source_byte(first)?, positions.row_end(found.last_line));
    Some(PlacedSymbol {
        name_span,
        whole,
        path: found.path,
        name: found.name,
        scope: found.scope,
        kind: found.kind,
        signature: found.signature,
        grade: Grade::Exact,
    })
}
