//! Chunking: source text cut into parts that can be found and read on their own, such as a function or a
//! section.
//!
//! Languages with a grammar are cut at their definitions, which a tree-sitter query finds (`outline`), and
//! the lines between those become chunks too (`definition_chunks`). Data and markup are cut at headings and
//! keys (`sections`). Any other text, and files that no person wrote, are cut into blocks of lines
//! (`line_blocks`).
//!
//! Invariant: every line that has words is in exactly one chunk, and chunks are in order. Blank lines between
//! chunks and lines that only close what is around them may be in none. The same text gives the same chunks,
//! and the id of a chunk does not change when other parts of the text do.

mod comment_gap;
mod container_headers;
mod definition_chunks;
mod embedded_scripts;
mod grammar;
mod line_blocks;
mod outline;
mod outline_walk;
mod parse;
mod sections;
mod signature;

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use grammar::QueryPart;
pub use outline::{Definition, ImportStatement, Outline};
pub(crate) use signature::{clean_doc_line, clean_signature};
use tree_sitter::Tree;

use crate::language::Language;

/// A part of a file that can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub kind: ChunkKind,
    /// Name of the definition or section, empty if it has none.
    pub name: String,
    /// The name with the names of the definitions around it: `Library.lend`.
    pub path: String,
    /// The definition up to its body, on one line.
    pub signature: String,
    /// The documentation comment or docstring, without comment marks.
    pub doc: String,
    /// Signatures of the members of a class or module that are separate chunks.
    pub members: Vec<String>,
    /// Definitions inside that are too small for chunks of their own.
    pub nested: Vec<NestedDefinition>,
    /// Lines, counted from 1.
    pub lines: RangeInclusive<usize>,
    /// Number of the part, counted from 1, and how many there are, if a definition or section was too long
    /// for one chunk. Chunks of one file with the same path and kind and more than one part are parts of one
    /// thing.
    pub part: usize,
    pub parts: usize,
    /// Only the line that opens a container, only imports, or only exports: it leads to other chunks and says
    /// nothing by itself.
    pub is_container_header: bool,
    /// Adds members to a type that is defined elsewhere: `impl X`, `extension X`.
    pub reopens: bool,
    /// Stable while the chunk keeps its name and signature, whatever changes around it.
    pub id: u64,
}

/// A definition inside a chunk that is no chunk itself: a method of a small class, a short inner function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedDefinition {
    pub kind: ChunkKind,
    pub name: String,
    /// The name with the names of the definitions around it: `Library.lend`.
    pub path: String,
    /// Lines with the comments and attributes above it, counted from 1.
    pub lines: RangeInclusive<usize>,
    /// The id that it would have as a chunk, which it becomes when it grows.
    pub id: u64,
}

/// The kind of code in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChunkKind {
    Function,
    Method,
    Class,
    Interface,
    Type,
    /// A named container that is no type, or the top of a file.
    Module,
    /// Anything but a definition: lines between definitions, a section of a document, lines of unparsed
    /// files.
    Block,
}

/// The chunks of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunked {
    pub chunks: Vec<Chunk>,
    /// Why a file of a known language was cut by lines.
    pub unparsed: Option<Unparsed>,
}

/// Why a file was not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unparsed {
    Minified,
    Generated,
    TooLarge,
    Unparsable,
}

/// Larger files are not parsed but cut by lines.
const MAX_PARSED_BYTES: usize = 1 << 20;

/// Cuts a file into chunks.
pub fn chunk(language: Language, text: &str) -> Chunked {
    chunk_and_keep_syntax(language, text).0
}

/// The syntax tree of a file with the definitions that were found in it.
pub(crate) struct FileSyntax {
    pub(crate) tree: Tree,
    pub(crate) outline: Outline,
}

/// Parses a text and finds its definitions, generated and minified code included. `None` for a language
/// without a grammar, and for a text that cannot be parsed.
pub(crate) fn parse_syntax(language: Language, text: &str) -> Option<FileSyntax> {
    FileSyntax::of(language, text)?.ok()
}

/// Cuts a file into chunks, and returns the syntax that they were cut by. It is `None` for a text that was
/// cut by lines, headings or keys.
pub(crate) fn chunk_and_keep_syntax(language: Language, text: &str) -> (Chunked, Option<FileSyntax>) {
    let rows = Rows::of(text);
    if let Some(unparsed) = Unparsed::without_parsing(text) {
        let chunked = Chunked {
            chunks: finish_chunks(line_blocks::cut_text(&rows), &rows),
            unparsed: grammar::has_grammar(language).then_some(unparsed),
        };
        return (chunked, None);
    }
    let (mut unparsed, mut syntax) = (None, None);
    let chunks = match FileSyntax::of(language, text) {
        Some(Ok(parsed)) => {
            let chunks = definition_chunks::cut_definitions(&parsed.outline, &rows);
            syntax = parsed.into();
            chunks
        }
        Some(Err(reason)) => {
            unparsed = Some(reason);
            line_blocks::cut_text(&rows)
        }
        None => sections::cut_sections(language, &rows).unwrap_or_else(|| line_blocks::cut_text(&rows)),
    };
    let chunked = Chunked {
        chunks: finish_chunks(chunks, &rows),
        unparsed,
    };
    (chunked, syntax)
}

