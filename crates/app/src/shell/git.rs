//! `docent sh`: answers to questions to git.

use docent_core::shell::git::GitRequest;

use super::{ShellAnswer, ShellContext};

/// Runs the request and writes its answer.
pub(crate) fn answer(request: &GitRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let _ = (request, context);
    Ok(ShellAnswer::default())
}
