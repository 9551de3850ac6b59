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
    cut(&whole.lines().collect::<Vec<_>>(), text, reshow, budget)
}

/// The first lines of `--stat`, without the bars behind the numbers.
pub(super) fn shorten_stat(text: &GitText, reshow: &Reshow<'_>, budget: usize) -> String {
    let whole = String::from_utf8_lossy(&text.out);
    let lines: Vec<String> = whole.lines().map(without_bar).collect();
    cut(
        &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        text,
        reshow,
        budget,
    )
}

/// ` src/grid.rs | 12` for ` src/grid.rs      | 12 ++++---`. Other lines stay.
fn without_bar(line: &str) -> String {
    let row = line.rsplit_once(" | ").filter(|_| line.starts_with(' '));
    let (Some((name, numbers)), true) = (row, !line.starts_with("    ")) else {
        return line.to_owned();
    };
    let bare = numbers.trim_end_matches(['+', '-']);
    let is_count = |text: &str| text.trim().bytes().all(|byte| byte.is_ascii_digit());
    if bare.len() == numbers.len() || !is_count(bare) {
        return line.to_owned();
    }
    format!("{} | {}", name.trim_end(), bare.trim())
}

fn cut(lines: &[&str], text: &GitText, reshow: &Reshow<'_>, budget: usize) -> String {
    let command = reshow.whole();
    // The last line of `--stat` is the total.
    let total = lines
        .last()
        .filter(|line| line.contains(" changed, ") && text.dropped_lines == 0)
        .copied();
    let mut left = budget.saturating_sub(NOTICE_CHARS + length(&command) + total.map_or(0, length));
    let mut shown = String::new();
    let mut kept = 0;
    for line in lines {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_left_out_of_rows_and_of_nothing_else() {
        for (line, expected) in [
            (" src/grid.rs   | 12 +++++---", " src/grid.rs | 12"),
            (" src/a | b.rs  |  1 +", " src/a | b.rs | 1"),
            (
                " logo.png      | Bin 0 -> 12 bytes",
                " logo.png      | Bin 0 -> 12 bytes",
            ),
            (
                " 2 files changed, 9 insertions(+)",
                " 2 files changed, 9 insertions(+)",
            ),
            ("    a message with | 12 +++", "    a message with | 12 +++"),
            ("commit 123", "commit 123"),
        ] {
            assert_eq!(without_bar(line), expected);
        }
    }
}
