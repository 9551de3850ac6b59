//! The tools of the memory contract: adding to the project's memory, reading a file, and a greeting.

pub(super) mod hello;
pub(super) mod read_repo_file;
pub(super) mod write_entry;
