//! Searches for text: the arguments of `grep`, `egrep`, `fgrep`, `rg`, `git grep` and `ag` as one request.

use super::{Refusal, Word};

/// A search that docent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {}

/// Reads the arguments of `program`.
pub fn understand(program: &str, arguments: &[Word]) -> Result<SearchRequest, Refusal> {
    let _ = (program, arguments);
    Err(Refusal::Program)
}

/// Reads the arguments of a `grep -v` that reads a pipe.
pub fn understand_filter(program: &str, arguments: &[Word]) -> Result<SearchRequest, Refusal> {
    let _ = (program, arguments);
    Err(Refusal::Program)
}
