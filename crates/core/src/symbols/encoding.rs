//! The stored form of [`FileSymbols`]: compact bytes, of which a question decodes only the parts it needs.
//!
//! Layout: the byte length of each section, then the sections. All numbers are varints ([`varint`]).
//!
//! - names: sorted and front-coded, so a name is found without decoding the list; an id is a position in it;
//! - definitions: in source order, positions as differences to the definition before;
//! - references: one group a name, in the order of names, each with its byte length, so that other groups are
//!   skipped; positions as differences inside the group;
//! - expressions, imports, package.
//!
//! Invariant: bytes that were not written by [`encode`] give a [`DecodeError`] or other symbols, never a
//! panic or an allocation that is out of proportion to their length.

mod reader;
mod varint;

pub use reader::{NameTable, SymbolsReader};

use super::{
    DefinitionId, Expression, ExpressionId, FileSymbols, ImportBinding, ImportedName, NameId, Reference,
    ReferenceRole, SourcePosition, SymbolDefinition, SymbolKind, Target,
};
use varint::VarintWriter;

/// The bytes are not those of the symbols of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored symbols of a file are damaged")]
pub struct DecodeError;

/// Number of sections.
const SECTIONS: usize = 6;

/// A name repeats at most so many bytes of the name before it. Without a limit, a few damaged bytes could
/// decode to gigabytes of names.
const MAX_SHARED_BYTES: usize = 63;

/// Flags of a definition, beside its kind in the lowest four bits.
const KIND_BITS: u32 = 4;
const HAS_BODY: u32 = 1 << 4;
const HAS_PARENT: u32 = 1 << 5;
const HAS_DOC: u32 = 1 << 6;
const HAS_RESULT: u32 = 1 << 7;
const HAS_BASES: u32 = 1 << 8;
const IS_FILE_LOCAL: u32 = 1 << 9;
const ALL_FLAGS: u32 = (1 << 10) - 1;

/// Numbers of the variants of [`Target`].
const TARGETS: u64 = 4;
/// Numbers of the variants of [`ReferenceRole`].
const ROLES: u64 = ReferenceRole::ALL.len() as u64;
/// Numbers of the variants of [`Expression`] and of [`ImportedName`].
const EXPRESSIONS: u32 = 10;
const IMPORTED: u32 = 4;

/// Encodes the symbols of a file. Reading them gives the symbols as [`FileSymbols::normalise`] orders them.
pub fn encode(symbols: &FileSymbols) -> Vec<u8> {
    let names = SortedNames::of(&symbols.names);
    let sections: [Vec<u8>; SECTIONS] = [
        encode_names(&names.sorted),
        encode_definitions(&symbols.definitions, &names),
        encode_references(&symbols.references, &names),
        encode_expressions(&symbols.expressions, &names),
        encode_imports(&symbols.imports, &names),
        symbols.package.as_bytes().to_vec(),
    ];
    let mut bytes = VarintWriter::default();
    for section in &sections {
        bytes.write(section.len() as u64);
    }
    let mut bytes = bytes.bytes;
    bytes.reserve_exact(sections.iter().map(Vec::len).sum());
    for section in &sections {
        bytes.extend(section);
    }
    bytes
}

impl FileSymbols {
    /// Sorts the names, drops repeated ones, renumbers what refers to them, and sorts the references by
    /// position and name: the order in which stored symbols are read.
    pub fn normalise(&mut self) {
        let names = SortedNames::of(&self.names);
        let id = |name: &mut NameId| *name = names.id(*name);
        for definition in &mut self.definitions {
            id(&mut definition.name);
            id(&mut definition.scope);
        }
        for reference in &mut self.references {
            id(&mut reference.name);
        }
        for import in &mut self.imports {
            id(&mut import.local);
            id(&mut import.written);
            if let ImportedName::Name(name) = &mut import.imported {
                id(name);
            }
        }
        for expression in &mut self.expressions {
            if let Expression::Name(name) | Expression::Member(_, name) = expression {
                id(name);
            }
        }
        let sorted = names.sorted.into_iter().map(str::to_owned).collect();
        self.names = sorted;
        self.references
            .sort_by_key(|reference| (reference.at, reference.name));
    }
}

/// The names of a file in order, and where each of its ids is in that order.
struct SortedNames<'a> {
    sorted: Vec<&'a str>,
    /// By the id in the file.
    new_ids: Vec<NameId>,
}

