//! `get_file_coverage`: line coverage of the files a caller names.
//!
//! Promise: `docs/behaviour.md`, coverage.

use std::collections::BTreeMap;
use std::io;

use docent_core::coverage::{AmbiguousPath, LineHits};
use docent_core::text::reveal::reveal_part;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CoverageRow, Number, REPORT, fraction_width, load};
use crate::markdown::shorten;
use crate::terminal::TerminalPage;
use crate::tools::arguments::Object;
use crate::tools::budget::json_length;
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Line coverage of files in percent, from an LCOV report; 0 for one that is not in it. Use it after changing files.";

/// Characters of the answer for each file, beside its path.
const FIELD_CHARS: usize = 8;

/// Files that an error names.
const MAX_NAMED_FILES: usize = 10;

pub(crate) fn tool() -> Tool {
    Tool::new("get_file_coverage", Group::Coverage, ABOUT, run)
        .answers::<Output>()
        .cli("coverage file", &["filePaths"], show)
        .default_argument(REPORT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// Path to the LCOV coverage file
    lcov_path: String,
    /// Files to report, relative or absolute, e.g. "src/parser.ts"
    file_paths: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[schemars(with = "BTreeMap<String, f64>")]
    files: Object,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let loaded = load(call, &args.lcov_path)?;
    let cost = |path: &String| json_length(path) + FIELD_CHARS;
    if args.file_paths.iter().map(cost).sum::<usize>() > call.budget {
        return Err(Failure::new(
            FailureKind::TooLarge,
            format!(
                "The answer would have over {} characters; ask for fewer files",
                call.budget
            ),
        ));
    }
    let mut files = Object::new();
    let mut rows = Vec::new();
    for path in &args.file_paths {
        call.deadline.check()?;
        let file = loaded
            .find(path)
            .map_err(|error| refuse_ambiguous(path, &error))?;
        // A file no test has loaded is missing from the report. The contract wants 0 for it, not an error.
        let lines = file.map_or_else(LineHits::default, |file| file.lines);
        files.insert(path.clone(), json!(Number(lines.percent())));
        rows.push(match file {
            Some(_) => CoverageRow::new(path, lines),
            None => CoverageRow::new(&format!("{path} (not in the report)"), lines),
        });
    }
    if call.audience == Audience::Person {
        return Ok(Reply::json(&rows));
    }
    Ok(Reply::json(&Output { files }))
}

/// The failure for a path that fits several files of the report.
fn refuse_ambiguous(path: &str, AmbiguousPath { candidates }: &AmbiguousPath) -> Failure {
    let names: Vec<String> = candidates
        .iter()
        .take(MAX_NAMED_FILES)
        .map(|candidate| shorten(&reveal_part(candidate)))
        .collect();
    let more = match candidates.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (path, names) = (shorten(path), names.join(", "));
    Failure::new(
        FailureKind::Invalid,
        format!("Ambiguous file path {path}: the report has {names}{more}"),
    )
}

fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let rows = Vec::<CoverageRow>::deserialize(answer).expect("it was written by `run`");
    let width = fraction_width(&rows);
    for row in &rows {
        page.share(row.percent(), &row.fraction(width), &row.path)?;
    }
    Ok(())
}
