//! Questions to git: the arguments of `git log`, `show`, `diff`, `blame` and `status`.
//!
//! The arguments are handed to git as they were given, so that git selects; they are read here only to know
//! what git will print. Flags that write, run a program, read standard input or change how a patch is written
//! down are refused, and so is every flag that is not in a table of `flags`.
//!
//! Invariant: a request never names a path that the access rules block.

mod flags;
pub mod patch;

use std::sync::LazyLock;

use super::{CommandRefusal, Word};
use crate::access::{Access, NameOf};
use flags::{FlagEffect, FlagMatch, FlagValue, GitFlag};

/// A command of git that docent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitInvocation {
    /// The directories of `-C`, in order.
    pub directories: Vec<String>,
    pub command: GitCommand,
    /// Everything behind the command's name, as it was given.
    pub arguments: Vec<String>,
    pub output: GitOutput,
    /// Positions in `arguments` of revisions and paths, without those behind `--`.
    pub operands: Vec<usize>,
    /// Position of `--` in `arguments`.
    pub separator: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitCommand {
    Log,
    Show,
    Diff,
    Blame,
    Status,
}

/// What a command of git prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitOutput {
    /// Text for programs, or the content of a file: printed exactly.
    Exact,
    /// Lines for people, of which the first say the most.
    Lines,
    /// Like [`GitOutput::Lines`], with a total at the end: `--stat`.
    Stat,
    /// Commits in git's default format.
    Commits,
    /// Patches, with or without commits before them.
    Patches,
    /// Patches behind text of a form of the caller's, which is printed exactly.
    ExactPatches,
}

impl GitCommand {
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Show => "show",
            Self::Diff => "diff",
            Self::Blame => "blame",
            Self::Status => "status",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Log, Self::Show, Self::Diff, Self::Blame, Self::Status]
            .into_iter()
            .find(|command| command.name() == name)
    }

    /// Whether the command describes commits.
    pub fn prints_commits(self) -> bool {
        matches!(self, Self::Log | Self::Show)
    }
}

impl GitInvocation {
    /// Whether git looks at the working tree, and so into submodules.
    pub fn reads_work_tree(&self) -> bool {
        let is_cached = || {
            self.arguments
                .iter()
                .any(|word| word == "--cached" || word == "--staged")
        };
        match self.command {
            GitCommand::Status => true,
            GitCommand::Diff => !is_cached(),
            GitCommand::Log | GitCommand::Show | GitCommand::Blame => false,
        }
    }

    /// Whether git reads contents through the drivers of its configuration, which may be programs.
    pub fn reads_contents(&self) -> bool {
        let is_pickaxe = |word: &String| word.starts_with("-S") || word.starts_with("-G");
        let is_content = |at: &usize| self.command == GitCommand::Show && names_content(&self.arguments[*at]);
        matches!(self.output, GitOutput::Patches | GitOutput::ExactPatches)
            || self.command == GitCommand::Blame
            || self.has_flag("--check")
            || self.arguments.iter().any(is_pickaxe)
            || self.operands.iter().any(is_content)
    }

