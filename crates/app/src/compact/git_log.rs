//! `git_log` in the compact form: a line for each commit, below it a short body of its message and its files.
//!
//! Invariant: text of a commit stands behind its header or is indented, so that it cannot pass for a header.

use docent_core::text::reveal::reveal_part;
use docent_engine::git::{ChangeStatus, ChangedFile, Commit, FileDiff, InspectedCommit, LineHistory};

use super::git_diff::{show_row, totals};
use super::git_patch::{PatchView, show_patch};
use super::{count_of, fair_share};
use crate::markdown::{count, cut, inline, inline_to, length};

/// Characters of a commit on average. If a page has more, the bodies of its messages are cut.
const CHARS_PER_COMMIT: usize = 190;

/// Characters of the body of a message. Longer ones are cut to their first paragraph.
const MAX_BODY_CHARS: usize = 300;

/// A body that would be cut to fewer characters is left out.
const MIN_BODY_CHARS: usize = 40;

/// Characters of an author's name and of a subject.
const MAX_NAME_CHARS: usize = 30;
const MAX_SUBJECT_CHARS: usize = 200;

/// Files that a commit names: their number and their characters together.
const MAX_NAMED_FILES: usize = 5;
const MAX_FILES_CHARS: usize = 160;

/// Rows of files of one commit.
const MAX_ROWS: usize = 60;

/// Characters kept for notices.
const NOTICE_CHARS: usize = 300;

/// Characters of the patch of one commit in the history of lines.
const MAX_PATCH_CHARS: usize = 1_200;

/// A page of commits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogPage<'a> {
    pub(crate) commits: &'a [Commit],
    /// The message of each commit without its subject.
    pub(crate) bodies: &'a [String],
    /// The path that was asked for.
    pub(crate) path: Option<&'a str>,
}

/// The commits that fit, and their number. The first is always shown.
pub(crate) fn show_commits(page: &LogPage<'_>, budget: usize) -> (String, usize) {
    let mut heads = show_heads(page.commits.iter());
    let mut files: Vec<String> = Vec::new();
    for (commit, head) in page.commits.iter().zip(&mut heads) {
        let (names, more) = name_files(commit, page.path);
        let mut list = names.join(", ");
        if more > 0 && names.is_empty() {
            *head += &format!(" (+{})", count_of(more, "file", "files"));
        } else if more > 0 {
            list += &format!(" +{} more", count(more as u64));
        }
        files.push(list);
    }
    let bodies: Vec<String> = page.bodies.iter().map(|body| shorten_body(body)).collect();
    let fixed: usize = heads.iter().chain(&files).map(|text| length(text) + 1).sum();
    let room = (CHARS_PER_COMMIT * page.commits.len()).saturating_sub(fixed);
    let share = fair_share(bodies.iter().map(|body| length(body)), room);
    let mut text = String::new();
    let mut used = NOTICE_CHARS;
    for (at, (head, files)) in heads.iter().zip(&files).enumerate() {
        let mut section = format!("{head}\n");
        if let Some(body) = bodies.get(at).filter(|body| !body.is_empty())
            && (share >= MIN_BODY_CHARS || length(body) <= share)
        {
            section += &format!("  {}\n", cut(body, share, "…"));
        }
        if !files.is_empty() {
            section += &format!("  {files}\n");
        }
        used += length(&section);
        if used > budget && at > 0 {
            return (text, at);
        }
        text += &section;
    }
    (text, page.commits.len())
}

/// `abc1234 2026-03-01 Author: subject` for each commit. A `"` stands for the author of the line above.
fn show_heads<'a>(commits: impl Iterator<Item = &'a Commit>) -> Vec<String> {
    let mut before: Option<&str> = None;
    commits
        .map(|commit| {
            let is_same = before.replace(&commit.author) == Some(&commit.author);
            let author = if is_same {
                "\"".to_owned()
            } else {
                inline_to(&commit.author, MAX_NAME_CHARS)
            };
            let subject = inline_to(&commit.subject, MAX_SUBJECT_CHARS);
            format!("{} {} {author}: {subject}", commit.short, commit.date)
        })
        .collect()
}

