//! `read_file`: a text file with what is known about it, and the project files it imports.
//!
//! Promise: `docs/behaviour.md`, `read_file`.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
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
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::print::TerminalPage;
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::reading::{MAX_FILE_BYTES, refused, text};
use crate::tools::room::{fit, json_length, notice};
use crate::tools::{Call, Group, Reply, Tool};

const ABOUT: &str = "Read a text file with its language, module, role and last change. startLine and endLine select a part; includeDeps \
    adds the project files it imports.";

/// Room kept for the longest notice.
const NOTICE: usize = 700;

/// Characters of a dependency beside its path, and of its content beside what it says.
const FIELDS: usize = 50;
const CONTENT: usize = 14;

pub(crate) fn tool() -> Tool {
    Tool::new("read_file", Group::Context, ABOUT, run)
        .answers::<Output>()
        .per_minute(100)
        .slow_after(Duration::from_millis(500))
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
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 1))]
    max_depth: u8,
    /// First line, counted from 1
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// Last line, inclusive
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
}

fn one() -> u8 {
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
    /// The lines shown, where they are not all
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Dependency {
    /// Of a file; what is external is called as the import calls it
    path: String,
    r#type: Imported,
    level: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The file, which the path names in a form that can be shown
    #[serde(skip)]
    file: Option<RepoPath>,
}

/// What an import leads to.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Imported {
    /// A file of the project
    Import,
    /// Something else: the standard library, a package, or nothing that is there
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
    let path = super::path(&args.path)?;
    let content = call
        .root
        .read(&path, MAX_FILE_BYTES)
        .map_err(|error| refused(&error, &args.path, "Permission denied"))?;
    let size = content.bytes.len() as u64;
    let text = text(content.bytes).ok_or_else(|| {
        Failure::new(FailureKind::Invalid, "Not a text file")
            .about("path", &args.path)
            .details("the file is binary or not UTF-8")
            .hint("Use read_repo_file with encoding base64")
    })?;

    let lines = text.lines().count();
    let (first, last) = range(args, lines)?;
    let wanted = part(&text, first, last);
    let language = Language::of_file(&path, &text);
    let dependencies = if args.include_deps && args.max_depth > 0 {
        let found = Dependencies::of(call.root, &path, language, &text, call.deadline);
        listed(&found.map_err(|error| unreadable(&error, &args.path))?)
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
        },
        dependencies,
        metadata: Metadata {
            module: module_of(&path).to_owned(),
            role: FileRole::of(&path).name().to_owned(),
            last_modified: rfc3339_of(content.modified),
        },
        notice: None,
    };

    let mut notices = Vec::new();
    let all = output.dependencies.len();
    let most = cut_list(&output.dependencies, call.room / 2);
    if most < all {
        output.dependencies.truncate(most);
        notices.push(format!("{most} of {all} dependencies are listed"));
    }
    let frame = serde_json::json!(output).to_string().chars().count() + NOTICE;
    let whole = &text[wanted.clone()];
    let (kept, shown) = fit(
        whole,
        call.room.saturating_sub(frame),
        if first == 1 { reveal } else { reveal_part },
    );
    let kept = &whole[..kept];
    let is_cut = kept.len() < whole.len();
    let shown_last = if is_cut {
        first + kept.lines().count().saturating_sub(1)
    } else {
        last
    };
    if is_cut && kept.ends_with('\n') {
        let next = shown_last + 1;
        notices.push(format!(
            "Lines {first}-{shown_last} of {lines} fit into this answer; read on with startLine {next}"
        ));
    } else if is_cut {
        let offset = wanted.start + kept.len();
        let rest = if last > first {
            format!(", the next line with startLine {}", first + 1)
        } else {
            String::new()
        };
        notices.push(format!(
            "Line {first} is cut; read_repo_file with offset {offset} reads on{rest}"
        ));
    }
    let used = frame + json_length(&shown);
    let (read, left_out) = add_contents(call, &mut output.dependencies, call.room.saturating_sub(used));
    notices.extend(left_out);
    call.session.works_in(&output.metadata.module);
    let accessed: Vec<&RepoPath> = [&path].into_iter().chain(&read).collect();
    for path in &accessed {
        call.session.used(SessionUse::File, path.as_str());
    }
    if let Err(error) = call.accesses.record(&accessed) {
        // It only orders later answers.
        tracing::debug!(%error, "the access was not recorded");
    }
    if matches!(shown, Cow::Owned(_)) {
        notices.push(
            "Invisible characters are written as \\u{…}; read_repo_file with encoding base64 has the exact bytes".into(),
        );
    }
    if (first, shown_last) != (1, lines) && lines > 0 {
        (output.file.start_line, output.file.end_line) = (Some(first), Some(shown_last));
    }
    output.file.content = shown.into_owned();
    output.notice = notice(&notices);
    Ok(Reply::json(&output))
}

