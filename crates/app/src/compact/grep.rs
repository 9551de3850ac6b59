//! The compact form of `grep_codebase`: each file once, its matches below the definition around them, and the
//! text of the definitions that a reader most likely asks for next.
//!
//! Nine of ten reads after a search are around a line that the search has printed, and cost ten times as much
//! as the search. So room that is left after the list of matches goes to whole definitions.
//!
//! Invariant: every match is shown or counted.

use docent_core::language::Language;
use docent_core::text::reveal::reveal_part;

use super::body::{Body, show_body};
use super::{count_of, line_range, number_lines};
use crate::markdown::{cut, length};

/// Characters of an answer about many files, and of one about few.
const WIDE_CHARS: usize = 1_800;
const NARROW_CHARS: usize = 2_600;

/// Up to this many matching files, an answer is about few.
const MAX_NARROW_FILES: usize = 2;

/// Percent of the room that the list of matches may take before definitions are shown.
const LIST_PERCENT: usize = 30;

/// Characters of a match in the list. Longer lines are cut.
const MAX_MATCH_CHARS: usize = 160;

/// Matches listed below one definition. The others are counted.
const MAX_LISTED_MATCHES: usize = 6;

/// Characters of the text of one definition, and number of such texts. Many short ones hold the lines that
/// are read next more often than few long ones.
const MAX_BODY_CHARS: usize = 500;
const MAX_BODIES: usize = 9;

/// Up to this many definitions with matches are shown whole if they are short: one of them is read next.
const MAX_WHOLE_DEFINITIONS: usize = 3;
const MAX_WHOLE_LINES: usize = 30;
const MAX_WHOLE_CHARS: usize = 2_000;

/// Lines on each side of a match that no definition encloses.
const LINES_AROUND: usize = 4;

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

/// The matches inside one definition, or between definitions.
struct MatchGroup<'a> {
    definition: Option<&'a EnclosingDefinition>,
    matches: Vec<&'a GrepMatch>,
    /// What is shown of it; empty if it is only counted.
    shown: String,
    /// All lines of the definition are shown.
    is_whole: bool,
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
    let left = list_matches(answer, &mut groups, room.saturating_sub(frame));
    add_bodies(answer, &mut groups, left);

    let mut counted: Vec<(&str, u64)> = Vec::new();
    for (file, groups) in answer.files.iter().zip(&groups) {
        let shown: u64 = groups
            .iter()
            .filter(|group| !group.shown.is_empty())
            .map(|group| group.matches.len() as u64)
            .sum();
        if shown > 0 {
            text += &reveal_part(file.path);
            text.push('\n');
            text.extend(groups.iter().map(|group| group.shown.as_str()));
        }
        if shown < file.total {
            counted.push((file.path, file.total - shown));
        }
    }
    counted.extend(&answer.unread);
    text + &count_rest(&counted) + &notes
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

/// Divides the matches of a file by the innermost definition around them, in the order of lines.
fn group_matches<'a>(file: &'a GrepFile<'_>) -> Vec<MatchGroup<'a>> {
    let mut groups: Vec<MatchGroup<'a>> = Vec::new();
    for matched in &file.matches {
        let definition = file
            .definitions
            .iter()
            .filter(|one| (one.first..=one.last).contains(&matched.line))
            .min_by_key(|one| one.last - one.first);
        let is_same = |group: &&mut MatchGroup<'a>| match (group.definition, definition) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            (None, None) => true,
            _ => false,
        };
        match groups.last_mut().filter(is_same) {
            Some(group) => group.matches.push(matched),
            None => groups.push(MatchGroup {
                definition,
                matches: vec![matched],
                shown: String::new(),
                is_whole: false,
            }),
        }
    }
    groups
}

/// Lists the matches of as many groups as fit: the first of every file, then the second, and so on. Returns
/// the room that is left.
fn list_matches(answer: &GrepAnswer<'_>, groups: &mut [Vec<MatchGroup<'_>>], room: usize) -> usize {
    let list_room = room * LIST_PERCENT / 100;
    let mut used = 0;
    let most = groups.iter().map(Vec::len).max().unwrap_or_default();
    for at in 0..most {
        for (file, groups) in answer.files.iter().zip(groups.iter_mut()) {
            let Some(group) = groups.get_mut(at) else { continue };
            let list = list_group(file, group, answer.context_lines);
            let path = if at == 0 { length(file.path) + 1 } else { 0 };
            let cost = length(&list) + path;
            // The first match is always shown.
            if used > 0 && used + cost > list_room {
                continue;
            }
            used += cost;
            group.shown = list;
        }
    }
    room.saturating_sub(used)
}

fn list_group(file: &GrepFile<'_>, group: &MatchGroup<'_>, context_lines: usize) -> String {
    let mut text = group_heading(group);
    if context_lines > 0 && !file.text.is_empty() {
        return text + &list_with_context(file, group, context_lines);
    }
    for matched in group.matches.iter().take(MAX_LISTED_MATCHES) {
        let line = cut(reveal_part(matched.text.trim()).trim_end(), MAX_MATCH_CHARS, "…");
        text += &format!("{}: {line}\n", matched.line);
    }
    text + &count_matches(group.matches.get(MAX_LISTED_MATCHES..).unwrap_or_default())
}

/// `… 3 more 412-447` for matches that are not shown.
fn count_matches(matches: &[&GrepMatch]) -> String {
    let (Some(first), Some(last)) = (matches.first(), matches.last()) else {
        return String::new();
    };
    format!("… {} more {}\n", matches.len(), line_range(first.line, last.line))
}

