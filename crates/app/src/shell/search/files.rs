//! The files with selected lines, and the definitions around these.
//!
//! Parsing is most of the work of an answer, so that only as many bytes are parsed as are likely to be shown;
//! lines of all other files are listed without definitions.
//!
//! Invariant: each selected line is in one file, and the files are in the order in which they are shown:
//! code, tests, prose and configuration, the rest, and in each of these first the files that define a
//! searched name.

use std::collections::BTreeMap;

use docent_core::chunk::{ChunkKind, Outline, has_grammar};
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_core::symbols::SymbolKind;
use docent_engine::commands::lines::{FoundLine, FoundLineKind};
use docent_engine::symbols::DefinitionLines;

use super::names::{looks_like_definition, searched_names};
use super::plain::PlainOutput;
use crate::shell::ShellContext;
use crate::tools::file_text::decode_text;

/// Bytes of the files whose definitions are looked up. Lines of the others are listed without.
const MAX_PARSED_BYTES: usize = 40 << 10;

/// A file may be larger if it is the only one, or one of two.
const MAX_BYTES_OF_FEW: usize = 200 << 10;
const MAX_FEW_FILES: usize = 2;

/// Languages that are parsed if there are more files. Compiling the queries of a language takes as long as
/// parsing files of this size.
const MAX_LANGUAGES_OF_MANY: usize = 1;

/// Files that are parsed. Further ones are rarely in an answer.
const MAX_PARSED_FILES: usize = 12;

/// From so many bytes on, opening the index takes less time than parsing.
const MIN_STORED_BYTES: usize = 16 << 10;

/// Lines of a file that are tested for the definition of a searched name.
const MAX_TESTED_LINES: usize = 200;

/// Lines of minified code are longer on average.
const MAX_AVERAGE_LINE_BYTES: usize = 300;

/// What a file is, and whether it lacks a definition of a searched name. The lowest is shown first.
type FileOrder = (u8, bool);

/// A file with selected lines.
pub(super) struct MatchedFile<'a> {
    /// As the program prints it.
    pub(super) name: &'a str,
    /// In their order: lines that match, and the context that was asked for.
    pub(super) lines: Vec<&'a FoundLine>,
    /// Number of lines that match.
    pub(super) matches: usize,
    /// The whole text; empty if it was not read.
    pub(super) text: String,
    /// The definitions that have a body, the enclosing ones first.
    pub(super) definitions: Vec<EnclosingRange>,
}

/// A definition of a file that can enclose lines.
pub(super) struct EnclosingRange {
    pub(super) first: usize,
    pub(super) last: usize,
    /// The line that has its name.
    pub(super) name_line: usize,
    /// With its scope: `Row.render`.
    pub(super) name: String,
}

impl MatchedFile<'_> {
    /// The lines that match.
    pub(super) fn matched_lines(&self) -> impl Iterator<Item = &FoundLine> {
        let lines = self.lines.iter().copied();
        lines.filter(|line| line.kind == FoundLineKind::Match)
    }

    pub(super) fn has_match_at(&self, line: usize) -> bool {
        self.matched_lines()
            .any(|matched| to_usize(matched.number) == line)
    }

    /// The position of the innermost definition around a line.
    pub(super) fn definition_around(&self, line: usize) -> Option<usize> {
        let around = self.definitions.iter().enumerate();
        let around = around.filter(|(_, one)| (one.first..=one.last).contains(&line));
        around
            .min_by_key(|(_, one)| one.last - one.first)
            .map(|(at, _)| at)
    }

    /// Whether all matches are in a module of tests beside the code.
    fn is_test_only(&self) -> bool {
        let is_tests = |one: &EnclosingRange| one.name.starts_with("tests.") || one.name.starts_with("test.");
        let mut tests = self.definitions.iter().filter(|one| is_tests(one)).peekable();
        if tests.peek().is_none() {
            return false;
        }
        let tests: Vec<&EnclosingRange> = tests.collect();
        self.matched_lines().all(|line| {
            let number = to_usize(line.number);
            tests.iter().any(|one| (one.first..=one.last).contains(&number))
        })
    }
}

