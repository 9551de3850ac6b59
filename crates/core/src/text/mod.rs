//! Words and characters: what is indexed, embedded, redacted and shown.

pub mod intent;
pub mod left_out;
pub mod names;
pub mod positions;
pub mod redact;
pub mod reveal;
mod token_formats;
pub mod tokens;
pub mod wordpiece;
