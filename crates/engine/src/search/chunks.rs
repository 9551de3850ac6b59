//! Chunks that match a query, ranked.

use std::collections::{HashMap, HashSet};

use docent_core::chunk::ChunkKind;
use docent_core::rank::fusion::{compare_chunks, compare_scores};
use docent_core::rank::signals::score_by_commits;
use docent_core::rank::{RankInput, Weights, score_chunks, spread_files};
use docent_core::report::{Phrase, ResolvedPlace};
use docent_core::text::tokens::ParsedQuery;

use super::definitions::find_definitions;
use super::functions::{BestFile, FileKey, ProjectSignals, best_files, rank_inside, read_files};
use super::nested::{select_nested, select_nested_in_file};
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

/// Chunks that are added for each phrase of the query.
const MAX_PHRASE_CHUNKS: usize = 10;

/// Phrases that are searched for by themselves.
const MAX_SEARCHED_PHRASES: usize = 4;

/// The place of a chunk: the number of its project, its path and its first line.
pub(super) type ChunkPlace = (usize, String, u32);

/// The chunks that match, the best first, and what else the search has found out.
#[derive(Default)]
pub(super) struct FoundChunks {
    pub(super) ranked: Vec<RankedCandidate>,
    /// Chunks that have all words of a phrase, so that it is worth reading them for it.
    pub(super) with_phrases: HashSet<ChunkPlace>,
    /// Why an embedding server, if there is one, did not rerank them.
    pub(super) rerank_skipped: Option<RerankSkipped>,
    pub(super) corrections: Vec<Correction>,
}