impl<'a> SortedNames<'a> {
    fn of(names: &'a [String]) -> Self {
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|at| &names[*at]);
        let mut new_ids = vec![NameId(0); order.len()];
        let mut sorted: Vec<&str> = Vec::with_capacity(order.len());
        for at in order {
            if sorted.last() != Some(&names[at].as_str()) {
                sorted.push(&names[at]);
            }
            new_ids[at] = NameId(to_u32(sorted.len() - 1));
        }
        Self { sorted, new_ids }
    }

    /// The position of a name. An id without a name stays without one.
    fn id(&self, name: NameId) -> NameId {
        let known = self.new_ids.get(name.0 as usize);
        known.copied().unwrap_or(NameId(u32::MAX))
    }

    fn write(&self, bytes: &mut VarintWriter, name: NameId) {
        bytes.write(u64::from(self.id(name).0));
    }
}

fn encode_names(sorted: &[&str]) -> Vec<u8> {
    let mut bytes = VarintWriter::default();
    bytes.write(sorted.len() as u64);
    let mut before: &[u8] = &[];
    for name in sorted {
        let name = name.as_bytes();
        let shared = before.iter().zip(name).take_while(|(a, b)| a == b).count();
        let shared = shared.min(MAX_SHARED_BYTES);
        bytes.write(shared as u64);
        bytes.write((name.len() - shared) as u64);
        bytes.bytes.extend(&name[shared..]);
        before = name;
    }
    bytes.bytes
}

fn encode_definitions(definitions: &[SymbolDefinition], names: &SortedNames<'_>) -> Vec<u8> {
    let mut bytes = VarintWriter::default();
    bytes.write(definitions.len() as u64);
    let (mut line, mut signature) = (0, 0);
    for (at, definition) in definitions.iter().enumerate() {
        let kind = SymbolKind::ALL
            .iter()
            .position(|kind| *kind == definition.kind)
            .expect("the list has every kind");
        let has_doc = definition.doc.start != definition.doc.end || definition.doc.start != 0;
        let flags = [
            (definition.has_body, HAS_BODY),
            (definition.parent.is_some(), HAS_PARENT),
            (has_doc, HAS_DOC),
            (definition.result.is_some(), HAS_RESULT),
            (!definition.bases.is_empty(), HAS_BASES),
            (definition.is_file_local, IS_FILE_LOCAL),
        ];
        let flags: u32 = flags.iter().map(|(is_set, flag)| u32::from(*is_set) * flag).sum();
        bytes.write(u64::from(flags | to_u32(kind)));
        names.write(&mut bytes, definition.name);
        names.write(&mut bytes, definition.scope);
        if let Some(DefinitionId(parent)) = definition.parent {
            // A parent is seldom far away, so the difference is shorter than its number.
            bytes.write_difference(parent, to_u32(at));
        }
        bytes.write_difference(definition.first_line, line);
        bytes.write_difference(definition.last_line, definition.first_line);
        bytes.write_difference(definition.name_at.line, definition.first_line);
        bytes.write(u64::from(definition.name_at.column));
        bytes.write_difference(definition.signature.start, signature);
        bytes.write_difference(definition.signature.end, definition.signature.start);
        if has_doc {
            bytes.write_difference(definition.doc.start, definition.signature.start);
            bytes.write_difference(definition.doc.end, definition.doc.start);
        }
        if let Some(ExpressionId(result)) = definition.result {
            bytes.write(u64::from(result));
        }
        if !definition.bases.is_empty() {
            bytes.write(definition.bases.len() as u64);
            for ExpressionId(base) in &definition.bases {
                bytes.write(u64::from(*base));
            }
        }
        (line, signature) = (definition.first_line, definition.signature.start);
    }
    bytes.bytes
}

