//! `docent rewrite` and `docent sh`: shell commands that docent answers.
//!
//! Both are run before each shell command of an agent, so they start without the table of tools and without
//! settings that they do not need.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, Command};

use super::flags::variable;
use crate::gain::GainCounter;
use crate::shell::rewrite::{program_name, program_path, rewrite_line};
use crate::shell::{self, ShellAnswer};

/// The commands as `--help` shows them. [`run_fast`] takes their arguments as they are.
pub(super) fn commands() -> [Command; 2] {
    let words = |name: &'static str, help: &'static str| {
        Arg::new("words")
            .value_name(name)
            .num_args(1..)
            .required(true)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .help(help)
    };
    [
        Command::new("sh")
            .about("Answer a search, a list of files or a question to git as its program would, in less text")
            .arg(words(
                "PROGRAM",
                "The program with its arguments: grep, rg, find, git log …",
            )),
        Command::new("rewrite")
            .about("Replace the commands of a shell line that docent answers; exit 1 if there are none")
            .arg(words("LINE", "The line, after --")),
    ]
}

/// Runs `docent sh` or `docent rewrite`. `None` if the arguments are those of another command.
pub(super) fn run_fast(arguments: &[OsString]) -> Option<anyhow::Result<ExitCode>> {
    let (command, rest) = arguments.split_first()?;
    if rest.first().is_none_or(|word| word == "--help" || word == "-h") {
        return None;
    }
    match command.to_str()? {
        "sh" => Some(run_command(rest)),
        "rewrite" => Some(rewrite(rest)),
        _ => None,
    }
}

fn run_command(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let answer = shell::run(words, &variable)?;
    count(words, &answer);
    std::io::stdout().write_all(&answer.out)?;
    std::io::stderr().write_all(&answer.err)?;
    Ok(ExitCode::from(answer.status))
}

/// Counts an answer for `docent gain`. A command that was refused is none.
fn count(words: &[OsString], answer: &ShellAnswer) {
    const REFUSED: u8 = 2;
    if answer.status == REFUSED {
        return;
    }
    let shown = String::from_utf8_lossy(&answer.out).chars().count() as u64;
    GainCounter::new(&variable).record_answer(&program_of(words), answer.plain_chars, shown);
}

/// The program of a command, behind the filters: `grep`, `git log`.
fn program_of(words: &[OsString]) -> String {
    let mut words = words;
    loop {
        words = match words {
            [option, _, rest @ ..] if option == "--then" => rest,
            [option, rest @ ..] if option == "--with-errors" || option == "--plain" => rest,
            _ => break,
        };
    }
    let is_git = words.first().is_some_and(|program| program == "git");
    let name: Vec<_> = words
        .iter()
        .take(1 + usize::from(is_git))
        .map(|word| word.to_string_lossy())
        .collect();
    name.join(" ")
}

fn rewrite(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let words = words.strip_prefix(&[OsString::from("--")]).unwrap_or(words);
    let [line] = words else {
        anyhow::bail!("rewrite takes one command line: docent rewrite -- 'grep -rn word src'");
    };
    let line = line.to_str().unwrap_or_default();
    let directory = std::env::current_dir()?;
    let name = program_name(&directory, &variable).map(str::to_owned);
    let Some(program) = name.or_else(program_path) else {
        return Ok(ExitCode::FAILURE);
    };
    let Some(rewritten) = rewrite_line(line, &directory, &program, &variable).line else {
        return Ok(ExitCode::FAILURE);
    };
    writeln!(std::io::stdout(), "{rewritten}")?;
    Ok(ExitCode::SUCCESS)
}
