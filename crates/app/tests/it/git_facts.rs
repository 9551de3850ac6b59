//! Facts of git that were once answered otherwise: dates, abbreviated ids, changed types, staged renames.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use docent_testkit::{Era, Finished, JANE, JOHN, Sandbox, make_link};
use insta::assert_snapshot;
use serde_json::json;

use crate::{sandbox, subjects};

fn list_since(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let answer = sandbox.call("git_log", json!({ "since": text, "maxCount": 100 }));
    assert!(!answer.is_error, "{text}: {answer}");
    subjects(&answer)
}

#[test]
fn dates_mean_what_they_mean_to_git() {
    let sandbox = sandbox().repository().file("a.txt", "0\n");
    for day in [
        "2023-12-30",
        "2023-12-31",
        "2024-01-02",
        "2024-02-01",
        "2024-03-01",
    ] {
        sandbox.write("a.txt", day);
        sandbox.commit(day, JOHN, day);
    }
    // With a time of day, or in seconds, the answer is git's own.
    for text in [
        "1704067200",
        "1704067200 +0000",
        "1704067200 -0500",
        "@1704067200 +0100",
        "12/31/2023 12:30",
        "31.12.2023 11:30",
        "11:30 12/31/2023",
        "12/31/23 12:30",
        "2023-12-31T12:30:00Z",
        "Sun, 31 Dec 2023 12:30:00 +0000",
        "20240102T113000",
        "10:30",
        "6am",
    ] {
        let since = format!("--since={text}");
        let log = sandbox.git(&["log", "--format=%s", &since]);
        assert_eq!(
            list_since(&sandbox, text),
            log.lines().collect::<Vec<_>>(),
            "{text}"
        );
    }
    // A day is the whole day, with the month where git reads it.
    for (text, day) in [
        ("12/31/2023", "2023-12-31"),
        ("31/12/2023", "2023-12-31"),
        ("12-31-2023", "2023-12-31"),
        ("12/31/23", "2023-12-31"),
        ("31.12.2023", "2023-12-31"),
        ("01.02.2024", "2024-02-01"),
        ("1.2.2024", "2024-02-01"),
        ("02/01/2024", "2024-02-01"),
        ("01/02/2024", "2024-01-02"),
        ("1/2/24", "2024-01-02"),
    ] {
        let since = format!("--since={day} 00:00:00");
        let log = sandbox.git(&["log", "--format=%s", &since]);
        assert_eq!(
            list_since(&sandbox, text),
            log.lines().collect::<Vec<_>>(),
            "{text}"
        );
    }
    let until = sandbox.call("git_log", json!({ "until": "31.12.2023" }));
    assert_eq!(subjects(&until), ["2023-12-31", "2023-12-30"]);
}

