//! Filters at the end of a pipeline that `docent sh` applies itself: `head`, `tail`, `sed -n`, `sort`,
//! `uniq`, `cat`, `wc -l`, `grep`.
//!
//! Invariant: a filter selects or orders lines exactly as its program would.

use super::search::{LineSearchRequest, SearchOutput};
use super::{CommandRefusal, Word};

/// A filter over the lines that a command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputFilter {
    /// `head -N`.
    Head(usize),
    /// `tail -N`.
    Tail(usize),
    /// `sed -n 'FIRST,LASTp'`, counted from 1.
    Range { first: usize, last: usize },
    /// `sort`, by bytes.
    Sort,
    /// `sort -u`, by bytes.
    SortUnique,
    /// `uniq`.
    Unique,
    /// `cat`.
    All,
    /// `tail -n +N`: from the line with this number on.
    From(usize),
    /// `wc -l`: the number of lines in place of them.
    Count,
    /// `grep` or `grep -v`, as a request without operands.
    Without(Box<LineSearchRequest>),
    /// `grep -c`: the number of selected lines in place of them.
    CountMatching(Box<LineSearchRequest>),
}

/// Lines that `head` and `tail` print without a number.
const DEFAULT_LINES: usize = 10;

impl OutputFilter {
    /// Reads the command of a filter, its program first.
    pub fn understand(words: &[Word]) -> Result<Self, CommandRefusal> {
        if words.iter().any(|word| word.expands) {
            return Err(CommandRefusal::Form("a filter has a glob"));
        }
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        match texts.as_slice() {
            ["cat"] => Ok(Self::All),
            ["sort"] => Ok(Self::Sort),
            ["sort", "-u" | "--unique"] => Ok(Self::SortUnique),
            ["uniq"] => Ok(Self::Unique),
            ["head", rest @ ..] => parse_line_count(rest).map(Self::Head),
            ["wc", "-l"] => Ok(Self::Count),
            ["tail", "-n", number] if number.starts_with('+') => parse_number(&number[1..]).map(Self::From),
            ["tail", rest @ ..] => parse_line_count(rest).map(Self::Tail),
            ["sed", "-n", script] | ["sed", "-n", "-e", script] => parse_range(script),
            ["grep" | "egrep" | "fgrep", ..] => {
                let request = super::search::understand_filter(&words[0].text, &words[1..])?;
                Ok(if request.output == SearchOutput::Counts {
                    Self::CountMatching(Box::new(request))
                } else {
                    Self::Without(Box::new(request))
                })
            }
            _ => Err(CommandRefusal::Form("a filter is not answered")),
        }
    }

    /// Whether a number takes the place of the lines.
    pub fn prints_number(&self) -> bool {
        matches!(self, Self::Count | Self::CountMatching(_))
    }

    /// Whether the filter needs the collating order of the locale, which docent knows for bytes only.
    pub fn needs_byte_order(&self) -> bool {
        matches!(self, Self::Sort | Self::SortUnique)
    }
}

/// The number in `-20`, `-n 20`, `-n20` or `--lines=20`.
fn parse_line_count(arguments: &[&str]) -> Result<usize, CommandRefusal> {
    let number = match arguments {
        [] => return Ok(DEFAULT_LINES),
        ["-n" | "--lines", number] => number,
        [one] => one
            .strip_prefix("--lines=")
            .or_else(|| one.strip_prefix("-n"))
            .or_else(|| one.strip_prefix('-'))
            .ok_or(CommandRefusal::Form("a filter reads a file"))?,
        _ => return Err(CommandRefusal::Form("a filter is not answered")),
    };
    parse_number(number)
}

/// A number of digits only: `+20` and `-20` mean something else to `tail` and `head`.
fn parse_number(text: &str) -> Result<usize, CommandRefusal> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok() } else { None };
    number.ok_or(CommandRefusal::Form("a filter is not answered"))
}

/// The range of `1,20p` or `5p`.
fn parse_range(script: &str) -> Result<OutputFilter, CommandRefusal> {
    let lines = script
        .strip_suffix('p')
        .ok_or(CommandRefusal::Form("a script of sed is not answered"))?;
    let (first, last) = lines.split_once(',').unwrap_or((lines, lines));
    let (first, last) = (parse_number(first)?, parse_number(last)?);
    if first == 0 || last < first {
        return Err(CommandRefusal::Form("a script of sed is not answered"));
    }
    Ok(OutputFilter::Range { first, last })
}

