//! Names that no scope and no import of a file explains: crates and module paths of Rust, fields that are
//! used without `this`, types that every file sees.

use std::collections::HashSet;
use std::rc::Rc;

use docent_core::language::Language;
use docent_core::symbols::{DefinitionId, ImportBinding, ImportedName, NameId, ReferenceRole, SymbolKind};

use super::exports::is_module_named;
use super::family::{FamilyId, LanguageFamily};
use super::loaded::{DefinitionRef, FileId, LoadedFile};
use super::resolve::{ExpressionValue, Resolution, SymbolResolver};
use crate::store::StoreError;

/// How far the bases of a class are followed for a name without a receiver.
const MAX_BASE_DEPTH: u8 = 8;

impl SymbolResolver<'_> {
    /// The values of a receiver whose name is not defined in its file and not imported.
    pub(super) fn values_of_free_name(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
    ) -> Result<Vec<ExpressionValue>, StoreError> {
        if LanguageFamily::of(loaded.language).has_implicit_members {
            let members = self.implicit_members(file, loaded, name)?;
            if !members.is_empty() {
                return Ok(members);
            }
        }
        if loaded.language == Language::Rust
            && let Some(module) = self.module_at_root(file, loaded, name)?
        {
            return Ok(vec![module]);
        }
        // `Vec`, `std`: a type or crate of others, because those of the project are imported.
        let is_type = name.chars().next().is_some_and(char::is_uppercase);
        let is_external = match loaded.language {
            Language::Rust => true,
            Language::Java => is_type,
            _ => false,
        };
        Ok(if is_external {
            vec![ExpressionValue::ExternalModule]
        } else {
            Vec::new()
        })
    }

    /// The first part of a path: `crate`, `super`, another crate of the workspace.
    fn module_at_root(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
    ) -> Result<Option<ExpressionValue>, StoreError> {
        let Some(written) = loaded.name_id(name) else {
            return Ok(None);
        };
        if name == "self" {
            return Ok(Some(ExpressionValue::Module(Rc::new(vec![file]))));
        }
        let binding = ImportBinding {
            local: NameId(u32::MAX),
            written,
            imported: ImportedName::Module,
            is_reexport: false,
            line: 0,
        };
        let files = self.import_files(file, loaded, &binding)?;
        Ok((!files.is_empty()).then_some(ExpressionValue::Module(files)))
    }

    /// Members of the types of a file and of their bases.
    fn implicit_members(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
    ) -> Result<Vec<ExpressionValue>, StoreError> {
        let members = loaded.definitions_named(name).filter(|(_, definition)| {
            let parent = definition.parent.map(|parent| loaded.definition(parent).kind);
            parent.is_some_and(|kind| kind.is_container() && kind != SymbolKind::Module)
        });
        let own: Vec<ExpressionValue> = members
            .map(|(id, _)| ExpressionValue::Definition(DefinitionRef { file, id }))
            .collect();
        if !own.is_empty() {
            return Ok(own);
        }
        if LanguageFamily::of(loaded.language).id == FamilyId::C {
            return self.fields_in_headers(name);
        }
        let types = (0..).map(DefinitionId).zip(loaded.definitions());
        let types = types.filter(|(_, definition)| !definition.bases.is_empty());
        for (id, _) in types.take(20) {
            let class = ExpressionValue::Instance(DefinitionRef { file, id });
            if let Resolution::Found(found) = self.members(&class, name, MAX_BASE_DEPTH)? {
                return Ok(found.into_iter().map(ExpressionValue::Definition).collect());
            }
        }
        Ok(Vec::new())
    }

    /// The field with a name, if only one class of the program has it: methods of C++ stand outside of their
    /// class, in another file.
    fn fields_in_headers(&self, name: &str) -> Result<Vec<ExpressionValue>, StoreError> {
        let mut found = Vec::new();
        let mut scopes = HashSet::new();
        for file in self.files.defining(name)?.iter() {
            let loaded = self.files.file(*file);
            for (id, definition) in loaded.definitions_named(name) {
                if definition.kind == SymbolKind::Field
                    && LanguageFamily::of(loaded.language).id == FamilyId::C
                {
                    scopes.insert(loaded.name(definition.scope).to_owned());
                    found.push(ExpressionValue::Definition(DefinitionRef { file: *file, id }));
                }
            }
        }
        Ok(if scopes.len() == 1 { found } else { Vec::new() })
    }

    /// Whether an import of Rust means the module itself, and not an item in it with the same name.
    pub(super) fn is_rust_module(
        &self,
        loaded: &LoadedFile,
        binding: &ImportBinding,
        files: &[FileId],
        name: &str,
    ) -> bool {
        if loaded.language != Language::Rust {
            return false;
        }
        let mut parts = loaded.name(binding.written).rsplit("::");
        let (_, before) = (parts.next(), parts.next());
        let is_module = |file: &FileId| is_module_named(&self.files.file(*file), name);
        // `extern crate grep_cli as cli` has one part.
        before.is_none() || before != Some(name) && files.iter().any(is_module)
    }

    /// Whether the type's name means the same type in another file, which has an `impl` block for it.
    pub(super) fn is_type_of_file(
        &self,
        other: FileId,
        file: &LoadedFile,
        of: DefinitionRef,
    ) -> Result<bool, StoreError> {
        let name = file.name(file.definition(of.id).name);
        let values = self.values_of_name(other, name, None, MAX_BASE_DEPTH)?;
        Ok(values.iter().any(
            |value| matches!(value, ExpressionValue::Definition(definition) if definition.file == of.file),
        ))
    }

    /// Fields and methods of Rust and Java may share a name: a call means the method.
    pub(super) fn prefer_by_role(&self, found: Resolution, role: ReferenceRole) -> Resolution {
        let Resolution::Found(mut definitions) = found else {
            return found;
        };
        let kind_of = |of: &DefinitionRef| self.files.file(of.file).definition(of.id).kind;
        let is_preferred = |of: &DefinitionRef| match role {
            ReferenceRole::Call => kind_of(of) == SymbolKind::Method,
            ReferenceRole::Member | ReferenceRole::Name => kind_of(of) == SymbolKind::Field,
            _ => true,
        };
        let has_both = |kind: SymbolKind| definitions.iter().any(|of| kind_of(of) == kind);
        if definitions.len() > 1 && has_both(SymbolKind::Method) && has_both(SymbolKind::Field) {
            definitions.retain(is_preferred);
        }
        Resolution::Found(definitions)
    }

    /// Whether definitions of a file are nothing but `impl` blocks of a type.
    pub(super) fn are_impl_blocks(&self, file: &LoadedFile, values: &[ExpressionValue]) -> bool {
        file.language == Language::Rust && values.iter().all(|value| self.is_impl_block(value))
    }

    /// The only classes of Rust are `impl` blocks.
    pub(super) fn is_impl_block(&self, value: &ExpressionValue) -> bool {
        let (ExpressionValue::Definition(definition) | ExpressionValue::Instance(definition)) = value else {
            return false;
        };
        let file = self.files.file(definition.file);
        file.language == Language::Rust && file.definition(definition.id).kind == SymbolKind::Class
    }

    /// The definitions of a file that make up one type: in Rust its `impl` blocks too.
    pub(super) fn parts_of_type(file: &LoadedFile, id: DefinitionId) -> Vec<DefinitionId> {
        let of = file.definition(id);
        if file.language != Language::Rust {
            return vec![id];
        }
        let named = file.definitions_named(file.name(of.name));
        named
            .filter(|(_, part)| part.scope == of.scope && part.kind.is_container())
            .map(|(id, _)| id)
            .collect()
    }
}
