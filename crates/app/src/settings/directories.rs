//! Directories of the user: home, configuration, cache and state.
//!
//! One order on every system: the XDG variable, then the Windows one, then a folder below the home directory.
//! The crate `etcetera` was considered and set aside: `docs/design/010-client-config.md` says why.
//! Directories of other programs are in `engine::clients`.
//!
//! Invariant: apart from the temporary directory, all come from the [`Environment`] that is passed in.
//! Without any of the variables the result is `None`, and docent runs without a cache. The account database
//! is not consulted: a process with a cleared environment writes into no home.

use std::path::PathBuf;

use docent_engine::files::Root;

use super::Environment;

/// The user's home directory.
pub(crate) fn home_directory(environment: Environment<'_>) -> Option<PathBuf> {
    let variables = ["HOME", "USERPROFILE"].into_iter();
    variables.filter_map(environment).map(PathBuf::from).next()
}

/// `docent/config.toml` in the user's configuration directory.
pub(crate) fn user_config_file(environment: Environment<'_>) -> Option<PathBuf> {
    let directory = |name: &str| {
        environment(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let config = directory("XDG_CONFIG_HOME")
        .or_else(|| directory("APPDATA"))
        .or_else(|| Some(directory("HOME")?.join(".config")))?;
    Some(config.join("docent").join("config.toml"))
}

/// The project's folder in the cache: derived data that can be deleted at any time.
pub(super) fn project_cache(environment: Environment<'_>, root: &Root) -> Option<PathBuf> {
    let projects = cache_directory(environment, "projects")?;
    Some(projects.join(folder_name(root)))
}

/// The cache of vectors that an embedding server returned, shared by all projects.
pub(super) fn embeddings_cache(environment: Environment<'_>) -> Option<PathBuf> {
    cache_directory(environment, "embeddings")
}

/// The project's folder in the user's state: data about the project that must not be lost.
pub(super) fn project_state(environment: Environment<'_>, root: &Root) -> Option<PathBuf> {
    let state = docent_directory(environment, "XDG_STATE_HOME", ".local/state", "state")?;
    Some(state.join(folder_name(root)))
}

/// The system's directory for temporary files. `/tmp` if `TMPDIR` is set to the empty string.
pub(super) fn temporary_directory() -> PathBuf {
    Some(std::env::temp_dir())
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or_else(|| "/tmp".into())
}

fn cache_directory(environment: Environment<'_>, name: &str) -> Option<PathBuf> {
    docent_directory(environment, "XDG_CACHE_HOME", ".cache", name)
}

/// `docent/NAME` in the directory that a variable names, or below the user's home. Relative values are
/// ignored, as the XDG specification asks.
fn docent_directory(
    environment: Environment<'_>,
    variable: &str,
    below_home: &str,
    name: &str,
) -> Option<PathBuf> {
    let directory = |name: &str| {
        environment(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let outer = directory(variable)
        .or_else(|| directory("LOCALAPPDATA"))
        .or_else(|| Some(directory("HOME")?.join(below_home)))?;
    Some(outer.join("docent").join(name))
}

/// A project's folder name: its directory's name for people, and a hash of its path, which no other project
/// has.
fn folder_name(root: &Root) -> String {
    let name = root.path().file_name().unwrap_or_default().to_string_lossy();
    let readable: String = name
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        .take(40)
        .collect();
    format!("{readable}-{}", root.id())
}
