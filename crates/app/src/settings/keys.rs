//! The table of settings: names, defaults, accepted values, and whether a project's file may set them.
//!
//! Invariant: every name is listed once, and its order here is the order of `docent config` and
//! `docs/config.md`.

use anyhow::{Context, anyhow};
use docent_core::access::Access;
use docent_core::path::RepoPath;
use toml::Value;

use super::DefaultLimit;

/// Every setting.
pub(crate) fn keys(limits: &[DefaultLimit]) -> Vec<SettingKey> {
    let mut keys = vec![
        key(
            "access.blocked",
            Vec::<String>::new(),
            "More paths that are never shown: `*.sqlite` anywhere, `infra/prod` from the root",
        )
        .adds_up()
        .items(|pattern| Ok(Access::new([pattern]).map(drop)?)),
        key(
            "call.timeout_seconds",
            30,
            "Seconds a call may take before it is stopped, 1 to 86,400",
        )
        .least(1)
        .most(86_400),
        key(
            "docs.description",
            "",
            "What search_docs searches, as its description says it to clients; the words of a project are quoted, and only if it is trusted",
        ),
        key(
            "docs.directories",
            Vec::<String>::new(),
            "Where the documentation is, e.g. `docs`; all markdown of the project where nothing is named",
        )
        .items(|path| Ok(RepoPath::parse(path.trim_end_matches('/')).map(drop)?)),
        key(
            "git.allowed_directories",
            Vec::<String>::new(),
            "Directories that git may read beside a project's `.git`: object stores of shared clones, bare repositories",
        )
        .not_from_project(),
        key(
            "index.max_commits",
            10_000,
            "Commits whose messages are searched for fixes and decisions, the newest; 0 for none",
        )
        .most(10_000_000),
        key(
            "index.max_file_bytes",
            4_194_304,
            "Bytes a file may have to be indexed; `docent status` names those that have more",
        )
        .least(1_024)
        .most(1 << 30),
        key(
            "index.watch",
            true,
            "Whether a server watches for changes; without, every search looks at all files",
        ),
    ];
    keys.extend(answer());
    keys.extend(hook());
    keys.extend(log());
    keys.extend(memory());
    keys.extend(embedder());
    keys.extend(http());
    keys.extend(boosts());
    keys.extend(shell());
    for limit in limits {
        let about = format!(
            "Calls of {} a session may make in any minute; 0 for any number",
            limit.tool
        );
        keys.push(key(&limit.key(), i64::from(limit.per_minute), &about));
    }
    keys
}

/// The form and the size of answers.
fn answer() -> [SettingKey; 3] {
    [
        key(
            "answer.form",
            "contract",
            "How answers are written: `contract`, as documented for each tool, or `compact`, plain text for models",
        )
        .one_of(&["contract", "compact"]),
        key(
            "answer.max_chars",
            20_000,
            "Characters an answer may have; what is cut says how to get the rest",
        )
        .least(2_000)
        .most(10_000_000),
        key(
            "answer.skip_shown",
            true,
            "In the compact form, lines that a client was sent in its last 20 calls are named and not sent again",
        ),
    ]
}

/// Hooks of coding agents.
fn hook() -> [SettingKey; 2] {
    [
        key(
            "hook.read",
            "off",
            "What the hook answers to the first read of a whole large file: `outline`, its head and its outline, or `off`",
        )
        .one_of(&["off", "outline"])
        .not_from_project(),
        key(
            "hook.read_lines",
            600,
            "Lines that a file has at most without being large for hook.read",
        )
        .least(150)
        .most(1_000_000),
    ]
}

/// Answers of `docent sh`.
fn shell() -> [SettingKey; 4] {
    [
        key(
            "shell.exact_patch_chars",
            1_200,
            "Characters up to which `docent sh git diff` prints a patch as git does, so that it can be applied",
        )
        .most(1_000_000),
        key(
            "shell.function_lines",
            40,
            "Lines that a function has at most to be shown whole by `docent sh`",
        )
        .least(1)
        .most(1_000),
        key(
            "shell.max_chars",
            4_000,
            "Characters that an answer of `docent sh` may have before it is shortened",
        )
        .least(1_000)
        .most(1_000_000),
        key(
            "shell.whole_functions",
            3,
            "Functions around matches that `docent sh` shows whole; 0 for none",
        )
        .most(20),
    ]
}

