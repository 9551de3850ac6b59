//! The flags of `git grep`.
//!
//! git itself searches, with the caller's flags: they are read here only to know what it will print. Left
//! out: several revisions, the index, other forms of lines (`--column`, `--heading`, `--break`, `-p`, `-W`,
//! `-z`), files of patterns, and flags that run programs (`-O`, `--textconv`).
//!
//! Invariant: the arguments for git select the same lines as the caller's; names and numbers are always asked
//! for, and left out again when the lines are printed.

use super::super::flags::{Arguments, FlagOrOperand, LongFlag, ShortValue, parse_number, refuse};
use super::super::{CommandRefusal, Word};
use super::{
    LineSearchRequest, MatchExtent, PatternCase, PatternSyntax, SearchOutput, SearchProgram, letter_of,
};

/// A `git grep` that docent answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitGrepRequest {
    /// The directories of `-C`, in order.
    pub directories: Vec<String>,
    /// What is printed. Its operands start from the working directory, those of `-C` included.
    pub search: LineSearchRequest,
    /// The revision that is searched in place of the work tree.
    pub revision: Option<String>,
    /// The caller's paths as git is given them. The first may be `--`.
    pub paths: Vec<String>,
    /// `--no-color`.
    pub is_plain: bool,
    /// `-n`. `None`: as the configuration has it.
    pub line_numbers: Option<bool>,
    /// `--full-name`. `None`: as the configuration has it.
    pub full_names: Option<bool>,
    /// Flags that select lines, with the patterns.
    selection: Vec<String>,
}

impl GitGrepRequest {
    /// The arguments behind `git grep`: lines with names and numbers, whatever the caller asked for.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--color=always".to_owned(), "-n".to_owned(), "-H".to_owned()];
        let output = match self.search.output {
            SearchOutput::Lines => None,
            SearchOutput::Counts => Some("-c"),
            SearchOutput::FilesWithMatch => Some("-l"),
            SearchOutput::FilesWithoutMatch => Some("-L"),
            SearchOutput::Parts => Some("-o"),
            SearchOutput::Nothing => Some("-q"),
        };
        arguments.extend(output.map(str::to_owned));
        arguments.extend(self.full_names.map(|is_full| {
            if is_full {
                "--full-name".to_owned()
            } else {
                "--no-full-name".to_owned()
            }
        }));
        let (before, after) = self.search.context;
        if (before, after) != (0, 0) {
            arguments.extend([format!("-B{before}"), format!("-A{after}")]);
        }
        arguments.extend_from_slice(&self.selection);
        arguments.extend(self.revision.clone());
        arguments.extend_from_slice(&self.paths);
        arguments
    }

    /// Whether git searches what it has recorded, and not the files as they are.
    pub fn reads_records(&self) -> bool {
        self.revision.is_some()
    }
}

/// Reads the arguments behind `git grep`.
pub(in super::super) fn understand(
    directories: Vec<String>,
    words: &[Word],
) -> Result<GitGrepRequest, CommandRefusal> {
    let mut search = LineSearchRequest::new(SearchProgram::GitGrep, PatternSyntax::Basic);
    search.file_names = Some(true);
    let mut request = GitGrepRequest {
        directories,
        search,
        revision: None,
        paths: Vec::new(),
        is_plain: false,
        line_numbers: None,
        full_names: None,
        selection: Vec::new(),
    };
    let mut arguments = Arguments::new(words, ShortValue::Attached);
    let mut operands: Vec<&Word> = Vec::new();
    // git reads flags up to the first operand.
    while let Some(argument) = arguments.next()? {
        match argument {
            FlagOrOperand::Operand(word) => {
                operands.push(word);
                operands.extend(arguments.rest());
                break;
            }
            FlagOrOperand::Short(flag) => request.read_short(flag, &mut arguments)?,
            FlagOrOperand::Long(name, value) => request.read_long((name, value), &mut arguments)?,
        }
    }
    request.take_operands(arguments.are_only_operands(), operands)?;
    Ok(request)
}

impl GitGrepRequest {
    fn read_short(&mut self, flag: char, arguments: &mut Arguments<'_>) -> Result<(), CommandRefusal> {
        let search = &mut self.search;
        match flag {
            'n' => self.line_numbers = Some(true),
            'h' => search.file_names = Some(false),
            'H' => search.file_names = Some(true),
            'c' | 'l' | 'L' | 'o' | 'q' => search.choose_output(flag)?,
            'A' => search.context.1 = parse_number(arguments.short_value()?)?,
            'B' => search.context.0 = parse_number(arguments.short_value()?)?,
            'C' => {
                let lines = parse_number(arguments.short_value()?)?;
                search.context = (lines, lines);
            }
            digit if digit.is_ascii_digit() => {
                let lines = parse_number(&format!("{digit}{}", arguments.more_digits()))?;
                search.context = (lines, lines);
            }
            'e' => self.push_pattern(arguments.short_value()?)?,
            'm' => {
                let count: u64 = parse_number(arguments.short_value()?)?;
                self.selection.push(format!("-m{count}"));
            }
            'i' | 'v' | 'w' | 'E' | 'F' | 'G' | 'P' | 'a' | 'I' | 'r' => {
                match flag {
                    'i' => search.case = PatternCase::Insensitive,
                    'v' => search.inverted = true,
                    'w' => search.extent = MatchExtent::Word,
                    'E' => search.syntax = PatternSyntax::Extended,
                    'F' => search.syntax = PatternSyntax::Fixed,
                    'G' => search.syntax = PatternSyntax::Basic,
                    'P' => search.syntax = PatternSyntax::Perl,
                    _ => {}
                }
                self.selection.push(format!("-{flag}"));
            }
            other => return Err(refuse(&FlagOrOperand::Short(other))),
        }
        Ok(())
    }

