//! The SQLite databases of docent: one way to open them, and one policy for damaged files.
//!
//! Each owner brings its tables as a [`Schema`]; this module knows nothing of their rows. The file table of
//! the index uses [`connect`] and [`is_damage`] only, because a damaged index is replaced as a whole
//! generation.
//!
//! Invariant: a file is created, set aside or deleted under the exclusive lock of its `.lock` file, and
//! opened under the shared one. Two processes that meet the same damaged file replace it once, and no process
//! opens a new database beside the write-ahead log of an old one, which SQLite would replay into it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use crate::files::make_private;

/// The form of a database, and its policy for a file that cannot be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema {
    /// Stored as `user_version`. A file of another version is treated as [`OnDamage`] says; one of version 0
    /// is new, or older than this number, and gets the tables that it lacks.
    pub(crate) version: i64,
    /// Settings of each connection, beyond `journal_mode = WAL`.
    pub(crate) pragmas: &'static str,
    pub(crate) tables: &'static str,
    pub(crate) on_damage: OnDamage,
    /// Executed in a database that takes the place of a damaged one.
    pub(crate) after_damage: &'static str,
    /// How long a statement waits for another process.
    pub(crate) busy_timeout: Duration,
}

/// The policy for a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDamage {
    /// It is deleted and created again: for data that is derived from something else.
    Rebuild,
    /// It is renamed to `NAME.damaged` and created again: for data that exists nowhere else.
    SetAside,
}

/// How a transaction is undone after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalMode {
    /// Readers go on while another process writes. Their common table of the log is a memory map, so a
    /// process dies if another program truncates `NAME-shm`.
    WriteAhead,
    /// Readers wait for the moment of a commit. Nothing is mapped.
    Rollback,
}

/// A database that is opened at first use, and opened again after its file was damaged, replaced or deleted.
#[derive(Debug)]
pub(crate) struct Database {
    file: PathBuf,
    schema: Schema,
    opened: Option<OpenFile>,
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("another process is writing to it")]
    Busy,
    #[error("it is damaged: {0}")]
    Damaged(rusqlite::Error),
    #[error("it has version {0}, which this docent does not know")]
    OtherVersion(i64),
    #[error(transparent)]
    Sqlite(rusqlite::Error),
}

#[derive(Debug)]
struct OpenFile {
    connection: Connection,
    identity: FileIdentity,
}

/// Device and inode, which differ between two files of the same name. `None` on systems without inodes:
/// they do not rename a file that a process has open either.
type FileIdentity = Option<(u64, u64)>;

/// How long opening waits for a process that creates or replaces the file.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// Damaged files of one database that stay on disk. The last name is used again, so that a failing disk
/// cannot fill up with copies; the first file, which has the longest log, stays.
const MAX_SET_ASIDE_FILES: usize = 3;

/// Opens a database. Creates it if there is none, and replaces a damaged one as its schema says.
pub(crate) fn open(file: &Path, schema: &Schema) -> Result<Connection, DatabaseError> {
    OpenFile::open(file, schema).map(|opened| opened.connection)
}

/// Deletes a database whose content turned out to be wrong, although SQLite can read it.
pub(crate) fn remove(file: &Path) -> Result<(), DatabaseError> {
    let _lock = lock_exclusively(file)?;
    remove_files(file)
}

/// Whether a file is not a database, or has content that docent cannot have written. A database that is
/// locked, read-only or on a full disk is not damaged: it works again once the reason is gone.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    match error {
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) => true,
        error => matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::SchemaChanged
                    | ErrorCode::TypeMismatch
                    // A table or a column is missing. Our statements are right, so the file is wrong.
                    | ErrorCode::Unknown
            )
        ),
    }
}

impl Database {
    pub(crate) fn new(file: PathBuf, schema: Schema) -> Self {
        Self {
            file,
            schema,
            opened: None,
        }
    }

