//! Symbols of files in the embedded store: one document a file, found by the names that it defines or uses.
//!
//! A name is a term as a whole, with upper and lower case. Documents of symbols lie beside the chunks, so
//! that both come and go in one store commit; they have no words and no module, so no search finds them.
//!
//! Invariant: lists do not depend on the order in which files were indexed.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use tantivy::collector::Count;
use tantivy::postings::SegmentPostings;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::store::StoreReader;
use tantivy::{DocAddress, DocSet, Searcher, SegmentReader, TERMINATED, TantivyDocument, TantivyError, Term};
use tantivy_fst::Automaton;

use super::chunks::{ChunkFields, EmbeddedChunks};
use super::embedded::{StoredBytes, catch_panics, exact_query};
use super::top::KEY;
use super::{
    FilesWithName, StoreError, SymbolStore, SymbolsAddress, SymbolsDocument, SymbolsEntry, UsingQuery,
};

/// The kind of documents with symbols, in the field of chunk kinds.
pub(super) const SYMBOLS_KIND: &str = "symbols";

/// Longer names cannot be asked for. They would make dictionaries of terms large for the sake of generated
/// code.
const MAX_TERM_BYTES: usize = 200;

/// The document of a file's symbols.
pub(super) fn symbols_document(fields: &ChunkFields, entry: &SymbolsEntry) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_text(fields.path, &entry.document.path);
    document.add_text(fields.kind, SYMBOLS_KIND);
    for (field, names) in [(fields.defined, &entry.defined), (fields.used, &entry.used)] {
        for name in names {
            if is_term(name) {
                document.add_text(field, name);
            }
        }
    }
    document.add_bytes(fields.symbols, &entry.document.to_bytes());
    document.add_u64(fields.key, SymbolsAddress::key_of(&entry.document.path));
    document
}

fn is_term(name: &str) -> bool {
    (1..=MAX_TERM_BYTES).contains(&name.len())
}

impl SymbolsDocument {
    /// The content hash, the length of the path, the path, and the symbols.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12 + self.path.len() + self.bytes.len());
        bytes.extend(self.content_hash.to_le_bytes());
        let length = u32::try_from(self.path.len()).unwrap_or(u32::MAX);
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.path.as_bytes());
        bytes.extend(&self.bytes);
        bytes
    }

    /// `None` if the bytes are not those of a document.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (hash, rest) = bytes.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (path, symbols) = rest.split_at_checked(length)?;
        Some(Self {
            path: String::from_utf8(path.to_vec()).ok()?,
            content_hash: u64::from_le_bytes(*hash),
            bytes: symbols.to_vec(),
        })
    }
}

/// The bytes of a stored document that has one field, of bytes. `None` if tantivy wrote it in another way.
///
/// tantivy itself reads such a field one byte at a time, which took a fifth of a question.
fn bytes_of_only_field(document: &[u8]) -> Option<&[u8]> {
    /// The highest bit ends a number of variable length: one field.
    const ONE_FIELD: u8 = 0x81;
    const FIELD_AND_TYPE_BYTES: usize = 5;
    let rest = document.strip_prefix(&[ONE_FIELD])?.get(FIELD_AND_TYPE_BYTES..)?;
    let digits = rest.iter().position(|byte| byte & 0x80 != 0)? + 1;
    let (digits, bytes) = rest.split_at_checked(digits.min(9))?;
    let length = digits
        .iter()
        .rev()
        .fold(0, |length, digit| length << 7 | usize::from(digit & 0x7f));
    (length == bytes.len()).then_some(bytes)
}

/// Whether a document was not removed.
fn is_alive(segment: &SegmentReader, document: u32) -> bool {
    segment
        .alive_bitset()
        .is_none_or(|alive| alive.is_alive(document))
}

/// Whether one of the documents was not removed.
fn has_alive(segment: &SegmentReader, documents: &mut SegmentPostings) -> bool {
    while documents.doc() != TERMINATED {
        if is_alive(segment, documents.doc()) {
            return true;
        }
        documents.advance();
    }
    false
}

/// The documents with this value in a field.
fn documents_with(searcher: &Searcher, field: Field, value: &str) -> tantivy::Result<Vec<DocAddress>> {
    let term = Term::from_field_text(field, value);
    let mut found = Vec::new();
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        let index = segment.inverted_index(field)?;
        let Some(mut documents) = index.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        while documents.doc() != TERMINATED {
            if is_alive(segment, documents.doc()) {
                found.push(DocAddress::new(number, documents.doc()));
            }
            documents.advance();
        }
    }
    Ok(found)
}

