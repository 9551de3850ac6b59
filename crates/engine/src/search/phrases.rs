//! Phrases of the query in the text of the best candidates: a pasted line, a message of an error.
//!
//! The index has no positions of words, which would make it a third larger. So the files of the best
//! candidates are read, of which most are read for the results anyway.
//!
//! Left out: phrases in chunks that neither all words of the query nor those of the phrase alone find.

use std::collections::HashSet;

use docent_core::path::RepoPath;
use docent_core::rank::fusion::{compare_scores, raise};
use docent_core::report::{Phrase, phrase_score};

use super::chunks::ChunkPlace;
use super::reread::CurrentFiles;
use super::{Candidate, RankedCandidate};

/// Candidates whose text is compared with the phrases.
const MAX_COMPARED: usize = 60;

/// Raises the candidates that have a phrase word for word by `weight`, and sorts them again.
pub(super) fn raise_exact(
    candidates: &mut [RankedCandidate],
    phrases: &[Phrase],
    with_phrases: &HashSet<ChunkPlace>,
    files: &mut [CurrentFiles<'_>],
    weight: f32,
) {
    if phrases.is_empty() || weight <= 0.0 {
        return;
    }
    for (at, one) in candidates.iter_mut().enumerate() {
        let Candidate::Chunk(chunk) = &one.candidate else {
            continue;
        };
        let place = || (one.project, chunk.path.clone(), chunk.first_line);
        if at >= MAX_COMPARED && !with_phrases.contains(&place()) {
            continue;
        }
        let Ok(path) = RepoPath::parse(&chunk.path) else {
            continue;
        };
        let Some(text) = files[one.project].lines_of(&path, chunk.first_line, chunk.last_line) else {
            continue;
        };
        let share = phrase_score(phrases, text);
        if share > 0.0 {
            one.relevance = raise(one.relevance, weight * share);
            one.score = one.relevance;
        }
    }
    candidates.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
}
