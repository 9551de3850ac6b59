//! Uses of a definition: every place with its name, followed to a definition as far as the text allows.
//!
//! Invariant: a use whose name was followed to another definition is left out, unless one of both types is
//! based on the other, because then it may mean both when the program runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use docent_core::chunk::Rows;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_core::symbols::{
    DefinitionId, ImportBinding, ImportedName, Reference, ReferenceRole, SymbolDefinition, SymbolKind, Target,
};

use super::call_tree;
use super::candidate::SymbolCandidate;
use super::current::{ShownText, SymbolFiles};
use super::family::LanguageFamily;
use super::find::{answer_fresh, find_candidates};
use super::implementations;
use super::loaded::{DefinitionRef, FileId, LoadedFile, LoadedFiles};
use super::location::SymbolLocation;
use super::name_query::{NameQuery, parse_names};
use super::order::sort_candidates;
use super::resolve::{Resolution, SymbolResolver};
use super::{
    Direction, EnclosingSymbol, FileUses, FoundSymbol, Grade, NameMatch, ReferenceOutcome, ReferenceQuery,
    SymbolContext, SymbolError, SymbolUse,
};
use crate::deadline::Deadline;
use crate::dependencies::RootFiles;
use crate::store::{StoreError, UsingQuery};

/// Definitions that one question can mean. More are a sign that a file or a scope must be named.
const MAX_TARGETS: usize = 200;

/// Near names that are suggested.
const MAX_SUGGESTIONS: usize = 5;

/// Names under which one definition is searched for.
const MAX_NAMES: usize = 20;

/// Of a name that more files use, such as `Get`, the uses in files that also have the type or the package
/// of the definition are followed.
const MAX_FILES_WITHOUT_OWNER: usize = 200;

/// Files whose uses of one name are followed.
const MAX_FOLLOWED_FILES: usize = 1_000;

/// Finds the uses of a definition, the definitions that it uses, or its implementations.
pub fn find_references(
    context: &SymbolContext<'_>,
    query: &ReferenceQuery<'_>,
) -> Result<ReferenceOutcome, SymbolError> {
    let (found, ground) = answer_fresh(context, || find(context, query))?;
    Ok(ReferenceOutcome { ground, ..found })
}

fn find(context: &SymbolContext<'_>, query: &ReferenceQuery<'_>) -> Result<ReferenceOutcome, SymbolError> {
    let location = SymbolLocation::parse(context.root, query.path);
    let mut candidates = Vec::new();
    for name in parse_names(query.symbol) {
        candidates.extend(find_meant(context, &name, &location)?);
    }
    sort_candidates(&mut candidates);
    let project = RootFiles { root: context.root };
    let outcome = context.symbols(|store| {
        let resolver = SymbolResolver::new(LoadedFiles::new(context.root, store), &project);
        let question = ReferenceSearch::new(&resolver, context.deadline);
        let answer = question.answer(context, query, &candidates);
        resolver.files.check()?;
        match answer {
            Err(SymbolError::Store(error)) => Err(error),
            answer => Ok(Some(answer)),
        }
    })?;
    outcome.unwrap_or_else(|| Ok(ReferenceOutcome::default()))
}

/// The definitions with exactly this name. At a line, the one whose name is on it, or else those around it.
fn find_meant(
    context: &SymbolContext<'_>,
    name: &NameQuery,
    location: &SymbolLocation,
) -> Result<Vec<SymbolCandidate>, SymbolError> {
    let mut candidates = find_candidates(context, name, location, None)?;
    if let Some(line) = location.line() {
        let is_named = |candidate: &SymbolCandidate| candidate.definition.name_at.line == line;
        let is_around = |candidate: &SymbolCandidate| candidate.definition.has_line(line);
        if candidates.iter().any(is_named) {
            candidates.retain(is_named);
        } else {
            candidates.retain(is_around);
        }
    }
    Ok(candidates)
}

/// One question about references, on one state of the index.
pub(super) struct ReferenceSearch<'a> {
    pub(super) resolver: &'a SymbolResolver<'a>,
    deadline: &'a Deadline,
}

/// A use that means a target, or may mean it.
pub(super) struct GradedUse {
    pub(super) reference: Reference,
    pub(super) grade: Grade,
}

