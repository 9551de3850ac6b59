//! The commands `docent overview` and `docent sessions`.
//!
//! Their pages are made by `overview`, which MCP resources use as well; only the terminal's form of the
//! project's page is made in here.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use docent_engine::clock::rfc3339;
use docent_engine::deadline::Deadline;
use docent_engine::sessions::{SessionRecord, Sessions};
use serde_json::{Value, json};

use super::flags::flag;
use crate::overview;
use crate::project::Project;
use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

pub(super) fn commands() -> [Command; 2] {
    [
        Command::new("overview")
            .about("Show what this project is: languages, programs, modules, key files, recent activity")
            .arg(Arg::new("module").value_name("MODULE").help("Only this module")),
        Command::new("sessions")
            .about("Show who worked with docent here, when and on what")
            .arg(
                Arg::new("id")
                    .value_name("ID")
                    .help("Only this session, with everything it did"),
            )
            .arg(
                Arg::new("limit")
                    .long("limit")
                    .value_name("NUMBER")
                    .value_parser(value_parser!(u16).range(1..))
                    .default_value("10")
                    .help("How many sessions to show"),
            )
            .arg(flag("json", "Print them as JSON")),
    ]
}

/// `docent overview`.
pub(super) fn show_overview(
    project: &Project,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let deadline = Deadline::default();
    match given.get_one::<String>("module") {
        None if page.is_terminal() => super::overview::show(project, &mut page)?,
        None => page.markdown(&overview::project_page(project, &deadline))?,
        Some(name) => {
            let Some(text) = overview::module_page(project, name, &deadline) else {
                terminal::complain(&format!(
                    "there is no module {name}; `docent overview` lists them"
                ));
                return Ok(ExitCode::FAILURE);
            };
            page.markdown(&text)?;
        }
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// `docent sessions`.
pub(super) fn show_sessions(
    settings: &Settings,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let sessions = Sessions::new(settings.state.clone(), settings.clock);
    let shown = match given.get_one::<String>("id") {
        Some(id) => Vec::from_iter(sessions.session(id)?),
        None => sessions.recent(usize::from(
            *given.get_one::<u16>("limit").expect("it has a default"),
        ))?,
    };
    if let (Some(id), []) = (given.get_one::<String>("id"), shown.as_slice()) {
        terminal::complain(&format!("there is no session {id}"));
        return Ok(ExitCode::FAILURE);
    }
    if given.get_flag("json") {
        page.json(&shown.iter().map(to_json).collect())?;
    } else if given.contains_id("id") {
        page.markdown(&overview::session_page(&shown[0]))?;
    } else {
        page.markdown(&overview::sessions_page(&shown))?;
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn to_json(session: &SessionRecord) -> Value {
    let list_uses = |uses: &[(String, u64)]| -> Value {
        uses.iter()
            .map(|(name, times)| json!({ "name": name, "times": times }))
            .collect()
    };
    json!({
        "id": session.id,
        "client": session.client,
        "started": rfc3339(session.started),
        "last": rfc3339(session.last),
        "ended": session.ended.map(rfc3339),
        "tools": list_uses(&session.tools),
        "files": list_uses(&session.files),
        "searches": list_uses(&session.searches),
        "projects": list_uses(&session.projects),
    })
}
