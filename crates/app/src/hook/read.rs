//! The first read of a whole large source file: its head, its outline, and how to read on.
//!
//! Left out: reads of a range, repeated reads, documents and data, files that docent does not outline, and
//! all files outside of the project or blocked in it.
//!
//! Invariant: the same read, repeated in the session, gives the whole file. Where the first read cannot be
//! remembered, it is not changed.

use std::path::{Path, PathBuf};

use docent_core::chunk::has_grammar;
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_core::shell::Request;
use docent_core::shell::line::CommandLine;
use docent_core::symbols::SymbolKind;
use docent_engine::files::Root;
use docent_engine::hook_reads::remember_read;
use docent_engine::hook_searches::{self, RecentSearches};
use docent_engine::symbols::{FoundSymbol, outline_file};
use serde_json::{Map, Value};

use super::event::{HookAnswer, HookEvent};
use super::{Lookup, settings};
use crate::compact::file::outline_header;
use crate::gain::GainCounter;
use crate::settings::ReadHook;
use crate::shell::search::searched_names;
use crate::tools::file_compact::show_outline_around;
use crate::tools::file_text::decode_text;

/// Lines of the head: up to the first definition, but not fewer or more than these.
const MIN_HEAD_LINES: usize = 40;
const MAX_HEAD_LINES: usize = 120;

/// Characters of the outline.
const MAX_OUTLINE_CHARS: usize = 4_000;

/// A larger file is left alone: it takes longer to outline than a hook may.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;

/// Fields of a read that ask for a part.
const RANGE_FIELDS: [&str; 3] = ["offset", "limit", "pages"];

pub(super) fn answer(event: &HookEvent, input: &Map<String, Value>, variable: Lookup) -> Option<HookAnswer> {
    if event.session.is_empty() || RANGE_FIELDS.iter().any(|field| input.contains_key(*field)) {
        return None;
    }
    let path = PathBuf::from(input.get("file_path")?.as_str()?);
    if !path.is_absolute() {
        return None;
    }
    let settings = settings(variable)?;
    let ReadHook::Outline { max_lines } = settings.read_hook else {
        return None;
    };
    let path = settings.root.relative(&path)?;
    if !is_outlined(&path) {
        return None;
    }
    let text = decode_text(settings.root.read(&path, MAX_FILE_BYTES).ok()?.bytes)?;
    if text.lines().count() <= max_lines {
        return None;
    }
    let folder = settings.folder.as_deref()?;
    let searches = RecentSearches::read(folder, &event.session);
    let head = describe_head(&settings.root, &path, &text, &|name| searches.has(name))?;
    if !remember_read(folder, &event.session, &path).ok()? {
        return None;
    }
    let head_bytes: usize = text.split_inclusive('\n').take(head.lines).map(str::len).sum();
    let shown = (head_bytes + head.context.len()) as u64;
    GainCounter::new(&variable).record_answer("Read", text.len() as u64, shown);
    let mut input = input.clone();
    input.insert("limit".to_owned(), head.lines.into());
    Some(HookAnswer::ReadPart {
        input,
        context: head.context,
    })
}

/// Remembers the names that a shell line searches for, if reads of this project are answered by outlines.
pub(super) fn remember_searches(event: &HookEvent, line: &str, variable: Lookup) {
    if event.session.is_empty() {
        return;
    }
    let Some(read) = CommandLine::read(line) else {
        return;
    };
    let mut names = Vec::new();
    for command in &read.commands {
        if let Request::Search(request) = &command.request {
            names.extend(searched_names(request));
        }
    }
    if names.is_empty() {
        return;
    }
    let folder = settings(variable)
        .filter(|settings| settings.read_hook != ReadHook::Off)
        .and_then(|settings| settings.folder);
    if let Some(folder) = folder {
        let names = names.iter().map(|one| one.name.as_str());
        // An outline without focus is an answer too.
        let _ = hook_searches::remember_searches(&folder, &event.session, names);
    }
}

/// Whether a file of this name is code that docent outlines.
pub(crate) fn is_outlined(path: &RepoPath) -> bool {
    let is_prose = matches!(
        FileRole::of(path),
        FileRole::Docs | FileRole::Lock | FileRole::Translation
    );
    let extension = Path::new(path.as_str())
        .extension()
        .and_then(|extension| extension.to_str());
    !is_prose
        && extension.is_some_and(Language::is_source_code_extension)
        && has_grammar(Language::of_path(path, ""))
}

/// The part of a large file that is read at first.
pub(crate) struct FileHead {
    pub(crate) lines: usize,
    /// What the model is told in place of the rest.
    pub(crate) context: String,
}

/// The head of a file and its outline, unfolded around the names in focus. `None` for a file without
/// definitions.
pub(crate) fn describe_head(
    root: &Root,
    path: &RepoPath,
    text: &str,
    is_in_focus: &dyn Fn(&str) -> bool,
) -> Option<FileHead> {
    let outline = outline_file(root, path, text);
    let any = outline
        .definitions
        .first()
        .filter(|_| outline.unparsed.is_none())?;
    let is_code = |one: &&FoundSymbol| {
        !matches!(
            one.kind,
            SymbolKind::Field | SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Module
        )
    };
    let first = outline.definitions.iter().find(is_code).unwrap_or(any);
    let before = (first.first_line as usize).saturating_sub(1);
    let lines = before.clamp(MIN_HEAD_LINES, MAX_HEAD_LINES);
    let header = outline_header(path.as_str(), text.lines().count());
    let context = format!(
        "Only lines 1-{lines} were read. What the file has, with the lines of each definition:\n{}\nRead a range with \
         offset and limit. The same Read once more gives the whole file.",
        show_outline_around(&outline, &header, is_in_focus, MAX_OUTLINE_CHARS)
    );
    Some(FileHead { lines, context })
}