/// The log's file and level.
fn log() -> [SettingKey; 2] {
    [
        key("log.file", "", "File that gets every log line as JSON, appended").not_from_project(),
        key(
            "log.level",
            "info",
            "How much is logged: off, error, warn, info, debug or trace",
        )
        .one_of(&["off", "error", "warn", "info", "debug", "trace"])
        .not_from_project(),
    ]
}

/// Approval of memory entries.
fn memory() -> [SettingKey; 2] {
    [
        key(
            "memory.approval",
            "ask",
            "Who decides what write_memory_entry writes: `ask` the user, or `never` ask",
        )
        .one_of(&["ask", "never"])
        .not_from_project(),
        key(
            "memory.approval_seconds",
            300,
            "Seconds the user has to answer before an entry waits for `docent memory approve`",
        )
        .least(1)
        .most(86_400),
    ]
}

/// The embedding server. A project's file may not set it: the user decides where their code is sent.
fn embedder() -> Vec<SettingKey> {
    let keys = vec![
        key(
            "embedder.batch",
            64,
            "Texts that are sent to the embedding server at a time, 512 at most",
        )
        .least(1),
        key(
            "embedder.dimensions",
            0,
            "Numbers a vector should have, for servers that let one choose; 0 for what the model has",
        ),
        key(
            "embedder.key",
            "",
            "Key for the embedding server; better in DOCENT_EMBEDDER_KEY or in a file than in a settings file",
        )
        .secret(),
        key(
            "embedder.key_file",
            "",
            "File that holds the key for the embedding server, and nothing else",
        ),
        key(
            "embedder.model",
            "",
            "Model that the embedding server is asked for, e.g. `nomic-embed-text`",
        ),
        key(
            "embedder.query_prefix",
            "",
            "What stands before a question, for models that are to be told, e.g. `search_query: `",
        ),
        key(
            "embedder.text_prefix",
            "",
            "What stands before a text that is searched, e.g. `search_document: `",
        ),
        key(
            "embedder.url",
            "",
            "Embedding server in OpenAI's form, e.g. `http://localhost:11434/v1`; none by default, and nothing leaves the machine",
        ),
    ];
    keys.into_iter().map(SettingKey::not_from_project).collect()
}

/// Access to the HTTP server, and the size of requests.
fn http() -> Vec<SettingKey> {
    vec![
        key(
            "http.allowed_hosts",
            Vec::<String>::new(),
            "More values of the Host header to accept, beside loopback and the address served on",
        )
        .not_from_project(),
        key(
            "http.allowed_origins",
            Vec::<String>::new(),
            "More values of the Origin header to accept, beside loopback",
        )
        .not_from_project(),
        key(
            "http.body_seconds",
            10,
            "Seconds a client may take to send a request",
        )
        .not_from_project(),
        key(
            "http.connections_per_address",
            256,
            "Connections that one address may have open; a new one then replaces the oldest that is not being answered",
        )
        .not_from_project(),
        key(
            "http.head_seconds",
            5,
            "Seconds a new connection may take to send the head of its first request",
        )
        .not_from_project(),
        key("http.max_body_bytes", 4_194_304, "Bytes a request may have").not_from_project(),
        key(
            "http.token",
            "",
            "Bearer token that every request must carry; required beyond loopback",
        )
        .not_from_project()
        .secret(),
    ]
}

/// Factors on search results, by how their file is used.
fn boosts() -> impl Iterator<Item = SettingKey> {
    let boosts = [
        (
            "rank.recency_day",
            1.5,
            "a file that was read in the last 24 hours",
        ),
        (
            "rank.recency_week",
            1.2,
            "a file that was read in the last 7 days",
        ),
        ("rank.module", 1.3, "a file of the module being worked in"),
        (
            "rank.frequency",
            1.5,
            "a file that was read often this week, at the most",
        ),
    ];
    let window = key(
        "rank.boost_window",
        15,
        "Percent by which the scores of two results may differ for these factors to reorder them",
    )
    .most(100);
    let factors = boosts.into_iter().map(|(name, default, whose)| {
        let about = format!("How much more a search result counts of {whose}; 1 turns it off");
        key(name, default, &about)
    });
    factors.chain([window])
}

