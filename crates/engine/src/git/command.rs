//! The `git` command, run so that no repository can make it run, write or fetch anything.
//!
//! The configuration of the user and of the system is not read, so that an answer depends on the repository
//! only. The programs that the repository's own configuration could start are switched off by name: hooks,
//! pagers, file system monitors, external diffs, text conversion, signature checks, and every filter it
//! defines.
//!
//! Invariant: arguments from callers reach git as object ids or after `--`, never where an option could
//! stand.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use super::GitError;
use super::location::RepoLocation;
use crate::clock::{Clock, rfc3339};
use crate::deadline::Deadline;

/// The part of the process's environment that git sees, the directories to find it in, and those it may read.
#[derive(Clone, Debug, Default)]
pub struct GitEnvironment {
    /// Directories of the `PATH`.
    pub search: Vec<PathBuf>,
    /// Variables that are passed on: the home directory, the time zone.
    pub variables: Vec<(OsString, OsString)>,
    /// Directories that the user allows git to read beside a project's own `.git`: object stores that its
    /// `objects/info/alternates` names, and bare repositories.
    pub allowed_directories: Vec<PathBuf>,
    /// The system's directory for temporary files.
    pub temporary: PathBuf,
}

/// git as it is run for one repository.
#[derive(Clone, Debug)]
pub(super) struct Runner {
    program: PathBuf,
    variables: Vec<(OsString, OsString)>,
    location: RepoLocation,
    clock: Clock,
    /// Settings of the repository that are overridden, beyond [`SETTINGS`].
    overrides: Vec<(String, String)>,
    /// An object directory in the user's cache with a commit graph, which speeds up the history of a path.
    graph: Option<PathBuf>,
}

/// Settings that override the repository's configuration.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.bigFileThreshold=16m",
    "core.splitIndex=false",
    "core.quotePath=false",
    "diff.external=",
    "diff.autoRefreshIndex=true",
    "diff.suppressBlankEmpty=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.follow=false",
    "mailmap.file=",
    "diff.orderFile=/dev/null",
    "blame.ignoreRevsFile=",
    "blame.showRoot=false",
    "protocol.allow=never",
];

/// Interval at which the deadline of a running command is checked.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Bytes of git's stderr that are read for its error message.
const MAX_STDERR_BYTES: u64 = 4_096;

impl Runner {
    pub(super) fn new(
        program: PathBuf,
        environment: &GitEnvironment,
        location: RepoLocation,
        clock: Clock,
    ) -> Self {
        Self {
            program,
            variables: environment.variables.clone(),
            location,
            clock,
            overrides: Vec::new(),
            graph: None,
        }
    }

    pub(super) fn graph(&self) -> Option<&Path> {
        self.graph.as_deref()
    }

