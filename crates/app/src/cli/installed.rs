//! The docents that are installed on this machine, by the `PATH`.
//!
//! Programs are only looked for, never run: another docent on the `PATH` may be anything.
//!
//! Invariant: links to one program count as one.

use std::path::{Path, PathBuf};

use crate::settings::Settings;

/// The programs named `docent` on the `PATH`, in its order, with links resolved. Those in the project are
/// left out.
pub(super) fn find(settings: &Settings) -> Vec<PathBuf> {
    let name = if cfg!(windows) { "docent.exe" } else { "docent" };
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in settings
        .surroundings
        .search
        .iter()
        .filter(|directory| directory.is_absolute())
    {
        let Ok(program) = directory.join(name).canonicalize() else {
            continue;
        };
        let is_new = program.is_file() && !found.contains(&program);
        if is_new && !program.starts_with(settings.root.path()) {
            found.push(program);
        }
    }
    found
}

/// What to do about several installed docents, in one sentence. `None` for one.
pub(super) fn advice(installed: &[PathBuf], running: &Path) -> Option<String> {
    let (first, others) = installed.split_first()?;
    if others.is_empty() {
        return None;
    }
    let list = |paths: &[PathBuf]| {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        shown.join(", ")
    };
    let running = running.canonicalize().unwrap_or_else(|_| running.to_owned());
    let this = if *first == running {
        "this one"
    } else {
        "another than this one"
    };
    Some(format!(
        "`docent` starts {} ({this}); delete {} if you do not need it, then run `docent setup` so that clients start the \
         one you keep",
        first.display(),
        list(others)
    ))
}
