//! Unsaved texts in front of the files on disk: documents that are open in an editor.
//!
//! A text is described in memory as the index describes a file, and [`OverlaidSymbols`] puts these
//! descriptions in the place of the stored ones. All questions about symbols work on it as on the store
//! alone.
//!
//! Invariant: a file of the overlay hides the stored symbols of its path, also where it has none.

use std::sync::{Arc, OnceLock};

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{FileSymbols, encode, read_symbols};
use docent_core::text::positions::{PositionEncoding, TextPositions};
use xxhash_rust::xxh3::xxh3_64;

use crate::files::decode_file;
use crate::store::{
    FilesWithName, StoreError, SymbolStore, SymbolsAddress, SymbolsDocument, SymbolsEntry, UsingQuery,
};

/// A text in place of a file's content. It is described once it is asked for.
#[derive(Debug)]
pub struct OverlaidFile {
    pub path: RepoPath,
    pub text: Arc<str>,
    /// Hash of the text, as the index has hashes of files.
    pub(super) content_hash: u64,
    /// It was read from disk, and not handed over by an editor.
    is_of_disk: bool,
    /// `None` if the text is not parsed.
    description: OnceLock<Option<TextDescription>>,
}

/// The symbols of a text, and the same as the store has them.
#[derive(Debug)]
struct TextDescription {
    symbols: FileSymbols,
    entry: SymbolsEntry,
}

/// Texts in place of files.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    files: Vec<Arc<OverlaidFile>>,
}

impl OverlaidFile {
    pub fn new(path: RepoPath, text: Arc<str>) -> Self {
        Self {
            content_hash: xxh3_64(text.as_bytes()),
            path,
            text,
            is_of_disk: false,
            description: OnceLock::new(),
        }
    }

    /// A file as it was read from disk.
    pub(super) fn of_disk(path: RepoPath, bytes: Vec<u8>) -> Self {
        Self {
            content_hash: xxh3_64(&bytes),
            path,
            text: decode_file(bytes).into(),
            is_of_disk: true,
            description: OnceLock::new(),
        }
    }

    /// Whether an editor has handed the text over.
    pub(super) fn is_open(&self) -> bool {
        !self.is_of_disk
    }

    /// The positions of the text as the editor counts them.
    pub(super) fn positions(&self, encoding: PositionEncoding) -> TextPositions<'_> {
        if self.is_of_disk {
            TextPositions::of_file(&self.text, encoding)
        } else {
            TextPositions::of(&self.text, encoding)
        }
    }

    /// The symbols of the text. `None` if it is not parsed.
    pub fn symbols(&self) -> Option<&FileSymbols> {
        self.describe().map(|description| &description.symbols)
    }

    fn entry(&self) -> Option<&SymbolsEntry> {
        self.describe().map(|description| &description.entry)
    }

    fn describe(&self) -> Option<&TextDescription> {
        let describe = || {
            let symbols = read_symbols(Language::of_file(&self.path, &self.text), &self.text)?;
            let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
            let entry = SymbolsEntry {
                document: SymbolsDocument {
                    path: self.path.as_str().to_owned(),
                    content_hash: self.content_hash,
                    bytes: encode(&symbols),
                },
                defined: owned(symbols.defined_names()),
                used: owned(symbols.used_names()),
            };
            Some(TextDescription { symbols, entry })
        };
        self.description.get_or_init(describe).as_ref()
    }
}

impl Overlay {
    /// Adds a file, in place of one with the same path.
    pub fn add(&mut self, file: Arc<OverlaidFile>) {
        self.files.retain(|other| other.path != file.path);
        self.files.push(file);
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn find(&self, path: &RepoPath) -> Option<&Arc<OverlaidFile>> {
        self.files.iter().find(|file| file.path == *path)
    }
}

/// The stored symbols with the files of an overlay in place of theirs.
pub(super) struct OverlaidSymbols<'a> {
    /// `None` before there is an index.
    pub(super) stored: Option<&'a dyn SymbolStore>,
    pub(super) overlay: &'a Overlay,
}

