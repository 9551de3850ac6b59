//! From git into the table: every commit that is not there yet, parents first, with what it changed.

use std::collections::HashMap;
use std::io::BufRead;

use super::command::{Runner, stream};
use super::graph::Graph;
use super::log::{self, CHANGES, FORMAT};
use super::raw::{ChangeStatus, ChangedFile, changes, field, skip_between};
use super::table::{CommitRow, CommitTable, TableError};
use super::{Commit, GitError};
use crate::deadline::Deadline;

/// Commits written at once, or fewer that change so many files together.
const MAX_BATCH_COMMITS: usize = 2_000;
const MAX_BATCH_FILES: usize = 100_000;
const MAX_BATCH_MERGES: usize = 200;

/// Files that may differ in one comparison of a batch; a history with more is left to git.
const MAX_DIFFERING_FILES: usize = 500_000;

/// What the table keeps beyond a commit.
const MORE: &str = "%an%x00%ae%x00%ct%x00";

/// Adds every commit that `head` contains and `graph`, which is what the table has, does not.
pub(super) fn fill(
    table: &mut CommitTable,
    runner: &Runner,
    head: &str,
    graph: &Graph,
    deadline: &Deadline,
) -> Result<(), TableError> {
    let mut known = String::new();
    for tip in graph.tips() {
        known += &format!("^{}\n", table.id(tip)?);
    }
    let mut command = runner.command("log");
    command.args([
        "--reverse",
        "--topo-order",
        "--encoding=UTF-8",
        "--ignore-missing",
        "--stdin",
    ]);
    command.arg(format!("{FORMAT}{MORE}"));
    command.args(CHANGES).args(["-c", "--no-renames", head]);
    let mut outcome = Ok(());
    stream(command, Some(known.as_bytes()), deadline, |out| {
        let mut batch = Vec::new();
        let mut files = 0;
        let mut merges = 0;
        loop {
            deadline.check()?;
            let row = read(out)?;
            if row.as_ref().is_some_and(|row| row.commit.unlisted > 0) {
                return Err(GitError::TooManyFiles);
            }
            let is_last = row.is_none();
            files += row.as_ref().map_or(0, |row| row.commit.files.len());
            batch.extend(row);
            merges += usize::from(
                batch
                    .last()
                    .is_some_and(|row: &CommitRow| row.commit.parents.len() > 1),
            );
            if is_last
                || batch.len() >= MAX_BATCH_COMMITS
                || merges >= MAX_BATCH_MERGES
                || files >= MAX_BATCH_FILES
            {
                find_renames(
                    runner,
                    batch.iter_mut().map(|row: &mut CommitRow| &mut row.commit),
                    deadline,
                )?;
                compare_with_first_parents(runner, &mut batch, deadline)?;
                outcome = table.write(&batch);
                (batch, files, merges) = (Vec::new(), 0, 0);
            }
            if is_last || outcome.is_err() {
                return Ok(());
            }
        }
    })?;
    outcome
}

fn read(out: &mut dyn BufRead) -> Result<Option<CommitRow>, GitError> {
    let more = |out: &mut dyn BufRead| Ok((field(out)?, field(out)?, field(out)?));
    let read = log::read_with(out, more)?;
    Ok(read.map(|(commit, (name, email, time))| CommitRow {
        commit,
        name,
        email,
        time: time.parse().unwrap_or(0),
        from_first_parent: None,
    }))
}

/// What a merge brought to its first parent; a path that is not among it is the same in both.
fn compare_with_first_parents(
    runner: &Runner,
    batch: &mut [CommitRow],
    deadline: &Deadline,
) -> Result<(), GitError> {
    let mut merges: Vec<&mut CommitRow> = batch
        .iter_mut()
        .filter(|row| row.commit.parents.len() > 1)
        .collect();
    let found = compare(
        runner,
        merges.iter().map(|row| &row.commit),
        &["--no-renames"],
        deadline,
    )?;
    for (row, files) in merges.iter_mut().zip(found) {
        row.from_first_parent = Some(files);
    }
    Ok(())
}

/// Renames are looked for only where a commit both adds and deletes, and not in merges: git would compare everything that
/// was merged with everything that was not, and a merge's own changes have no old names.
pub(super) fn find_renames<'a>(
    runner: &Runner,
    commits: impl Iterator<Item = &'a mut Commit>,
    deadline: &Deadline,
) -> Result<(), GitError> {
    let is_candidate = |commit: &&mut Commit| {
        let has = |status| commit.files.iter().any(|change| change.status == status);
        commit.parents.len() == 1 && has(ChangeStatus::Added) && has(ChangeStatus::Deleted)
    };
    let mut candidates: Vec<&mut Commit> = commits.filter(is_candidate).collect();
    let found = compare(
        runner,
        candidates.iter().map(|commit| &**commit),
        &["-M", "-l1000"],
        deadline,
    )?;
    for (commit, files) in candidates.iter_mut().zip(found) {
        commit.files = files;
    }
    Ok(())
}

/// What differs between commits and their first parents, in the order of the commits.
fn compare<'a>(
    runner: &Runner,
    commits: impl Iterator<Item = &'a Commit>,
    renames: &[&str],
    deadline: &Deadline,
) -> Result<Vec<Vec<ChangedFile>>, GitError> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut input = String::new();
    for (at, commit) in commits.enumerate() {
        places.insert(&commit.id, at);
        // Whoever is named after a commit counts as its parent.
        input += &format!("{} {}\n", commit.id, commit.parents[0]);
    }
    let mut found = vec![Vec::new(); places.len()];
    if places.is_empty() {
        return Ok(found);
    }
    let mut command = runner.command("diff-tree");
    command.args(["--stdin", "-r"]).args(CHANGES).args(renames);
    let mut total = 0;
    stream(command, Some(input.as_bytes()), deadline, |out| {
        while skip_between(out)? {
            let id = field(out)?;
            let (files, unlisted) = changes(out)?;
            total += files.len();
            if unlisted > 0 || total > MAX_DIFFERING_FILES {
                return Err(GitError::TooManyFiles);
            }
            if let Some(at) = places.get(id.as_str()) {
                found[*at] = files;
            }
        }
        Ok(())
    })?;
    Ok(found)
}
