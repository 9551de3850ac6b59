//! A question, answered from the documentation: sections by several ways of looking, put into one order.
//!
//! Each way gives a list; a section counts for where it stands in each (reciprocal rank fusion), so that no score of one way is
//! ever compared with that of another.
//!
//! Invariant: the same question over the same pages gives the same list, whatever part of it is asked for.

use std::borrow::Cow;
use std::collections::HashMap;

use docent_core::docs::front_matter::text_start;
use docent_core::docs::manifest::Labels;
use docent_core::docs::snippet::{best_snippet, plain_text};
use docent_core::docs::taxonomy::sibling_key;
use docent_core::path::RepoPath;
use docent_core::text::tokens::ParsedQuery;

use super::{page, text};
use crate::deadline::Deadline;
use crate::files::Root;
use crate::index::{Index, RerankSkipped, View, hash};
use crate::store::{
    Label, Look, Ranked, SectionAddress, SectionHits, SectionQuery, StoreError, StoredSection,
};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SectionRequest<'a> {
    pub query: &'a str,
    pub filters: &'a Labels,
    /// The documentation that the filters and the place to go on are of.
    pub view: &'a View,
    /// How many results come before those that are wanted.
    pub after: usize,
    pub limit: usize,
    pub ways: Ways,
}

/// Ways of looking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ways {
    #[default]
    All,
    /// For measuring what each is worth.
    Words,
    Meaning,
}

/// A part of the results.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub hits: Vec<SectionHit>,
    /// There are others behind these.
    pub more: bool,
    /// Sections that were found and are no longer in their file.
    pub gone: usize,
    /// Whether a model on a server had a say; and why not, where there is one.
    pub by_server: bool,
    pub unordered: Option<RerankSkipped>,
}

/// A section that was found.
#[derive(Clone, Debug)]
pub struct SectionHit {
    /// How many results there are up to this one.
    pub at: usize,
    pub section: StoredSection,
    pub labels: Labels,
    /// From 0 to 1, where every way of looking had it first.
    pub score: f64,
    pub snippet: String,
}

/// How much less the next place in a list counts.
const STEEPNESS: f64 = 60.0;

/// What the place in each list counts.
const BY_WORDS: f64 = 1.0;
const BY_PHRASE: f64 = 0.5;
const BY_MEANING: f64 = 0.1;
/// A model on a server understands more than a table.
const BY_SERVER: f64 = 1.0;

/// What is further away is about something else.
const MIN_SIMILARITY: f32 = 0.3;

/// Sections that each way of looking gives.
const CANDIDATES: usize = 200;

/// Bytes of a section in which a snippet is looked for.
const LOOKED_AT: usize = 60_000;

/// Phrases of more words are questions.
const MAX_PHRASE_WORDS: usize = 6;

/// Sections that answer a question, the best first.
pub fn search(
    root: &Root,
    index: &Index,
    request: &SectionRequest<'_>,
    deadline: &Deadline,
) -> Result<Results, StoreError> {
    let query = ParsedQuery::of(request.query);
    let filters = request.view.filters(request.filters);
    let phrase: &[String] = if query.words.len() <= MAX_PHRASE_WORDS {
        &query.words
    } else {
        &[]
    };
    let embedder = index.embedder();
    let vector = match request.ways {
        Ways::Words => None,
        Ways::All | Ways::Meaning => embedder.embed(request.query),
    };
    let Some(sections) = index.sections() else {
        return Ok(Results::default());
    };
    let mut found = index.report_damage(sections.find(&SectionQuery {
        words: &query.words,
        phrase,
        vector,
        filters: &filters,
        most: CANDIDATES,
    }))?;
    if request.ways == Ways::Meaning {
        found.by_words.clear();
        found.by_phrase.clear();
    } else if found.by_words.is_empty() && !embedder.knows(request.query) {
        // What nothing here is called, and what means nothing, is near to something all the same.
        found.by_meaning.clear();
    }
    found.by_meaning.retain(|ranked| ranked.score >= MIN_SIMILARITY);
    let (by_server, unordered) = match request.ways {
        Ways::All => index.report_damage(ask_server(index, &*sections, request, deadline, &found))?,
        Ways::Words | Ways::Meaning => (Vec::new(), None),
    };
    let is_by_server = !by_server.is_empty();
    let order = fused(found, by_server);
    let (chosen, more) = index.report_damage(choose(&*sections, order, request))?;
    let mut results = Results {
        more,
        by_server: is_by_server,
        unordered,
        ..Results::default()
    };
    let mut texts: HashMap<String, Option<String>> = HashMap::new();
    for (at, (section, score)) in (request.after + 1..).zip(chosen) {
        let text_now = texts
            .entry(section.path.clone())
            .or_insert_with(|| text(root, &RepoPath::parse(&section.path).ok()?).ok());
        if deadline.check().is_err() {
            results.more = true;
            break;
        }
        match current(root, index, &section, text_now.as_deref()) {
            None => results.gone += 1,
            Some(text) => results.hits.push(SectionHit {
                at,
                labels: request.view.labels_of(&section.path, &section.labels),
                snippet: best_snippet(
                    &plain_text(&text[..text.floor_char_boundary(LOOKED_AT)]),
                    &query.words,
                ),
                section,
                score,
            }),
        }
    }
    Ok(results)
}

