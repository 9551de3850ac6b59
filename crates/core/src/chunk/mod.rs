//! Source text cut into pieces that mean something on their own: a function, a class, a section.
//!
//! Where a grammar is known, pieces are definitions that a tree-sitter query finds (`outline`), and what stands between
//! them. Data and markup are cut at their own joints (`sections`). Everything else, and whatever was not written by people,
//! is cut into blocks of lines (`lines`).
//!
//! Invariant: every line of the text is in exactly one chunk, and chunks are in order. The same text gives the same chunks,
//! and the id of a chunk does not change when other parts of the text do.

mod definition_chunks;
mod embedded_scripts;
mod grammar;
mod line_blocks;
mod outline;
mod sections;
mod signature;

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use grammar::QueryPart;
pub use outline::{Definition, Outline, Statement};

use crate::language::Language;

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub kind: ChunkKind,
    /// What is defined here, `""` for what has no name.
    pub name: String,
    /// The name with those it stands inside of: `Library.lend`.
    pub path: String,
    /// The definition up to its body, on one line.
    pub signature: String,
    /// The comment above it, or the text that documents it, without marks.
    pub doc: String,
    /// What a class or module has beyond the lines of this chunk: signatures, one each.
    pub members: Vec<String>,
    /// Lines, counted from 1.
    pub lines: RangeInclusive<usize>,
    /// Which piece of something that was too long for one, counted from 1.
    pub part: usize,
    /// The same as long as this piece of the file is called and written the same way.
    pub id: u64,
}

/// What a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChunkKind {
    Function,
    Method,
    Class,
    Interface,
    Type,
    /// A named container that is no type, and the top of a file.
    Module,
    /// What is no definition: lines between them, a section of a document, lines of files that are not understood.
    Block,
}

/// A file in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunked {
    pub chunks: Vec<Chunk>,
    /// Why the file was cut by lines, although its language is known.
    pub unread: Option<Unread>,
}

/// What keeps a file from being understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    Minified,
    Generated,
    TooLarge,
    Unparsable,
}

/// Larger files are cut by lines.
const MAX_PARSED_BYTES: usize = 1 << 20;

/// Cuts a file. `language` is its identifier, as [`crate::language::language_in`] gives it.
pub fn chunk(language: Language, text: &str) -> Chunked {
    let rows = Rows::of(text);
    if let Some(unread) = Unread::of(text) {
        return Chunked {
            chunks: with_ids(line_blocks::blocks(&rows), &rows),
            unread: grammar::has_grammar(language).then_some(unread),
        };
    }
    let mut unread = None;
    let pieces = match Outline::of(language, text) {
        Some(Ok(outline)) => definition_chunks::chunks_of(&outline, &rows),
        Some(Err(reason)) => {
            unread = Some(reason);
            line_blocks::blocks(&rows)
        }
        None => sections::sections(language, &rows).unwrap_or_else(|| line_blocks::blocks(&rows)),
    };
    Chunked {
        chunks: with_ids(pieces, &rows),
        unread,
    }
}

/// Whether files of a language are cut by their syntax.
pub fn has_grammar(language: Language) -> bool {
    grammar::has_grammar(language)
}

/// Parses and does nothing else: what chunking is measured against. True when there is a tree.
pub fn parse_only(language: Language, text: &str) -> bool {
    grammar::load(language, QueryPart::Definitions)
        .is_some_and(|grammar| outline::parse(grammar, text, &[], &|| false).is_some())
}

impl Unread {
    /// What can be seen without parsing.
    fn of(text: &str) -> Option<Self> {
        if text.len() > MAX_PARSED_BYTES {
            Some(Self::TooLarge)
        } else if line_blocks::is_minified(text) {
            Some(Self::Minified)
        } else if line_blocks::is_generated(text) {
            Some(Self::Generated)
        } else {
            None
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Minified => "minified",
            Self::Generated => "generated",
            Self::TooLarge => "too large",
            Self::Unparsable => "unparsable",
        }
    }
}

impl ChunkKind {
    pub const ALL: [Self; 7] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Interface,
        Self::Type,
        Self::Module,
        Self::Block,
    ];

    /// True for what is called, with or without an object.
    fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Module => "module",
            Self::Block => "block",
        }
    }
}

impl Chunk {
    /// A chunk of these rows, counted from 0, about nothing in particular.
    fn block(rows: RangeInclusive<usize>) -> Self {
        Self {
            kind: ChunkKind::Block,
            name: String::new(),
            path: String::new(),
            signature: String::new(),
            doc: String::new(),
            members: Vec::new(),
            lines: rows.start() + 1..=rows.end() + 1,
            part: 1,
            id: 0,
        }
    }
}

/// A text and where its lines are.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    text: &'a str,
    /// Where each row begins, and where the text ends.
    starts: Vec<usize>,
}

impl<'a> Rows<'a> {
    pub fn of(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, starts }
    }

    /// From one line to another, counted from 1 as chunks count them, with their line ends; what is beyond the text is empty.
    pub fn lines(&self, first: usize, last: usize) -> &'a str {
        let at = |row: usize| self.starts.get(row).copied().unwrap_or(self.text.len());
        &self.text[at(first.saturating_sub(1)).min(at(last))..at(last)]
    }

    /// The first and the last line of a part, counted from 1.
    pub fn span(&self, bytes: Range<usize>) -> (usize, usize) {
        let line = |at: usize| {
            self.starts
                .partition_point(|start| *start <= at)
                .clamp(1, self.count().max(1))
        };
        (
            line(bytes.start),
            line(bytes.end.saturating_sub(1).max(bytes.start)),
        )
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The text of a row, with its line end.
    fn row(&self, row: usize) -> &'a str {
        &self.text[self.starts[row]..self.starts[row + 1]]
    }

    fn text(&self, rows: RangeInclusive<usize>) -> &'a str {
        &self.text[self.starts[*rows.start()]..self.starts[rows.end() + 1]]
    }

    fn is_blank(&self, row: usize) -> bool {
        self.row(row).trim().is_empty()
    }
}

/// Gives each chunk its id: made of what it is called and how it is declared, or for what has no name of its text, and
/// of how many like it came before.
fn with_ids(mut chunks: Vec<Chunk>, rows: &Rows<'_>) -> Vec<Chunk> {
    let mut seen: HashMap<u64, u64> = HashMap::new();
    for chunk in &mut chunks {
        let mut id = Fnv::new();
        id.write(chunk.kind.name());
        id.write(&chunk.path);
        if chunk.name.is_empty() {
            id.write(rows.text(chunk.lines.start() - 1..=chunk.lines.end() - 1));
        } else {
            id.write(&chunk.signature);
        }
        id.write(&chunk.part.to_string());
        let before = seen.entry(id.0).or_default();
        if *before > 0 {
            id.write(&before.to_string());
        }
        *before += 1;
        chunk.id = id.0;
    }
    chunks
}

/// FNV-1a, which is the same everywhere and for ever.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests;
