//! The context tools: search, grep and reading of code.

pub(super) mod grep;
pub(super) mod read_file;
pub(super) mod search;

use docent_core::path::{PathError, RepoPath};

use crate::tools::failure::{Failure, FailureKind};

/// Parses the path that a caller wrote.
fn parse_path(text: &str) -> Result<RepoPath, Failure> {
    RepoPath::parse(text).map_err(|error| {
        match error {
            PathError::Absolute => Failure::new(FailureKind::Denied, "Absolute paths not allowed")
                .hint("Name the file relative to the project root"),
            PathError::Traversal => Failure::new(FailureKind::Denied, "Path traversal not allowed")
                .hint("Name the file relative to the project root"),
            PathError::Empty | PathError::Control => {
                Failure::new(FailureKind::Invalid, "Invalid path").details(error.to_string())
            }
        }
        .about("path", text)
    })
}
