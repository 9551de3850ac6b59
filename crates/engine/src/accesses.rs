//! Which files were read, and when: what somebody works on is found again sooner.
//!
//! Kept in the project's folder of the user's cache, for a month. Losing it loses nothing but an order.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use docent_core::path::RepoPath;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::clock::Clock;
use crate::files::make_private;

/// The accesses of one project.
#[derive(Debug)]
pub struct Accesses {
    /// Nothing where the user has no cache.
    folder: Option<PathBuf>,
    clock: Clock,
    connection: Mutex<Option<Connection>>,
}

/// How often a file was read since a moment, and when last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessed {
    pub path: String,
    pub times: u64,
    pub last: Timestamp,
}

/// Why nothing was kept or told.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("the cache cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    #[error("the table of accesses cannot be used: {0}")]
    Table(#[from] rusqlite::Error),
}

/// How long an access is remembered, in seconds.
const RETENTION_SECONDS: i64 = 30 * 24 * 60 * 60;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA max_page_count = 20000;
    CREATE TABLE IF NOT EXISTS access (path TEXT NOT NULL, at INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS access_at ON access (at);";

impl Accesses {
    pub fn new(folder: Option<PathBuf>, clock: Clock) -> Self {
        Self {
            folder,
            clock,
            connection: Mutex::default(),
        }
    }

    /// Remembers that these files were read now.
    pub fn record(&self, paths: &[&RepoPath]) -> Result<(), AccessError> {
        let now = self.clock.now().as_second();
        self.with(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute("DELETE FROM access WHERE at < ?1", [now - RETENTION_SECONDS])?;
            for path in paths {
                transaction
                    .prepare_cached("INSERT INTO access (path, at) VALUES (?1, ?2)")?
                    .execute(params![path.as_str(), now])?;
            }
            transaction.commit()
        })
        .map(drop)
    }

    /// What was known of a file is known of its new name.
    pub fn rename(&self, from: &RepoPath, to: &RepoPath) -> Result<(), AccessError> {
        self.with(|connection| {
            connection
                .prepare_cached("UPDATE access SET path = ?2 WHERE path = ?1")?
                .execute([from.as_str(), to.as_str()])
        })
        .map(drop)
    }

    /// The files that were read since a moment, the last one first.
    pub fn since(&self, moment: Timestamp) -> Result<Vec<Accessed>, AccessError> {
        let accessed = self.with(|connection| {
            let mut query = connection.prepare_cached(
                "SELECT path, count(*), max(at) FROM access WHERE at >= ?1 GROUP BY path ORDER BY max(at) DESC, path",
            )?;
            let rows = query.query_map([moment.as_second()], |row| {
                Ok(Accessed {
                    path: row.get(0)?,
                    times: row.get::<_, i64>(1)?.unsigned_abs(),
                    last: Timestamp::from_second(row.get(2)?).unwrap_or_default(),
                })
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        })?;
        Ok(accessed.unwrap_or_default())
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, AccessError> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            make_private(folder)?;
            let file = folder.join("accesses-1.db");
            *connection = Some(match open(&file) {
                // What is broken is thrown away: it only ordered answers.
                Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
                    std::fs::remove_file(&file)?;
                    open(&file)?
                }
                opened => opened?,
            });
        }
        let connection = connection.as_mut().expect("it was opened above");
        Ok(Some(work(connection)?))
    }
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(1))?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(folder: &std::path::Path, at: &str) -> Accesses {
        Accesses::new(Some(folder.to_owned()), Clock::Fixed(at.parse().unwrap()))
    }

    #[test]
    fn accesses_are_counted_over_processes_and_forgotten_after_a_month() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (RepoPath::parse("a.rs").unwrap(), RepoPath::parse("b.rs").unwrap());
        let record = |at: &str, paths: &[&RepoPath]| accesses(folder.path(), at).record(paths).unwrap();
        record("2026-01-01T00:00:00Z", &[&a]);
        record("2026-01-09T10:00:00Z", &[&a, &b]);
        record("2026-01-09T11:00:00Z", &[&a]);
        let since = |moment: &str| -> Vec<(String, u64)> {
            let found = accesses(folder.path(), moment)
                .since(moment.parse().unwrap())
                .unwrap();
            found.into_iter().map(|file| (file.path, file.times)).collect()
        };
        assert_eq!(
            since("2026-01-02T00:00:00Z"),
            [("a.rs".into(), 2), ("b.rs".into(), 1)]
        );
        assert_eq!(
            since("2025-01-01T00:00:00Z"),
            [("a.rs".into(), 3), ("b.rs".into(), 1)]
        );
        record("2026-02-05T00:00:00Z", &[&b]);
        assert_eq!(
            since("2025-01-01T00:00:00Z"),
            [("b.rs".into(), 2), ("a.rs".into(), 2)]
        );
    }

    #[test]
    fn a_broken_table_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("accesses-1.db"), "not a table".repeat(100)).unwrap();
        let accesses = accesses(folder.path(), "2026-01-09T10:00:00Z");
        accesses.record(&[&RepoPath::parse("a").unwrap()]).unwrap();
        assert_eq!(accesses.since(Timestamp::UNIX_EPOCH).unwrap().len(), 1);
    }

    #[test]
    fn without_a_cache_nothing_is_remembered_and_nothing_fails() {
        let accesses = Accesses::new(None, Clock::System);
        accesses.record(&[&RepoPath::parse("a").unwrap()]).unwrap();
        assert_eq!(accesses.since(Timestamp::UNIX_EPOCH).unwrap(), []);
    }
}
