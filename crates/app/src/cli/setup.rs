//! `docent setup`: adds docent to the settings of the clients on this machine, or removes it again.
//!
//! How each client's file is edited is in `core::client_config`.
//!
//! Invariant: no file is written before the user has seen the change and agreed.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use docent_core::agent_instructions::InstructionBlock;
use docent_engine::clients::{Client, Machine, SettingsFile, SettingsScope};
use docent_engine::trust::TrustDecision;

use super::flags::{flag, variable};
use super::hook_setup;
use super::plugin_carrier::{PluginCarrier, find_carrier};
use super::plugin_setup;
use super::setup_steps::{SetupPlace, Step, ask, plan_guide, show_diff, write_steps};
use super::trust::announce_trust;
use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

pub(super) fn command() -> Command {
    let names: Vec<&'static str> = Client::ALL.into_iter().map(Client::name).collect();
    Command::new("setup")
        .about("Connect docent to the coding agents on this machine; shows every change and asks first")
        .arg(
            Arg::new("client")
                .long("client")
                .value_name("NAME")
                .value_parser(names)
                .action(ArgAction::Append)
                .help("Only this client, whether or not it is found; may be given several times"),
        )
        .arg(flag(
            "project",
            "Write the project's own files, for everybody who works on it",
        ))
        .arg(flag("print", "Print what would be written, and write nothing"))
        .arg(flag("yes", "Write without asking"))
        .arg(flag(
            "remove",
            "Take docent out again; the files are as they were before",
        ))
        .arg(flag(
            "guide",
            "Also tell agents in AGENTS.md (or CLAUDE.md) when to use which tool, in a marked block",
        ))
        .args(hook_setup::arguments())
        .args(plugin_setup::arguments())
}

/// The parts of this machine that decide where clients keep their settings.
pub(super) fn machine<'a>(settings: &'a Settings, program: &'a Path) -> Machine<'a> {
    Machine {
        variable: &variable,
        search: &settings.surroundings.search,
        root: settings.root.path(),
        program,
    }
}

