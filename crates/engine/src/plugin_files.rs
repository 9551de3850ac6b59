//! docent's own files in the folders of coding agents: a plugin, or a skill, an explorer and slash commands.
//!
//! Left out: their texts, which the app makes from its tables. A file that others write, too, is edited
//! elsewhere (`clients`, `hook_files`).
//!
//! Invariant: only docent's files are written and deleted. A file by the same name that docent has not
//! written stops the plan, and a deletion leaves no empty folder that docent made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use docent_core::client_config::read_json;

use crate::clients::{Client, ClientError, Machine, SettingsScope};
use crate::files::{read_own, replace_like};

/// What a client can have beside the server and the hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PluginPart {
    /// Which tool answers what.
    Skill,
    /// A subagent that has docent's tools.
    Explorer,
    /// Slash commands.
    Commands,
    /// docent as the language server of languages that have none.
    LanguageServer,
}

/// A file below a client's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFile {
    /// The path below the folder, with `/`.
    pub path: String,
    pub text: String,
}

/// The folder of a client that docent has files in.
#[derive(Clone, Debug)]
pub struct PluginFolder {
    pub client: Client,
    pub path: PathBuf,
    pub form: FolderForm,
}

/// Whose the folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderForm {
    /// All of it is docent's: a plugin.
    Plugin,
    /// It is the client's; docent's files say that they are docent's.
    Shared,
}

/// Files of a folder to write and to delete. At least one.
#[derive(Clone, Debug)]
pub struct PluginChange {
    folder: PluginFolder,
    pub files: Vec<FileChange>,
}

/// A file to write, or to delete without a text afterwards.
#[derive(Clone, Debug)]
pub struct FileChange {
    pub path: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The sentence by which a file in a shared folder is docent's.
pub const OWN_FILE_MARK: &str = "Written by `docent setup`, and deleted by `docent setup --remove`.";

/// The file by which a folder is docent's plugin.
const MANIFEST: &str = ".claude-plugin/plugin.json";

impl PluginPart {
    pub const ALL: [Self; 4] = [Self::Skill, Self::Explorer, Self::Commands, Self::LanguageServer];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Explorer => "explorer",
            Self::Commands => "commands",
            Self::LanguageServer => "lsp",
        }
    }

    /// The part with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

impl Client {
    /// The parts that this client reads from files.
    pub fn plugin_parts(self) -> &'static [PluginPart] {
        use PluginPart::{Commands, Explorer, LanguageServer, Skill};
        match self {
            Self::ClaudeCode => &[Skill, Explorer, Commands, LanguageServer],
            Self::Gemini | Self::Opencode | Self::Cursor => &[Skill, Explorer, Commands],
            Self::Codex | Self::Copilot => &[Skill, Explorer],
            Self::ClaudeDesktop | Self::VsCode | Self::Windsurf | Self::Zed => &[],
        }
    }

    /// The folder for docent's files. `None` if the client has none, or the user has no home directory.
    ///
    /// Claude Code loads a folder of the user's skills that has a plugin's manifest as a plugin.
    pub fn plugin_folder(self, scope: SettingsScope, machine: &Machine<'_>) -> Option<PluginFolder> {
        let project = |name: &str| Some(machine.root.join(name));
        let (form, path) = match (self, scope) {
            (Self::ClaudeCode, SettingsScope::User) => (
                FolderForm::Plugin,
                machine.claude_directory()?.join("skills/docent"),
            ),
            (Self::ClaudeCode, SettingsScope::Project) => (FolderForm::Shared, project(".claude")?),
            (Self::Codex, SettingsScope::User) => (FolderForm::Shared, machine.codex_directory()?),
            (Self::Codex, SettingsScope::Project) => (FolderForm::Shared, project(".codex")?),
            (Self::Gemini, SettingsScope::User) => {
                (FolderForm::Shared, machine.gemini_file()?.parent()?.to_owned())
            }
            (Self::Gemini, SettingsScope::Project) => (FolderForm::Shared, project(".gemini")?),
            (Self::Copilot, SettingsScope::User) => (FolderForm::Shared, machine.copilot_directory()?),
            (Self::Copilot, SettingsScope::Project) => (FolderForm::Shared, project(".github")?),
            (Self::Cursor, SettingsScope::User) => (FolderForm::Shared, machine.in_home(".cursor")?),
            (Self::Cursor, SettingsScope::Project) => (FolderForm::Shared, project(".cursor")?),
            (Self::Opencode, SettingsScope::User) => (FolderForm::Shared, machine.in_config("opencode")?),
            (Self::Opencode, SettingsScope::Project) => (FolderForm::Shared, project(".opencode")?),
            _ => return None,
        };
        Some(PluginFolder {
            client: self,
            path,
            form,
        })
    }
}

