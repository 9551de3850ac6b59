//! MCP clients on this machine: which are installed, where their settings files are, and docent's entry in
//! them.
//!
//! Left out: the edit of a file's text (`core::client_config`), and the environment, which [`Machine`] hands
//! in. The paths are those of the clients, not of a platform convention, so that no crate for base
//! directories serves here.
//!
//! Invariant: a change touches docent's entry and nothing else in a client's file, and is written only if the
//! file is still as it was when the change was planned. The first change keeps a backup beside the file.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use docent_core::client_config::{self, EditRefused, Entry, EntryLocation, FileFormat, Value};

use crate::files::{read_own, replace_like};

/// A client that docent can be added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    VsCode,
    Gemini,
    Windsurf,
    Zed,
    Opencode,
    Copilot,
}

/// The projects that an entry applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsScope {
    /// All projects of this user.
    User,
    /// This project, for everybody who has its files.
    Project,
}

/// The parts of the machine that decide where clients are.
pub struct Machine<'a> {
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The directories of `PATH`.
    pub search: &'a [PathBuf],
    /// The project's directory.
    pub root: &'a Path,
    /// The path of this program.
    pub program: &'a Path,
}

/// A client's file with its list of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    pub client: Client,
    pub scope: SettingsScope,
    pub path: PathBuf,
    form: FileFormat,
    keys: &'static [&'static str],
}

/// A planned change of a settings file.
#[derive(Clone, Debug)]
pub struct SettingsChange {
    pub file: SettingsFile,
    /// The text now, `None` if there is no file.
    pub before: Option<String>,
    /// The text afterwards, `None` if the file is deleted.
    pub after: Option<String>,
}

/// Why a file is not changed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{path}:{refused}", path = path.display())]
    Refused { path: PathBuf, refused: EditRefused },
    #[error("{path} has changed meanwhile; run it again", path = path.display())]
    Raced { path: PathBuf },
    #[error("{path} was not written by docent; move it away first", path = path.display())]
    Foreign { path: PathBuf },
}

/// docent's key among a client's servers, and the name of its program.
const NAME: &str = "docent";

