//! Searches for text: the arguments of `grep`, `egrep`, `fgrep`, `rg` and `git grep` as one request.
//!
//! Each program has a file here that reads its flags. Left out, and so left to the programs: flags that
//! change how a line is printed (`--column`, `-b`, `-T`, `-r`), patterns over several lines, and files of
//! patterns.
//!
//! Invariant: two requests that are equal find the same lines. What differs between programs (ignore files,
//! the order of files, binary files) is told by [`LineSearchRequest::program`].

mod git_grep;
mod grep;
mod pattern;
mod perl;
mod ripgrep;
mod silver;

pub use git_grep::GitGrepRequest;
pub(super) use git_grep::understand as understand_git_grep;
pub use pattern::{Characters, PatternRules, perl_classes, translate};
pub use perl::PerlClasses;

use super::flags::{Arguments, FlagOrOperand, LongFlag, parse_number, refuse};
use super::{CommandRefusal, Word};

/// A search that docent answers.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the programs that is given or not"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSearchRequest {
    pub program: SearchProgram,
    /// A line matches if one of these does.
    pub patterns: Vec<String>,
    pub syntax: PatternSyntax,
    pub case: PatternCase,
    pub extent: MatchExtent,
    /// `-v`: lines that do not match.
    pub inverted: bool,
    /// Files and directories, as they are written. Empty: what the program searches then.
    pub operands: Vec<String>,
    /// Directories are searched; otherwise they are named in an error.
    pub recursive: bool,
    /// `-R`: links below directories are followed.
    pub follows_links: bool,
    pub output: SearchOutput,
    pub line_numbers: bool,
    /// Whether lines begin with the file. `None`: if several files can match.
    pub file_names: Option<bool>,
    /// Lines shown before and after each match.
    pub context: (usize, usize),
    /// `-m`: matching lines of each file at most.
    pub max_count: Option<u64>,
    pub binary: BinaryFiles,
    /// `-s`: files that cannot be read are not named.
    pub hides_errors: bool,
    pub selection: FileSelectionRules,
}

/// The program whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchProgram {
    Grep,
    Ripgrep,
    /// git searches itself.
    GitGrep,
    /// `ag`, The Silver Searcher.
    Silver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternSyntax {
    /// POSIX basic with GNU's extensions.
    Basic,
    /// POSIX extended with GNU's extensions.
    Extended,
    Fixed,
    /// The syntax of Rust's `regex`, which is ripgrep's.
    Rust,
    /// Perl-compatible: `-P`.
    Perl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternCase {
    Sensitive,
    Insensitive,
    /// Insensitive unless the pattern has an upper-case letter.
    Smart,
}

/// How much of a line has to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchExtent {
    Anywhere,
    /// `-w`.
    Word,
    /// `-x`.
    Line,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOutput {
    Lines,
    /// `-c`: each file with the number of its matching lines.
    Counts,
    /// `-l`.
    FilesWithMatch,
    /// `-L`.
    FilesWithoutMatch,
    /// `-o`: the matching parts of lines.
    Parts,
    /// `-q`: nothing but the exit status.
    Nothing,
}

/// Files that are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryFiles {
    /// As the program treats them without a flag.
    Default,
    /// `-I`: as if they did not match.
    Skipped,
    /// `-a`: as text.
    Text,
}

/// Rules that choose files inside directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSelectionRules {
    /// `--include` and `--exclude` of grep, `-g` of ripgrep, in their order.
    pub globs: Vec<FileGlob>,
    /// `--exclude-dir` of grep.
    pub excluded_directories: Vec<String>,
    /// `-t` and `-T` of ripgrep; `true` for `-t`.
    pub types: Vec<(String, bool)>,
    /// `--hidden` of ripgrep.
    pub hidden: bool,
    /// `--no-ignore` of ripgrep.
    pub no_ignore: bool,
    /// `--max-depth` of ripgrep.
    pub max_depth: Option<usize>,
    /// `--sort path` of ripgrep.
    pub sorted: bool,
}

