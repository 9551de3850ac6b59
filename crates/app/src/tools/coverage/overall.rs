//! `get_overall_coverage`: line coverage of the whole project. The compact form has the worst files too.
//!
//! Promise: `docs/behaviour.md`, coverage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Number, REPORT, load};
use crate::compact::coverage::render_overall;
use crate::settings::AnswerForm;
use crate::tools::call::{Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Line coverage of the entire project in percent, from an LCOV report.";

pub(crate) fn tool() -> Tool {
    Tool::new("get_overall_coverage", Group::Coverage, ABOUT, run)
        .answers::<Output>()
        .cli("coverage", &[])
        .default_argument(REPORT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// LCOV report, absolute or relative, e.g. "./coverage/lcov.info"
    lcov_path: String,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[schemars(with = "f64")]
    overall: Number,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let loaded = load(call, &args.lcov_path)?;
    Ok(match call.form {
        AnswerForm::Contract => Reply::json(&Output {
            overall: Number(loaded.report.total().percent()),
        }),
        AnswerForm::Compact => Reply::Text(render_overall(&loaded.report)),
    })
}
