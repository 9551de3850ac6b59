//! Search over the documentation: sections by words, phrase and similarity, merged by reciprocal rank fusion.
//!
//! Fusion uses the rank in each list and not the score, because scores of different lists are not comparable.
//!
//! Invariant: the same query over the same pages gives the same list, whichever page of the results is
//! requested.

use std::borrow::Cow;
use std::collections::HashMap;

use docent_core::docs::manifest::Labels;
use docent_core::docs::minor::asks_for_minor;
use docent_core::docs::page::plain_text;
use docent_core::docs::snippet::best_snippet;
use docent_core::docs::taxonomy::sibling_key;
use docent_core::path::RepoPath;
use docent_core::text::left_out::left_out_words;
use docent_core::text::tokens::ParsedQuery;

use super::{markup_of, read_page, read_text};
use crate::deadline::Deadline;
use crate::files::Root;
use crate::index::{Index, RerankSkipped, View, hash};
use crate::store::{
    Label, Ranked, SectionAddress, SectionHits, SectionQuery, SectionSnapshot, StoreError, StoredSection,
};

/// A query with its filters and the requested page of results.
#[derive(Clone, Copy, Debug)]
pub struct SectionRequest<'a> {
    pub query: &'a str,
    pub filters: &'a Labels,
    /// The state of the documentation to which the filters and the cursor belong.
    pub view: &'a View,
    /// Number of results before the requested page.
    pub after: usize,
    pub limit: usize,
    pub mode: RetrievalMode,
}

/// The lists that are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetrievalMode {
    #[default]
    All,
    /// Only one kind of list, to measure its quality.
    Words,
    Meaning,
}

/// A page of results.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub hits: Vec<SectionHit>,
    /// There are further results.
    pub more: bool,
    /// Number of sections that are in the index, but no longer in their file.
    pub gone: usize,
    /// Whether a model on a server has ranked the candidates.
    pub by_server: bool,
    /// Why it has not, although there is one.
    pub unordered: Option<RerankSkipped>,
}

/// A result.
#[derive(Clone, Debug)]
pub struct SectionHit {
    /// Position among all results, counted from 1.
    pub at: usize,
    pub section: StoredSection,
    pub labels: Labels,
    /// From 0 to 1. A section that is first in every list has 1.
    pub score: f64,
    pub snippet: String,
}

/// The constant `k` of reciprocal rank fusion: the higher, the less the rank matters.
const FUSION_K: f64 = 60.0;

/// Weights of the lists.
const WORDS_WEIGHT: f64 = 1.0;
const PHRASE_WEIGHT: f64 = 0.5;
const SIMILARITY_WEIGHT: f64 = 0.1;
/// Higher than the weight of the bundled table, because a model on a server is better.
const SERVER_WEIGHT: f64 = 1.0;

/// Sections below this similarity are about something else.
const MIN_SIMILARITY: f32 = 0.3;

/// Length of each list.
const MAX_CANDIDATES: usize = 200;

/// Bytes of a section in which a snippet is searched.
const MAX_SNIPPET_SOURCE_BYTES: usize = 60_000;

/// Longer queries are questions, not phrases.
const MAX_PHRASE_WORDS: usize = 6;

/// Multiplies the scores of changelogs, templates and fixtures: they repeat the words of guides.
const MINOR_FACTOR: f32 = 0.25;

/// The factor of minor pages for a query.
fn minor_factor(query: &str) -> f32 {
    if asks_for_minor(query) { 1.0 } else { MINOR_FACTOR }
}

/// Words that are too common to be indexed with the others. They are searched for if the query has no others.
fn common_words(query: &ParsedQuery, text: &str) -> Vec<String> {
    match query.words.as_slice() {
        [] => left_out_words(text),
        _ => Vec::new(),
    }
}

