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
use docent_engine::files::Root;
use docent_engine::hook_reads::remember_read;
use docent_engine::symbols::outline_file;
use serde_json::{Map, Value};

use super::event::{HookAnswer, HookEvent};
use super::{Lookup, settings};
use crate::compact::file::outline_header;
use crate::gain::GainCounter;
use crate::settings::ReadHook;
use crate::tools::file_compact::show_file_outline;
use crate::tools::file_text::decode_text;

/// Lines of the head.
pub(crate) const HEAD_LINES: usize = 120;

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
    let context = describe_head(&settings.root, &path, &text)?;
    if !remember_read(settings.folder.as_deref()?, &event.session, &path).ok()? {
        return None;
    }
    let head: usize = text.split_inclusive('\n').take(HEAD_LINES).map(str::len).sum();
    let shown = (head + context.len()) as u64;
    GainCounter::new(&variable).record_answer("Read", text.len() as u64, shown);
    let mut input = input.clone();
    input.insert("limit".to_owned(), HEAD_LINES.into());
    Some(HookAnswer::ReadPart { input, context })
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

/// What the model is told in place of the rest of a file. `None` for a file without definitions.
pub(crate) fn describe_head(root: &Root, path: &RepoPath, text: &str) -> Option<String> {
    let outline = outline_file(root, path, text);
    if outline.unparsed.is_some() || outline.definitions.is_empty() {
        return None;
    }
    let header = outline_header(path.as_str(), text.lines().count());
    Some(format!(
        "Only lines 1-{HEAD_LINES} were read. What the file has, with the lines of each definition:\n{}\nRead a range \
         with offset and limit. The same Read once more gives the whole file.",
        show_file_outline(&outline, &header, MAX_OUTLINE_CHARS)
    ))
}
