//! `git_log` in the form of the contract: markdown.

use docent_engine::git::{Commit, InspectedCommit, LineHistory};

use crate::markdown::{count, cut, fence, inline, inline_to, length, note};
use crate::tools::git::describe_change;
use docent_core::text::reveal::reveal_part;

/// Files listed per commit.
const MAX_LISTED_FILES: usize = 50;

/// Parents listed of a merge.
const MAX_LISTED_PARENTS: usize = 8;

/// Characters kept for notes.
const NOTE_CHARS: usize = 600;

/// Heading of the files of a commit: all that it changed, or those in which it changes a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileHeading {
    Changed,
    Matching,
}

/// The commits that fit, and their number. The first is always shown, shortened if need be.
pub(super) fn show_commits(commits: &[Commit], heading: FileHeading, budget: usize) -> (String, usize) {
    let mut text = String::from("# Git Log\n");
    let mut used = length(&text) + NOTE_CHARS;
    let mut shown = 0;
    for commit in commits {
        let separator = if shown == 0 { "\n" } else { "\n---\n\n" };
        let left = budget.saturating_sub(used + separator.len());
        let forms = [(MAX_LISTED_FILES, 500), (10, 300), (0, 60)];
        let Some(section) = forms[..if shown == 0 { 3 } else { 1 }]
            .iter()
            .map(|(files, text)| section(commit, heading, *files, *text))
            .find(|section| length(section) <= left)
            .or_else(|| (shown == 0).then(|| section(commit, heading, 0, 60)))
        else {
            break;
        };
        used += length(separator) + length(&section);
        text += separator;
        text += &section;
        shown += 1;
    }
    (text, shown)
}

/// A commit with at most `max_files` files, its texts cut to `max_chars`.
fn section(commit: &Commit, heading: FileHeading, max_files: usize, max_chars: usize) -> String {
    let mut text = heading_of(commit, max_chars);
    let inline = |text: &str| inline_to(text, max_chars);
    text += &format!(
        "**Message**: {}\n\n**{}** ({})",
        inline(&commit.subject),
        match heading {
            FileHeading::Changed => "Files Changed",
            FileHeading::Matching => "Files With The Text",
        },
        commit.files.len() + commit.unlisted
    );
    if commit.files.is_empty() {
        text += if commit.parents.len() > 1 {
            ": none beyond the merged commits\n"
        } else {
            "\n"
        };
        return text;
    }
    text += ":\n";
    for file in commit.files.iter().take(max_files) {
        text += &format!("- {}\n", describe_change(file));
    }
    let more = commit.files.len().saturating_sub(max_files) + commit.unlisted;
    if more > 0 {
        let id = &commit.short;
        text += &if commit.parents.is_empty() {
            format!("- … and {more} more\n")
        } else {
            format!("- … and {more} more (git_diff of {id}~1 and {id} names them)\n")
        };
    }
    text
}

/// The heading, the author and, of a merge, the parents.
fn heading_of(commit: &Commit, max_chars: usize) -> String {
    let inline = |text: &str| inline_to(text, max_chars);
    let mut text = format!(
        "## Commit: {} ({})\n**Author**: {} <{}>  \n",
        commit.short,
        commit.date,
        inline(&commit.author),
        inline(&commit.email)
    );
    let digits = commit.short.len();
    if commit.parents.len() > 1 {
        let short = |id: &String| id[..digits.min(id.len())].to_owned();
        let mut parents: Vec<String> = commit
            .parents
            .iter()
            .take(MAX_LISTED_PARENTS)
            .map(short)
            .collect();
        parents.extend((commit.parents.len() > MAX_LISTED_PARENTS).then(|| "…".to_owned()));
        text += &format!("**Merge**: {}  \n", parents.join(" "));
    }
    text
}

/// One commit: its whole message, and its files with the numbers of changed lines.
pub(super) fn show_commit(inspected: &InspectedCommit, budget: usize) -> String {
    let (commit, diff) = (&inspected.commit, &inspected.diff);
    let mut text = format!("# Git Log\n\n{}", heading_of(commit, 500));
    text += &format!("**Message**: {}\n", inline(&commit.subject));
    let body = reveal_part(inspected.body.trim_end());
    if !body.is_empty() {
        let body = cut(&body, (budget / 2).max(1_000), "\n… (message cut)");
        let fence = fence(&body);
        text += &format!("\n{fence}\n{body}\n{fence}\n");
    }
    text += &format!(
        "\n**Files Changed** ({}, +{} -{})",
        count(diff.files.len() as u64),
        count(diff.insertions),
        count(diff.deletions)
    );
    text += if diff.files.is_empty() { "\n" } else { ":\n" };
    let room = budget.saturating_sub(length(&text) + NOTE_CHARS);
    let mut used = 0;
    for (at, file) in diff.files.iter().enumerate() {
        let numbers = if file.binary {
            "binary".to_owned()
        } else {
            format!("+{} -{}", count(file.insertions), count(file.deletions))
        };
        let row = format!("- {} {numbers}\n", describe_change(&file.change));
        used += length(&row);
        if used > room {
            text += &format!("- … and {} more\n", count((diff.files.len() - at) as u64));
            break;
        }
        text += &row;
    }
    let short = &commit.short;
    if commit.parents.len() > 1 {
        text += &note("This is a merge; its files are compared with its first parent");
    }
    if !commit.parents.is_empty() {
        text += &note(&format!("git_diff of {short}~1 and {short} shows the patch"));
    }
    text
}

/// The history of lines, and the number of commits that fit. The first is always shown.
pub(super) fn show_line_history(title: &str, history: &LineHistory, budget: usize) -> (String, usize) {
    let mut text = format!("# Git Log: {title}\n");
    let mut used = length(&text) + NOTE_CHARS;
    for (at, change) in history.changes.iter().enumerate() {
        let commit = &change.commit;
        let mut section = if at == 0 { "\n" } else { "\n---\n\n" }.to_owned();
        section += &heading_of(commit, 500);
        section += &format!("**Message**: {}\n", inline(&commit.subject));
        if !change.path.is_empty() {
            section += &format!(
                "**Changes**: {} +{} -{}\n",
                inline(&change.path),
                count(change.insertions),
                count(change.deletions)
            );
        }
        if change.withheld {
            section += "\nContent not shown: the path is blocked because it may hold secrets.\n";
        } else if !change.patch.is_empty() {
            let room = budget.saturating_sub(used + length(&section) + 100);
            let room = if at == 0 { room.max(1_000) } else { room };
            let patch = reveal_part(change.patch.trim_end());
            if at > 0 && length(&patch) > room {
                return (text, at);
            }
            let patch = cut(&patch, room, "\n… (patch cut)");
            let fence = fence(&patch);
            section += &format!("\n{fence}diff\n{patch}\n{fence}\n");
        }
        used += length(&section);
        if used > budget && at > 0 {
            return (text, at);
        }
        text += &section;
    }
    (text, history.changes.len())
}
