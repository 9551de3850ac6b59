//! The arguments of `fd`.
//!
//! Left out, and refused: actions that run programs, sizes, times and owners, links that are followed, and
//! `--hidden` alone, which enters `.git` up to fd 8 and not from fd 9 on.
//!
//! Invariant: whether letter case counts is decided as fd decides it, by capital letters of the pattern.

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

use super::{EntryKind, IgnoreFlags, MISSING_VALUE};
use crate::shell::flags::{Arguments, FlagOrOperand, ShortValue, parse_number, refuse};
use crate::shell::{CommandRefusal, Word};

/// A command of `fd`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FdCommand {
    pub pattern: FdPattern,
    /// Paths as they were given. Without any, the working directory is searched.
    pub paths: Vec<String>,
    pub left_out: IgnoreFlags,
    pub absolute: bool,
    /// Empty for all.
    pub kinds: Vec<EntryKind>,
    /// Extensions without their dot. Empty for all.
    pub extensions: Vec<String>,
    /// Globs of `--exclude`.
    pub excluded: Vec<String>,
    pub min_depth: Option<usize>,
    pub max_depth: Option<usize>,
}

/// The pattern for names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FdPattern {
    pub text: String,
    pub form: FdForm,
    pub ignores_case: bool,
}

/// A compiled [`FdPattern`].
#[derive(Clone, Debug)]
pub struct NameRegex(Regex);

impl NameRegex {
    pub fn is_match(&self, name: &[u8]) -> bool {
        self.0.is_match(name)
    }
}

/// How the pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FdForm {
    #[default]
    Regex,
    Glob,
    Fixed,
}

/// Flags that decide about letter case; the last one counts.
#[derive(Clone, Copy)]
enum CaseFlag {
    Smart,
    Ignore,
    Keep,
}

impl FdCommand {
    pub(super) fn understand(words: &[Word]) -> Result<Self, CommandRefusal> {
        let mut command = Self::default();
        let mut case = CaseFlag::Smart;
        let mut operands: Vec<&Word> = Vec::new();
        let mut arguments = Arguments::new(words, ShortValue::AttachedOrEquals);
        while let Some(part) = arguments.next()? {
            match part {
                FlagOrOperand::Operand(word) => operands.push(word),
                FlagOrOperand::Short('H') | FlagOrOperand::Long("hidden", None) => {
                    command.left_out.hidden = true;
                }
                FlagOrOperand::Short('I') | FlagOrOperand::Long("no-ignore", None) => {
                    command.left_out.no_ignore = true;
                }
                FlagOrOperand::Short('u') | FlagOrOperand::Long("unrestricted", None) => {
                    command.left_out.hidden = true;
                    command.left_out.no_ignore = true;
                }
                FlagOrOperand::Long("no-ignore-vcs", None) => command.left_out.no_ignore_vcs = true,
                FlagOrOperand::Short('s') | FlagOrOperand::Long("case-sensitive", None) => {
                    case = CaseFlag::Keep;
                }
                FlagOrOperand::Short('i') | FlagOrOperand::Long("ignore-case", None) => {
                    case = CaseFlag::Ignore;
                }
                FlagOrOperand::Short('g') | FlagOrOperand::Long("glob", None) => {
                    command.pattern.form = FdForm::Glob;
                }
                FlagOrOperand::Short('F') | FlagOrOperand::Long("fixed-strings", None) => {
                    command.pattern.form = FdForm::Fixed;
                }
                FlagOrOperand::Short('a') | FlagOrOperand::Long("absolute-path", None) => {
                    command.absolute = true;
                }
                FlagOrOperand::Short('t') => command.kinds.push(parse_kind(arguments.short_value()?)?),
                FlagOrOperand::Long("type", value) => {
                    command.kinds.push(parse_kind(arguments.long_value(value)?)?);
                }
                FlagOrOperand::Short('e') => command.add_extension(arguments.short_value()?)?,
                FlagOrOperand::Long("extension", value) => {
                    command.add_extension(arguments.long_value(value)?)?;
                }
                FlagOrOperand::Short('E') => command.excluded.push(arguments.short_value()?.to_owned()),
                FlagOrOperand::Long("exclude", value) => {
                    command.excluded.push(arguments.long_value(value)?.to_owned());
                }
                FlagOrOperand::Short('d') => {
                    command.max_depth = Some(parse_number(arguments.short_value()?)?);
                }
                FlagOrOperand::Long("max-depth", value) => {
                    command.max_depth = Some(parse_number(arguments.long_value(value)?)?);
                }
                FlagOrOperand::Long("min-depth", value) => {
                    command.min_depth = Some(parse_number(arguments.long_value(value)?)?);
                }
                FlagOrOperand::Long("color", value) if arguments.long_value(value)? != "always" => {}
                other => return Err(refuse(&other)),
            }
        }
        command.take_operands(&operands)?;
        command.pattern.decide_case(case)?;
        command.check()?;
        command.pattern.compile()?;
        Ok(command)
    }