impl Client {
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Cursor,
        Self::VsCode,
        Self::Gemini,
        Self::Windsurf,
        Self::Zed,
        Self::Opencode,
        Self::Copilot,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::Opencode => "opencode",
            Self::Copilot => "Copilot CLI",
        }
    }

    /// True if a model that writes code reads the answers. It gets them in the compact form.
    fn is_coding_agent(self) -> bool {
        self != Self::ClaudeDesktop
    }

    /// The scope unless the user names one. Editors start a user's servers outside of any project, so that
    /// only a project's own file says which project is meant.
    pub fn default_scope(self) -> SettingsScope {
        match self {
            Self::Cursor | Self::VsCode => SettingsScope::Project,
            _ => SettingsScope::User,
        }
    }

    /// The user's next step after docent was added.
    pub fn next_step(self, scope: SettingsScope) -> &'static str {
        match (self, scope) {
            (Self::ClaudeCode, SettingsScope::Project) => "start `claude` here once and allow the server",
            (Self::Codex, SettingsScope::Project) => "codex reads it once the project is trusted",
            (Self::ClaudeDesktop, _) => "quit and start it again; it overwrites its file while it runs",
            (Self::Cursor, _) => "enable docent in Cursor's settings, under MCP",
            (Self::VsCode, _) => "VS Code offers to start it when the file is opened",
            (Self::Windsurf, _) => "refresh the servers in its MCP panel",
            (Self::Zed, _) => "Zed takes it up at once",
            _ => "it is there with the next start",
        }
    }

    /// Whether it seems to be installed: its program is in `PATH`, or one of its directories exists.
    pub fn is_installed(self, machine: &Machine<'_>) -> bool {
        let (programs, directories): (&[&str], Vec<Option<PathBuf>>) = match self {
            Self::ClaudeCode => (
                &["claude"],
                vec![machine.in_home(".claude"), machine.in_home(".claude.json")],
            ),
            Self::ClaudeDesktop => (&[], vec![machine.application_directory("Claude")]),
            Self::Codex => (&["codex"], vec![machine.codex_directory()]),
            Self::Cursor => (
                &["cursor", "cursor-agent"],
                vec![
                    machine.in_home(".cursor"),
                    machine.application_directory("Cursor"),
                    Some(machine.root.join(".cursor")),
                ],
            ),
            Self::VsCode => (
                &["code", "code-insiders", "codium"],
                vec![
                    machine.application_directory("Code"),
                    Some(machine.root.join(".vscode")),
                ],
            ),
            Self::Gemini => (&["gemini"], vec![machine.gemini_file()]),
            Self::Windsurf => (
                &["windsurf", "devin"],
                vec![machine.in_home(".codeium/windsurf"), machine.in_config("devin")],
            ),
            Self::Zed => (&["zed", "zeditor", "zedit"], vec![machine.zed_directory()]),
            Self::Opencode => (&["opencode"], vec![machine.in_config("opencode")]),
            Self::Copilot => (&["copilot"], vec![machine.copilot_directory()]),
        };
        programs.iter().any(|program| machine.has_program(program))
            || directories
                .into_iter()
                .flatten()
                .any(|directory| directory.exists())
    }

    /// Its settings file. `None` if it has none of this scope, or the user has no home directory.
    pub fn settings_file(self, scope: SettingsScope, machine: &Machine<'_>) -> Option<SettingsFile> {
        let (form, keys): (FileFormat, &'static [&'static str]) = match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Copilot => (FileFormat::Json, &["mcpServers"]),
            Self::Codex => (FileFormat::Toml, &["mcp_servers"]),
            // Gemini accepts comments but no trailing comma. Edits follow the file, and add none of their
            // own.
            Self::Cursor | Self::Gemini | Self::Windsurf => (FileFormat::Jsonc, &["mcpServers"]),
            Self::VsCode => (FileFormat::Jsonc, &["servers"]),
            Self::Zed => (FileFormat::Jsonc, &["context_servers"]),
            Self::Opencode => (FileFormat::Jsonc, &["mcp"]),
        };
        let inside = |folder: Option<PathBuf>, name: &str| folder.map(|folder| folder.join(name));
        let project = |name: &str| Some(machine.root.join(name));
        let path = match (self, scope) {
            (Self::ClaudeCode, SettingsScope::User) => machine.claude_file(),
            (Self::ClaudeCode, SettingsScope::Project) => project(".mcp.json"),
            (Self::ClaudeDesktop, SettingsScope::User) => inside(
                machine.application_directory("Claude"),
                "claude_desktop_config.json",
            ),
            (Self::ClaudeDesktop | Self::Copilot, SettingsScope::Project) => None,
            (Self::Codex, SettingsScope::User) => inside(machine.codex_directory(), "config.toml"),
            (Self::Codex, SettingsScope::Project) => project(".codex/config.toml"),
            (Self::Cursor, SettingsScope::User) => machine.in_home(".cursor/mcp.json"),
            (Self::Cursor, SettingsScope::Project) => project(".cursor/mcp.json"),
            (Self::VsCode, SettingsScope::User) => {
                inside(machine.application_directory("Code"), "User/mcp.json")
            }
            (Self::VsCode, SettingsScope::Project) => project(".vscode/mcp.json"),
            (Self::Gemini, SettingsScope::User) => machine.gemini_file(),
            (Self::Gemini, SettingsScope::Project) => project(".gemini/settings.json"),
            (Self::Windsurf, SettingsScope::User) => machine.windsurf_file(),
            (Self::Windsurf, SettingsScope::Project) => project(".devin/mcp_config.json"),
            (Self::Zed, SettingsScope::User) => inside(machine.zed_directory(), "settings.json"),
            (Self::Zed, SettingsScope::Project) => project(".zed/settings.json"),
            (Self::Opencode, SettingsScope::User) => machine
                .in_config("opencode")
                .map(|folder| choose_json_file(&folder, "opencode")),
            (Self::Opencode, SettingsScope::Project) => Some(choose_json_file(machine.root, "opencode")),
            (Self::Copilot, SettingsScope::User) => inside(machine.copilot_directory(), "mcp-config.json"),
        };
        Some(SettingsFile {
            client: self,
            scope,
            path: path?,
            form,
            keys,
        })
    }

    /// docent's entry for this client: how to start the server.
    pub fn entry(self, scope: SettingsScope, machine: &Machine<'_>) -> Entry {
        let text = |text: &str| Value::Text(text.to_owned());
        let (program, mut arguments) = match machine.runner() {
            Some((runner, package)) => (runner, package),
            None => (machine.program_for(scope), Vec::new()),
        };
        arguments.push("serve".to_owned());
        if self.is_coding_agent() {
            arguments.push("--compact".to_owned());
        }
        let root = machine.root.display().to_string();
        match (self, scope) {
            (Self::VsCode | Self::Cursor, SettingsScope::Project) => {
                arguments.extend(["--root".to_owned(), "${workspaceFolder}".to_owned()]);
            }
            // These clients start servers outside of any project, so that the root must be named.
            (Self::VsCode | Self::Cursor | Self::ClaudeDesktop | Self::Windsurf, _) => {
                arguments.extend(["--root".to_owned(), root]);
            }
            _ => {}
        }
        let field = |name: &str, value: Value| (name.to_owned(), value);
        match self {
            Self::Opencode => {
                let command = [vec![program], arguments].concat();
                vec![
                    field("type", text("local")),
                    field("command", Value::List(command)),
                ]
            }
            Self::Copilot => vec![
                field("type", text("local")),
                field("command", text(&program)),
                field("args", Value::List(arguments)),
                field("tools", Value::List(vec!["*".to_owned()])),
            ],
            Self::ClaudeCode | Self::VsCode | Self::Cursor => vec![
                field("type", text("stdio")),
                field("command", text(&program)),
                field("args", Value::List(arguments)),
            ],
            _ => vec![
                field("command", text(&program)),
                field("args", Value::List(arguments)),
            ],
        }
    }
}

