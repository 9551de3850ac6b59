//! The hooks in `docent setup`: which are wanted, for which clients, and their files.
//!
//! Left out: how a client's file is edited (`engine::hook_files`).
//!
//! Invariant: a hook is installed only if the user has said yes to what it does, on the terminal or by a
//! flag.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::bail;
use clap::Arg;
use docent_core::agent_instructions::InstructionBlock;
use docent_engine::clients::{Client, ClientError, SettingsFile};
use docent_engine::hook_files::{HookFile, HookPart, plan_read_setting, plan_read_setting_removal};

use super::flags::{flag, variable};
use super::gain::describe_read_gain;
use super::plugin_carrier::find_carrier;
use super::setup_steps::{HookStep, SetupPlace, Step, ask, plan_guide, show_diff, write_steps};
use crate::settings::user_config_file;
use crate::terminal::{self, TerminalPage};

/// The hooks that `--hooks` without a list means. The Read hook changes what a read gives, so that it must be
/// named.
const DEFAULT_PARTS: &str = "shell,session,search";

pub(super) fn arguments() -> [Arg; 2] {
    [
        Arg::new("hooks")
            .long("hooks")
            .value_name("LIST")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(DEFAULT_PARTS)
            .conflicts_with("no-hooks")
            .help(
                "Install hooks without asking about each: shell (answer grep, find and git in the shell), session \
                 (say at its start what the project is), search (a line after a search that found nothing or too \
                 much), read (outline of large files); without a list, all but read",
            ),
        flag("no-hooks", "Do not ask about hooks"),
    ]
}

/// Installs the hooks that are wanted, after asking. Returns false if something could not be written.
pub(super) fn offer(
    place: &SetupPlace<'_>,
    files: &[SettingsFile],
    page: &mut TerminalPage,
) -> anyhow::Result<bool> {
    let hook_files = list_files(place, files);
    let Some(parts) = choose_parts(place, &hook_files)? else {
        return Ok(true);
    };
    let (mut steps, mut failed) = (Vec::new(), false);
    for file in &hook_files {
        let title = file.client.title();
        match file.plan_put(&parts, place.machine) {
            Ok(Some(change)) => {
                page.heading(&format!("{title}, hooks: {}", file.path.display()))?;
                show_diff(page, change.before.as_deref(), change.after.as_deref())?;
                let next = next_step(file.client);
                steps.push(Step::Hooks(HookStep { title, change, next }));
            }
            Ok(None) => page.dim(&format!("{title}: the hooks are there already"))?,
            Err(error) => {
                failed = true;
                terminal::complain(&format!("{title} gets no hooks: {error}"));
            }
        }
    }
    let has_reader = hook_files
        .iter()
        .any(|file| file.client.hook_parts().contains(&HookPart::Read));
    if parts.contains(&HookPart::Read) && has_reader {
        failed |= !plan_read_hook(&mut steps, page)?;
    }
    // Clients whose commands are not rewritten are told when to use `docent sh`.
    let is_told = |file: &SettingsFile| {
        file.client != Client::ClaudeDesktop && !file.client.hook_parts().contains(&HookPart::Shell)
    };
    if parts.contains(&HookPart::Shell) && !place.is_at_home && files.iter().any(is_told) {
        plan_guide(place, &[InstructionBlock::Shell], &mut steps, page)?;
    }
    page.flush()?;
    Ok(write_steps(place, &steps, &mut failed)? && !failed)
}

/// Prints the files with the hooks that `--hooks` names.
pub(super) fn print(
    place: &SetupPlace<'_>,
    files: &[SettingsFile],
    page: &mut TerminalPage,
) -> anyhow::Result<()> {
    let Some(parts) = named_parts(place)? else {
        return Ok(());
    };
    for file in list_files(place, files) {
        page.heading(&format!(
            "{}, hooks: {}",
            file.client.title(),
            file.path.display()
        ))?;
        page.line(&file.new_text(&parts, place.machine))?;
    }
    Ok(())
}

/// Plans to take the hooks out of every file that has them. Also returns whether one could not be planned.
pub(super) fn plan_removal(
    place: &SetupPlace<'_>,
    page: &mut TerminalPage,
) -> anyhow::Result<(Vec<Step>, bool)> {
    let (mut steps, mut failed) = (Vec::new(), false);
    for client in Client::ALL.into_iter().filter(|client| place.names(*client)) {
        let title = client.title();
        let files = place
            .removal_scopes()
            .iter()
            .filter_map(|scope| client.hook_file(*scope, place.machine));
        for file in files.filter(HookFile::has_hooks) {
            failed |= !push_change(file.plan_removal(place.machine), title, (&mut steps, page))?;
        }
    }
    if place.names(Client::ClaudeCode)
        && !place.given.get_flag("project")
        && let Some(path) = own_settings_file()
    {
        failed |= !push_change(plan_read_setting_removal(&path), "docent", (&mut steps, page))?;
    }
    Ok((steps, failed))
}

