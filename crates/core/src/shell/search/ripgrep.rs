//! The flags of ripgrep.

use super::super::find::is_stable_type;
use super::super::flags::{Arguments, FlagOrOperand, LongFlag, ShortValue, parse_number, refuse};
use super::super::{CommandRefusal, Word};
use super::{
    BinaryFiles, FileGlob, LineSearchRequest, MatchExtent, PatternCase, PatternSyntax, SearchProgram,
    letter_of,
};

/// Reads the arguments.
pub(super) fn understand(words: &[Word]) -> Result<LineSearchRequest, CommandRefusal> {
    let arguments = Arguments::new(words, ShortValue::AttachedOrEquals);
    LineSearchRequest::new(SearchProgram::Ripgrep, PatternSyntax::Rust).read(arguments, read_short, read_long)
}

fn read_short(
    request: &mut LineSearchRequest,
    flag: char,
    arguments: &mut Arguments<'_>,
) -> Result<(), CommandRefusal> {
    match flag {
        'F' => request.syntax = PatternSyntax::Fixed,
        'i' => request.case = PatternCase::Insensitive,
        's' => request.case = PatternCase::Sensitive,
        'S' => request.case = PatternCase::Smart,
        'v' => request.inverted = true,
        // Of `-w` and `-x`, the last one counts in some versions and `-x` in others.
        'w' | 'x' if request.extent != MatchExtent::Anywhere => {
            return Err(CommandRefusal::Form(
                "two flags choose how much of a line matches",
            ));
        }
        'w' => request.extent = MatchExtent::Word,
        'x' => request.extent = MatchExtent::Line,
        'n' => request.line_numbers = true,
        'N' => request.line_numbers = false,
        'H' => request.file_names = Some(true),
        'I' => request.file_names = Some(false),
        'a' => request.binary = BinaryFiles::Text,
        'c' | 'l' | 'o' | 'q' => request.choose_output(flag)?,
        'A' => request.context.1 = parse_number(arguments.short_value()?)?,
        'B' => request.context.0 = parse_number(arguments.short_value()?)?,
        'C' => {
            let lines = parse_number(arguments.short_value()?)?;
            request.context = (lines, lines);
        }
        'm' => request.max_count = Some(parse_number(arguments.short_value()?)?),
        'g' => push_glob(request, arguments.short_value()?),
        't' | 'T' => {
            let name = arguments.short_value()?;
            push_type(request, name, flag == 't')?;
        }
        '.' => request.selection.hidden = true,
        'u' if request.selection.no_ignore => request.selection.hidden = true,
        'u' => request.selection.no_ignore = true,
        'd' => request.selection.max_depth = Some(parse_number(arguments.short_value()?)?),
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
        ("case-sensitive", None) => 's',
        ("smart-case", None) => 'S',
        ("line-regexp", None) => 'x',
        ("no-line-number", None) => 'N',
        ("with-filename", None) => 'H',
        ("no-filename", None) => 'I',
        ("hidden", None) => '.',
        ("no-ignore", None) => {
            request.selection.no_ignore = true;
            return Ok(());
        }
        ("files-without-match", None) => return request.choose_output('L'),
        // The output is no terminal.
        ("no-heading" | "line-buffered", None) => return Ok(()),
        ("color", value) if matches!(arguments.long_value(value)?, "never" | "auto") => return Ok(()),
        ("sort", value) if arguments.long_value(value)? == "path" => {
            request.selection.sorted = true;
            return Ok(());
        }
        ("glob", value) => {
            push_glob(request, arguments.long_value(value)?);
            return Ok(());
        }
        ("type" | "type-not", value) => {
            let of = arguments.long_value(value)?;
            push_type(request, of, name == "type")?;
            return Ok(());
        }
        ("max-depth", value) => {
            request.selection.max_depth = Some(parse_number(arguments.long_value(value)?)?);
            return Ok(());
        }
        ("context", value) => {
            let lines = parse_number(arguments.long_value(value)?)?;
            request.context = (lines, lines);
            return Ok(());
        }
        (name, None) => letter_of(name)?,
        _ => return Err(refuse(&FlagOrOperand::Long(name, value))),
    };
    read_short(request, short, arguments)
}

/// Types whose files are others in other versions of ripgrep are left to it.
fn push_type(request: &mut LineSearchRequest, name: &str, is_selected: bool) -> Result<(), CommandRefusal> {
    if !is_stable_type(name) {
        return Err(CommandRefusal::Form(
            "versions of ripgrep differ in the files of a type",
        ));
    }
    request.selection.types.push((name.to_owned(), is_selected));
    Ok(())
}

fn push_glob(request: &mut LineSearchRequest, given: &str) {
    request.selection.globs.push(FileGlob {
        glob: given.to_owned(),
        included: !given.starts_with('!'),
    });
}
