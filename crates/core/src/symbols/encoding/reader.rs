//! Reads stored symbols, one section at a time.

use std::cell::OnceCell;
use std::cmp::Ordering;

use super::varint::VarintReader;
use super::{
    ALL_FLAGS, DecodeError, EXPRESSIONS, GroupState, HAS_BASES, HAS_BODY, HAS_DOC, HAS_PARENT, HAS_RESULT,
    IMPORTED, IS_FILE_LOCAL, KIND_BITS, MAX_SHARED_BYTES, ROLES, SECTIONS, TARGETS,
};
use crate::symbols::{
    ByteRange, DefinitionId, Expression, ExpressionId, FileSymbols, ImportBinding, ImportedName, NameId,
    Reference, ReferenceRole, SourcePosition, SymbolDefinition, SymbolKind, Target,
};

/// The stored symbols of a file. A section is decoded when it is asked for.
#[derive(Clone, Debug)]
pub struct SymbolsReader<'a> {
    names: VarintReader<'a>,
    definitions: VarintReader<'a>,
    references: VarintReader<'a>,
    expressions: VarintReader<'a>,
    imports: VarintReader<'a>,
    package: &'a str,
    name_count: u32,
    definition_count: u32,
    expression_count: u32,
    import_count: u32,
    /// All names, once one was asked for by its id.
    name_table: OnceCell<NameTable>,
}

/// The names of a file, one after the other.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    text: String,
    ends: Vec<u32>,
}

impl NameTable {
    /// The name with an id. Empty if there is none.
    pub fn name(&self, NameId(id): NameId) -> &str {
        let at = id as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.end(before));
        self.text.get(start..self.end(at)).unwrap_or_default()
    }

    /// Where a name ends. The end of all if there is no such name.
    fn end(&self, at: usize) -> usize {
        self.ends.get(at).map_or(self.text.len(), |end| *end as usize)
    }

    /// The id of a name. `None` if the file does not have it.
    pub fn find(&self, name: &str) -> Option<NameId> {
        // Names are sorted.
        let mut ids = 0..u32::try_from(self.ends.len()).ok()?;
        while !ids.is_empty() {
            let middle = ids.start + (ids.end - ids.start) / 2;
            match self.name(NameId(middle)).cmp(name) {
                Ordering::Equal => return Some(NameId(middle)),
                Ordering::Less => ids.start = middle + 1,
                Ordering::Greater => ids.end = middle,
            }
        }
        None
    }
}

/// The least bytes of an item, by which a damaged count is recognised.
const MIN_NAME_BYTES: usize = 2;
const MIN_DEFINITION_BYTES: usize = 9;
const MIN_IMPORT_BYTES: usize = 4;

