//! Tools around the project's memory, and the plain ones that came with them.

pub(super) mod hello;
pub(super) mod read_repo_file;
pub(crate) mod write_entry;
