//! Chunks of a file with an outline: which definitions become chunks, which chunk the lines
//! between them belong to, and how long definitions are cut.
//!
//! Invariant: chunks do not overlap, and cover every row but those that are blank or only close something. A
//! definition that shares a row with the one before it stays in that one's chunk.

use std::ops::RangeInclusive;

use super::outline::{Definition, Outline};
use super::{Chunk, ChunkKind, Fnv, NestedDefinition, Rows, container_headers, line_blocks};

/// A class or other container with at most this many rows is one chunk.
const MAX_WHOLE_CONTAINER_ROWS: usize = 30;

/// A definition inside a function needs this many rows to be a separate chunk.
const MIN_INNER_CHUNK_ROWS: usize = 10;

/// Longer chunks are cut.
const MAX_CHUNK_ROWS: usize = 120;
const MAX_CHUNK_BYTES: usize = 8_000;

/// Definitions that one chunk may have inside. Code that people write has fewer.
const MAX_NESTED: usize = 200;

/// Cuts a file at the definitions of its outline.
pub(super) fn cut_definitions(outline: &Outline, rows: &Rows<'_>) -> Vec<Chunk> {
    let Some(last) = rows.count().checked_sub(1) else {
        return Vec::new();
    };
    let mut children = vec![Vec::new(); outline.definitions.len()];
    let mut top = Vec::new();
    for (index, definition) in outline.definitions.iter().enumerate() {
        match definition.parent {
            Some(parent) => children[parent].push(index),
            None => top.push(index),
        }
    }
    let mut cut = DefinitionCut {
        outline,
        rows,
        children: &children,
        chunks: Vec::new(),
        owners: Vec::new(),
    };
    cut.cut_region(0..=last, None, &top);
    if cut.chunks.is_empty() {
        cut.add_chunk(Chunk::block(0..=last), None);
    }
    cut.count_parts();
    cut.add_nested();
    for chunk in &mut cut.chunks {
        chunk.is_container_header = container_headers::is_container_header(chunk, rows);
    }
    cut.chunks
}

struct DefinitionCut<'a> {
    outline: &'a Outline,
    rows: &'a Rows<'a>,
    children: &'a [Vec<usize>],
    chunks: Vec<Chunk>,
    /// The definition that each chunk is or is a part of. `None` for blocks.
    owners: Vec<Option<usize>>,
}

