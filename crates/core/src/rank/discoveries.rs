//! Ranking of discoveries: how relevant each is beside code, their order, and which of them say the same.
//!
//! The scale is that of chunks, where the best match of code scores about 2: results of both kinds are merged
//! by their scores alone.

use std::cmp::Ordering;

use super::fusion::saturate;
use super::ratio;
use crate::discovery::{Discovery, DiscoveryKind, DiscoverySource, DiscoveryWords};
use crate::text::tokens::{ParsedQuery, words};

/// Multiplies all discoveries if the query asks for the reasons or rules that they record.
const ASKED_FOR: f32 = 4.0;

/// The same if the query may ask for them: its words occur in questions about code as well.
const PERHAPS_ASKED_FOR: f32 = 1.5;

/// Multiplies all discoveries if the query is a name: it asks for the definition.
const NAME_QUERY: f32 = 0.3;

/// Multiply a discovery by its source: the more deliberately it was written down, the more it counts.
const MEMORY: f32 = 1.8;
const RECORD: f32 = 1.3;
const GUIDE: f32 = 1.0;
const COMMIT: f32 = 0.8;
/// Comments count least because the code around them is found as well.
const COMMENT: f32 = 0.6;

/// The part of a score that does not depend on BM25, and the part that multiplies the BM25 score relative to
/// the best: a discovery that has all words of the query counts even if another repeats them.
const WITHOUT_BM25: f32 = 0.4;
const BM25: f32 = 0.6;

/// The relevance of each discovery, from 0 to 1. `text` is the query as written, and each discovery comes
/// with the BM25 score of the store.
pub fn rank_discoveries(query: &ParsedQuery, text: &str, candidates: &[(&Discovery, f32)]) -> Vec<f64> {
    let best = candidates
        .iter()
        .map(|(_, bm25)| *bm25)
        .fold(f32::MIN_POSITIVE, f32::max);
    let intent = intent_factor(query, text);
    candidates
        .iter()
        .map(|(discovery, bm25)| saturate(intent * score_discovery(query, discovery, bm25 / best)))
        .collect()
}

/// The query without words that name one of these kinds: all rules answer a query for rules, whether or not
/// they call themselves so.
pub fn without_kind_names(query: &ParsedQuery, kinds: &[DiscoveryKind]) -> ParsedQuery {
    let names: Vec<String> = kinds.iter().flat_map(|kind| words(kind.name())).collect();
    let mut others = query.clone();
    others.words.retain(|word| !names.contains(word));
    others
}

/// The order of discoveries with the same score, by BM25 score, date (the newest first) and id. Without it,
/// the order in which they were indexed would show.
pub fn compare_discoveries(a: (f32, Option<&str>, u64), b: (f32, Option<&str>, u64)) -> Ordering {
    b.0.total_cmp(&a.0)
        .then_with(|| compare_dates((a.1, a.2), (b.1, b.2)))
}

/// The newest discovery first, then by id.
pub fn compare_dates(a: (Option<&str>, u64), b: (Option<&str>, u64)) -> Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}

/// For each discovery, the position of the first one before it that says almost the same, if there is one.
/// Only discoveries that repeat no other are compared with.
pub fn find_repeats<'a>(discoveries: impl IntoIterator<Item = &'a Discovery>) -> Vec<Option<usize>> {
    let mut distinct: Vec<(usize, DiscoveryWords)> = Vec::new();
    let mut repeats = Vec::new();
    for (at, discovery) in discoveries.into_iter().enumerate() {
        let words = DiscoveryWords::of(discovery);
        let first = distinct
            .iter()
            .find(|(_, other)| words.is_near_duplicate_of(other));
        let first = first.map(|(first, _)| *first);
        if first.is_none() {
            distinct.push((at, words));
        }
        repeats.push(first);
    }
    repeats
}

