//! Tools that show code.

mod answer;
mod asked;
mod found;
pub(super) mod grep;
pub(super) mod read_file;
pub(super) mod search;

use docent_core::path::{PathError, RepoPath};

use super::failure::{Failure, Kind};

/// Reads the path a caller wrote.
fn path(text: &str) -> Result<RepoPath, Failure> {
    RepoPath::parse(text).map_err(|error| {
        match error {
            PathError::Absolute => Failure::new(Kind::Denied, "Absolute paths not allowed")
                .hint("Name the file relative to the project root"),
            PathError::Traversal => Failure::new(Kind::Denied, "Path traversal not allowed")
                .hint("Name the file relative to the project root"),
            PathError::Empty | PathError::Control => {
                Failure::new(Kind::Invalid, "Invalid path").details(error.to_string())
            }
        }
        .about("path", text)
    })
}
