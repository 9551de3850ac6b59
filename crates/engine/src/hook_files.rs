//! Hooks of docent in the files of coding agents: which events, which file, and how they are added and
//! removed.
//!
//! Some clients have a list of hooks in a file of theirs; others read every file of a folder, so that
//! docent has a file there by itself. What a hook answers is decided by `docent hook`.
//!
//! Left out: clients that cannot run a program at an event.
//!
//! Invariant: a command of a hook ends with success, whatever docent does: a client must never take a
//! missing or older docent for a refusal.

use std::io;
use std::path::{Path, PathBuf};

use docent_core::client_config::{
    self, EditRefused, Entry, EntryLocation, FileFormat, ItemLists, ListItem, Value,
};
use serde_json::{Map, Value as Json, json};

use crate::clients::{Backup, Client, ClientError, Machine, SettingsScope, backup_path, write_change};
use crate::files::read_own;

/// What a hook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPart {
    /// Rewrites shell commands that docent answers.
    Shell,
    /// Says at the start of a session what the project is.
    Session,
    /// Adds a line to a search of the client's own that found nothing, or too much.
    Search,
    /// Answers the first read of a whole large file with its head and its outline.
    Read,
}

/// A client's file with hooks.
#[derive(Clone, Debug)]
pub struct HookFile {
    pub client: Client,
    pub scope: SettingsScope,
    pub path: PathBuf,
    form: HookForm,
}

/// A planned change of a file with hooks, or of docent's own settings.
#[derive(Clone, Debug)]
pub struct HookChange {
    pub path: PathBuf,
    /// The text now, `None` if there is no file.
    pub before: Option<String>,
    /// The text afterwards, `None` if the file is deleted.
    pub after: Option<String>,
    backup: Backup,
}

/// How docent's hooks are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HookForm {
    /// Items in lists of a file that others write, too.
    Lists,
    /// The whole file is docent's.
    OwnFile,
}

/// The rule that lets Claude Code run `docent sh` without asking, as it does with `grep`.
const CLAUDE_RULE: &str = "Bash(docent sh:*)";

/// Seconds that a client waits for a hook, which gives up by itself much earlier.
const TIMEOUT_SECONDS: u64 = 5;

impl HookPart {
    pub const ALL: [Self; 4] = [Self::Shell, Self::Session, Self::Search, Self::Read];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Session => "session",
            Self::Search => "search",
            Self::Read => "read",
        }
    }

    /// The part with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

impl Client {
    /// The parts that this client has events for. Copilot evaluates the user's rules on the command after the
    /// hook, and its rules are flags that a hook cannot see: rewriting would evade them.
    pub fn hook_parts(self) -> &'static [HookPart] {
        use HookPart::{Read, Search, Session, Shell};
        match self {
            Self::ClaudeCode => &[Shell, Session, Search, Read],
            Self::Codex => &[Shell, Session],
            Self::Gemini | Self::Cursor | Self::Opencode => &[Shell, Session, Search],
            Self::Copilot => &[Session, Search],
            Self::ClaudeDesktop | Self::VsCode | Self::Windsurf | Self::Zed => &[],
        }
    }

    /// The file with its hooks. `None` if it has none, or the user has no home directory.
    pub fn hook_file(self, scope: SettingsScope, machine: &Machine<'_>) -> Option<HookFile> {
        let project = |name: &str| Some(machine.root.join(name));
        let (form, path) = match (self, scope) {
            (Self::ClaudeCode, SettingsScope::User) => {
                (HookForm::Lists, machine.claude_directory()?.join("settings.json"))
            }
            (Self::ClaudeCode, SettingsScope::Project) => {
                (HookForm::Lists, project(".claude/settings.json")?)
            }
            (Self::Codex, SettingsScope::User) => {
                (HookForm::Lists, machine.codex_directory()?.join("hooks.json"))
            }
            (Self::Codex, SettingsScope::Project) => (HookForm::Lists, project(".codex/hooks.json")?),
            (Self::Gemini, SettingsScope::User) => (HookForm::Lists, machine.gemini_file()?),
            (Self::Gemini, SettingsScope::Project) => (HookForm::Lists, project(".gemini/settings.json")?),
            (Self::Cursor, SettingsScope::User) => (HookForm::Lists, machine.in_home(".cursor/hooks.json")?),
            (Self::Cursor, SettingsScope::Project) => (HookForm::Lists, project(".cursor/hooks.json")?),
            (Self::Copilot, SettingsScope::User) => (
                HookForm::OwnFile,
                machine.copilot_directory()?.join("hooks/docent.json"),
            ),
            (Self::Copilot, SettingsScope::Project) => {
                (HookForm::OwnFile, project(".github/hooks/docent.json")?)
            }
            (Self::Opencode, SettingsScope::User) => (
                HookForm::OwnFile,
                machine.in_config("opencode/plugins/docent.js")?,
            ),
            (Self::Opencode, SettingsScope::Project) => {
                (HookForm::OwnFile, project(".opencode/plugins/docent.js")?)
            }
            _ => return None,
        };
        Some(HookFile {
            client: self,
            scope,
            path,
            form,
        })
    }

    /// The name of this client in `docent hook NAME`.
    fn hook_name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            other => other.name(),
        }
    }
}

