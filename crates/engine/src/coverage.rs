//! Coverage reports on this machine, and snapshots of them.
//!
//! A report is parsed while it is read, and the result is cached until the file changes. A snapshot is a file
//! in the system's temporary directory. It is written under another name and then renamed, so that no reader
//! sees a part of it.
//!
//! Invariant: of a report's content, only the names of its files are shown, and a snapshot is only read if
//! this user took it of this project.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, OpenOptions};
use docent_core::coverage::lcov::{LcovError, LcovParser};
use docent_core::coverage::near::NearFiles;
use docent_core::coverage::snapshot::{Comparison, Snapshot};
use docent_core::coverage::{AmbiguousPath, FileCoverage, FileNames, Report, USUAL_REPORT_PATHS};
use docent_core::path::{PathError, RepoPath};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use uuid::{Uuid, Variant, Version};

use crate::clock::Clock;
use crate::deadline::{Deadline, Expired};
use crate::files::{FileError, OpenedFile, Root, read_options};
use crate::stamp::FileVersion;

/// The coverage of one project.
#[derive(Debug)]
pub struct Coverage {
    root: Root,
    scope: ReportScope,
    clock: Clock,
    /// Directory of snapshots.
    temporary: PathBuf,
    cache: Cache<ReportLocation, CachedReport, ReportWeight>,
    /// Held while a report is read: two at once would take twice the memory, and the second caller finds it
    /// cached.
    reading: Mutex<()>,
}

/// The directories in which a report may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportScope {
    /// The project only: callers over the network need not be its user.
    Project,
    /// The whole machine: the caller is the user.
    Machine,
}

/// A parsed report.
#[derive(Clone, Debug)]
pub struct LoadedReport {
    pub report: Arc<Report>,
    names: FileNames,
}

/// Id and time of a new snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenSnapshot {
    pub id: Uuid,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// Why coverage cannot be reported.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    #[error("there is no such report")]
    Missing,
    #[error("{0}")]
    Path(PathError),
    #[error("it lies outside the project")]
    Outside,
    #[error("it changed while it was read")]
    Changing,
    #[error("{0}")]
    Unreadable(FileError),
    #[error("{0}")]
    Malformed(LcovError),
    #[error("there is no snapshot {0}")]
    NoSnapshot(String),
    #[error("{0}")]
    Storage(String),
    #[error(transparent)]
    Expired(#[from] Expired),
}

/// Size of the report cache.
const MAX_CACHED_BYTES: u64 = 16 << 20;

/// Size of one read.
const READ_BUFFER_BYTES: usize = 128 << 10;

/// Larger than the snapshot of any report that can be read.
const MAX_SNAPSHOT_BYTES: u64 = 256 << 20;

/// Snapshots of a user that stay, those of all projects together, and for how long.
const MAX_SNAPSHOTS: usize = 500;
const MAX_SNAPSHOT_AGE: Duration = Duration::from_hours(30 * 24);

/// The location of a report.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ReportLocation {
    Inside(RepoPath),
    /// An absolute path.
    Outside(PathBuf),
}

#[derive(Clone, Debug)]
struct CachedReport {
    version: FileVersion,
    report: Arc<Report>,
}

#[derive(Clone, Debug)]
struct ReportWeight;

impl Weighter<ReportLocation, CachedReport> for ReportWeight {
    fn weight(&self, _: &ReportLocation, cached: &CachedReport) -> u64 {
        let files = cached.report.files();
        1 + files
            .iter()
            .map(|file| (size_of::<FileCoverage>() + file.path.len()) as u64)
            .sum::<u64>()
    }
}

impl Coverage {
    pub fn new(root: Root, scope: ReportScope, clock: Clock, temporary: PathBuf) -> Self {
        Self {
            root,
            scope,
            clock,
            temporary,
            cache: Cache::with_weighter(20, MAX_CACHED_BYTES, ReportWeight),
            reading: Mutex::default(),
        }
    }

    /// The report at `path`: relative to the project, or absolute.
    pub fn load(&self, path: &str, deadline: &Deadline) -> Result<LoadedReport, CoverageError> {
        let location = self.locate(path)?;
        let names = self.names();
        let report = self.read_report(&location, &names, deadline)?;
        let names = match location {
            ReportLocation::Inside(path) => names.for_report_at(path.as_str()),
            ReportLocation::Outside(_) => names,
        };
        Ok(LoadedReport { report, names })
    }

