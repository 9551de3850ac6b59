//! `docent sh PROGRAM ARGS…`: answers a shell command as its program would, in fewer characters.
//!
//! Each program family has a file here that runs a request and writes the answer.
//!
//! Invariant: nothing is written to the project, and no program but git is run.

pub(crate) mod find;
pub(crate) mod git;
pub(crate) mod search;

use std::path::PathBuf;

use docent_core::shell::OutputFilter;

/// Where and how a command is answered.
pub(crate) struct ShellContext {
    /// The directory that relative operands start from.
    pub(crate) directory: PathBuf,
    /// The project's directory: the git root around `directory`, or `directory` itself.
    pub(crate) root: PathBuf,
    /// Filters that followed the command in its pipeline, in order.
    pub(crate) filters: Vec<OutputFilter>,
    /// Characters that a shortened answer may have.
    pub(crate) budget: usize,
    /// Print exactly what the program prints, unshortened.
    pub(crate) is_plain: bool,
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
