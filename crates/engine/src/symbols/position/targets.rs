//! From the name at a position to definitions, and from those to uses and implementations.

use docent_core::symbols::{Reference, ReferenceRole, SymbolKind};
use docent_core::text::positions::TextSpan;

use super::under::SymbolUnder;
use super::{PlacedSymbol, PlacedUse, PositionQuery, PositionSearch, ask};
use crate::symbols::family::LanguageFamily;
use crate::symbols::implementations;
use crate::symbols::loaded::{DefinitionRef, FileId};
use crate::symbols::references::GradedUses;
use crate::symbols::resolve::Resolution;
use crate::symbols::{Grade, SymbolContext, SymbolError};

/// Definitions with the name of a use that could not be followed. If there are more, none of them is likely.
const MAX_BY_NAME: usize = 5;

/// Definitions of one answer.
const MAX_DEFINITIONS: usize = 50;

/// The definitions of the symbol at a position. At a definition that is the definition itself.
pub fn definitions(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
) -> Result<Vec<PlacedSymbol>, SymbolError> {
    ask(context, query, |search| match search.find_under()? {
        Some(SymbolUnder::ImportPath(file)) => Ok(vec![search.place_file(file)]),
        Some(under) => {
            let targets = search.targets(under)?;
            Ok(search.place_all(&search.prefer_bodies(targets)))
        }
        None => Ok(Vec::new()),
    })
}

/// The uses of the symbol at a position, and its definitions if `with_definitions`. At most `limit`.
pub fn references(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
    with_definitions: bool,
    limit: usize,
) -> Result<Vec<PlacedUse>, SymbolError> {
    ask(context, query, |search| {
        let targets = search.targets_at_position()?;
        let mut placed = Vec::new();
        if with_definitions {
            placed = search.place_definitions(&targets)?;
        }
        let GradedUses { by_file, .. } = search.search.graded_uses(&targets)?;
        let keeps_by_name = search.is_only_definition(&targets)?;
        for (_, mut found) in by_file {
            search.search.check_deadline()?;
            found
                .uses
                .retain(|used| used.grade == Grade::Exact || keeps_by_name);
            placed.extend(search.place_uses(found.file, &found.uses));
            if placed.len() >= limit {
                break;
            }
        }
        placed.sort_by(|a, b| (&a.path, a.span.start).cmp(&(&b.path, b.span.start)));
        placed.dedup_by(|a, b| a.path == b.path && a.span == b.span);
        placed.truncate(limit);
        Ok(placed)
    })
}

/// The places of the symbol at a position in the asked file, its definition included.
pub fn uses_in_file(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
) -> Result<Vec<PlacedUse>, SymbolError> {
    ask(context, query, |search| {
        let targets = search.targets_at_position()?;
        let mut placed = search.place_definitions(&targets)?;
        placed.retain(|one| one.path == *search.query.path);
        let loaded = search.search.resolver.files.file(search.file);
        let mut all = std::collections::HashSet::new();
        for target in &targets {
            all.extend(search.search.with_declarations(*target)?);
        }
        let mut names: Vec<String> = Vec::new();
        for target in &targets {
            let file = search.search.resolver.files.file(target.file);
            names.push(file.name(file.definition(target.id).name).to_owned());
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            let uses = search.search.grade_file(search.file, &loaded, &name, &all)?;
            placed.extend(search.place_uses(search.file, &uses));
        }
        placed.sort_by_key(|one| one.span.start);
        placed.dedup_by_key(|one| one.span);
        Ok(placed)
    })
}

/// Types that implement or extend the type at a position, and methods that override the method there. A
/// function that nothing overrides implements itself.
pub fn implementations(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
) -> Result<Vec<PlacedSymbol>, SymbolError> {
    ask(context, query, |search| {
        let targets = search.targets_at_position()?;
        let mut found = implementations::find_stored(&search.search, &targets, MAX_DEFINITIONS)?;
        if found.is_empty() {
            found.extend(
                targets
                    .into_iter()
                    .filter(|target| search.is_function_with_body(*target)),
            );
        }
        let found: Vec<(DefinitionRef, Grade)> = found
            .into_iter()
            .map(|definition| (definition, Grade::Exact))
            .collect();
        let mut placed = search.place_all(&found);
        placed.sort_by(|a, b| (&a.path, a.name_span.start).cmp(&(&b.path, b.name_span.start)));
        Ok(placed)
    })
}