/// `STEM.jsonc` if only that file exists, else `STEM.json`.
fn choose_json_file(folder: &Path, stem: &str) -> PathBuf {
    let commented = folder.join(format!("{stem}.jsonc"));
    let plain = folder.join(format!("{stem}.json"));
    if commented.exists() && !plain.exists() {
        commented
    } else {
        plain
    }
}

impl Machine<'_> {
    /// The directory that a variable names. Relative values are ignored.
    fn directory_from(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    /// A path below the home directory.
    pub(crate) fn in_home(&self, below: &str) -> Option<PathBuf> {
        let home = self
            .directory_from("HOME")
            .or_else(|| self.directory_from("USERPROFILE"))?;
        Some(home.join(below))
    }

    /// A path in the configuration directory of command line programs (XDG, or roaming data on Windows).
    pub(crate) fn in_config(&self, below: &str) -> Option<PathBuf> {
        let roaming = || self.directory_from("APPDATA").filter(|_| cfg!(windows));
        let config = self.directory_from("XDG_CONFIG_HOME").or_else(roaming);
        Some(config.or_else(|| self.in_home(".config"))?.join(below))
    }

    /// The settings directory of a graphical program.
    fn application_directory(&self, name: &str) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            self.in_home(&format!("Library/Application Support/{name}"))
        } else {
            self.in_config(name)
        }
    }

    pub(crate) fn claude_file(&self) -> Option<PathBuf> {
        match self.directory_from("CLAUDE_CONFIG_DIR") {
            Some(folder) => Some(folder.join(".claude.json")),
            None => self.in_home(".claude.json"),
        }
    }

    pub(crate) fn codex_directory(&self) -> Option<PathBuf> {
        self.directory_from("CODEX_HOME")
            .or_else(|| self.in_home(".codex"))
    }

    pub(crate) fn copilot_directory(&self) -> Option<PathBuf> {
        self.directory_from("COPILOT_HOME")
            .or_else(|| self.in_home(".copilot"))
    }

    /// The directory of Claude Code's own settings. The list of servers is elsewhere.
    pub(crate) fn claude_directory(&self) -> Option<PathBuf> {
        self.directory_from("CLAUDE_CONFIG_DIR")
            .or_else(|| self.in_home(".claude"))
    }

    pub(crate) fn gemini_file(&self) -> Option<PathBuf> {
        match self.directory_from("GEMINI_CLI_HOME") {
            Some(folder) => Some(folder.join(".gemini/settings.json")),
            None => self.in_home(".gemini/settings.json"),
        }
    }

    fn zed_directory(&self) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            self.in_home(".config/zed")
        } else {
            self.in_config(if cfg!(windows) { "Zed" } else { "zed" })
        }
    }

    /// Newer versions use the directory of their other name; the older one wins while it exists.
    fn windsurf_file(&self) -> Option<PathBuf> {
        let older = self.in_home(".codeium/windsurf")?;
        let newer = self.in_config("devin")?;
        let folder = if newer.is_dir() && !older.is_dir() {
            newer
        } else {
            older
        };
        Some(folder.join("mcp_config.json"))
    }

    /// How this program is started by a client. A project's file is shared, and a path of this machine
    /// would be wrong on others. A user's file gets the full path, because graphical clients do not have
    /// the shell's `PATH`.
    pub fn program_for(&self, scope: SettingsScope) -> String {
        match scope {
            SettingsScope::Project if self.has_program(NAME) => NAME.to_owned(),
            _ => self.program.display().to_string(),
        }
    }

    /// The package runner in whose cache this program lies, and its arguments.
    fn runner(&self) -> Option<(String, Vec<String>)> {
        let (runner, package) = client_config::package_runner(self.program.to_str()?)?.split_first()?;
        Some((
            (*runner).to_owned(),
            package.iter().map(|&word| word.to_owned()).collect(),
        ))
    }

    /// Whether `PATH` has a program of this name.
    pub fn has_program(&self, program: &str) -> bool {
        let names = [
            program.to_owned(),
            format!("{program}.exe"),
            format!("{program}.cmd"),
        ];
        self.search
            .iter()
            .any(|folder| names.iter().any(|name| folder.join(name).is_file()))
    }
}