impl<'a> SymbolsReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut all = VarintReader::new(bytes);
        let mut lengths = [0; SECTIONS];
        for length in &mut lengths {
            *length = all.read()? as usize;
        }
        let mut section = |at: usize| all.read_bytes(lengths[at]);
        let mut names = VarintReader::new(section(0)?);
        let mut definitions = VarintReader::new(section(1)?);
        let references = VarintReader::new(section(2)?);
        let mut expressions = VarintReader::new(section(3)?);
        let mut imports = VarintReader::new(section(4)?);
        let package = std::str::from_utf8(section(5)?).map_err(|_| DecodeError)?;
        if !all.is_empty() {
            return Err(DecodeError);
        }
        Ok(Self {
            name_count: names.read_count(MIN_NAME_BYTES)?,
            definition_count: definitions.read_count(MIN_DEFINITION_BYTES)?,
            expression_count: expressions.read_count(1)?,
            import_count: imports.read_count(MIN_IMPORT_BYTES)?,
            names,
            definitions,
            references,
            expressions,
            imports,
            package,
            name_table: OnceCell::new(),
        })
    }

    /// The package that the file says it belongs to, empty if it says none.
    pub fn package(&self) -> &'a str {
        self.package
    }

    /// Finds a name among those of the file, without decoding the others.
    pub fn find_name(&self, wanted: &str) -> Result<Option<NameId>, DecodeError> {
        let wanted = wanted.as_bytes();
        let mut names = self.names;
        // Bytes that the name before has in common with the wanted one. Names are sorted, so a name that
        // repeats more of the one before is still smaller, and one that repeats less is already larger.
        let mut matched = 0;
        for id in 0..self.name_count {
            let (shared, suffix) = read_name(&mut names)?;
            // A repeated prefix is cut at the limit, and then says nothing about the bytes behind it.
            if shared < matched && shared < MAX_SHARED_BYTES {
                return Ok(None);
            }
            if shared > matched {
                continue;
            }
            let rest = wanted.get(shared..).unwrap_or_default();
            if rest == suffix {
                return Ok(Some(NameId(id)));
            }
            let common = rest.iter().zip(suffix).take_while(|(a, b)| a == b).count();
            if suffix > rest {
                return Ok(None);
            }
            matched = shared + common;
        }
        Ok(None)
    }

    /// The name with an id. Empty if there is none.
    pub fn name(&self, name: NameId) -> Result<&str, DecodeError> {
        let table = if let Some(table) = self.name_table.get() {
            table
        } else {
            let table = self.names()?;
            self.name_table.get_or_init(|| table)
        };
        Ok(table.name(name))
    }

    /// All names.
    pub fn names(&self) -> Result<NameTable, DecodeError> {
        let mut names = self.names;
        let mut text: Vec<u8> = Vec::with_capacity(2 * names.len());
        let mut ends = Vec::with_capacity(self.name_count as usize);
        let mut start = 0;
        for _ in 0..self.name_count {
            let (shared, suffix) = read_name(&mut names)?;
            let end = text.len();
            if shared > end - start {
                return Err(DecodeError);
            }
            text.extend_from_within(start..start + shared);
            text.extend_from_slice(suffix);
            start = end;
            ends.push(u32::try_from(text.len()).map_err(|_| DecodeError)?);
        }
        expect_end(&names)?;
        let text = String::from_utf8(text).map_err(|_| DecodeError)?;
        // A name may repeat a part of a character, but must not end inside one.
        if ends.iter().all(|end| text.is_char_boundary(*end as usize)) {
            Ok(NameTable { text, ends })
        } else {
            Err(DecodeError)
        }
    }

    /// All definitions, in source order.
    pub fn definitions(&self) -> Result<Vec<SymbolDefinition>, DecodeError> {
        let mut bytes = self.definitions;
        let mut definitions = Vec::with_capacity(self.definition_count as usize);
        let (mut line, mut signature) = (0, 0);
        for at in 0..self.definition_count {
            let definition = self.read_definition(&mut bytes, at, line, signature)?;
            (line, signature) = (definition.first_line, definition.signature.start);
            definitions.push(definition);
        }
        expect_end(&bytes)?;
        Ok(definitions)
    }

    fn read_definition(
        &self,
        bytes: &mut VarintReader<'_>,
        at: u32,
        line_before: u32,
        signature_before: u32,
    ) -> Result<SymbolDefinition, DecodeError> {
        let flags = bytes.read()?;
        if flags > ALL_FLAGS {
            return Err(DecodeError);
        }
        let has = |flag: u32| flags & flag != 0;
        let kind = flags & ((1 << KIND_BITS) - 1);
        let name = self.read_name_id(bytes)?;
        let scope = self.read_name_id(bytes)?;
        let parent = if has(HAS_PARENT) {
            Some(self.check_definition(bytes.read_difference(at)?)?)
        } else {
            None
        };
        let first_line = bytes.read_difference(line_before)?;
        let last_line = bytes.read_difference(first_line)?;
        let name_at = SourcePosition {
            line: bytes.read_difference(first_line)?,
            column: bytes.read()?,
        };
        let signature = read_range(bytes, signature_before)?;
        let doc = if has(HAS_DOC) {
            read_range(bytes, signature.start)?
        } else {
            ByteRange::default()
        };
        let result = if has(HAS_RESULT) {
            Some(self.read_expression_id(bytes)?)
        } else {
            None
        };
        let mut bases = Vec::new();
        if has(HAS_BASES) {
            for _ in 0..bytes.read_count(1)? {
                bases.push(self.read_expression_id(bytes)?);
            }
        }
        Ok(SymbolDefinition {
            name,
            kind: *SymbolKind::ALL.get(kind as usize).ok_or(DecodeError)?,
            scope,
            parent,
            first_line,
            last_line,
            name_at,
            signature,
            doc,
            has_body: has(HAS_BODY),
            is_file_local: has(IS_FILE_LOCAL),
            result,
            bases,
        })
    }

    /// The references of one name, in source order. Those of other names are skipped.
    pub fn references_of(&self, name: NameId) -> Result<Vec<Reference>, DecodeError> {
        let mut references = Vec::new();
        let mut bytes = self.references;
        let mut id = 0;
        while !bytes.is_empty() && id <= name.0 {
            let group = self.next_group(&mut bytes, &mut id)?;
            if id == name.0 {
                self.read_group(group, name, &mut references)?;
                break;
            }
        }
        Ok(references)
    }

    /// All references, in source order.
    pub fn references(&self) -> Result<Vec<Reference>, DecodeError> {
        let mut references = Vec::new();
        let mut bytes = self.references;
        let mut id = 0;
        while !bytes.is_empty() {
            let group = self.next_group(&mut bytes, &mut id)?;
            self.read_group(group, NameId(id), &mut references)?;
        }
        // Groups are in the order of names, which a stable sort keeps for equal positions. One number is
        // compared faster than two.
        references
            .sort_by_key(|reference| u64::from(reference.at.line) << 32 | u64::from(reference.at.column));
        Ok(references)
    }

    /// The names that have references, in order.
    pub fn referenced_names(&self) -> Result<Vec<NameId>, DecodeError> {
        let mut names = Vec::new();
        let mut bytes = self.references;
        let mut id = 0;
        while !bytes.is_empty() {
            self.next_group(&mut bytes, &mut id)?;
            names.push(NameId(id));
        }
        Ok(names)
    }

    /// The bytes of the next group. `id` is that of the group before, and becomes that of this one.
    fn next_group<'b>(
        &self,
        bytes: &mut VarintReader<'b>,
        id: &mut u32,
    ) -> Result<VarintReader<'b>, DecodeError> {
        *id = id.checked_add(bytes.read()?).ok_or(DecodeError)?;
        if *id >= self.name_count {
            return Err(DecodeError);
        }
        let length = bytes.read()? as usize;
        Ok(VarintReader::new(bytes.read_bytes(length)?))
    }

    fn read_group(
        &self,
        mut bytes: VarintReader<'_>,
        name: NameId,
        references: &mut Vec<Reference>,
    ) -> Result<(), DecodeError> {
        let mut before = GroupState::default();
        while !bytes.is_empty() {
            let head = bytes.read_u64()?;
            let role = usize::try_from(head % ROLES).map_err(|_| DecodeError)?;
            let target = head / ROLES % TARGETS;
            let lines = u32::try_from(head / ROLES / TARGETS).map_err(|_| DecodeError)?;
            let line = before.at.line.checked_add(lines).ok_or(DecodeError)?;
            let column = if lines == 0 { before.at.column } else { 0 };
            let column = column.checked_add(bytes.read()?).ok_or(DecodeError)?;
            before.at = SourcePosition { line, column };
            before.within = bytes.read_difference(before.within)?;
            if matches!(target, 1 | 2) {
                before.number = bytes.read_difference(before.number)?;
            }
            references.push(Reference {
                name,
                role: ReferenceRole::ALL[role],
                at: before.at,
                within: match before.within.checked_sub(1) {
                    None => None,
                    Some(id) => Some(self.check_definition(id)?),
                },
                target: match target {
                    0 => Target::Scope,
                    1 => Target::Definition(self.check_definition(before.number)?),
                    2 if before.number < self.expression_count => Target::Member(ExpressionId(before.number)),
                    2 => return Err(DecodeError),
                    _ => Target::UnknownMember,
                },
            });
        }
        Ok(())
    }

    /// All expressions. Each refers only to those before it.
    pub fn expressions(&self) -> Result<Vec<Expression>, DecodeError> {
        let mut bytes = self.expressions;
        let mut expressions = Vec::with_capacity(self.expression_count as usize);
        for at in 0..self.expression_count {
            let head = bytes.read_u64()?;
            let number = u32::try_from(head / u64::from(EXPRESSIONS)).map_err(|_| DecodeError)?;
            let before = || match at.checked_sub(number) {
                Some(id) if id < at => Ok(ExpressionId(id)),
                _ => Err(DecodeError),
            };
            expressions.push(match head % u64::from(EXPRESSIONS) {
                0 if number < self.name_count => Expression::Name(NameId(number)),
                0 => return Err(DecodeError),
                1 => Expression::Definition(self.check_definition(number)?),
                2 => Expression::Member(before()?, self.read_name_id(&mut bytes)?),
                3 => Expression::Call(before()?),
                4 => Expression::Instance(before()?),
                5 => Expression::This(self.check_definition(number)?),
                6 => Expression::Super(self.check_definition(number)?),
                7 => Expression::Collection(before()?),
                8 => Expression::Element(before()?),
                _ => Expression::Builtin,
            });
        }
        expect_end(&bytes)?;
        Ok(expressions)
    }

    pub fn imports(&self) -> Result<Vec<ImportBinding>, DecodeError> {
        let mut bytes = self.imports;
        let mut imports = Vec::with_capacity(self.import_count as usize);
        let mut line = 0;
        for _ in 0..self.import_count {
            let head = bytes.read_below(2 * IMPORTED)?;
            let local = self.read_name_id(&mut bytes)?;
            let written = self.read_name_id(&mut bytes)?;
            let imported = match head % IMPORTED {
                0 => ImportedName::Name(self.read_name_id(&mut bytes)?),
                1 => ImportedName::Default,
                2 => ImportedName::Module,
                _ => ImportedName::Wildcard,
            };
            line = bytes.read_difference(line)?;
            imports.push(ImportBinding {
                local,
                written,
                imported,
                is_reexport: head >= IMPORTED,
                line,
            });
        }
        expect_end(&bytes)?;
        Ok(imports)
    }

    /// All symbols of the file.
    pub fn decode(&self) -> Result<FileSymbols, DecodeError> {
        Ok(FileSymbols {
            references: self.references()?,
            ..self.decode_without_references()?
        })
    }

    /// The symbols of the file but for its references, which are most of its bytes.
    pub fn decode_without_references(&self) -> Result<FileSymbols, DecodeError> {
        let ids = (0..self.name_count).map(NameId);
        let names = ids.map(|id| self.name(id).map(str::to_owned));
        Ok(FileSymbols {
            names: names.collect::<Result<_, _>>()?,
            definitions: self.definitions()?,
            references: Vec::new(),
            imports: self.imports()?,
            expressions: self.expressions()?,
            package: self.package.to_owned(),
        })
    }

    fn read_name_id(&self, bytes: &mut VarintReader<'_>) -> Result<NameId, DecodeError> {
        bytes.read_below(self.name_count).map(NameId)
    }

    fn read_expression_id(&self, bytes: &mut VarintReader<'_>) -> Result<ExpressionId, DecodeError> {
        bytes.read_below(self.expression_count).map(ExpressionId)
    }

    fn check_definition(&self, id: u32) -> Result<DefinitionId, DecodeError> {
        if id < self.definition_count {
            Ok(DefinitionId(id))
        } else {
            Err(DecodeError)
        }
    }
}

/// How many bytes a name repeats of the name before it, and the bytes behind those.
#[inline]
fn read_name<'a>(names: &mut VarintReader<'a>) -> Result<(usize, &'a [u8]), DecodeError> {
    let shared = names.read()? as usize;
    if shared > MAX_SHARED_BYTES {
        return Err(DecodeError);
    }
    let length = names.read()? as usize;
    Ok((shared, names.read_bytes(length)?))
}

fn read_range(bytes: &mut VarintReader<'_>, base: u32) -> Result<ByteRange, DecodeError> {
    let start = bytes.read_difference(base)?;
    let end = bytes.read_difference(start)?;
    Ok(ByteRange { start, end })
}

fn expect_end(bytes: &VarintReader<'_>) -> Result<(), DecodeError> {
    if bytes.is_empty() {
        Ok(())
    } else {
        Err(DecodeError)
    }
}