impl PositionSearch<'_> {
    /// The definitions that the name at the position means. Empty if there is no such name.
    pub(super) fn targets_at_position(&self) -> Result<Vec<DefinitionRef>, SymbolError> {
        let Some(under) = self.find_under()? else {
            return Ok(Vec::new());
        };
        let targets = self.targets(under)?;
        Ok(targets.into_iter().map(|(definition, _)| definition).collect())
    }

    /// The definitions that a name means, each with how sure that is.
    pub(super) fn targets(&self, under: SymbolUnder) -> Result<Vec<(DefinitionRef, Grade)>, SymbolError> {
        let reference = match under {
            SymbolUnder::Definition(definition) => return Ok(vec![(definition, Grade::Exact)]),
            SymbolUnder::ImportPath(_) => return Ok(Vec::new()),
            SymbolUnder::Use(reference) => reference,
        };
        let resolver = self.search.resolver;
        let name = resolver.files.file(self.file).name(reference.name).to_owned();
        match resolver.resolve(self.file, &name, &reference)? {
            Resolution::Found(mut found) => {
                found.truncate(MAX_DEFINITIONS);
                Ok(found
                    .into_iter()
                    .map(|definition| (definition, Grade::Exact))
                    .collect())
            }
            Resolution::External => Ok(Vec::new()),
            Resolution::Unknown => self.find_by_name(&name, &reference),
        }
    }

    /// The few definitions that a use may mean which could not be followed.
    fn find_by_name(
        &self,
        name: &str,
        reference: &Reference,
    ) -> Result<Vec<(DefinitionRef, Grade)>, SymbolError> {
        let files = &self.search.resolver.files;
        let family = LanguageFamily::of(files.file(self.file).language).id;
        let mut found = Vec::new();
        for file in files.defining(name)?.iter() {
            self.search.check_deadline()?;
            let loaded = files.file(*file);
            if LanguageFamily::of(loaded.language).id != family {
                continue;
            }
            for (id, definition) in loaded.definitions_named(name) {
                let one = DefinitionRef { file: *file, id };
                let is_kind = match reference.role {
                    ReferenceRole::Call => definition.kind != SymbolKind::Module,
                    ReferenceRole::Type => definition.kind.is_container(),
                    _ => true,
                };
                if is_kind && self.search.may_mean(self.file, reference, one) {
                    found.push((one, Grade::ByName));
                }
            }
            if found.len() > MAX_BY_NAME {
                return Ok(Vec::new());
            }
        }
        Ok(found)
    }

    fn is_function_with_body(&self, of: DefinitionRef) -> bool {
        let file = self.search.resolver.files.file(of.file);
        let definition = file.definition(of.id);
        definition.has_body && matches!(definition.kind, SymbolKind::Function | SymbolKind::Method)
    }

    /// Without declarations and reopened parts, if there is the definition itself.
    pub(super) fn prefer_bodies(
        &self,
        mut found: Vec<(DefinitionRef, Grade)>,
    ) -> Vec<(DefinitionRef, Grade)> {
        let kind_and_body = |of: DefinitionRef| {
            let file = self.search.resolver.files.file(of.file);
            let definition = file.definition(of.id);
            // The only classes of Rust are `impl` blocks.
            let is_reopened = definition.kind == SymbolKind::Class && file.path.extension() == Some("rs");
            definition.has_body && !is_reopened
        };
        if found.iter().any(|(definition, _)| kind_and_body(*definition)) {
            found.retain(|(definition, _)| kind_and_body(*definition));
        }
        found
    }

    /// The places of definitions, with their declarations and overloads.
    fn place_definitions(&self, targets: &[DefinitionRef]) -> Result<Vec<PlacedUse>, SymbolError> {
        let mut all = Vec::new();
        for target in targets {
            all.extend(self.search.with_declarations(*target)?);
        }
        all.sort_unstable();
        all.dedup();
        let places = all.into_iter().filter_map(|one| self.place(one, Grade::Exact));
        Ok(places
            .map(|placed| PlacedUse {
                path: placed.path,
                span: placed.name_span,
                grade: Grade::Exact,
                is_definition: true,
            })
            .collect())
    }

    /// Whether no other definition has the name of the targets, so that a use of the name most likely means
    /// them.
    fn is_only_definition(&self, targets: &[DefinitionRef]) -> Result<bool, SymbolError> {
        let files = &self.search.resolver.files;
        for target in targets {
            let own = files.file(target.file);
            let name = own.name(own.definition(target.id).name).to_owned();
            let same = self.search.with_declarations(*target)?;
            let family = LanguageFamily::of(own.language).id;
            let defining = files.defining(&name)?;
            if defining.len() > MAX_BY_NAME {
                return Ok(false);
            }
            for file in defining.iter() {
                let loaded = files.file(*file);
                if LanguageFamily::of(loaded.language).id != family {
                    continue;
                }
                let mut others = loaded
                    .definitions_named(&name)
                    .map(|(id, _)| DefinitionRef { file: *file, id });
                if others.any(|other| !same.contains(&other) && !targets.contains(&other)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// A whole file as a definition: an imported module.
    fn place_file(&self, file: FileId) -> PlacedSymbol {
        let path = self.search.resolver.files.file(file).path.clone();
        PlacedSymbol {
            name: path.file_name().to_owned(),
            path,
            scope: String::new(),
            kind: SymbolKind::Module,
            name_span: TextSpan::default(),
            whole: TextSpan::default(),
            signature: String::new(),
            grade: Grade::Exact,
        }
    }
}
