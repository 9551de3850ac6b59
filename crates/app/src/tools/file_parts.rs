//! Parts of a file for the tools that read one: ranges of lines, the definition of a symbol, or an outline.
//!
//! Symbols are read from the text as it is now, so that no index is needed.

use std::borrow::Cow;
use std::ops::Range;

use docent_core::path::RepoPath;
use docent_core::text::reveal::{reveal, reveal_part};
use docent_engine::files::Root;
use docent_engine::symbols::{FileOutline, FoundSymbol, MAX_OUTLINED_FILES, find_in_outline, outline_file};

use super::budget::{fit, json_length};
use super::failure::{Failure, FailureKind};
use super::symbol_entry::{SymbolEntry, show_lines};
use crate::compact::line_range;
use crate::compact::outline::OutlineLine;
use crate::markdown::{inline_to, length};

/// Names that an error lists.
const MAX_LISTED_NAMES: usize = 10;

/// Ranges that a notice names.
const MAX_LISTED_RANGES: usize = 20;

/// A file whose parts are asked for.
#[derive(Clone, Copy)]
pub(crate) struct PartSource<'a> {
    pub(crate) root: &'a Root,
    pub(crate) path: &'a RepoPath,
    pub(crate) text: &'a str,
}

/// Lines of a file, both counted from 1 and shown.
pub(crate) type LineSpan = (usize, usize);

/// Lines of several ranges, cut to the budget.
pub(crate) struct ShownSpans {
    /// The ranges with a line between them that names the lines left out.
    pub(crate) content: String,
    pub(crate) spans: Vec<LineSpan>,
    /// How to read on, if something was cut.
    cut_notice: Option<String>,
    pub(crate) is_revealed: bool,
}

impl ShownSpans {
    /// Notices that name the lines shown, and how to read on.
    pub(crate) fn notices(&self, lines: usize) -> Vec<String> {
        let mut ranges = self.list_ranges();
        let hidden = ranges.len().saturating_sub(MAX_LISTED_RANGES);
        ranges.truncate(MAX_LISTED_RANGES);
        if hidden > 0 {
            ranges.push(format!("{hidden} ranges more"));
        }
        let shown = format!("Lines {} of {lines} are shown", ranges.join(", "));
        std::iter::once(shown).chain(self.cut_notice.clone()).collect()
    }

    /// The ranges as callers write them.
    pub(crate) fn list_ranges(&self) -> Vec<String> {
        self.spans
            .iter()
            .map(|(first, last)| line_range(*first, *last))
            .collect()
    }
}

/// The part of a file that a caller asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilePart<'a> {
    /// The whole file, or the lines by the tool's own arguments.
    Lines,
    /// The definition of this name.
    Symbol(&'a str),
    /// Several ranges of lines.
    Ranges(&'a [String]),
    /// Definitions instead of text.
    Outline,
}

impl<'a> FilePart<'a> {
    /// The part by the arguments, of which only one may be given. `has_position` is true if the tool's own
    /// arguments for a part are.
    pub(crate) fn choose(
        symbol: Option<&'a str>,
        ranges: Option<&'a [String]>,
        outline: bool,
        has_position: bool,
    ) -> Result<Self, Failure> {
        let part = match (symbol, ranges, outline) {
            (None, None, false) => return Ok(Self::Lines),
            (Some(symbol), None, false) => Self::Symbol(symbol),
            (None, Some(ranges), false) => Self::Ranges(ranges),
            (None, None, true) => Self::Outline,
            _ => return Err(Self::refuse_several()),
        };
        if has_position {
            return Err(Self::refuse_several());
        }
        Ok(part)
    }

    fn refuse_several() -> Failure {
        Failure::new(FailureKind::Invalid, "Several parts of the file are asked for")
            .hint("Use one of symbol, ranges, outline, and the arguments for lines or bytes")
    }
}

impl PartSource<'_> {
    /// The lines of the definition that `symbol` names.
    pub(crate) fn find_symbol(&self, symbol: &str) -> Result<LineSpan, Failure> {
        let outline = outline_file(self.root, self.path, self.text);
        let refuse = |kind, message: &str| Failure::new(kind, message).about("path", self.path.as_str());
        if let Some(why) = outline.unparsed {
            return Err(refuse(FailureKind::Invalid, "The file has no symbols")
                .details(why)
                .hint("Use ranges of lines"));
        }
        let found = find_in_outline(&outline.definitions, symbol);
        match found.matches.as_slice() {
            [one] => Ok((one.first_line as usize, one.last_line as usize)),
            [] => {
                let failure = refuse(FailureKind::Missing, "Symbol not found")
                    .details(format!("the file defines no '{}'", inline_to(symbol, 200)));
                Err(match found.similar.as_slice() {
                    [] => failure.hint("Use outline to list the definitions of the file"),
                    similar => failure.hint(format!("Similar: {}", list_places(similar))),
                })
            }
            several => {
                let name = inline_to(symbol, 200);
                let count = several.len();
                Err(refuse(FailureKind::Invalid, "Ambiguous symbol")
                    .details(format!(
                        "'{name}' is defined {count} times: {}",
                        list_places(several)
                    ))
                    .hint("Name it with its scope, or read its lines with ranges"))
            }
        }
    }

    /// Cuts ranges to the budget.
    pub(crate) fn show_spans(&self, spans: &[LineSpan], budget: usize) -> ShownSpans {
        let mut shown = ShownSpans {
            content: String::new(),
            spans: Vec::new(),
            cut_notice: None,
            is_revealed: false,
        };
        let mut left = budget;
        for (at, &(first, last)) in spans.iter().enumerate() {
            if let Some((_, before)) = shown.spans.last() {
                if !shown.content.ends_with('\n') {
                    shown.content.push('\n');
                }
                let skipped = skipped_line(before + 1, first - 1);
                left = left.saturating_sub(json_length(&skipped));
                shown.content += &skipped;
            }
            let cut = cut_lines(self.text, first, last, left);
            left = left.saturating_sub(json_length(&cut.shown));
            shown.is_revealed |= matches!(cut.shown, Cow::Owned(_));
            shown.content += &cut.shown;
            shown.spans.push((first, cut.shown_last));
            match cut.end {
                CutEnd::Complete => {}
                CutEnd::AfterLine => {
                    let rest =
                        std::iter::once((cut.shown_last + 1, last)).chain(spans[at + 1..].iter().copied());
                    let rest: Vec<String> = rest
                        .take(MAX_LISTED_RANGES)
                        .map(|(first, last)| format!("\"{}\"", line_range(first, last)))
                        .collect();
                    shown.cut_notice = Some(format!(
                        "The ranges fit up to line {}; read on with ranges [{}]",
                        cut.shown_last,
                        rest.join(", ")
                    ));
                    break;
                }
                CutEnd::InsideLine(offset) => {
                    shown.cut_notice = Some(format!(
                        "Line {first} is cut; read_repo_file with offset {offset} reads on"
                    ));
                    break;
                }
            }
        }
        shown
    }
}

