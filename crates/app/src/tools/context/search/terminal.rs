//! The answer of `context_search` in a terminal.

use std::io;

use docent_core::text::tokens::ParsedQuery;
use serde::Deserialize;
use serde_json::Value;

use super::entry::Output;
use crate::terminal::TerminalPage;

/// Shows each result with its address, kind and score, and its code with the query's words marked.
pub(super) fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let Ok(output) = Output::deserialize(answer) else {
        return page.markdown(answer.as_str().unwrap_or_default());
    };
    let query = ParsedQuery::of(&output.query);
    for (at, found) in output.results.iter().enumerate() {
        if at > 0 {
            page.line("")?;
        }
        let date = found.date.as_deref().filter(|_| found.is_discovery());
        let day = date.map(|date| format!(" · {}", date.get(..10).unwrap_or(date)));
        page.result_heading(
            &found.address(),
            &found.title(),
            &format!("{}{} · {:.2}", found.kind, day.unwrap_or_default(), found.score),
        )?;
        let first = match &found.lines {
            Some(lines) if !found.is_discovery() => lines.start_line,
            _ => 1,
        };
        for (number, line) in (u64::from(first)..)
            .zip(found.content.lines())
            .take(MAX_SHOWN_LINES)
        {
            page.highlighted_line(number, line, &query.words)?;
        }
        let lines = found.content.lines().count();
        if lines > MAX_SHOWN_LINES {
            page.dim(&format!("       … {} more lines", lines - MAX_SHOWN_LINES))?;
        }
    }
    if let Some(message) = &output.message {
        page.note(message)?;
    }
    page.note(&format!(
        "{} of {} results in {} ms",
        output.results.len(),
        output.total_found,
        output.search_time
    ))?;
    output.notice.iter().try_for_each(|notice| page.note(notice))
}

/// Lines of a result that the terminal shows.
const MAX_SHOWN_LINES: usize = 24;
