//! The embedded store of chunks, discoveries, commit messages and symbols (`symbols`).
//!
//! All are in one tantivy index, so that a file's chunks, discoveries and symbols come and go in one store
//! commit. Their words are in different fields and are counted apart ([`KindStatistics`]), so that ten
//! thousand commit messages do not change which words are rare in code.
//!
//! Names of tantivy fields are part of the stored format.

use std::collections::{BTreeSet, HashSet};

use docent_core::chunk::ChunkKind;
use docent_core::discovery::DiscoveryKind;
use docent_core::path::RepoPath;
use tantivy::collector::Count;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery, TermSetQuery,
};
use tantivy::schema::{BytesOptions, FAST, Field, IndexRecordOption, Schema};
use tantivy::{DocAddress, Searcher, TantivyDocument, TantivyError, Term};
use xxhash_rust::xxh3::xxh3_64;

use super::embedded::{
    EmbeddedStore, EntrySchema, StoredBytes, catch_panics, exact_query, raw_field, set_field, word_field,
};
use super::spelling::similar_words;
use super::symbols::{count_symbols, symbols_document};
use super::top::{KEY, ScoredQuery, find_highest};
use super::{
    ChunkEntry, ChunkHit, ChunkQuery, ChunkStore, CommitEntry, DiscoveryEntry, DiscoveryQuery, FileChunks,
    StoreEntry, StoreError, StoredChunk, StoredDiscovery, SymbolStore,
};
use crate::embed::{DIMENSIONS, Vector};
use crate::grep::FileFilter;

/// The store of chunks.
pub(crate) type EmbeddedChunks = EmbeddedStore<ChunkFields>;

/// Chunks with a name of the query that are found beyond the limit. The words of a short name may be in more
/// chunks than the limit, and its definition must be among the candidates.
const MAX_DEFINITIONS: usize = 50;

/// A chunk with its vector, and its BM25 score.
type FoundChunk = ((StoredChunk, Option<Vector>), f32);

/// The fast field by which discoveries are ordered.
const TIMESTAMP: &str = "when";

#[derive(Clone, Copy)]
pub(crate) struct ChunkFields {
    /// The path of the file, or the key of another entry: entries are removed by it.
    pub(super) path: Field,
    pub(super) kind: Field,
    module: Field,
    pub(super) text: Field,
    pub(super) name: Field,
    path_words: Field,
    /// The chunk's name and those of the definitions inside, each as a whole, and the kinds of those inside.
    defined_names: Field,
    pub(super) nested_kind: Field,
    /// The stored chunk.
    pub(super) chunk: Field,
    /// The kind of a discovery, its words, and the stored discovery.
    discovery_kind: Field,
    discovery_words: Field,
    discovery: Field,
    /// The date of a discovery, in seconds, 0 without a date.
    timestamp: Field,
    /// The words of a commit's message, and the paths it changed, one a line.
    message: Field,
    changed_paths: Field,
    /// The names that a file defines and uses, and its stored symbols.
    pub(super) defined: Field,
    pub(super) used: Field,
    pub(super) symbols: Field,
    /// Hash of the stored entry, which orders equal ranks.
    pub(super) key: Field,
}

impl EntrySchema for ChunkFields {
    type Entry = StoreEntry;

    const WRITERS: usize = 1;

    fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let counted = word_field(IndexRecordOption::WithFreqs);
        let fields = Self {
            path: schema.add_text_field("path", raw_field()),
            kind: schema.add_text_field("kind", raw_field()),
            module: schema.add_text_field("module", raw_field()),
            text: schema.add_text_field("text", counted.clone()),
            name: schema.add_text_field("name", counted.clone()),
            path_words: schema.add_text_field("place", counted.clone()),
            defined_names: schema.add_text_field("defined_name", set_field()),
            nested_kind: schema.add_text_field("nested_kind", raw_field()),
            chunk: schema.add_bytes_field("chunk", BytesOptions::default().set_stored()),
            discovery_kind: schema.add_text_field("type", raw_field()),
            discovery_words: schema.add_text_field("said", counted.clone()),
            discovery: schema.add_bytes_field("note", BytesOptions::default().set_stored()),
            timestamp: schema.add_u64_field(TIMESTAMP, FAST),
            message: schema.add_text_field("message", counted),
            changed_paths: schema.add_bytes_field("changed", BytesOptions::default().set_stored()),
            defined: schema.add_text_field("defined", raw_field()),
            used: schema.add_text_field("used", raw_field()),
            symbols: schema.add_bytes_field("symbols", BytesOptions::default().set_stored()),
            key: schema.add_u64_field(KEY, FAST),
        };
        (schema.build(), fields)
    }

    fn path(&self) -> Field {
        self.path
    }

    fn document(&self, entry: &StoreEntry) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        let entry = match entry {
            StoreEntry::Chunk(entry) => entry,
            StoreEntry::Discovery(DiscoveryEntry {
                key,
                discovery: stored,
                text,
            }) => {
                document.add_text(self.path, key);
                document.add_text(self.module, &stored.discovery.module);
                document.add_text(self.discovery_kind, stored.discovery.kind.name());
                document.add_text(self.discovery_words, text);
                let bytes = stored.to_bytes();
                document.add_bytes(self.discovery, &bytes);
                document.add_u64(self.timestamp, stored.timestamp());
                document.add_u64(self.key, xxh3_64(&bytes));
                return document;
            }
            StoreEntry::Commit(CommitEntry { key, paths, text }) => {
                document.add_text(self.path, key);
                document.add_text(self.message, text);
                document.add_bytes(self.changed_paths, paths.join("\n").as_bytes());
                document.add_u64(self.key, xxh3_64(key.as_bytes()));
                return document;
            }
            StoreEntry::Symbols(entry) => return symbols_document(self, entry),
        };
        document.add_text(self.path, &entry.chunk.path);
        document.add_text(self.kind, entry.chunk.kind.name());
        document.add_text(self.module, &entry.module);
        document.add_text(self.text, &entry.text);
        document.add_text(self.name, &entry.name);
        document.add_text(self.path_words, &entry.path_words);
        if !entry.defined_names.is_empty() {
            document.add_text(self.defined_names, &entry.defined_names);
        }
        for kind in ChunkKind::ALL {
            if entry.chunk.nested.iter().any(|one| one.kind == kind) {
                document.add_text(self.nested_kind, kind.name());
            }
        }
        let bytes = encode_chunk(entry);
        document.add_bytes(self.chunk, &bytes);
        document.add_u64(self.key, xxh3_64(&bytes));
        document
    }
}

impl EmbeddedChunks {
    /// The clauses that score a chunk, and the filters it must pass.
    fn chunk_clauses(&self, query: &ChunkQuery<'_>) -> Result<Clauses, StoreError> {
        let fields = self.schema;
        let mut scored: Vec<Box<dyn Query>> = Vec::new();
        let mut should = |field: Field, word: &str, weight: f32| {
            let clause = word_query(field, word);
            scored.push(if (weight - 1.0).abs() < f32::EPSILON {
                clause
            } else {
                Box::new(BoostQuery::new(clause, weight))
            });
        };
        for (at, word) in query.words.iter().enumerate() {
            let weight = query.weights.get(at).copied().unwrap_or(1.0);
            should(fields.text, word, weight);
            should(fields.name, word, weight);
            should(fields.path_words, word, weight);
        }
        for name in query.names {
            should(fields.name, name, 1.0);
            should(fields.path_words, name, 1.0);
        }
        let mut filters: Vec<Box<dyn Query>> = Vec::new();
        if !query.kinds.is_empty() {
            let in_either = |kind| [fields.kind, fields.nested_kind].map(|field| exact_query(field, kind));
            let kinds = query.kinds.iter().flat_map(|kind| in_either(kind));
            filters.push(Box::new(BooleanQuery::union(kinds.collect())));
        }
        if let Some(module) = query.module {
            filters.push(exact_query(fields.module, module));
        }
        if let Some(paths) = query.paths {
            filters.push(self.path_query(paths)?);
        }
        if !query.files.is_empty() {
            let terms = query
                .files
                .iter()
                .map(|path| Term::from_field_text(fields.path, path));
            filters.push(Box::new(TermSetQuery::new(terms)));
        }
        Ok(Clauses { scored, filters })
    }
}

