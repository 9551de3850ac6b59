//! `docent` alone: what it is, how it stands in this project, and what to try.
//!
//! It has to be there at once, so nothing is scanned or indexed: what the index has is read from its table of
//! files.
//!
//! Invariant: it changes nothing, and is no error outside of a project.

use std::io;
use std::process::ExitCode;

use docent_engine::clients::{Client, Machine, SettingsScope};

use super::installed;
use super::setup::machine;
use crate::overview::count_files;
use crate::project::open_index;
use crate::settings::Settings;
use crate::terminal::TerminalPage;

/// Width of the names at the beginning of a row.
const WIDTH: usize = 9;

/// Width of the commands to try.
const COMMAND_WIDTH: usize = 48;

/// Shows the page. `is_at_home` is true if the user's home stands in for a project.
pub(super) fn show(
    settings: anyhow::Result<(Settings, bool)>,
    about: &str,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    page.heading(&format!(
        "docent {}: {}",
        env!("CARGO_PKG_VERSION"),
        about.to_lowercase()
    ))?;
    page.prose(
        "It indexes this project on your machine and hands out exactly the part that is asked for: code, documentation, \
         history, decisions. Coding agents ask it over MCP, you ask it here.",
    )?;
    page.line("")?;
    let (settings, is_at_home) = match settings {
        Ok(found) => found,
        Err(error) => {
            page.row("problem", WIDTH, &format!("{error:#}"), "")?;
            page.finish()?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let has_index = !is_at_home && write_project(&settings, &mut page)?;
    if is_at_home {
        let advice = "none here: change to a project's directory (cd PROJECT), or name one with --root DIR";
        page.row("project", WIDTH, advice, "")?;
    }
    let program = std::env::current_exe()?;
    let is_connected = write_clients(&machine(&settings, &program), &mut page)?;
    if let Some(advice) = installed::advice(&installed::find(&settings), &program) {
        page.row("installed", WIDTH, &advice, "")?;
    }
    page.line("")?;
    page.heading("Try")?;
    for (command, purpose) in suggestions(is_at_home, is_connected, has_index) {
        page.row(&format!("  {command}"), COMMAND_WIDTH, purpose, "")?;
    }
    page.line("")?;
    page.dim("`docent --help` lists all commands, `docent doctor` checks everything")?;
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The project and its index. Returns whether there is one.
fn write_project(settings: &Settings, page: &mut TerminalPage) -> io::Result<bool> {
    let root = settings.root.path().display().to_string();
    page.row(
        "project",
        WIDTH,
        &root,
        &format!("found by: {}", settings.root_origin),
    )?;
    let (index, _) = open_index(settings);
    let languages = index.count_languages();
    let files: usize = languages.iter().flatten().flatten().map(|(_, files)| files).sum();
    let state = match languages {
        Err(error) => format!("cannot be read ({error}); `docent index --force` rebuilds it"),
        Ok(None) => "none yet; the first search builds it, or `docent index`".to_owned(),
        Ok(Some(_)) => format!("{}; every search takes in what has changed", count_files(files)),
    };
    page.row("index", WIDTH, &state, "")?;
    Ok(files > 0)
}

/// The clients that start docent, and those that could. Returns whether there is one that does.
fn write_clients(machine: &Machine<'_>, page: &mut TerminalPage) -> io::Result<bool> {
    let is_connected = |client: &Client| {
        [SettingsScope::User, SettingsScope::Project]
            .into_iter()
            .any(|scope| {
                let file = client.settings_file(scope, machine);
                file.is_some_and(|file| matches!(file.entry(), Ok(Some(_))))
            })
    };
    let (connected, others): (Vec<Client>, Vec<Client>) = Client::ALL.into_iter().partition(is_connected);
    let titles = |clients: &[Client]| {
        let titles: Vec<&str> = clients.iter().map(|client| client.title()).collect();
        titles.join(", ")
    };
    let waiting: Vec<Client> = others
        .into_iter()
        .filter(|client| client.is_installed(machine))
        .collect();
    let state = match (connected.as_slice(), waiting.as_slice()) {
        ([], []) => "no coding agent was found; `docent setup --client NAME` connects one".to_owned(),
        ([], waiting) => format!("not connected; `docent setup` connects {}", titles(waiting)),
        (connected, []) => format!("connected: {}", titles(connected)),
        (connected, waiting) => format!(
            "connected: {}; `docent setup` connects {} too",
            titles(connected),
            titles(waiting)
        ),
    };
    page.row("agents", WIDTH, &state, "")?;
    Ok(!connected.is_empty())
}

/// Three commands, for a person in this situation.
fn suggestions(is_at_home: bool, is_connected: bool, has_index: bool) -> [(&'static str, &'static str); 3] {
    const SETUP: (&str, &str) = (
        "docent setup",
        "connect your coding agents; it shows every change and asks",
    );
    if is_at_home {
        return [
            ("cd PROJECT && docent", "this page, for a project"),
            SETUP,
            ("docent doctor", "check the installation"),
        ];
    }
    let search = (
        "docent search \"where are errors handled\"",
        if has_index {
            "functions that answer a question"
        } else {
            "functions that answer a question; builds the index"
        },
    );
    let overview = (
        "docent overview",
        "what this project is: programs, modules, activity",
    );
    let last = if is_connected {
        ("docent gain", "how much text docent has saved your agents")
    } else {
        SETUP
    };
    [search, overview, last]
}
