//! Names of the query that a project defines, and the chunks that define them.
//!
//! A word of a query is a name if a definition has it with exactly this case. Its chunks are ranked even if
//! they are not among those that words find best: a short name is a common word.
//!
//! Left out: names that many files define, because none of them is the definition.

use docent_core::path::RepoPath;
use docent_core::text::names::possible_names;
use docent_core::text::tokens::ParsedQuery;

use super::SearchRequest;
use super::project::ProjectContext;
use crate::index::Index;
use crate::store::{ChunkHit, ChunkQuery, StoreError};

/// Files that may define a name, so that their chunks are looked at.
const MAX_FILES: usize = 20;

/// Adds the names to the query that a project defines and that it does not have yet.
pub(super) fn add_defined_names(
    projects: &[ProjectContext<'_>],
    query: &mut ParsedQuery,
    text: &str,
) -> Result<(), StoreError> {
    for name in possible_names(text) {
        let last = last_step(name.written);
        for project in projects {
            let total = project
                .index
                .symbols(|symbols| Ok(symbols.files_defining(last, 0)?.total))?;
            if total > 0 {
                query.add_name(&name);
                break;
            }
        }
    }
    Ok(())
}

/// `send` of `Client.send`.
fn last_step(name: &str) -> &str {
    name.rsplit(['.', ':', '#', '$']).next().unwrap_or(name)
}

/// The chunks of a project that define a name of the query, if few files do.
pub(super) fn find_definitions(
    index: &Index,
    query: &ParsedQuery,
    question: &ChunkQuery<'_>,
    request: &SearchRequest<'_>,
) -> Result<Vec<ChunkHit>, StoreError> {
    let mut paths: Vec<String> = Vec::new();
    for name in &query.names {
        let of_name = index.symbols(|symbols| {
            let found = symbols.files_defining(&name.written, MAX_FILES)?;
            if found.total > MAX_FILES {
                return Ok(Vec::new());
            }
            let files = found.files.into_iter();
            files.map(|file| Ok(symbols.read_symbols(file)?.path)).collect()
        })?;
        for path in of_name {
            let Ok(parsed) = RepoPath::parse(&path) else {
                continue;
            };
            if request.accepts(&parsed) && !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let files = index.chunks_of_files(question, &paths)?;
    let chunks = files.into_iter().flat_map(|file| file.chunks);
    let is_asked = |name: &str| query.names.iter().any(|asked| asked.written == name);
    let is_definition = |hit: &ChunkHit| {
        is_asked(hit.chunk.name()) || hit.chunk.nested.iter().any(|one| is_asked(one.name()))
    };
    Ok(chunks.map(|one| one.hit).filter(is_definition).collect())
}
