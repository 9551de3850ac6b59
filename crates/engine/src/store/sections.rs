//! The embedded store of sections, found by words, by phrase, by similarity and by labels.
//!
//! Names of tantivy fields are part of the stored format.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::collector::Count;
use tantivy::index::SegmentId;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EnableScoring, FuzzyTermQuery, Occur, PhraseQuery,
    Query, TermQuery,
};
use tantivy::schema::{BytesOptions, FAST, Field, IndexRecordOption, Schema};
use tantivy::{DocAddress, Searcher, SegmentReader, TantivyDocument, TantivyError, Term};

use xxhash_rust::xxh3::xxh3_64;

use super::embedded::{
    EmbeddedStore, EntrySchema, StoredBytes, catch_panics, exact_query, raw_field, word_field,
};
use super::top::{KEY, ScoredQuery, TopDocument, select_top};
use super::{
    Label, Ranked, SectionAddress, SectionEntry, SectionHits, SectionQuery, SectionSnapshot, SectionStore,
    StoreError, StoredSection,
};
use crate::embed::{DIMENSIONS, Vector};

/// The store of sections.
pub(crate) type EmbeddedSections = EmbeddedStore<SectionFields>;

#[derive(Clone)]
pub(crate) struct SectionFields {
    /// The path of the page: its sections are removed by it.
    path: Field,
    label: Field,
    text: Field,
    /// Words that a reader does not see.
    hidden: Field,
    /// Words that are in every text.
    common: Field,
    /// The vector, eight numbers to a field, as columns: a scan over all sections reads them in one go.
    vector: [Field; PARTS],
    /// Hash of the section's id, which orders equal scores.
    key: Field,
    /// The stored section.
    section: Field,
    vectors: Arc<Vectors>,
}

/// Numbers of a vector in one field, and the number of fields.
const PER_FIELD: usize = 8;
const PARTS: usize = DIMENSIONS / PER_FIELD;

/// Multiplies the scores of words that a reader does not see.
const HIDDEN_FACTOR: f32 = 0.2;

/// Words of a phrase may have this many others between them.
const PHRASE_SLOP: u32 = 2;

impl EntrySchema for SectionFields {
    type Entry = SectionEntry;

    const WRITERS: usize = 2;

    fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let fields = Self {
            path: schema.add_text_field("path", raw_field()),
            label: schema.add_text_field("label", raw_field()),
            text: schema.add_text_field("text", word_field(IndexRecordOption::WithFreqsAndPositions)),
            hidden: schema.add_text_field("hidden", word_field(IndexRecordOption::WithFreqs)),
            common: schema.add_text_field("common", word_field(IndexRecordOption::WithFreqs)),
            vector: std::array::from_fn(|part| schema.add_u64_field(&format!("vector{part}"), FAST)),
            key: schema.add_u64_field(KEY, FAST),
            section: schema.add_bytes_field("section", BytesOptions::default().set_stored()),
            vectors: Arc::default(),
        };
        (schema.build(), fields)
    }

    fn path(&self) -> Field {
        self.path
    }

    fn document(&self, entry: &SectionEntry) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_text(self.path, &entry.section.path);
        for label in entry.labels.iter() {
            document.add_text(self.label, label.term());
        }
        document.add_text(self.text, &entry.text);
        document.add_text(self.hidden, &entry.hidden);
        document.add_text(self.common, &entry.common);
        let vector = entry.vector.map_or([0; DIMENSIONS], |vector| vector.0);
        for (field, part) in self.vector.iter().zip(vector.chunks_exact(PER_FIELD)) {
            let mut bytes = [0; PER_FIELD];
            for (byte, number) in bytes.iter_mut().zip(part) {
                *byte = number.cast_unsigned();
            }
            document.add_u64(*field, u64::from_le_bytes(bytes));
        }
        document.add_u64(self.key, xxh3_64(entry.section.id().as_bytes()));
        document.add_bytes(self.section, &entry.section.to_bytes());
        document
    }
}

impl Label {
    /// As one word, which no other label has.
    fn term(&self) -> String {
        match self {
            Self::Value { key, value } => format!("{key}\0{value}"),
            Self::Directory(path) => format!("\0{path}"),
            Self::ForAll => "\0".into(),
            // No path has a NUL.
            Self::Minor => "\0\0".into(),
        }
    }
}

impl SectionStore for EmbeddedSections {
    fn snapshot(&self) -> Box<dyn SectionSnapshot> {
        Box::new(EmbeddedSnapshot {
            searcher: self.reader.searcher(),
            schema: self.schema.clone(),
        })
    }

    fn has_page(&self, path: &str) -> Result<bool, StoreError> {
        catch_panics(|| {
            let searcher = self.reader.searcher();
            let found = searcher.search(&*exact_query(self.schema.path, path), &Count)?;
            Ok(found > 0)
        })
    }

