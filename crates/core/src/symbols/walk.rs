//! The walk over a syntax tree that collects the symbols of a file.

use std::collections::HashMap;

use super::{ByteRange, DefinitionId, FileSymbols, NameId, Position, SymbolDefinition, SymbolKind};
use crate::chunk::{ChunkKind, Definition, FileSyntax};
use crate::language::Language;

/// Reads the symbols of a parsed text.
pub(super) fn read_symbols(_language: Language, text: &str, syntax: &FileSyntax) -> FileSymbols {
    let mut symbols = FileSymbols::default();
    let mut names: HashMap<String, NameId> = HashMap::new();
    for definition in &syntax.outline.definitions {
        let name = intern(&mut symbols.names, &mut names, &definition.name);
        let scope = definition
            .path
            .strip_suffix(definition.name.as_str())
            .unwrap_or_default();
        let scope = intern(&mut symbols.names, &mut names, scope.trim_end_matches('.'));
        symbols.definitions.push(convert(text, definition, name, scope));
    }
    symbols
}

fn intern(list: &mut Vec<String>, names: &mut HashMap<String, NameId>, name: &str) -> NameId {
    if let Some(id) = names.get(name) {
        return *id;
    }
    let id = NameId(to_u32(list.len()));
    list.push(name.to_owned());
    names.insert(name.to_owned(), id);
    id
}

fn convert(text: &str, definition: &Definition, name: NameId, scope: NameId) -> SymbolDefinition {
    let at = definition.name_bytes.start.min(text.len());
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let bytes = |range: &std::ops::Range<usize>| ByteRange {
        start: to_u32(range.start),
        end: to_u32(range.end),
    };
    SymbolDefinition {
        name,
        kind: match definition.kind {
            ChunkKind::Function => SymbolKind::Function,
            ChunkKind::Method => SymbolKind::Method,
            ChunkKind::Class => SymbolKind::Class,
            ChunkKind::Interface => SymbolKind::Interface,
            ChunkKind::Type => SymbolKind::Type,
            ChunkKind::Module | ChunkKind::Block => SymbolKind::Module,
        },
        scope,
        parent: definition.parent.map(|parent| DefinitionId(to_u32(parent))),
        first_line: to_u32(definition.lead + 1),
        last_line: to_u32(definition.end + 1),
        name_at: Position {
            line: to_u32(definition.name_row + 1),
            column: to_u32(at - line_start),
        },
        signature: bytes(&definition.signature_bytes),
        doc: bytes(&definition.doc_bytes),
        has_body: definition.has_body,
        is_file_local: false,
        result: None,
        bases: Vec::new(),
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
