//! The definitions of the outline as symbols, in source order.

use std::cmp::Reverse;

use super::reader::to_u32;
use super::walk::SymbolWalk;
use super::{ByteRange, DefinitionId, NameId, SourcePosition, SymbolDefinition, SymbolKind};
use crate::chunk::{ChunkKind, Definition};

/// Longer paths of definitions are not made longer.
const MAX_SCOPE_BYTES: usize = 1_000;

impl<'a> SymbolWalk<'a> {
    /// The path of a definition, which is the scope of those inside it.
    pub(super) fn path_of(&mut self, id: DefinitionId) -> NameId {
        let definition = &self.reader.symbols.definitions[id.0 as usize];
        let (scope, name) = (definition.scope, definition.name);
        let path = match self.reader.symbols.name(scope) {
            "" => return name,
            // Definitions that are nested very deep share the path of one above them.
            long if long.len() > MAX_SCOPE_BYTES => return scope,
            scope => format!("{scope}.{}", self.reader.symbols.name(name)),
        };
        self.reader.intern_owned(path)
    }

    /// Adds the definitions of the outline to the symbols.
    pub(super) fn add_outline(&mut self, outline: &'a [Definition]) {
        let is_ordered = outline.is_sorted_by_key(|definition| definition.bytes.start);
        let ordered = if is_ordered {
            outline
                .iter()
                .map(|definition| (definition, definition.parent))
                .collect()
        } else {
            order_by_source(outline)
        };
        for (definition, parent) in ordered {
            let mut converted = self.convert(definition, parent);
            // The path in the outline follows its order, too.
            if !is_ordered {
                converted.scope = match parent {
                    Some(parent) => self.path_of(DefinitionId(to_u32(parent))),
                    None => self.reader.intern(""),
                };
            }
            if self.reader.rules.traits.flat_functions
                && parent.is_some_and(|parent| self.outline[parent].kind == ChunkKind::Function)
            {
                converted.parent = None;
                converted.scope = self.reader.intern("");
            }
            self.reader.symbols.definitions.push(converted);
            self.starts.push(definition.bytes.start);
            self.outline.push(definition);
        }
    }

    /// The start of the line of a byte. It is kept, because one line of minified code has many definitions.
    fn line_start(&mut self, row: usize, byte: usize) -> usize {
        let (last_row, last_start) = self.last_line;
        if row != last_row || last_start > byte {
            let start = self.reader.text[..byte].rfind('\n').map_or(0, |end| end + 1);
            self.last_line = (row, start);
        }
        self.last_line.1
    }

    fn convert(&mut self, definition: &'a Definition, parent: Option<usize>) -> SymbolDefinition {
        let text = self.reader.text;
        let at = definition.name_bytes.start.min(text.len());
        let line_start = self.line_start(definition.name_row, at);
        let scope = definition
            .path
            .strip_suffix(definition.name.as_str())
            .unwrap_or_default();
        let bytes = |range: &std::ops::Range<usize>| ByteRange {
            start: to_u32(range.start),
            end: to_u32(range.end),
        };
        SymbolDefinition {
            name: self.reader.intern(&definition.name),
            kind: match definition.kind {
                ChunkKind::Function => SymbolKind::Function,
                ChunkKind::Method => SymbolKind::Method,
                ChunkKind::Class => SymbolKind::Class,
                ChunkKind::Interface => SymbolKind::Interface,
                ChunkKind::Type => SymbolKind::Type,
                ChunkKind::Module | ChunkKind::Block => SymbolKind::Module,
            },
            scope: self.reader.intern(scope.trim_end_matches('.')),
            parent: parent.map(|parent| DefinitionId(to_u32(parent))),
            first_line: to_u32(definition.lead + 1),
            last_line: to_u32(definition.end + 1),
            name_at: SourcePosition {
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
}

/// Definitions in source order, each with the definition around it. A pattern of Haskell's query begins at
/// the list of all declarations, so that its matches come before those of the declarations above them.
fn order_by_source(outline: &[Definition]) -> Vec<(&Definition, Option<usize>)> {
    let mut sorted: Vec<&Definition> = outline.iter().collect();
    sorted.sort_by_key(|definition| (definition.bytes.start, Reverse(definition.bytes.end)));
    let mut around: Vec<usize> = Vec::new();
    let mut ordered: Vec<(&Definition, Option<usize>)> = Vec::new();
    for (at, definition) in sorted.into_iter().enumerate() {
        while let Some(last) = around.last()
            && ordered[*last].0.bytes.end <= definition.bytes.start
        {
            around.pop();
        }
        ordered.push((definition, around.last().copied()));
        around.push(at);
    }
    ordered
}
