//! The documentation tools: `search_docs` and `get_doc`. Errors are sentences that say what to do next.

pub(crate) mod get;
pub(crate) mod search;

use std::time::Duration;

use docent_engine::index::{Corpus, Freshness};
use docent_engine::store::StoreError;

use crate::tools::call::Call;
use crate::tools::failure::{Failure, FailureKind};

/// How long a list of tools or prompts waits for the documentation of a new project to be indexed. Labels are
/// filters of `search_docs`, and some clients read the list once and ignore `list_changed`.
pub(crate) const MAX_LIST_WAIT: Duration = Duration::from_secs(1);

/// Brings the documentation up to date as far as there is time.
fn freshen(call: &Call<'_>) -> Freshness {
    call.project.index.freshen(
        Corpus::Docs,
        call.project.search.patience,
        call.deadline,
        call.report,
    )
}

/// The failure for an index that cannot be searched.
fn refuse_search(error: &StoreError) -> Failure {
    Failure::new(FailureKind::Internal, "The documentation cannot be searched")
        .details(error.to_string())
        .hint("Use grep_codebase for text search.")
}
