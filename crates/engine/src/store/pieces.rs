//! Pieces of files, found by their words.

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::{BytesOptions, Field, IndexRecordOption, Schema, Value};
use tantivy::{TantivyDocument, TantivyError, Term};

use super::embedded::{Embedded, Form, exactly, guarded, whole, words};
use super::{Entry, Hit, Piece, Pieces, StoreError, Wanted};

/// Pieces in an inverted index.
pub(crate) type EmbeddedPieces = Embedded<Fields>;

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
            place: schema.add_text_field("place", counted),
            piece: schema.add_bytes_field("piece", BytesOptions::default().set_stored()),
        };
        (schema.build(), fields)
    }

    fn path(&self) -> Field {
        self.path
    }

    fn document(&self, entry: &Entry) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_text(self.path, &entry.piece.path);
        document.add_text(self.kind, entry.piece.kind.name());
        document.add_text(self.module, &entry.module);
        document.add_text(self.text, &entry.text);
        document.add_text(self.name, &entry.name);
        document.add_text(self.place, &entry.place);
        document.add_bytes(self.piece, &entry.piece.to_bytes());
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
        if filters.is_empty() {
            return any;
        }
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = vec![(Occur::Must, Box::new(any))];
        for filter in filters {
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(filter, 0.0))));
        }
        BooleanQuery::new(clauses)
    }
}

impl Pieces for EmbeddedPieces {
    fn search(&self, wanted: &Wanted<'_>) -> Result<Vec<Hit>, StoreError> {
        if wanted.words.is_empty() && wanted.names.is_empty() {
            return Ok(Vec::new());
        }
        let query = self.query(wanted);
        guarded(|| {
            let searcher = self.reader.searcher();
            let found = searcher.search(&query, &TopDocs::with_limit(wanted.most).order_by_score())?;
            let hits = found.into_iter().map(|(score, address)| {
                let document: TantivyDocument = searcher.doc(address)?;
                let bytes = document
                    .get_first(self.form.piece)
                    .and_then(|value| value.as_bytes());
                let piece = bytes
                    .and_then(Piece::from_bytes)
                    .ok_or_else(|| TantivyError::InternalError("a piece is not as it was written".into()))?;
                Ok(Hit { piece, score })
            });
            hits.collect()
        })
    }
}
