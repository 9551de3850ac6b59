//! Discoveries that match a query, ranked, each said once; and those of a module.

use docent_core::discovery::{Discovery, DiscoveryKind, DiscoverySource};
use docent_core::rank::discoveries::{
    compare_dates, compare_discoveries, find_repeats, rank_discoveries, without_kind_names,
};
use docent_core::rank::fusion::compare_scores;
use docent_core::text::tokens::ParsedQuery;

use super::project::ProjectContext;
use super::{Candidate, RankedCandidate, SearchRequest};
use crate::index::Index;
use crate::store::{DiscoveryQuery, StoreError, StoredDiscovery};

/// Discoveries of each project that are ranked.
const MAX_DISCOVERIES: usize = 100;

/// The same while commits are read, of which many are left out.
const MAX_UNSETTLED_DISCOVERIES: usize = 400;

/// The discoveries that match, the best first. Of those that say almost the same, the best one names the
/// others.
pub(super) fn find(
    projects: &[ProjectContext<'_>],
    query: &ParsedQuery,
    kinds: &[DiscoveryKind],
    request: &SearchRequest<'_>,
) -> Result<Vec<RankedCandidate>, StoreError> {
    // A search for one kind need not repeat its name.
    let reduced = without_kind_names(query, if request.chunks.is_none() { kinds } else { &[] });
    let query = &reduced;
    let mut hits: Vec<(usize, StoredDiscovery, f32)> = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let is_settled = project.has_history || request.chunks.is_none();
        let found = project.index.find_discoveries(&DiscoveryQuery {
            words: &query.words,
            kinds,
            module: request.module,
            paths: request.paths,
            limit: if is_settled {
                MAX_DISCOVERIES
            } else {
                MAX_UNSETTLED_DISCOVERIES
            },
        })?;
        let found = found.into_iter().map(|(stored, bm25)| (at, stored, bm25));
        if is_settled {
            hits.extend(found);
        } else {
            // While commits are read, their discoveries appear one by one, and change how rare words are.
            let others = found.filter(|(_, stored, _)| stored.discovery.source != DiscoverySource::Commit);
            hits.extend(others.map(|(at, stored, _)| (at, stored, 1.0)));
        }
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

/// Discoveries of some kinds that do not match a query, and how many there are.
pub(super) struct NearestDiscoveries {
    /// Those closest to the query in meaning, the closest first.
    pub(super) ranked: Vec<RankedCandidate>,
    pub(super) count: usize,
}

/// Discoveries that are compared with a query that matches none of them.
const MAX_COMPARED: usize = 2_000;

/// Relevance of a discovery that means exactly what the query does, but has none of its words.
const WITHOUT_WORDS: f64 = 0.1;

/// The discoveries of some kinds that are nearest to a query that matches none of them.
pub(super) fn find_nearest(
    projects: &[ProjectContext<'_>],
    kinds: &[DiscoveryKind],
    request: &SearchRequest<'_>,
) -> Result<NearestDiscoveries, StoreError> {
    let mut ranked: Vec<RankedCandidate> = Vec::new();
    for (at, project) in projects.iter().enumerate() {
        let embedder = project.index.embedder();
        let wanted = embedder.embed(request.query);
        let found = project.index.find_discoveries(&DiscoveryQuery {
            words: &[],
            kinds,
            module: request.module,
            paths: request.paths,
            limit: MAX_COMPARED,
        })?;
        for (stored, _) in found {
            let own = wanted.and_then(|_| embedder.embed(&stored.discovery.content));
            let similarity = wanted.zip(own).map_or(0.0, |(a, b)| a.similarity(&b).max(0.0));
            let candidate = Candidate::Discovery {
                stored,
                also_in: Vec::new(),
            };
            ranked.push(project.boost(at, candidate, WITHOUT_WORDS * f64::from(similarity)));
        }
    }
    let count = ranked.len();
    ranked.sort_by(|a, b| compare_scores(a.relevance, b.relevance));
    ranked.truncate(request.limit);
    Ok(NearestDiscoveries {
        ranked: merge_repeats(ranked),
        count,
    })
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
