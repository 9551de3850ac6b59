//! Settings: which exist, where a value may come from, and which source wins.
//!
//! Flags beat the environment, which beats the project's `.context/config.toml`, which beats the user's
//! `config.toml`, which beats the defaults. [`keys()`] is the only list of settings; variables, `docent
//! config` and `docs/config.md` are made from it.
//!
//! Invariant: a project's file affects nothing beyond the project. It arrives with a clone, so settings that
//! reach further (the log file, HTTP access) are not taken from it, and it can add blocked paths but not
//! remove those that the user has named. Mistakes in it are warnings, never errors.

mod directories;
mod embedder;
mod keys;
mod root;
mod sources;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use docent_core::access::Access;
use docent_core::docs::listing::{ProjectTrust, is_listable};
use docent_core::path::RepoPath;
use docent_core::rank::boosts::BoostRules;
use docent_engine::clock::Clock;
use docent_engine::files::Root;
use docent_engine::gain::GainLog;
use docent_engine::git::GitEnvironment;
use docent_engine::index::IndexOptions;
use docent_engine::trust::{TrustDecision, TrustList};
use toml::Value;

use crate::markdown::inline_to;
pub(crate) use directories::{home_directory, user_config_file};
use directories::{project_cache, project_state, temporary_directory};
pub(crate) use keys::{SettingKey, keys};
pub(crate) use root::project_name;
use sources::{SettingsWarnings, Sources};

/// Everything that is decided before the work begins.
pub(crate) struct Settings {
    pub(crate) root: Root,
    pub(crate) root_origin: ValueOrigin,
    pub(crate) form: AnswerForm,
    pub(crate) limits: CallLimits,
    pub(crate) log: LogSettings,
    pub(crate) http: HttpSettings,
    pub(crate) clock: Clock,
    pub(crate) surroundings: GitEnvironment,
    /// The project's folder in the user's cache directory. `None` for a user without a home.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) index: IndexOptions,
    pub(crate) boosts: BoostRules,
    pub(crate) docs: DocsSettings,
    pub(crate) approval: Approval,
    pub(crate) read_hook: ReadHook,
    pub(crate) shell: ShellSettings,
    /// The project's folder in the user's state directory, whose files cannot be derived again. `None` for a
    /// user without a home.
    pub(crate) state: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// The file with the user's links between projects.
    pub(crate) links: Option<PathBuf>,
    /// The system's directory for temporary files.
    pub(crate) temporary: PathBuf,
    /// Whether the user trusts the project's authors, and the list of those that they trust.
    pub(crate) trust: ProjectTrust,
    pub(crate) trust_list: TrustList,
    /// Every setting with its value and origin, for `docent config`.
    pub(crate) entries: Vec<ResolvedSetting>,
    /// What was ignored in the files, and why.
    pub(crate) warnings: Vec<String>,
    /// Some of it is in the project's file.
    pub(crate) has_project_warnings: bool,
}

/// How an answer is written. Both forms are made from the same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// As the tool's contract shows it: JSON with a schema, or markdown.
    Contract,
    /// Plain text for a model that pays by the character; `compact/` writes it.
    Compact,
}

/// Limits of a call.
#[derive(Clone, Debug)]
pub(crate) struct CallLimits {
    /// Characters of an answer.
    pub(crate) answer_chars: usize,
    /// Lines that a session was sent lately are named and not sent again.
    pub(crate) skip_shown: bool,
    pub(crate) call_time: Duration,
    /// Calls per session and minute, in the order of the tools.
    pub(crate) per_minute: Vec<u32>,
}

/// The rate limit that a tool comes with. Each becomes the setting `limit.TOOL`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultLimit {
    pub(crate) tool: &'static str,
    /// Calls per session and minute; 0 for any number.
    pub(crate) per_minute: u32,
    /// Replaces it while calls go to a paid embedding server.
    pub(crate) per_minute_paid: Option<u32>,
}

impl DefaultLimit {
    /// The name of its setting.
    fn key(&self) -> String {
        format!("limit.{}", self.tool)
    }
}

/// Approval of memory entries: who decides whether one is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// The user, who has this long to answer.
    ByUser(Duration),
    /// Nobody is asked: the operator trusts the clients.
    Never,
}

