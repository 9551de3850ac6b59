//! The access log: which files were shown to callers, and when. Recent accesses raise a file's rank.
//!
//! It lies in the project's folder of the user's cache, and an access is forgotten after a month.
//!
//! Invariant: a missing or damaged log changes the order of results and nothing else.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use docent_core::path::RepoPath;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::clock::Clock;
use crate::sqlite::{Database, DatabaseError, OnDamage, Schema};

/// The accesses of one project.
#[derive(Debug)]
pub struct Accesses {
    /// `None` if the user has no cache directory.
    log: Option<Mutex<Database>>,
    clock: Clock,
}

/// How often a file was shown since a moment, and when last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessed {
    pub path: String,
    pub times: u64,
    pub last: Timestamp,
}

/// Why accesses could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the access log: {0}")]
pub struct AccessError(#[from] DatabaseError);

/// How long an access is remembered, in seconds.
const RETENTION_SECONDS: i64 = 30 * 24 * 60 * 60;

const SCHEMA: Schema = Schema {
    version: 1,
    pragmas: "PRAGMA synchronous = OFF; PRAGMA max_page_count = 20000;",
    tables: "
        CREATE TABLE IF NOT EXISTS access (path TEXT NOT NULL, at INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS access_at ON access (at);",
    on_damage: OnDamage::SetAside,
    after_damage: "",
    busy_timeout: Duration::from_secs(1),
};

impl Accesses {
    pub fn new(folder: Option<PathBuf>, clock: Clock) -> Self {
        let log = folder.map(|folder| Mutex::new(Database::new(folder.join("accesses-1.db"), SCHEMA)));
        Self { log, clock }
    }

    /// Records that these files were shown now.
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

    /// Moves the accesses of a file to its new name.
    pub fn rename(&self, from: &RepoPath, to: &RepoPath) -> Result<(), AccessError> {
        self.with(|connection| {
            connection
                .prepare_cached("UPDATE access SET path = ?2 WHERE path = ?1")?
                .execute([from.as_str(), to.as_str()])
        })
        .map(drop)
    }

    /// The files that were shown since a moment, the latest first.
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

    /// Runs `work` on the log. `None` if there is no log.
    fn with<T>(
        &self,
        work: impl FnMut(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, AccessError> {
        let Some(log) = &self.log else {
            return Ok(None);
        };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(log.run(work)?))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sqlite::damage_pages;

    fn accesses(folder: &Path, at: &str) -> Accesses {
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
            let files = accesses(folder.path(), moment)
                .since(moment.parse().unwrap())
                .unwrap();
            files.into_iter().map(|file| (file.path, file.times)).collect()
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

    /// The log works, and the damaged file is beside it.
    fn assert_healed(accesses: &Accesses, folder: &Path) {
        accesses.record(&[&RepoPath::parse("new").unwrap()]).unwrap();
        let seen = accesses.since(Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert!(folder.join("accesses-1.damaged").exists());
    }

    #[test]
    fn a_file_that_is_no_database_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let garbage = "not a table".repeat(100);
        std::fs::write(folder.path().join("accesses-1.db"), &garbage).unwrap();
        let accesses = accesses(folder.path(), "2026-01-09T10:00:00Z");
        assert_healed(&accesses, folder.path());
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        let text = std::fs::read_to_string(folder.path().join("accesses-1.damaged")).unwrap();
        assert_eq!(text, garbage);
    }

    #[test]
    fn a_log_with_damaged_pages_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        accesses(folder.path(), "2026-01-09T10:00:00Z")
            .record(&[&RepoPath::parse("old").unwrap()])
            .unwrap();
        damage_pages(&folder.path().join("accesses-1.db"));
        assert_healed(&accesses(folder.path(), "2026-01-09T10:00:00Z"), folder.path());
    }

    #[test]
    fn a_log_that_is_damaged_while_it_is_open_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let accesses = accesses(folder.path(), "2026-01-09T10:00:00Z");
        accesses.record(&[&RepoPath::parse("old").unwrap()]).unwrap();
        accesses
            .with(|connection| connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"))
            .unwrap();
        damage_pages(&folder.path().join("accesses-1.db"));
        // Another process changes the file, so that pages in memory are read again.
        let other = super::tests::accesses(folder.path(), "2026-01-09T10:00:00Z");
        let _ = other.record(&[&RepoPath::parse("other").unwrap()]);
        accesses.record(&[&RepoPath::parse("new").unwrap()]).unwrap();
        let seen = accesses.since(Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(seen.len(), 2, "both processes write into one log: {seen:?}");
    }

    #[test]
    fn without_a_cache_directory_recording_does_nothing() {
        let accesses = Accesses::new(None, Clock::System);
        accesses.record(&[&RepoPath::parse("a").unwrap()]).unwrap();
        assert_eq!(accesses.since(Timestamp::UNIX_EPOCH).unwrap(), []);
    }
}
