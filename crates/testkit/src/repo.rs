//! The sandbox project as a git repository.
//!
//! Invariant: authors and dates are fixed, so that commit ids are the same in every run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Sandbox;

/// Authors of commits: name and email address.
pub const JOHN: (&str, &str) = ("John Doe", "john@example.com");
pub const JANE: (&str, &str) = ("Jane Smith", "jane@example.com");

impl Sandbox {
    /// Makes the project a repository with a branch `main`.
    #[must_use]
    pub fn repository(self) -> Self {
        self.git(&["init", "-q", "-b", "main"]);
        self
    }

    /// Runs git in the project and returns what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root(), arguments)
    }

    /// Runs git in another directory.
    pub fn git_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let mut command = git(directory, "2025-10-09T12:00:00+00:00", JOHN);
        run(command.args(arguments))
    }

    /// Commits everything in the working tree at noon of `day`, and returns the commit's short id.
    pub fn commit(&self, day: &str, author: (&str, &str), message: &str) -> String {
        // All files have the same modification time. Without an empty index git would miss changes.
        self.git(&["read-tree", "--empty"]);
        self.git(&["add", "-A"]);
        let mut command = git(&self.root(), &format!("{day}T12:00:00+00:00"), author);
        run(command.args(["commit", "-q", "--allow-empty", "-m", message]));
        self.git(&["rev-parse", "--short", "HEAD"])
    }
}

/// The command `git` without settings of this machine, for commits of this author at this time.
fn git(directory: &Path, time: &str, (name, email): (&str, &str)) -> Command {
    let mut command = Command::new("git");
    for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(variable);
    }
    command
        .current_dir(directory)
        .envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_AUTHOR_NAME", name),
            ("GIT_AUTHOR_EMAIL", email),
            ("GIT_AUTHOR_DATE", time),
            ("GIT_COMMITTER_NAME", name),
            ("GIT_COMMITTER_EMAIL", email),
            ("GIT_COMMITTER_DATE", time),
            ("GIT_ALLOW_PROTOCOL", "file"),
        ])
        .stdin(Stdio::null());
    command
}

/// Runs git to its end and returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("git is installed");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
