//! `read_repo_file`: a file's content as text or base64, without side effects.
//!
//! Promise: `docs/behaviour.md`, `read_repo_file`.

use std::borrow::Cow;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_core::path::RepoPath;
use docent_core::text::reveal::{reveal, reveal_part};
use docent_engine::clock::rfc3339_of;
use docent_engine::files::FileError;
use docent_engine::symbols::{outline_directory, outline_file};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::terminal::TerminalPage;
use crate::tools::budget::{fit, notice};
use crate::tools::call::{Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_parts::{FilePart, PartSource, parse_ranges, show_outline, show_outlines};
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text, refuse_file};
use crate::tools::symbols::{refuse_symbols, symbol_context};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Read a file from the repository. Limited to safe paths and 1 MB.";

/// Characters kept for the other fields and the longest notice.
const FRAME_CHARS: usize = 500;

pub(crate) fn tool() -> Tool {
    Tool::new("read_repo_file", Group::Memory, ABOUT, run)
        .answers::<Output>()
        .per_minute(100)
        .cli("repo-file", &["path"], show)
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Relative path from repo root
    #[schemars(regex(pattern = r"^[a-zA-Z0-9_./-]+$"))]
    path: String,
    #[serde(default)]
    encoding: Encoding,
    /// Byte to start at, as a notice names it
    #[serde(default)]
    offset: usize,
    symbol: Option<String>,
    ranges: Option<Vec<String>>,
    outline: Option<bool>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
enum Encoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Output {
    content: String,
    /// Of the whole file, in bytes
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    modified: Option<String>,
    /// What is missing from the answer, and how to get it
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let part = FilePart::choose(
        args.symbol.as_deref(),
        args.ranges.as_deref(),
        args.outline.unwrap_or_default(),
        args.offset > 0 || args.encoding == Encoding::Base64,
    )?;
    if part == FilePart::Outline && matches!(args.path.as_str(), "." | "./") {
        return outline_project_directory(call, "");
    }
    let path = RepoPath::parse(&args.path).map_err(|error| {
        Failure::new(FailureKind::Denied, "Access denied")
            .about("path", &args.path)
            .details(error.to_string())
    })?;
    let file = match call.project.root.read(&path, MAX_FILE_BYTES) {
        Err(FileError::Directory) if part == FilePart::Outline => {
            return outline_project_directory(call, path.as_str());
        }
        file => file.map_err(|error| refuse_file(&error, &args.path, "Access denied"))?,
    };
    let size = file.bytes.len() as u64;

    let budget = call.budget.saturating_sub(FRAME_CHARS);
    let invalid = |message: &str| Failure::new(FailureKind::Invalid, message).about("path", &args.path);
    let (kept, content, is_revealed) = match args.encoding {
        Encoding::Utf8 => {
            let text = decode_text(file.bytes)
                .ok_or_else(|| invalid("The file is binary or not UTF-8").hint("Use encoding base64"))?;
            if part != FilePart::Lines {
                let source = PartSource {
                    root: &call.project.root,
                    path: &path,
                    text: &text,
                };
                let mut output = show_part(part, &source, budget)?;
                (output.size, output.modified) = (size, rfc3339_of(file.modified));
                return Ok(Reply::json(&output));
            }
            let rest = text
                .get(args.offset..)
                .ok_or_else(|| invalid("offset is not at a character of the file"))?;
            let (kept, shown) = fit(rest, budget, if args.offset == 0 { reveal } else { reveal_part });
            let is_revealed = matches!(shown, Cow::Owned(_));
            (kept, shown.into_owned(), is_revealed)
        }
        Encoding::Base64 => {
            let rest = file
                .bytes
                .get(args.offset..)
                .ok_or_else(|| invalid("offset is beyond the file's end"))?;
            // Whole groups of three bytes, so that each part decodes by itself.
            let kept = rest.len().min(budget / 4 * 3);
            (kept, STANDARD.encode(&rest[..kept]), false)
        }
    };
    let mut notices = Vec::new();
    let next = args.offset + kept;
    if (next as u64) < size {
        notices.push(format!(
            "Bytes {}-{next} of {size} fit into this answer; read on with offset {next}",
            args.offset
        ));
    }
    if is_revealed {
        notices.push(REVEALED.to_owned());
    }
    Ok(Reply::json(&Output {
        content,
        size,
        modified: rfc3339_of(file.modified),
        notice: notice(&notices),
    }))
}

/// The part of a file, with a notice that names its lines.
fn show_part(part: FilePart<'_>, source: &PartSource<'_>, budget: usize) -> Result<Output, Failure> {
    let lines = source.text.lines().count();
    let spans = match part {
        FilePart::Symbol(symbol) => vec![source.find_symbol(symbol)?],
        FilePart::Ranges(ranges) => parse_ranges(ranges, lines)?,
        FilePart::Lines => vec![(1, lines)],
        FilePart::Outline => {
            let (content, notice) =
                show_outline(&outline_file(source.root, source.path, source.text), budget);
            return Ok(Output {
                content,
                size: 0,
                modified: None,
                notice,
            });
        }
    };
    let shown = source.show_spans(&spans, budget);
    let mut notices = shown.notices(lines);
    notices.extend(shown.is_revealed.then(|| REVEALED.to_owned()));
    Ok(Output {
        content: shown.content,
        size: 0,
        modified: None,
        notice: notice(&notices),
    })
}

/// The outlines of the files below a directory. The size is 0.
fn outline_project_directory(call: &Call<'_>, directory: &str) -> Result<Reply, Failure> {
    let outlines = outline_directory(&symbol_context(call), directory).map_err(refuse_symbols)?;
    let (content, notice) = show_outlines(&outlines, call.budget.saturating_sub(FRAME_CHARS));
    Ok(Reply::json(&Output {
        content,
        size: 0,
        modified: None,
        notice,
    }))
}

/// The notice about revealed characters.
const REVEALED: &str = "Invisible characters are written as \\u{…}; encoding base64 has the exact bytes";

fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    page.verbatim(answer["content"].as_str().unwrap_or_default())?;
    answer["notice"]
        .as_str()
        .map_or(Ok(()), |notice| page.note(notice))
}