/// The names of the first changed files below `path`, and the number of the others. If `path` is a file that
/// was only modified, it is neither named nor counted: the caller knows that the commit changed it.
fn name_files(commit: &Commit, path: Option<&str>) -> (Vec<String>, usize) {
    let is_below = |name: &str| {
        path.is_none_or(|path| {
            name.strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let is_asked = |file: &&ChangedFile| is_below(&file.path) || file.from.as_deref().is_some_and(is_below);
    let is_obvious =
        |file: &ChangedFile| Some(file.path.as_str()) == path && file.status == ChangeStatus::Modified;
    let mut names: Vec<String> = Vec::new();
    let mut used = 0;
    let mut known = 0;
    for file in commit.files.iter().filter(is_asked) {
        if is_obvious(file) {
            known += 1;
            continue;
        }
        let name = name_change(file);
        used += length(&name) + 2;
        if names.len() == MAX_NAMED_FILES || (used > MAX_FILES_CHARS && !names.is_empty()) {
            break;
        }
        names.push(name);
    }
    let more = commit.files.len() + commit.unlisted - names.len() - known;
    (names, more)
}

/// `src/new.rs renamed from src/old.rs`; a modified file has only its name.
fn name_change(file: &ChangedFile) -> String {
    let path = inline_to(&file.path, MAX_FILES_CHARS);
    match (&file.from, file.status) {
        (Some(from), status) => format!(
            "{path} {} from {}",
            status.name(),
            inline_to(from, MAX_FILES_CHARS)
        ),
        (None, ChangeStatus::Modified) => path,
        (None, status) => format!("{path} {}", status.name()),
    }
}

/// The body of a message on one line, without trailers: all of it if it is short, else its first paragraph.
fn shorten_body(body: &str) -> String {
    let body = body.replace("\r\n", "\n");
    let is_rule = |paragraph: &str| paragraph.chars().all(|c| c.is_whitespace() || "-=*_".contains(c));
    let paragraphs: Vec<&str> = body
        .split("\n\n")
        .filter(|paragraph| !is_rule(paragraph) && !paragraph.trim().lines().all(is_trailer))
        .collect();
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = paragraphs
        .iter()
        .map(|paragraph| fold(paragraph))
        .collect::<Vec<_>>()
        .join(" ");
    let text = if length(&whole) <= MAX_BODY_CHARS {
        whole
    } else {
        cut(&format!("{}…", fold(paragraphs[0])), MAX_BODY_CHARS, "…")
    };
    reveal_part(&text).into_owned()
}

/// Whether a line is a trailer: `Signed-off-by: …`, `Change-Id: …`.
fn is_trailer(line: &str) -> bool {
    let line = line.trim();
    let is_rule = !line.is_empty() && line.chars().all(|c| c == '-');
    is_rule
        || line.split_once(": ").is_some_and(|(name, _)| {
            name.contains('-') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        })
}

/// One commit: its whole message, then the files with the numbers of changed lines.
pub(crate) fn show_commit(inspected: &InspectedCommit, budget: usize) -> String {
    let commit = &inspected.commit;
    let short = &commit.short;
    let mut text = format!(
        "{short} {} {} <{}>: {}\n",
        commit.date,
        inline(&commit.author),
        inline(&commit.email),
        inline(&commit.subject)
    );
    if let [first, others @ ..] = commit.parents.as_slice()
        && !others.is_empty()
    {
        let name = |id: &String| id[..short.len().min(id.len())].to_owned();
        let others: Vec<String> = others.iter().take(8).map(name).collect();
        let first = name(first);
        text += &format!(
            "merges {} into {first}; files against {first}\n",
            others.join(" ")
        );
    }
    let body = reveal_part(inspected.body.trim_end());
    let max_body = (budget / 2).max(1_000);
    for line in cut(&body, max_body, "\n… the message is cut here").lines() {
        text += format!("  {line}").trim_end();
        text.push('\n');
    }
    text += &format!("{}\n", totals(&inspected.diff));
    let room = budget.saturating_sub(length(&text) + NOTICE_CHARS);
    text += &show_rows(&inspected.diff.files, room);
    if !commit.parents.is_empty() {
        text += &format!("… the patch: {}\n", name_patch(commit));
    }
    text
}

/// The call that shows the whole patch of a commit which is not the first.
fn name_patch(commit: &Commit) -> String {
    format!("git_diff ref1 {0}~1 ref2 {0}", commit.short)
}

/// Rows of files, as many as fit.
fn show_rows(files: &[FileDiff], room: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    let max_rows = if room > usize::MAX / 2 {
        usize::MAX
    } else {
        MAX_ROWS
    };
    for (at, file) in files.iter().enumerate() {
        let row = show_row(file);
        used += length(&row) + 1;
        if at == max_rows || used > room {
            let more = count_of(files.len() - at, "more file", "more files");
            text += &format!("… {more}\n");
            break;
        }
        text += &row;
        text.push('\n');
    }
    text
}

/// The history of lines: each commit with the changed lines that fit, and the number of commits shown.
pub(crate) fn show_line_history(history: &LineHistory, room: usize) -> (String, usize) {
    let changes = &history.changes;
    let heads = show_heads(changes.iter().map(|change| &change.commit));
    let fixed: usize = heads.iter().map(|head| length(head) + 1).sum();
    let whole = PatchView {
        context: 1,
        offset: 0,
        max_chars: MAX_PATCH_CHARS,
    };
    let lengths = changes
        .iter()
        .map(|change| length(&show_patch(&change.patch, whole).text));
    let share = fair_share(lengths, room.saturating_sub(fixed + NOTICE_CHARS));
    let mut text = String::new();
    for (at, (change, head)) in changes.iter().zip(&heads).enumerate() {
        let shown = show_patch(
            &change.patch,
            PatchView {
                max_chars: share.min(MAX_PATCH_CHARS),
                ..whole
            },
        );
        let mut section = format!("{head}\n");
        // The name differs in commits before the file was renamed.
        let newer = changes[..at].iter().rfind(|newer| !newer.path.is_empty());
        if newer.is_some_and(|newer| newer.path != change.path && !change.path.is_empty()) {
            section += &format!("  in {}\n", inline(&change.path));
        }
        if change.withheld {
            section += "  content not shown: blocked\n";
        }
        section += &shown.text;
        if shown.left_out > 0 {
            let lines = count_of(shown.left_out, "more changed line", "more changed lines");
            section += &match change.commit.parents.as_slice() {
                // git_diff compares two commits, and the first one has none before it.
                [] => format!("… {lines}\n"),
                _ => format!("… {lines}: {}\n", name_patch(&change.commit)),
            };
        }
        if at > 0 && length(&text) + length(&section) > room.saturating_sub(NOTICE_CHARS) {
            return (text, at);
        }
        text += &section;
    }
    (text, changes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_a_message_is_short_and_has_no_trailers() {
        assert_eq!(
            shorten_body(
                "It was\nslow.\n\nCloses #3\n\n---------\n\nCo-authored-by: A <a@x>\nSigned-off-by: B\n"
            ),
            "It was slow. Closes #3"
        );
        let long = format!("First paragraph.\n\n{}", "x ".repeat(400));
        assert_eq!(shorten_body(&long), "First paragraph.…");
        assert_eq!(length(&shorten_body(&"y".repeat(400))), 300);
        assert_eq!(shorten_body("\nSigned-off-by: B <b@x>\n"), "");
    }
}
