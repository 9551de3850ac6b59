//! Chunks that match a query, ranked.

use std::collections::{HashMap, HashSet};

use docent_core::chunk::ChunkKind;
use docent_core::rank::fusion::{compare_chunks, compare_scores};
use docent_core::rank::signals::score_by_commits;
use docent_core::rank::{NamedSignals, RankInput, Weights, rank_chunks};
use docent_core::report::ResolvedPlace;
use docent_core::text::tokens::ParsedQuery;

use super::project::ProjectContext;
use super::reading::QueryReading;
use super::spelling::Correction;
use super::{Candidate, RankedCandidate, SearchRequest};
use crate::index::{Index, RerankSkipped};
use crate::store::{ChunkHit, ChunkQuery, StoreError, StoredChunk};

/// Chunks of each project that are ranked.
const MAX_CHUNKS: usize = 200;

/// Files that a report names, whose chunks are added, and how many of their chunks.
const MAX_NAMED_FILES: usize = 20;
const MAX_NAMED_CHUNKS: usize = 80;

/// Best matching commits of each project, whose files gain.
const MAX_COMMITS: usize = 50;

/// The chunks that match, the best first; why an embedding server, if there is one, did not rerank them; and
/// the words that were corrected.
type FoundChunks = (Vec<RankedCandidate>, Option<RerankSkipped>, Vec<Correction>);

/// Finds the chunks of all projects.
pub(super) fn find(
    projects: &[ProjectContext<'_>],
    reading: &QueryReading,
    kinds: &[ChunkKind],
    request: &SearchRequest<'_>,
) -> Result<FoundChunks, StoreError> {
    let query = &reading.parsed;
    let kinds: Vec<&'static str> = kinds.iter().map(|kind| kind.name()).collect();
    let mut hits: Vec<(usize, ChunkHit)> = Vec::new();
    let mut places: Vec<Vec<ResolvedPlace>> = Vec::new();
    let mut rerank_skipped = None;
    let mut corrections: Vec<Correction> = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let terms = reading.terms(project.index)?;
        let chunk_query = ChunkQuery {
            words: &terms.words,
            weights: &terms.weights,
            names: &terms.names,
            kinds: &kinds,
            module: request.module,
            paths: request.paths,
            files: &[],
            // Each project has vectors of its own embedder.
            vector: project.index.embedder().embed(&reading.embedded),
            limit: MAX_CHUNKS,
        };
        let mut found = project.index.find_chunks(&chunk_query)?;
        add_named_files(project.index, &chunk_query, &terms.places, &mut found)?;
        // A name asks for its definition, which needs no model.
        if !query.is_name
            && let Err(why) = rerank(project.index, &reading.embedded, request, &mut found)
        {
            rerank_skipped = Some(why);
        }
        hits.extend(found.into_iter().map(|hit| (at, hit)));
        places.push(terms.places);
        corrections.extend(terms.corrections);
    }
    let mut commit_scores: Vec<HashMap<String, f32>> = Vec::new();
    for project in projects {
        commit_scores.push(score_files(query, project.index)?);
    }
    let named = |project: usize, chunk: &StoredChunk| reading.named(&places[project], chunk);
    let weights = match reading.report {
        Some(_) => request.weights.for_report(),
        None => *request.weights,
    };
    let ranked = rank(projects, query, hits, &commit_scores, &named, &weights);
    Ok((ranked, rerank_skipped, corrections))
}

/// Adds the best chunks of the files that a report names, which its words alone may not find.
fn add_named_files(
    index: &Index,
    query: &ChunkQuery<'_>,
    places: &[ResolvedPlace],
    found: &mut Vec<ChunkHit>,
) -> Result<(), StoreError> {
    let mut files: Vec<String> = Vec::new();
    for place in places {
        if files.len() < MAX_NAMED_FILES && !files.contains(&place.path) {
            files.push(place.path.clone());
        }
    }
    if files.is_empty() {
        return Ok(());
    }
    let of_files = index.find_chunks(&ChunkQuery {
        files: &files,
        limit: MAX_NAMED_CHUNKS,
        ..*query
    })?;
    let known: HashSet<(String, u64)> = found
        .iter()
        .map(|hit| (hit.chunk.path.clone(), hit.chunk.id))
        .collect();
    found.extend(
        of_files
            .into_iter()
            .filter(|hit| !known.contains(&(hit.chunk.path.clone(), hit.chunk.id))),
    );
    Ok(())
}

/// Replaces the similarity of hits by that of the embedding server's model, if there is a server.
fn rerank(
    index: &Index,
    text: &str,
    request: &SearchRequest<'_>,
    hits: &mut [ChunkHit],
) -> Result<(), RerankSkipped> {
    if !index.has_server() {
        return Ok(());
    }
    // The server has no vectors of generated code.
    let mut hits: Vec<&mut ChunkHit> = hits.iter_mut().filter(|hit| !hit.chunk.generated).collect();
    let keys: Vec<u64> = hits
        .iter()
        .map(|hit| StoredChunk::vector_key(&hit.chunk.path, &hit.chunk.scope, hit.chunk.hash))
        .collect();
    if let Some(similarities) = index.similarity(text, &keys, request.deadline)? {
        for (hit, similarity) in hits.iter_mut().zip(similarities) {
            hit.similarity = similarity;
        }
    }
    Ok(())
}

/// The commit score of each file. Empty if the query is a name, which asks for its definition.
fn score_files(query: &ParsedQuery, index: &Index) -> Result<HashMap<String, f32>, StoreError> {
    if query.is_name {
        return Ok(HashMap::new());
    }
    Ok(score_by_commits(index.find_commits(&query.words, MAX_COMMITS)?))
}

fn rank(
    projects: &[ProjectContext<'_>],
    query: &ParsedQuery,
    mut hits: Vec<(usize, ChunkHit)>,
    commit_scores: &[HashMap<String, f32>],
    named: &dyn Fn(usize, &StoredChunk) -> NamedSignals,
    weights: &Weights,
) -> Vec<RankedCandidate> {
    hits.sort_by(|(_, a), (_, b)| {
        compare_chunks(
            (a.score, &a.chunk.path, a.chunk.first_line),
            (b.score, &b.chunk.path, b.chunk.first_line),
        )
    });
    let inputs: Vec<RankInput<'_>> = hits
        .iter()
        .map(|(project, hit)| RankInput {
            project: *project,
            path: &hit.chunk.path,
            kind: hit.chunk.kind,
            name: hit.chunk.name(),
            enclosing: hit.chunk.enclosing(),
            generated: hit.chunk.generated,
            bm25: hit.score,
            similarity: hit.similarity,
            commit_score: commit_scores[*project]
                .get(&hit.chunk.path)
                .copied()
                .unwrap_or_default(),
            named: named(*project, &hit.chunk),
        })
        .collect();
    let relevance = rank_chunks(query, &inputs, weights);
    let mut ranked: Vec<RankedCandidate> = hits
        .into_iter()
        .zip(relevance)
        .map(|((at, hit), relevance)| projects[at].boost(at, Candidate::Chunk(hit.chunk), relevance))
        .collect();
    ranked.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
    ranked
}
