//! The discovery in a commit message, and the files that the commit was about.

use docent_core::discovery::{CommitMessage, extract_from_commit};
use docent_core::text::tokens::words_into;

use super::code::discovery_entry;
use crate::index::disk::DocKey;
use crate::store::{CommitEntry, StoreEntry};

/// Bytes of a message's body that a commit is found by.
const MAX_BODY_BYTES: usize = 400;

/// A commit that changes more files says nothing about any of them.
const MAX_PATHS: usize = 20;

/// The entries of a commit.
pub(in crate::index) fn extract_commit(message: &CommitMessage, key: &DocKey) -> Vec<StoreEntry> {
    let key = key.removal_key();
    let discovery =
        extract_from_commit(message).map(|discovery| discovery_entry(&message.id, &key, discovery, 0));
    let mut entries = Vec::from_iter(discovery);
    if (1..=MAX_PATHS).contains(&message.paths.len()) {
        let mut text = String::new();
        words_into(&message.subject, &mut text);
        let body = &message.body[..message.body.floor_char_boundary(MAX_BODY_BYTES)];
        words_into(body, &mut text);
        entries.push(StoreEntry::Commit(CommitEntry {
            key: key.into_owned(),
            paths: message.paths.clone(),
            text,
        }));
    }
    entries
}
