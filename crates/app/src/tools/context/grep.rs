//! `grep_codebase`: lines that match a regular expression, with two lines of context.
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

use crate::terminal::TerminalPage;
use crate::tools::budget::{json_length, notice};
use crate::tools::call::{Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str =
    "Search all files by regular expression (ripgrep's dialect), for exact text. Respects .gitignore.";

/// Characters of the answer around the matches, at most.
const FRAME_CHARS: usize = 4_000;

/// Characters of a match's names and quotes.
const FIELD_CHARS: usize = 100;

/// Characters around a line of context.
const LINE_FRAME_CHARS: usize = 3;

pub(crate) fn tool() -> Tool {
    Tool::new("grep_codebase", Group::Context, ABOUT, run)
        .answers::<Output>()
        .per_minute(60)
        .heavy()
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
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn default_limit() -> usize {
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
    /// True if an invisible character was written out.
    #[serde(skip)]
    is_revealed: bool,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Context {
    before: Vec<String>,
    after: Vec<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let watch = call.project.clock.stopwatch();
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
    let outcome =
        grep::grep(&call.project.root, &query, call.deadline).map_err(|error| refuse_grep(error, args))?;

    let mut notices = Vec::new();
    let all = outcome.matches.len();
    let matches = cut_matches(outcome.matches, call.budget);
    if matches.len() < all {
        let shown = matches.len();
        notices.push(format!(
            "{shown} of {all} matches fit into this answer; narrow pattern or filePattern, or read the file"
        ));
    }
    if matches.iter().any(|shown| shown.is_revealed) {
        notices.push("Invisible characters are written as \\u{…}".to_owned());
    }
    if outcome.missed.count > 0 {
        let names: Vec<String> = outcome
            .missed
            .first
            .iter()
            .map(|name| reveal_part(name).into_owned())
            .collect();
        let more = if outcome.missed.count > names.len() as u64 {
            ", …"
        } else {
            ""
        };
        notices.push(format!(
            "{} could not be searched: {}{more}",
            outcome.missed.count,
            names.join(", ")
        ));
    }
    if let (0, Some(pattern)) = (outcome.files_searched, &args.file_pattern) {
        let excluded = grep::EXCLUDED.join(", ");
        notices.push(format!("no file matches filePattern {pattern}; ignored files, blocked files and {excluded} are never searched"));
    }
    Ok(Reply::json(&Output {
        message: (outcome.total == 0).then(|| format!("No matches found for pattern '{}'", args.pattern)),
        matches,
        total_matches: outcome.total,
        files_searched: outcome.files_searched,
        search_time: watch.milliseconds(),
        notice: notice(&notices),
        pattern: args.pattern.clone(),
    }))
}

fn refuse_grep(error: GrepError, args: &Args) -> Failure {
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

/// As many of the first matches as fit.
fn cut_matches(matches: Vec<grep::MatchedLine>, budget: usize) -> Vec<Match> {
    let mut left = budget.saturating_sub(FRAME_CHARS);
    matches
        .into_iter()
        .map(Match::from)
        .map_while(|shown| {
            left = left.checked_sub(shown.json_length())?;
            Some(shown)
        })
        .collect()
}

impl From<grep::MatchedLine> for Match {
    fn from(matched: grep::MatchedLine) -> Self {
        let mut is_revealed = false;
        let mut plain = |text: &str| {
            let shown = reveal_part(text);
            is_revealed |= matches!(shown, Cow::Owned(_));
            shown.into_owned()
        };
        Self {
            file: plain(matched.path.as_str()),
            line: matched.line,
            column: matched.column,
            text: plain(&matched.text),
            context: Context {
                before: matched.before.iter().map(|line| plain(line)).collect(),
                after: matched.after.iter().map(|line| plain(line)).collect(),
            },
            is_revealed,
        }
    }
}

impl Match {
    /// The characters this match takes in the answer.
    fn json_length(&self) -> usize {
        let lines = self.context.before.iter().chain(&self.context.after);
        FIELD_CHARS
            + json_length(&self.file)
            + json_length(&self.text)
            + lines
                .map(|line| LINE_FRAME_CHARS + json_length(line))
                .sum::<usize>()
    }
}

/// For people: matches under the name of their file, as ripgrep prints them.
fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let output = Output::deserialize(answer).expect("it was written by `run`");
    let mut file = "";
    let mut last = 0;
    for shown in &output.matches {
        let Match { line, context, .. } = shown;
        let first = line - context.before.len() as u64;
        if shown.file != file {
            if !file.is_empty() {
                page.line("")?;
            }
            page.heading(&shown.file)?;
            (file, last) = (&shown.file, 0);
        } else if first > last + 1 {
            page.dim("   ⋮")?;
        }
        for (number, text) in (first..).zip(&context.before) {
            if number > last {
                page.numbered_line(number, text, false)?;
            }
        }
        page.numbered_line(*line, &shown.text, true)?;
        last = *line;
        let next = output
            .matches
            .iter()
            .find(|next| next.file == shown.file && next.line > *line);
        for (number, text) in (line + 1..).zip(&context.after) {
            if next.is_none_or(|next| number < next.line) {
                page.numbered_line(number, text, false)?;
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
