//! `read_repo_file`: a file's content as text or base64, without side effects.
//!
//! Promise: `docs/behaviour.md`, `read_repo_file`.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_core::path::RepoPath;
use docent_core::reveal::reveal;
use docent_engine::clock::rfc3339_of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::print::Page;
use crate::tools::failure::{Failure, Kind};
use crate::tools::reading::{MOST_BYTES, refused, text};
use crate::tools::room::json_prefix;
use crate::tools::{Call, Group, Reply, Tool};

const ABOUT: &str = "Read a file from the repository. Limited to safe paths. utf-8 for text, base64 for the exact bytes \
    of any file up to 1 MB. For code, read_file tells more.";

/// Room kept for the other fields and the longest notice.
const FRAME: usize = 500;

pub(crate) fn tool() -> Tool {
    Tool::new("read_repo_file", Group::Memory, ABOUT, run)
        .title("Read repository file")
        .answers::<Output>()
        .per_minute(100)
        .cli("repo-file", &["path"], show)
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Relative path from repo root
    #[schemars(regex(pattern = r"^[a-zA-Z0-9_./-]+$"))]
    path: String,
    /// How to return the content
    #[serde(default)]
    encoding: Encoding,
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
    let path = RepoPath::parse(&args.path).map_err(|error| {
        Failure::new(Kind::Denied, "Access denied")
            .about("path", &args.path)
            .details(error.to_string())
    })?;
    let file = call
        .root
        .read(&path, MOST_BYTES)
        .map_err(|error| refused(&error, &args.path, "Access denied"))?;
    let size = file.bytes.len() as u64;

    let room = call.room.saturating_sub(FRAME);
    let (content, notice) = match args.encoding {
        Encoding::Utf8 => as_text(file.bytes, room).ok_or_else(|| {
            Failure::new(Kind::Invalid, "The file is binary or not UTF-8")
                .about("path", &args.path)
                .hint("Use encoding base64")
        })?,
        Encoding::Base64 => as_base64(&file.bytes, room),
    };
    Ok(Reply::json(&Output {
        content,
        size,
        modified: rfc3339_of(file.modified),
        notice,
    }))
}

fn as_text(bytes: Vec<u8>, room: usize) -> Option<(String, Option<String>)> {
    let text = text(bytes)?;
    let revealed = reveal(&text);
    let shown = json_prefix(&revealed, room);
    let mut notices = Vec::new();
    if shown.len() < revealed.len() {
        let next = shown.lines().count() + usize::from(shown.ends_with('\n'));
        notices.push(format!(
            "The content is cut; read_file with startLine {next} reads on"
        ));
    }
    if revealed.len() != text.len() {
        notices.push(
            "Invisible characters are written as \\u{…}; encoding base64 has the exact bytes".to_owned(),
        );
    }
    Some((
        shown.to_owned(),
        (!notices.is_empty()).then(|| notices.join(". ")),
    ))
}

fn as_base64(bytes: &[u8], room: usize) -> (String, Option<String>) {
    let whole = STANDARD.encode(bytes);
    if whole.len() <= room {
        return (whole, None);
    }
    // Four characters stand for three bytes, so the beginning decodes by itself.
    let kept = room / 4 * 3;
    let notice = format!("The content is cut after {kept} bytes; raise answer.max_chars to get the rest");
    (STANDARD.encode(&bytes[..kept]), Some(notice))
}

fn show(answer: &Value, page: &mut Page) -> io::Result<()> {
    page.verbatim(answer["content"].as_str().unwrap_or_default())?;
    answer["notice"]
        .as_str()
        .map_or(Ok(()), |notice| page.note(notice))
}
