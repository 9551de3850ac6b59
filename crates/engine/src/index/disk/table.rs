//! The table of files: for each file, its stamp and content hash when it was indexed, the number of its
//! chunks, and why it was skipped or cut by lines. Commits have rows as well. The entries themselves are in
//! the store.
//!
//! Invariant: the table never leads the store. A row is written after its entries were committed, so that a
//! process killed in between leaves a file that is indexed once more, never a file that seems indexed and is
//! not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use docent_core::path::RepoPath;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::key::{CommitId, DocKey};
use crate::index::options::Corpus;
use crate::sqlite::{self, JournalMode};
use crate::stamp::Stamp;

/// The table of one generation of the index.
#[derive(Debug)]
pub(in crate::index) struct FileTable {
    connection: Connection,
}

/// A file as it was when it was indexed. Of a commit, only the number of entries is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::index) struct IndexedFile {
    pub(in crate::index) stamp: Stamp,
    /// Hash of its content.
    pub(in crate::index) hash: u64,
    pub(in crate::index) chunks: u32,
    pub(in crate::index) language: String,
    /// Why the file was skipped or cut by lines, or what is wrong with a page.
    pub(in crate::index) note: Option<String>,
    /// Hash of the rules by which a page was cut; 0 for code.
    pub(in crate::index) rules: u64,
    /// The labels of a page, as JSON; `""` for none.
    pub(in crate::index) labels: String,
}

/// A file with a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::index) struct NotedFile {
    pub(in crate::index) path: RepoPath,
    /// Empty for a file that was skipped.
    pub(in crate::index) language: String,
    pub(in crate::index) note: String,
}

/// A change of one row.
#[derive(Clone, Debug)]
pub(in crate::index) enum TableChange {
    Indexed(DocKey, IndexedFile),
    Removed(DocKey),
}

/// A row as an export has it.
#[derive(Serialize, Deserialize)]
struct ExportedRow {
    corpus: String,
    path: String,
    hash: i64,
    chunks: u32,
    language: String,
    note: Option<String>,
    rules: i64,
    labels: String,
}

impl ExportedRow {
    fn into_indexed(self) -> IndexedFile {
        IndexedFile {
            stamp: Stamp::default(),
            hash: self.hash.cast_unsigned(),
            chunks: self.chunks,
            language: self.language,
            note: self.note,
            rules: self.rules.cast_unsigned(),
            labels: self.labels,
        }
    }
}

