//! `grep_codebase`: lines that match a regular expression, with their surroundings.
//!
//! Promise: `docs/behaviour.md`, `grep_codebase`.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use docent_core::text::reveal::reveal_part;
use docent_engine::grep::{self, Case, GrepError, GrepQuery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::print::TerminalPage;
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::room::{json_length, notice};
use crate::tools::{Call, Group, Reply, Tool};

const ABOUT: &str = "Search all project files by regular expression (ripgrep's dialect), for exact names, strings and error messages. \
    Returns lines with 2 lines of context; totalMatches counts all.";

/// Characters of the answer: around the matches at the most, of each match's names and quotes, and of
/// each line of context.
const FRAME: usize = 4_000;
const FIELDS: usize = 100;
const LINE: usize = 3;

pub(crate) fn tool() -> Tool {
    Tool::new("grep_codebase", Group::Context, ABOUT, run)
        .answers::<Output>()
        .per_minute(60)
        .slow_after(Duration::from_secs(3))
        .cli("grep", &["pattern"], show)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// Regex pattern to search for
    #[schemars(length(min = 1, max = 200))]
    pattern: String,
    /// Glob pattern to filter files (e.g., "**/*.ts")
    file_pattern: Option<String>,
    /// Case-sensitive search
    #[serde(default)]
    case_sensitive: bool,
    /// Maximum number of matches to return
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn fifty() -> usize {
    50
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    matches: Vec<Match>,
    pattern: String,
    total_matches: u64,
    files_searched: u64,
    /// In milliseconds
    search_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What is missing from the answer, and how to get it
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Match {
    file: String,
    line: u64,
    column: usize,
    text: String,
    context: Context,
    /// True where a character that hides was written out.
    #[serde(skip)]
    revealed: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Context {
    before: Vec<String>,
    after: Vec<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let watch = call.clock.stopwatch();
    let query = GrepQuery {
        pattern: &args.pattern,
        file_pattern: args.file_pattern.as_deref(),
        case: if args.case_sensitive {
            Case::Sensitive
        } else {
            Case::Insensitive
        },
        limit: args.limit,
    };
    let found = grep::grep(call.root, &query, call.deadline).map_err(|error| refused(error, args))?;

    let mut notices = Vec::new();
    let asked = found.matches.len();
    let matches = fitting(found.matches, call.room);
    if matches.len() < asked {
        let shown = matches.len();
        notices.push(format!(
            "{shown} of {asked} matches fit into this answer; narrow pattern or filePattern, or read the file"
        ));
    }
    if matches.iter().any(|shown| shown.revealed) {
        notices.push("Invisible characters are written as \\u{…}".to_owned());
    }
    if found.missed.count > 0 {
        let names: Vec<String> = found
            .missed
            .first
            .iter()
            .map(|name| reveal_part(name).into_owned())
            .collect();
        let more = if found.missed.count > names.len() as u64 {
            ", …"
        } else {
            ""
        };
        notices.push(format!(
            "{} could not be searched: {}{more}",
            found.missed.count,
            names.join(", ")
        ));
    }
    if let (0, Some(pattern)) = (found.files_searched, &args.file_pattern) {
        let excluded = grep::EXCLUDED.join(", ");
        notices.push(format!("no file matches filePattern {pattern}; ignored files, blocked files and {excluded} are never searched"));
    }
    Ok(Reply::json(&Output {
        message: (found.total == 0).then(|| format!("No matches found for pattern '{}'", args.pattern)),
        matches,
        total_matches: found.total,
        files_searched: found.files_searched,
        search_time: watch.milliseconds(),
        notice: notice(&notices),
        pattern: args.pattern.clone(),
    }))
}

fn refused(error: GrepError, args: &Args) -> Failure {
    match error {
        GrepError::Pattern(reason) => Failure::new(FailureKind::Invalid, "Invalid regex pattern")
            .about("pattern", &args.pattern)
            .details(reason),
        GrepError::FilePattern(reason) => Failure::new(FailureKind::Invalid, "Invalid file pattern")
            .about("filePattern", args.file_pattern.as_deref().unwrap_or_default())
            .details(reason),
        GrepError::Expired(expired) => expired.into(),
    }
}

/// As many of the first matches as the answer has room for.
fn fitting(found: Vec<grep::MatchedLine>, room: usize) -> Vec<Match> {
    let mut left = room.saturating_sub(FRAME);
    found
        .into_iter()
        .map(Match::from)
        .map_while(|shown| {
            left = left.checked_sub(shown.json_length())?;
            Some(shown)
        })
        .collect()
}

impl From<grep::MatchedLine> for Match {
    fn from(found: grep::MatchedLine) -> Self {
        let mut revealed = false;
        let mut plain = |text: &str| {
            let shown = reveal_part(text);
            revealed |= matches!(shown, Cow::Owned(_));
            shown.into_owned()
        };
        Self {
            file: plain(found.path.as_str()),
            line: found.line,
            column: found.column,
            text: plain(&found.text),
            context: Context {
                before: found.before.iter().map(|line| plain(line)).collect(),
                after: found.after.iter().map(|line| plain(line)).collect(),
            },
            revealed,
        }
    }
}

impl Match {
    /// The characters this match takes in the answer.
    fn json_length(&self) -> usize {
        let lines = self.context.before.iter().chain(&self.context.after);
        FIELDS
            + json_length(&self.file)
            + json_length(&self.text)
            + lines.map(|line| LINE + json_length(line)).sum::<usize>()
    }
}

/// For people: matches under the name of their file, as ripgrep shows them.
fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let output = Output::deserialize(answer).expect("it was written by `run`");
    let mut file = "";
    let mut last = 0;
    for found in &output.matches {
        let Match { line, context, .. } = found;
        let first = line - context.before.len() as u64;
        if found.file != file {
            if !file.is_empty() {
                page.line("")?;
            }
            page.heading(&found.file)?;
            (file, last) = (&found.file, 0);
        } else if first > last + 1 {
            page.dim("   ⋮")?;
        }
        for (number, text) in (first..).zip(&context.before) {
            if number > last {
                page.numbered(number, text, false)?;
            }
        }
        page.numbered(*line, &found.text, true)?;
        last = *line;
        let next = output
            .matches
            .iter()
            .find(|next| next.file == found.file && next.line > *line);
        for (number, text) in (line + 1..).zip(&context.after) {
            if next.is_none_or(|next| number < next.line) {
                page.numbered(number, text, false)?;
                last = number;
            }
        }
    }
    let (shown, total) = (output.matches.len() as u64, output.total_matches);
    let of = if shown < total {
        format!("{shown} of ")
    } else {
        String::new()
    };
    let matches = if total == 1 { "match" } else { "matches" };
    let files = if output.files_searched == 1 {
        "file"
    } else {
        "files"
    };
    let (searched, time) = (output.files_searched, output.search_time);
    page.note(&format!(
        "{of}{total} {matches}; {searched} {files} searched in {time} ms"
    ))?;
    output.notice.iter().try_for_each(|notice| page.note(notice))
}
