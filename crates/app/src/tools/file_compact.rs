//! The compact answer of the tools that read a file. It has the requested lines, folded if a question says
//! which of them matter. Lines that the client was sent before are only named.
//!
//! A long file is answered with its outline if the call asks for all of it, because agents read long files
//! whole and need a few lines.
//!
//! The text itself is written by `compact::file` and `compact::outline`.

use std::borrow::Cow;

use docent_core::chunk::has_grammar;
use docent_core::fold::{Focus, FoldBudget, FoldedPart, fold};
use docent_core::language::Language;
use docent_core::text::reveal::{reveal, reveal_part};
use docent_engine::symbols::{FileOutline, outline_file};

use super::budget::{fit, json_length};
use super::call::{Audience, Call};
use super::failure::Failure;
use super::file_parts::{
    FilePart, LineSpan, PartSource, byte_range, explain_outlines, list_outline, parse_ranges,
};
use crate::compact::file::{
    NumberedText, describe_cut_line, file_header, long_file_header, outline_header, part_header, shown_above,
};
use crate::compact::outline::{directory_outline, outline, outline_around};
use crate::markdown::{inline_to, length};

/// A whole file with more characters is shown by its outline.
const MAX_WHOLE_FILE_CHARS: usize = 12_000;

/// Fewer characters are sent again even if the client was sent them before: the line that names them would be
/// as long.
pub(crate) const MIN_SKIPPED_CHARS: usize = 200;

/// A folded text has two fifths of its characters, within these bounds.
const MIN_FOLDED_CHARS: usize = 1_500;
const MAX_FOLDED_CHARS: usize = 8_000;

/// Characters of a path. Paths of the operating system are not much longer.
const MAX_PATH_CHARS: usize = 4_096;

/// The part of a file that a call asks for.
pub(crate) struct CompactRequest<'a> {
    pub(crate) part: FilePart<'a>,
    /// The lines that the tool's own arguments name. `None` for the whole file.
    pub(crate) lines: Option<LineSpan>,
    /// A question, for which the text is folded.
    pub(crate) focus: Option<&'a str>,
    /// Send lines even if the client was sent them before.
    pub(crate) again: bool,
}

/// The answer about a file, in at most `call.budget` characters.
pub(crate) fn read_compact(
    call: &Call<'_>,
    source: &PartSource<'_>,
    request: &CompactRequest<'_>,
) -> Result<String, Failure> {
    let lines = source.text.lines().count();
    let mut room = call.budget;
    let spans = match request.part {
        FilePart::Outline => {
            let outline = outline_file(source.root, source.path, source.text);
            let header = outline_header(&shown_path(source), lines);
            return Ok(show_file_outline(&outline, &header, call.budget));
        }
        FilePart::Symbol(symbol) => vec![source.find_symbol(symbol)?],
        FilePart::Ranges(ranges) => parse_ranges(ranges, lines)?,
        FilePart::Lines => {
            let is_whole = request.lines.is_none() && request.focus.is_none();
            let chars = length(source.text);
            if is_whole && call.audience == Audience::Client && chars > MAX_WHOLE_FILE_CHARS.min(room) {
                room = room.min(MAX_WHOLE_FILE_CHARS);
                if let Some(outline) = outline_long_file(source, (lines, chars), room) {
                    return Ok(outline);
                }
            }
            vec![request.lines.unwrap_or((1, lines))]
        }
    };
    Ok(show_spans(call, source, request, &spans, room))
}

/// The outline of a file that is too long to be shown as a whole, with its number of lines and characters.
/// `None` if it has no definitions.
fn outline_long_file(source: &PartSource<'_>, (lines, chars): (usize, usize), room: usize) -> Option<String> {
    const ADVICE: &str = "… read with symbol, ranges or focus";
    // Without a grammar there are no definitions, and a megabyte of text need not be cut into chunks.
    if !has_grammar(Language::of_file(source.path, source.text)) {
        return None;
    }
    let outline = outline_file(source.root, source.path, source.text);
    if outline.definitions.is_empty() {
        return None;
    }
    let header = long_file_header(&shown_path(source), lines, chars);
    let text = show_file_outline(&outline, &header, room.saturating_sub(length(ADVICE) + 1));
    Some(format!("{text}\n{ADVICE}"))
}