    /// The path of the newest report in the usual places.
    pub fn newest_usual(&self) -> Option<&'static str> {
        let existing = USUAL_REPORT_PATHS.iter().filter_map(|path| {
            let location = ReportLocation::Inside(RepoPath::parse(path).expect("a path of ours"));
            match self.open(&location) {
                Ok(opened) => Some((opened.modified, *path)),
                Err(FileError::Missing) => None,
                // If there is no other report, the caller should see this error.
                Err(_) => Some((None, *path)),
            }
        });
        // `max_by_key` returns the last of equals; reversed, that is the first.
        let newest = existing.rev().max_by_key(|(changed, _)| *changed);
        newest.map(|(_, path)| path)
    }

    /// Takes a snapshot of the report at `path`.
    pub fn start(&self, path: &str, deadline: &Deadline) -> Result<TakenSnapshot, CoverageError> {
        let report = self.load(path, deadline)?.report;
        let taken = TakenSnapshot {
            id: Uuid::new_v4(),
            at: self.clock.now().as_millisecond(),
        };
        let snapshot = Snapshot {
            taken: taken.at,
            project: self.root.id(),
            report,
        };
        self.write_snapshot(taken.id, &snapshot.write())
            .map_err(|error| CoverageError::Storage(describe_storage_error(&error)))?;
        Ok(taken)
    }

    /// Compares a snapshot with the report at `path`.
    pub fn since(&self, id: &str, path: &str, deadline: &Deadline) -> Result<Comparison, CoverageError> {
        let before = parse_id(id)
            .and_then(|id| self.read_snapshot(id).ok())
            .and_then(|text| Snapshot::read(&text))
            .filter(|snapshot| snapshot.project == self.root.id())
            .ok_or_else(|| CoverageError::NoSnapshot(id.to_owned()))?;
        let now = self.load(path, deadline)?;
        Ok(Comparison::between(&before.report, &now.report))
    }

    fn names(&self) -> FileNames {
        let roots = [self.root.path(), self.root.path_as_given()];
        FileNames::new(roots.iter().filter_map(|root| root.to_str()))
    }

    /// Resolves a path as a caller writes it.
    fn locate(&self, path: &str) -> Result<ReportLocation, CoverageError> {
        let inside = match Path::new(path) {
            absolute if absolute.is_absolute() => match self.root.strip_root(absolute) {
                Some(inside) => inside.to_str().expect("a part of text at its separators"),
                None if self.scope == ReportScope::Project => return Err(CoverageError::Outside),
                None => {
                    let relative = path.trim_start_matches('/');
                    return match RepoPath::parse(relative) {
                        Err(error @ (PathError::Control | PathError::Traversal)) => {
                            Err(CoverageError::Path(error))
                        }
                        _ => Ok(ReportLocation::Outside(absolute.to_owned())),
                    };
                }
            },
            _ => path,
        };
        match RepoPath::parse(inside) {
            Ok(path) => Ok(ReportLocation::Inside(path)),
            // An absolute path of another operating system.
            Err(PathError::Absolute) => Err(CoverageError::Missing),
            Err(PathError::Empty) if !path.is_empty() => Err(CoverageError::Unreadable(FileError::Directory)),
            Err(error) => Err(CoverageError::Path(error)),
        }
    }

    fn open(&self, location: &ReportLocation) -> Result<OpenedFile, FileError> {
        match location {
            ReportLocation::Outside(path) => self.root.open_anywhere(path),
            ReportLocation::Inside(path) => match self.root.file(path) {
                // Build directories are often links to a larger disk.
                Err(FileError::Outside) if self.scope == ReportScope::Machine => {
                    self.root.open_anywhere(Path::new(path.as_str()))
                }
                opened => opened,
            },
        }
    }

    fn read_report(
        &self,
        location: &ReportLocation,
        names: &FileNames,
        deadline: &Deadline,
    ) -> Result<Arc<Report>, CoverageError> {
        let opened = self.open(location)?;
        if let Some(report) = self.cached_report(location, &opened.version()?) {
            return Ok(report);
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // A test run may be writing the report. If it changes while we read, we may have half of each
        // version.
        for _ in 0..2 {
            let opened = self.open(location)?;
            let version = opened.version()?;
            if let Some(report) = self.cached_report(location, &version) {
                return Ok(report);
            }
            // The system's clock, also under a fixed clock: the file system uses it too.
            let is_settled = version.is_older_than(SystemTime::now());
            let report = parse_report(&opened, names, deadline);
            if opened.version()? != version {
                continue;
            }
            let report = Arc::new(report?);
            if is_settled {
                let report = report.clone();
                self.cache
                    .insert(location.clone(), CachedReport { version, report });
            }
            return Ok(report);
        }
        Err(CoverageError::Changing)
    }

    fn cached_report(&self, location: &ReportLocation, version: &FileVersion) -> Option<Arc<Report>> {
        let cached = self.cache.get(location)?;
        (cached.version == *version).then_some(cached.report)
    }

    /// Writes a snapshot's file.
    fn write_snapshot(&self, id: Uuid, text: &str) -> io::Result<()> {
        let directory = Dir::open_ambient_dir(&self.temporary, cap_std::ambient_authority())?;
        let unfinished = format!("{}.part", file_name(id));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = directory.open_with(&unfinished, &options)?;
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| directory.rename(&unfinished, &directory, file_name(id)));
        match written {
            Ok(()) => remove_old_snapshots(&directory, id),
            Err(_) => {
                // If it cannot be removed either, only the first error is worth reporting.
                let _ = directory.remove_file(&unfinished);
            }
        }
        written
    }

    /// Reads a snapshot's file: a regular one, of this user.
    fn read_snapshot(&self, id: Uuid) -> Result<String, FileError> {
        let directory = Dir::open_ambient_dir(&self.temporary, cap_std::ambient_authority())?;
        let file = directory.open_with(file_name(id), &read_options())?.into_std();
        let opened = OpenedFile::new(file)?;
        if !opened.is_own()? {
            return Err(FileError::Denied);
        }
        let content = opened.read(MAX_SNAPSHOT_BYTES)?;
        String::from_utf8(content.bytes).map_err(|_| FileError::Special)
    }
}

