//! The best documents of a query, chosen and ordered independently of segments.
//!
//! tantivy breaks ties by the position of a document in its segment, and adds the scores of words in the
//! order in which their lists happen to lie, so that the last bits of a sum differ. Segments depend on
//! when an index was committed and on which thread wrote what. So more documents are fetched than wanted,
//! until those beyond the cut are clearly worse; their scores are summed again in the order of the words;
//! and a key that each document stores decides between equals.
//!
//! Invariant: two stores with the same entries and without deleted ones give the same list.

use std::cmp::Ordering;

use tantivy::collector::TopDocs;
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query};
use tantivy::{DocAddress, Order, Score, Searcher};

/// The column with the key that orders documents of equal rank.
pub(super) const KEY: &str = "key";

/// A document of a ranked list.
#[derive(Clone, Copy, Debug)]
pub(super) struct TopDocument<R> {
    /// Its score, or its date.
    pub(super) rank: R,
    pub(super) key: u64,
    pub(super) address: DocAddress,
}

/// A query whose score is the sum of the scores of its clauses.
pub(super) struct ScoredQuery<'a> {
    /// Finds the documents: the clauses, and filters that do not change scores.
    pub(super) matching: &'a dyn Query,
    pub(super) clauses: &'a [Box<dyn Query>],
    pub(super) statistics: &'a dyn Bm25StatisticsProvider,
}

/// Documents that are fetched beyond the limit at first. Most ties at the cut are shorter.
const EXTRA_DOCUMENTS: usize = 50;

/// Sums of the same numbers in another order differ by less than this share.
const MAX_SUM_ERROR: f32 = 1e-5;

impl ScoredQuery<'_> {
    /// The documents with the best scores.
    pub(super) fn find(&self, searcher: &Searcher, limit: usize) -> tantivy::Result<Vec<TopDocument<Score>>> {
        let fetch = |count: usize| {
            let top = TopDocs::with_limit(count).order_by_score();
            searcher.search_with_statistics_provider(self.matching, &top, self.statistics)
        };
        let is_worse = |last: Score, at_cut: Score| last < at_cut * (1.0 - 2.0 * MAX_SUM_ERROR);
        let mut found = fetch_past_ties(limit, fetch, is_worse)?;
        self.sum_scores(searcher, &mut found)?;
        select_top(searcher, found, limit, |a, b| b.total_cmp(&a))
    }

    /// Replaces scores by the sum over the clauses in their order.
    fn sum_scores(&self, searcher: &Searcher, found: &mut [(Score, DocAddress)]) -> tantivy::Result<()> {
        let scoring = EnableScoring::enabled_from_statistics_provider(self.statistics, searcher);
        found.sort_unstable_by_key(|(_, address)| *address);
        for (score, _) in found.iter_mut() {
            *score = 0.0;
        }
        for clause in self.clauses {
            let weight = clause.weight(scoring)?;
            for documents in found.chunk_by_mut(|(_, a), (_, b)| a.segment_ord == b.segment_ord) {
                let segment = searcher.segment_reader(documents[0].1.segment_ord);
                let mut scorer = weight.scorer(segment, 1.0)?;
                for (score, address) in documents {
                    if scorer.doc() < address.doc_id {
                        scorer.seek(address.doc_id);
                    }
                    if scorer.doc() == address.doc_id {
                        *score += scorer.score();
                    }
                }
            }
        }
        Ok(())
    }
}

/// The documents with the highest numbers in a column; those without one are last.
pub(super) fn find_highest(
    searcher: &Searcher,
    query: &dyn Query,
    column: &str,
    limit: usize,
) -> tantivy::Result<Vec<TopDocument<Option<u64>>>> {
    let fetch = |count: usize| {
        let top = TopDocs::with_limit(count).order_by_fast_field::<u64>(column, Order::Desc);
        searcher.search(query, &top)
    };
    let found = fetch_past_ties(limit, fetch, |last, at_cut| last < at_cut)?;
    select_top(searcher, found, limit, |a, b| b.cmp(&a))
}

/// Fetches the best documents, and more of them until the last is worse than the one at the cut.
fn fetch_past_ties<R: Copy>(
    limit: usize,
    fetch: impl Fn(usize) -> tantivy::Result<Vec<(R, DocAddress)>>,
    is_worse: impl Fn(R, R) -> bool,
) -> tantivy::Result<Vec<(R, DocAddress)>> {
    let mut count = limit + EXTRA_DOCUMENTS;
    loop {
        let found = fetch(count)?;
        let has_all = found.len() < count;
        let is_past = match (found.last(), found.get(limit.saturating_sub(1))) {
            (Some((last, _)), Some((at_cut, _))) => is_worse(*last, *at_cut),
            _ => true,
        };
        if has_all || is_past {
            return Ok(found);
        }
        count *= 2;
    }
}

/// Orders documents by rank, then by key, and cuts the list.
pub(super) fn select_top<R: Copy>(
    searcher: &Searcher,
    found: Vec<(R, DocAddress)>,
    limit: usize,
    compare: impl Fn(R, R) -> Ordering,
) -> tantivy::Result<Vec<TopDocument<R>>> {
    let mut keys = Vec::new();
    for segment in searcher.segment_readers() {
        keys.push(segment.fast_fields().u64(KEY)?.first_or_default_col(0));
    }
    let mut top: Vec<TopDocument<R>> = found
        .into_iter()
        .map(|(rank, address)| TopDocument {
            rank,
            key: keys[address.segment_ord as usize].get_val(address.doc_id),
            address,
        })
        .collect();
    top.sort_unstable_by(|a, b| compare(a.rank, b.rank).then(a.key.cmp(&b.key)));
    top.truncate(limit);
    Ok(top)
}

#[cfg(test)]
mod tests;
