//! The steps of `docent setup`: what is shown, asked and written for each file.
//!
//! Left out: which files and which changes (`setup`, `hook_setup`).
//!
//! Invariant: no file is written before the user has seen the change and agreed.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ArgMatches;
use docent_core::agent_instructions::{self, InstructionBlock};
use docent_engine::clients::{Client, Machine, SettingsChange, SettingsFile, SettingsScope};
use docent_engine::files::read_own;
use docent_engine::hook_files::HookChange;
use docent_engine::plugin_files::PluginChange;

use crate::settings::Settings;
use crate::terminal::{self, TerminalPage};

/// What all steps of a setup need.
pub(super) struct SetupPlace<'a> {
    pub(super) settings: &'a Settings,
    pub(super) machine: &'a Machine<'a>,
    pub(super) given: &'a ArgMatches,
    /// The user's home stands in for a project.
    pub(super) is_at_home: bool,
}

impl SetupPlace<'_> {
    /// Whether a client is named by `--client`, or none is.
    pub(super) fn names(&self, client: Client) -> bool {
        match self.given.get_many::<String>("client") {
            Some(mut names) => names.any(|name| name == client.name()),
            None => true,
        }
    }

    /// Where `--remove` looks: in the project, and in the user's settings unless `--project` is given.
    pub(super) fn removal_scopes(&self) -> &'static [SettingsScope] {
        if self.given.get_flag("project") {
            &[SettingsScope::Project]
        } else {
            &[SettingsScope::User, SettingsScope::Project]
        }
    }
}

/// A file to write.
pub(super) enum Step {
    Client(Box<SettingsChange>),
    Hooks(HookStep),
    Guide(AgentGuide),
    Plugin(PluginStep),
    /// The entry is removed because a plugin carries the server.
    MovedClient(Box<SettingsChange>),
    /// The hooks are removed because a plugin carries them.
    MovedHooks(HookStep),
}

/// A file with hooks to write, and the client that has it.
pub(super) struct HookStep {
    pub(super) title: &'static str,
    pub(super) change: HookChange,
    /// What the user does then.
    pub(super) next: &'static str,
}

/// docent's files of one client to write or to delete.
pub(super) struct PluginStep {
    pub(super) title: &'static str,
    pub(super) change: PluginChange,
}

/// `AGENTS.md` or `CLAUDE.md`, with our blocks or without them.
pub(super) struct AgentGuide {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

/// Asks and writes. Returns false if the user does not agree.
pub(super) fn write_steps(place: &SetupPlace<'_>, steps: &[Step], failed: &mut bool) -> anyhow::Result<bool> {
    if steps.is_empty() {
        return Ok(true);
    }
    if !place.given.get_flag("yes") && !ask_to_write()? {
        terminal::announce("Nothing was written");
        return Ok(false);
    }
    for step in steps {
        *failed |= !step.apply(place.given.get_flag("remove"));
    }
    Ok(true)
}

/// Plans the blocks of the instructions for agents. Without any, all are removed.
pub(super) fn plan_guide(
    place: &SetupPlace<'_>,
    blocks: &[InstructionBlock],
    steps: &mut Vec<Step>,
    page: &mut TerminalPage,
) -> anyhow::Result<()> {
    let guide = AgentGuide::plan(place.settings.root.path(), blocks)?;
    if guide.before != guide.after {
        page.heading(&guide.path.display().to_string())?;
        show_diff(page, guide.before.as_deref(), guide.after.as_deref())?;
        steps.push(Step::Guide(guide));
    }
    Ok(())
}

/// Shows the lines that differ, with a few around them.
pub(super) fn show_diff(
    page: &mut TerminalPage,
    before: Option<&str>,
    after: Option<&str>,
) -> io::Result<()> {
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

/// Asks a question on the terminal, and returns true for a yes.
pub(super) fn ask(question: &str) -> anyhow::Result<bool> {
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
            Self::Plugin(step) => return step.apply(),
            Self::MovedClient(change) => {
                let file = &change.file;
                if let Err(error) = change.apply() {
                    terminal::complain(&error.to_string());
                    return false;
                }
                terminal::announce(&format!(
                    "{}: docent is out of {}; the plugin has it",
                    file.client.title(),
                    file.path.display()
                ));
            }
            Self::MovedHooks(HookStep { title, change, next }) => {
                if let Err(error) = change.apply() {
                    terminal::complain(&error.to_string());
                    return false;
                }
                let path = change.path.display();
                terminal::announce(&format!("{title}: docent's hooks are out of {path}; {next}"));
            }
            Self::Hooks(HookStep { title, change, next }) => {
                let path = change.path.display();
                if let Err(error) = change.apply() {
                    terminal::complain(&error.to_string());
                    return false;
                }
                terminal::announce(&if is_removing {
                    format!("{title}: docent's hooks are out of {path}")
                } else {
                    format!("{title}: docent's hooks are in {path}; {next}")
                });
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

impl PluginStep {
    /// Writes the files and reports them. Returns false if that failed.
    fn apply(&self) -> bool {
        if let Err(error) = self.change.apply() {
            terminal::complain(&error.to_string());
            return false;
        }
        let written = self
            .change
            .files
            .iter()
            .filter(|file| file.after.is_some())
            .count();
        let deleted = self.change.files.len() - written;
        let mut said = Vec::new();
        for (count, what) in [(written, "written"), (deleted, "deleted")] {
            if count > 0 {
                said.push(format!("{count} of docent's files {what}"));
            }
        }
        terminal::announce(&format!("{}: {}", self.title, said.join(", ")));
        true
    }
}

impl AgentGuide {
    /// The file with these blocks added. Without any, all are removed.
    fn plan(root: &Path, blocks: &[InstructionBlock]) -> anyhow::Result<Self> {
        let (agents, claude) = (root.join("AGENTS.md"), root.join("CLAUDE.md"));
        let path = if claude.exists() && !agents.exists() {
            claude
        } else {
            agents
        };
        let before = read_own(&path).with_context(|| path.display().to_string())?;
        let mut after = before.clone().unwrap_or_default();
        for block in blocks {
            after = agent_instructions::insert_block(&after, *block);
        }
        for block in InstructionBlock::ALL
            .into_iter()
            .rev()
            .filter(|_| blocks.is_empty())
        {
            after = agent_instructions::remove_block(&after, block);
        }
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
