//! A project in a temporary directory, and docent called in it.
//!
//! Invariant: the clock, the home directory and the modification times of files are the same in every run, so
//! that answers can be compared as text.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Answer, Era, HttpServer, StdioClient};

/// The fixed time of docent in a sandbox.
const NOW: &str = "2026-01-09T10:30:00Z";
/// Modification time of the files of a sandbox, since 1970: half an hour before [`NOW`].
const MODIFIED_AT: Duration = Duration::from_hours(491_098);

/// A project to call docent in.
pub struct Sandbox {
    binary: PathBuf,
    directory: TempDir,
    /// The value of `answer.form`, if it is not the default.
    form: Option<&'static str>,
    stdio: OnceCell<StdioClient>,
    http: OnceCell<HttpServer>,
}

/// Output and exit code of a command that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Sandbox {
    /// An empty project for the given binary.
    pub fn new(binary: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for name in ["project", "home", "tmp"] {
            fs::create_dir(directory.path().join(name)).expect("a directory in the sandbox");
        }
        Self {
            binary: binary.into(),
            directory,
            form: None,
            stdio: OnceCell::new(),
            http: OnceCell::new(),
        }
    }

    /// The project's directory.
    pub fn root(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    /// The directory that contains the project: a place outside of it.
    pub fn outside(&self) -> &Path {
        self.directory.path()
    }

    /// The home directory of the user who runs docent.
    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The temporary directory of the system, as docent sees it.
    pub fn temporary(&self) -> PathBuf {
        self.directory.path().join("tmp")
    }

    /// Makes all answers compact.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.form = Some("compact");
        self
    }

    /// Adds a file to the project.
    #[must_use]
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// Writes a file of the project, with a fixed modification time.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a file in the project")).expect("directories");
        fs::write(&path, content).expect("a file");
        let file = fs::File::options()
            .write(true)
            .open(&path)
            .expect("the file just written");
        file.set_modified(SystemTime::UNIX_EPOCH + MODIFIED_AT)
            .expect("a modification time");
    }

    /// The command `docent` with the environment of the sandbox.
    pub fn docent(&self) -> Command {
        self.program(&self.binary)
    }

    /// The command `docent` with a running clock: a wait ends when its time is over, not only with its event.
    pub fn docent_with_running_clock(&self) -> Command {
        let mut command = self.docent();
        command.env_remove("DOCENT_FIXED_TIME");
        command
    }

    /// Any program with the environment of docent.
    #[expect(
        clippy::disallowed_methods,
        reason = "git is found by the PATH of this machine"
    )]
    pub fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let home = self.home();
        command
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("TMPDIR", self.temporary())
            .env("TMP", self.temporary())
            .env("TEMP", self.temporary())
            .env("DOCENT_FIXED_TIME", NOW)
            .env("DOCENT_ROOT", self.root())
            .stdin(Stdio::null());
        if let Some(form) = self.form {
            command.env("DOCENT_ANSWER_FORM", form);
        }
        command
    }

    /// Runs a docent command to its end.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        Finished::run(self.docent().args(arguments))
    }

    /// Runs a docent command as a user to whom file permissions apply: as `nobody` if the tests run as root.
    #[cfg(unix)]
    pub fn run_unprivileged(&self, arguments: &[&str]) -> Finished {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::process::CommandExt;

        if !rustix::process::geteuid().is_root() {
            return self.run(arguments);
        }
        // Other users may have no access to the build directory.
        let copy = self.outside().join("docent");
        crate::copy_program(&self.binary, &copy);
        fs::set_permissions(self.outside(), fs::Permissions::from_mode(0o755)).expect("permissions");
        let nobody = 65_534;
        Finished::run(self.program(&copy).uid(nobody).gid(nobody).args(arguments))
    }

    /// Trusts the project, as a user does with `docent trust`.
    #[must_use]
    pub fn trusted(self) -> Self {
        let finished = self.run(&["trust"]);
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        self
    }

    /// Runs a docent command on a terminal and returns what a person sees: both streams together.
    #[cfg(unix)]
    pub fn run_on_terminal(&self, arguments: &[&str]) -> String {
        self.type_on_terminal(arguments, None)
    }

    /// The same for a person who types `input`. Without any, nothing can be typed.
    #[cfg(unix)]
    pub fn type_on_terminal(&self, arguments: &[&str], input: Option<&str>) -> String {
        use std::io::Write;

        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal)
            .and_then(|()| unlockpt(&terminal))
            .expect("access to the terminal");
        let name = ptsname(&terminal, Vec::new())
            .expect("a name")
            .into_string()
            .expect("ASCII");
        let screen = fs::File::options()
            .read(true)
            .write(true)
            .open(name)
            .expect("the terminal's other end");
        let mut child = {
            let mut command = self.docent();
            command.env("TERM", "xterm-256color");
            command
                .args(arguments)
                .stdout(screen.try_clone().expect("a handle"))
                .stderr(screen.try_clone().expect("a handle"));
            if input.is_some() {
                command.stdin(screen);
            } else {
                // As long as this end is open, the output has no end.
                drop(screen);
            }
            command.spawn().expect("docent starts")
        };
        let mut terminal = fs::File::from(terminal);
        terminal
            .write_all(input.unwrap_or_default().as_bytes())
            .expect("the terminal keeps what is typed until it is read");
        let mut screen_output = Vec::new();
        // On some systems the end of the output is an error: the other side has hung up.
        let _ = terminal.read_to_end(&mut screen_output);
        child.wait().expect("docent ends");
        String::from_utf8(screen_output)
            .expect("docent writes UTF-8")
            .replace("\r\n", "\n")
    }

    /// Starts `docent serve` and connects a client to it.
    pub fn start_client(&self, era: Era) -> StdioClient {
        StdioClient::start(self.docent(), era)
    }

    /// Starts `docent serve --http`.
    pub fn start_http_server(&self) -> HttpServer {
        HttpServer::start(self.docent())
    }

    /// Calls a tool by command line, stdio and HTTP, and fails if the answers differ in more than random ids.
    /// Returns the answer of the command line.
    pub fn call(&self, tool: &str, arguments: Value) -> Answer {
        let by_cli = self.call_by_cli(tool, arguments.clone());
        let by_stdio = self.stdio.get_or_init(|| self.start_client(Era::Handshake));
        assert_eq!(
            by_cli.without_ids(),
            by_stdio.call(tool, arguments.clone()).without_ids(),
            "command line and stdio differ"
        );
        let by_http = self.http.get_or_init(|| self.start_http_server());
        assert_eq!(
            by_cli.without_ids(),
            by_http.call(Era::Stateless, tool, arguments).without_ids(),
            "command line and HTTP differ"
        );
        by_cli
    }

    /// Calls a tool in a process of its own, by command line only.
    pub fn call_by_cli(&self, tool: &str, arguments: Value) -> Answer {
        self.run(&["call", tool, &arguments.to_string()]).answer()
    }

    /// Calls a tool by command line as a user to whom file permissions apply.
    #[cfg(unix)]
    pub fn call_unprivileged(&self, tool: &str, arguments: Value) -> Answer {
        self.run_unprivileged(&["call", tool, &arguments.to_string()])
            .answer()
    }

    /// Calls `context_search` by command line, with the answer as JSON.
    pub fn search(&self, query: &str) -> Value {
        let arguments = json!({ "query": query, "format": "json" });
        self.call_by_cli("context_search", arguments).json()
    }

    /// The index status, as `docent status --json` prints it.
    pub fn index_status(&self) -> Value {
        self.run(&["status", "--json"]).json()
    }

    /// The directory of the current index generation.
    pub fn index_directory(&self) -> PathBuf {
        let status = self.index_status();
        status["folder"].as_str().expect("a directory").into()
    }
}

/// Replaces escape characters by `␛`, so that a snapshot shows the colours.
pub fn mark_escapes(text: &str) -> String {
    text.replace('\u{1b}', "␛")
}

impl Finished {
    /// Runs a command to its end.
    pub fn run(command: &mut Command) -> Self {
        let output = command.output().expect("docent starts");
        let text = |bytes| String::from_utf8(bytes).expect("docent writes UTF-8");
        Self {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            code: output.status.code().expect("docent exits by itself"),
        }
    }

    /// Parses stdout as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer that `docent call` has printed.
    fn answer(&self) -> Answer {
        let text = self.stdout.strip_suffix('\n').unwrap_or(&self.stdout);
        Answer {
            text: text.to_owned(),
            is_error: self.code != 0,
        }
    }
}
