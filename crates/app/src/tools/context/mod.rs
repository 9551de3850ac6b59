//! The context tools: search, grep and reading of code.

pub(crate) mod grep;
pub(super) mod read_file;
pub(super) mod search;
