//! The graph of calls around the function at a position.

use docent_core::symbols::{DefinitionId, ReferenceRole, SymbolKind};

use super::{PlacedCall, PositionQuery, PositionSearch, ask};
use crate::symbols::call_tree::{function_around, is_inside};
use crate::symbols::loaded::{DefinitionRef, FileId};
use crate::symbols::references::GradedUse;
use crate::symbols::resolve::Resolution;
use crate::symbols::{Grade, SymbolContext, SymbolError};

/// Callers or callees of one answer.
const MAX_NEIGHBOURS: usize = 200;

/// A neighbour in the graph of calls, and its calls.
type Neighbour<K> = (K, Vec<GradedUse>);

/// The functions that call the one at a position, and the files that do at their top level.
pub fn incoming_calls(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
) -> Result<Vec<PlacedCall>, SymbolError> {
    ask(context, query, |search| {
        let targets = search.targets_at_position()?;
        let mut callers: Vec<Neighbour<(FileId, Option<DefinitionId>)>> = Vec::new();
        for (_, found) in search.search.graded_uses(&targets)?.by_file {
            let loaded = search.search.resolver.files.file(found.file);
            for used in found.uses {
                let is_call = used.reference.role == ReferenceRole::Call && used.grade == Grade::Exact;
                if is_call {
                    let within = used.reference.within.map(|id| function_around(&loaded, id));
                    add(&mut callers, (found.file, within), used);
                }
            }
        }
        callers.truncate(MAX_NEIGHBOURS);
        let calls = callers.into_iter().filter_map(|((file, within), uses)| {
            let symbol = match within {
                Some(id) => Some(search.place(DefinitionRef { file, id }, Grade::Exact)?),
                None => None,
            };
            search.call(file, symbol, file, &uses)
        });
        Ok(calls.collect())
    })
}

/// The functions that the one at a position calls.
pub fn outgoing_calls(
    context: &SymbolContext<'_>,
    query: PositionQuery<'_>,
) -> Result<Vec<PlacedCall>, SymbolError> {
    ask(context, query, |search| {
        let mut calls = Vec::new();
        for caller in search.targets_at_position()? {
            calls.extend(search.callees(caller)?);
        }
        calls.truncate(MAX_NEIGHBOURS);
        Ok(calls)
    })
}

impl PositionSearch<'_> {
    fn callees(&self, caller: DefinitionRef) -> Result<Vec<PlacedCall>, SymbolError> {
        let resolver = self.search.resolver;
        let loaded = resolver.files.file(caller.file);
        let mut callees: Vec<Neighbour<DefinitionRef>> = Vec::new();
        for reference in loaded.references()? {
            let is_inside = reference
                .within
                .is_some_and(|id| is_inside(&loaded, id, caller.id));
            if !is_inside || reference.role != ReferenceRole::Call {
                continue;
            }
            self.search.check_deadline()?;
            let name = loaded.name(reference.name);
            if let Resolution::Found(definitions) = resolver.resolve(caller.file, name, &reference)? {
                for definition in definitions {
                    let used = GradedUse {
                        reference,
                        grade: Grade::Exact,
                    };
                    add(&mut callees, definition, used);
                }
            }
        }
        let is_value = |of: DefinitionRef| {
            let file = resolver.files.file(of.file);
            matches!(
                file.definition(of.id).kind,
                SymbolKind::Field | SymbolKind::Variable
            )
        };
        let callees = callees.into_iter().filter(|(callee, _)| !is_value(*callee));
        let calls = callees.filter_map(|(callee, uses)| {
            let symbol = self.place(callee, Grade::Exact)?;
            self.call(callee.file, Some(symbol), caller.file, &uses)
        });
        Ok(calls.collect())
    }

    /// A call with the places of its uses in the file of the caller. `None` if that file has changed.
    fn call(
        &self,
        of: FileId,
        symbol: Option<super::PlacedSymbol>,
        caller: FileId,
        uses: &[GradedUse],
    ) -> Option<PlacedCall> {
        let placed = self.place_uses(caller, uses);
        (!placed.is_empty()).then(|| PlacedCall {
            symbol,
            path: self.search.resolver.files.file(of).path.clone(),
            calls: placed.into_iter().map(|one| one.span).collect(),
        })
    }
}

/// Adds a call to those of its neighbour, which is kept in the order in which it was found.
fn add<K: PartialEq>(neighbours: &mut Vec<Neighbour<K>>, key: K, used: GradedUse) {
    match neighbours.iter_mut().find(|(known, _)| *known == key) {
        Some((_, uses)) => uses.push(used),
        None => neighbours.push((key, vec![used])),
    }
}