/// Searches for sections, the best first.
pub fn search(
    root: &Root,
    index: &Index,
    request: &SectionRequest<'_>,
    deadline: &Deadline,
) -> Result<Results, StoreError> {
    let query = ParsedQuery::of(request.query);
    let common = common_words(&query, request.query);
    let filters = request.view.filters(request.filters);
    let phrase: &[String] = if query.words.len() <= MAX_PHRASE_WORDS {
        &query.words
    } else {
        &[]
    };
    let embedder = index.embedder();
    let vector = match request.mode {
        RetrievalMode::Words => None,
        RetrievalMode::All | RetrievalMode::Meaning => embedder.embed(request.query),
    };
    let Some(sections) = index.sections() else {
        return Ok(Results::default());
    };
    let mut candidates = index.report_damage(sections.find(&SectionQuery {
        words: &query.words,
        common: &common,
        phrase,
        vector,
        filters: &filters,
        minor_factor: minor_factor(request.query),
        limit: MAX_CANDIDATES,
    }))?;
    if request.mode == RetrievalMode::Meaning {
        candidates.by_words.clear();
        candidates.by_phrase.clear();
    } else if candidates.by_words.is_empty() && !embedder.knows(request.query) {
        // A vector is always similar to something. A query of unknown words, which no section contains, has
        // no answer.
        candidates.by_meaning.clear();
    }
    candidates
        .by_meaning
        .retain(|ranked| ranked.score >= MIN_SIMILARITY);
    let (by_server, unordered) = match request.mode {
        RetrievalMode::All => {
            index.report_damage(rank_by_server(index, &*sections, request, deadline, &candidates))?
        }
        RetrievalMode::Words | RetrievalMode::Meaning => (Vec::new(), None),
    };
    let is_by_server = !by_server.is_empty();
    let order = fuse(candidates, by_server);
    let (chosen, more) = index.report_damage(select_page(&*sections, order, request))?;
    let mut results = Results {
        more,
        by_server: is_by_server,
        unordered,
        ..Results::default()
    };
    let mut texts: HashMap<String, Option<String>> = HashMap::new();
    for (at, (section, score)) in (request.after + 1..).zip(chosen) {
        let page_text = texts
            .entry(section.path.clone())
            .or_insert_with(|| read_text(root, &RepoPath::parse(&section.path).ok()?).ok());
        if deadline.check().is_err() {
            results.more = true;
            break;
        }
        match read_section(root, index, &section, page_text.as_deref()) {
            None => results.gone += 1,
            Some(text) => results.hits.push(SectionHit {
                at,
                labels: request.view.labels_of(&section.path, &section.labels),
                snippet: snippet(&section, &text, query.words.as_slice(), &common),
                section,
                score,
            }),
        }
    }
    Ok(results)
}

/// The part of a section that has most of the query's words.
fn snippet(section: &StoredSection, text: &str, words: &[String], common: &[String]) -> String {
    let markup = RepoPath::parse(&section.path).map(|path| markup_of(&path));
    let source = &text[..text.floor_char_boundary(MAX_SNIPPET_SOURCE_BYTES)];
    let plain = plain_text(source, markup.unwrap_or_default());
    let words = if words.is_empty() { common } else { words };
    best_snippet(&plain, words)
}

/// Reads the sections of the requested page, and says whether there are further ones.
fn select_page(
    sections: &dyn SectionSnapshot,
    order: Vec<(SectionAddress, f64)>,
    request: &SectionRequest<'_>,
) -> Result<(Vec<(StoredSection, f64)>, bool), StoreError> {
    let end = request.after + request.limit;
    let read = |(address, score): (SectionAddress, f64)| Ok((sections.section(address)?, score));
    let keys: Vec<&str> = request.view.taxonomy.collapsing_keys(request.filters).collect();
    if keys.is_empty() {
        let more = order.len() > end;
        let selected = order.into_iter().skip(request.after).take(request.limit);
        return Ok((selected.map(read).collect::<Result<_, StoreError>>()?, more));
    }
    // Siblings can only be found among all sections.
    let mut all: Vec<(StoredSection, f64)> =
        order.into_iter().map(read).collect::<Result<_, StoreError>>()?;
    collapse(&mut all, &keys);
    let more = all.len() > end;
    Ok((
        all.into_iter().skip(request.after).take(request.limit).collect(),
        more,
    ))
}

