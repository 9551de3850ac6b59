//! `docent trust`: lets a project's own descriptions reach clients, or takes that back.
//!
//! What trust allows is said in `docs/design/014-settings-and-trust.md`.
//!
//! Invariant: only the user trusts a project, by this command or by their answer to `docent setup`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::{Arg, ArgMatches, Command, value_parser};
use docent_engine::trust::{TrustDecision, TrustList};

use super::flags::flag;
use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

pub(super) fn command() -> Command {
    Command::new("trust")
        .about("Trust this project: let its own descriptions reach clients, as quotations")
        .arg(flag("list", "List the projects that are trusted"))
        .arg(
            Arg::new("remove")
                .long("remove")
                .value_name("PATH")
                .num_args(0..=1)
                .value_parser(value_parser!(PathBuf))
                .conflicts_with("list")
                .help("Take it back, of this project or of the one at PATH"),
        )
}

/// Runs the command. `is_at_home` is true if the user's home stands in for a project.
pub(super) fn run(
    settings: &Settings,
    is_at_home: bool,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let list = &settings.trust_list;
    if given.get_flag("list") {
        let trusted = list.trusted()?;
        for path in &trusted {
            let aside = if path.is_dir() { "" } else { "not there" };
            page.row(&path.display().to_string(), 0, "", aside)?;
        }
        if trusted.is_empty() {
            page.note("No project is trusted; `docent trust` trusts the one around it")?;
        }
        page.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_removing = given.contains_id("remove")
        && given.value_source("remove") == Some(clap::parser::ValueSource::CommandLine);
    if is_removing && let Some(path) = given.get_one::<PathBuf>("remove") {
        // A directory that no longer exists can still be removed, by the path that the list shows.
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        return remove(list, &path);
    }
    if is_at_home {
        bail!("there is no project here; start it inside of one, or name one with --root DIR");
    }
    let root = settings.root.path();
    if is_removing {
        return remove(list, root);
    }
    let is_new = list.decide(root, TrustDecision::Trusted)?;
    announce_trust(root, is_new);
    Ok(ExitCode::SUCCESS)
}

/// Says what trust means, after it was given.
pub(super) fn announce_trust(root: &Path, is_new: bool) {
    terminal::announce(&format!(
        "{} {} trusted: its own descriptions reach clients, as quotations of at most 200 characters. Servers that run \
         now show them after a restart",
        root.display(),
        if is_new { "is now" } else { "was already" },
    ));
}

fn remove(list: &TrustList, root: &Path) -> anyhow::Result<ExitCode> {
    let was_trusted = list.decision(root)? == Some(TrustDecision::Trusted);
    list.forget(root)?;
    if !was_trusted {
        bail!(
            "{} is not trusted; `docent trust --list` lists what is",
            root.display()
        );
    }
    terminal::announce(&format!("{} is no longer trusted", root.display()));
    Ok(ExitCode::SUCCESS)
}