/// The uses in one file.
pub(super) struct FileGrades {
    pub(super) file: FileId,
    pub(super) uses: Vec<GradedUse>,
}

/// The uses of definitions.
pub(super) struct GradedUses {
    pub(super) by_file: Vec<(RepoPath, FileGrades)>,
    /// Files that use the name and were not followed, because too many do.
    pub(super) unfollowed: usize,
}

impl<'a> ReferenceSearch<'a> {
    pub(super) fn new(resolver: &'a SymbolResolver<'a>, deadline: &'a Deadline) -> Self {
        Self { resolver, deadline }
    }

    fn answer(
        &self,
        context: &SymbolContext<'_>,
        query: &ReferenceQuery<'_>,
        candidates: &[SymbolCandidate],
    ) -> Result<ReferenceOutcome, SymbolError> {
        let is_exact = |candidate: &&SymbolCandidate| candidate.matched == NameMatch::Exact;
        let mut files = SymbolFiles::new(context);
        let meant = candidates.iter().filter(is_exact).take(MAX_TARGETS);
        let shown: Vec<FoundSymbol> = meant
            .clone()
            .filter_map(|candidate| candidate.show(&mut files))
            .collect();
        if shown.is_empty() {
            let near = candidates.iter().filter(|candidate| !is_exact(candidate));
            return Ok(ReferenceOutcome {
                suggestions: near
                    .take(MAX_SUGGESTIONS)
                    .filter_map(|candidate| candidate.show(&mut files))
                    .collect(),
                ..ReferenceOutcome::default()
            });
        }
        let mut targets = Vec::new();
        for candidate in meant {
            targets.extend(self.find_definition(candidate)?);
        }
        let mut outcome = ReferenceOutcome {
            targets: shown,
            ..ReferenceOutcome::default()
        };
        match query.direction {
            Direction::Callers => {
                self.list_uses(&targets, &mut files, query.limit, &mut outcome)?;
                if query.depth > 1 {
                    outcome.tree = call_tree::callers(self, &targets, query.depth, &mut files)?;
                }
            }
            Direction::Callees => outcome.tree = call_tree::callees(self, &targets, query.depth, &mut files)?,
            Direction::Implementations => {
                outcome.tree = implementations::find(self, &targets, query.limit, &mut files)?;
            }
        }
        Ok(outcome)
    }

    pub(super) fn check_deadline(&self) -> Result<(), SymbolError> {
        Ok(self.deadline.check()?)
    }

    /// The stored definition behind a candidate. `None` if another commit has removed it.
    fn find_definition(&self, candidate: &SymbolCandidate) -> Result<Option<DefinitionRef>, StoreError> {
        let Some(file) = self.resolver.files.find(candidate.path.as_str())? else {
            return Ok(None);
        };
        let loaded = self.resolver.files.file(file);
        let is_same = |id: DefinitionId| {
            loaded.definitions().get(id.0 as usize).is_some_and(|definition| {
                loaded.name(definition.name) == candidate.name
                    && loaded.name(definition.scope) == candidate.scope
            })
        };
        let again = || {
            let mut named = loaded.definitions_named(&candidate.name);
            named.find(|(id, _)| is_same(*id)).map(|(id, _)| id)
        };
        let id = Some(candidate.id).filter(|id| is_same(*id)).or_else(again);
        Ok(id.map(|id| DefinitionRef { file, id }))
    }

    /// The target with everything that is the same definition to a reader: overloads, declarations in
    /// headers.
    pub(super) fn with_declarations(
        &self,
        target: DefinitionRef,
    ) -> Result<HashSet<DefinitionRef>, StoreError> {
        let file = self.resolver.files.file(target.file);
        let definition = file.definition(target.id);
        let name = file.name(definition.name);
        let scope = file.name(definition.scope);
        let family = LanguageFamily::of(file.language);
        let mut same = HashSet::from([target]);
        let in_file = |loaded: &LoadedFile, at: FileId, same: &mut HashSet<DefinitionRef>| {
            for (id, other) in loaded.definitions_named(name) {
                // A `static` function of another file is another function, and so is a second one with a
                // body, which belongs to another program.
                let is_same =
                    at == target.file || !(other.is_file_local || other.has_body && definition.has_body);
                if is_same
                    && loaded.name(other.scope) == scope
                    && other.kind.is_container() == definition.kind.is_container()
                    && (other.kind == SymbolKind::Field) == (definition.kind == SymbolKind::Field)
                {
                    same.insert(DefinitionRef { file: at, id });
                }
            }
        };
        in_file(&file, target.file, &mut same);
        if family.has_declarations && !definition.is_file_local {
            for other in self.resolver.files.defining(name)?.iter() {
                let loaded = self.resolver.files.file(*other);
                if LanguageFamily::of(loaded.language).id == family.id {
                    in_file(&loaded, *other, &mut same);
                }
            }
        }
        Ok(same)
    }

