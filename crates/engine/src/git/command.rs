//! The `git` command, run so that nothing a repository says can make it run, write or fetch anything.
//!
//! Configuration of the user and the system is left out, so that an answer depends on the repository only. What the
//! repository's own configuration could start is switched off by name: hooks, pagers, file system monitors, external
//! diffs, text conversion, signature checks, and every filter it defines.
//!
//! Invariant: arguments from callers reach git as object ids or after `--`, never where an option could stand.

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
use super::place::RepoLocation;
use crate::clock::{Clock, rfc3339};
use crate::deadline::Deadline;

/// What of the process's environment git gets to see, and where to find it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Directories that may hold the program.
    pub search: Vec<PathBuf>,
    /// Variables handed on: where the home is, the time zone.
    pub variables: Vec<(OsString, OsString)>,
}

/// git as it is run for one repository.
#[derive(Clone, Debug)]
pub(super) struct Runner {
    program: PathBuf,
    variables: Vec<(OsString, OsString)>,
    place: RepoLocation,
    clock: Clock,
    /// Settings of the repository that are taken back, beyond [`SETTINGS`].
    overrides: Vec<(String, String)>,
    /// A directory of our own with a commit graph, which git finds what a path's history is by.
    graph: Option<PathBuf>,
}

/// What the repository's configuration has no say in.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.bigFileThreshold=16m",
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

/// How often a running command is held against its deadline.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// What is kept of git's complaints.
const COMPLAINT: u64 = 4_096;

impl Runner {
    pub(super) fn new(
        program: PathBuf,
        surroundings: &Surroundings,
        place: RepoLocation,
        clock: Clock,
    ) -> Self {
        Self {
            program,
            variables: surroundings.variables.clone(),
            place,
            clock,
            overrides: Vec::new(),
            graph: None,
        }
    }

    pub(super) fn graph(&self) -> Option<&Path> {
        self.graph.as_deref()
    }

    pub(super) fn place(&self) -> &RepoLocation {
        &self.place
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// `2026-01-31`, where the clock is.
    pub(super) fn today(&self) -> String {
        rfc3339(self.clock.now())[..10].to_owned()
    }

    #[must_use]
    pub(super) fn overriding(mut self, overrides: Vec<(String, String)>) -> Self {
        self.overrides = overrides;
        self
    }

    #[must_use]
    pub(super) fn with_graph(mut self, graph: Option<PathBuf>) -> Self {
        self.graph = graph;
        self
    }

    /// `git SUBCOMMAND` with everything switched off that should be.
    pub(super) fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.place.directory())
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs([
                ("LC_ALL", "C"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", null()),
                ("GIT_ATTR_NOSYSTEM", "1"),
                ("GIT_NO_LAZY_FETCH", "1"),
                ("GIT_NO_REPLACE_OBJECTS", "1"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_ALLOW_PROTOCOL", "none"),
            ])
            .env("GIT_DIR", &self.place.git_dir);
        if let Some(work_tree) = &self.place.work_tree {
            command.env("GIT_WORK_TREE", work_tree);
        }
        if let Clock::Fixed(now) = self.clock {
            command.env("GIT_TEST_DATE_NOW", now.as_second().to_string());
        }
        if let Some(graph) = &self.graph {
            command
                .env("GIT_OBJECT_DIRECTORY", graph)
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.place.objects());
        }
        // Names of filters may hold any character; only these variables take them without splitting.
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
        // In a bare repository the mailmap is in a commit, by default.
        if self.place.work_tree.is_some() {
            command.args(["-c", "mailmap.blob="]);
        }
        command.arg(subcommand);
        command
    }
}

fn null() -> &'static str {
    if cfg!(windows) { "NUL" } else { "/dev/null" }
}

/// Runs a command and reads what it prints as it comes. `read` may stop early; the command is stopped then.
pub(super) fn stream<T>(
    mut command: Command,
    input: Option<&[u8]>,
    deadline: &Deadline,
    read: impl FnOnce(&mut dyn BufRead) -> Result<T, GitError>,
) -> Result<T, GitError> {
    let outcome = supervise(&mut command, input, deadline, read)?;
    let (value, end) = outcome;
    match end {
        CommandEnd::Stopped => Ok(value),
        CommandEnd::Exited(status, _) if status.success() => Ok(value),
        CommandEnd::Exited(_, complaint) => Err(complaint),
    }
}

/// Runs a command for its whole output, of at most `limit` bytes, and says how it ended.
pub(super) fn output(
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
        return Err(GitError::Failed(TOO_MUCH));
    }
    match end {
        CommandEnd::Stopped => Ok((bytes, None)),
        CommandEnd::Exited(status, _) => Ok((bytes, status.code())),
    }
}

