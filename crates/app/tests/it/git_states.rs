//! Repositories in every state that git knows: the tools answer, or explain in one sentence why they cannot.

use std::fs;

use docent_testkit::{Era, Finished, JANE, JOHN, Sandbox, StdioClient};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

/// A repository with two commits of one file.
fn two_commits() -> Sandbox {
    let sandbox = sandbox().repository().file("a.txt", "one\n");
    sandbox.commit("2025-10-08", JANE, "first");
    sandbox.write("a.txt", "one\ntwo\n");
    sandbox.commit("2025-10-09", JOHN, "second");
    sandbox
}

/// A sandbox without a project, which `make` creates from the repository whose path it gets.
fn make_project(make: impl FnOnce(&Sandbox, &str)) -> Sandbox {
    let origin = two_commits();
    let sandbox = sandbox();
    fs::remove_dir(sandbox.root()).unwrap();
    make(&sandbox, origin.root().to_str().unwrap());
    // Never deleted, because a work tree or a clone may refer to it.
    std::mem::forget(origin);
    sandbox
}

fn clone_with(options: &'static [&'static str]) -> Sandbox {
    make_project(|sandbox, origin| {
        let url = format!("file://{origin}");
        let target = sandbox.root();
        let arguments = [&["clone", "-q"], options, &[&url, target.to_str().unwrap()]].concat();
        sandbox.git_in(sandbox.outside(), &arguments);
    })
}

fn list_subjects(sandbox: &Sandbox) -> Vec<String> {
    let answer = sandbox.call("git_log", json!({}));
    assert!(!answer.is_error, "{answer}");
    crate::subjects(&answer)
}

/// Fails unless all three tools answer, and the log lists these commits.
fn assert_readable(sandbox: &Sandbox, expected: &[&str]) {
    assert_eq!(list_subjects(sandbox), expected);
    let blame = sandbox.call("git_blame", json!({ "filePath": "a.txt" }));
    assert!(!blame.is_error && blame.text.contains(" one\n"), "{blame}");
    let diff = sandbox.call("git_diff", json!({ "ref1": "HEAD", "summary": true }));
    assert!(!diff.is_error, "{diff}");
}

#[test]
fn an_empty_repository_is_explained() {
    let sandbox = sandbox().repository().file("a.txt", "x\n");
    assert_snapshot!(sandbox.call("git_log", json!({})), @"
    # Git Log

    No commits found: nothing has been committed yet.
    ");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "a.txt" })), @"
    [isError] Error: NotFoundError

    Details: File not tracked by git: a.txt (the repository is empty: nothing has been committed yet)

    Suggestion: Commit the file first
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({})), @"
    # Git Diff: unstaged changes

    No differences.
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "HEAD" })), @"
    [isError] Error: NotFoundError

    Details: Invalid git reference: HEAD (the repository is empty: nothing has been committed yet)

    Suggestion: Commit something first; without references, git_diff compares the index with the working directory
    ");
    let log = sandbox.call("git_log", json!({ "since": "v1.0" }));
    assert!(
        log.is_error && log.text.contains("nothing has been committed yet"),
        "{log}"
    );
}

#[test]
fn a_shallow_clone_is_marked() {
    let sandbox = clone_with(&["--depth", "1"]);
    assert_readable(&sandbox, &["second"]);
    assert_snapshot!(sandbox.call("git_log", json!({})), @"
    # Git Log

    ## Commit: edaf806 (2025-10-09)
    **Author**: John Doe <john@example.com>  
    **Message**: second

    **Files Changed** (1):
    - a.txt (added)

    > Note: This is a shallow clone; earlier commits are not here
    ");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "a.txt" })), @"
    # Git Blame: a.txt

    ## Lines 1-2

    ```plaintext
    1  edaf806 (John Doe  2025-10-09) one
    2  edaf806 (John Doe  2025-10-09) two
    ```

    ### Commit edaf806 (oldest)
    **Author**: John Doe <john@example.com>  
    **Date**: 2025-10-09  
    **Message**: second

    > Note: This is a shallow clone; lines of the commits marked as oldest may be older
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "HEAD~1" })), @"
    [isError] Error: NotFoundError

    Details: Invalid git reference: HEAD~1 (this is a shallow clone, which has only the newest commits)

    Suggestion: Name a commit, branch or tag that exists here; git fetch --unshallow gets the rest of the history
    ");
    let log = sandbox.call("git_log", json!({ "since": "HEAD~1" }));
    assert!(
        log.is_error && log.text.contains("this is a shallow clone"),
        "{log}"
    );
}