/// A crash of the machine may lose rows; their files are indexed again.
const PRAGMAS: &str = "PRAGMA synchronous = OFF;";

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS file (
        corpus TEXT NOT NULL, path TEXT NOT NULL,
        size INTEGER NOT NULL, modified INTEGER NOT NULL, changed INTEGER NOT NULL, inode INTEGER NOT NULL,
        hash INTEGER NOT NULL, chunks INTEGER NOT NULL, language TEXT NOT NULL, note TEXT,
        rules INTEGER NOT NULL, labels TEXT NOT NULL, PRIMARY KEY (corpus, path)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;";

impl FileTable {
    /// A damaged file is an error here and not replaced: a damaged index is rebuilt as a whole generation.
    pub(in crate::index) fn open(file: &Path) -> rusqlite::Result<Self> {
        Self::new(sqlite::connect(file, JournalMode::Rollback, PRAGMAS)?)
    }

    pub(in crate::index) fn in_memory() -> rusqlite::Result<Self> {
        Self::new(Connection::open_in_memory()?)
    }

    fn new(connection: Connection) -> rusqlite::Result<Self> {
        connection.busy_timeout(Duration::from_secs(2))?;
        connection.execute_batch(TABLES)?;
        Ok(Self { connection })
    }

    /// Changes when another process has written.
    pub(in crate::index) fn version(&self) -> rusqlite::Result<i64> {
        self.connection
            .query_row("PRAGMA data_version", [], |row| row.get(0))
    }

    /// The indexed files of a corpus that is made from files.
    pub(in crate::index) fn files(
        &self,
        corpus: Corpus,
    ) -> rusqlite::Result<BTreeMap<RepoPath, IndexedFile>> {
        let mut query = self.connection.prepare_cached(
            "SELECT path, size, modified, changed, inode, hash, chunks, language, note, rules, labels
             FROM file WHERE corpus = ?1",
        )?;
        let rows = query.query_map([corpus.name()], |row| {
            Ok((row.get::<_, String>(0)?, read_row(row)?))
        })?;
        let mut files = BTreeMap::new();
        for row in rows {
            let (path, row) = row?;
            if let Ok(path) = RepoPath::parse(&path) {
                files.insert(path, row);
            }
        }
        Ok(files)
    }

    /// The indexed commits.
    pub(in crate::index) fn commits(&self) -> rusqlite::Result<BTreeSet<CommitId>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT path FROM file WHERE corpus = ?1")?;
        let ids = query.query_map([Corpus::History.name()], |row| row.get::<_, String>(0))?;
        let parsed = ids.filter_map(|id| match id {
            Ok(id) => CommitId::parse(&id).map(Ok),
            Err(error) => Some(Err(error)),
        });
        parsed.collect()
    }

    /// The position of the first of these commits that is indexed.
    pub(in crate::index) fn first_known_commit<'a>(
        &self,
        ids: impl Iterator<Item = (usize, &'a str)>,
    ) -> rusqlite::Result<Option<usize>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT 1 FROM file WHERE corpus = ?1 AND path = ?2")?;
        for (position, id) in ids {
            if query.exists([Corpus::History.name(), id])? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// All rows without their stamps, a JSON array a line.
    pub(super) fn export_rows(&self) -> rusqlite::Result<Vec<u8>> {
        let mut query = self.connection.prepare_cached(
            "SELECT corpus, path, hash, chunks, language, note, rules, labels FROM file ORDER BY corpus, path",
        )?;
        let mut rows = query.query([])?;
        let mut text = Vec::new();
        while let Some(row) = rows.next()? {
            let row = ExportedRow {
                corpus: row.get(0)?,
                path: row.get(1)?,
                hash: row.get(2)?,
                chunks: row.get(3)?,
                language: row.get(4)?,
                note: row.get(5)?,
                rules: row.get(6)?,
                labels: row.get(7)?,
            };
            text.extend(serde_json::to_vec(&row).expect("numbers and strings"));
            text.push(b'\n');
        }
        Ok(text)
    }

    /// Adds exported rows to an empty table. False if they cannot be read, and then none is added.
    pub(super) fn import_rows(&mut self, text: &[u8], commits: &[(String, u64)]) -> rusqlite::Result<bool> {
        for corpus in Corpus::ALL {
            let mut changes = Vec::new();
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let Ok(row) = serde_json::from_slice::<ExportedRow>(line) else {
                    return Ok(false);
                };
                if row.corpus != corpus.name() {
                    continue;
                }
                let key = match corpus {
                    Corpus::History => CommitId::parse(&row.path).map(DocKey::Commit),
                    Corpus::Docs | Corpus::Code => RepoPath::parse(&row.path).ok().map(DocKey::File),
                };
                let Some(key) = key else { return Ok(false) };
                changes.push(TableChange::Indexed(key, row.into_indexed()));
            }
            let commit = commits.iter().find(|(name, _)| name == corpus.name());
            self.write(corpus, &changes, commit.map_or(0, |(_, number)| *number))?;
        }
        Ok(true)
    }

    /// Removes every fact about the working tree. What remains are the numbers of the store's commits.
    pub(super) fn forget_facts(&self) -> rusqlite::Result<()> {
        self.connection
            .execute("DELETE FROM fact WHERE name NOT LIKE 'commit of %'", [])
            .map(drop)
    }

    /// Every indexed file with its language, in the order of paths. A skipped file has an empty language.
    pub(in crate::index) fn languages(&self) -> rusqlite::Result<Vec<(RepoPath, String)>> {
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

    /// Languages of the code with their number of files, the most frequent first.
    pub(in crate::index) fn count_languages(&self) -> rusqlite::Result<Vec<(String, usize)>> {
        let mut query = self.connection.prepare_cached(
            "SELECT language, count(*) FROM file WHERE corpus = ?1 AND language != ''
             GROUP BY language ORDER BY count(*) DESC, language",
        )?;
        let rows = query.query_map([Corpus::Code.name()], |row| {
            Ok((
                row.get(0)?,
                usize::try_from(row.get::<_, i64>(1)?).unwrap_or_default(),
            ))
        })?;
        rows.collect()
    }

    /// The files of the code that were skipped or cut by lines, in the order of paths.
    pub(in crate::index) fn notes(&self) -> rusqlite::Result<Vec<NotedFile>> {
        let mut query = self.connection.prepare_cached(
            "SELECT path, language, note FROM file WHERE corpus = ?1 AND note IS NOT NULL ORDER BY path",
        )?;
        let rows = query.query_map([Corpus::Code.name()], |row| {
            Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?))
        })?;
        let parsed = rows.filter_map(|row| match row {
            Ok((path, language, note)) => Some(Ok(NotedFile {
                path: RepoPath::parse(&path).ok()?,
                language,
                note,
            })),
            Err(error) => Some(Err(error)),
        });
        parsed.collect()
    }

    /// The number of the store's commit that the rows of a corpus belong to; 0 before the first.
    pub(in crate::index) fn commit(&self, corpus: Corpus) -> rusqlite::Result<u64> {
        let number = self.fact(&commit_fact(corpus))?;
        Ok(number.and_then(|number| number.parse().ok()).unwrap_or_default())
    }

    /// Writes the rows of the store's commit with this number, in one transaction.
    pub(in crate::index) fn write(
        &mut self,
        corpus: Corpus,
        changes: &[TableChange],
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
            for change in changes {
                match change {
                    TableChange::Indexed(key, row) => insert.execute(params![
                        corpus.name(),
                        key.column(),
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
                    TableChange::Removed(key) => delete.execute([corpus.name(), key.column()])?,
                };
            }
        }
        transaction.execute(
            "INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)",
            [commit_fact(corpus), commit.to_string()],
        )?;
        transaction.commit()
    }

    /// A fact about the whole index, such as that it was complete once.
    pub(in crate::index) fn fact(&self, name: &str) -> rusqlite::Result<Option<String>> {
        self.connection
            .query_row("SELECT value FROM fact WHERE name = ?1", [name], |row| row.get(0))
            .optional()
    }

    pub(in crate::index) fn set_fact(&self, name: &str, value: &str) -> rusqlite::Result<()> {
        self.connection
            .execute(
                "INSERT OR REPLACE INTO fact (name, value) VALUES (?1, ?2)",
                [name, value],
            )
            .map(drop)
    }
}