impl HookFile {
    /// Plans to add these parts, in place of those that docent has there. `None` if nothing changes.
    pub fn plan_put(
        &self,
        parts: &[HookPart],
        machine: &Machine<'_>,
    ) -> Result<Option<HookChange>, ClientError> {
        self.plan_put_into(self.read()?, parts, machine)
    }

    fn plan_put_into(
        &self,
        text: Option<String>,
        parts: &[HookPart],
        machine: &Machine<'_>,
    ) -> Result<Option<HookChange>, ClientError> {
        let parts: Vec<HookPart> = self
            .client
            .hook_parts()
            .iter()
            .copied()
            .filter(|part| parts.contains(part))
            .collect();
        let current = text.as_deref().unwrap_or_default();
        let after = match self.form {
            HookForm::OwnFile => Some(self.own_text(&parts, machine)).filter(|after| after != current),
            HookForm::Lists => {
                let items = self.items(&parts, machine);
                self.in_lists(|lists| lists.put(current, &items))?
            }
        };
        // A file that has something of docent is no file of before docent.
        let has_server = self.with_server_of("", current, machine).is_some();
        let is_touched = has_server || self.has_hooks_in(current) || backup_path(&self.path).exists();
        let backup = if self.form == HookForm::OwnFile || is_touched {
            Backup::Keep
        } else {
            Backup::Make
        };
        Ok(after.map(|after| HookChange {
            path: self.path.clone(),
            before: text,
            after: Some(after),
            backup,
        }))
    }

    /// Plans to remove docent's hooks, with the lists and the file that were created for them. `None` if
    /// there are none.
    pub fn plan_removal(&self, machine: &Machine<'_>) -> Result<Option<HookChange>, ClientError> {
        let Some(before) = self.read()? else {
            return Ok(None);
        };
        let change = |after| HookChange {
            path: self.path.clone(),
            before: Some(before.clone()),
            after,
            backup: Backup::Keep,
        };
        if self.form == HookForm::OwnFile {
            return Ok(Some(change(None)));
        }
        let items = self.in_lists(|lists| lists.find(&before))?;
        if items.is_empty() {
            return Ok(None);
        }
        let backup = read_text(&backup_path(&self.path))?;
        // Without a backup docent created the file. If nobody has changed it since, delete it.
        let created = self.in_lists(|lists| lists.put("", &items))?;
        if backup.is_none() && created.as_deref() == Some(&before) {
            return Ok(Some(change(None)));
        }
        // The entry of a server in the same file was written before the hooks.
        let base = self.with_server_of(backup.as_deref().unwrap_or_default(), &before, machine);
        let base = base.or(backup);
        let after = self.in_lists(|lists| lists.take_out(&before, base.as_deref()))?;
        Ok(after.map(|after| change(Some(after))))
    }

    /// A text with the entry of docent's server that `text` has. `None` if it has none.
    fn with_server_of(&self, base: &str, text: &str, machine: &Machine<'_>) -> Option<String> {
        let server = self.client.settings_file(self.scope, machine)?;
        (server.path == self.path).then(|| server.with_entry_of(base, text))?
    }

