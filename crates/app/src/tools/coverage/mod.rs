//! The coverage tools: how much of the code the tests reach, from LCOV reports.
//!
//! Invariant: a percentage in an answer has one decimal at most, and none if it is whole.

pub(super) mod end;
pub(super) mod file;
pub(super) mod overall;
pub(super) mod start;

use docent_core::coverage::{Percent, USUAL_REPORT_PATHS};
use docent_engine::coverage::{CoverageError, LoadedReport};
use docent_engine::files::FileError;
use serde::{Serialize, Serializer};

use crate::markdown::shorten;
use crate::project::Project;
use crate::tools::arguments::Object;
use crate::tools::call::Call;
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::tool::DefaultArgument;

/// A percentage in an answer: `85.4`, or `90`.
#[derive(Clone, Copy)]
struct Number(Percent);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.tenths {
            tenths if tenths % 10 == 0 => serializer.serialize_i32(tenths / 10),
            tenths => serializer.serialize_f64(f64::from(tenths) / 10.0),
        }
    }
}

/// On the command line, the report is optional.
const REPORT: DefaultArgument = DefaultArgument {
    about: "Without --lcov-path, the newest report in the usual places is taken, such as coverage/lcov.info.",
    fill: fill_report,
};

fn fill_report(project: &Project, arguments: &mut Object) -> Result<Option<String>, Failure> {
    if arguments.contains_key("lcovPath") {
        return Ok(None);
    }
    let Some(path) = project.coverage.newest_usual() else {
        return Err(Failure::new(
            FailureKind::Missing,
            "There is no LCOV report in the usual places",
        )
        .details(USUAL_REPORT_PATHS.join(", "))
        .hint("Let a test run write one, or name it with --lcov-path"));
    };
    arguments.insert("lcovPath".into(), path.into());
    Ok(Some(format!("Report: {path}")))
}

/// Loads the report that a caller names.
fn load(call: &Call<'_>, path: &str) -> Result<LoadedReport, Failure> {
    call.project
        .coverage
        .load(path, call.deadline)
        .map_err(|error| refuse_report(error, path))
}

/// The failure for a report that cannot be used. None of its content is quoted, because it may be any file.
fn refuse_report(error: CoverageError, path: &str) -> Failure {
    let (kind, message) = match error {
        CoverageError::Missing => (
            FailureKind::Missing,
            format!("LCOV file not found at path {}", shorten(path)),
        ),
        CoverageError::Path(_) => (FailureKind::Invalid, format!("Cannot read LCOV file: {error}")),
        CoverageError::Outside => (
            FailureKind::Denied,
            format!("Cannot read LCOV file: {error}, which is not allowed over HTTP"),
        ),
        CoverageError::Changing => (FailureKind::Internal, format!("Cannot read LCOV file: {error}")),
        CoverageError::Unreadable(error) => {
            let reason = match &error {
                FileError::Denied => "permission denied".to_owned(),
                error => error.to_string(),
            };
            (
                FailureKind::of(&error),
                format!("Cannot read LCOV file: {reason}"),
            )
        }
        CoverageError::Malformed(error) => (
            FailureKind::Malformed,
            format!("Failed to parse LCOV file: {error}"),
        ),
        CoverageError::NoSnapshot(id) => (
            FailureKind::Missing,
            format!("Snapshot not found with ID {}", shorten(&id)),
        ),
        CoverageError::Storage(reason) => {
            (FailureKind::Internal, format!("Cannot create snapshot: {reason}"))
        }
        CoverageError::Expired(expired) => return expired.into(),
    };
    Failure::new(kind, message)
}