/// Plans the setting that turns the Read hook on. Returns false if that cannot be done.
pub(super) fn plan_read_hook(steps: &mut Vec<Step>, page: &mut TerminalPage) -> anyhow::Result<bool> {
    let Some(path) = own_settings_file() else {
        terminal::complain("hook.read cannot be set: there is no home directory");
        return Ok(false);
    };
    push_change(plan_read_setting(&path), "docent", (steps, page))
}

/// Shows a change and adds it to the steps. Returns false if it could not be planned.
fn push_change(
    change: Result<Option<docent_engine::hook_files::HookChange>, ClientError>,
    title: &'static str,
    (steps, page): (&mut Vec<Step>, &mut TerminalPage),
) -> anyhow::Result<bool> {
    match change {
        Ok(Some(change)) => {
            page.heading(&format!("{title}, hooks: {}", change.path.display()))?;
            show_diff(page, change.before.as_deref(), change.after.as_deref())?;
            let next = "`docent config` shows it";
            steps.push(Step::Hooks(HookStep { title, change, next }));
            Ok(true)
        }
        Ok(None) => Ok(true),
        Err(error) => {
            terminal::complain(&format!("{title} is left alone: {error}"));
            Ok(false)
        }
    }
}

/// docent's own settings of the user.
fn own_settings_file() -> Option<PathBuf> {
    user_config_file(&variable)
}

/// The files with hooks of the clients that are connected.
fn list_files(place: &SetupPlace<'_>, files: &[SettingsFile]) -> Vec<HookFile> {
    // The hooks of a client with docent's plugin are in the plugin.
    let files = files.iter().filter(|file| find_carrier(place, file).is_none());
    files
        .filter_map(|file| file.client.hook_file(file.scope, place.machine))
        .collect()
}

/// The hooks that `--hooks` names. `None` without the flag.
pub(super) fn named_parts(place: &SetupPlace<'_>) -> anyhow::Result<Option<Vec<HookPart>>> {
    let Some(list) = place.given.get_one::<String>("hooks") else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for name in list.split(',') {
        let Some(part) = HookPart::from_name(name.trim()) else {
            let names = HookPart::ALL.map(HookPart::name).join(", ");
            bail!("there is no hook {name}; there are {names}");
        };
        parts.push(part);
    }
    Ok(Some(parts))
}

/// The hooks that are wanted: those that the flag names, or else those that the user says yes to. `None` if
/// there are none, or nobody can be asked.
fn choose_parts(place: &SetupPlace<'_>, files: &[HookFile]) -> anyhow::Result<Option<Vec<HookPart>>> {
    let named = named_parts(place)?;
    let is_silent = place.given.get_flag("no-hooks") || place.given.get_flag("yes");
    // A user who has hooks was asked before; `--hooks` changes them.
    let is_new = files.iter().any(|file| !file.has_hooks());
    if named.is_some() || is_silent || !is_new || !io::stdin().is_terminal() {
        return Ok(named);
    }
    let mut wanted = Vec::new();
    for part in HookPart::ALL {
        let clients: Vec<&str> = files
            .iter()
            .filter(|file| file.client.hook_parts().contains(&part))
            .map(|file| file.client.title())
            .collect();
        if !clients.is_empty()
            && ask(&format!(
                "{}: {} [y/N] ",
                clients.join(", "),
                question(part, place)
            ))?
        {
            wanted.push(part);
        }
    }
    Ok(Some(wanted).filter(|wanted| !wanted.is_empty()))
}

fn question(part: HookPart, place: &SetupPlace<'_>) -> String {
    match part {
        HookPart::Shell => "answer grep, rg, find and git in the shell? A hook replaces such a command by `docent sh`, \
                            which only reads and gives the same matches in less text. Claude Code also gets the \
                            rule Bash(docent sh:*), so that it runs this without asking, as it does with grep; \
                            your rules about grep and about files stay in force."
            .to_owned(),
        HookPart::Session => {
            "tell the model at the start of a session what the project is, in up to 600 characters?".to_owned()
        }
        HookPart::Search => "add a line to a search of the client's own that found nothing, or too much?".to_owned(),
        HookPart::Read => {
            let gain = describe_read_gain(place.settings).map_or_else(String::new, |gain| format!(" ({gain})"));
            format!(
                "answer the first read of a whole source file of more than 600 lines with its first 120 lines and its \
                 outline? The same read once more gives the whole file{gain}."
            )
        }
    }
}

fn next_step(client: Client) -> &'static str {
    match client {
        Client::Codex => "codex runs them once you have trusted them with /hooks",
        Client::Cursor => "Cursor takes them up at once",
        _ => "they run from the next session on",
    }
}
