//! Which project is served: the one that is named, else the client's, else the one around the working
//! directory.
//!
//! Invariant: the user's home and the file system's root are never taken for a project unless they are named.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use docent_engine::walk::work_tree;

use super::{Environment, Flags, ValueOrigin, home_directory};

/// Finds the project's directory, and says by which source.
pub(super) fn find(flags: &Flags, environment: Environment<'_>) -> anyhow::Result<(PathBuf, ValueOrigin)> {
    // Some clients pass `${workspaceFolder}` unexpanded when no folder is open.
    if let Some(path) = flags.root.as_ref().filter(|path| !is_placeholder(path)) {
        return Ok((path.clone(), ValueOrigin::Flag("--root")));
    }
    for variable in ["DOCENT_ROOT", "CLAUDE_PROJECT_DIR"] {
        if let Some(path) = environment(variable).filter(|path| !path.is_empty()) {
            return Ok((path.into(), ValueOrigin::Variable(variable.into())));
        }
    }
    let here = std::env::current_dir().context("the working directory is gone")?;
    if let Some(path) = work_tree(&here) {
        return Ok((path.to_owned(), ValueOrigin::Directory("git root")));
    }
    // Clients without an open project start their servers in the home directory or in `/`.
    if here.parent().is_none() || home_directory(environment).is_some_and(|home| here == home) {
        let place = if here.parent().is_none() {
            "the top of the file system"
        } else {
            "your home directory"
        };
        bail!(
            "{} is {place}, not a project: change to a project's directory (cd PROJECT), or name it with --root DIR",
            here.display()
        );
    }
    Ok((here, ValueOrigin::Directory("working directory")))
}

/// The project's name: that of its directory.
pub(crate) fn project_name(root: &Path) -> String {
    let name = root.file_name().unwrap_or(root.as_os_str());
    name.to_string_lossy().into_owned()
}

fn is_placeholder(path: &Path) -> bool {
    path.to_string_lossy().contains("${") && !path.exists()
}
