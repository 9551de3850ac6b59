//! The flags of every command, and the settings that they lead to.
//!
//! Invariant: settings see the process's environment only through [`variable`]; tests hand in a map instead.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use crate::settings::{Flags, Settings, home_directory};
use crate::tools;
use crate::tools::tool::Tool;

/// A flag without a value.
pub(super) fn flag(name: &'static str, about: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(about)
}

/// The flags that every command takes.
pub(super) fn global_flags() -> [Arg; 3] {
    let global = |name: &'static str| Arg::new(name).long(name).global(true);
    [
        global("root")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help("The project's directory"),
        global("set")
            .value_name("KEY=VALUE")
            .action(ArgAction::Append)
            .help("Change a setting for this run; `docent config` lists them"),
        global("color")
            .value_name("WHEN")
            .value_parser(["auto", "always", "never"])
            .default_value("auto")
            .help("When to use colours"),
    ]
}

/// Reads those that settings depend on.
pub(super) fn parse_flags(matches: &ArgMatches) -> anyhow::Result<Flags> {
    let mut set = Vec::new();
    for pair in matches.get_many::<String>("set").into_iter().flatten() {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("--set takes KEY=VALUE, not {pair}")
        };
        set.push((name.to_owned(), value.to_owned()));
    }
    Ok(Flags {
        root: matches.get_one::<PathBuf>("root").cloned(),
        set,
    })
}

/// Looks up a variable of the process's environment.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that hands the process's environment to the settings"
)]
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Resolves the settings of this run.
pub(super) fn resolve_settings(flags: &Flags, tools: &[Tool]) -> anyhow::Result<Settings> {
    Settings::resolve(flags, &variable, &tools::default_limits(tools))
}

/// Resolves the settings of a user who is outside of any project, with their home in its place. `None` if a
/// project was named.
pub(super) fn resolve_settings_at_home(flags: &Flags, tools: &[Tool]) -> Option<Settings> {
    if flags.root.is_some() {
        return None;
    }
    let flags = Flags {
        root: Some(home_directory(&variable)?),
        ..flags.clone()
    };
    resolve_settings(&flags, tools).ok()
}
