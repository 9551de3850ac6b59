//! The commands about documentation that are not tools: `docent docs check` and `docent docs init`.
//!
//! Invariant: an existing manifest is never overwritten.

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use docent_core::text::reveal::reveal_part;
use docent_engine::docs::{check, propose};
use docent_engine::files::FileError;

use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

/// Adds these commands to the command of `search_docs`.
pub(super) fn add_own(command: Command) -> Command {
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

/// True if one of these commands was given.
pub(super) fn is_own(given: &ArgMatches) -> bool {
    matches!(given.subcommand_name(), Some("check" | "init"))
}

pub(super) fn run(settings: &Settings, given: &ArgMatches, page: TerminalPage) -> anyhow::Result<ExitCode> {
    match given.subcommand_name() {
        Some("init") => init(settings),
        _ => check_docs(settings, page),
    }
}

/// `docent docs check`.
fn check_docs(settings: &Settings, mut page: TerminalPage) -> anyhow::Result<ExitCode> {
    let (findings, files) = check(&settings.root, &settings.index.pages);
    for finding in &findings {
        let line = format!("{}:{}: {}", finding.path, finding.line, finding.message);
        page.line(&reveal_part(&line))?;
    }
    page.finish()?;
    let summary = format!("{files} {} looked at", if files == 1 { "file" } else { "files" });
    if findings.is_empty() {
        terminal::announce(&format!("{summary}; nothing is wrong"));
        return Ok(ExitCode::SUCCESS);
    }
    terminal::complain(&format!("{summary}; {} wrong", findings.len()));
    Ok(ExitCode::FAILURE)
}

/// `docent docs init`.
fn init(settings: &Settings) -> anyhow::Result<ExitCode> {
    let Some(proposal) = propose(&settings.root, &settings.index.pages) else {
        terminal::complain(
            "there is no page to write a manifest for: no .md, .mdx, .markdown, .rst, .adoc or .asciidoc file",
        );
        return Ok(ExitCode::FAILURE);
    };
    if let Some(existing) = &proposal.existing {
        terminal::complain(&format!("{existing} is there already; nothing was written"));
        return Ok(ExitCode::FAILURE);
    }
    match settings.root.create(&proposal.path, proposal.text.as_bytes()) {
        Ok(()) => {}
        Err(FileError::Io(error)) if error.kind() == ErrorKind::AlreadyExists => {
            terminal::complain(&format!(
                "{} is there already and was left as it is",
                proposal.path
            ));
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error.into()),
    }
    terminal::announce(&format!(
        "{} is written; `docent docs check` looks it over",
        proposal.path
    ));
    Ok(ExitCode::SUCCESS)
}
