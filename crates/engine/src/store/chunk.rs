//! A chunk as stored: the fields that ranking needs, and those that find its text in its file again.
//!
//! The text itself is not stored. Invariant: bytes that were not written by `to_bytes` are not read as a
//! chunk.

use docent_core::chunk::ChunkKind;
use xxhash_rust::xxh3::xxh3_64;

/// A stored chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChunk {
    pub path: String,
    pub language: String,
    pub kind: ChunkKind,
    /// The name behind those of its enclosing definitions, `Library.lend`. Empty without a name.
    pub scope: String,
    /// How many bytes at the end of `scope` are the name.
    pub name_length: usize,
    pub first_line: u32,
    pub last_line: u32,
    /// Number of the part, counted from 1, and how many there are: a long definition is several chunks with
    /// the same path, scope and kind.
    pub part: u32,
    pub parts: u32,
    /// Only the line that opens a container, only imports, or only exports.
    pub is_container_header: bool,
    /// Adds members to a type that is defined elsewhere: `impl X`, `extension X`.
    pub reopens: bool,
    /// Generated code, not written by people.
    pub generated: bool,
    /// Stays the same as long as the chunk's name and text do.
    pub id: u64,
    /// Hash of its lines.
    pub hash: u64,
    /// Definitions inside that are no chunks themselves.
    pub nested: Vec<StoredNested>,
}

/// A definition inside a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNested {
    pub kind: ChunkKind,
    /// As of a chunk.
    pub scope: String,
    pub name_length: usize,
    pub first_line: u32,
    pub last_line: u32,
    pub id: u64,
    pub hash: u64,
}

impl Default for StoredChunk {
    fn default() -> Self {
        Self {
            path: String::new(),
            language: String::new(),
            kind: ChunkKind::Block,
            scope: String::new(),
            name_length: 0,
            first_line: 1,
            last_line: 1,
            part: 1,
            parts: 1,
            is_container_header: false,
            reopens: false,
            generated: false,
            id: 0,
            hash: 0,
            nested: Vec::new(),
        }
    }
}

impl StoredChunk {
    pub fn name(&self) -> &str {
        &self.scope[self.scope.len() - self.name_length..]
    }

    /// Name of the enclosing class or module, empty at the top level.
    pub fn enclosing(&self) -> &str {
        self.scope[..self.scope.len() - self.name_length].trim_end_matches('.')
    }

    /// Cache key of its vector, the same in every index that has this chunk with the same name and text.
    pub(crate) fn vector_key(path: &str, scope: &str, hash: u64) -> u64 {
        xxh3_64(format!("piece\0{path}\0{scope}\0{hash:x}").as_bytes())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let strings = [&self.path, &self.language, &self.scope];
        let nested = self.nested.iter().map(|one| one.scope.len() + MIN_NESTED_BYTES);
        let length = strings
            .iter()
            .map(|text| text.len() + 4)
            .chain(nested)
            .sum::<usize>();
        let mut bytes = Vec::with_capacity(42 + length);
        bytes.push(kind_number(self.kind));
        let flags = [self.generated, self.is_container_header, self.reopens];
        bytes.push((0..).zip(flags).map(|(bit, flag)| u8::from(flag) << bit).sum());
        let numbers = [
            self.first_line,
            self.last_line,
            self.part,
            self.parts,
            clamp(self.name_length),
        ];
        put_numbers(&mut bytes, &numbers, &[self.id, self.hash]);
        for text in strings {
            put_text(&mut bytes, text);
        }
        for one in &self.nested {
            bytes.push(kind_number(one.kind));
            let numbers = [one.first_line, one.last_line, clamp(one.name_length)];
            put_numbers(&mut bytes, &numbers, &[one.id, one.hash]);
            put_text(&mut bytes, &one.scope);
        }
        bytes
    }

