//! A project in a temporary directory, and docent called in it.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Era, HttpServer, StdioClient};

/// When it always is in a sandbox, and when its files were last changed.
const NOW: &str = "2026-01-09T10:30:00Z";
const CHANGED: Duration = Duration::from_hours(491_098);

/// A project to call docent in.
pub struct Sandbox {
    binary: PathBuf,
    directory: TempDir,
    stdio: OnceCell<StdioClient>,
    http: OnceCell<HttpServer>,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
}

/// How a command ended.
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
            stdio: OnceCell::new(),
            http: OnceCell::new(),
        }
    }

    /// The project's directory.
    pub fn root(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    /// A place beside the project.
    pub fn outside(&self) -> &Path {
        self.directory.path()
    }

    /// The home of who runs docent.
    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// What docent takes for the system's temporary directory.
    pub fn temporary(&self) -> PathBuf {
        self.directory.path().join("tmp")
    }

    /// Adds a file to the project.
    #[must_use]
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// Writes a file of the project, its time of change fixed.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a file in the project")).expect("directories");
        fs::write(&path, content).expect("a file");
        let file = fs::File::options()
            .write(true)
            .open(&path)
            .expect("the file just written");
        file.set_modified(SystemTime::UNIX_EPOCH + CHANGED)
            .expect("a time of change");
    }

    /// docent with the sandbox's environment.
    pub fn docent(&self) -> Command {
        self.program(&self.binary)
    }

    /// docent with a clock that runs: its waits end after a time, not only with their event.
    pub fn docent_with_running_clock(&self) -> Command {
        let mut command = self.docent();
        command.env_remove("DOCENT_FIXED_TIME");
        command
    }

    /// Any program with docent's environment.
    #[expect(clippy::disallowed_methods, reason = "git is where it is on this machine")]
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
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        Finished::of(self.docent().args(arguments))
    }

    /// Runs a command to its end as a user whom permissions hold back: another one where the tests are the superuser's.
    #[cfg(unix)]
    pub fn run_unprivileged(&self, arguments: &[&str]) -> Finished {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::process::CommandExt;

        if !rustix::process::geteuid().is_root() {
            return self.run(arguments);
        }
        // The build directory may be closed to others.
        let copy = self.outside().join("docent");
        fs::copy(&self.binary, &copy).expect("a copy of docent");
        fs::set_permissions(self.outside(), fs::Permissions::from_mode(0o755)).expect("permissions");
        let nobody = 65_534;
        Finished::of(self.program(&copy).uid(nobody).gid(nobody).args(arguments))
    }

    /// Runs a command to its end on a terminal: what a person sees, both streams together.
    #[cfg(unix)]
    pub fn on_terminal(&self, arguments: &[&str]) -> String {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal)
            .and_then(|()| unlockpt(&terminal))
            .expect("a terminal of our own");
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
                .stderr(screen);
            command.spawn().expect("docent starts")
        };
        let mut seen = Vec::new();
        // The end is an error on some systems: the other side has hung up.
        let _ = fs::File::from(terminal).read_to_end(&mut seen);
        child.wait().expect("docent ends");
        String::from_utf8(seen)
            .expect("docent writes UTF-8")
            .replace("\r\n", "\n")
    }

    /// Calls a tool by command line, stdio and HTTP. The answers must be the same, but for ids that were made up. The
    /// command line's is returned.
    pub fn call(&self, tool: &str, arguments: Value) -> Answer {
        let finished = self.run(&["call", tool, &arguments.to_string()]);
        let by_cli = Answer {
            text: finished
                .stdout
                .strip_suffix('\n')
                .unwrap_or(&finished.stdout)
                .to_owned(),
            is_error: finished.code != 0,
        };
        let by_stdio = self
            .stdio
            .get_or_init(|| StdioClient::start(self.docent(), Era::Handshake));
        assert_eq!(
            by_cli.without_ids(),
            by_stdio.call(tool, arguments.clone()).without_ids(),
            "command line and stdio differ"
        );
        let by_http = self.http.get_or_init(|| HttpServer::start(self.docent()));
        assert_eq!(
            by_cli.without_ids(),
            by_http.call(Era::Stateless, tool, arguments).without_ids(),
            "command line and HTTP differ"
        );
        by_cli
    }
}

impl Answer {
    /// The answer of a `tools/call` result. What is structured must be what the text says.
    pub fn of(result: &Value) -> Self {
        let text = result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("no text in {result}"));
        if let Some(structured) = result.get("structuredContent") {
            let parsed: Value = serde_json::from_str(text).expect("the text of a structured answer is JSON");
            assert_eq!(*structured, parsed, "structured content and text differ");
        }
        Self {
            text: text.to_owned(),
            is_error: result["isError"] == true,
        }
    }

    /// The answer with `UUID` in place of each random id.
    #[must_use]
    pub fn without_ids(&self) -> Self {
        let mut text = self.text.clone();
        let mut from = 0;
        while let Some(at) = (from..text.len()).find(|&at| is_random_id(&text.as_bytes()[at..])) {
            text.replace_range(at..at + 36, "UUID");
            from = at;
        }
        Self { text, ..self.clone() }
    }

    /// The text as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }
}

/// True where `bytes` begin with a version 4 UUID.
fn is_random_id(bytes: &[u8]) -> bool {
    const FORM: &[u8; 36] = b"xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx";
    bytes.len() >= FORM.len()
        && bytes.iter().zip(FORM).all(|(byte, form)| match form {
            b'x' => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
            fixed => byte == fixed,
        })
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_error { "[isError] " } else { "" };
        write!(f, "{mark}{}", self.text)
    }
}

impl Finished {
    /// Runs `command` to its end.
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().expect("docent starts");
        let text = |bytes| String::from_utf8(bytes).expect("docent writes UTF-8");
        Self {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            code: output.status.code().expect("docent exits by itself"),
        }
    }
}
