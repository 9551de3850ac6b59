//! The flags of `ag`, The Silver Searcher 2.2.
//!
//! Left out: parts of lines, context, inversion, columns, types, and flags that add rules for files. `ag`
//! searches whole files at once, so patterns that can match a line end are left out too.
//!
//! Invariant: a pattern matches in single lines, and its bytes are compared one by one.

use super::super::flags::{Arguments, FlagOrOperand, LongFlag, ShortValue, refuse};
use super::super::{CommandRefusal, Word};
use super::pattern::{Characters, PatternRules, matches_nothing, refuse as refuse_pattern, translate};
use super::{
    BinaryFiles, LineSearchRequest, MatchExtent, PatternCase, PatternSyntax, SearchOutput, SearchProgram,
    letter_of,
};

/// Characters without which `ag` takes a pattern for a text.
const REGEX_CHARS: &str = "$()*+.?[\\^{|";

/// Reads the arguments.
pub(super) fn understand(words: &[Word]) -> Result<LineSearchRequest, CommandRefusal> {
    let mut request = LineSearchRequest::new(SearchProgram::Silver, PatternSyntax::Perl);
    request.case = PatternCase::Smart;
    request.line_numbers = true;
    let arguments = Arguments::new(words, ShortValue::Attached);
    let mut request = request.read(arguments, read_short, read_long)?;
    let [pattern] = request.patterns.as_slice() else {
        return Err(CommandRefusal::Form("ag takes one pattern"));
    };
    if !pattern.contains(|char| REGEX_CHARS.contains(char)) {
        request.syntax = PatternSyntax::Fixed;
    }
    check_pattern(pattern, &request)?;
    let regex = translate(&request.patterns, PatternRules::of(&request), Characters::Bytes)?;
    if matches_nothing(&regex) {
        return Err(refuse_pattern("it can match nothing"));
    }
    // A capital letter counts wherever it stands, as in `\S`; and so does a character beyond ASCII.
    if request.case == PatternCase::Smart {
        let is_lower = pattern.is_ascii() && !pattern.contains(|char: char| char.is_ascii_uppercase());
        request.case = if is_lower {
            PatternCase::Insensitive
        } else {
            PatternCase::Sensitive
        };
    }
    if request.output == SearchOutput::FilesWithMatch || request.output == SearchOutput::FilesWithoutMatch {
        request.file_names = Some(true);
    }
    Ok(request)
}

/// Refuses patterns that can match a line end, match nothing, or that `ag` treats specially.
fn check_pattern(pattern: &str, request: &LineSearchRequest) -> Result<(), CommandRefusal> {
    let is_word = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric() || char == '_');
    if pattern.is_empty() || pattern == "." {
        return Err(refuse_pattern("ag treats it specially"));
    }
    if request.syntax == PatternSyntax::Fixed {
        let has_word_ends = is_word(pattern.chars().next()) && is_word(pattern.chars().last());
        if request.extent == MatchExtent::Word && !has_word_ends {
            return Err(refuse_pattern("a word that does not begin and end with letters"));
        }
        return Ok(());
    }
    if !pattern.is_ascii() {
        return Err(refuse_pattern("it is not ASCII"));
    }
    // `\s`, `\W`, `\D` and `[^a]` match a line end.
    if ["[^", r"\s", r"\S", r"\W", r"\D", r"\r", r"\f"]
        .iter()
        .any(|part| pattern.contains(part))
    {
        return Err(refuse_pattern("it could match a line end"));
    }
    // The stack of PCRE is short, and a search that exhausts it ends without a message.
    if [")*", ")+", "){"].iter().any(|part| pattern.contains(part)) {
        return Err(refuse_pattern("a repeated group"));
    }
    Ok(())
}

fn read_short(
    request: &mut LineSearchRequest,
    flag: char,
    _: &mut Arguments<'_>,
) -> Result<(), CommandRefusal> {
    match flag {
        'i' => request.case = PatternCase::Insensitive,
        's' => request.case = PatternCase::Sensitive,
        'S' => request.case = PatternCase::Smart,
        'Q' | 'F' => request.syntax = PatternSyntax::Fixed,
        'w' => request.extent = MatchExtent::Word,
        'c' | 'l' | 'L' => request.choose_output(flag)?,
        // Directories are searched without being asked for.
        'r' | 'R' => {}
        't' => request.selection.no_ignore = true,
        'a' => {
            request.selection.no_ignore = true;
            request.binary = BinaryFiles::Text;
        }
        'u' => {
            request.selection.no_ignore = true;
            request.selection.hidden = true;
            request.binary = BinaryFiles::Text;
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
        ("case-sensitive", None) => 's',
        ("smart-case", None) => 'S',
        ("literal", None) => 'Q',
        ("files-without-matches", None) => 'L',
        ("recurse", None) => 'r',
        ("all-text", None) => 't',
        ("all-types", None) => 'a',
        ("unrestricted", None) => 'u',
        ("hidden", None) => {
            request.selection.hidden = true;
            return Ok(());
        }
        // The output is no terminal.
        ("nocolor" | "no-color" | "nogroup" | "no-group" | "nopager" | "no-pager", None) => {
            return Ok(());
        }
        ("count" | "files-with-matches" | "fixed-strings" | "ignore-case" | "word-regexp", None) => {
            letter_of(name)?
        }
        _ => return Err(refuse(&FlagOrOperand::Long(name, value))),
    };
    read_short(request, short, arguments)
}
