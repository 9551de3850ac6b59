//! Chunks that match a query, ranked.

use std::collections::{BTreeMap, HashMap, HashSet};

use docent_core::chunk::ChunkKind;
use docent_core::rank::functions::{FileInput, FunctionInput, Spread, rank_functions};
use docent_core::rank::fusion::{compare_chunks, compare_scores};
use docent_core::rank::signals::score_by_commits;
use docent_core::rank::{RankInput, Weights, score_chunks, spread_files};
use docent_core::text::tokens::ParsedQuery;

use super::definitions::find_definitions;
use super::nested::{select_nested, select_nested_in_file};
use super::project::ProjectContext;
use super::{Candidate, RankedCandidate, SearchRequest};
use crate::index::{Index, RerankSkipped};
use crate::store::{ChunkHit, ChunkQuery, FileChunks, StoreError, StoredChunk};

/// Chunks of each project that are ranked.
const MAX_CHUNKS: usize = 200;

/// If a caller limits a search to at most so many files, all of their functions compete.
const FEW_FILES: usize = 5;

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
    for (at, project) in projects.iter().enumerate() {
        let question = question(project);
        let mut found = project.index.find_chunks(&question)?;
        let known: HashSet<(String, u64, u32)> = found.iter().map(key).collect();
        let definitions = find_definitions(project.index, query, &question, request)?;
        found.extend(definitions.into_iter().filter(|hit| !known.contains(&key(hit))));
        // A name asks for its definition, which needs no model.
        if !query.is_name
            && let Err(why) = rerank(project.index, request, found.iter_mut())
        {
            rerank_skipped = Some(why);
        }
        let found = select_nested(found, query, &kinds);
        hits.extend(found.into_iter().map(|hit| (at, hit)));
    }
    let mut commit_scores: Vec<HashMap<String, f32>> = Vec::new();
    for project in projects {
        commit_scores.push(score_files(query, project.index)?);
    }
    sort_hits(&mut hits);
    let scores = {
        let inputs = inputs(&hits, &commit_scores);
        score_chunks(query, &inputs, request.weights)
    };
    let best = best_files(&hits, &scores, request.weights);
    let mut files: Vec<(FileKey, f32, FileChunks)> = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let of_project: Vec<&(FileKey, f32)> = best.iter().filter(|((of, _), _)| *of == at).collect();
        let paths: Vec<&str> = of_project.iter().map(|((_, path), _)| path.as_str()).collect();
        let mut found = project.index.chunks_of_files(&question(project), &paths)?;
        let all = found.iter_mut().flat_map(|file| &mut file.chunks);
        if !query.is_name
            && let Err(why) = rerank(project.index, request, all.map(|one| &mut one.hit))
        {
            rerank_skipped = Some(why);
        }
        for ((key, score), mut file) in of_project.into_iter().zip(found) {
            select_nested_in_file(&mut file, query, &kinds);
            // A file may be removed between the two questions.
            if !file.chunks.is_empty() {
                files.push((key.clone(), *score, file));
            }
        }
    }
    let inputs_of_files: Vec<FileInput<'_>> = files
        .iter()
        .map(|((project, _), score, file)| FileInput {
            score: *score,
            total: file.total,
            chunks_with_word: &file.chunks_with_word,
            chunks: file
                .chunks
                .iter()
                .map(|one| FunctionInput {
                    chunk: input(*project, &one.hit, &commit_scores),
                    word_scores: &one.word_scores,
                })
                .collect(),
        })
        .collect();
    let spread = if request.paths.is_some() && files.len() <= FEW_FILES {
        Spread::FewFiles
    } else {
        Spread::ManyFiles
    };
    let inside = rank_functions(query, &inputs_of_files, spread, request.weights);
    drop(inputs_of_files);
    let relevance = spread_files(&inputs(&hits, &commit_scores), scores, request.weights);
    let ranked: HashSet<FileKey> = files.iter().map(|(key, ..)| key.clone()).collect();
    let rest = hits
        .into_iter()
        .zip(relevance)
        .filter(|((project, hit), _)| !ranked.contains(&(*project, hit.chunk.path.clone())));
    let first = files
        .into_iter()
        .zip(inside)
        .flat_map(|(((project, _), _, file), relevance)| {
            file.chunks
                .into_iter()
                .zip(relevance)
                .filter_map(move |(one, relevance)| Some(((project, one.hit), relevance?)))
        });
    Ok((boosted(projects, first.chain(rest)), rerank_skipped))
}