/// What the hook answers to the first read of a whole large file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadHook {
    Off,
    /// The head and the outline of files with more lines.
    Outline {
        max_lines: usize,
    },
}

/// How `docent sh` shortens answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShellSettings {
    pub(crate) answer_chars: usize,
    /// Characters of a patch that is printed as git prints it.
    pub(crate) exact_patch_chars: usize,
    /// Functions around matches that are shown whole, and the lines that one has at most.
    pub(crate) whole_functions: usize,
    pub(crate) function_lines: usize,
}

/// How the documentation is described to clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocsSettings {
    /// Follows "Search the" in the description of `search_docs`: the user's words, or the default.
    pub(crate) description: String,
    /// The words of a trusted project, which are quoted.
    pub(crate) quoted_description: Option<String>,
}

pub(crate) struct LogSettings {
    pub(crate) level: String,
    pub(crate) file: Option<PathBuf>,
}

pub(crate) struct HttpSettings {
    pub(crate) token: Option<String>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) max_body_bytes: usize,
    pub(crate) body_time: Duration,
    /// How long a new connection may take to send its first request's head.
    pub(crate) head_time: Duration,
    pub(crate) max_connections_per_address: usize,
}

/// A setting with its decided value.
pub(crate) struct ResolvedSetting {
    pub(crate) key: SettingKey,
    pub(crate) value: Value,
    pub(crate) origin: ValueOrigin,
}

/// Which source a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueOrigin {
    Flag(&'static str),
    Variable(String),
    File(PathBuf),
    Directory(&'static str),
    Default,
    /// Several sources, for lists that add up.
    All(Vec<ValueOrigin>),
}

/// The flags of the command line that settings depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) root: Option<PathBuf>,
    /// `KEY=VALUE`, the last one winning.
    pub(crate) set: Vec<(String, String)>,
}

/// Looks up a variable: in the process's environment, or in a map in tests.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Parses `docs.directories`. A directory that does not exist is a warning.
fn directories(names: &[String], root: &Root, warnings: &mut Vec<String>) -> anyhow::Result<Vec<RepoPath>> {
    let mut directories = Vec::new();
    for name in names {
        let path = RepoPath::parse(name.trim_end_matches('/'))
            .with_context(|| format!("docs.directories: {name}"))?;
        if !root.path().join(path.as_str()).is_dir() {
            let shown = inline_to(path.as_str(), 200);
            warnings.push(format!("docs.directories names {shown}, which is no directory"));
        }
        directories.push(path);
    }
    Ok(directories)
}

/// Parses `git.allowed_directories`. A relative path would mean another directory in each project.
fn allowed_directories(values: Values<'_>, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = values
        .list("git.allowed_directories")
        .into_iter()
        .map(PathBuf::from)
        .collect();
    directories.retain(|directory| {
        let is_absolute = directory.is_absolute();
        if !is_absolute {
            let name = directory.display();
            warnings.push(format!(
                "git.allowed_directories names {name}, which is not an absolute path"
            ));
        }
        is_absolute
    });
    directories
}

/// The default of `docs.description`. The directory's name often comes with the clone.
fn describe_docs(root: &Root) -> String {
    let name = project_name(root.path());
    if is_listable(&name, ProjectTrust::Untrusted) {
        format!("documentation of {name}")
    } else {
        "project's documentation".to_owned()
    }
}

/// Decides whose words describe the documentation. Those of a project count only if it is trusted, and stay
/// apart from the user's.
fn docs_settings(values: Values<'_>, root: &Root, trust: ProjectTrust) -> DocsSettings {
    let text = values.text("docs.description");
    let is_own = !values.is_from_project("docs.description", root);
    DocsSettings {
        description: text
            .as_ref()
            .filter(|_| is_own)
            .map_or_else(|| describe_docs(root), |text| inline_to(text, 200)),
        quoted_description: text.filter(|_| !is_own && trust == ProjectTrust::Trusted),
    }
}

