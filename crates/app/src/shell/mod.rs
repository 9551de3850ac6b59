//! `docent sh PROGRAM ARGS…`: answers a shell command as its program would, in fewer characters.
//!
//! Each program family has a file here that runs a request and writes the answer. `rewrite` puts `docent sh`
//! before the commands of a line that it answers.
//!
//! Invariant: nothing is written to the project, and no program but git is run.

mod filters;
pub(crate) mod find;
pub(crate) mod git;
mod project;
pub(crate) mod rewrite;
pub(crate) mod search;

use std::ffi::OsString;
use std::path::PathBuf;

use docent_core::shell::{CommandRefusal, OutputFilter, Request, Word, split_words, understand};
use docent_engine::commands::CharacterSet;

use crate::settings::Environment;
use project::{ShellProject, character_set};

/// Where and how a command is answered.
pub(crate) struct ShellContext {
    /// The directory that relative operands start from.
    pub(crate) directory: PathBuf,
    pub(crate) options: ShellOptions,
    /// Characters that a shortened answer may have.
    pub(crate) budget: usize,
    /// The character set of the user's locale.
    pub(crate) characters: CharacterSet,
    pub(crate) project: ShellProject,
}

impl ShellContext {
    /// The exit status of the pipeline: that of its last command. `has_selected` says whether the last filter
    /// has selected a line.
    pub(crate) fn status(&self, of_command: u8, has_selected: bool) -> u8 {
        match self.options.filters.last() {
            None => of_command,
            Some(_) => u8::from(!has_selected),
        }
    }
}

/// The answer to a command.
#[derive(Debug, Default)]
pub(crate) struct ShellAnswer {
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    pub(crate) status: u8,
    /// Characters that the program itself would have printed, behind its filters.
    pub(crate) plain_chars: u64,
}

/// A command line of `docent sh`: options, and the command.
#[derive(Debug)]
struct ShellCommand {
    options: ShellOptions,
    request: Request,
}

/// The options of `docent sh`.
#[derive(Debug, Default)]
pub(crate) struct ShellOptions {
    /// `--then`: filters that followed the command in its pipeline, in order.
    pub(crate) filters: Vec<OutputFilter>,
    /// `--with-errors`: messages go through the filters too, before the lines.
    pub(crate) with_errors: bool,
    /// `--plain`: everything is printed as the program prints it.
    pub(crate) is_plain: bool,
}

impl ShellCommand {
    fn parse(arguments: &[OsString]) -> Result<Self, CommandRefusal> {
        let mut words = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let text = argument
                .to_str()
                .ok_or(CommandRefusal::Form("a word is not UTF-8"))?;
            words.push(Word::literal(text));
        }
        let mut options = ShellOptions::default();
        let mut rest = words.as_slice();
        loop {
            rest = match rest {
                [option, filter, others @ ..] if option.text == "--then" => {
                    let filter = OutputFilter::understand(&split_words(&filter.text)?)?;
                    options.filters.push(filter);
                    others
                }
                [option, others @ ..] if option.text == "--with-errors" => {
                    options.with_errors = true;
                    others
                }
                [option, others @ ..] if option.text == "--plain" => {
                    options.is_plain = true;
                    others
                }
                _ => break,
            };
        }
        Ok(Self {
            options,
            request: understand(rest)?,
        })
    }
}

/// Runs `docent sh` with the arguments behind `sh`.
pub(crate) fn run(arguments: &[OsString], environment: Environment<'_>) -> anyhow::Result<ShellAnswer> {
    let command = match ShellCommand::parse(arguments) {
        Ok(command) => command,
        Err(refusal) => {
            return Ok(ShellAnswer {
                err: format!("docent sh: {refusal}. Run the program itself\n").into_bytes(),
                status: 2,
                ..ShellAnswer::default()
            });
        }
    };
    let directory = std::env::current_dir()?;
    let project = ShellProject::open(&directory, environment)?;
    let context = ShellContext {
        options: command.options,
        budget: project.shell_settings().answer_chars,
        characters: character_set(environment),
        project,
        directory,
    };
    match &command.request {
        Request::Search(request) => search::answer(request, &context),
        Request::GitGrep(request) => search::git_grep::answer(request, &context),
        Request::Find(request) => find::answer(request, &context),
        Request::Git(request) => git::answer(request, &context),
    }
}
