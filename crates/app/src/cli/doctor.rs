//! `docent doctor`: checks everything that can keep docent from working well, and says what to do about it.
//!
//! Invariant: without `--fix`, neither the index nor any settings are changed; with it, only the index and
//! docent's own entries in clients.

use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use docent_core::client_config::{Entry, Value};
use docent_engine::client_plugins::{claude_marketplace_plugin, claude_server_extensions, has_claude_server};
use docent_engine::clients::{Client, Machine, SettingsFile, SettingsScope};
use docent_engine::index::{Index, WatchError};
use docent_engine::trust::TrustDecision;
use serde_json::{Value as Json, json};

use super::flags::{flag, variable};
use super::setup::machine;
use super::{index, installed};
use crate::markdown::count;
use crate::project::open_index;
use crate::settings::{Settings, ValueOrigin};
use crate::terminal::{self, Mark, TerminalPage};

pub(super) fn command() -> Command {
    Command::new("doctor")
        .about("Look for what keeps docent from working well, and say how to mend it")
        .arg(flag(
            "fix",
            "Mend what can be mended safely: the index, and entries of clients",
        ))
        .arg(flag("json", "Print it as JSON"))
}

/// The result of one check.
struct Finding {
    subject: &'static str,
    mark: Mark,
    message: String,
    /// What to do about it.
    advice: Option<String>,
    remedy: Option<Remedy>,
}

/// A repair that `--fix` makes.
enum Remedy {
    UpdateIndex,
    /// For an index that cannot be read.
    RebuildIndex,
    /// Writes docent's entry into a client's settings.
    Connect(SettingsFile, Entry),
}

fn good(subject: &'static str, message: impl Into<String>) -> Finding {
    Finding {
        subject,
        mark: Mark::Good,
        message: message.into(),
        advice: None,
        remedy: None,
    }
}

impl Finding {
    fn with(
        mark: Mark,
        subject: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            mark,
            advice: Some(advice.into()),
            ..good(subject, message)
        }
    }

    fn note(subject: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::with(Mark::Note, subject, message, advice)
    }

    fn bad(subject: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::with(Mark::Bad, subject, message, advice)
    }

    fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

