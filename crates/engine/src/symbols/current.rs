//! Files with symbols as they are now. A stored definition is shown from them, or found again if its file has
//! changed since it was indexed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use docent_core::chunk::Rows;
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{
    DecodeError, FileSymbols, NameId, SymbolDefinition, SymbolKind, SymbolsReader, chunk_with_symbols,
};
use docent_core::text::positions::{PositionEncoding, TextPositions};
use xxhash_rust::xxh3::xxh3_64;

use super::overlay::{OverlaidFile, Overlay};
use super::{FoundSymbol, NameMatch, SymbolContext};
use crate::files::{Root, decode_file};
use crate::index::Index;
use crate::store::{StoreError, SymbolsDocument};

/// The files that a question has read last. Most are read once.
pub(super) struct SymbolFiles<'a> {
    root: &'a Root,
    overlay: Option<&'a Overlay>,
    /// `None` for a file that is gone, blocked or unreadable.
    files: HashMap<String, Option<SymbolFile>>,
    /// Bytes of their texts.
    held: usize,
}

/// A file as it is now.
pub(super) struct SymbolFile {
    pub(super) path: RepoPath,
    pub(super) text: String,
    /// Hash of its content, as the index has it.
    pub(super) content_hash: u64,
    /// Its symbols, once they were asked for.
    symbols: Option<FileSymbols>,
    /// The text was handed over by an editor.
    is_open: bool,
}

/// A definition apart from its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DefinitionKey<'a> {
    pub(super) name: &'a str,
    pub(super) scope: &'a str,
    pub(super) kind: SymbolKind,
    /// How many definitions before it in the file have the same name, scope and kind.
    pub(super) ordinal: usize,
}

/// The largest file that is read. Larger ones are not parsed.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Files are let go of when their texts have more bytes.
const MAX_HELD_TEXT_BYTES: usize = 256 << 10;

impl<'a> SymbolFiles<'a> {
    pub(super) fn new(context: &SymbolContext<'a>) -> Self {
        Self {
            overlay: context.overlay,
            ..Self::of_disk(context.root)
        }
    }

    /// The files as they are on disk, whatever an editor has open.
    pub(super) fn of_disk(root: &'a Root) -> Self {
        Self {
            root,
            overlay: None,
            files: HashMap::new(),
            held: 0,
        }
    }

    /// A file as it is now. `None` if it is gone, blocked or unreadable.
    pub(super) fn load(&mut self, path: &RepoPath) -> Option<&mut SymbolFile> {
        if self.held > MAX_HELD_TEXT_BYTES && !self.files.contains_key(path.as_str()) {
            self.files.clear();
            self.held = 0;
        }
        let file = match self.files.entry(path.as_str().to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let overlaid = self.overlay.and_then(|overlay| overlay.find(path));
                let file = match overlaid {
                    Some(overlaid) => Some(SymbolFile::of_overlay(overlaid)),
                    None => SymbolFile::read(self.root, path),
                };
                self.held += file.as_ref().map_or(0, |file| file.text.len());
                new.insert(file)
            }
        };
        file.as_mut()
    }
}

impl SymbolFile {
    fn read(root: &Root, path: &RepoPath) -> Option<Self> {
        let bytes = root.read(path, MAX_FILE_BYTES).ok()?.bytes;
        Some(Self {
            path: path.clone(),
            content_hash: xxh3_64(&bytes),
            text: decode_file(bytes),
            symbols: None,
            is_open: false,
        })
    }

    fn of_overlay(file: &OverlaidFile) -> Self {
        Self {
            path: file.path.clone(),
            content_hash: file.content_hash,
            text: file.text.to_string(),
            symbols: Some(file.symbols().cloned().unwrap_or_default()),
            is_open: file.is_open(),
        }
    }

    /// The positions of the text as an editor counts them.
    pub(super) fn positions(&self, encoding: PositionEncoding) -> TextPositions<'_> {
        if self.is_open {
            TextPositions::of(&self.text, encoding)
        } else {
            TextPositions::of_file(&self.text, encoding)
        }
    }

    /// The symbols of its present text. Empty if it is not parsed.
    fn symbols(&mut self) -> &FileSymbols {
        let Self {
            path, text, symbols, ..
        } = self;
        symbols.get_or_insert_with(|| {
            let language = Language::of_file(path, text);
            chunk_with_symbols(language, text).1.unwrap_or_default()
        })
    }

    /// The symbols of the file as it is now: those that are stored, unless it has changed since.
    pub(super) fn present_symbols(
        &mut self,
        index: &Index,
        stored: Option<&SymbolsDocument>,
    ) -> Result<FileSymbols, StoreError> {
        match stored {
            Some(stored) if stored.content_hash == self.content_hash => {
                let decoded = SymbolsReader::new(&stored.bytes).and_then(|reader| reader.decode());
                check_decoded(index, decoded)
            }
            _ => Ok(self.symbols().clone()),
        }
    }

    /// A definition of the file as it was when `content_hash` was computed, as it is now. `None` if it is
    /// gone.
    pub(super) fn show(
        &mut self,
        stored: &SymbolDefinition,
        key: DefinitionKey<'_>,
        content_hash: u64,
        matched: NameMatch,
    ) -> Option<FoundSymbol> {
        if content_hash == self.content_hash {
            let shown = ShownText::of(&self.path, &self.text);
            return Some(shown.symbol(stored, key.name, key.scope, matched));
        }
        self.symbols();
        let symbols = self.symbols.as_ref()?;
        let is_same = |definition: &&SymbolDefinition| {
            definition.kind == key.kind
                && symbols.name(definition.name) == key.name
                && symbols.name(definition.scope) == key.scope
        };
        let present = symbols.definitions.iter().filter(is_same).nth(key.ordinal)?;
        let shown = ShownText::of(&self.path, &self.text);
        Some(shown.symbol(present, key.name, key.scope, matched))
    }
}

/// Reports symbols that cannot be decoded as damage of the index.
pub(super) fn check_decoded<T>(index: &Index, decoded: Result<T, DecodeError>) -> Result<T, StoreError> {
    index.report_damage(decoded.map_err(|error| StoreError::Damaged(error.to_string())))
}

/// A text from which definitions are shown.
pub(super) struct ShownText<'a> {
    path: &'a RepoPath,
    text: &'a str,
    rows: Rows<'a>,
}

impl<'a> ShownText<'a> {
    pub(super) fn of(path: &'a RepoPath, text: &'a str) -> Self {
        Self {
            path,
            text,
            rows: Rows::of(text),
        }
    }

    /// A definition that was found in this text.
    pub(super) fn symbol(
        &self,
        definition: &SymbolDefinition,
        name: &str,
        scope: &str,
        matched: NameMatch,
    ) -> FoundSymbol {
        FoundSymbol {
            path: self.path.clone(),
            name: name.to_owned(),
            scope: scope.to_owned(),
            kind: definition.kind,
            first_line: definition.first_line,
            last_line: definition.last_line,
            line: definition.name_at.line,
            column: definition.name_at.char_column(&self.rows),
            signature: definition.signature_line(self.text),
            doc: definition.doc_line(self.text),
            matched,
        }
    }

    /// A definition of these symbols, which were read from this text.
    pub(super) fn symbol_of(
        &self,
        symbols: &FileSymbols,
        definition: &SymbolDefinition,
        matched: NameMatch,
    ) -> FoundSymbol {
        let name = |id: NameId| symbols.name(id);
        self.symbol(definition, name(definition.name), name(definition.scope), matched)
    }
}