impl PluginFolder {
    /// Plans to write these files, and to delete docent's others. `known` are all files that docent may have
    /// in a shared folder. `None` if nothing changes.
    pub fn plan(
        &self,
        wanted: &[PluginFile],
        known: &[PluginFile],
    ) -> Result<Option<PluginChange>, ClientError> {
        let mut files = Vec::new();
        let is_own = self.form == FolderForm::Shared || self.is_plugin()?;
        for PluginFile { path, text } in wanted {
            let path = self.path.join(path);
            let before = read_text(&path)?;
            if before.as_deref() == Some(text) {
                continue;
            }
            if let Some(before) = &before
                && !(is_own && self.is_own_text(before))
            {
                return Err(ClientError::Foreign { path });
            }
            files.push(FileChange {
                path,
                before,
                after: Some(text.clone()),
            });
        }
        let is_wanted = |path: &Path| wanted.iter().any(|file| self.path.join(&file.path) == path);
        let present = match self.form {
            FolderForm::Plugin if is_own => list_files(&self.path),
            FolderForm::Plugin => Vec::new(),
            FolderForm::Shared => known.iter().map(|file| self.path.join(&file.path)).collect(),
        };
        for path in present.into_iter().filter(|path| !is_wanted(path)) {
            if let Some(before) = read_text(&path)?
                && self.is_own_text(&before)
            {
                files.push(FileChange {
                    path,
                    before: Some(before),
                    after: None,
                });
            }
        }
        let folder = self.clone();
        Ok((!files.is_empty()).then_some(PluginChange { folder, files }))
    }

    /// Whether docent has a plugin here, or one of these files.
    pub fn has_own_files(&self, known: &[PluginFile]) -> bool {
        match self.form {
            FolderForm::Plugin => self.is_plugin().unwrap_or_default(),
            FolderForm::Shared => known.iter().any(|file| {
                let text = read_text(&self.path.join(&file.path));
                text.is_ok_and(|text| text.is_some_and(|text| self.is_own_text(&text)))
            }),
        }
    }

    /// The text of a file in the folder.
    pub fn read(&self, name: &str) -> Option<String> {
        read_text(&self.path.join(name)).ok()?
    }

    fn is_own_text(&self, text: &str) -> bool {
        self.form == FolderForm::Plugin || text.contains(OWN_FILE_MARK)
    }

    fn is_plugin(&self) -> Result<bool, ClientError> {
        let text = read_text(&self.path.join(MANIFEST))?.unwrap_or_default();
        Ok(read_json(&text).is_ok_and(|manifest| manifest["name"] == "docent"))
    }
}

impl PluginChange {
    /// Writes and deletes the files, if all are still as they were when this was planned.
    pub fn apply(&self) -> Result<(), ClientError> {
        for file in &self.files {
            if read_text(&file.path)? != file.before {
                return Err(ClientError::Raced {
                    path: file.path.clone(),
                });
            }
        }
        for FileChange { path, after, .. } in &self.files {
            let done = match after {
                Some(text) => write_file(path, text),
                None => fs::remove_file(path).map(|()| self.remove_empty_folders(path)),
            };
            done.map_err(|error| io_error(path, error))?;
        }
        Ok(())
    }

