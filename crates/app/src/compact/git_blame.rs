//! `git_blame` in the compact form: neighbouring lines of one commit together.

use docent_core::text::reveal::reveal_part;
use docent_engine::git::{Attribution, Blame, BlamedLine};

use super::{line_range, number_lines, place};
use crate::markdown::{cut, inline, inline_to, length};

/// Characters of a line.
const MAX_LINE_CHARS: usize = 500;

/// Characters of an author's name and of a subject.
const MAX_NAME_CHARS: usize = 30;
const MAX_SUBJECT_CHARS: usize = 150;

/// Characters kept for notices.
const NOTICE_CHARS: usize = 200;

/// The lines that fit into `room`, under the commits they come from. A commit is described at its first line.
pub(crate) fn show_blame(path: &str, blame: &Blame, room: usize) -> String {
    let path = inline(path);
    let modified = if blame.modified {
        " (has local modifications)"
    } else {
        ""
    };
    let Some(first) = blame.lines.first().map(|line| line.number) else {
        return format!("{path}{modified}: the file is empty\n");
    };
    let mut text = String::new();
    let mut used = length(&path) + NOTICE_CHARS;
    let mut described = vec![false; blame.commits.len()];
    let mut last = 0;
    for block in blame.lines.chunk_by(|one, other| one.commit == other.commit) {
        let commit = &blame.commits[block[0].commit];
        let is_known = std::mem::replace(&mut described[block[0].commit], true);
        let header = |last: usize| header(commit, block[0].number, last, is_known);
        used += length(&header(block.last().map_or(0, |line| line.number)));
        let lines = block.iter().map(show_line);
        let mut shown = String::new();
        let mut end = 0;
        for (line, number) in lines.zip(block[0].number..) {
            // Every line has a margin of its number at most, a tab and a line end.
            used += length(&line) + 8;
            if used > room && last + end > 0 {
                break;
            }
            shown += &line;
            shown.push('\n');
            end = number;
        }
        if end == 0 {
            break;
        }
        text += &header(end);
        text += &number_lines(block[0].number, &shown, |_| false);
        last = end;
        if used > room {
            break;
        }
    }
    let mut answer = format!("{}{modified}\n{text}", place(&path, first, last));
    if last < blame.end {
        let (next, end) = (last + 1, blame.end);
        answer += &format!("… lines {}: startLine {next}\n", line_range(next, end));
    }
    if blame.commits.iter().any(|commit| commit.boundary) {
        answer += "note: shallow clone; lines of its oldest commits may be older\n";
    }
    answer
}

/// `10-14 abc1234 2026-03-01 Author: subject`, or only the id of a commit that was described before.
fn header(commit: &Attribution, first: usize, last: usize, is_known: bool) -> String {
    let lines = line_range(first, last);
    if commit.uncommitted {
        return format!("{lines} not committed yet\n");
    }
    if is_known {
        return format!("{lines} {}\n", commit.short);
    }
    format!(
        "{lines} {} {} {}: {}\n",
        commit.short,
        commit.date,
        inline_to(&commit.author, MAX_NAME_CHARS),
        inline_to(&commit.subject, MAX_SUBJECT_CHARS)
    )
}

fn show_line(line: &BlamedLine) -> String {
    // An empty line of text must stay a line.
    cut(&reveal_part(&line.text), MAX_LINE_CHARS, "…")
}
