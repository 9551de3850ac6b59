//! `docent lsp`: the language server.

use std::path::Path;
use std::process::ExitCode;

use clap::Command;

use super::flags::resolve_settings;
use crate::log::{self, Stderr};
use crate::lsp;
use crate::project::{Project, RunMode};
use crate::settings::Flags;
use crate::tools;

pub(super) fn command() -> Command {
    Command::new("lsp").about("Speak the Language Server Protocol to an editor or agent, over stdio")
}

/// Serves the folder that `--root` names, else that of the client, else the one around the working directory.
pub(super) fn run(flags: &Flags) -> ExitCode {
    let flags = flags.clone();
    lsp::serve(Box::new(move |folder| open(&flags, folder)))
}

fn open(flags: &Flags, folder: Option<&Path>) -> anyhow::Result<Project> {
    let named = flags.root.clone().or_else(|| folder.map(Path::to_owned));
    let flags = Flags {
        root: named,
        ..flags.clone()
    };
    let settings = resolve_settings(&flags, &tools::all())?;
    let resolve_linked = Box::new(|root: &Path| {
        let flags = Flags {
            root: Some(root.to_owned()),
            set: Vec::new(),
        };
        resolve_settings(&flags, &tools::all())
    });
    log::start(&settings.log, Stderr::Log)?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    Ok(Project::open(&settings, RunMode::Stdio, resolve_linked))
}
