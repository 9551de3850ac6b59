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
        let mut bytes = Vec::with_capacity(42 + strings.iter().map(|text| text.len() + 4).sum::<usize>());
        let kind = ChunkKind::ALL
            .iter()
            .position(|kind| *kind == self.kind)
            .unwrap_or_default();
        bytes.push(u8::try_from(kind).unwrap_or_default());
        let flags = [self.generated, self.is_container_header, self.reopens];
        bytes.push((0..).zip(flags).map(|(bit, flag)| u8::from(flag) << bit).sum());
        for number in [
            self.first_line,
            self.last_line,
            self.part,
            self.parts,
            clamp(self.name_length),
        ] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [self.id, self.hash] {
            bytes.extend(number.to_le_bytes());
        }
        for text in strings {
            bytes.extend(clamp(text.len()).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    /// `None` if the bytes are not those of a chunk.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let [kind, flags] = take::<2>(&mut bytes)?;
        let is_set = |bit: u8| flags & (1 << bit) != 0;
        let mut number = || take::<4>(&mut bytes).map(u32::from_le_bytes);
        let (first_line, last_line) = (number()?, number()?);
        let (part, parts, name_length) = (number()?, number()?, number()?);
        let mut long = || take::<8>(&mut bytes).map(u64::from_le_bytes);
        let (id, hash) = (long()?, long()?);
        let mut text = || {
            let length = usize::try_from(u32::from_le_bytes(take::<4>(&mut bytes)?)).ok()?;
            let (text, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            String::from_utf8(text.to_vec()).ok()
        };
        let (path, language, scope) = (text()?, text()?, text()?);
        let name_length = usize::try_from(name_length).ok()?;
        scope
            .is_char_boundary(scope.len().checked_sub(name_length)?)
            .then_some(())?;
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
        })
    }
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
        };
        let bytes = chunk.to_bytes();
        assert_eq!(StoredChunk::from_bytes(&bytes), Some(chunk.clone()));
        assert_eq!((chunk.name(), chunk.enclosing()), ("lend", "Library"));
        for end in 0..bytes.len() {
            assert_eq!(StoredChunk::from_bytes(&bytes[..end]), None, "{end}");
        }
    }
}
