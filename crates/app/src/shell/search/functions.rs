//! The functions around few matches, whole: the text that a reader most likely asks for next.
//!
//! In sessions, the function is read next after half of the searches that match in a single one, and after a
//! fifth of those that match in two or three. So a single function may be long, and of several only short
//! ones are shown: longer ones cost more than they save (eval/shell).
//!
//! Invariant: a function is shown from its first line to its last one, and no line is shown twice.

use docent_core::text::reveal::reveal_part;

use super::files::{MatchedFile, to_usize};
use crate::compact::{line_range, number_lines};
use crate::markdown::length;
use crate::settings::ShellSettings;

/// Characters of a function that is the only one with matches.
const MAX_SINGLE_CHARS: usize = 2_000;

/// Characters of each of several functions, and of all together.
const MAX_CHARS_OF_EACH: usize = 500;
const MAX_CHARS_OF_ALL: usize = 1_000;

/// A function that is shown whole.
pub(super) struct WholeFunction {
    /// Positions of its file and of its definition there.
    pub(super) file: usize,
    pub(super) definition: usize,
    /// Its heading and its lines, those that match with their numbers.
    pub(super) text: String,
}

/// The functions to show whole: none if more than a few parts of files have matches.
pub(super) fn choose_functions(files: &[MatchedFile<'_>], settings: ShellSettings) -> Vec<WholeFunction> {
    let Some(parts) = matching_parts(files, settings.whole_functions) else {
        return Vec::new();
    };
    let is_single = parts.len() == 1;
    let mut left = if is_single {
        MAX_SINGLE_CHARS
    } else {
        MAX_CHARS_OF_ALL
    };
    let most = if is_single {
        MAX_SINGLE_CHARS
    } else {
        MAX_CHARS_OF_EACH
    };
    let mut chosen: Vec<WholeFunction> = Vec::new();
    // The longest first: it may enclose others.
    let mut order: Vec<(usize, usize)> = parts.into_iter().flatten().collect();
    order.sort_by_key(|(file, at)| {
        let one = &files[*file].definitions[*at];
        std::cmp::Reverse(one.last - one.first)
    });
    for (file, definition) in order {
        let one = &files[file].definitions[definition];
        let is_inside = |other: &WholeFunction| {
            let around = &files[file].definitions[other.definition];
            other.file == file && around.first <= one.first && one.last <= around.last
        };
        if one.last + 1 - one.first > settings.function_lines || chosen.iter().any(is_inside) {
            continue;
        }
        let Some(text) = show_whole(&files[file], definition) else {
            continue;
        };
        let chars = length(&text);
        if chars <= most.min(left) {
            left -= chars;
            chosen.push(WholeFunction {
                file,
                definition,
                text,
            });
        }
    }
    chosen.sort_by_key(|one| (one.file, files[one.file].definitions[one.definition].first));
    chosen
}

/// The innermost definitions around the matches, each once, as positions of files and definitions. Matches of
/// a file outside of all definitions are one part. `None` if there are more than `most` parts.
fn matching_parts(files: &[MatchedFile<'_>], most: usize) -> Option<Vec<Option<(usize, usize)>>> {
    let mut parts = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let mut has_outside = false;
        for line in file.matched_lines() {
            let part = file.definition_around(to_usize(line.number)).map(|one| (at, one));
            let is_new = if part.is_none() {
                !std::mem::replace(&mut has_outside, true)
            } else {
                !parts.contains(&part)
            };
            if is_new {
                parts.push(part);
            }
            if parts.len() > most {
                return None;
            }
        }
    }
    Some(parts)
}

/// The heading and all lines of a definition. `None` if the file has fewer lines.
fn show_whole(file: &MatchedFile<'_>, definition: usize) -> Option<String> {
    let one = &file.definitions[definition];
    let lines: Vec<&str> = file.text.lines().collect();
    let shown = lines.get(one.first.checked_sub(1)?..one.last)?;
    // The line end keeps an empty last line.
    let text = reveal_part(&shown.join("\n")).into_owned() + "\n";
    Some(format!(
        "{} {}\n{}",
        line_range(one.first, one.last),
        reveal_part(&one.name),
        number_lines(one.first, &text, |line| file.has_match_at(line))
    ))
}

/// The functions below the names of their files.
pub(super) fn write_functions(functions: &[WholeFunction], files: &[MatchedFile<'_>]) -> String {
    let mut text = String::new();
    let mut last = None;
    for one in functions {
        if last != Some(one.file) {
            text += &format!("{}\n", reveal_part(files[one.file].name));
            last = Some(one.file);
        }
        text += &one.text;
    }
    text
}

/// The lines of the definitions around few matches that are not shown whole, for a reader who wants to see
/// more of them.
pub(super) fn name_ranges(functions: &[WholeFunction], files: &[MatchedFile<'_>]) -> String {
    const MAX_RANGES: usize = 5;
    let mut ranges: Vec<String> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        for line in file.matched_lines() {
            let Some(definition) = file.definition_around(to_usize(line.number)) else {
                continue;
            };
            let one = &file.definitions[definition];
            let is_shown = |whole: &WholeFunction| {
                let around = &files[whole.file].definitions[whole.definition];
                whole.file == at && (around.first..=around.last).contains(&one.first)
            };
            let place = if files.len() > 1 {
                format!("{}:", reveal_part(file.name))
            } else {
                String::new()
            };
            let range = format!(
                "{place}{} {}",
                line_range(one.first, one.last),
                reveal_part(&one.name)
            );
            if !functions.iter().any(is_shown) && !ranges.contains(&range) {
                ranges.push(range);
            }
            if ranges.len() > MAX_RANGES {
                return String::new();
            }
        }
    }
    if ranges.is_empty() {
        return String::new();
    }
    format!("in {}\n", ranges.join(", "))
}
