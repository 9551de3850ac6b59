//! `git_log`: the commits of the project, of a file or of lines, with what each changed; or one commit in
//! full.
//!
//! Promise: `docs/behaviour.md`, `git_log`.

mod contract;

use std::time::Duration;

use docent_core::path::RepoPath;
use docent_engine::git::{ChangeStatus, ChangedFile, CommitLog, GitError, LineSelection, LogQuery};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{cut_compact, non_empty, parse_path, refuse_git};
use crate::compact::git_log::{LogPage, show_commit, show_commits, show_line_history};
use crate::compact::line_range;
use crate::markdown::{cut_answer, inline, inline_to, note};
use crate::settings::AnswerForm;
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_parts::{LineSpan, PartSource};
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Get git commit history for files or the repository, newest first.";

pub(crate) fn tool() -> Tool {
    Tool::new("git_log", Group::Git, ABOUT, run)
        .heavy()
        .slow_after(Duration::from_millis(500))
        .choose_slow_after(|arguments| {
            // These read the content of many versions.
            let is_deep = ["contains", "symbol", "startLine"]
                .iter()
                .any(|name| arguments.contains_key(*name));
            is_deep.then_some(Duration::from_secs(10))
        })
        .cli("log", &["filePath"])
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
    /// Added or removed text
    contains: Option<String>,
    /// Definition in filePath
    symbol: Option<String>,
    /// Lines of filePath
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
    /// One commit in full
    commit: Option<String>,
}

fn default_count() -> usize {
    10
}

/// Characters of a compact history of lines.
const COMPACT_LINES_CHARS: usize = 4_000;

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let text = if let Some(commit) = non_empty(args.commit.as_deref()) {
        check_alone("commit", &args.given_beside_commit())?;
        inspect(call, commit)?
    } else if non_empty(args.symbol.as_deref()).is_some() || args.has_lines() {
        log_lines(call, args)?
    } else {
        log_commits(call, args)?
    };
    Ok(Reply::Text(match call.form {
        AnswerForm::Contract => cut_answer(&text, call.budget),
        AnswerForm::Compact => cut_compact(&text, call.budget),
    }))
}

impl Args {
    fn has_lines(&self) -> bool {
        self.start_line.is_some() || self.end_line.is_some()
    }

    /// The arguments that filter commits.
    fn given_filters(&self) -> Vec<&'static str> {
        let contains = self.contains.as_deref().filter(|text| !text.is_empty());
        [
            ("since", non_empty(self.since.as_deref())),
            ("until", non_empty(self.until.as_deref())),
            ("author", non_empty(self.author.as_deref())),
            ("contains", contains),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|_| name))
        .collect()
    }

    fn given_beside_commit(&self) -> Vec<&'static str> {
        let mut given = self.given_filters();
        given.extend(non_empty(self.file_path.as_deref()).map(|_| "filePath"));
        given.extend(non_empty(self.symbol.as_deref()).map(|_| "symbol"));
        given.extend(self.start_line.map(|_| "startLine"));
        given.extend(self.end_line.map(|_| "endLine"));
        given
    }
}

fn check_alone(name: &str, others: &[&str]) -> Result<(), Failure> {
    if others.is_empty() {
        return Ok(());
    }
    let others = others.join(", ");
    Err(
        Failure::new(FailureKind::Invalid, format!("{name} does not go with {others}"))
            .hint(format!("Leave out {others}, or leave out {name}")),
    )
}

fn refuse(error: GitError) -> Failure {
    refuse_git(error, "commit reference")
}

/// One commit in full.
fn inspect(call: &Call<'_>, reference: &str) -> Result<String, Failure> {
    let inspected = call
        .project
        .git
        .inspect(reference, call.deadline)
        .map_err(refuse)?;
    Ok(match call.form {
        AnswerForm::Contract => contract::show_commit(&inspected, call.budget),
        AnswerForm::Compact => show_commit(&inspected, call.budget),
    })
}

/// The commits that changed a definition or lines.
fn log_lines(call: &Call<'_>, args: &Args) -> Result<String, Failure> {
    let symbol = non_empty(args.symbol.as_deref());
    let part = if symbol.is_some() {
        "symbol"
    } else {
        "a range of lines"
    };
    let path = parse_path(args.file_path.as_deref())?.ok_or_else(|| {
        Failure::new(FailureKind::Invalid, format!("{part} needs filePath"))
            .hint("Name the file with filePath; find_symbol finds the file of a definition")
    })?;
    if symbol.is_some() && args.has_lines() {
        check_alone("symbol", &["startLine, endLine"])?;
    }
    check_alone(part, &args.given_filters())?;
    let git = &call.project.git;
    let (first, last) = if let Some(symbol) = symbol {
        let text = git.committed_text(&path, call.deadline).map_err(refuse)?;
        let source = PartSource {
            root: &call.project.root,
            path: &path,
            text: &text,
        };
        source.find_symbol(symbol).map_err(|failure| match failure.kind {
            FailureKind::Invalid => failure.hint("Name it with its scope, or give startLine and endLine"),
            _ => failure,
        })?
    } else {
        let first = args.start_line.unwrap_or(1);
        (first, args.end_line.unwrap_or(first))
    };
    let selection = LineSelection {
        path: &path,
        first,
        last,
        is_committed: symbol.is_some(),
        skip: args.skip,
        count: args.max_count,
    };
    let history = git.line_log(selection, call.deadline).map_err(refuse)?;
    let lines = line_range(history.committed.0, history.committed.1);
    let mut title = format!("{}:{lines}", inline(path.as_str()));
    if let Some(symbol) = symbol {
        title += &format!(" {}", inline_to(symbol, 100));
        title += &place_on_disk(call, &path, symbol, (first, last));
    } else if (first, last) != history.committed {
        title += &format!(" in the last commit, {} now", line_range(first, last));
    }
    let (mut text, shown) = match call.form {
        AnswerForm::Contract => contract::show_line_history(&title, &history, call.budget),
        AnswerForm::Compact => {
            let room = match call.audience {
                Audience::Client => COMPACT_LINES_CHARS.min(call.budget),
                Audience::Person => call.budget,
            };
            let (text, shown) = show_line_history(&history, room);
            (format!("{title}\n{text}"), shown)
        }
    };
    let next = args.skip + shown;
    if shown < history.changes.len() || history.more {
        text += &say_more(call.form, next);
    } else if history.shallow {
        text += &notice(call.form, SHALLOW);
    } else if shown == 0 {
        text += &notice(call.form, "No further commit changed these lines");
    }
    Ok(text)
}

