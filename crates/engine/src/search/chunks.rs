//! Chunks that match a query, ranked.

use std::collections::{HashMap, HashSet};

use docent_core::chunk::ChunkKind;
use docent_core::rank::fusion::{compare_chunks, compare_scores};
use docent_core::rank::signals::score_by_commits;
use docent_core::rank::{RankInput, score_chunks, spread_files};
use docent_core::text::tokens::ParsedQuery;

use super::definitions::find_definitions;
use super::functions::{BestFile, CommitScores, FileKey, best_files, rank_inside, read_files, to_input};
use super::nested::{select_nested, select_nested_in_file};
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
    let question = |project: &ProjectContext<'_>| ChunkQuery {
        words: &query.words,
        names: &names,
        kinds: &kinds,
        module: request.module,
        paths: request.paths,
        // Each project has vectors of its own embedder.
        vector: project.index.embedder().embed(request.query),
        limit: MAX_CHUNKS,
    };
    let mut hits: Vec<(usize, ChunkHit)> = Vec::new();
    let mut commit_scores = CommitScores::new();
    let mut rerank_skipped = None;
    for (at, project) in projects.iter().enumerate() {
        let mut found = find_with_definitions(project.index, query, &question(project), request)?;
        rerank_skipped = rerank(project.index, query, request, found.iter_mut()).or(rerank_skipped);
        let found = select_nested(found, query, &kinds);
        hits.extend(found.into_iter().map(|hit| (at, hit)));
        commit_scores.push(score_files(query, project)?);
    }
    sort_hits(&mut hits);
    let inputs: Vec<RankInput<'_>> = hits
        .iter()
        .map(|(project, hit)| to_input(*project, hit, &commit_scores))
        .collect();
    let scores = score_chunks(query, &inputs, request.weights);
    let best = best_files(&inputs, &scores);
    let relevance = spread_files(&inputs, scores, request.weights);
    drop(inputs);

    let mut files: Vec<BestFile> = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let of_project = best.iter().filter(|((of, _), _)| *of == at);
        let mut found = read_files(project.index, &question(project), of_project)?;
        let chunks = found.iter_mut().flat_map(|file| &mut file.found.chunks);
        let of_chunks = chunks.map(|one| &mut one.hit);
        rerank_skipped = rerank(project.index, query, request, of_chunks).or(rerank_skipped);
        for file in &mut found {
            select_nested_in_file(&mut file.found, query, &kinds);
        }
        files.append(&mut found);
    }
    let ranked: HashSet<FileKey> = files.iter().map(|file| file.key.clone()).collect();
    let rest = hits
        .into_iter()
        .zip(relevance)
        .filter(|((project, hit), _)| !ranked.contains(&(*project, hit.chunk.path.clone())));
    let inside = rank_inside(query, files, &commit_scores, request);
    let mut chunks: Vec<RankedCandidate> = inside
        .into_iter()
        .chain(rest)
        .map(|((at, hit), relevance)| projects[at].boost(at, Candidate::Chunk(hit.chunk), relevance))
        .collect();
    chunks.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
    Ok((chunks, rerank_skipped))
}

/// The chunks that words find best, and those that define a name of the query.
fn find_with_definitions(
    index: &Index,
    query: &ParsedQuery,
    question: &ChunkQuery<'_>,
    request: &SearchRequest<'_>,
) -> Result<Vec<ChunkHit>, StoreError> {
    let mut found = index.find_chunks(question)?;
    let definitions = find_definitions(index, query, question, request)?;
    let known: HashSet<(String, u64, u32)> = found.iter().map(key).collect();
    found.extend(definitions.into_iter().filter(|hit| !known.contains(&key(hit))));
    Ok(found)
}

fn key(hit: &ChunkHit) -> (String, u64, u32) {
    (hit.chunk.path.clone(), hit.chunk.id, hit.chunk.first_line)
}

/// Replaces the similarity of hits by that of the embedding server's model, if there is a server. Returns why
/// it did not. A name asks for its definition, which needs no model.
fn rerank<'a>(
    index: &Index,
    query: &ParsedQuery,
    request: &SearchRequest<'_>,
    hits: impl Iterator<Item = &'a mut ChunkHit>,
) -> Option<RerankSkipped> {
    if query.is_name || !index.has_server() {
        return None;
    }
    // The server has no vectors of generated code.
    let mut hits: Vec<&mut ChunkHit> = hits.filter(|hit| !hit.chunk.generated).collect();
    let keys: Vec<u64> = hits
        .iter()
        .map(|hit| StoredChunk::vector_key(&hit.chunk.path, &hit.chunk.scope, hit.chunk.hash))
        .collect();
    let similarities = match index.similarity(request.query, &keys, request.deadline) {
        Ok(similarities) => similarities?,
        Err(why) => return Some(why),
    };
    for (hit, similarity) in hits.iter_mut().zip(similarities) {
        hit.similarity = similarity;
    }
    None
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

fn sort_hits(hits: &mut [(usize, ChunkHit)]) {
    hits.sort_by(|(_, a), (_, b)| {
        compare_chunks(
            (a.score, &a.chunk.path, a.chunk.first_line),
            (b.score, &b.chunk.path, b.chunk.first_line),
        )
    });
}
