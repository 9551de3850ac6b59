//! `read_file`: a text file with its language, module, role and last change, and the project files it
//! imports.
//!
//! Promise: `docs/behaviour.md`, `read_file`.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use docent_core::language::Language;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_core::text::reveal::{reveal, reveal_part};
use docent_engine::clock::rfc3339_of;
use docent_engine::dependencies::{Dependencies, DependencyError};
use docent_engine::files::FileError;
use docent_engine::sessions::SessionUse;
use docent_engine::symbols::{FileOutline, outline_directory, outline_file};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::terminal::TerminalPage;
use crate::tools::budget::{json_length, notice};
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_parts::{
    FilePart, LineSpan, PartSource, cut_lines, parse_ranges, show_outline, show_outlines,
};
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text, parse_path, refuse_file};
use crate::tools::symbols::{refuse_symbols, symbol_context};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str =
    "Read a text file or a part of it: lines, a symbol, an outline. Tracks access for context scoring.";

/// A call with dependencies reads many files, so the contract gives it more time before it is slow.
const MAX_TIME_WITH_DEPENDENCIES: Duration = Duration::from_secs(2);

/// Characters kept for the longest notice.
const NOTICE_CHARS: usize = 700;

/// Characters of the fields of a directory's outline beside its content.
const DIRECTORY_FRAME_CHARS: usize = 5_000;

/// Characters of a dependency beside its path.
const FIELD_CHARS: usize = 50;

/// Characters of a dependency's content field beside the content.
const CONTENT_FIELD_CHARS: usize = 14;

pub(crate) fn tool() -> Tool {
    Tool::new("read_file", Group::Context, ABOUT, run)
        .answers::<Output>()
        .per_minute(100)
        .slow_after(Duration::from_millis(500))
        .choose_slow_after(|arguments| {
            let with_dependencies = arguments.get("includeDeps") == Some(&Value::Bool(true));
            with_dependencies.then_some(MAX_TIME_WITH_DEPENDENCIES)
        })
        .cli("read", &["path"], show)
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
    /// Read this definition
    symbol: Option<String>,
    /// Lines, e.g. "10-20", "40-"
    ranges: Option<Vec<String>>,
    /// Definitions only; also of a directory
    outline: Option<bool>,
}

