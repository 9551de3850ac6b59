//! The flags of GNU grep.

use super::super::flags::{Arguments, FlagOrOperand, LongFlag, ShortValue, parse_number, refuse};
use super::super::{CommandRefusal, Word};
use super::{
    BinaryFiles, FileGlob, LineSearchRequest, MatchExtent, PatternCase, PatternSyntax, SearchProgram,
    letter_of,
};

/// Reads the arguments. `syntax` is that of the program without a flag.
pub(super) fn understand(syntax: PatternSyntax, words: &[Word]) -> Result<LineSearchRequest, CommandRefusal> {
    let arguments = Arguments::new(words, ShortValue::Attached);
    LineSearchRequest::new(SearchProgram::Grep, syntax).read(arguments, read_short, read_long)
}

fn read_short(
    request: &mut LineSearchRequest,
    flag: char,
    arguments: &mut Arguments<'_>,
) -> Result<(), CommandRefusal> {
    match flag {
        'E' => choose_syntax(request, PatternSyntax::Extended)?,
        'F' => choose_syntax(request, PatternSyntax::Fixed)?,
        'G' => choose_syntax(request, PatternSyntax::Basic)?,
        'P' => choose_syntax(request, PatternSyntax::Perl)?,
        'i' | 'y' => request.case = PatternCase::Insensitive,
        'v' => request.inverted = true,
        // `-x` wins over `-w` in any order.
        'w' if request.extent != MatchExtent::Line => request.extent = MatchExtent::Word,
        'w' => {}
        'x' => request.extent = MatchExtent::Line,
        // Of both, the last one counts.
        'r' | 'R' => {
            request.recursive = true;
            request.follows_links = flag == 'R';
        }
        'n' => request.line_numbers = true,
        'h' => request.file_names = Some(false),
        'H' => request.file_names = Some(true),
        's' => request.hides_errors = true,
        'I' => request.binary = BinaryFiles::Skipped,
        'a' => request.binary = BinaryFiles::Text,
        'c' | 'l' | 'L' | 'o' | 'q' => request.choose_output(flag)?,
        'A' => request.context.1 = parse_number(arguments.short_value()?)?,
        'B' => request.context.0 = parse_number(arguments.short_value()?)?,
        'C' => {
            let lines = parse_number(arguments.short_value()?)?;
            request.context = (lines, lines);
        }
        'm' => request.max_count = Some(parse_number(arguments.short_value()?)?),
        digit if digit.is_ascii_digit() => {
            let lines = parse_number(&format!("{digit}{}", arguments.more_digits()))?;
            request.context = (lines, lines);
        }
        other => return Err(refuse(&FlagOrOperand::Short(other))),
    }
    Ok(())
}

fn read_long<'a>(
    request: &mut LineSearchRequest,
    (name, value): LongFlag<'a>,
    arguments: &mut Arguments<'a>,
) -> Result<(), CommandRefusal> {
    let short = match (name, value) {
        ("extended-regexp", None) => 'E',
        ("basic-regexp", None) => 'G',
        ("perl-regexp", None) => 'P',
        ("line-regexp", None) => 'x',
        ("recursive", None) => 'r',
        ("dereference-recursive", None) => 'R',
        ("no-filename", None) => 'h',
        ("with-filename", None) => 'H',
        ("no-messages", None) => 's',
        ("files-without-match", None) => 'L',
        ("silent", None) => 'q',
        // The output is no terminal.
        ("color" | "colour", Some("never" | "auto")) | ("line-buffered", None) => return Ok(()),
        ("binary-files", Some("without-match")) => 'I',
        ("binary-files", Some("text")) => 'a',
        ("include" | "exclude", value) => {
            let glob = arguments.long_value(value)?.to_owned();
            let included = name == "include";
            request.selection.globs.push(FileGlob { glob, included });
            return Ok(());
        }
        ("exclude-dir", value) => {
            let glob = arguments.long_value(value)?.to_owned();
            request.selection.excluded_directories.push(glob);
            return Ok(());
        }
        ("context", Some(value)) => {
            let lines = parse_number(value)?;
            request.context = (lines, lines);
            return Ok(());
        }
        (name, None) => letter_of(name)?,
        _ => return Err(refuse(&FlagOrOperand::Long(name, value))),
    };
    read_short(request, short, arguments)
}

/// A program that was started with a syntax refuses another one, in some versions.
fn choose_syntax(request: &mut LineSearchRequest, syntax: PatternSyntax) -> Result<(), CommandRefusal> {
    if request.syntax != PatternSyntax::Basic && request.syntax != syntax {
        return Err(CommandRefusal::Form("two flags choose the syntax of the pattern"));
    }
    request.syntax = syntax;
    Ok(())
}
