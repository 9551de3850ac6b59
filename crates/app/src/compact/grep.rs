//! The compact form of `grep_codebase`: each file once, its matches below the definition around them, and the
//! text of the definitions that a reader most likely asks for next.
//!
//! Nine of ten reads after a search are around a line that the search has printed, and cost ten times as much
//! as the search. So room that is left after the list of matches goes to whole definitions.
//!
//! Invariant: every match is shown or counted, and no line is shown twice.

mod groups;

use docent_core::language::Language;
use docent_core::text::reveal::reveal_part;

use super::count_of;
use crate::markdown::{cut, length};
use groups::{MAX_MATCH_CHARS, MatchGroup, group_matches, show_groups};

/// Characters of an answer about many files, and of one about few.
const WIDE_CHARS: usize = 1_800;
const NARROW_CHARS: usize = 2_600;

/// Up to this many matching files, an answer is about few.
const MAX_NARROW_FILES: usize = 2;

/// Characters of the list of files that are only counted.
const MAX_COUNTED_CHARS: usize = 300;

/// The values of an answer.
pub(crate) struct GrepAnswer<'a> {
    pub(crate) pattern: &'a str,
    /// Number of all matches.
    pub(crate) total: u64,
    pub(crate) files_searched: u64,
    /// Lines around a match that the caller has asked for.
    pub(crate) context_lines: usize,
    /// Files whose matches are read, the most useful first.
    pub(crate) files: Vec<GrepFile<'a>>,
    /// Files whose matches are only counted.
    pub(crate) unread: Vec<(&'a str, u64)>,
    /// What the answer may miss, a sentence each.
    pub(crate) notices: &'a [String],
    pub(crate) budget: usize,
}

/// A file with matches.
pub(crate) struct GrepFile<'a> {
    pub(crate) path: &'a str,
    /// Number of all its matches.
    pub(crate) total: u64,
    pub(crate) language: Language,
    /// The whole text; empty if it cannot be shown.
    pub(crate) text: String,
    pub(crate) matches: Vec<GrepMatch>,
    pub(crate) definitions: Vec<EnclosingDefinition>,
}

/// A matching line.
pub(crate) struct GrepMatch {
    pub(crate) line: usize,
    /// Cut around the match if it is long.
    pub(crate) text: String,
}

/// A definition of a file that can enclose matches.
pub(crate) struct EnclosingDefinition {
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The line that has its name.
    pub(crate) name_line: usize,
    /// With its scope: `Row.render`.
    pub(crate) name: String,
}

/// The answer as text.
pub(crate) fn write(answer: &GrepAnswer<'_>) -> String {
    if answer.total == 0 {
        return explain_no_match(answer);
    }
    let matching_files = answer.files.len() + answer.unread.len();
    let mut text = format!(
        "{} in {}\n",
        count_of(to_usize(answer.total), "match", "matches"),
        count_of(matching_files, "file", "files")
    );
    let room = answer.budget.min(if matching_files <= MAX_NARROW_FILES {
        NARROW_CHARS
    } else {
        WIDE_CHARS
    });
    let notes = write_notices(answer);
    let frame = length(&text) + length(&notes) + MAX_COUNTED_CHARS;
    let mut groups: Vec<Vec<MatchGroup<'_>>> = answer.files.iter().map(group_matches).collect();
    show_groups(answer, &mut groups, room.saturating_sub(frame));
    let shown = assemble(answer, &groups);
    text += &shown.text;
    text + &count_rest(&shown.counted) + &notes
}

/// The matches of an answer as text, and the number of those that are left out, by file.
struct ShownMatches<'a> {
    text: String,
    counted: Vec<(&'a str, u64)>,
}

fn assemble<'a>(answer: &'a GrepAnswer<'a>, groups: &[Vec<MatchGroup<'_>>]) -> ShownMatches<'a> {
    let mut text = String::new();
    let mut counted: Vec<(&str, u64)> = Vec::new();
    for (file, groups) in answer.files.iter().zip(groups) {
        let shown: u64 = groups.iter().map(MatchGroup::shown_matches).sum();
        if shown > 0 {
            text += &reveal_part(file.path);
            text.push('\n');
            text.extend(groups.iter().map(MatchGroup::text));
        }
        if shown < file.total {
            counted.push((file.path, file.total - shown));
        }
    }
    counted.extend(&answer.unread);
    ShownMatches { text, counted }
}

/// The matching files, one a line.
pub(crate) fn write_files(answer: &GrepAnswer<'_>, with_counts: bool) -> String {
    if answer.total == 0 {
        return explain_no_match(answer);
    }
    let notes = write_notices(answer);
    let mut left = answer.budget.saturating_sub(MAX_COUNTED_CHARS + length(&notes));
    let mut text = format!(
        "{} in {}\n",
        count_of(to_usize(answer.total), "match", "matches"),
        count_of(answer.unread.len(), "file", "files")
    );
    let mut shown = 0;
    for (path, lines) in &answer.unread {
        let path = reveal_part(path);
        let row = if with_counts {
            format!("{path} {lines}\n")
        } else {
            format!("{path}\n")
        };
        let Some(rest) = left.checked_sub(length(&row)) else {
            break;
        };
        left = rest;
        text += &row;
        shown += 1;
    }
    text + &count_rest(&answer.unread[shown..]) + &notes
}

fn explain_no_match(answer: &GrepAnswer<'_>) -> String {
    let files = count_of(to_usize(answer.files_searched), "file", "files");
    let pattern = cut(&reveal_part(answer.pattern), MAX_MATCH_CHARS, "…");
    format!("no match for {pattern} in {files}\n{}", write_notices(answer))
}

fn write_notices(answer: &GrepAnswer<'_>) -> String {
    let mut text = String::new();
    for sentence in answer.notices {
        text += &format!("note: {}\n", reveal_part(sentence));
    }
    text
}

/// Counts the matches that are not shown, by file.
fn count_rest(files: &[(&str, u64)]) -> String {
    let total: u64 = files.iter().map(|(_, lines)| lines).sum();
    if total == 0 {
        return String::new();
    }
    let mut text = format!(
        "… {} more in {}: ",
        crate::markdown::count(total),
        count_of(files.len(), "file", "files")
    );
    for (at, (path, lines)) in files.iter().enumerate() {
        let entry = format!("{}{} {lines}", if at > 0 { ", " } else { "" }, reveal_part(path));
        if length(&text) + length(&entry) + 4 > MAX_COUNTED_CHARS {
            text += if at > 0 { ", …" } else { "…" };
            break;
        }
        text += &entry;
    }
    text.push('\n');
    text
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