    /// The uses of targets by file, graded.
    pub(super) fn graded_uses(&self, targets: &[DefinitionRef]) -> Result<GradedUses, SymbolError> {
        let mut all = HashSet::new();
        let mut names: Vec<String> = Vec::new();
        let mut families = Vec::new();
        let mut beside: Vec<String> = Vec::new();
        let mut unfollowed = 0;
        for target in targets {
            let file = self.resolver.files.file(target.file);
            let name = file.name(file.definition(target.id).name).to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
            families.push(LanguageFamily::of(file.language).id);
            beside.extend(owner_names(&file, file.definition(target.id)));
            all.extend(self.with_declarations(*target)?);
        }
        // Files that were known before come first, then the others by their paths.
        let known = self.resolver.files.count();
        let mut uses: BTreeMap<(usize, RepoPath), FileGrades> = BTreeMap::new();
        let mut next = 0;
        let defined = names.len();
        while let Some(name) = names.get(next).cloned() {
            let is_alias = next >= defined;
            next += 1;
            let (files, total) = self.resolver.files.using(&UsingQuery {
                name: &name,
                beside: &beside,
                narrow_above: MAX_FILES_WITHOUT_OWNER,
                limit: MAX_FOLLOWED_FILES,
            })?;
            unfollowed += total.saturating_sub(files.len());
            for file in files {
                self.check_deadline()?;
                let loaded = self.resolver.files.file(file);
                if !families.contains(&LanguageFamily::of(loaded.language).id) {
                    continue;
                }
                let mut graded = self.grade_file(file, &loaded, &name, &all)?;
                if is_alias {
                    graded.retain(|found| found.grade == Grade::Exact);
                }
                if graded.is_empty() {
                    continue;
                }
                // Uses under another name: `import { render as draw }`.
                let has_import = graded
                    .iter()
                    .any(|found| found.reference.role == ReferenceRole::Import);
                let aliases = if has_import {
                    aliases_of(&loaded, &name)
                } else {
                    Vec::new()
                };
                for alias in aliases {
                    if names.len() < MAX_NAMES && !names.contains(&alias) {
                        names.push(alias);
                    }
                }
                let key = (file.rank(known), loaded.path.clone());
                let found = uses.entry(key).or_insert(FileGrades {
                    file,
                    uses: Vec::new(),
                });
                found.uses.extend(graded);
            }
        }
        for FileGrades { uses, .. } in uses.values_mut() {
            uses.sort_by_key(|graded| graded.reference.at);
            uses.dedup_by_key(|graded| graded.reference.at);
        }
        let by_file = uses.into_iter().map(|((_, path), found)| (path, found));
        Ok(GradedUses {
            by_file: by_file.collect(),
            unfollowed,
        })
    }

    pub(super) fn grade_file(
        &self,
        file: FileId,
        loaded: &LoadedFile,
        name: &str,
        targets: &HashSet<DefinitionRef>,
    ) -> Result<Vec<GradedUse>, StoreError> {
        let mut graded = Vec::new();
        for reference in loaded.references_of(name)? {
            if let Some(grade) = self.grade(file, name, &reference, targets)? {
                graded.push(GradedUse { reference, grade });
            }
        }
        Ok(graded)
    }

