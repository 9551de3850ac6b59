//! Functions inside the best files: which of them are shown, and how many of one file.
//!
//! The best file and the best function of it are two questions. Words that all functions of a file share say
//! that the file is right, and say nothing about its functions. So inside a file a word counts by how few of
//! the file's own chunks have it, as well as by how few of the project's.
//!
//! The best function of a file has the score of the file. A further function keeps a share of it: the nearer
//! it is to the best one, the larger. So one file takes several places if several of its functions match
//! about equally well, and else the next file follows.
//!
//! Invariant: the order of files is that of their scores; functions move inside their file's scores only.

use super::fusion::{compare_scores, kind_factor};
use super::{RankInput, Weights, signals};
use crate::text::tokens::ParsedQuery;

/// One of the best files, with its chunks.
#[derive(Clone, Debug)]
pub struct FileInput<'a> {
    /// The score of its best chunk among those of the project.
    pub score: f32,
    /// How many chunks it has, those that are not in `chunks` included.
    pub total: usize,
    /// By the words of the query: how many of its chunks have it.
    pub chunks_with_word: &'a [usize],
    /// In the order of their lines.
    pub chunks: Vec<FunctionInput<'a>>,
}

/// A chunk of one of the best files.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInput<'a> {
    pub chunk: RankInput<'a>,
    /// By the words of the query: its BM25 score.
    pub word_scores: &'a [f32],
}

/// The relevance of each chunk of the best files, from 0 to 1, in the order given.
pub fn rank_functions(query: &ParsedQuery, files: &[FileInput<'_>], weights: &Weights) -> Vec<Vec<f64>> {
    let coverages: Vec<f32> = files.iter().map(coverage).collect();
    let best = coverages.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let scored = files.iter().zip(coverages).map(|(file, coverage)| {
        let role = file
            .chunks
            .first()
            .map_or(1.0, |one| signals::role_factor(query, one.chunk.path, weights));
        let score = file.score + weights.file_coverage * role * coverage / best;
        let shares = share_score(&file.chunks, &score_inside(query, file, weights), weights);
        let relevance = |share: f32| super::fusion::saturate(score * share);
        shares.into_iter().map(relevance).collect()
    });
    scored.collect()
}

/// How well all chunks of a file together have the words: the best score of each word, added up.
fn coverage(file: &FileInput<'_>) -> f32 {
    let words = 0..file.chunks_with_word.len();
    let best = |word: usize| {
        let scores = file.chunks.iter().map(|one| one.word_scores[word]);
        scores.fold(0.0, f32::max)
    };
    words.map(best).sum()
}

/// The score of each chunk among those of its file.
fn score_inside(query: &ParsedQuery, file: &FileInput<'_>, weights: &Weights) -> Vec<f32> {
    let rarity: Vec<f32> = file
        .chunks_with_word
        .iter()
        .map(|count| 1.0 - weights.file_rarity + weights.file_rarity * rarity(*count, file.total))
        .collect();
    let words = |one: &FunctionInput<'_>| -> f32 {
        let scores = one.word_scores.iter().zip(&rarity);
        scores.map(|(score, rarity)| score * rarity).sum()
    };
    let max = |number: &dyn Fn(&FunctionInput<'_>) -> f32| {
        file.chunks.iter().map(number).fold(f32::MIN_POSITIVE, f32::max)
    };
    let (max_words, max_similarity) = (max(&words), max(&|one| one.chunk.similarity));
    let score = |one: &FunctionInput<'_>| {
        let min_ratio = weights.min_similarity_ratio;
        let similarity = (one.chunk.similarity / max_similarity - min_ratio) / (1.0 - min_ratio);
        let mut score = words(one) / max_words + weights.function_similarity * similarity.max(0.0);
        score += weights.function_name * signals::name_match(query, one.chunk.name);
        score += signals::definition(query, &one.chunk, weights);
        score * kind_factor(one.chunk.kind, weights)
    };
    file.chunks.iter().map(score).collect()
}

/// How rare a word is among the chunks of a file, from 0 to 1: the inverse document frequency of BM25.
fn rarity(count: usize, total: usize) -> f32 {
    let number = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    let (count, total) = (number(count), number(total));
    let idf = |count: f32| (1.0 + (total - count + 0.5) / (count + 0.5)).ln();
    idf(count) / idf(1.0)
}

/// The share of its file's score that each chunk keeps.
fn share_score(chunks: &[FunctionInput<'_>], scores: &[f32], weights: &Weights) -> Vec<f32> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| compare_scores(f64::from(scores[a]), f64::from(scores[b])));
    let best = order.first().map_or(0.0, |&at| scores[at]).max(f32::MIN_POSITIVE);
    let mut shares = vec![0.0; scores.len()];
    let mut penalty = 1.0;
    for (rank, &at) in order.iter().enumerate() {
        let same = order[..rank]
            .iter()
            .any(|&other| is_same(&chunks[at].chunk, &chunks[other].chunk));
        let repeat = if same { weights.same_function_penalty } else { 1.0 };
        shares[at] = penalty * repeat * (scores[at] / best).powf(weights.closeness);
        penalty *= weights.same_file_penalty;
    }
    shares
}

/// Whether two chunks are parts of one definition.
fn is_same(one: &RankInput<'_>, other: &RankInput<'_>) -> bool {
    !one.name.is_empty() && (one.kind, one.name, one.enclosing) == (other.kind, other.name, other.enclosing)
}
