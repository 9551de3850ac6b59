//! The commands about documentation that are no tools: look for mistakes in it, and propose a manifest.

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use docent_core::reveal::reveal_part;
use docent_engine::docs::{check, propose};
use docent_engine::files::FileError;

use super::print::{self, TerminalPage};
use crate::settings::Settings;

/// Adds the commands to that of the tool they belong to.
pub(super) fn with_own(command: Command) -> Command {
    if command.get_name() != "docs" {
        return command;
    }
    command
        .args_conflicts_with_subcommands(true)
        .subcommand(
            Command::new("check")
                .about("Look for mistakes in manifests, templates and front matter, with file and line"),
        )
        .subcommand(
            Command::new("init")
                .about("Write a manifest that suits the pages there are, where there is none yet"),
        )
}

/// True where one of them was given.
pub(super) fn is_own(given: &ArgMatches) -> bool {
    matches!(given.subcommand_name(), Some("check" | "init"))
}

pub(super) fn run(settings: &Settings, given: &ArgMatches, page: TerminalPage) -> anyhow::Result<ExitCode> {
    match given.subcommand_name() {
        Some("init") => init(settings),
        _ => look(settings, page),
    }
}

/// `docent docs check`.
fn look(settings: &Settings, mut page: TerminalPage) -> anyhow::Result<ExitCode> {
    let (findings, files) = check(&settings.root, &settings.index.pages);
    for finding in &findings {
        let line = format!("{}:{}: {}", finding.path, finding.line, finding.message);
        page.line(&reveal_part(&line))?;
    }
    page.finish()?;
    let looked = format!("{files} {} looked at", if files == 1 { "file" } else { "files" });
    if findings.is_empty() {
        print::announce(&format!("{looked}; nothing is wrong"));
        return Ok(ExitCode::SUCCESS);
    }
    print::complain(&format!("{looked}; {} wrong", findings.len()));
    Ok(ExitCode::FAILURE)
}

/// `docent docs init`. Never writes over what is there.
fn init(settings: &Settings) -> anyhow::Result<ExitCode> {
    let Some(proposal) = propose(&settings.root, &settings.index.pages) else {
        print::complain("there is no page to write a manifest for: no .md, .mdx or .markdown file");
        return Ok(ExitCode::FAILURE);
    };
    if let Some(there) = &proposal.existing {
        print::complain(&format!("{there} is there already; nothing was written"));
        return Ok(ExitCode::FAILURE);
    }
    match settings.root.create(&proposal.path, proposal.text.as_bytes()) {
        Ok(()) => {}
        Err(FileError::Io(error)) if error.kind() == ErrorKind::AlreadyExists => {
            print::complain(&format!(
                "{} is there already and was left as it is",
                proposal.path
            ));
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error.into()),
    }
    print::announce(&format!(
        "{} is written; `docent docs check` looks it over",
        proposal.path
    ));
    Ok(ExitCode::SUCCESS)
}
