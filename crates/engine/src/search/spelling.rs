//! Words that nothing in the project has: corrected where that is possible, and told of where it matters.
//!
//! Invariant: a query whose words are all known is searched for as it is.

use std::collections::HashSet;

use docent_core::text::tokens::{ParsedQuery, words};

use super::reading::QueryReading;
use super::{Candidate, SearchHit, SearchNotice};
use crate::index::Index;
use crate::store::StoreError;

/// A word of the query that nothing has, and the words that were searched for instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// As the query writes it.
    pub written: String,
    /// Words of the index, which are stems.
    pub instead: Vec<String>,
}

/// Words that are searched for in place of one.
const MAX_INSTEAD: usize = 2;

/// The weight of a word that stands for another.
const CORRECTED_WEIGHT: f32 = 0.6;

/// The words of a query, their weights (none if all count alike), and what was corrected.
type CorrectedWords = (Vec<String>, Vec<f32>, Vec<Correction>);

/// The words of a query with their weights; a word that nothing has is replaced by those it may stand for.
pub(super) fn correct(
    query: &ParsedQuery,
    written: &str,
    index: &Index,
) -> Result<CorrectedWords, StoreError> {
    let (frequencies, chunks) = index.count_words(&query.words)?;
    // A whole identifier is found by its parts, and a name by its definition.
    let is_joined = |word: &str| query.names.iter().any(|name| name.folded == word);
    let is_unknown = |at: usize| frequencies.get(at) == Some(&0) && !is_joined(&query.words[at]);
    if chunks == 0 || !(0..query.words.len()).any(is_unknown) {
        return Ok((query.words.clone(), Vec::new(), Vec::new()));
    }
    let (mut all, mut weights, mut corrections) = (Vec::new(), Vec::new(), Vec::new());
    for (at, word) in query.words.iter().enumerate() {
        all.push(word.clone());
        weights.push(1.0);
        if !is_unknown(at) {
            continue;
        }
        let instead = index.similar_words(word, MAX_INSTEAD)?;
        for similar in &instead {
            if !query.words.contains(similar) && !all.contains(similar) {
                all.push(similar.clone());
                weights.push(CORRECTED_WEIGHT);
            }
        }
        if !instead.is_empty() {
            corrections.push(Correction {
                written: as_written(written, word),
                instead,
            });
        }
    }
    Ok((all, weights, corrections))
}

/// The word of the text that has this stem.
fn as_written(text: &str, stem: &str) -> String {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .find(|word| words(word).iter().any(|other| other == stem))
        .unwrap_or(stem)
        .to_owned()
}

/// What a reader should know about the words of the query, if its results have few of them.
pub(super) fn notice(
    reading: &QueryReading,
    corrections: &[Correction],
    hits: &[SearchHit],
) -> Option<SearchNotice> {
    if !corrections.is_empty() {
        return Some(SearchNotice::Corrected(corrections.to_vec()));
    }
    let is_question = reading.report.is_none() && !reading.parsed.is_name;
    let is_answered = hits.first().is_none_or(|hit| hit.ranked.is_use);
    if !is_question || is_answered {
        return None;
    }
    is_weak(&reading.parsed.words, hits).then_some(SearchNotice::WeakMatch)
}

/// Whether none of the first results has a fair share of the words.
fn is_weak(query: &[String], hits: &[SearchHit]) -> bool {
    const MAX_HITS: usize = 5;
    /// With fewer words, the share says nothing.
    const MIN_WORDS: usize = 3;
    /// Words that a result must have, of ten of the query.
    const MIN_OF_TEN: usize = 4;
    if query.len() < MIN_WORDS {
        return false;
    }
    let matched = |hit: &SearchHit| {
        let (path, name) = match &hit.ranked.candidate {
            Candidate::Chunk(chunk) => (chunk.path.as_str(), chunk.scope.as_str()),
            Candidate::Discovery { .. } => ("", ""),
        };
        let found: HashSet<String> = [path, name, &hit.text].into_iter().flat_map(words).collect();
        query.iter().filter(|word| found.contains(*word)).count()
    };
    let most = hits.iter().take(MAX_HITS).map(matched).max().unwrap_or_default();
    most * 10 < query.len() * MIN_OF_TEN
}
