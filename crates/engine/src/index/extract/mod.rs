//! Extraction: from a file or a commit to the entries that the store keeps of it.
//!
//! `file_job` reads a file, once for all corpora; the other modules say what is made of its text.

mod code;
mod commits;
mod file_job;
mod sections;
mod texts;

pub(super) use code::extract_code;
pub(super) use commits::extract_commit;
pub(super) use file_job::{Extracted, FileJob, SkipReason};
pub(super) use sections::extract_sections;
pub(super) use texts::{chunk_texts, section_texts};

#[cfg(test)]
mod tests;
