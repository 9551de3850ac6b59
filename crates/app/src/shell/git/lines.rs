//! Lines for people over the budget: the first ones, and the number of the others.

use docent_engine::git::GitText;

use super::reshow::Reshow;
use crate::compact::count_of;
use crate::markdown::{count, length};

/// Characters kept for the line that counts the others.
const NOTICE_CHARS: usize = 60;

/// The first lines of a text, within the budget.
pub(super) fn shorten(text: &GitText, reshow: &Reshow<'_>, budget: usize) -> String {
    let whole = String::from_utf8_lossy(&text.out);
    let lines: Vec<&str> = whole.lines().collect();
    let command = reshow.whole();
    // The last line of `--stat` is the total.
    let total = lines
        .last()
        .filter(|line| line.contains(" changed, ") && text.dropped_lines == 0)
        .copied();
    let mut left = budget.saturating_sub(NOTICE_CHARS + length(&command) + total.map_or(0, length));
    let mut shown = String::new();
    let mut kept = 0;
    for line in &lines {
        let chars = length(line) + 1;
        if chars > left {
            break;
        }
        left -= chars;
        shown += line;
        shown.push('\n');
        kept += 1;
    }
    let has_total = total.is_some() && kept < lines.len();
    let others = (lines.len() - kept - usize::from(has_total)) as u64 + text.dropped_lines;
    if others > 0 {
        let more = count_of(
            usize::try_from(others).unwrap_or(usize::MAX),
            "more line",
            "more lines",
        );
        let all = count(lines.len() as u64 + text.dropped_lines);
        shown += &format!("… {more} of {all}: {command}\n");
    }
    if let Some(total) = total.filter(|_| has_total) {
        shown += total;
        shown.push('\n');
    }
    shown
}