    /// Its text, `None` if it does not exist.
    pub fn read(&self) -> Result<Option<String>, ClientError> {
        read_text(&self.path)
    }

    /// Whether docent has hooks in the file. A file that cannot be read or parsed has none.
    pub fn has_hooks(&self) -> bool {
        let text = read_own(&self.path).ok().flatten();
        match self.form {
            HookForm::OwnFile => text.is_some(),
            HookForm::Lists => text.is_some_and(|text| self.has_hooks_in(&text)),
        }
    }

    /// The parts that docent has in the file. None in a file that is docent's as a whole.
    pub fn installed_parts(&self) -> Vec<HookPart> {
        let text = read_own(&self.path).ok().flatten().unwrap_or_default();
        let items = self.in_lists(|lists| lists.find(&text)).unwrap_or_default();
        let has = |part: &HookPart| {
            let (event, wanted) = hook_item(self.client, *part, "");
            items
                .iter()
                .any(|item| item.keys[1] == event && item.value["matcher"] == wanted["matcher"])
        };
        let parts = self.client.hook_parts().iter().copied();
        parts.filter(has).collect()
    }

    /// The text of a new file with these parts alone.
    pub fn new_text(&self, parts: &[HookPart], machine: &Machine<'_>) -> String {
        let planned = self.plan_put_into(None, parts, machine);
        planned
            .ok()
            .flatten()
            .and_then(|change| change.after)
            .unwrap_or_default()
    }

    fn has_hooks_in(&self, text: &str) -> bool {
        self.in_lists(|lists| lists.find(text))
            .is_ok_and(|items| !items.is_empty())
    }

    /// The lists that docent has items in.
    fn lists(&self) -> Vec<Vec<String>> {
        let names: &[&[&str]] = match self.client {
            Client::Gemini => &[
                &["hooks", "BeforeTool"],
                &["hooks", "AfterTool"],
                &["hooks", "SessionStart"],
            ],
            Client::Cursor => &[
                &["hooks", "preToolUse"],
                &["hooks", "postToolUse"],
                &["hooks", "sessionStart"],
            ],
            _ => &[
                &["hooks", "PreToolUse"],
                &["hooks", "PostToolUse"],
                &["hooks", "SessionStart"],
                &["permissions", "allow"],
            ],
        };
        names.iter().map(|keys| own_keys(keys)).collect()
    }

