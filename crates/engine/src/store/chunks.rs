//! Chunks of files and discoveries, found by their words.
//!
//! Both lie in one index, so that a file and what it says come and go together. Their words are in different fields: neither
//! stands in the other's way, nor counts for how rare a word is there.

use docent_core::chunk::ChunkKind;
use docent_core::discovery::DiscoveryKind;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::{BytesOptions, FAST, Field, IndexRecordOption, Schema};
use tantivy::{DocAddress, Searcher, TantivyDocument, TantivyError, Term};

use super::embedded::{EmbeddedStore, EntrySchema, Stored, exactly, guarded, whole, words};
use super::{
    ChunkEntry, ChunkHit, ChunkQuery, ChunkStore, CommitEntry, DiscoveryEntry, DiscoveryQuery, StoreEntry,
    StoreError, StoredChunk, StoredDiscovery,
};
use crate::embed::{DIMENSIONS, Vector};

/// Chunks in an inverted index.
pub(crate) type EmbeddedChunks = EmbeddedStore<ChunkFields>;

const WHEN: &str = "when";

#[derive(Clone, Copy)]
pub(crate) struct ChunkFields {
    /// The file, as a whole; what its chunks are removed by.
    path: Field,
    kind: Field,
    module: Field,
    text: Field,
    name: Field,
    place: Field,
    /// The chunk itself.
    chunk: Field,
    /// What a discovery is, what it says, and the discovery itself.
    r#type: Field,
    said: Field,
    note: Field,
    /// When a discovery was made, in seconds; 0 where nobody says.
    when: Field,
    /// What a commit said, and the files it changed, one a line.
    message: Field,
    changed: Field,
}

impl EntrySchema for ChunkFields {
    type Entry = StoreEntry;

    const WRITERS: usize = 1;

    fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let counted = words(IndexRecordOption::WithFreqs);
        let fields = Self {
            path: schema.add_text_field("path", whole()),
            kind: schema.add_text_field("kind", whole()),
            module: schema.add_text_field("module", whole()),
            text: schema.add_text_field("text", counted.clone()),
            name: schema.add_text_field("name", counted.clone()),
            place: schema.add_text_field("place", counted.clone()),
            chunk: schema.add_bytes_field("chunk", BytesOptions::default().set_stored()),
            r#type: schema.add_text_field("type", whole()),
            said: schema.add_text_field("said", counted.clone()),
            note: schema.add_bytes_field("note", BytesOptions::default().set_stored()),
            when: schema.add_u64_field(WHEN, FAST),
            message: schema.add_text_field("message", counted),
            changed: schema.add_bytes_field("changed", BytesOptions::default().set_stored()),
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
            StoreEntry::Discovery(DiscoveryEntry { key, note, text }) => {
                document.add_text(self.path, key);
                document.add_text(self.module, &note.discovery.module);
                document.add_text(self.r#type, note.discovery.kind.name());
                document.add_text(self.said, text);
                document.add_bytes(self.note, &note.to_bytes());
                document.add_u64(self.when, note.when());
                return document;
            }
            StoreEntry::Commit(CommitEntry { key, paths, text }) => {
                document.add_text(self.path, key);
                document.add_text(self.message, text);
                document.add_bytes(self.changed, paths.join("\n").as_bytes());
                return document;
            }
        };
        document.add_text(self.path, &entry.chunk.path);
        document.add_text(self.kind, entry.chunk.kind.name());
        document.add_text(self.module, &entry.module);
        document.add_text(self.text, &entry.text);
        document.add_text(self.name, &entry.name);
        document.add_text(self.place, &entry.place);
        document.add_bytes(self.chunk, &stored(entry));
        document
    }
}

