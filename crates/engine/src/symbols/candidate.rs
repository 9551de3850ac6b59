//! Stored definitions that a question may mean, not yet read from their files.

use std::collections::{HashMap, HashSet};

use docent_core::path::RepoPath;
use docent_core::symbols::{DecodeError, DefinitionId, SymbolDefinition, SymbolKind, SymbolsReader};

use super::current::{DefinitionKey, SymbolFiles};
use super::{FoundSymbol, NameMatch};
use crate::store::SymbolsDocument;

/// A stored definition that a question may mean.
#[derive(Clone, Debug)]
pub(super) struct SymbolCandidate {
    pub(super) path: RepoPath,
    /// Hash of the content in which it was found.
    pub(super) content_hash: u64,
    pub(super) id: DefinitionId,
    pub(super) definition: SymbolDefinition,
    pub(super) name: String,
    pub(super) scope: String,
    /// See [`DefinitionKey::ordinal`].
    ordinal: usize,
    /// A further part of a type or module that is defined elsewhere: an `impl` block, a class that is opened
    /// again in the same file.
    pub(super) is_reopened: bool,
    pub(super) matched: NameMatch,
}

/// The definitions of one file with one name.
pub(super) struct FileCandidates {
    pub(super) candidates: Vec<SymbolCandidate>,
    pub(super) package: String,
}

/// Reads the definitions with this name from the stored symbols of a file.
pub(super) fn read_candidates(
    document: &SymbolsDocument,
    path: &RepoPath,
    wanted: &str,
) -> Result<FileCandidates, DecodeError> {
    let reader = SymbolsReader::new(&document.bytes)?;
    let mut found = FileCandidates {
        candidates: Vec::new(),
        package: reader.package().to_owned(),
    };
    // `Row` also finds `Zoo.Row`, which is another name.
    let is_wanted = |name: &str| {
        name == wanted
            || name
                .strip_suffix(wanted)
                .is_some_and(|before| before.ends_with('.'))
    };
    // The table of names is decoded only if the name is a part of longer ones.
    let wanted_id = reader.find_name(wanted)?;
    let mut ordinals: HashMap<(String, SymbolKind), usize> = HashMap::new();
    let mut opened: HashSet<String> = HashSet::new();
    for (id, definition) in (0..).map(DefinitionId).zip(reader.definitions()?) {
        if wanted_id.is_some_and(|id| id != definition.name) {
            continue;
        }
        let name = reader.name(definition.name)?;
        if !is_wanted(name) {
            continue;
        }
        let scope = reader.name(definition.scope)?;
        let full_name = format!("{scope}.{name}");
        let ordinal = ordinals.entry((full_name.clone(), definition.kind)).or_default();
        let is_container = definition.kind.is_container();
        // The only classes of Rust are `impl` blocks.
        let is_impl = definition.kind == SymbolKind::Class && path.extension() == Some("rs");
        let is_opened_again = is_container && opened.contains(&full_name);
        // A class that is declared before it is defined is defined once.
        if is_container && definition.has_body {
            opened.insert(full_name);
        }
        found.candidates.push(SymbolCandidate {
            path: path.clone(),
            content_hash: document.content_hash,
            id,
            name: name.to_owned(),
            scope: scope.to_owned(),
            ordinal: *ordinal,
            is_reopened: is_impl || is_opened_again,
            matched: NameMatch::Exact,
            definition,
        });
        *ordinal += 1;
    }
    Ok(found)
}

impl SymbolCandidate {
    /// The name with its scope.
    pub(super) fn full_name(&self) -> String {
        format!("{}.{}", self.scope, self.name)
    }

    /// Its scope, with the part of its name that is one.
    pub(super) fn full_scope(&self) -> String {
        match self.name.rsplit_once('.') {
            Some((before, _)) => format!("{}.{before}", self.scope),
            None => self.scope.clone(),
        }
    }

    /// The definition as its file has it now. `None` if it is gone.
    pub(super) fn show(&self, files: &mut SymbolFiles<'_>) -> Option<FoundSymbol> {
        let key = DefinitionKey {
            name: &self.name,
            scope: &self.scope,
            kind: self.definition.kind,
            ordinal: self.ordinal,
        };
        files
            .load(&self.path)?
            .show(&self.definition, key, self.content_hash, self.matched)
    }
}