/// The symbols of files in one state of the store.
pub(super) struct EmbeddedSymbols {
    searcher: Searcher,
    fields: ChunkFields,
    /// By segment, each opened once it is needed. Those of the searcher would remember what they read.
    stored: Vec<OnceCell<StoreReader>>,
}

impl EmbeddedChunks {
    pub(super) fn embedded_symbols(&self) -> EmbeddedSymbols {
        let searcher = self.reader.searcher();
        EmbeddedSymbols {
            stored: searcher
                .segment_readers()
                .iter()
                .map(|_| OnceCell::new())
                .collect(),
            searcher,
            fields: self.schema,
        }
    }
}

impl EmbeddedSymbols {
    fn stored(&self, segment: u32) -> tantivy::Result<&StoreReader> {
        const REMEMBERED_BLOCKS: usize = 0;
        let cell = &self.stored[segment as usize];
        if let Some(stored) = cell.get() {
            return Ok(stored);
        }
        let segment = self.searcher.segment_reader(segment);
        let stored = segment.get_store_reader(REMEMBERED_BLOCKS)?;
        Ok(cell.get_or_init(|| stored))
    }

    /// Documents by their keys, at most `limit`.
    ///
    /// The key and not the position in a segment decides, because that differs between two indexes of the
    /// same files.
    fn addresses(&self, found: &[DocAddress], limit: usize) -> tantivy::Result<Vec<SymbolsAddress>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let segments = self.searcher.segment_readers();
        let mut addresses = Vec::with_capacity(found.len());
        for group in found.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let segment = group[0].segment_ord;
            let keys = segments[segment as usize].fast_fields().u64(KEY)?;
            addresses.extend(group.iter().map(|address| SymbolsAddress {
                key: keys.first(address.doc_id).unwrap_or_default(),
                segment,
                document: address.doc_id,
            }));
        }
        addresses.sort_unstable();
        addresses.truncate(limit);
        Ok(addresses)
    }

    /// The first `limit` defined names that an automaton accepts, in their order.
    fn defined_names<A>(
        &self,
        limit: usize,
        automaton: impl Fn() -> tantivy::Result<A>,
    ) -> Result<Vec<String>, StoreError>
    where
        A: Automaton,
        A::State: Clone,
    {
        catch_panics(|| {
            let mut names: BTreeSet<String> = BTreeSet::new();
            for segment in self.searcher.segment_readers() {
                let index = segment.inverted_index(self.fields.defined)?;
                let mut terms = index.terms().search(automaton()?).into_stream()?;
                let mut found = 0;
                while found < limit
                    && let Some((term, info)) = terms.next()
                {
                    // A term stays in its segment when the last file that defines it is removed.
                    let mut documents = index.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
                    if let Ok(name) = std::str::from_utf8(term)
                        && has_alive(segment, &mut documents)
                    {
                        names.insert(name.to_owned());
                        found += 1;
                    }
                }
            }
            Ok(names.into_iter().take(limit).collect())
        })
    }
}

impl SymbolStore for EmbeddedSymbols {
    fn files_defining(&self, name: &str, limit: usize) -> Result<FilesWithName, StoreError> {
        if !is_term(name) {
            return Ok(FilesWithName::default());
        }
        catch_panics(|| {
            let found = documents_with(&self.searcher, self.fields.defined, name)?;
            Ok(FilesWithName {
                total: found.len(),
                files: self.addresses(&found, limit)?,
            })
        })
    }

    fn files_using(&self, query: &UsingQuery<'_>) -> Result<FilesWithName, StoreError> {
        let UsingQuery { name, beside, .. } = *query;
        if !is_term(name) {
            return Ok(FilesWithName::default());
        }
        let Self { searcher, fields, .. } = self;
        catch_panics(|| {
            let mut found = documents_with(searcher, fields.used, name)?;
            let total = found.len();
            if total > query.narrow_above && !beside.is_empty() {
                let mut kept: HashSet<DocAddress> = HashSet::new();
                for name in beside.iter().filter(|name| is_term(name)) {
                    kept.extend(documents_with(searcher, fields.used, name)?);
                    kept.extend(documents_with(searcher, fields.defined, name)?);
                }
                found.retain(|address| kept.contains(address));
            }
            Ok(FilesWithName {
                files: self.addresses(&found, query.limit)?,
                total,
            })
        })
    }

