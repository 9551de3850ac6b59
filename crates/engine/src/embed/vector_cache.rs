//! The vectors that an embedding server gave, cached by the hash of their text, so that no text is paid for
//! twice.
//!
//! The cache is the user's and not a project's: two checkouts of a project share it. There is one database
//! per model. It also lists the files whose vectors are complete, so that a new process need not chunk every
//! file to see that there is nothing to do.
//!
//! Invariant: all vectors of a database are of one model. If the server gives vectors of another one, the old
//! ones are deleted.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::http::EmbeddingError;
use super::quantized::QuantizedVector;
use crate::sqlite::{Database, DatabaseError, OnDamage, Schema};

/// The vectors of one model.
#[derive(Debug)]
pub(super) struct VectorCache {
    database: Database,
}

const SCHEMA: Schema = Schema {
    version: 1,
    pragmas: "PRAGMA synchronous = NORMAL;",
    tables: "
        CREATE TABLE IF NOT EXISTS vector (key INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS file (key INTEGER PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;",
    on_damage: OnDamage::SetAside,
    // Another epoch than that of the damaged file, so that no process notes a file as complete by its old
    // vectors.
    after_damage: "INSERT OR REPLACE INTO fact (name, value) VALUES ('epoch', abs(random() / 2));",
    busy_timeout: Duration::ZERO,
};

/// A cached answer of the server for one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CachedVector {
    Vector(QuantizedVector),
    /// The server accepts other texts, but not this one.
    Refused,
}

/// The model that vectors are of, as far as the server's answers show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelSignature {
    pub(super) dimensions: usize,
    pub(super) model: Option<String>,
}

/// The policy for vectors of another model than the cached ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnModelChange {
    /// Delete the cached vectors: the server was given another model.
    Replace,
    /// Return an error.
    Reject,
}

impl VectorCache {
    /// `busy_timeout` is how long a statement waits for another process.
    pub(super) fn open(file: PathBuf, busy_timeout: Duration) -> Result<Self, EmbeddingError> {
        let schema = Schema {
            busy_timeout,
            ..SCHEMA
        };
        let mut database = Database::new(file, schema);
        database.run(|_| Ok(()))?;
        Ok(Self { database })
    }

    pub(super) fn get(&mut self, key: u64) -> Result<Option<CachedVector>, EmbeddingError> {
        let numbers: Option<Vec<u8>> = self.database.run(|connection| {
            let mut query = connection.prepare_cached("SELECT numbers FROM vector WHERE key = ?1")?;
            query.query_row([key.cast_signed()], |row| row.get(0)).optional()
        })?;
        Ok(numbers.map(|numbers| match numbers.as_slice() {
            [] => CachedVector::Refused,
            numbers => CachedVector::Vector(QuantizedVector::from_bytes(numbers)),
        }))
    }

    /// The files whose vectors are complete.
    pub(super) fn files(&mut self) -> Result<HashSet<u64>, EmbeddingError> {
        let files = self.database.run(|connection| {
            let mut query = connection.prepare_cached("SELECT key FROM file")?;
            let keys = query.query_map([], |row| row.get::<_, i64>(0))?;
            keys.map(|key| key.map(i64::cast_unsigned)).collect()
        })?;
        Ok(files)
    }

    /// How many vectors are cached.
    pub(super) fn count(&mut self) -> Result<u64, EmbeddingError> {
        const COUNT: &str = "SELECT count(*) FROM vector WHERE length(numbers) > 0";
        let count = self
            .database
            .run(|connection| connection.query_row(COUNT, [], |row| row.get::<_, i64>(0)))?;
        Ok(count.cast_unsigned())
    }

    /// A number that changes whenever all vectors were deleted.
    pub(super) fn epoch(&mut self) -> Result<u64, EmbeddingError> {
        Ok(self.database.run(|connection| read_epoch(connection))?)
    }