#[test]
fn a_bare_repository_has_history_and_no_working_directory() {
    let sandbox = clone_with(&["--bare"]);
    let settings = sandbox.home().join("config/docent");
    fs::create_dir_all(&settings).unwrap();
    let root = sandbox.root().canonicalize().unwrap();
    let line = format!("git.allowed_directories = [{:?}]\n", root.to_str().unwrap());
    fs::write(settings.join("config.toml"), line).unwrap();
    assert_eq!(list_subjects(&sandbox), ["second", "first"]);
    let blame = sandbox.call("git_blame", json!({ "filePath": "a.txt" }));
    assert!(!blame.is_error && !blame.text.contains('⚠'), "{blame}");
    assert!(
        !sandbox
            .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
            .is_error
    );
    assert_snapshot!(sandbox.call("git_diff", json!({})), @"
    [isError] Error: InvalidInputError

    Details: This repository is bare: it has no working directory

    Suggestion: Give two references, ref1 and ref2
    ");
}

#[test]
fn a_detached_head_is_read() {
    let sandbox = two_commits();
    sandbox.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    assert_readable(&sandbox, &["first"]);
}

#[test]
fn a_linked_worktree_is_read() {
    let sandbox = make_project(|sandbox, origin| {
        let target = sandbox.root();
        sandbox.git_in(
            origin.as_ref(),
            &[
                "worktree",
                "add",
                "-q",
                "-b",
                "topic",
                target.to_str().unwrap(),
                "HEAD~1",
            ],
        );
    });
    assert_readable(&sandbox, &["first"]);
}

#[test]
fn a_submodule_is_read() {
    let inner = two_commits();
    let sandbox = two_commits();
    let url = format!("file://{}", inner.root().display());
    sandbox.git(&["submodule", "--quiet", "add", &url, "inner"]);
    sandbox.commit("2025-10-10", JOHN, "add a submodule");
    assert_readable(&sandbox, &["add a submodule", "second", "first"]);
    sandbox.write("inner/a.txt", "changed\n");
    sandbox.git_in(&sandbox.root().join("inner"), &["commit", "-q", "-am", "inside"]);
    let diff = sandbox.call("git_diff", json!({}));
    assert!(
        diff.text.contains("## File: inner (modified)") && diff.text.contains("+Subproject commit "),
        "{diff}"
    );
    assert!(sandbox.call("git_blame", json!({ "filePath": "inner" })).is_error);
    let served = sandbox.run(&["--root", "inner", "call", "git_log", r#"{"maxCount": 1}"#]);
    assert!(served.stdout.contains("**Message**: inside"), "{served:?}");
}

#[test]
fn a_subdirectory_of_a_repository_shows_its_own_files() {
    let sandbox = two_commits();
    sandbox.write("packages/web/index.ts", "x\n");
    sandbox.write("other.txt", "x\n");
    sandbox.commit("2025-10-10", JOHN, "web and other");
    let call = |tool: &str, arguments: &str| {
        sandbox
            .run(&["--root", "packages/web", "call", tool, arguments])
            .stdout
    };
    assert_snapshot!(call("git_log", "{}"), @"
    # Git Log

    ## Commit: a0c4255 (2025-10-10)
    **Author**: John Doe <john@example.com>  
    **Message**: web and other

    **Files Changed** (1):
    - index.ts (added)
    ");
    assert!(call("git_blame", r#"{"filePath":"index.ts"}"#).contains("# Git Blame: index.ts"));
    assert_snapshot!(call("git_diff", r#"{"ref1":"HEAD~1","ref2":"HEAD"}"#), @"
    # Git Diff: HEAD~1...HEAD

    ## Summary
    - **Files Changed**: 1
    - **Insertions**: +1 lines
    - **Deletions**: -0 lines

    ---

    ## File: index.ts (added)
    **Changes**: +1 -0

    ```typescript
    x
    ```
    ");
}

#[test]
fn a_repository_with_sha256_ids_is_read() {
    let sandbox = sandbox();
    sandbox.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    sandbox.write("a.txt", "one\n");
    sandbox.commit("2025-10-08", JANE, "long ids");
    assert_readable(&sandbox, &["long ids"]);
}

#[test]
fn a_repository_with_reftable_is_read() {
    let sandbox = sandbox();
    let version = sandbox.git(&["version"]);
    let minor = version
        .split('.')
        .nth(1)
        .and_then(|minor| minor.parse().ok())
        .unwrap_or(0);
    if minor < 45 {
        return; // This git is too old for reftable.
    }
    sandbox.git(&["init", "-q", "-b", "main", "--ref-format=reftable"]);
    sandbox.write("a.txt", "one\n");
    sandbox.commit("2025-10-08", JANE, "in a table");
    assert_readable(&sandbox, &["in a table"]);
}

#[test]
fn names_follow_the_mailmap() {
    let sandbox = two_commits();
    sandbox.write(
        ".mailmap",
        "Johanna Doe <johanna@example.com> <john@example.com>\n",
    );
    let log = sandbox.call("git_log", json!({ "author": "johanna" })).text;
    assert!(
        log.contains("**Author**: Johanna Doe <johanna@example.com>") && log.contains("second"),
        "{log}"
    );
    let blame = sandbox.call("git_blame", json!({ "filePath": "a.txt" })).text;
    assert!(
        blame.contains("(Johanna Doe  2025-10-09) two") && !blame.contains("John Doe"),
        "{blame}"
    );
}

#[test]
fn ignored_and_untracked_paths_are_explained() {
    let sandbox = two_commits()
        .file(".gitignore", "*.log\n")
        .file("x.log", "x\n")
        .file("new.txt", "x\n");
    for path in ["x.log", "new.txt"] {
        let log = sandbox.call("git_log", json!({ "filePath": path })).text;
        assert!(
            log.contains(&format!("{path} is not tracked by git (untracked or ignored).")),
            "{log}"
        );
        let blame = sandbox.call("git_blame", json!({ "filePath": path })).text;
        assert!(
            blame.contains(&format!("File not tracked by git: {path}")),
            "{blame}"
        );
        let diff = sandbox.call("git_diff", json!({ "filePath": path })).text;
        assert!(diff.contains("No differences"), "{diff}");
    }
}

#[test]
fn an_unfinished_merge_shows_its_conflicts() {
    let sandbox = two_commits();
    sandbox.git(&["checkout", "-q", "-b", "topic", "HEAD~1"]);
    sandbox.write("a.txt", "one\nother\n");
    sandbox.commit("2025-10-10", JANE, "topic");
    let merged = std::process::Command::new("git")
        .args(["merge", "-q", "main"])
        .current_dir(sandbox.root())
        .output();
    assert!(!merged.unwrap().status.success());
    assert_snapshot!(sandbox.call("git_diff", json!({})), @"
    # Git Diff: unstaged changes

    ## Summary
    - **Files Changed**: 1
    - **Insertions**: +5 lines
    - **Deletions**: -0 lines

    ---

    ## File: a.txt (conflicted)
    **Changes**: +5 -0

    ```diff
    @@@ -1,2 -1,2 +1,6 @@@
      one
    ++<<<<<<< HEAD
     +other
    ++=======
    + two
    ++>>>>>>> main
    ```
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "summary": true })), @"
    # Git Diff Summary: unstaged changes

    - **Files Changed**: 1
    - **Insertions**: +5 lines
    - **Deletions**: -0 lines

    ### Conflicted Files (1):
    - a.txt (+5 -0)
    ");
    let blame = sandbox.call("git_blame", json!({ "filePath": "a.txt" })).text;
    assert!(
        blame.contains("⚠") && blame.contains("Not committed yet") && blame.contains(") two\n"),
        "{blame}"
    );
    assert_eq!(list_subjects(&sandbox), ["topic", "first"]);
}

#[test]
fn a_running_server_follows_changes_of_the_repository() {
    let sandbox = two_commits();
    assert_readable(&sandbox, &["second", "first"]);
    sandbox.write("a.txt", "three\none\n");
    sandbox.commit("2025-10-10", JOHN, "third");
    assert_readable(&sandbox, &["third", "second", "first"]);
    sandbox.git(&["reset", "-q", "--hard", "HEAD~2"]);
    assert_readable(&sandbox, &["first"]);
    fs::remove_dir_all(sandbox.root().join(".git")).unwrap();
    assert!(sandbox.call("git_log", json!({})).is_error);
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.commit("2025-10-11", JOHN, "new");
    assert_readable(&sandbox, &["new"]);
}

#[test]
fn a_missing_git_is_explained() {
    let sandbox = two_commits();
    let mut command = sandbox.docent();
    let finished = Finished::run(command.env("PATH", "/nonexistent").args(["call", "git_log"]));
    assert_snapshot!(finished.stdout, @"
    Error: GitRepositoryError

    Details: git is not installed

    Suggestion: Install git and make sure it is on the PATH that docent is started with
    ");
}

#[test]
fn a_damaged_repository_is_a_processing_error() {
    let sandbox = two_commits();
    let id = sandbox.git(&["rev-parse", "HEAD^{tree}"]);
    fs::remove_file(sandbox.root().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    let answer = sandbox.call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }));
    assert!(
        answer.is_error
            && answer.text.starts_with(
                "Error: ProcessingError\n\nDetails: git cannot answer from this repository: objects"
            ),
        "{answer}"
    );
}

#[test]
fn no_tool_writes_into_the_repository() {
    let outside = sandbox();
    let root = outside.outside().join("odd:name");
    std::fs::rename(two_commits().root(), &root).unwrap();
    let listing = || outside.git_in(&root, &["ls-files", "--others", "--cached", "--stage"]);
    let inside = || {
        let mut names: Vec<_> = ["", "objects", "objects/info", "info", "logs", "refs"]
            .iter()
            .flat_map(|part| fs::read_dir(root.join(".git").join(part)).into_iter().flatten())
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        names
    };
    let before = (listing(), inside());
    let mut docent = outside.docent();
    docent.env("DOCENT_ROOT", &root);
    let client = StdioClient::start(docent, Era::Handshake);
    for _ in 0..20 {
        assert!(!client.call("git_log", json!({})).is_error);
        assert!(!client.call("git_blame", json!({ "filePath": "a.txt" })).is_error);
        assert!(!client.call("git_diff", json!({ "ref1": "HEAD~1" })).is_error);
    }
    drop(client);
    assert_eq!(before, (listing(), inside()));
}

#[test]
fn a_damaged_history_table_is_rebuilt_and_never_used() {
    let sandbox = two_commits();
    let folder = sandbox.home().join("cache/docent/projects");
    let table = || {
        let project = fs::read_dir(&folder).ok()?.next()?.ok()?.path();
        Some(project.join("history.db")).filter(|table| table.exists())
    };
    let is_whole = || {
        table().is_some_and(|table| fs::read(table).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3")))
    };
    for damage in [
        &b"garbage, and not a little of it, so that it cannot be taken for an empty file"[..],
        b"SQLite format 3\0 cut",
    ] {
        // A server builds the table in the background.
        let client = sandbox.start_client(Era::Handshake);
        while !is_whole() {
            let answer = client.call("git_log", json!({}));
            assert!(!answer.is_error && answer.text.contains("second"), "{answer}");
        }
        drop(client);
        let table = table().unwrap();
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", table.display()));
        }
        fs::write(&table, damage).unwrap();
        let client = sandbox.start_client(Era::Handshake);
        for _ in 0..20 {
            let answer = client.call("git_log", json!({ "filePath": "a.txt" }));
            assert!(!answer.is_error && answer.text.contains("second"), "{answer}");
        }
    }
}
