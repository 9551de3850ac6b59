//! The lines of a search, shortened: each file once, its matches below the definitions around them.
//!
//! Few lines are printed as the program prints them. Functions around few matches are shown whole, below the
//! lines or in their place, because a reader asks for them next.
//!
//! Invariant: from 300 characters on, the matches take no more room than the program's own lines.

use std::borrow::Cow;
use std::collections::BTreeMap;

use docent_engine::commands::search::LineSearch;

use super::context::list_with_context;
use super::counts::{count_rest, list_counts};
use super::definitions::name_definitions;
use super::files::{MatchedFile, read_files};
use super::functions::{WholeFunction, choose_functions, name_ranges, write_functions};
use super::list::{LineList, list_matches};
use super::plain::PlainOutput;
use crate::compact::count_of;
use crate::markdown::length;
use crate::shell::ShellContext;

/// An answer up to this size is printed as the program prints it.
const MAX_PLAIN_CHARS: usize = 300;

/// Characters of the lines about definitions in a short answer.
const MAX_DEFINITION_CHARS: usize = 300;

/// The entries whose text may be shown.
pub(super) fn without_hidden(output: &PlainOutput<'_>, selected: &[usize]) -> Vec<usize> {
    selected
        .iter()
        .copied()
        .filter(|at| is_shown(output, *at))
        .collect()
}

/// Output for machines: all entries as the program prints them, and the number of those that may not be
/// shown.
pub(super) fn render_exact(output: &PlainOutput<'_>, selected: &[usize]) -> Vec<u8> {
    let (shown, hidden): (Vec<usize>, Vec<usize>) =
        selected.iter().copied().partition(|at| is_shown(output, *at));
    let mut text = output.join(&shown);
    text.extend(count_hidden(output, &hidden).into_bytes());
    text
}

/// The answer for the selected entries.
pub(super) fn render(
    output: &PlainOutput<'_>,
    selected: &[usize],
    search: &LineSearch<'_>,
    context: &ShellContext,
) -> Vec<u8> {
    let (shown, hidden): (Vec<usize>, Vec<usize>) =
        selected.iter().copied().partition(|at| is_shown(output, *at));
    let mut text = render_shown(output, &shown, search, context);
    text.extend(count_hidden(output, &hidden).into_bytes());
    text
}

fn is_shown(output: &PlainOutput<'_>, entry: usize) -> bool {
    let entry = &output.entries[entry];
    entry.line.is_none() || entry.file.is_none_or(|file| !output.files[file].is_hidden)
}

fn render_shown(
    output: &PlainOutput<'_>,
    selected: &[usize],
    search: &LineSearch<'_>,
    context: &ShellContext,
) -> Vec<u8> {
    if selected.is_empty() || !selected.is_sorted() {
        return cut_plain(output, selected, context.budget);
    }
    let plain = usize::try_from(output.count_chars(selected)).unwrap_or(usize::MAX);
    let around = output.request.context;
    if around != (0, 0) && plain <= MAX_PLAIN_CHARS {
        return output.join(selected);
    }
    let files = read_files(output, selected, context);
    let notices = output.join(&notices(output, selected));
    if around != (0, 0) {
        // Within the budget nothing is cut: the names of files are left out, or nothing is.
        let is_short = plain <= context.budget;
        let room = if is_short { usize::MAX } else { context.budget };
        return match render_context(&files, around, room) {
            Some(text) if is_short && length(&text) >= plain => output.join(selected),
            Some(text) => append(text, &notices),
            None => {
                let list = list_matches(&files, &[], search, list_room(plain).min(context.budget));
                append(write_list(&files, list, "", true), &notices)
            }
        };
    }
    let functions = choose_functions(&files, context.project.shell_settings());
    let write_plain = |definitions: &str| {
        let mut text = definitions.as_bytes().to_vec();
        text.extend(cut_plain(output, selected, context.budget));
        if plain <= MAX_PLAIN_CHARS {
            text.extend(name_ranges(&functions, &files).into_bytes());
        }
        text.extend(write_functions(&functions, &files).into_bytes());
        text
    };
    let define = |room: usize, shown: &[WholeFunction], is_printed: bool| {
        name_definitions(output.request, &files, context, room, |file, line| {
            is_printed
                || shown.iter().any(|one| {
                    let range = &files[one.file].definitions[one.definition];
                    files[one.file].name == file && (range.first..=range.last).contains(&line)
                })
        })
    };
    if plain <= MAX_PLAIN_CHARS {
        return write_plain(&define(MAX_DEFINITION_CHARS, &functions, true));
    }
    let room = list_room(plain).min(context.budget);
    let short = write_list(&files, list_matches(&files, &[], search, room), "", false);
    let left = plain.saturating_sub(length(&short) + notices.len());
    if left == 0 && plain <= context.budget {
        return write_plain("");
    }
    let definitions = define(left, &functions, false);
    let list = if functions.is_empty() {
        short.split_once('\n').map_or(String::new(), |(heading, rest)| {
            format!("{heading}\n{definitions}{rest}")
        })
    } else {
        write_list(
            &files,
            list_matches(&files, &functions, search, room),
            &definitions,
            false,
        )
    };
    append(list, &notices)
}