impl EmbeddedChunks {
    fn query(&self, wanted: &ChunkQuery<'_>) -> BooleanQuery {
        let fields = self.form;
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut should = |field: Field, word: &str| clauses.push((Occur::Should, counted(field, word)));
        for word in wanted.words {
            should(fields.text, word);
            should(fields.name, word);
            should(fields.place, word);
        }
        for name in wanted.names {
            should(fields.name, name);
            should(fields.place, name);
        }
        let any = BooleanQuery::new(clauses);
        let mut filters: Vec<Box<dyn Query>> = Vec::new();
        if !wanted.kinds.is_empty() {
            let kinds = wanted.kinds.iter().map(|kind| exactly(fields.kind, kind));
            filters.push(Box::new(BooleanQuery::union(kinds.collect())));
        }
        if let Some(module) = wanted.module {
            filters.push(exactly(fields.module, module));
        }
        filtered(any, filters)
    }
}

/// A chunk with its vector before it; zeros where it has none.
fn stored(entry: &ChunkEntry) -> Vec<u8> {
    let vector = entry.vector.map_or([0; DIMENSIONS], |vector| vector.0);
    let mut bytes: Vec<u8> = vector.iter().map(|number| number.cast_unsigned()).collect();
    bytes.extend(entry.chunk.to_bytes());
    bytes
}

/// Nothing where the bytes are not what was stored.
fn read(bytes: &[u8]) -> Option<(StoredChunk, Option<Vector>)> {
    let (numbers, chunk) = bytes.split_first_chunk::<DIMENSIONS>()?;
    let vector = Vector(numbers.map(u8::cast_signed));
    let vector = vector.0.iter().any(|number| *number != 0).then_some(vector);
    Some((StoredChunk::from_bytes(chunk)?, vector))
}

/// What is counted for how rare a word is and how long a text: only documents of the same kind.
struct Among<'a> {
    searcher: &'a Searcher,
    documents: u64,
}

impl<'a> Among<'a> {
    /// Those that have something stored in a field.
    fn new(searcher: &'a Searcher, form: ChunkFields, stored: Field) -> Self {
        let count = |field: Field, values: &mut dyn Iterator<Item = &'static str>| -> u64 {
            let terms = values.map(|value| Term::from_field_text(field, value));
            terms
                .map(|term| searcher.doc_freq(&term).unwrap_or_default())
                .sum()
        };
        let chunks = count(form.kind, &mut ChunkKind::ALL.iter().map(|kind| kind.name()));
        let notes = count(
            form.r#type,
            &mut DiscoveryKind::ALL.iter().map(|kind| kind.name()),
        );
        let documents = match stored {
            stored if stored == form.chunk => chunks,
            stored if stored == form.note => notes,
            _ => searcher.num_docs().saturating_sub(chunks + notes),
        };
        Self {
            searcher,
            // There is one wherever something is found.
            documents: documents.max(1),
        }
    }
}

impl Bm25StatisticsProvider for Among<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        self.searcher.total_num_tokens(field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        // What is gone counts for a word until it is merged away, and a word must not be in more than there are.
        Ok(self.searcher.doc_freq(term)?.min(self.documents))
    }
}

/// What comes first.
#[derive(Clone, Copy)]
enum HitOrder {
    Best,
    Newest,
}

/// A word of a field, which counts the more the more often it is there.
fn counted(field: Field, word: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, word);
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

/// A query, of which only what passes every filter is found.
fn filtered(query: BooleanQuery, filters: Vec<Box<dyn Query>>) -> BooleanQuery {
    if filters.is_empty() {
        return query;
    }
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = vec![(Occur::Must, Box::new(query))];
    for filter in filters {
        clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(filter, 0.0))));
    }
    BooleanQuery::new(clauses)
}