/// The line between two ranges of a file.
fn skipped_line(first: usize, last: usize) -> String {
    let lines = if first == last { "line" } else { "lines" };
    format!("… {lines} {} left out …\n", line_range(first, last))
}

/// Definitions with their lines: `Row.render (10-20), Table.render (40-60)`.
fn list_places(found: &[&FoundSymbol]) -> String {
    let mut places: Vec<String> = found
        .iter()
        .take(MAX_LISTED_NAMES)
        .map(|one| {
            let entry = SymbolEntry::new(one);
            format!(
                "{} ({})",
                entry.qualified_name(),
                show_lines(entry.start_line, entry.end_line)
            )
        })
        .collect();
    if found.len() > MAX_LISTED_NAMES {
        places.push(format!("{} more", found.len() - MAX_LISTED_NAMES));
    }
    places.join(", ")
}

/// Parses ranges such as `10-20`, `40` and `60-` (to the end), sorts them, and joins those that touch.
pub(crate) fn parse_ranges(ranges: &[String], lines: usize) -> Result<Vec<LineSpan>, Failure> {
    let invalid = |text: &str, why: &str| {
        Failure::new(FailureKind::Invalid, "Invalid line range")
            .about("ranges", text)
            .details(why)
    };
    let mut spans = Vec::new();
    for text in ranges {
        let form = || {
            invalid(
                text,
                "a range is \"10-20\", \"40\" for one line, or \"60-\" to the end",
            )
        };
        let (first, last) = text.trim().split_once('-').unwrap_or((text.trim(), text.trim()));
        let first: usize = first.trim().parse().map_err(|_| form())?;
        let last = match last.trim() {
            "" => lines.max(first),
            last => last.parse().map_err(|_| form())?,
        };
        if first == 0 || last < first || first > lines {
            return Err(invalid(text, &format!("the file has {lines} lines")));
        }
        spans.push((first, last.min(lines)));
    }
    spans.sort_unstable();
    let mut joined: Vec<LineSpan> = Vec::new();
    for (first, last) in spans {
        match joined.last_mut() {
            Some((_, before)) if first <= *before + 1 => *before = last.max(*before),
            _ => joined.push((first, last)),
        }
    }
    if joined.is_empty() {
        return Err(invalid("", "ranges has no range"));
    }
    Ok(joined)
}

/// An outline as text, cut to the budget: a line for each definition, indented by its enclosing definitions.
/// Returns a notice if something was cut or there is nothing to show.
pub(crate) fn show_outline(outline: &FileOutline, budget: usize) -> (String, Option<String>) {
    let mut text = String::new();
    let mut left = budget;
    let lines = outline_lines(&outline.definitions);
    for (at, line) in lines.iter().enumerate() {
        let cost = json_length(line) + 2;
        if cost > left {
            let all = lines.len();
            let notice = format!(
                "{at} of {all} definitions fit into this answer; find_symbol finds the others by name"
            );
            return (text, Some(notice));
        }
        left -= cost;
        text += line;
        text.push('\n');
    }
    let notice = match outline.unparsed {
        Some(why) => Some(format!("The file has no outline: {why}")),
        None if lines.is_empty() => Some("The file has no definitions".to_owned()),
        None => None,
    };
    (text, notice)
}

