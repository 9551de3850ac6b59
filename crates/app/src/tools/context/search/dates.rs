//! Dates of discoveries that have none of their own.

use std::collections::HashMap;

use docent_core::path::RepoPath;
use docent_engine::git;

use super::entry::SearchEntry;
use crate::tools::call::Call;

/// Gives discoveries without a date that of the last commit of their file, else that of the file. The commit
/// comes first, because a checkout changes the dates of files.
pub(super) fn date_discoveries(call: &Call<'_>, results: &mut [SearchEntry]) {
    let mut last_commits: HashMap<String, Option<String>> = HashMap::new();
    let undated = |found: &&mut SearchEntry| found.is_discovery() && found.date.is_none();
    for found in results.iter_mut().filter(undated) {
        let path = found
            .lines
            .as_ref()
            .filter(|_| !found.is_linked)
            .map(|lines| &lines.path);
        let committed = path.and_then(|path| {
            let date = last_commits
                .entry(path.clone())
                .or_insert_with(|| last_commit(call, path));
            date.clone()
        });
        found.date = committed.or_else(|| found.modified.clone());
    }
}

/// The day of the last commit that changed a file.
fn last_commit(call: &Call<'_>, path: &str) -> Option<String> {
    let query = git::LogQuery {
        path: RepoPath::parse(path).ok(),
        count: 1,
        ..git::LogQuery::default()
    };
    let log = call.project.git.log(&query, call.deadline).ok()?;
    Some(format!("{}T00:00:00Z", log.commits.first()?.date))
}