    /// Whether the caller gave this flag, with or without a value behind `=`.
    pub fn has_flag(&self, name: &str) -> bool {
        let flags = &self.arguments[..self.separator.unwrap_or(self.arguments.len())];
        flags.iter().any(|word| {
            word.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }
}

/// The directories of `-C` in the arguments of git, and its command with what follows.
pub(super) fn split_command(arguments: &[Word]) -> Result<(Vec<String>, &[Word]), CommandRefusal> {
    let mut directories = Vec::new();
    let mut rest = arguments;
    loop {
        match rest {
            [flag, directory, others @ ..] if flag.text == "-C" => {
                if directory.expands || directory.text.starts_with('-') {
                    return Err(CommandRefusal::Form("the directory of -C is not known"));
                }
                directories.push(directory.text.clone());
                rest = others;
            }
            [flag, others @ ..]
                if ["--no-pager", "-P", "--no-optional-locks"].contains(&flag.text.as_str()) =>
            {
                rest = others;
            }
            [] => return Err(CommandRefusal::Program),
            _ => return Ok((directories, rest)),
        }
    }
}

/// Reads a command of git and its arguments.
pub(super) fn understand(directories: Vec<String>, words: &[Word]) -> Result<GitInvocation, CommandRefusal> {
    let [command, rest @ ..] = words else {
        return Err(CommandRefusal::Program);
    };
    let command = GitCommand::parse(&command.text).ok_or_else(|| refuse_word(command))?;
    let mut reading = Reading::default();
    reading.read(command, rest)?;
    let output = reading.output(command, rest)?;
    Ok(GitInvocation {
        directories,
        command,
        arguments: rest.iter().map(|word| word.text.clone()).collect(),
        output,
        operands: reading.operands,
        separator: reading.separator,
    })
}

fn refuse_word(word: &Word) -> CommandRefusal {
    if word.text.starts_with('-') {
        CommandRefusal::Flag(flag_name(&word.text))
    } else {
        CommandRefusal::Program
    }
}

/// A flag without its value, which may be anything.
fn flag_name(word: &str) -> String {
    word.split('=').next().unwrap_or_default().to_owned()
}

/// What the arguments of one command ask for.
#[derive(Debug, Default)]
struct Reading {
    operands: Vec<usize>,
    separator: Option<usize>,
    effects: Vec<FlagEffect>,
    format: Option<String>,
}

impl Reading {
    fn read(&mut self, command: GitCommand, words: &[Word]) -> Result<(), CommandRefusal> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.text == "--" {
                self.separator = Some(at);
                for path in &words[at + 1..] {
                    check_path(&path.text)?;
                }
                return Ok(());
            }
            if word.text.starts_with('-') {
                at += self.read_flag(command, word, words.get(at + 1))?;
            } else {
                check_operand(&word.text)?;
                self.operands.push(at);
                at += 1;
            }
        }
        Ok(())
    }

    /// Reads one flag, and returns how many words it has.
    fn read_flag(
        &mut self,
        command: GitCommand,
        word: &Word,
        next: Option<&Word>,
    ) -> Result<usize, CommandRefusal> {
        let refused = || CommandRefusal::Flag(flag_name(&word.text));
        if word.expands {
            return Err(refused());
        }
        if matches!(command, GitCommand::Log | GitCommand::Show)
            && word.text.len() > 1
            && word.text[1..].bytes().all(|byte| byte.is_ascii_digit())
        {
            return Ok(1);
        }
        let tables = flags::tables(command);
        let (flag, value) = tables
            .iter()
            .flat_map(|table| table.iter())
            .find_map(|flag| Some((flag, flag.match_word(&word.text)?)))
            .ok_or_else(refused)?;
        let (value, words) = match (flag.value, value) {
            (FlagValue::Required | FlagValue::Letter, FlagMatch::Alone) => {
                // A value that begins with `-` could be a flag after all, if git reads this one differently.
                let next = next
                    .filter(|next| !next.expands && !next.text.starts_with('-'))
                    .ok_or_else(refused)?;
                (next.text.as_str(), 2)
            }
            (_, FlagMatch::Alone) => ("", 1),
            (_, FlagMatch::WithValue(value)) => (value, 1),
        };
        self.apply(flag, value)?;
        Ok(words)
    }

    fn apply(&mut self, flag: &GitFlag, value: &str) -> Result<(), CommandRefusal> {
        if flag.effect == FlagEffect::Format {
            // A signature is checked by a program.
            if value.contains("%G") {
                return Err(CommandRefusal::Form("the format checks signatures"));
            }
            self.format = Some(value.to_owned());
        }
        self.effects.push(flag.effect);
        Ok(())
    }

    fn has(&self, effect: FlagEffect) -> bool {
        self.effects.contains(&effect)
    }

