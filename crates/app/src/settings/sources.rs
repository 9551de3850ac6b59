//! The sources of a setting's value, and which wins: flags, then environment, then the project's file, then
//! the user's file.
//!
//! Which settings exist, and what they accept, is in `keys`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use docent_core::path::RepoPath;
use docent_engine::files::{FileError, Root, read_own};
use toml::Value;

use super::{Environment, Flags, SettingKey, ValueOrigin};

/// A project's settings file.
const PROJECT_FILE: &str = ".context/config.toml";

/// Larger settings files are refused.
const MAX_PROJECT_FILE_BYTES: u64 = 65_536;

/// A value and its origin; `None` if the source does not set the key.
type Picked = Option<(Value, ValueOrigin)>;

/// Everything that a value may come from, apart from its default.
pub(super) struct Sources<'a> {
    flags: &'a Flags,
    environment: Environment<'a>,
    project: Option<FlatSettings>,
    user: Option<FlatSettings>,
}

impl<'a> Sources<'a> {
    /// Reads both files. `user_file` is `None` for a user without a home.
    pub(super) fn read(
        flags: &'a Flags,
        environment: Environment<'a>,
        root: &Root,
        user_file: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            flags,
            environment,
            project: read_project(root)?,
            user: user_file.map(|path| read_user(&path)).transpose()?.flatten(),
        })
    }

    /// The value of `key` from the first source that has one. Lists that add up are joined from all sources.
    pub(super) fn pick(&self, key: &SettingKey) -> anyhow::Result<(Value, ValueOrigin)> {
        let mut values = [
            self.flag(key)?,
            self.variable(key)?,
            self.project(key)?,
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

    fn project(&self, key: &SettingKey) -> anyhow::Result<Picked> {
        self.project
            .as_ref()
            .filter(|_| key.from_project)
            .map_or(Ok(None), |file| file.get(key))
    }

    fn user(&self, key: &SettingKey) -> anyhow::Result<Picked> {
        self.user.as_ref().map_or(Ok(None), |file| file.get(key))
    }

    /// Warns of names in the files that are ignored: unknown ones (mistyped, or from another version), and
    /// settings that a project may not set.
    pub(super) fn warnings(&self, keys: &[SettingKey]) -> Vec<String> {
        let mut warnings = Vec::new();
        for file in self.project.iter().chain(&self.user) {
            let path = file.path.display();
            for name in file
                .values
                .keys()
                .filter(|name| !keys.iter().any(|key| key.name == **name))
            {
                warnings.push(format!("{path}: there is no setting {name}"));
            }
        }
        if let Some(file) = &self.project {
            for key in keys
                .iter()
                .filter(|key| !key.from_project && file.values.contains_key(&key.name))
            {
                let path = file.path.display();
                warnings.push(format!(
                    "{path}: {} is not taken from a project; set it for your user",
                    key.name
                ));
            }
        }
        warnings
    }
}

/// A settings file, its tables flattened to dotted names.
struct FlatSettings {
    path: PathBuf,
    values: BTreeMap<String, Value>,
}

impl FlatSettings {
    fn parse(path: &Path, text: &str) -> anyhow::Result<Self> {
        let table: toml::Table = text.parse().with_context(|| path.display().to_string())?;
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

fn read_project(root: &Root) -> anyhow::Result<Option<FlatSettings>> {
    let path = RepoPath::parse(PROJECT_FILE).expect("a literal path");
    let shown = root.path().join(PROJECT_FILE);
    match root.read(&path, MAX_PROJECT_FILE_BYTES) {
        Err(FileError::Missing) => Ok(None),
        Err(error) => Err(error).with_context(|| shown.display().to_string()),
        Ok(content) => {
            let text = String::from_utf8(content.bytes).with_context(|| shown.display().to_string())?;
            FlatSettings::parse(&shown, &text).map(Some)
        }
    }
}

fn read_user(path: &Path) -> anyhow::Result<Option<FlatSettings>> {
    let text = read_own(path).with_context(|| path.display().to_string())?;
    text.map(|text| FlatSettings::parse(path, &text)).transpose()
}