impl SettingsFile {
    fn location(&self) -> EntryLocation<'_> {
        EntryLocation {
            form: self.form,
            keys: self.keys,
            name: NAME,
        }
    }

    fn refused_error(&self, refused: EditRefused) -> ClientError {
        ClientError::Refused {
            path: self.path.clone(),
            refused,
        }
    }

    fn io_error(&self, error: io::Error) -> ClientError {
        ClientError::Io {
            path: self.path.clone(),
            error,
        }
    }

    /// Its text, `None` if it does not exist.
    fn read(&self) -> Result<Option<String>, ClientError> {
        read_own(&self.path).map_err(|error| self.io_error(error))
    }

    /// docent's entry in the file, `None` if there is none.
    pub fn entry(&self) -> Result<Option<Entry>, ClientError> {
        match self.read()? {
            None => Ok(None),
            Some(text) => {
                client_config::find(&text, &self.location()).map_err(|refused| self.refused_error(refused))
            }
        }
    }

    /// The text of a new file that holds docent's entry alone.
    pub fn new_text(&self, entry: &Entry) -> String {
        let new = client_config::put("", &self.location(), entry);
        new.ok().flatten().unwrap_or_default()
    }

    /// A text with the entry that `text` has. `None` if it has none.
    pub(crate) fn with_entry_of(&self, base: &str, text: &str) -> Option<String> {
        let entry = client_config::find(text, &self.location()).ok()??;
        client_config::put(base, &self.location(), &entry).ok()?
    }

    /// Plans to add or update docent's entry. `None` if it is up to date.
    pub fn plan_put(&self, entry: &Entry) -> Result<Option<SettingsChange>, ClientError> {
        let before = self.read()?;
        let text = before.as_deref().unwrap_or_default();
        let edited = client_config::put(text, &self.location(), entry)
            .map_err(|refused| self.refused_error(refused))?;
        Ok(self.planned_change(before, edited))
    }

    /// Plans to remove docent's entry, with the tables and the file that were created for it. `None` without
    /// an entry.
    pub fn plan_removal(&self) -> Result<Option<SettingsChange>, ClientError> {
        self.plan_removal_from(self.read()?)
    }

    /// The same for the text that the file will have after another change.
    pub fn plan_removal_from(&self, text: Option<String>) -> Result<Option<SettingsChange>, ClientError> {
        let Some(before) = text else {
            return Ok(None);
        };
        let Some(entry) =
            client_config::find(&before, &self.location()).map_err(|refused| self.refused_error(refused))?
        else {
            return Ok(None);
        };
        // Without a backup docent created the file. If nobody has changed it since, delete it.
        let backup = read_own(&self.backup_path()).map_err(|error| self.io_error(error))?;
        if backup.is_none() && before == self.new_text(&entry) {
            return Ok(Some(SettingsChange {
                file: self.clone(),
                before: Some(before),
                after: None,
            }));
        }
        let edited = client_config::take_out(&before, &self.location(), backup.as_deref());
        let edited = edited.map_err(|refused| self.refused_error(refused))?;
        Ok(self.planned_change(Some(before), edited))
    }

    fn planned_change(&self, before: Option<String>, edited: Option<String>) -> Option<SettingsChange> {
        edited.map(|after| SettingsChange {
            file: self.clone(),
            before,
            after: Some(after),
        })
    }

    /// The path of the backup: the file as it was before docent was added.
    pub fn backup_path(&self) -> PathBuf {
        backup_path(&self.path)
    }
}

