//! The commands that show pages for people: `docent overview` and `docent sessions`.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use docent_engine::clock::rfc3339;
use docent_engine::deadline::Deadline;
use docent_engine::sessions::{SessionRecord, Sessions};
use serde_json::{Value, json};

use super::flag;
use super::print::{self, TerminalPage};
use crate::overview;
use crate::settings::Settings;
use crate::tools::dispatch::Project;

pub(super) fn commands() -> [Command; 2] {
    [
        Command::new("overview")
            .about("Show what this project is: languages, modules, entry points, key files, recent activity")
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
pub(super) fn overview(
    project: &Project,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let deadline = Deadline::default();
    match given.get_one::<String>("module") {
        None if page.is_terminal() => super::overview::show(project, &mut page)?,
        None => page.markdown(&overview::project(project, &deadline))?,
        Some(name) => {
            let Some(text) = overview::module(project, name, &deadline) else {
                print::complain(&format!(
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
pub(super) fn sessions(
    settings: &Settings,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let sessions = Sessions::new(settings.state.clone(), settings.clock);
    let found = match given.get_one::<String>("id") {
        Some(id) => Vec::from_iter(sessions.session(id)?),
        None => sessions.recent(usize::from(
            *given.get_one::<u16>("limit").expect("it has a default"),
        ))?,
    };
    if let (Some(id), []) = (given.get_one::<String>("id"), found.as_slice()) {
        print::complain(&format!("there is no session {id}"));
        return Ok(ExitCode::FAILURE);
    }
    if given.get_flag("json") {
        page.json(&found.iter().map(to_json).collect())?;
    } else if given.contains_id("id") {
        page.markdown(&overview::session(&found[0]))?;
    } else {
        page.markdown(&overview::sessions(&found))?;
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn to_json(session: &SessionRecord) -> Value {
    let used = |used: &[(String, u64)]| -> Value {
        used.iter()
            .map(|(name, times)| json!({ "name": name, "times": times }))
            .collect()
    };
    json!({
        "id": session.id,
        "client": session.client,
        "started": rfc3339(session.started),
        "last": rfc3339(session.last),
        "ended": session.ended.map(rfc3339),
        "tools": used(&session.tools),
        "files": used(&session.files),
        "searches": used(&session.searches),
        "projects": used(&session.projects),
    })
}
