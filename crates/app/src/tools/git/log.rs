//! `git_log`: the commits of the project or of a file, with what each changed.
//!
//! Promise: `docs/behaviour.md`, `git_log`.

use std::time::Duration;

use docent_core::path::RepoPath;
use docent_engine::git::{ChangeStatus, ChangedFile, Commit, CommitLog, LogQuery};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{describe_change, non_empty, parse_path, refuse_git};
use crate::markdown::{cut_answer, inline, inline_to, length, note};
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Get git commit history for files or the repository, newest first.";

pub(crate) fn tool() -> Tool {
    Tool::new("git_log", Group::Git, ABOUT, run)
        .heavy()
        .slow_after(Duration::from_millis(500))
        .cli_text("log", &["filePath"])
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// File or directory
    file_path: Option<String>,
    /// Show commits after this date or tag (e.g. '2025-01-01', '30 days ago', 'v1.0.0')
    since: Option<String>,
    /// Show commits before this date or tag
    until: Option<String>,
    /// Filter by author name or email
    author: Option<String>,
    /// Maximum number of commits to return
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 100))]
    max_count: usize,
    /// Commits to skip, to read on
    #[serde(default)]
    #[schemars(range(max = 10_000_000))]
    skip: usize,
}

fn default_count() -> usize {
    10
}

/// Files listed per commit.
const MAX_LISTED_FILES: usize = 50;

/// Parents listed of a merge.
const MAX_LISTED_PARENTS: usize = 8;

/// Characters kept for notes.
const NOTE_CHARS: usize = 600;

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let query = LogQuery {
        path: parse_path(args.file_path.as_deref())?,
        since: non_empty(args.since.as_deref()).map(str::to_owned),
        until: non_empty(args.until.as_deref()).map(str::to_owned),
        author: parse_author(args.author.as_deref())?,
        skip: args.skip,
        count: args.max_count,
    };
    let log = call
        .project
        .git
        .log(&query, call.deadline)
        .map_err(|error| refuse_git(error, "commit reference"))?;
    if log.commits.is_empty() {
        let reason = explain_no_commits(call, &query, &log)?;
        return Ok(Reply::Text(format!("# Git Log\n\nNo commits found: {reason}\n")));
    }

    let mut text = String::from("# Git Log\n");
    let mut used = length(&text) + NOTE_CHARS;
    let mut shown = 0;
    for commit in &log.commits {
        let separator = if shown == 0 { "\n" } else { "\n---\n\n" };
        let left = call.budget.saturating_sub(used + separator.len());
        // The first commit is always shown, shortened if need be.
        let forms = [(MAX_LISTED_FILES, 500), (10, 300), (0, 60)];
        let Some(section) = forms[..if shown == 0 { 3 } else { 1 }]
            .iter()
            .map(|(files, text)| section(commit, *files, *text))
            .find(|section| length(section) <= left || call.audience == Audience::Person)
            .or_else(|| (shown == 0).then(|| section(commit, 0, 60)))
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
    Ok(Reply::Text(cut_answer(&text, call.budget)))
}

/// A commit with at most `max_files` files, its texts cut to `max_chars`.
fn section(commit: &Commit, max_files: usize, max_chars: usize) -> String {
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
    text += &format!(
        "**Message**: {}\n\n**Files Changed** ({})",
        inline(&commit.subject),
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

/// Part of a name or an address. Line ends are refused, because git would read each line as an alternative.
fn parse_author(text: Option<&str>) -> Result<Option<String>, Failure> {
    let text = non_empty(text);
    if text.is_some_and(|text| text.contains(char::is_control)) {
        return Err(
            Failure::new(FailureKind::Invalid, "Invalid author: it has control characters")
                .hint("Give part of a name or an email address"),
        );
    }
    Ok(text.map(str::to_owned))
}

/// Explains an empty log.
fn explain_no_commits(call: &Call<'_>, query: &LogQuery, log: &CommitLog) -> Result<String, Failure> {
    if log.unborn {
        return Ok("nothing has been committed yet.".into());
    }
    let without_filters = LogQuery {
        path: query.path.clone(),
        count: 1,
        ..LogQuery::default()
    };
    let any = call
        .project
        .git
        .log(&without_filters, call.deadline)
        .map_err(|error| refuse_git(error, "commit reference"))?;
    let subject = query
        .path
        .as_ref()
        .map_or_else(|| "this project".to_owned(), |path| inline(path.as_str()));
    if !any.commits.is_empty() {
        let filters = [
            ("since", query.since.is_some()),
            ("until", query.until.is_some()),
            ("author", query.author.is_some()),
            ("skip", query.skip > 0),
        ];
        let names: Vec<&str> = filters
            .iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(name, _)| *name)
            .collect();
        return Ok(format!(
            "{subject} has commits, and none matches {}.",
            names.join(", ")
        ));
    }
    Ok(match &query.path {
        Some(path) if call.project.root.file(path).is_ok() => {
            format!("{subject} is not tracked by git (untracked or ignored).")
        }
        Some(_) => format!("no commit of this branch touches {subject}; check the spelling."),
        None => "no commit of this branch touches this directory.".into(),
    })
}

/// A notice about commits before the last one shown: a shallow clone, or another name of the file.
fn end_of_history(query: &LogQuery, log: &CommitLog) -> Option<String> {
    let last = log.commits.last()?;
    if log.shallow && query.since.is_none() {
        return Some("This is a shallow clone; earlier commits are not here".into());
    }
    let path = query.path.as_ref().map(RepoPath::as_str)?;
    let renamed = |file: &&ChangedFile| file.status == ChangeStatus::Renamed && file.path == path;
    let before = last.files.iter().find(renamed)?.from.as_deref()?;
    let before = inline(before);
    Some(format!(
        "Before {} the file was {before}; ask for that path to see its earlier commits",
        last.short
    ))
}