impl EmbeddedChunks {
    /// What matches best, each read from what is stored in a field.
    fn top<T>(
        &self,
        query: &BooleanQuery,
        most: usize,
        order: HitOrder,
        field: Field,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<(T, f32)>, StoreError> {
        guarded(|| {
            let searcher = self.reader.searcher();
            let top = TopDocs::with_limit(most);
            let found: Vec<(f32, DocAddress)> = match order {
                HitOrder::Best => {
                    let among = Among::new(&searcher, self.form, field);
                    searcher.search_with_statistics_provider(query, &top.order_by_score(), &among)?
                }
                HitOrder::Newest => {
                    let newest = top.order_by_fast_field::<u64>(WHEN, tantivy::Order::Desc);
                    let found = searcher.search(query, &newest)?;
                    found.into_iter().map(|(_, address)| (0.0, address)).collect()
                }
            };
            let hits = found.into_iter().map(|(score, address)| {
                let Stored(bytes) = searcher.doc(address)?;
                let read = read(&bytes)
                    .ok_or_else(|| TantivyError::InternalError("an entry is not as it was written".into()))?;
                Ok((read, score))
            });
            hits.collect()
        })
    }
}

impl ChunkStore for EmbeddedChunks {
    fn search(&self, wanted: &ChunkQuery<'_>) -> Result<Vec<ChunkHit>, StoreError> {
        if wanted.words.is_empty() && wanted.names.is_empty() {
            return Ok(Vec::new());
        }
        let query = self.query(wanted);
        let found = self.top(&query, wanted.most, HitOrder::Best, self.form.chunk, read)?;
        let hit = |((chunk, vector), score): ((StoredChunk, Option<Vector>), f32)| {
            let similarity = vector
                .zip(wanted.vector)
                .map(|(vector, asked)| vector.similarity(&asked));
            ChunkHit {
                chunk,
                score,
                similarity: similarity.unwrap_or_default(),
            }
        };
        Ok(found.into_iter().map(hit).collect())
    }

    fn chunks(&self) -> Result<u64, StoreError> {
        let kinds = ChunkKind::ALL
            .iter()
            .map(|kind| exactly(self.form.kind, kind.name()));
        let any = BooleanQuery::union(kinds.collect());
        guarded(|| Ok(self.reader.searcher().search(&any, &Count)? as u64))
    }

    fn changed(&self, words: &[String], most: usize) -> Result<Vec<(Vec<String>, f32)>, StoreError> {
        let message = self.form.message;
        let words: Vec<Box<dyn Query>> = words.iter().map(|word| counted(message, word)).collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let read = |bytes: &[u8]| Some(str::from_utf8(bytes).ok()?.lines().map(str::to_owned).collect());
        self.top(
            &BooleanQuery::union(words),
            most,
            HitOrder::Best,
            self.form.changed,
            read,
        )
    }

    fn discoveries(&self, sought: &DiscoveryQuery<'_>) -> Result<Vec<(StoredDiscovery, f32)>, StoreError> {
        if sought.words.is_empty() && sought.module.is_none() {
            return Ok(Vec::new());
        }
        let fields = self.form;
        let words = sought.words.iter().map(|word| counted(fields.said, word));
        let mut filters: Vec<Box<dyn Query>> = Vec::new();
        // Without words, everything of the module that is a discovery.
        let kinds = match sought.kinds {
            [] if sought.words.is_empty() => &DiscoveryKind::ALL,
            kinds => kinds,
        };
        if !kinds.is_empty() {
            let kinds = kinds.iter().map(|kind| exactly(fields.r#type, kind.name()));
            filters.push(Box::new(BooleanQuery::union(kinds.collect())));
        }
        if let Some(module) = sought.module {
            filters.push(exactly(fields.module, module));
        }
        let (query, order) = if sought.words.is_empty() {
            (BooleanQuery::intersection(filters), HitOrder::Newest)
        } else {
            (
                filtered(BooleanQuery::union(words.collect()), filters),
                HitOrder::Best,
            )
        };
        self.top(
            &query,
            sought.most,
            order,
            fields.note,
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
        assert_eq!(read(&stored(&entry)), Some((entry.chunk.clone(), None)));
        let mut numbers = [0; DIMENSIONS];
        (numbers[0], numbers[127]) = (-128, 127);
        entry.vector = Some(Vector(numbers));
        assert_eq!(read(&stored(&entry)), Some((entry.chunk.clone(), entry.vector)));
        assert_eq!(read(&[0; 20]), None);
    }
}
