//! Implementations: types based on a type, types that satisfy an interface, and methods that override one.

use std::collections::HashSet;

use docent_core::symbols::{DefinitionId, SymbolKind};

use super::current::SymbolFiles;
use super::family::LanguageFamily;
use super::loaded::DefinitionRef;
use super::references::ReferenceSearch;
use super::resolve::ExpressionValue;
use super::{Grade, SymbolError, TreeNode};
use crate::store::UsingQuery;

/// Files that are searched for types based on one type.
const MAX_FILES: usize = 20_000;

/// Finds the implementations of the targets, as their files have them now.
pub(super) fn find(
    question: &ReferenceSearch<'_>,
    targets: &[DefinitionRef],
    limit: usize,
    files: &mut SymbolFiles<'_>,
) -> Result<Vec<TreeNode>, SymbolError> {
    let mut nodes = Vec::new();
    for definition in find_stored(question, targets, limit)? {
        if let Some(symbol) = question.show(definition, files) {
            nodes.push(TreeNode {
                lines: vec![symbol.line],
                symbol,
                grade: Grade::Exact,
                children: Vec::new(),
                is_repeated: false,
            });
        }
    }
    nodes.sort_by(|a, b| {
        (a.symbol.path.as_str(), a.symbol.first_line).cmp(&(b.symbol.path.as_str(), b.symbol.first_line))
    });
    Ok(nodes)
}

/// Finds the implementations of the targets, at most `limit`.
pub(super) fn find_stored(
    question: &ReferenceSearch<'_>,
    targets: &[DefinitionRef],
    limit: usize,
) -> Result<Vec<DefinitionRef>, SymbolError> {
    let mut found: Vec<DefinitionRef> = Vec::new();
    for target in targets {
        let file = question.resolver.files.file(target.file);
        let definition = file.definition(target.id);
        if definition.kind.is_container() {
            found.extend(subtypes(question, *target, limit)?);
        } else if let Some(owner) = question.type_of(*target) {
            let name = file.name(definition.name);
            for subtype in subtypes(question, owner, limit)? {
                found.extend(question.resolver.own_members(subtype, name)?);
            }
        }
    }
    let mut seen: HashSet<DefinitionRef> = targets.iter().copied().collect();
    found.retain(|definition| seen.insert(*definition));
    found.truncate(limit);
    Ok(found)
}

/// Types that are based on a type, those based on them included.
fn subtypes(
    question: &ReferenceSearch<'_>,
    of: DefinitionRef,
    limit: usize,
) -> Result<Vec<DefinitionRef>, SymbolError> {
    let mut found: Vec<DefinitionRef> = Vec::new();
    let mut seen = HashSet::from([of]);
    let mut open = vec![of];
    while let Some(base) = open.pop() {
        question.check_deadline()?;
        let mut direct = direct_subtypes(question, base)?;
        direct.extend(structural_subtypes(question, base)?);
        for subtype in direct {
            if seen.insert(subtype) && found.len() < limit {
                found.push(subtype);
                open.push(subtype);
            }
        }
    }
    Ok(found)
}

fn direct_subtypes(
    question: &ReferenceSearch<'_>,
    base: DefinitionRef,
) -> Result<Vec<DefinitionRef>, SymbolError> {
    let resolver = question.resolver;
    let file = resolver.files.file(base.file);
    let name = file.name(file.definition(base.id).name).to_owned();
    let family = LanguageFamily::of(file.language).id;
    let mut found = Vec::new();
    let (users, _) = resolver.files.using(&UsingQuery {
        name: &name,
        beside: &[],
        narrow_above: MAX_FILES,
        limit: MAX_FILES,
    })?;
    for user in users {
        let loaded = resolver.files.file(user);
        if LanguageFamily::of(loaded.language).id != family {
            continue;
        }
        for (id, definition) in (0..).map(DefinitionId).zip(loaded.definitions()) {
            let one = DefinitionRef { file: user, id };
            if definition.bases.is_empty() || !definition.kind.is_container() || one == base {
                continue;
            }
            if resolver
                .bases(one, 4)?
                .contains(&ExpressionValue::Definition(base))
            {
                found.push(one);
            }
        }
    }
    Ok(found)
}

/// Types that have every method of an interface, in languages where that is enough.
fn structural_subtypes(
    question: &ReferenceSearch<'_>,
    of: DefinitionRef,
) -> Result<Vec<DefinitionRef>, SymbolError> {
    let resolver = question.resolver;
    let file = resolver.files.file(of.file);
    let definition = file.definition(of.id);
    if definition.kind != SymbolKind::Interface || !LanguageFamily::of(file.language).has_structural_types {
        return Ok(Vec::new());
    }
    let path = file.path_of(definition);
    let methods: Vec<&str> = file
        .definitions()
        .iter()
        .filter(|method| method.kind == SymbolKind::Method && file.name(method.scope) == path)
        .map(|method| file.name(method.name))
        .collect();
    let Some(first) = methods.first() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for candidate in resolver.files.defining(first)?.iter() {
        let loaded = resolver.files.file(*candidate);
        for (id, method) in loaded.definitions_named(first) {
            if method.kind != SymbolKind::Method || loaded.language != file.language {
                continue;
            }
            let Some(owner) = question.type_of(DefinitionRef { file: *candidate, id }) else {
                continue;
            };
            let mut has_all = true;
            for name in &methods {
                has_all = has_all && !resolver.own_members(owner, name)?.is_empty();
            }
            if has_all && owner != of {
                found.push(owner);
            }
        }
    }
    Ok(found)
}
