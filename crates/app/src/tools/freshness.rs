//! How fresh an answer is, in sentences.

use docent_engine::index::Freshness;

use crate::markdown::count;

/// What an answer cannot know of, in sentences.
pub(crate) fn freshness_notices(freshness: &Freshness) -> Vec<String> {
    let mut sentences = freshness.troubles.clone();
    let number = |count_of: usize| count(count_of as u64);
    if freshness.unknown {
        sentences.push(
            "The files could not be looked at in time, and may have changed; ask again in a moment"
                .to_owned(),
        );
    }
    // Where something stands in the way, asking again does not help.
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
            let whose = if freshness.pending == 1 {
                "file that has changed is not searched in its new form"
            } else {
                "files that have changed are not searched in their new form"
            };
            format!("{pending} {whose} yet{}", again("in a moment"))
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

/// What an answer cannot know of commits, in sentences; `is_asked` where it is about them.
pub(crate) fn history_notices(history: &Freshness, is_asked: bool) -> Vec<String> {
    let mut sentences = history.troubles.clone();
    let again = if sentences.is_empty() {
        "; ask again in a moment"
    } else {
        ""
    };
    match history.pending {
        // Who asks for code is told while commits are read for the first time, and not of every new one.
        _ if !is_asked && history.was_complete => {}
        0 if history.unknown && is_asked => {
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