#[test]
fn a_running_server_abbreviates_ids_as_git_does_after_objects_were_packed() {
    let sandbox = sandbox().repository().file("a.txt", "one\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    let client = sandbox.start_client(Era::Handshake);
    let check = |digits: usize| {
        let id = sandbox.git(&["log", "-1", "--format=%h"]);
        assert_eq!(id.len(), digits);
        let log = client.call("git_log", json!({}));
        assert!(log.text.contains(&format!("## Commit: {id} (")), "{id}: {log}");
        let blame = client.call("git_blame", json!({ "filePath": "a.txt" }));
        assert!(blame.text.contains(&format!("  {id} (John Doe")), "{id}: {blame}");
    };
    check(7);
    // Git abbreviates by the number of packed objects. An import is a pack, as after `git gc`.
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(sandbox.root())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let blobs: Vec<String> = (10_000..27_000)
        .map(|at| format!("blob\ndata 5\n{at}\n"))
        .collect();
    import
        .stdin
        .take()
        .unwrap()
        .write_all(blobs.concat().as_bytes())
        .unwrap();
    assert!(import.wait().unwrap().success());
    check(8);
}

/// The lines of `git blame` that no commit has, and those of the last commit that touched each other line.
fn blame_by_git(sandbox: &Sandbox, path: &str) -> Vec<String> {
    let text = sandbox.git(&["blame", "--abbrev=6", "-s", "--root", path]);
    let id = |line: &str| line.split(' ').next().unwrap().to_owned();
    text.lines().map(id).collect()
}

fn blame_by_docent(sandbox: &Sandbox, path: &str) -> Vec<String> {
    let answer = sandbox.call("git_blame", json!({ "filePath": path }));
    assert!(!answer.is_error, "{path}: {answer}");
    let lines = answer.text.split("```").nth(1).unwrap().lines().skip(1);
    let id = |line: &str| line.split_ascii_whitespace().nth(1).unwrap().to_owned();
    lines.map(id).collect()
}

#[cfg(unix)]
#[test]
fn blame_of_a_link_that_became_a_file_and_of_a_file_that_became_a_link_is_gits() {
    let sandbox = sandbox()
        .repository()
        .file("target.txt", "one\ntwo\n")
        .file("file", "line\n");
    make_link("target.txt", sandbox.root().join("link"));
    make_link("target.txt", sandbox.root().join("kept"));
    make_link("target.txt", sandbox.root().join("moved"));
    sandbox.commit("2025-10-08", JOHN, "one");
    for path in ["link", "file", "moved"] {
        fs::remove_file(sandbox.root().join(path)).unwrap();
    }
    sandbox.write("link", "a\nb\n");
    make_link("target.txt", sandbox.root().join("file"));
    make_link("elsewhere.txt", sandbox.root().join("moved"));
    for path in ["link", "file", "kept", "moved"] {
        let (ours, gits) = (blame_by_docent(&sandbox, path), blame_by_git(&sandbox, path));
        assert_eq!(ours, gits, "{path}");
    }
    let answer = sandbox.call("git_blame", json!({ "filePath": "file" }));
    assert_snapshot!(answer, @"
    # Git Blame: file

    ⚠ File has local modifications

    ## Lines 1-1

    ```plaintext
    1  0000000 (Not committed yet  2026-01-09) target.txt
    ```
    ");
    sandbox.commit("2025-10-09", JANE, "types");
    for path in ["link", "file", "kept", "moved"] {
        let (ours, gits) = (blame_by_docent(&sandbox, path), blame_by_git(&sandbox, path));
        assert_eq!(ours, gits, "{path}");
    }
}

#[test]
fn blame_follows_a_staged_rename() {
    let sandbox = sandbox()
        .repository()
        .file("old.txt", "one\ntwo\nthree\nfour\n")
        .file(".env", "A=1\nB=2\nC=3\nD=4\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.git(&["mv", "old.txt", "new.txt"]);
    sandbox.git(&["mv", ".env", "settings.txt"]);
    sandbox.write("new.txt", "one\ntwo\nthree\nfour\nfive and more\n");
    assert_eq!(
        blame_by_docent(&sandbox, "new.txt"),
        blame_by_git(&sandbox, "new.txt")
    );
    let blocked = sandbox.call("git_blame", json!({ "filePath": "settings.txt" }));
    assert!(
        blocked.is_error && blocked.text.contains("PermissionError"),
        "{blocked}"
    );
    let old = sandbox.call("git_blame", json!({ "filePath": "old.txt" }));
    assert!(old.text.contains("⚠ File has local modifications"), "{old}");
}

#[test]
fn the_last_change_of_a_committed_file_is_its_last_commit() {
    const ON_DISK: &str = "2026-01-09T10:00:00Z";
    let sandbox = sandbox()
        .repository()
        .file("a.txt", "one\n")
        .file("b.txt", "one\n")
        .file("lines.txt", "one\ntwo\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write("b.txt", "one\ntwo\n");
    sandbox.commit("2025-10-09", JOHN, "two");
    sandbox.write("new.txt", "x\n");
    // As after a checkout that converts line ends.
    sandbox.write("lines.txt", "one\r\ntwo\r\n");
    let last_modified = |path: &str| {
        let answer = sandbox.call("read_file", json!({ "path": path })).json();
        answer["metadata"]["lastModified"].as_str().unwrap().to_owned()
    };
    for _ in 0..2 {
        assert_eq!(last_modified("a.txt"), "2025-10-08T12:00:00Z");
        assert_eq!(last_modified("b.txt"), "2025-10-09T12:00:00Z");
        assert_eq!(last_modified("lines.txt"), "2025-10-08T12:00:00Z");
        assert_eq!(last_modified("new.txt"), ON_DISK);
    }
    sandbox.write("a.txt", "changed\n");
    assert_eq!(last_modified("a.txt"), ON_DISK);
    sandbox.commit("2025-10-10", JOHN, "three");
    assert_eq!(last_modified("a.txt"), "2025-10-10T12:00:00Z");
    assert_eq!(last_modified("b.txt"), "2025-10-09T12:00:00Z");
    let mut command = sandbox.docent();
    let finished =
        Finished::run(
            command
                .env("PATH", "/nonexistent")
                .args(["call", "read_file", r#"{"path":"a.txt"}"#]),
        );
    assert!(finished.stdout.contains(ON_DISK), "{finished:?}");
    fs::write(
        sandbox.root().join(".git/shallow"),
        sandbox.git(&["rev-parse", "HEAD~1"]) + "\n",
    )
    .unwrap();
    assert_eq!(last_modified("a.txt"), "2025-10-10T12:00:00Z");
    assert_eq!(last_modified("b.txt"), ON_DISK);
}

#[test]
fn blame_of_a_file_in_a_submodule_is_that_of_the_submodule() {
    let inner = sandbox().repository().file("src/f.txt", "one\n");
    inner.commit("2025-10-08", JOHN, "inner one");
    inner.write("src/f.txt", "one\ntwo\n");
    inner.commit("2025-10-09", JANE, "inner two");
    let sandbox = sandbox().repository().file("a.txt", "x\n");
    let url = format!("file://{}", inner.root().display());
    sandbox.git(&["submodule", "--quiet", "add", &url, "libs/inner"]);
    sandbox.commit("2025-10-10", JOHN, "outer");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "libs/inner/src/f.txt" })), @"
    # Git Blame: libs/inner/src/f.txt

    ## Lines 1-2

    ```plaintext
    1  bff882f (John Doe    2025-10-08) one
    2  109369c (Jane Smith  2025-10-09) two
    ```

    ### Commit bff882f
    **Author**: John Doe <john@example.com>  
    **Date**: 2025-10-08  
    **Message**: inner one

    ### Commit 109369c
    **Author**: Jane Smith <jane@example.com>  
    **Date**: 2025-10-09  
    **Message**: inner two
    ");
    for path in ["libs/inner", "libs/inner/absent.txt", "libs"] {
        let answer = sandbox.call("git_blame", json!({ "filePath": path }));
        assert!(
            answer.text.contains("File not tracked by git"),
            "{path}: {answer}"
        );
    }
    // A submodule that leads to another repository is not followed.
    let other = crate::sandbox().repository().file("src/f.txt", "hunter2\n");
    other.commit("2025-10-08", JOHN, "hunter2");
    let dot_git = sandbox.root().join("libs/inner/.git");
    fs::write(
        &dot_git,
        format!("gitdir: {}\n", other.root().join(".git").display()),
    )
    .unwrap();
    let answer = sandbox.call("git_blame", json!({ "filePath": "libs/inner/src/f.txt" }));
    assert!(answer.is_error && !answer.text.contains("hunter2"), "{answer}");
}
