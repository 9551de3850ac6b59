//! Commits in git's default format, shortened: one line for each, and its message as far as it fits.
//!
//! Invariant: commits and lines of messages that are not shown are counted.

use super::count_chars;
use super::reshow::Reshow;
use crate::compact::{count_of, fair_share};
use crate::markdown::length;

/// Commits that take no more characters are printed as git prints them.
const MAX_EXACT_CHARS: usize = 1_500;

/// Digits of a commit's id.
const ID_DIGITS: usize = 10;

/// Characters kept for the notice at the end.
const NOTICE_CHARS: usize = 80;

/// A commit as git printed it.
#[derive(Default)]
struct PrintedCommit<'a> {
    id: &'a str,
    /// Names of branches and tags, with their brackets.
    decoration: &'a str,
    author: &'a str,
    date: &'a str,
    is_merge: bool,
    /// Lines without their indent, no empty ones at both ends.
    message: Vec<&'a str>,
}

/// The commits within the budget. `None` if they are short, or are not printed in the default format.
pub(super) fn shorten(text: &[u8], reshow: &Reshow<'_>, budget: usize) -> Option<String> {
    if count_chars(text) <= MAX_EXACT_CHARS {
        return None;
    }
    let commits = parse(str::from_utf8(text).ok()?)?;
    let command = reshow.whole();
    let heads: Vec<String> = commits.iter().map(head).collect();
    let mut left = budget.saturating_sub(NOTICE_CHARS + length(&command));
    let mut listed = 0;
    for head in &heads {
        if length(head) > left {
            break;
        }
        left -= length(head);
        listed += 1;
    }
    let bodies: Vec<String> = commits.iter().map(body).collect();
    let share = fair_share(bodies[..listed].iter().map(|body| length(body)), left);
    let mut shown = String::new();
    for at in 0..listed {
        shown += &heads[at];
        shown += &cut_body(&bodies[at], share);
    }
    let others = commits.len() - listed;
    shown += &match others {
        0 => format!("as git prints it: {command}\n"),
        others => format!(
            "… {}: {command}\n",
            count_of(others, "more commit", "more commits")
        ),
    };
    Some(shown)
}

/// The commits of a log. `None` for any line that the default format has not.
fn parse(text: &str) -> Option<Vec<PrintedCommit<'_>>> {
    let mut commits: Vec<PrintedCommit<'_>> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("commit ") {
            let (id, decoration) = rest.split_once(' ').unwrap_or((rest, ""));
            let is_id = id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_decoration = decoration.is_empty() || decoration.starts_with('(');
            if !(is_id && is_decoration) {
                return None;
            }
            commits.push(PrintedCommit {
                id,
                decoration,
                ..PrintedCommit::default()
            });
            continue;
        }
        let commit = commits.last_mut()?;
        if let Some(author) = line.strip_prefix("Author: ") {
            commit.author = author.split(" <").next().unwrap_or_default().trim();
        } else if let Some(date) = line.strip_prefix("Date: ") {
            commit.date = date.trim();
        } else if line.starts_with("Merge: ") {
            commit.is_merge = true;
        } else if let Some(message) = line.strip_prefix("    ") {
            commit.message.push(message);
        } else if line.is_empty() {
            commit.message.push("");
        } else {
            return None;
        }
    }
    for commit in &mut commits {
        while commit.message.last().is_some_and(|line| line.is_empty()) {
            commit.message.pop();
        }
        let empty = commit.message.iter().take_while(|line| line.is_empty()).count();
        commit.message.drain(..empty);
    }
    Some(commits)
}

/// `abc1234def 2026-03-01 Jane Smith: subject`.
fn head(commit: &PrintedCommit<'_>) -> String {
    let decoration = match commit.decoration {
        "" => String::new(),
        names => format!(" {names}"),
    };
    let merge = if commit.is_merge { " (merge)" } else { "" };
    format!(
        "{}{decoration} {} {}{merge}: {}\n",
        commit.id.get(..ID_DIGITS).unwrap_or(commit.id),
        short_date(commit.date),
        commit.author,
        commit.message.first().unwrap_or(&"")
    )
}

/// The message behind the subject, without the empty line between them.
fn body(commit: &PrintedCommit<'_>) -> String {
    let lines = commit.message.iter().skip(1).skip_while(|line| line.is_empty());
    lines
        .map(|line| {
            if line.is_empty() {
                "\n".to_owned()
            } else {
                format!("  {line}\n")
            }
        })
        .collect()
}

fn cut_body(body: &str, room: usize) -> String {
    const MARK_CHARS: usize = 20;
    if length(body) <= room {
        return body.to_owned();
    }
    let mut used = MARK_CHARS;
    let mut shown = String::new();
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next_if(|line| used + length(line) < room) {
        used += length(line) + 1;
        shown += line;
        shown.push('\n');
    }
    shown + &format!("  … {}\n", count_of(lines.count(), "more line", "more lines"))
}

/// git's default date as `2026-03-01`. Another form of date stays.
fn short_date(date: &str) -> String {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let words: Vec<&str> = date.split_whitespace().collect();
    let short = || {
        let [_, month, day, time, year, _] = words.as_slice() else {
            return None;
        };
        let month = MONTHS.find(month).filter(|at| at % 3 == 0 && month.len() == 3)? / 3 + 1;
        let day: u8 = day.parse().ok()?;
        (time.contains(':') && year.len() == 4).then(|| format!("{year}-{month:02}-{day:02}"))
    };
    short().unwrap_or_else(|| date.to_owned())
}
