//! Everything there is to say about an index, for `docent status` and `docent doctor`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::disk::OpenIndex;
use super::freshness::Freshness;
use super::options::Corpus;
use super::scan::{Scan, WatchError, Watcher};
use super::shared::Shared;
use super::worker::ProjectState;
use crate::walk::WalkExtent;

/// The state of an index.
#[derive(Clone, Debug, Default)]
pub struct IndexStatus {
    pub freshness: Freshness,
    pub indexed: usize,
    pub chunks: u64,
    /// Pages of documentation, and their sections.
    pub pages: usize,
    pub sections: u64,
    /// Files by language, the most frequent first.
    pub languages: Vec<(String, usize)>,
    /// Why files were skipped or cut by lines, with the number of files and the first few of them.
    pub notes: Vec<(String, usize, Vec<String>)>,
    pub bytes_on_disk: u64,
    /// The folder of the index. `None` if it is in memory.
    pub folder: Option<PathBuf>,
    /// The id of the process that is writing.
    pub writer: Option<String>,
    /// Indexes of the same project by other versions of docent.
    pub others: Vec<String>,
    /// Files whose names cannot be written as a path of the project.
    pub unnameable: u64,
    /// The first few directories that cannot be read: without permission, or with a path that is too long.
    pub unreadable_directories: Vec<String>,
    /// The stored index cannot be read.
    pub is_unreadable: bool,
    /// No index can be stored.
    pub is_unwritable: bool,
}

/// Scans the files and reads the stored index. Changes nothing.
pub(super) fn collect(shared: &Shared) -> IndexStatus {
    let mut state = ProjectState::default();
    state.scan = scan_all(shared);
    let mut status = IndexStatus {
        writer: shared.cache_dir.writer(),
        others: shared.cache_dir.others(),
        unnameable: state.scan.unnameable,
        unreadable_directories: state.scan.missed.first.iter().cloned().collect(),
        ..IndexStatus::default()
    };
    let mut troubles = Vec::new();
    let opened = match shared.cache_dir.current().map(|_| shared.cache_dir.open()) {
        None => None,
        Some(Ok(opened)) => Some(opened),
        Some(Err(error)) => {
            troubles.push(format!("The index cannot be read: {error}"));
            None
        }
    };
    if let Some(opened) = &opened {
        if let Err(error) = state.indexed.load(opened) {
            troubles.push(format!("The index cannot be read: {error}"));
        }
        measure_store(opened, &mut status);
    }
    status.is_unreadable = !troubles.is_empty();
    if let Some(error) = shared.cache_dir.write_error() {
        status.is_unwritable = true;
        troubles.push(format!("The index cannot be written ({error})"));
    }
    if let Some(opened) = &opened
        && let Ok(Some(damage)) = opened.table().fact("damage")
    {
        troubles.push(format!("The index was damaged ({damage}) and was rebuilt"));
    }
    state.problems.passing = troubles;
    count_files(&state, &mut status);
    accept_unsettled_stamps(&mut state);
    status.freshness = state.freshness(Corpus::Code);
    status
}

/// Tries to watch the whole project, and returns the number of its directories.
pub(super) fn try_watching(shared: &Shared) -> Result<usize, WatchError> {
    let directories = scan_all(shared).directories();
    let folder = shared.cache_dir.project.clone().unwrap_or_default();
    Watcher::start(shared.root.path(), &directories, &folder, Box::new(|| {}))?;
    Ok(directories.len())
}

fn scan_all(shared: &Shared) -> Scan {
    let mut scan = Scan::default();
    scan.walk(&shared.root, &shared.watch, &WalkExtent::Everything);
    scan
}

fn measure_store(opened: &OpenIndex, status: &mut IndexStatus) {
    status.chunks = opened.chunks.count_chunks().unwrap_or_default();
    status.sections = opened.sections.count();
    status.bytes_on_disk = opened.size();
    status.folder = opened.directory().map(Path::to_owned);
}

/// Counts indexed files by language, and by the note they have.
fn count_files(state: &ProjectState, status: &mut IndexStatus) {
    const MAX_NAMED_FILES: usize = 3;
    status.pages = state.indexed.pages.len();
    let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
    let mut notes: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    for (path, row) in &state.indexed.files {
        if row.chunks > 0 {
            status.indexed += 1;
            *languages.entry(&row.language).or_default() += 1;
        }
        if let Some(note) = &row.note {
            let (count, named) = notes.entry(note).or_default();
            *count += 1;
            if named.len() < MAX_NAMED_FILES {
                named.push(path.as_str().to_owned());
            }
        }
    }
    status.languages = languages
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
        .collect();
    status
        .languages
        .sort_by_key(|(name, count)| (Reverse(*count), name.clone()));
    status.notes = notes
        .into_iter()
        .map(|(note, (count, named))| (note.to_owned(), count, named))
        .collect();
}

/// Counts a file as indexed if only its stamp is unsettled. The next sync compares its content; until then it
/// would be reported as pending although nothing has changed.
fn accept_unsettled_stamps(state: &mut ProjectState) {
    for (path, stamp) in &mut state.scan.files {
        if let Some(row) = state.indexed.files.get(path)
            && row.stamp.is_unsettled()
            && (row.stamp.size, row.stamp.modified) == (stamp.size, stamp.modified)
        {
            *stamp = row.stamp;
        }
    }
}
