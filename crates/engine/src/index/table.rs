//! What the index knows of each file: when it was read, what it held, how many chunks it was cut into, or why it was not.
//!
//! Invariant: the table never leads the store. A file is written down here after its chunks were committed, so that a process
//! killed in between leaves a file that is read once more.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use docent_core::path::RepoPath;
use rusqlite::{Connection, OptionalExtension, params};

use super::Corpus;
use crate::stamp::Stamp;

/// The table of one index.
#[derive(Debug)]
pub(super) struct FileTable {
    connection: Connection,
}

/// A file as it was when it was indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexedFile {
    pub(super) stamp: Stamp,
    /// Of its content.
    pub(super) hash: u64,
    pub(super) chunks: u32,
    pub(super) language: String,
    /// Why none of it can be found, or why it was cut by lines.
    pub(super) note: Option<String>,
    /// Tells by what rules it was cut, where there is more than one way.
    pub(super) rules: u64,
    /// What a page is labelled with, as JSON; `""` for nothing.
    pub(super) labels: String,
}

/// What happened to a file.
#[derive(Clone, Debug)]
pub(super) enum TableChange {
    Indexed(RepoPath, IndexedFile),
    Gone(RepoPath),
}

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS file (
        corpus TEXT NOT NULL, path TEXT NOT NULL,
        size INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL, inode INTEGER NOT NULL,
        hash INTEGER NOT NULL, chunks INTEGER NOT NULL, language TEXT NOT NULL, note TEXT,
        rules INTEGER NOT NULL, labels TEXT NOT NULL, PRIMARY KEY (corpus, path)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;";

impl FileTable {
    pub(super) fn open(file: &Path) -> rusqlite::Result<Self> {
        Self::new(Connection::open(file)?)
    }

    pub(super) fn in_memory() -> rusqlite::Result<Self> {
        Self::new(Connection::open_in_memory()?)
    }

    fn new(connection: Connection) -> rusqlite::Result<Self> {
        connection.busy_timeout(Duration::from_secs(2))?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection })
    }

    /// Changes when another process has written.
    pub(super) fn version(&self) -> rusqlite::Result<i64> {
        self.connection
            .query_row("PRAGMA data_version", [], |row| row.get(0))
    }

    pub(super) fn files(&self, corpus: Corpus) -> rusqlite::Result<BTreeMap<RepoPath, IndexedFile>> {
        let mut query = self.connection.prepare_cached(
            "SELECT path, size, modified, changed, inode, hash, chunks, language, note, rules, labels
             FROM file WHERE corpus = ?1",
        )?;
        let rows = query.query_map([corpus.name()], |row| Ok((row.get::<_, String>(0)?, read(row)?)))?;
        let mut files = BTreeMap::new();
        for row in rows {
            let (path, row) = row?;
            if let Ok(path) = RepoPath::parse(&path) {
                files.insert(path, row);
            }
        }
        Ok(files)
    }

    /// Every file of the project with its language, in order. One of which nothing can be found has none.
    pub(super) fn languages(&self) -> rusqlite::Result<Vec<(RepoPath, String)>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT path, language FROM file WHERE corpus = ?1 ORDER BY path")?;
        let rows = query.query_map([Corpus::Code.name()], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        let parsed = rows.filter_map(|row| match row {
            Ok((path, language)) => Some(Ok((RepoPath::parse(&path).ok()?, language))),
            Err(error) => Some(Err(error)),
        });
        parsed.collect()
    }

    /// The number of the commit that was written down last; 0 before the first.
    pub(super) fn commit(&self, corpus: Corpus) -> rusqlite::Result<u64> {
        let number = self.fact(&commit_of(corpus))?;
        Ok(number.and_then(|number| number.parse().ok()).unwrap_or_default())
    }

    /// Writes down what was committed under a number, all of it or nothing.
    pub(super) fn write(
        &mut self,
        corpus: Corpus,
        written: &[TableChange],
        commit: u64,
    ) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO file
                 (corpus, path, size, modified, changed, inode, hash, chunks, language, note, rules, labels)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?;
            let mut delete =
                transaction.prepare_cached("DELETE FROM file WHERE corpus = ?1 AND path = ?2")?;
            for written in written {
                match written {
                    TableChange::Indexed(path, row) => insert.execute(params![
                        corpus.name(),
                        path.as_str(),
                        row.stamp.size.cast_signed(),
                        row.stamp.modified,
                        row.stamp.changed,
                        row.stamp.inode.cast_signed(),
                        row.hash.cast_signed(),
                        row.chunks,
                        row.language,
                        row.note,
                        row.rules.cast_signed(),
                        row.labels,
                    ])?,
                    TableChange::Gone(path) => delete.execute([corpus.name(), path.as_str()])?,
                };
            }
        }
        transaction.execute(
            "INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)",
            [commit_of(corpus), commit.to_string()],
        )?;
        transaction.commit()
    }

    pub(super) fn fact(&self, name: &str) -> rusqlite::Result<Option<String>> {
        self.connection
            .query_row("SELECT value FROM fact WHERE name = ?1", [name], |row| row.get(0))
            .optional()
    }

    pub(super) fn set_fact(&self, name: &str, value: &str) -> rusqlite::Result<()> {
        self.connection
            .execute(
                "INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)",
                [name, value],
            )
            .map(drop)
    }
}

fn commit_of(corpus: Corpus) -> String {
    format!("commit of {}", corpus.name())
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<IndexedFile> {
    let unsigned = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    Ok(IndexedFile {
        stamp: Stamp {
            size: unsigned(1)?,
            modified: row.get(2)?,
            changed: row.get(3)?,
            inode: unsigned(4)?,
        },
        hash: unsigned(5)?,
        chunks: row.get(6)?,
        language: row.get(7)?,
        note: row.get(8)?,
        rules: unsigned(9)?,
        labels: row.get(10)?,
    })
}

/// True when the database itself is broken, and not only out of reach.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, SchemaChanged, TypeMismatch};
    matches!(
        error,
        rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
    ) || matches!(
        error.sqlite_error_code(),
        Some(DatabaseCorrupt | NotADatabase | SchemaChanged | TypeMismatch | rusqlite::ErrorCode::Unknown)
    )
}