impl Settings {
    /// Decides every setting, once.
    pub(crate) fn resolve(
        flags: &Flags,
        environment: Environment<'_>,
        limits: &[DefaultLimit],
    ) -> anyhow::Result<Self> {
        let (path, root_origin) = root::find(flags, environment)?;
        let built_in = Access::new([]).expect("the built-in rules are valid");
        let root = Root::open(&path, built_in).map_err(|error| match &root_origin {
            ValueOrigin::Directory(_) => anyhow::Error::from(error),
            named => anyhow::anyhow!("{error}; check {named}, which names the project's directory"),
        })?;

        let mut sources = Sources::read(flags, environment, &root, user_config_file(environment))?;
        let keys = keys(limits);
        for (name, _) in &flags.set {
            if !keys.iter().any(|key| key.name == *name) {
                bail!("there is no setting {name}; `docent config` lists them all");
            }
        }
        let mut picked = Vec::new();
        for key in &keys {
            picked.push(sources.pick(key)?);
        }
        let SettingsWarnings { project, user } = sources.warnings(&keys, &root);
        let has_project_warnings = !project.is_empty();
        let mut warnings = project;
        warnings.extend(user);
        let entry = |(key, (value, origin))| ResolvedSetting { key, value, origin };
        let mut entries: Vec<ResolvedSetting> = keys.into_iter().zip(picked).map(entry).collect();

        let clock = fixed_clock(environment)?;
        let remote = embedder::build_remote(Values(&entries), environment, clock)?;
        if remote.as_ref().is_some_and(|remote| remote.server().is_paid()) {
            embedder::lower_limits(&mut entries, limits);
        }
        let trust_list =
            TrustList::new(user_config_file(environment).map(|file| file.with_file_name("trust.json")));
        let trust = read_trust(&trust_list, &root, &mut warnings);
        let values = Values(&entries);
        let blocked = values.list("access.blocked");
        let access = Access::new(blocked.iter().map(String::as_str)).context("access.blocked")?;
        let pages = directories(&values.list("docs.directories"), &root, &mut warnings)?;
        let root = root.with_access(access);
        Ok(Self {
            root_origin,
            form: values.form(),
            limits: values.call_limits(limits),
            log: values.log(),
            http: values.http(),
            clock,
            surroundings: GitEnvironment {
                allowed_directories: allowed_directories(values, &mut warnings),
                ..surroundings(environment)
            },
            folder: project_cache(environment, &root),
            index: IndexOptions {
                pages,
                remote,
                clock,
                ..values.index()
            },
            docs: docs_settings(values, &root, trust),
            trust,
            trust_list,
            boosts: values.boosts(),
            approval: values.approval(),
            read_hook: values.read_hook(),
            shell: values.shell(),
            state: project_state(environment, &root),
            home: home_directory(environment),
            links: user_config_file(environment).map(|file| file.with_file_name("links.json")),
            temporary: temporary_directory(),
            entries,
            warnings,
            has_project_warnings,
            root,
        })
    }
}

/// The directory of the project around the working directory. `None` outside of one.
pub(crate) fn find_project(environment: Environment<'_>) -> Option<PathBuf> {
    Some(root::find(&Flags::default(), environment).ok()?.0)
}

/// The counts of `docent sh` in the project around the working directory. `None` outside of a project, and
/// for a user without a home. No file of settings is read for it.
pub(crate) fn find_gain_log(environment: Environment<'_>) -> Option<GainLog> {
    let (path, _) = root::find(&Flags::default(), environment).ok()?;
    let root = Root::open(&path, Access::new([]).ok()?).ok()?;
    let clock = fixed_clock(environment).ok()?;
    Some(GainLog::new(&project_state(environment, &root)?, clock))
}

/// The decided values, read by the name of their setting.
#[derive(Clone, Copy)]
struct Values<'a>(&'a [ResolvedSetting]);

