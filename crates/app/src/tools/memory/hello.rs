//! `hello`: a greeting, to test the connection.
//!
//! Promise: `docs/behaviour.md`, hello.

use docent_engine::clock::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::AnswerForm;
use crate::tools::call::{Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Returns a greeting message. Use for testing MCP connectivity.";

pub(crate) fn tool() -> Tool {
    Tool::new("hello", Group::Memory, ABOUT, run)
        .answers::<Output>()
        .per_minute(100)
        .cli("hello", &["name"])
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Name to greet
    #[serde(default = "default_name")]
    name: String,
}

fn default_name() -> String {
    "World".to_owned()
}

#[derive(Serialize, JsonSchema)]
struct Output {
    message: String,
    #[schemars(extend("format" = "date-time"))]
    timestamp: String,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every tool has this signature, and only this one cannot fail"
)]
fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let message = format!("Hello, {}!", args.name);
    Ok(match call.form {
        AnswerForm::Contract => Reply::json(&Output {
            message,
            timestamp: rfc3339(call.project.clock.now()),
        }),
        AnswerForm::Compact => Reply::Text(message),
    })
}
