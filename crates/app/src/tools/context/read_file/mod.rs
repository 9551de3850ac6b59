//! `read_file`: a text file with its language, module, role and last change, and the project files it
//! imports.
//!
//! Promise: `docs/behaviour.md`, `read_file`.

mod contract;
mod dependencies;

use std::time::{Duration, SystemTime};

use docent_core::language::Language;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_engine::files::FileError;
use docent_engine::sessions::SessionUse;
use docent_engine::symbols::outline_directory;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::markdown::length;
use crate::settings::AnswerForm;
use crate::tools::call::{Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_compact::{CompactRequest, read_compact, show_directory_outline};
use crate::tools::file_parts::{FilePart, PartSource};
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text, parse_path, refuse_file};
use crate::tools::symbols::{refuse_symbols, symbol_context};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str =
    "Read a text file or a part of it: lines, a symbol, an outline. Tracks access for context scoring.";

/// A call with dependencies reads many files, so the contract gives it more time before it is slow.
const MAX_TIME_WITH_DEPENDENCIES: Duration = Duration::from_secs(2);

pub(crate) fn tool() -> Tool {
    Tool::new("read_file", Group::Context, ABOUT, run)
        .answers::<contract::Output>()
        .per_minute(100)
        .slow_after(Duration::from_millis(500))
        .choose_slow_after(|arguments| {
            let with_dependencies = arguments.get("includeDeps") == Some(&Value::Bool(true));
            with_dependencies.then_some(MAX_TIME_WITH_DEPENDENCIES)
        })
        .cli("read", &["path"])
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// File path relative to project root
    #[schemars(length(min = 1))]
    path: String,
    /// Include level 1 dependencies (imports)
    #[serde(default)]
    include_deps: bool,
    /// Dependency tree depth
    #[serde(default = "default_depth")]
    #[schemars(range(min = 0, max = 1))]
    max_depth: u8,
    /// First line, counted from 1
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// Last line, inclusive
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
    // Of a definition. Its name says it; every client pays for a description.
    symbol: Option<String>,
    /// Lines, e.g. "10-20", "40-"
    ranges: Option<Vec<String>>,
    /// Definitions only; also of a directory
    outline: Option<bool>,
    /// Question; folds other lines
    focus: Option<String>,
    // An answer that needs it says what it is for.
    again: Option<bool>,
}

fn default_depth() -> u8 {
    1
}

/// A file that was read.
struct ReadFile {
    path: RepoPath,
    text: String,
    /// In bytes.
    size: u64,
    language: Language,
    /// When it was last changed. Only known in the contract form, which shows it.
    modified: Option<SystemTime>,
}

impl ReadFile {
    fn source<'a>(&'a self, call: &'a Call<'_>) -> PartSource<'a> {
        PartSource {
            root: &call.project.root,
            path: &self.path,
            text: &self.text,
        }
    }
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let part = FilePart::choose(
        args.symbol.as_deref(),
        args.ranges.as_deref(),
        args.outline.unwrap_or_default(),
        args.start_line.is_some() || args.end_line.is_some(),
    )?;
    if part == FilePart::Outline && matches!(args.path.as_str(), "." | "./") {
        return outline_project_directory(call, "");
    }
    let path = parse_path(&args.path)?;
    let content = match call.project.root.read(&path, MAX_FILE_BYTES) {
        Err(FileError::Directory) if part == FilePart::Outline => {
            return outline_project_directory(call, path.as_str());
        }
        content => content.map_err(|error| refuse_file(&error, &args.path, "Permission denied"))?,
    };
    let size = content.bytes.len() as u64;
    let modified = match call.form {
        // The time on disk of a file that is as committed is the time of the checkout.
        AnswerForm::Contract => {
            let git = &call.project.git;
            let committed = git.last_commit_time(&path, &content.bytes, call.deadline);
            committed.or(content.modified)
        }
        AnswerForm::Compact => None,
    };
    let text = decode_text(content.bytes).ok_or_else(|| {
        Failure::new(FailureKind::Invalid, "Not a text file")
            .about("path", &args.path)
            .details("the file is binary or not UTF-8")
            .hint("Use read_repo_file with encoding base64")
    })?;
    let file = ReadFile {
        language: Language::of_file(&path, &text),
        path,
        text,
        size,
        modified,
    };
    match call.form {
        AnswerForm::Contract => contract::answer(call, args, part, &file),
        AnswerForm::Compact => answer_compact(call, args, part, &file),
    }
}

fn answer_compact(
    call: &Call<'_>,
    args: &Args,
    part: FilePart<'_>,
    file: &ReadFile,
) -> Result<Reply, Failure> {
    let is_asked = args.start_line.is_some() || args.end_line.is_some();
    let lines = if is_asked {
        Some(line_range(args, file.text.lines().count())?)
    } else {
        None
    };
    let dependencies = dependencies::list_dependencies(call, args, file)?;
    let request = CompactRequest {
        part,
        lines,
        focus: args.focus.as_deref(),
        again: args.again.unwrap_or_default(),
    };
    let mut text = read_compact(call, &file.source(call), &request)?;
    let room = call.budget.saturating_sub(length(&text));
    let (imports, read) = dependencies::write_compact(call, &dependencies, room);
    text += &imports;
    record_accesses(call, &file.path, &read);
    Ok(Reply::Text(text))
}

/// The outlines of the files below a directory.
fn outline_project_directory(call: &Call<'_>, directory: &str) -> Result<Reply, Failure> {
    let outlines = outline_directory(&symbol_context(call), directory).map_err(refuse_symbols)?;
    Ok(match call.form {
        AnswerForm::Contract => contract::outline_project_directory(call, directory, &outlines),
        AnswerForm::Compact => Reply::Text(show_directory_outline(&outlines, call.budget)),
    })
}

/// Records which files were shown, for the rank of later results.
fn record_accesses(call: &Call<'_>, path: &RepoPath, dependencies: &[RepoPath]) {
    call.session.set_module(module_of(path));
    let accessed: Vec<&RepoPath> = [path].into_iter().chain(dependencies).collect();
    for path in &accessed {
        call.session.record_use(SessionUse::File, path.as_str());
    }
    if let Err(error) = call.project.accesses.record(&accessed) {
        // Only the order of later results depends on it.
        tracing::debug!(%error, "the access was not recorded");
    }
}

/// The first and last line to show, checked against the length of the file.
fn line_range(args: &Args, lines: usize) -> Result<(usize, usize), Failure> {
    let first = args.start_line.unwrap_or(1);
    let last = args.end_line.unwrap_or(lines).min(lines);
    if first > lines.max(1) || args.end_line.is_some_and(|end| end < first) {
        let end = args
            .end_line
            .map_or_else(|| "the end".to_owned(), |end| end.to_string());
        return Err(Failure::new(FailureKind::Invalid, "Invalid line range")
            .about("path", &args.path)
            .details(format!(
                "lines {first} to {end} were asked for and the file has {lines}"
            )));
    }
    Ok((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_with_dependencies_has_more_time_before_it_is_slow() {
        for (arguments, limit_ms) in [
            (json!({ "path": "a.rs" }), 500),
            (json!({ "path": "a.rs", "includeDeps": false }), 500),
            (json!({ "path": "a.rs", "includeDeps": true }), 2_000),
        ] {
            let limit = tool().slow_limit(arguments.as_object().unwrap());
            assert_eq!(limit.as_millis(), limit_ms, "{arguments}");
        }
    }
}