/// One setting.
pub(crate) struct SettingKey {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) default: Value,
    pub(crate) from_project: bool,
    pub(crate) secret: bool,
    /// A list to which every source adds.
    pub(crate) adds_up: bool,
    /// The smallest and the largest number it accepts.
    least: i64,
    most: i64,
    /// Checks an item of a list.
    check_item: fn(&str) -> anyhow::Result<()>,
    /// The words it accepts; any text if empty.
    words: &'static [&'static str],
}

fn key(name: &str, default: impl Into<Value>, about: &str) -> SettingKey {
    SettingKey {
        name: name.into(),
        about: about.into(),
        default: default.into(),
        from_project: true,
        secret: false,
        adds_up: false,
        least: 0,
        most: i64::MAX,
        check_item: |_| Ok(()),
        words: &[],
    }
}

impl SettingKey {
    fn not_from_project(mut self) -> Self {
        self.from_project = false;
        self
    }

    fn adds_up(mut self) -> Self {
        self.adds_up = true;
        self
    }

    fn least(mut self, least: i64) -> Self {
        self.least = least;
        self
    }

    fn most(mut self, most: i64) -> Self {
        self.most = most;
        self
    }

    fn items(mut self, check: fn(&str) -> anyhow::Result<()>) -> Self {
        self.check_item = check;
        self
    }

    fn one_of(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The variable that sets it: `DOCENT_LOG_LEVEL` for `log.level`.
    pub(crate) fn variable(&self) -> String {
        format!("DOCENT_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Reads text as the kind of value the default has; lists are separated by commas.
    pub(super) fn parse(&self, text: &str) -> anyhow::Result<Value> {
        self.accept(match &self.default {
            Value::Integer(_) => {
                Value::Integer(text.trim().parse().map_err(|_| self.wrong("a whole number"))?)
            }
            Value::Float(_) => Value::Float(text.trim().parse().map_err(|_| self.wrong("a number"))?),
            Value::Boolean(_) => {
                Value::Boolean(text.trim().parse().map_err(|_| self.wrong("true or false"))?)
            }
            Value::Array(_) => text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(String::from)
                .collect::<Vec<_>>()
                .into(),
            _ => Value::String(text.to_owned()),
        })
    }

    /// Returns the value if it has the right type and range.
    pub(super) fn accept(&self, value: Value) -> anyhow::Result<Value> {
        match (&self.default, &value) {
            (Value::Integer(_), Value::Integer(number)) if (self.least..=self.most).contains(number) => {}
            (Value::Integer(_), _) if self.most == i64::MAX => {
                return Err(self.wrong(&format!("a whole number, {} or more", self.least)));
            }
            (Value::Integer(_), _) => {
                let (least, most) = (self.least, self.most);
                return Err(self.wrong(&format!("a whole number from {least} to {most}")));
            }
            (Value::Float(_), Value::Integer(number @ 1..=10)) => {
                return Ok(Value::Float(f64::from(i32::try_from(*number)?)));
            }
            (Value::Float(_), Value::Float(number)) if (1.0..=10.0).contains(number) => {}
            (Value::Float(_), _) => return Err(self.wrong("a number from 1 to 10")),
            (Value::Boolean(_), Value::Boolean(_)) => {}
            (Value::Boolean(_), _) => return Err(self.wrong("true or false")),
            (Value::Array(_), Value::Array(items)) if items.iter().all(Value::is_str) => {
                for item in items.iter().filter_map(Value::as_str) {
                    (self.check_item)(item).with_context(|| self.name.clone())?;
                }
            }
            (Value::Array(_), _) => return Err(self.wrong("a list of strings")),
            (_, Value::String(word)) if !self.words.is_empty() && !self.words.contains(&word.as_str()) => {
                return Err(self.wrong(&format!("one of {}", self.words.join(", "))));
            }
            (_, Value::String(_)) => {}
            _ => return Err(self.wrong("a string")),
        }
        Ok(value)
    }

    fn wrong(&self, wanted: &str) -> anyhow::Error {
        anyhow!("{} must be {wanted}", self.name)
    }
}
