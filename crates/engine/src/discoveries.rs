//! What the project knows about itself, found by a question: the discoveries that match, in the order that helps, each said
//! once.

use docent_core::discovery::{Discovery, DiscoveryKind};
use docent_core::rank::boosts::{Boosts, Usage};
use docent_core::rank::discoveries::{compare_dates, compare_discoveries, find_repeats, rank_discoveries};
use docent_core::rank::fusion::compare_scores;
use docent_core::text::tokens::ParsedQuery;

use crate::index::Index;
use crate::search::SearchedProject;
use crate::store::{DiscoveryQuery, StoreError, StoredDiscovery};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct DiscoveryRequest<'a> {
    pub query: &'a str,
    /// Only these kinds; any, where there is none.
    pub kinds: &'a [DiscoveryKind],
    pub module: Option<&'a str>,
}

/// A discovery that was found.
#[derive(Clone, Debug)]
pub struct DiscoveryCandidate {
    /// Which of the places it is in.
    pub place: usize,
    pub note: StoredDiscovery,
    /// How relevant it is by itself, from 0 to 1.
    pub relevance: f64,
    pub boosts: Boosts,
    pub usage: Option<Usage>,
    /// Where else almost the same is said.
    pub also: Vec<String>,
}

impl DiscoveryCandidate {
    pub fn score(&self) -> f64 {
        self.relevance * self.boosts.product()
    }
}

/// How many discoveries of a project are looked at for an answer.
const CANDIDATES: usize = 100;

/// The discoveries that answer a query, those first that should be seen first.
pub fn discoveries(
    places: &[SearchedProject<'_>],
    request: &DiscoveryRequest<'_>,
) -> Result<Vec<DiscoveryCandidate>, StoreError> {
    let query = ParsedQuery::of(request.query);
    let sought = DiscoveryQuery {
        words: &query.words,
        kinds: request.kinds,
        module: request.module,
        limit: CANDIDATES,
    };
    let mut found: Vec<(usize, StoredDiscovery, f32)> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let notes = place.index.find_discoveries(&sought)?;
        found.extend(notes.into_iter().map(|(note, score)| (at, note, score)));
    }
    found.sort_by(|(_, a, one), (_, b, other)| {
        compare_discoveries(
            (*one, a.discovery.date.as_deref(), a.id),
            (*other, b.discovery.date.as_deref(), b.id),
        )
    });
    let inputs: Vec<(&Discovery, f32)> = found
        .iter()
        .map(|(_, note, score)| (&note.discovery, *score))
        .collect();
    let relevance = rank_discoveries(&query, request.query, &inputs);
    let mut discoveries: Vec<DiscoveryCandidate> = found
        .into_iter()
        .zip(relevance)
        .map(|((at, note, _), relevance)| {
            let place = &places[at];
            let usage = place.usage.get(&note.path_or_commit).copied();
            let same_module = place.module.is_some_and(|module| note.discovery.module == module);
            DiscoveryCandidate {
                place: at,
                boosts: place.rules.boosts(usage, same_module),
                usage,
                relevance,
                note,
                also: Vec::new(),
            }
        })
        .collect();
    discoveries.sort_by(|a, b| compare_scores(a.score(), b.score()));
    Ok(merge_repeats(discoveries))
}

/// What is known of a module, the newest of each kind first; at most `most` of each.
pub fn known_of(index: &Index, module: &str, most: usize) -> Result<Vec<StoredDiscovery>, StoreError> {
    let mut known = Vec::new();
    for kind in DiscoveryKind::ALL {
        let sought = DiscoveryQuery {
            words: &[],
            kinds: &[kind],
            module: Some(module),
            limit: most,
        };
        let mut notes: Vec<StoredDiscovery> = index
            .find_discoveries(&sought)?
            .into_iter()
            .map(|(note, _)| note)
            .collect();
        notes.sort_by(|a, b| {
            compare_dates(
                (a.discovery.date.as_deref(), a.id),
                (b.discovery.date.as_deref(), b.id),
            )
        });
        known.append(&mut notes);
    }
    Ok(known)
}

/// Keeps the first of discoveries that say almost the same, which names the others.
fn merge_repeats(discoveries: Vec<DiscoveryCandidate>) -> Vec<DiscoveryCandidate> {
    let repeats = find_repeats(discoveries.iter().map(|one| &one.note.discovery));
    let mut kept: Vec<Option<DiscoveryCandidate>> = Vec::new();
    for (one, repeat) in discoveries.into_iter().zip(repeats) {
        match repeat.and_then(|first| kept[first].as_mut()) {
            Some(first) => {
                first.also.push(one.note.path_or_commit);
                kept.push(None);
            }
            None => kept.push(Some(one)),
        }
    }
    kept.into_iter().flatten().collect()
}
