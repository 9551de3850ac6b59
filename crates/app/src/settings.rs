//! Settings: what can be set, where a value may come from, and which source wins.
//!
//! Flags beat the environment, which beats the project's `.context/config.toml`, which beats the user's
//! `config.toml`, which beats the defaults. [`keys()`] is the only list of settings; variables, `docent config` and
//! `docs/config.md` are made from it.
//!
//! Invariant: a project's file has no say beyond the project. It arrives with a clone, so settings that reach
//! further (where logs are written, who may connect) are not taken from it, and it can add blocked paths but
//! not take away those its user has named.

mod embedder;
mod keys;
mod root;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use docent_core::access::Access;
use docent_core::boost::BoostRules;
use docent_core::path::RepoPath;
use docent_engine::clock::Clock;
use docent_engine::files::{FileError, Root, read_own};
use docent_engine::git::GitEnvironment;
use docent_engine::index::IndexOptions;
use toml::Value;

use crate::tools::dispatch::Limits;
use crate::tools::linked::project_name;
use crate::tools::markdown::inline_to;
use crate::tools::{Approval, Docs, Tool};
pub(crate) use keys::{SettingKey, keys};

/// Everything that was decided before the work began.
pub(crate) struct Settings {
    pub(crate) root: Root,
    pub(crate) root_origin: ValueOrigin,
    pub(crate) limits: Limits,
    pub(crate) log: LogSettings,
    pub(crate) http: Http,
    pub(crate) clock: Clock,
    pub(crate) surroundings: GitEnvironment,
    /// Where a server keeps what it has learned about the project; nothing where the user has no home.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) index: IndexOptions,
    pub(crate) boosts: BoostRules,
    pub(crate) docs: Docs,
    pub(crate) approval: Approval,
    /// Where what belongs to the user and is about the project is kept; nothing where the user has no home.
    pub(crate) state: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// Where the user's links are kept.
    pub(crate) links: Option<PathBuf>,
    /// The system's directory for what need not last.
    pub(crate) temporary: PathBuf,
    /// Every setting with its value and origin, for `docent config`.
    pub(crate) entries: Vec<ResolvedSetting>,
    /// What in the files was passed over, and why.
    pub(crate) warnings: Vec<String>,
}

pub(crate) struct LogSettings {
    pub(crate) level: String,
    pub(crate) file: Option<PathBuf>,
}

pub(crate) struct Http {
    pub(crate) token: Option<String>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_time: Duration,
}