/// How likely the query asks for discoveries, as a factor of all of them.
fn intent_factor(query: &ParsedQuery, text: &str) -> f32 {
    const CERTAIN: [&str; 8] = [
        "decis", "decid", "rational", "adr", "convent", "guidelin", "polici", "practic",
    ];
    const POSSIBLE: [&str; 9] = [
        "reason", "rule", "issu", "bug", "problem", "pattern", "learn", "alway", "never",
    ];
    let says_any = |stems: &[&str]| stems.iter().any(|stem| query.has_word(stem));
    // "why" is a stop word, so it is not among the query's words, and it is the clearest sign of all.
    let asks_why = text
        .split_whitespace()
        .any(|word| word.eq_ignore_ascii_case("why"));
    match () {
        () if asks_why || says_any(&CERTAIN) => ASKED_FOR,
        () if says_any(&POSSIBLE) => PERHAPS_ASKED_FOR,
        () => 1.0,
    }
}

/// The score of a discovery from 0 up, by its source, the share of the query's words that it has, and its
/// BM25 score relative to the best.
fn score_discovery(query: &ParsedQuery, discovery: &Discovery, bm25_ratio: f32) -> f32 {
    let discovery_words: Vec<String> = words(&format!("{} {}", discovery.title, discovery.content));
    let covered = query
        .words
        .iter()
        .filter(|word| discovery_words.contains(word))
        .count();
    let coverage = match query.words.len() {
        // A query for all discoveries of a kind: each answers it.
        0 => 1.0,
        count => ratio(covered, count),
    };
    let source = match discovery.source {
        DiscoverySource::Memory => MEMORY,
        DiscoverySource::Record => RECORD,
        DiscoverySource::Guide => GUIDE,
        DiscoverySource::Commit => COMMIT,
        DiscoverySource::Comment => COMMENT,
    };
    let name_query = if query.is_name { NAME_QUERY } else { 1.0 };
    source * name_query * coverage * (WITHOUT_BM25 + BM25 * bm25_ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discovery(source: DiscoverySource, content: &str) -> Discovery {
        Discovery {
            source,
            content: content.to_owned(),
            ..Discovery::default()
        }
    }

    #[test]
    fn a_question_for_reasons_raises_discoveries() {
        let check = |text: &str, expected: f32| {
            let factor = intent_factor(&ParsedQuery::of(text), text);
            assert!((factor - expected).abs() < f32::EPSILON, "{text}: {factor}");
        };
        check("why are retries limited", ASKED_FOR);
        check("decisions about retries", ASKED_FOR);
        check("problems of retries", PERHAPS_ASKED_FOR);
        check("limit retries", 1.0);
    }

    #[test]
    fn words_that_name_the_kind_do_not_count() {
        let check = |text: &str, kind: DiscoveryKind, expected: &[&str]| {
            let query = without_kind_names(&ParsedQuery::of(text), &[kind]);
            assert_eq!(query.words, expected, "{text}");
        };
        check("contributing rules", DiscoveryKind::Rule, &["contribut"]);
        check("decisions about retries", DiscoveryKind::Decision, &["retry"]);
        check("open issues", DiscoveryKind::Issue, &["open"]);
        check("patterns", DiscoveryKind::Pattern, &[]);
        check("rules of the parser", DiscoveryKind::Issue, &["rul", "pars"]);
    }

    #[test]
    fn an_entry_of_the_memory_comes_before_a_comment() {
        let (memory, comment) = (
            discovery(DiscoverySource::Memory, "Limit retries"),
            discovery(DiscoverySource::Comment, "Limit retries"),
        );
        let query = ParsedQuery::of("limit retries");
        let relevance = rank_discoveries(&query, "limit retries", &[(&comment, 2.0), (&memory, 2.0)]);
        assert!(relevance[1] > relevance[0], "{relevance:?}");
    }

    #[test]
    fn repeats_point_to_the_first() {
        let texts = [
            "Retries are limited to three",
            "Use tabs",
            "Retries are limited to three",
        ];
        let all: Vec<Discovery> = texts.map(|text| discovery(DiscoverySource::Guide, text)).into();
        assert_eq!(find_repeats(&all), [None, None, Some(0)]);
    }
}
