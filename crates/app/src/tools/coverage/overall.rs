//! `get_overall_coverage`: line coverage of the whole project. People also get a table with the worst files.
//!
//! Promise: `docs/behaviour.md`, coverage.

use std::cmp::Reverse;
use std::io;

use docent_core::coverage::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CoverageRow, Number, REPORT, fraction_width, load};
use crate::terminal::TerminalPage;
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Line coverage of the entire project in percent, from an LCOV report.";

/// Files in the table.
const MAX_ROWS: usize = 20;

pub(crate) fn tool() -> Tool {
    Tool::new("get_overall_coverage", Group::Coverage, ABOUT, run)
        .answers::<Output>()
        .cli("coverage", &[], show)
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

/// The answer for people.
#[derive(Serialize, Deserialize)]
struct OverallTable {
    total: CoverageRow,
    worst: Vec<CoverageRow>,
    /// Number of files that are not in the table, because others are covered worse.
    better: usize,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let loaded = load(call, &args.lcov_path)?;
    if call.audience == Audience::Person {
        return Ok(Reply::json(&table(&loaded.report)));
    }
    let overall = Number(loaded.report.total().percent());
    Ok(Reply::json(&Output { overall }))
}

fn table(report: &Report) -> OverallTable {
    let mut files: Vec<_> = report
        .files()
        .iter()
        .filter(|file| file.lines.found > 0)
        .collect();
    // Of files with the same percentage, the one with more missed lines comes first.
    files.sort_by_key(|file| {
        let missed = file.lines.found - file.lines.hit;
        (file.lines.percent(), Reverse(missed), file.path.as_str())
    });
    OverallTable {
        total: CoverageRow::new("all files", report.total()),
        better: files.len().saturating_sub(MAX_ROWS),
        worst: files
            .into_iter()
            .take(MAX_ROWS)
            .map(|file| CoverageRow::new(&file.path, file.lines))
            .collect(),
    }
}

fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let OverallTable { total, worst, better } =
        OverallTable::deserialize(answer).expect("it was written by `run`");
    let width = fraction_width(worst.iter().chain([&total]));
    for row in &worst {
        page.share(row.percent(), &row.fraction(width), &row.path)?;
    }
    match better {
        0 => {}
        1 => page.dim("… and 1 more file")?,
        more => page.dim(&format!("… and {more} more files"))?,
    }
    page.line("")?;
    page.share(total.percent(), &total.fraction(width), &total.path)
}
