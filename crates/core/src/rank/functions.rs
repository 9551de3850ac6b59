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

use super::fusion::{compare_scores, kind_factor, saturate};
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

/// The relevance of each chunk of the best files, from 0 to 1, in the order given. `None` for a chunk that is
/// not shown by itself.
pub fn rank_functions(
    query: &ParsedQuery,
    files: &[FileInput<'_>],
    spread: Spread,
    weights: &Weights,
) -> Vec<Vec<Option<f64>>> {
    let coverages: Vec<f32> = files.iter().map(coverage).collect();
    let best = coverages.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let score = |(file, coverage): (&FileInput<'_>, f32)| {
        let role = file
            .chunks
            .first()
            .map_or(1.0, |one| signals::role_factor(query, one.chunk.path, weights));
        let of_names = if query.is_name {
            weights.similarity_of_names
        } else {
            1.0
        };
        file.score + weights.file_coverage * of_names * role * coverage / best
    };
    let scores: Vec<f32> = files.iter().zip(coverages).map(score).collect();
    let limit = match spread {
        Spread::ManyFiles => nth_best(&scores, weights.first_files),
        Spread::FewFiles => f32::INFINITY,
    };
    let scored = files.iter().zip(&scores).map(|(file, &score)| {
        let shares = share_score(&file.chunks, &score_inside(query, file, weights), spread, weights);
        let place = |share: Share| match share {
            Share::Best => Some(saturate(score)),
            Share::Further(share) => Some(saturate((score * share).min(limit))),
            Share::Left => None,
        };
        shares.into_iter().map(place).collect()
    });
    scored.collect()
}

/// How the places of a search are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Several files come first, because any of them may be the right one.
    ManyFiles,
    /// The caller has chosen the files, so that only functions compete.
    FewFiles,
}

/// The share of its file's score that a chunk keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Share {
    Best,
    Further(f32),
    /// It only leads to other chunks of its file.
    Left,
}

/// The score that further functions cannot pass: that of the file at this place.
fn nth_best(scores: &[f32], place: f32) -> f32 {
    let mut scores = scores.to_vec();
    scores.sort_by(|a, b| b.total_cmp(a));
    let place = (1..)
        .zip(&scores)
        .find(|(number, _)| f32::from(*number as u16) >= place);
    // Just below it: equal scores are ordered by path.
    place.map_or(f32::INFINITY, |(_, score)| score * 0.999)
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
    let similarity_weight = weights.function_similarity
        * if query.is_name {
            weights.similarity_of_names
        } else {
            1.0
        };
    let score = |one: &FunctionInput<'_>| {
        let min_ratio = weights.min_similarity_ratio;
        let similarity = (one.chunk.similarity / max_similarity - min_ratio) / (1.0 - min_ratio);
        let mut score = words(one) / max_words + similarity_weight * similarity.max(0.0);
        score += weights.function_name * signals::name_match(query, one.chunk.name);
        score += signals::definition(query, &one.chunk, weights);
        if query.is_name {
            // The definition decides, whatever its kind.
            return score;
        }
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
fn share_score(
    chunks: &[FunctionInput<'_>],
    scores: &[f32],
    spread: Spread,
    weights: &Weights,
) -> Vec<Share> {
    let has_other = chunks.iter().any(|one| !one.chunk.is_container_header);
    let is_left = |at: usize| has_other && chunks[at].chunk.is_container_header;
    let mut order: Vec<usize> = (0..scores.len()).filter(|at| !is_left(*at)).collect();
    order.sort_by(|&a, &b| compare_scores(f64::from(scores[a]), f64::from(scores[b])));
    let best = order.first().map_or(0.0, |&at| scores[at]).max(f32::MIN_POSITIVE);
    let same_file_penalty = match spread {
        Spread::ManyFiles => weights.same_file_penalty,
        Spread::FewFiles => 1.0,
    };
    let mut shares = vec![Share::Left; scores.len()];
    let mut penalty = 1.0;
    for (rank, &at) in order.iter().enumerate() {
        if rank == 0 {
            shares[at] = Share::Best;
            penalty = same_file_penalty;
            continue;
        }
        let mut before = order[..rank].iter();
        let repeat = if before.any(|&other| is_same(&chunks[at].chunk, &chunks[other].chunk)) {
            weights.same_function_penalty
        } else {
            1.0
        };
        shares[at] = Share::Further(penalty * repeat * (scores[at] / best).powf(weights.closeness));
        penalty *= same_file_penalty;
    }
    shares
}

/// Whether two chunks are parts of one definition.
fn is_same(one: &RankInput<'_>, other: &RankInput<'_>) -> bool {
    let key = |chunk: &RankInput<'_>| (chunk.kind, chunk.parts);
    one.parts > 1 && key(one) == key(other) && (one.name, one.enclosing) == (other.name, other.enclosing)
}
