//! The matches of a file, grouped by the definition around them, and the lines that are shown of each group.
//!
//! A group is shown as a list of its matching lines, as its definition with folds, or as its whole
//! definition.
//!
//! Invariant: no line of a file is shown twice. So a definition is shown with folds only if no other group is
//! inside it, and a whole one takes the place of all groups inside it.

use std::cmp::Reverse;

use docent_core::text::reveal::reveal_part;

use super::{EnclosingDefinition, GrepAnswer, GrepFile, GrepMatch, WIDE_CHARS};
use crate::compact::body::{Body, show_body};
use crate::compact::{line_range, number_lines};
use crate::markdown::{cut, length};

/// Percent of the room that the list of matches may take before definitions are shown.
const LIST_PERCENT: usize = 30;

/// Characters of a match in the list. Longer lines are cut.
pub(super) const MAX_MATCH_CHARS: usize = 160;

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

/// Matches that follow each other inside one definition, or between definitions.
pub(super) struct MatchGroup<'a> {
    definition: Option<&'a EnclosingDefinition>,
    matches: Vec<&'a GrepMatch>,
    shown: GroupText,
}

/// What the answer has of a group.
enum GroupText {
    /// Only the number of its matches.
    Counted,
    /// Its matches, with the lines around them that the caller has asked for.
    Listed(ShownLines),
    /// Its definition, or the lines around its matches if it has none.
    Code(ShownLines),
    /// Its lines are in the text of the whole definition around it.
    InsideAnother,
}

/// A part of a file as the answer shows it.
struct ShownLines {
    text: String,
    /// The first and last line in the text.
    first: usize,
    last: usize,
}

impl MatchGroup<'_> {
    /// The text of the group. Empty if the answer has none.
    pub(super) fn text(&self) -> &str {
        self.shown_lines().map_or("", |lines| &lines.text)
    }

    /// Number of its matches that the answer shows, or counts below the group.
    pub(super) fn shown_matches(&self) -> u64 {
        match self.shown {
            GroupText::Counted => 0,
            GroupText::Listed(_) | GroupText::Code(_) | GroupText::InsideAnother => self.matches.len() as u64,
        }
    }

    fn shown_lines(&self) -> Option<&ShownLines> {
        match &self.shown {
            GroupText::Listed(lines) | GroupText::Code(lines) => Some(lines),
            GroupText::Counted | GroupText::InsideAnother => None,
        }
    }

    /// The first and last line that the group occupies: of its text, or of its matches.
    fn lines(&self) -> (usize, usize) {
        let line = |matched: Option<&&GrepMatch>| matched.map_or(0, |matched| matched.line);
        self.shown_lines().map_or_else(
            || (line(self.matches.first()), line(self.matches.last())),
            |lines| (lines.first, lines.last),
        )
    }

    /// Whether a definition encloses all matches of the group.
    fn is_inside(&self, definition: &EnclosingDefinition) -> bool {
        let inside = definition.first..=definition.last;
        self.matches.iter().all(|matched| inside.contains(&matched.line))
    }

    /// Whether the line with the definition's name matches.
    fn has_name(&self) -> bool {
        self.definition
            .is_some_and(|one| self.matches.iter().any(|matched| matched.line == one.name_line))
    }

    /// The lines that the group may occupy once it is shown: its own, and those of a short definition that is
    /// beside `other`.
    fn reserved_lines(&self, other: &EnclosingDefinition) -> (usize, usize) {
        let (first, last) = self.lines();
        let is_beside = |one: &&EnclosingDefinition| one.last < other.first || one.first > other.last;
        match self.definition.filter(|one| one.is_short()).filter(is_beside) {
            Some(one) => (first.min(one.first), last.max(one.last)),
            None => (first, last),
        }
    }

    fn heading(&self) -> String {
        self.definition
            .map_or_else(String::new, EnclosingDefinition::heading)
    }
}

impl EnclosingDefinition {
    fn is_short(&self) -> bool {
        self.last + 1 - self.first <= MAX_WHOLE_LINES
    }

    /// `412-447 AuthService.login`
    fn heading(&self) -> String {
        let range = line_range(self.first, self.last);
        format!("{range} {}\n", reveal_part(&self.name))
    }
}

/// Divides the matches of a file by the innermost definition around them, in the order of lines.
pub(super) fn group_matches<'a>(file: &'a GrepFile<'_>) -> Vec<MatchGroup<'a>> {
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
                shown: GroupText::Counted,
            }),
        }
    }
    groups
}

/// Chooses what is shown of each group, in about `room` characters.
pub(super) fn show_groups(answer: &GrepAnswer<'_>, groups: &mut [Vec<MatchGroup<'_>>], room: usize) {
    if answer.unread.is_empty() && has_few_parts(groups) {
        show_whole_definitions(answer, groups, answer.budget.saturating_sub(WIDE_CHARS));
    }
    let left = room.saturating_sub(list_matches(answer, groups, room * LIST_PERCENT / 100));
    if answer.context_lines == 0 {
        add_bodies(answer, groups, left);
    }
}