/// The definitions of a file below `header`.
pub(crate) fn show_file_outline(found: &FileOutline, header: &str, room: usize) -> String {
    match found.unparsed {
        Some(why) => format!("{header}\n… no outline: {why}"),
        None if found.definitions.is_empty() => format!("{header}\n… no definitions"),
        None => trim_end(outline(header, &list_outline(&found.definitions), room)),
    }
}

/// The same, unfolded around the definitions whose names are in focus.
pub(crate) fn show_outline_around(
    found: &FileOutline,
    header: &str,
    is_in_focus: &dyn Fn(&str) -> bool,
    room: usize,
) -> String {
    let lines = list_outline(&found.definitions);
    let text = outline_around(
        header,
        &lines,
        |at| is_in_focus(&found.definitions[at].name),
        room,
    );
    trim_end(text)
}

/// The definitions of the files of a directory.
pub(crate) fn show_directory_outline(outlines: &[FileOutline], room: usize) -> String {
    let notice = explain_outlines(outlines).map(|notice| format!("… {notice}"));
    let files: Vec<_> = outlines
        .iter()
        .map(|file| {
            let path = inline_to(&file.path, MAX_PATH_CHARS);
            (path, list_outline(&file.definitions))
        })
        .collect();
    let room = room.saturating_sub(notice.as_deref().map_or(0, length));
    trim_end(directory_outline(&files, room) + notice.as_deref().unwrap_or_default())
}

/// Lines of a file below a heading.
fn show_spans(
    call: &Call<'_>,
    source: &PartSource<'_>,
    request: &CompactRequest<'_>,
    spans: &[LineSpan],
    room: usize,
) -> String {
    let path = shown_path(source);
    let is_known = |(first, last): LineSpan| {
        let text = &source.text[byte_range(source.text, first, last)];
        !request.again && length(text) >= MIN_SKIPPED_CHARS && call.is_shown(&path, first, text)
    };
    if let &[(first, last)] = spans
        && is_known((first, last))
    {
        return shown_above(&path, first, last, "again: true");
    }
    let all = source.text.lines().count();
    // The longest heading that these lines can have.
    let header = length(&file_header(&path, all + 1, all + 1, all + 1)) + 1;
    let mut shown = NumberedText::new(room.saturating_sub(header));
    let mut is_revealed = false;
    for (at, &(first, last)) in spans.iter().enumerate() {
        if shown.is_full() {
            shown.note_rest(&spans[at..]);
            break;
        }
        shown.fold_up_to(first);
        if is_known((first, last)) {
            shown.name_shown(&path, first, last);
            continue;
        }
        for part in select_parts(source, (first, last), request.focus, shown.room()) {
            let (first, part_last) = (*part.lines().start(), *part.lines().end());
            if !part.is_shown() {
                shown.fold(first, part_last);
                continue;
            }
            let added = add_lines(&mut shown, source, (first, part_last));
            is_revealed |= added.is_revealed;
            if added.fitting > 0 {
                let sent = byte_range(source.text, first, first + added.fitting - 1);
                call.record_shown(&path, first, &source.text[sent]);
            }
            if shown.is_full() {
                let next = shown.last().map_or(first, |last| last + 1);
                shown.note_rest(&[(next, last)]);
                break;
            }
        }
    }
    if is_revealed {
        shown.note("note: invisible characters are written as \\u{…}");
    }
    let first = spans.first().map_or(1, |(first, _)| *first);
    let last = shown.last().unwrap_or(first);
    let is_whole_file = matches!(request.part, FilePart::Lines) && request.lines.is_none();
    let header = if is_whole_file {
        file_header(&path, first, last, all)
    } else {
        part_header(first, last, all)
    };
    trim_end(format!("{header}\n{}", shown.finish()))
}

