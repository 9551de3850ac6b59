//! Trees of callers and callees.
//!
//! Invariant: a definition is followed once; where it comes up again, the tree says that it is repeated.

use std::collections::{BTreeMap, HashSet};

use docent_core::symbols::{DefinitionId, ReferenceRole, SymbolKind};

use super::current::SymbolFiles;
use super::family::LanguageFamily;
use super::loaded::{DefinitionRef, LoadedFile};
use super::references::{FileGrades, ReferenceSearch};
use super::resolve::Resolution;
use super::{Grade, SymbolError, TreeNode};

/// Definitions of one tree. A larger one cannot be read.
const MAX_NODES: usize = 150;

/// Definitions with one name that a call by name is followed to.
const MAX_NAMESAKES: usize = 3;

/// The functions that use the targets, and their callers, as deep as asked.
pub(super) fn callers(
    question: &ReferenceSearch<'_>,
    targets: &[DefinitionRef],
    depth: u8,
    files: &mut SymbolFiles<'_>,
) -> Result<Vec<TreeNode>, SymbolError> {
    let mut tree = CallTree::new(question, targets);
    tree.callers(targets, depth, files)
}

/// The definitions that the targets use, and those that they use in turn.
pub(super) fn callees(
    question: &ReferenceSearch<'_>,
    targets: &[DefinitionRef],
    depth: u8,
    files: &mut SymbolFiles<'_>,
) -> Result<Vec<TreeNode>, SymbolError> {
    let mut tree = CallTree::new(question, targets);
    let mut nodes = Vec::new();
    for target in targets {
        nodes.extend(tree.callees(*target, depth, files)?);
    }
    Ok(nodes)
}

struct CallTree<'a> {
    question: &'a ReferenceSearch<'a>,
    followed: HashSet<DefinitionRef>,
    left: usize,
}

/// A definition next to another in the tree: how sure it is, and the lines of the calls.
type Neighbours = BTreeMap<(usize, DefinitionRef), (Grade, Vec<u32>)>;

impl<'a> CallTree<'a> {
    fn new(question: &'a ReferenceSearch<'a>, targets: &[DefinitionRef]) -> Self {
        Self {
            question,
            followed: targets.iter().copied().collect(),
            left: MAX_NODES,
        }
    }

    fn callers(
        &mut self,
        of: &[DefinitionRef],
        depth: u8,
        files: &mut SymbolFiles<'_>,
    ) -> Result<Vec<TreeNode>, SymbolError> {
        let mut found = Neighbours::new();
        for (at, (_, found_in_file)) in self.question.graded_uses(of)?.by_file.into_iter().enumerate() {
            let FileGrades { file, uses } = found_in_file;
            let loaded = self.question.resolver.files.file(file);
            for used in uses.iter().filter(|used| used.grade == Grade::Exact) {
                let Some(id) = used.reference.within.map(|id| function_around(&loaded, id)) else {
                    continue;
                };
                let (_, lines) = found
                    .entry((at, DefinitionRef { file, id }))
                    .or_insert((used.grade, Vec::new()));
                lines.push(used.reference.at.line);
            }
        }
        self.nodes(found, depth, files, |tree, of, depth, files| {
            tree.callers(&[of], depth, files)
        })
    }

    fn callees(
        &mut self,
        of: DefinitionRef,
        depth: u8,
        files: &mut SymbolFiles<'_>,
    ) -> Result<Vec<TreeNode>, SymbolError> {
        let resolver = self.question.resolver;
        let loaded = resolver.files.file(of.file);
        let mut order: Vec<DefinitionRef> = Vec::new();
        let mut found = Neighbours::new();
        for reference in loaded.references()? {
            let is_inside = reference.within.is_some_and(|id| is_inside(&loaded, id, of.id));
            if !is_inside || reference.role == ReferenceRole::Import {
                continue;
            }
            let name = loaded.name(reference.name);
            let (definitions, grade) = match resolver.resolve(of.file, name, &reference)? {
                Resolution::Found(definitions) => (definitions, Grade::Exact),
                Resolution::Unknown if reference.role == ReferenceRole::Call => {
                    (self.namesakes(&loaded, name)?, Grade::ByName)
                }
                _ => continue,
            };
            for definition in definitions.into_iter().filter(|definition| *definition != of) {
                let target = resolver.files.file(definition.file);
                if matches!(
                    target.definition(definition.id).kind,
                    SymbolKind::Field | SymbolKind::Variable
                ) {
                    continue;
                }
                let at = order
                    .iter()
                    .position(|known| *known == definition)
                    .unwrap_or_else(|| {
                        order.push(definition);
                        order.len() - 1
                    });
                let (known, lines) = found.entry((at, definition)).or_insert((grade, Vec::new()));
                *known = (*known).min(grade);
                lines.push(reference.at.line);
            }
        }
        self.nodes(found, depth, files, |tree, of, depth, files| {
            tree.callees(of, depth, files)
        })
    }

    /// The few functions and methods with a name.
    fn namesakes(&self, loaded: &LoadedFile, name: &str) -> Result<Vec<DefinitionRef>, SymbolError> {
        let files = &self.question.resolver.files;
        let mut found = Vec::new();
        for file in files.defining(name)?.iter() {
            let candidate = files.file(*file);
            if LanguageFamily::of(candidate.language).id == LanguageFamily::of(loaded.language).id {
                let callable = candidate.definitions_named(name).filter(|(_, definition)| {
                    matches!(definition.kind, SymbolKind::Function | SymbolKind::Method)
                });
                found.extend(callable.map(|(id, _)| DefinitionRef { file: *file, id }));
            }
        }
        if found.len() > MAX_NAMESAKES {
            found.clear();
        }
        Ok(found)
    }

    fn nodes(
        &mut self,
        found: Neighbours,
        depth: u8,
        files: &mut SymbolFiles<'_>,
        follow: impl Fn(&mut Self, DefinitionRef, u8, &mut SymbolFiles<'_>) -> Result<Vec<TreeNode>, SymbolError>,
    ) -> Result<Vec<TreeNode>, SymbolError> {
        let mut nodes = Vec::new();
        // All neighbours are shown before one of them is followed, so that a long branch leaves room for
        // them.
        let mut open = Vec::new();
        for ((_, definition), (grade, mut lines)) in found {
            if self.left == 0 {
                break;
            }
            let Some(symbol) = self.question.show(definition, files) else {
                continue;
            };
            self.left -= 1;
            lines.dedup();
            let is_new = self.followed.insert(definition);
            if is_new && depth > 1 {
                open.push((nodes.len(), definition));
            }
            nodes.push(TreeNode {
                symbol,
                grade,
                lines,
                children: Vec::new(),
                is_repeated: !is_new,
            });
        }
        for (at, definition) in open {
            self.question.check_deadline()?;
            nodes[at].children = follow(self, definition, depth - 1, files)?;
        }
        Ok(nodes)
    }
}

/// The function or method around a definition, or else the type.
pub(super) fn function_around(file: &LoadedFile, id: DefinitionId) -> DefinitionId {
    let mut at = Some(id);
    while let Some(current) = at {
        let definition = file.definition(current);
        if matches!(definition.kind, SymbolKind::Function | SymbolKind::Method) {
            return current;
        }
        at = definition.parent;
    }
    id
}

pub(super) fn is_inside(file: &LoadedFile, id: DefinitionId, outer: DefinitionId) -> bool {
    let mut at = Some(id);
    while let Some(current) = at {
        if current == outer {
            return true;
        }
        at = file.definition(current).parent;
    }
    false
}
