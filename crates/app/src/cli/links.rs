//! The commands about linked projects, which `context_search` includes with `projectScope: all_linked`.
//!
//! Links are kept with the user's settings, never in a project: a clone must not bring any.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Arg, ArgMatches, Command, value_parser};
use docent_engine::links::Links;

use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

pub(super) fn commands() -> Vec<Command> {
    let path = |about: &'static str| {
        Arg::new("path")
            .required(true)
            .value_name("PATH")
            .value_parser(value_parser!(PathBuf))
            .help(about)
    };
    vec![
        Command::new("link")
            .about("Link another project, so that searches can look into it too")
            .arg(path("Its directory")),
        Command::new("unlink")
            .about("Take a link back")
            .arg(path("The linked project's directory")),
        Command::new("links").about("List the projects that are linked with this one"),
    ]
}

fn open_links(settings: &Settings) -> Links {
    Links::new(settings.links.clone())
}

/// `docent link PATH`.
pub(super) fn link(settings: &Settings, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let path: &PathBuf = given.get_one("path").expect("required");
    let other = path.canonicalize().with_context(|| path.display().to_string())?;
    if !other.is_dir() {
        bail!("{} is not a directory", path.display());
    }
    if other == settings.root.path() {
        bail!("a project is not linked with itself");
    }
    let new = open_links(settings).add(settings.root.path(), &other)?;
    terminal::announce(&format!(
        "{} {} linked with {}",
        other.display(),
        if new { "is now" } else { "was already" },
        settings.root.path().display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// `docent unlink PATH`.
pub(super) fn unlink(settings: &Settings, given: &ArgMatches) -> anyhow::Result<ExitCode> {
    let path: &PathBuf = given.get_one("path").expect("required");
    let links = open_links(settings);
    let root = settings.root.path();
    let linked = links.of(root)?;
    // A directory that no longer exists can still be unlinked, by its path or by its name.
    let is_named = |one: &PathBuf| {
        one == path
            || path.canonicalize().is_ok_and(|path| path == *one)
            || one.file_name() == Some(path.as_os_str())
    };
    let Some(other) = linked.iter().find(|one| is_named(one)) else {
        bail!("{} is not linked; `docent links` lists what is", path.display());
    };
    links.remove(root, other)?;
    terminal::announce(&format!("{} is no longer linked", other.display()));
    Ok(ExitCode::SUCCESS)
}

/// `docent links`.
pub(super) fn list(settings: &Settings, mut page: TerminalPage) -> anyhow::Result<ExitCode> {
    let links = open_links(settings);
    let direct = links.of(settings.root.path())?;
    for path in links.reachable(settings.root.path())? {
        let is_same = path.canonicalize().is_ok_and(|real| real == path);
        let aside = match (direct.contains(&path), path.is_dir()) {
            (_, false) => "not there",
            (_, true) if !is_same => "replaced by a link, not searched",
            (true, true) => "",
            (false, true) => "linked by another",
        };
        page.row(&path.display().to_string(), 0, "", aside)?;
    }
    if direct.is_empty() {
        page.note("No project is linked; `docent link PATH` links one")?;
    }
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}
