//! What to try where nothing was found.

use std::collections::BTreeMap;

use docent_core::docs::manifest::Labels;
use docent_core::text::tokens::{ParsedQuery, words};

use super::search::{SectionRequest, by_words};
use crate::index::Index;
use crate::store::StoreError;

/// What would have been found otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// Values of the filters that would have matched, by key.
    pub filters: BTreeMap<String, Vec<String>>,
    /// Something matches without any filter.
    pub without: bool,
    /// Words of the documentation that are written almost like one that was asked for.
    pub words: Vec<(String, String)>,
    /// Headings that hold such words.
    pub headings: Vec<String>,
}

/// Values, words and headings that are named at most.
const MAX_NAMED_VALUES: usize = 20;
const MAX_NAMED_WORDS: usize = 3;

/// Words of a question that are looked for among similar ones.
const MAX_CHECKED_WORDS: usize = 12;

const MAX_NAMED_HEADINGS: usize = 3;

/// Looks for what a search that found nothing could have meant.
pub fn advice(index: &Index, request: &SectionRequest<'_>) -> Result<Advice, StoreError> {
    let mut advice = Advice::default();
    if !request.filters.is_empty() {
        // Each filter by itself first: what matches all the others.
        for key in request.filters.keys() {
            let mut others = request.filters.clone();
            others.remove(key);
            let values = values(index, request, &others, key)?;
            if !values.is_empty() {
                advice.filters.insert(key.clone(), values);
            }
        }
        if advice.filters.is_empty() {
            for key in request.filters.keys() {
                let values = values(index, request, &Labels::new(), key)?;
                if !values.is_empty() {
                    advice.filters.insert(key.clone(), values);
                }
            }
        }
        let query = ParsedQuery::of(request.query);
        advice.without = !by_words(index, &query.words, &[])?.is_empty();
        if advice.without {
            return Ok(advice);
        }
    }
    // Words that are not there, each with one that is written almost like it.
    let mut similar: Vec<(&str, String)> = Vec::new();
    for written in request.query.split_whitespace().take(MAX_CHECKED_WORDS) {
        for stem in words(written) {
            let other = index.similar(&stem, 1)?.into_iter().next();
            if let Some(other) = other.filter(|other| *other != stem) {
                similar.push((written, other));
                break;
            }
        }
    }
    let stems: Vec<String> = similar.iter().map(|(_, stem)| stem.clone()).collect();
    for section in by_words(index, &stems, &[])? {
        let heading = section.heading;
        if !heading.is_empty()
            && !advice.headings.contains(&heading)
            && advice.headings.len() < MAX_NAMED_HEADINGS
        {
            advice.headings.push(heading);
        }
    }
    // As headings write them: the index has only stems.
    let headings: Vec<&str> = advice
        .headings
        .iter()
        .flat_map(|heading| heading.split_whitespace())
        .collect();
    for (written, stem) in similar.into_iter().take(MAX_NAMED_WORDS) {
        let whole = headings.iter().find(|word| words(word).contains(&stem));
        let shown = whole.map_or(stem.as_str(), |word| {
            word.trim_matches(|c: char| !c.is_alphanumeric())
        });
        advice.words.push((written.to_owned(), shown.to_owned()));
    }
    Ok(advice)
}

/// The values of a key among what is found with these filters.
fn values(
    index: &Index,
    request: &SectionRequest<'_>,
    filters: &Labels,
    key: &str,
) -> Result<Vec<String>, StoreError> {
    let query = ParsedQuery::of(request.query);
    let filters = request.view.filters(filters);
    let mut values: Vec<String> = Vec::new();
    for section in by_words(index, &query.words, &filters)? {
        let labels = request.view.labels_of(&section.path, &section.labels);
        if let Some(value) = labels.get(key)
            && !values.contains(value)
            && values.len() < MAX_NAMED_VALUES
        {
            values.push(value.clone());
        }
    }
    values.sort_unstable();
    Ok(values)
}
