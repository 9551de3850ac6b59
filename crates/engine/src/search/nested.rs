//! Definitions inside small chunks: a query that names one, or asks for its kind, gets it by its own lines.
//!
//! A class of a few lines is one chunk, because a question about the class is answered by the whole. The
//! store finds that chunk by the names and kinds of the definitions inside as well. Here the chunk is
//! replaced by the definition that was asked for, before candidates are ranked.
//!
//! Invariant: a chunk that has the name itself is kept, and without a name or a kind in the query all are.

use docent_core::chunk::ChunkKind;
use docent_core::text::tokens::{ParsedQuery, QueryName, fold_name, without_mark};

use crate::store::{ChunkHit, FileChunk, FileChunks, StoredChunk, StoredNested};

/// How well a name is the one that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AskedMatch {
    No,
    OtherSpelling,
    Exact,
}

/// The hits, in which a definition that was asked for takes the place of the chunk around it.
pub(super) fn select_nested(
    hits: Vec<ChunkHit>,
    query: &ParsedQuery,
    kinds: &[&'static str],
) -> Vec<ChunkHit> {
    let hits = hits.into_iter();
    hits.flat_map(|hit| select_in_hit(hit, query, kinds)).collect()
}

/// The same for the chunks of one file; a definition has the word scores of the chunk around it.
pub(super) fn select_nested_in_file(file: &mut FileChunks, query: &ParsedQuery, kinds: &[&'static str]) {
    let chunks = std::mem::take(&mut file.chunks).into_iter();
    file.chunks = chunks
        .flat_map(|FileChunk { hit, word_scores }| {
            let selected = select_in_hit(hit, query, kinds).into_iter();
            selected.map(move |hit| FileChunk {
                hit,
                word_scores: word_scores.clone(),
            })
        })
        .collect();
}

/// A hit, or the definitions inside that were asked for, or both.
fn select_in_hit(mut hit: ChunkHit, query: &ParsedQuery, kinds: &[&'static str]) -> Vec<ChunkHit> {
    let is_wanted = |kind: ChunkKind| kinds.is_empty() || kinds.contains(&kind.name());
    let nested = std::mem::take(&mut hit.chunk.nested);
    let mut found: Vec<(AskedMatch, StoredNested)> = nested
        .into_iter()
        .filter(|one| is_wanted(one.kind))
        .map(|one| (match_name(&query.names, one.name()), one))
        .collect();
    let own = is_wanted(hit.chunk.kind).then(|| match_name(&query.names, hit.chunk.name()));
    let best = found.iter().map(|(matched, _)| *matched).max();
    let best = best.unwrap_or(AskedMatch::No);
    if own.is_some_and(|own| best <= own) {
        found.clear();
    }
    // Without a name to choose by, all of the kind that was asked for stand for the chunk.
    found.retain(|(matched, _)| *matched == best);
    let around = |one: StoredNested| ChunkHit {
        chunk: one.into_chunk(&hit.chunk),
        ..hit.clone()
    };
    let mut selected: Vec<ChunkHit> = found.into_iter().map(|(_, one)| around(one)).collect();
    if own.is_some_and(|own| own > AskedMatch::No || selected.is_empty()) {
        selected.insert(0, hit);
    }
    selected
}

fn match_name(names: &[QueryName], name: &str) -> AskedMatch {
    let match_one = |asked: &QueryName| {
        if asked.written == without_mark(name) {
            AskedMatch::Exact
        } else if asked.folded == fold_name(name) {
            AskedMatch::OtherSpelling
        } else {
            AskedMatch::No
        }
    };
    names.iter().map(match_one).max().unwrap_or(AskedMatch::No)
}

impl StoredNested {
    /// The definition as a chunk beside the one around it.
    fn into_chunk(self, around: &StoredChunk) -> StoredChunk {
        StoredChunk {
            path: around.path.clone(),
            language: around.language.clone(),
            kind: self.kind,
            scope: self.scope,
            name_length: self.name_length,
            first_line: self.first_line,
            last_line: self.last_line,
            generated: around.generated,
            id: self.id,
            hash: self.hash,
            ..StoredChunk::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A class `Library` with the methods `lend`, `Return` and `library`, as a hit.
    fn hit() -> ChunkHit {
        let nested = |name: &str, line: u32| StoredNested {
            kind: ChunkKind::Method,
            scope: format!("Library.{name}"),
            name_length: name.len(),
            first_line: line,
            last_line: line,
            id: 0,
            hash: 0,
        };
        ChunkHit {
            chunk: StoredChunk {
                path: "a.py".into(),
                kind: ChunkKind::Class,
                scope: "Library".into(),
                name_length: 7,
                last_line: 9,
                nested: vec![nested("lend", 2), nested("Return", 4), nested("library", 6)],
                ..StoredChunk::default()
            },
            score: 1.0,
            similarity: 0.0,
        }
    }

    fn check(query: &str, kinds: &[&'static str], expected: &[&str]) {
        let selected = select_nested(vec![hit()], &ParsedQuery::of(query), kinds);
        let shown: Vec<&str> = selected.iter().map(|hit| hit.chunk.scope.as_str()).collect();
        assert_eq!(shown, expected, "{query} {kinds:?}");
    }

    #[test]
    fn a_definition_is_found_by_its_name_inside_a_small_class() {
        check("lend", &[], &["Library.lend"]);
        check("Library.lend", &[], &["Library.lend"]);
        check("Lend", &[], &["Library.lend"]);
        check("how books are given out", &[], &["Library"]);
        check("return", &[], &["Library.Return"]);
    }

    #[test]
    fn a_chunk_that_has_the_name_is_kept() {
        check("Library", &[], &["Library"]);
        check("library", &[], &["Library", "Library.library"]);
    }

    #[test]
    fn a_kind_is_found_inside_a_small_class() {
        let methods = ["Library.lend", "Library.Return", "Library.library"];
        check("how books are given out", &["method"], &methods);
        check("lend", &["method"], &["Library.lend"]);
        check("lend", &["class"], &["Library"]);
        check("how books are given out", &["method", "class"], &["Library"]);
        check("lend", &["function"], &[]);
    }
}
