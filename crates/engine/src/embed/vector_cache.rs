//! Vectors that a server gave, kept by what they are of, so that nothing is paid for twice.
//!
//! They are the user's and not a project's: two checkouts of a project share them. One file for each model; it also knows which
//! files have all of theirs, so that who starts anew need not cut everything to see that there is nothing to do.
//!
//! Invariant: all vectors of a file are of one model. Where a server turns out to give others, the old ones go.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior};

use super::http::Trouble;
use super::quantized::QuantizedVector;
use crate::files::make_private;
use crate::sqlite::is_broken;

/// The vectors of one model.
#[derive(Debug)]
pub(super) struct VectorCache {
    connection: Connection,
}

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS vector (key INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS file (key INTEGER PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;";

/// What is known of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CachedVector {
    Vector(QuantizedVector),
    /// The server takes others and not this one.
    Refused,
}

/// Which model vectors are of, as far as they show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) dimensions: usize,
    pub(super) model: Option<String>,
}

/// What to do with vectors of another model than those that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// The model was changed; what is kept is of no use.
    Replace,
    /// They are not taken.
    Reject,
}

impl VectorCache {
    /// `patience` is how long another process is waited for.
    pub(super) fn open(file: &Path, patience: Duration) -> Result<Self, Trouble> {
        let unkept = |error: std::io::Error| Trouble::Unkept(format!("{}: {error}", file.display()));
        if let Some(folder) = file.parent() {
            make_private(folder).map_err(unkept)?;
        }
        match Self::connect(file, patience) {
            Err(error) if is_broken(&error) => {
                // Whatever can be saved of it is not worth vectors that may be wrong.
                fs::rename(file, file.with_extension("damaged")).map_err(unkept)?;
                Self::connect(file, patience).map_err(Trouble::from)
            }
            opened => opened.map_err(Trouble::from),
        }
    }

    fn connect(file: &Path, patience: Duration) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        // The first to come makes the tables, and others have to wait for that.
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.execute_batch(SCHEMA)?;
        connection.busy_timeout(patience)?;
        Ok(Self { connection })
    }

    pub(super) fn get(&self, key: u64) -> Result<Option<CachedVector>, Trouble> {
        let mut query = self
            .connection
            .prepare_cached("SELECT numbers FROM vector WHERE key = ?1")?;
        let numbers: Option<Vec<u8>> = query
            .query_row([key.cast_signed()], |row| row.get(0))
            .optional()?;
        Ok(numbers.map(|numbers| match numbers.as_slice() {
            [] => CachedVector::Refused,
            numbers => CachedVector::Vector(QuantizedVector::from_bytes(numbers)),
        }))
    }

    /// Which files have all their vectors.
    pub(super) fn files(&self) -> Result<HashSet<u64>, Trouble> {
        let mut query = self.connection.prepare_cached("SELECT key FROM file")?;
        let keys = query.query_map([], |row| row.get::<_, i64>(0))?;
        Ok(keys
            .map(|key| key.map(i64::cast_unsigned))
            .collect::<Result<_, _>>()?)
    }

    /// How many vectors there are.
    pub(super) fn count(&self) -> Result<u64, Trouble> {
        let count = self.connection.query_row(
            "SELECT count(*) FROM vector WHERE length(numbers) > 0",
            [],
            |row| row.get::<_, i64>(0),
        )?;
        Ok(count.cast_unsigned())
    }

    /// Changes whenever all vectors had to go.
    pub(super) fn epoch(&self) -> Result<u64, Trouble> {
        Ok(epoch_of(&self.connection)?)
    }

    /// Notes a file as whole, unless vectors have gone since that epoch.
    pub(super) fn add_file(&mut self, key: u64, epoch: u64) -> Result<(), Trouble> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if epoch_of(&transaction)? == epoch {
            transaction.execute(
                "INSERT OR REPLACE INTO file (key) VALUES (?1)",
                [key.cast_signed()],
            )?;
        }
        Ok(transaction.commit()?)
    }

    /// Writes so many bytes and takes them back.
    pub(super) fn prove(&self, bytes: usize) -> Result<(), Trouble> {
        const PROOF: i64 = -1;
        self.connection.execute(
            "INSERT OR REPLACE INTO vector (key, numbers) VALUES (?1, zeroblob(?2))",
            (PROOF, i64::try_from(bytes).unwrap_or(i64::MAX)),
        )?;
        self.connection
            .execute("DELETE FROM vector WHERE key = ?1", [PROOF])?;
        Ok(())
    }

    pub(super) fn refuse(&self, key: u64) -> Result<(), Trouble> {
        self.connection.execute(
            "INSERT OR IGNORE INTO vector (key, numbers) VALUES (?1, x'')",
            [key.cast_signed()],
        )?;
        Ok(())
    }

    /// Takes vectors in, all or none. False where others had to go for them.
    pub(super) fn add(
        &mut self,
        vectors: &[(u64, QuantizedVector)],
        sort: &Sort,
        others: Others,
    ) -> Result<bool, Trouble> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = sort_of(&transaction)?;
        let is_same = before.as_ref().is_none_or(|before| before.fits(sort));
        if !is_same && others == Others::Reject {
            let before = before.map(|before| before.to_string()).unwrap_or_default();
            return Err(Trouble::Changed(format!("{sort} where it gave {before}")));
        }
        if !is_same {
            transaction.execute_batch("DELETE FROM vector; DELETE FROM file;")?;
            let epoch = epoch_of(&transaction)? + 1;
            set_fact(&transaction, "epoch", &epoch.to_string())?;
        }
        if before.as_ref() != Some(sort) {
            set_sort(&transaction, sort)?;
        }
        for (key, vector) in vectors {
            transaction.execute(
                "INSERT OR REPLACE INTO vector (key, numbers) VALUES (?1, ?2)",
                (key.cast_signed(), vector.to_bytes()),
            )?;
        }
        transaction.commit()?;
        Ok(is_same)
    }
}

