//! The lines of a search, shortened: each file once, its matches below the definitions around them.
//!
//! Few lines are printed as the program prints them. Below them, or in their place, the functions that they are
//! in are shown whole if they are few and short, because a reader asks for them next.
//!
//! Invariant: from 300 characters on, the matches take no more room than the program's own lines.

use std::borrow::Cow;
use std::collections::BTreeMap;

use docent_core::language::Language;
use docent_core::role::FileRole;
use docent_core::text::reveal::reveal_part;
use docent_engine::commands::lines::{LineKind, SearchedFile};
use docent_engine::commands::search::LineSearch;

use super::counts::count_rest;
use super::plain::PlainOutput;
use crate::compact::count_of;
use crate::compact::grep::{GrepAnswer, GrepFile, GrepMatch, list_only, whole_definitions};
use crate::markdown::length;
use crate::shell::ShellContext;
use crate::tools::context::grep::enclosing_definitions;
use crate::tools::file_text::decode_text;

/// An answer up to this size is printed as the program prints it.
const MAX_PLAIN_CHARS: u64 = 300;

/// Characters of whole functions.
const MAX_FUNCTION_CHARS: usize = 2_000;

/// Files whose matches are read for a shortened answer. The others are counted.
const MAX_READ_FILES: usize = 40;

/// Larger files are shown without definitions.
const MAX_FILE_BYTES: usize = 4 << 20;

/// Characters of a line that is shown around its match.
const MAX_LINE_CHARS: usize = 160;

/// The entries whose text may be shown.
pub(super) fn without_hidden(output: &PlainOutput<'_>, selected: &[usize]) -> Vec<usize> {
    selected
        .iter()
        .copied()
        .filter(|at| is_shown(output, *at))
        .collect()
}

/// Output for machines: all entries as the program prints them, and the number of those that may not be shown.
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
    let plain_chars = output.count_chars(selected);
    let has_context = output.request.context != (0, 0);
    let is_sorted = selected.is_sorted();
    let files = read_files(output, selected, search, context);
    let answer = GrepAnswer {
        pattern: "",
        total: files.iter().map(|file| file.total).sum(),
        files_searched: 0,
        context_lines: 0,
        files,
        unread: Vec::new(),
        notices: &[],
        budget: context.budget,
    };
    if plain_chars <= MAX_PLAIN_CHARS || has_context || !is_sorted {
        let mut text = cut_plain(output, selected, context.budget);
        if !has_context && is_sorted && plain_chars <= context.budget as u64 {
            text.extend(whole_definitions(&answer, MAX_FUNCTION_CHARS).into_bytes());
        }
        return text;
    }
    let plain = usize::try_from(plain_chars).unwrap_or(usize::MAX);
    let room = list_room(plain).min(context.budget);
    let list = list_only(&answer, room, 0);
    if list.counted.is_empty() && length(&list.text) >= plain {
        let mut text = cut_plain(output, selected, context.budget);
        text.extend(whole_definitions(&answer, MAX_FUNCTION_CHARS).into_bytes());
        return text;
    }
    let shown = list_only(&answer, room, MAX_FUNCTION_CHARS);
    let mut text = format!(
        "{} in {}\n",
        count_of(
            usize::try_from(answer.total).unwrap_or(usize::MAX),
            "match",
            "matches"
        ),
        count_of(answer.files.len(), "file", "files")
    );
    text += &shown.text;
    text += &count_rest(&shown.counted);
    let mut text = text.into_bytes();
    text.extend(output.join(&notices(output, selected)));
    text
}

/// Characters of the list for an output of `plain` characters: all of a short one, little more of a long one.
fn list_room(plain: usize) -> usize {
    const WHOLE_CHARS: usize = 1_000;
    const SHARE: usize = 10;
    if plain <= WHOLE_CHARS {
        plain
    } else {
        WHOLE_CHARS + (plain - WHOLE_CHARS) / SHARE
    }
}

/// The notices about binary files, and messages.
fn notices(output: &PlainOutput<'_>, selected: &[usize]) -> Vec<usize> {
    let is_notice = |at: &usize| output.entries[*at].line.is_none();
    selected.iter().copied().filter(is_notice).collect()
}

