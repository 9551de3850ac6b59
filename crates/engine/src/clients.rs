//! MCP clients on this machine: which there are, where they keep their settings, and how docent stands in them.
//!
//! Invariant: of a client's file nothing is changed but docent's entry. The file as it was is kept beside it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use docent_core::client_config::{self, EditRefused, Entry, EntryLocation, FileFormat, Value};

use crate::files::{read_own, replace_like};

/// A client that docent knows how to be added to.
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
}

/// For whom an entry counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsScope {
    /// Everything this user works on.
    User,
    /// Whoever works on this project.
    Project,
}

/// What of the machine decides where clients are.
pub struct Machine<'a> {
    /// Looks a variable up.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Directories with programs.
    pub search: &'a [PathBuf],
    /// The project's directory.
    pub root: &'a Path,
    /// This program.
    pub program: &'a Path,
}

/// The file of a client in which its servers stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    pub client: Client,
    pub scope: SettingsScope,
    pub path: PathBuf,
    form: FileFormat,
    keys: &'static [&'static str],
}

/// A change of such a file, worked out and not yet made.
#[derive(Clone, Debug)]
pub struct SettingsChange {
    pub file: SettingsFile,
    /// Nothing where there is no file.
    pub before: Option<String>,
    /// Nothing where the file goes.
    pub after: Option<String>,
}

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{path}:{refused}", path = path.display())]
    Refused { path: PathBuf, refused: EditRefused },
    #[error("{path} has changed meanwhile; run it again", path = path.display())]
    Raced { path: PathBuf },
}

/// What docent is called among a client's servers.
const NAME: &str = "docent";

