//! The arguments of `tree` and `ls -R`, and the patterns of `tree -I` and `-P`.
//!
//! Left out, and refused: sizes, times, owners, formats, ignore files, sorting by anything but names, and an
//! `ls` that is not recursive, whose answer is short as it is.
//!
//! Invariant: a pattern has only stars, question marks and alternatives beside plain characters; in brackets
//! and slashes the versions of tree differ.

use super::{Charset, FnmatchPattern, PatternMatch};
use crate::shell::flags::{Arguments, FlagOrOperand, ShortValue, refuse};
use crate::shell::{CommandRefusal, Word};

/// A command of `tree`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeCommand {
    /// Directories as they were given; `.` if there were none.
    pub paths: Vec<String>,
    /// `-a`: hidden files too.
    pub all: bool,
    /// `-d`.
    pub only_directories: bool,
    pub dirs_first: bool,
    pub style: TreeStyle,
    pub max_depth: Option<usize>,
    /// `-I`.
    pub excluded: Vec<TreePattern>,
    /// `-P`, for files.
    pub included: Vec<TreePattern>,
}

/// How `tree` draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeStyle {
    pub no_report: bool,
    /// `-f`: every name with its path.
    pub full_paths: bool,
    /// `-i`: no lines before names.
    pub no_indentation: bool,
}

/// A pattern with its alternatives, divided by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePattern {
    alternatives: Vec<FnmatchPattern>,
}

/// A command of `ls -R`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LsCommand {
    /// Operands as they were given; `.` if there were none.
    pub paths: Vec<String>,
    /// `-a` or `-A`.
    pub hidden: HiddenNames,
}

/// The hidden names that `ls` shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HiddenNames {
    #[default]
    None,
    /// All but `.` and `..`.
    AlmostAll,
    All,
}

impl TreeCommand {
    pub(super) fn understand(words: &[Word]) -> Result<Self, CommandRefusal> {
        let mut command = Self::default();
        let mut arguments = Arguments::new(words, ShortValue::Attached);
        while let Some(part) = arguments.next()? {
            match part {
                FlagOrOperand::Operand(word) => command.paths.push(word.text.clone()),
                FlagOrOperand::Short('a') => command.all = true,
                FlagOrOperand::Short('d') => command.only_directories = true,
                FlagOrOperand::Short('f') => command.style.full_paths = true,
                FlagOrOperand::Short('i') => command.style.no_indentation = true,
                // Without colours, which a pipe has none of anyway.
                FlagOrOperand::Short('n') => {}
                FlagOrOperand::Long("dirsfirst", None) => command.dirs_first = true,
                FlagOrOperand::Long("noreport", None) => command.style.no_report = true,
                FlagOrOperand::Short('L') => {
                    let depth = take_value(&mut arguments)?.parse().unwrap_or(0);
                    if depth == 0 {
                        return Err(CommandRefusal::Form("tree takes no such level"));
                    }
                    command.max_depth = Some(depth);
                }
                FlagOrOperand::Short('I') => command
                    .excluded
                    .push(TreePattern::parse(take_value(&mut arguments)?)?),
                FlagOrOperand::Short('P') => command
                    .included
                    .push(TreePattern::parse(take_value(&mut arguments)?)?),
                other => return Err(refuse(&other)),
            }
        }
        if command.paths.is_empty() {
            command.paths.push(".".to_owned());
        }
        Ok(command)
    }
}

/// The next word as a value: tree takes a value in a word of its own, whatever follows its letter.
fn take_value<'a>(arguments: &mut Arguments<'a>) -> Result<&'a str, CommandRefusal> {
    if arguments.has_more_letters() {
        return Err(CommandRefusal::Form("an option of tree has letters behind it"));
    }
    arguments.short_value()
}

impl TreePattern {
    fn parse(text: &str) -> Result<Self, CommandRefusal> {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || " _-.,+=@%~#*?|".contains(char);
        // An empty alternative is read in different ways by the versions, and so are two stars.
        let is_unclear = text.contains("**") || text.split('|').any(str::is_empty);
        if is_unclear || !text.chars().all(is_plain) {
            return Err(CommandRefusal::Pattern(text.to_owned()));
        }
        let alternatives = text.split('|').map(|name| FnmatchPattern::parse(name, false));
        Ok(Self {
            alternatives: alternatives.collect::<Result<_, _>>()?,
        })
    }

    pub fn matches(&self, name: &[u8]) -> bool {
        self.alternatives
            .iter()
            .any(|pattern| pattern.matches(name, Charset::Bytes) == PatternMatch::Yes)
    }
}

impl LsCommand {
    pub(super) fn understand(words: &[Word]) -> Result<Self, CommandRefusal> {
        let mut command = Self::default();
        let mut is_recursive = false;
        let mut arguments = Arguments::new(words, ShortValue::Attached);
        while let Some(part) = arguments.next()? {
            match part {
                FlagOrOperand::Operand(word) => command.paths.push(word.text.clone()),
                FlagOrOperand::Short('R') | FlagOrOperand::Long("recursive", None) => is_recursive = true,
                FlagOrOperand::Short('a') | FlagOrOperand::Long("all", None) => {
                    command.hidden = HiddenNames::All;
                }
                FlagOrOperand::Short('A') | FlagOrOperand::Long("almost-all", None) => {
                    command.hidden = HiddenNames::AlmostAll;
                }
                // One name in a line, as in every pipe.
                FlagOrOperand::Short('1') => {}
                other => return Err(refuse(&other)),
            }
        }
        if !is_recursive {
            return Err(CommandRefusal::Form("ls is short as it is"));
        }
        if command.paths.is_empty() {
            command.paths.push(".".to_owned());
        }
        Ok(command)
    }
}
