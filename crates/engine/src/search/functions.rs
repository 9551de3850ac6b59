//! The step from the best files to their functions: all chunks of these files are read and ranked.
//!
//! Weights and the order are in `core::rank::functions`.
//!
//! Invariant: the order does not depend on how projects store their files. Equal scores are ordered by path
//! and line.

use std::collections::{BTreeMap, HashMap};

use docent_core::rank::functions::{FileInput, FunctionInput, Spread, rank_functions};
use docent_core::rank::{RankInput, Weights};

use super::reading::{ProjectTerms, QueryReading};
use super::spelling::Correction;
use crate::index::Index;
use crate::store::{ChunkHit, ChunkQuery, FileChunks, StoreError};

/// Files whose functions are ranked.
const MAX_FILES: usize = 15;

/// If a caller limits a search to at most so many files, all of their functions compete.
const FEW_FILES: usize = 5;

/// The number of a project, and the path of one of its files.
pub(super) type FileKey = (usize, String);

/// What ranking knows of each project beside its hits.
pub(super) struct ProjectSignals<'a> {
    reading: &'a QueryReading,
    pub(super) terms: Vec<ProjectTerms>,
    /// The commit score of each file, by project.
    commit_scores: Vec<HashMap<String, f32>>,
}

impl<'a> ProjectSignals<'a> {
    pub(super) fn new(reading: &'a QueryReading) -> Self {
        Self {
            reading,
            terms: Vec::new(),
            commit_scores: Vec::new(),
        }
    }

    /// Adds the next project.
    pub(super) fn add(&mut self, terms: ProjectTerms, commit_scores: HashMap<String, f32>) {
        self.terms.push(terms);
        self.commit_scores.push(commit_scores);
    }

    /// A chunk as ranking sees it.
    pub(super) fn to_input<'h>(&self, project: usize, hit: &'h ChunkHit) -> RankInput<'h> {
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
            commit_score: self.commit_scores[project]
                .get(&hit.chunk.path)
                .copied()
                .unwrap_or_default(),
            named: self.reading.named(&self.terms[project].places, &hit.chunk),
        }
    }

    /// The words that were corrected, of all projects.
    pub(super) fn corrections(self) -> Vec<Correction> {
        self.terms
            .into_iter()
            .flat_map(|terms| terms.corrections)
            .collect()
    }
}

/// One of the best files, with its chunks.
pub(super) struct BestFile {
    pub(super) key: FileKey,
    score: f32,
    pub(super) found: FileChunks,
}

/// The best files with their scores, the best first.
pub(super) fn best_files(chunks: &[RankInput<'_>], scores: &[f32]) -> Vec<(FileKey, f32)> {
    let mut best: BTreeMap<(usize, &str), f32> = BTreeMap::new();
    for (chunk, score) in chunks.iter().zip(scores) {
        let of_file = best.entry((chunk.project, chunk.path)).or_default();
        *of_file = of_file.max(*score);
    }
    let mut best: Vec<_> = best.into_iter().collect();
    best.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    best.truncate(MAX_FILES);
    let owned = |((project, path), score): ((usize, &str), f32)| ((project, path.to_owned()), score);
    best.into_iter().map(owned).collect()
}

/// Reads all chunks of files of one project. A file that was removed since it was found is left out.
pub(super) fn read_files<'a>(
    index: &Index,
    question: &ChunkQuery<'_>,
    files: impl Iterator<Item = &'a (FileKey, f32)>,
) -> Result<Vec<BestFile>, StoreError> {
    let files: Vec<&(FileKey, f32)> = files.collect();
    let paths: Vec<&str> = files.iter().map(|((_, path), _)| path.as_str()).collect();
    let found = index.chunks_of_files(question, &paths)?;
    let read = |((key, score), found): (&(FileKey, f32), FileChunks)| BestFile {
        key: key.clone(),
        score: *score,
        found,
    };
    Ok(files
        .into_iter()
        .zip(found)
        .filter(|(_, found)| !found.chunks.is_empty())
        .map(read)
        .collect())
}

/// The chunks of the best files, each with its relevance.
pub(super) fn rank_inside(
    files: Vec<BestFile>,
    signals: &ProjectSignals<'_>,
    weights: &Weights,
    is_limited_to_paths: bool,
) -> Vec<((usize, ChunkHit), f64)> {
    let inputs: Vec<FileInput<'_>> = files
        .iter()
        .map(|file| FileInput {
            score: file.score,
            total: file.found.total,
            chunks_with_word: &file.found.chunks_with_word,
            chunks: file
                .found
                .chunks
                .iter()
                .map(|one| FunctionInput {
                    chunk: signals.to_input(file.key.0, &one.hit),
                    word_scores: &one.word_scores,
                })
                .collect(),
        })
        .collect();
    let spread = if is_limited_to_paths && files.len() <= FEW_FILES {
        Spread::FewFiles
    } else {
        Spread::ManyFiles
    };
    let relevance = rank_functions(&signals.reading.parsed, &inputs, spread, weights);
    drop(inputs);
    let mut ranked = Vec::new();
    for (file, relevance) in files.into_iter().zip(relevance) {
        for (one, relevance) in file.found.chunks.into_iter().zip(relevance) {
            ranked.extend(relevance.map(|relevance| ((file.key.0, one.hit), relevance)));
        }
    }
    ranked
}
