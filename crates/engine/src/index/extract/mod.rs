//! Extraction: from a file or a commit to the entries that the store keeps of it.
//!
//! Reading is here, once for all corpora; what is made of a text is in the modules below.
//!
//! Invariant: one file never stops the indexing of the others. A file that cannot be read, or on which an extractor
//! panics, is skipped with a reason.

mod code;
mod commits;
mod sections;
mod texts;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use docent_core::memory::MemoryFile;
use docent_core::path::RepoPath;
use docent_core::text::tokens::words_into;
use xxhash_rust::xxh3::xxh3_64;

pub(super) use code::extract_chunks;
pub(super) use commits::extract_commit;
pub(super) use sections::extract_sections;
pub(super) use texts::{chunk_texts, section_texts};

use super::disk::IndexedFile;
use crate::files::{FileError, Root, lossy_text};
use crate::stamp::Stamp;

/// What became of a file.
#[derive(Debug)]
pub(super) enum Extracted<E> {
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
pub(super) struct FileJob<'a> {
    pub(super) root: &'a Root,
    pub(super) path: &'a RepoPath,
    /// Its stamp in the scan.
    pub(super) scanned: Stamp,
    /// Its row in the index.
    pub(super) indexed: Option<&'a IndexedFile>,
    /// Hash of the rules by which it is cut, of a page; 0 of code.
    pub(super) rules: u64,
    /// Larger files are skipped.
    pub(super) max_bytes: u64,
}

/// Why a file is not indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SkipReason {
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
    fn run<E>(&self, extract: impl FnOnce(&mut IndexedFile, &str) -> Vec<E>) -> Extracted<E> {
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
        if is_binary(&content) && MemoryFile::from_path(self.path.as_str()).is_none() {
            return self.skip(stamp, &SkipReason::Binary);
        }
        let hash = xxh3_64(&content);
        let is_same = |row: &&IndexedFile| row.hash == hash && row.chunks > 0 && row.rules == self.rules;
        if let Some(row) = self.indexed.filter(is_same) {
            return Extracted::Same(IndexedFile { stamp, ..row.clone() });
        }
        let bytes = content.len() as u64;
        let text = lossy_text(content);
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

/// Looks for a NUL byte in the beginning, as git and ripgrep do.
fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(8_000)].contains(&0)
}

/// A path without its extension.
fn stem(path: &RepoPath) -> &str {
    let name = path.as_str();
    match path.extension() {
        Some(extension) => &name[..name.len() - extension.len() - 1],
        None => name,
    }
}

/// The words of a path, without its extension.
fn path_words(path: &RepoPath) -> String {
    let mut words = String::new();
    words_into(stem(path), &mut words);
    words
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
