//! Queries of one or two characters: the definitions of exactly that name, and the files of that stem.
//!
//! The index has no words of a single letter, and those of two are in too much. So such a query is a name,
//! spelt as it is.

use docent_core::path::RepoPath;

use super::project::{ProjectContext, SearchedProject};
use super::uses::ChunkedFiles;
use super::{Candidate, RankedCandidate, SearchRequest};
use crate::store::StoreError;
use crate::symbols::{NameMatch, SymbolContext, SymbolError, SymbolQuery, find_symbols};

/// Longer names are words.
const MAX_CHARS: usize = 2;

/// The chunks that define the name, and the first of the files that have it. `None` if the query is longer,
/// or if there are none.
pub(super) fn find(
    projects: &[SearchedProject<'_>],
    contexts: &[ProjectContext<'_>],
    request: &SearchRequest<'_>,
) -> Result<Option<Vec<RankedCandidate>>, StoreError> {
    let name = request.query.trim();
    let (Some(kinds), 1..=MAX_CHARS) = (request.chunks, name.chars().count()) else {
        return Ok(None);
    };
    let mut found: Vec<RankedCandidate> = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let mut places = definitions(project, name, request)?;
        project.index.visit_keys(&mut |key| {
            let file_name = key.rsplit('/').next().unwrap_or(key);
            let stem = file_name.split('.').next().unwrap_or(file_name);
            if let Ok(path) = RepoPath::parse(key)
                && (stem == name || file_name == name)
                && !key.ends_with('/')
            {
                places.push((path, 1));
            }
        })?;
        let mut files = ChunkedFiles::new(project.root);
        for (path, line) in places {
            if found.len() >= request.limit || !request.accepts(&path) {
                continue;
            }
            if let Some(chunk) = files.chunk_at(&path, line)
                && (kinds.is_empty() || kinds.contains(&chunk.kind))
                && !is_known(&found, at, &chunk.path, chunk.id)
            {
                found.push(RankedCandidate {
                    is_use: true,
                    ..contexts[at].boost(at, Candidate::Chunk(chunk), 1.0)
                });
            }
        }
    }
    Ok((!found.is_empty()).then_some(found))
}

fn is_known(found: &[RankedCandidate], project: usize, path: &str, id: u64) -> bool {
    found.iter().any(|one| match &one.candidate {
        Candidate::Chunk(chunk) => (one.project, chunk.path.as_str(), chunk.id) == (project, path, id),
        Candidate::Discovery { .. } => false,
    })
}

/// The definitions of the name, the best first. None if time is over.
fn definitions(
    project: &SearchedProject<'_>,
    name: &str,
    request: &SearchRequest<'_>,
) -> Result<Vec<(RepoPath, u32)>, StoreError> {
    let context = SymbolContext {
        root: project.root,
        index: project.index,
        patience: request.patience,
        deadline: request.deadline,
        report: request.report,
        overlay: None,
    };
    let query = SymbolQuery {
        name,
        path: None,
        kind: None,
        limit: request.limit,
    };
    match find_symbols(&context, &query) {
        Ok(outcome) => Ok(outcome
            .symbols
            .into_iter()
            .filter(|symbol| symbol.matched == NameMatch::Exact)
            .map(|symbol| (symbol.path, symbol.line))
            .collect()),
        Err(SymbolError::Expired(_)) => Ok(Vec::new()),
        Err(SymbolError::Store(error)) => Err(error),
    }
}
