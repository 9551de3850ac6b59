//! What is known of the symbol at a position: its signature and its whole documentation.

use docent_core::chunk::Rows;
use docent_core::language::Language;

use super::{PlacedSymbol, PositionQuery, PositionSearch, ask};
use crate::symbols::loaded::DefinitionRef;
use crate::symbols::{Grade, SymbolContext, SymbolError};

/// A definition as it is shown over a use of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoveredSymbol {
    pub symbol: PlacedSymbol,
    pub language: Language,
    /// The documentation comment or docstring as it is written, marks included.
    pub doc: String,
    /// Its lines, comments above it included, counted from 1.
    pub lines: (u32, u32),
    /// Those lines.
    pub text: String,
}

/// Definitions that are shown for one name. Further ones are counted.
const MAX_SHOWN: usize = 3;

/// The definitions of the symbol at a position, at most three, and how many there are.
pub fn hover(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
) -> Result<(Vec<HoveredSymbol>, usize), SymbolError> {
    ask(context, query, |search| {
        let Some(under) = search.find_under()? else {
            return Ok((Vec::new(), 0));
        };
        let targets = search.prefer_bodies(search.targets(under)?);
        let shown = targets.iter().take(MAX_SHOWN);
        let shown = shown.filter_map(|(of, grade)| search.describe(*of, *grade));
        Ok((shown.collect(), targets.len()))
    })
}

impl PositionSearch<'_> {
    fn describe(&self, of: DefinitionRef, grade: Grade) -> Option<HoveredSymbol> {
        let symbol = self.place(of, grade)?;
        let loaded = self.search.resolver.files.file(of.file);
        let definition = loaded.definition(of.id);
        let mut files = self.files.borrow_mut();
        let file = files.load(&loaded.path)?;
        Some(HoveredSymbol {
            symbol,
            language: loaded.language,
            doc: definition.doc.of(&file.text).to_owned(),
            lines: (definition.first_line, definition.last_line),
            text: Rows::of(&file.text)
                .lines(definition.first_line as usize, definition.last_line as usize)
                .to_owned(),
        })
    }
}