    /// Runs `work` on the open database. If the file turns out to be damaged, it is replaced, and `work` runs
    /// once more on the new one; so `work` must not have effects of its own.
    pub(crate) fn run<T>(
        &mut self,
        mut work: impl FnMut(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        // Another process may have set the file aside. Without this check we would write into that one for
        // ever.
        self.opened
            .take_if(|opened| opened.identity != identity_of(&self.file));
        let opened = match &mut self.opened {
            Some(opened) => opened,
            none => none.insert(OpenFile::open(&self.file, &self.schema)?),
        };
        match work(&mut opened.connection) {
            Err(error) if is_damage(&error) => {
                let identity = opened.identity;
                self.opened = None;
                let replaced = OpenFile::replace(&self.file, &self.schema, identity, error)?;
                Ok(work(&mut self.opened.insert(replaced).connection)?)
            }
            outcome => Ok(outcome?),
        }
    }
}

impl OpenFile {
    fn open(file: &Path, schema: &Schema) -> Result<Self, DatabaseError> {
        if let Some(folder) = file.parent() {
            make_private(folder).map_err(io_error(folder))?;
        }
        {
            // A directory that cannot be written has no lock; its database can still be read.
            let _lock = lock_file(file, File::try_lock_shared)?;
            match connect(file, JournalMode::WriteAhead, schema.pragmas) {
                Ok(connection)
                    if read_version(&connection).is_ok_and(|version| version == schema.version) =>
                {
                    return Ok(Self::of(file, connection, schema)?);
                }
                Err(error) if !is_damage(&error) => return Err(error.into()),
                _ => {}
            }
        }
        // The file has to be created or replaced. Another process may be doing that: look again under the
        // lock.
        let lock = lock_file(file, File::try_lock)?;
        match Self::open_or_create(file, schema) {
            Err(error @ (DatabaseError::Damaged(_) | DatabaseError::OtherVersion(_))) if lock.is_some() => {
                retire(file, schema, &error)?;
                Self::create_after_damage(file, schema)
            }
            outcome => outcome,
        }
    }

    /// Replaces the damaged file of this identity, or opens the one that another process has put in its
    /// place.
    fn replace(
        file: &Path,
        schema: &Schema,
        damaged: FileIdentity,
        error: rusqlite::Error,
    ) -> Result<Self, DatabaseError> {
        let _lock = lock_exclusively(file)?;
        if identity_of(file) != damaged {
            return Self::open_or_create(file, schema);
        }
        retire(file, schema, &DatabaseError::Damaged(error))?;
        Self::create_after_damage(file, schema)
    }

    fn create_after_damage(file: &Path, schema: &Schema) -> Result<Self, DatabaseError> {
        let created = Self::open_or_create(file, schema)?;
        created.connection.execute_batch(schema.after_damage)?;
        Ok(created)
    }

    fn open_or_create(file: &Path, schema: &Schema) -> Result<Self, DatabaseError> {
        let connection = connect(file, JournalMode::WriteAhead, schema.pragmas)?;
        match read_version(&connection)? {
            version if version == schema.version => {}
            0 => connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {} PRAGMA user_version = {}; COMMIT;",
                schema.tables, schema.version
            ))?,
            other => return Err(DatabaseError::OtherVersion(other)),
        }
        Ok(Self::of(file, connection, schema)?)
    }

    /// To be called under the lock: until it is released, the name stands for the file that was opened.
    fn of(file: &Path, connection: Connection, schema: &Schema) -> rusqlite::Result<Self> {
        connection.busy_timeout(schema.busy_timeout)?;
        let identity = identity_of(file);
        Ok(Self { connection, identity })
    }
}