/// The outlines of the files of a directory as text: each path, and its definitions below.
pub(crate) fn show_outlines(outlines: &[FileOutline], budget: usize) -> (String, Option<String>) {
    let mut text = String::new();
    let mut left = budget;
    for (at, outline) in outlines.iter().enumerate() {
        let mut part = format!("{}\n", inline_to(&outline.path, 4_096));
        for line in outline_lines(&outline.definitions) {
            part += &format!("  {line}\n");
        }
        // A line end takes two characters in JSON.
        let cost = json_length(&part);
        if cost > left {
            let all = outlines.len();
            let notice = format!(
                "{at} of {all} files fit into this answer; read the outline of a directory below, or of a file"
            );
            return (text, Some(notice));
        }
        left -= cost;
        text += &part;
    }
    (text, explain_outlines(outlines))
}

/// The notice for a directory without an outline, or with more files than are listed.
pub(crate) fn explain_outlines(outlines: &[FileOutline]) -> Option<String> {
    match outlines.len() {
        0 => Some("No file with definitions is indexed in this directory or directly below".to_owned()),
        MAX_OUTLINED_FILES.. => Some(format!(
            "The first {MAX_OUTLINED_FILES} files are listed; read the outline of a directory below"
        )),
        _ => None,
    }
}

/// A line for each definition, indented by the definitions around it.
fn outline_lines(definitions: &[FoundSymbol]) -> Vec<String> {
    let indent = |line: OutlineLine| "  ".repeat(line.depth) + &line.text;
    list_outline(definitions).into_iter().map(indent).collect()
}

/// The definitions of an outline: their lines and signatures.
pub(crate) fn list_outline(definitions: &[FoundSymbol]) -> Vec<OutlineLine> {
    let mut around: Vec<u32> = Vec::new();
    definitions
        .iter()
        .map(|one| {
            while around.last().is_some_and(|last| *last < one.last_line) {
                around.pop();
            }
            let entry = SymbolEntry::new(one);
            let depth = around.len();
            around.push(one.last_line);
            let lines = show_lines(entry.start_line, entry.end_line);
            let text = if entry.signature.is_empty() || length(&entry.signature) < length(&entry.name) {
                format!("{lines} {} {}", entry.kind, entry.name)
            } else {
                format!("{lines} {}", entry.signature)
            };
            OutlineLine { depth, text }
        })
        .collect()
}

/// Lines of a file, cut to the budget.
pub(crate) struct CutLines<'a> {
    /// As much as fits, with invisible characters revealed.
    pub(crate) shown: Cow<'a, str>,
    first: usize,
    /// The last line that was requested, and the last that is shown.
    last: usize,
    pub(crate) shown_last: usize,
    end: CutEnd,
}

/// How the shown part of a file ends.
enum CutEnd {
    Complete,
    AfterLine,
    /// A single line is longer than the budget; the byte at which the rest of it starts.
    InsideLine(usize),
}

/// Cuts lines `first` to `last` of a text to the budget.
pub(crate) fn cut_lines(text: &str, first: usize, last: usize, budget: usize) -> CutLines<'_> {
    let range = byte_range(text, first, last);
    let requested = &text[range.clone()];
    let (kept, shown) = fit(requested, budget, if first == 1 { reveal } else { reveal_part });
    let kept = &requested[..kept];
    let is_cut = kept.len() < requested.len();
    let shown_last = if is_cut {
        first + kept.lines().count().saturating_sub(1)
    } else {
        last
    };
    let end = if !is_cut {
        CutEnd::Complete
    } else if kept.ends_with('\n') {
        CutEnd::AfterLine
    } else {
        CutEnd::InsideLine(range.start + kept.len())
    };
    CutLines {
        shown,
        first,
        last,
        shown_last,
        end,
    }
}

impl CutLines<'_> {
    /// How to read on, if something was cut. `lines` is the number of lines of the file.
    pub(crate) fn notice(&self, lines: usize) -> Option<String> {
        let Self {
            first,
            last,
            shown_last,
            ..
        } = self;
        match self.end {
            CutEnd::Complete => None,
            CutEnd::AfterLine => {
                let next = shown_last + 1;
                Some(format!(
                    "Lines {first}-{shown_last} of {lines} fit into this answer; read on with startLine {next}"
                ))
            }
            CutEnd::InsideLine(offset) => {
                let rest = if last > first {
                    format!(", the next line with startLine {}", first + 1)
                } else {
                    String::new()
                };
                Some(format!(
                    "Line {first} is cut; read_repo_file with offset {offset} reads on{rest}"
                ))
            }
        }
    }
}

/// The bytes of lines `first` to `last`, with their line ends.
pub(crate) fn byte_range(text: &str, first: usize, last: usize) -> Range<usize> {
    let length = |text: &str, lines: usize| {
        text.split_inclusive('\n')
            .take(lines)
            .map(str::len)
            .sum::<usize>()
    };
    let start = length(text, first - 1);
    start..start + length(&text[start..], (last + 1).saturating_sub(first))
}
