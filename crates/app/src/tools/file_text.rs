//! What the two tools that read files share: how large a file may be, what counts as text, and how a refusal
//! is worded.

use docent_engine::files::FileError;

use super::failure::{Failure, FailureKind};

/// Larger files are refused.
pub(crate) const MAX_FILE_BYTES: u64 = 1_048_576;

/// The bytes as text; nothing for binary files. A NUL is valid UTF-8 and never text.
pub(crate) fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// What a caller is told when a file is not shown. Where the message says it all, nothing is added.
pub(crate) fn refused(error: &FileError, path: &str, denied: &str) -> Failure {
    let kind = FailureKind::of(error);
    let message = match error {
        FileError::Missing => return Failure::new(kind, "File not found").about("path", path),
        FileError::Blocked => return Failure::new(kind, denied).about("path", path),
        FileError::Outside | FileError::Link | FileError::Denied => denied,
        FileError::Directory | FileError::Special => "Not a file",
        FileError::TooLarge { .. } => "File too large",
        FileError::Io(_) => "File cannot be read",
    };
    Failure::new(kind, message)
        .about("path", path)
        .details(error.to_string())
}
