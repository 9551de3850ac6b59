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

/// The operands and options of a command in the style of GNU: options may follow operands, up to `--`.
struct OptionReader<'a> {
    words: &'a [Word],
    at: usize,
    /// The rest of a group of short options, like `I` of `-HI`.
    group: &'a str,
    only_operands: bool,
}

/// An element of a command line.
enum CommandPart<'a> {
    Short(char),
    /// Without its `--`, and with its value if that stands behind `=`.
    Long(&'a str, Option<&'a str>),
    Operand(&'a Word),
}

impl<'a> OptionReader<'a> {
    fn new(words: &'a [Word]) -> Self {
        Self {
            words,
            at: 0,
            group: "",
            only_operands: false,
        }
    }

    fn next(&mut self) -> Result<Option<CommandPart<'a>>, CommandRefusal> {
        if let Some(letter) = self.group.chars().next() {
            self.group = &self.group[letter.len_utf8()..];
            return Ok(Some(CommandPart::Short(letter)));
        }
        let Some(word) = self.words.get(self.at) else {
            return Ok(None);
        };
        self.at += 1;
        let text = word.text.as_str();
        if self.only_operands || word.expands || text == "-" || !text.starts_with('-') {
            return Ok(Some(CommandPart::Operand(word)));
        }
        if text == "--" {
            self.only_operands = true;
            return self.next();
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            return Ok(Some(CommandPart::Long(name, value)));
        }
        self.group = &text[1..];
        self.next()
    }

    /// The value of the option just read: what is behind it in its word, or the next word.
    fn value(&mut self, inline: Option<&'a str>) -> Result<&'a str, CommandRefusal> {
        if let Some(value) = inline {
            return Ok(value);
        }
        if !self.group.is_empty() {
            let value = std::mem::take(&mut self.group);
            return Ok(value.strip_prefix('=').unwrap_or(value));
        }
        let word = self.words.get(self.at).ok_or(MISSING_VALUE)?;
        self.at += 1;
        if word.expands {
            return Err(CommandRefusal::Form("a pattern is expanded by the shell"));
        }
        Ok(&word.text)
    }

    fn number(&mut self, inline: Option<&'a str>) -> Result<usize, CommandRefusal> {
        let text = self.value(inline)?;
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        is_number
            .then(|| text.parse().ok())
            .flatten()
            .ok_or(MISSING_VALUE)
    }
}

const MISSING_VALUE: CommandRefusal = CommandRefusal::Form("an option has no value that it takes");

/// The refusal of an option that is not answered.
fn refuse_option(part: &CommandPart<'_>) -> CommandRefusal {
    CommandRefusal::Flag(match part {
        CommandPart::Short(letter) => format!("-{letter}"),
        CommandPart::Long(name, _) => format!("--{name}"),
        CommandPart::Operand(word) => word.text.clone(),
    })
}

#[cfg(test)]
mod tests;
