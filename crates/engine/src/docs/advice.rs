//! Advice after a search without results: other filter values, similar words, headings.
//!
//! The wording is in the app.
//!
//! Invariant: everything that is suggested would have found something.

use std::collections::BTreeMap;

use docent_core::docs::manifest::Labels;
use docent_core::path::RepoPath;
use docent_core::text::tokens::{ParsedQuery, words};

use super::read_text;
use super::search::{SectionRequest, find_by_words};
use crate::files::Root;
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
pub fn advice(root: &Root, index: &Index, request: &SectionRequest<'_>) -> Result<Advice, StoreError> {
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
    for (written, stem) in similar.into_iter().take(MAX_NAMED_WORDS) {
        if let Some(spelled) = spell(root, index, &stem)? {
            advice.words.push((written.to_owned(), spelled));
        }
    }
    Ok(advice)
}

/// Sections in which the spelling of a word is looked up.
const MAX_SPELLING_SECTIONS: usize = 5;

/// A word as a page spells it, because the index has only stems. Headings come first.
fn spell(root: &Root, index: &Index, stem: &str) -> Result<Option<String>, StoreError> {
    let sections = find_by_words(index, &[stem.to_owned()], &[])?;
    let in_headings = sections
        .iter()
        .find_map(|section| find_word(&section.heading, stem));
    if in_headings.is_some() {
        return Ok(in_headings);
    }
    for section in sections.iter().take(MAX_SPELLING_SECTIONS) {
        let text = RepoPath::parse(&section.path)
            .ok()
            .and_then(|path| read_text(root, &path).ok());
        let spelled = text.and_then(|text| find_word(text.get(section.start..section.end)?, stem));
        if spelled.is_some() {
            return Ok(spelled);
        }
    }
    Ok(None)
}

/// The first word of a text that has a stem.
fn find_word(text: &str, stem: &str) -> Option<String> {
    let is_edge = |c: char| !(c.is_alphanumeric() || c == '_');
    let found = text
        .split(is_edge)
        .find(|word| !word.is_empty() && words(word).iter().any(|one| one == stem));
    found.map(str::to_owned)
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
