//! Coverage reports on this machine, and snapshots of them.
//!
//! A report is read in one pass and never held as text. What was read is kept until the file changes. A snapshot is a
//! file of its own in the system's temporary directory, written under another name and then renamed: it is there whole or
//! not at all, whoever else writes there.
//!
//! Invariant: of a report, nothing but the names of its files gets out, and a snapshot is only read if this user took it
//! of this project.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cap_std::fs::{Dir, OpenOptions};
use docent_core::coverage::lcov::{LcovError, LcovParser};
use docent_core::coverage::snapshot::{Comparison, Snapshot};
use docent_core::coverage::{AmbiguousPath, FileCoverage, FileNames, Report, USUAL_REPORT_PATHS};
use docent_core::path::{PathError, RepoPath};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use uuid::{Uuid, Variant, Version};

use crate::clock::Clock;
use crate::deadline::{Deadline, Expired};
use crate::files::{FileError, OpenedFile, Root, to_read};
use crate::stamp::FileVersion;

/// The coverage of one project.
#[derive(Debug)]
pub struct Coverage {
    root: Root,
    reach: ReportScope,
    clock: Clock,
    /// Where snapshots are put.
    temporary: PathBuf,
    kept: Cache<ReportLocation, CachedReport, ReportWeight>,
    /// Held while a report is read, which takes memory; whoever waits for the same report finds it kept.
    reading: Mutex<()>,
}

/// Where a report may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportScope {
    /// In the project, for callers who need not be its user.
    Project,
    /// Anywhere: the caller is the user.
    Machine,
}

/// A report that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub report: Arc<Report>,
    names: FileNames,
}

/// A snapshot that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub id: Uuid,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// Why there is no answer.
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

/// Bytes of reports kept.
const MAX_CACHED_BYTES: u64 = 16 << 20;

/// Bytes read at once.
const PIECE: usize = 128 << 10;

/// Bytes of a snapshot; more than the largest report that is read can make.
const MAX_SNAPSHOT_BYTES: u64 = 256 << 20;

/// Where a report is.
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
    fn weight(&self, _: &ReportLocation, kept: &CachedReport) -> u64 {
        let files = kept.report.files();
        1 + files
            .iter()
            .map(|file| (size_of::<FileCoverage>() + file.path.len()) as u64)
            .sum::<u64>()
    }
}

impl Coverage {
    pub fn new(root: Root, reach: ReportScope, clock: Clock, temporary: PathBuf) -> Self {
        Self {
            root,
            reach,
            clock,
            temporary,
            kept: Cache::with_weighter(20, MAX_CACHED_BYTES, ReportWeight),
            reading: Mutex::default(),
        }
    }

    /// The report at `path`: relative to the project, or absolute.
    pub fn load(&self, path: &str, deadline: &Deadline) -> Result<Loaded, CoverageError> {
        let place = self.place(path)?;
        let names = self.names();
        let report = self.report(&place, &names, deadline)?;
        let names = match place {
            ReportLocation::Inside(path) => names.for_report_at(path.as_str()),
            ReportLocation::Outside(_) => names,
        };
        Ok(Loaded { report, names })
    }