impl<'a> Values<'a> {
    fn get(self, name: &str) -> &'a Value {
        let entry = self.0.iter().find(|entry| entry.key.name == name);
        &entry.expect("a name from `keys`").value
    }

    /// True if the value comes from the project's file.
    fn is_from_project(self, name: &str, root: &Root) -> bool {
        let entry = self.0.iter().find(|entry| entry.key.name == name);
        let origin = &entry.expect("a name from `keys`").origin;
        *origin == ValueOrigin::File(sources::project_file(root))
    }

    fn number(self, name: &str) -> u64 {
        u64::try_from(self.get(name).as_integer().unwrap_or_default()).unwrap_or_default()
    }

    fn size(self, name: &str) -> usize {
        usize::try_from(self.number(name)).unwrap_or(usize::MAX)
    }

    fn seconds(self, name: &str) -> Duration {
        Duration::from_secs(self.number(name))
    }

    fn factor(self, name: &str) -> f64 {
        self.get(name).as_float().unwrap_or(1.0)
    }

    /// `None` if it is empty.
    fn text(self, name: &str) -> Option<String> {
        Some(self.get(name).as_str()?.to_owned()).filter(|text| !text.is_empty())
    }

    fn list(self, name: &str) -> Vec<String> {
        let items = self.get(name).as_array().into_iter().flatten();
        items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
    }

    fn call_limits(self, limits: &[DefaultLimit]) -> CallLimits {
        let per_minute = |limit: &DefaultLimit| u32::try_from(self.number(&limit.key())).unwrap_or(u32::MAX);
        CallLimits {
            answer_chars: self.size("answer.max_chars"),
            skip_shown: self.get("answer.skip_shown").as_bool().unwrap_or(true),
            call_time: self.seconds("call.timeout_seconds"),
            per_minute: limits.iter().map(per_minute).collect(),
        }
    }

    fn form(self) -> AnswerForm {
        match self.get("answer.form").as_str() {
            Some("compact") => AnswerForm::Compact,
            _ => AnswerForm::Contract,
        }
    }

    fn log(self) -> LogSettings {
        LogSettings {
            level: self.text("log.level").unwrap_or_default(),
            file: self.text("log.file").map(PathBuf::from),
        }
    }

    fn http(self) -> HttpSettings {
        HttpSettings {
            token: self.text("http.token"),
            allowed_hosts: self.list("http.allowed_hosts"),
            allowed_origins: self.list("http.allowed_origins"),
            max_body_bytes: self.size("http.max_body_bytes"),
            body_time: self.seconds("http.body_seconds"),
            head_time: self.seconds("http.head_seconds"),
            max_connections_per_address: self.size("http.connections_per_address"),
        }
    }

    fn index(self) -> IndexOptions {
        IndexOptions {
            largest_file: self.number("index.max_file_bytes"),
            watch: self.get("index.watch").as_bool().unwrap_or(true),
            commits: self.size("index.max_commits"),
            ..IndexOptions::default()
        }
    }

    fn boosts(self) -> BoostRules {
        BoostRules {
            recency_day: self.factor("rank.recency_day"),
            recency_week: self.factor("rank.recency_week"),
            module: self.factor("rank.module"),
            frequency: self.factor("rank.frequency"),
            window: f64::from(
                u32::try_from(self.number("rank.boost_window"))
                    .unwrap_or(100)
                    .min(100),
            ) / 100.0,
        }
    }

    fn read_hook(self) -> ReadHook {
        match self.get("hook.read").as_str() {
            Some("outline") => ReadHook::Outline {
                max_lines: self.size("hook.read_lines"),
            },
            _ => ReadHook::Off,
        }
    }

    fn shell(self) -> ShellSettings {
        ShellSettings {
            answer_chars: self.size("shell.max_chars"),
            exact_patch_chars: self.size("shell.exact_patch_chars"),
            whole_functions: self.size("shell.whole_functions"),
            function_lines: self.size("shell.function_lines"),
        }
    }

    fn approval(self) -> Approval {
        match self.get("memory.approval").as_str() {
            Some("never") => Approval::Never,
            _ => Approval::ByUser(self.seconds("memory.approval_seconds")),
        }
    }
}

/// Whether the user trusts the project. A list that cannot be read trusts nothing.
fn read_trust(list: &TrustList, root: &Root, warnings: &mut Vec<String>) -> ProjectTrust {
    match list.decision(root.path()) {
        Ok(Some(TrustDecision::Trusted)) => ProjectTrust::Trusted,
        Ok(_) => ProjectTrust::Untrusted,
        Err(error) => {
            warnings.push(error.to_string());
            ProjectTrust::Untrusted
        }
    }
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

/// The part of the environment that `git` processes get.
fn surroundings(environment: Environment<'_>) -> GitEnvironment {
    let passed_on = ["HOME", "USERPROFILE", "SystemRoot", "TMPDIR", "TEMP", "TZ"];
    GitEnvironment {
        temporary: temporary_directory(),
        search: environment("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default(),
        variables: passed_on
            .into_iter()
            .filter_map(|name| Some((name.into(), environment(name)?)))
            .collect(),
        ..GitEnvironment::default()
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
