//! Resolution: from a name or an expression in one file to the definitions it means.
//!
//! Scopes come first, then imports, then the package; receivers are followed through annotations,
//! constructors, fields and results of functions (`values.rs`). No type checker, and nothing is run.
//!
//! Invariant: every question takes a bounded number of steps, so that cyclic imports and types end.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use docent_core::imports::{ProjectFiles, Resolver};
use docent_core::language::Language;
use docent_core::symbols::{
    DefinitionId, ExpressionId, ImportedName, Reference, ReferenceRole, SymbolDefinition, SymbolKind, Target,
};

use super::constructors::is_constructor;
use super::family::{LanguageFamily, Visibility};
use super::loaded::{DefinitionRef, FileId, LoadedFile, LoadedFiles};
use crate::store::StoreError;

/// How far imports, base types and results are followed.
pub(super) const MAX_DEPTH: u8 = 12;

/// Steps of one question. A generated project could keep it busy for minutes otherwise.
const MAX_STEPS: usize = 2_000_000;

/// Values that an expression can have. More say nothing.
pub(super) const MAX_VALUES: usize = 16;

/// The files behind an import.
type ImportedFiles = Rc<Vec<FileId>>;

pub(super) struct SymbolResolver<'a> {
    pub(super) files: LoadedFiles<'a>,
    pub(super) imports: Resolver<'a>,
    pub(super) resolved: RefCell<HashMap<(FileId, String), ImportedFiles>>,
    /// By the importing file and the import as it is written.
    pub(super) packages: RefCell<HashMap<(FileId, String), ExpressionValue>>,
    pub(super) values: RefCell<HashMap<(FileId, ExpressionId), Vec<ExpressionValue>>>,
    pub(super) exported: RefCell<HashMap<(FileId, String), Vec<ExpressionValue>>>,
    steps: Cell<usize>,
}

/// A value that an expression may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExpressionValue {
    /// The definition itself: a class, a function, a namespace.
    Definition(DefinitionRef),
    /// An object of a type.
    Instance(DefinitionRef),
    /// An imported module or package.
    Module(Rc<Vec<FileId>>),
    /// An imported package, by the paths of its files, which are in one directory. Those that define a name
    /// are found without reading the others.
    Package(Rc<Vec<String>>),
    Collection(Box<ExpressionValue>),
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

pub(super) type Values = Result<Vec<ExpressionValue>, StoreError>;