    fn output(&self, command: GitCommand, words: &[Word]) -> Result<GitOutput, CommandRefusal> {
        let has_content =
            command == GitCommand::Show && self.operands.iter().any(|at| names_content(&words[*at].text));
        // The commits beside it would print patches, which have to be looked through for blocked files.
        if has_content && !self.operands.iter().all(|at| names_content(&words[*at].text)) {
            return Err(CommandRefusal::Form(
                "commits and contents of files in one command",
            ));
        }
        if command == GitCommand::Status || command == GitCommand::Blame {
            return Ok(if self.has(FlagEffect::Machine) || self.has(FlagEffect::Nul) {
                GitOutput::Exact
            } else {
                GitOutput::Lines
            });
        }
        let is_default_patch = command != GitCommand::Log
            && ![FlagEffect::Machine, FlagEffect::Stat, FlagEffect::NoPatch]
                .iter()
                .any(|effect| self.has(*effect));
        let has_patch = self.has(FlagEffect::Patch) || is_default_patch;
        if has_patch && self.has(FlagEffect::NoPatch) {
            return Err(CommandRefusal::Form(
                "patches are both asked for and switched off",
            ));
        }
        if has_patch && (self.has(FlagEffect::Nul) || self.has(FlagEffect::Graph)) {
            return Err(CommandRefusal::Form("patches in a form for programs"));
        }
        let has_body = |format: &str| {
            let is_named = ["", "oneline", "short", "medium", "full", "fuller", "raw"].contains(&format);
            !is_named
                && (!format.contains('%')
                    || ["%b", "%B", "%N", "%w", "%n", "%x"]
                        .iter()
                        .any(|body| format.contains(body)))
        };
        let is_exact = has_content || self.has(FlagEffect::Machine) || self.has(FlagEffect::Nul);
        Ok(match &self.format {
            _ if has_content => GitOutput::Exact,
            Some(format) if has_patch && has_body(format) => GitOutput::ExactPatches,
            _ if has_patch => GitOutput::Patches,
            _ if is_exact => GitOutput::Exact,
            _ if self.has(FlagEffect::Stat) => GitOutput::Stat,
            Some(format) if format == "oneline" => GitOutput::Lines,
            Some(format) if !(format.is_empty() || format == "medium") => GitOutput::Exact,
            _ if self.has(FlagEffect::Oneline) || self.has(FlagEffect::Graph) => GitOutput::Lines,
            _ if command == GitCommand::Diff => GitOutput::Exact,
            _ => GitOutput::Commits,
        })
    }
}

/// Whether an operand of `git show` names a file or a directory: `REV:path`.
fn names_content(operand: &str) -> bool {
    operand.contains(':') && !operand.starts_with(":/")
}

fn check_operand(operand: &str) -> Result<(), CommandRefusal> {
    if operand == "-" || (operand.contains("^{/") && operand.contains(':')) {
        return Err(CommandRefusal::Form("an operand is not answered"));
    }
    match operand.split_once(':') {
        Some((revision, path)) if !operand.starts_with(":/") => {
            check_path(revision).and_then(|()| check_path(path))
        }
        _ => check_path(operand),
    }
}

/// Refuses a path that the access rules block: the program itself is asked for it, under the client's own
/// rules.
fn check_path(path: &str) -> Result<(), CommandRefusal> {
    let is_excluded = [":!", ":^", ":(exclude"]
        .iter()
        .any(|start| path.starts_with(start));
    if is_excluded || !is_blocked(path) {
        Ok(())
    } else {
        Err(CommandRefusal::Form(
            "it names a file whose content docent does not show",
        ))
    }
}

/// Whether the built-in access rules block a path as git prints it.
pub fn is_blocked(path: &str) -> bool {
    static ACCESS: LazyLock<Option<Access>> = LazyLock::new(|| Access::new([]).ok());
    let Some(access) = &*ACCESS else { return true };
    let mut components = path
        .rsplit('/')
        .filter(|component| !matches!(*component, "" | "." | ".."));
    let name = components.next().unwrap_or_default();
    !(access.allows_name(name, NameOf::File)
        && components.all(|component| access.allows_name(component, NameOf::Directory)))
}

#[cfg(test)]
mod tests;