/// Opens or creates a file. Damage is an error; nothing is replaced.
pub(crate) fn connect(file: &Path, journal: JournalMode, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(OPEN_TIMEOUT)?;
    connection.execute_batch(match journal {
        JournalMode::WriteAhead => "PRAGMA journal_mode = WAL;",
        JournalMode::Rollback => "PRAGMA journal_mode = TRUNCATE;",
    })?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

fn read_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Makes room for a new file, as the schema says.
fn retire(file: &Path, schema: &Schema, reason: &DatabaseError) -> Result<(), DatabaseError> {
    match schema.on_damage {
        OnDamage::Rebuild => remove_files(file),
        OnDamage::SetAside => {
            let label = match reason {
                DatabaseError::OtherVersion(version) => format!("version-{version}"),
                _ => "damaged".to_owned(),
            };
            set_aside(file, &label)
        }
    }
}

/// Renames a database, together with its write-ahead log, so that `sqlite3 FILE .recover` still finds both.
fn set_aside(file: &Path, label: &str) -> Result<(), DatabaseError> {
    let numbered = (2..=MAX_SET_ASIDE_FILES).map(|number| format!("{label}-{number}"));
    let mut names = std::iter::once(label.to_owned())
        .chain(numbered)
        .map(|extension| file.with_extension(extension))
        .peekable();
    let mut aside = file.to_owned();
    while let Some(name) = names.next() {
        if names.peek().is_none() || !name.exists() {
            aside = name;
            break;
        }
    }
    // The database itself is last: a crash in between leaves it damaged, not a new one beside an old log.
    remove_if_exists(&with_suffix(file, "-shm"))?;
    for suffix in ["-wal", ""] {
        let from = with_suffix(file, suffix);
        match fs::rename(&from, with_suffix(&aside, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_error(&from)(error)),
            _ => {}
        }
    }
    Ok(())
}

fn remove_files(file: &Path) -> Result<(), DatabaseError> {
    for suffix in ["-shm", "-wal", ""] {
        remove_if_exists(&with_suffix(file, suffix))?;
    }
    Ok(())
}

fn remove_if_exists(file: &Path) -> Result<(), DatabaseError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(file)(error)),
        _ => Ok(()),
    }
}

fn lock_exclusively(file: &Path) -> Result<File, DatabaseError> {
    let lock = lock_file(file, File::try_lock)?;
    lock.ok_or_else(|| io_error(file)(io::Error::other("it cannot be locked")))
}