pub(super) fn run(
    settings: &anyhow::Result<Settings>,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let mut findings = check_all(settings.as_ref());
    if given.get_flag("fix")
        && let Ok(settings) = settings
    {
        for remedy in findings.iter_mut().filter_map(|finding| finding.remedy.take()) {
            apply_remedy(remedy, settings);
        }
        findings = check_all(Ok(settings));
    }
    let is_healthy = findings.iter().all(|finding| finding.mark != Mark::Bad);
    if given.get_flag("json") {
        let all = findings.iter().map(|finding| {
            json!({
                "what": finding.subject,
                "state": format!("{:?}", finding.mark).to_lowercase(),
                "said": finding.message,
                "advice": finding.advice,
                "canBeFixed": finding.remedy.is_some(),
            })
        });
        page.json(&json!({ "healthy": is_healthy, "findings": all.collect::<Vec<_>>() }))?;
    } else {
        for finding in &findings {
            page.check(
                finding.mark,
                finding.subject,
                &finding.message,
                finding.advice.as_deref(),
            )?;
        }
        let fixable = findings.iter().filter(|finding| finding.remedy.is_some()).count();
        if fixable > 0 {
            page.note(&format!("`docent doctor --fix` mends {fixable} of these"))?;
        }
    }
    page.finish()?;
    Ok(if is_healthy {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Every check, the most important first.
fn check_all(settings: Result<&Settings, &anyhow::Error>) -> Vec<Finding> {
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => {
            let advice = "mend the file or the flag that is named; nothing else was looked at";
            return vec![Finding::bad("settings", format!("{error:#}"), advice)];
        }
    };
    let index = open_index(settings).0;
    let mut findings = vec![check_root(settings), check_configuration(settings)];
    findings.extend(check_index(&index));
    findings.insert(2, check_trust(settings));
    findings.push(check_watcher(&index, settings));
    findings.push(check_embedder(settings));
    findings.push(check_git(settings));
    findings.extend(check_proxy());
    match std::env::current_exe() {
        Ok(program) => {
            findings.extend(check_installed(settings, &program));
            findings.extend(check_clients(&machine(settings, &program)));
        }
        Err(error) => findings.push(Finding::bad(
            "clients",
            format!("this program cannot be found: {error}"),
            "start docent by its whole path",
        )),
    }
    findings.push(list_servers());
    findings
}

fn check_root(settings: &Settings) -> Finding {
    let path = settings.root.path();
    let message = format!("{} ({})", path.display(), settings.root_origin);
    if settings.home.as_deref() == Some(path) || path.parent().is_none() {
        let advice = "name a project with --root DIR or DOCENT_ROOT; docent would index everything below";
        return Finding::bad("project", message, advice);
    }
    if settings.root_origin == ValueOrigin::Directory("working directory") {
        let advice =
            "no git repository was found around it; name the project with --root DIR if it is another";
        return Finding::note("project", message, advice);
    }
    good("project", message)
}

fn check_configuration(settings: &Settings) -> Finding {
    match settings.warnings.as_slice() {
        [] => good("settings", "nothing is ignored"),
        warnings => Finding::note(
            "settings",
            warnings.join("; "),
            "`docent config` shows every setting and where it comes from",
        ),
    }
}

fn check_trust(settings: &Settings) -> Finding {
    match settings.trust_list.decision(settings.root.path()) {
        Ok(Some(TrustDecision::Trusted)) => {
            good("trust", "the project's own descriptions reach clients, quoted")
        }
        Ok(Some(TrustDecision::Declined)) => good(
            "trust",
            "the project's own descriptions are held back, as you decided",
        ),
        Ok(None) => Finding::note(
            "trust",
            "the project's own descriptions are held back from clients",
            "`docent trust` lets them through, quoted, if you trust its authors",
        ),
        Err(error) => Finding::note(
            "trust",
            error.to_string(),
            "mend or remove the file; nothing is trusted meanwhile",
        ),
    }
}

fn check_index(index: &Index) -> Vec<Finding> {
    let status = index.status();
    let freshness = &status.freshness;
    let troubles = freshness.troubles.join("; ");
    let mut findings = Vec::new();
    if status.is_unwritable {
        let advice = "make the cache directory writable, or set XDG_CACHE_HOME to one that is";
        findings.push(Finding::bad("cache", troubles.clone(), advice));
    } else {
        findings.push(good("cache", "can be written"));
    }
    let files = count(freshness.files as u64);
    findings.push(if status.is_unreadable {
        Finding::bad("index", troubles, "`docent index --force` rebuilds it")
            .with_remedy(Remedy::RebuildIndex)
    } else if freshness.pending > 0 && status.chunks == 0 {
        let message = format!("there is none yet of {files} files");
        Finding::note("index", message, "a search builds it, or `docent index`")
            .with_remedy(Remedy::UpdateIndex)
    } else if freshness.pending > 0 {
        let message = format!(
            "{} of {files} files have changed since",
            count(freshness.pending as u64)
        );
        Finding::note(
            "index",
            message,
            "the next search takes them in, or `docent index`",
        )
        .with_remedy(Remedy::UpdateIndex)
    } else {
        good(
            "index",
            format!("{files} files, {} chunks, up to date", count(status.chunks)),
        )
    });
    findings
}

fn check_watcher(index: &Index, settings: &Settings) -> Finding {
    if !settings.index.watch {
        let advice =
            "every search looks at all files; remove index.watch = false to have changes watched for";
        return Finding::note("watcher", "is turned off", advice);
    }
    match index.try_watching() {
        Ok(directories) if cfg!(target_os = "linux") => good(
            "watcher",
            format!("{} directories can be watched", count(directories as u64)),
        ),
        Ok(_) => good(
            "watcher",
            "changes are indexed in the background; on this system every search looks at the files as well",
        ),
        Err(error) => {
            let message = format!(
                "cannot watch the project ({error}); every search looks at all files, which is slower"
            );
            let advice = match error {
                WatchError::Exhausted(_) => {
                    "raise the limit: sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024"
                }
                WatchError::Hindered(_) => {
                    "make the cache directory writable: the watcher keeps a folder there"
                }
            };
            Finding::bad("watcher", message, advice)
        }
    }
}

fn check_embedder(settings: &Settings) -> Finding {
    let Some(remote) = &settings.index.remote else {
        return good("embedder", "built in");
    };
    let server = remote.server();
    match remote.probe() {
        Ok(numbers) => good(
            "embedder",
            format!(
                "{} at {} gives {} numbers",
                server.model,
                server.host(),
                count(numbers as u64)
            ),
        ),
        Err(trouble) => Finding::bad(
            "embedder",
            format!("the embedding server {} {trouble}", server.host()),
            "start it, or mend embedder.url, embedder.model and embedder.key; searches go on without it",
        ),
    }
}

fn check_git(settings: &Settings) -> Finding {
    match settings.surroundings.find_program("git", settings.root.path()) {
        Some(program) => good("git", program.display().to_string()),
        None => Finding::bad(
            "git",
            "is not on the PATH; git_log, git_blame and git_diff cannot answer",
            "install git, or add its directory to PATH",
        ),
    }
}

/// Several docents on the `PATH`, which may be of different versions.
fn check_installed(settings: &Settings, program: &Path) -> Option<Finding> {
    let installed = installed::find(settings);
    let advice = installed::advice(&installed, program)?;
    let message = format!("docent is on the PATH {} times", count(installed.len() as u64));
    Some(Finding::note("installed", message, advice))
}

/// A proxy that would get requests to this machine. Over stdio there are none.
fn check_proxy() -> Option<Finding> {
    let given = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let name = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
        .into_iter()
        .find(given)?;
    let exceptions = ["no_proxy", "NO_PROXY"].into_iter().filter_map(variable);
    let is_excepted = exceptions.filter_map(|list| list.into_string().ok()).any(|list| {
        list.split(',')
            .any(|host| matches!(host.trim(), "*" | "127.0.0.1" | "127.0.0.0/8"))
    });
    if is_excepted {
        return None;
    }
    Some(Finding::note(
        "proxy",
        format!("{name} is set, and NO_PROXY does not except 127.0.0.1"),
        "set NO_PROXY=localhost,127.0.0.1 if a client connects by `docent serve --http`; over stdio nothing is to do",
    ))
}

/// Checks docent's entries in the settings of clients.
fn check_clients(machine: &Machine<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut connected = Vec::new();
    for client in Client::ALL {
        let mut entries = Vec::new();
        for scope in [SettingsScope::User, SettingsScope::Project] {
            let Some(file) = client.settings_file(scope, machine) else {
                continue;
            };
            match file.entry() {
                Ok(None) => {}
                Ok(Some(entry)) => entries.push((file, entry)),
                Err(error) => findings.push(Finding::bad(
                    "clients",
                    format!("{}: {error}", client.title()),
                    "mend the file; the client cannot read it either",
                )),
            }
        }
        if let [(one, _), (other, _)] = entries.as_slice() {
            findings.push(Finding::note(
                "clients",
                format!(
                    "{} has docent twice: {} and {}",
                    client.title(),
                    one.path.display(),
                    other.path.display()
                ),
                format!("docent setup --remove --project --client {}", client.name()),
            ));
        }
        for (file, entry) in entries {
            match find_entry_problem(&entry, machine) {
                None => connected.push(client.title()),
                Some((mark, message)) => {
                    let project = if file.scope == SettingsScope::Project {
                        " --project"
                    } else {
                        ""
                    };
                    let advice = format!("docent setup --client {}{project}", client.name());
                    let message = format!("{}: {message} ({})", client.title(), file.path.display());
                    let expected = client.entry(file.scope, machine);
                    findings.push(
                        Finding::with(mark, "clients", message, advice)
                            .with_remedy(Remedy::Connect(file, expected)),
                    );
                }
            }
        }
    }
    if let Some(title) = check_claude_plugin(machine, &mut findings) {
        connected.insert(0, title);
    }
    connected.dedup();
    match connected.as_slice() {
        [] if findings.is_empty() => {
            let here: Vec<&str> = Client::ALL
                .into_iter()
                .filter(|client| client.is_installed(machine))
                .map(Client::title)
                .collect();
            let message = match here.as_slice() {
                [] => "none is known to be here".to_owned(),
                here => format!("{} without docent", here.join(", ")),
            };
            findings.push(Finding::note("clients", message, "`docent setup` connects them"));
        }
        [] => {}
        connected => findings.push(good("clients", connected.join(", "))),
    }
    findings
}

/// Checks docent's plugin in Claude Code. Returns the client's name if it is there.
fn check_claude_plugin(machine: &Machine<'_>, findings: &mut Vec<Finding>) -> Option<&'static str> {
    let title = Client::ClaudeCode.title();
    let folder = Client::ClaudeCode.plugin_folder(SettingsScope::User, machine)?;
    let own = folder.has_own_files(&[]);
    let name =
        claude_marketplace_plugin(machine).or_else(|| own.then(|| folder.path.display().to_string()))?;
    let mut note = |message: String| {
        findings.push(Finding::note(
            "clients",
            format!("{title}: {message}"),
            "docent setup --plugin",
        ));
    };
    if has_claude_server(machine) {
        note(format!(
            "the plugin {name} stands back, because the settings have docent, too"
        ));
    }
    let read = |file: &str| -> Json {
        let text = folder.read(file).filter(|_| own).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    if let Some(program) = read(".mcp.json")["mcpServers"]["docent"]["command"].as_str()
        && !Path::new(program).is_file()
    {
        note(format!("the plugin starts {program}, which is not there"));
    }
    let others = claude_server_extensions(machine);
    let own_map = read(".lsp.json")["docent"]["extensionToLanguage"].take();
    let shared: Vec<&str> = own_map
        .as_object()
        .into_iter()
        .flat_map(|map| map.keys())
        .map(String::as_str)
        .filter(|extension| others.contains(*extension))
        .collect();
    if !shared.is_empty() {
        note(format!(
            "docent and another language server answer for {}",
            shared.join(", ")
        ));
    }
    Some(title)
}

/// The problem of an entry: its program or its project does not exist, or it starts another docent.
fn find_entry_problem(entry: &Entry, machine: &Machine<'_>) -> Option<(Mark, String)> {
    let field = |name: &str| {
        entry
            .iter()
            .find(|(field, _)| field == name)
            .map(|(_, value)| value)
    };
    let mut words: Vec<&str> = Vec::new();
    for name in ["command", "args"] {
        match field(name) {
            Some(Value::Text(text)) => words.push(text),
            Some(Value::List(items)) => words.extend(items.iter().map(String::as_str)),
            _ => {}
        }
    }
    let (program, arguments) = words.split_first()?;
    let path = Path::new(program);
    if path.is_absolute() && !path.exists() {
        return Some((Mark::Bad, format!("it starts {program}, which is not there")));
    }
    if !path.is_absolute() && !machine.has_program(program) {
        return Some((
            Mark::Bad,
            format!("it starts {program}, which is not on the PATH"),
        ));
    }
    let is_gone = |root: &&str| Path::new(root).is_absolute() && !Path::new(root).is_dir();
    if let Some(root) = root_flag(arguments).filter(is_gone) {
        return Some((Mark::Bad, format!("it serves {root}, which is not there")));
    }
    let same = |one: &Path, other: &Path| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(one) == real(other)
    };
    if path.is_absolute() && !same(path, machine.program) {
        return Some((Mark::Note, format!("it starts another docent, {program}")));
    }
    None
}

/// The value of `--root` among the words of a command.
fn root_flag<W: AsRef<str>>(words: &[W]) -> Option<&str> {
    let at = words.iter().position(|word| word.as_ref() == "--root")?;
    words.get(at + 1).map(AsRef::as_ref)
}

/// Lists the servers that run now.
fn list_servers() -> Finding {
    #[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut running = Vec::new();
    for process in processes {
        let name = process.file_name().to_string_lossy().into_owned();
        #[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
        let Ok(line) = std::fs::read(process.path().join("cmdline")) else {
            continue;
        };
        let words: Vec<String> = line
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let is_docent = words
            .first()
            .is_some_and(|word| Path::new(word).file_name().is_some_and(|name| name == "docent"));
        if !is_docent || !words.iter().any(|word| word == "serve") {
            continue;
        }
        let root = root_flag(&words).map_or_else(
            || std::fs::read_link(process.path().join("cwd")).unwrap_or_default(),
            Into::into,
        );
        running.push(format!("process {name} in {}", root.display()));
    }
    running.sort_unstable();
    match running.as_slice() {
        [] => good("servers", "none runs now"),
        running => good("servers", running.join(", ")),
    }
}

fn apply_remedy(remedy: Remedy, settings: &Settings) {
    match remedy {
        Remedy::UpdateIndex => drop(index::bring_up_to_date(&open_index(settings).0, settings)),
        Remedy::RebuildIndex => drop(index::rebuild(&open_index(settings).0, settings)),
        Remedy::Connect(file, entry) => {
            let written = file
                .plan_put(&entry)
                .and_then(|change| change.map_or(Ok(()), |change| change.apply()));
            match written {
                Ok(()) => terminal::announce(&format!(
                    "{}: docent is in {}",
                    file.client.title(),
                    file.path.display()
                )),
                Err(error) => terminal::complain(&error.to_string()),
            }
        }
    }
}