/// True if files of a language are cut by their syntax.
pub fn has_grammar(language: Language) -> bool {
    grammar::has_grammar(language)
}

/// The grammar of a language.
pub(crate) fn syntax_of(language: Language) -> Option<tree_sitter::Language> {
    grammar::syntax_of(language)
}

/// Parses a text and drops the tree: the baseline that the speed of chunking is measured against. True if it
/// parsed.
pub fn parse_only(language: Language, text: &str) -> bool {
    grammar::load(language, QueryPart::Definitions)
        .is_some_and(|grammar| parse::parse(grammar, text, &[], &|| false).is_some())
}

/// Parses a part of a file, such as one function. `None` for a language without a grammar, and for a text
/// that is too large or cannot be parsed.
pub(crate) fn parse_fragment(language: Language, text: &str) -> Option<Tree> {
    if text.len() > MAX_PARSED_BYTES {
        return None;
    }
    // Queries of imports compile faster than those of definitions, and neither is used here.
    let grammar = grammar::load(language, QueryPart::Imports)?;
    parse::parse(grammar, text, &[], &|| false)
}

impl Unparsed {
    /// The reason not to parse a text, as far as its text alone tells.
    pub(crate) fn without_parsing(text: &str) -> Option<Self> {
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

    /// True for functions and methods.
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
    /// A chunk without a name, of these rows, counted from 0.
    fn block(rows: RangeInclusive<usize>) -> Self {
        Self {
            kind: ChunkKind::Block,
            name: String::new(),
            path: String::new(),
            signature: String::new(),
            doc: String::new(),
            members: Vec::new(),
            nested: Vec::new(),
            lines: rows.start() + 1..=rows.end() + 1,
            part: 1,
            parts: 1,
            is_container_header: false,
            reopens: false,
            id: 0,
        }
    }
}

/// A text and the positions of its lines. Rows are counted from 0, lines from 1.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    text: &'a str,
    /// Byte where each row begins, and the length of the text.
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

    /// The text from one line to another, line ends included. Lines beyond the end are empty.
    pub fn lines(&self, first: usize, last: usize) -> &'a str {
        let at = |row: usize| self.starts.get(row).copied().unwrap_or(self.text.len());
        &self.text[at(first.saturating_sub(1)).min(at(last))..at(last)]
    }

    /// First and last line of a byte range.
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

/// Takes the blank lines around a chunk from it. A chunk of blank lines alone keeps them.
fn trim_blank_lines(chunk: &mut Chunk, rows: &Rows<'_>) {
    let (first, last) = (*chunk.lines.start(), *chunk.lines.end());
    let mut written = (first..=last).filter(|line| !rows.is_blank(line - 1));
    if let Some(start) = written.next() {
        let end = (start..=last).rev().find(|line| !rows.is_blank(line - 1));
        chunk.lines = start..=end.unwrap_or(start);
    }
}

/// Trims each chunk, and sets its id: a hash of its kind, path and signature, or of its text if it has no
/// name. Chunks that are equal in these are numbered.
fn finish_chunks(mut chunks: Vec<Chunk>, rows: &Rows<'_>) -> Vec<Chunk> {
    let mut seen: HashMap<u64, u64> = HashMap::new();
    let mut number = |id: Fnv| {
        let mut numbered = Fnv(id.0);
        let before = seen.entry(id.0).or_default();
        if *before > 0 {
            numbered.write(&before.to_string());
        }
        *before += 1;
        numbered.0
    };
    for chunk in &mut chunks {
        trim_blank_lines(chunk, rows);
        let said = if chunk.name.is_empty() {
            rows.text(chunk.lines.start() - 1..=chunk.lines.end() - 1)
        } else {
            &chunk.signature
        };
        chunk.id = number(Fnv::of_chunk(chunk.kind, &chunk.path, said, chunk.part));
    }
    // After all chunks, so that they keep their ids when a definition stops being nested.
    for nested in chunks.iter_mut().flat_map(|chunk| &mut chunk.nested) {
        nested.id = number(Fnv(nested.id));
    }
    chunks
}

/// The FNV-1a hash. Ids are stored, so the algorithm must never change.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Hash of a chunk, which is not numbered yet.
    fn of_chunk(kind: ChunkKind, path: &str, said: &str, part: usize) -> Self {
        let mut id = Self::new();
        for text in [kind.name(), path, said, &part.to_string()] {
            id.write(text);
        }
        id
    }

    fn write(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests;