/// Locks `NAME.db.lock`, which is never deleted. `None` if there can be no lock, on a read-only disk for
/// example.
fn lock_file(
    file: &Path,
    try_lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Option<File>, DatabaseError> {
    const POLL_INTERVAL: Duration = Duration::from_millis(10);
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    let Ok(lock) = options.open(with_suffix(file, ".lock")) else {
        return Ok(None);
    };
    let give_up = Instant::now() + OPEN_TIMEOUT;
    loop {
        match try_lock(&lock) {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => thread::park_timeout(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => return Err(DatabaseError::Busy),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Looks at the name only. Opening and closing the file would release the locks that SQLite holds in this
/// process.
#[cfg(unix)]
fn identity_of(file: &Path) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity_of(_file: &Path) -> FileIdentity {
    None
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> DatabaseError {
    let path = path.to_owned();
    |error| DatabaseError::Io { path, error }
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ if is_damage(&error) => Self::Damaged(error),
            _ => Self::Sqlite(error),
        }
    }
}

/// Overwrites everything but the first page, which has the header and the schema.
#[cfg(test)]
pub(crate) fn damage_pages(file: &Path) {
    use std::io::{Seek, SeekFrom, Write};
    let mut opened = File::options().write(true).open(file).unwrap();
    let size = usize::try_from(opened.metadata().unwrap().len()).unwrap();
    assert!(size > 4096, "there are pages to damage");
    opened.seek(SeekFrom::Start(4096)).unwrap();
    opened.write_all(&vec![0x5a; size - 4096]).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: Schema = Schema {
        version: 2,
        pragmas: "PRAGMA synchronous = OFF; PRAGMA max_page_count = 50;",
        tables: "CREATE TABLE IF NOT EXISTS word (word TEXT NOT NULL);",
        on_damage: OnDamage::SetAside,
        after_damage: "",
        busy_timeout: Duration::ZERO,
    };

    fn add(database: &mut Database, word: &str) -> Result<(), DatabaseError> {
        database.run(|connection| {
            connection
                .execute("INSERT INTO word VALUES (?1)", [word])
                .map(drop)
        })
    }

    fn words(file: &Path) -> Vec<String> {
        let connection = open(file, &SCHEMA).unwrap();
        let mut query = connection.prepare("SELECT word FROM word ORDER BY word").unwrap();
        let rows = query.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        #[expect(clippy::disallowed_methods, reason = "a folder of the test")]
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn processes_that_meet_the_same_damaged_file_replace_it_once() {
        for _ in 0..5 {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("log.db");
            fs::write(&file, "garbage".repeat(2_000)).unwrap();
            fs::write(with_suffix(&file, "-wal"), "old log".repeat(2_000)).unwrap();
            let schema = Schema {
                busy_timeout: OPEN_TIMEOUT,
                ..SCHEMA
            };
            thread::scope(|scope| {
                for number in 0..8 {
                    let mut database = Database::new(file.clone(), schema);
                    scope.spawn(move || add(&mut database, &number.to_string()).unwrap());
                }
            });
            assert_eq!(words(&file), ["0", "1", "2", "3", "4", "5", "6", "7"]);
            let mut names = names(folder.path());
            // SQLite may delete the garbage before we set it aside.
            names.retain(|name| name != "log.damaged-wal");
            assert_eq!(names, ["log.damaged", "log.db", "log.db.lock"]);
        }
    }

    #[test]
    fn an_open_database_follows_a_file_that_another_process_has_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.db");
        let (mut one, mut other) = (
            Database::new(file.clone(), SCHEMA),
            Database::new(file.clone(), SCHEMA),
        );
        add(&mut one, "lost").unwrap();
        let mut is_first = true;
        let damaged = other.run(|connection| {
            if std::mem::take(&mut is_first) {
                return Err(rusqlite::Error::IntegralValueOutOfRange(0, 0));
            }
            connection
                .execute("INSERT INTO word VALUES ('other')", [])
                .map(drop)
        });
        damaged.unwrap();
        add(&mut one, "one").unwrap();
        assert_eq!(words(&file), ["one", "other"]);
    }

    #[test]
    fn a_deleted_file_is_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cache/log.db");
        let mut database = Database::new(file.clone(), SCHEMA);
        add(&mut database, "lost").unwrap();
        fs::remove_dir_all(folder.path().join("cache")).unwrap();
        add(&mut database, "new").unwrap();
        assert_eq!(words(&file), ["new"]);
    }

    #[test]
    fn a_locked_or_full_database_is_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.db");
        let mut database = Database::new(file.clone(), SCHEMA);
        add(&mut database, "word").unwrap();
        let other = open(&file, &SCHEMA).unwrap();
        other.execute_batch("BEGIN IMMEDIATE;").unwrap();
        let busy = add(&mut database, "second");
        assert!(matches!(busy, Err(DatabaseError::Busy)), "{busy:?}");
        drop(other);
        let full = add(&mut database, &"long ".repeat(100_000));
        assert!(matches!(full, Err(DatabaseError::Sqlite(_))), "{full:?}");
        drop(database);
        assert_eq!(words(&file), ["word"]);
        assert_eq!(names(folder.path()), ["log.db", "log.db.lock"]);
    }

    #[test]
    fn a_file_of_another_version_is_replaced_and_one_without_a_version_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.db");
        let old = Connection::open(&file).unwrap();
        old.execute_batch("CREATE TABLE word (word TEXT NOT NULL); INSERT INTO word VALUES ('old');")
            .unwrap();
        drop(old);
        assert_eq!(words(&file), ["old"]);
        let newer = Schema { version: 3, ..SCHEMA };
        drop(open(&file, &newer).unwrap());
        assert!(folder.path().join("log.version-2").exists());
        let derived = Schema {
            on_damage: OnDamage::Rebuild,
            ..SCHEMA
        };
        drop(open(&file, &derived).unwrap());
        assert_eq!(names(folder.path()), ["log.db", "log.db.lock", "log.version-2"]);
    }

    #[test]
    fn the_first_damaged_file_is_kept_and_the_last_name_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.db");
        for number in 0..5 {
            fs::write(&file, format!("garbage {number} ").repeat(1_000)).unwrap();
            assert_eq!(words(&file), [""; 0]);
        }
        let texts = ["log.damaged", "log.damaged-2", "log.damaged-3"].map(|name| {
            #[expect(clippy::disallowed_methods, reason = "a file of the test")]
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            text[..9].to_owned()
        });
        assert_eq!(texts, ["garbage 0", "garbage 1", "garbage 4"]);
    }
}