fn default_depth() -> u8 {
    1
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Output {
    file: ShownFile,
    /// The project files this one imports
    dependencies: Vec<Dependency>,
    metadata: Metadata,
    /// What is missing from the answer, and how to get it
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ShownFile {
    path: String,
    content: String,
    /// Of the whole file, in bytes
    size: u64,
    /// Of the whole file
    lines: usize,
    language: String,
    /// The first and last line shown, if lines were asked for or some were left out
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    /// The ranges shown. Only a person's terminal needs them, to number the lines: for clients the notice
    /// names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    ranges: Vec<String>,
    /// The content is an outline. Only a person's terminal needs to know: a client has asked for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    is_outline: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Dependency {
    /// The file's path; for external imports, the name in the import statement
    path: String,
    r#type: DependencyType,
    level: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The file itself; `path` is its name as it may be shown
    #[serde(skip)]
    file: Option<RepoPath>,
}

/// The target of an import.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DependencyType {
    /// A file of the project
    Import,
    /// The standard library, a package, or a file that does not exist
    External,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    module: String,
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
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
    // The time on disk of a file that is as committed is the time of the checkout.
    let committed = call
        .project
        .git
        .last_commit_time(&path, &content.bytes, call.deadline);
    let text = decode_text(content.bytes).ok_or_else(|| {
        Failure::new(FailureKind::Invalid, "Not a text file")
            .about("path", &args.path)
            .details("the file is binary or not UTF-8")
            .hint("Use read_repo_file with encoding base64")
    })?;

    let lines = text.lines().count();
    let source = PartSource {
        root: &call.project.root,
        path: &path,
        text: &text,
    };
    let selected = select_part(args, part, &source, lines)?;
    let language = Language::of_file(&path, &text);
    let dependencies = if args.include_deps && args.max_depth > 0 {
        let imports = Dependencies::of(&call.project.root, &path, language, &text, call.deadline);
        list_dependencies(&imports.map_err(|error| refuse_imports(&error, &args.path))?)
    } else {
        Vec::new()
    };
    let mut output = Output {
        file: ShownFile {
            path: path.to_string(),
            content: String::new(),
            size,
            lines,
            language: language.to_string(),
            start_line: None,
            end_line: None,
            ranges: Vec::new(),
            is_outline: part == FilePart::Outline && call.audience == Audience::Person,
        },
        dependencies,
        metadata: Metadata {
            module: module_of(&path).to_owned(),
            role: FileRole::of(&path).name().to_owned(),
            last_modified: rfc3339_of(committed.or(content.modified)),
        },
        notice: None,
    };

    let mut notices = cut_dependencies(&mut output.dependencies, call.budget / 2);
    let frame = serde_json::json!(output).to_string().chars().count() + NOTICE_CHARS;
    notices.extend(selected.show(&source, &mut output.file, call.budget.saturating_sub(frame)));
    let used = frame + json_length(&output.file.content);
    let (read, left_out) = add_contents(call, &mut output.dependencies, call.budget.saturating_sub(used));
    notices.extend(left_out);
    record_accesses(call, &output.metadata.module, &path, &read);
    if call.audience == Audience::Client {
        output.file.ranges.clear();
    }
    output.notice = notice(&notices);
    Ok(Reply::json(&output))
}

/// The part of a file that a caller has selected.
enum SelectedPart {
    Lines {
        first: usize,
        last: usize,
        /// The caller has asked for these lines, and not for the whole file.
        is_asked: bool,
    },
    Ranges(Vec<LineSpan>),
    Outline(FileOutline),
}

/// Selects a part, checked against the file.
fn select_part(
    args: &Args,
    part: FilePart<'_>,
    source: &PartSource<'_>,
    lines: usize,
) -> Result<SelectedPart, Failure> {
    Ok(match part {
        FilePart::Lines => {
            let (first, last) = line_range(args, lines)?;
            let is_asked = args.start_line.is_some() || args.end_line.is_some();
            SelectedPart::Lines {
                first,
                last,
                is_asked,
            }
        }
        FilePart::Symbol(symbol) => {
            let (first, last) = source.find_symbol(symbol)?;
            SelectedPart::Lines {
                first,
                last,
                is_asked: true,
            }
        }
        FilePart::Ranges(ranges) => SelectedPart::Ranges(parse_ranges(ranges, lines)?),
        FilePart::Outline => SelectedPart::Outline(outline_file(source.root, source.path, source.text)),
    })
}

impl SelectedPart {
    /// Adds as much of the part to the file's answer as fits. Returns notices about the rest.
    fn show(&self, source: &PartSource<'_>, file: &mut ShownFile, budget: usize) -> Vec<String> {
        let mut notices = Vec::new();
        let is_revealed = match self {
            Self::Lines {
                first,
                last,
                is_asked,
            } => {
                let cut = cut_lines(source.text, *first, *last, budget);
                notices.extend(cut.notice(file.lines));
                if *is_asked || (*first, cut.shown_last) != (1, file.lines) && file.lines > 0 {
                    (file.start_line, file.end_line) = (Some(*first), Some(cut.shown_last));
                }
                let is_revealed = matches!(cut.shown, Cow::Owned(_));
                file.content = cut.shown.into_owned();
                is_revealed
            }
            Self::Ranges(spans) => {
                let shown = source.show_spans(spans, budget);
                notices.extend(shown.notices(file.lines));
                file.start_line = shown.spans.first().map(|(first, _)| *first);
                file.end_line = shown.spans.last().map(|(_, last)| *last);
                file.ranges = shown.list_ranges();
                file.content = shown.content;
                shown.is_revealed
            }
            Self::Outline(outline) => {
                let (content, notice) = show_outline(outline, budget);
                file.content = content;
                notices.extend(notice);
                false
            }
        };
        if is_revealed {
            notices.push(
                "Invisible characters are written as \\u{…}; read_repo_file with encoding base64 has the exact bytes"
                    .into(),
            );
        }
        notices
    }
}

/// The outlines of the files below a directory, in the answer of a file. Its size and lines are 0.
fn outline_project_directory(call: &Call<'_>, directory: &str) -> Result<Reply, Failure> {
    let outlines = outline_directory(&symbol_context(call), directory).map_err(refuse_symbols)?;
    let (content, cut) = show_outlines(
        &outlines,
        call.budget.saturating_sub(NOTICE_CHARS + DIRECTORY_FRAME_CHARS),
    );
    let path = if directory.is_empty() { "." } else { directory };
    Ok(Reply::json(&Output {
        file: ShownFile {
            path: path.to_owned(),
            content,
            size: 0,
            lines: 0,
            language: "directory".to_owned(),
            start_line: None,
            end_line: None,
            ranges: Vec::new(),
            is_outline: call.audience == Audience::Person,
        },
        dependencies: Vec::new(),
        metadata: Metadata {
            module: RepoPath::parse(directory)
                .map_or_else(|_| "root".to_owned(), |path| module_of(&path).to_owned()),
            role: FileRole::Core.name().to_owned(),
            last_modified: None,
        },
        notice: notice(&Vec::from_iter(cut)),
    }))
}

/// Records which files were shown, for the rank of later results.
fn record_accesses(call: &Call<'_>, module: &str, path: &RepoPath, dependencies: &[RepoPath]) {
    call.session.set_module(module);
    let accessed: Vec<&RepoPath> = [path].into_iter().chain(dependencies).collect();
    for path in &accessed {
        call.session.record_use(SessionUse::File, path.as_str());
    }
    if let Err(error) = call.project.accesses.record(&accessed) {
        // Only the order of later results depends on it.
        tracing::debug!(%error, "the access was not recorded");
    }
}

/// The failure for imports that cannot be parsed.
fn refuse_imports(error: &DependencyError, path: &str) -> Failure {
    match error {
        DependencyError::Syntax(_) => Failure::new(FailureKind::Malformed, "Failed to parse imports")
            .about("path", path)
            .details(error.to_string())
            .hint("Read the file without includeDeps"),
        DependencyError::Expired(expired) => (*expired).into(),
    }
}

/// The imports of a file, without content.
fn list_dependencies(imports: &Dependencies) -> Vec<Dependency> {
    let dependency = |path: &str, r#type, file| Dependency {
        path: reveal_part(path).into_owned(),
        r#type,
        level: 1,
        content: None,
        file,
    };
    let files = imports
        .files
        .iter()
        .map(|file| dependency(file.as_str(), DependencyType::Import, Some(file.clone())));
    let external = imports
        .external
        .iter()
        .map(|name| dependency(name, DependencyType::External, None));
    files.chain(external).collect()
}