    /// `None` if the bytes are not those of a chunk.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let [kind, flags] = take::<2>(bytes)?;
        let is_set = |bit: u8| flags & (1 << bit) != 0;
        let [first_line, last_line, part, parts, name_length] = take_numbers(bytes)?;
        let [id, hash] = take_long_numbers(bytes)?;
        let (path, language) = (take_text(bytes)?, take_text(bytes)?);
        let (scope, name_length) = take_scope(bytes, name_length)?;
        let mut nested = Vec::new();
        while !bytes.is_empty() {
            let [kind] = take::<1>(bytes)?;
            let [first_line, last_line, name_length] = take_numbers(bytes)?;
            let [id, hash] = take_long_numbers(bytes)?;
            let (scope, name_length) = take_scope(bytes, name_length)?;
            nested.push(StoredNested {
                kind: *ChunkKind::ALL.get(usize::from(kind))?,
                scope,
                name_length,
                first_line,
                last_line,
                id,
                hash,
            });
        }
        Some(Self {
            path,
            language,
            kind: *ChunkKind::ALL.get(usize::from(kind))?,
            scope,
            name_length,
            first_line,
            last_line,
            part,
            parts,
            generated: is_set(0),
            is_container_header: is_set(1),
            reopens: is_set(2),
            id,
            hash,
            nested,
        })
    }
}

impl StoredNested {
    pub fn name(&self) -> &str {
        &self.scope[self.scope.len() - self.name_length..]
    }
}

/// Bytes of a stored definition beside its scope.
const MIN_NESTED_BYTES: usize = 33;

fn kind_number(kind: ChunkKind) -> u8 {
    let number = ChunkKind::ALL.iter().position(|other| *other == kind);
    number
        .and_then(|number| u8::try_from(number).ok())
        .unwrap_or_default()
}

fn put_numbers(bytes: &mut Vec<u8>, numbers: &[u32], long: &[u64]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend(long.iter().flat_map(|number| number.to_le_bytes()));
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(clamp(text.len()).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn take_numbers<const N: usize>(bytes: &mut &[u8]) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = u32::from_le_bytes(take(bytes)?);
    }
    Some(numbers)
}

fn take_long_numbers<const N: usize>(bytes: &mut &[u8]) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = u64::from_le_bytes(take(bytes)?);
    }
    Some(numbers)
}

fn take_text(bytes: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(u32::from_le_bytes(take(bytes)?)).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

/// A scope, and the length of the name at its end.
fn take_scope(bytes: &mut &[u8], name_length: u32) -> Option<(String, usize)> {
    let scope = take_text(bytes)?;
    let name_length = usize::try_from(name_length).ok()?;
    let is_inside = scope.is_char_boundary(scope.len().checked_sub(name_length)?);
    is_inside.then_some((scope, name_length))
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_read_as_it_was_written() {
        let chunk = StoredChunk {
            path: "src/bücher.rs".into(),
            language: "rust".into(),
            kind: ChunkKind::Method,
            scope: "Library.lend".into(),
            name_length: 4,
            first_line: 3,
            last_line: 900,
            part: 2,
            parts: 3,
            is_container_header: false,
            reopens: true,
            generated: true,
            id: u64::MAX,
            hash: 7,
            nested: Vec::new(),
        };
        let check = |chunk: &StoredChunk, without_nested: Option<usize>| {
            let bytes = chunk.to_bytes();
            assert_eq!(StoredChunk::from_bytes(&bytes).as_ref(), Some(chunk));
            for end in (0..bytes.len()).filter(|end| Some(*end) != without_nested) {
                assert_eq!(StoredChunk::from_bytes(&bytes[..end]), None, "{end}");
            }
        };
        check(&chunk, None);
        assert_eq!((chunk.name(), chunk.enclosing()), ("lend", "Library"));
        let nested = StoredNested {
            kind: ChunkKind::Function,
            scope: "Library.lend.größe".into(),
            name_length: 7,
            first_line: 5,
            last_line: 6,
            id: 8,
            hash: 9,
        };
        assert_eq!(nested.name(), "größe");
        let around = StoredChunk {
            nested: vec![nested],
            ..chunk.clone()
        };
        check(&around, Some(chunk.to_bytes().len()));
    }
}
