//! What `docent setup` installs beside the server and the hooks: skill, explorer, slash commands and language
//! server.
//!
//! Claude Code gets one plugin for the user, which carries the server and the hooks as well, so that the
//! plain entries are taken out. Other clients, and projects, get files in the folders that the client reads.
//!
//! Left out: the texts (`plugin`), and the folders (`engine::plugin_files`).
//!
//! Invariant: docent is started once by a client: by its settings or by a plugin, never by both.

use std::io::{self, IsTerminal};

use anyhow::bail;
use clap::Arg;
use docent_engine::client_plugins::{claude_marketplace_plugin, claude_server_extensions};
use docent_engine::clients::{Client, SettingsFile, SettingsScope};
use docent_engine::hook_files::HookPart;
use docent_engine::plugin_files::{FolderForm, PluginChange, PluginFile, PluginFolder, PluginPart};

use super::flags::flag;
use super::hook_setup::{named_parts, plan_read_hook};
use super::plugin_carrier::{PluginCarrier, find_carrier};
use super::setup_steps::{HookStep, PluginStep, SetupPlace, Step, ask, show_diff, write_steps};
use crate::plugin::{DEFAULT_HOOKS, PluginContents, claude_files, count_languages, loose_files};
use crate::terminal::{self, TerminalPage};
use crate::tools;

/// The parts that `--plugin` without a list means.
const DEFAULT_PARTS: &str = "skill,explorer,commands,lsp";

pub(super) fn arguments() -> [Arg; 2] {
    [
        Arg::new("plugin")
            .long("plugin")
            .value_name("LIST")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(DEFAULT_PARTS)
            .conflicts_with("no-plugin")
            .help(
                "Install what clients take beside the server, without asking about each: skill (which tool answers \
                 what), explorer (a subagent with docent's tools), commands (slash commands), lsp (the language server, \
                 in Claude Code). Claude Code gets it as one plugin with the server and the hooks in it: shell, session \
                 and search, unless --hooks or --no-hooks says otherwise. Without a list, all",
            ),
        flag("no-plugin", "Do not ask about skill, explorer, commands and language server"),
    ]
}

/// Plans to take docent's server and hooks out of a client's own settings, because a plugin carries them.
pub(super) fn plan_move(
    place: &SetupPlace<'_>,
    file: &SettingsFile,
    (steps, page): (&mut Vec<Step>, &mut TerminalPage),
) -> anyhow::Result<bool> {
    let title = file.client.title();
    let hooks = file.client.hook_file(file.scope, place.machine);
    let mut is_planned = true;
    match file.plan_removal() {
        Ok(Some(change)) => {
            page.heading(&format!("{title}: {}", file.path.display()))?;
            show_diff(page, change.before.as_deref(), change.after.as_deref())?;
            steps.push(Step::MovedClient(Box::new(change)));
        }
        Ok(None) => {}
        Err(error) => {
            is_planned = false;
            terminal::complain(&format!("{title} is left alone: {error}"));
        }
    }
    match hooks.map(|hooks| hooks.plan_removal(place.machine)).transpose() {
        Ok(change) => {
            if let Some(change) = change.flatten() {
                page.heading(&format!("{title}, hooks: {}", change.path.display()))?;
                show_diff(page, change.before.as_deref(), change.after.as_deref())?;
                steps.push(Step::MovedHooks(HookStep {
                    title,
                    change,
                    next: "the plugin has them",
                }));
            }
        }
        Err(error) => {
            is_planned = false;
            terminal::complain(&format!("{title} keeps its hooks: {error}"));
        }
    }
    Ok(is_planned)
}