    fn in_lists<T>(
        &self,
        run: impl FnOnce(&ItemLists<'_>) -> Result<T, EditRefused>,
    ) -> Result<T, ClientError> {
        let lists = self.lists();
        let mut root = Map::new();
        if self.client == Client::Cursor {
            root.insert("version".to_owned(), json!(1));
        }
        let form = if self.client == Client::Gemini {
            FileFormat::Jsonc
        } else {
            FileFormat::Json
        };
        let lists = ItemLists {
            form,
            lists: &lists,
            root: &root,
            is_own: &|value| is_own(self.client, value),
        };
        run(&lists).map_err(|refused| refused_error(&self.path, refused))
    }

    /// The items of these parts, in the order of their lists: that in which they are found again.
    fn items(&self, parts: &[HookPart], machine: &Machine<'_>) -> Vec<ListItem> {
        let command = hook_command(self.client, &machine.program_for(self.scope), "");
        let mut items = Vec::new();
        for part in parts {
            items.push(self.item(*part, &command));
            if *part == HookPart::Shell && self.client == Client::ClaudeCode {
                items.push(ListItem {
                    keys: own_keys(&["permissions", "allow"]),
                    value: CLAUDE_RULE.into(),
                });
            }
        }
        let lists = self.lists();
        items.sort_by_key(|item| lists.iter().position(|keys| *keys == item.keys));
        items
    }

    fn item(&self, part: HookPart, command: &str) -> ListItem {
        let (event, value) = hook_item(self.client, part, command);
        ListItem {
            keys: own_keys(&["hooks", event]),
            value,
        }
    }

    /// The text of a file that is docent's.
    fn own_text(&self, parts: &[HookPart], machine: &Machine<'_>) -> String {
        if self.client == Client::Opencode {
            let program = Json::from(machine.program_for(self.scope)).to_string();
            let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
            return OPENCODE_PLUGIN
                .replace("\"PROGRAM\"", &program)
                .replace("[\"PARTS\"]", &Json::from(names).to_string());
        }
        format!(
            "{:#}\n",
            copilot_hooks(parts, &machine.program_for(self.scope), "")
        )
    }
}

/// The file of hooks in a plugin: these parts, as far as the client has events for them. Its commands are
/// marked as those of a plugin, so that they are silent where the user's own file has hooks.
pub fn plugin_hooks(client: Client, parts: &[HookPart], program: &str) -> Json {
    let parts: Vec<HookPart> = client
        .hook_parts()
        .iter()
        .copied()
        .filter(|part| parts.contains(part))
        .collect();
    if client == Client::Copilot {
        return copilot_hooks(&parts, program, " --plugin");
    }
    let command = hook_command(client, program, " --plugin");
    let mut hooks = Map::new();
    for part in parts {
        let (event, item) = hook_item(client, part, &command);
        if let Json::Array(list) = hooks.entry(event).or_insert_with(|| json!([])) {
            list.push(item);
        }
    }
    json!({ "hooks": hooks })
}

/// The hooks of Copilot CLI, whose file has a form for two shells.
fn copilot_hooks(parts: &[HookPart], program: &str, flag: &str) -> Json {
    let hook = json!({
        "type": "command",
        "bash": hook_command(Client::Copilot, program, flag),
        "powershell": format!("& '{}' hook copilot{flag}; exit 0", program.replace('\'', "''")),
        "timeoutSec": TIMEOUT_SECONDS,
    });
    let mut hooks = Map::new();
    for (part, event) in [
        (HookPart::Session, "sessionStart"),
        (HookPart::Search, "postToolUse"),
    ] {
        if parts.contains(&part) {
            hooks.insert(event.to_owned(), json!([hook]));
        }
    }
    json!({ "version": 1, "hooks": hooks })
}

/// The event of a part, and what a client's list has for it.
fn hook_item(client: Client, part: HookPart, command: &str) -> (&'static str, Json) {
    let (event, matcher) = match (client, part) {
        (Client::Gemini, HookPart::Shell | HookPart::Read) => ("BeforeTool", Some("run_shell_command")),
        (Client::Gemini, HookPart::Search) => ("AfterTool", Some("grep_search|search_file_content|glob")),
        (Client::Cursor, HookPart::Shell | HookPart::Read) => ("preToolUse", Some("Shell")),
        (Client::Cursor, HookPart::Search) => ("postToolUse", Some("Grep")),
        (Client::Cursor, HookPart::Session) => ("sessionStart", None),
        (_, HookPart::Shell) => ("PreToolUse", Some("Bash")),
        (_, HookPart::Read) => ("PreToolUse", Some("Read")),
        (_, HookPart::Search) => ("PostToolUse", Some("Grep|Glob")),
        (Client::ClaudeCode, HookPart::Session) => ("SessionStart", Some("startup|clear|compact")),
        (_, HookPart::Session) => ("SessionStart", None),
    };
    let mut value = Map::new();
    if client == Client::Cursor {
        value.insert("command".to_owned(), command.into());
        value.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher.into())));
        value.insert("timeout".to_owned(), TIMEOUT_SECONDS.into());
    } else {
        // Gemini CLI counts in milliseconds.
        let is_gemini = client == Client::Gemini;
        let timeout = if is_gemini {
            TIMEOUT_SECONDS * 1_000
        } else {
            TIMEOUT_SECONDS
        };
        let hook = json!({ "type": "command", "command": command, "timeout": timeout });
        value.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher.into())));
        value.insert("hooks".to_owned(), json!([hook]));
    }
    (event, value.into())
}

impl HookChange {
    /// Writes the change. A backup is kept if the file had nothing of docent before.
    pub fn apply(&self) -> Result<(), ClientError> {
        let path = &self.path;
        if read_text(path)? != self.before {
            return Err(ClientError::Raced { path: path.clone() });
        }
        write_change(path, [self.before.as_deref(), self.after.as_deref()], self.backup)
            .map_err(|error| io_error(path, error))
    }
}

/// Where `hook.read` is in the user's own settings of docent.
const READ_SETTING: EntryLocation<'static> = EntryLocation {
    form: FileFormat::Toml,
    keys: &[],
    name: "hook",
};

