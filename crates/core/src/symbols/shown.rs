//! Definitions as they are shown to people: signature, first line of the documentation, column of the name.

use super::{ByteRange, DefinitionId, SourcePosition, SymbolDefinition};
use crate::chunk::{Rows, clean_doc_line, clean_signature};

impl SymbolDefinition {
    /// The definition up to its body, on one line. `text` is the text that it was found in.
    pub fn signature_line(&self, text: &str) -> String {
        clean_signature(self.signature.of(text))
    }

    /// The first sentence of its documentation, empty without one.
    pub fn doc_line(&self, text: &str) -> String {
        clean_doc_line(self.doc.of(text))
    }

    /// Whether the lines of the definition contain a line.
    pub fn has_line(&self, line: u32) -> bool {
        (self.first_line..=self.last_line).contains(&line)
    }
}

impl ByteRange {
    /// The part of a text. Empty if the text does not have it.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

impl SourcePosition {
    /// The column in characters, counted from 1.
    pub fn char_column(self, rows: &Rows<'_>) -> u32 {
        let line = rows.lines(self.line as usize, self.line as usize);
        let end = line.floor_char_boundary(self.column as usize);
        u32::try_from(line[..end].chars().count() + 1).unwrap_or(u32::MAX)
    }
}

/// The definition at a line: the first whose name is on it, or else the innermost around it.
pub fn definition_at_line(definitions: &[SymbolDefinition], line: u32) -> Option<DefinitionId> {
    let ids = || (0..).map(DefinitionId).zip(definitions);
    let named = ids().find(|(_, definition)| definition.name_at.line == line);
    let innermost = || {
        let around = ids().filter(|(_, definition)| definition.has_line(line));
        // Of two with the same lines, the later one is inside.
        around.min_by_key(|(id, definition)| {
            (
                definition.last_line - definition.first_line,
                std::cmp::Reverse(*id),
            )
        })
    };
    named.or_else(innermost).map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::symbols::{FileSymbols, chunk_with_symbols};

    fn read(language: Language, text: &str) -> FileSymbols {
        chunk_with_symbols(language, text).1.unwrap()
    }

    #[test]
    fn a_signature_and_a_doc_line_come_from_the_text() {
        let text = "/// Renders a row. Slowly.\n///\n/// Long.\npub fn render(\n    row: u32,\n) -> u32 {\n    row\n}\n";
        let symbols = read(Language::Rust, text);
        let render = &symbols.definitions[0];
        assert_eq!(render.signature_line(text), "pub fn render( row: u32, ) -> u32");
        assert_eq!(render.doc_line(text), "Renders a row.");
        assert_eq!(render.signature_line("other"), "");
    }

    #[track_caller]
    fn check_doc(comment: &str, expected: &str) {
        assert_eq!(clean_doc_line(comment), expected, "{comment}");
    }

    #[test]
    fn a_doc_line_is_the_first_sentence() {
        check_doc("// Lend lends.\n// It is slow.", "Lend lends.");
        check_doc(
            "/**\n * Lends a book\n * @param book the book\n */",
            "Lends a book",
        );
        check_doc(
            "\"\"\"Lends a book\n    to a reader.\n\n    More.\n    \"\"\"",
            "Lends a book to a reader.",
        );
        check_doc("/// <summary>\n/// Lends.\n/// </summary>", "Lends.");
        check_doc("// Lends, e.g. a book", "Lends, e.g. a book");
        check_doc("", "");
    }

    #[test]
    fn a_column_counts_characters() {
        let text = "let é = 1; fn walrus() {}\n";
        let at = SourcePosition {
            line: 1,
            column: u32::try_from(text.find("walrus").unwrap()).unwrap(),
        };
        assert_eq!(at.char_column(&Rows::of(text)), 15);
        let beyond = SourcePosition { line: 9, column: 7 };
        assert_eq!(beyond.char_column(&Rows::of(text)), 1);
    }

    #[test]
    fn a_line_names_the_innermost_definition() {
        let text = "/// Rows.\nimpl Row {\n    fn a(&self) {\n        1\n    }\n\n    fn b(&self) {}\n}\n";
        let symbols = read(Language::Rust, text);
        let name_at = |line: u32| {
            let DefinitionId(id) = definition_at_line(&symbols.definitions, line)?;
            Some(symbols.name(symbols.definitions[id as usize].name))
        };
        let names: Vec<Option<&str>> = (1..=9).map(name_at).collect();
        let (row, a, b) = (Some("Row"), Some("a"), Some("b"));
        assert_eq!(names, [row, row, a, a, a, row, b, row, None]);
    }
}
