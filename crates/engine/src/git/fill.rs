//! Fills the commit table from `git log`: every commit that it lacks, with the files that it changed.
//!
//! Rename detection is a second step, for the few commits that can contain a rename.
//!
//! Invariant: commits are written parents first, so a crash leaves a table that is complete as far as it
//! goes.

use std::collections::HashMap;
use std::io::BufRead;

use super::command::{Runner, stream};
use super::graph::Graph;
use super::log::{self, CHANGES, FORMAT};
use super::raw::{ChangeStatus, ChangedFile, read_changes, read_field, skip_separators};
use super::table::{CommitRow, CommitTable, TableError};
use super::{Commit, GitError};
use crate::deadline::Deadline;

/// Limits of one transaction: commits, changed files of all of them, and merges among them.
const MAX_BATCH_COMMITS: usize = 2_000;
const MAX_BATCH_FILES: usize = 100_000;
const MAX_BATCH_MERGES: usize = 200;

/// Changed files in one comparison of a batch. A history with more is left to git.
const MAX_DIFFERING_FILES: usize = 500_000;

/// Format of the fields that the table has beyond those of a commit.
const EXTRA_FORMAT: &str = "%an%x00%ae%x00%ct%x00";

/// Adds `head` and all its ancestors that `graph`, the current content of the table, does not have.
pub(super) fn fill(
    table: &mut CommitTable,
    runner: &Runner,
    head: &str,
    graph: &Graph,
    deadline: &Deadline,
) -> Result<(), TableError> {
    let mut excluded = String::new();
    for tip in graph.tips() {
        excluded += &format!("^{}\n", table.id(tip)?);
    }
    let mut command = runner.command("log");
    command.args([
        "--reverse",
        "--topo-order",
        "--encoding=UTF-8",
        "--ignore-missing",
        "--stdin",
    ]);
    command.arg(format!("{FORMAT}{EXTRA_FORMAT}"));
    command.args(CHANGES).args(["-c", "--no-renames", head]);
    let mut outcome = Ok(());
    stream(command, Some(excluded.as_bytes()), deadline, |out| {
        let mut batch = Vec::new();
        let mut files = 0;
        let mut merges = 0;
        loop {
            deadline.check()?;
            let row = read_row(out)?;
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

fn read_row(out: &mut dyn BufRead) -> Result<Option<CommitRow>, GitError> {
    let more = |out: &mut dyn BufRead| Ok((read_field(out)?, read_field(out)?, read_field(out)?));
    let row = log::read_commit_with(out, more)?;
    Ok(row.map(|(commit, (name, email, time))| CommitRow {
        commit,
        name,
        email,
        time: time.parse().unwrap_or(0),
        from_first_parent: None,
    }))
}

/// Sets the changes of merges against their first parent. A path that is not among them is the same in both.
fn compare_with_first_parents(
    runner: &Runner,
    batch: &mut [CommitRow],
    deadline: &Deadline,
) -> Result<(), GitError> {
    let mut merges: Vec<&mut CommitRow> = batch
        .iter_mut()
        .filter(|row| row.commit.parents.len() > 1)
        .collect();
    let changes = compare(
        runner,
        merges.iter().map(|row| &row.commit),
        &["--no-renames"],
        deadline,
    )?;
    for (row, files) in merges.iter_mut().zip(changes) {
        row.from_first_parent = Some(files);
    }
    Ok(())
}

/// Detects renames in commits that both add and delete files. Merges are skipped: git would compare all
/// merged files with all others, and a merge's own changes have no old names.
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
    let changes = compare(
        runner,
        candidates.iter().map(|commit| &**commit),
        &["-M", "-l1000"],
        deadline,
    )?;
    for (commit, files) in candidates.iter_mut().zip(changes) {
        commit.files = files;
    }
    Ok(())
}

/// The changes of commits against their first parents, in the order of the commits.
fn compare<'a>(
    runner: &Runner,
    commits: impl Iterator<Item = &'a Commit>,
    renames: &[&str],
    deadline: &Deadline,
) -> Result<Vec<Vec<ChangedFile>>, GitError> {
    let mut indexes: HashMap<&str, usize> = HashMap::new();
    let mut input = String::new();
    for (at, commit) in commits.enumerate() {
        indexes.insert(&commit.id, at);
        // `diff-tree --stdin` compares the first commit of a line with the others as its parents.
        input += &format!("{} {}\n", commit.id, commit.parents[0]);
    }
    let mut changes = vec![Vec::new(); indexes.len()];
    if indexes.is_empty() {
        return Ok(changes);
    }
    let mut command = runner.command("diff-tree");
    command.args(["--stdin", "-r"]).args(CHANGES).args(renames);
    let mut total = 0;
    stream(command, Some(input.as_bytes()), deadline, |out| {
        while skip_separators(out)? {
            let id = read_field(out)?;
            let (files, unlisted) = read_changes(out)?;
            total += files.len();
            if unlisted > 0 || total > MAX_DIFFERING_FILES {
                return Err(GitError::TooManyFiles);
            }
            if let Some(at) = indexes.get(id.as_str()) {
                changes[*at] = files;
            }
        }
        Ok(())
    })?;
    Ok(changes)
}
