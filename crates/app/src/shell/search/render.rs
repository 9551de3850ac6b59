//! The lines of a search, shortened: each file once, its matches below the definitions around them.
//!
//! Few lines are printed as the program prints them. Below them, or in their place, the functions that they
//! are in are shown whole if they are few and short, because a reader asks for them next.
//!
//! Invariant: from 300 characters on, the matches take no more room than the program's own lines.

use std::borrow::Cow;
use std::collections::BTreeMap;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_core::shell::search::LineSearchRequest;
use docent_core::text::reveal::reveal_part;
use docent_engine::commands::lines::{FoundLineKind, SearchedFile};
use docent_engine::commands::search::LineSearch;

use super::counts::{count_rest, list_counts};
use super::plain::PlainOutput;
use crate::compact::grep::{GrepAnswer, GrepFile, GrepMatch, list_only, whole_definitions};
use crate::compact::{count_of, line_range};
use crate::markdown::length;
use crate::shell::ShellContext;
use crate::tools::context::grep::enclosing_definitions;
use crate::tools::file_text::decode_text;

/// An answer up to this size is printed as the program prints it.
const MAX_PLAIN_CHARS: u64 = 300;

/// Characters of whole functions. In sessions they are read next after a quarter of such searches, so that
/// longer ones cost more than they save.
const MAX_FUNCTION_CHARS: usize = 1_000;

/// Bytes of the files whose definitions are looked up. Lines of the others are listed without.
const MAX_PARSED_BYTES: usize = 80 << 10;

/// A first file may be larger: often it is the only one.
const MAX_FIRST_FILE_BYTES: usize = 200 << 10;

/// Definitions of the searched name that are named first.
const MAX_DEFINITIONS: usize = 2;

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
            let whole = whole_definitions(&answer, MAX_FUNCTION_CHARS);
            if plain_chars <= MAX_PLAIN_CHARS {
                text.extend(name_ranges(&answer.files, &whole).into_bytes());
            }
            text.extend(whole.into_bytes());
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
    text += &name_definitions(output.request, &answer.files);
    text += &shown.text;
    text += &count_rest(&shown.counted);
    let mut text = text.into_bytes();
    text.extend(output.join(&notices(output, selected)));
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

/// The lines of the definitions around few matches, for a reader who wants to see more of them than `whole`
/// has.
fn name_ranges(files: &[GrepFile<'_>], whole: &str) -> String {
    const MAX_RANGES: usize = 5;
    let mut ranges: Vec<String> = Vec::new();
    for file in files {
        for matched in &file.matches {
            let around = file
                .definitions
                .iter()
                .filter(|one| (one.first..=one.last).contains(&matched.line));
            let Some(one) = around.min_by_key(|one| one.last - one.first) else {
                continue;
            };
            let place = if files.len() > 1 {
                format!("{}:", reveal_part(file.path))
            } else {
                String::new()
            };
            let heading = format!("{} {}", line_range(one.first, one.last), reveal_part(&one.name));
            let is_shown = whole.lines().any(|line| line == heading);
            let range = format!("{place}{heading}");
            if !is_shown && !ranges.contains(&range) {
                ranges.push(range);
            }
        }
    }
    if ranges.is_empty() || ranges.len() > MAX_RANGES {
        return String::new();
    }
    format!("in {}\n", ranges.join(", "))
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
    let mut parsed = 0;
    let mut files: Vec<GrepFile<'a>> = ordered
        .iter()
        .map(|(file, entries)| {
            let file = &output.files[*file];
            let lines = entries.iter().filter_map(|at| output.entries[*at].line);
            let matches: Vec<GrepMatch> = lines
                .filter(|line| line.kind == FoundLineKind::Match)
                .map(|line| GrepMatch {
                    line: usize::try_from(line.number).unwrap_or(usize::MAX),
                    text: cut_around(&line.text, search),
                })
                .collect();
            let path = context.project.shown.project_path(&file.path);
            let text = path
                .as_ref()
                .map_or_else(String::new, |path| read_text(path, parsed, context));
            parsed += text.len();
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
        .collect();
    files.sort_by_key(|file| file.matches.iter().all(|one| is_in_test(file, one.line)));
    files
}

/// Whether a line is in a module of tests beside the code.
fn is_in_test(file: &GrepFile<'_>, line: usize) -> bool {
    file.definitions.iter().any(|one| {
        (one.first..=one.last).contains(&line)
            && (one.name.starts_with("tests.") || one.name.starts_with("test."))
    })
}

/// Where the searched name is defined, if the pattern is a name and its definition is among the matches.
fn name_definitions(request: &LineSearchRequest, files: &[GrepFile<'_>]) -> String {
    let [pattern] = request.patterns.as_slice() else {
        return String::new();
    };
    let name = ["\\b", "\\<", "\\>"]
        .iter()
        .fold(pattern.clone(), |name, mark| name.replace(mark, ""));
    if name.is_empty() || !name.chars().all(|char| char.is_alphanumeric() || char == '_') {
        return String::new();
    }
    let mut places = Vec::new();
    for file in files {
        for one in &file.definitions {
            let is_named = one.name.rsplit('.').next() == Some(name.as_str());
            if is_named && file.matches.iter().any(|matched| matched.line == one.name_line) {
                let range = line_range(one.first, one.last);
                places.push(format!(
                    "defined: {}:{range} {}\n",
                    reveal_part(file.path),
                    reveal_part(&one.name)
                ));
            }
        }
    }
    places.truncate(MAX_DEFINITIONS);
    places.concat()
}

/// The text of a file, empty if there is no room for it behind `parsed` bytes of others.
fn read_text(path: &RepoPath, parsed: usize, context: &ShellContext) -> String {
    let room = match parsed {
        0 => MAX_FIRST_FILE_BYTES,
        _ => MAX_PARSED_BYTES.saturating_sub(parsed),
    };
    let content = context.project.root.read(path, room as u64);
    content
        .ok()
        .and_then(|content| decode_text(content.bytes))
        .unwrap_or_default()
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