/// The runs of lines that are shown and folded. Without a question all are shown.
fn select_parts(
    source: &PartSource<'_>,
    (first, last): LineSpan,
    focus: Option<&str>,
    room: usize,
) -> Vec<FoldedPart> {
    let Some(question) = focus else {
        return vec![FoldedPart::Shown(first..=last)];
    };
    let text = &source.text[byte_range(source.text, first, last)];
    let budget = (length(text) / 5 * 2).clamp(MIN_FOLDED_CHARS, MAX_FOLDED_CHARS);
    let language = Language::of_file(source.path, source.text);
    let focus = Focus {
        question,
        ..Focus::default()
    };
    fold(text, first, language, &focus, FoldBudget::Chars(budget.min(room)))
}

/// How many lines were added, and whether some had invisible characters.
struct AddedLines {
    fitting: usize,
    is_revealed: bool,
}

/// Adds as many lines of a file as fit. If not even the first line of the answer fits, its beginning is
/// shown.
fn add_lines(shown: &mut NumberedText, source: &PartSource<'_>, (first, last): LineSpan) -> AddedLines {
    let range = byte_range(source.text, first, last);
    let raw = &source.text[range.clone()];
    let text = if first == 1 { reveal(raw) } else { reveal_part(raw) };
    let fitting = shown.add_lines(first, &text);
    if fitting == 0
        && shown.last().is_none()
        && let Some(line) = raw.lines().next()
    {
        let (kept, start) = fit(line, shown.room(), reveal_part);
        shown.add_line_start(first, &start);
        shown.note(&describe_cut_line(
            first,
            length(&line[..kept]),
            length(line),
            range.start + kept,
        ));
    }
    AddedLines {
        fitting,
        is_revealed: matches!(text, Cow::Owned(_)),
    }
}

/// Lines of a file, folded for a question, as the contract form has them.
pub(crate) struct FoldedContent {
    pub(crate) content: String,
    /// Says how many lines are shown.
    pub(crate) notice: String,
    pub(crate) is_revealed: bool,
}

/// Folds lines of a file to at most `budget` characters of JSON.
pub(crate) fn fold_content(
    source: &PartSource<'_>,
    spans: &[LineSpan],
    question: &str,
    budget: usize,
) -> FoldedContent {
    let mut shown = NumberedText::new(budget);
    let mut is_revealed = false;
    let mut lines = 0;
    'spans: for (at, &(first, last)) in spans.iter().enumerate() {
        shown.fold_up_to(first);
        for part in select_parts(source, (first, last), Some(question), shown.room()) {
            let (first, part_last) = (*part.lines().start(), *part.lines().end());
            if !part.is_shown() {
                shown.fold(first, part_last);
                continue;
            }
            let added = add_lines(&mut shown, source, (first, part_last));
            is_revealed |= added.is_revealed;
            lines += added.fitting;
            if shown.is_full() {
                let next = shown.last().map_or(first, |last| last + 1);
                let rest = std::iter::once((next, last)).chain(spans[at + 1..].iter().copied());
                shown.note_rest(&rest.collect::<Vec<_>>());
                break 'spans;
            }
        }
    }
    let mut content = shown.finish();
    while json_length(&content) > budget {
        let (kept, _) = fit(&content, budget, Cow::Borrowed);
        content.truncate(kept);
    }
    let all: usize = spans.iter().map(|(first, last)| last + 1 - first).sum();
    FoldedContent {
        content,
        notice: format!("Folded for the focus: {lines} of {all} lines are shown, with their numbers"),
        is_revealed,
    }
}

fn shown_path(source: &PartSource<'_>) -> String {
    inline_to(source.path.as_str(), MAX_PATH_CHARS)
}

/// Without the line end at its end.
fn trim_end(mut text: String) -> String {
    text.truncate(text.trim_end_matches('\n').len());
    text
}