    fn similar(&self, word: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let distance = if word.chars().count() > 5 { 2 } else { 1 };
        catch_panics(|| {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for segment in self.reader.searcher().segment_readers() {
                let term = Term::from_field_text(self.schema.text, word);
                let automaton = FuzzyTermQuery::new(term, distance, true).automaton()?;
                let index = segment.inverted_index(self.schema.text)?;
                let mut terms = index.terms().search(automaton).into_stream()?;
                while let Some((term, info)) = terms.next() {
                    if let Ok(term) = std::str::from_utf8(term) {
                        *counts.entry(term.to_owned()).or_default() += info.doc_freq;
                    }
                }
            }
            let mut all: Vec<(String, u32)> = counts.into_iter().collect();
            all.sort_by_key(|(_, count)| Reverse(*count));
            all.truncate(limit);
            Ok(all.into_iter().map(|(word, _)| word).collect())
        })
    }
}

/// The sections that a tantivy searcher sees.
struct EmbeddedSnapshot {
    searcher: Searcher,
    schema: SectionFields,
}

impl SectionSnapshot for EmbeddedSnapshot {
    fn find(&self, query: &SectionQuery<'_>) -> Result<SectionHits, StoreError> {
        catch_panics(|| {
            let find =
                |by: Vec<Box<dyn Query>>| self.lower_minor(query, |pages| self.find_top(&by, query, pages));
            Ok(SectionHits {
                by_words: match (query.words, query.common) {
                    ([], []) => Vec::new(),
                    ([], common) => find(self.common_queries(common))?,
                    (words, _) => find(self.word_queries(words))?,
                },
                by_phrase: match query.phrase {
                    [] | [_] => Vec::new(),
                    phrase => find(vec![self.phrase_query(phrase)])?,
                },
                by_meaning: match &query.vector {
                    None => Vec::new(),
                    Some(vector) => {
                        self.lower_minor(query, |pages| self.find_similar(vector, query, pages))?
                    }
                },
            })
        })
    }

    fn section(&self, SectionAddress(bits): SectionAddress) -> Result<StoredSection, StoreError> {
        let low_half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
        catch_panics(|| {
            let address = DocAddress::new(low_half(bits >> 32), low_half(bits));
            let StoredBytes(bytes) = self.searcher.doc(address)?;
            StoredSection::from_bytes(&bytes)
                .ok_or_else(|| TantivyError::InternalError("a section is not as it was written".into()))
        })
    }
}

/// The pages of one search in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchedPages {
    All,
    Guides,
    Minor,
}

/// A query for a word in a field.
fn word_query(field: Field, word: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, word);
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

impl EmbeddedSnapshot {
    fn word_queries(&self, words: &[String]) -> Vec<Box<dyn Query>> {
        let seen = words.iter().map(|word| word_query(self.schema.text, word));
        let hidden = words.iter().map(|word| -> Box<dyn Query> {
            Box::new(BoostQuery::new(
                word_query(self.schema.hidden, word),
                HIDDEN_FACTOR,
            ))
        });
        seen.chain(hidden).collect()
    }

    fn common_queries(&self, words: &[String]) -> Vec<Box<dyn Query>> {
        words
            .iter()
            .map(|word| word_query(self.schema.common, word))
            .collect()
    }

    /// Finds the best sections, where the scores of minor pages are multiplied by the query's factor. Both
    /// kinds are searched for by themselves, because minor pages may be more than fit into a list.
    fn lower_minor(
        &self,
        query: &SectionQuery<'_>,
        find: impl Fn(SearchedPages) -> tantivy::Result<Vec<Ranked>>,
    ) -> tantivy::Result<Vec<Ranked>> {
        let minor = Term::from_field_text(self.schema.label, &Label::Minor.term());
        let is_same = (query.minor_factor - 1.0).abs() < f32::EPSILON;
        if is_same || self.searcher.doc_freq(&minor)? == 0 {
            return find(SearchedPages::All);
        }
        let mut found = find(SearchedPages::Guides)?;
        for mut ranked in find(SearchedPages::Minor)? {
            ranked.score *= query.minor_factor;
            ranked.is_lowered = true;
            found.push(ranked);
        }
        found.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        found.truncate(query.limit);
        Ok(found)
    }

    fn phrase_query(&self, phrase: &[String]) -> Box<dyn Query> {
        let terms = phrase
            .iter()
            .map(|word| Term::from_field_text(self.schema.text, word));
        let mut query = PhraseQuery::new(terms.collect());
        query.set_slop(PHRASE_SLOP);
        Box::new(query)
    }

    /// Restricts a query to sections that have one label of each list.
    fn add_filter(
        &self,
        by: Box<dyn Query>,
        query: &SectionQuery<'_>,
        pages: SearchedPages,
    ) -> Box<dyn Query> {
        match self.filter(query, pages) {
            None => by,
            Some(filter) => {
                let filter: Box<dyn Query> = Box::new(ConstScoreQuery::new(filter, 0.0));
                Box::new(BooleanQuery::new(vec![(Occur::Must, by), (Occur::Must, filter)]))
            }
        }
    }