    fn read_long<'a>(
        &mut self,
        (name, value): LongFlag<'a>,
        arguments: &mut Arguments<'a>,
    ) -> Result<(), CommandRefusal> {
        let short = match (name, value) {
            ("no-line-number", None) => {
                self.line_numbers = Some(false);
                return Ok(());
            }
            ("name-only", None) => 'l',
            ("files-without-match", None) => 'L',
            ("extended-regexp", None) => 'E',
            ("basic-regexp", None) => 'G',
            ("perl-regexp", None) => 'P',
            ("recursive", None) => 'r',
            ("full-name" | "no-full-name", None) => {
                self.full_names = Some(name == "full-name");
                return Ok(());
            }
            ("no-color", None) | ("color", Some("never")) => {
                self.is_plain = true;
                return Ok(());
            }
            ("after-context", value) => {
                self.search.context.1 = parse_number(arguments.long_value(value)?)?;
                return Ok(());
            }
            ("before-context", value) => {
                self.search.context.0 = parse_number(arguments.long_value(value)?)?;
                return Ok(());
            }
            ("context", value) => {
                let lines = parse_number(arguments.long_value(value)?)?;
                self.search.context = (lines, lines);
                return Ok(());
            }
            ("max-count" | "max-depth" | "threads", value) => {
                let number: u64 = parse_number(arguments.long_value(value)?)?;
                self.selection.push(format!("--{name}={number}"));
                return Ok(());
            }
            ("untracked" | "no-recursive" | "no-textconv" | "and" | "or" | "not" | "all-match", None) => {
                self.selection.push(format!("--{name}"));
                return Ok(());
            }
            (name, None) => letter_of(name)?,
            _ => return Err(refuse(&FlagOrOperand::Long(name, value))),
        };
        self.read_short(short, arguments)
    }

    fn push_pattern(&mut self, pattern: &str) -> Result<(), CommandRefusal> {
        if pattern.contains('\n') {
            return Err(CommandRefusal::Form("the pattern has a line break"));
        }
        self.search.patterns.push(pattern.to_owned());
        self.selection.extend(["-e".to_owned(), pattern.to_owned()]);
        Ok(())
    }

    /// Takes the pattern, unless `-e` gave one, and the paths.
    fn take_operands(
        &mut self,
        begins_with_separator: bool,
        mut operands: Vec<&Word>,
    ) -> Result<(), CommandRefusal> {
        if self.search.patterns.is_empty() {
            // `git grep -- PATTERN` skips the separator.
            if begins_with_separator || operands.is_empty() {
                return Err(CommandRefusal::Form("the pattern is missing"));
            }
            let pattern = operands.remove(0);
            if pattern.expands {
                return Err(CommandRefusal::Form("the pattern has a glob"));
            }
            if pattern.text.contains('\n') {
                return Err(CommandRefusal::Form("the pattern has a line break"));
            }
            self.search.patterns.push(pattern.text.clone());
            // git names the place of a pattern in its messages.
            self.selection.push(pattern.text.clone());
        }
        let mut texts: Vec<&str> = operands.iter().map(|word| word.text.as_str()).collect();
        let separator = texts.iter().position(|text| *text == "--");
        // In front of `--` stand revisions only.
        match separator {
            Some(1) if !begins_with_separator && !operands[0].expands => {
                self.set_revision(texts.remove(0))?;
            }
            Some(0) | None => {}
            Some(_) => return Err(CommandRefusal::Form("several revisions are searched")),
        }
        if begins_with_separator {
            self.paths.push("--".to_owned());
        }
        self.paths.extend(texts.iter().map(|text| (*text).to_owned()));
        let has_separator = self.paths.first().is_some_and(|first| first == "--");
        let paths = &self.paths[usize::from(has_separator)..];
        // git looks for revisions first, and for flags that come too late.
        if !has_separator && paths.iter().any(|path| path.starts_with(['-', ':'])) {
            return Err(CommandRefusal::Form("an operand is not answered"));
        }
        // The magic of `:` selects among the files of the work tree.
        let named = paths.iter().filter(|path| !path.starts_with(':'));
        self.search.operands = named
            .map(|path| {
                let steps = self.directories.iter().map(String::as_str).chain([path.as_str()]);
                steps.fold(String::new(), |base, step| join(&base, step))
            })
            .collect();
        Ok(())
    }
}

impl GitGrepRequest {
    /// Takes the first path for a revision: it stands before `--`, or there is no such path.
    pub fn set_revision(&mut self, revision: &str) -> Result<(), CommandRefusal> {
        // The name of a tree stands before the names of its files.
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./~^@".contains(char);
        if revision.starts_with('-') || !revision.chars().all(is_plain) {
            return Err(CommandRefusal::Form("a revision of this form is searched"));
        }
        self.revision = Some(revision.to_owned());
        Ok(())
    }
}

/// A path as one program after the other would resolve it.
fn join(base: &str, step: &str) -> String {
    if base.is_empty() || step.starts_with('/') {
        step.to_owned()
    } else {
        format!("{}/{step}", base.trim_end_matches('/'))
    }
}
