//! The end of the walk: definitions in source order, and marks that hold for several of them.

use std::collections::HashSet;

use super::reader::to_u32;
use super::walk::SymbolWalk;
use super::{DefinitionId, Expression, FileSymbols, NameId, Reference, SymbolDefinition, SymbolKind, Target};

impl SymbolWalk<'_> {
    /// The finished symbols, definitions in source order.
    pub(super) fn finish(self) -> FileSymbols {
        let mut symbols = self.reader.symbols;
        drop_language_names(&mut symbols, self.reader.rules.traits.language_names);
        spread_local_marks(&mut symbols.definitions);
        let mut order: Vec<usize> = (0..symbols.definitions.len()).collect();
        order.sort_by_key(|at| (self.starts[*at], *at));
        let mut moved = vec![0_u32; order.len()];
        for (new, old) in order.iter().enumerate() {
            moved[*old] = to_u32(new);
        }
        let moved = |id: DefinitionId| DefinitionId(moved.get(id.0 as usize).copied().unwrap_or(id.0));
        let mut definitions: Vec<Option<SymbolDefinition>> =
            symbols.definitions.into_iter().map(Some).collect();
        symbols.definitions = order.iter().filter_map(|at| definitions[*at].take()).collect();
        for definition in &mut symbols.definitions {
            definition.parent = definition.parent.map(moved);
        }
        for reference in &mut symbols.references {
            reference.within = reference.within.map(moved);
            if let Target::Definition(id) = &mut reference.target {
                *id = moved(*id);
            }
        }
        for expression in &mut symbols.expressions {
            if let Expression::Definition(id) | Expression::This(id) | Expression::Super(id) = expression {
                *id = moved(*id);
            }
        }
        symbols
    }
}

/// Leaves out uses of names that belong to the language: in Go they are a fifth of all uses.
fn drop_language_names(symbols: &mut FileSymbols, language_names: &str) {
    let language_names: HashSet<&str> = language_names.split_whitespace().collect();
    if language_names.is_empty() {
        return;
    }
    let names = symbols.names.iter();
    let mut is_dropped: Vec<bool> = names.map(|name| language_names.contains(name.as_str())).collect();
    let own = symbols.definitions.iter().map(|definition| definition.name);
    let imported = symbols.imports.iter().map(|import| import.local);
    for NameId(name) in own.chain(imported) {
        if let Some(is_dropped) = is_dropped.get_mut(name as usize) {
            *is_dropped = false;
        }
    }
    let is_kept = |reference: &Reference| {
        reference.target != Target::Scope
            || !is_dropped
                .get(reference.name.0 as usize)
                .copied()
                .unwrap_or_default()
    };
    symbols.references.retain(is_kept);
}

/// A function that is declared `static` stays local where its definition does not repeat the word.
fn spread_local_marks(definitions: &mut [SymbolDefinition]) {
    let marked = definitions.iter().filter(|definition| definition.is_file_local);
    let marked: HashSet<(NameId, NameId)> = marked
        .map(|definition| (definition.scope, definition.name))
        .collect();
    if marked.is_empty() {
        return;
    }
    for definition in definitions {
        let is_function = definition.kind == SymbolKind::Function;
        definition.is_file_local |= is_function && marked.contains(&(definition.scope, definition.name));
    }
}
