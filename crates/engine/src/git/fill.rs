//! From git into the table: every commit that is not there yet, parents first, with what it changed.

use std::collections::HashMap;
use std::io::BufRead;

use super::GitError;
use super::command::{Runner, stream};
use super::graph::Graph;
use super::log::{self, CHANGES, FORMAT};
use super::raw::{Change, Status, changes, field, skip_between};
use super::table::{Row, Table, TableError};
use crate::deadline::Deadline;

/// Commits written at once, or fewer that change so many files together.
const MOST_COMMITS: usize = 2_000;
const MOST_FILES: usize = 100_000;

/// What the table keeps beyond a commit.
const MORE: &str = "%an%x00%ae%x00%ct%x00%b%x00";

/// Adds every commit that `head` contains and `graph`, which is what the table has, does not.
pub(super) fn fill(
    table: &mut Table,
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
    command
        .args(without(&["-M", "-l1000"]))
        .args(["--no-renames", head]);
    let mut outcome = Ok(());
    stream(command, Some(known.as_bytes()), deadline, |out| {
        let mut batch = Vec::new();
        let mut files = 0;
        loop {
            let row = read(out)?;
            let is_last = row.is_none();
            files += row.as_ref().map_or(0, |row| row.commit.files.len());
            batch.extend(row);
            if is_last || batch.len() >= MOST_COMMITS || files >= MOST_FILES {
                find_renames(runner, &mut batch, deadline)?;
                compare_with_first_parents(runner, &mut batch, deadline)?;
                outcome = table.write(&batch);
                (batch, files) = (Vec::new(), 0);
            }
            if is_last || outcome.is_err() {
                return Ok(());
            }
        }
    })?;
    outcome
}

fn read(out: &mut dyn BufRead) -> Result<Option<Row>, GitError> {
    let more = |out: &mut dyn BufRead| Ok((field(out)?, field(out)?, field(out)?, field(out)?));
    let read = log::read_with(out, more)?;
    Ok(read.map(|(commit, (name, email, time, body))| Row {
        commit,
        name,
        email,
        time: time.parse().unwrap_or(0),
        body,
        from_first_parent: None,
    }))
}

/// Renames are looked for only where a commit both adds and deletes. In merges, git would compare everything that was
/// merged, and what a merge shows does not name them.
fn find_renames(runner: &Runner, batch: &mut [Row], deadline: &Deadline) -> Result<(), GitError> {
    let is_candidate = |row: &Row| {
        let has = |status| row.commit.files.iter().any(|change| change.status == status);
        row.commit.parents.len() == 1 && has(Status::Added) && has(Status::Deleted)
    };
    let found = compare(runner, batch, is_candidate, &without(&["-c"]), deadline)?;
    for (at, files) in found {
        batch[at].commit.files = files;
    }
    Ok(())
}

/// What a merge brought to its first parent; a path that is not among it is the same in both.
fn compare_with_first_parents(
    runner: &Runner,
    batch: &mut [Row],
    deadline: &Deadline,
) -> Result<(), GitError> {
    let is_merge = |row: &Row| row.commit.parents.len() > 1;
    let mut options = without(&["-c", "-M", "-l1000"]);
    options.push("--no-renames");
    let found = compare(runner, batch, is_merge, &options, deadline)?;
    for row in batch.iter_mut().filter(|row| is_merge(row)) {
        row.from_first_parent = Some(Vec::new());
    }
    for (at, files) in found {
        batch[at].from_first_parent = Some(files);
    }
    Ok(())
}

/// What differs between the commits chosen and their first parents, by their place in the batch.
fn compare(
    runner: &Runner,
    batch: &[Row],
    is_chosen: impl Fn(&Row) -> bool,
    options: &[&str],
    deadline: &Deadline,
) -> Result<Vec<(usize, Vec<Change>)>, GitError> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut input = String::new();
    for (at, row) in batch.iter().enumerate().filter(|(_, row)| is_chosen(row)) {
        places.insert(&row.commit.id, at);
        // Whoever is named after a commit counts as its parent.
        input += &format!("{} {}\n", row.commit.id, row.commit.parents[0]);
    }
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let mut command = runner.command("diff-tree");
    command.args(["--stdin", "-r"]).args(options);
    stream(command, Some(input.as_bytes()), deadline, |out| {
        let mut found = Vec::new();
        while skip_between(out)? {
            let id = field(out)?;
            let files = changes(out)?;
            found.extend(places.get(id.as_str()).map(|at| (*at, files)));
        }
        Ok(found)
    })
}

/// How changes are found, without some of the options.
fn without(options: &[&str]) -> Vec<&'static str> {
    CHANGES
        .iter()
        .copied()
        .filter(|option| !options.contains(option))
        .collect()
}