fn sort_of(connection: &Connection) -> rusqlite::Result<Option<Sort>> {
    let dimensions = fact(connection, "dimensions")?.and_then(|number| number.parse().ok());
    let model = fact(connection, "model")?;
    Ok(dimensions.map(|dimensions| Sort { dimensions, model }))
}

fn set_sort(connection: &Connection, sort: &Sort) -> rusqlite::Result<()> {
    set_fact(connection, "dimensions", &sort.dimensions.to_string())?;
    match &sort.model {
        Some(model) => set_fact(connection, "model", model),
        None => Ok(()),
    }
}

fn set_fact(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let set = "INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)";
    connection.execute(set, [name, value]).map(drop)
}

fn fact(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let read = "SELECT value FROM fact WHERE name = ?1";
    connection.query_row(read, [name], |row| row.get(0)).optional()
}

fn epoch_of(connection: &Connection) -> rusqlite::Result<u64> {
    let epoch = fact(connection, "epoch")?.and_then(|epoch| epoch.parse().ok());
    Ok(epoch.unwrap_or_default())
}

impl Sort {
    /// Whether both may be of one model. Some servers do not say what theirs is called.
    fn fits(&self, other: &Self) -> bool {
        let named = self.model.as_ref().zip(other.model.as_ref());
        self.dimensions == other.dimensions && named.is_none_or(|(one, other)| one == other)
    }
}

impl std::fmt::Display for Sort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} numbers", self.dimensions)?;
        self.model
            .as_ref()
            .map_or(Ok(()), |model| write!(f, " of {model}"))
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Unkept(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(numbers: &[f32]) -> QuantizedVector {
        QuantizedVector::of(numbers).unwrap()
    }

    fn sort(dimensions: usize, model: &str) -> Sort {
        Sort {
            dimensions,
            model: Some(model.to_owned()),
        }
    }

    #[test]
    fn vectors_of_another_model_take_the_place_of_all_or_are_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = VectorCache::open(&folder.path().join("a/v.db"), Duration::ZERO).unwrap();
        let two = vector(&[1.0, 0.5]);
        assert_eq!(
            kept.add(&[(7, two.clone())], &sort(2, "m"), Others::Reject),
            Ok(true)
        );
        kept.add_file(1, 0).unwrap();
        kept.refuse(8).unwrap();
        assert_eq!(kept.get(7), Ok(Some(CachedVector::Vector(two.clone()))));
        assert_eq!(kept.get(8), Ok(Some(CachedVector::Refused)));
        assert_eq!(kept.get(9), Ok(None));

        for other in [sort(3, "m"), sort(2, "n")] {
            let refused = kept.add(&[(9, two.clone())], &other, Others::Reject);
            assert!(matches!(refused, Err(Trouble::Changed(_))), "{refused:?}");
        }
        assert_eq!(kept.get(9), Ok(None));
        let three = vector(&[1.0, 0.5, 0.1]);
        assert_eq!(
            kept.add(&[(9, three.clone())], &sort(3, "m"), Others::Replace),
            Ok(false)
        );
        assert_eq!(kept.get(7), Ok(None));
        assert_eq!(kept.get(9), Ok(Some(CachedVector::Vector(three))));
        assert_eq!(kept.files(), Ok(HashSet::new()));
        // What was cut before they went is not whole.
        kept.add_file(2, 0).unwrap();
        assert_eq!((kept.files(), kept.epoch()), (Ok(HashSet::new()), Ok(1)));
        let nameless = Sort {
            model: None,
            ..sort(3, "")
        };
        assert_eq!(kept.add(&[], &nameless, Others::Reject), Ok(true));
    }

    #[test]
    fn what_is_no_database_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("v.db");
        fs::write(&file, "nonsense, and more of it than a header has".repeat(200)).unwrap();
        let mut kept = VectorCache::open(&file, Duration::ZERO).unwrap();
        assert_eq!(
            kept.add(&[(1, vector(&[1.0]))], &sort(1, "m"), Others::Reject),
            Ok(true)
        );
        assert!(folder.path().join("v.damaged").exists());
    }
}
