//! The commit table: authors, dates, subjects and changed files of all commits, in the user's cache.
//!
//! It is derived from the repository. A damaged table, or one of another version, is deleted and filled
//! again.
//!
//! Invariant: commits are written parents first, so a crash leaves a table that is complete as far as it
//! goes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::graph::{Graph, number};
use super::raw::{ChangeStatus, ChangedFile};
use super::{Commit, GitError};
use crate::sqlite::{self, DatabaseError, OnDamage, Schema};

/// An open table.
#[derive(Debug)]
pub(super) struct CommitTable {
    connection: Connection,
    identity: i64,
}

/// A commit with the fields that only the table needs.
pub(super) struct CommitRow {
    pub(super) commit: Commit,
    /// Name and address of the author before the mailmap.
    pub(super) name: String,
    pub(super) email: String,
    /// Commit time in seconds since 1970.
    pub(super) time: i64,
    /// The changes of a merge against its first parent.
    pub(super) from_first_parent: Option<Vec<ChangedFile>>,
}

/// The commits that changed a path against their first parent.
pub(super) struct PathChanges {
    pub(super) by_number: Vec<bool>,
    /// For a single file, the fingerprint of its content after each commit.
    pub(super) contents: HashMap<u32, u64>,
}

/// Why the table cannot answer. Git answers instead.
#[derive(Debug, thiserror::Error)]
pub(super) enum TableError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("another process writes")]
    Busy,
    #[error("its rows contradict each other")]
    Inconsistent,
    #[error("there are too many commits")]
    TooManyCommits,
}

impl From<rusqlite::Error> for TableError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

impl TableError {
    /// True if only a new table helps.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Database(DatabaseError::Damaged(_)) | Self::Inconsistent => true,
            Self::Database(_) | Self::Git(_) | Self::Io(_) | Self::Busy | Self::TooManyCommits => false,
        }
    }
}

/// The table is derived from the repository, so a damaged one, or one of another version, is filled again.
const SCHEMA: Schema = Schema {
    version: 6,
    pragmas: "PRAGMA synchronous = NORMAL; PRAGMA max_page_count = 500000;",
    tables: "
    CREATE TABLE identity (id INTEGER NOT NULL, in_commit_graph INTEGER NOT NULL);
    INSERT INTO identity VALUES (random(), 0);
    CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, UNIQUE (name, email));
    CREATE TABLE paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
    CREATE TABLE commits (
        id INTEGER PRIMARY KEY, oid BLOB NOT NULL UNIQUE, time INTEGER NOT NULL, author INTEGER NOT NULL,
        date TEXT NOT NULL, subject TEXT NOT NULL, parents BLOB NOT NULL, files BLOB NOT NULL);
    CREATE TABLE touched (
        path INTEGER NOT NULL, commit_id INTEGER NOT NULL, content INTEGER NOT NULL,
        PRIMARY KEY (path, commit_id)) WITHOUT ROWID;",
    on_damage: OnDamage::Rebuild,
    after_damage: "",
    busy_timeout: Duration::from_secs(5),
};

const FILE: &str = "history.db";

/// For a directory with more paths than this, git is faster.
const MAX_PATHS_BELOW: i64 = 2_000;

impl CommitTable {
    /// Opens the table in `folder`. Creates an empty one if there is none that can be used.
    pub(super) fn open(folder: &Path) -> Result<Self, TableError> {
        let connection = sqlite::open(&folder.join(FILE), &SCHEMA)?;
        let identity = connection.query_row("SELECT id FROM identity", [], |row| row.get(0))?;
        Ok(Self { connection, identity })
    }

    /// Deletes a damaged table.
    pub(super) fn remove(folder: &Path) -> Result<(), TableError> {
        let _lock = lock(folder)?.ok_or(TableError::Busy)?;
        Ok(sqlite::remove(&folder.join(FILE))?)
    }

