//! The project's page on a terminal: languages, programs, modules, activity, and files to start with.
//!
//! In a pipe, and for clients, the page is the markdown of `crate::overview`.

use std::io;

use docent_engine::deadline::Deadline;
use docent_engine::git::LogQuery;
use docent_engine::overview::Overview;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use crate::markdown::{count, inline_to};
use crate::overview::{describe_module, group_programs, load_overview, read_introduction};
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
    write_programs(&overview, page)?;
    write_modules(&overview, page)?;
    write_activity(project, &deadline, page)?;
    write_rows(
        page,
        "Read first",
        &overview
            .key_files
            .iter()
            .map(|path| (inline_to(path, 200), String::new()))
            .collect::<Vec<_>>(),
        MAX_FILES,
    )?;
    page.line("")?;
    page.dim("`docent overview MODULE` tells more about a module")?;
    page.markdown(&notes)
}

/// What can be run, and the file that it begins in.
fn write_programs(overview: &Overview, page: &mut TerminalPage) -> io::Result<()> {
    let rows: Vec<(String, String)> = group_programs(&overview.programs)
        .into_iter()
        .map(|(path, names)| (inline_to(&names.join(", "), 50), inline_to(path, 200)))
        .collect();
    write_rows(page, "Programs", &rows, MAX_FILES)
}

/// The largest modules, and what they are for.
fn write_modules(overview: &Overview, page: &mut TerminalPage) -> io::Result<()> {
    let rows: Vec<(String, String)> = overview
        .by_size()
        .into_iter()
        .map(|(name, module)| (inline_to(name, 30), describe_module(module)))
        .collect();
    write_rows(page, "Modules", &rows, MAX_MODULES)
}

/// The first rows: a name, and what there is to say of it.
fn write_rows(page: &mut TerminalPage, title: &str, rows: &[(String, String)], max: usize) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    page.line("")?;
    page.heading(title)?;
    let shown = &rows[..rows.len().min(max)];
    let width = shown.iter().map(|(name, _)| name.chars().count()).max();
    for (name, about) in shown {
        match about.as_str() {
            "" => page.line(&format!("  {name}"))?,
            about => page.row(&format!("  {name}"), width.unwrap_or_default() + 2, about, "")?,
        }
    }
    match rows.len() - shown.len() {
        0 => Ok(()),
        more => page.dim(&format!("  and {more} more")),
    }
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
