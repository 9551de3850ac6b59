//! The command that shows what an answer left out.
//!
//! Invariant: the command selects what the caller's command selected, or one file of it.

use docent_core::shell::git::{GitCommand, GitInvocation};
use docent_core::shell::quote_word;
use docent_engine::git::{OutputTrait, UserGit, find_top};

use crate::shell::ShellContext;

/// Writes commands that show more.
#[derive(Debug)]
pub(super) struct Reshow<'a> {
    request: &'a GitInvocation,
    /// Operands that are revisions, and flags.
    selection: Vec<&'a str>,
    /// Before paths that git prints from the top of the working tree.
    path_prefix: &'static str,
}

impl<'a> Reshow<'a> {
    pub(super) fn new(request: &'a GitInvocation, context: &ShellContext) -> Self {
        let mut start = context.directory.clone();
        start.extend(&request.directories);
        let end = request.separator.unwrap_or(request.arguments.len());
        // Without `--`, git takes a word for a path if there is such a file. Behind a path, there are only
        // paths.
        let is_path = |at: &usize| start.join(&request.arguments[*at]).symlink_metadata().is_ok();
        let first_path = if request.separator.is_none() {
            request.operands.iter().copied().find(is_path)
        } else {
            None
        };
        let selection = (0..end)
            .filter(|at| first_path.is_none_or(|first| *at < first) || !request.operands.contains(at))
            .map(|at| request.arguments[at].as_str())
            .collect();
        Self {
            request,
            selection,
            path_prefix: "",
        }
    }

    /// The same for git in its directory and with its settings.
    pub(super) fn from(mut self, git: &UserGit) -> Self {
        let is_relative = git.settings.has(OutputTrait::Relative) || self.request.has_flag("--relative");
        let start = git.start().canonicalize().ok();
        if !is_relative && find_top(&git.start()) != start {
            self.path_prefix = ":/";
        }
        self
    }

    pub(super) fn is_diff(&self) -> bool {
        self.request.command == GitCommand::Diff
    }

    /// The caller's command.
    pub(super) fn whole(&self) -> String {
        let words = self.request.arguments.iter().map(String::as_str);
        self.write(self.request.command.name(), words)
    }

    /// The command for one file, written `PATH`.
    pub(super) fn for_path(&self) -> String {
        let command = self.write(self.request.command.name(), self.selection.iter().copied());
        format!("{command} -- {}PATH", self.path_prefix)
    }

    /// The command for one file of a commit.
    pub(super) fn for_commit(&self, id: &str) -> String {
        format!(
            "{} -- {}PATH",
            self.write("show", [id].into_iter()),
            self.path_prefix
        )
    }

    fn write<'b>(&self, command: &str, words: impl Iterator<Item = &'b str>) -> String {
        let mut text = String::from("command git");
        for directory in &self.request.directories {
            text += &format!(" -C {}", quote(directory));
        }
        text += &format!(" {command}");
        for word in words {
            text.push(' ');
            text += &quote(word);
        }
        text
    }
}

/// A word as a shell reads it.
fn quote(word: &str) -> String {
    quote_word(word).unwrap_or_else(|| format!("'{}'", word.replace('\'', r"'\''")))
}