impl OverlaidSymbols<'_> {
    fn is_hidden(&self, key: u64) -> bool {
        let mut keys = self
            .overlay
            .files
            .iter()
            .map(|file| SymbolsAddress::key_of(file.path.as_str()));
        keys.any(|hidden| hidden == key)
    }

    /// The files of the overlay with a name, before the stored ones.
    fn merge(
        &self,
        stored: FilesWithName,
        limit: usize,
        names: impl Fn(&SymbolsEntry) -> bool,
    ) -> FilesWithName {
        let FilesWithName {
            files: found,
            mut total,
        } = stored;
        let mut files = Vec::with_capacity(found.len());
        for (at, file) in self.overlay.files.iter().enumerate() {
            if file.entry().is_some_and(&names) {
                files.push(SymbolsAddress::of_overlay(file.path.as_str(), at));
            }
        }
        total += files.len();
        for address in found {
            if self.is_hidden(address.key) {
                total -= 1;
            } else {
                files.push(address);
            }
        }
        files.sort_unstable();
        files.truncate(limit);
        FilesWithName { files, total }
    }

    /// Stored names with those of the overlay, in their order.
    fn merge_names(
        &self,
        stored: impl FnOnce(&dyn SymbolStore) -> Result<Vec<String>, StoreError>,
        limit: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, StoreError> {
        let mut names = self.stored.map_or(Ok(Vec::new()), stored)?;
        let entries = self.overlay.files.iter().filter_map(|file| file.entry());
        let own = entries.flat_map(|entry| &entry.defined);
        names.extend(own.filter(|name| is_wanted(name)).cloned());
        names.sort_unstable();
        names.dedup();
        names.truncate(limit);
        Ok(names)
    }
}

impl SymbolStore for OverlaidSymbols<'_> {
    fn files_defining(&self, name: &str, limit: usize) -> Result<FilesWithName, StoreError> {
        let wider = limit.saturating_add(self.overlay.files.len());
        let stored = self.stored.map(|stored| stored.files_defining(name, wider));
        let stored = stored.transpose()?.unwrap_or_default();
        Ok(self.merge(stored, limit, |entry| {
            entry.defined.iter().any(|other| other == name)
        }))
    }

    fn files_using(&self, query: &UsingQuery<'_>) -> Result<FilesWithName, StoreError> {
        let wider = UsingQuery {
            limit: query.limit.saturating_add(self.overlay.files.len()),
            ..*query
        };
        let stored = self.stored.map(|stored| stored.files_using(&wider));
        let stored = stored.transpose()?.unwrap_or_default();
        let uses = |entry: &SymbolsEntry| entry.used.iter().any(|other| other == query.name);
        Ok(self.merge(stored, query.limit, uses))
    }

    fn find_file(&self, path: &str) -> Result<Option<SymbolsAddress>, StoreError> {
        let position = self
            .overlay
            .files
            .iter()
            .position(|file| file.path.as_str() == path);
        match (position, self.stored) {
            (Some(at), _) => {
                let is_described = self.overlay.files[at].entry().is_some();
                Ok(is_described.then(|| SymbolsAddress::of_overlay(path, at)))
            }
            (None, Some(stored)) => stored.find_file(path),
            (None, None) => Ok(None),
        }
    }

    fn read_symbols(&self, file: SymbolsAddress) -> Result<SymbolsDocument, StoreError> {
        let overlaid = file.overlay_position().and_then(|at| self.overlay.files.get(at));
        match (overlaid, self.stored) {
            (Some(overlaid), _) => Ok(overlaid
                .entry()
                .map_or_else(SymbolsDocument::default, |entry| entry.document.clone())),
            (None, Some(stored)) => stored.read_symbols(file),
            (None, None) => Ok(SymbolsDocument::default()),
        }
    }

    fn names_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        self.merge_names(
            |stored| stored.names_with_prefix(prefix, limit),
            limit,
            |name| name.starts_with(prefix),
        )
    }

    fn names_in_other_case(&self, name: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let is_wanted = |other: &str| other != name && other.eq_ignore_ascii_case(name);
        self.merge_names(|stored| stored.names_in_other_case(name, limit), limit, is_wanted)
    }

    fn similar_names(&self, name: &str, edits: u8, limit: usize) -> Result<Vec<String>, StoreError> {
        // Typing mistakes are looked up in what is stored only.
        self.merge_names(
            |stored| stored.similar_names(name, edits, limit),
            limit,
            |_| false,
        )
    }

    fn count_symbol_files(&self) -> Result<u64, StoreError> {
        self.stored.map_or(Ok(0), SymbolStore::count_symbol_files)
    }
}
