//! `docent setup`: adds docent to the settings of the clients on this machine, or removes it again.
//!
//! How each client's file is edited is in `core::client_config`.
//!
//! Invariant: no file is written before the user has seen the change and agreed.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use docent_core::agent_instructions;
use docent_engine::clients::{Client, Machine, SettingsChange, SettingsFile, SettingsScope};
use docent_engine::files::read_own;
use docent_engine::trust::TrustDecision;

use super::flags::{flag, variable};
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

/// A file to write.
enum Step {
    Client(Box<SettingsChange>),
    Guide(AgentGuide),
}

/// `AGENTS.md` or `CLAUDE.md`, with our block or without it.
struct AgentGuide {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
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
    if files.is_empty() && given.get_flag("remove") {
        terminal::announce("docent is in no client's settings");
        return Ok(ExitCode::SUCCESS);
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
        for file in &files {
            page.heading(&format!("{}: {}", file.client.title(), file.path.display()))?;
            page.line(&file.new_text(&file.client.entry(file.scope, &machine)))?;
        }
        page.finish()?;
        return Ok(ExitCode::SUCCESS);
    }

    let is_removing = given.get_flag("remove");
    let (mut steps, mut failed) = (Vec::new(), false);
    for file in &files {
        let title = file.client.title();
        let change = if is_removing {
            file.plan_removal()
        } else {
            file.plan_put(&file.client.entry(file.scope, &machine))
        };
        match change {
            Ok(Some(change)) => {
                page.heading(&format!("{title}: {}", file.path.display()))?;
                show_diff(&mut page, change.before.as_deref(), change.after.as_deref())?;
                steps.push(Step::Client(Box::new(change)));
            }
            Ok(None) if is_removing => page.dim(&format!("{title}: docent is not there"))?,
            Ok(None) => page.dim(&format!("{title}: docent is there already"))?,
            Err(error) => {
                failed = true;
                terminal::complain(&format!("{title} is left alone: {error}"));
            }
        }
    }
    if !is_at_home && (given.get_flag("guide") || is_removing) {
        let guide = AgentGuide::of(settings.root.path(), is_removing)?;
        if guide.before != guide.after {
            page.heading(&guide.path.display().to_string())?;
            show_diff(&mut page, guide.before.as_deref(), guide.after.as_deref())?;
            steps.push(Step::Guide(guide));
        }
    }
    page.finish()?;
    if !steps.is_empty() {
        if !given.get_flag("yes") && !ask_to_write()? {
            terminal::announce("Nothing was written");
            return Ok(ExitCode::FAILURE);
        }
        for step in &steps {
            failed |= !step.apply(is_removing);
        }
    }
    if !is_removing && !is_at_home && !given.get_flag("yes") {
        failed |= !ask_for_trust(settings)?;
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
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

/// Shows the lines that differ, with a few around them.
fn show_diff(page: &mut TerminalPage, before: Option<&str>, after: Option<&str>) -> io::Result<()> {
    const CONTEXT_LINES: usize = 2;
    let lines =
        |text: Option<&str>| -> Vec<String> { text.unwrap_or_default().lines().map(str::to_owned).collect() };
    let (before, after) = (lines(before), lines(after));
    let same = |(a, b): &(&String, &String)| a == b;
    let first = before.iter().zip(&after).take_while(same).count();
    let rest = before.len().min(after.len()) - first;
    let last = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest)
        .take_while(same)
        .count();
    let mut diff = String::from("```diff\n");
    let mut line = |mark: char, text: &str| diff.push_str(&format!("{mark} {text}\n"));
    for text in &before[first.saturating_sub(CONTEXT_LINES)..first] {
        line(' ', text);
    }
    for text in &before[first..before.len() - last] {
        line('-', text);
    }
    for text in &after[first..after.len() - last] {
        line('+', text);
    }
    for text in after[after.len() - last..].iter().take(CONTEXT_LINES) {
        line(' ', text);
    }
    page.markdown(&(diff + "```"))
}

/// Asks on the terminal.
fn ask_to_write() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!(
            "nobody can be asked here; run it with --yes to write, or with --print to see what would be written"
        );
    }
    ask("Write this? [y/N] ")
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

/// Asks a question on the terminal, and returns true for a yes.
fn ask(question: &str) -> anyhow::Result<bool> {
    let mut stderr = io::stderr();
    write!(stderr, "{question}")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

impl Step {
    /// Writes the file and reports it. Returns false if it could not be written.
    fn apply(&self, is_removing: bool) -> bool {
        match self {
            Self::Client(change) => {
                let SettingsFile {
                    client, scope, path, ..
                } = &change.file;
                match change.apply() {
                    Ok(()) if is_removing => {
                        let backup = change.file.backup_path();
                        let beside = if backup.exists() {
                            format!("; the file as it was before is still {}", backup.display())
                        } else {
                            String::new()
                        };
                        terminal::announce(&format!(
                            "{}: docent is out of {}{beside}",
                            client.title(),
                            path.display()
                        ));
                    }
                    Ok(()) => terminal::announce(&format!(
                        "{}: docent is in {}; {}",
                        client.title(),
                        path.display(),
                        client.next_step(*scope)
                    )),
                    Err(error) => {
                        terminal::complain(&error.to_string());
                        return false;
                    }
                }
            }
            Self::Guide(guide) => {
                if let Err(error) = guide.write() {
                    terminal::complain(&format!("{}: {error}", guide.path.display()));
                    return false;
                }
                let what = if guide.after.is_some() { "written" } else { "gone" };
                terminal::announce(&format!("{} is {what}", guide.path.display()));
            }
        }
        true
    }
}

impl AgentGuide {
    fn of(root: &Path, is_removing: bool) -> anyhow::Result<Self> {
        let (agents, claude) = (root.join("AGENTS.md"), root.join("CLAUDE.md"));
        let path = if claude.exists() && !agents.exists() {
            claude
        } else {
            agents
        };
        let before = read_own(&path).with_context(|| path.display().to_string())?;
        let text = before.clone().unwrap_or_default();
        let after = if is_removing {
            agent_instructions::remove_block(&text)
        } else {
            agent_instructions::insert_block(&text)
        };
        let after = Some(after).filter(|after| !after.is_empty() || before.as_deref() == Some(""));
        Ok(Self { path, before, after })
    }

    fn write(&self) -> io::Result<()> {
        match &self.after {
            Some(text) => std::fs::write(&self.path, text),
            None => std::fs::remove_file(&self.path),
        }
    }
}
