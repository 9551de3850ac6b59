//! Discoveries that match a query, ranked, each said once; and those of a module.

use docent_core::discovery::{Discovery, DiscoveryKind};
use docent_core::rank::discoveries::{compare_dates, compare_discoveries, find_repeats, rank_discoveries};
use docent_core::rank::fusion::compare_scores;
use docent_core::text::tokens::ParsedQuery;

use super::project::ProjectContext;
use super::{Candidate, RankedCandidate, SearchRequest};
use crate::index::Index;
use crate::store::{DiscoveryQuery, StoreError, StoredDiscovery};

/// Discoveries of each project that are ranked.
const MAX_DISCOVERIES: usize = 100;

/// The discoveries that match, the best first. Of those that say almost the same, the best one names the
/// others.
pub(super) fn find(
    projects: &[ProjectContext<'_>],
    query: &ParsedQuery,
    kinds: &[DiscoveryKind],
    request: &SearchRequest<'_>,
) -> Result<Vec<RankedCandidate>, StoreError> {
    let store_query = DiscoveryQuery {
        words: &query.words,
        kinds,
        module: request.module,
        paths: request.paths,
        limit: MAX_DISCOVERIES,
    };
    let mut hits: Vec<(usize, StoredDiscovery, f32)> = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let found = project.index.find_discoveries(&store_query)?;
        hits.extend(found.into_iter().map(|(stored, bm25)| (at, stored, bm25)));
    }
    hits.sort_by(|(_, a, a_bm25), (_, b, b_bm25)| {
        compare_discoveries(
            (*a_bm25, a.discovery.date.as_deref(), a.id),
            (*b_bm25, b.discovery.date.as_deref(), b.id),
        )
    });
    let inputs: Vec<(&Discovery, f32)> = hits
        .iter()
        .map(|(_, stored, bm25)| (&stored.discovery, *bm25))
        .collect();
    let relevance = rank_discoveries(query, request.query, &inputs);
    let mut ranked: Vec<RankedCandidate> = hits
        .into_iter()
        .zip(relevance)
        .map(|((at, stored, _), relevance)| {
            let candidate = Candidate::Discovery {
                stored,
                also_in: Vec::new(),
            };
            projects[at].boost(at, candidate, relevance)
        })
        .collect();
    ranked.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
    Ok(merge_repeats(ranked))
}

/// The discoveries of a module, the newest of each kind first, at most `limit` of each kind.
pub fn discoveries_of_module(
    index: &Index,
    module: &str,
    limit: usize,
) -> Result<Vec<StoredDiscovery>, StoreError> {
    let mut all = Vec::new();
    for kind in DiscoveryKind::ALL {
        let query = DiscoveryQuery {
            words: &[],
            kinds: &[kind],
            module: Some(module),
            paths: None,
            limit,
        };
        let found = index.find_discoveries(&query)?;
        let mut of_kind: Vec<StoredDiscovery> = found.into_iter().map(|(stored, _)| stored).collect();
        of_kind.sort_by(|a, b| {
            compare_dates(
                (a.discovery.date.as_deref(), a.id),
                (b.discovery.date.as_deref(), b.id),
            )
        });
        all.append(&mut of_kind);
    }
    Ok(all)
}

/// Keeps the first of discoveries that say almost the same, and adds the addresses of the others to it.
fn merge_repeats(ranked: Vec<RankedCandidate>) -> Vec<RankedCandidate> {
    let repeats = find_repeats(ranked.iter().filter_map(|one| match &one.candidate {
        Candidate::Discovery { stored, .. } => Some(&stored.discovery),
        Candidate::Chunk(_) => None,
    }));
    let mut kept: Vec<Option<RankedCandidate>> = Vec::new();
    for (one, repeated) in ranked.into_iter().zip(repeats) {
        let first = repeated.and_then(|first| kept[first].as_mut());
        if let Some(Candidate::Discovery { also_in, .. }) = first.map(|first| &mut first.candidate) {
            also_in.push(one.candidate.path_or_commit().to_owned());
            kept.push(None);
        } else {
            kept.push(Some(one));
        }
    }
    kept.into_iter().flatten().collect()
}
