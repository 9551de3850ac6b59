//! The commit that gave a part of a file its present text: the newest that changed it.
//!
//! The commits that changed the file are searched by halves for the oldest whose version has the text. That
//! takes a few lookups, and `git log -L` takes seconds in a large repository. A text that was removed and
//! came back is found where it came back, or where it was new.
//!
//! Invariant: a search that takes long is given up, and after a few of those there are no more.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use docent_core::path::RepoPath;
use xxhash_rust::xxh3::xxh3_64;

use super::log::{Commit, LogQuery};
use super::{Git, GitError, Repository};
use crate::deadline::Deadline;

/// An editor waits for the answer.
const MAX_SEARCH_TIME: Duration = Duration::from_millis(150);

/// After so many searches that took too long, there are no more.
const MAX_SLOW_SEARCHES: u32 = 5;

/// Commits of one file that are looked at.
const MAX_COMMITS: usize = 1_000;

impl Git {
    /// The commit that gave `text`, a part of the file at `path`, its present form. `None` if the text is not
    /// committed, or if git does not say in time.
    pub fn last_edit(&self, path: &RepoPath, text: &str, deadline: &Deadline) -> Option<Commit> {
        let is_allowed = self.root.access().allows(path);
        if !is_allowed || text.trim().is_empty() || self.is_slow() || deadline.check().is_err() {
            return None;
        }
        let limit = Deadline::by(self.clock, MAX_SEARCH_TIME);
        let found = self.answer(&limit, |repository| {
            let Some(head) = repository.head(&limit)? else {
                return Ok(None);
            };
            let key = xxh3_64(format!("{head}\0{path}\0{text}").as_bytes());
            if let Some(known) = self.last_edits.get(&key) {
                return Ok(known);
            }
            let edit = self.find_last_edit(repository, path, text, &limit)?;
            self.last_edits.insert(key, edit.clone());
            Ok(edit)
        });
        match found {
            Ok(edit) => edit,
            Err(GitError::Expired(_)) => {
                self.slow_edits.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(_) => None,
        }
    }

    fn is_slow(&self) -> bool {
        self.slow_edits.load(Ordering::Relaxed) >= MAX_SLOW_SEARCHES
    }

    fn find_last_edit(
        &self,
        repository: &Arc<Repository>,
        path: &RepoPath,
        text: &str,
        deadline: &Deadline,
    ) -> Result<Option<Commit>, GitError> {
        let query = LogQuery {
            path: Some(path.clone()),
            count: MAX_COMMITS,
            ..LogQuery::default()
        };
        let log = self.log_in(repository, &query, deadline)?;
        let text = text.replace('\r', "");
        let name = repository.repo_path(path);
        let has_text = |commit: &Commit| -> Result<bool, GitError> {
            let object = repository
                .objects
                .find(&format!("{}:{name}", commit.id), deadline)?;
            let Some(blob) = object.filter(|object| object.kind == "blob") else {
                return Ok(false);
            };
            let content = repository.objects.content(&blob.id, deadline)?;
            Ok(String::from_utf8_lossy(&content)
                .replace('\r', "")
                .contains(&text))
        };
        let commits = log.commits;
        if !commits.first().map_or(Ok(false), &has_text)? {
            return Ok(None);
        }
        // The first one that is known to lack the text, or the end.
        let (mut newest, mut without) = (0, commits.len());
        while without - newest > 1 {
            let middle = newest + (without - newest) / 2;
            if has_text(&commits[middle])? {
                newest = middle;
            } else {
                without = middle;
            }
        }
        // The oldest commit of a shallow clone seems to have added every file.
        let is_boundary = newest + 1 == commits.len() && (log.more || log.shallow);
        Ok(commits.into_iter().nth(newest).filter(|_| !is_boundary))
    }
}
