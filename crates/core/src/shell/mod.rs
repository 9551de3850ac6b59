//! Shell commands that docent can answer: `grep`, `rg`, `find`, `git log` and their kin, as values.
//!
//! A command is understood down to its last flag and operand, or refused: [`understand`] serves both
//! `docent rewrite`, which decides by it, and `docent sh`, which runs what it returns. No command is run and
//! no path is looked up here.
//!
//! Invariant: a flag that is not known refuses the command; none is ever skipped.

mod filter;
pub mod find;
mod flags;
pub mod git;
pub mod line;
mod raw_word;
pub mod search;
mod words;

pub use filter::{OutputFilter, apply_filters};
pub use words::{quote_word, split_words};

/// A word of a command after quotes and escapes were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// The shell replaces the word by others before the command sees it: it has an unquoted glob or `~`. Such
    /// a word can be an operand, but never a flag or a pattern.
    pub expands: bool,
}

/// A command that docent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `grep`, `egrep`, `fgrep`, `rg`.
    Search(search::LineSearchRequest),
    GitGrep(search::GitGrepRequest),
    /// `find`, `fd`, `rg --files`, `ls -R`, `tree`.
    Find(find::FindRequest),
    /// `git log`, `git show`, `git diff`, `git blame`, `git status`.
    Git(git::GitInvocation),
}

/// Why a command is left to the program itself. `docent gain` counts these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandRefusal {
    #[error("docent does not know the program")]
    Program,
    #[error("the flag {0} is not answered")]
    Flag(String),
    #[error("the pattern is not answered: {0}")]
    Pattern(String),
    #[error("{0}")]
    Form(&'static str),
}

impl Request {
    /// The files and directories that it names.
    pub fn operands(&self) -> Vec<&str> {
        match self {
            Self::Search(request) => request.operands.iter().map(String::as_str).collect(),
            Self::GitGrep(request) => request.search.operands.iter().map(String::as_str).collect(),
            Self::Find(request) => request.operands().iter().map(String::as_str).collect(),
            // git itself takes no path outside of its work tree.
            Self::Git(_) => Vec::new(),
        }
    }
}

impl Word {
    pub fn literal(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            expands: false,
        }
    }
}

/// Reads a command, its program first. `git grep` and the other commands of git are two words.
pub fn understand(words: &[Word]) -> Result<Request, CommandRefusal> {
    let [program, arguments @ ..] = words else {
        return Err(CommandRefusal::Program);
    };
    match program.text.as_str() {
        "rg" if arguments
            .iter()
            .any(|word| word.text == "--files" && !word.expands) =>
        {
            find::understand_rg_files(arguments).map(Request::Find)
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            search::understand(&program.text, arguments).map(Request::Search)
        }
        "find" | "fd" | "fdfind" | "ls" | "tree" => {
            find::understand(&program.text, arguments).map(Request::Find)
        }
        "git" => {
            let (directories, command) = git::split_command(arguments)?;
            match command {
                [command, rest @ ..] if command.text == "grep" => {
                    search::understand_git_grep(directories, rest).map(Request::GitGrep)
                }
                _ => git::understand(directories, command).map(Request::Git),
            }
        }
        _ => Err(CommandRefusal::Program),
    }
}
