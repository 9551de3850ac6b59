//! `docent sh`: answers to lists of files.

use docent_core::shell::find::FindRequest;

use super::{ShellAnswer, ShellContext};

/// Runs the request and writes its answer.
pub(crate) fn answer(request: &FindRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let _ = (request, context);
    Ok(ShellAnswer::default())
}