/// What a caller is told when the imports of a file give no answer.
fn unreadable(error: &DependencyError, path: &str) -> Failure {
    match error {
        DependencyError::Syntax(_) => Failure::new(FailureKind::Malformed, "Failed to parse imports")
            .about("path", path)
            .details(error.to_string())
            .hint("Read the file without includeDeps"),
        DependencyError::Expired(expired) => (*expired).into(),
    }
}

/// What a file imports, without content.
fn listed(found: &Dependencies) -> Vec<Dependency> {
    let dependency = |path: &str, r#type, file| Dependency {
        path: reveal_part(path).into_owned(),
        r#type,
        level: 1,
        content: None,
        file,
    };
    let files = found
        .files
        .iter()
        .map(|file| dependency(file.as_str(), Imported::Import, Some(file.clone())));
    let external = found
        .external
        .iter()
        .map(|name| dependency(name, Imported::External, None));
    files.chain(external).collect()
}

/// How many dependencies can be named within `room`.
fn cut_list(dependencies: &[Dependency], room: usize) -> usize {
    let mut used = 0;
    let fitting = dependencies.iter().take_while(|dependency| {
        used += json_length(&dependency.path) + FIELDS;
        used <= room
    });
    fitting.count()
}

/// Adds the content of as many files as fit whole. Returns those, and says what was left out.
fn add_contents(
    call: &Call<'_>,
    dependencies: &mut [Dependency],
    room: usize,
) -> (Vec<RepoPath>, Vec<String>) {
    let mut room = room;
    let mut read = Vec::new();
    let (mut too_long, mut unreadable) = (0, 0);
    for dependency in dependencies {
        let Some(file) = &dependency.file else { continue };
        // No character takes more than four bytes; what cannot fit is not read.
        let most = (room as u64).saturating_mul(4).min(MAX_FILE_BYTES);
        match call.root.read(file, most).map(|content| text(content.bytes)) {
            Ok(Some(content)) => {
                let shown = reveal(&content);
                let takes = json_length(&shown) + CONTENT;
                if takes > room {
                    too_long += 1;
                    continue;
                }
                room -= takes;
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

/// The lines a caller wants, held against the lines there are.
fn range(args: &Args, lines: usize) -> Result<(usize, usize), Failure> {
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

/// Where lines `first` to `last` are, with their line ends.
fn part(text: &str, first: usize, last: usize) -> Range<usize> {
    let length = |text: &str, lines: usize| {
        text.split_inclusive('\n')
            .take(lines)
            .map(str::len)
            .sum::<usize>()
    };
    let start = length(text, first - 1);
    start..start + length(&text[start..], (last + 1).saturating_sub(first))
}

/// For people: numbered lines under a heading on a terminal, the bare content in a pipe.
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
        for (number, text) in (file.start_line.unwrap_or(1) as u64..).zip(file.content.lines()) {
            page.numbered(number, text, true)?;
        }
    } else {
        page.verbatim(&file.content)?;
    }
    for dependency in &dependencies {
        match dependency.r#type {
            Imported::Import => page.note(&format!("imports {}", dependency.path))?,
            Imported::External => page.note(&format!("imports {} (external)", dependency.path))?,
        }
    }
    notice.iter().try_for_each(|notice| page.note(notice))
}