impl EmbeddedChunks {
    /// A query for the entries of files that a filter accepts. Keys of commits are no paths of files.
    fn path_query(&self, paths: &FileFilter) -> Result<Box<dyn Query>, StoreError> {
        let field = self.schema.path;
        let mut accepted = BTreeSet::new();
        self.visit_keys(&mut |key| {
            if let Ok(path) = RepoPath::parse(key)
                && paths.accepts(&path)
            {
                accepted.insert(path.as_str().to_owned());
            }
        })?;
        let terms = accepted.iter().map(|path| Term::from_field_text(field, path));
        Ok(Box::new(TermSetQuery::new(terms)) as Box<dyn Query>)
    }
}

/// The stored bytes of a chunk: its vector, all zeros if it has none, and then the chunk.
fn encode_chunk(entry: &ChunkEntry) -> Vec<u8> {
    let vector = entry.vector.map_or([0; DIMENSIONS], |vector| vector.0);
    let mut bytes: Vec<u8> = vector.iter().map(|number| number.cast_unsigned()).collect();
    bytes.extend(entry.chunk.to_bytes());
    bytes
}

/// `None` if the bytes are not those of a chunk.
pub(super) fn decode_chunk(bytes: &[u8]) -> Option<(StoredChunk, Option<Vector>)> {
    let (numbers, chunk) = bytes.split_first_chunk::<DIMENSIONS>()?;
    let vector = Vector(numbers.map(u8::cast_signed));
    let vector = vector.0.iter().any(|number| *number != 0).then_some(vector);
    Some((StoredChunk::from_bytes(chunk)?, vector))
}

/// BM25 statistics of the documents of one kind: chunks, discoveries or commits.
pub(super) struct KindStatistics<'a> {
    searcher: &'a Searcher,
    documents: u64,
}

impl<'a> KindStatistics<'a> {
    /// Of the documents whose stored field is `stored`.
    pub(super) fn new(searcher: &'a Searcher, schema: ChunkFields, stored: Field) -> tantivy::Result<Self> {
        let count = |field: Field, values: &mut dyn Iterator<Item = &'static str>| -> tantivy::Result<u64> {
            let terms = values.map(|value| Term::from_field_text(field, value));
            terms.map(|term| searcher.doc_freq(&term)).sum()
        };
        let chunks = count(schema.kind, &mut ChunkKind::ALL.iter().map(|kind| kind.name()))?;
        let discoveries = count(
            schema.discovery_kind,
            &mut DiscoveryKind::ALL.iter().map(|kind| kind.name()),
        )?;
        let documents = match stored {
            stored if stored == schema.chunk => chunks,
            stored if stored == schema.discovery => discoveries,
            _ => {
                let others = chunks + discoveries + count_symbols(searcher, &schema)?;
                searcher.num_docs().saturating_sub(others)
            }
        };
        Ok(Self {
            searcher,
            // A query that finds something finds one at least, and BM25 divides by this.
            documents: documents.max(1),
        })
    }
}

impl Bm25StatisticsProvider for KindStatistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.searcher.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        // Removed documents count until their segment is merged, so a word may seem to be in more than there
        // are.
        Ok(self.searcher.doc_freq(term)?.min(self.documents))
    }
}

/// A query in parts.
struct Clauses {
    /// Each adds to the score of a document that it matches. Empty to find the newest documents.
    scored: Vec<Box<dyn Query>>,
    /// A document must pass all of them; they do not change scores.
    filters: Vec<Box<dyn Query>>,
}

