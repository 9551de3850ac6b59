//! What the database says of its files.

use rusqlite::ErrorCode;

/// Whether a file is no database, or no longer one that can be read: only a new one helps.
pub(crate) fn is_broken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}