    pub(super) fn location(&self) -> &RepoLocation {
        &self.location
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Today's date by the clock, in UTC: `2026-01-31`.
    pub(super) fn today(&self) -> String {
        rfc3339(self.clock.now())[..10].to_owned()
    }

    #[must_use]
    pub(super) fn with_overrides(mut self, overrides: Vec<(String, String)>) -> Self {
        self.overrides = overrides;
        self
    }

    #[must_use]
    pub(super) fn with_graph(mut self, graph: Option<PathBuf>) -> Self {
        self.graph = graph;
        self
    }

    /// `git SUBCOMMAND`, with everything switched off that could run a program or depend on the user.
    pub(super) fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.location.directory())
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs([
                ("LC_ALL", "C"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", null_device()),
                ("GIT_ATTR_NOSYSTEM", "1"),
                ("GIT_NO_LAZY_FETCH", "1"),
                ("GIT_NO_REPLACE_OBJECTS", "1"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_ALLOW_PROTOCOL", "none"),
            ])
            .env("GIT_DIR", &self.location.git_dir);
        if let Some(work_tree) = &self.location.work_tree {
            command.env("GIT_WORK_TREE", work_tree);
        }
        if let Clock::Fixed(now) = self.clock {
            command.env("GIT_TEST_DATE_NOW", now.as_second().to_string());
        }
        if let Some(graph) = &self.graph {
            command
                .env("GIT_OBJECT_DIRECTORY", graph)
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.location.objects());
        }
        // A filter's name may contain any character. Unlike `-c`, these variables do not split it.
        command.env("GIT_CONFIG_COUNT", self.overrides.len().to_string());
        for (at, (key, value)) in self.overrides.iter().enumerate() {
            command
                .env(format!("GIT_CONFIG_KEY_{at}"), key)
                .env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command.args(["--no-optional-locks", "--no-pager", "--literal-pathspecs"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        // A bare repository reads its mailmap from a commit by default.
        if self.location.work_tree.is_some() {
            command.args(["-c", "mailmap.blob="]);
        }
        command.arg(subcommand);
        command
    }
}

fn null_device() -> &'static str {
    if cfg!(windows) { "NUL" } else { "/dev/null" }
}

/// Runs a command and reads its output while it runs. If `read` returns before the end, the command is
/// killed.
pub(super) fn stream<T>(
    mut command: Command,
    input: Option<&[u8]>,
    deadline: &Deadline,
    read: impl FnOnce(&mut dyn BufRead) -> Result<T, GitError>,
) -> Result<T, GitError> {
    let (value, end) = supervise(&mut command, input, deadline, read)?;
    match end {
        CommandEnd::Stopped => Ok(value),
        CommandEnd::Exited(status, _) if status.success() => Ok(value),
        CommandEnd::Exited(_, error) => Err(error),
    }
}

/// Runs a command, reads at most `limit` bytes of output, and returns them with the exit code.
pub(super) fn read_output(
    mut command: Command,
    limit: u64,
    deadline: &Deadline,
) -> Result<(Vec<u8>, Option<i32>), GitError> {
    let (bytes, end) = supervise(&mut command, None, deadline, |out| {
        let mut bytes = Vec::new();
        out.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(GitError::Pipe)?;
        Ok(bytes)
    })?;
    if bytes.len() as u64 > limit {
        return Err(GitError::Failed(TOO_MUCH_OUTPUT));
    }
    match end {
        CommandEnd::Stopped => Ok((bytes, None)),
        CommandEnd::Exited(status, _) => Ok((bytes, status.code())),
    }
}

/// Like [`read_output`], with an error for every exit code but 0.
pub(super) fn read_bytes(command: Command, limit: u64, deadline: &Deadline) -> Result<Vec<u8>, GitError> {
    stream(command, None, deadline, |out| {
        let mut bytes = Vec::new();
        out.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(GitError::Pipe)?;
        if bytes.len() as u64 > limit {
            return Err(GitError::Failed(TOO_MUCH_OUTPUT));
        }
        Ok(bytes)
    })
}

/// Like [`read_bytes`], as text.
pub(super) fn read_text(command: Command, limit: u64, deadline: &Deadline) -> Result<String, GitError> {
    let bytes = read_bytes(command, limit, deadline)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How a command ended.
enum CommandEnd {
    /// By itself. The error is made from its stderr.
    Exited(ExitStatus, GitError),
    /// Killed, because the reader had enough.
    Stopped,
}

fn supervise<T>(
    command: &mut Command,
    input: Option<&[u8]>,
    deadline: &Deadline,
    read: impl FnOnce(&mut dyn BufRead) -> Result<T, GitError>,
) -> Result<(T, CommandEnd), GitError> {
    deadline.check()?;
    command
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = spawn(command)?;
    let stdin = child.stdin.take();
    let mut stdout = BufReader::with_capacity(64 << 10, child.stdout.take().expect("it was piped"));
    let stderr = child.stderr.take().expect("it was piped");
    let child = Arc::new(Mutex::new(KilledOnDrop(child)));
    register(&child);
    let (finished, watched) = mpsc::channel::<()>();
    let (outcome, stderr_text) = thread::scope(|scope| {
        scope.spawn(|| {
            let watched = watched;
            while watched.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if deadline.check().is_err() {
                    kill(&child);
                }
            }
        });
        let stderr_text = scope.spawn(move || {
            let mut text = Vec::new();
            let mut stderr = stderr;
            // The rest is read and dropped. Otherwise git would block on a full pipe.
            let _ = stderr.by_ref().take(MAX_STDERR_BYTES).read_to_end(&mut text);
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            text
        });
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // An error means that git has closed its stdin; the reason is in its output.
            scope.spawn(move || drop(stdin.write_all(input)));
        }
        let outcome = read(&mut stdout);
        let is_done = outcome.is_ok() && stdout.fill_buf().is_ok_and(<[u8]>::is_empty);
        drop(stdout);
        if !is_done {
            kill(&child);
        }
        drop(finished);
        (outcome.map(|value| (value, is_done)), stderr_text.join())
    });
    deadline.check()?;
    let stderr_text = stderr_text.unwrap_or_default();
    let (value, is_done) = outcome.map_err(|error| match error {
        // Git's stderr says why the output ended too early.
        GitError::Truncated if !stderr_text.is_empty() => classify_error(&stderr_text),
        error => error,
    })?;
    if !is_done {
        return Ok((value, CommandEnd::Stopped));
    }
    let status = child
        .lock()
        .expect("nothing panics while it holds the child")
        .0
        .wait()
        .map_err(GitError::Pipe)?;
    Ok((value, CommandEnd::Exited(status, classify_error(&stderr_text))))
}

/// Starts a command. A program that was deleted since it was found counts as not installed.
pub(super) fn spawn(command: &mut Command) -> Result<Child, GitError> {
    let child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => GitError::NotInstalled,
        _ => GitError::Pipe(error),
    })?;
    limit_resources(&child);
    Ok(child)
}