/// Installs the parts that are wanted, after asking. Returns false if something could not be written.
pub(super) fn offer(
    place: &SetupPlace<'_>,
    files: &[SettingsFile],
    page: &mut TerminalPage,
) -> anyhow::Result<bool> {
    let folders = list_folders(place, files);
    let Some(parts) = choose_parts(place, &folders)? else {
        return Ok(true);
    };
    let (mut steps, mut failed) = (Vec::new(), false);
    for (file, folder) in &folders {
        let title = folder.client.title();
        if let Some(PluginCarrier::Marketplace(id)) = find_carrier(place, file) {
            page.dim(&format!("{title}: the plugin {id} has all of it"))?;
            continue;
        }
        let (wanted, known) = files_for(place, folder, &parts)?;
        match folder.plan(&wanted, &known) {
            Ok(Some(change)) => {
                show_files(title, &change, page)?;
                steps.push(Step::Plugin(PluginStep { title, change }));
            }
            Ok(None) => page.dim(&format!("{title}: {} is as it should be", folder.path.display()))?,
            Err(error) => {
                failed = true;
                terminal::complain(&format!("{title} gets no plugin: {error}"));
                continue;
            }
        }
        if folder.form == FolderForm::Plugin {
            failed |= !plan_move(place, file, (&mut steps, page))?;
            if plugin_hooks(place, folder)?.contains(&HookPart::Read) {
                failed |= !plan_read_hook(&mut steps, page)?;
            }
        }
    }
    page.flush()?;
    Ok(write_steps(place, &steps, &mut failed)? && !failed)
}

/// Prints the files of the parts that `--plugin` names.
pub(super) fn print(
    place: &SetupPlace<'_>,
    files: &[SettingsFile],
    page: &mut TerminalPage,
) -> anyhow::Result<()> {
    let Some(parts) = named(place)? else {
        return Ok(());
    };
    for (_, folder) in list_folders(place, files) {
        for file in files_for(place, &folder, &parts)?.0 {
            let path = folder.path.join(file.path);
            page.heading(&format!("{}: {}", folder.client.title(), path.display()))?;
            page.line(&file.text)?;
        }
    }
    Ok(())
}

/// Plans to delete docent's files of every client that is named, or of all. Also returns whether one could
/// not be planned.
pub(super) fn plan_removal(
    place: &SetupPlace<'_>,
    page: &mut TerminalPage,
) -> anyhow::Result<(Vec<Step>, bool)> {
    let (mut steps, mut failed) = (Vec::new(), false);
    for client in Client::ALL.into_iter().filter(|client| place.names(*client)) {
        let title = client.title();
        let known = loose_files(client, &tools::all(), &PluginPart::ALL);
        for scope in place.removal_scopes() {
            let Some(folder) = client.plugin_folder(*scope, place.machine) else {
                continue;
            };
            match folder.plan(&[], &known) {
                Ok(Some(change)) => {
                    show_files(title, &change, page)?;
                    steps.push(Step::Plugin(PluginStep { title, change }));
                }
                Ok(None) => {}
                Err(error) => {
                    failed = true;
                    terminal::complain(&format!("{title} is left alone: {error}"));
                }
            }
        }
    }
    if place.names(Client::ClaudeCode)
        && !place.given.get_flag("project")
        && let Some(id) = claude_marketplace_plugin(place.machine)
    {
        terminal::announce(&format!(
            "Claude Code has docent from a marketplace, too; `claude plugin uninstall {id}` removes that"
        ));
    }
    Ok((steps, failed))
}

/// The folders of the connected clients, each beside the client's settings.
fn list_folders<'a>(
    place: &SetupPlace<'_>,
    files: &'a [SettingsFile],
) -> Vec<(&'a SettingsFile, PluginFolder)> {
    let with_parts = files.iter().filter(|file| !file.client.plugin_parts().is_empty());
    with_parts
        .filter_map(|file| Some((file, file.client.plugin_folder(file.scope, place.machine)?)))
        .collect()
}

/// The files that a folder should have, and all that docent may have there.
fn files_for(
    place: &SetupPlace<'_>,
    folder: &PluginFolder,
    parts: &[PluginPart],
) -> anyhow::Result<(Vec<PluginFile>, Vec<PluginFile>)> {
    let tools = tools::all();
    let known = loose_files(folder.client, &tools, &PluginPart::ALL);
    if folder.form == FolderForm::Shared {
        return Ok((loose_files(folder.client, &tools, parts), known));
    }
    let contents = PluginContents {
        parts,
        hooks: &plugin_hooks(place, folder)?,
        program: &place.machine.program_for(SettingsScope::User),
        taken: &claude_server_extensions(place.machine),
    };
    Ok((claude_files(&tools, &contents), known))
}