/// Whether so few definitions have matches that they can be shown whole. Each run of matches between
/// definitions counts as one.
fn has_few_parts(groups: &[Vec<MatchGroup<'_>>]) -> bool {
    let mut parts: Vec<Option<*const EnclosingDefinition>> = Vec::new();
    for group in groups.iter().flatten() {
        let definition = group.definition.map(std::ptr::from_ref);
        if definition.is_none() || !parts.contains(&definition) {
            parts.push(definition);
        }
        if parts.len() > MAX_WHOLE_DEFINITIONS {
            return false;
        }
    }
    true
}

/// The lines beside a group that no other group occupies.
fn free_lines(groups: &[MatchGroup<'_>], at: usize) -> (usize, usize) {
    let (first, last) = groups[at].lines();
    let mut free = (1, usize::MAX);
    for (other, group) in groups.iter().enumerate().filter(|(other, _)| *other != at) {
        let (from, to) = group.lines();
        if other < at && to < first {
            free.0 = free.0.max(to + 1);
        } else if from > last {
            free.1 = free.1.min(from - 1);
        }
    }
    free
}

/// Shows short definitions whole, the longest first. The groups inside one then need no text of their own.
fn show_whole_definitions(answer: &GrepAnswer<'_>, groups: &mut [Vec<MatchGroup<'_>>], room: usize) {
    let mut order: Vec<(Reverse<usize>, usize, usize)> = Vec::new();
    for (file, groups) in groups.iter().enumerate() {
        for (at, group) in groups.iter().enumerate() {
            order.extend(
                group
                    .definition
                    .map(|one| (Reverse(one.last - one.first), file, at)),
            );
        }
    }
    order.sort_unstable();
    let mut left = room;
    for (_, file, at) in order {
        let groups = &mut groups[file];
        let Some(definition) = groups[at].definition else {
            continue;
        };
        if matches!(groups[at].shown, GroupText::InsideAnother) {
            continue;
        }
        let whole = show_whole(&answer.files[file], groups, definition, answer.context_lines);
        let chars = whole.as_ref().map_or(0, |whole| length(&whole.text));
        if let Some(whole) = whole.filter(|_| chars <= MAX_WHOLE_CHARS.min(left)) {
            left -= chars;
            for group in groups.iter_mut().filter(|group| group.is_inside(definition)) {
                group.shown = GroupText::InsideAnother;
            }
            groups[at].shown = GroupText::Code(whole);
        }
    }
}

/// All lines of a short definition, and the lines around its matches that the caller has asked for, as far as
/// no other group needs them.
fn show_whole(
    file: &GrepFile<'_>,
    groups: &[MatchGroup<'_>],
    definition: &EnclosingDefinition,
    context_lines: usize,
) -> Option<ShownLines> {
    let (mut first, mut last) = (definition.first, definition.last);
    if !definition.is_short() {
        return None;
    }
    let (inside, outside): (Vec<_>, Vec<_>) = groups.iter().partition(|group| group.is_inside(definition));
    let mut free = (1, file.text.lines().count());
    for (from, to) in outside.iter().map(|other| other.reserved_lines(definition)) {
        if to < definition.first {
            free.0 = free.0.max(to + 1);
        } else if from > definition.last {
            free.1 = free.1.min(from - 1);
        }
    }
    for matched in inside.iter().flat_map(|group| &group.matches) {
        first = first.min(matched.line.saturating_sub(context_lines).max(free.0));
        last = last.max((matched.line + context_lines).min(free.1));
    }
    let lines: Vec<&str> = file.text.lines().collect();
    let shown = lines.get(first.checked_sub(1)?..last)?;
    let text = definition.heading() + &number_text(file, first, shown);
    Some(ShownLines { text, first, last })
}

/// Lines of a file with their margin. Those that match have their number.
fn number_text(file: &GrepFile<'_>, first: usize, lines: &[&str]) -> String {
    let is_marked = |line| file.matches.iter().any(|one| one.line == line);
    // The line end keeps an empty last line.
    number_lines(
        first,
        &(reveal_part(&lines.join("\n")).into_owned() + "\n"),
        is_marked,
    )
}

/// Lists the matches of as many groups as fit: the first of every file, then the second, and so on. Returns
/// the room that they take.
fn list_matches(answer: &GrepAnswer<'_>, groups: &mut [Vec<MatchGroup<'_>>], room: usize) -> usize {
    let mut used = 0;
    let most = groups.iter().map(Vec::len).max().unwrap_or_default();
    for at in 0..most {
        for (file, groups) in answer.files.iter().zip(groups.iter_mut()) {
            if !matches!(groups.get(at).map(|group| &group.shown), Some(GroupText::Counted)) {
                continue;
            }
            let list = if answer.context_lines > 0 && !file.text.is_empty() {
                list_with_context(file, groups, at, answer.context_lines)
            } else {
                list_group(&groups[at])
            };
            let path = if groups.iter().any(|group| group.shown_lines().is_some()) {
                0
            } else {
                length(file.path) + 1
            };
            let cost = length(&list.text) + path;
            // The first match is always shown.
            if used > 0 && used + cost > room {
                continue;
            }
            used += cost;
            groups[at].shown = GroupText::Listed(list);
        }
    }
    used
}

fn list_group(group: &MatchGroup<'_>) -> ShownLines {
    let mut text = group.heading();
    for matched in group.matches.iter().take(MAX_LISTED_MATCHES) {
        let line = cut(reveal_part(matched.text.trim()).trim_end(), MAX_MATCH_CHARS, "…");
        text += &format!("{}: {line}\n", matched.line);
    }
    text += &count_matches(group.matches.get(MAX_LISTED_MATCHES..).unwrap_or_default());
    let (first, last) = group.lines();
    ShownLines { text, first, last }
}

/// `… 3 more 412-447` for matches that are not shown.
fn count_matches(matches: &[&GrepMatch]) -> String {
    let (Some(first), Some(last)) = (matches.first(), matches.last()) else {
        return String::new();
    };
    format!("… {} more {}\n", matches.len(), line_range(first.line, last.line))
}

/// The lines around the matches of a group; neighbours share them.
fn list_with_context(
    file: &GrepFile<'_>,
    groups: &[MatchGroup<'_>],
    at: usize,
    context_lines: usize,
) -> ShownLines {
    let group = &groups[at];
    let lines: Vec<&str> = file.text.lines().collect();
    let (free_from, free_to) = free_lines(groups, at);
    let mut text = group.heading();
    let mut start = None;
    let mut next = free_from;
    for matched in group.matches.iter().take(MAX_LISTED_MATCHES) {
        let first = matched.line.saturating_sub(context_lines).max(next);
        let last = (matched.line + context_lines).min(lines.len()).min(free_to);
        if first > last {
            continue;
        }
        start.get_or_insert(first);
        text += &number_text(file, first, &lines[first - 1..last]);
        next = last + 1;
    }
    let beyond = group.matches.partition_point(|matched| matched.line < next);
    text += &count_matches(&group.matches[beyond..]);
    let (first, last) = group.lines();
    ShownLines {
        text,
        first: start.unwrap_or(first),
        last: last.max(next - 1),
    }
}

/// Replaces lists of matches by the text of their definition, the most useful first, while there is room.
fn add_bodies(answer: &GrepAnswer<'_>, groups: &mut [Vec<MatchGroup<'_>>], room: usize) {
    let mut left = room;
    let mut bodies = 0;
    for (file, at) in order_bodies(groups) {
        if bodies == MAX_BODIES {
            break;
        }
        let groups = &mut groups[file];
        let listed = length(groups[at].text());
        let path = if groups.iter().any(|group| group.shown_lines().is_some()) {
            0
        } else {
            length(answer.files[file].path) + 1
        };
        let body_room = (left + listed).saturating_sub(path).min(MAX_BODY_CHARS);
        let Some(body) = show_group_body(&answer.files[file], groups, at, body_room) else {
            continue;
        };
        left = (left + listed).saturating_sub(length(&body.text) + path);
        groups[at].shown = GroupText::Code(body);
        bodies += 1;
    }
}

/// The groups that may get the text of their definition, as positions of a file and of a group in it. A
/// definition of the searched name is read next most often, then code with many matches.
fn order_bodies(groups: &[Vec<MatchGroup<'_>>]) -> Vec<(usize, usize)> {
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (file, groups) in groups.iter().enumerate() {
        let has_body = |at: &usize| {
            let group = &groups[*at];
            let is_only = |one| groups.iter().filter(|other| other.is_inside(one)).count() == 1;
            let has_code = matches!(group.shown, GroupText::Code(_) | GroupText::InsideAnother);
            !has_code && group.definition.is_none_or(is_only)
        };
        order.extend((0..groups.len()).filter(has_body).map(|at| (file, at)));
    }
    order.sort_by_key(|&(file, at)| {
        let group = &groups[file][at];
        (
            !group.has_name(),
            group.definition.is_none(),
            Reverse(group.matches.len()),
            file,
            at,
        )
    });
    order
}

/// The text of a group's definition, or of the lines around its matches, in at most `room` characters.
fn show_group_body(
    file: &GrepFile<'_>,
    groups: &[MatchGroup<'_>],
    at: usize,
    room: usize,
) -> Option<ShownLines> {
    let group = &groups[at];
    let lines = file.text.lines().count();
    let (first, last, name) = if let Some(one) = group.definition {
        (one.first, one.last, one.name.as_str())
    } else {
        let (first, last) = (group.matches.first()?.line, group.matches.last()?.line);
        let last = last.min(first + 2 * LINES_AROUND);
        let first = first.saturating_sub(LINES_AROUND).max(1);
        let (free_from, free_to) = free_lines(groups, at);
        let last = (last + LINES_AROUND).min(lines).min(free_to);
        (first.max(free_from), last, "")
    };
    if lines == 0 || last > lines || first > last {
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
    let heading = group.heading();
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
    Some(ShownLines {
        text: heading + &body + &rest,
        first,
        last,
    })
}