    /// The number of commits when the commit graph was last written.
    pub(super) fn in_commit_graph(&self) -> Result<usize, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT in_commit_graph FROM identity")?;
        let commits: u32 = statement.query_row([], |row| row.get(0))?;
        Ok(commits as usize)
    }

    pub(super) fn set_in_commit_graph(&self, commits: usize) -> Result<(), TableError> {
        let mut statement = self
            .connection
            .prepare_cached("UPDATE identity SET in_commit_graph = ?1")?;
        statement.execute([number(commits)])?;
        Ok(())
    }

    /// A random number that differs in a table that replaces this one.
    pub(super) fn identity(&self) -> i64 {
        self.identity
    }

    /// Adds the commits that `graph` does not have yet.
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
                .map(u32_from_bytes)
                .collect();
            let author: u32 = row.get(1)?;
            let is_valid = parents.iter().all(|parent| (*parent as usize) < graph.len());
            let author = author
                .checked_sub(1)
                .filter(|_| is_valid)
                .ok_or(TableError::Inconsistent)?;
            graph.push(row.get(0)?, author, &parents);
        }
        Ok(())
    }

    /// The number of a commit. `None` if the table does not have it.
    pub(super) fn number(&self, id: &str) -> Result<Option<u32>, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM commits WHERE oid = ?1")?;
        let id: Option<u32> = statement
            .query_row([id_to_bytes(id)], |row| row.get(0))
            .optional()?;
        Ok(id.map(|id| id - 1))
    }

    /// A commit's id.
    pub(super) fn id(&self, number: u32) -> Result<String, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT oid FROM commits WHERE id = ?1")?;
        let oid: Vec<u8> = statement.query_row([number + 1], |row| row.get(0))?;
        Ok(id_from_bytes(&oid))
    }

    /// The commits among the first `commits` that changed `path` or a path below it. `None` if too many paths
    /// are below it.
    pub(super) fn changes_of(&self, path: &str, commits: usize) -> Result<Option<PathChanges>, TableError> {
        const BELOW: &str = "path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0')";
        let mut count = self.connection.prepare_cached(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM paths WHERE {BELOW} LIMIT {MAX_PATHS_BELOW})"
        ))?;
        let paths: i64 = count.query_row([path], |row| row.get(0))?;
        if paths == MAX_PATHS_BELOW {
            return Ok(None);
        }
        let mut exact = self
            .connection
            .prepare_cached("SELECT 1 FROM paths WHERE path = ?1")?;
        let is_file = paths == 1 && exact.exists([path])?;
        let mut changes = PathChanges {
            by_number: vec![false; commits],
            contents: HashMap::new(),
        };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT commit_id, content FROM touched WHERE path IN (SELECT id FROM paths WHERE {BELOW})"
        ))?;
        let mut rows = statement.query([path])?;
        while let Some(row) = rows.next()? {
            let id: u32 = row.get(0)?;
            // Commits beyond the vector were added by another process meanwhile.
            if let Some(is_changed) = changes.by_number.get_mut(id as usize - 1) {
                *is_changed = true;
                if is_file {
                    let content: i64 = row.get(1)?;
                    changes.contents.insert(id - 1, content.cast_unsigned());
                }
            }
        }
        Ok(Some(changes))
    }

    /// Names and addresses of all authors, before the mailmap.
    pub(super) fn authors(&self) -> Result<Vec<(String, String)>, TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT name, email FROM authors ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A commit without its author and its parents, and the number of its author.
    pub(super) fn commit(&self, number: u32) -> Result<(Commit, usize), TableError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT oid, author, date, subject, files FROM commits WHERE id = ?1")?;
        Ok(statement.query_row([number + 1], |row| {
            let author: u32 = row.get(1)?;
            let commit = Commit {
                id: id_from_bytes(row.get_ref(0)?.as_blob()?),
                short: String::new(),
                parents: Vec::new(),
                author: String::new(),
                email: String::new(),
                date: row.get(2)?,
                subject: row.get(3)?,
                files: decode_changes(row.get_ref(4)?.as_blob()?),
                unlisted: 0,
            };
            Ok((commit, author as usize - 1))
        })?)
    }

    /// Adds commits, parents first, in one transaction.
    pub(super) fn write(&mut self, batch: &[CommitRow]) -> Result<(), TableError> {
        let transaction = self.connection.transaction()?;
        for row in batch {
            let CommitRow {
                commit,
                name,
                email,
                time,
                ..
            } = row;
            let mut parents = Vec::new();
            for parent in &commit.parents {
                let mut statement = transaction.prepare_cached("SELECT id FROM commits WHERE oid = ?1")?;
                let id: u32 = statement.query_row([id_to_bytes(parent)], |row| row.get(0))?;
                parents.extend((id - 1).to_le_bytes());
            }
            transaction
                .prepare_cached("INSERT OR IGNORE INTO authors (name, email) VALUES (?1, ?2)")?
                .execute([name, email])?;
            let mut statement = transaction.prepare_cached(
                "INSERT OR IGNORE INTO commits (oid, time, author, date, subject, parents, files)
                 VALUES (?1, ?2, (SELECT id FROM authors WHERE name = ?3 AND email = ?4), ?5, ?6, ?7, ?8)",
            )?;
            let new = statement.execute(params![
                id_to_bytes(&commit.id),
                time,
                name,
                email,
                commit.date,
                commit.subject,
                parents,
                encode_changes(&commit.files)
            ])?;
            if new == 0 {
                continue;
            }
            let id = transaction.last_insert_rowid();
            for change in row.from_first_parent.as_ref().unwrap_or(&commit.files) {
                let origin = change.from.as_ref().map(|from| (from, 0));
                for (name, content) in [Some((&change.path, change.content)), origin]
                    .into_iter()
                    .flatten()
                {
                    let path = path_id(&transaction, name)?;
                    transaction
                        .prepare_cached("INSERT OR REPLACE INTO touched VALUES (?1, ?2, ?3)")?
                        .execute([path, id, content.cast_signed()])?;
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

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

/// Encodes changes: the letter and the path, for renames the old path too, with a NUL behind each path.
fn encode_changes(changes: &[ChangedFile]) -> Vec<u8> {
    let mut packed = Vec::new();
    for change in changes {
        packed.push(change.status.letter() as u8);
        for name in change.names() {
            packed.extend_from_slice(name.as_bytes());
            packed.push(0);
        }
    }
    packed
}

/// Decodes the changes that [`encode_changes`] wrote.
fn decode_changes(mut packed: &[u8]) -> Vec<ChangedFile> {
    let mut changes = Vec::new();
    while let Some((letter, rest)) = packed.split_first() {
        let status = ChangeStatus::from_letter((*letter).into());
        let mut fields = rest.splitn(if status.has_two_names() { 3 } else { 2 }, |byte| *byte == 0);
        let mut name = || String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
        let path = name();
        let from = status.has_two_names().then(&mut name);
        packed = fields.next().unwrap_or_default();
        changes.push(ChangedFile {
            status,
            path,
            from,
            old_mode: String::new(),
            new_mode: String::new(),
            parents: 1,
            same_content: false,
            content: 0,
        });
    }
    changes
}

/// Takes the lock of the one process that fills the table. `None` while another process has it. The operating
/// system releases it when the process ends.
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

fn id_to_bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks_exact(2)
        .filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

fn id_from_bytes(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

fn u32_from_bytes(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_decoded_as_they_were_encoded() {
        let change = |status, path: &str, from: Option<&str>| ChangedFile {
            status,
            path: path.into(),
            from: from.map(str::to_owned),
            old_mode: String::new(),
            new_mode: String::new(),
            parents: 1,
            same_content: false,
            content: 0,
        };
        let changes = vec![
            change(ChangeStatus::Added, "a b", None),
            change(ChangeStatus::Renamed, "größe", Some("old")),
            change(ChangeStatus::Deleted, "x", None),
        ];
        assert_eq!(decode_changes(&encode_changes(&changes)), changes);
        assert_eq!(decode_changes(&[]), []);
    }

    #[test]
    fn ids_are_converted_to_bytes_and_back() {
        let id = "00ff10".repeat(7);
        assert_eq!(id_from_bytes(&id_to_bytes(&id)), id);
        assert_eq!(u32_from_bytes(&7_000_000_u32.to_le_bytes()), 7_000_000);
    }
}
