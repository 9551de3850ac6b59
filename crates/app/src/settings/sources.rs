//! The sources of a setting's value, and which wins: flags, then environment, then the project's file, then
//! the user's file.
//!
//! Which settings exist, and what they accept, is in `keys`.
//!
//! Invariant: nothing in a project's file is an error. It arrives with a clone, so a mistake in it must not
//! keep docent from starting: the value is ignored, the next source counts, and a warning says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use docent_core::path::RepoPath;
use docent_engine::files::{FileError, Root, read_own};
use toml::Value;

use super::{Environment, Flags, SettingKey, ValueOrigin};
use crate::markdown::inline_to;

/// A project's settings file.
const PROJECT_FILE: &str = ".context/config.toml";

/// Larger settings files are refused.
const MAX_PROJECT_FILE_BYTES: u64 = 65_536;

/// Warnings about one file that are worded; the rest are counted.
const MAX_WORDED_WARNINGS: usize = 10;

/// Characters of a name from a settings file in a warning.
const MAX_NAME_CHARS: usize = 80;

/// Characters of a mistake in a warning.
const MAX_MISTAKE_CHARS: usize = 200;

/// A value and its origin; `None` if the source does not set the key.
type Picked = Option<(Value, ValueOrigin)>;

/// Everything that a value may come from, apart from its default.
pub(super) struct Sources<'a> {
    flags: &'a Flags,
    environment: Environment<'a>,
    project: Option<FlatSettings>,
    user: Option<FlatSettings>,
    /// What the project's file has that is ignored.
    project_warnings: Vec<String>,
}

impl<'a> Sources<'a> {
    /// Reads both files. `user_file` is `None` for a user without a home.
    pub(super) fn read(
        flags: &'a Flags,
        environment: Environment<'a>,
        root: &Root,
        user_file: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let (project, project_warnings) = match read_project(root) {
            Ok(project) => (project, Vec::new()),
            Err(reason) => (None, vec![format!("the file is ignored: {reason}")]),
        };
        Ok(Self {
            flags,
            environment,
            project,
            project_warnings,
            user: user_file.map(|path| read_user(&path)).transpose()?.flatten(),
        })
    }

    /// The value of `key` from the first source that has one. Lists that add up are joined from all sources.
    pub(super) fn pick(&mut self, key: &SettingKey) -> anyhow::Result<(Value, ValueOrigin)> {
        let mut values = [
            self.flag(key)?,
            self.variable(key)?,
            self.project(key),
            self.user(key)?,
        ]
        .into_iter()
        .flatten();
        let Some((value, origin)) = values.next() else {
            return Ok((key.default.clone(), ValueOrigin::Default));
        };
        if !key.adds_up {
            return Ok((value, origin));
        }
        let (mut all, mut origins) = (value.as_array().cloned().unwrap_or_default(), vec![origin]);
        for (value, origin) in values {
            all.extend(value.as_array().cloned().unwrap_or_default());
            origins.push(origin);
        }
        Ok((Value::Array(all), ValueOrigin::All(origins)))
    }

    fn flag(&self, key: &SettingKey) -> anyhow::Result<Picked> {
        let Some((_, text)) = self.flags.set.iter().rev().find(|(name, _)| *name == key.name) else {
            return Ok(None);
        };
        Ok(Some((key.parse(text)?, ValueOrigin::Flag("--set"))))
    }

    fn variable(&self, key: &SettingKey) -> anyhow::Result<Picked> {
        let variable = key.variable();
        let Some(text) = (self.environment)(&variable).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let text = text
            .to_str()
            .ok_or_else(|| anyhow!("{variable} is not UTF-8"))?
            .to_owned();
        Ok(Some((
            key.parse(&text).context(variable.clone())?,
            ValueOrigin::Variable(variable),
        )))
    }

    /// The project's value. A wrong one is a warning; of a list, only the wrong items are left out, because
    /// without its other patterns more paths would be shown than the project wants.
    fn project(&mut self, key: &SettingKey) -> Picked {
        let file = self.project.as_ref().filter(|_| key.from_project)?;
        let (value, origin) = (file.values.get(&key.name)?, ValueOrigin::File(file.path.clone()));
        let wrong = match key.accept(value.clone()) {
            Ok(value) => return Some((value, origin)),
            Err(wrong) => wrong,
        };
        let (Value::Array(items), Value::Array(_)) = (value, &key.default) else {
            self.project_warnings.push(word_mistake(&wrong, "value"));
            return None;
        };
        let mut kept = Vec::new();
        for item in items {
            match key.accept(Value::Array(vec![item.clone()])) {
                Ok(_) => kept.push(item.clone()),
                Err(wrong) => self.project_warnings.push(word_mistake(&wrong, "item")),
            }
        }
        Some((Value::Array(kept), origin))
    }