/// A setting as it was decided.
pub(crate) struct ResolvedSetting {
    pub(crate) key: SettingKey,
    pub(crate) value: Value,
    pub(crate) origin: ValueOrigin,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueOrigin {
    Flag(&'static str),
    Variable(String),
    File(PathBuf),
    Directory(&'static str),
    Default,
    /// Several at once, for lists that add up.
    All(Vec<ValueOrigin>),
}

/// What the command line said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) root: Option<PathBuf>,
    /// `KEY=VALUE`, the last one winning.
    pub(crate) set: Vec<(String, String)>,
}

/// Looks a variable up; the process's environment, or a map in tests.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Where the documentation is; what is not there is warned of.
fn directories(named: &[String], root: &Root, warnings: &mut Vec<String>) -> anyhow::Result<Vec<RepoPath>> {
    let mut directories = Vec::new();
    for name in named {
        let path = RepoPath::parse(name.trim_end_matches('/'))
            .with_context(|| format!("docs.directories: {name}"))?;
        if !root.path().join(path.as_str()).is_dir() {
            warnings.push(format!("docs.directories names {path}, which is no directory"));
        }
        directories.push(path);
    }
    Ok(directories)
}

/// What the documentation is, where nobody says: the project's, by its name.
fn described(root: &Root) -> String {
    format!("documentation of {}", inline_to(&project_name(root.path()), 60))
}

fn approval(word: &Value, seconds: u64) -> Approval {
    match word.as_str() {
        Some("never") => Approval::Never,
        _ => Approval::Asked(Duration::from_secs(seconds)),
    }
}

/// Where a project keeps its settings.
const PROJECT_FILE: &str = ".context/config.toml";

impl Settings {
    /// Decides every setting, once.
    pub(crate) fn resolve(
        flags: &Flags,
        environment: Environment<'_>,
        tools: &[Tool],
    ) -> anyhow::Result<Self> {
        let (path, root_origin) = root::find(flags, environment)?;
        let built_in = Access::new([]).expect("the built-in rules are valid");
        let root = Root::open(&path, built_in)?;

        let sources = Sources {
            flags,
            environment,
            project: read_project(&root)?,
            user: user_file(environment)
                .map(|path| read_user(&path))
                .transpose()?
                .flatten(),
        };
        let keys = keys(tools);
        for (name, _) in &flags.set {
            if !keys.iter().any(|key| key.name == *name) {
                bail!("there is no setting {name}; `docent config` lists them all");
            }
        }
        let mut warnings = sources.warnings(&keys);
        let mut entries = Vec::new();
        for key in keys {
            let (value, origin) = sources.pick(&key)?;
            entries.push(ResolvedSetting { key, value, origin });
        }

        let clock = fixed_clock(environment)?;
        let remote = embedder::remote(&entries, environment, clock)?;
        if remote.as_ref().is_some_and(|remote| remote.server().is_paid()) {
            embedder::spare(&mut entries, tools);
        }
        let value = |name: &str| value(&entries, name);
        let number =
            |name: &str| u64::try_from(value(name).as_integer().unwrap_or_default()).unwrap_or_default();
        let size = |name: &str| usize::try_from(number(name)).unwrap_or(usize::MAX);
        let text = |name: &str| Some(value(name).as_str()?.to_owned()).filter(|text| !text.is_empty());
        let list = |name: &str| -> Vec<String> {
            value(name)
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|item| Some(item.as_str()?.to_owned()))
                .collect()
        };
        let factor = |name: &str| value(name).as_float().unwrap_or(1.0);
        let per_minute =
            |tool: &Tool| u32::try_from(number(&format!("limit.{}", tool.name))).unwrap_or(u32::MAX);
        let blocked = list("access.blocked");
        let access = Access::new(blocked.iter().map(String::as_str)).context("access.blocked")?;
        let pages = directories(&list("docs.directories"), &root, &mut warnings)?;
        let root = root.with_access(access);
        let folder = cache(environment, &root);
        Ok(Self {
            root_origin,
            limits: Limits {
                answer_chars: size("answer.max_chars"),
                call_time: Duration::from_secs(number("call.timeout_seconds")),
                per_minute: tools.iter().map(per_minute).collect(),
            },
            log: LogSettings {
                level: text("log.level").unwrap_or_default(),
                file: text("log.file").map(PathBuf::from),
            },
            http: Http {
                token: text("http.token"),
                allowed_hosts: list("http.allowed_hosts"),
                allowed_origins: list("http.allowed_origins"),
                max_body_bytes: size("http.max_body_bytes"),
                body_time: Duration::from_secs(number("http.body_seconds")),
            },
            clock,
            surroundings: surroundings(environment),
            folder,
            index: IndexOptions {
                largest_file: number("index.max_file_bytes"),
                watch: value("index.watch").as_bool().unwrap_or(true),
                commits: size("index.max_commits"),
                pages,
                remote,
                clock,
                ..IndexOptions::default()
            },
            docs: Docs {
                description: text("docs.description")
                    .map_or_else(|| described(&root), |text| inline_to(&text, 200)),
            },
            boosts: BoostRules {
                day: factor("rank.recency_day"),
                week: factor("rank.recency_week"),
                module: factor("rank.module"),
                frequency: factor("rank.frequency"),
            },
            approval: approval(value("memory.approval"), number("memory.approval_seconds")),
            state: state(environment, &root),
            home: home(environment),
            links: user_file(environment).map(|file| file.with_file_name("links.json")),
            temporary: temporary_directory(),
            entries,
            warnings,
            root,
        })
    }
}

/// What was decided for a setting.
fn value<'a>(entries: &'a [ResolvedSetting], name: &str) -> &'a Value {
    let entry = entries.iter().find(|entry| entry.key.name == name);
    &entry.expect("a name from `keys`").value
}

/// A value and where it was found, if it was.
type Found = Option<(Value, ValueOrigin)>;

/// Everything a value may come from.
struct Sources<'a> {
    flags: &'a Flags,
    environment: Environment<'a>,
    project: Option<FlatSettings>,
    user: Option<FlatSettings>,
}

