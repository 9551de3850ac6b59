//! The table of commits: who, when, why and which files, kept in the user's cache.
//!
//! It is derived: losing it loses nothing, and another version of it is made anew. Commits go in parents first, so that
//! whatever a crash leaves is whole as far as it goes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::command::{Runner, stream};
use super::graph::{Graph, number};
use super::log::{CHANGES, FORMAT};
use super::raw::{Change, Status, field, skip_between};
use super::{Commit, GitError, log};
use crate::deadline::Deadline;

/// The table, open.
#[derive(Debug)]
pub(super) struct Table {
    connection: Connection,
}

/// Something is wrong with the table; git is asked instead.
#[derive(Debug, thiserror::Error)]
pub(super) enum TableError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Another number means another form: the table is made anew.
const VERSION: i64 = 1;

const SCHEMA: &str = "
    CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, UNIQUE (name, email));
    CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
    CREATE TABLE commits (
        id INTEGER PRIMARY KEY, oid BLOB NOT NULL UNIQUE, time INTEGER NOT NULL, author INTEGER NOT NULL,
        date TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL, parents BLOB NOT NULL);
    CREATE TABLE changes (
        commit_id INTEGER NOT NULL, position INTEGER NOT NULL, path INTEGER NOT NULL, status INTEGER NOT NULL,
        origin INTEGER, PRIMARY KEY (commit_id, position)) WITHOUT ROWID;
    CREATE INDEX changes_path ON changes (path, commit_id);
    CREATE INDEX changes_origin ON changes (origin, commit_id) WHERE origin IS NOT NULL;
";

/// Commits written at once.
const BATCH: usize = 2_000;

/// Messages are kept up to this many bytes.
const LONGEST_BODY: usize = 20_000;

/// More paths than this below a directory, and git answers sooner.
const MOST_PATHS: i64 = 2_000;

impl Table {
    /// Opens the table in `folder`, or makes it.
    pub(super) fn open(folder: &Path) -> Result<Self, TableError> {
        let path = folder.join("history.db");
        let table = Self::connect(&path)?;
        let version: i64 = table
            .connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version == VERSION {
            return Ok(table);
        }
        let Some(_lock) = lock(folder)? else {
            return Ok(table); // Somebody makes it just now.
        };
        let version: i64 = table
            .connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let table = if version == 0 || version == VERSION {
            table
        } else {
            drop(table);
            for suffix in ["", "-wal", "-shm"] {
                let _ = fs::remove_file(folder.join(format!("history.db{suffix}")));
            }
            Self::connect(&path)?
        };
        if version != VERSION {
            table.connection.execute_batch(&format!(
                "BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
            ))?;
        }
        Ok(table)
    }

