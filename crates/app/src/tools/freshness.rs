//! Notices about freshness: what an answer may miss because the index is behind.
//!
//! Invariant: a notice promises that asking again helps only if no error stands in the way.

use docent_engine::index::Freshness;

use crate::markdown::count;

/// Sentences about files that the answer may miss.
pub(crate) fn freshness_notices(freshness: &Freshness) -> Vec<String> {
    let mut sentences = freshness.troubles.clone();
    let number = |count_of: usize| count(count_of as u64);
    if freshness.unknown {
        sentences.push(
            "The files could not be looked at in time, and may have changed; ask again in a moment"
                .to_owned(),
        );
    }
    // With an error in the way, asking again does not help.
    let again = |when: &str| {
        if freshness.troubles.is_empty() {
            format!("; ask again {when}")
        } else {
            String::new()
        }
    };
    if freshness.pending > 0 {
        let (pending, files) = (number(freshness.pending), number(freshness.files));
        sentences.push(if freshness.was_complete {
            let subject = if freshness.pending == 1 {
                "file that has changed is not searched in its new form"
            } else {
                "files that have changed are not searched in their new form"
            };
            format!("{pending} {subject} yet{}", again("in a moment"))
        } else {
            let indexed = number(freshness.files.saturating_sub(freshness.pending));
            format!(
                "The index is being built: {indexed} of {files} files can be found so far{}",
                again("for the rest")
            )
        });
    }
    if freshness.missed > 0 {
        let directories = if freshness.missed == 1 {
            "directory"
        } else {
            "directories"
        };
        sentences.push(format!(
            "{} {directories} could not be looked into",
            freshness.missed
        ));
    }
    sentences
}

/// Sentences about commits that the answer may miss. `is_subject` is true if the query is about commits.
pub(crate) fn history_notices(history: &Freshness, is_subject: bool) -> Vec<String> {
    let mut sentences = history.troubles.clone();
    let again = if sentences.is_empty() {
        "; ask again in a moment"
    } else {
        ""
    };
    match history.pending {
        // A search for code mentions commits while they are read for the first time, and not every new one.
        _ if !is_subject && history.was_complete => {}
        0 if history.unknown && is_subject => {
            sentences.push("The history could not be looked at in time; ask again in a moment".to_owned());
        }
        0 if history.unknown => {
            sentences.push("Commits are not searched yet; ask again in a moment".to_owned());
        }
        0 => {}
        1 => sentences.push(format!("1 commit is not searched yet{again}")),
        pending => sentences.push(format!(
            "{} commits are not searched yet{again}",
            count(pending as u64)
        )),
    }
    sentences
}
