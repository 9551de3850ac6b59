//! Definitions by name from the index as it lies on disk, for answers that may not wait.
//!
//! Left out: what was written since the index was built. A definition in a new file is not found; one in a
//! changed file is found again by its name and scope.
//!
//! Invariant: nothing is built, written or waited for, and a result is a definition that its file has now.

use docent_core::path::RepoPath;
use docent_core::symbols::{SymbolKind, SymbolsReader};
use xxhash_rust::xxh3::xxh3_64;

use super::candidate::{SymbolCandidate, read_candidates};
use super::current::SymbolFiles;
use super::order::sort_candidates;
use super::{FoundSymbol, NameMatch};
use crate::files::Root;
use crate::index::Index;
use crate::store::{StoreError, SymbolStore};

/// A name that more files define, such as `new`, says nothing about a place.
const MAX_DEFINING_FILES: usize = 30;

/// Near names that are looked at.
const MAX_NEAR_NAMES: usize = 8;

/// Shorter names have too many others within two edits.
const MIN_CHARS_FOR_TWO_EDITS: usize = 6;

/// Longer names are not looked up.
const MAX_NAME_BYTES: usize = 100;

/// A changed file with more bytes is not parsed again.
const MAX_REPARSED_BYTES: usize = 200 << 10;

/// The symbols of an index on disk.
pub struct StoredSymbols<'a> {
    root: &'a Root,
    index: &'a Index,
}

/// A definition with its lines, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionLines {
    /// Names around it joined by `.`, empty at the top level.
    pub scope: String,
    pub name: String,
    pub kind: SymbolKind,
    /// Comments above it included.
    pub first: usize,
    pub last: usize,
    pub name_line: usize,
}

/// The definitions with one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDefinitions {
    /// The best first, at most the limit.
    pub symbols: Vec<FoundSymbol>,
    /// How many there are.
    pub total: usize,
}

impl<'a> StoredSymbols<'a> {
    /// Opens the index of a project. `None` if there is none yet.
    pub fn open(root: &'a Root, index: &'a Index) -> Option<Self> {
        index.open_stored().then_some(Self { root, index })
    }

    /// The definitions of a file with this text. `None` if the index has another text, or none.
    pub fn outline(&self, path: &RepoPath, text: &str) -> Option<Vec<DefinitionLines>> {
        let document = self
            .index
            .symbols(|store| store.symbols_of(path.as_str()))
            .ok()??;
        if document.content_hash != xxh3_64(text.as_bytes()) {
            return None;
        }
        let reader = SymbolsReader::new(&document.bytes).ok()?;
        let definitions = reader.definitions().ok()?;
        let lines = definitions.into_iter().map(|one| {
            Some(DefinitionLines {
                scope: reader.name(one.scope).ok()?.to_owned(),
                name: reader.name(one.name).ok()?.to_owned(),
                kind: one.kind,
                first: one.first_line as usize,
                last: one.last_line as usize,
                name_line: one.name_at.line as usize,
            })
        });
        lines.collect()
    }

    /// The definitions with this name. None for a name that is defined all over the project.
    pub fn definitions(&self, name: &str, limit: usize) -> StoredDefinitions {
        let mut candidates = self.candidates(name, NameMatch::Exact);
        sort_candidates(&mut candidates);
        let mut files = SymbolFiles::of_disk(self.root);
        let mut found = StoredDefinitions {
            total: candidates.len(),
            symbols: Vec::new(),
        };
        for candidate in &candidates {
            if found.symbols.len() == limit {
                break;
            }
            match show(candidate, &mut files) {
                Some(symbol) => found.symbols.push(symbol),
                None => found.total -= 1,
            }
        }
        found
    }

    /// Definitions whose names come near one that is not defined: in another case first, then within one edit
    /// and within two. One for each name.
    pub fn near(&self, name: &str, limit: usize) -> Vec<FoundSymbol> {
        let chars = name.chars().count();
        let ways = [
            (NameDistance::OtherCase, NameMatch::OtherCase),
            (NameDistance::Edits(1), NameMatch::Similar),
            (NameDistance::Edits(2), NameMatch::Similar),
        ];
        for (distance, matched) in ways {
            if matches!(distance, NameDistance::Edits(2)) && chars < MIN_CHARS_FOR_TWO_EDITS {
                break;
            }
            let names = self.near_names(name, distance);
            let mut candidates: Vec<SymbolCandidate> = names
                .iter()
                .filter_map(|name| {
                    let mut of_name = self.candidates(name, matched);
                    sort_candidates(&mut of_name);
                    of_name.into_iter().next()
                })
                .collect();
            sort_candidates(&mut candidates);
            let mut files = SymbolFiles::of_disk(self.root);
            let shown = candidates.iter().filter_map(|one| show(one, &mut files));
            let shown: Vec<FoundSymbol> = shown.take(limit).collect();
            if !shown.is_empty() {
                return shown;
            }
        }
        Vec::new()
    }

    fn near_names(&self, name: &str, distance: NameDistance) -> Vec<String> {
        if name.len() > MAX_NAME_BYTES {
            return Vec::new();
        }
        // Damage is found and mended by the worker of a server.
        let names = self.index.symbols(|store| match distance {
            NameDistance::OtherCase => store.names_in_other_case(name, MAX_NEAR_NAMES),
            NameDistance::Edits(edits) => store.similar_names(name, edits, MAX_NEAR_NAMES),
        });
        names.unwrap_or_default()
    }

    /// The stored definitions with this name in files that may be shown.
    fn candidates(&self, name: &str, matched: NameMatch) -> Vec<SymbolCandidate> {
        if name.len() > MAX_NAME_BYTES {
            return Vec::new();
        }
        let found = self.index.symbols(|store| self.read(store, name));
        let mut found = found.unwrap_or_default();
        for candidate in &mut found {
            candidate.matched = matched;
        }
        found
    }

    fn read(&self, store: &dyn SymbolStore, name: &str) -> Result<Vec<SymbolCandidate>, StoreError> {
        let defining = store.files_defining(name, MAX_DEFINING_FILES)?;
        let mut candidates = Vec::new();
        if defining.total > MAX_DEFINING_FILES {
            return Ok(candidates);
        }
        for file in defining.files {
            let document = store.read_symbols(file)?;
            let Ok(path) = RepoPath::parse(&document.path) else {
                continue;
            };
            if self.root.access().allows(&path) {
                let found = read_candidates(&document, &path, name);
                let found = found.map_err(|error| StoreError::Damaged(error.to_string()))?;
                candidates.extend(found.candidates);
            }
        }
        Ok(candidates)
    }
}

/// How far a name may be from the one that is searched for.
#[derive(Clone, Copy)]
enum NameDistance {
    OtherCase,
    Edits(u8),
}

/// The definition as its file has it now. `None` if it is gone, or in a large file that has changed.
fn show(candidate: &SymbolCandidate, files: &mut SymbolFiles<'_>) -> Option<FoundSymbol> {
    let file = files.load(&candidate.path)?;
    let has_changed = file.content_hash != candidate.content_hash;
    if has_changed && file.text.len() > MAX_REPARSED_BYTES {
        return None;
    }
    candidate.show(files)
}
