//! The matching lines as a list: each file once, its lines below the definitions around them.
//!
//! Equal lines of a definition are listed once and counted, and so is a line that is the only one in several
//! files. The room is given to the first part of every file, then to the second ones, so that the first files
//! do not fill it.
//!
//! Invariant: each matching line is listed, counted below its definition, in a function that is shown whole,
//! or counted for its file.

use std::collections::{BTreeMap, HashMap};

use docent_core::text::reveal::reveal_part;
use docent_engine::commands::lines::FoundLine;
use docent_engine::commands::search::LineSearch;

use super::files::{MatchedFile, to_usize};
use super::functions::WholeFunction;
use crate::compact::{count_of, line_range};
use crate::markdown::length;

/// Characters of a line that is shown around its match.
const MAX_LINE_CHARS: usize = 160;

/// Lines listed below one definition. The others are counted.
const MAX_LISTED_LINES: usize = 6;

/// A line that is the only match of so many files is listed once.
const MIN_EQUAL_FILES: usize = 3;

/// Room in which no further part fits.
const MIN_PART_CHARS: usize = 12;

/// A list, and the number of lines that it leaves out, by file.
pub(super) struct LineList<'a> {
    pub(super) text: String,
    pub(super) left_out: Vec<(&'a str, u64)>,
}

/// Consecutive matches inside one definition, or outside of all.
struct ListPart<'a> {
    definition: Option<usize>,
    lines: Vec<&'a FoundLine>,
    shown: PartText,
}

enum PartText {
    Nothing,
    Listed(String),
    /// Its lines are in a function that is shown whole. The first part of each has its text.
    InWhole(Option<usize>),
}

/// Lists the matches in about `room` characters. The functions come on top.
pub(super) fn list_matches<'a>(
    files: &'a [MatchedFile<'_>],
    functions: &[WholeFunction],
    search: &LineSearch<'_>,
    room: usize,
) -> LineList<'a> {
    let mut left = room;
    let equal = find_equal_files(files, functions);
    let (mut text, in_equal) = list_equal_files(files, &equal, search, &mut left);
    let mut parts: Vec<Vec<ListPart<'a>>> = files
        .iter()
        .enumerate()
        .map(|(at, file)| {
            if in_equal.contains_key(&at) {
                Vec::new()
            } else {
                split_parts(file, at, functions)
            }
        })
        .collect();
    let mut is_first = text.is_empty();
    let deepest = parts.iter().map(Vec::len).max().unwrap_or_default();
    'rounds: for round in 0..deepest {
        for (file, parts) in files.iter().zip(&mut parts) {
            if !matches!(parts.get(round).map(|part| &part.shown), Some(PartText::Nothing)) {
                continue;
            }
            if left < MIN_PART_CHARS && !is_first {
                break 'rounds;
            }
            let list = list_part(file, &parts[round], search);
            let has_name = parts.iter().any(|part| !matches!(part.shown, PartText::Nothing));
            let name = if has_name { 0 } else { length(file.name) + 1 };
            // The first part is always shown.
            if length(&list) + name > left && !is_first {
                continue;
            }
            is_first = false;
            left = left.saturating_sub(length(&list) + name);
            parts[round].shown = PartText::Listed(list);
        }
    }
    let mut left_out: Vec<(&str, u64)> = Vec::new();
    for (at, (file, parts)) in files.iter().zip(&parts).enumerate() {
        let mut shown = String::new();
        let mut hidden = 0;
        for part in parts {
            match &part.shown {
                PartText::Nothing => hidden += part.lines.len() as u64,
                PartText::Listed(list) => shown += list,
                PartText::InWhole(function) => {
                    shown += function.map_or("", |function| &functions[function].text);
                }
            }
        }
        if !shown.is_empty() {
            text += &format!("{}\n{shown}", reveal_part(file.name));
        }
        if let Some(is_listed) = in_equal.get(&at) {
            hidden += u64::from(!is_listed);
        }
        if hidden > 0 {
            left_out.push((file.name, hidden));
        }
    }
    LineList { text, left_out }
}

/// Divides the matches of a file by the innermost definition around them, in the order of lines.
fn split_parts<'a>(file: &'a MatchedFile<'_>, at: usize, functions: &[WholeFunction]) -> Vec<ListPart<'a>> {
    let mut parts: Vec<ListPart<'a>> = Vec::new();
    let mut written: Vec<usize> = Vec::new();
    for line in file.matched_lines() {
        let number = to_usize(line.number);
        let whole = functions.iter().position(|one| {
            let range = &file.definitions[if one.file == at {
                one.definition
            } else {
                return false;
            }];
            (range.first..=range.last).contains(&number)
        });
        let definition = file.definition_around(number);
        match parts.last_mut() {
            Some(last) if whole.is_none() && last.definition == definition && last.is_unwritten() => {
                last.lines.push(line);
            }
            _ => parts.push(ListPart {
                definition,
                lines: vec![line],
                shown: match whole {
                    None => PartText::Nothing,
                    Some(function) if written.contains(&function) => PartText::InWhole(None),
                    Some(function) => {
                        written.push(function);
                        PartText::InWhole(Some(function))
                    }
                },
            }),
        }
    }
    parts
}

