//! Pieces of files and discoveries, found by their words.
//!
//! Both lie in one index, so that a file and what it says come and go together. Their words are in different fields: neither
//! stands in the other's way, nor counts for how rare a word is there.

use docent_core::discovery::DiscoveryKind;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::{BytesOptions, FAST, Field, IndexRecordOption, Schema, Value};
use tantivy::{DocAddress, TantivyDocument, TantivyError, Term};

use super::embedded::{Embedded, Form, exactly, guarded, whole, words};
use super::{Entry, Hit, Note, NoteEntry, Piece, PieceEntry, Pieces, Sought, StoreError, Wanted};
use crate::embed::{DIMENSIONS, Vector};

/// Pieces in an inverted index.
pub(crate) type EmbeddedPieces = Embedded<Fields>;

const WHEN: &str = "when";

#[derive(Clone, Copy)]
pub(crate) struct Fields {
    /// The file, as a whole; what its pieces are removed by.
    path: Field,
    kind: Field,
    module: Field,
    text: Field,
    name: Field,
    place: Field,
    /// The piece itself.
    piece: Field,
    /// What a discovery is, what it says, and the discovery itself.
    r#type: Field,
    said: Field,
    note: Field,
    /// When a discovery was made, in seconds; 0 where nobody says.
    when: Field,
}

impl Form for Fields {
    type Entry = Entry;

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
            piece: schema.add_bytes_field("piece", BytesOptions::default().set_stored()),
            r#type: schema.add_text_field("type", whole()),
            said: schema.add_text_field("said", counted),
            note: schema.add_bytes_field("note", BytesOptions::default().set_stored()),
            when: schema.add_u64_field(WHEN, FAST),
        };
        (schema.build(), fields)
    }

    fn path(&self) -> Field {
        self.path
    }

    fn document(&self, entry: &Entry) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        let entry = match entry {
            Entry::Piece(entry) => entry,
            Entry::Note(NoteEntry { key, note, text }) => {
                document.add_text(self.path, key);
                document.add_text(self.module, &note.discovery.module);
                document.add_text(self.r#type, note.discovery.kind.name());
                document.add_text(self.said, text);
                document.add_bytes(self.note, &note.to_bytes());
                document.add_u64(self.when, note.when());
                return document;
            }
        };
        document.add_text(self.path, &entry.piece.path);
        document.add_text(self.kind, entry.piece.kind.name());
        document.add_text(self.module, &entry.module);
        document.add_text(self.text, &entry.text);
        document.add_text(self.name, &entry.name);
        document.add_text(self.place, &entry.place);
        document.add_bytes(self.piece, &stored(entry));
        document
    }
}

impl EmbeddedPieces {
    fn query(&self, wanted: &Wanted<'_>) -> BooleanQuery {
        let fields = self.form;
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut should = |field: Field, word: &str| {
            let term = Term::from_field_text(field, word);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            clauses.push((Occur::Should, Box::new(query)));
        };
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

/// A piece with its vector before it; zeros where it has none.
fn stored(entry: &PieceEntry) -> Vec<u8> {
    let vector = entry.vector.map_or([0; DIMENSIONS], |vector| vector.0);
    let mut bytes: Vec<u8> = vector.iter().map(|number| number.cast_unsigned()).collect();
    bytes.extend(entry.piece.to_bytes());
    bytes
}

/// Nothing where the bytes are not what was stored.
fn read(bytes: &[u8]) -> Option<(Piece, Option<Vector>)> {
    let (numbers, piece) = bytes.split_first_chunk::<DIMENSIONS>()?;
    let vector = Vector(numbers.map(u8::cast_signed));
    let vector = vector.0.iter().any(|number| *number != 0).then_some(vector);
    Some((Piece::from_bytes(piece)?, vector))
}

/// What comes first.
#[derive(Clone, Copy)]
enum Order {
    Best,
    Newest,
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

impl EmbeddedPieces {
    /// What matches best, each read from what is stored in a field.
    fn top<T>(
        &self,
        query: &BooleanQuery,
        most: usize,
        order: Order,
        field: Field,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<(T, f32)>, StoreError> {
        guarded(|| {
            let searcher = self.reader.searcher();
            let top = TopDocs::with_limit(most);
            let found: Vec<(f32, DocAddress)> = match order {
                Order::Best => searcher.search(query, &top.order_by_score())?,
                Order::Newest => {
                    let newest = top.order_by_fast_field::<u64>(WHEN, tantivy::Order::Desc);
                    let found = searcher.search(query, &newest)?;
                    found.into_iter().map(|(_, address)| (0.0, address)).collect()
                }
            };
            let hits = found.into_iter().map(|(score, address)| {
                let document: TantivyDocument = searcher.doc(address)?;
                let bytes = document.get_first(field).and_then(|value| value.as_bytes());
                let read = bytes
                    .and_then(&read)
                    .ok_or_else(|| TantivyError::InternalError("an entry is not as it was written".into()))?;
                Ok((read, score))
            });
            hits.collect()
        })
    }
}

impl Pieces for EmbeddedPieces {
    fn search(&self, wanted: &Wanted<'_>) -> Result<Vec<Hit>, StoreError> {
        if wanted.words.is_empty() && wanted.names.is_empty() {
            return Ok(Vec::new());
        }
        let query = self.query(wanted);
        let found = self.top(&query, wanted.most, Order::Best, self.form.piece, read)?;
        let hit = |((piece, vector), score): ((Piece, Option<Vector>), f32)| {
            let nearness = vector
                .zip(wanted.vector)
                .map(|(vector, asked)| vector.nearness(&asked));
            Hit {
                piece,
                score,
                nearness: nearness.unwrap_or_default(),
            }
        };
        Ok(found.into_iter().map(hit).collect())
    }

    fn notes(&self, sought: &Sought<'_>) -> Result<Vec<(Note, f32)>, StoreError> {
        if sought.words.is_empty() && sought.module.is_none() {
            return Ok(Vec::new());
        }
        let fields = self.form;
        let words = sought.words.iter().map(|word| -> Box<dyn Query> {
            let term = Term::from_field_text(fields.said, word);
            Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
        });
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
            (BooleanQuery::intersection(filters), Order::Newest)
        } else {
            (
                filtered(BooleanQuery::union(words.collect()), filters),
                Order::Best,
            )
        };
        self.top(&query, sought.most, order, fields.note, Note::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_read_with_its_vector() {
        let mut entry = PieceEntry {
            piece: Piece {
                path: "src/a.rs".into(),
                ..Piece::default()
            },
            ..PieceEntry::default()
        };
        assert_eq!(read(&stored(&entry)), Some((entry.piece.clone(), None)));
        let mut numbers = [0; DIMENSIONS];
        (numbers[0], numbers[127]) = (-128, 127);
        entry.vector = Some(Vector(numbers));
        assert_eq!(read(&stored(&entry)), Some((entry.piece.clone(), entry.vector)));
        assert_eq!(read(&[0; 20]), None);
    }
}