impl Clauses {
    /// The query for documents that a scored clause matches, if there is one, and that pass every filter.
    fn matching(&self) -> BooleanQuery {
        let any = || BooleanQuery::union(self.scored.iter().map(|clause| clause.box_clone()).collect());
        if self.filters.is_empty() {
            return any();
        }
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        if !self.scored.is_empty() {
            clauses.push((Occur::Must, Box::new(any())));
        }
        for filter in &self.filters {
            let filter = ConstScoreQuery::new(filter.box_clone(), 0.0);
            clauses.push((Occur::Must, Box::new(filter)));
        }
        BooleanQuery::new(clauses)
    }
}

/// A query for a word of a field, scored by its frequency.
pub(super) fn word_query(field: Field, word: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, word);
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

impl EmbeddedChunks {
    /// The documents that match best, or the newest if nothing is scored, each decoded from its stored
    /// `field`.
    fn find_top<T>(
        &self,
        clauses: &Clauses,
        limit: usize,
        field: Field,
        decode: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<(T, f32)>, StoreError> {
        catch_panics(|| {
            let searcher = self.reader.searcher();
            let matching = clauses.matching();
            let found: Vec<(f32, DocAddress)> = if clauses.scored.is_empty() {
                let newest = find_highest(&searcher, &matching, TIMESTAMP, limit)?;
                newest
                    .into_iter()
                    .map(|document| (0.0, document.address))
                    .collect()
            } else {
                let query = ScoredQuery {
                    matching: &matching,
                    clauses: &clauses.scored,
                    statistics: &KindStatistics::new(&searcher, self.schema, field)?,
                };
                let best = query.find(&searcher, limit)?;
                best.into_iter()
                    .map(|document| (document.rank, document.address))
                    .collect()
            };
            let hits = found.into_iter().map(|(score, address)| {
                let StoredBytes(bytes) = searcher.doc(address)?;
                let entry = decode(&bytes)
                    .ok_or_else(|| TantivyError::InternalError("an entry is not as it was written".into()))?;
                Ok((entry, score))
            });
            hits.collect()
        })
    }
}

impl EmbeddedChunks {
    /// The chunks that define one of the names, themselves or inside, and are not among those found.
    fn find_definitions(
        &self,
        mut clauses: Clauses,
        names: &[String],
        found: &[FoundChunk],
    ) -> Result<Vec<FoundChunk>, StoreError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let defined = names
            .iter()
            .map(|name| exact_query(self.schema.defined_names, name));
        clauses
            .filters
            .push(Box::new(BooleanQuery::union(defined.collect())));
        let key = |chunk: &StoredChunk| (chunk.path.clone(), chunk.id);
        let known: HashSet<(String, u64)> = found.iter().map(|((chunk, _), _)| key(chunk)).collect();
        let mut definitions = self.find_top(&clauses, MAX_DEFINITIONS, self.schema.chunk, decode_chunk)?;
        definitions.retain(|((chunk, _), _)| !known.contains(&key(chunk)));
        Ok(definitions)
    }
}

impl ChunkStore for EmbeddedChunks {
    fn symbols(&self) -> Box<dyn SymbolStore> {
        Box::new(self.embedded_symbols())
    }

    fn find_chunks(&self, query: &ChunkQuery<'_>) -> Result<Vec<ChunkHit>, StoreError> {
        if query.words.is_empty() && query.names.is_empty() {
            return Ok(Vec::new());
        }
        let clauses = self.chunk_clauses(query)?;
        let mut found = self.find_top(&clauses, query.limit, self.schema.chunk, decode_chunk)?;
        found.extend(self.find_definitions(clauses, query.names, &found)?);
        let hit = |((chunk, vector), score): ((StoredChunk, Option<Vector>), f32)| {
            let similarity = vector
                .zip(query.vector)
                .map(|(vector, of_query)| vector.similarity(&of_query));
            ChunkHit {
                chunk,
                score,
                similarity: similarity.unwrap_or_default(),
            }
        };
        Ok(found.into_iter().map(hit).collect())
    }

    fn chunks_of_files(&self, query: &ChunkQuery<'_>, paths: &[&str]) -> Result<Vec<FileChunks>, StoreError> {
        self.chunks_of_files(query, paths)
    }

