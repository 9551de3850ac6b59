//! Words of a field that a misspelt word may stand for.
//!
//! The dictionary is searched with an automaton, so that the time depends on what is similar and not on how
//! many words there are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use super::StoreError;
use super::embedded::catch_panics;

/// Shorter words have no similar ones: one edit makes any word out of any other.
const MIN_CHARS: usize = 4;

/// Longer words may have two edits.
const MAX_ONE_EDIT_CHARS: usize = 5;

/// Shorter words begin too many others.
const MIN_PREFIX_CHARS: usize = 5;

/// Words within one edit, then within two, then those that begin with it; the most frequent of each first.
pub(super) fn similar_words(
    searcher: &Searcher,
    field: Field,
    word: &str,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let length = word.chars().count();
    if length < MIN_CHARS || !word.chars().all(char::is_alphabetic) {
        return Ok(Vec::new());
    }
    let most_edits = if length > MAX_ONE_EDIT_CHARS { 2 } else { 1 };
    for edits in 1..=most_edits {
        let found = within_edits(searcher, field, word, edits, limit)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    if length < MIN_PREFIX_CHARS {
        return Ok(Vec::new());
    }
    catch_panics(|| {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(field)?;
            let mut terms = index.terms().range().ge(word.as_bytes()).into_stream()?;
            while terms.advance() && terms.key().starts_with(word.as_bytes()) {
                count(&mut counts, terms.key(), terms.value().doc_freq);
            }
        }
        Ok(most_frequent(counts, limit))
    })
}

fn within_edits(
    searcher: &Searcher,
    field: Field,
    word: &str,
    edits: u8,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    catch_panics(|| {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for segment in searcher.segment_readers() {
            let term = Term::from_field_text(field, word);
            let automaton = FuzzyTermQuery::new(term, edits, true).automaton()?;
            let index = segment.inverted_index(field)?;
            let mut terms = index.terms().search(automaton).into_stream()?;
            while terms.advance() {
                // Typing mistakes are rare in the first letter, and other words are common there.
                if terms.key().first() == word.as_bytes().first() {
                    count(&mut counts, terms.key(), terms.value().doc_freq);
                }
            }
        }
        Ok(most_frequent(counts, limit))
    })
}

fn count(counts: &mut BTreeMap<String, u32>, word: &[u8], documents: u32) {
    if let Ok(word) = str::from_utf8(word) {
        *counts.entry(word.to_owned()).or_default() += documents;
    }
}

fn most_frequent(counts: BTreeMap<String, u32>, limit: usize) -> Vec<String> {
    let mut all: Vec<(String, u32)> = counts.into_iter().collect();
    // Stable: equals stay in the order of the alphabet.
    all.sort_by_key(|(_, count)| Reverse(*count));
    all.truncate(limit);
    all.into_iter().map(|(word, _)| word).collect()
}