/// Limits memory and CPU time of a command, so that a hostile repository cannot exhaust the machine, even if
/// docent is killed meanwhile.
#[cfg(target_os = "linux")]
fn limit_resources(child: &Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    // Private memory; packs are mapped and do not count.
    const MAX_DATA_BYTES: u64 = 3 << 30;
    const MAX_CPU_SECONDS: u64 = 1_800;
    let limit = |maximum| Rlimit {
        current: Some(maximum),
        maximum: Some(maximum),
    };
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = prlimit(Some(pid), Resource::Data, limit(MAX_DATA_BYTES));
        let _ = prlimit(Some(pid), Resource::Cpu, limit(MAX_CPU_SECONDS));
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_resources(_: &Child) {}

/// The running commands, so that none outlives the process. `None` once the process is about to end.
static RUNNING: Mutex<Option<Vec<Weak<Mutex<KilledOnDrop>>>>> = Mutex::new(Some(Vec::new()));

/// Adds a command to [`RUNNING`]. Kills it if the process is about to end.
pub(super) fn register(child: &Arc<Mutex<KilledOnDrop>>) {
    let mut running = RUNNING.lock().expect("nothing panics while it holds the list");
    match &mut *running {
        Some(running) => {
            running.retain(|other| other.strong_count() > 0);
            running.push(Arc::downgrade(child));
        }
        None => kill(child),
    }
}

/// Kills every running command, and each one that is started after this: the process is about to end.
pub fn end_children() {
    let running = RUNNING
        .lock()
        .expect("nothing panics while it holds the list")
        .take();
    for child in running.into_iter().flatten().filter_map(|child| child.upgrade()) {
        kill(&child);
    }
}

fn kill(child: &Mutex<KilledOnDrop>) {
    child
        .lock()
        .expect("nothing panics while it holds the child")
        .kill();
}

/// A child process that does not outlive its owner.
#[derive(Debug)]
pub(super) struct KilledOnDrop(pub(super) Child);

impl KilledOnDrop {
    pub(super) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        self.kill();
    }
}

const TOO_MUCH_OUTPUT: &str = "its output is too long";

/// Classifies git's stderr. Its text is not shown, because it may quote files that a hostile configuration
/// names.
fn classify_error(stderr: &[u8]) -> GitError {
    let text = String::from_utf8_lossy(stderr).to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if says(&["permission denied"]) {
        return GitError::Denied;
    }
    GitError::Failed(
        if says(&["bad config", "config file", "config line", "config variable"]) {
            "its configuration cannot be read"
        } else if says(&["index file", "bad index", "index uses"]) {
            "its index cannot be read"
        } else if says(&[
            "repository format",
            "unknown repository extension",
            "unknown extension",
        ]) {
            "it has a form that this git does not know"
        } else if says(&["out of memory", "memory exhausted", "malloc", "mmap failed"]) {
            "it takes more memory than is allowed"
        } else if says(&[
            "object",
            "unable to read",
            "could not read",
            "cannot read",
            "corrupt",
            "pack",
            "bad tree",
        ]) {
            "objects are missing or broken"
        } else {
            "git gave up for a reason of its own"
        },
    )
}