/// Keeps as many dependencies as can be named within `budget`, with a notice if some are left out.
fn cut_dependencies(dependencies: &mut Vec<Dependency>, budget: usize) -> Vec<String> {
    let all = dependencies.len();
    let mut used = 0;
    let fitting = dependencies
        .iter()
        .take_while(|dependency| {
            used += json_length(&dependency.path) + FIELD_CHARS;
            used <= budget
        })
        .count();
    dependencies.truncate(fitting);
    let is_cut = fitting < all;
    Vec::from_iter(is_cut.then(|| format!("{fitting} of {all} dependencies are listed")))
}

/// Adds the content of those files that fit as a whole. Returns them, and notices about the others.
fn add_contents(
    call: &Call<'_>,
    dependencies: &mut [Dependency],
    budget: usize,
) -> (Vec<RepoPath>, Vec<String>) {
    let mut left = budget;
    let mut read = Vec::new();
    let (mut too_long, mut unreadable) = (0, 0);
    for dependency in dependencies {
        let Some(file) = &dependency.file else { continue };
        // A character has at most four bytes, so a larger file cannot fit and need not be read.
        let max_bytes = (left as u64).saturating_mul(4).min(MAX_FILE_BYTES);
        match call
            .project
            .root
            .read(file, max_bytes)
            .map(|content| decode_text(content.bytes))
        {
            Ok(Some(content)) => {
                let shown = reveal(&content);
                let cost = json_length(&shown) + CONTENT_FIELD_CHARS;
                if cost > left {
                    too_long += 1;
                    continue;
                }
                left -= cost;
                dependency.content = Some(shown.into_owned());
                read.push(file.clone());
            }
            Err(FileError::TooLarge { size, .. }) if size <= MAX_FILE_BYTES => too_long += 1,
            _ => unreadable += 1,
        }
    }
    let mut notices = Vec::new();
    if too_long > 0 {
        notices.push(format!(
            "{too_long} dependencies are listed without content, which did not fit; read_file shows each"
        ));
    }
    if unreadable > 0 {
        notices.push(format!("{unreadable} dependencies are no text that can be shown"));
    }
    (read, notices)
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

/// For people: numbered lines under a heading on a terminal, only the content in a pipe.
fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let Output {
        file,
        dependencies,
        metadata,
        notice,
    } = Output::deserialize(answer).expect("it was written by `run`");
    if page.is_terminal() {
        page.heading(&file.path)?;
        page.dim(&format!(
            "{} · {} lines · {} bytes · module {} · {}",
            file.language, file.lines, file.size, metadata.module, metadata.role
        ))?;
        show_content(&file, page)?;
    } else {
        page.verbatim(&file.content)?;
    }
    for dependency in &dependencies {
        match dependency.r#type {
            DependencyType::Import => page.note(&format!("imports {}", dependency.path))?,
            DependencyType::External => page.note(&format!("imports {} (external)", dependency.path))?,
        }
    }
    notice.iter().try_for_each(|notice| page.note(notice))
}

/// The content on a terminal, with numbered lines. Between ranges stands a line that belongs to neither.
fn show_content(file: &ShownFile, page: &mut TerminalPage) -> io::Result<()> {
    let mut lines = file.content.lines();
    if file.is_outline {
        return lines.try_for_each(|line| page.line(line));
    }
    for (at, range) in file.ranges.iter().enumerate() {
        if at > 0
            && let Some(mark) = lines.next()
        {
            page.dim(mark)?;
        }
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        for (number, text) in (number(first)..=number(last)).zip(&mut lines) {
            page.numbered_line(number, text, true)?;
        }
    }
    for (number, text) in (file.start_line.unwrap_or(1) as u64..).zip(lines) {
        page.numbered_line(number, text, true)?;
    }
    Ok(())
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
