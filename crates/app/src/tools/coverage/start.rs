//! `start_coverage_snapshot`: stores the current coverage, to compare a later report with it.
//!
//! Promise: `docs/behaviour.md`, coverage.

use std::io;

use docent_engine::coverage::CoverageError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{REPORT, refuse_report};
use crate::terminal::TerminalPage;
use crate::tools::call::{Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::tool::{Group, Tool};

const ABOUT: &str =
    "Create a snapshot of the coverage in an LCOV report, before changing code. It is stored temporarily.";

pub(crate) fn tool() -> Tool {
    Tool::new("start_coverage_snapshot", Group::Coverage, ABOUT, run)
        .answers::<Output>()
        .adds()
        .cli("coverage start", &[], show)
        .default_argument(REPORT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// LCOV report
    lcov_path: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    snapshot_id: String,
    timestamp: i64,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let snapshot = call
        .project
        .coverage
        .start(&args.lcov_path, call.deadline)
        .map_err(|error| {
            let is_missing = matches!(error, CoverageError::Missing);
            let mut failure = refuse_report(error, &args.lcov_path);
            if is_missing {
                failure.message = format!("Cannot create snapshot - {}", failure.message);
            }
            failure
        })?;
    Ok(Reply::json(&Output {
        snapshot_id: snapshot.id.to_string(),
        timestamp: snapshot.at,
    }))
}

fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let output = Output::deserialize(answer).expect("it was written by `run`");
    page.line(&output.snapshot_id)?;
    page.note(&format!(
        "After your change and another run of the tests: docent coverage end {}",
        output.snapshot_id
    ))
}
