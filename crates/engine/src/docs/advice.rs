//! Advice after a search without results: other filter values, similar words, headings.
//!
//! The wording is in the app.
//!
//! Invariant: everything that is suggested would have found something.

use std::collections::BTreeMap;

use docent_core::docs::manifest::Labels;
use docent_core::text::tokens::{ParsedQuery, words};

use super::search::{SectionRequest, find_by_words};
use crate::index::Index;
use crate::store::StoreError;

/// Changes to a request that would have found something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// By filter key, the values that would have matched.
    pub filters: BTreeMap<String, Vec<String>>,
    /// The query matches without any filter.
    pub without: bool,
    /// Words of the query, each with a word of the documentation that is spelled almost like it.
    pub words: Vec<(String, String)>,
    /// Headings that contain such words.
    pub headings: Vec<String>,
}

/// Limits of the lists in an [`Advice`].
const MAX_NAMED_VALUES: usize = 20;
const MAX_NAMED_WORDS: usize = 3;

/// Words of a query for which similar ones are searched.
const MAX_CHECKED_WORDS: usize = 12;

const MAX_NAMED_HEADINGS: usize = 3;

/// Searches for changes to a request without results that would find something.
pub fn advice(index: &Index, request: &SectionRequest<'_>) -> Result<Advice, StoreError> {
    let mut advice = Advice::default();
    if !request.filters.is_empty() {
        // First, change one filter and leave the others as they are.
        for key in request.filters.keys() {
            let mut others = request.filters.clone();
            others.remove(key);
            let values = label_values(index, request, &others, key)?;
            if !values.is_empty() {
                advice.filters.insert(key.clone(), values);
            }
        }
        if advice.filters.is_empty() {
            for key in request.filters.keys() {
                let values = label_values(index, request, &Labels::new(), key)?;
                if !values.is_empty() {
                    advice.filters.insert(key.clone(), values);
                }
            }
        }
        let query = ParsedQuery::of(request.query);
        advice.without = !find_by_words(index, &query.words, &[])?.is_empty();
        if advice.without {
            return Ok(advice);
        }
    }
    // Words that the documentation does not have, each with one that is spelled almost like it.
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
    for section in find_by_words(index, &stems, &[])? {
        let heading = section.heading;
        if !heading.is_empty()
            && !advice.headings.contains(&heading)
            && advice.headings.len() < MAX_NAMED_HEADINGS
        {
            advice.headings.push(heading);
        }
    }
    // Show words as headings spell them: the index has only stems.
    let headings: Vec<&str> = advice
        .headings
        .iter()
        .flat_map(|heading| heading.split_whitespace())
        .collect();
    for (written, stem) in similar.into_iter().take(MAX_NAMED_WORDS) {
        let spelled = headings.iter().find(|word| words(word).contains(&stem));
        let shown = spelled.map_or(stem.as_str(), |word| {
            word.trim_matches(|c: char| !c.is_alphanumeric())
        });
        advice.words.push((written.to_owned(), shown.to_owned()));
    }
    Ok(advice)
}

/// The values of a label among the sections that these filters match.
fn label_values(
    index: &Index,
    request: &SectionRequest<'_>,
    filters: &Labels,
    key: &str,
) -> Result<Vec<String>, StoreError> {
    let query = ParsedQuery::of(request.query);
    let filters = request.view.filters(filters);
    let mut values: Vec<String> = Vec::new();
    for section in find_by_words(index, &query.words, &filters)? {
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
