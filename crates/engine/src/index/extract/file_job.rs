//! A file that is read and handed to an extractor, and what became of it.
//!
//! Invariant: one file never stops the indexing of the others. A file that cannot be read, or on which an
//! extractor panics, is skipped with a reason.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use docent_core::memory::MemoryFile;
use docent_core::path::RepoPath;
use docent_core::text::tokens::words_into;
use xxhash_rust::xxh3::xxh3_64;

use crate::files::{FileError, Root, decode_file, has_utf16_mark, is_binary};
use crate::index::disk::IndexedFile;
use crate::stamp::Stamp;

/// Outcome of reading one file.
#[derive(Debug)]
pub(in crate::index) enum Extracted<E> {
    /// Its content is the same as when it was indexed; only the stamp is new.
    Same(IndexedFile),
    Changed {
        row: IndexedFile,
        entries: Vec<E>,
        bytes: u64,
    },
    Gone,
}

/// A file to be read and cut.
#[derive(Clone, Copy)]
pub(in crate::index) struct FileJob<'a> {
    pub(in crate::index) root: &'a Root,
    pub(in crate::index) path: &'a RepoPath,
    /// Its stamp in the scan.
    pub(in crate::index) scanned: Stamp,
    /// Its row in the index.
    pub(in crate::index) indexed: Option<&'a IndexedFile>,
    /// Hash of the rules by which it is cut, of a page; 0 of code.
    pub(in crate::index) rules: u64,
    /// Larger files are skipped.
    pub(in crate::index) max_bytes: u64,
}

/// Why a file is not indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::index) enum SkipReason {
    TooLarge,
    Binary,
    /// An extractor panicked on it.
    ExtractionFailed,
    Unreadable(String),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLarge => "too large",
            Self::Binary => "binary",
            Self::ExtractionFailed => "could not be cut",
            Self::Unreadable(error) => error,
        })
    }
}

impl FileJob<'_> {
    /// Reads the file, and calls `extract` if its content has changed.
    pub(in crate::index) fn run<E>(
        &self,
        extract: impl FnOnce(&mut IndexedFile, &str) -> Vec<E>,
    ) -> Extracted<E> {
        let extracted = catch_unwind(AssertUnwindSafe(|| self.try_run(extract)));
        extracted.unwrap_or_else(|_| self.skip(self.scanned, &SkipReason::ExtractionFailed))
    }

    fn try_run<E>(&self, extract: impl FnOnce(&mut IndexedFile, &str) -> Vec<E>) -> Extracted<E> {
        let now = SystemTime::now();
        let unreadable = |error: &FileError| SkipReason::Unreadable(error.to_string());
        let opened = match self.root.file(self.path) {
            Ok(opened) => opened,
            Err(FileError::Missing | FileError::Directory | FileError::Special) => return Extracted::Gone,
            Err(error) => return self.skip(self.scanned, &unreadable(&error)),
        };
        let stamp = match opened.file.metadata() {
            Ok(metadata) => Stamp::of(&metadata).settled(now),
            Err(_) => return Extracted::Gone,
        };
        if opened.size > self.max_bytes {
            return self.skip(stamp, &SkipReason::TooLarge);
        }
        let content = match opened.read(self.max_bytes) {
            Ok(content) => content.bytes,
            Err(FileError::TooLarge { .. }) => return self.skip(stamp, &SkipReason::TooLarge),
            Err(error) => return self.skip(stamp, &unreadable(&error)),
        };
        // A crash may leave NUL bytes at the end of a memory file. They must not hide its entries.
        let may_have_nul = MemoryFile::from_path(self.path.as_str()).is_some();
        if is_binary(&content) && !has_utf16_mark(&content) && !may_have_nul {
            return self.skip(stamp, &SkipReason::Binary);
        }
        let hash = xxh3_64(&content);
        let is_same = |row: &&IndexedFile| row.hash == hash && row.chunks > 0 && row.rules == self.rules;
        if let Some(row) = self.indexed.filter(is_same) {
            return Extracted::Same(IndexedFile { stamp, ..row.clone() });
        }
        let bytes = content.len() as u64;
        let text = decode_file(content);
        if is_binary(text.as_bytes()) && !may_have_nul {
            return self.skip(stamp, &SkipReason::Binary);
        }
        let mut row = IndexedFile {
            stamp,
            hash,
            rules: self.rules,
            ..IndexedFile::default()
        };
        let entries = extract(&mut row, &text);
        row.chunks = to_u32(entries.len());
        Extracted::Changed { row, entries, bytes }
    }

    fn skip<E>(&self, stamp: Stamp, reason: &SkipReason) -> Extracted<E> {
        Extracted::Changed {
            row: IndexedFile {
                stamp,
                rules: self.rules,
                note: Some(reason.to_string()),
                ..IndexedFile::default()
            },
            entries: Vec::new(),
            bytes: 0,
        }
    }
}

/// A path without its extension.
pub(super) fn stem(path: &RepoPath) -> &str {
    let name = path.as_str();
    match path.extension() {
        Some(extension) => &name[..name.len() - extension.len() - 1],
        None => name,
    }
}

/// The words of a path, without its extension.
pub(super) fn path_words(path: &RepoPath) -> String {
    let mut words = String::new();
    words_into(stem(path), &mut words);
    words
}

pub(super) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
