//! The project's page on a terminal: languages, modules, activity, and files to start with.
//!
//! In a pipe, and for clients, the page is the markdown of `crate::overview`.

use std::io;

use docent_engine::deadline::Deadline;
use docent_engine::git::LogQuery;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use crate::markdown::{count, inline_to};
use crate::overview::{load_overview, read_introduction};
use crate::project::Project;
use crate::settings::project_name;
use crate::terminal::TerminalPage;

/// Rows of each list.
const MAX_LANGUAGES: usize = 6;
const MAX_MODULES: usize = 12;
const MAX_FILES: usize = 8;
const MAX_SHOWN_COMMITS: usize = 5;

/// Weeks in the chart of activity, and the most commits that it counts.
const WEEKS: usize = 26;
const MAX_COMMITS: usize = 5_000;

/// `docent overview` on a terminal.
pub(super) fn show(project: &Project, page: &mut TerminalPage) -> io::Result<()> {
    let deadline = Deadline::default();
    let (overview, notes) = load_overview(project, &deadline);
    page.heading(&inline_to(&project_name(project.root.path()), 100))?;
    if let Some(introduction) = read_introduction(&project.root, &overview) {
        page.prose(&inline_to(&introduction, 400))?;
    }

    let languages: Vec<(&str, usize)> = overview
        .languages
        .iter()
        .map(|(name, files)| (name.as_str(), *files))
        .collect();
    write_bars(
        page,
        &format!("{} files", count(overview.files as u64)),
        &languages,
        MAX_LANGUAGES,
    )?;
    let modules: Vec<(&str, usize)> = overview
        .by_size()
        .into_iter()
        .map(|(name, module)| (name.as_str(), module.files))
        .collect();
    write_bars(page, "Modules", &modules, MAX_MODULES)?;
    write_activity(project, &deadline, page)?;
    for (title, paths) in [
        ("Begins at", &overview.entries),
        ("Read first", &overview.key_files),
    ] {
        if !paths.is_empty() {
            page.line("")?;
            page.heading(title)?;
        }
        for path in paths.iter().take(MAX_FILES) {
            page.line(&format!("  {}", inline_to(path, 200)))?;
        }
    }
    page.line("")?;
    page.dim("`docent overview MODULE` tells more about a module")?;
    page.markdown(&notes)
}

/// The first names, each with its number and a bar.
fn write_bars(page: &mut TerminalPage, title: &str, rows: &[(&str, usize)], max: usize) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    page.line("")?;
    page.heading(title)?;
    let shown = &rows[..rows.len().min(max)];
    let names: Vec<String> = shown.iter().map(|(name, _)| inline_to(name, 30)).collect();
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default();
    let largest = shown.iter().map(|(_, number)| *number).max().unwrap_or_default();
    for (name, (_, number)) in names.iter().zip(shown) {
        page.bar(name, width, *number, largest)?;
    }
    match rows.len() - shown.len() {
        0 => Ok(()),
        more => page.dim(&format!("  and {more} more")),
    }
}

/// A chart of commits by week, and the last commits.
fn write_activity(project: &Project, deadline: &Deadline, page: &mut TerminalPage) -> io::Result<()> {
    let now = project.clock.now();
    let days = i64::try_from(WEEKS * 7).unwrap_or(i64::MAX);
    let since = day(now - SignedDuration::from_hours(24 * days));
    let query = LogQuery {
        since: Some(since.to_string()),
        count: MAX_COMMITS,
        ..LogQuery::default()
    };
    let recent = project.git.log(&query, deadline).unwrap_or_default().commits;
    let mut weeks = [0; WEEKS];
    for date in recent
        .iter()
        .filter_map(|commit| commit.date.parse::<Date>().ok())
    {
        let age = (day(now) - date).get_days();
        if let Some(week) = usize::try_from(age / 7).ok().and_then(|week| weeks.get_mut(week)) {
            *week += 1;
        }
    }
    weeks.reverse();
    let last = match recent.as_slice() {
        [] => {
            project
                .git
                .log(
                    &LogQuery {
                        count: MAX_SHOWN_COMMITS,
                        ..LogQuery::default()
                    },
                    deadline,
                )
                .unwrap_or_default()
                .commits
        }
        recent => recent[..recent.len().min(MAX_SHOWN_COMMITS)].to_vec(),
    };
    if last.is_empty() {
        return Ok(());
    }
    page.line("")?;
    page.heading("Commits")?;
    let more = if recent.len() == MAX_COMMITS {
        " or more"
    } else {
        ""
    };
    let aside = format!("{}{more} in {WEEKS} weeks", count(recent.len() as u64));
    page.sparkline(&weeks, &aside)?;
    for commit in last {
        let summary = format!(
            "{}: {}",
            inline_to(&commit.author, 30),
            inline_to(&commit.subject, 100)
        );
        page.row(&format!("  {}", commit.short), 0, &commit.date, &summary)?;
    }
    Ok(())
}

/// The day in UTC, as in the dates of commits.
fn day(moment: Timestamp) -> Date {
    moment.to_zoned(jiff::tz::TimeZone::UTC).date()
}
