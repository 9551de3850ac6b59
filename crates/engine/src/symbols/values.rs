//! Values of expressions: the types of receivers, the results of calls, and the members of a value.

use std::rc::Rc;

use docent_core::language::Language;
use docent_core::symbols::{DefinitionId, Expression, ExpressionId, SymbolDefinition, SymbolKind};

use super::family::{LanguageFamily, Visibility};
use super::loaded::{DefinitionRef, FileId, LoadedFile};
use super::resolve::{ExpressionValue, MAX_VALUES, Resolution, SymbolResolver, Values, as_resolution, limit};
use crate::store::StoreError;

impl SymbolResolver<'_> {
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
        let values = match loaded.expressions().get(expression.0 as usize) {
            None => Vec::new(),
            Some(Expression::Builtin) => vec![ExpressionValue::ExternalInstance],
            Some(Expression::Definition(id)) => vec![ExpressionValue::Definition(of(*id))],
            Some(Expression::This(id)) => vec![ExpressionValue::Instance(of(*id))],
            Some(Expression::Super(id)) => {
                let bases = self.bases(of(*id), depth)?;
                bases.into_iter().map(instance_of).collect()
            }
            Some(Expression::Name(name)) => {
                let name = loaded.name(*name);
                let mut values = self.values_of_name(file, name, None, depth)?;
                if values.is_empty() {
                    values = self.values_of_free_name(file, &loaded, name)?;
                }
                self.read_all(values, depth)?
            }
            Some(Expression::Member(receiver, name)) => {
                let receivers = self.values_of(file, *receiver, depth)?;
                self.values_of_member(&receivers, loaded.name(*name), depth)?
            }
            Some(Expression::Call(callee)) => {
                let mut values = Vec::new();
                for callee in self.values_of(file, *callee, depth)? {
                    values.extend(self.result_of(&callee, depth)?);
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
                    .map(|value| ExpressionValue::Collection(Box::new(value)))
                    .collect()
            }
            Some(Expression::Element(of)) => {
                let collections = self.values_of(file, *of, depth)?;
                collections
                    .into_iter()
                    .filter_map(|value| match value {
                        ExpressionValue::Collection(inner) => Some(*inner),
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

    fn values_of_member(&self, receivers: &[ExpressionValue], name: &str, depth: u8) -> Values {
        let mut values = Vec::new();
        for receiver in receivers {
            match receiver {
                ExpressionValue::ExternalModule => values.push(ExpressionValue::ExternalModule),
                _ => match self.members(receiver, name, depth)? {
                    Resolution::Found(found) => {
                        values.extend(self.read_all(
                            found.into_iter().map(ExpressionValue::Definition).collect(),
                            depth,
                        )?);
                    }
                    Resolution::External => values.push(ExpressionValue::ExternalInstance),
                    Resolution::Unknown => values.extend(self.submodule(receiver, name)?),
                },
            }
        }
        Ok(limit(values))
    }

    /// `package.module`, where the package is a directory.
    fn submodule(&self, receiver: &ExpressionValue, name: &str) -> Values {
        let ExpressionValue::Module(files) = receiver else {
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
            vec![ExpressionValue::Module(Rc::new(found))]
        })
    }

    /// The values that reading definitions gives: a field has the value of its type, a function is itself.
    fn read_all(&self, values: Vec<ExpressionValue>, depth: u8) -> Values {
        let mut read = Vec::new();
        for value in values {
            match value {
                ExpressionValue::Definition(definition) => {
                    let file = self.files.file(definition.file);
                    let found = file.definition(definition.id);
                    let is_variable = matches!(
                        found.kind,
                        SymbolKind::Field | SymbolKind::Variable | SymbolKind::Constant
                    );
                    match found.result.filter(|_| is_variable) {
                        Some(result) => read.extend(self.values_of(definition.file, result, depth)?),
                        None if is_variable => {}
                        None => read.push(ExpressionValue::Definition(definition)),
                    }
                }
                other => read.push(other),
            }
        }
        Ok(read)
    }

    /// The values that a call can return.
    fn result_of(&self, callee: &ExpressionValue, depth: u8) -> Values {
        let definition = match callee {
            ExpressionValue::Definition(definition) => *definition,
            ExpressionValue::ExternalModule | ExpressionValue::ExternalInstance => {
                return Ok(vec![ExpressionValue::ExternalInstance]);
            }
            _ => return Ok(Vec::new()),
        };
        let file = self.files.file(definition.file);
        let found = file.definition(definition.id);
        if found.kind.is_container() {
            return Ok(vec![ExpressionValue::Instance(definition)]);
        }
        match found.result {
            Some(result) => self.values_of(definition.file, result, depth),
            None => Ok(Vec::new()),
        }
    }

    /// The types that a type is based on. [`ExpressionValue::ExternalModule`] for one that is not of this
    /// project.
    pub(super) fn bases(&self, of: DefinitionRef, depth: u8) -> Values {
        let file = self.files.file(of.file);
        let mut bases = Vec::new();
        for part in Self::parts_of_type(&file, of.id) {
            for base in &file.definition(part).bases {
                let values = self.values_of(of.file, *base, depth)?;
                if values.is_empty() {
                    bases.push(ExpressionValue::ExternalModule);
                }
                bases.extend(values);
            }
        }
        Ok(limit(bases))
    }

    /// The members of a value with a name.
    pub(super) fn members(
        &self,
        of: &ExpressionValue,
        name: &str,
        depth: u8,
    ) -> Result<Resolution, StoreError> {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.step()) else {
            return Ok(Resolution::Unknown);
        };
        match of {
            ExpressionValue::ExternalModule
            | ExpressionValue::ExternalInstance
            | ExpressionValue::Collection(_) => Ok(Resolution::External),
            ExpressionValue::Module(files) => {
                let values = self.exported_by_all(files, name, depth)?;
                Ok(as_resolution(&values))
            }
            ExpressionValue::Package(paths) => self.exported_by_package(paths, name, depth),
            ExpressionValue::Definition(definition) | ExpressionValue::Instance(definition) => {
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
        let family = LanguageFamily::of(file.language);
        let is_member =
            |loaded: &LoadedFile, definition: &SymbolDefinition| loaded.name(definition.scope) == path;
        let here = file
            .definitions_named(name)
            .filter(|(_, definition)| is_member(&file, definition));
        let mut found: Vec<DefinitionRef> = here.map(|(id, _)| DefinitionRef { file: of.file, id }).collect();
        if !found.is_empty() || !family.has_split_types {
            return Ok(found);
        }
        let candidates = match family.visibility {
            Visibility::Directory => self.files.defining_beside(name, file.directory())?,
            _ => self.files.defining(name)?,
        };
        for other in candidates.iter().filter(|other| **other != of.file) {
            let candidate = self.files.file(*other);
            let is_same_package =
                family.visibility != Visibility::Directory || candidate.directory() == file.directory();
            if LanguageFamily::of(candidate.language).id != family.id || !is_same_package {
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

fn instance_of(value: ExpressionValue) -> ExpressionValue {
    match value {
        ExpressionValue::Definition(definition) => ExpressionValue::Instance(definition),
        ExpressionValue::ExternalModule | ExpressionValue::Module(_) | ExpressionValue::Package(_) => {
            ExpressionValue::ExternalInstance
        }
        other => other,
    }
}