impl<'a> SymbolResolver<'a> {
    pub(super) fn new(files: LoadedFiles<'a>, project: &'a dyn ProjectFiles) -> Self {
        Self {
            files,
            imports: Resolver::new(project),
            resolved: RefCell::default(),
            packages: RefCell::default(),
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

    fn resolve_member(&self, receivers: &[ExpressionValue], name: &str) -> Result<Resolution, StoreError> {
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
        for binding in loaded.imports() {
            let is_meant = match binding.imported {
                ImportedName::Name(imported) => imported == id,
                ImportedName::Default => binding.local == id,
                _ => false,
            };
            if !is_meant || binding.line != line {
                continue;
            }
            // `export { render }` hands on a name of this file.
            values.extend(if loaded.name(binding.written).is_empty() {
                self.values_of_name(file, name, None, MAX_DEPTH)?
            } else {
                self.values_of_import(file, binding, MAX_DEPTH)?
            });
        }
        Ok(as_resolution(&values))
    }

    pub(super) fn step(&self) -> bool {
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
        let family = LanguageFamily::of(loaded.language);
        let local = self.lexical_definitions(file, &loaded, name, within, family)?;
        if !local.is_empty() && !self.are_impl_blocks(&loaded, &local) {
            return Ok(local);
        }
        // `impl Display for Row` does not define `Row`.
        let has_impl_blocks = !local.is_empty();
        let mut values = local;
        let mut is_imported = false;
        if let Some(id) = loaded.name_id(name) {
            for binding in loaded.imports().iter().filter(|binding| binding.local == id) {
                // `export default f` binds no name in the file.
                if loaded.name(binding.written).is_empty() {
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
            for binding in loaded.imports() {
                if binding.imported == ImportedName::Wildcard {
                    for target in self.import_files(file, &loaded, binding)?.iter() {
                        values.extend(self.exported(*target, name, depth)?);
                    }
                }
            }
            if has_impl_blocks && values.len() == known {
                values.push(ExpressionValue::ExternalModule);
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
        family: LanguageFamily,
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
            }) || definition.parent.is_none() && !loaded.name(definition.scope).is_empty();
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
            best.map(|(_, id)| ExpressionValue::Definition(DefinitionRef { file, id: *id }))
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
                vec![ExpressionValue::Instance(DefinitionRef { file, id })]
            } else if is_outside_of_type(loaded, definition) {
                let scope = loaded.name(definition.scope);
                let class = scope.rsplit('.').next().unwrap_or_default();
                self.package_definitions(file, loaded, class, LanguageFamily::of(loaded.language))?
            } else {
                Vec::new()
            };
            for class in class {
                if let Resolution::Found(found) = self.members(&class, name, MAX_DEPTH)? {
                    return Ok(limit(
                        found.into_iter().map(ExpressionValue::Definition).collect(),
                    ));
                }
            }
            at = definition.parent;
        }
        Ok(Vec::new())
    }

    /// Definitions that a file sees without an import: of its package, its directory or the whole program.
    pub(super) fn package_definitions(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
        family: LanguageFamily,
    ) -> Values {
        if family.visibility == Visibility::File {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        let candidates = match family.visibility {
            Visibility::Directory => self.files.defining_beside(name, loaded.directory())?,
            _ => self.files.defining(name)?,
        };
        for other in candidates.iter() {
            if *other == file && family.visibility != Visibility::Program {
                continue;
            }
            let candidate = self.files.file(*other);
            if LanguageFamily::of(candidate.language).id != family.id {
                continue;
            }
            let is_visible = match family.visibility {
                Visibility::File => false,
                Visibility::Directory => {
                    candidate.directory() == loaded.directory()
                        && (candidate.package() == loaded.package() || loaded.package().is_empty())
                }
                Visibility::Package => candidate.package() == loaded.package(),
                Visibility::Program => true,
            };
            if !is_visible {
                continue;
            }
            let top = candidate.definitions_named(name).filter(|(_, definition)| {
                let is_top = definition.parent.is_none() && candidate.name(definition.scope).is_empty();
                let is_enumerator = family.has_loose_constants && definition.kind == SymbolKind::Constant;
                let in_module = definition
                    .parent
                    .is_some_and(|parent| candidate.definition(parent).kind == SymbolKind::Module);
                (is_top || is_enumerator || in_module) && (!definition.is_file_local || *other == file)
            });
            values.extend(top.map(|(id, _)| ExpressionValue::Definition(DefinitionRef { file: *other, id })));
        }
        Ok(limit(values))
    }
}

pub(super) fn limit(mut values: Vec<ExpressionValue>) -> Vec<ExpressionValue> {
    let mut kept: Vec<ExpressionValue> = Vec::with_capacity(values.len().min(MAX_VALUES));
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
    file.name(definition.scope) != around.unwrap_or_default()
}

/// The definitions among values.
pub(super) fn as_resolution(values: &[ExpressionValue]) -> Resolution {
    let definitions = values.iter().filter_map(|value| match value {
        ExpressionValue::Definition(definition) => Some(*definition),
        _ => None,
    });
    let mut found: Vec<DefinitionRef> = definitions.collect();
    if !found.is_empty() {
        found.sort_unstable();
        return Resolution::Found(found);
    }
    let is_external = |value: &ExpressionValue| {
        matches!(
            value,
            ExpressionValue::ExternalModule | ExpressionValue::Module(_) | ExpressionValue::Package(_)
        )
    };
    if !values.is_empty() && values.iter().all(is_external) {
        Resolution::External
    } else {
        Resolution::Unknown
    }
}