/// Finds the chunks of all projects.
pub(super) fn find(
    projects: &[ProjectContext<'_>],
    reading: &QueryReading,
    kinds: &[ChunkKind],
    request: &SearchRequest<'_>,
) -> Result<FoundChunks, StoreError> {
    let query = &reading.parsed;
    let kinds: Vec<&'static str> = kinds.iter().map(|kind| kind.name()).collect();
    let mut signals = ProjectSignals::new(reading);
    for project in projects {
        let terms = reading.terms(project.index)?;
        signals.add(terms, score_files(query, project)?);
    }
    let to_question = |at: usize| ChunkQuery {
        words: &signals.terms[at].words,
        weights: &signals.terms[at].weights,
        names: &signals.terms[at].names,
        kinds: &kinds,
        module: request.module,
        paths: request.paths,
        files: &[],
        // Each project has vectors of its own embedder.
        vector: projects[at].index.embedder().embed(&reading.embedded),
        limit: MAX_CHUNKS,
    };
    let questions: Vec<ChunkQuery<'_>> = (0..projects.len()).map(to_question).collect();
    let reranker = Reranker { reading, request };
    let mut hits: Vec<(usize, ChunkHit)> = Vec::new();
    let mut rerank_skipped = None;
    let mut with_phrases = HashSet::new();
    for (at, project) in projects.iter().enumerate() {
        let question = &questions[at];
        let mut found = find_with_definitions(project.index, query, question, request)?;
        add_named_files(project.index, question, &signals.terms[at].places, &mut found)?;
        for place in add_phrases(project.index, question, &reading.phrases, &mut found)? {
            with_phrases.insert((at, place.0, place.1));
        }
        rerank_skipped = reranker
            .rerank(project.index, found.iter_mut())
            .or(rerank_skipped);
        let found = select_nested(found, query, &kinds);
        hits.extend(found.into_iter().map(|hit| (at, hit)));
    }
    sort_hits(&mut hits);
    let inputs: Vec<RankInput<'_>> = hits
        .iter()
        .map(|(project, hit)| signals.to_input(*project, hit))
        .collect();
    let weights = weights_for(reading, request);
    let scores = score_chunks(query, &inputs, &weights);
    let best = best_files(&inputs, &scores);
    let relevance = spread_files(&inputs, scores, &weights);
    drop(inputs);

    let (mut files, skipped) = read_best_files(projects, &questions, &best, &reranker)?;
    rerank_skipped = skipped.or(rerank_skipped);
    for file in &mut files {
        select_nested_in_file(&mut file.found, query, &kinds);
    }
    let ranked: HashSet<FileKey> = files.iter().map(|file| file.key.clone()).collect();
    let rest = hits
        .into_iter()
        .zip(relevance)
        .filter(|((project, hit), _)| !ranked.contains(&(*project, hit.chunk.path.clone())));
    let inside = rank_inside(files, &signals, &weights, request.paths.is_some());
    let mut chunks: Vec<RankedCandidate> = inside
        .into_iter()
        .chain(rest)
        .map(|((at, hit), relevance)| projects[at].boost(at, Candidate::Chunk(hit.chunk), relevance))
        .collect();
    chunks.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
    Ok(FoundChunks {
        ranked: chunks,
        with_phrases,
        rerank_skipped,
        corrections: signals.corrections(),
    })
}

fn weights_for(reading: &QueryReading, request: &SearchRequest<'_>) -> Weights {
    match reading.report {
        Some(_) => request.weights.for_report(),
        None => *request.weights,
    }
}

/// All chunks of the best files, with the similarity of an embedding server if there is one.
fn read_best_files(
    projects: &[ProjectContext<'_>],
    questions: &[ChunkQuery<'_>],
    best: &[(FileKey, f32)],
    reranker: &Reranker<'_>,
) -> Result<(Vec<BestFile>, Option<RerankSkipped>), StoreError> {
    let mut files: Vec<BestFile> = Vec::new();
    let mut rerank_skipped = None;
    for (at, project) in projects.iter().enumerate() {
        let of_project = best.iter().filter(|((of, _), _)| *of == at);
        let mut found = read_files(project.index, &questions[at], of_project)?;
        let chunks = found.iter_mut().flat_map(|file| &mut file.found.chunks);
        let of_chunks = chunks.map(|one| &mut one.hit);
        rerank_skipped = reranker.rerank(project.index, of_chunks).or(rerank_skipped);
        files.append(&mut found);
    }
    Ok((files, rerank_skipped))
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

/// Adds the chunks that have most words of a phrase, which the other words of the query may outweigh. Returns
/// their paths and first lines.
fn add_phrases(
    index: &Index,
    query: &ChunkQuery<'_>,
    phrases: &[Phrase],
    found: &mut Vec<ChunkHit>,
) -> Result<Vec<(String, u32)>, StoreError> {
    let mut known: HashSet<(String, u64, u32)> = found.iter().map(key).collect();
    let mut places = Vec::new();
    for phrase in phrases.iter().take(MAX_SEARCHED_PHRASES) {
        let words = ParsedQuery::of(&phrase.words().join(" ")).words;
        if words.len() >= query.words.len() {
            continue;
        }
        let hits = index.find_chunks(&ChunkQuery {
            words: &words,
            weights: &[],
            names: &[],
            limit: MAX_PHRASE_CHUNKS,
            ..*query
        })?;
        for hit in hits {
            places.push((hit.chunk.path.clone(), hit.chunk.first_line));
            if known.insert(key(&hit)) {
                found.push(hit);
            }
        }
    }
    Ok(places)
}

/// Replaces similarities by those of an embedding server's model.
struct Reranker<'a> {
    reading: &'a QueryReading,
    request: &'a SearchRequest<'a>,
}

impl Reranker<'_> {
    /// Replaces the similarity of hits, if the project has a server. Returns why it did not. A name asks for
    /// its definition, which needs no model.
    fn rerank<'h>(
        &self,
        index: &Index,
        hits: impl Iterator<Item = &'h mut ChunkHit>,
    ) -> Option<RerankSkipped> {
        if self.reading.parsed.is_name || !index.has_server() {
            return None;
        }
        // The server has no vectors of generated code.
        let mut hits: Vec<&mut ChunkHit> = hits.filter(|hit| !hit.chunk.generated).collect();
        let keys: Vec<u64> = hits
            .iter()
            .map(|hit| StoredChunk::vector_key(&hit.chunk.path, &hit.chunk.scope, hit.chunk.hash))
            .collect();
        let similarities = match index.similarity(&self.reading.embedded, &keys, self.request.deadline) {
            Ok(similarities) => similarities?,
            Err(why) => return Some(why),
        };
        for (hit, similarity) in hits.iter_mut().zip(similarities) {
            hit.similarity = similarity;
        }
        None
    }
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