    /// Removes the folders above a deleted file that are empty now, up to the client's own folder.
    fn remove_empty_folders(&self, path: &Path) {
        let end = match self.folder.form {
            // `skills/docent`, below the client's folder.
            FolderForm::Plugin => self.folder.path.parent().and_then(Path::parent),
            FolderForm::Shared => Some(self.folder.path.as_path()),
        };
        for folder in path.ancestors().skip(1) {
            if Some(folder) == end || fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    replace_like(path, text.as_bytes(), fs::metadata(path).ok().as_ref())
}

/// The files below a folder, without following links.
#[expect(clippy::disallowed_methods, reason = "a folder of docent's own in a client's")]
fn list_files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    files
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(form: FolderForm) -> (tempfile::TempDir, PluginFolder) {
        let home = tempfile::tempdir().unwrap();
        let path = match form {
            FolderForm::Plugin => home.path().join("skills/docent"),
            FolderForm::Shared => home.path().to_owned(),
        };
        let client = Client::ClaudeCode;
        (home, PluginFolder { client, path, form })
    }

    fn file(path: &str, text: &str) -> PluginFile {
        PluginFile {
            path: path.to_owned(),
            text: format!("{text} {OWN_FILE_MARK}"),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a folder of the test")]
    fn paths(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    #[test]
    fn files_in_a_shared_folder_come_and_go_and_those_of_others_stay() {
        let (home, folder) = folder(FolderForm::Shared);
        let mine = home.path().join("commands/mine.md");
        fs::create_dir(mine.parent().unwrap()).unwrap();
        fs::write(&mine, "mine").unwrap();
        let known = [
            file("skills/docent/SKILL.md", "a"),
            file("commands/docent-x.md", "b"),
        ];
        folder.plan(&known, &known).unwrap().unwrap().apply().unwrap();
        assert!(folder.has_own_files(&known));
        assert!(folder.plan(&known, &known).unwrap().is_none());
        // Another choice deletes what is not in it.
        folder
            .plan(&known[..1], &known)
            .unwrap()
            .unwrap()
            .apply()
            .unwrap();
        assert!(!home.path().join("commands/docent-x.md").exists());
        folder.plan(&[], &known).unwrap().unwrap().apply().unwrap();
        assert!(!folder.has_own_files(&known));
        assert_eq!(paths(home.path()), [home.path().join("commands")]);
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        let kept = fs::read_to_string(mine).unwrap();
        assert_eq!(kept, "mine");
    }

    #[test]
    fn a_file_that_docent_has_not_written_stops_the_plan() {
        for form in [FolderForm::Plugin, FolderForm::Shared] {
            let (_home, folder) = folder(form);
            let known = [file("SKILL.md", "a")];
            fs::create_dir_all(&folder.path).unwrap();
            fs::write(folder.path.join("SKILL.md"), "mine").unwrap();
            assert!(matches!(
                folder.plan(&known, &known),
                Err(ClientError::Foreign { .. })
            ));
            assert!(folder.plan(&[], &known).unwrap().is_none(), "{form:?}");
        }
    }

    #[test]
    fn a_plugin_is_removed_whole_with_its_folders() {
        let (home, folder) = folder(FolderForm::Plugin);
        let files = [
            PluginFile {
                path: MANIFEST.to_owned(),
                text: "{\"name\": \"docent\"}".to_owned(),
            },
            file("commands/a.md", "a"),
        ];
        folder.plan(&files, &[]).unwrap().unwrap().apply().unwrap();
        // A file of an earlier version is docent's, too.
        fs::write(folder.path.join("former.md"), "former").unwrap();
        assert_eq!(folder.plan(&files, &[]).unwrap().unwrap().files.len(), 1);
        folder.plan(&[], &[]).unwrap().unwrap().apply().unwrap();
        assert!(paths(home.path()).is_empty());
    }
}
