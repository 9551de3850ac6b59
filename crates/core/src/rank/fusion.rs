//! Fusion: several scores of a candidate become one, and candidates get their total order.
//!
//! Scores of different sources are never added as they are. Each is divided by the best of its kind first.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use super::{RankInput, Weights};
use crate::chunk::ChunkKind;
use crate::text::tokens::ParsedQuery;

/// The order of chunks with the same score, by BM25 score, path and first line. Without it, the order in
/// which files were indexed would show.
pub fn compare_chunks(a: (f32, &str, u32), b: (f32, &str, u32)) -> Ordering {
    b.0.total_cmp(&a.0)
        .then_with(|| a.1.cmp(b.1))
        .then_with(|| a.2.cmp(&b.2))
}

/// The order of results by their final score, the best first. Sorts by it must be stable.
pub fn compare_scores(a: f64, b: f64) -> Ordering {
    b.total_cmp(&a)
}

/// A score from 0 up as a relevance from 0 to 1.
pub fn saturate(score: f32) -> f64 {
    let score = f64::from(score);
    score / (score + 1.0)
}

/// A relevance to whose score `bonus` is added.
pub fn raise(relevance: f64, bonus: f32) -> f64 {
    let score = relevance / (1.0 - relevance).max(f64::EPSILON) + f64::from(bonus);
    score / (score + 1.0)
}

/// BM25 score and similarity of each candidate as one text score, where the best has 1.
pub(super) fn fuse_text_scores(
    query: &ParsedQuery,
    candidates: &[RankInput<'_>],
    weights: &Weights,
) -> Vec<f32> {
    let max =
        |number: fn(&RankInput<'_>) -> f32| candidates.iter().map(number).fold(f32::MIN_POSITIVE, f32::max);
    let (max_bm25, max_similarity) = (max(|one| one.bm25), max(|one| one.similarity));
    let similarity_weight = weights.similarity * weights.name_factor(query);
    let fuse = |one: &RankInput<'_>| {
        let similarity = weights.similarity_score(one.similarity, max_similarity);
        weights.words * one.bm25 / max_bm25 + similarity_weight * similarity
    };
    let scores: Vec<f32> = candidates.iter().map(fuse).collect();
    let best = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    scores.into_iter().map(|score| score / best).collect()
}

/// Gives the best text scores of each file to its functions, unless the query is a name.
///
/// The best chunk of a file and the best file are two questions. A class lists its methods and so has the
/// words of all of them, but a question about how something is done is answered by the method. The text
/// scores of a file stay the same numbers, so that its rank among files does not change; only its chunks swap
/// them.
pub(super) fn prefer_functions(
    query: &ParsedQuery,
    candidates: &[RankInput<'_>],
    weights: &Weights,
    text_scores: &mut [f32],
) {
    if query.is_name {
        return;
    }
    let weighted: Vec<f32> = candidates
        .iter()
        .zip(&*text_scores)
        .map(|(candidate, score)| score * kind_factor(query, candidate, weights))
        .collect();
    let mut files: HashMap<(usize, &str), Vec<usize>> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let file = (candidate.project, candidate.path);
        files.entry(file).or_default().push(at);
    }
    for mut chunks in files.into_values() {
        let mut scores: Vec<f32> = chunks.iter().map(|&at| text_scores[at]).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        chunks.sort_by(|&a, &b| weighted[b].total_cmp(&weighted[a]));
        for (at, score) in chunks.into_iter().zip(scores) {
            text_scores[at] = score;
        }
    }
}

/// The factor of a chunk's kind among the chunks of its file.
pub(super) fn kind_factor(query: &ParsedQuery, candidate: &RankInput<'_>, weights: &Weights) -> f32 {
    match candidate.kind {
        ChunkKind::Function | ChunkKind::Method if query.intent.types => weights.function_for_type,
        ChunkKind::Class | ChunkKind::Interface | ChunkKind::Type if query.intent.types => 1.0,
        ChunkKind::Function | ChunkKind::Method => 1.0,
        ChunkKind::Module if candidate.is_top_of_file() => weights.block,
        ChunkKind::Class | ChunkKind::Interface | ChunkKind::Type | ChunkKind::Module | ChunkKind::Block => {
            weights.non_function
        }
    }
}

/// Multiplies the second chunk of a file by `penalty`, the third by its square, and so on, so that the best
/// chunk of each file comes first. `files` has the file of each score.
pub(super) fn penalise_same_file<F: Copy + Eq + Hash>(files: &[F], scores: &mut [f32], penalty: f32) {
    let mut sorted: Vec<usize> = (0..scores.len()).collect();
    sorted.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut seen: HashMap<F, i32> = HashMap::new();
    for at in sorted {
        let before = seen.entry(files[at]).or_default();
        scores[at] *= penalty.powi(*before);
        *before += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_file_comes_before_a_second() {
        let mut scores = [1.0, 0.9, 0.5, 0.4];
        penalise_same_file(&["a", "a", "b", "a"], &mut scores, 0.3);
        let shown: Vec<String> = scores.iter().map(|value| format!("{value:.3}")).collect();
        assert_eq!(shown, ["1.000", "0.270", "0.500", "0.036"]);
    }

    #[test]
    fn equal_chunks_are_ordered_by_path_and_line() {
        let mut chunks = [
            (1.0, "b.rs", 1),
            (1.0, "a.rs", 9),
            (2.0, "c.rs", 1),
            (1.0, "a.rs", 2),
        ];
        chunks.sort_by(|a, b| compare_chunks(*a, *b));
        assert_eq!(
            chunks.map(|(_, path, line)| (path, line)),
            [("c.rs", 1), ("a.rs", 2), ("a.rs", 9), ("b.rs", 1)]
        );
    }
}