/// A glob over files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGlob {
    pub glob: String,
    /// Files that match are searched, otherwise left out.
    pub included: bool,
}

impl LineSearchRequest {
    /// A search as the program starts it without a flag.
    fn new(program: SearchProgram, syntax: PatternSyntax) -> Self {
        Self {
            program,
            patterns: Vec::new(),
            syntax,
            case: PatternCase::Sensitive,
            extent: MatchExtent::Anywhere,
            inverted: false,
            operands: Vec::new(),
            recursive: matches!(program, SearchProgram::Ripgrep | SearchProgram::Silver),
            follows_links: false,
            output: SearchOutput::Lines,
            line_numbers: false,
            file_names: None,
            context: (0, 0),
            max_count: None,
            binary: BinaryFiles::Default,
            hides_errors: false,
            selection: FileSelectionRules::default(),
        }
    }

    /// Reads flags and operands by the rules of its program.
    fn read(
        mut self,
        mut arguments: Arguments<'_>,
        read_short: fn(&mut Self, char, &mut Arguments<'_>) -> Result<(), CommandRefusal>,
        read_long: for<'a> fn(&mut Self, LongFlag<'a>, &mut Arguments<'a>) -> Result<(), CommandRefusal>,
    ) -> Result<Self, CommandRefusal> {
        let (mut expressions, mut operands) = (Vec::new(), Vec::new());
        // `ag` has none of these flags, or others of that name.
        let has_common_flags = self.program != SearchProgram::Silver;
        while let Some(argument) = arguments.next()? {
            match argument {
                FlagOrOperand::Operand(word) => operands.push(word),
                FlagOrOperand::Short('e') if has_common_flags => {
                    expressions.push(arguments.short_value()?.to_owned());
                }
                FlagOrOperand::Long("regexp", value) if has_common_flags => {
                    expressions.push(arguments.long_value(value)?.to_owned());
                }
                FlagOrOperand::Long("after-context", value) if has_common_flags => {
                    self.context.1 = parse_number(arguments.long_value(value)?)?;
                }
                FlagOrOperand::Long("before-context", value) if has_common_flags => {
                    self.context.0 = parse_number(arguments.long_value(value)?)?;
                }
                FlagOrOperand::Long("max-count", value) if has_common_flags => {
                    self.max_count = Some(parse_number(arguments.long_value(value)?)?);
                }
                FlagOrOperand::Short(flag) => read_short(&mut self, flag, &mut arguments)?,
                FlagOrOperand::Long(name, value) => read_long(&mut self, (name, value), &mut arguments)?,
            }
        }
        self.finish(expressions, operands)
    }

    /// Chooses the output by the letter of its flag. Of several such flags, the last one does not always win,
    /// so that only one is answered.
    fn choose_output(&mut self, flag: char) -> Result<(), CommandRefusal> {
        let output = match flag {
            'c' => SearchOutput::Counts,
            'l' => SearchOutput::FilesWithMatch,
            'L' => SearchOutput::FilesWithoutMatch,
            'o' => SearchOutput::Parts,
            _ => SearchOutput::Nothing,
        };
        if self.output != SearchOutput::Lines && self.output != output {
            return Err(CommandRefusal::Form("two flags choose the output"));
        }
        self.output = output;
        Ok(())
    }

    /// Takes the patterns of `-e`, or the first operand, and checks that all can be answered.
    fn finish(mut self, expressions: Vec<String>, mut operands: Vec<&Word>) -> Result<Self, CommandRefusal> {
        let given = if expressions.is_empty() {
            if operands.is_empty() {
                return Err(CommandRefusal::Form("the pattern is missing"));
            }
            let pattern = operands.remove(0);
            if pattern.expands {
                return Err(CommandRefusal::Form("the pattern has a glob"));
            }
            vec![pattern.text.clone()]
        } else {
            expressions
        };
        // GNU grep takes each line of a pattern as a pattern of its own, ripgrep refuses such a pattern.
        for pattern in &given {
            match self.program {
                SearchProgram::Grep => self.patterns.extend(pattern.split('\n').map(str::to_owned)),
                _ if pattern.contains('\n') => {
                    return Err(CommandRefusal::Form("the pattern has a line break"));
                }
                _ => self.patterns.push(pattern.clone()),
            }
        }
        if operands.iter().any(|operand| operand.text == "-") {
            return Err(CommandRefusal::Form("standard input is searched"));
        }
        self.operands = operands.into_iter().map(|operand| operand.text.clone()).collect();
        if self.syntax == PatternSyntax::Perl && self.patterns.len() > 1 {
            return Err(CommandRefusal::Form("grep -P takes one pattern"));
        }
        let rules = PatternRules::of(&self);
        let regex = translate(&self.patterns, rules, Characters::Unicode)?;
        // Perl takes the first of several matches, as `regex` does; POSIX takes the longest.
        let takes_first = self.syntax == PatternSyntax::Perl;
        if self.output == SearchOutput::Parts && !takes_first && !pattern::has_one_length(&regex) {
            return Err(CommandRefusal::Form(
                "the longest of several matches would have to be found",
            ));
        }
        if self.output == SearchOutput::Parts && self.inverted {
            return Err(CommandRefusal::Form("parts of lines that do not match"));
        }
        if self.output == SearchOutput::Parts && pattern::matches_nothing(&regex) {
            return Err(CommandRefusal::Form("empty matches would have to be printed"));
        }
        Ok(self)
    }
}

/// The letter of a long flag that means the same in all programs that are read here.
fn letter_of(name: &str) -> Result<char, CommandRefusal> {
    const LETTERS: [(&str, char); 10] = [
        ("count", 'c'),
        ("files-with-matches", 'l'),
        ("fixed-strings", 'F'),
        ("ignore-case", 'i'),
        ("invert-match", 'v'),
        ("line-number", 'n'),
        ("only-matching", 'o'),
        ("quiet", 'q'),
        ("text", 'a'),
        ("word-regexp", 'w'),
    ];
    let known = LETTERS.iter().find(|(long, _)| *long == name);
    known
        .map(|(_, letter)| *letter)
        .ok_or_else(|| refuse(&FlagOrOperand::Long(name, None)))
}

/// Reads the arguments of `program`.
pub fn understand(program: &str, arguments: &[Word]) -> Result<LineSearchRequest, CommandRefusal> {
    let request = match program {
        "grep" => grep::understand(PatternSyntax::Basic, arguments)?,
        "egrep" => grep::understand(PatternSyntax::Extended, arguments)?,
        "fgrep" => grep::understand(PatternSyntax::Fixed, arguments)?,
        "rg" => ripgrep::understand(arguments)?,
        "ag" if cfg!(unix) => silver::understand(arguments)?,
        _ => return Err(CommandRefusal::Program),
    };
    let reads_input = request.operands.is_empty() && !request.recursive;
    if reads_input {
        return Err(CommandRefusal::Form("standard input is searched"));
    }
    Ok(request)
}

/// Reads the arguments of a `grep` that filters a pipe: `grep -v WORD`.
pub fn understand_filter(program: &str, arguments: &[Word]) -> Result<LineSearchRequest, CommandRefusal> {
    let syntax = match program {
        "egrep" => PatternSyntax::Extended,
        "fgrep" => PatternSyntax::Fixed,
        _ => PatternSyntax::Basic,
    };
    let request = grep::understand(syntax, arguments)?;
    let only_selects = request.operands.is_empty()
        && !request.recursive
        && matches!(request.output, SearchOutput::Lines | SearchOutput::Counts)
        && !request.line_numbers
        && request.file_names != Some(true)
        && request.context == (0, 0)
        && request.max_count.is_none();
    if !only_selects {
        return Err(CommandRefusal::Form("a filter does more than select lines"));
    }
    Ok(request)
}

#[cfg(test)]
mod tests;
