//! `start_coverage_snapshot`: stores the current coverage, to compare a later report with it.
//!
//! Promise: `docs/behaviour.md`, coverage.

use docent_engine::coverage::CoverageError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{REPORT, refuse_report};
use crate::settings::AnswerForm;
use crate::tools::call::{Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::tool::{Group, Tool};

const ABOUT: &str =
    "Create a snapshot of the coverage in an LCOV report, before changing code. It is stored temporarily.";

pub(crate) fn tool() -> Tool {
    Tool::new("start_coverage_snapshot", Group::Coverage, ABOUT, run)
        .answers::<Output>()
        .adds()
        .cli("coverage start", &[])
        .default_argument(REPORT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// LCOV report
    lcov_path: String,
}

#[derive(Serialize, JsonSchema)]
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
    let snapshot_id = snapshot.id.to_string();
    Ok(match call.form {
        AnswerForm::Contract => Reply::json(&Output {
            snapshot_id,
            timestamp: snapshot.at,
        }),
        // The id alone, so that a script can keep it.
        AnswerForm::Compact => Reply::Text(snapshot_id),
    })
}
