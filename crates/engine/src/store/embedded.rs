//! The stores that come with docent: inverted indexes in files, or in memory where no file can be written.
//!
//! Words arrive already cut; the index splits them at spaces and counts them. Nothing of a file's text is kept: what is shown
//! is read from the file itself. What is stored of an entry, and how it is asked for, is said by its [`EntrySchema`].
//!
//! Invariant: any number of processes may search while one changes. A commit is one renamed file, so a process killed at
//! any moment leaves what was committed last.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

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

/// Entries of one form in an inverted index.
pub(crate) struct EmbeddedStore<F> {
    /// Where it lies; nowhere for one in memory.
    directory: Option<PathBuf>,
    index: Index,
    pub(super) reader: IndexReader,
    pub(super) form: F,
}

/// How entries are stored: which fields there are, and what goes into them.
pub(crate) trait EntrySchema: Clone + Send + Sync + 'static {
    type Entry;

    /// Threads that write a large change: where cutting takes less time than writing, more than one.
    const WRITERS: usize;

    fn schema() -> (Schema, Self);

    /// The field that holds the file an entry is of, as a whole.
    fn path(&self) -> Field;

    fn document(&self, entry: &Self::Entry) -> TantivyDocument;
}

/// Memory for words that are not yet on disk: what the library needs, and what a large project can use.
const MIN_BUFFER_BYTES: usize = 15_000_000;
const MAX_BUFFER_BYTES: usize = 96 << 20;

/// A change of more bytes is worth more than one writer.
const MIN_PARALLEL_BYTES: usize = 4 << 20;

/// Segments of more chunks are left as they are: merging them would hold up the next change.
const MAX_MERGED_CHUNKS: usize = 40_000;

impl<F: EntrySchema> EmbeddedStore<F> {
    /// Opens the index in a directory.
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        let (schema, form) = F::schema();
        let opened = guarded(|| {
            let index = Index::open(IndexFolder::open(directory)?)?;
            if index.schema() == schema {
                Ok(index)
            } else {
                Err(TantivyError::SchemaError("it has other fields".into()))
            }
        })?;
        Self::new(Some(directory.to_owned()), opened, form)
    }

    /// Begins one in a directory.
    pub(crate) fn create(directory: &Path) -> Result<Self, StoreError> {
        let (schema, form) = F::schema();
        let index = guarded(|| {
            let directory = IndexFolder::open(directory)?;
            Index::builder()
                .schema(schema)
                .settings(settings())
                .open_or_create(directory)
        })?;
        Self::new(Some(directory.to_owned()), index, form)
    }

    /// One that is gone with the process.
    pub(crate) fn in_memory() -> Result<Self, StoreError> {
        let (schema, form) = F::schema();
        let index = guarded(|| {
            Index::builder()
                .schema(schema)
                .settings(settings())
                .create_in_ram()
        })?;
        Self::new(None, index, form)
    }

    fn new(directory: Option<PathBuf>, index: Index, form: F) -> Result<Self, StoreError> {
        index.tokenizers().register(SPACES, Spaces);
        let reader = guarded(|| {
            index
                .reader_builder()
                .reload_policy(ReloadPolicy::Manual)
                .try_into()
        })?;
        Ok(Self {
            directory,
            index,
            reader,
            form,
        })
    }
}

/// The stored bytes of an entry. Every entry stores one field, and it is of bytes.
///
/// [`TantivyDocument`] would build a value of any type for each of the 200 candidates of a query.
pub(super) struct Stored(pub(super) Vec<u8>);

struct StoredValue(Vec<u8>);

impl DocumentDeserialize for Stored {
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

pub(super) fn exactly(field: Field, value: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, value);
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

impl<F: EntrySchema> Store<F::Entry> for EmbeddedStore<F> {
    fn change(&self, bytes: u64) -> Result<Box<dyn StoreChange<F::Entry> + '_>, StoreError> {
        // Words take about as much memory as the text they were in; a buffer that is too large is not free.
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let writers = if bytes > MIN_PARALLEL_BYTES { F::WRITERS } else { 1 };
        let buffer = bytes
            .saturating_mul(2)
            .clamp(MIN_BUFFER_BYTES * writers, MAX_BUFFER_BYTES);
        let writer = guarded(|| {
            // Opened for the change: the library keeps a list of the files it may remove, and another process may have added some.
            let index = match &self.directory {
                Some(directory) => Index::open(IndexFolder::open(directory)?)?,
                None => self.index.clone(),
            };
            index.tokenizers().register(SPACES, Spaces);
            let writer: IndexWriter = index.writer_with_num_threads(writers, buffer)?;
            // What is being written is not merged meanwhile.
            writer.set_merge_policy(Box::new(NoMergePolicy));
            // A process killed inside a commit leaves files whose names this change would take again.
            writer.garbage_collect_files().wait()?;
            Ok(writer)
        })?;
        Ok(Box::new(Changing {
            form: self.form.clone(),
            writer,
        }))
    }