fn read_setting() -> Entry {
    vec![("read".to_owned(), Value::Text("outline".to_owned()))]
}

/// Plans to turn the Read hook on in docent's own settings. `None` if it is on.
pub fn plan_read_setting(path: &Path) -> Result<Option<HookChange>, ClientError> {
    let before = read_text(path)?;
    let after = client_config::put(
        before.as_deref().unwrap_or_default(),
        &READ_SETTING,
        &read_setting(),
    )
    .map_err(|refused| refused_error(path, refused))?;
    let backup = if backup_path(path).exists() {
        Backup::Keep
    } else {
        Backup::Make
    };
    Ok(after.map(|after| HookChange {
        path: path.to_owned(),
        before,
        after: Some(after),
        backup,
    }))
}

/// Plans to take the setting out again. `None` if it was not [`plan_read_setting`] that turned the hook on.
pub fn plan_read_setting_removal(path: &Path) -> Result<Option<HookChange>, ClientError> {
    let refused = |refused| refused_error(path, refused);
    let Some(before) = read_text(path)? else {
        return Ok(None);
    };
    let backup = read_text(&backup_path(path))?;
    let put = |text: &str| client_config::put(text, &READ_SETTING, &read_setting());
    let after = match backup.as_deref() {
        None if put("").map_err(refused)?.as_ref() == Some(&before) => None,
        None => return Ok(None),
        Some(backup) if put(backup).is_ok_and(|with| with.as_ref() == Some(&before)) => {
            Some(backup.to_owned())
        }
        Some(backup) => {
            let place = EntryLocation {
                keys: &["hook"],
                name: "read",
                ..READ_SETTING
            };
            match client_config::take_out(&before, &place, Some(backup)).map_err(refused)? {
                None => return Ok(None),
                after => after,
            }
        }
    };
    Ok(Some(HookChange {
        path: path.to_owned(),
        before: Some(before),
        after,
        backup: Backup::Keep,
    }))
}

fn read_text(path: &Path) -> Result<Option<String>, ClientError> {
    read_own(path).map_err(|error| io_error(path, error))
}

fn io_error(path: &Path, error: io::Error) -> ClientError {
    ClientError::Io {
        path: path.to_owned(),
        error,
    }
}

fn refused_error(path: &Path, refused: EditRefused) -> ClientError {
    ClientError::Refused {
        path: path.to_owned(),
        refused,
    }
}

fn own_keys(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// The shell command of a hook. The flag comes behind the client's name.
fn hook_command(client: Client, program: &str, flag: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "/._-+:\\".contains(char);
    let quoted = if cfg!(windows) {
        format!("\"{program}\"")
    } else {
        format!("'{}'", program.replace('\'', "'\\''"))
    };
    let word = if program.chars().all(is_plain) {
        program.to_owned()
    } else {
        quoted
    };
    let command = format!("{word} hook {}{flag}", client.hook_name());
    // An older docent without hooks exits with 2, which clients take for a refusal.
    if cfg!(windows) {
        command
    } else {
        format!("{command} 2>/dev/null || true")
    }
}

/// Whether an item of a list is docent's: every command in it is one of `docent hook`, or it is docent's
/// rule.
fn is_own(client: Client, value: &Json) -> bool {
    let is_hook = |command: &Json| {
        let command = command.as_str().unwrap_or_default();
        let name = format!(" hook {}", client.hook_name());
        command.split_once(&name).is_some_and(|(program, _)| {
            program.trim_end_matches(['\'', '"']).ends_with("docent")
                || program.trim_end_matches(['\'', '"']).ends_with("docent.exe")
        })
    };
    match value {
        Json::String(rule) => client == Client::ClaudeCode && rule == CLAUDE_RULE,
        Json::Object(item) => match item.get("hooks").and_then(Json::as_array) {
            Some(hooks) => {
                !hooks.is_empty() && hooks.iter().all(|hook| hook.get("command").is_some_and(is_hook))
            }
            None => item.get("command").is_some_and(is_hook),
        },
        _ => false,
    }
}

/// The plugin of opencode, which has no settings for hooks.
const OPENCODE_PLUGIN: &str = include_str!("hook_files/opencode_plugin.js");
