//! Resolution: from a name or an expression in one file to the definitions it means.
//!
//! Scopes come first, then imports, then the package; receivers are followed through annotations, constructors,
//! fields and results of functions ([`Expression`]). No type checker, and nothing is run.
//!
//! Invariant: every question takes a bounded number of steps, so that cyclic imports and types end.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use docent_core::imports::{Import, ImportTarget, ProjectFiles, Resolver};
use docent_core::language::Language;
use docent_core::symbols::{
    DefinitionId, Expression, ExpressionId, ImportBinding, Imported, Reference, ReferenceRole,
    SymbolDefinition, SymbolKind, Target,
};

use super::constructors::is_constructor;
use super::family::{Family, FamilyId, Visibility};
use super::loaded::{DefinitionRef, FileId, LoadedFile, LoadedFiles};
use crate::store::StoreError;

/// How far imports, base types and results are followed.
const MAX_DEPTH: u8 = 12;

/// Steps of one question. A generated project could keep it busy for minutes otherwise.
const MAX_STEPS: usize = 2_000_000;

/// Values that an expression can have. More say nothing.
const MAX_VALUES: usize = 16;

pub(super) struct SymbolResolver<'a> {
    pub(super) files: LoadedFiles<'a>,
    imports: Resolver<'a>,
    resolved: RefCell<HashMap<(FileId, String), Rc<Vec<FileId>>>>,
    values: RefCell<HashMap<(FileId, ExpressionId), Vec<Value>>>,
    exported: RefCell<HashMap<(FileId, String), Vec<Value>>>,
    steps: Cell<usize>,
}

/// A value that an expression may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The definition itself: a class, a function, a namespace.
    Definition(DefinitionRef),
    /// An object of a type.
    Instance(DefinitionRef),
    /// An imported module or package.
    Module(Rc<Vec<FileId>>),
    Collection(Box<Value>),
    /// Not of this project: a package, a module of the language.
    ExternalModule,
    /// An object of a type that the project does not define.
    ExternalInstance,
}

/// The definitions behind a use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// Followed to these definitions.
    Found(Vec<DefinitionRef>),
    /// Followed to something outside of the project.
    External,
    /// The text does not say enough.
    Unknown,
}

type Values = Result<Vec<Value>, StoreError>;

impl<'a> SymbolResolver<'a> {
    pub(super) fn new(files: LoadedFiles<'a>, project: &'a dyn ProjectFiles) -> Self {
        Self {
            files,
            imports: Resolver::new(project),
            resolved: RefCell::default(),
            values: RefCell::default(),
            exported: RefCell::default(),
            steps: Cell::new(MAX_STEPS),
        }
    }

    /// The definitions that a use means.
    pub(super) fn resolve(
        &self,
        file: FileId,
        name: &str,
        reference: &Reference,
    ) -> Result<Resolution, StoreError> {
        let found = self.resolve_target(file, name, reference)?;
        let found = self.prefer_by_role(found, reference.role);
        self.with_constructors(found, name, reference.role)
    }

    fn resolve_target(
        &self,
        file: FileId,
        name: &str,
        reference: &Reference,
    ) -> Result<Resolution, StoreError> {
        let loaded = self.files.file(file);
        match reference.target {
            Target::Definition(id) => Ok(Resolution::Found(vec![DefinitionRef { file, id }])),
            Target::UnknownMember => Ok(Resolution::Unknown),
            Target::Scope if reference.role == ReferenceRole::Import => {
                self.resolve_import_use(file, &loaded, name, reference.at.line)
            }
            Target::Scope => {
                let values = self.values_of_name(file, name, reference.within, MAX_DEPTH)?;
                Ok(as_resolution(&values))
            }
            Target::Member(receiver) => {
                let receivers = self.values_of(file, receiver, MAX_DEPTH)?;
                self.resolve_member(&receivers, name)
            }
        }
    }

