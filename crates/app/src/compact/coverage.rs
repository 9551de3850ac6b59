//! The compact form of the coverage tools: plain lines, the worst files first, changes with their sign.

use std::cmp::Reverse;

use docent_core::coverage::snapshot::{Comparison, CoverageChange, Presence};
use docent_core::coverage::{LineHits, Percent, Report};

use super::count_of;
use crate::markdown::{count, inline, length};

/// Files that the answer about the whole project lists.
const MAX_WORST_FILES: usize = 10;

/// Characters kept for the lines about files that are left out.
const LEFT_OUT_CHARS: usize = 200;

/// `66.7 % 14/21`.
fn share(lines: LineHits) -> String {
    let (hit, found) = (count(lines.hit), count(lines.found));
    format!("{} % {hit}/{found}", lines.percent())
}

/// The share of the whole project, and the files with the lowest shares.
pub(crate) fn render_overall(report: &Report) -> String {
    let all = count_of(report.files().len(), "file", "files");
    let mut lines = vec![format!("{} lines, {all}", share(report.total()))];
    let missed = |lines: LineHits| lines.found - lines.hit;
    let mut files: Vec<_> = report
        .files()
        .iter()
        .filter(|file| missed(file.lines) > 0)
        .collect();
    // Of files with the same percentage, the one with more missed lines comes first.
    files.sort_by_key(|file| {
        (
            file.lines.percent(),
            Reverse(missed(file.lines)),
            file.path.as_str(),
        )
    });
    for file in files.iter().take(MAX_WORST_FILES) {
        lines.push(format!("{} {}", share(file.lines), inline(&file.path)));
    }
    if let Some(better) = files.get(MAX_WORST_FILES) {
        let more = files.len() - MAX_WORST_FILES;
        lines.push(format!(
            "… {} with missed lines, {} % and more",
            count_of(more, "more file", "more files"),
            better.lines.percent()
        ));
    }
    lines.join("\n")
}

/// A line for each file that was asked for, in that order. `None` stands for one that is not in the report.
pub(crate) fn render_files(files: &[(&str, Option<LineHits>)], notice: Option<&str>) -> String {
    let mut lines: Vec<String> = files
        .iter()
        .map(|(path, found)| match found {
            Some(hits) => format!("{} {}", share(*hits), inline(path)),
            None => format!("0 % {} (not in the report)", inline(path)),
        })
        .collect();
    lines.extend(notice.map(|notice| format!("note: {notice}")));
    lines.join("\n")
}

/// The change overall, then the files that changed, from worst to best. If not all fit, those that changed
/// most are listed.
pub(crate) fn render_changes(comparison: &Comparison, budget: usize) -> String {
    let mut changed: Vec<&CoverageChange> = comparison.files.iter().filter(|file| file.is_change()).collect();
    let unchanged = comparison.files.len() - changed.len();
    let overall = format!("{} overall", signed(comparison.overall));
    changed.sort_by_key(|file| Reverse(file.change.tenths.abs()));
    let mut used = length(&overall) + LEFT_OUT_CHARS;
    let shown = changed
        .iter()
        .take_while(|file| {
            used = used.saturating_add(length(&change_line(file)) + 1);
            used <= budget
        })
        .count();
    let left_out = changed.split_off(shown);
    changed.sort_by(|a, b| (a.change.tenths, &a.path).cmp(&(b.change.tenths, &b.path)));
    let mut lines = vec![overall];
    lines.extend(changed.into_iter().map(change_line));
    if let Some(largest) = left_out.first() {
        let tenths = largest.change.tenths.abs();
        lines.push(format!(
            "… {} changed by {} at most",
            count_of(left_out.len(), "more file", "more files"),
            Percent { tenths }
        ));
    }
    if unchanged > 0 {
        lines.push(format!("… {} unchanged", count_of(unchanged, "file", "files")));
    }
    lines.join("\n")
}

fn change_line(file: &CoverageChange) -> String {
    let aside = match file.presence {
        Presence::Both => "",
        Presence::New => " (new)",
        Presence::Removed => " (removed)",
    };
    format!("{} {}{aside}", signed(file.change), inline(&file.path))
}

/// `+1.5`, `-3.0` or `0.0`, in percentage points.
fn signed(change: Percent) -> String {
    let sign = if change.tenths > 0 { "+" } else { "" };
    format!("{sign}{change}")
}