    fn filter(&self, query: &SectionQuery<'_>, pages: SearchedPages) -> Option<Box<dyn Query>> {
        let any = |labels: &Vec<Label>| -> Box<dyn Query> {
            let labels = labels
                .iter()
                .map(|label| exact_query(self.schema.label, &label.term()));
            Box::new(BooleanQuery::union(labels.collect()))
        };
        let mut all: Vec<Box<dyn Query>> = query.filters.iter().map(any).collect();
        let minor = || exact_query(self.schema.label, &Label::Minor.term());
        match pages {
            SearchedPages::All => {}
            SearchedPages::Minor => all.push(minor()),
            SearchedPages::Guides => all.push(Box::new(BooleanQuery::new(vec![
                (Occur::Must, Box::new(AllQuery)),
                (Occur::MustNot, minor()),
            ]))),
        }
        (!all.is_empty()).then(|| Box::new(BooleanQuery::intersection(all)) as Box<dyn Query>)
    }

    /// The sections with the most similar vectors, by a full scan: there are few enough, and none is missed.
    fn find_similar(
        &self,
        vector: &Vector,
        query: &SectionQuery<'_>,
        pages: SearchedPages,
    ) -> tantivy::Result<Vec<Ranked>> {
        let searcher = &self.searcher;
        let filter = match self.filter(query, pages) {
            None => None,
            Some(filter) => Some(filter.weight(EnableScoring::disabled_from_searcher(searcher))?),
        };
        let mut found: Vec<(f32, DocAddress)> = Vec::new();
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let mut passes: Option<Vec<bool>> = None;
            if let Some(filter) = &filter {
                let mut all = vec![false; segment.max_doc() as usize];
                filter.for_each_no_score(segment, &mut |documents| {
                    for document in documents {
                        all[*document as usize] = true;
                    }
                })?;
                passes = Some(all);
            }
            let is_searched = |document: u32| {
                passes.as_ref().is_none_or(|passes| passes[document as usize])
                    && segment
                        .alive_bitset()
                        .is_none_or(|alive| alive.is_alive(document))
            };
            let vectors = self.schema.vectors.of(segment, &self.schema.vector)?;
            for (document, other) in (0..)
                .zip(vectors.iter())
                .filter(|(document, _)| is_searched(*document))
            {
                found.push((vector.similarity(other), DocAddress::new(number, document)));
            }
        }
        let limit = query.limit.min(found.len());
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (_, (at_cut, _), _) = found.select_nth_unstable_by(limit - 1, |(a, _), (b, _)| b.total_cmp(a));
        // Those as similar as the one at the cut stay, so that the key decides between them.
        let at_cut = *at_cut;
        found.retain(|(similarity, _)| similarity.total_cmp(&at_cut).is_ge());
        let top = select_top(searcher, found, limit, |a, b| b.total_cmp(&a))?;
        Ok(top.into_iter().map(Ranked::from).collect())
    }

    /// The sections with the best BM25 scores, summed over the queries.
    fn find_top(
        &self,
        by: &[Box<dyn Query>],
        query: &SectionQuery<'_>,
        pages: SearchedPages,
    ) -> tantivy::Result<Vec<Ranked>> {
        let any = BooleanQuery::union(by.iter().map(|query| query.box_clone()).collect());
        let scored = ScoredQuery {
            matching: &*self.add_filter(Box::new(any), query, pages),
            clauses: by,
            statistics: &self.searcher,
        };
        let top = scored.find(&self.searcher, query.limit)?;
        Ok(top.into_iter().map(Ranked::from).collect())
    }
}

impl From<TopDocument<f32>> for Ranked {
    fn from(TopDocument { rank, key, address }: TopDocument<f32>) -> Self {
        Self {
            address: SectionAddress(u64::from(address.segment_ord) << 32 | u64::from(address.doc_id)),
            key,
            score: rank,
            is_lowered: false,
        }
    }
}

/// Cache of the vectors of searched segments, each assembled from its columns once.
#[derive(Default)]
pub(crate) struct Vectors(Mutex<HashMap<SegmentId, Arc<[Vector]>>>);

impl Vectors {
    fn of(&self, segment: &SegmentReader, fields: &[Field; PARTS]) -> tantivy::Result<Arc<[Vector]>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&segment.segment_id()) {
            return Ok(known.clone());
        }
        let mut vectors = vec![Vector([0; DIMENSIONS]); segment.max_doc() as usize];
        let mut column = vec![0_u64; vectors.len()];
        for (part, field) in fields.iter().enumerate() {
            let name = segment.schema().get_field_name(*field);
            let stored = segment.fast_fields().u64(name)?.first_or_default_col(0);
            stored.get_range(0, &mut column);
            for (vector, numbers) in vectors.iter_mut().zip(&column) {
                for (number, byte) in vector.0[part * PER_FIELD..].iter_mut().zip(numbers.to_le_bytes()) {
                    *number = byte.cast_signed();
                }
            }
        }
        let vectors: Arc<[Vector]> = vectors.into();
        let mut known = lock();
        // Segments come and go. Vectors of one that is still there are assembled again.
        if known.len() >= MAX_CACHED_SEGMENTS {
            known.clear();
        }
        known.insert(segment.segment_id(), vectors.clone());
        Ok(vectors)
    }
}

/// The cache is cleared at this many segments.
const MAX_CACHED_SEGMENTS: usize = 32;