/// The candidates in the order of a model on a server. Empty if there is none, or if it fails; then with the
/// reason.
fn rank_by_server(
    index: &Index,
    sections: &dyn SectionSnapshot,
    request: &SectionRequest<'_>,
    deadline: &Deadline,
    candidates: &SectionHits,
) -> Result<(Vec<Ranked>, Option<RerankSkipped>), StoreError> {
    if !index.has_server() {
        return Ok((Vec::new(), None));
    }
    let mut all: Vec<Ranked> = [
        &candidates.by_words,
        &candidates.by_phrase,
        &candidates.by_meaning,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect();
    all.sort_unstable_by_key(|ranked| ranked.key);
    all.dedup_by_key(|ranked| ranked.key);
    let keys: Vec<u64> = all
        .iter()
        .map(|ranked| Ok(sections.section(ranked.address)?.vector_key()))
        .collect::<Result<_, StoreError>>()?;
    match index.similarity(request.query, &keys, deadline) {
        Err(unordered) => Ok((Vec::new(), Some(unordered))),
        Ok(similarities) => {
            for (ranked, similarity) in all.iter_mut().zip(similarities.unwrap_or_default()) {
                ranked.score = similarity;
            }
            all.sort_by(|a, b| b.score.total_cmp(&a.score));
            Ok((all, None))
        }
    }
}

/// Merges the lists by reciprocal rank fusion.
fn fuse(candidates: SectionHits, by_server: Vec<Ranked>) -> Vec<(SectionAddress, f64)> {
    let lists = [
        (candidates.by_words, WORDS_WEIGHT),
        (candidates.by_phrase, PHRASE_WEIGHT),
        (candidates.by_meaning, SIMILARITY_WEIGHT),
        (by_server, SERVER_WEIGHT),
    ];
    let max_score: f64 = lists
        .iter()
        .filter(|(list, _)| !list.is_empty())
        .map(|(_, weight)| weight / (FUSION_K + 1.0))
        .sum();
    let mut scores: HashMap<SectionAddress, (f64, u64)> = HashMap::new();
    for (list, weight) in lists {
        let mut rank = 0.0;
        for Ranked {
            address,
            key,
            is_lowered,
            ..
        } in list
        {
            rank += 1.0;
            // A list may have nothing but changelogs, so a low rank in it is not enough.
            let weight = if is_lowered {
                weight * f64::from(MINOR_FACTOR)
            } else {
                weight
            };
            scores.entry(address).or_insert((0.0, key)).0 += weight / (FUSION_K + rank) / max_score;
        }
    }
    let mut order: Vec<(SectionAddress, (f64, u64))> = scores.into_iter().collect();
    order.sort_unstable_by(|(_, (a, first)), (_, (b, second))| b.total_cmp(a).then(first.cmp(second)));
    order
        .into_iter()
        .map(|(address, (score, _))| (address, score))
        .collect()
}

/// Sections that contain words, the best first.
pub(super) fn find_by_words(
    index: &Index,
    words: &[String],
    filters: &[Vec<Label>],
) -> Result<Vec<StoredSection>, StoreError> {
    let Some(sections) = index.sections() else {
        return Ok(Vec::new());
    };
    let query = SectionQuery {
        words,
        common: &[],
        phrase: &[],
        vector: None,
        filters,
        minor_factor: 1.0,
        limit: MAX_CANDIDATES,
    };
    let candidates = index.report_damage(sections.find(&query))?;
    let read = candidates
        .by_words
        .iter()
        .map(|ranked| sections.section(ranked.address));
    index.report_damage(read.collect())
}

/// Keeps the best of sibling sections: those whose pages differ only in a label such as the language.
fn collapse(ranked: &mut Vec<(StoredSection, f64)>, keys: &[&str]) {
    // By key, the page of the first section: two sections of one page are never siblings.
    let mut seen: HashMap<String, String> = HashMap::new();
    ranked.retain(|(section, _)| {
        let labels: Labels = section.labels.iter().cloned().collect();
        sibling_key(&section.path, &section.name, &labels, keys.iter().copied())
            .is_none_or(|key| *seen.entry(key).or_insert_with(|| section.path.clone()) == section.path)
    });
}

/// The current text of a section, without the front matter. `None` if its page does not have it any more.
fn read_section(root: &Root, index: &Index, section: &StoredSection, text: Option<&str>) -> Option<String> {
    let text = text?;
    let shown = match text.get(section.start..section.end) {
        Some(shown) if hash(shown) == section.hash => Cow::Borrowed(shown),
        _ => {
            let path = RepoPath::parse(&section.path).ok()?;
            let (page, text) = read_page(root, &path, index.rules(&path)).ok()?;
            let moved = page
                .sections
                .into_iter()
                .find(|other| other.name == section.name)?;
            Cow::Owned(text[moved.bytes].to_owned())
        }
    };
    let markup = RepoPath::parse(&section.path).map(|path| markup_of(&path));
    let start = match section.start {
        0 => markup.unwrap_or_default().text_start(&shown),
        _ => 0,
    };
    Some(shown[start..].to_owned())
}
