//! What comes near a search that found nothing: the same word in another case, or in files that were left
//! out, the definition of a searched name elsewhere, or names that are spelt almost so.
//!
//! Invariant: one line at most, and only about lines that docent may show.

use docent_core::shell::search::{LineSearchRequest, PatternCase, SearchOutput, SearchProgram};
use docent_engine::commands::lines::SearchedFiles;
use docent_engine::commands::search::LineSearch;

use super::definitions::near_names;
use crate::shell::ShellContext;

/// A line about the nearest matches. Empty if nothing comes near.
pub(super) fn explain(request: &LineSearchRequest, context: &ShellContext) -> String {
    if request.inverted {
        return String::new();
    }
    let folded = (request.case == PatternCase::Sensitive).then(|| LineSearchRequest {
        case: PatternCase::Insensitive,
        ..request.clone()
    });
    if let Some(place) = folded.and_then(|wider| first_place(&wider, context)) {
        return format!("no match; in another case: {place}\n");
    }
    let is_narrow = request.program == SearchProgram::Ripgrep
        && !(request.selection.no_ignore && request.selection.hidden);
    if is_narrow {
        let mut wider = request.clone();
        wider.selection.no_ignore = true;
        wider.selection.hidden = true;
        if let Some(place) = first_place(&wider, context) {
            return format!("no match; in a hidden or ignored file: {place}\n");
        }
    }
    near_names(request, context).unwrap_or_default()
}

/// The first match of a wider search, and how many there are.
fn first_place(request: &LineSearchRequest, context: &ShellContext) -> Option<String> {
    let request = LineSearchRequest {
        output: SearchOutput::Lines,
        context: (0, 0),
        hides_errors: true,
        ..request.clone()
    };
    let search = LineSearch::new(&request, context.characters, &context.project.shown).ok()?;
    let found: SearchedFiles = search.run(&context.directory).ok()?;
    let mut visible = found
        .files
        .iter()
        .filter(|file| !file.is_hidden && !file.lines.is_empty());
    let first = visible.next()?;
    let others = visible.map(|file| file.matches).sum::<u64>() + first.matches - 1;
    let line = first.lines.first()?;
    let name = String::from_utf8_lossy(&first.name);
    let more = if others > 0 {
        format!(" and {others} more")
    } else {
        String::new()
    };
    Some(format!("{name}:{}{more}", line.number))
}