impl LoadedReport {
    /// The file that a caller names. `None` if the report does not have it.
    pub fn find(&self, path: &str) -> Result<Option<&FileCoverage>, AmbiguousPath> {
        self.report.find(path, &self.names)
    }

    /// What the report has near a path that it does not have.
    pub fn near(&self, path: &str) -> Option<NearFiles<'_>> {
        self.report.near(path, &self.names)
    }
}

impl From<FileError> for CoverageError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Missing => Self::Missing,
            error => Self::Unreadable(error),
        }
    }
}

fn parse_report(
    opened: &OpenedFile,
    names: &FileNames,
    deadline: &Deadline,
) -> Result<Report, CoverageError> {
    let mut parser = LcovParser::new(names);
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    loop {
        deadline.check()?;
        match (&opened.file).read(&mut buffer) {
            Ok(0) => return parser.finish().map_err(CoverageError::Malformed),
            Ok(length) => parser.feed(&buffer[..length]).map_err(CoverageError::Malformed)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::from(error).into()),
        }
    }
}

/// Parses an id. `None` unless [`Coverage::start`] could have returned it.
fn parse_id(text: &str) -> Option<Uuid> {
    let id = Uuid::try_parse(text).ok()?;
    let is_ours =
        text.len() == 36 && id.get_version() == Some(Version::Random) && id.get_variant() == Variant::RFC4122;
    is_ours.then_some(id)
}

fn file_name(id: Uuid) -> String {
    format!("{FILE_PREFIX}{id}{FILE_SUFFIX}")
}

const FILE_PREFIX: &str = "docent-coverage-";
const FILE_SUFFIX: &str = ".lcov";