    /// How sure it is that a use means one of the targets. `None` if it means something else.
    fn grade(
        &self,
        file: FileId,
        name: &str,
        reference: &Reference,
        targets: &HashSet<DefinitionRef>,
    ) -> Result<Option<Grade>, StoreError> {
        match self.resolver.resolve(file, name, reference)? {
            Resolution::Found(found) => {
                if found.iter().any(|definition| targets.contains(definition)) {
                    return Ok(Some(Grade::Exact));
                }
                let is_related = found
                    .iter()
                    .any(|other| targets.iter().any(|target| self.is_related(*other, *target)));
                Ok(is_related.then_some(Grade::ByName))
            }
            Resolution::External => Ok(None),
            Resolution::Unknown => {
                let may_mean = |target: &DefinitionRef| self.may_mean(file, reference, *target);
                Ok(targets.iter().any(may_mean).then_some(Grade::ByName))
            }
        }
    }

    /// Whether a use about which nothing is known can mean a definition: a bare name is no method.
    pub(super) fn may_mean(&self, file: FileId, reference: &Reference, target: DefinitionRef) -> bool {
        let loaded = self.resolver.files.file(target.file);
        let definition = loaded.definition(target.id);
        let family = LanguageFamily::of(loaded.language);
        let is_member = definition.kind == SymbolKind::Method
            || definition.kind == SymbolKind::Field
            || !loaded.name(definition.scope).is_empty();
        match reference.target {
            Target::Scope => {
                let is_visible = !definition.is_file_local || target.file == file;
                is_visible && (!is_member || family.has_implicit_members)
            }
            _ => is_member || family.has_module_members,
        }
    }

    /// Whether two members belong to types of which one is based on the other, or two functions of C have the
    /// same name in one program: platforms have one body each.
    fn is_related(&self, one: DefinitionRef, other: DefinitionRef) -> bool {
        if self.is_linked(one) && self.is_linked(other) {
            return true;
        }
        let (Some(a), Some(b)) = (self.type_of(one), self.type_of(other)) else {
            return false;
        };
        let is_interface = |of: DefinitionRef| {
            let file = self.resolver.files.file(of.file);
            file.definition(of.id).kind == SymbolKind::Interface
                && LanguageFamily::of(file.language).has_structural_types
        };
        is_interface(a) || is_interface(b) || self.is_based_on(a, b, 6) || self.is_based_on(b, a, 6)
    }

    /// Whether a definition is found by the linker: a function of C that is not `static`.
    fn is_linked(&self, of: DefinitionRef) -> bool {
        let file = self.resolver.files.file(of.file);
        let definition = file.definition(of.id);
        LanguageFamily::of(file.language).has_declarations
            && definition.kind == SymbolKind::Function
            && !definition.is_file_local
    }

    /// The type that a member belongs to.
    pub(super) fn type_of(&self, of: DefinitionRef) -> Option<DefinitionRef> {
        let file = self.resolver.files.file(of.file);
        let definition = file.definition(of.id);
        if let Some(parent) = definition.parent {
            return file
                .definition(parent)
                .kind
                .is_container()
                .then_some(DefinitionRef {
                    file: of.file,
                    id: parent,
                });
        }
        let scope = file.name(definition.scope);
        let name = scope.rsplit('.').next().filter(|name| !name.is_empty())?;
        let values = self.resolver.values_of_name(of.file, name, None, 4).ok()?;
        values.into_iter().find_map(|value| match value {
            super::resolve::ExpressionValue::Definition(definition) => Some(definition),
            _ => None,
        })
    }

    pub(super) fn is_based_on(&self, one: DefinitionRef, base: DefinitionRef, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let bases = self.resolver.bases(one, 4).unwrap_or_default();
        bases.into_iter().any(|value| match value {
            super::resolve::ExpressionValue::Definition(definition) => {
                definition == base || definition != one && self.is_based_on(definition, base, depth)
            }
            _ => false,
        })
    }

