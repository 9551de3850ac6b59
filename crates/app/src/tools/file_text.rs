//! Files as text, for the tools that take paths: the size limit, what counts as text, and the wording of
//! refusals.

use docent_core::path::{PathError, RepoPath};
use docent_engine::files::FileError;

use super::failure::{Failure, FailureKind};

/// Larger files are refused.
pub(crate) const MAX_FILE_BYTES: u64 = 1_048_576;

/// Decodes a text. `None` for binary files: a NUL is valid UTF-8, but never part of a text.
pub(crate) fn decode_text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The failure for a file that cannot be read. A missing or blocked file gets no details: the message says it
/// all.
pub(crate) fn refuse_file(error: &FileError, path: &str, denied: &str) -> Failure {
    let kind = FailureKind::of(error);
    let message = match error {
        FileError::Missing => return Failure::new(kind, "File not found").about("path", path),
        FileError::Blocked => return Failure::new(kind, denied).about("path", path),
        FileError::Outside | FileError::Ambiguous(_) | FileError::Link | FileError::Denied => denied,
        FileError::Directory | FileError::Special => "Not a file",
        FileError::TooLarge { .. } => "File too large",
        FileError::Io(_) => "File cannot be read",
    };
    Failure::new(kind, message)
        .about("path", path)
        .details(error.to_string())
}

/// Parses the path that a caller wrote.
pub(crate) fn parse_path(text: &str) -> Result<RepoPath, Failure> {
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