    fn resolve_member(&self, receivers: &[Value], name: &str) -> Result<Resolution, StoreError> {
        let mut found = Vec::new();
        let mut is_external = false;
        let mut is_unknown = receivers.is_empty();
        for receiver in receivers {
            match self.members(receiver, name, MAX_DEPTH)? {
                Resolution::Found(definitions) => found.extend(definitions),
                Resolution::External => is_external = true,
                // The type itself is among the receivers, too.
                Resolution::Unknown if self.is_impl_block(receiver) => {}
                Resolution::Unknown => is_unknown = true,
            }
        }
        Ok(if !found.is_empty() {
            found.sort_unstable();
            found.dedup();
            Resolution::Found(found)
        } else if is_external && !is_unknown {
            Resolution::External
        } else {
            Resolution::Unknown
        })
    }

    fn resolve_import_use(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
        line: u32,
    ) -> Result<Resolution, StoreError> {
        let Some(id) = loaded.name_id(name) else {
            return Ok(Resolution::Unknown);
        };
        let mut values = Vec::new();
        for binding in &loaded.symbols.imports {
            let is_meant = match binding.imported {
                Imported::Name(imported) => imported == id,
                Imported::Default => binding.local == id,
                _ => false,
            };
            if !is_meant || binding.line != line {
                continue;
            }
            // `export { render }` hands on a name of this file.
            values.extend(if loaded.symbols.name(binding.written).is_empty() {
                self.values_of_name(file, name, None, MAX_DEPTH)?
            } else {
                self.values_of_import(file, binding, MAX_DEPTH)?
            });
        }
        Ok(as_resolution(&values))
    }