    fn user(&self, key: &SettingKey) -> anyhow::Result<Picked> {
        self.user.as_ref().map_or(Ok(None), |file| file.get(key))
    }

    /// Warns of what is ignored in the files, the project's first: wrong values there, unknown names
    /// (mistyped, or from another version), and settings that a project may not set. Complete once all keys
    /// are picked.
    pub(super) fn warnings(self, keys: &[SettingKey], root: &Root) -> SettingsWarnings {
        let mut project = self.project_warnings;
        if let Some(file) = &self.project {
            project.extend(file.unknown_names(keys));
            let refused = keys
                .iter()
                .filter(|key| !key.from_project && file.values.contains_key(&key.name));
            project.extend(
                refused.map(|key| format!("{} is not taken from a project; set it for your user", key.name)),
            );
        }
        let user = self
            .user
            .iter()
            .flat_map(|file| file.unknown_names(keys))
            .collect();
        let user_path = self.user.map(|file| file.path).unwrap_or_default();
        SettingsWarnings {
            project: word_warnings(&project_file(root), project),
            user: word_warnings(&user_path, user),
        }
    }
}

/// What is ignored in the settings files, as sentences.
pub(super) struct SettingsWarnings {
    pub(super) project: Vec<String>,
    pub(super) user: Vec<String>,
}

/// A mistake in the project's file. Part of the sentence may be quoted from there.
fn word_mistake(wrong: &anyhow::Error, what: &str) -> String {
    format!(
        "{}; the {what} is ignored",
        inline_to(&format!("{wrong:#}"), MAX_MISTAKE_CHARS)
    )
}

/// Puts the file before each warning. A file with very many mistakes does not fill the log.
fn word_warnings(path: &Path, warnings: Vec<String>) -> Vec<String> {
    let path = path.display();
    let all = warnings.len();
    let mut worded: Vec<String> = warnings
        .into_iter()
        .take(MAX_WORDED_WARNINGS)
        .map(|warning| format!("{path}: {warning}"))
        .collect();
    if all > MAX_WORDED_WARNINGS {
        worded.push(format!("{path}: {} more like these", all - MAX_WORDED_WARNINGS));
    }
    worded
}

/// A settings file, its tables flattened to dotted names.
struct FlatSettings {
    path: PathBuf,
    values: BTreeMap<String, Value>,
}

impl FlatSettings {
    /// Parses a file. The reason for a failure names the line and quotes none of the text.
    fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
            format!("line {line}: {}", inline_to(error.message(), 200))
        })?;
        let mut values = BTreeMap::new();
        flatten("", table, &mut values);
        Ok(Self {
            path: path.to_owned(),
            values,
        })
    }

    fn get(&self, key: &SettingKey) -> anyhow::Result<Picked> {
        let Some(value) = self.values.get(&key.name) else {
            return Ok(None);
        };
        let value = key
            .accept(value.clone())
            .with_context(|| self.path.display().to_string())?;
        Ok(Some((value, ValueOrigin::File(self.path.clone()))))
    }

    fn unknown_names(&self, keys: &[SettingKey]) -> Vec<String> {
        let names = self.values.keys();
        let unknown = names.filter(|name| !keys.iter().any(|key| key.name == **name));
        unknown
            .map(|name| format!("there is no setting {}", inline_to(name, MAX_NAME_CHARS)))
            .collect()
    }
}

fn flatten(prefix: &str, table: toml::Table, values: &mut BTreeMap<String, Value>) {
    for (name, value) in table {
        let name = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}.{name}")
        };
        match value {
            Value::Table(inner) => flatten(&name, inner, values),
            value => drop(values.insert(name, value)),
        }
    }
}

/// The path of the project's file, as it is shown.
pub(super) fn project_file(root: &Root) -> PathBuf {
    root.path().join(PROJECT_FILE)
}

/// Reads the project's file. The error says why it cannot be used.
fn read_project(root: &Root) -> Result<Option<FlatSettings>, String> {
    let path = RepoPath::parse(PROJECT_FILE).expect("a literal path");
    match root.read(&path, MAX_PROJECT_FILE_BYTES) {
        Err(FileError::Missing) => Ok(None),
        Err(error) => Err(error.to_string()),
        Ok(content) => {
            let text = String::from_utf8(content.bytes).map_err(|_| "it is not UTF-8".to_owned())?;
            FlatSettings::parse(&project_file(root), &text).map(Some)
        }
    }
}

fn read_user(path: &Path) -> anyhow::Result<Option<FlatSettings>> {
    let text = read_own(path).with_context(|| path.display().to_string())?;
    let parse = |text: String| FlatSettings::parse(path, &text);
    text.map(parse)
        .transpose()
        .map_err(|reason| anyhow!("{}: {reason}", path.display()))
}