impl SettingsChange {
    /// Writes the change. A backup is kept if the file had no entry before; a symbolic link stays one.
    pub fn apply(&self) -> Result<(), ClientError> {
        let file = &self.file;
        if file.read()? != self.before {
            return Err(ClientError::Raced {
                path: file.path.clone(),
            });
        }
        let had_entry = match &self.before {
            Some(text) => client_config::find(text, &file.location()).is_ok_and(|entry| entry.is_some()),
            None => true,
        };
        let backup = if had_entry { Backup::Keep } else { Backup::Make };
        write_change(
            &file.path,
            [self.before.as_deref(), self.after.as_deref()],
            backup,
        )
        .map_err(|error| file.io_error(error))
    }
}

/// Whether the text before a change becomes the backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backup {
    Make,
    Keep,
}

/// The path of a file's backup.
pub(crate) fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-docent");
    path.with_file_name(name)
}

/// Writes a file, or deletes it without a text afterwards. A symbolic link stays one. A backup that equals
/// the new text is deleted.
pub(crate) fn write_change(
    path: &Path,
    [before, after]: [Option<&str>; 2],
    backup: Backup,
) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let Some(after) = after else {
        return fs::remove_file(&target);
    };
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let copy = backup_path(path);
    if let (Some(before), Backup::Make) = (before, backup) {
        replace_like(&copy, before.as_bytes(), fs::metadata(&target).ok().as_ref())?;
    }
    replace_like(&target, after.as_bytes(), fs::metadata(&target).ok().as_ref())?;
    if read_own(&copy)?.as_deref() == Some(after) {
        // The file is as it was before docent was added, so that the backup has no use any more.
        fs::remove_file(&copy)?;
    }
    Ok(())
}