/// The lines that pass all filters, in their new order, each with the value that came with it. `is_kept` says
/// whether a line is selected by the request of [`OutputFilter::Without`]. Lines have no line end.
pub fn apply_filters<T>(
    mut lines: Vec<(&[u8], T)>,
    filters: &[OutputFilter],
    mut is_kept: impl FnMut(&LineSearchRequest, &[u8]) -> bool,
) -> Vec<T> {
    for filter in filters {
        match filter {
            OutputFilter::Head(count) => lines.truncate(*count),
            OutputFilter::Tail(count) => drop(lines.drain(..lines.len().saturating_sub(*count))),
            OutputFilter::Range { first, last } => {
                lines.truncate(*last);
                lines.drain(..lines.len().min(first - 1));
            }
            OutputFilter::From(first) => drop(lines.drain(..lines.len().min(first.saturating_sub(1)))),
            OutputFilter::Sort => lines.sort_by_key(|(line, _)| *line),
            OutputFilter::SortUnique => {
                lines.sort_by_key(|(line, _)| *line);
                lines.dedup_by_key(|(line, _)| *line);
            }
            OutputFilter::Unique => lines.dedup_by_key(|(line, _)| *line),
            // The number is for the caller to print.
            OutputFilter::All | OutputFilter::Count | OutputFilter::CountMatching(_) => {}
            OutputFilter::Without(request) => lines.retain(|(line, _)| is_kept(request, line)),
        }
    }
    lines.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(command: &str) -> Result<OutputFilter, CommandRefusal> {
        let words: Vec<Word> = command.split(' ').map(Word::literal).collect();
        OutputFilter::understand(&words)
    }

    fn apply(lines: &str, command: &str) -> String {
        let lines = lines.split(' ').map(|line| (line.as_bytes(), line)).collect();
        apply_filters(lines, &[filter(command).unwrap()], |_, _| false).join(" ")
    }

    #[test]
    fn head_and_tail_take_their_number_in_each_form() {
        for command in [
            "head -2",
            "head -n 2",
            "head -n2",
            "head --lines=2",
            "head --lines 2",
        ] {
            assert_eq!(apply("a b c", command), "a b", "{command}");
        }
        assert_eq!(apply("a b c", "tail -2"), "b c");
        assert_eq!(apply("a b c", "tail -n +2"), "b c");
        assert_eq!(filter("head"), Ok(OutputFilter::Head(10)));
    }

    #[test]
    fn a_range_of_sed_is_counted_from_one() {
        assert_eq!(apply("a b c d", "sed -n 2,3p"), "b c");
        assert_eq!(apply("a b c d", "sed -n 2p"), "b");
        assert_eq!(apply("a b", "sed -n 5,9p"), "");
    }

    #[test]
    fn grep_c_is_a_number_in_place_of_the_lines_that_it_selects() {
        let counted = filter("grep -ci a").unwrap();
        assert!(counted.prints_number() && matches!(counted, OutputFilter::CountMatching(_)));
        assert!(!filter("grep -v a").unwrap().prints_number());
        for command in [
            "grep -n a",
            "grep -A1 a",
            "grep -o a",
            "grep -q a",
            "grep -c a file",
        ] {
            assert!(filter(command).is_err(), "{command}");
        }
    }

    #[test]
    fn sort_and_uniq_order_by_bytes() {
        assert_eq!(apply("b a B a", "sort"), "B a a b");
        assert_eq!(apply("b a B a", "sort -u"), "B a b");
        assert_eq!(apply("a a b a", "uniq"), "a b a");
    }

    #[test]
    fn other_forms_are_refused() {
        for command in [
            "head -c 5",
            "head -n -5",
            "tail -f",
            "head file",
            "sed 1,5p",
            "sed -n /x/p",
            "sed -n 0,5p",
            "sed -n 5,2p",
            "sort -n",
            "uniq -c",
            "cat file",
            "wc",
            "wc -l file",
        ] {
            assert!(filter(command).is_err(), "{command}");
        }
    }
}
