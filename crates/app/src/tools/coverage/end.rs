//! `end_coverage_snapshot`: how coverage has changed since a snapshot.
//!
//! Promise: `docs/behaviour.md`, coverage.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use docent_core::coverage::Percent;
use docent_core::coverage::snapshot::{Comparison, CoverageChange, Presence};
use docent_core::text::reveal::reveal_part;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Number, REPORT, refuse_report};
use crate::compact::coverage::render_changes;
use crate::settings::AnswerForm;
use crate::tools::arguments::Object;
use crate::tools::budget::json_length;
use crate::tools::call::{Call, Reply};
use crate::tools::failure::Failure;
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Compare an LCOV report with a snapshot: the change overall and of each file, new files added and files removed since the snapshot.";

/// Characters of the answer around the files.
const FRAME_CHARS: usize = 90;

/// Characters of the longest notice.
const NOTICE_CHARS: usize = 250;

pub(crate) fn tool() -> Tool {
    Tool::new("end_coverage_snapshot", Group::Coverage, ABOUT, run)
        .answers::<Output>()
        .cli("coverage end", &["snapshotId"])
        .default_argument(REPORT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// From `start_coverage_snapshot`
    snapshot_id: String,
    /// Current LCOV report
    lcov_path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[schemars(with = "f64")]
    overall_change: Number,
    #[schemars(with = "BTreeMap<String, f64>")]
    file_changes: Object,
    new_files: Vec<String>,
    removed_files: Vec<String>,
    /// Only if files were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let comparison = call
        .project
        .coverage
        .since(&args.snapshot_id, &args.lcov_path, call.deadline)
        .map_err(|error| refuse_report(error, &args.lcov_path))?;
    Ok(match call.form {
        AnswerForm::Contract => Reply::json(&output(&comparison, call.budget)),
        AnswerForm::Compact => Reply::Text(render_changes(&comparison, call.budget)),
    })
}

/// The answer for clients. If not all files fit, it has those that changed most.
fn output(comparison: &Comparison, budget: usize) -> Output {
    let mut files: Vec<&CoverageChange> = comparison.files.iter().collect();
    let notice = cut_files(&mut files, budget);
    let name = |file: &CoverageChange| reveal_part(&file.path).into_owned();
    let names_of = |presence: Presence| {
        let matching = files.iter().filter(|file| file.presence == presence);
        matching.map(|file| name(file)).collect()
    };
    Output {
        overall_change: Number(comparison.overall),
        new_files: names_of(Presence::New),
        removed_files: names_of(Presence::Removed),
        file_changes: files
            .iter()
            .map(|file| (name(file), json!(Number(file.change))))
            .collect(),
        notice,
    }
}

/// Keeps as many files as fit, and returns a notice about the others.
fn cut_files(files: &mut Vec<&CoverageChange>, budget: usize) -> Option<String> {
    let all = files.len();
    if files.iter().map(|file| cost(file)).sum::<usize>() + FRAME_CHARS <= budget {
        return None;
    }
    files.sort_by_key(|file| Reverse((file.change.tenths.abs(), file.is_change())));
    let mut used = FRAME_CHARS + NOTICE_CHARS;
    let shown = files
        .iter()
        .take_while(|file| {
            used += cost(file);
            used <= budget
        })
        .count();
    let mut others = match files[shown].change.tenths.abs() {
        0 => "did not change in percent".to_owned(),
        tenths => format!("changed by {} at most", Percent { tenths }),
    };
    for (presence, word) in [(Presence::New, "new"), (Presence::Removed, "removed")] {
        match files[shown..]
            .iter()
            .filter(|file| file.presence == presence)
            .count()
        {
            0 => {}
            count => others += &format!(", and {count} of them are {word}"),
        }
    }
    files.truncate(shown);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Some(format!(
        "{shown} of {all} files are listed, those that changed most; the others {others}. A larger answer.max_chars has \
         room for all"
    ))
}

/// The characters that a file takes in the answer.
fn cost(file: &CoverageChange) -> usize {
    let name = json_length(&reveal_part(&file.path)) + r#""","#.len();
    let change = json!(Number(file.change)).to_string().len() + ":".len();
    match file.presence {
        Presence::Both => name + change,
        Presence::New | Presence::Removed => 2 * name + change,
    }
}