/// The matches with their context in at most `room` characters. `None` if the matches alone do not fit.
fn render_context(files: &[MatchedFile<'_>], around: (usize, usize), room: usize) -> Option<String> {
    let heading = heading(files).replace('\n', ", with context\n");
    let list = list_with_context(files, around, room.saturating_sub(length(&heading)))?;
    Some(heading + &list.text + &count_rest(&list.left_out))
}

/// A list below its heading, with the number of lines that it leaves out.
fn write_list(
    files: &[MatchedFile<'_>],
    list: LineList<'_>,
    definitions: &str,
    counts_context: bool,
) -> String {
    let mut left_out: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, lines) in list.left_out {
        *left_out.entry(name).or_default() += lines;
    }
    if counts_context {
        for file in files {
            let context = (file.lines.len() - file.matches) as u64;
            if context > 0 {
                *left_out.entry(file.name).or_default() += context;
            }
        }
    }
    let left_out: Vec<(&str, u64)> = left_out.into_iter().collect();
    heading(files) + definitions + &list.text + &count_rest(&left_out)
}

fn heading(files: &[MatchedFile<'_>]) -> String {
    let matches = files.iter().map(|file| file.matches).sum();
    format!(
        "{} in {}\n",
        count_of(matches, "match", "matches"),
        count_of(files.len(), "file", "files")
    )
}

fn append(text: String, notices: &[u8]) -> Vec<u8> {
    let mut text = text.into_bytes();
    text.extend_from_slice(notices);
    text
}

/// Characters of the list for an output of `plain` characters: all of a short one, a part of a long one.
fn list_room(plain: usize) -> usize {
    const MAX_WHOLE_CHARS: usize = 1_000;
    const MIN_LIST_CHARS: usize = 500;
    const SHARE: usize = 10;
    if plain <= MAX_WHOLE_CHARS {
        plain
    } else {
        MIN_LIST_CHARS + (plain - MAX_WHOLE_CHARS) / SHARE
    }
}

/// The notices about binary files, and messages.
fn notices(output: &PlainOutput<'_>, selected: &[usize]) -> Vec<usize> {
    let is_notice = |at: &usize| output.entries[*at].line.is_none() && !output.is_separator(*at);
    selected.iter().copied().filter(is_notice).collect()
}

/// The lines as the program prints them, as far as they fit, and the number of the others by file.
fn cut_plain(output: &PlainOutput<'_>, selected: &[usize], budget: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest: BTreeMap<usize, u64> = BTreeMap::new();
    let mut is_full = false;
    for &at in selected {
        let before = text.len();
        if !is_full {
            output.write(at, &mut text);
            is_full = text.len() > budget;
            if !is_full {
                text.push(b'\n');
                continue;
            }
            text.truncate(before);
        }
        if let Some(file) = output.entries[at].file {
            *rest.entry(file).or_default() += 1;
        }
    }
    let names = name_files(output, &rest);
    let counts = borrow_names(&names);
    text.extend(count_rest(&counts).into_bytes());
    text
}

/// The numbers of lines by the names of their files, as far as these are UTF-8.
fn name_files<'a>(output: &'a PlainOutput<'_>, files: &BTreeMap<usize, u64>) -> Vec<(Cow<'a, str>, u64)> {
    let name = |file: &usize| String::from_utf8_lossy(&output.files[*file].name);
    files.iter().map(|(file, lines)| (name(file), *lines)).collect()
}

fn borrow_names<'a>(names: &'a [(Cow<'_, str>, u64)]) -> Vec<(&'a str, u64)> {
    names
        .iter()
        .map(|(name, lines)| (name.as_ref(), *lines))
        .collect()
}

/// Counts the lines of files that may not be shown.
fn count_hidden(output: &PlainOutput<'_>, hidden: &[usize]) -> String {
    let mut files: BTreeMap<usize, u64> = BTreeMap::new();
    for &at in hidden {
        if let Some(file) = output.entries[at].file {
            *files.entry(file).or_default() += 1;
        }
    }
    if files.is_empty() {
        return String::new();
    }
    let names = name_files(output, &files);
    let counts = borrow_names(&names);
    format!(
        "not shown, because docent does not show such files: {}\n",
        list_counts(&counts)
    )
}
