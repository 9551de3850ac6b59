//! The arguments of `rg --files`: the files that a search would read.
//!
//! Left out, and refused: patterns, links that are followed, sorting by time, and types beside those that
//! every version of ripgrep defines alike.
//!
//! Invariant: options that only shape matches are refused too, so that none is skipped by mistake.

use super::{CommandPart, IgnoreFlags, OptionReader, refuse_option};
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

impl RgFilesCommand {
    pub(super) fn understand(words: &[Word]) -> Result<Self, CommandRefusal> {
        let mut command = Self::default();
        let mut lists_files = false;
        let mut unrestricted = 0;
        let mut reader = OptionReader::new(words);
        while let Some(part) = reader.next()? {
            match part {
                CommandPart::Operand(word) if word.text == "-" => {
                    return Err(CommandRefusal::Form("standard input is searched"));
                }
                CommandPart::Operand(word) => command.paths.push(word.text.clone()),
                CommandPart::Long("files", None) => lists_files = true,
                CommandPart::Short('.') | CommandPart::Long("hidden", None) => command.left_out.hidden = true,
                CommandPart::Long("no-ignore", None) => command.left_out.no_ignore = true,
                CommandPart::Long("no-ignore-vcs", None) => command.left_out.no_ignore_vcs = true,
                CommandPart::Short('u') | CommandPart::Long("unrestricted", None) => unrestricted += 1,
                CommandPart::Short('g') => command.globs.push(reader.value(None)?.to_owned()),
                CommandPart::Long("glob", value) => command.globs.push(reader.value(value)?.to_owned()),
                CommandPart::Short('t') => command.add_type(reader.value(None)?)?,
                CommandPart::Long("type", value) => command.add_type(reader.value(value)?)?,
                CommandPart::Long("max-depth" | "maxdepth", value) => {
                    command.max_depth = Some(reader.number(value)?);
                }
                CommandPart::Long("sort", value) if reader.value(value)? == "path" => command.sorts = true,
                CommandPart::Long("sort-files", None) => command.sorts = true,
                // Files are listed the same with them.
                CommandPart::Short('S' | 'n' | 'i') => {}
                other => return Err(refuse_option(&other)),
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
