//! What the project knows about itself, found by a question: the discoveries that match, in the order that helps, each said
//! once.

use docent_core::boost::{Boosts, Usage};
use docent_core::discovery::{Discovery, DiscoveryKind, DiscoverySource, DiscoveryWords};
use docent_core::text::tokens::{ParsedQuery, words};

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
        most: CANDIDATES,
    };
    let mut found: Vec<(usize, StoredDiscovery, f32)> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let notes = place.index.find_discoveries(&sought)?;
        found.extend(notes.into_iter().map(|(note, score)| (at, note, score)));
    }
    // Where words match equally well, the order in which they were indexed must not show.
    found.sort_by(|(_, a, one), (_, b, other)| {
        other
            .total_cmp(one)
            .then_with(|| b.discovery.date.cmp(&a.discovery.date))
            .then_with(|| a.id.cmp(&b.id))
    });
    let best = found
        .first()
        .map_or(1.0, |(_, _, score)| *score)
        .max(f32::MIN_POSITIVE);
    let asked = asked(&query, request.query);
    let mut discoveries: Vec<DiscoveryCandidate> = found
        .into_iter()
        .map(|(at, note, score)| {
            let place = &places[at];
            let usage = place.usage.get(&note.place).copied();
            let same_module = place.module.is_some_and(|module| note.discovery.module == module);
            let strength = f64::from(asked * strength(&query, &note.discovery, score / best));
            DiscoveryCandidate {
                place: at,
                boosts: place.rules.boosts(usage, same_module),
                usage,
                relevance: strength / (strength + 1.0),
                note,
                also: Vec::new(),
            }
        })
        .collect();
    discoveries.sort_by(|a, b| b.score().total_cmp(&a.score()));
    Ok(merged(discoveries))
}

/// What is known of a module, the newest of each kind first; at most `most` of each.
pub fn known_of(index: &Index, module: &str, most: usize) -> Result<Vec<StoredDiscovery>, StoreError> {
    let mut known = Vec::new();
    for kind in DiscoveryKind::ALL {
        let sought = DiscoveryQuery {
            words: &[],
            kinds: &[kind],
            module: Some(module),
            most,
        };
        let mut notes: Vec<StoredDiscovery> = index
            .find_discoveries(&sought)?
            .into_iter()
            .map(|(note, _)| note)
            .collect();
        notes.sort_by(|a, b| {
            b.discovery
                .date
                .cmp(&a.discovery.date)
                .then_with(|| a.id.cmp(&b.id))
        });
        known.append(&mut notes);
    }
    Ok(known)
}

/// How much more discoveries count where the question is what they answer, or may be.
fn asked(query: &ParsedQuery, text: &str) -> f32 {
    const SURELY: [&str; 8] = [
        "decis", "decid", "rational", "adr", "convent", "guidelin", "polici", "practic",
    ];
    const MAYBE: [&str; 9] = [
        "reason", "rule", "issu", "bug", "problem", "pattern", "learn", "alway", "never",
    ];
    let says = |words: &[&str]| words.iter().any(|word| query.has_word(word));
    // No word to look for, and the clearest of all signs.
    let asks_why = text
        .split_whitespace()
        .any(|word| word.eq_ignore_ascii_case("why"));
    match () {
        () if asks_why || says(&SURELY) => 4.0,
        () if says(&MAYBE) => 1.5,
        () => 1.0,
    }
}

/// How relevant a discovery is, where the best match of code counts about 2: how well words match beside the others, how much
/// of the question it covers, and how much was meant to be said.
fn strength(query: &ParsedQuery, discovery: &Discovery, share_of_best: f32) -> f32 {
    let said: Vec<String> = words(&format!("{} {}", discovery.title, discovery.content));
    let covered = query.words.iter().filter(|word| said.contains(word)).count();
    let number = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    let coverage = number(covered) / number(query.words.len().max(1));
    let meant = match discovery.source {
        DiscoverySource::Memory => 1.8,
        DiscoverySource::Record => 1.3,
        DiscoverySource::Guide => 1.0,
        DiscoverySource::Commit => 0.8,
        // The code it stands in is found as well.
        DiscoverySource::Comment => 0.6,
    };
    // Who names something wants to see it.
    let named = if query.is_name { 0.3 } else { 1.0 };
    meant * named * coverage * (0.4 + 0.6 * share_of_best)
}

/// Almost the same is said once, by the first, which names the others.
fn merged(discoveries: Vec<DiscoveryCandidate>) -> Vec<DiscoveryCandidate> {
    let mut kept: Vec<(DiscoveryWords, DiscoveryCandidate)> = Vec::new();
    for one in discoveries {
        let words = DiscoveryWords::of(&one.note.discovery);
        match kept
            .iter_mut()
            .find(|(other, _)| words.is_near_duplicate_of(other))
        {
            Some((_, first)) => first.also.push(one.note.place),
            None => kept.push((words, one)),
        }
    }
    kept.into_iter().map(|(_, one)| one).collect()
}
