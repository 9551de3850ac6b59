//! The time of the last commit that changed a file, for files that are as committed. The time of such a file
//! on disk is that of the checkout.
//!
//! Invariant: a known answer costs no process, only the stamps of the files that say which commit is checked
//! out. An answer that git would take long for is left out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use docent_core::path::RepoPath;
use xxhash_rust::xxh3::xxh3_64;

use super::location::GitFileStamp;
use super::log::{LogQuery, Span};
use super::{Git, GitError, Repository, command};
use crate::deadline::Deadline;

/// The last change of one content of a file, while these heads are checked out.
#[derive(Clone, Debug)]
pub(super) struct KnownChange {
    heads: GitFileStamp,
    content: u64,
    /// `None` if the content is not that of the last commit.
    time: Option<SystemTime>,
}

/// The answer to `read_file` does not wait longer for git.
const MAX_SEARCH_TIME: Duration = Duration::from_millis(200);

/// After so many searches that took too long, there are no more.
const MAX_SLOW_SEARCHES: u32 = 3;

impl Git {
    /// When the last commit changed `path`. `None` if `content` is not what that commit has, or if git does
    /// not say.
    pub fn last_commit_time(
        &self,
        path: &RepoPath,
        content: &[u8],
        deadline: &Deadline,
    ) -> Option<SystemTime> {
        if self.slow_searches.load(Ordering::Relaxed) >= MAX_SLOW_SEARCHES || deadline.check().is_err() {
            return None;
        }
        let limit = Deadline::by(self.clock, MAX_SEARCH_TIME);
        let hash = xxh3_64(content);
        let found = self.answer(&limit, |repository| {
            let heads = repository.runner.location().heads();
            if let Some(known) = self.last_changes.get(path.as_str())
                && known.heads == heads
                && known.content == hash
            {
                return Ok(known);
            }
            let time = self.find_last_change(repository, path, content, &limit)?;
            Ok(KnownChange {
                heads,
                content: hash,
                time,
            })
        });
        match found {
            Ok(change) => {
                self.last_changes.insert(path.to_string(), change.clone());
                change.time
            }
            Err(GitError::Expired(_)) => {
                self.slow_searches.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(_) => None,
        }
    }

    /// An error means that there is no answer now.
    fn find_last_change(
        &self,
        repository: &Arc<Repository>,
        path: &RepoPath,
        content: &[u8],
        deadline: &Deadline,
    ) -> Result<Option<SystemTime>, GitError> {
        let Some(head) = repository.head(deadline)? else {
            return Ok(None);
        };
        let name = repository.repo_path(path);
        let object = repository.objects.find(&format!("{head}:{name}"), deadline)?;
        let Some(blob) = object.filter(|object| object.kind == "blob") else {
            return Ok(None);
        };
        // Line ends may have been converted at the checkout.
        let converted = (blob.size < content.len() as u64).then(|| without_carriage_returns(content));
        let content = converted.as_deref().unwrap_or(content);
        if blob.size != content.len() as u64
            || repository.objects.content(&blob.id, deadline)?.as_slice() != content
        {
            return Ok(None);
        }
        let seconds = self.search_history(repository, path, &head, deadline)?;
        Ok(seconds
            .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))))
    }

    /// The commit time of the newest commit that changed `path`, from the commit table if it has the history.
    fn search_history(
        &self,
        repository: &Arc<Repository>,
        path: &RepoPath,
        head: &str,
        deadline: &Deadline,
    ) -> Result<Option<i64>, GitError> {
        if let Some(history) = &self.history {
            let query = LogQuery {
                path: Some(path.clone()),
                ..LogQuery::default()
            };
            let span = Span {
                from: Some(head.to_owned()),
                ..Span::default()
            };
            // It lists one commit more than requested.
            if let Some(commits) = history.log(repository, &query, &span, deadline)? {
                let Some(last) = commits.first() else {
                    return Ok(None);
                };
                return Ok(parse_commit_time(
                    &repository.objects.content(&last.id, deadline)?,
                ));
            }
        }
        let mut log = repository.runner.command("log");
        log.args(["-1", "--format=%ct %P", head, "--", &repository.repo_path(path)]);
        let text = command::read_text(log, 100_000, deadline)?;
        let (seconds, parents) = text.trim_end_matches('\n').split_once(' ').unwrap_or_default();
        // The oldest commit of a shallow clone seems to have added every file.
        let is_boundary = parents.is_empty() && repository.runner.location().is_shallow();
        Ok(seconds.parse().ok().filter(|_| !is_boundary))
    }
}

/// The commit time in a commit object: `committer NAME <ADDRESS> SECONDS ZONE`.
fn parse_commit_time(commit: &[u8]) -> Option<i64> {
    let mut headers = commit
        .split(|byte| *byte == b'\n')
        .take_while(|line| !line.is_empty());
    let line = headers.find_map(|line| line.strip_prefix(b"committer "))?;
    let line = String::from_utf8_lossy(line);
    line.rsplit(' ').nth(1)?.parse().ok()
}

/// The content with `\n` for each `\r\n`.
fn without_carriage_returns(content: &[u8]) -> Vec<u8> {
    let mut converted = Vec::with_capacity(content.len());
    for (at, byte) in content.iter().enumerate() {
        if *byte != b'\r' || content.get(at + 1) != Some(&b'\n') {
            converted.push(*byte);
        }
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_time_is_read_from_the_headers() {
        let commit = b"tree 1\nauthor A <a@b> 1 +0000\ncommitter A B <a@b> 1760043600 +0200\n\ncommitter X <x> 5 +0000\n";
        assert_eq!(parse_commit_time(commit), Some(1_760_043_600));
        assert_eq!(parse_commit_time(b"tree 1\n\ncommitter X <x> 5 +0000\n"), None);
    }

    #[test]
    fn only_whole_line_ends_are_converted() {
        assert_eq!(without_carriage_returns(b"a\r\nb\rc\r\n\r"), b"a\nb\rc\n\r");
    }
}
