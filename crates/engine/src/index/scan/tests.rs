//! Scans of real directories, with and without a watcher.

use std::fs;

use docent_core::access::Access;
use tempfile::TempDir;

use super::*;

/// A project on disk, with a scan of it.
struct Project {
    directory: TempDir,
    cache: TempDir,
    root: Root,
    watch: ActiveWatcher,
    scan: Scan,
}

impl Project {
    fn new(files: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let project = Self {
            root: Root::open(directory.path(), Access::new([]).unwrap()).unwrap(),
            directory,
            cache: tempfile::tempdir().unwrap(),
            watch: ActiveWatcher::default(),
            scan: Scan::default(),
        };
        for file in files {
            project.write(file, "text");
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn refresh(&mut self) {
        let unwatched = UnwatchedState::read(&self.root, None);
        self.scan.refresh(&self.root, &self.watch, unwatched, &[]);
    }

    /// Starts the watcher as the worker does: after a scan, with the directories of that scan.
    fn start_watch(&mut self) {
        let directories = self.scan.hand_to_watcher();
        let watcher = Watcher::start(self.root.path(), &directories, self.cache.path(), Box::new(|| {}));
        self.watch.set(Some(watcher.unwrap()));
    }

    fn watched(files: &[&str]) -> Self {
        let mut project = Self::new(files);
        project.refresh();
        project.start_watch();
        project.refresh();
        assert!(project.scan.is_covered);
        project
    }

    #[track_caller]
    fn check(&mut self, expected: &[&str]) {
        self.refresh();
        let files: Vec<&str> = self.scan.files.keys().map(RepoPath::as_str).collect();
        assert_eq!(files, expected);
    }
}

#[test]
fn a_scan_lists_the_files_of_the_project() {
    Project::new(&["src/a.rs", "b.md"]).check(&["b.md", "src/a.rs"]);
}

#[test]
fn without_a_watcher_every_refresh_scans() {
    let mut project = Project::new(&["a.rs"]);
    project.check(&["a.rs"]);
    project.write("b.rs", "");
    fs::remove_file(project.directory.path().join("a.rs")).unwrap();
    project.check(&["b.rs"]);
}

#[test]
fn ignored_files_are_not_scanned() {
    let mut project = Project::new(&["a.rs", "target/b.rs"]);
    project.write(".gitignore", "target/\n");
    fs::create_dir(project.directory.path().join(".git")).unwrap();
    project.check(&[".gitignore", "a.rs"]);
}

#[test]
fn memory_files_are_scanned_even_if_they_are_ignored_and_what_lies_beside_them_is_not() {
    let mut project = Project::new(&[".context/memory/decisions.md", ".context/memory/.origins", "a.rs"]);
    let memory = MemoryFile::ALL[0].path();
    project.write(memory.as_str(), "# x");
    project.write(&format!("{MEMORY_DIRECTORY}/{ORIGINS}"), "x");
    project.write(&format!("{MEMORY_DIRECTORY}/{JOURNAL}"), "x");
    project.write(".gitignore", ".context/\n");
    fs::create_dir(project.directory.path().join(".git")).unwrap();
    project.refresh();
    assert!(project.scan.files.contains_key(&memory));
    for own in [ORIGINS, JOURNAL] {
        let own = RepoPath::parse(&format!("{MEMORY_DIRECTORY}/{own}")).unwrap();
        assert!(!project.scan.files.contains_key(&own), "{own}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_watched_project_finds_files_that_come_change_and_go() {
    let mut project = Project::watched(&["src/a.rs"]);
    project.write("src/b.rs", "");
    project.check(&["src/a.rs", "src/b.rs"]);
    let path = RepoPath::parse("src/a.rs").unwrap();
    let before = project.scan.files[&path];
    project.write("src/a.rs", "another text");
    project.refresh();
    assert_ne!(project.scan.files[&path], before);
    fs::remove_file(project.directory.path().join("src/a.rs")).unwrap();
    project.check(&["src/b.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn files_in_a_new_directory_are_found_and_watched() {
    let mut project = Project::watched(&["a.rs"]);
    project.write("new/deep/b.rs", "");
    project.check(&["a.rs", "new/deep/b.rs"]);
    project.write("new/deep/c.rs", "");
    project.check(&["a.rs", "new/deep/b.rs", "new/deep/c.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_removed_directory_takes_its_files_along() {
    let mut project = Project::watched(&["a.rs", "old/b.rs", "old/deep/c.rs"]);
    fs::remove_dir_all(project.directory.path().join("old")).unwrap();
    project.check(&["a.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_replaces_another_is_watched() {
    let mut project = Project::watched(&["src/a.rs", "other/b.rs"]);
    let path = |name: &str| project.directory.path().join(name);
    fs::rename(path("src"), path("away")).unwrap();
    fs::rename(path("other"), path("src")).unwrap();
    project.check(&["away/a.rs", "src/b.rs"]);
    project.write("src/c.rs", "");
    project.check(&["away/a.rs", "src/b.rs", "src/c.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_changed_ignore_file_scans_everything() {
    let mut project = Project::watched(&["a.rs", "build/b.rs"]);
    fs::create_dir(project.directory.path().join(".git")).unwrap();
    project.write(".gitignore", "build/\n");
    project.check(&[".gitignore", "a.rs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_came_between_the_scan_and_the_watcher_is_found() {
    let mut project = Project::new(&["a.rs"]);
    project.refresh();
    // The watcher starts with the directories of the scan, which has not seen this one.
    project.write("late/b.rs", "");
    project.start_watch();
    project.check(&["a.rs", "late/b.rs"]);
    project.write("late/c.rs", "");
    project.check(&["a.rs", "late/b.rs", "late/c.rs"]);
}

#[test]
fn a_watcher_that_gave_up_is_not_believed() {
    let mut project = Project::new(&["a.rs"]);
    project.refresh();
    project.start_watch();
    project.watch.give_up();
    assert!(project.watch.active().is_none());
    project.write("b.rs", "");
    project.check(&["a.rs", "b.rs"]);
}

#[test]
fn a_page_keeps_its_stamp_while_that_of_the_file_is_unsettled() {
    let mut project = Project::new(&["docs/a.md"]);
    project.refresh();
    let path = RepoPath::parse("docs/a.md").unwrap();
    let (before, _) = project.scan.docs.pages[&path];
    let unsettled = Stamp { changed: 0, ..before };
    project.scan.files.insert(path.clone(), unsettled);
    project.scan.docs.refresh(&project.root, &project.scan.files, &[]);
    assert_eq!(project.scan.docs.pages[&path].0, before);
}
