//! The access log and the session log on the real binary: a damaged file is set aside, and the log works
//! again.
//!
//! The opener itself is tested in `engine/src/sqlite.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox;

/// The files of this name below a directory, at any depth.
fn find(directory: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(find(&path, name));
        } else if path.ends_with(name) {
            found.push(path);
        }
    }
    found
}

fn find_one(directory: &Path, name: &str) -> PathBuf {
    let found = find(directory, name);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    found.into_iter().next().unwrap()
}

/// Garbage instead of the whole file.
fn overwrite(file: &Path) {
    fs::write(file, "garbage".repeat(3_000)).unwrap();
}

/// Garbage behind the first page: the file is opened without an error, and reading it fails.
fn damage_pages(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    assert!(bytes.len() > 4096, "there are pages to damage");
    bytes[4096..].fill(0x5a);
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_damaged_log_is_set_aside_and_works_again() {
    for damage in [overwrite as fn(&Path), damage_pages] {
        let sandbox = sandbox().file("a.rs", "fn a() {}\n").file("b.rs", "fn b() {}\n");
        assert_eq!(sandbox.run(&["read", "a.rs"]).code, 0);
        // The last connection that is closed moves the write-ahead log into the file.
        assert_eq!(sandbox.run(&["sessions"]).code, 0);
        let logs = [("accesses-1.db", "b.rs"), ("sessions-1.db", "read_file")];
        let mut damaged = Vec::new();
        for (name, _) in logs {
            let file = find_one(&sandbox.home(), name);
            damage(&file);
            damaged.push(fs::read(&file).unwrap());
        }

        let finished = sandbox.run(&["read", "b.rs"]);
        assert_eq!(finished.code, 0, "{}", finished.stderr);

        let sessions: Value = serde_json::from_str(&sandbox.run(&["sessions", "--json"]).stdout).unwrap();
        assert_eq!(sessions.as_array().unwrap().len(), 1, "{sessions}");
        assert_eq!(sessions[0]["tools"], json!([{ "name": "read_file", "times": 1 }]));
        for ((name, expected), damaged) in logs.into_iter().zip(damaged) {
            let file = find_one(&sandbox.home(), name);
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert!(
                text.starts_with("SQLite format 3") && text.contains(expected),
                "{name}"
            );
            assert!(
                fs::read(file.with_extension("damaged")).unwrap() == damaged,
                "{name}"
            );
        }
    }
}