impl ListPart<'_> {
    fn is_unwritten(&self) -> bool {
        matches!(self.shown, PartText::Nothing)
    }
}

/// The heading of a definition and its lines, equal ones once.
fn list_part(file: &MatchedFile<'_>, part: &ListPart<'_>, search: &LineSearch<'_>) -> String {
    let mut text = part.definition.map_or_else(String::new, |definition| {
        let one = &file.definitions[definition];
        format!("{} {}\n", line_range(one.first, one.last), reveal_part(&one.name))
    });
    let mut rest = part.lines.as_slice();
    // Equal lines behind those that are listed.
    let mut equal: HashMap<&[u8], Vec<&FoundLine>> = HashMap::new();
    let mut listed: Vec<&FoundLine> = Vec::new();
    while let Some((line, others)) = rest.split_first() {
        let key = line.text.trim_ascii();
        if let Some(before) = equal.get_mut(key) {
            before.push(line);
        } else if listed.len() < MAX_LISTED_LINES {
            equal.insert(key, Vec::new());
            listed.push(line);
        } else {
            break;
        }
        rest = others;
    }
    for line in listed {
        text += &format!("{}: {}\n", line.number, show_line(&line.text, search));
        let others = equal
            .get(line.text.trim_ascii())
            .map(Vec::as_slice)
            .unwrap_or_default();
        match others {
            [] => {}
            [one] => text += &format!("{}: the same\n", one.number),
            [first, .., last] => {
                text += &format!(
                    "… {} equal {}\n",
                    others.len(),
                    line_range(to_usize(first.number), to_usize(last.number))
                );
            }
        }
    }
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        text += &format!(
            "… {} more {}\n",
            rest.len(),
            line_range(to_usize(first.number), to_usize(last.number))
        );
    }
    text
}

/// The files whose only match is a line that others have too, by that line.
fn find_equal_files<'a>(
    files: &'a [MatchedFile<'_>],
    functions: &[WholeFunction],
) -> BTreeMap<&'a [u8], Vec<usize>> {
    let mut equal: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        let mut lines = file.matched_lines();
        if let (Some(line), None) = (lines.next(), lines.next())
            && !functions.iter().any(|one| one.file == at)
        {
            equal.entry(line.text.trim_ascii()).or_default().push(at);
        }
    }
    equal.retain(|_, files| files.len() >= MIN_EQUAL_FILES);
    equal
}

/// Lists each line that is the only match of several files once, with as many of their names as fit. Returns
/// the files, and whether the name of each is listed.
fn list_equal_files(
    files: &[MatchedFile<'_>],
    equal: &BTreeMap<&[u8], Vec<usize>>,
    search: &LineSearch<'_>,
    left: &mut usize,
) -> (String, HashMap<usize, bool>) {
    let mut text = String::new();
    let mut in_equal = HashMap::new();
    let mut groups: Vec<(&&[u8], &Vec<usize>)> = equal.iter().collect();
    groups.sort_by_key(|(_, members)| members[0]);
    for (line, members) in groups {
        let head = format!("equal in {}: ", count_of(members.len(), "file", "files"));
        let shown = show_line(line, search);
        let mut room = (*left / 2).saturating_sub(length(&head) + length(&shown) + 2);
        let mut places: Vec<String> = Vec::new();
        let mut fitting = Vec::new();
        for &at in members {
            let number = files[at].matched_lines().next().map_or(0, |line| line.number);
            let place = format!("{}:{number}", reveal_part(files[at].name));
            if length(&place) + 2 > room || place.contains('\n') {
                continue;
            }
            room -= length(&place) + 2;
            places.push(place);
            fitting.push(at);
        }
        // Fewer are listed as any other line.
        if places.len() < MIN_EQUAL_FILES {
            continue;
        }
        let block = format!("{head}{shown}\n{}\n", places.join(", "));
        *left = left.saturating_sub(length(&block));
        text += &block;
        in_equal.extend(members.iter().map(|at| (*at, fitting.contains(at))));
    }
    (text, in_equal)
}

/// A line without its indentation, cut around its match if it is long.
fn show_line(line: &[u8], search: &LineSearch<'_>) -> String {
    let text = String::from_utf8_lossy(line);
    let trimmed = text.trim();
    if length(trimmed) <= MAX_LINE_CHARS {
        return reveal_part(trimmed).trim_end().to_owned();
    }
    let start = search.find_in(line).map_or(0, |(start, _)| start);
    let start = start.saturating_sub(text.len() - text.trim_start().len());
    let before = trimmed.get(..start).map_or(0, length);
    let from = before.saturating_sub(MAX_LINE_CHARS / 4);
    let shown: String = trimmed.chars().skip(from).take(MAX_LINE_CHARS).collect();
    let has_more = length(trimmed) > from + MAX_LINE_CHARS;
    let (begin, end) = (if from > 0 { "…" } else { "" }, if has_more { "…" } else { "" });
    format!("{begin}{}{end}", reveal_part(&shown).trim_end())
}
