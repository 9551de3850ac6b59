//! The arguments of `rg --files`: the files that a search would read.
//!
//! Left out, and refused: patterns, links that are followed, sorting by time, and types beside those that
//! every version of ripgrep defines alike.
//!
//! Invariant: options that only shape matches are refused too, so that none is skipped by mistake.

use super::IgnoreFlags;
use crate::shell::flags::{Arguments, FlagOrOperand, ShortValue, parse_number, refuse};
use crate::shell::{CommandRefusal, Word};

/// A command of `rg --files`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RgFilesCommand {
    /// Paths as they were given. Without any, the working directory is searched.
    pub paths: Vec<String>,
    pub left_out: IgnoreFlags,
    /// Globs of `-g` in order.
    pub globs: Vec<String>,
    /// The files of `-t`. Empty for all.
    pub type_globs: Vec<&'static str>,
    pub max_depth: Option<usize>,
    /// `--sort path`.
    pub sorts: bool,
}

/// Types that ripgrep has defined in one way since version 11.
const TYPES: [(&str, &[&str]); 10] = [
    ("c", &["*.[chH]", "*.[chH].in", "*.cats"]),
    ("css", &["*.css", "*.scss"]),
    ("go", &["*.go"]),
    ("html", &["*.htm", "*.html", "*.ejs"]),
    ("java", &["*.java", "*.jsp", "*.jspx", "*.properties"]),
    ("lua", &["*.lua"]),
    ("rust", &["*.rs"]),
    ("sql", &["*.sql", "*.psql"]),
    ("swift", &["*.swift"]),
    ("yaml", &["*.yaml", "*.yml"]),
];

/// Whether every version of ripgrep means the same files by a type.
pub(in crate::shell) fn is_stable_type(name: &str) -> bool {
    TYPES.iter().any(|(own, _)| *own == name)
}

impl RgFilesCommand {
    pub(super) fn understand(words: &[Word]) -> Result<Self, CommandRefusal> {
        let mut command = Self::default();
        let mut lists_files = false;
        let mut unrestricted = 0;
        let mut arguments = Arguments::new(words, ShortValue::AttachedOrEquals);
        while let Some(part) = arguments.next()? {
            match part {
                FlagOrOperand::Operand(word) if word.text == "-" => {
                    return Err(CommandRefusal::Form("standard input is searched"));
                }
                FlagOrOperand::Operand(word) => command.paths.push(word.text.clone()),
                FlagOrOperand::Long("files", None) => lists_files = true,
                FlagOrOperand::Short('.') | FlagOrOperand::Long("hidden", None) => {
                    command.left_out.hidden = true;
                }
                FlagOrOperand::Long("no-ignore", None) => command.left_out.no_ignore = true,
                FlagOrOperand::Long("no-ignore-vcs", None) => command.left_out.no_ignore_vcs = true,
                FlagOrOperand::Short('u') | FlagOrOperand::Long("unrestricted", None) => unrestricted += 1,
                FlagOrOperand::Short('g') => command.globs.push(arguments.short_value()?.to_owned()),
                FlagOrOperand::Long("glob", value) => {
                    command.globs.push(arguments.long_value(value)?.to_owned());
                }
                FlagOrOperand::Short('t') => command.add_type(arguments.short_value()?)?,
                FlagOrOperand::Long("type", value) => command.add_type(arguments.long_value(value)?)?,
                FlagOrOperand::Long("max-depth" | "maxdepth", value) => {
                    command.max_depth = Some(parse_number(arguments.long_value(value)?)?);
                }
                FlagOrOperand::Long("sort", value) if arguments.long_value(value)? == "path" => {
                    command.sorts = true;
                }
                FlagOrOperand::Long("sort-files", None) => command.sorts = true,
                // Files are listed the same with them.
                FlagOrOperand::Short('S' | 'n' | 'i') => {}
                other => return Err(refuse(&other)),
            }
        }
        if !lists_files {
            return Err(CommandRefusal::Form("rg searches"));
        }
        command.left_out.no_ignore |= unrestricted >= 1;
        command.left_out.hidden |= unrestricted >= 2;
        Ok(command)
    }

    fn add_type(&mut self, name: &str) -> Result<(), CommandRefusal> {
        let globs = TYPES.iter().find(|(own, _)| *own == name);
        let (_, globs) = globs.ok_or_else(|| CommandRefusal::Flag(format!("--type {name}")))?;
        self.type_globs.extend_from_slice(globs);
        Ok(())
    }
}
