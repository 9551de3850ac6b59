//! `git log`: selects commits, newest first, and lists the files that each changed.
//!
//! A server answers from its commit table (`history.rs`) if that has the commits. Otherwise git answers here.
//!
//! Invariant: both answers are the same.

use std::io::BufRead;
use std::process::Command;
use std::sync::Arc;

use docent_core::date::Date;
use docent_core::path::RepoPath;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use super::command::{self, stream};
use super::fill::find_renames;
use super::raw::{ChangedFile, read_changes, read_field, skip_separators};
use super::{Git, GitError, Repository, shorten};
use crate::deadline::Deadline;

/// The commits to list.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// Only those that changed this file, or something in this directory.
    pub path: Option<RepoPath>,
    /// A date, or a reference: the commits that it does not contain.
    pub since: Option<String>,
    /// A date, or a reference: the commits that it contains.
    pub until: Option<String>,
    /// Part of an author's name or address.
    pub author: Option<String>,
    /// Only those that change how often this text occurs in a file. Then their files are only those.
    pub contains: Option<String>,
    pub skip: usize,
    pub count: usize,
}

/// A page of commits.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts about one history, each shown as a sentence"
)]
pub struct CommitLog {
    pub commits: Vec<Commit>,
    /// There are further commits.
    pub more: bool,
    /// The clone is shallow, so the history is incomplete.
    pub shallow: bool,
    /// There is no commit yet.
    pub unborn: bool,
    /// The search for a text ended early, because content of older commits cannot be read.
    pub is_cut_short: bool,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// The abbreviated id.
    pub short: String,
    pub parents: Vec<String>,
    pub author: String,
    pub email: String,
    /// The date in the author's time zone: `2025-10-09`.
    pub date: String,
    pub subject: String,
    /// Files that differ from the parent; in a merge, from every parent.
    pub files: Vec<ChangedFile>,
    /// How many changed files are not in `files`.
    pub unlisted: usize,
}

/// The range of a [`LogQuery`], with dates and references resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    /// The commit to start at. `None` before the first commit.
    pub(super) from: Option<String>,
    /// A commit that is left out with all its ancestors.
    pub(super) without: Option<String>,
    /// Seconds since 1970.
    pub(super) after: Option<i64>,
    pub(super) before: Option<i64>,
}

/// The fields of [`Commit`] up to the files, NUL after each.
pub(super) const FORMAT: &str = "--format=%H%x00%P%x00%aN%x00%aE%x00%as%x00%s%x00";

/// Options that list changed files. Renames are searched in a second step.
pub(super) const CHANGES: &[&str] = &[
    "--raw",
    "-z",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-abbrev",
    "--ignore-submodules=none",
];

impl Git {
    /// Lists the commits of `query`.
    pub fn log(&self, query: &LogQuery, deadline: &Deadline) -> Result<CommitLog, GitError> {
        self.answer(deadline, |repository| self.log_in(repository, query, deadline))
    }

    pub(super) fn log_in(
        &self,
        repository: &Arc<Repository>,
        query: &LogQuery,
        deadline: &Deadline,
    ) -> Result<CommitLog, GitError> {
        let span = repository.span(query, deadline)?;
        let mut log = CommitLog {
            shallow: repository.runner.location().is_shallow(),
            unborn: span.from.is_none(),
            ..CommitLog::default()
        };
        if let Some(from) = &span.from {
            // Both list one commit more than requested, which says whether there are more.
            let from_table = match &self.history {
                Some(history) if query.contains.is_none() => {
                    history.log(repository, query, &span, deadline)?
                }
                _ => None,
            };
            log.commits = match (from_table, &query.contains) {
                (Some(commits), _) => commits,
                (None, None) => repository.log_from_git(query, from, &span, deadline)?,
                (None, Some(text)) => {
                    let found =
                        repository.log_of_text(query, text, (from, &span), self.root.access(), deadline)?;
                    log.is_cut_short = found.is_cut_short;
                    found.commits
                }
            };
        }
        log.more = log.commits.len() > query.count;
        log.commits.truncate(query.count);
        let digits = repository.id_digits(deadline)?;
        for commit in &mut log.commits {
            commit.short = shorten(&commit.id, digits);
            commit.files = repository.changes_in_project(std::mem::take(&mut commit.files));
        }
        Ok(log)
    }
}

impl Repository {
    pub(super) fn span(&self, query: &LogQuery, deadline: &Deadline) -> Result<Span, GitError> {
        let mut span = Span {
            from: self.head(deadline)?,
            ..Span::default()
        };
        if let Some(since) = &query.since {
            match self.resolve_bound(since, deadline)? {
                LogBound::Commit(id) => span.without = Some(id),
                LogBound::Date(date) => span.after = Some(self.to_seconds(&date, Edge::Start, deadline)?),
            }
        }
        if let Some(until) = &query.until {
            match self.resolve_bound(until, deadline)? {
                LogBound::Commit(id) => span.from = Some(id),
                LogBound::Date(date) => span.before = Some(self.to_seconds(&date, Edge::End, deadline)?),
            }
        }
        Ok(span)
    }