fn encode_references(references: &[Reference], names: &SortedNames<'_>) -> Vec<u8> {
    let mut order: Vec<(NameId, SourcePosition, usize)> = references
        .iter()
        .enumerate()
        .map(|(at, reference)| (names.id(reference.name), reference.at, at))
        .collect();
    order.sort_unstable();
    let (mut bytes, mut group_bytes) = (VarintWriter::default(), VarintWriter::default());
    let mut name_before = 0;
    for group in order.chunk_by(|(a, ..), (b, ..)| a == b) {
        let (NameId(name), ..) = group[0];
        group_bytes.bytes.clear();
        encode_group(group.iter().map(|(.., at)| &references[*at]), &mut group_bytes);
        bytes.write(u64::from(name - name_before));
        bytes.write(group_bytes.bytes.len() as u64);
        bytes.bytes.extend(&group_bytes.bytes);
        name_before = name;
    }
    bytes.bytes
}

/// Writes the references of one name.
fn encode_group<'a>(references: impl Iterator<Item = &'a Reference>, bytes: &mut VarintWriter) {
    let mut before = GroupState::default();
    for reference in references {
        let role = ReferenceRole::ALL
            .iter()
            .position(|role| *role == reference.role)
            .expect("the list has every role");
        let (target, number) = match reference.target {
            Target::Scope => (0, None),
            Target::Definition(DefinitionId(id)) => (1, Some(id)),
            Target::Member(ExpressionId(id)) => (2, Some(id)),
            Target::UnknownMember => (3, None),
        };
        let lines = reference.at.line - before.at.line;
        bytes.write((u64::from(lines) * TARGETS + target) * ROLES + role as u64);
        let column = if lines == 0 { before.at.column } else { 0 };
        bytes.write(u64::from(reference.at.column - column));
        let within = reference
            .within
            .map_or(0, |DefinitionId(id)| id.saturating_add(1));
        bytes.write_difference(within, before.within);
        if let Some(number) = number {
            bytes.write_difference(number, before.number);
            before.number = number;
        }
        (before.at, before.within) = (reference.at, within);
    }
}

/// The reference before, inside a group.
#[derive(Clone, Copy, Default)]
struct GroupState {
    at: SourcePosition,
    /// Number of the enclosing definition, counted from 1; 0 for none.
    within: u32,
    /// Number of the definition or expression of its target.
    number: u32,
}

fn encode_expressions(expressions: &[Expression], names: &SortedNames<'_>) -> Vec<u8> {
    let mut bytes = VarintWriter::default();
    bytes.write(expressions.len() as u64);
    for (at, expression) in expressions.iter().enumerate() {
        let at = to_u32(at);
        let tagged = |bytes: &mut VarintWriter, tag: u32, number: u32| {
            bytes.write(u64::from(number) * u64::from(EXPRESSIONS) + u64::from(tag));
        };
        // The distance to an expression before this one, which is shorter than its number.
        let back = |ExpressionId(id): ExpressionId| at.wrapping_sub(id);
        match *expression {
            Expression::Name(name) => tagged(&mut bytes, 0, names.id(name).0),
            Expression::Definition(DefinitionId(id)) => tagged(&mut bytes, 1, id),
            Expression::Member(of, name) => {
                tagged(&mut bytes, 2, back(of));
                names.write(&mut bytes, name);
            }
            Expression::Call(of) => tagged(&mut bytes, 3, back(of)),
            Expression::Instance(of) => tagged(&mut bytes, 4, back(of)),
            Expression::This(DefinitionId(id)) => tagged(&mut bytes, 5, id),
            Expression::Super(DefinitionId(id)) => tagged(&mut bytes, 6, id),
            Expression::Collection(of) => tagged(&mut bytes, 7, back(of)),
            Expression::Element(of) => tagged(&mut bytes, 8, back(of)),
            Expression::Builtin => tagged(&mut bytes, 9, 0),
        }
    }
    bytes.bytes
}

fn encode_imports(imports: &[ImportBinding], names: &SortedNames<'_>) -> Vec<u8> {
    let mut bytes = VarintWriter::default();
    bytes.write(imports.len() as u64);
    let mut line = 0;
    for import in imports {
        let (tag, name) = match import.imported {
            ImportedName::Name(name) => (0, Some(name)),
            ImportedName::Default => (1, None),
            ImportedName::Module => (2, None),
            ImportedName::Wildcard => (3, None),
        };
        bytes.write(u64::from(tag + IMPORTED * u32::from(import.is_reexport)));
        names.write(&mut bytes, import.local);
        names.write(&mut bytes, import.written);
        if let Some(name) = name {
            names.write(&mut bytes, name);
        }
        bytes.write_difference(import.line, line);
        line = import.line;
    }
    bytes.bytes
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
