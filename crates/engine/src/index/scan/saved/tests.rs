//! Scans that resume from a saved one find what a walk of everything finds.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use docent_core::access::Access;
use proptest::prelude::*;
use tempfile::TempDir;

use super::super::{ActiveWatcher, Scan, UnwatchedState};
use super::*;

/// A project with a saved scan of it.
struct SavedProject {
    directory: TempDir,
    generation: TempDir,
    root: Root,
    files: Vec<RepoPath>,
}

/// A change of a project between two scans.
#[derive(Clone, Debug)]
enum Change {
    Write(&'static str, &'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
}

impl SavedProject {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join(".git")).unwrap();
        for (path, text) in files {
            write(&directory.path().join(path), text);
        }
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let mut project = Self {
            directory,
            generation: tempfile::tempdir().unwrap(),
            root,
            files: Vec::new(),
        };
        let mut scan = project.scan(None);
        // As if the scan had begun much later: otherwise the stamps of files that were written just now
        // would not be trusted, and everything would be walked.
        scan.began = Some(SystemTime::now() + Duration::from_mins(1));
        scan.save(&project.root, project.generation.path());
        project.files = scan.files.into_keys().collect();
        project.await_next_tick();
        project
    }

    /// Waits until changes get other times than those of the files that exist.
    fn await_next_tick(&self) {
        let probe = self.generation.path().join("probe");
        let time = || {
            fs::write(&probe, "").unwrap();
            Stamp::at(&probe).unwrap().changed
        };
        let first = time();
        while time() == first {}
    }

    /// A scan, resumed from a saved one if there is any.
    fn scan(&self, saved: Option<SavedScan>) -> Scan {
        let mut scan = Scan::default();
        if let Some(saved) = saved {
            scan.restore(saved, self.files.clone());
        }
        let unwatched = UnwatchedState::read(&self.root, None);
        scan.refresh(&self.root, &ActiveWatcher::default(), unwatched, &[]);
        scan
    }

    fn saved(&self) -> SavedScan {
        SavedScan::read(self.generation.path()).unwrap()
    }

    fn difference(&self) -> SavedDifference {
        let unwatched = UnwatchedState::read(&self.root, None);
        let rules = hash_rules(&self.root, &unwatched.ignore_files);
        self.saved().compare(&self.root, rules)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    /// Applies a change, if it can be applied.
    fn apply(&self, change: &Change) {
        match change {
            Change::Write(path, text) if !self.path(path).is_dir() => write(&self.path(path), text),
            Change::Write(..) => {}
            Change::Remove(path) if self.path(path).is_dir() => fs::remove_dir_all(self.path(path)).unwrap(),
            Change::Remove(path) => drop(fs::remove_file(self.path(path))),
            Change::Rename(from, to) => drop(fs::rename(self.path(from), self.path(to))),
        }
    }
}

fn write(path: &Path, text: &str) {
    // A parent may be a file by now.
    if fs::create_dir_all(path.parent().unwrap()).is_ok() {
        fs::write(path, text).unwrap();
    }
}

const FILES: [(&str, &str); 7] = [
    ("a.rs", "1"),
    ("src/b.rs", "2"),
    ("src/deep/er/c.rs", "3"),
    ("src/.gitignore", "*.log"),
    ("src/deep/x.log", "4"),
    ("cache/CACHEDIR.TAG", ""),
    ("cache/kept.rs", "5"),
];

#[test]
fn an_unchanged_project_needs_no_walk() {
    let project = SavedProject::new(&FILES);
    assert_eq!(project.difference(), SavedDifference::Directories(Vec::new()));
    let resumed = project.scan(Some(project.saved()));
    assert!(resumed.is_saved);
    assert_eq!(resumed.files, project.scan(None).files);
}

#[test]
fn a_changed_ignore_file_and_a_removed_mark_need_a_walk_of_everything() {
    let project = SavedProject::new(&FILES);
    project.apply(&Change::Write("src/.gitignore", "*.rs\n"));
    assert_eq!(project.difference(), SavedDifference::Everything);

    let project = SavedProject::new(&FILES);
    project.apply(&Change::Remove("cache/CACHEDIR.TAG"));
    assert_eq!(project.difference(), SavedDifference::Everything);
}

#[test]
fn only_a_directory_with_a_new_file_is_walked() {
    let project = SavedProject::new(&FILES);
    project.apply(&Change::Write("src/deep/new.rs", "n"));
    let deep = RepoPath::parse("src/deep").unwrap();
    assert_eq!(project.difference(), SavedDifference::Directories(vec![deep]));
}

#[test]
fn stamps_of_just_now_are_not_trusted() {
    let project = SavedProject::new(&FILES);
    let mut scan = project.scan(None);
    scan.began = Some(SystemTime::UNIX_EPOCH);
    scan.save(&project.root, project.generation.path());
    assert_eq!(project.difference(), SavedDifference::Everything);
}

#[test]
fn a_directory_that_could_not_be_read_is_looked_for_again() {
    let project = SavedProject::new(&FILES);
    // The walk leaves out a directory whose ignore file is too long to be read.
    write(&project.path("src/deep/.gitignore"), &"x\n".repeat(1 << 20));
    project.apply(&Change::Write("src/new.rs", "n"));
    let mut resumed = project.scan(Some(project.saved()));
    assert_eq!(resumed.missed.count, project.scan(None).missed.count);
    assert!(
        !resumed
            .files
            .contains_key(&RepoPath::parse("src/deep/er/c.rs").unwrap())
    );
    resumed.began = Some(SystemTime::now() + Duration::from_mins(1));
    let before = project.saved();
    resumed.save(&project.root, project.generation.path());
    assert_eq!(project.saved(), before, "an incomplete scan is not saved");
}

#[test]
fn a_damaged_file_or_another_version_is_no_saved_scan() {
    let project = SavedProject::new(&FILES);
    let file = project.generation.path().join(SAVED_SCAN_FILE);
    #[expect(clippy::disallowed_methods, reason = "a folder of the test")]
    let text = fs::read_to_string(&file).unwrap();
    for broken in [
        &text[..text.len() / 2],
        "",
        &text.replacen('1', "0", 1),
        "1 2\nend\n",
    ] {
        fs::write(&file, broken).unwrap();
        assert_eq!(SavedScan::read(project.generation.path()), None, "{broken}");
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    let path = prop::sample::select(vec![
        "a.rs",
        "src/b.rs",
        "src/new.rs",
        "src/deep",
        "src/deep/er/c.rs",
        "src/deep/er/d.rs",
        "src/deep/x.log",
        "new/one/two.rs",
        "new",
        "src/deep/CACHEDIR.TAG",
        "cache/CACHEDIR.TAG",
        "cache/more.rs",
        ".gitignore",
        "src/.gitignore",
        "src/deep/.ignore",
    ]);
    let text = prop::sample::select(vec!["x", "*.rs", "deep", "!x.log\n"]);
    prop_oneof![
        (path.clone(), text).prop_map(|(path, text)| Change::Write(path, text)),
        path.clone().prop_map(Change::Remove),
        (path.clone(), path).prop_map(|(from, to)| Change::Rename(from, to)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_resumed_scan_finds_what_a_full_one_finds(changes in prop::collection::vec(any_change(), 0..6)) {
        let project = SavedProject::new(&FILES);
        for change in &changes {
            project.apply(change);
        }
        let (resumed, full) = (project.scan(Some(project.saved())), project.scan(None));
        prop_assert_eq!(resumed.files, full.files);
        prop_assert_eq!(resumed.directories, full.directories);
        prop_assert_eq!(resumed.marked, full.marked);
    }
}