    /// Seconds since 1970. A day means its first or its last second in the system's time zone.
    fn to_seconds(&self, date: &Date, edge: Edge, deadline: &Deadline) -> Result<i64, GitError> {
        let now = self.runner.now();
        let day = match date {
            Date::Ago(seconds) => return Ok(now.as_second() - seconds),
            Date::Text(text) => return self.parse_by_git(text, deadline),
            Date::YearLast { text, days } => {
                let moment = Timestamp::from_second(self.parse_by_git(text, deadline)?);
                let day = moment.map(|moment| moment.to_zoned(TimeZone::system()).date());
                day.ok()
                    .filter(|day| days.contains(&(day.year(), day.month(), day.day())))
                    .ok_or_else(|| GitError::UnknownDateOrReference(text.clone()))?
            }
            Date::Today => now.to_zoned(TimeZone::system()).date(),
            Date::Day { year, month, day } => civil::date(*year, *month, *day),
        };
        let time = match edge {
            Edge::Start => civil::time(0, 0, 0, 0),
            Edge::End => civil::time(23, 59, 59, 0),
        };
        let moment = day.to_datetime(time).to_zoned(TimeZone::system());
        Ok(moment.map_or(now.as_second(), |moment| moment.timestamp().as_second()))
    }

    /// Seconds since 1970, by git, which parses the forms that we do not.
    fn parse_by_git(&self, text: &str, deadline: &Deadline) -> Result<i64, GitError> {
        let mut parse = self.runner.command("rev-parse");
        parse.arg(format!("--since={text}"));
        let line = command::read_text(parse, 1_000, deadline)?;
        line.trim()
            .strip_prefix("--max-age=")
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| GitError::UnknownDateOrReference(text.to_owned()))
    }

    /// Resolves a tag or branch of exactly this name, else a date, else any reference.
    fn resolve_bound(&self, text: &str, deadline: &Deadline) -> Result<LogBound, GitError> {
        super::check_reference(text)?;
        let Some(date) = Date::parse(text) else {
            let commit = self.find_commit(text, deadline)?;
            return commit
                .map(LogBound::Commit)
                .ok_or_else(|| self.explain_unknown(text, GitError::UnknownDateOrReference, deadline));
        };
        for kind in ["tags", "heads"] {
            if let Some(id) = self.find_commit(&format!("refs/{kind}/{text}"), deadline)? {
                return Ok(LogBound::Commit(id));
            }
        }
        Ok(LogBound::Date(date))
    }

    /// Runs `git log`.
    pub(super) fn log_from_git(
        &self,
        query: &LogQuery,
        from: &str,
        span: &Span,
        deadline: &Deadline,
    ) -> Result<Vec<Commit>, GitError> {
        let mut command = self.runner.command("log");
        command
            .args(["--encoding=UTF-8", "--full-diff", "-c", "--no-renames", FORMAT])
            .args(CHANGES);
        command.arg(format!("--max-count={}", query.count + 1));
        command.arg(format!("--skip={}", query.skip));
        self.select_commits(&mut command, query, from, span);
        let mut commits = stream(command, None, deadline, |out| {
            let mut commits = Vec::new();
            while let Some(commit) = read_commit(out)? {
                commits.push(commit);
            }
            Ok(commits)
        })?;
        find_renames(&self.runner, commits.iter_mut(), deadline)?;
        Ok(commits)
    }

    /// Adds the arguments that select commits: dates, author, references, path. They come last.
    pub(super) fn select_commits(&self, command: &mut Command, query: &LogQuery, from: &str, span: &Span) {
        if let Some(after) = span.after {
            command.arg(format!("--since=@{after}"));
        }
        if let Some(before) = span.before {
            command.arg(format!("--until=@{before}"));
        }
        if let Some(author) = &query.author {
            command.args(["--use-mailmap", "--fixed-strings", "--regexp-ignore-case"]);
            command.arg(format!("--author={author}"));
        }
        command.arg(from);
        if let Some(without) = &span.without {
            command.arg(format!("^{without}"));
        }
        command.arg("--").args(self.path_limit(query.path.as_ref()));
    }

    /// The path that git is limited to: the requested one, else the project if it is a part of the
    /// repository.
    pub(super) fn path_limit(&self, path: Option<&RepoPath>) -> Option<String> {
        let prefix = &self.runner.location().prefix;
        path.map(|path| self.repo_path(path))
            .or_else(|| Some(prefix.trim_end_matches('/').to_owned()).filter(|prefix| !prefix.is_empty()))
    }

    /// The changes inside the project, with paths relative to it.
    pub(super) fn changes_in_project(&self, changes: Vec<ChangedFile>) -> Vec<ChangedFile> {
        let location = self.runner.location();
        if location.prefix.is_empty() {
            return changes;
        }
        changes
            .into_iter()
            .filter_map(|change| {
                Some(ChangedFile {
                    path: location.in_project(&change.path)?.to_owned(),
                    from: change
                        .from
                        .as_deref()
                        .map(|from| location.in_project(from).unwrap_or(from).to_owned()),
                    ..change
                })
            })
            .collect()
    }
}

/// One end of a range of commits.
enum LogBound {
    Commit(String),
    Date(Date),
}

/// The start or the end of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

/// Reads the next commit of a log in [`FORMAT`] with [`CHANGES`]. `None` at the end.
pub(super) fn read_commit(out: &mut dyn BufRead) -> Result<Option<Commit>, GitError> {
    Ok(read_commit_with(out, |_| Ok(()))?.map(|(commit, ())| commit))
}

/// Like [`read_commit`], with further fields behind those of the format.
pub(super) fn read_commit_with<T>(
    out: &mut dyn BufRead,
    read_more: impl FnOnce(&mut dyn BufRead) -> Result<T, GitError>,
) -> Result<Option<(Commit, T)>, GitError> {
    if !skip_separators(out)? {
        return Ok(None);
    }
    let mut commit = Commit {
        id: read_field(out)?,
        short: String::new(),
        parents: read_field(out)?
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect(),
        author: read_field(out)?,
        email: read_field(out)?,
        date: read_field(out)?,
        subject: read_field(out)?,
        files: Vec::new(),
        unlisted: 0,
    };
    let more = read_more(out)?;
    (commit.files, commit.unlisted) = read_changes(out)?;
    Ok(Some((commit, more)))
}
