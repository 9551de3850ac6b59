//! The embedded store: a tantivy index in files, or in memory if no file can be written.
//!
//! Words arrive as tokens; the index splits them at spaces and counts them. No text of a file is stored:
//! results are read from the file itself. An [`EntrySchema`] says which fields an entry has.
//!
//! Invariant: any number of processes may search while one writes. A store commit is one renamed file, so a
//! process killed at any moment leaves the last store commit.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::indexer::{LogMergePolicy, NoMergePolicy};
use tantivy::query::{Query, TermQuery};
use tantivy::schema::document::{
    DeserializeError, DocumentDeserialize, DocumentDeserializer, ValueDeserialize, ValueDeserializer,
};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::Compressor;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, SegmentMeta, TantivyDocument, TantivyError,
    Term,
};

use super::folder::IndexFolder;
use super::{Store, StoreChange, StoreError};

/// A tantivy index of entries with one schema.
pub(crate) struct EmbeddedStore<F> {
    /// `None` in memory.
    folder: Option<IndexFolder>,
    index: Index,
    pub(super) reader: IndexReader,
    pub(super) schema: F,
}

/// The fields of an entry, and the values that go into them.
pub(crate) trait EntrySchema: Clone + Send + Sync + 'static {
    type Entry;

    /// Threads that write a large change. More than one is worth it if chunking takes less time than writing.
    const WRITERS: usize;

    fn schema() -> (Schema, Self);

    /// The field with the path of an entry's file, or its key.
    fn path(&self) -> Field;

    fn document(&self, entry: &Self::Entry) -> TantivyDocument;
}

/// Memory for words that are not on disk yet: the least that tantivy takes, and the most that helps.
const MIN_BUFFER_BYTES: usize = 15_000_000;
const MAX_BUFFER_BYTES: usize = 96 << 20;

/// Smaller changes are written by one thread.
const MIN_PARALLEL_BYTES: usize = 4 << 20;

/// Segments with more chunks are not merged, because that would hold up the next change.
const MAX_MERGED_CHUNKS: usize = 40_000;

impl<F: EntrySchema> EmbeddedStore<F> {
    /// Opens the index in a directory. The checksums of all files are verified.
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        let (tantivy_schema, schema) = F::schema();
        let folder = IndexFolder::new(directory);
        let opened = catch_panics(|| {
            let index = Index::open(folder.clone())?;
            if index.schema() == tantivy_schema {
                Ok(index)
            } else {
                Err(TantivyError::SchemaError("it has other fields".into()))
            }
        })?;
        Self::new(Some(folder), opened, schema)
    }

    /// Creates an index in a directory.
    pub(crate) fn create(directory: &Path) -> Result<Self, StoreError> {
        let (tantivy_schema, schema) = F::schema();
        let folder = IndexFolder::new(directory);
        let index = catch_panics(|| {
            Index::builder()
                .schema(tantivy_schema)
                .settings(settings())
                .open_or_create(folder.clone())
        })?;
        Self::new(Some(folder), index, schema)
    }

    /// Creates an index that ends with the process.
    pub(crate) fn in_memory() -> Result<Self, StoreError> {
        let (tantivy_schema, schema) = F::schema();
        let index = catch_panics(|| {
            Index::builder()
                .schema(tantivy_schema)
                .settings(settings())
                .create_in_ram()
        })?;
        Self::new(None, index, schema)
    }

    fn new(folder: Option<IndexFolder>, index: Index, schema: F) -> Result<Self, StoreError> {
        index.tokenizers().register(SPACES, SpaceTokenizer);
        let reader = catch_panics(|| {
            index
                .reader_builder()
                .reload_policy(ReloadPolicy::Manual)
                .doc_store_cache_num_blocks(CACHED_BLOCKS)
                .try_into()
        })?;
        Ok(Self {
            folder,
            index,
            reader,
            schema,
        })
    }
}

/// The stored bytes of an entry. Every entry stores one field of bytes.
///
/// [`TantivyDocument`] would allocate a map of values for each of the 200 candidates of a query.
pub(super) struct StoredBytes(pub(super) Vec<u8>);

struct StoredValue(Vec<u8>);

impl DocumentDeserialize for StoredBytes {
    fn deserialize<'de, D: DocumentDeserializer<'de>>(mut document: D) -> Result<Self, DeserializeError> {
        let field = document.next_field::<StoredValue>()?;
        Ok(Self(field.map_or_else(Vec::new, |(_, StoredValue(bytes))| bytes)))
    }
}

