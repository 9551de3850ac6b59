//! From a file to what the store keeps of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use docent_core::chunk::{Chunk, Chunked, Rows, Unread, chunk};
use docent_core::language::language_in;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::tokens::words_into;
use xxhash_rust::xxh3::xxh3_64;

use super::table::Row;
use crate::files::{FileError, Root, lossy_text};
use crate::stamp::Stamp;
use crate::store::{Entry, Piece};

/// What became of a file.
#[derive(Debug)]
pub(super) enum Prepared {
    /// It says what it said before.
    Same(Row),
    Changed {
        row: Row,
        entries: Vec<Entry>,
        bytes: u64,
    },
    Gone,
}

/// Reads a file and cuts it. `listed` is its stamp as it was found, `before` what the index knows of it.
pub(super) fn prepare(
    root: &Root,
    path: &RepoPath,
    listed: Stamp,
    before: Option<&Row>,
    largest: u64,
) -> Prepared {
    // One file that breaks the cutting must not end the indexing of all.
    let prepared = catch_unwind(AssertUnwindSafe(|| {
        try_prepare(root, path, listed, before, largest)
    }));
    prepared.unwrap_or_else(|_| left_out(listed, "could not be cut"))
}

fn try_prepare(root: &Root, path: &RepoPath, listed: Stamp, before: Option<&Row>, largest: u64) -> Prepared {
    let now = SystemTime::now();
    let opened = match root.file(path) {
        Ok(opened) => opened,
        Err(FileError::Missing | FileError::Directory | FileError::Special) => return Prepared::Gone,
        Err(error) => return left_out(listed, &error.to_string()),
    };
    let stamp = match opened.file.metadata() {
        Ok(metadata) => Stamp::of(&metadata).settled(now),
        Err(_) => return Prepared::Gone,
    };
    if opened.size > largest {
        return left_out(stamp, "too large");
    }
    let content = match opened.read(largest) {
        Ok(content) => content.bytes,
        Err(FileError::TooLarge { .. }) => return left_out(stamp, "too large"),
        Err(error) => return left_out(stamp, &error.to_string()),
    };
    if is_binary(&content) {
        return left_out(stamp, "binary");
    }
    let hash = xxh3_64(&content);
    if let Some(before) = before.filter(|before| before.hash == hash && before.pieces > 0) {
        return Prepared::Same(Row {
            stamp,
            ..before.clone()
        });
    }
    let bytes = content.len() as u64;
    let text = lossy_text(content);
    let language = language_in(path, &text);
    let Chunked { chunks, unread } = chunk(language, &text);
    let entries = entries(path, language, &text, chunks, unread);
    let row = Row {
        stamp,
        hash,
        pieces: u32::try_from(entries.len()).unwrap_or(u32::MAX),
        language: language.to_owned(),
        note: unread.map(|unread| unread.name().to_owned()),
    };
    Prepared::Changed { row, entries, bytes }
}

fn left_out(stamp: Stamp, why: &str) -> Prepared {
    Prepared::Changed {
        row: Row {
            stamp,
            hash: 0,
            pieces: 0,
            language: String::new(),
            note: Some(why.to_owned()),
        },
        entries: Vec::new(),
        bytes: 0,
    }
}

/// Text has no NUL where a program would look for one.
fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(8_000)].contains(&0)
}

fn entries(
    path: &RepoPath,
    language: &str,
    text: &str,
    chunks: Vec<Chunk>,
    unread: Option<Unread>,
) -> Vec<Entry> {
    let module = module_of(path);
    let generated = matches!(unread, Some(Unread::Generated | Unread::Minified));
    let place = place_words(path);
    let rows = Rows::of(text);
    let entry = |chunk: Chunk| {
        let shown = rows.lines(*chunk.lines.start(), *chunk.lines.end());
        let mut words = String::with_capacity(shown.len() + shown.len() / 2);
        words_into(shown, &mut words);
        for member in &chunk.members {
            words_into(member, &mut words);
        }
        let mut name = String::new();
        words_into(&chunk.name, &mut name);
        let outside = chunk.path.strip_suffix(chunk.name.as_str()).unwrap_or_default();
        words_into(outside, &mut words);
        Entry {
            module: module.to_owned(),
            text: words,
            name,
            place: place.clone(),
            piece: Piece {
                path: path.as_str().to_owned(),
                language: language.to_owned(),
                kind: chunk.kind,
                name_length: chunk.name.len().min(chunk.path.len()),
                scope: chunk.path,
                first_line: number(*chunk.lines.start()),
                last_line: number(*chunk.lines.end()),
                part: number(chunk.part),
                generated,
                id: chunk.id,
                hash: hash(shown),
            },
        }
    };
    chunks.into_iter().map(entry).collect()
}

/// The words of a path, without its extension.
fn place_words(path: &RepoPath) -> String {
    let name = path.as_str();
    let stem = match path.extension() {
        Some(extension) => &name[..name.len() - extension.len() - 1],
        None => name,
    };
    let mut words = String::new();
    words_into(stem, &mut words);
    words
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The same hash as a piece has of its text.
pub(crate) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}