    /// Notes that the vectors of a file are complete, unless vectors were deleted since that epoch.
    pub(super) fn add_file(&mut self, key: u64, epoch: u64) -> Result<(), EmbeddingError> {
        self.database.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if read_epoch(&transaction)? == epoch {
                transaction.execute(
                    "INSERT OR REPLACE INTO file (key) VALUES (?1)",
                    [key.cast_signed()],
                )?;
            }
            transaction.commit()
        })?;
        Ok(())
    }

    /// Writes this many bytes and deletes them, to see that there is room.
    pub(super) fn test_write(&mut self, bytes: usize) -> Result<(), EmbeddingError> {
        const TEST_KEY: i64 = -1;
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.database.run(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO vector (key, numbers) VALUES (?1, zeroblob(?2))",
                (TEST_KEY, bytes),
            )?;
            connection.execute("DELETE FROM vector WHERE key = ?1", [TEST_KEY])
        })?;
        Ok(())
    }

    /// Notes that the server does not accept this text.
    pub(super) fn add_refused(&mut self, key: u64) -> Result<(), EmbeddingError> {
        self.database.run(|connection| {
            connection.execute(
                "INSERT OR IGNORE INTO vector (key, numbers) VALUES (?1, x'')",
                [key.cast_signed()],
            )
        })?;
        Ok(())
    }

    /// Adds vectors, all or none. Returns false if vectors of another model were deleted for them.
    pub(super) fn add(
        &mut self,
        vectors: &[(u64, QuantizedVector)],
        signature: &ModelSignature,
        on_change: OnModelChange,
    ) -> Result<bool, EmbeddingError> {
        self.database.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let before = read_signature(&transaction)?;
            let is_same = before.as_ref().is_none_or(|before| before.fits(signature));
            if !is_same && on_change == OnModelChange::Reject {
                let before = before.map(|before| before.to_string()).unwrap_or_default();
                let change = format!("{signature} where it gave {before}");
                return Ok(Err(EmbeddingError::ModelChanged(change)));
            }
            if !is_same {
                transaction.execute_batch("DELETE FROM vector; DELETE FROM file;")?;
                let epoch = read_epoch(&transaction)? + 1;
                set_fact(&transaction, "epoch", &epoch.to_string())?;
            }
            if before.as_ref() != Some(signature) {
                set_signature(&transaction, signature)?;
            }
            for (key, vector) in vectors {
                transaction.execute(
                    "INSERT OR REPLACE INTO vector (key, numbers) VALUES (?1, ?2)",
                    (key.cast_signed(), vector.to_bytes()),
                )?;
            }
            transaction.commit()?;
            Ok(Ok(is_same))
        })?
    }
}

fn read_signature(connection: &Connection) -> rusqlite::Result<Option<ModelSignature>> {
    let dimensions = read_fact(connection, "dimensions")?.and_then(|number| number.parse().ok());
    let model = read_fact(connection, "model")?;
    Ok(dimensions.map(|dimensions| ModelSignature { dimensions, model }))
}

fn set_signature(connection: &Connection, signature: &ModelSignature) -> rusqlite::Result<()> {
    set_fact(connection, "dimensions", &signature.dimensions.to_string())?;
    match &signature.model {
        Some(model) => set_fact(connection, "model", model),
        None => Ok(()),
    }
}

fn set_fact(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let set = "INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)";
    connection.execute(set, [name, value]).map(drop)
}

fn read_fact(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let read = "SELECT value FROM fact WHERE name = ?1";
    connection.query_row(read, [name], |row| row.get(0)).optional()
}

fn read_epoch(connection: &Connection) -> rusqlite::Result<u64> {
    let epoch = read_fact(connection, "epoch")?.and_then(|epoch| epoch.parse().ok());
    Ok(epoch.unwrap_or_default())
}

impl ModelSignature {
    /// Whether both may be the same model. Some servers do not name theirs.
    fn fits(&self, other: &Self) -> bool {
        let named = self.model.as_ref().zip(other.model.as_ref());
        self.dimensions == other.dimensions && named.is_none_or(|(one, other)| one == other)
    }
}