/// Reads the sections that are wanted, and tells whether there are others behind them.
fn choose(
    sections: &dyn Look,
    order: Vec<(SectionAddress, f64)>,
    request: &SectionRequest<'_>,
) -> Result<(Vec<(StoredSection, f64)>, bool), StoreError> {
    let end = request.after + request.limit;
    let read = |(place, score): (SectionAddress, f64)| Ok((sections.section(place)?, score));
    let keys: Vec<&str> = request.view.taxonomy.collapsing_keys(request.filters).collect();
    if keys.is_empty() {
        let more = order.len() > end;
        let wanted = order.into_iter().skip(request.after).take(request.limit);
        return Ok((wanted.map(read).collect::<Result<_, StoreError>>()?, more));
    }
    // Which of them say the same as one before is only known of all.
    let mut all: Vec<(StoredSection, f64)> =
        order.into_iter().map(read).collect::<Result<_, StoreError>>()?;
    collapse(&mut all, &keys);
    let more = all.len() > end;
    Ok((
        all.into_iter().skip(request.after).take(request.limit).collect(),
        more,
    ))
}

/// What was found, as a model on a server orders it; nothing, and why, where it does not.
fn ask_server(
    index: &Index,
    sections: &dyn Look,
    request: &SectionRequest<'_>,
    deadline: &Deadline,
    found: &SectionHits,
) -> Result<(Vec<Ranked>, Option<RerankSkipped>), StoreError> {
    if !index.has_server() {
        return Ok((Vec::new(), None));
    }
    let mut all: Vec<Ranked> = [&found.by_words, &found.by_phrase, &found.by_meaning]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    all.sort_unstable_by_key(|ranked| ranked.key);
    all.dedup_by_key(|ranked| ranked.key);
    let keys: Vec<u64> = all
        .iter()
        .map(|ranked| Ok(sections.section(ranked.place)?.meaning()))
        .collect::<Result<_, StoreError>>()?;
    match index.similarity(request.query, &keys, deadline) {
        Err(unordered) => Ok((Vec::new(), Some(unordered))),
        Ok(near) => {
            for (ranked, near) in all.iter_mut().zip(near.unwrap_or_default()) {
                ranked.score = near;
            }
            all.sort_by(|a, b| b.score.total_cmp(&a.score));
            Ok((all, None))
        }
    }
}

fn fused(found: SectionHits, by_server: Vec<Ranked>) -> Vec<(SectionAddress, f64)> {
    let lists = [
        (found.by_words, BY_WORDS),
        (found.by_phrase, BY_PHRASE),
        (found.by_meaning, BY_MEANING),
        (by_server, BY_SERVER),
    ];
    let most: f64 = lists
        .iter()
        .filter(|(list, _)| !list.is_empty())
        .map(|(_, weight)| weight / (STEEPNESS + 1.0))
        .sum();
    let mut scores: HashMap<SectionAddress, (f64, u64)> = HashMap::new();
    for (list, weight) in lists {
        let mut at = 0.0;
        for Ranked { place, key, .. } in list {
            at += 1.0;
            scores.entry(place).or_insert((0.0, key)).0 += weight / (STEEPNESS + at) / most;
        }
    }
    let mut order: Vec<(SectionAddress, (f64, u64))> = scores.into_iter().collect();
    order.sort_unstable_by(|(_, (a, first)), (_, (b, second))| b.total_cmp(a).then(first.cmp(second)));
    order
        .into_iter()
        .map(|(place, (score, _))| (place, score))
        .collect()
}

/// Sections that hold words, the best first.
pub(super) fn by_words(
    index: &Index,
    words: &[String],
    filters: &[Vec<Label>],
) -> Result<Vec<StoredSection>, StoreError> {
    let Some(sections) = index.sections() else {
        return Ok(Vec::new());
    };
    let asked = SectionQuery {
        words,
        phrase: &[],
        vector: None,
        filters,
        most: CANDIDATES,
    };
    let found = index.report_damage(sections.find(&asked))?;
    let read = found.by_words.iter().map(|ranked| sections.section(ranked.place));
    index.report_damage(read.collect())
}

/// Keeps the best of sections that say the same for another language, or whatever their pages differ in.
fn collapse(ranked: &mut Vec<(StoredSection, f64)>, keys: &[&str]) {
    // Each with the page that has it: two sections of one page are never siblings.
    let mut seen: HashMap<String, String> = HashMap::new();
    ranked.retain(|(section, _)| {
        let labels: Labels = section.labels.iter().cloned().collect();
        sibling_key(&section.path, &section.name, &labels, keys.iter().copied())
            .is_none_or(|key| *seen.entry(key).or_insert_with(|| section.path.clone()) == section.path)
    });
}

/// The text of a section as its page has it now, without the front matter.
fn current(root: &Root, index: &Index, section: &StoredSection, text: Option<&str>) -> Option<String> {
    let text = text?;
    let shown = match text.get(section.start..section.end) {
        Some(shown) if hash(shown) == section.hash => Cow::Borrowed(shown),
        _ => {
            let path = RepoPath::parse(&section.path).ok()?;
            let (page, text) = page(root, &path, index.rules(&path)).ok()?;
            let moved = page
                .sections
                .into_iter()
                .find(|other| other.name == section.name)?;
            Cow::Owned(text[moved.bytes].to_owned())
        }
    };
    let start = if section.start == 0 { text_start(&shown) } else { 0 };
    Some(shown[start..].to_owned())
}
