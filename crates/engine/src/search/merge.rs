//! Chunks and discoveries in one list, ordered by boosts, read from their files, without duplicates, cut at
//! the limit.

use docent_core::rank::boosts::{BoostedResult, UnboostedResult, order_by_boosts};
use docent_core::rank::fusion::compare_scores;

use super::reread::CurrentFiles;
use super::{RankedCandidate, SearchHit};

/// One list of both, by relevance. A chunk comes before a discovery with the same relevance.
pub(super) fn merge(
    mut chunks: Vec<RankedCandidate>,
    discoveries: Vec<RankedCandidate>,
) -> Vec<RankedCandidate> {
    chunks.extend(discoveries);
    chunks.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
    chunks
}

/// The candidates in their final order, each with the boosts that acted and its score.
pub(super) fn order(candidates: Vec<RankedCandidate>, window: f64) -> Vec<RankedCandidate> {
    let unboosted: Vec<UnboostedResult> = candidates
        .iter()
        .map(|one| UnboostedResult {
            relevance: one.relevance,
            boosts: one.boosts,
            tier: u8::from(!one.is_use),
        })
        .collect();
    let mut candidates: Vec<Option<RankedCandidate>> = candidates.into_iter().map(Some).collect();
    let ordered = order_by_boosts(&unboosted, window).into_iter();
    let place = |boosted: BoostedResult| {
        let candidate = candidates[boosted.position].take()?;
        Some(RankedCandidate {
            boosts: boosted.boosts,
            score: boosted.score,
            ..candidate
        })
    };
    ordered.filter_map(place).collect()
}

/// The results of a search.
pub(super) struct SelectedHits {
    pub(super) hits: Vec<SearchHit>,
    /// Candidates that their files no longer have.
    pub(super) changed: usize,
}

/// The first `limit` candidates that their files still have and that repeat no result before them. Candidates
/// behind those are not read.
pub(super) fn select(
    candidates: Vec<RankedCandidate>,
    files: &mut [CurrentFiles<'_>],
    limit: usize,
) -> SelectedHits {
    let mut hits: Vec<SearchHit> = Vec::new();
    let mut changed = 0;
    for ranked in candidates {
        if hits.len() == limit {
            break;
        }
        match files[ranked.project].reread(ranked) {
            None => changed += 1,
            Some(hit) if is_duplicate_of_any(&hit, &hits) => {}
            Some(hit) => hits.push(hit),
        }
    }
    SelectedHits { hits, changed }
}

/// Whether a result repeats one before it: a discovery is a part of its file, whose chunk is found as well.
fn is_duplicate_of_any(hit: &SearchHit, before: &[SearchHit]) -> bool {
    before.iter().any(|other| {
        let (hit, other) = (&hit.ranked.candidate, &other.ranked.candidate);
        let overlap = match (hit.lines(), other.lines()) {
            (Some((first, last)), Some((other_first, other_last))) => {
                first <= other_last && other_first <= last
            }
            _ => false,
        };
        overlap
            && hit.is_discovery() != other.is_discovery()
            && hit.path_or_commit() == other.path_or_commit()
    })
}

#[cfg(test)]
mod tests {
    use docent_core::rank::boosts::BoostRules;

    use super::*;
    use crate::search::Candidate;
    use crate::store::{StoredChunk, StoredDiscovery};

    fn ranked(candidate: Candidate, relevance: f64) -> RankedCandidate {
        RankedCandidate {
            project: 0,
            candidate,
            relevance,
            score: relevance,
            is_use: false,
            boosts: BoostRules::default().boosts(None, false),
            usage: None,
        }
    }

    fn chunk(path: &str, first_line: u32, last_line: u32) -> Candidate {
        Candidate::Chunk(StoredChunk {
            path: path.to_owned(),
            first_line,
            last_line,
            ..StoredChunk::default()
        })
    }

    fn discovery(path: &str, first_line: usize, last_line: usize) -> Candidate {
        let mut stored = StoredDiscovery {
            path_or_commit: path.to_owned(),
            ..StoredDiscovery::default()
        };
        stored.discovery.lines = Some(first_line..=last_line);
        Candidate::Discovery {
            stored,
            also_in: Vec::new(),
        }
    }

    #[test]
    fn a_chunk_comes_before_a_discovery_with_the_same_score() {
        let merged = merge(
            vec![ranked(chunk("a", 1, 2), 0.5)],
            vec![
                ranked(discovery("b", 1, 2), 0.7),
                ranked(discovery("c", 1, 2), 0.5),
            ],
        );
        let paths: Vec<&str> = merged.iter().map(|one| one.candidate.path_or_commit()).collect();
        assert_eq!(paths, ["b", "a", "c"]);
    }

    #[test]
    fn a_discovery_repeats_the_chunk_around_it() {
        let hit = |candidate: Candidate| SearchHit {
            ranked: ranked(candidate, 0.5),
            text: String::new(),
            modified: None,
            surroundings: None,
        };
        let before = [hit(chunk("a", 3, 9))];
        let check = |candidate: Candidate, expected: bool| {
            let shown = format!("{candidate:?}");
            assert_eq!(is_duplicate_of_any(&hit(candidate), &before), expected, "{shown}");
        };
        check(discovery("a", 9, 12), true);
        check(discovery("a", 10, 12), false);
        check(discovery("b", 3, 9), false);
        // Two chunks of a file may overlap: a class and its method.
        check(chunk("a", 4, 5), false);
    }
}