impl std::fmt::Display for ModelSignature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} numbers", self.dimensions)?;
        self.model
            .as_ref()
            .map_or(Ok(()), |model| write!(f, " of {model}"))
    }
}

impl From<DatabaseError> for EmbeddingError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Busy => Self::Busy,
            error => Self::CannotStore(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sqlite::damage_pages;

    fn vector(numbers: &[f32]) -> QuantizedVector {
        QuantizedVector::quantize(numbers).unwrap()
    }

    fn signature(dimensions: usize, model: &str) -> ModelSignature {
        ModelSignature {
            dimensions,
            model: Some(model.to_owned()),
        }
    }

    #[test]
    fn vectors_of_another_model_replace_all_or_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = VectorCache::open(folder.path().join("a/v.db"), Duration::ZERO).unwrap();
        let two = vector(&[1.0, 0.5]);
        assert_eq!(
            cache.add(&[(7, two.clone())], &signature(2, "m"), OnModelChange::Reject),
            Ok(true)
        );
        cache.add_file(1, 0).unwrap();
        cache.add_refused(8).unwrap();
        assert_eq!(cache.get(7), Ok(Some(CachedVector::Vector(two.clone()))));
        assert_eq!(cache.get(8), Ok(Some(CachedVector::Refused)));
        assert_eq!(cache.get(9), Ok(None));

        for other in [signature(3, "m"), signature(2, "n")] {
            let refused = cache.add(&[(9, two.clone())], &other, OnModelChange::Reject);
            assert!(
                matches!(refused, Err(EmbeddingError::ModelChanged(_))),
                "{refused:?}"
            );
        }
        assert_eq!(cache.get(9), Ok(None));
        let three = vector(&[1.0, 0.5, 0.1]);
        assert_eq!(
            cache.add(&[(9, three.clone())], &signature(3, "m"), OnModelChange::Replace),
            Ok(false)
        );
        assert_eq!(cache.get(7), Ok(None));
        assert_eq!(cache.get(9), Ok(Some(CachedVector::Vector(three))));
        assert_eq!(cache.files(), Ok(HashSet::new()));
        // A file whose vectors were deleted meanwhile is not complete.
        cache.add_file(2, 0).unwrap();
        assert_eq!((cache.files(), cache.epoch()), (Ok(HashSet::new()), Ok(1)));
        let nameless = ModelSignature {
            model: None,
            ..signature(3, "")
        };
        assert_eq!(cache.add(&[], &nameless, OnModelChange::Reject), Ok(true));
    }

    #[test]
    fn a_file_that_is_no_database_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("v.db");
        fs::write(&file, "nonsense, and more of it than a header has".repeat(200)).unwrap();
        let mut cache = VectorCache::open(file, Duration::ZERO).unwrap();
        assert_eq!(
            cache.add(&[(1, vector(&[1.0]))], &signature(1, "m"), OnModelChange::Reject),
            Ok(true)
        );
        assert!(folder.path().join("v.damaged").exists());
    }

    #[test]
    fn a_cache_with_damaged_pages_starts_again_with_another_epoch() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("v.db");
        let mut cache = VectorCache::open(file.clone(), Duration::ZERO).unwrap();
        let one = [(1, vector(&[1.0]))];
        cache
            .add(&one, &signature(1, "m"), OnModelChange::Reject)
            .unwrap();
        let epoch = cache.epoch().unwrap();
        drop(cache);
        damage_pages(&file);
        let mut cache = VectorCache::open(file, Duration::ZERO).unwrap();
        assert_eq!(cache.get(1), Ok(None));
        cache.add_file(7, epoch).unwrap();
        assert_eq!(cache.files(), Ok(HashSet::new()));
        assert_ne!(cache.epoch(), Ok(epoch));
        assert!(folder.path().join("v.damaged").exists());
    }
}
