//! The commands about the project's memory that are not tools: listing it, and approving or rejecting pending
//! entries.
//!
//! Invariant: an entry is written as it was shown, or not at all.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use docent_core::memory::MemoryFile;
use docent_core::text::reveal::reveal_part;
use docent_engine::memory::{Memory, PendingError};

use crate::markdown::inline_to;
use crate::project::open_memory;
use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

/// Adds these commands to the command of `write_memory_entry`.
pub(super) fn add_own(command: Command) -> Command {
    if command.get_name() != "memory" {
        return command;
    }
    let ids = |what: &str| {
        let all = Arg::new("all")
            .long("all")
            .action(ArgAction::SetTrue)
            .conflicts_with("id")
            .help(format!("{what} everything that waits"));
        let id = Arg::new("id")
            .value_name("ID")
            .num_args(1..)
            .required_unless_present("all")
            .help("What `docent memory pending` calls it");
        [id, all]
    };
    command
        .about("What the project remembers: decisions, practices, progress")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list").about("Show what the memory holds").arg(
                Arg::new("file")
                    .value_name("FILE")
                    .value_parser(MemoryFile::ALL.map(MemoryFile::name))
                    .help("Only this file"),
            ),
        )
        .subcommand(Command::new("pending").about("Show the entries that wait for your approval"))
        .subcommand(
            Command::new("approve")
                .about("Write entries that wait into the memory")
                .args(ids("Approve")),
        )
        .subcommand(
            Command::new("reject")
                .about("Throw entries that wait away")
                .args(ids("Reject")),
        )
}

/// True if one of these commands was given.
pub(super) fn is_own(given: &ArgMatches) -> bool {
    matches!(
        given.subcommand_name(),
        Some("list" | "pending" | "approve" | "reject")
    )
}

pub(super) fn run(settings: &Settings, given: &ArgMatches, page: TerminalPage) -> anyhow::Result<ExitCode> {
    let memory = open_memory(settings);
    match given.subcommand() {
        Some(("list", given)) => {
            let only = given
                .get_one::<String>("file")
                .and_then(|name| MemoryFile::from_name(name));
            list(&memory, only, page)
        }
        Some(("approve", given)) => decide(&memory, given, |id| {
            let (pending, appended) = memory.approve(id)?;
            let entry = reveal_part(&pending.entry).into_owned();
            Ok(format!(
                "{id}: {} bytes are written to {}:\n{entry}",
                appended.bytes,
                pending.file.path()
            ))
        }),
        Some(("reject", given)) => decide(&memory, given, |id| {
            memory.reject(id).map(|_| format!("{id}: thrown away"))
        }),
        _ => show_pending(&memory, page),
    }
}

fn list(memory: &Memory, only: Option<MemoryFile>, mut page: TerminalPage) -> anyhow::Result<ExitCode> {
    let mut is_empty = true;
    for file in MemoryFile::ALL {
        if only.is_some_and(|only| only != file) {
            continue;
        }
        let text = match memory.read(file) {
            Ok(text) => text,
            Err(error) => {
                terminal::complain(&format!("{}: {error}", file.path()));
                continue;
            }
        };
        if text.trim().is_empty() {
            continue;
        }
        if !is_empty {
            page.line("")?;
        }
        is_empty = false;
        page.heading(file.path().as_str())?;
        for line in text.trim_end().lines() {
            page.line(&reveal_part(line))?;
        }
    }
    if is_empty {
        page.note("Nothing is remembered yet; `docent memory add` does, and so does write_memory_entry")?;
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn show_pending(memory: &Memory, mut page: TerminalPage) -> anyhow::Result<ExitCode> {
    let pending = memory.pending()?;
    for (at, one) in pending.iter().enumerate() {
        if at > 0 {
            page.line("")?;
        }
        let by = one.author.client.as_deref().unwrap_or("docent");
        page.result_heading(
            &one.id,
            one.file.name(),
            &format!("{} · {}", one.date, inline_to(by, 60)),
        )?;
        for line in one.entry.lines() {
            page.line(&format!("  {}", reveal_part(line)))?;
        }
    }
    page.note(match pending.len() {
        0 => "Nothing waits for approval",
        _ => "`docent memory approve ID` writes one, `docent memory reject ID` throws it away",
    })?;
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Decides on each entry. A failure does not stop the others.
fn decide(
    memory: &Memory,
    given: &ArgMatches,
    decide: impl Fn(&str) -> Result<String, PendingError>,
) -> anyhow::Result<ExitCode> {
    let ids: Vec<String> = if given.get_flag("all") {
        memory.pending()?.into_iter().map(|one| one.id).collect()
    } else {
        given
            .get_many::<String>("id")
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    };
    let mut code = ExitCode::SUCCESS;
    for id in ids {
        match decide(&id) {
            Ok(done) => terminal::announce(&done),
            Err(error) => {
                terminal::complain(&error.to_string());
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}