/// Removes the snapshots of this user that are too old or too many, except `newest`. Some systems clear the
/// temporary directory only when they start, or never.
fn remove_old_snapshots(directory: &Dir, newest: Uuid) {
    // Snapshots that cannot be listed or removed are left to the system.
    let Ok(entries) = directory.entries() else { return };
    let mut found: Vec<(SystemTime, Uuid)> = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let id = name
            .to_str()
            .and_then(|name| name.strip_prefix(FILE_PREFIX)?.strip_suffix(FILE_SUFFIX))
            .and_then(parse_id)
            .filter(|id| *id != newest);
        // Of the entry itself, not of the target of a link.
        if let Some(id) = id
            && let Ok(metadata) = directory.symlink_metadata(&name)
            && metadata.is_file()
            && is_of_this_user(&metadata)
            && let Ok(modified) = metadata.modified()
        {
            found.push((modified.into_std(), id));
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    // The system's clock, also under a fixed clock: the file system uses it too.
    let now = SystemTime::now();
    let is_old = |modified: SystemTime| {
        now.duration_since(modified)
            .is_ok_and(|age| age > MAX_SNAPSHOT_AGE)
    };
    for (rank, (modified, id)) in (1..).zip(found) {
        if rank >= MAX_SNAPSHOTS || is_old(modified) {
            let _ = directory.remove_file(file_name(id));
        }
    }
}

#[cfg(unix)]
fn is_of_this_user(metadata: &cap_std::fs::Metadata) -> bool {
    cap_std::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_of_this_user(_: &cap_std::fs::Metadata) -> bool {
    true
}

fn describe_storage_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "temp dir does not exist".into(),
        io::ErrorKind::NotADirectory => "temp dir is not a directory".into(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "temp dir not writable".into(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "temp dir is full".into(),
        _ => format!("temp dir cannot be used: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_core::access::Access;
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn coverage(directory: &Path) -> Coverage {
        let root = Root::open(directory, Access::new([]).unwrap()).unwrap();
        Coverage::new(root, ReportScope::Machine, Clock::System, directory.to_owned())
    }

    #[test]
    fn a_report_is_read_once_until_it_changes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lcov.info");
        fs::write(&path, "SF:a\nDA:1,1\nend_of_record\n").unwrap();
        let coverage = coverage(directory.path());
        let load = || coverage.load("lcov.info", &Deadline::default()).unwrap().report;
        let is_cached = || Arc::ptr_eq(&load(), &load());

        // A report that was written just now is not cached: a second write could leave the same time.
        let was_cached = (0..1_000_000).any(|_| is_cached());
        assert!(was_cached);
        let before = load();
        fs::write(&path, "SF:a\nDA:1,0\nend_of_record\n").unwrap();
        assert_ne!(load(), before);
    }

    #[test]
    fn a_report_is_never_read_half_old_and_half_new() {
        const ROUNDS: usize = 300;
        const FILES: usize = 20_000;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lcov.info");
        let versions = [0, 1].map(|count| {
            let record = |file: usize| format!("SF:{file}\nDA:1,{count}\nend_of_record\n");
            (0..FILES).map(record).collect::<Vec<_>>().concat()
        });
        fs::write(&path, &versions[0]).unwrap();
        let coverage = coverage(directory.path());
        let written = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    fs::write(&path, &versions[round % 2]).unwrap();
                }
                written.store(true, Ordering::Relaxed);
            });
            while !written.load(Ordering::Relaxed) {
                if let Ok(loaded) = coverage.load("lcov.info", &Deadline::default()) {
                    let percent = loaded.report.total().percent().to_string();
                    assert!(percent == "0.0" || percent == "100.0", "{percent}");
                    assert_eq!(loaded.report.files().len(), FILES);
                }
            }
        });
    }

    #[test]
    fn an_error_says_why_a_snapshot_cannot_be_written() {
        for (kind, problem) in [
            (io::ErrorKind::NotFound, "temp dir does not exist"),
            (io::ErrorKind::NotADirectory, "temp dir is not a directory"),
            (io::ErrorKind::PermissionDenied, "temp dir not writable"),
            (io::ErrorKind::ReadOnlyFilesystem, "temp dir not writable"),
            (io::ErrorKind::StorageFull, "temp dir is full"),
            (io::ErrorKind::QuotaExceeded, "temp dir is full"),
        ] {
            assert_eq!(describe_storage_error(&kind.into()), problem);
        }
    }
}