impl ValueDeserialize for StoredValue {
    fn deserialize<'de, D: ValueDeserializer<'de>>(value: D) -> Result<Self, DeserializeError> {
        value.deserialize_bytes().map(Self)
    }
}

/// A query for the whole value of a field.
pub(super) fn exact_query(field: Field, value: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, value);
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

impl<F: EntrySchema> Store<F::Entry> for EmbeddedStore<F> {
    fn change(&self, bytes: u64) -> Result<Box<dyn StoreChange<F::Entry> + '_>, StoreError> {
        // Words take about as much memory as their text. A larger buffer costs time to allocate.
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let writers = if bytes > MIN_PARALLEL_BYTES { F::WRITERS } else { 1 };
        let buffer = bytes
            .saturating_mul(2)
            .clamp(MIN_BUFFER_BYTES * writers, MAX_BUFFER_BYTES);
        let writer = catch_panics(|| {
            // Opened again for each change: tantivy keeps a list of the files it may remove, and another
            // process may have added some.
            let index = match &self.folder {
                Some(folder) => Index::open(folder.clone())?,
                None => self.index.clone(),
            };
            index.tokenizers().register(SPACES, SpaceTokenizer);
            let writer: IndexWriter = index.writer_with_num_threads(writers, buffer)?;
            // Segments are merged at the end of the change, not while it is written.
            writer.set_merge_policy(Box::new(NoMergePolicy));
            // A process killed inside a store commit leaves files whose names this change would use again.
            writer.garbage_collect_files().wait()?;
            Ok(writer)
        })?;
        Ok(Box::new(EmbeddedChange {
            schema: self.schema.clone(),
            writer,
        }))
    }

    fn reload(&self) -> Result<(), StoreError> {
        catch_panics(|| self.reader.reload())
    }

    fn last_commit(&self) -> Result<u64, StoreError> {
        let payload = catch_panics(|| self.index.load_metas())?.payload;
        match payload {
            None => Ok(0),
            Some(number) => number
                .parse()
                .map_err(|_| StoreError::Damaged("a commit without a number".into())),
        }
    }

    fn count(&self) -> u64 {
        self.reader.searcher().num_docs()
    }
}

struct EmbeddedChange<F> {
    schema: F,
    writer: IndexWriter,
}

impl<F: EntrySchema> StoreChange<F::Entry> for EmbeddedChange<F> {
    fn remove(&mut self, path: &str) {
        self.writer
            .delete_term(Term::from_field_text(self.schema.path(), path));
    }

    fn add(&mut self, entry: F::Entry) -> Result<(), StoreError> {
        let document = self.schema.document(&entry);
        catch_panics(|| self.writer.add_document(document)).map(drop)
    }

    fn commit(&mut self, number: u64) -> Result<(), StoreError> {
        catch_panics(|| commit(&mut self.writer, &number.to_string()))
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        catch_panics(|| {
            let mut writer = self.writer;
            let mut policy = LogMergePolicy::default();
            policy.set_max_docs_before_merge(MAX_MERGED_CHUNKS);
            policy.set_del_docs_ratio_before_merge(MAX_DELETED_RATIO);
            writer.set_merge_policy(Box::new(policy));
            let segments = writer.index().searchable_segment_metas()?;
            let is_mostly_deleted = |segment: &SegmentMeta| {
                f64::from(segment.num_deleted_docs())
                    > f64::from(MAX_DELETED_RATIO) * f64::from(segment.max_doc())
            };
            if segments.len() >= MIN_MERGE_SEGMENTS || segments.iter().any(is_mostly_deleted) {
                // Only a commit makes tantivy look for merges.
                let number = writer.index().load_metas()?.payload.unwrap_or_default();
                commit(&mut writer, &number)?;
            }
            writer.wait_merging_threads()
        })
    }
}

fn commit(writer: &mut IndexWriter, number: &str) -> tantivy::Result<()> {
    let mut prepared = writer.prepare_commit()?;
    prepared.set_payload(number);
    prepared.commit().map(drop)
}

/// Segments with a larger share of deleted documents are rewritten, because those still count for how rare a
/// word is.
const MAX_DELETED_RATIO: f32 = 0.3;

/// Merges are looked for from this many segments on.
const MIN_MERGE_SEGMENTS: usize = 8;