/// Says that a definition has other lines on disk than in the last commit. Empty if it has the same.
fn place_on_disk(call: &Call<'_>, path: &RepoPath, symbol: &str, committed: LineSpan) -> String {
    let content = call.project.root.read(path, MAX_FILE_BYTES).ok();
    let text = content.and_then(|content| decode_text(content.bytes));
    let found = text.and_then(|text| {
        let source = PartSource {
            root: &call.project.root,
            path,
            text: &text,
        };
        source.find_symbol(symbol).ok()
    });
    match found {
        Some(lines) if lines == committed => String::new(),
        Some((first, last)) => format!(" in the last commit, {} now", line_range(first, last)),
        None => " in the last commit".to_owned(),
    }
}

const SHALLOW: &str = "This is a shallow clone; earlier commits are not here";

/// A sentence below the answer.
fn notice(form: AnswerForm, sentence: &str) -> String {
    match form {
        AnswerForm::Contract => note(sentence),
        AnswerForm::Compact => format!("note: {sentence}\n"),
    }
}

/// The commits of the project, a file or a directory.
fn log_commits(call: &Call<'_>, args: &Args) -> Result<String, Failure> {
    let query = LogQuery {
        path: parse_path(args.file_path.as_deref())?,
        since: non_empty(args.since.as_deref()).map(str::to_owned),
        until: non_empty(args.until.as_deref()).map(str::to_owned),
        author: parse_author(args.author.as_deref())?,
        contains: parse_contains(args.contains.as_deref())?,
        skip: args.skip,
        count: args.max_count,
    };
    let log = call.project.git.log(&query, call.deadline).map_err(refuse)?;
    if log.commits.is_empty() {
        let reason = explain_no_commits(call, &query, &log)?;
        return Ok(match call.form {
            AnswerForm::Contract => format!("# Git Log\n\nNo commits found: {reason}\n"),
            AnswerForm::Compact => format!("no commits: {reason}\n"),
        });
    }
    let heading = match query.contains {
        Some(_) => contract::FileHeading::Matching,
        None => contract::FileHeading::Changed,
    };
    let (text, shown) = match call.form {
        AnswerForm::Contract => contract::show_commits(&log.commits, heading, call.budget),
        AnswerForm::Compact => {
            let ids: Vec<&str> = log.commits.iter().map(|commit| commit.id.as_str()).collect();
            let bodies = call.project.git.bodies(&ids, call.deadline).map_err(refuse)?;
            let page = LogPage {
                commits: &log.commits,
                bodies: &bodies,
                path: query.path.as_ref().map(RepoPath::as_str),
            };
            show_commits(&page, call.budget)
        }
    };
    let (all, next) = (log.commits.len(), query.skip + shown);
    let end = match call.form {
        AnswerForm::Contract if shown < all => note(&format!(
            "{shown} of {all} commits fit into this answer; read on with skip {next}"
        )),
        form if shown < all || log.more => say_more(form, next),
        form => end_of_history(&query, &log).map_or_else(String::new, |sentence| notice(form, &sentence)),
    };
    Ok(text + &end)
}

/// Says that there are earlier commits.
fn say_more(form: AnswerForm, next: usize) -> String {
    match form {
        AnswerForm::Contract => note(&format!("There are earlier commits; read on with skip {next}")),
        AnswerForm::Compact => format!("… earlier commits: skip {next}\n"),
    }
}

/// Text to search for in changes. It is taken as it is, spaces at its ends included.
fn parse_contains(text: Option<&str>) -> Result<Option<String>, Failure> {
    let text = text.filter(|text| !text.is_empty());
    if text.is_some_and(|text| text.contains('\0')) {
        return Err(
            Failure::new(FailureKind::Invalid, "Invalid text: it has a NUL character")
                .hint("Give text as it is in the file"),
        );
    }
    Ok(text.map(str::to_owned))
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
        .map_err(refuse)?;
    let subject = query
        .path
        .as_ref()
        .map_or_else(|| "this project".to_owned(), |path| inline(path.as_str()));
    if !any.commits.is_empty() {
        let filters = [
            ("since", query.since.is_some()),
            ("until", query.until.is_some()),
            ("author", query.author.is_some()),
            ("contains", query.contains.is_some()),
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
    if log.is_cut_short {
        return Some("The search ended here: content of earlier commits is missing or broken".into());
    }
    if log.shallow && query.since.is_none() {
        return Some(SHALLOW.into());
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