/// The same, where anything but success is a failure.
pub(super) fn whole(command: Command, limit: u64, deadline: &Deadline) -> Result<Vec<u8>, GitError> {
    stream(command, None, deadline, |out| {
        let mut bytes = Vec::new();
        out.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(GitError::Pipe)?;
        if bytes.len() as u64 > limit {
            return Err(GitError::Failed(TOO_MUCH));
        }
        Ok(bytes)
    })
}

/// The same as text.
pub(super) fn text(command: Command, limit: u64, deadline: &Deadline) -> Result<String, GitError> {
    let bytes = whole(command, limit, deadline)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How a command ended: by itself, with what it complained about, or because nobody wanted more.
enum CommandEnd {
    Exited(ExitStatus, GitError),
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
    let child = Arc::new(Mutex::new(Killed(child)));
    remember(&child);
    let (finished, watched) = mpsc::channel::<()>();
    let (outcome, complaint) = thread::scope(|scope| {
        scope.spawn(|| {
            let watched = watched;
            while watched.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if deadline.check().is_err() {
                    kill(&child);
                }
            }
        });
        let complaint = scope.spawn(move || {
            let mut kept = Vec::new();
            let mut stderr = stderr;
            // What is beyond the limit is read and dropped, so that git does not wait for a reader.
            let _ = stderr.by_ref().take(COMPLAINT).read_to_end(&mut kept);
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            kept
        });
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A reader that has seen enough closes its end; what it says then is in its answer.
            scope.spawn(move || drop(stdin.write_all(input)));
        }
        let outcome = read(&mut stdout);
        let is_done = outcome.is_ok() && stdout.fill_buf().is_ok_and(<[u8]>::is_empty);
        drop(stdout);
        if !is_done {
            kill(&child);
        }
        drop(finished);
        (outcome.map(|value| (value, is_done)), complaint.join())
    });
    deadline.check()?;
    let complaint = complaint.unwrap_or_default();
    let (value, is_done) = outcome.map_err(|error| match error {
        // An answer that breaks off is explained by what git said.
        GitError::BrokenOff if !complaint.is_empty() => reason(&complaint),
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
    Ok((value, CommandEnd::Exited(status, reason(&complaint))))
}

/// Starts a command; a program that is gone since it was found counts as not installed.
pub(super) fn spawn(command: &mut Command) -> Result<Child, GitError> {
    let child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => GitError::NotInstalled,
        _ => GitError::Pipe(error),
    })?;
    bound(&child);
    Ok(child)
}

/// What a command may cost, whatever the repository makes it do, and even if docent is killed meanwhile.
#[cfg(target_os = "linux")]
fn bound(child: &Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    // Memory of its own; packs are mapped and do not count.
    const BYTES: u64 = 3 << 30;
    const SECONDS: u64 = 1_800;
    let limit = |most| Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = prlimit(Some(pid), Resource::Data, limit(BYTES));
        let _ = prlimit(Some(pid), Resource::Cpu, limit(SECONDS));
    }
}

#[cfg(not(target_os = "linux"))]
fn bound(_: &Child) {}

/// The commands that run now, so that none outlives the process; nothing once the process is about to end.
static RUNNING: Mutex<Option<Vec<Weak<Mutex<Killed>>>>> = Mutex::new(Some(Vec::new()));

pub(super) fn remember(child: &Arc<Mutex<Killed>>) {
    let mut running = RUNNING.lock().expect("nothing panics while it holds the list");
    match &mut *running {
        Some(running) => {
            running.retain(|other| other.strong_count() > 0);
            running.push(Arc::downgrade(child));
        }
        None => kill(child),
    }
}

/// Ends every command that runs, and those that would still be started: the process is about to go.
pub fn end_children() {
    let running = RUNNING
        .lock()
        .expect("nothing panics while it holds the list")
        .take();
    for child in running.into_iter().flatten().filter_map(|child| child.upgrade()) {
        kill(&child);
    }
}

fn kill(child: &Mutex<Killed>) {
    child
        .lock()
        .expect("nothing panics while it holds the child")
        .kill();
}

/// A child that does not outlive its owner.
#[derive(Debug)]
pub(super) struct Killed(pub(super) Child);

impl Killed {
    pub(super) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
    }
}

const TOO_MUCH: &str = "it says more than can be true";

/// Why git gave up, in our words: its own may quote files that nobody should see.
fn reason(complaint: &[u8]) -> GitError {
    let text = String::from_utf8_lossy(complaint).to_lowercase();
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
