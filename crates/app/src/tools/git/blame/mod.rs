//! `git_blame`: who last changed each line of a file.
//!
//! Promise: `docs/behaviour.md`, `git_blame`.

mod contract;

use std::time::Duration;

use docent_engine::git::BlameRange;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{cut_compact, parse_path, refuse_git, refuse_line_range};
use crate::compact::git_blame::show_blame;
use crate::markdown::{cut_answer, inline, length};
use crate::settings::AnswerForm;
use crate::tools::arguments::{ArgumentProblem, Object, ProblemKind};
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Show who last modified each line of a file.";

pub(crate) fn tool() -> Tool {
    Tool::new("git_blame", Group::Git, ABOUT, run)
        .heavy()
        .slow_after(Duration::from_millis(800))
        .reword_problems(reword_line_range)
        .cli("blame", &["filePath"])
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// File path relative to project root
    #[schemars(length(min = 1))]
    file_path: String,
    /// First line, counted from 1
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// Last line, inclusive
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
}

/// Words a line number below 1 as the contract does: as the range that the caller asked for.
fn reword_line_range(problems: &[ArgumentProblem], given: &Object) -> Option<Failure> {
    let is_line = |problem: &ArgumentProblem| {
        problem.kind == ProblemKind::OutOfRange
            && matches!(problem.path.as_slice(), [name] if name == "startLine" || name == "endLine")
    };
    if problems.is_empty() || !problems.iter().all(is_line) {
        return None;
    }
    let line = |name: &str, default: &str| match given.get(name) {
        None | Some(Value::Null) => default.to_owned(),
        Some(number) => number.to_string(),
    };
    Some(refuse_line_range(
        &line("startLine", "1"),
        &line("endLine", "end"),
    ))
}

/// Characters kept for the heading and notes.
const FRAME_CHARS: usize = 500;

/// Characters of a compact answer.
const COMPACT_CHARS: usize = 8_000;

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let path = parse_path(Some(&args.file_path))?.ok_or_else(|| {
        Failure::new(FailureKind::Invalid, "Invalid file path: it is empty")
            .hint("Name a file of the project")
    })?;
    let shown = inline(path.as_str());
    let budget = match (call.form, call.audience) {
        (AnswerForm::Compact, Audience::Client) => COMPACT_CHARS.min(call.budget),
        _ => call.budget.saturating_sub(FRAME_CHARS + length(&shown)),
    };
    let range = BlameRange {
        start: args.start_line,
        end: args.end_line,
        max_chars: budget,
    };
    let blame = call
        .project
        .git
        .blame(&path, range, call.deadline)
        .map_err(|error| refuse_git(error, "commit reference"))?;

    Ok(Reply::Text(match call.form {
        AnswerForm::Contract => cut_answer(&contract::show(&path, &blame, budget), call.budget),
        AnswerForm::Compact => cut_compact(&show_blame(path.as_str(), &blame, budget), call.budget),
    }))
}