impl Client {
    pub const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Cursor,
        Self::VsCode,
        Self::Gemini,
        Self::Windsurf,
        Self::Zed,
        Self::Opencode,
    ];

    /// What it is called on the command line.
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
        }
    }

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
        }
    }

    /// For whom docent is added where nothing is said. Editors start a user's servers outside of any project, so that only a
    /// project's own file tells which one is meant.
    pub fn usual_scope(self) -> SettingsScope {
        match self {
            Self::Cursor | Self::VsCode => SettingsScope::Project,
            _ => SettingsScope::User,
        }
    }

    /// What there is to do once docent is in its file.
    pub fn afterwards(self, scope: SettingsScope) -> &'static str {
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

    /// Whether it seems to be installed: its program can be found, or it has left a directory behind.
    pub fn is_here(self, machine: &Machine<'_>) -> bool {
        let (programs, directories): (&[&str], Vec<Option<PathBuf>>) = match self {
            Self::ClaudeCode => (
                &["claude"],
                vec![machine.home(".claude"), machine.home(".claude.json")],
            ),
            Self::ClaudeDesktop => (&[], vec![machine.application("Claude")]),
            Self::Codex => (&["codex"], vec![machine.codex()]),
            Self::Cursor => (
                &["cursor", "cursor-agent"],
                vec![
                    machine.home(".cursor"),
                    machine.application("Cursor"),
                    Some(machine.root.join(".cursor")),
                ],
            ),
            Self::VsCode => (
                &["code", "code-insiders", "codium"],
                vec![machine.application("Code"), Some(machine.root.join(".vscode"))],
            ),
            Self::Gemini => (&["gemini"], vec![machine.gemini()]),
            Self::Windsurf => (
                &["windsurf", "devin"],
                vec![machine.home(".codeium/windsurf"), machine.config("devin")],
            ),
            Self::Zed => (&["zed", "zeditor", "zedit"], vec![machine.zed()]),
            Self::Opencode => (&["opencode"], vec![machine.config("opencode")]),
        };
        programs.iter().any(|program| machine.finds(program))
            || directories
                .into_iter()
                .flatten()
                .any(|directory| directory.exists())
    }

    /// Where its servers stand; nothing where it has no such file, or this user has no home.
    pub fn file(self, scope: SettingsScope, machine: &Machine<'_>) -> Option<SettingsFile> {
        let (form, keys): (FileFormat, &'static [&'static str]) = match self {
            Self::ClaudeCode | Self::ClaudeDesktop => (FileFormat::Json, &["mcpServers"]),
            Self::Codex => (FileFormat::Toml, &["mcp_servers"]),
            // Gemini takes comments, and no comma after the last member; none is put there.
            Self::Cursor | Self::Gemini | Self::Windsurf => (FileFormat::Jsonc, &["mcpServers"]),
            Self::VsCode => (FileFormat::Jsonc, &["servers"]),
            Self::Zed => (FileFormat::Jsonc, &["context_servers"]),
            Self::Opencode => (FileFormat::Jsonc, &["mcp"]),
        };
        let inside = |folder: Option<PathBuf>, name: &str| folder.map(|folder| folder.join(name));
        let project = |name: &str| Some(machine.root.join(name));
        let path = match (self, scope) {
            (Self::ClaudeCode, SettingsScope::User) => machine.claude(),
            (Self::ClaudeCode, SettingsScope::Project) => project(".mcp.json"),
            (Self::ClaudeDesktop, SettingsScope::User) => {
                inside(machine.application("Claude"), "claude_desktop_config.json")
            }
            (Self::ClaudeDesktop, SettingsScope::Project) => None,
            (Self::Codex, SettingsScope::User) => inside(machine.codex(), "config.toml"),
            (Self::Codex, SettingsScope::Project) => project(".codex/config.toml"),
            (Self::Cursor, SettingsScope::User) => machine.home(".cursor/mcp.json"),
            (Self::Cursor, SettingsScope::Project) => project(".cursor/mcp.json"),
            (Self::VsCode, SettingsScope::User) => inside(machine.application("Code"), "User/mcp.json"),
            (Self::VsCode, SettingsScope::Project) => project(".vscode/mcp.json"),
            (Self::Gemini, SettingsScope::User) => machine.gemini(),
            (Self::Gemini, SettingsScope::Project) => project(".gemini/settings.json"),
            (Self::Windsurf, SettingsScope::User) => machine.windsurf(),
            (Self::Windsurf, SettingsScope::Project) => project(".devin/mcp_config.json"),
            (Self::Zed, SettingsScope::User) => inside(machine.zed(), "settings.json"),
            (Self::Zed, SettingsScope::Project) => project(".zed/settings.json"),
            (Self::Opencode, SettingsScope::User) => machine
                .config("opencode")
                .map(|folder| one_of(&folder, "opencode")),
            (Self::Opencode, SettingsScope::Project) => Some(one_of(machine.root, "opencode")),
        };
        Some(SettingsFile {
            client: self,
            scope,
            path: path?,
            form,
            keys,
        })
    }

    /// docent as this client starts it.
    pub fn entry(self, scope: SettingsScope, machine: &Machine<'_>) -> Entry {
        let text = |text: &str| Value::Text(text.to_owned());
        // A project's file is for everybody who has it; a client with windows does not know where a user's programs are.
        let program = match scope {
            SettingsScope::Project if machine.finds(NAME) => NAME.to_owned(),
            _ => machine.program.display().to_string(),
        };
        let mut arguments = vec!["serve".to_owned()];
        let root = machine.root.display().to_string();
        match (self, scope) {
            (Self::VsCode | Self::Cursor, SettingsScope::Project) => {
                arguments.extend(["--root".to_owned(), "${workspaceFolder}".to_owned()]);
            }
            // These start servers outside of any project.
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

/// The one of two files that is there, the plain one where none is.
fn one_of(folder: &Path, stem: &str) -> PathBuf {
    let commented = folder.join(format!("{stem}.jsonc"));
    let plain = folder.join(format!("{stem}.json"));
    if commented.exists() && !plain.exists() {
        commented
    } else {
        plain
    }
}

impl Machine<'_> {
    fn directory(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    fn home(&self, below: &str) -> Option<PathBuf> {
        let home = self.directory("HOME").or_else(|| self.directory("USERPROFILE"))?;
        Some(home.join(below))
    }

    /// Where programs that follow the XDG rules keep their settings.
    fn config(&self, below: &str) -> Option<PathBuf> {
        let roaming = || self.directory("APPDATA").filter(|_| cfg!(windows));
        let config = self.directory("XDG_CONFIG_HOME").or_else(roaming);
        Some(config.or_else(|| self.home(".config"))?.join(below))
    }

    /// Where programs with windows keep theirs.
    fn application(&self, name: &str) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            self.home(&format!("Library/Application Support/{name}"))
        } else {
            self.config(name)
        }
    }

    fn claude(&self) -> Option<PathBuf> {
        match self.directory("CLAUDE_CONFIG_DIR") {
            Some(folder) => Some(folder.join(".claude.json")),
            None => self.home(".claude.json"),
        }
    }

    fn codex(&self) -> Option<PathBuf> {
        self.directory("CODEX_HOME").or_else(|| self.home(".codex"))
    }

    fn gemini(&self) -> Option<PathBuf> {
        match self.directory("GEMINI_CLI_HOME") {
            Some(folder) => Some(folder.join(".gemini/settings.json")),
            None => self.home(".gemini/settings.json"),
        }
    }

    fn zed(&self) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            self.home(".config/zed")
        } else {
            self.config(if cfg!(windows) { "Zed" } else { "zed" })
        }
    }

    fn windsurf(&self) -> Option<PathBuf> {
        let older = self.home(".codeium/windsurf")?;
        let newer = self.config("devin")?;
        let folder = if newer.is_dir() && !older.is_dir() {
            newer
        } else {
            older
        };
        Some(folder.join("mcp_config.json"))
    }

    /// Whether a program can be found by its name.
    pub fn finds(&self, program: &str) -> bool {
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
    fn place(&self) -> EntryLocation<'_> {
        EntryLocation {
            form: self.form,
            keys: self.keys,
            name: NAME,
        }
    }

    fn refused(&self, refused: EditRefused) -> ClientError {
        ClientError::Refused {
            path: self.path.clone(),
            refused,
        }
    }

    fn failed(&self, error: io::Error) -> ClientError {
        ClientError::Io {
            path: self.path.clone(),
            error,
        }
    }

    /// Its text; nothing where it is not there.
    fn read(&self) -> Result<Option<String>, ClientError> {
        read_own(&self.path).map_err(|error| self.failed(error))
    }

    /// docent as it stands there.
    pub fn entry(&self) -> Result<Option<Entry>, ClientError> {
        match self.read()? {
            None => Ok(None),
            Some(text) => client_config::find(&text, &self.place()).map_err(|refused| self.refused(refused)),
        }
    }

    /// A new file with docent in it.
    pub fn sample(&self, entry: &Entry) -> String {
        let new = client_config::put("", &self.place(), entry);
        new.ok().flatten().unwrap_or_default()
    }

    /// How the file would be with docent in it; nothing where it is there already.
    pub fn put(&self, entry: &Entry) -> Result<Option<SettingsChange>, ClientError> {
        let before = self.read()?;
        let text = before.as_deref().unwrap_or_default();
        let edited =
            client_config::put(text, &self.place(), entry).map_err(|refused| self.refused(refused))?;
        Ok(self.change(before, edited))
    }

    /// How it would be without docent; nothing where it is not there. What was not in the file before docent came goes with it.
    pub fn take_out(&self) -> Result<Option<SettingsChange>, ClientError> {
        let Some(before) = self.read()? else {
            return Ok(None);
        };
        let Some(entry) =
            client_config::find(&before, &self.place()).map_err(|refused| self.refused(refused))?
        else {
            return Ok(None);
        };
        // A file that docent has made, and nobody has changed since, is not left behind.
        let backup = read_own(&self.backup()).map_err(|error| self.failed(error))?;
        if backup.is_none() && before == self.sample(&entry) {
            return Ok(Some(SettingsChange {
                file: self.clone(),
                before: Some(before),
                after: None,
            }));
        }
        let edited = client_config::take_out(&before, &self.place(), backup.as_deref());
        let edited = edited.map_err(|refused| self.refused(refused))?;
        Ok(self.change(Some(before), edited))
    }

    fn change(&self, before: Option<String>, edited: Option<String>) -> Option<SettingsChange> {
        edited.map(|after| SettingsChange {
            file: self.clone(),
            before,
            after: Some(after),
        })
    }

    /// The file as it was before docent came.
    pub fn backup(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".before-docent");
        self.path.with_file_name(name)
    }
}

impl SettingsChange {
    /// Makes the change. The file as it was is kept beside it, the first time; a link stays a link.
    pub fn make(&self) -> Result<(), ClientError> {
        let file = &self.file;
        if file.read()? != self.before {
            return Err(ClientError::Raced {
                path: file.path.clone(),
            });
        }
        let backup = file.backup();
        let had_entry = match &self.before {
            Some(text) => client_config::find(text, &file.place()).is_ok_and(|entry| entry.is_some()),
            None => true,
        };
        let target = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        let write = || -> io::Result<()> {
            let Some(after) = &self.after else {
                return fs::remove_file(&target);
            };
            if let Some(folder) = target.parent() {
                fs::create_dir_all(folder)?;
            }
            if let (Some(before), false) = (&self.before, had_entry) {
                replace_like(&backup, before.as_bytes(), fs::metadata(&target).ok().as_ref())?;
            }
            replace_like(&target, after.as_bytes(), fs::metadata(&target).ok().as_ref())?;
            if read_own(&backup)?.as_ref() == Some(after) {
                // All is as it was.
                fs::remove_file(&backup)?;
            }
            Ok(())
        };
        write().map_err(|error| file.failed(error))
    }
}