/// The hooks of Claude Code's plugin: those that flags name, those that its settings or its plugin have
/// already, else the default.
fn plugin_hooks(place: &SetupPlace<'_>, folder: &PluginFolder) -> anyhow::Result<Vec<HookPart>> {
    if let Some(named) = named_parts(place)? {
        return Ok(named);
    }
    if place.given.get_flag("no-hooks") {
        return Ok(Vec::new());
    }
    let settings = folder.client.hook_file(SettingsScope::User, place.machine);
    let parts = settings.map_or_else(Vec::new, |file| file.installed_parts());
    if !parts.is_empty() {
        return Ok(parts);
    }
    let is_asked = !place.given.contains_id("plugin");
    Ok(if is_asked {
        Vec::new()
    } else {
        DEFAULT_HOOKS.to_vec()
    })
}

/// The parts that `--plugin` names. `None` without the flag.
fn named(place: &SetupPlace<'_>) -> anyhow::Result<Option<Vec<PluginPart>>> {
    let Some(list) = place.given.get_one::<String>("plugin") else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for name in list.split(',') {
        let Some(part) = PluginPart::from_name(name.trim()) else {
            let names = PluginPart::ALL.map(PluginPart::name).join(", ");
            bail!("there is no part {name}; there are {names}");
        };
        parts.push(part);
    }
    Ok(Some(parts))
}

/// The parts that are wanted: those that the flag names, or else those that the user says yes to. `None` if
/// there are none, or nobody can be asked.
fn choose_parts(
    place: &SetupPlace<'_>,
    folders: &[(&SettingsFile, PluginFolder)],
) -> anyhow::Result<Option<Vec<PluginPart>>> {
    let named = named(place)?;
    let is_silent = place.given.get_flag("no-plugin") || place.given.get_flag("yes");
    // A user who has the files was asked before; `--plugin` changes them.
    let new: Vec<&PluginFolder> = folders
        .iter()
        .filter(|(file, folder)| {
            let known = loose_files(folder.client, &tools::all(), &PluginPart::ALL);
            !folder.has_own_files(&known) && find_carrier(place, file).is_none()
        })
        .map(|(_, folder)| folder)
        .collect();
    if named.is_some() || is_silent || new.is_empty() || !io::stdin().is_terminal() {
        return Ok(named);
    }
    let titles = |part: PluginPart| -> Vec<&str> {
        let folders = new.iter().filter(|folder| {
            // The language server is part of the plugin alone.
            let has_server = part != PluginPart::LanguageServer || folder.form == FolderForm::Plugin;
            has_server && folder.client.plugin_parts().contains(&part)
        });
        folders.map(|folder| folder.client.title()).collect()
    };
    let mut wanted = Vec::new();
    if ask(&format!(
        "{}: install a skill that says which tool answers what, an explorer subagent that has docent's tools, and slash \
         commands where the client has them? Claude Code gets a plugin that carries the tools and your hooks, too. [y/N] ",
        titles(PluginPart::Skill).join(", ")
    ))? {
        wanted.extend([PluginPart::Skill, PluginPart::Explorer, PluginPart::Commands]);
    }
    let servers = titles(PluginPart::LanguageServer);
    let languages = count_languages(&claude_server_extensions(place.machine));
    if !servers.is_empty()
        && languages > 0
        && ask(&format!(
            "{}: answer its questions for definitions, uses, types and calls in {languages} languages from docent's index? \
             Extensions that another language server answers for are left to it. [y/N] ",
            servers.join(", ")
        ))?
    {
        wanted.push(PluginPart::LanguageServer);
    }
    Ok(Some(wanted).filter(|wanted| !wanted.is_empty()))
}

/// Lists the files of a change; `--print` shows their texts.
fn show_files(title: &str, change: &PluginChange, page: &mut TerminalPage) -> io::Result<()> {
    let mut list = String::from("```diff\n");
    for file in &change.files {
        let (mark, text) = match (&file.before, &file.after) {
            (_, None) => ('-', &file.before),
            (None, Some(_)) => ('+', &file.after),
            (Some(_), Some(_)) => ('!', &file.after),
        };
        let lines = text.as_deref().unwrap_or_default().lines().count();
        list.push_str(&format!("{mark} {} ({lines} lines)\n", file.path.display()));
    }
    page.heading(&format!("{title}, plugin"))?;
    page.markdown(&(list + "```"))
}
