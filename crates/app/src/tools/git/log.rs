//! `git_log`: the commits of the project or of a file, with what each changed.
//!
//! Promise: `docs/behaviour.md`, `git_log`.

use std::time::Duration;

use docent_core::path::RepoPath;
use docent_engine::git::{Change, Commit, Log, Query, Status};
use schemars::JsonSchema;
use serde::Deserialize;

use super::markdown::{inline, length, note};
use super::{given, path, refused};
use crate::tools::failure::Failure;
use crate::tools::{Call, Group, Reply, Tool};

const ABOUT: &str = "Get git commit history for files or the repository, newest first, with the files each commit changed. \
    Filters: file or directory, dates or tags, author.";

pub(crate) fn tool() -> Tool {
    Tool::new("git_log", Group::Git, ABOUT, run)
        .title("Git log")
        .slow_after(Duration::from_millis(500))
        .cli_text("log", &["filePath"])
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// File or directory, relative to project root
    #[schemars(length(max = 4096))]
    file_path: Option<String>,
    /// Show commits after this date or tag (e.g. '2025-01-01', '30 days ago', 'v1.0.0')
    #[schemars(length(max = 1000))]
    since: Option<String>,
    /// Show commits before this date or tag
    #[schemars(length(max = 1000))]
    until: Option<String>,
    /// Filter by author name or email
    #[schemars(length(max = 1000))]
    author: Option<String>,
    /// Maximum number of commits to return
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    max_count: usize,
    /// Commits to leave out at the start, to read on
    #[serde(default)]
    skip: usize,
}

fn ten() -> usize {
    10
}

/// Files listed per commit.
const MOST_FILES: usize = 50;

/// Room kept for notes.
const NOTES: usize = 600;

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let query = Query {
        path: path(args.file_path.as_deref())?,
        since: given(args.since.as_deref()).map(str::to_owned),
        until: given(args.until.as_deref()).map(str::to_owned),
        author: given(args.author.as_deref()).map(str::to_owned),
        skip: args.skip,
        count: args.max_count,
    };
    let log = call
        .git
        .log(&query, call.deadline)
        .map_err(|error| refused(error, "commit reference"))?;
    if log.commits.is_empty() {
        let reason = nothing(call, &query, &log)?;
        return Ok(Reply::Text(format!("# Git Log\n\nNo commits found: {reason}\n")));
    }

    let mut text = String::from("# Git Log\n");
    let mut used = length(&text) + NOTES;
    let mut shown = 0;
    for commit in &log.commits {
        let separator = if shown == 0 { "\n" } else { "\n---\n\n" };
        let room = call.room.saturating_sub(used + separator.len());
        let Some(section) = [MOST_FILES, 10, 0]
            .into_iter()
            .take(if shown == 0 { 3 } else { 1 })
            .map(|most| section(commit, most))
            .find(|section| length(section) <= room || call.room == usize::MAX)
        else {
            break;
        };
        used += length(separator) + length(&section);
        text += separator;
        text += &section;
        shown += 1;
    }
    if shown < log.commits.len() {
        let (all, next) = (log.commits.len(), query.skip + shown);
        text += &note(&format!(
            "{shown} of {all} commits fit into this answer; read on with skip {next}"
        ));
    } else if log.more {
        let next = query.skip + shown;
        text += &note(&format!("There are earlier commits; read on with skip {next}"));
    } else if let Some(sentence) = end_of_history(&query, &log) {
        text += &note(&sentence);
    }
    Ok(Reply::Text(text))
}

fn section(commit: &Commit, most: usize) -> String {
    let mut text = format!(
        "## Commit: {} ({})\n**Author**: {} <{}>  \n",
        commit.short,
        commit.date,
        inline(&commit.author),
        inline(&commit.email)
    );
    let digits = commit.short.len();
    if commit.parents.len() > 1 {
        let parents: Vec<&str> = commit
            .parents
            .iter()
            .map(|id| &id[..digits.min(id.len())])
            .collect();
        text += &format!("**Merge**: {}  \n", parents.join(" "));
    }
    text += &format!(
        "**Message**: {}\n\n**Files Changed** ({})",
        inline(&commit.subject),
        commit.files.len()
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
    for file in commit.files.iter().take(most) {
        text += &format!("- {}\n", changed(file));
    }
    if let Some(more) = commit.files.len().checked_sub(most).filter(|more| *more > 0) {
        text += &format!("- … and {more} more\n");
    }
    text
}

/// `src/new.rs (renamed from src/old.rs)`
fn changed(file: &Change) -> String {
    let status = file.status.name();
    match &file.from {
        Some(from) => format!("{} ({status} from {})", inline(&file.path), inline(from)),
        None => format!("{} ({status})", inline(&file.path)),
    }
}

/// Why there is nothing to show.
fn nothing(call: &Call<'_>, query: &Query, log: &Log) -> Result<String, Failure> {
    if log.unborn {
        return Ok("nothing has been committed yet.".into());
    }
    if query.skip > 0 {
        return Ok(format!("there are no more than {} that match.", query.skip));
    }
    let filters = [
        ("since", query.since.is_some()),
        ("until", query.until.is_some()),
        ("author", query.author.is_some()),
    ];
    let names: Vec<&str> = filters
        .iter()
        .filter(|(_, is_set)| *is_set)
        .map(|(name, _)| *name)
        .collect();
    let Some(path) = &query.path else {
        return Ok(format!("none matches {}.", names.join(", ")));
    };
    let is_tracked = call
        .git
        .tracks(path, call.deadline)
        .map_err(|error| refused(error, "commit reference"))?;
    let shown = inline(path.as_str());
    Ok(if is_tracked && !names.is_empty() {
        format!("{shown} has commits, and none matches {}.", names.join(", "))
    } else if call.root.file(path).is_ok() {
        format!("{shown} is not tracked by git (untracked or ignored).")
    } else {
        format!("no commit of this branch touches {shown}; check the spelling.")
    })
}

/// What may lie behind the last commit shown.
fn end_of_history(query: &Query, log: &Log) -> Option<String> {
    let last = log.commits.last()?;
    if log.shallow && query.since.is_none() {
        return Some("This is a shallow clone; earlier commits are not here".into());
    }
    let path = query.path.as_ref().map(RepoPath::as_str)?;
    let renamed = |file: &&Change| file.status == Status::Renamed && file.path == path;
    let before = last.files.iter().find(renamed)?.from.as_deref()?;
    let before = inline(before);
    Some(format!(
        "Before {} the file was {before}; ask for that path to see its earlier commits",
        last.short
    ))
}
