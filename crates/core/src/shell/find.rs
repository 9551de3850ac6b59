//! Lists of files: the arguments of `find`, `fd`, `rg --files`, `ls -R` and `tree` as one request.
//!
//! `find` is GNU find, so it is answered on Linux only; `fd` is 8.3 or newer; a plain `ls` is left alone.
//!
//! Invariant: a request holds all that its program was asked for.

mod expression;
mod fd;
mod name_pattern;
mod path_regex;
mod rg_files;
mod tree;

pub use expression::{
    AgeUnit, CountTest, EntryKind, FindAction, FindCommand, FindExpression, FindTest, FormatPart,
};
pub use fd::{FdCommand, FdForm, FdPattern, NameRegex};
pub use name_pattern::{Charset, FnmatchPattern, PatternMatch};
pub use path_regex::{PathRegex, RegexDialect};
pub use rg_files::RgFilesCommand;
pub(super) use rg_files::is_stable_type;
pub use tree::{HiddenNames, LsCommand, TreeCommand, TreePattern, TreeStyle};

use super::{CommandRefusal, Word};

/// A list of files that docent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindRequest {
    Find(FindCommand),
    Fd(FdCommand),
    RgFiles(RgFilesCommand),
    Tree(TreeCommand),
    /// `ls -R`.
    Ls(LsCommand),
}

/// Reads the arguments of `program`.
pub fn understand(program: &str, arguments: &[Word]) -> Result<FindRequest, CommandRefusal> {
    if !cfg!(unix) {
        return Err(CommandRefusal::Program);
    }
    match program {
        "find" if cfg!(target_os = "linux") => FindCommand::understand(arguments).map(FindRequest::Find),
        "fd" | "fdfind" => FdCommand::understand(arguments).map(FindRequest::Fd),
        "tree" => TreeCommand::understand(arguments).map(FindRequest::Tree),
        "ls" => LsCommand::understand(arguments).map(FindRequest::Ls),
        _ => Err(CommandRefusal::Program),
    }
}

/// Reads the arguments of `rg` that have `--files` among them.
pub fn understand_rg_files(arguments: &[Word]) -> Result<FindRequest, CommandRefusal> {
    if !cfg!(unix) {
        return Err(CommandRefusal::Program);
    }
    RgFilesCommand::understand(arguments).map(FindRequest::RgFiles)
}

impl FindRequest {
    /// The paths that the command starts from, as they were given.
    pub fn operands(&self) -> &[String] {
        match self {
            Self::Find(command) => &command.starts,
            Self::Fd(command) => &command.paths,
            Self::RgFiles(command) => &command.paths,
            Self::Tree(command) => &command.paths,
            Self::Ls(command) => &command.paths,
        }
    }

    /// Whether the order of the output is that of the locale, which docent knows for bytes only.
    pub fn needs_byte_order(&self) -> bool {
        matches!(self, Self::Tree(_) | Self::Ls(_))
    }
}

/// The files that `fd` and `rg` leave out unless they are told not to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IgnoreFlags {
    /// Hidden files are listed.
    pub hidden: bool,
    /// No ignore file is read.
    pub no_ignore: bool,
    /// No ignore file of git is read.
    pub no_ignore_vcs: bool,
}

impl IgnoreFlags {
    pub fn reads_git(self) -> bool {
        !self.no_ignore && !self.no_ignore_vcs
    }

    /// Whether nothing is left out.
    pub fn is_empty(self) -> bool {
        self.hidden && self.no_ignore
    }
}

const MISSING_VALUE: CommandRefusal = CommandRefusal::Form("an option has no value that it takes");

#[cfg(test)]
mod tests;
