//! Imports and exports: the files behind an import, and the names that a file hands on to others.

use std::rc::Rc;

use docent_core::imports::{Import, ImportTarget};
use docent_core::language::Language;
use docent_core::symbols::{ImportBinding, ImportedName, SymbolDefinition, SymbolKind};

use super::constructors::is_constructor;
use super::family::{FamilyId, LanguageFamily};
use super::loaded::{DefinitionRef, FileId, LoadedFile};
use super::resolve::{ExpressionValue, Resolution, SymbolResolver, Values, as_resolution, limit};
use crate::store::StoreError;

impl SymbolResolver<'_> {
    /// The files behind an import.
    pub(super) fn import_files(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        binding: &ImportBinding,
    ) -> Result<Rc<Vec<FileId>>, StoreError> {
        let written = loaded.name(binding.written).to_owned();
        let key = (file, written);
        if let Some(known) = self.resolved.borrow().get(&key) {
            return Ok(known.clone());
        }
        let import = Import {
            written: key.1.clone(),
            line: binding.line as usize,
        };
        let mut files = Vec::new();
        match self
            .imports
            .resolve(loaded.language, loaded.path.as_str(), &import)
        {
            ImportTarget::Files(paths) => {
                for path in paths {
                    files.extend(self.files.find(&path)?);
                }
            }
            // `use super::*` in a module with its body in the file.
            ImportTarget::Itself if loaded.language == Language::Rust => files.push(file),
            _ => {}
        }
        let files = Rc::new(files);
        self.resolved.borrow_mut().insert(key, files.clone());
        Ok(files)
    }

    pub(super) fn values_of_import(&self, file: FileId, binding: &ImportBinding, depth: u8) -> Values {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.step()) else {
            return Ok(Vec::new());
        };
        let loaded = self.files.file(file);
        if loaded.language == Language::Go && binding.imported == ImportedName::Module {
            return Ok(vec![self.imported_package(file, &loaded, binding)]);
        }
        let files = self.import_files(file, &loaded, binding)?;
        if files.is_empty() {
            return Ok(vec![ExpressionValue::ExternalModule]);
        }
        match binding.imported {
            ImportedName::Module => Ok(vec![ExpressionValue::Module(files)]),
            ImportedName::Default => self.exported_by_all(&files, "default", depth),
            ImportedName::Wildcard => Ok(Vec::new()),
            ImportedName::Name(name) => {
                let name = loaded.name(name);
                if self.is_rust_module(&loaded, binding, &files, name) {
                    return Ok(vec![ExpressionValue::Module(files)]);
                }
                let values = self.exported_by_all(&files, name, depth)?;
                if values.is_empty()
                    && files
                        .iter()
                        .any(|file| is_module_named(&self.files.file(*file), name))
                {
                    return Ok(vec![ExpressionValue::Module(files)]);
                }
                Ok(values)
            }
        }
    }

    /// The package behind an import of Go.
    fn imported_package(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        binding: &ImportBinding,
    ) -> ExpressionValue {
        let written = loaded.name(binding.written).to_owned();
        let key = (file, written);
        if let Some(known) = self.packages.borrow().get(&key) {
            return known.clone();
        }
        let import = Import {
            written: key.1.clone(),
            line: binding.line as usize,
        };
        let target = self
            .imports
            .resolve(loaded.language, loaded.path.as_str(), &import);
        let package = match target {
            ImportTarget::Files(paths) if !paths.is_empty() => ExpressionValue::Package(Rc::new(paths)),
            _ => ExpressionValue::ExternalModule,
        };
        self.packages.borrow_mut().insert(key, package.clone());
        package
    }

    /// The definitions of a package with a name.
    pub(super) fn exported_by_package(
        &self,
        paths: &[String],
        name: &str,
        depth: u8,
    ) -> Result<Resolution, StoreError> {
        let directory = paths.first().and_then(|path| path.rsplit_once('/'));
        let directory = directory.map_or("", |(directory, _)| directory);
        let mut values = Vec::new();
        for file in self.files.defining_beside(name, directory)?.iter() {
            let path = self.files.file(*file).path.clone();
            if paths.iter().any(|known| known == path.as_str()) {
                values.extend(self.exported(*file, name, depth)?);
            }
        }
        if !values.is_empty() {
            return Ok(as_resolution(&limit(values)));
        }
        // Of a package whose files are all generated, nothing is known.
        for path in paths {
            if self.files.find(path)?.is_some() {
                return Ok(Resolution::Unknown);
            }
        }
        Ok(Resolution::External)
    }

    pub(super) fn exported_by_all(&self, files: &[FileId], name: &str, depth: u8) -> Values {
        let mut values = Vec::new();
        for file in files {
            values.extend(self.exported(*file, name, depth)?);
        }
        Ok(limit(values))
    }

    /// The definitions that other files can import from a file by name, re-exports included.
    pub(super) fn exported(&self, file: FileId, name: &str, depth: u8) -> Values {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.step()) else {
            return Ok(Vec::new());
        };
        let key = (file, name.to_owned());
        if let Some(known) = self.exported.borrow().get(&key) {
            return Ok(known.clone());
        }
        // Modules that hand on each other's names would be followed in every order otherwise.
        self.exported.borrow_mut().insert(key.clone(), Vec::new());
        let values = self.find_exported(file, name, depth)?;
        self.exported.borrow_mut().insert(key, values.clone());
        Ok(values)
    }

    pub(super) fn find_exported(&self, file: FileId, name: &str, depth: u8) -> Values {
        let loaded = self.files.file(file);
        let is_top = |definition: &SymbolDefinition| match definition.parent {
            None => loaded.name(definition.scope).is_empty(),
            Some(parent) => loaded.definition(parent).kind == SymbolKind::Module,
        };
        let own = loaded
            .definitions_named(name)
            .filter(|(_, definition)| is_top(definition));
        let own: Vec<ExpressionValue> = own
            .map(|(id, _)| ExpressionValue::Definition(DefinitionRef { file, id }))
            .collect();
        if !own.is_empty() {
            return Ok(limit(own));
        }
        // `import static zoo.Cages.open`, `import zoo.Cages.Door`
        if LanguageFamily::of(loaded.language).id == FamilyId::Jvm {
            let members = loaded.definitions_named(name);
            let members = members.filter(|(_, definition)| !is_constructor(&loaded, definition));
            let members: Vec<ExpressionValue> = members
                .map(|(id, _)| ExpressionValue::Definition(DefinitionRef { file, id }))
                .collect();
            return Ok(limit(members));
        }
        let mut values = Vec::new();
        let wanted = loaded.name_id(name);
        for binding in loaded.imports().iter().filter(|binding| binding.is_reexport) {
            if binding.imported == ImportedName::Wildcard {
                continue;
            }
            if Some(binding.local) != wanted {
                continue;
            }
            match (loaded.name(binding.written), binding.imported) {
                ("", ImportedName::Name(own)) => {
                    values.extend(self.values_of_name(file, loaded.name(own), None, depth)?);
                }
                _ => values.extend(self.values_of_import(file, binding, depth)?),
            }
        }
        if values.is_empty() {
            for binding in loaded.imports().iter().filter(|binding| binding.is_reexport) {
                if binding.imported == ImportedName::Wildcard {
                    let files = self.import_files(file, &loaded, binding)?;
                    values.extend(self.exported_by_all(&files, name, depth)?);
                }
            }
        }
        Ok(limit(values))
    }
}

/// Whether a file is the module with a name: `name.py`, `name/__init__.py`.
pub(super) fn is_module_named(file: &LoadedFile, name: &str) -> bool {
    let path = file.path.as_str();
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let stem = stem
        .strip_suffix("/__init__")
        .or_else(|| stem.strip_suffix("/mod"))
        .unwrap_or(stem);
    stem.rsplit('/').next() == Some(name)
}