    fn reload(&self) -> Result<(), StoreError> {
        guarded(|| self.reader.reload())
    }

    fn committed(&self) -> Result<u64, StoreError> {
        let payload = guarded(|| self.index.load_metas())?.payload;
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

    fn verify(&self) -> Result<(), StoreError> {
        let damaged = guarded(|| self.index.validate_checksum())?;
        match damaged.into_iter().min() {
            None => Ok(()),
            Some(file) => Err(StoreError::Damaged(file.display().to_string())),
        }
    }
}

struct Changing<F> {
    form: F,
    writer: IndexWriter,
}

impl<F: EntrySchema> StoreChange<F::Entry> for Changing<F> {
    fn remove(&mut self, path: &str) {
        self.writer
            .delete_term(Term::from_field_text(self.form.path(), path));
    }

    fn add(&mut self, entry: F::Entry) -> Result<(), StoreError> {
        let document = self.form.document(&entry);
        guarded(|| self.writer.add_document(document)).map(drop)
    }

    fn commit(&mut self, number: u64) -> Result<(), StoreError> {
        guarded(|| commit(&mut self.writer, &number.to_string()))
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        guarded(|| {
            let mut writer = self.writer;
            let mut policy = LogMergePolicy::default();
            policy.set_max_docs_before_merge(MAX_MERGED_CHUNKS);
            policy.set_del_docs_ratio_before_merge(MAX_DELETED_RATIO);
            writer.set_merge_policy(Box::new(policy));
            let segments = writer.index().searchable_segment_metas()?;
            let hollow = |segment: &SegmentMeta| {
                f64::from(segment.num_deleted_docs())
                    > f64::from(MAX_DELETED_RATIO) * f64::from(segment.max_doc())
            };
            if segments.len() >= MIN_MERGE_SEGMENTS || segments.iter().any(hollow) {
                // A commit is what makes the library look for merges.
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

/// A segment of which more is gone is written anew: what is gone still counts for how rare a word is.
const MAX_DELETED_RATIO: f32 = 0.3;

/// As many segments as make a merge worth looking for.
const MIN_MERGE_SEGMENTS: usize = 8;

/// For what is looked for as a whole.
pub(super) fn whole() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    )
}

/// For words, each with a space behind it.
pub(super) fn words(record: IndexRecordOption) -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(SPACES)
            .set_index_option(record),
    )
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

const SPACES: &str = "spaces";

/// Splits at spaces and nothing else.
#[derive(Clone)]
struct Spaces;

struct Split<'a> {
    rest: &'a str,
    token: Token,
}

impl Tokenizer for Spaces {
    type TokenStream<'a> = Split<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Split<'a> {
        Split {
            rest: text,
            token: Token::default(),
        }
    }
}

impl TokenStream for Split<'_> {
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

/// Runs something of the library's. Where files are damaged it may panic as well as fail.
pub(super) fn guarded<T>(work: impl FnOnce() -> tantivy::Result<T>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| StoreError::Damaged(message(panic.as_ref())))?
        .map_err(StoreError::from)
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
        // What the system says is about the file system, unless a file that should be there is not. What the library makes up is
        // about what it found in a file.
        let io = |error: &io::Error| match error.raw_os_error() {
            Some(_) if error.kind() != io::ErrorKind::NotFound => {
                Self::Io(io::Error::new(error.kind(), error.to_string()))
            }
            _ => Self::Damaged(error.to_string()),
        };
        match &error {
            TantivyError::ErrorInThread(message) if message.contains("os error") => {
                Self::Io(io::Error::other(message.clone()))
            }
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