/// The lines as the program prints them, as far as they fit, and the number of the others by file.
fn cut_plain(output: &PlainOutput<'_>, selected: &[usize], budget: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest: BTreeMap<usize, u64> = BTreeMap::new();
    let mut is_full = false;
    for &at in selected {
        let line = output.text(at);
        is_full |= text.len() + line.len() > budget;
        match output.entries[at].file {
            Some(file) if is_full => *rest.entry(file).or_default() += 1,
            _ if is_full => {}
            _ => {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
        }
    }
    let names: Vec<(Cow<'_, str>, u64)> = rest
        .iter()
        .map(|(file, lines)| (String::from_utf8_lossy(&output.files[*file].name), *lines))
        .collect();
    let counts: Vec<(&str, u64)> = names
        .iter()
        .map(|(name, lines)| (name.as_ref(), *lines))
        .collect();
    text.extend(count_rest(&counts).into_bytes());
    text
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
    let counts: Vec<String> = files
        .iter()
        .map(|(file, lines)| count(&output.files[*file], *lines))
        .collect();
    format!(
        "not shown, because docent does not show such files: {}\n",
        counts.join(", ")
    )
}

fn count(file: &SearchedFile, lines: u64) -> String {
    format!("{} {lines}", reveal_part(&String::from_utf8_lossy(&file.name)))
}

/// The files of the selected lines with their matches and definitions, code before tests before the rest.
fn read_files<'a>(
    output: &'a PlainOutput<'_>,
    selected: &[usize],
    search: &LineSearch<'_>,
    context: &ShellContext,
) -> Vec<GrepFile<'a>> {
    let mut by_file: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &at in selected {
        if let Some(file) = output.entries[at].file {
            by_file.entry(file).or_default().push(at);
        }
    }
    let mut ordered: Vec<(usize, Vec<usize>)> = by_file.into_iter().collect();
    ordered.sort_by_key(|(file, _)| order_of(&output.files[*file], context));
    ordered
        .iter()
        .enumerate()
        .map(|(rank, (file, entries))| {
            let file = &output.files[*file];
            let lines = entries.iter().filter_map(|at| output.entries[*at].line);
            let matches: Vec<GrepMatch> = lines
                .filter(|line| line.kind == LineKind::Match)
                .map(|line| GrepMatch {
                    line: usize::try_from(line.number).unwrap_or(usize::MAX),
                    text: cut_around(&line.text, search),
                })
                .collect();
            let path = context.project.shown.project_path(&file.path);
            let text = match &path {
                Some(_) if rank < MAX_READ_FILES => read_text(file),
                _ => String::new(),
            };
            let language = path
                .as_ref()
                .map_or(Language::PlainText, |path| Language::of_file(path, &text));
            let definitions = path.filter(|_| !text.is_empty()).map_or_else(Vec::new, |path| {
                enclosing_definitions(&context.project.root, &path, &text)
            });
            GrepFile {
                path: std::str::from_utf8(&file.name).unwrap_or("(a name that is not UTF-8)"),
                total: matches.len() as u64,
                language,
                text,
                matches,
                definitions,
            }
        })
        .collect()
}

fn read_text(file: &SearchedFile) -> String {
    let content = std::fs::read(&file.path).unwrap_or_default();
    if content.len() > MAX_FILE_BYTES {
        return String::new();
    }
    decode_text(content).unwrap_or_default()
}

/// Code, then tests, then prose and configuration, then files that nobody edits.
fn order_of(file: &SearchedFile, context: &ShellContext) -> u8 {
    let Some(path) = context.project.shown.project_path(&file.path) else {
        return 4;
    };
    match FileRole::of(&path) {
        FileRole::Entry | FileRole::Core => 0,
        FileRole::Test => 1,
        FileRole::Docs | FileRole::Config => 2,
        _ => 3,
    }
}

/// A line without its indentation, cut around its match if it is long.
fn cut_around(line: &[u8], search: &LineSearch<'_>) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches('\r');
    if length(text) <= MAX_LINE_CHARS {
        return text.to_owned();
    }
    let start = search.find_in(line).map_or(0, |(start, _)| start);
    let before = text.get(..start).map_or(0, length);
    let from = before.saturating_sub(MAX_LINE_CHARS / 4);
    let cut: String = text.chars().skip(from).take(MAX_LINE_CHARS).collect();
    let has_more = length(text) > from + MAX_LINE_CHARS;
    let (begin, end) = (if from > 0 { "…" } else { "" }, if has_more { "…" } else { "" });
    format!("{begin}{cut}{end}")
}
