//! The tools about documentation: search it, read it. Errors are sentences that say what to do next.

pub(crate) mod get;
pub(crate) mod search;

use std::time::Duration;

use docent_engine::index::{Corpus, Standing};
use docent_engine::store::StoreError;

use super::Call;
use super::failure::{Failure, Kind};

/// How long a client that asks for the tools waits for the documentation to be seen for the first time.
pub(crate) const FIRST_SIGHT: Duration = Duration::from_millis(300);

/// Brings the documentation up to date as far as there is time.
fn freshen(call: &Call<'_>) -> Standing {
    call.index
        .freshen(Corpus::Docs, call.search.patience, call.deadline, call.report)
}

fn unsearchable(error: &StoreError) -> Failure {
    Failure::new(Kind::Internal, "The documentation cannot be searched")
        .details(error.to_string())
        .hint("Use grep_codebase for text search.")
}