    /// Of the usual places, the one with the newest report.
    pub fn usual(&self) -> Option<&'static str> {
        let there = USUAL_REPORT_PATHS.iter().filter_map(|path| {
            let place = ReportLocation::Inside(RepoPath::parse(path).expect("a path of ours"));
            match self.open(&place) {
                Ok(opened) => Some((opened.modified, *path)),
                Err(FileError::Missing) => None,
                // What is wrong with it is worth hearing, if there is no other.
                Err(_) => Some((None, *path)),
            }
        });
        // Of equals, the first.
        let newest = there.rev().max_by_key(|(changed, _)| *changed);
        newest.map(|(_, path)| path)
    }

    /// Takes a snapshot of the report at `path`.
    pub fn start(&self, path: &str, deadline: &Deadline) -> Result<Taken, CoverageError> {
        let report = self.load(path, deadline)?.report;
        let taken = Taken {
            id: Uuid::new_v4(),
            at: self.clock.now().as_millisecond(),
        };
        let snapshot = Snapshot {
            taken: taken.at,
            project: self.root.id(),
            report,
        };
        self.store(taken.id, &snapshot.write())
            .map_err(|error| CoverageError::Storage(storage_problem(&error)))?;
        Ok(taken)
    }

    /// What has changed between the snapshot and the report at `path`.
    pub fn since(&self, id: &str, path: &str, deadline: &Deadline) -> Result<Comparison, CoverageError> {
        let before = id_of(id)
            .and_then(|id| self.fetch(id).ok())
            .and_then(|text| Snapshot::read(&text))
            .filter(|snapshot| snapshot.project == self.root.id())
            .ok_or_else(|| CoverageError::NoSnapshot(id.to_owned()))?;
        let now = self.load(path, deadline)?;
        Ok(Comparison::between(&before.report, &now.report))
    }

    fn names(&self) -> FileNames {
        let roots = [self.root.path(), self.root.given()];
        FileNames::new(roots.iter().filter_map(|root| root.to_str()))
    }

    fn place(&self, path: &str) -> Result<ReportLocation, CoverageError> {
        let inside = match Path::new(path) {
            absolute if absolute.is_absolute() => match self.root.inside(absolute) {
                Some(inside) => inside.to_str().expect("a part of text at its separators"),
                None if self.reach == ReportScope::Project => return Err(CoverageError::Outside),
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
            // Another system's way to be absolute.
            Err(PathError::Absolute) => Err(CoverageError::Missing),
            Err(PathError::Empty) if !path.is_empty() => Err(CoverageError::Unreadable(FileError::Directory)),
            Err(error) => Err(CoverageError::Path(error)),
        }
    }

    fn open(&self, place: &ReportLocation) -> Result<OpenedFile, FileError> {
        match place {
            ReportLocation::Outside(path) => self.root.anywhere(path),
            ReportLocation::Inside(path) => match self.root.file(path) {
                // Build directories are often links to a larger disk.
                Err(FileError::Outside) if self.reach == ReportScope::Machine => {
                    self.root.anywhere(Path::new(path.as_str()))
                }
                opened => opened,
            },
        }
    }

    fn report(
        &self,
        place: &ReportLocation,
        names: &FileNames,
        deadline: &Deadline,
    ) -> Result<Arc<Report>, CoverageError> {
        let opened = self.open(place)?;
        if let Some(report) = self.kept_report(place, &opened.version()?) {
            return Ok(report);
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        // A test run may be writing it just now. What was read meanwhile may be half the old and half the new one.
        for _ in 0..2 {
            let opened = self.open(place)?;
            let version = opened.version()?;
            if let Some(report) = self.kept_report(place, &version) {
                return Ok(report);
            }
            // The file system's clock runs with this one, whatever time docent is told it is.
            let settled = version.is_older_than(SystemTime::now());
            let report = parse(&opened, names, deadline);
            if opened.version()? != version {
                continue;
            }
            let report = Arc::new(report?);
            if settled {
                let report = report.clone();
                self.kept.insert(place.clone(), CachedReport { version, report });
            }
            return Ok(report);
        }
        Err(CoverageError::Changing)
    }

    fn kept_report(&self, place: &ReportLocation, version: &FileVersion) -> Option<Arc<Report>> {
        let kept = self.kept.get(place)?;
        (kept.version == *version).then_some(kept.report)
    }

    /// Writes a snapshot's file.
    fn store(&self, id: Uuid, text: &str) -> io::Result<()> {
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
        if written.is_err() {
            // Nothing more can be done about a file that cannot be removed either.
            let _ = directory.remove_file(&unfinished);
        }
        written
    }

    /// Reads a snapshot's file: a regular one, of this user.
    fn fetch(&self, id: Uuid) -> Result<String, FileError> {
        let directory = Dir::open_ambient_dir(&self.temporary, cap_std::ambient_authority())?;
        let file = directory.open_with(file_name(id), &to_read())?.into_std();
        let opened = OpenedFile::new(file)?;
        if !opened.is_own()? {
            return Err(FileError::Denied);
        }
        let content = opened.read(MAX_SNAPSHOT_BYTES)?;
        String::from_utf8(content.bytes).map_err(|_| FileError::Special)
    }
}

impl Loaded {
    /// The file a caller means; nothing where the report has none like it.
    pub fn find(&self, path: &str) -> Result<Option<&FileCoverage>, AmbiguousPath> {
        self.report.find(path, &self.names)
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

fn parse(opened: &OpenedFile, names: &FileNames, deadline: &Deadline) -> Result<Report, CoverageError> {
    let mut parser = LcovParser::new(names);
    let mut piece = vec![0; PIECE];
    loop {
        deadline.check()?;
        match (&opened.file).read(&mut piece) {
            Ok(0) => return parser.finish().map_err(CoverageError::Malformed),
            Ok(length) => parser.feed(&piece[..length]).map_err(CoverageError::Malformed)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::from(error).into()),
        }
    }
}

/// The id a caller wrote, if it is one that [`Coverage::start`] could have given.
fn id_of(text: &str) -> Option<Uuid> {
    let id = Uuid::try_parse(text).ok()?;
    let given =
        text.len() == 36 && id.get_version() == Some(Version::Random) && id.get_variant() == Variant::RFC4122;
    given.then_some(id)
}

fn file_name(id: Uuid) -> String {
    format!("docent-coverage-{id}.lcov")
}

fn storage_problem(error: &io::Error) -> String {
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
        let is_kept = || Arc::ptr_eq(&load(), &load());

        // One that was written just now is not kept: it could be written again with the same time.
        let kept = (0..1_000_000).any(|_| is_kept());
        assert!(kept);
        let before = load();
        fs::write(&path, "SF:a\nDA:1,0\nend_of_record\n").unwrap();
        assert_ne!(load(), before);
    }

    #[test]
    fn a_report_that_is_being_written_is_never_half_the_old_and_half_the_new_one() {
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
    fn what_keeps_a_snapshot_from_being_written_is_said() {
        for (kind, problem) in [
            (io::ErrorKind::NotFound, "temp dir does not exist"),
            (io::ErrorKind::NotADirectory, "temp dir is not a directory"),
            (io::ErrorKind::PermissionDenied, "temp dir not writable"),
            (io::ErrorKind::ReadOnlyFilesystem, "temp dir not writable"),
            (io::ErrorKind::StorageFull, "temp dir is full"),
            (io::ErrorKind::QuotaExceeded, "temp dir is full"),
        ] {
            assert_eq!(storage_problem(&kind.into()), problem);
        }
    }
}