fn key(hit: &ChunkHit) -> (String, u64, u32) {
    (hit.chunk.path.clone(), hit.chunk.id, hit.chunk.first_line)
}

/// A file of a project, by its number.
type FileKey = (usize, String);

/// The best files with their scores, the best first.
fn best_files(hits: &[(usize, ChunkHit)], scores: &[f32], weights: &Weights) -> Vec<(FileKey, f32)> {
    let mut best: BTreeMap<FileKey, f32> = BTreeMap::new();
    for ((project, hit), score) in hits.iter().zip(scores) {
        let of_file = best.entry((*project, hit.chunk.path.clone())).or_default();
        *of_file = of_file.max(*score);
    }
    let mut best: Vec<(FileKey, f32)> = best.into_iter().collect();
    best.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    best.truncate(weights.max_files as usize);
    best
}

/// Replaces the similarity of hits by that of the embedding server's model, if there is a server.
fn rerank<'a>(
    index: &Index,
    request: &SearchRequest<'_>,
    hits: impl Iterator<Item = &'a mut ChunkHit>,
) -> Result<(), RerankSkipped> {
    if !index.has_server() {
        return Ok(());
    }
    // The server has no vectors of generated code.
    let mut hits: Vec<&mut ChunkHit> = hits.filter(|hit| !hit.chunk.generated).collect();
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

/// The commit score of each file. Empty if the query is a name, which asks for its definition.
fn score_files(query: &ParsedQuery, index: &Index) -> Result<HashMap<String, f32>, StoreError> {
    if query.is_name {
        return Ok(HashMap::new());
    }
    Ok(score_by_commits(index.find_commits(&query.words, MAX_COMMITS)?))
}

fn sort_hits(hits: &mut [(usize, ChunkHit)]) {
    hits.sort_by(|(_, a), (_, b)| {
        compare_chunks(
            (a.score, &a.chunk.path, a.chunk.first_line),
            (b.score, &b.chunk.path, b.chunk.first_line),
        )
    });
}

fn inputs<'a>(hits: &'a [(usize, ChunkHit)], commit_scores: &[HashMap<String, f32>]) -> Vec<RankInput<'a>> {
    hits.iter()
        .map(|(project, hit)| input(*project, hit, commit_scores))
        .collect()
}

fn input<'a>(project: usize, hit: &'a ChunkHit, commit_scores: &[HashMap<String, f32>]) -> RankInput<'a> {
    RankInput {
        project,
        path: &hit.chunk.path,
        kind: hit.chunk.kind,
        name: hit.chunk.name(),
        enclosing: hit.chunk.enclosing(),
        generated: hit.chunk.generated,
        is_container_header: hit.chunk.is_container_header,
        reopens: hit.chunk.reopens,
        part: hit.chunk.part,
        parts: hit.chunk.parts,
        bm25: hit.score,
        similarity: hit.similarity,
        commit_score: commit_scores[project]
            .get(&hit.chunk.path)
            .copied()
            .unwrap_or_default(),
    }
}

/// The chunks with their boosts, the most relevant first.
fn boosted(
    projects: &[ProjectContext<'_>],
    hits: impl Iterator<Item = ((usize, ChunkHit), f64)>,
) -> Vec<RankedCandidate> {
    let mut ranked: Vec<RankedCandidate> = hits
        .map(|((at, hit), relevance)| projects[at].boost(at, Candidate::Chunk(hit.chunk), relevance))
        .collect();
    ranked.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
    ranked
}
