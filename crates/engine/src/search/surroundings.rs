//! The definitions in and around a chunk: what a reader of a part needs to know about the whole.

use docent_core::chunk::{Definition, Outline, Rows};
use docent_core::language::Language;

use crate::store::StoredChunk;

/// The definitions in and around a chunk of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitSurroundings {
    pub language: Language,
    /// The definition that the chunk is, or is a part of. `None` for lines between definitions.
    pub whole: Option<WholeDefinition>,
    /// Definitions that begin inside the chunk, in the order of their lines, the whole one left out.
    pub inner: Vec<InnerDefinition>,
}

/// A definition of which a chunk shows all or a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeDefinition {
    /// Lines with the comments and attributes above it, counted from 1.
    pub first: usize,
    pub last: usize,
    /// The line of its name, and that line.
    pub head: usize,
    pub head_text: String,
    /// Number of the chunk among those of the definition, and their count.
    pub part: usize,
    pub parts: usize,
}

/// A definition inside a chunk. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerDefinition {
    pub head: usize,
    pub last: usize,
    pub name: String,
}

impl HitSurroundings {
    pub(super) fn read(
        stored: &StoredChunk,
        language: Language,
        text: &str,
        outline: Option<&Outline>,
    ) -> Self {
        let definitions = outline.map_or(&[][..], |outline| &outline.definitions);
        let (first, last) = (stored.first_line as usize, stored.last_line as usize);
        let is_whole = |definition: &&Definition| {
            let lines = definition.lines();
            definition.path == stored.scope && *lines.start() <= last && *lines.end() >= first
        };
        let whole = definitions.iter().find(is_whole);
        let inner = definitions.iter().filter(|one| {
            (first..=last).contains(&one.line()) && whole.is_none_or(|whole| !std::ptr::eq(*one, whole))
        });
        Self {
            language,
            inner: inner
                .map(|one| InnerDefinition {
                    head: one.line(),
                    last: *one.lines().end(),
                    name: one.name.clone(),
                })
                .collect(),
            whole: whole.map(|definition| read_whole(stored, text, definition)),
        }
    }
}

fn read_whole(stored: &StoredChunk, text: &str, definition: &Definition) -> WholeDefinition {
    let (head, end) = (definition.line(), *definition.lines().end());
    let rows = Rows::of(text);
    let part = stored.part as usize;
    WholeDefinition {
        first: definition.first_line(),
        last: end,
        head,
        head_text: rows.lines(head, head).trim_end_matches(['\n', '\r']).to_owned(),
        part,
        parts: (stored.parts as usize).max(part),
    }
}