fn commit_fact(corpus: Corpus) -> String {
    format!("commit of {}", corpus.name())
}

fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<IndexedFile> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> DocKey {
        DocKey::File(RepoPath::parse(path).unwrap())
    }

    fn commit(id: &str) -> DocKey {
        DocKey::Commit(CommitId::parse(id).unwrap())
    }

    fn row(hash: u64) -> IndexedFile {
        IndexedFile {
            stamp: Stamp {
                size: 3,
                modified: -1,
                changed: i64::MAX,
                inode: u64::MAX,
            },
            hash,
            chunks: 2,
            language: "rust".into(),
            note: Some("generated".into()),
            rules: u64::MAX - 1,
            labels: r#"{"a":"b"}"#.into(),
        }
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let mut table = FileTable::in_memory().unwrap();
        table
            .write(
                Corpus::Code,
                &[TableChange::Indexed(file("src/a.rs"), row(u64::MAX))],
                1,
            )
            .unwrap();
        let files = table.files(Corpus::Code).unwrap();
        assert_eq!(files.into_values().collect::<Vec<_>>(), [row(u64::MAX)]);
    }

    #[test]
    fn corpora_do_not_mix() {
        let mut table = FileTable::in_memory().unwrap();
        let page = TableChange::Indexed(file("docs/a.md"), row(1));
        table.write(Corpus::Docs, std::slice::from_ref(&page), 1).unwrap();
        table
            .write(
                Corpus::Code,
                &[page, TableChange::Indexed(file("a.rs"), row(2))],
                4,
            )
            .unwrap();
        let written = TableChange::Indexed(commit("c0ffee"), IndexedFile::default());
        table.write(Corpus::History, &[written], 7).unwrap();
        assert_eq!(table.files(Corpus::Docs).unwrap().len(), 1);
        assert_eq!(table.files(Corpus::Code).unwrap().len(), 2);
        assert_eq!(
            table.commits().unwrap(),
            BTreeSet::from([CommitId::parse("c0ffee").unwrap()])
        );
        let commits = Corpus::ALL.map(|corpus| table.commit(corpus).unwrap());
        assert_eq!(commits, [1, 4, 7]);
    }

    #[test]
    fn a_removed_row_is_gone_and_others_stay() {
        let mut table = FileTable::in_memory().unwrap();
        let changes = ["a.rs", "b.rs"].map(|path| TableChange::Indexed(file(path), row(1)));
        table.write(Corpus::Code, &changes, 1).unwrap();
        table
            .write(Corpus::Code, &[TableChange::Removed(file("a.rs"))], 2)
            .unwrap();
        let languages = table.languages().unwrap();
        assert_eq!(languages, [(RepoPath::parse("b.rs").unwrap(), "rust".to_owned())]);
    }

    #[test]
    fn a_row_with_a_path_that_leads_outside_is_not_read() {
        let table = FileTable::in_memory().unwrap();
        table
            .connection
            .execute(
                "INSERT INTO file VALUES ('code', '../../etc/passwd', 1, 1, 1, 1, 1, 1, '', NULL, 0, '')",
                [],
            )
            .unwrap();
        assert!(table.files(Corpus::Code).unwrap().is_empty());
        assert!(table.languages().unwrap().is_empty());
    }

    #[test]
    fn facts_are_kept_by_name() {
        let table = FileTable::in_memory().unwrap();
        assert_eq!(table.fact("complete").unwrap(), None);
        table.set_fact("complete", "1").unwrap();
        table.set_fact("complete", "2").unwrap();
        assert_eq!(table.fact("complete").unwrap().as_deref(), Some("2"));
    }

    #[test]
    fn a_file_that_is_no_database_is_damaged_and_a_missing_directory_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let garbage = folder.path().join("files.db");
        std::fs::write(
            &garbage,
            "this is not a database, whatever its name says".repeat(40),
        )
        .unwrap();
        assert!(sqlite::is_damage(&FileTable::open(&garbage).unwrap_err()));
        let missing = FileTable::open(&folder.path().join("absent/files.db")).unwrap_err();
        assert!(!sqlite::is_damage(&missing));
    }

    #[test]
    fn the_version_changes_when_another_connection_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("files.db");
        let (reader, mut writer) = (FileTable::open(&path).unwrap(), FileTable::open(&path).unwrap());
        let before = reader.version().unwrap();
        assert_eq!(reader.version().unwrap(), before);
        writer
            .write(Corpus::Code, &[TableChange::Indexed(file("a.rs"), row(1))], 1)
            .unwrap();
        assert_ne!(reader.version().unwrap(), before);
    }
}