/// The files of the selected entries.
pub(super) fn read_files<'a>(
    output: &PlainOutput<'a>,
    selected: &[usize],
    context: &ShellContext,
) -> Vec<MatchedFile<'a>> {
    let mut by_file: BTreeMap<usize, Vec<&'a FoundLine>> = BTreeMap::new();
    for &at in selected {
        let entry = &output.entries[at];
        if let (Some(file), Some(line)) = (entry.file, entry.line) {
            by_file.entry(file).or_default().push(line);
        }
    }
    let names = searched_names(output.request);
    let mut ordered: Vec<(FileOrder, Option<RepoPath>, MatchedFile<'a>)> = by_file
        .into_iter()
        .map(|(file, lines)| {
            let file = &output.files[file];
            let path = context.project.shown.project_path(&file.path);
            let is_match = |line: &&&FoundLine| line.kind == FoundLineKind::Match;
            let matched = MatchedFile {
                name: std::str::from_utf8(&file.name).unwrap_or("(a name that is not UTF-8)"),
                matches: lines.iter().filter(is_match).count(),
                lines,
                text: String::new(),
                definitions: Vec::new(),
            };
            let defines = |line: &&FoundLine| looks_like_definition(&line.text, &names);
            let has_definition =
                !names.is_empty() && matched.lines.iter().take(MAX_TESTED_LINES).any(defines);
            ((order_of(path.as_ref()), !has_definition), path, matched)
        })
        .collect();
    ordered.sort_by_key(|(order, ..)| *order);
    let mut parsed = 0;
    let mut languages: Vec<Language> = Vec::new();
    let is_few = ordered.len() <= MAX_FEW_FILES;
    for (_, path, file) in ordered.iter_mut().take(MAX_PARSED_FILES) {
        let most = if is_few {
            MAX_BYTES_OF_FEW
        } else {
            MAX_PARSED_BYTES
        };
        let room = most.saturating_sub(parsed);
        let is_read = |path: &&RepoPath| {
            let language = Language::of_path(path, "");
            let is_known = languages.contains(&language);
            room > 0
                && has_grammar(language)
                && (is_few || is_known || languages.len() < MAX_LANGUAGES_OF_MANY)
        };
        if let Some(path) = path.as_ref().filter(is_read) {
            languages.push(Language::of_path(path, ""));
            file.text = read_text(path, room, context);
            parsed += file.text.len();
            let stored = (parsed > MIN_STORED_BYTES).then(|| context.project.stored_symbols());
            file.definitions = stored
                .flatten()
                .and_then(|stored| stored.outline(path, &file.text))
                .map_or_else(|| parse_definitions(path, &file.text), keep_enclosing);
        }
    }
    let mut files: Vec<MatchedFile<'a>> = ordered.into_iter().map(|(.., file)| file).collect();
    files.sort_by_key(MatchedFile::is_test_only);
    files
}

/// Code, then tests, then prose and configuration, then files that nobody edits.
fn order_of(path: Option<&RepoPath>) -> u8 {
    match path.map(FileRole::of) {
        Some(FileRole::Entry | FileRole::Core) => 0,
        Some(FileRole::Test) => 1,
        Some(FileRole::Docs | FileRole::Config) => 2,
        Some(_) => 3,
        None => 4,
    }
}

/// The text of a file, empty if it has more bytes than `room`.
fn read_text(path: &RepoPath, room: usize, context: &ShellContext) -> String {
    let content = context.project.root.read(path, room as u64);
    let text = content.ok().and_then(|content| decode_text(content.bytes));
    text.unwrap_or_default()
}

/// The definitions of the index that have a body.
fn keep_enclosing(stored: Vec<DefinitionLines>) -> Vec<EnclosingRange> {
    let with_body = stored.into_iter().filter(|one| {
        !matches!(
            one.kind,
            SymbolKind::Module | SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable
        )
    });
    with_body
        .map(|one| EnclosingRange {
            first: one.first,
            last: one.last,
            name_line: one.name_line,
            name: if one.scope.is_empty() {
                one.name
            } else {
                format!("{}.{}", one.scope, one.name)
            },
        })
        .collect()
}

/// The definitions that have a body, by a parse.
fn parse_definitions(path: &RepoPath, text: &str) -> Vec<EnclosingRange> {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    if text.is_empty() || text.len() / lines > MAX_AVERAGE_LINE_BYTES {
        return Vec::new();
    }
    let outline = Outline::of(Language::of_file(path, text), text);
    let definitions = outline.and_then(Result::ok).unwrap_or_default().definitions;
    let enclosing = definitions
        .into_iter()
        .filter(|one| !matches!(one.kind, ChunkKind::Module | ChunkKind::Block));
    enclosing
        .map(|one| EnclosingRange {
            first: one.first_line(),
            last: *one.lines().end(),
            name_line: one.line(),
            name: one.path,
        })
        .collect()
}

/// The number of a line as a position.
pub(super) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
