//! A query as the search reads it: a question in a line, or a report with the places that it names.
//!
//! Invariant: a question in a line is searched for as it is. What a report names is looked up in each project
//! apart, because projects differ in their files and in which words are rare.

use docent_core::rank::NamedSignals;
use docent_core::report::{
    IssueReport, Phrase, PlaceResolver, ResolvedPlace, phrases_of_line, place_scores, select_terms,
};
use docent_core::text::tokens::ParsedQuery;

use super::SearchRequest;
use super::spelling::{Correction, correct};
use crate::index::Index;
use crate::store::{StoreError, StoredChunk};

/// Words of a report that are searched for. More of them cost time and find nothing else.
const MAX_TERMS: usize = 40;

/// Symbols of a report whose definitions are searched for by name.
const MAX_NAMES: usize = 12;

/// A query, read.
pub(super) struct QueryReading {
    /// The question; of a report, its title.
    pub(super) parsed: ParsedQuery,
    pub(super) report: Option<IssueReport>,
    /// Texts that a result may have word for word.
    pub(super) phrases: Vec<Phrase>,
    /// The text that vectors are compared with.
    pub(super) embedded: String,
}

/// What to look for in one project.
pub(super) struct ProjectTerms {
    pub(super) words: Vec<String>,
    /// Empty if all words count alike.
    pub(super) weights: Vec<f32>,
    pub(super) names: Vec<String>,
    /// Words of the query that the project does not have, and those searched for instead.
    pub(super) corrections: Vec<Correction>,
    /// Places that the report names and the project has.
    pub(super) places: Vec<ResolvedPlace>,
}

impl QueryReading {
    pub(super) fn of(request: &SearchRequest<'_>) -> Self {
        let text = match request.details {
            // A client may repeat the title, which is the query, as the first line of the details.
            Some(details) if details.trim_start().starts_with(request.query.trim()) => details.to_owned(),
            Some(details) => format!("{}\n\n{details}", request.query),
            None => request.query.to_owned(),
        };
        if request.details.is_none() && !IssueReport::is_report(&text) {
            return Self {
                parsed: ParsedQuery::of(&text),
                report: None,
                phrases: phrases_of_line(&text),
                embedded: text,
            };
        }
        let report = IssueReport::read(&text);
        Self {
            parsed: report.title_query(),
            embedded: report.summary.clone(),
            phrases: report.phrases.clone(),
            report: Some(report),
        }
    }

    /// The words, names and places to look for in a project.
    pub(super) fn terms(&self, index: &Index) -> Result<ProjectTerms, StoreError> {
        let Some(report) = &self.report else {
            let (words, weights, corrections) = correct(&self.parsed, &self.embedded, index)?;
            return Ok(ProjectTerms {
                words,
                weights,
                corrections,
                names: self.parsed.names.iter().map(|name| name.folded.clone()).collect(),
                places: Vec::new(),
            });
        };
        let words: Vec<String> = report.terms.iter().map(|term| term.word.clone()).collect();
        let (frequencies, chunks) = index.count_words(&words)?;
        let terms = select_terms(&report.terms, &frequencies, chunks, MAX_TERMS);
        let mut resolver = PlaceResolver::new(&report.places);
        if !report.places.is_empty() {
            index.visit_keys(&mut |key| resolver.offer(key))?;
        }
        Ok(ProjectTerms {
            weights: terms.iter().map(|term| term.weight).collect(),
            words: terms.into_iter().map(|term| term.word).collect(),
            names: report
                .symbols
                .iter()
                .take(MAX_NAMES)
                .map(|symbol| symbol.folded.clone())
                .collect(),
            corrections: Vec::new(),
            places: resolver.finish(),
        })
    }

    /// How directly the query names a chunk.
    pub(super) fn named(&self, places: &[ResolvedPlace], chunk: &StoredChunk) -> NamedSignals {
        let Some(report) = &self.report else {
            return NamedSignals::default();
        };
        let (file, lines) = place_scores(
            places,
            &chunk.path,
            (chunk.first_line, chunk.last_line),
            chunk.name(),
        );
        NamedSignals {
            symbol: report.definition(chunk.name(), chunk.enclosing()),
            file,
            lines,
        }
    }
}