    fn step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    /// The values that a name of the file's scopes can have.
    pub(super) fn values_of_name(
        &self,
        file: FileId,
        name: &str,
        within: Option<DefinitionId>,
        depth: u8,
    ) -> Values {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.step()) else {
            return Ok(Vec::new());
        };
        let loaded = self.files.file(file);
        let family = Family::of(loaded.language);
        let local = self.lexical_definitions(file, &loaded, name, within, family)?;
        if !local.is_empty() && !self.are_impl_blocks(&loaded, &local) {
            return Ok(local);
        }
        // `impl Display for Row` does not define `Row`.
        let has_impl_blocks = !local.is_empty();
        let mut values = local;
        let mut is_imported = false;
        if let Some(id) = loaded.name_id(name) {
            for binding in loaded
                .symbols
                .imports
                .iter()
                .filter(|binding| binding.local == id)
            {
                // `export default f` binds no name in the file.
                if loaded.symbols.name(binding.written).is_empty() {
                    continue;
                }
                is_imported = true;
                values.extend(self.values_of_import(file, binding, depth)?);
            }
        }
        if is_imported {
            return Ok(limit(values));
        }
        values.extend(self.package_definitions(file, &loaded, name, family)?);
        if family.has_declarations {
            values = self.choose_macros(file, values)?;
        }
        if values.is_empty() || has_impl_blocks {
            let known = values.len();
            for binding in &loaded.symbols.imports {
                if binding.imported == Imported::Wildcard {
                    for target in self.import_files(file, &loaded, binding)?.iter() {
                        values.extend(self.exported(*target, name, depth)?);
                    }
                }
            }
            if has_impl_blocks && values.len() == known {
                values.push(Value::ExternalModule);
            }
        }
        Ok(limit(values))
    }

    /// Definitions of the file itself that are visible at a place.
    fn lexical_definitions(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
        within: Option<DefinitionId>,
        family: Family,
    ) -> Values {
        let mut around: Vec<Option<DefinitionId>> = vec![None];
        let mut at = within;
        while let Some(id) = at {
            around.push(Some(id));
            at = loaded.definition(id).parent;
        }
        let mut visible: Vec<(usize, DefinitionId)> = Vec::new();
        for (id, definition) in loaded.definitions_named(name) {
            let Some(distance) = around.iter().rposition(|parent| *parent == definition.parent) else {
                continue;
            };
            let is_member = definition.parent.is_some_and(|parent| {
                let parent = loaded.definition(parent);
                parent.kind.is_container() && parent.kind != SymbolKind::Module
            }) || definition.parent.is_none()
                && !loaded.symbols.name(definition.scope).is_empty();
            // In the body of a class, its members are plain names: `name = property(get_name)`.
            let is_in_body = definition.parent.is_some()
                && definition.parent == within
                && loaded.language != Language::Rust;
            if is_member && !is_in_body && !family.has_implicit_members || is_constructor(loaded, definition)
            {
                continue;
            }
            visible.push((distance, id));
        }
        // The parent that is nearest to the use wins; `around` begins at the top of the file.
        let nearest =
            |(distance, _): &(usize, DefinitionId)| if *distance == 0 { usize::MAX } else { *distance };
        let Some(best) = visible.iter().map(nearest).min() else {
            return if family.has_implicit_members {
                self.inherited_members(file, loaded, name, within)
            } else {
                Ok(Vec::new())
            };
        };
        let best = visible.iter().filter(|found| nearest(found) == best);
        Ok(limit(
            best.map(|(_, id)| Value::Definition(DefinitionRef { file, id: *id }))
                .collect(),
        ))
    }

    /// Members of the classes around a use and of their bases, in languages where `this.` can be left out.
    fn inherited_members(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
        within: Option<DefinitionId>,
    ) -> Values {
        let mut at = within;
        while let Some(id) = at {
            let definition = loaded.definition(id);
            let is_type = definition.kind.is_container() && definition.kind != SymbolKind::Module;
            let class = if is_type {
                vec![Value::Instance(DefinitionRef { file, id })]
            } else if is_outside_of_type(loaded, definition) {
                let scope = loaded.symbols.name(definition.scope);
                let class = scope.rsplit('.').next().unwrap_or_default();
                self.package_definitions(file, loaded, class, Family::of(loaded.language))?
            } else {
                Vec::new()
            };
            for class in class {
                if let Resolution::Found(found) = self.members(&class, name, MAX_DEPTH)? {
                    return Ok(limit(found.into_iter().map(Value::Definition).collect()));
                }
            }
            at = definition.parent;
        }
        Ok(Vec::new())
    }

    /// Definitions that a file sees without an import: of its package, its directory or the whole program.
    fn package_definitions(&self, file: FileId, loaded: &LoadedFile, name: &str, family: Family) -> Values {
        if family.visibility == Visibility::File {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        for other in self.files.defining(name)?.iter() {
            if *other == file && family.visibility != Visibility::Program {
                continue;
            }
            let candidate = self.files.file(*other);
            if Family::of(candidate.language).id != family.id {
                continue;
            }
            let is_visible = match family.visibility {
                Visibility::File => false,
                Visibility::Directory => {
                    candidate.directory() == loaded.directory()
                        && (candidate.symbols.package == loaded.symbols.package
                            || loaded.symbols.package.is_empty())
                }
                Visibility::Package => candidate.symbols.package == loaded.symbols.package,
                Visibility::Program => true,
            };
            if !is_visible {
                continue;
            }
            let top = candidate.definitions_named(name).filter(|(_, definition)| {
                let is_top =
                    definition.parent.is_none() && candidate.symbols.name(definition.scope).is_empty();
                let is_enumerator = family.has_loose_constants && definition.kind == SymbolKind::Constant;
                let in_module = definition
                    .parent
                    .is_some_and(|parent| candidate.definition(parent).kind == SymbolKind::Module);
                (is_top || is_enumerator || in_module) && (!definition.is_file_local || *other == file)
            });
            values.extend(top.map(|(id, _)| Value::Definition(DefinitionRef { file: *other, id })));
        }
        Ok(limit(values))
    }

    /// The files behind an import.
    pub(super) fn import_files(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        binding: &ImportBinding,
    ) -> Result<Rc<Vec<FileId>>, StoreError> {
        let written = loaded.symbols.name(binding.written).to_owned();
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

    fn values_of_import(&self, file: FileId, binding: &ImportBinding, depth: u8) -> Values {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.step()) else {
            return Ok(Vec::new());
        };
        let loaded = self.files.file(file);
        let files = self.import_files(file, &loaded, binding)?;
        if files.is_empty() {
            return Ok(vec![Value::ExternalModule]);
        }
        match binding.imported {
            Imported::Module => Ok(vec![Value::Module(files)]),
            Imported::Default => self.exported_by_all(&files, "default", depth),
            Imported::Wildcard => Ok(Vec::new()),
            Imported::Name(name) => {
                let name = loaded.symbols.name(name);
                if self.is_rust_module(&loaded, binding, &files, name) {
                    return Ok(vec![Value::Module(files)]);
                }
                let values = self.exported_by_all(&files, name, depth)?;
                if values.is_empty()
                    && files
                        .iter()
                        .any(|file| is_module_named(&self.files.file(*file), name))
                {
                    return Ok(vec![Value::Module(files)]);
                }
                Ok(values)
            }
        }
    }

    fn exported_by_all(&self, files: &[FileId], name: &str, depth: u8) -> Values {
        let mut values = Vec::new();
        for file in files {
            values.extend(self.exported(*file, name, depth)?);
        }
        Ok(limit(values))
    }

    /// The definitions that other files can import from a file by name, re-exports included.
    fn exported(&self, file: FileId, name: &str, depth: u8) -> Values {
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

    fn find_exported(&self, file: FileId, name: &str, depth: u8) -> Values {
        let loaded = self.files.file(file);
        let is_top = |definition: &SymbolDefinition| match definition.parent {
            None => loaded.symbols.name(definition.scope).is_empty(),
            Some(parent) => loaded.definition(parent).kind == SymbolKind::Module,
        };
        let own = loaded
            .definitions_named(name)
            .filter(|(_, definition)| is_top(definition));
        let own: Vec<Value> = own
            .map(|(id, _)| Value::Definition(DefinitionRef { file, id }))
            .collect();
        if !own.is_empty() {
            return Ok(limit(own));
        }
        // `import static zoo.Cages.open`, `import zoo.Cages.Door`
        if Family::of(loaded.language).id == FamilyId::Jvm {
            let members = loaded.definitions_named(name);
            let members = members.filter(|(_, definition)| !is_constructor(&loaded, definition));
            let members: Vec<Value> = members
                .map(|(id, _)| Value::Definition(DefinitionRef { file, id }))
                .collect();
            return Ok(limit(members));
        }
        let mut values = Vec::new();
        let wanted = loaded.name_id(name);
        for binding in loaded
            .symbols
            .imports
            .iter()
            .filter(|binding| binding.is_reexport)
        {
            if binding.imported == Imported::Wildcard {
                continue;
            }
            if Some(binding.local) != wanted {
                continue;
            }
            match (loaded.symbols.name(binding.written), binding.imported) {
                ("", Imported::Name(own)) => {
                    values.extend(self.values_of_name(file, loaded.symbols.name(own), None, depth)?);
                }
                _ => values.extend(self.values_of_import(file, binding, depth)?),
            }
        }
        if values.is_empty() {
            for binding in loaded
                .symbols
                .imports
                .iter()
                .filter(|binding| binding.is_reexport)
            {
                if binding.imported == Imported::Wildcard {
                    let files = self.import_files(file, &loaded, binding)?;
                    values.extend(self.exported_by_all(&files, name, depth)?);
                }
            }
        }
        Ok(limit(values))
    }

    /// The values that an expression can have.
    pub(super) fn values_of(&self, file: FileId, expression: ExpressionId, depth: u8) -> Values {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.step()) else {
            return Ok(Vec::new());
        };
        if let Some(known) = self.values.borrow().get(&(file, expression)) {
            return Ok(known.clone());
        }
        // A cycle finds nothing: the value of an expression in terms of itself.
        self.values.borrow_mut().insert((file, expression), Vec::new());
        let loaded = self.files.file(file);
        let of = |id: DefinitionId| DefinitionRef { file, id };
        let values = match loaded.symbols.expressions.get(expression.0 as usize) {
            None => Vec::new(),
            Some(Expression::Builtin) => vec![Value::ExternalInstance],
            Some(Expression::Definition(id)) => vec![Value::Definition(of(*id))],
            Some(Expression::This(id)) => vec![Value::Instance(of(*id))],
            Some(Expression::Super(id)) => {
                let bases = self.bases(of(*id), depth)?;
                bases.into_iter().map(instance_of).collect()
            }
            Some(Expression::Name(name)) => {
                let name = loaded.symbols.name(*name);
                let mut values = self.values_of_name(file, name, None, depth)?;
                if values.is_empty() {
                    values = self.values_of_free_name(file, &loaded, name)?;
                }
                self.read_all(values, depth)?
            }
            Some(Expression::Member(receiver, name)) => {
                let receivers = self.values_of(file, *receiver, depth)?;
                self.values_of_member(&receivers, loaded.symbols.name(*name), depth)?
            }
            Some(Expression::Call(callee)) => {
                let mut values = Vec::new();
                for callee in self.values_of(file, *callee, depth)? {
                    values.extend(self.result_of(callee, depth)?);
                }
                values
            }
            Some(Expression::Instance(of_type)) => {
                let values = self.values_of(file, *of_type, depth)?;
                values.into_iter().map(instance_of).collect()
            }
            Some(Expression::Collection(inner)) => {
                let inner = self.values_of(file, *inner, depth)?;
                inner
                    .into_iter()
                    .map(|value| Value::Collection(Box::new(value)))
                    .collect()
            }
            Some(Expression::Element(of)) => {
                let collections = self.values_of(file, *of, depth)?;
                collections
                    .into_iter()
                    .filter_map(|value| match value {
                        Value::Collection(inner) => Some(*inner),
                        _ => None,
                    })
                    .collect()
            }
        };
        let values = limit(values);
        self.values
            .borrow_mut()
            .insert((file, expression), values.clone());
        Ok(values)
    }

    fn values_of_member(&self, receivers: &[Value], name: &str, depth: u8) -> Values {
        let mut values = Vec::new();
        for receiver in receivers {
            match receiver {
                Value::ExternalModule => values.push(Value::ExternalModule),
                _ => match self.members(receiver, name, depth)? {
                    Resolution::Found(found) => {
                        values.extend(
                            self.read_all(found.into_iter().map(Value::Definition).collect(), depth)?,
                        );
                    }
                    Resolution::External => values.push(Value::ExternalInstance),
                    Resolution::Unknown => values.extend(self.submodule(receiver, name)?),
                },
            }
        }
        Ok(limit(values))
    }

    /// `package.module`, where the package is a directory.
    fn submodule(&self, receiver: &Value, name: &str) -> Values {
        let Value::Module(files) = receiver else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for file in files.iter() {
            let loaded = self.files.file(*file);
            if loaded.language == Language::Python && loaded.path.as_str().ends_with("__init__.py") {
                let directory = loaded.path.as_str().trim_end_matches("__init__.py");
                for path in [
                    format!("{directory}{name}.py"),
                    format!("{directory}{name}/__init__.py"),
                ] {
                    found.extend(self.files.find(&path)?);
                }
            }
        }
        Ok(if found.is_empty() {
            Vec::new()
        } else {
            vec![Value::Module(Rc::new(found))]
        })
    }

    /// The values that reading definitions gives: a field has the value of its type, a function is itself.
    fn read_all(&self, values: Vec<Value>, depth: u8) -> Values {
        let mut read = Vec::new();
        for value in values {
            match value {
                Value::Definition(definition) => {
                    let file = self.files.file(definition.file);
                    let found = file.definition(definition.id);
                    let is_variable = matches!(
                        found.kind,
                        SymbolKind::Field | SymbolKind::Variable | SymbolKind::Constant
                    );
                    match found.result.filter(|_| is_variable) {
                        Some(result) => read.extend(self.values_of(definition.file, result, depth)?),
                        None if is_variable => {}
                        None => read.push(Value::Definition(definition)),
                    }
                }
                other => read.push(other),
            }
        }
        Ok(read)
    }

    /// The values that a call can return.
    fn result_of(&self, callee: Value, depth: u8) -> Values {
        let definition = match callee {
            Value::Definition(definition) => definition,
            Value::ExternalModule | Value::ExternalInstance => return Ok(vec![Value::ExternalInstance]),
            _ => return Ok(Vec::new()),
        };
        let file = self.files.file(definition.file);
        let found = file.definition(definition.id);
        if found.kind.is_container() {
            return Ok(vec![Value::Instance(definition)]);
        }
        match found.result {
            Some(result) => self.values_of(definition.file, result, depth),
            None => Ok(Vec::new()),
        }
    }

    /// The types that a type is based on. [`Value::ExternalModule`] for one that is not of this project.
    pub(super) fn bases(&self, of: DefinitionRef, depth: u8) -> Values {
        let file = self.files.file(of.file);
        let mut bases = Vec::new();
        for part in Self::parts_of_type(&file, of.id) {
            for base in &file.definition(part).bases {
                let values = self.values_of(of.file, *base, depth)?;
                if values.is_empty() {
                    bases.push(Value::ExternalModule);
                }
                bases.extend(values);
            }
        }
        Ok(limit(bases))
    }

    /// The members of a value with a name.
    pub(super) fn members(&self, of: &Value, name: &str, depth: u8) -> Result<Resolution, StoreError> {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.step()) else {
            return Ok(Resolution::Unknown);
        };
        match of {
            Value::ExternalModule | Value::ExternalInstance | Value::Collection(_) => {
                Ok(Resolution::External)
            }
            Value::Module(files) => {
                let values = self.exported_by_all(files, name, depth)?;
                Ok(as_resolution(&values))
            }
            Value::Definition(definition) | Value::Instance(definition) => {
                let own = self.own_members(*definition, name)?;
                if !own.is_empty() {
                    return Ok(Resolution::Found(own));
                }
                for base in self.bases(*definition, depth)? {
                    if base == *of {
                        continue;
                    }
                    if let Resolution::Found(found) = self.members(&base, name, depth)? {
                        return Ok(Resolution::Found(found));
                    }
                }
                Ok(Resolution::Unknown)
            }
        }
    }

    /// The members that the definition of a type has itself, wherever its language lets them stand.
    pub(super) fn own_members(
        &self,
        of: DefinitionRef,
        name: &str,
    ) -> Result<Vec<DefinitionRef>, StoreError> {
        let file = self.files.file(of.file);
        let path = file.path_of(file.definition(of.id));
        let family = Family::of(file.language);
        let is_member = |loaded: &LoadedFile, definition: &SymbolDefinition| {
            loaded.symbols.name(definition.scope) == path
        };
        let here = file
            .definitions_named(name)
            .filter(|(_, definition)| is_member(&file, definition));
        let mut found: Vec<DefinitionRef> = here.map(|(id, _)| DefinitionRef { file: of.file, id }).collect();
        if !found.is_empty() || !family.has_split_types {
            return Ok(found);
        }
        for other in self
            .files
            .defining(name)?
            .iter()
            .filter(|other| **other != of.file)
        {
            let candidate = self.files.file(*other);
            let is_same_package =
                family.visibility != Visibility::Directory || candidate.directory() == file.directory();
            if Family::of(candidate.language).id != family.id || !is_same_package {
                continue;
            }
            if file.language == Language::Rust && !self.is_type_of_file(*other, &file, of)? {
                continue;
            }
            let there = candidate
                .definitions_named(name)
                .filter(|(_, definition)| is_member(&candidate, definition));
            found.extend(there.map(|(id, _)| DefinitionRef { file: *other, id }));
        }
        found.truncate(MAX_VALUES);
        Ok(found)
    }
}

