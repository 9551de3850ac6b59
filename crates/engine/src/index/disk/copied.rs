//! A stored generation as the beginning of another index: copied from another project, or carried by a file.
//!
//! It is not in use before it is published, so that its entries can be compared with the files first.
//!
//! Invariant: a copy is taken while no process writes into its source, and is verified when it is opened.

use std::fs;
use std::path::Path;

use super::cache_dir::CacheDir;
use super::export_file::{ExportFileError, ExportReader, ExportWriter, Manifest};
use super::generation::{FORMAT_VERSION, OpenIndex, PAGES, TABLE_FILE, entries, table_error};
use super::lock::WriterLock;
use super::table::FileTable;
use crate::files::UNFINISHED;
use crate::index::options::Corpus;
use crate::index::scan::SAVED_SCAN_FILE;
use crate::store::StoreError;

impl CacheDir {
    /// Copies the index of another project into a generation that is not in use yet. `None` if this index is
    /// in memory, or if the other one cannot be copied now.
    pub(in crate::index) fn copy_of(&self, sibling: &Self) -> Result<Option<OpenIndex>, StoreError> {
        let _lock = sibling.try_lock()?;
        let Some(source) = sibling.current_directory() else {
            return Ok(None);
        };
        // A process that was killed while it wrote has left its journal: the table alone is not whole.
        let journal = fs::metadata(source.join(format!("{TABLE_FILE}-journal")));
        if journal.is_ok_and(|journal| journal.len() > 0) {
            return Ok(None);
        }
        let Some((directory, generation)) = self.new_generation()? else {
            return Ok(None);
        };
        let copied = copy_files(&source, &directory)
            .and_then(|()| copy_files(&source.join(PAGES), &directory.join(PAGES)))
            .map_err(StoreError::Io)
            .and_then(|()| {
                let table = FileTable::open(&directory.join(TABLE_FILE)).map_err(table_error)?;
                table.forget_facts().map_err(table_error)?;
                OpenIndex::open(&directory, &generation)
            });
        if copied.is_err() {
            let _ = fs::remove_dir_all(&directory);
        }
        copied.map(Some)
    }
}

/// The block of an export that has the table of files, a row a line.
const ROWS: &str = "rows";

/// Bytes of the rows of an export.
const MAX_ROWS_BYTES: u64 = 1 << 30;

/// What went wrong with an export.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(transparent)]
    File(#[from] ExportFileError),
    /// It was built by another version of docent or by other settings.
    #[error("it was built {0}")]
    Unfit(String),
    /// The digest is not the one that the caller expects.
    #[error("its digest is {found}, not {expected}")]
    OtherDigest { found: String, expected: String },
    /// Entries differ from what the files of this project yield.
    #[error("its entries are not those of {0}")]
    WrongEntries(String),
    #[error("nothing can be stored in the cache")]
    NoCache,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CacheDir {
    /// Appends the index in use to a file. Returns the digest of the export, and the size of the file.
    pub(in crate::index) fn export(
        &self,
        opened: &OpenIndex,
        _: &WriterLock,
        file: &Path,
    ) -> Result<(String, u64), TransferError> {
        let directory = opened.directory().ok_or(TransferError::NoCache)?;
        let mut writer = ExportWriter::append_to(file)?;
        for (folder, prefix) in [(directory.to_owned(), ""), (directory.join(PAGES), "pages/")] {
            let mut names: Vec<String> = entries(&folder)
                .filter(|entry| entry.path().is_file())
                .filter_map(|entry| entry.file_name().into_string().ok())
                .filter(|name| is_carried(name) && name != TABLE_FILE)
                .collect();
            names.sort_unstable();
            for name in names {
                #[expect(clippy::disallowed_methods, reason = "a file of the cache, not of a project")]
                let bytes = fs::read(folder.join(&name)).map_err(StoreError::Io)?;
                writer.add(&format!("{prefix}{name}"), &bytes)?;
            }
        }
        let table = opened.table();
        writer.add(ROWS, &table.export_rows().map_err(table_error)?)?;
        let commit = |corpus: Corpus| {
            Ok((
                corpus.name().to_owned(),
                table.commit(corpus).map_err(table_error)?,
            ))
        };
        let manifest = Manifest {
            format: FORMAT_VERSION,
            rules: self.rules.clone(),
            commits: Corpus::ALL
                .into_iter()
                .map(commit)
                .collect::<Result<_, StoreError>>()?,
            ..Manifest::default()
        };
        Ok(writer.finish(manifest)?)
    }

    /// Writes an export into a generation that is not in use yet, and returns it with its digest.
    pub(in crate::index) fn unpack(
        &self,
        file: &Path,
        expected_digest: Option<&str>,
    ) -> Result<(OpenIndex, String), TransferError> {
        let mut reader = ExportReader::open(file)?;
        let digest = reader.digest.clone();
        if let Some(expected) = expected_digest
            && !expected.eq_ignore_ascii_case(&digest)
        {
            return Err(TransferError::OtherDigest {
                found: digest,
                expected: expected.to_owned(),
            });
        }
        if reader.manifest.format != FORMAT_VERSION {
            let version = reader.manifest.format;
            return Err(TransferError::Unfit(format!(
                "by another version of docent: its format is {version}, this one reads {FORMAT_VERSION}"
            )));
        }
        if reader.manifest.rules != self.rules {
            return Err(TransferError::Unfit(
                "with other settings: `docent config` shows index, docs and access".to_owned(),
            ));
        }
        let (directory, generation) = self.new_generation()?.ok_or(TransferError::NoCache)?;
        let unpacked = unpack_into(&mut reader, &directory, &generation);
        match unpacked {
            Ok(opened) => Ok((opened, digest)),
            Err(error) => {
                let _ = fs::remove_dir_all(&directory);
                Err(error)
            }
        }
    }
}

fn unpack_into(
    reader: &mut ExportReader,
    directory: &Path,
    generation: &str,
) -> Result<OpenIndex, TransferError> {
    let manifest = reader.manifest.clone();
    let mut rows = Vec::new();
    for block in &manifest.blocks {
        if block.name != ROWS {
            reader.unpack(block, directory)?;
        } else if block.length() <= MAX_ROWS_BYTES {
            reader.read(block, &mut rows)?;
        }
    }
    {
        let mut table = FileTable::open(&directory.join(TABLE_FILE)).map_err(table_error)?;
        let is_read = table.import_rows(&rows, &manifest.commits).map_err(table_error)?;
        if !is_read {
            return Err(ExportFileError::Damaged("its rows cannot be read".into()).into());
        }
    }
    Ok(OpenIndex::open(directory, generation)?)
}

/// Whether a file of a generation holds for more than one project and process.
fn is_carried(name: &str) -> bool {
    let extension = Path::new(name).extension().unwrap_or_default();
    let is_journal = name.strip_suffix("-journal") == Some(TABLE_FILE);
    name != SAVED_SCAN_FILE && !name.starts_with(UNFINISHED) && extension != "lock" && !is_journal
}

/// Copies the files of a directory, but not what belongs to its project or to a process that writes.
fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in entries(from).filter(|entry| entry.path().is_file()) {
        let name = entry.file_name();
        if is_carried(&name.to_string_lossy()) {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}
