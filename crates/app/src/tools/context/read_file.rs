//! `read_file`: a text file with what is known about it.
//!
//! Promise: `docs/behaviour.md`, `read_file`.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::time::Duration;

use docent_core::language::language_of;
use docent_core::module::module_of;
use docent_core::reveal::{reveal, reveal_part};
use docent_core::role::Role;
use docent_engine::clock::rfc3339_of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::print::Page;
use crate::tools::failure::{Failure, Kind};
use crate::tools::reading::{MOST_BYTES, refused, text};
use crate::tools::room::{fit, notice};
use crate::tools::{Call, Group, Reply, Tool};

const ABOUT: &str = "Read a text file of the project: content, size, lines, language, module, role and last change. \
    startLine and endLine select a part of it; a long file is cut at a line and the notice says where to read on.";

/// Room kept for the longest notice.
const NOTICE: usize = 500;

pub(crate) fn tool() -> Tool {
    Tool::new("read_file", Group::Context, ABOUT, run)
        .title("Read file")
        .answers::<Output>()
        .per_minute(100)
        .slow_after(Duration::from_millis(500))
        .cli("read", &["path"], show)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// File path relative to project root
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Include level 1 dependencies (imports)
    #[serde(default)]
    include_deps: bool,
    /// First line to return, counted from 1
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// Last line to return, inclusive
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Output {
    file: File,
    /// The project files this one imports
    dependencies: Vec<Dependency>,
    metadata: Metadata,
    /// What is missing from the answer, and how to get it
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct File {
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
    path: String,
    r#type: String,
    level: u32,
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
        .read(&path, MOST_BYTES)
        .map_err(|error| refused(&error, &args.path, "Permission denied"))?;
    let size = content.bytes.len() as u64;
    let text = text(content.bytes).ok_or_else(|| {
        Failure::new(Kind::Invalid, "Not a text file")
            .about("path", &args.path)
            .details("the file is binary or not UTF-8")
            .hint("Use read_repo_file with encoding base64")
    })?;

    let lines = text.lines().count();
    let (first, last) = range(args, lines)?;
    let wanted = part(&text, first, last);
    let mut output = Output {
        file: File {
            path: path.to_string(),
            content: String::new(),
            size,
            lines,
            language: language_of(&path, text.lines().next().unwrap_or_default()).to_owned(),
            start_line: None,
            end_line: None,
        },
        dependencies: Vec::new(),
        metadata: Metadata {
            module: module_of(&path).to_owned(),
            role: Role::of(&path).name().to_owned(),
            last_modified: rfc3339_of(content.modified),
        },
        notice: None,
    };

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
    let mut notices = Vec::new();
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
    if args.include_deps {
        notices.push("Dependencies are not resolved yet; the list is empty whatever the file imports".into());
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

/// The lines a caller wants, held against the lines there are.
fn range(args: &Args, lines: usize) -> Result<(usize, usize), Failure> {
    let first = args.start_line.unwrap_or(1);
    let last = args.end_line.unwrap_or(lines).min(lines);
    if first > lines.max(1) || args.end_line.is_some_and(|end| end < first) {
        let end = args
            .end_line
            .map_or_else(|| "the end".to_owned(), |end| end.to_string());
        return Err(Failure::new(Kind::Invalid, "Invalid line range")
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
fn show(answer: &Value, page: &mut Page) -> io::Result<()> {
    let Output {
        file,
        metadata,
        notice,
        ..
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
    notice.iter().try_for_each(|notice| page.note(notice))
}
