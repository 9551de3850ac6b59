//! `read_repo_file`: a file's content as text or base64, without side effects.
//!
//! Promise: `docs/behaviour.md`, `read_repo_file`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_core::path::RepoPath;
use docent_core::text::reveal::{reveal, reveal_part};
use docent_engine::clock::rfc3339_of;
use docent_engine::files::{FileContent, FileError};
use docent_engine::symbols::{outline_directory, outline_file};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compact::count_of;
use crate::markdown::inline_to;
use crate::settings::AnswerForm;
use crate::tools::budget::{fit, notice};
use crate::tools::call::{Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_compact::{CompactRequest, fold_content, read_compact, show_directory_outline};
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
        .cli("repo-file", &["path"])
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
    focus: Option<String>,
    // Not listed, to keep the list of tools short: an answer that needs it names it.
    #[schemars(skip)]
    again: Option<bool>,
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
    match call.form {
        AnswerForm::Contract => answer_contract(call, args, part, &path, file),
        AnswerForm::Compact => answer_compact(call, args, part, &path, file.bytes),
    }
}

fn answer_contract(
    call: &Call<'_>,
    args: &Args,
    part: FilePart<'_>,
    path: &RepoPath,
    file: FileContent,
) -> Result<Reply, Failure> {
    let size = file.bytes.len() as u64;
    let budget = call.budget.saturating_sub(FRAME_CHARS);
    let invalid = |message: &str| Failure::new(FailureKind::Invalid, message).about("path", &args.path);
    let (kept, content, is_revealed) = match args.encoding {
        Encoding::Utf8 => {
            let text = decode_text(file.bytes).ok_or_else(|| refuse_binary(args))?;
            if part != FilePart::Lines || args.focus.is_some() && args.offset == 0 {
                let source = PartSource {
                    root: &call.project.root,
                    path,
                    text: &text,
                };
                let mut output = show_part(part, args.focus.as_deref(), &source, budget)?;
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
fn show_part(
    part: FilePart<'_>,
    focus: Option<&str>,
    source: &PartSource<'_>,
    budget: usize,
) -> Result<Output, Failure> {
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
    let (content, mut notices, is_revealed) = if let Some(question) = focus {
        let folded = fold_content(source, &spans, question, budget);
        (folded.content, vec![folded.notice], folded.is_revealed)
    } else {
        let shown = source.show_spans(&spans, budget);
        let notices = shown.notices(lines);
        (shown.content, notices, shown.is_revealed)
    };
    notices.extend(is_revealed.then(|| REVEALED.to_owned()));
    Ok(Output {
        content,
        size: 0,
        modified: None,
        notice: notice(&notices),
    })
}

/// The outlines of the files below a directory. The size is 0.
fn outline_project_directory(call: &Call<'_>, directory: &str) -> Result<Reply, Failure> {
    let outlines = outline_directory(&symbol_context(call), directory).map_err(refuse_symbols)?;
    if call.form == AnswerForm::Compact {
        return Ok(Reply::Text(show_directory_outline(&outlines, call.budget)));
    }
    let (content, notice) = show_outlines(&outlines, call.budget.saturating_sub(FRAME_CHARS));
    Ok(Reply::json(&Output {
        content,
        size: 0,
        modified: None,
        notice,
    }))
}

fn answer_compact(
    call: &Call<'_>,
    args: &Args,
    part: FilePart<'_>,
    path: &RepoPath,
    bytes: Vec<u8>,
) -> Result<Reply, Failure> {
    if args.encoding == Encoding::Base64 {
        return show_base64(call, args, &bytes);
    }
    let text = decode_text(bytes).ok_or_else(|| refuse_binary(args))?;
    if args.offset > 0 {
        return show_from_offset(call, args, &text);
    }
    let source = PartSource {
        root: &call.project.root,
        path,
        text: &text,
    };
    let request = CompactRequest {
        part,
        lines: None,
        focus: args.focus.as_deref(),
        again: args.again.unwrap_or_default(),
    };
    Ok(Reply::Text(read_compact(call, &source, &request)?))
}

/// The rest of a text, without numbers: it may begin inside a line.
fn show_from_offset(call: &Call<'_>, args: &Args, text: &str) -> Result<Reply, Failure> {
    let rest = text.get(args.offset..).ok_or_else(|| {
        Failure::new(FailureKind::Invalid, "offset is not at a character of the file")
            .about("path", &args.path)
    })?;
    let (kept, shown) = fit(rest, call.budget.saturating_sub(FRAME_CHARS), reveal_part);
    Ok(Reply::Text(show_bytes(args, kept, text.len(), &shown)))
}

fn show_base64(call: &Call<'_>, args: &Args, bytes: &[u8]) -> Result<Reply, Failure> {
    let rest = bytes.get(args.offset..).ok_or_else(|| {
        Failure::new(FailureKind::Invalid, "offset is beyond the file's end").about("path", &args.path)
    })?;
    // Whole groups of three bytes, so that each part decodes by itself.
    let kept = rest.len().min(call.budget.saturating_sub(FRAME_CHARS) / 4 * 3);
    let content = STANDARD.encode(&rest[..kept]);
    Ok(Reply::Text(show_bytes(args, kept, bytes.len(), &content)))
}

/// Bytes of a file below a heading that names them.
fn show_bytes(args: &Args, kept: usize, size: usize, content: &str) -> String {
    let next = args.offset + kept;
    let path = inline_to(&args.path, 4_096);
    let mut text = format!("{path}, bytes {}-{next} of {size}\n{content}", args.offset);
    if next < size {
        let left = count_of(size - next, "byte", "bytes");
        text += &format!("\n… {left}: read on with offset {next}");
    }
    text
}

fn refuse_binary(args: &Args) -> Failure {
    Failure::new(FailureKind::Invalid, "The file is binary or not UTF-8")
        .about("path", &args.path)
        .hint("Use encoding base64")
}

/// The notice about revealed characters.
const REVEALED: &str = "Invisible characters are written as \\u{…}; encoding base64 has the exact bytes";