/// Options of a field that is matched as a whole.
pub(super) fn raw_field() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    )
}

/// Options of a field of words, each followed by a space.
pub(super) fn word_field(record: IndexRecordOption) -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(SPACES)
            .set_index_option(record),
    )
}

/// Options of a field of words, of which only the presence counts, not how many there are.
pub(super) fn set_field() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(SPACES)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    )
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        docstore_blocksize: STORED_BLOCK_BYTES,
        ..IndexSettings::default()
    }
}

/// A stored entry is read with its block. Candidates of a query are seldom neighbours, so most of a large
/// block is read in vain.
const STORED_BLOCK_BYTES: usize = 4 << 10;

/// Blocks that are kept of each segment. Entries of one file are neighbours, so the last blocks are asked for
/// again; a block with the symbols of a large file has up to a hundred kilobytes.
const CACHED_BLOCKS: usize = 10;

const SPACES: &str = "spaces";

/// A tokenizer that splits at spaces alone.
#[derive(Clone)]
struct SpaceTokenizer;

struct SpaceTokens<'a> {
    rest: &'a str,
    token: Token,
}

impl Tokenizer for SpaceTokenizer {
    type TokenStream<'a> = SpaceTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> SpaceTokens<'a> {
        SpaceTokens {
            rest: text,
            token: Token::default(),
        }
    }
}

impl TokenStream for SpaceTokens<'_> {
    fn advance(&mut self) -> bool {
        let Some((word, rest)) = self.rest.split_once(' ') else {
            return false;
        };
        self.rest = rest;
        self.token.text.clear();
        self.token.text.push_str(word);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// Runs a call of tantivy, which may panic on damaged files as well as fail.
pub(super) fn catch_panics<T>(work: impl FnOnce() -> tantivy::Result<T>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| from_message(message(panic.as_ref())))?
        .map_err(StoreError::from)
}

/// An error of which tantivy keeps the text alone. A full disk, for example, is told as an internal error.
fn from_message(message: String) -> StoreError {
    match os_error(&message) {
        // A missing file is damage.
        Some(error) if error.kind() != io::ErrorKind::NotFound => StoreError::Io(error),
        _ => StoreError::Damaged(message),
    }
}

/// The error of the operating system that a message quotes: `No space left on device (os error 28)`.
fn os_error(message: &str) -> Option<io::Error> {
    let (_, after) = message.split_once("(os error ")?;
    let (code, _) = after.split_once(')')?;
    Some(io::Error::from_raw_os_error(code.parse().ok()?))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it broke off").to_owned()
}

impl From<TantivyError> for StoreError {
    fn from(error: TantivyError) -> Self {
        // Errors with an OS code are about the file system, except for a missing file, which is damage.
        // tantivy makes up the others from the content of a file.
        let io = |error: &io::Error| match error.raw_os_error() {
            Some(_) if error.kind() != io::ErrorKind::NotFound => {
                Self::Io(io::Error::new(error.kind(), error.to_string()))
            }
            _ => Self::Damaged(error.to_string()),
        };
        match &error {
            TantivyError::ErrorInThread(message)
            | TantivyError::InternalError(message)
            | TantivyError::SystemError(message) => from_message(message.clone()),
            TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. })
            | TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => io(io_error),
            TantivyError::LockFailure(LockError::LockBusy, _) => Self::Busy,
            TantivyError::IoError(error) | TantivyError::LockFailure(LockError::IoError(error), _) => {
                io(error)
            }
            _ => Self::Damaged(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_damage_and_a_missing_file_is() {
        let full = "No space left on device (os error 28)";
        for error in [
            TantivyError::InternalError(full.into()),
            TantivyError::ErrorInThread(format!("An error occurred: {full}")),
            TantivyError::SystemError(full.into()),
        ] {
            let text = error.to_string();
            assert!(
                matches!(StoreError::from(error), StoreError::Io(error) if error.raw_os_error() == Some(28)),
                "{text}"
            );
        }
        let panicked = catch_panics(|| -> tantivy::Result<()> { panic!("{full}") });
        assert!(matches!(panicked, Err(StoreError::Io(_))));
        for damage in ["No such file or directory (os error 2)", "torn", "(os error x)"] {
            let error = TantivyError::InternalError(damage.into());
            assert!(
                matches!(StoreError::from(error), StoreError::Damaged(_)),
                "{damage}"
            );
        }
    }
}