impl DefinitionCut<'_> {
    /// Cuts the rows of a definition, or of the file, around the inner definitions that are
    /// separate chunks.
    fn cut_region(&mut self, region: RangeInclusive<usize>, owner: Option<usize>, inside: &[usize]) {
        let mut next = *region.start();
        let mut part = 0;
        for &index in inside {
            let inner = &self.outline.definitions[index];
            let end = inner.end.min(*region.end());
            // Rows that the previous definition has taken stay there.
            if inner.lead < next && inner.head < next || end < next || !self.is_own_chunk(inner, owner) {
                continue;
            }
            let start = inner.lead.max(next);
            if start > next {
                self.add_between(next..=start - 1, owner, &mut part);
            }
            let region = start..=end;
            if self.is_divided(index) {
                self.cut_region(region, Some(index), &self.children[index]);
            } else {
                self.add_definition(region, index);
            }
            next = end + 1;
        }
        if next <= *region.end() {
            self.add_between(next..=*region.end(), owner, &mut part);
        }
    }

    fn is_own_chunk(&self, inner: &Definition, owner: Option<usize>) -> bool {
        let length = inner.end + 1 - inner.lead;
        if owner.is_some_and(|owner| self.is_function(owner)) {
            return length >= MIN_INNER_CHUNK_ROWS;
        }
        // A declaration says little by itself, and C headers have thousands.
        let is_declaration = inner.kind.is_function() && !inner.has_body;
        !is_declaration || length > 3
    }

    fn is_function(&self, index: usize) -> bool {
        self.outline.definitions[index].kind.is_function()
    }

    /// True if some of the definitions inside are separate chunks.
    fn is_divided(&self, index: usize) -> bool {
        let definition = &self.outline.definitions[index];
        let length = definition.end + 1 - definition.lead;
        let is_small = match definition.kind {
            ChunkKind::Module => false,
            ChunkKind::Function | ChunkKind::Method => length < MIN_INNER_CHUNK_ROWS,
            _ => length <= MAX_WHOLE_CONTAINER_ROWS,
        };
        !is_small
            && self.children[index]
                .iter()
                .any(|&child| self.is_own_chunk(&self.outline.definitions[child], Some(index)))
    }

    /// Adds the rows between two chunks: the head of the enclosing definition, or further rows of it. Rows
    /// that only close something are in no chunk: they belong to what is around the chunk before them.
    fn add_between(&mut self, region: RangeInclusive<usize>, owner: Option<usize>, part: &mut usize) {
        if region.clone().all(|row| only_closes(self.rows.row(row))) {
            return;
        }
        *part += 1;
        match owner {
            Some(owner) if *part == 1 => {
                self.add_definition(region, owner);
                if let Some(head) = self.chunks.last_mut() {
                    let members = self.children[owner].iter();
                    head.members = members
                        .map(|&child| self.outline.definitions[child].signature.clone())
                        .collect();
                }
            }
            Some(owner) if self.is_function(owner) => {
                // Part 1 is the text before the first inner definition.
                let last = self.owners.iter().rposition(|other| *other == Some(owner));
                let before = last.map_or(0, |last| self.chunks[last].part);
                let first = self.chunks.len();
                self.add_definition(region, owner);
                for chunk in &mut self.chunks[first..] {
                    chunk.part += before;
                    chunk.doc.clear();
                }
            }
            _ => {
                let outer = owner.map(|owner| &self.outline.definitions[owner]);
                for rows in line_blocks::cut_rows(self.rows, region) {
                    let mut chunk = Chunk::block(rows);
                    if let Some(outer) = outer {
                        chunk.path.clone_from(&outer.path);
                    } else if self.chunks.is_empty() {
                        chunk.kind = ChunkKind::Module;
                    }
                    self.add_chunk(chunk, None);
                }
            }
        }
    }

    /// Adds a definition as one chunk, or as several parts if it is too long.
    fn add_definition(&mut self, region: RangeInclusive<usize>, index: usize) {
        let definition = &self.outline.definitions[index];
        for (part, rows) in (1..).zip(self.cut_parts(region, &definition.joints)) {
            let chunk = Chunk {
                kind: definition.kind,
                name: definition.name.clone(),
                path: definition.path.clone(),
                signature: definition.signature.clone(),
                doc: if part == 1 {
                    definition.doc.clone()
                } else {
                    String::new()
                },
                part,
                reopens: container_headers::reopens(&definition.signature)
                    && definition.kind == ChunkKind::Class,
                ..Chunk::block(rows)
            };
            self.add_chunk(chunk, Some(index));
        }
    }

    fn add_chunk(&mut self, chunk: Chunk, owner: Option<usize>) {
        self.chunks.push(chunk);
        self.owners.push(owner);
    }

    /// Tells each part of a definition how many there are.
    fn count_parts(&mut self) {
        let mut parts = vec![1; self.outline.definitions.len()];
        for (chunk, owner) in self.chunks.iter().zip(&self.owners) {
            if let Some(owner) = *owner {
                parts[owner] = chunk.part.max(parts[owner]);
            }
        }
        for (chunk, owner) in self.chunks.iter_mut().zip(&self.owners) {
            chunk.parts = owner.map_or(1, |owner| parts[owner]);
        }
    }

    /// Tells each chunk the definitions inside it that are in no chunk of their own.
    fn add_nested(&mut self) {
        let mut has_chunk = vec![false; self.outline.definitions.len()];
        for owner in self.owners.iter().flatten() {
            has_chunk[*owner] = true;
        }
        for (index, definition) in self.outline.definitions.iter().enumerate() {
            if has_chunk[index] || !self.is_worth_finding(definition) {
                continue;
            }
            let after = self
                .chunks
                .partition_point(|chunk| *chunk.lines.start() <= definition.head + 1);
            let Some(chunk) = after.checked_sub(1).map(|at| &mut self.chunks[at]) else {
                continue;
            };
            if !chunk.lines.contains(&(definition.head + 1)) || chunk.nested.len() >= MAX_NESTED {
                continue;
            }
            let id = Fnv::of_chunk(definition.kind, &definition.path, &definition.signature, 1);
            chunk.nested.push(NestedDefinition {
                kind: definition.kind,
                name: definition.name.clone(),
                path: definition.path.clone(),
                lines: definition.lead + 1..=definition.end + 1,
                id: id.0,
            });
        }
    }

    /// A declaration without a body is no definition, except for the members of an interface.
    fn is_worth_finding(&self, definition: &Definition) -> bool {
        let parent = definition
            .parent
            .map(|parent| self.outline.definitions[parent].kind);
        !definition.kind.is_function() || definition.has_body || parent == Some(ChunkKind::Interface)
    }

    /// Cuts a region that is too long: before a statement, else after a blank row, else anywhere.
    fn cut_parts(&self, region: RangeInclusive<usize>, joints: &[usize]) -> Vec<RangeInclusive<usize>> {
        let (mut start, end) = region.into_inner();
        let mut parts = Vec::new();
        let is_long = |first: usize, last: usize| {
            last + 1 - first > MAX_CHUNK_ROWS || self.rows.text(first..=last).len() > MAX_CHUNK_BYTES
        };
        while is_long(start, end) {
            let mut last = start;
            while last < end && !is_long(start, last + 1) {
                last += 1;
            }
            // Not too early, so that no tiny parts are left.
            let least = start + (last - start) / 3;
            let joint = joints
                .iter()
                .rev()
                .find(|&&row| row > least && row <= last + 1)
                .map(|row| row - 1);
            let blank = || (least..=last).rev().find(|&row| self.rows.is_blank(row));
            let cut = joint.or_else(blank).unwrap_or(last).clamp(start, end);
            if cut >= end {
                break;
            }
            parts.push(start..=cut);
            start = cut + 1;
        }
        parts.push(start..=end);
        parts
    }
}

/// True for a row that only closes a block, and for a blank one.
pub(super) fn only_closes(row: &str) -> bool {
    let row = row.trim();
    row.chars().all(|c| "})];,>".contains(c))
        || matches!(row, "end" | "end;" | "endif" | "#endif" | "fi" | "done" | "esac")
}