    fn count_words(&self, words: &[String]) -> Result<Vec<u64>, StoreError> {
        let fields = [self.schema.text, self.schema.name, self.schema.path_words];
        catch_panics(|| {
            let searcher = self.reader.searcher();
            let count = |word: &String| -> tantivy::Result<u64> {
                let mut most = 0;
                for field in fields {
                    most = most.max(searcher.doc_freq(&Term::from_field_text(field, word))?);
                }
                Ok(most)
            };
            words.iter().map(count).collect()
        })
    }

    fn similar_words(&self, word: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        similar_words(&self.reader.searcher(), self.schema.text, word, limit)
    }

    fn visit_keys(&self, visit: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let searcher = self.reader.searcher();
        catch_panics(|| {
            for segment in searcher.segment_readers() {
                let index = segment.inverted_index(self.schema.path)?;
                let mut keys = index.terms().stream()?;
                while keys.advance() {
                    if let Ok(key) = str::from_utf8(keys.key()) {
                        visit(key);
                    }
                }
            }
            Ok(())
        })
    }

    fn count_chunks(&self) -> Result<u64, StoreError> {
        let kinds = ChunkKind::ALL
            .iter()
            .map(|kind| exact_query(self.schema.kind, kind.name()));
        let any = BooleanQuery::union(kinds.collect());
        catch_panics(|| Ok(self.reader.searcher().search(&any, &Count)? as u64))
    }

    fn find_commits(&self, words: &[String], limit: usize) -> Result<Vec<(Vec<String>, f32)>, StoreError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let message = self.schema.message;
        let clauses = Clauses {
            scored: words.iter().map(|word| word_query(message, word)).collect(),
            filters: Vec::new(),
        };
        let decode = |bytes: &[u8]| Some(str::from_utf8(bytes).ok()?.lines().map(str::to_owned).collect());
        self.find_top(&clauses, limit, self.schema.changed_paths, decode)
    }

    fn find_discoveries(
        &self,
        query: &DiscoveryQuery<'_>,
    ) -> Result<Vec<(StoredDiscovery, f32)>, StoreError> {
        if query.words.is_empty() && query.module.is_none() && query.kinds.is_empty() {
            return Ok(Vec::new());
        }
        let fields = self.schema;
        let words = query
            .words
            .iter()
            .map(|word| word_query(fields.discovery_words, word));
        let mut filters: Vec<Box<dyn Query>> = Vec::new();
        // Without words, only the kind tells discoveries of the module from its chunks.
        let kinds = match query.kinds {
            [] if query.words.is_empty() => &DiscoveryKind::ALL,
            kinds => kinds,
        };
        if !kinds.is_empty() {
            let kinds = kinds
                .iter()
                .map(|kind| exact_query(fields.discovery_kind, kind.name()));
            filters.push(Box::new(BooleanQuery::union(kinds.collect())));
        }
        if let Some(module) = query.module {
            filters.push(exact_query(fields.module, module));
        }
        if let Some(paths) = query.paths {
            filters.push(self.path_query(paths)?);
        }
        let clauses = Clauses {
            scored: words.collect(),
            filters,
        };
        self.find_top(
            &clauses,
            query.limit,
            fields.discovery,
            StoredDiscovery::from_bytes,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_read_with_its_vector() {
        let mut entry = ChunkEntry {
            chunk: StoredChunk {
                path: "src/a.rs".into(),
                ..StoredChunk::default()
            },
            ..ChunkEntry::default()
        };
        assert_eq!(
            decode_chunk(&encode_chunk(&entry)),
            Some((entry.chunk.clone(), None))
        );
        let mut numbers = [0; DIMENSIONS];
        (numbers[0], numbers[127]) = (-128, 127);
        entry.vector = Some(Vector(numbers));
        assert_eq!(
            decode_chunk(&encode_chunk(&entry)),
            Some((entry.chunk.clone(), entry.vector))
        );
        assert_eq!(decode_chunk(&[0; 20]), None);
    }
}