fn instance_of(value: Value) -> Value {
    match value {
        Value::Definition(definition) => Value::Instance(definition),
        Value::ExternalModule | Value::Module(_) => Value::ExternalInstance,
        other => other,
    }
}

fn limit(mut values: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(values.len().min(MAX_VALUES));
    for value in values.drain(..) {
        if kept.len() < MAX_VALUES && !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// Whether a method stands outside of its type: `void Row::render() {}`.
fn is_outside_of_type(file: &LoadedFile, definition: &SymbolDefinition) -> bool {
    let around = definition
        .parent
        .map(|parent| file.path_of(file.definition(parent)));
    file.symbols.name(definition.scope) != around.unwrap_or_default()
}

/// The definitions among values.
fn as_resolution(values: &[Value]) -> Resolution {
    let definitions = values.iter().filter_map(|value| match value {
        Value::Definition(definition) => Some(*definition),
        _ => None,
    });
    let mut found: Vec<DefinitionRef> = definitions.collect();
    if !found.is_empty() {
        found.sort_unstable();
        return Resolution::Found(found);
    }
    let is_external = |value: &Value| matches!(value, Value::ExternalModule | Value::Module(_));
    if !values.is_empty() && values.iter().all(is_external) {
        Resolution::External
    } else {
        Resolution::Unknown
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
