//! The outline of a file: its definitions and its import statements, found by the query of its grammar.
//!
//! Left out on purpose: how definitions refer to each other. Names are text.

use std::ops::{Range, RangeInclusive};

use super::grammar::{self, QueryPart};
use super::outline_walk::{DEFINITION_SLACK, OutlineWalk};
use super::{ChunkKind, FileSyntax, Unparsed};
use crate::language::Language;

/// The definitions of a file, in source order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub definitions: Vec<Definition>,
}

/// A function, class or other named item. Rows are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub kind: ChunkKind,
    pub name: String,
    /// The name with the names of the definitions around it: `Library.lend`.
    pub path: String,
    pub signature: String,
    pub doc: String,
    /// First row of the comments and attributes above it.
    pub(crate) lead: usize,
    /// First row of the definition itself.
    pub(super) head: usize,
    pub(crate) name_row: usize,
    /// Last row.
    pub(crate) end: usize,
    /// Index of the enclosing definition.
    pub(crate) parent: Option<usize>,
    pub(crate) has_body: bool,
    /// Rows at which the statements of a long body begin. Empty for short bodies.
    pub(super) joints: Vec<usize>,
    /// Bytes of the definition, of its name, of its head up to the body, and of its documentation.
    pub(crate) bytes: Range<usize>,
    pub(crate) name_bytes: Range<usize>,
    pub(crate) signature_bytes: Range<usize>,
    pub(crate) doc_bytes: Range<usize>,
}

/// An import statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportStatement {
    /// Counted from 1.
    pub line: usize,
    pub text: String,
    /// True if it holds a syntax error.
    pub is_broken: bool,
}

impl Outline {
    /// The outline of a text; `None` for a language without a grammar.
    pub fn of(language: Language, text: &str) -> Option<Result<Self, Unparsed>> {
        FileSyntax::of(language, text).map(|syntax| syntax.map(|syntax| syntax.outline))
    }
}

impl FileSyntax {
    /// Parses a text and finds its definitions; `None` for a language without a grammar.
    pub(super) fn of(language: Language, text: &str) -> Option<Result<Self, Unparsed>> {
        let grammar = grammar::load(language, QueryPart::Definitions)?;
        let mut walk = OutlineWalk::new(grammar, text, DEFINITION_SLACK);
        Some(walk.walk_text(language, &|| false).map(|tree| Self {
            tree,
            outline: walk.outline,
        }))
    }
}

impl ImportStatement {
    /// The import statements of a text; `None` for a language without a grammar. Gives up once `stop` returns
    /// true.
    pub fn find_all(
        language: Language,
        text: &str,
        stop: &dyn Fn() -> bool,
    ) -> Option<Result<Vec<Self>, Unparsed>> {
        let grammar = grammar::load(language, QueryPart::Imports)?;
        let mut walk = OutlineWalk::new(grammar, text, u8::MAX);
        Some(walk.walk_text(language, stop).map(|_| walk.imports))
    }
}

impl Definition {
    /// The line of its name, counted from 1.
    pub fn line(&self) -> usize {
        self.name_row + 1
    }

    /// The first line of the comments and attributes above it, counted from 1.
    pub fn first_line(&self) -> usize {
        self.lead + 1
    }

    /// Its lines without the comments and attributes above it, counted from 1.
    pub fn lines(&self) -> RangeInclusive<usize> {
        self.head + 1..=self.end + 1
    }
}