    fn connect(path: &PathBuf) -> Result<Self, TableError> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
        Ok(Self { connection })
    }

    /// Reads into `graph` what the table has beyond it.
    pub(super) fn extend(&self, graph: &mut Graph) -> Result<(), TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT time, author, parents FROM commits WHERE id > ?1 ORDER BY id")?;
        let mut rows = statement.query([number(graph.len())])?;
        while let Some(row) = rows.next()? {
            let parents: Vec<u32> = row
                .get_ref(2)?
                .as_blob()
                .map_err(rusqlite::Error::from)?
                .chunks_exact(4)
                .map(to_number)
                .collect();
            let author: u32 = row.get(1)?;
            graph.push(row.get(0)?, author - 1, &parents);
        }
        Ok(())
    }

    /// The number of a commit.
    pub(super) fn number(&self, id: &str) -> Result<Option<u32>, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM commits WHERE oid = ?1")?;
        let id: Option<u32> = statement.query_row([bytes(id)], |row| row.get(0)).optional()?;
        Ok(id.map(|id| id - 1))
    }

    /// A commit's id.
    pub(super) fn id(&self, number: u32) -> Result<String, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT oid FROM commits WHERE id = ?1")?;
        let oid: Vec<u8> = statement.query_row([number + 1], |row| row.get(0))?;
        Ok(hex(&oid))
    }

    /// By number, which commits changed `path` or something below it; nothing where too much is below it.
    pub(super) fn touched(&self, path: &str, commits: usize) -> Result<Option<Vec<bool>>, TableError> {
        const BELOW: &str = "path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0')";
        let mut count = self.connection.prepare_cached(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM paths WHERE {BELOW} LIMIT {MOST_PATHS})"
        ))?;
        let paths: i64 = count.query_row([path], |row| row.get(0))?;
        if paths == MOST_PATHS {
            return Ok(None);
        }
        let mut touched = vec![false; commits];
        for column in ["path", "origin"] {
            let mut statement = self.connection.prepare_cached(&format!(
                "SELECT commit_id FROM changes WHERE {column} IN (SELECT id FROM paths WHERE {BELOW})"
            ))?;
            let mut rows = statement.query([path])?;
            while let Some(row) = rows.next()? {
                let id: u32 = row.get(0)?;
                // Later ones came while this was asked.
                if let Some(place) = touched.get_mut(id as usize - 1) {
                    *place = true;
                }
            }
        }
        Ok(Some(touched))
    }

    pub(super) fn author_count(&self) -> Result<usize, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT coalesce(max(id), 0) FROM authors")?;
        let count: u32 = statement.query_row([], |row| row.get(0))?;
        Ok(count as usize)
    }

    /// Everyone who committed, as they called themselves.
    pub(super) fn authors(&self) -> Result<Vec<(String, String)>, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT name, email FROM authors ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A commit as it is shown, but for its author and its parents; and the author's number.
    pub(super) fn commit(&self, number: u32) -> Result<(Commit, usize), TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT oid, author, date, subject FROM commits WHERE id = ?1")?;
        let (mut commit, author) = statement.query_row([number + 1], |row| {
            let oid: Vec<u8> = row.get(0)?;
            let author: u32 = row.get(1)?;
            let commit = Commit {
                id: hex(&oid),
                short: String::new(),
                parents: Vec::new(),
                author: String::new(),
                email: String::new(),
                date: row.get(2)?,
                subject: row.get(3)?,
                files: Vec::new(),
            };
            Ok((commit, author as usize - 1))
        })?;
        let mut statement = self.connection.prepare_cached(
            "SELECT paths.path, changes.status, origins.path FROM changes
             JOIN paths ON paths.id = changes.path LEFT JOIN paths AS origins ON origins.id = changes.origin
             WHERE commit_id = ?1 ORDER BY position",
        )?;
        let changes = statement.query_map([number + 1], |row| {
            let status: u8 = row.get(1)?;
            Ok(Change {
                status: Status::from_letter(status.into()),
                path: row.get(0)?,
                from: row.get(2)?,
                old_mode: String::new(),
                new_mode: String::new(),
                parents: 1,
            })
        })?;
        commit.files = changes.collect::<Result<_, _>>()?;
        Ok((commit, author))
    }

    /// Adds every commit that `head` contains and `graph`, which is what the table has, does not.
    pub(super) fn fill(
        &mut self,
        runner: &Runner,
        head: &str,
        graph: &Graph,
        deadline: &Deadline,
    ) -> Result<(), TableError> {
        let mut known = String::new();
        for tip in graph.tips() {
            known += &format!("^{}\n", self.id(tip)?);
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
        command.args(
            CHANGES
                .iter()
                .filter(|option| !option.starts_with("-M") && !option.starts_with("-l")),
        );
        command.arg("--no-renames");
        command.arg(head);
        let mut outcome = Ok(());
        stream(command, Some(known.as_bytes()), deadline, |out| {
            let mut batch = Vec::new();
            loop {
                let commit = log::read_with(out, |out| {
                    Ok((field(out)?, field(out)?, field(out)?, field(out)?))
                })?;
                let is_last = commit.is_none();
                batch.extend(commit);
                if batch.len() >= BATCH || is_last {
                    deadline.check()?;
                    find_renames(runner, &mut batch, deadline)?;
                    outcome = self.write(&batch);
                    batch.clear();
                }
                if is_last || outcome.is_err() {
                    return Ok(());
                }
            }
        })?;
        outcome
    }

    fn write(&mut self, batch: &[Row]) -> Result<(), TableError> {
        let transaction = self.connection.transaction()?;
        for (commit, (name, email, time, body)) in batch {
            let mut parents = Vec::new();
            for parent in &commit.parents {
                let mut statement = transaction.prepare_cached("SELECT id FROM commits WHERE oid = ?1")?;
                let id: u32 = statement.query_row([bytes(parent)], |row| row.get(0))?;
                parents.extend((id - 1).to_le_bytes());
            }
            transaction
                .prepare_cached("INSERT OR IGNORE INTO authors (name, email) VALUES (?1, ?2)")?
                .execute([name, email])?;
            let mut statement = transaction.prepare_cached(
                "INSERT OR IGNORE INTO commits (oid, time, author, date, subject, body, parents)
                 VALUES (?1, ?2, (SELECT id FROM authors WHERE name = ?3 AND email = ?4), ?5, ?6, ?7, ?8)",
            )?;
            let time: i64 = time.parse().unwrap_or(0);
            let end = body
                .char_indices()
                .map(|(at, _)| at)
                .find(|at| *at >= LONGEST_BODY)
                .unwrap_or(body.len());
            let new = statement.execute(params![
                bytes(&commit.id),
                time,
                name,
                email,
                commit.date,
                commit.subject,
                &body[..end],
                parents
            ])?;
            if new == 0 {
                continue;
            }
            let id = transaction.last_insert_rowid();
            for (position, change) in (0_i64..).zip(&commit.files) {
                let path = path_id(&transaction, &change.path)?;
                let origin = change
                    .from
                    .as_deref()
                    .map(|from| path_id(&transaction, from))
                    .transpose()?;
                transaction
                    .prepare_cached("INSERT INTO changes VALUES (?1, ?2, ?3, ?4, ?5)")?
                    .execute(params![id, position, path, change.status.letter() as u8, origin])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

/// A commit with its author's own name and address, its time and its message.
type Row = (Commit, (String, String, String, String));

/// What the table keeps beyond a [`Commit`].
const MORE: &str = "%an%x00%ae%x00%ct%x00%b%x00";

fn path_id(connection: &Connection, path: &str) -> Result<i64, TableError> {
    let mut find = connection.prepare_cached("SELECT id FROM paths WHERE path = ?1")?;
    if let Some(id) = find.query_row([path], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO paths (path) VALUES (?1)")?
        .execute([path])?;
    Ok(connection.last_insert_rowid())
}

/// Renames are looked for only where a commit both adds and deletes. In merges, git would compare everything that was
/// merged, and what a merge shows does not name them.
fn find_renames(runner: &Runner, batch: &mut [Row], deadline: &Deadline) -> Result<(), GitError> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut input = String::new();
    for (at, (commit, _)) in batch.iter().enumerate() {
        let has = |status| commit.files.iter().any(|change| change.status == status);
        if commit.parents.len() == 1 && has(Status::Added) && has(Status::Deleted) {
            places.insert(commit.id.clone(), at);
            input += &commit.id;
            input.push('\n');
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let mut command = runner.command("diff-tree");
    command
        .args(["--stdin", "-r"])
        .args(CHANGES.iter().filter(|option| **option != "-c"));
    stream(command, Some(input.as_bytes()), deadline, |out| {
        while skip_between(out)? {
            let id = field(out)?;
            let files = super::raw::changes(out)?;
            if let Some(at) = places.get(&id) {
                batch[*at].0.files = files;
            }
        }
        Ok(())
    })
}

/// The right to write; nothing while another process has it. It ends with the process.
pub(super) fn lock(folder: &Path) -> Result<Option<File>, TableError> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("history.lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks_exact(2)
        .filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn to_number(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}