/// Runs the command. `is_at_home` is true if the user's home stands in for a project.
pub(super) fn run(
    settings: &Settings,
    is_at_home: bool,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let machine = machine(settings, &program);
    let files = choose_files(given, &machine, is_at_home)?;
    let place = SetupPlace {
        settings,
        machine: &machine,
        given,
        is_at_home,
    };
    if given.get_flag("remove") {
        return remove(&place, &files, page);
    }
    if files.is_empty() {
        let names: Vec<&str> = Client::ALL.into_iter().map(Client::name).collect();
        terminal::complain(&format!(
            "no client was found on this machine; name one with --client: {}",
            names.join(", ")
        ));
        return Ok(ExitCode::FAILURE);
    }
    if given.get_flag("print") {
        for file in files.iter().filter(|file| find_carrier(&place, file).is_none()) {
            page.heading(&format!("{}: {}", file.client.title(), file.path.display()))?;
            page.line(&file.new_text(&file.client.entry(file.scope, &machine)))?;
        }
        hook_setup::print(&place, &files, &mut page)?;
        plugin_setup::print(&place, &files, &mut page)?;
        page.finish()?;
        return Ok(ExitCode::SUCCESS);
    }

    let (mut steps, mut failed) = plan_entries(&place, &files, &mut page)?;
    if !is_at_home && given.get_flag("guide") {
        plan_guide(&place, &[InstructionBlock::Tools], &mut steps, &mut page)?;
    }
    page.flush()?;
    if !write_steps(&place, &steps, &mut failed)? {
        return Ok(ExitCode::FAILURE);
    }
    if !is_at_home && !given.get_flag("yes") {
        failed |= !ask_for_trust(settings)?;
    }
    failed |= !hook_setup::offer(&place, &files, &mut page)?;
    failed |= !plugin_setup::offer(&place, &files, &mut page)?;
    page.finish()?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Plans the server's entry in each file, unless a plugin carries the server. Also returns whether one could
/// not be planned.
fn plan_entries(
    place: &SetupPlace<'_>,
    files: &[SettingsFile],
    page: &mut TerminalPage,
) -> anyhow::Result<(Vec<Step>, bool)> {
    let (mut steps, mut failed) = (Vec::new(), false);
    for file in files {
        let title = file.client.title();
        match find_carrier(place, file) {
            Some(PluginCarrier::Marketplace(id)) => {
                page.dim(&format!("{title}: docent is there as the plugin {id}"))?;
                failed |= !plugin_setup::plan_move(place, file, (&mut steps, page))?;
                continue;
            }
            Some(PluginCarrier::Own) => {
                if !place.given.contains_id("plugin") {
                    page.dim(&format!(
                        "{title}: docent is there as a plugin; `docent setup --plugin` renews it"
                    ))?;
                }
                continue;
            }
            None => {}
        }
        match file.plan_put(&file.client.entry(file.scope, place.machine)) {
            Ok(Some(change)) => {
                page.heading(&format!("{title}: {}", file.path.display()))?;
                show_diff(page, change.before.as_deref(), change.after.as_deref())?;
                steps.push(Step::Client(Box::new(change)));
            }
            Ok(None) => page.dim(&format!("{title}: docent is there already"))?,
            Err(error) => {
                failed = true;
                terminal::complain(&format!("{title} is left alone: {error}"));
            }
        }
    }
    Ok((steps, failed))
}

/// Takes docent out of these files, of the files with hooks, and of the instructions for agents.
fn remove(
    place: &SetupPlace<'_>,
    files: &[SettingsFile],
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let (mut steps, mut failed) = hook_setup::plan_removal(place, &mut page)?;
    let (plugins, plugins_failed) = plugin_setup::plan_removal(place, &mut page)?;
    steps.extend(plugins);
    failed |= plugins_failed;
    if files.is_empty() && steps.is_empty() && !failed {
        terminal::announce("docent is in no client's settings");
        return Ok(ExitCode::SUCCESS);
    }
    for file in files {
        let title = file.client.title();
        let planned = steps.iter().find_map(|step| match step {
            Step::Hooks(hooks) if hooks.change.path == file.path => Some(hooks.change.after.clone()),
            _ => None,
        });
        let change = match planned {
            Some(text) => file.plan_removal_from(text),
            None => file.plan_removal(),
        };
        match change {
            Ok(Some(change)) => {
                page.heading(&format!("{title}: {}", file.path.display()))?;
                show_diff(&mut page, change.before.as_deref(), change.after.as_deref())?;
                steps.push(Step::Client(Box::new(change)));
            }
            Ok(None) => page.dim(&format!("{title}: docent is not there"))?,
            Err(error) => {
                failed = true;
                terminal::complain(&format!("{title} is left alone: {error}"));
            }
        }
    }
    if !place.is_at_home {
        plan_guide(place, &[], &mut steps, &mut page)?;
    }
    page.finish()?;
    if !write_steps(place, &steps, &mut failed)? || failed {
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Chooses the settings files to change.
fn choose_files(
    given: &ArgMatches,
    machine: &Machine<'_>,
    is_at_home: bool,
) -> anyhow::Result<Vec<SettingsFile>> {
    let names: Vec<&String> = given.get_many::<String>("client").into_iter().flatten().collect();
    let (is_project, is_removing) = (given.get_flag("project"), given.get_flag("remove"));
    if is_project && is_at_home {
        bail!("there is no project here; start it inside of one, or name one with --root DIR");
    }
    let mut files = Vec::new();
    for client in Client::ALL {
        let is_named = names.iter().any(|name| *name == client.name());
        if names.is_empty() && is_removing {
            // Without names, every entry is removed.
            let scopes = [SettingsScope::User, SettingsScope::Project]
                .into_iter()
                .filter(|scope| !is_project || *scope == SettingsScope::Project);
            let existing = scopes.filter_map(|scope| client.settings_file(scope, machine));
            files.extend(existing.filter(|file| !matches!(file.entry(), Ok(None))));
            continue;
        }
        // Claude Desktop has no projects, so it is only connected when it is named.
        let is_found = names.is_empty() && client != Client::ClaudeDesktop && client.is_installed(machine);
        if !is_named && !is_found {
            continue;
        }
        let scope = if is_project {
            SettingsScope::Project
        } else {
            client.default_scope()
        };
        match client.settings_file(scope, machine) {
            Some(_) if scope == SettingsScope::Project && is_at_home => {
                terminal::announce(&format!(
                    "{} is connected inside a project: run `docent setup` there",
                    client.title()
                ));
            }
            Some(file) => files.push(file),
            None if names.is_empty() => {}
            None => bail!("{} has no settings for a project", client.title()),
        }
    }
    Ok(files)
}

/// Asks whether the project is trusted, once: either answer is kept. Without a terminal, and for a user
/// without a place for settings, nothing is decided. Returns false if the answer could not be kept.
fn ask_for_trust(settings: &Settings) -> anyhow::Result<bool> {
    let (list, root) = (&settings.trust_list, settings.root.path());
    if !io::stdin().is_terminal() || !matches!(list.decision(root), Ok(None)) {
        return Ok(true);
    }
    let is_trusted = ask(
        "This project's files may describe its documentation and prompts to clients. Show them these descriptions, \
         quoted? Say yes only if you trust its authors. [y/N] ",
    )?;
    let decision = if is_trusted {
        TrustDecision::Trusted
    } else {
        TrustDecision::Declined
    };
    if let Err(error) = list.decide(root, decision) {
        terminal::complain(&error.to_string());
        return Ok(false);
    }
    if is_trusted {
        announce_trust(root, true);
    } else {
        terminal::announce("They are held back; `docent trust` changes that");
    }
    Ok(true)
}
