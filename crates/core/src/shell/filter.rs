//! Filters at the end of a pipeline that `docent sh` applies itself: `head`, `tail`, `sed -n`, `sort`, `uniq`,
//! `grep -v`.
//!
//! Invariant: a filter selects or orders lines of the output as the program itself would.

/// A filter over the lines that a command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputFilter {
    /// `head -N`.
    Head(usize),
    /// `tail -N`.
    Tail(usize),
    /// `sed -n 'FIRST,LASTp'`, counted from 1.
    Range { first: usize, last: usize },
    /// `sort`, by bytes.
    Sort,
    /// `sort -u`, by bytes.
    SortUnique,
    /// `uniq`.
    Unique,
    /// `grep -v` with one fixed word or a pattern, as its own request.
    Without(Box<super::search::SearchRequest>),
}
