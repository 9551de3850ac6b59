//! `get_file_coverage`: line coverage of the files a caller names.
//!
//! Promise: `docs/behaviour.md`, coverage.

use std::collections::BTreeMap;

use docent_core::coverage::near::NearFiles;
use docent_core::coverage::{AmbiguousPath, LineHits};
use docent_core::path::RepoPath;
use docent_core::text::reveal::reveal_part;
use docent_engine::coverage::LoadedReport;
use docent_engine::files::FileError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Number, REPORT, load};
use crate::compact::coverage::render_files;
use crate::markdown::{inline_to, shorten};
use crate::settings::AnswerForm;
use crate::tools::arguments::Object;
use crate::tools::budget::{json_length, notice};
use crate::tools::call::{Call, Reply};
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str =
    "Line coverage of specific files in percent, from an LCOV report; 0 for one that is not in it.";

/// Characters of the answer for each file, beside its path.
const FIELD_CHARS: usize = 8;

/// The same in the compact form, which has the numbers of lines too.
const COMPACT_FIELD_CHARS: usize = 40;

/// Characters of the notice's name and quotes.
const NOTICE_FIELD_CHARS: usize = 13;

/// Paths that are not in the report and are looked for under other names. Each costs a pass over the report.
const MAX_EXPLAINED_PATHS: usize = 10;

/// Characters of a path in the notice.
const MAX_PATH_CHARS: usize = 200;

/// Files that an error names.
const MAX_NAMED_FILES: usize = 10;

pub(crate) fn tool() -> Tool {
    Tool::new("get_file_coverage", Group::Coverage, ABOUT, run)
        .answers::<Output>()
        .cli("coverage file", &["filePaths"])
        .default_argument(REPORT)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Args {
    /// LCOV report
    lcov_path: String,
    /// As the LCOV file has them, relative or absolute
    file_paths: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    #[schemars(with = "BTreeMap<String, f64>")]
    files: Object,
    /// Only if a path may be mistyped or is a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let loaded = load(call, &args.lcov_path)?;
    let field = match call.form {
        AnswerForm::Contract => FIELD_CHARS,
        AnswerForm::Compact => COMPACT_FIELD_CHARS,
    };
    let cost = |path: &String| json_length(path) + field;
    let used = args.file_paths.iter().map(cost).sum::<usize>();
    if used > call.budget {
        return Err(Failure::new(
            FailureKind::TooLarge,
            format!(
                "The answer would have over {} characters; ask for fewer files",
                call.budget
            ),
        ));
    }
    let mut files: Vec<(&str, Option<LineHits>)> = Vec::new();
    for path in &args.file_paths {
        call.deadline.check()?;
        let file = loaded
            .find(path)
            .map_err(|error| refuse_ambiguous(path, &error))?;
        files.push((path, file.map(|file| file.lines)));
    }
    let unknown: Vec<&str> = files
        .iter()
        .filter(|(_, lines)| lines.is_none())
        .map(|(path, _)| *path)
        .collect();
    let notice = notice(&near_notices(call, &loaded, &unknown)?)
        .filter(|notice| used + json_length(notice) + NOTICE_FIELD_CHARS <= call.budget);
    Ok(match call.form {
        AnswerForm::Contract => Reply::json(&Output {
            files: files.into_iter().map(to_field).collect(),
            notice,
        }),
        AnswerForm::Compact => Reply::Text(render_files(&files, notice.as_deref())),
    })
}

/// A file no test has loaded is missing from the report. The contract wants 0 for it, not an error.
fn to_field((path, lines): (&str, Option<LineHits>)) -> (String, Value) {
    let percent = lines.unwrap_or_default().percent();
    (path.to_owned(), json!(Number(percent)))
}

/// A sentence for each of the first paths that are not in the report and probably not meant as written.
fn near_notices(call: &Call<'_>, loaded: &LoadedReport, unknown: &[&str]) -> Result<Vec<String>, Failure> {
    let mut sentences = Vec::new();
    for path in unknown.iter().take(MAX_EXPLAINED_PATHS) {
        call.deadline.check()?;
        let opened = RepoPath::parse(path).map(|path| call.project.root.file(&path));
        let shown = inline_to(path, MAX_PATH_CHARS);
        let sentence = match (opened, loaded.near(path)) {
            // The path is right, and no test has loaded the file.
            (Ok(Ok(_)), _) => None,
            (_, Some(NearFiles::Below { first, count })) => {
                let files = if count == 1 { "file" } else { "files" };
                let first = inline_to(first, MAX_PATH_CHARS);
                Some(format!(
                    "{shown} is a directory; the report has {count} {files} below it, such as {first}"
                ))
            }
            (Ok(Err(FileError::Directory)), _) => Some(format!(
                "{shown} is a directory, and the report has no file below it"
            )),
            (_, Some(NearFiles::Similar(near))) => {
                let near: Vec<String> = near.iter().map(|path| inline_to(path, MAX_PATH_CHARS)).collect();
                Some(format!(
                    "{shown} is not in the report, which has {}",
                    near.join(", ")
                ))
            }
            (_, None) => None,
        };
        sentences.extend(sentence);
    }
    Ok(sentences)
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