    /// Puts the uses of targets into the outcome, as their files have them now.
    fn list_uses(
        &self,
        targets: &[DefinitionRef],
        files: &mut SymbolFiles<'_>,
        limit: usize,
        outcome: &mut ReferenceOutcome,
    ) -> Result<(), SymbolError> {
        let GradedUses {
            by_file: mut uses,
            unfollowed,
        } = self.graded_uses(targets)?;
        outcome.unfollowed = unfollowed;
        let count = |grade: Grade| {
            let graded = uses.iter().flat_map(|(_, found)| &found.uses);
            graded.filter(|found| found.grade == grade).count()
        };
        (outcome.exact, outcome.by_name) = (count(Grade::Exact), count(Grade::ByName));
        uses.sort_by_cached_key(|(path, FileGrades { uses, .. })| {
            let is_call = |found: &GradedUse| {
                found.reference.role == ReferenceRole::Call && found.grade == Grade::Exact
            };
            let is_test = FileRole::of(path) == FileRole::Test;
            let is_exact = uses.iter().any(|found| found.grade == Grade::Exact);
            (
                is_test,
                !uses.iter().any(is_call),
                !is_exact,
                path.as_str().to_owned(),
            )
        });
        let mut left = limit;
        for (_, found) in uses {
            if left == 0 {
                break;
            }
            let graded = &found.uses[..left.min(found.uses.len())];
            let loaded = self.resolver.files.file(found.file);
            if let Some(shown) = show_uses(&loaded, graded, files) {
                left -= shown.uses.len();
                outcome.files.push(shown);
            }
        }
        Ok(())
    }

    /// A stored definition as its file has it now. `None` if it is gone.
    pub(super) fn show(&self, of: DefinitionRef, files: &mut SymbolFiles<'_>) -> Option<FoundSymbol> {
        let loaded = self.resolver.files.file(of.file);
        let file = files.load(&loaded.path)?;
        if file.content_hash != loaded.content_hash {
            return None;
        }
        let shown = ShownText::of(&loaded.path, &file.text);
        let definition = loaded.definition(of.id);
        let (name, scope) = (loaded.name(definition.name), loaded.name(definition.scope));
        Some(shown.symbol(definition, name, scope, NameMatch::Exact))
    }
}

/// Names that a file which uses a definition most likely has: its type, a constructor of it, its package.
fn owner_names(file: &LoadedFile, definition: &SymbolDefinition) -> Vec<String> {
    let scope = file.name(definition.scope);
    let owner = scope.rsplit('.').next().unwrap_or_default();
    let mut names = Vec::new();
    if !owner.is_empty() {
        names.push(owner.to_owned());
        names.push(format!("New{owner}"));
    }
    let package = file.package().rsplit('.').next().unwrap_or_default();
    if owner.is_empty() && !package.is_empty() {
        names.push(package.to_owned());
    }
    names
}

/// Names under which a file uses an import of `name`.
fn aliases_of(loaded: &LoadedFile, name: &str) -> Vec<String> {
    let is_alias = |binding: &&ImportBinding| {
        matches!(binding.imported, ImportedName::Name(imported) if loaded.name(imported) == name)
            && loaded.name(binding.local) != name
    };
    let aliases = loaded.imports().iter().filter(is_alias);
    aliases
        .map(|binding| loaded.name(binding.local).to_owned())
        .collect()
}

/// Uses with their lines as the file has them now. `None` if the file is gone; a file that has changed
/// since it was indexed is left out, and the freshness of the answer says so.
fn show_uses(loaded: &LoadedFile, graded: &[GradedUse], files: &mut SymbolFiles<'_>) -> Option<FileUses> {
    let file = files.load(&loaded.path)?;
    if file.content_hash != loaded.content_hash {
        return None;
    }
    let rows = Rows::of(&file.text);
    let mut enclosing: HashMap<DefinitionId, EnclosingSymbol> = HashMap::new();
    let uses = graded.iter().map(|found| {
        let reference = &found.reference;
        let line = rows.lines(reference.at.line as usize, reference.at.line as usize);
        let within = reference.within.map(|id| {
            enclosing
                .entry(id)
                .or_insert_with(|| {
                    let definition = loaded.definition(id);
                    EnclosingSymbol {
                        name: loaded.path_of(definition),
                        kind: definition.kind,
                        first_line: definition.first_line,
                        last_line: definition.last_line,
                    }
                })
                .clone()
        });
        SymbolUse {
            line: reference.at.line,
            column: reference.at.char_column(&rows),
            role: reference.role,
            grade: found.grade,
            within,
            text: line.trim().to_owned(),
        }
    });
    let uses = uses.collect();
    Some(FileUses {
        is_test: FileRole::of(&loaded.path) == FileRole::Test,
        path: loaded.path.clone(),
        uses,
    })
}
