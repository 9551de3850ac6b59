//! The answer of `context_search` in JSON, as its contract shows it, within the size an answer may have.

use super::entry::Output;
use super::notices::explain_hidden;
use super::{FRAME_CHARS, MIN_SHOWN_CODE_CHARS};
use crate::markdown::length;
use crate::tools::budget::{fit, json_length, notice};

/// Writes the answer. Contents are cut first, and then results left out, until it fits into the
/// budget.
pub(super) fn write(mut output: Output, mut notices: Vec<String>, budget: usize) -> String {
    let contents: Vec<String> = output
        .results
        .iter_mut()
        .map(|found| std::mem::take(&mut found.content))
        .collect();
    let fields: Vec<usize> = output
        .results
        .iter()
        .map(|found| length(&serde_json::json!(found).to_string()))
        .collect();
    let notes: usize = notices.iter().map(|notice| json_length(notice) + 2).sum();
    let mut left = budget.saturating_sub(FRAME_CHARS + notes + json_length(&output.query));
    let mut shown = 0;
    let mut shortened = 0;
    for (at, content) in contents.iter().enumerate() {
        let share = left / (contents.len() - at);
        if share < fields[at] + MIN_SHOWN_CODE_CHARS && at > 0 {
            break;
        }
        let (kept, text) = fit(content, share.saturating_sub(fields[at] + 2), Into::into);
        shortened += usize::from(kept < content.len());
        left = left.saturating_sub(fields[at] + json_length(&text));
        output.results[at].content = text.into_owned();
        shown += 1;
    }
    notices.extend(explain_hidden(shown, output.results.len()));
    if shortened > 0 {
        notices.push(format!(
            "The content of {shortened} of the results is cut; read_file shows the rest of this project's"
        ));
    }
    output.results.truncate(shown);
    output.notice = notice(&notices);
    serde_json::json!(output).to_string()
}
