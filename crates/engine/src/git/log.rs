//! `git log`: which commits, newest first, and what each changed.

use std::io::BufRead;

use docent_core::date::Date;
use docent_core::path::RepoPath;
use jiff::civil;
use jiff::tz::TimeZone;

use super::command::{self, stream};
use super::fill::find_renames;
use super::raw::{ChangedFile, changes, field, skip_between};
use super::{Git, GitError, Repository};
use crate::deadline::Deadline;

/// Which commits are wanted.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// Only those that changed this file, or something in this directory.
    pub path: Option<RepoPath>,
    /// A date, or a reference: then the commits that it does not contain.
    pub since: Option<String>,
    /// A date, or a reference: then the commits that it contains.
    pub until: Option<String>,
    /// Part of an author's name or address.
    pub author: Option<String>,
    pub skip: usize,
    pub count: usize,
}

/// The commits found.
#[derive(Clone, Debug, Default)]
pub struct CommitLog {
    pub commits: Vec<Commit>,
    /// True when there are further ones.
    pub more: bool,
    /// True when the repository ends before its history does.
    pub shallow: bool,
    /// True when nothing has been committed yet.
    pub unborn: bool,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// As many digits as it is known by.
    pub short: String,
    pub parents: Vec<String>,
    pub author: String,
    pub email: String,
    /// The author's day: `2025-10-09`.
    pub date: String,
    pub subject: String,
    /// What differs from the parent; in a merge, from every parent.
    pub files: Vec<ChangedFile>,
    /// How many there are beyond `files`.
    pub unlisted: usize,
}

/// The commits between two ends, as git is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    /// Where to begin; nothing where nothing has been committed.
    pub(super) from: Option<String>,
    /// What to leave out with all it contains.
    pub(super) without: Option<String>,
    /// Seconds since 1970.
    pub(super) after: Option<i64>,
    pub(super) before: Option<i64>,
}

/// The fields of [`Commit`] up to the files, NUL after each.
pub(super) const FORMAT: &str = "--format=%H%x00%P%x00%aN%x00%aE%x00%as%x00%s%x00";

/// How files that changed are found, whoever asks; renames are looked for afterwards.
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
    /// The commits that `query` asks for.
    pub fn log(&self, query: &LogQuery, deadline: &Deadline) -> Result<CommitLog, GitError> {
        let repository = self.repository(deadline)?;
        let span = repository.span(query, deadline)?;
        let mut log = CommitLog {
            shallow: repository.runner.place().is_shallow(),
            unborn: span.from.is_none(),
            ..CommitLog::default()
        };
        if let Some(from) = &span.from {
            // One more than wanted tells whether there are more.
            let kept = match &self.history {
                Some(history) => history.log(&repository, query, &span, deadline)?,
                None => None,
            };
            log.commits = match kept {
                Some(commits) => commits,
                None => repository.ask_git(query, from, &span, deadline)?,
            };
        }
        log.more = log.commits.len() > query.count;
        log.commits.truncate(query.count);
        for commit in &mut log.commits {
            commit.short = repository.short(&commit.id);
            commit.files = repository.within(std::mem::take(&mut commit.files));
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
            match self.moment(since, deadline)? {
                Moment::Commit(id) => span.without = Some(id),
                Moment::Date(date) => span.after = Some(self.seconds(&date, Edge::Start, deadline)?),
            }
        }
        if let Some(until) = &query.until {
            match self.moment(until, deadline)? {
                Moment::Commit(id) => span.from = Some(id),
                Moment::Date(date) => span.before = Some(self.seconds(&date, Edge::End, deadline)?),
            }
        }
        Ok(span)
    }

    /// Seconds since 1970; of a whole day the first or the last one, where this machine is.
    fn seconds(&self, date: &Date, edge: Edge, deadline: &Deadline) -> Result<i64, GitError> {
        let now = self.runner.now();
        let day = match date {
            Date::Ago(seconds) => return Ok(now.as_second() - seconds),
            Date::Text(text) => {
                // git's own reading.
                let mut parse = self.runner.command("rev-parse");
                parse.arg(format!("--since={text}"));
                let line = command::text(parse, 1_000, deadline)?;
                let seconds = line
                    .trim()
                    .strip_prefix("--max-age=")
                    .and_then(|number| number.parse().ok());
                return seconds.ok_or_else(|| GitError::UnknownMoment(text.clone()));
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

    /// A branch or tag of that very name, else a date, else whatever git takes for a commit.
    fn moment(&self, text: &str, deadline: &Deadline) -> Result<Moment, GitError> {
        super::check_reference(text)?;
        let Some(date) = Date::parse(text) else {
            let found = self.find(text, deadline)?;
            return found
                .map(Moment::Commit)
                .ok_or_else(|| GitError::UnknownMoment(text.to_owned()));
        };
        for kind in ["tags", "heads"] {
            if let Some(id) = self.find(&format!("refs/{kind}/{text}"), deadline)? {
                return Ok(Moment::Commit(id));
            }
        }
        Ok(Moment::Date(date))
    }

    /// Asks git itself.
    pub(super) fn ask_git(
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
        command.arg("--").args(self.limit(query.path.as_ref()));
        let mut commits = stream(command, None, deadline, |out| {
            let mut commits = Vec::new();
            while let Some(commit) = read(out)? {
                commits.push(commit);
            }
            Ok(commits)
        })?;
        find_renames(&self.runner, commits.iter_mut(), deadline)?;
        Ok(commits)
    }

    /// The path to look at: the one asked for, else the project where it is only a part of the repository.
    pub(super) fn limit(&self, path: Option<&RepoPath>) -> Option<String> {
        let prefix = &self.runner.place().prefix;
        path.map(|path| self.path(path))
            .or_else(|| Some(prefix.trim_end_matches('/').to_owned()).filter(|prefix| !prefix.is_empty()))
    }

    /// The changes that belong to the project, under the names they have in it.
    pub(super) fn within(&self, changes: Vec<ChangedFile>) -> Vec<ChangedFile> {
        let place = self.runner.place();
        if place.prefix.is_empty() {
            return changes;
        }
        changes
            .into_iter()
            .filter_map(|change| {
                Some(ChangedFile {
                    path: place.in_project(&change.path)?.to_owned(),
                    from: change
                        .from
                        .as_deref()
                        .map(|from| place.in_project(from).unwrap_or(from).to_owned()),
                    ..change
                })
            })
            .collect()
    }
}

enum Moment {
    Commit(String),
    Date(Date),
}

/// Which end of a day is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

/// Reads the next commit of a log in [`FORMAT`] with [`CHANGES`]; nothing at the end.
fn read(out: &mut dyn BufRead) -> Result<Option<Commit>, GitError> {
    Ok(read_with(out, |_| Ok(()))?.map(|(commit, ())| commit))
}

/// The same where further fields follow those of the format.
pub(super) fn read_with<T>(
    out: &mut dyn BufRead,
    more: impl FnOnce(&mut dyn BufRead) -> Result<T, GitError>,
) -> Result<Option<(Commit, T)>, GitError> {
    if !skip_between(out)? {
        return Ok(None);
    }
    let mut commit = Commit {
        id: field(out)?,
        short: String::new(),
        parents: field(out)?.split_ascii_whitespace().map(str::to_owned).collect(),
        author: field(out)?,
        email: field(out)?,
        date: field(out)?,
        subject: field(out)?,
        files: Vec::new(),
        unlisted: 0,
    };
    let more = more(out)?;
    (commit.files, commit.unlisted) = changes(out)?;
    Ok(Some((commit, more)))
}
