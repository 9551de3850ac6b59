//! Files that a file includes, for names that a macro of one of them takes over: `#define free zfree`.

use std::collections::HashSet;

use docent_core::symbols::{ImportedName, SymbolKind};

use super::loaded::{FileId, LoadedFile};
use super::resolve::{ExpressionValue, SymbolResolver};
use crate::store::StoreError;

/// Files that are looked at below one file.
const MAX_INCLUDED_FILES: usize = 400;

impl SymbolResolver<'_> {
    /// Leaves macros out that no included file defines, or else everything but those.
    pub(super) fn choose_macros(
        &self,
        file: FileId,
        values: Vec<ExpressionValue>,
    ) -> Result<Vec<ExpressionValue>, StoreError> {
        let is_macro = |value: &ExpressionValue| match value {
            ExpressionValue::Definition(definition) => {
                let loaded = self.files.file(definition.file);
                loaded.definition(definition.id).kind == SymbolKind::Macro
            }
            _ => false,
        };
        let macros = values.iter().filter(|value| is_macro(value)).count();
        if macros == 0 || macros == values.len() {
            return Ok(values);
        }
        let included = self.included_files(file)?;
        let is_included = |value: &ExpressionValue| match value {
            ExpressionValue::Definition(definition) => {
                included.has(definition.file, &self.files.file(definition.file))
            }
            _ => false,
        };
        let takes_over = values.iter().any(|value| is_macro(value) && is_included(value));
        let is_meant =
            |value: &ExpressionValue| is_macro(value) == takes_over && (!takes_over || is_included(value));
        Ok(values.into_iter().filter(is_meant).collect())
    }

    /// The file itself and the files that it includes, directly or through others.
    fn included_files(&self, file: FileId) -> Result<IncludedFiles, StoreError> {
        let mut included = IncludedFiles::default();
        included.files.insert(file);
        let mut pending = vec![file];
        while let Some(file) = pending.pop() {
            let loaded = self.files.file(file);
            for binding in loaded.imports() {
                if binding.imported != ImportedName::Wildcard {
                    continue;
                }
                let found = self.import_files(file, &loaded, binding)?;
                if found.is_empty() {
                    let written = loaded.name(binding.written);
                    included.unresolved.insert(file_name(written).to_owned());
                }
                for found in found.iter() {
                    if included.files.len() < MAX_INCLUDED_FILES && included.files.insert(*found) {
                        pending.push(*found);
                    }
                }
            }
        }
        Ok(included)
    }
}

/// The files that a file includes.
#[derive(Default)]
struct IncludedFiles {
    files: HashSet<FileId>,
    /// File names of those that only the options of the compiler could find.
    unresolved: HashSet<String>,
}

impl IncludedFiles {
    fn has(&self, file: FileId, loaded: &LoadedFile) -> bool {
        self.files.contains(&file) || self.unresolved.contains(file_name(loaded.path.as_str()))
    }
}

fn file_name(path: &str) -> &str {
    let path = path.trim_matches(['<', '>', '"']);
    path.rsplit('/').next().unwrap_or_default()
}
