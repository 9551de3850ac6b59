//! Which project is served: the one named, else the client's, else the one around the working directory.

use std::path::PathBuf;

use anyhow::Context;
use docent_engine::walk::work_tree;

use super::{Environment, Flags, Origin};

/// The project's directory and how it was found.
pub(super) fn find(flags: &Flags, environment: Environment<'_>) -> anyhow::Result<(PathBuf, Origin)> {
    if let Some(path) = &flags.root {
        return Ok((path.clone(), Origin::Flag("--root")));
    }
    for variable in ["DOCENT_ROOT", "CLAUDE_PROJECT_DIR"] {
        if let Some(path) = environment(variable).filter(|path| !path.is_empty()) {
            return Ok((path.into(), Origin::Variable(variable.into())));
        }
    }
    let here = std::env::current_dir().context("the working directory is gone")?;
    Ok(match work_tree(&here) {
        Some(path) => (path.to_owned(), Origin::Directory("git root")),
        None => (here, Origin::Directory("working directory")),
    })
}