    fn find_file(&self, path: &str) -> Result<Option<SymbolsAddress>, StoreError> {
        let Self { searcher, fields, .. } = self;
        catch_panics(|| {
            let kind = Term::from_field_text(fields.kind, SYMBOLS_KIND);
            for address in documents_with(searcher, fields.path, path)? {
                let segment = searcher.segment_reader(address.segment_ord);
                let index = segment.inverted_index(fields.kind)?;
                let Some(mut symbols) = index.read_postings(&kind, IndexRecordOption::Basic)? else {
                    continue;
                };
                // Seeking backwards is not allowed.
                if symbols.doc() == address.doc_id
                    || symbols.doc() < address.doc_id && symbols.seek(address.doc_id) == address.doc_id
                {
                    return Ok(Some(SymbolsAddress {
                        key: SymbolsAddress::key_of(path),
                        segment: address.segment_ord,
                        document: address.doc_id,
                    }));
                }
            }
            Ok(None)
        })
    }

    fn read_symbols(&self, file: SymbolsAddress) -> Result<SymbolsDocument, StoreError> {
        catch_panics(|| {
            let stored = self.stored(file.segment)?;
            let bytes = stored.get_document_bytes(file.document)?;
            let document = match bytes_of_only_field(&bytes) {
                Some(bytes) => SymbolsDocument::from_bytes(bytes),
                None => SymbolsDocument::from_bytes(&stored.get::<StoredBytes>(file.document)?.0),
            };
            document.ok_or_else(|| TantivyError::InternalError("symbols are not as they were written".into()))
        })
    }

    fn names_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        self.defined_names(limit, || Ok(NameAutomaton::new(prefix, NamePattern::Prefix)))
    }

    fn names_in_other_case(&self, name: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let mut names = self.defined_names(limit, || Ok(NameAutomaton::new(name, NamePattern::AnyCase)))?;
        names.retain(|found| found != name);
        Ok(names)
    }

    fn similar_names(&self, name: &str, edits: u8, limit: usize) -> Result<Vec<String>, StoreError> {
        // One edit makes any name of two letters out of any other.
        if !is_term(name) || name.chars().count() < MIN_SIMILAR_CHARS {
            return Ok(Vec::new());
        }
        let query = FuzzyTermQuery::new(Term::from_field_text(self.fields.defined, name), edits, true);
        let mut names = self.defined_names(limit, || query.automaton())?;
        names.retain(|found| found != name);
        Ok(names)
    }

    fn count_symbol_files(&self) -> Result<u64, StoreError> {
        catch_panics(|| count_symbols(&self.searcher, &self.fields))
    }
}

/// How many documents have symbols, removed ones not counted.
pub(super) fn count_symbols(searcher: &Searcher, fields: &ChunkFields) -> tantivy::Result<u64> {
    Ok(searcher.search(&*exact_query(fields.kind, SYMBOLS_KIND), &Count)? as u64)
}

/// Shorter names have no similar ones.
const MIN_SIMILAR_CHARS: usize = 3;

/// Accepts names that are like one name.
struct NameAutomaton<'a> {
    name: &'a [u8],
    pattern: NamePattern,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NamePattern {
    /// Names that begin with it.
    Prefix,
    /// The same name; upper and lower case of ASCII letters do not count.
    AnyCase,
}

impl<'a> NameAutomaton<'a> {
    fn new(name: &'a str, pattern: NamePattern) -> Self {
        Self {
            name: name.as_bytes(),
            pattern,
        }
    }
}

impl Automaton for NameAutomaton<'_> {
    /// How many bytes of the name were accepted. `None` after one that was not.
    type State = Option<usize>;

    fn start(&self) -> Self::State {
        Some(0)
    }

    fn is_match(&self, state: &Self::State) -> bool {
        *state == Some(self.name.len())
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.is_some()
    }

    fn will_always_match(&self, state: &Self::State) -> bool {
        self.pattern == NamePattern::Prefix && self.is_match(state)
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        let at = (*state)?;
        let is_accepted = match (self.name.get(at), self.pattern) {
            (None, NamePattern::Prefix) => return Some(at),
            (None, NamePattern::AnyCase) => false,
            (Some(wanted), NamePattern::Prefix) => *wanted == byte,
            (Some(wanted), NamePattern::AnyCase) => wanted.eq_ignore_ascii_case(&byte),
        };
        is_accepted.then_some(at + 1)
    }
}

#[cfg(test)]
mod tests;