impl Sources<'_> {
    /// The value of `key` from the first source that has one; of lists that add up, all of them.
    fn pick(&self, key: &SettingKey) -> anyhow::Result<(Value, ValueOrigin)> {
        let mut found = [
            self.flag(key)?,
            self.variable(key)?,
            self.project(key)?,
            self.user(key)?,
        ]
        .into_iter()
        .flatten();
        let Some((value, origin)) = found.next() else {
            return Ok((key.default.clone(), ValueOrigin::Default));
        };
        if !key.adds_up {
            return Ok((value, origin));
        }
        let (mut all, mut origins) = (value.as_array().cloned().unwrap_or_default(), vec![origin]);
        for (value, origin) in found {
            all.extend(value.as_array().cloned().unwrap_or_default());
            origins.push(origin);
        }
        Ok((Value::Array(all), ValueOrigin::All(origins)))
    }

    fn flag(&self, key: &SettingKey) -> anyhow::Result<Found> {
        let Some((_, text)) = self.flags.set.iter().rev().find(|(name, _)| *name == key.name) else {
            return Ok(None);
        };
        Ok(Some((key.parse(text)?, ValueOrigin::Flag("--set"))))
    }

    fn variable(&self, key: &SettingKey) -> anyhow::Result<Found> {
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

    fn project(&self, key: &SettingKey) -> anyhow::Result<Found> {
        self.project
            .as_ref()
            .filter(|_| key.from_project)
            .map_or(Ok(None), |file| file.get(key))
    }

    fn user(&self, key: &SettingKey) -> anyhow::Result<Found> {
        self.user.as_ref().map_or(Ok(None), |file| file.get(key))
    }

    /// What in the files is passed over: names that are no settings (mistyped, or from another version), and
    /// those a project has no say in.
    fn warnings(&self, keys: &[SettingKey]) -> Vec<String> {
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

    fn get(&self, key: &SettingKey) -> anyhow::Result<Found> {
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
    const MAX_FILE_BYTES: u64 = 65_536;
    let path = RepoPath::parse(PROJECT_FILE).expect("a literal path");
    let shown = root.path().join(PROJECT_FILE);
    match root.read(&path, MAX_FILE_BYTES) {
        Err(FileError::Missing) => Ok(None),
        Err(error) => Err(error).with_context(|| shown.display().to_string()),
        Ok(content) => {
            let text = String::from_utf8(content.bytes).with_context(|| shown.display().to_string())?;
            FlatSettings::parse(&shown, &text).map(Some)
        }
    }
}

/// The user's own directory.
pub(crate) fn home(environment: Environment<'_>) -> Option<PathBuf> {
    let variables = ["HOME", "USERPROFILE"].into_iter();
    variables.filter_map(environment).map(PathBuf::from).next()
}

/// `docent/config.toml` in the user's configuration directory.
fn user_file(environment: Environment<'_>) -> Option<PathBuf> {
    let directory = |name: &str| {
        environment(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let config = directory("XDG_CONFIG_HOME")
        .or_else(|| directory("APPDATA"))
        .or_else(|| Some(directory("HOME")?.join(".config")))?;
    Some(config.join("docent").join("config.toml"))
}

fn read_user(path: &Path) -> anyhow::Result<Option<FlatSettings>> {
    let text = read_own(path).with_context(|| path.display().to_string())?;
    text.map(|text| FlatSettings::parse(path, &text)).transpose()
}

/// The system's directory for temporary files. An empty `TMPDIR` is no directory.
fn temporary_directory() -> PathBuf {
    Some(std::env::temp_dir())
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or_else(|| "/tmp".into())
}

/// Tests fix the time with `DOCENT_FIXED_TIME`, so that answers can be compared.
fn fixed_clock(environment: Environment<'_>) -> anyhow::Result<Clock> {
    match environment("DOCENT_FIXED_TIME") {
        None => Ok(Clock::System),
        Some(text) => {
            let text = text.to_string_lossy();
            Ok(Clock::Fixed(
                text.parse()
                    .with_context(|| format!("DOCENT_FIXED_TIME={text}"))?,
            ))
        }
    }
}

/// docent's part of the user's cache, which can be thrown away.
fn cache(environment: Environment<'_>, root: &Root) -> Option<PathBuf> {
    own(environment, "XDG_CACHE_HOME", ".cache", "projects").map(|cache| cache.join(folder_name(root)))
}

/// Where docent keeps what is the user's and is not to be lost.
fn state(environment: Environment<'_>, root: &Root) -> Option<PathBuf> {
    own(environment, "XDG_STATE_HOME", ".local/state", "state").map(|state| state.join(folder_name(root)))
}

/// A folder of docent's own, in the directory that a variable names, or below the user's home.
fn own(environment: Environment<'_>, variable: &str, below_home: &str, name: &str) -> Option<PathBuf> {
    let directory = |name: &str| {
        environment(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let outer = directory(variable)
        .or_else(|| directory("LOCALAPPDATA"))
        .or_else(|| Some(directory("HOME")?.join(below_home)))?;
    Some(outer.join("docent").join(name))
}

/// A project's folder in the cache: its name for people, and a hash of its path, which no other project has.
fn folder_name(root: &Root) -> String {
    let name = root.path().file_name().unwrap_or_default().to_string_lossy();
    let readable: String = name
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        .take(40)
        .collect();
    format!("{readable}-{}", root.id())
}

/// What git gets to see of the environment.
fn surroundings(environment: Environment<'_>) -> GitEnvironment {
    let handed_on = ["HOME", "USERPROFILE", "SystemRoot", "TMPDIR", "TEMP", "TZ"];
    GitEnvironment {
        search: environment("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default(),
        variables: handed_on
            .into_iter()
            .filter_map(|name| Some((name.into(), environment(name)?)))
            .collect(),
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "{name}"),
            Self::Variable(name) => write!(f, "{name}"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Directory(which) => write!(f, "{which}"),
            Self::Default => write!(f, "default"),
            Self::All(origins) => f.write_str(
                &origins
                    .iter()
                    .map(Self::to_string)
                    .collect::<Vec<_>>()
                    .join(" + "),
            ),
        }
    }
}

#[cfg(test)]
mod tests;
