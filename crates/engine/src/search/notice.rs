//! Notices of a search as values: stale or partial indexes, and results left out. The wording is the
//! caller's.

use super::{Correction, SearchRequest, UseCounts};
use crate::index::{Freshness, RerankSkipped};

/// Something that a reader of the results should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchNotice {
    /// The query asked for uses of a symbol, and the first results are those that are exact.
    UsesOf(UseCounts),
    /// No discovery has the words of the query. The results are the nearest of this many that pass its
    /// filters.
    NearestDiscoveries(usize),
    /// Words that nothing has were searched for as words that they may stand for.
    Corrected(Vec<Correction>),
    /// No result has more than a few of the query's words.
    WeakMatch,
    /// Files have changed, or may have, and are not searched as they are now
    /// ([`super::SearchOutcome::code`]).
    StaleCode,
    /// The first build of the index is not done ([`super::SearchOutcome::code`]).
    PartialCode,
    /// Not all commits are searched ([`super::SearchOutcome::history`]).
    HistoryIncomplete,
    /// The embedding server did not rerank the results.
    RerankSkipped(RerankSkipped),
    /// This many candidates were left out, because their files no longer have them.
    ChangedSinceIndexing(usize),
}

pub(super) fn collect(
    request: &SearchRequest<'_>,
    code: &Freshness,
    history: &Freshness,
    rerank_skipped: Option<RerankSkipped>,
    changed: usize,
) -> Vec<SearchNotice> {
    let mut notices = Vec::new();
    if code.pending > 0 && !code.was_complete {
        notices.push(SearchNotice::PartialCode);
    } else if code.pending > 0 || code.unknown || code.missed > 0 || !code.troubles.is_empty() {
        notices.push(SearchNotice::StaleCode);
    }
    // A search for code mentions commits while they are read for the first time, not every new one.
    let matters = is_for_discoveries(request) || !history.was_complete;
    if !history.troubles.is_empty() || (matters && (history.pending > 0 || history.unknown)) {
        notices.push(SearchNotice::HistoryIncomplete);
    }
    notices.extend(rerank_skipped.map(SearchNotice::RerankSkipped));
    if changed > 0 {
        notices.push(SearchNotice::ChangedSinceIndexing(changed));
    }
    notices
}

/// Whether discoveries alone are searched, many of which come from commits.
fn is_for_discoveries(request: &SearchRequest<'_>) -> bool {
    request.discoveries.is_some() && request.chunks.is_none()
}