    fn take_operands(&mut self, operands: &[&Word]) -> Result<(), CommandRefusal> {
        let [pattern, paths @ ..] = operands else {
            return Ok(());
        };
        if pattern.expands {
            return Err(CommandRefusal::Form("a pattern is expanded by the shell"));
        }
        // fd takes such a pattern for a path by mistake, and says so.
        if self.pattern.form != FdForm::Glob && pattern.text.contains('/') {
            return Err(CommandRefusal::Pattern(pattern.text.clone()));
        }
        self.pattern.text.clone_from(&pattern.text);
        self.paths = paths.iter().map(|word| word.text.clone()).collect();
        Ok(())
    }

    fn add_extension(&mut self, extension: &str) -> Result<(), CommandRefusal> {
        let extension = extension.trim_start_matches('.');
        if extension.is_empty() || !extension.is_ascii() {
            return Err(MISSING_VALUE);
        }
        self.extensions.push(extension.to_owned());
        Ok(())
    }

    fn check(&self) -> Result<(), CommandRefusal> {
        let excludes_git = self
            .excluded
            .iter()
            .any(|glob| matches!(glob.as_str(), ".git" | ".git/"));
        if self.left_out.hidden && !self.left_out.no_ignore && !excludes_git {
            return Err(CommandRefusal::Form("fd -H enters .git in some versions"));
        }
        if self.min_depth.is_some() && self.max_depth.is_some_and(|max| Some(max) < self.min_depth) {
            return Err(MISSING_VALUE);
        }
        Ok(())
    }
}

impl FdPattern {
    /// The expression for file names, as fd builds it.
    pub fn compile(&self) -> Result<NameRegex, CommandRefusal> {
        let refuse = || CommandRefusal::Pattern(self.text.clone());
        let expression = match self.form {
            _ if self.text.is_empty() => String::new(),
            FdForm::Regex => self.text.clone(),
            FdForm::Fixed => regex::escape(&self.text),
            FdForm::Glob => {
                let glob = GlobBuilder::new(&self.text).literal_separator(true).build();
                glob.map_err(|_| refuse())?.regex().to_owned()
            }
        };
        RegexBuilder::new(&expression)
            .case_insensitive(self.ignores_case)
            .dot_matches_new_line(true)
            .build()
            .map(NameRegex)
            .map_err(|_| refuse())
    }

    fn decide_case(&mut self, flag: CaseFlag) -> Result<(), CommandRefusal> {
        let refuse = || CommandRefusal::Pattern(self.text.clone());
        if !self.text.is_ascii() {
            return Err(refuse());
        }
        self.ignores_case = match flag {
            CaseFlag::Ignore => true,
            CaseFlag::Keep => false,
            CaseFlag::Smart => {
                // fd looks at the parsed expression: a class like `\w` has capital letters, `\.` has none.
                let has_class = self.form != FdForm::Fixed
                    && (self.text.contains("[^")
                        || self.text.contains("(?")
                        || self.text.contains("[!")
                        || has_letter_escape(&self.text));
                if has_class {
                    return Err(refuse());
                }
                !self.text.bytes().any(|byte| byte.is_ascii_uppercase())
            }
        };
        Ok(())
    }
}

/// Whether a backslash stands before a letter or digit.
fn has_letter_escape(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && bytes.next().is_some_and(|next| next.is_ascii_alphanumeric()) {
            return true;
        }
    }
    false
}

fn parse_kind(text: &str) -> Result<EntryKind, CommandRefusal> {
    match text {
        "f" | "file" => Ok(EntryKind::File),
        "d" | "directory" => Ok(EntryKind::Directory),
        "l" | "symlink" => Ok(EntryKind::Link),
        _ => Err(CommandRefusal::Flag(format!("--type {text}"))),
    }
}
