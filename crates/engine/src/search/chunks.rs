//! Chunks that match a query, ranked.

use std::collections::HashMap;

use docent_core::chunk::ChunkKind;
use docent_core::rank::fusion::{compare_chunks, compare_scores};
use docent_core::rank::signals::score_by_commits;
use docent_core::rank::{RankInput, Weights, rank_chunks};
use docent_core::text::tokens::ParsedQuery;

use super::project::ProjectContext;
use super::{Candidate, RankedCandidate, SearchRequest};
use crate::index::{Index, RerankSkipped};
use crate::store::{ChunkHit, ChunkQuery, StoreError, StoredChunk};

/// Chunks of each project that are ranked.
const MAX_CHUNKS: usize = 200;

/// Best matching commits of each project, whose files gain.
const MAX_COMMITS: usize = 50;

/// The chunks that match, the best first; and why an embedding server, if there is one, did not rerank them.
pub(super) fn find(
    projects: &[ProjectContext<'_>],
    query: &ParsedQuery,
    kinds: &[ChunkKind],
    request: &SearchRequest<'_>,
) -> Result<(Vec<RankedCandidate>, Option<RerankSkipped>), StoreError> {
    let kinds: Vec<&'static str> = kinds.iter().map(|kind| kind.name()).collect();
    let names: Vec<String> = query.names.iter().map(|name| name.folded.clone()).collect();
    let mut hits: Vec<(usize, ChunkHit)> = Vec::new();
    let mut rerank_skipped = None;
    for (at, project) in projects.iter().enumerate() {
        let mut found = project.index.find_chunks(&ChunkQuery {
            words: &query.words,
            names: &names,
            kinds: &kinds,
            module: request.module,
            paths: request.paths,
            // Each project has vectors of its own embedder.
            vector: project.index.embedder().embed(request.query),
            limit: MAX_CHUNKS,
        })?;
        // A name asks for its definition, which needs no model.
        if !query.is_name
            && let Err(why) = rerank(project.index, request, &mut found)
        {
            rerank_skipped = Some(why);
        }
        hits.extend(found.into_iter().map(|hit| (at, hit)));
    }
    let mut commit_scores: Vec<HashMap<String, f32>> = Vec::new();
    for project in projects {
        commit_scores.push(score_files(query, project)?);
    }
    let ranked = rank(projects, query, hits, &commit_scores, request.weights);
    Ok((ranked, rerank_skipped))
}

/// Replaces the similarity of hits by that of the embedding server's model, if there is a server.
fn rerank(index: &Index, request: &SearchRequest<'_>, hits: &mut [ChunkHit]) -> Result<(), RerankSkipped> {
    if !index.has_server() {
        return Ok(());
    }
    // The server has no vectors of generated code.
    let mut hits: Vec<&mut ChunkHit> = hits.iter_mut().filter(|hit| !hit.chunk.generated).collect();
    let keys: Vec<u64> = hits
        .iter()
        .map(|hit| StoredChunk::vector_key(&hit.chunk.path, &hit.chunk.scope, hit.chunk.hash))
        .collect();
    if let Some(similarities) = index.similarity(request.query, &keys, request.deadline)? {
        for (hit, similarity) in hits.iter_mut().zip(similarities) {
            hit.similarity = similarity;
        }
    }
    Ok(())
}

/// The commit score of each file. Empty if the query is a name, which asks for its definition, and until all
/// commits were read.
fn score_files(
    query: &ParsedQuery,
    project: &ProjectContext<'_>,
) -> Result<HashMap<String, f32>, StoreError> {
    if query.is_name || !project.has_history {
        return Ok(HashMap::new());
    }
    let commits = project.index.find_commits(&query.words, MAX_COMMITS)?;
    Ok(score_by_commits(commits))
}

fn rank(
    projects: &[ProjectContext<'_>],
    query: &ParsedQuery,
    mut hits: Vec<(usize, ChunkHit)>,
    commit_scores: &[HashMap<String, f32>],
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