/// The lines around the matches of a group; neighbours share them.
fn list_with_context(file: &GrepFile<'_>, group: &MatchGroup<'_>, context_lines: usize) -> String {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut text = String::new();
    let mut next = 1;
    for matched in group.matches.iter().take(MAX_LISTED_MATCHES) {
        let first = matched.line.saturating_sub(context_lines).max(next);
        let last = (matched.line + context_lines).min(lines.len());
        if first > last {
            continue;
        }
        let part = lines[first - 1..last].join("\n");
        let is_marked = |line| group.matches.iter().any(|one| one.line == line);
        text += &number_lines(first, &reveal_part(&part), is_marked);
        next = last + 1;
    }
    text + &count_matches(group.matches.get(MAX_LISTED_MATCHES..).unwrap_or_default())
}

/// `412-447 AuthService.login`, or nothing between definitions.
fn group_heading(group: &MatchGroup<'_>) -> String {
    group.definition.map_or_else(String::new, |definition| {
        let range = line_range(definition.first, definition.last);
        format!("{range} {}\n", reveal_part(&definition.name))
    })
}

/// Replaces lists of matches by the text of their definition, the most useful first, while there is room.
fn add_bodies(answer: &GrepAnswer<'_>, groups: &mut [Vec<MatchGroup<'_>>], room: usize) {
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (file, groups) in groups.iter().enumerate() {
        order.extend((0..groups.len()).map(|at| (file, at)));
    }
    if answer.unread.is_empty() && order.len() <= MAX_WHOLE_DEFINITIONS {
        let mut left = answer.budget.saturating_sub(WIDE_CHARS);
        for (file, at) in &order {
            left -= show_whole(answer, *file, &mut groups[*file][*at], left);
        }
        order.retain(|(file, at)| !groups[*file][*at].is_whole);
    }
    if answer.context_lines > 0 {
        return;
    }
    let defines = |group: &MatchGroup<'_>| {
        group
            .definition
            .is_some_and(|one| group.matches.iter().any(|matched| matched.line == one.name_line))
    };
    // A definition of what is searched for is read next most often, then code with many matches.
    order.sort_by_key(|&(file, at)| {
        let group = &groups[file][at];
        (
            !defines(group),
            group.definition.is_none(),
            std::cmp::Reverse(group.matches.len()),
            file,
            at,
        )
    });
    let mut left = room;
    let mut bodies = 0;
    for (file, at) in order {
        if bodies == MAX_BODIES {
            break;
        }
        let group = &mut groups[file][at];
        let listed = length(&group.shown);
        let path = if group.shown.is_empty() {
            length(answer.files[file].path) + 1
        } else {
            0
        };
        let Some(body) = show_group(
            &answer.files[file],
            group,
            (left + listed).saturating_sub(path).min(MAX_BODY_CHARS),
        ) else {
            continue;
        };
        left = (left + listed).saturating_sub(length(&body) + path);
        group.shown = body;
        bodies += 1;
    }
}

/// Replaces the list of matches by all lines of a short definition, and the lines around the matches that the
/// caller has asked for. Returns how many characters that took.
fn show_whole(answer: &GrepAnswer<'_>, file: usize, group: &mut MatchGroup<'_>, room: usize) -> usize {
    let file = &answer.files[file];
    let Some(definition) = group.definition else {
        return 0;
    };
    let around = |line: usize| {
        let last = (line + answer.context_lines).min(file.text.lines().count());
        (line.saturating_sub(answer.context_lines).max(1), last)
    };
    let mut span = (definition.first, definition.last);
    for matched in &group.matches {
        let (first, last) = around(matched.line);
        span = (span.0.min(first), span.1.max(last));
    }
    if definition.last + 1 - definition.first > MAX_WHOLE_LINES || span.1 > file.text.lines().count() {
        return 0;
    }
    let lines: Vec<&str> = file
        .text
        .lines()
        .skip(span.0 - 1)
        .take(span.1 + 1 - span.0)
        .collect();
    let is_marked = |line| group.matches.iter().any(|one| one.line == line);
    let whole = group_heading(group) + &number_lines(span.0, &reveal_part(&lines.join("\n")), is_marked);
    let chars = length(&whole);
    if chars > MAX_WHOLE_CHARS.min(room) {
        return 0;
    }
    group.shown = whole;
    group.is_whole = true;
    chars
}

/// The text of a group's definition, in at most `room` characters.
fn show_group(file: &GrepFile<'_>, group: &MatchGroup<'_>, room: usize) -> Option<String> {
    let lines = file.text.lines().count();
    let (first, last, name) = if let Some(one) = group.definition {
        (one.first, one.last, one.name.as_str())
    } else {
        let (first, last) = (group.matches.first()?.line, group.matches.last()?.line);
        let last = last.min(first + 2 * LINES_AROUND);
        let first = first.saturating_sub(LINES_AROUND).max(1);
        (first, (last + LINES_AROUND).min(lines), "")
    };
    if lines == 0 || last > lines {
        return None;
    }
    let start: usize = file
        .text
        .split_inclusive('\n')
        .take(first - 1)
        .map(str::len)
        .sum();
    let size: usize = file.text[start..]
        .split_inclusive('\n')
        .take(last + 1 - first)
        .map(str::len)
        .sum();
    let marked: Vec<usize> = group.matches.iter().map(|matched| matched.line).collect();
    let heading = group_heading(group);
    let beyond = group.matches.partition_point(|matched| matched.line <= last);
    let rest = count_matches(&group.matches[beyond..]);
    let body = Body {
        first,
        last,
        name,
        language: file.language,
        text: &file.text[start..start + size],
        marked: &marked,
    };
    let body = show_body(&body, room.saturating_sub(length(&heading) + length(&rest)))?;
    Some(heading + &body + &rest)
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
