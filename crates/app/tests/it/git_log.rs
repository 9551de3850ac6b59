//! `git_log`: the example of its contract, filters, file status and error cases.

#[cfg(unix)]
use docent_testkit::mark_escapes;
use docent_testkit::{JANE, JOHN, Sandbox};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// The contract's example: two commits by two people.
fn example() -> Sandbox {
    let sandbox = sandbox()
        .repository()
        .file("src/auth/middleware.ts", "export {};\n");
    sandbox.commit(
        "2025-10-08",
        JANE,
        "fix(auth): add token validation\n\nTokens without a user were let in.",
    );
    sandbox.write("src/auth/jwt.ts", "export function verify() {}\n");
    sandbox.write("src/auth/middleware.ts", "export const x = 1;\n");
    sandbox.write("tests/auth.test.ts", "test();\n");
    sandbox.commit("2025-10-09", JOHN, "feat(auth): add JWT authentication");
    sandbox
}

/// Calls `git_log` and returns the subjects of the commits.
fn list_subjects(sandbox: &Sandbox, arguments: Value) -> Vec<String> {
    let answer = sandbox.call("git_log", arguments);
    assert!(!answer.is_error, "{answer}");
    crate::subjects(&answer)
}

#[test]
fn example_output_format() {
    assert_snapshot!(example().call("git_log", json!({})), @"
    # Git Log

    ## Commit: 7cf5c08 (2025-10-09)
    **Author**: John Doe <john@example.com>  
    **Message**: feat(auth): add JWT authentication

    **Files Changed** (3):
    - src/auth/jwt.ts (added)
    - src/auth/middleware.ts (modified)
    - tests/auth.test.ts (added)

    ---

    ## Commit: 8c1cb0e (2025-10-08)
    **Author**: Jane Smith <jane@example.com>  
    **Message**: fix(auth): add token validation

    **Files Changed** (1):
    - src/auth/middleware.ts (added)
    ");
}

#[test]
fn the_file_path_filters_commits() {
    let sandbox = example();
    assert_eq!(
        list_subjects(&sandbox, json!({ "filePath": "src/auth/jwt.ts" })),
        ["feat(auth): add JWT authentication"]
    );
    assert_eq!(list_subjects(&sandbox, json!({ "filePath": "src" })).len(), 2);
    assert_eq!(
        list_subjects(&sandbox, json!({ "filePath": "./src\\auth\\" })).len(),
        2
    );
    assert_eq!(list_subjects(&sandbox, json!({ "filePath": "" })).len(), 2);
}

#[test]
fn dates_filter_commits() {
    let sandbox = example();
    let first = ["fix(auth): add token validation"];
    let second = ["feat(auth): add JWT authentication"];
    assert_eq!(list_subjects(&sandbox, json!({ "since": "2025-10-09" })), second);
    assert_eq!(list_subjects(&sandbox, json!({ "until": "2025-10-08" })), first);
    assert_eq!(
        list_subjects(&sandbox, json!({ "since": "2025-10-08", "until": "2025-10-08" })),
        first
    );
    assert_eq!(
        list_subjects(&sandbox, json!({ "since": "2025-10-08T13:00:00Z" })),
        second
    );
    // It is 2026-01-09: 92 days after the second commit.
    assert_eq!(list_subjects(&sandbox, json!({ "since": "92 days ago" })), second);
    assert_eq!(
        list_subjects(&sandbox, json!({ "since": "4 months ago" })).len(),
        2
    );
    assert_snapshot!(sandbox.call("git_log", json!({ "since": "yesterday", "author": "John" })), @"
    # Git Log

    No commits found: this project has commits, and none matches since, author.
    ");
}

#[test]
fn tags_and_other_references_filter_commits() {
    let sandbox = example();
    sandbox.git(&["tag", "v1.0.0", "HEAD~1"]);
    sandbox.git(&["tag", "-a", "v2.0.0", "-m", "two"]);
    sandbox.git(&["tag", "2025-01-01", "HEAD~1"]);
    let first = ["fix(auth): add token validation"];
    let second = ["feat(auth): add JWT authentication"];
    assert_eq!(list_subjects(&sandbox, json!({ "since": "v1.0.0" })), second);
    assert_eq!(list_subjects(&sandbox, json!({ "until": "v1.0.0" })), first);
    assert_eq!(
        list_subjects(&sandbox, json!({ "since": "v1.0.0", "until": "v2.0.0" })),
        second
    );
    assert_eq!(list_subjects(&sandbox, json!({ "until": "HEAD~1" })), first);
    // A tag that looks like a date is a tag.
    assert_eq!(list_subjects(&sandbox, json!({ "since": "2025-01-01" })), second);
}

#[test]
fn author_name_and_email_filter_commits() {
    let sandbox = example();
    let janes = ["fix(auth): add token validation"];
    for author in ["Jane Smith", "jane", "jane@example.com", "SMITH <jane@"] {
        assert_eq!(
            list_subjects(&sandbox, json!({ "author": author })),
            janes,
            "{author}"
        );
    }
    // The author is plain text, not a regular expression.
    assert!(list_subjects(&sandbox, json!({ "author": "J.*" })).is_empty());
}

#[test]
fn the_default_is_ten_commits_and_the_maximum_a_hundred() {
    let sandbox = sandbox().repository();
    for number in 1..=12 {
        sandbox.commit(&format!("2025-10-{number:02}"), JOHN, &format!("commit {number}"));
    }
    let latest = list_subjects(&sandbox, json!({}));
    assert_eq!((latest.len(), latest[0].as_str()), (10, "commit 12"));
    let text = sandbox.call("git_log", json!({})).text;
    assert!(
        text.ends_with("\n> Note: There are earlier commits; read on with skip 10\n"),
        "{text}"
    );
    assert_eq!(
        list_subjects(&sandbox, json!({ "skip": 10 })),
        ["commit 2", "commit 1"]
    );
    assert_eq!(list_subjects(&sandbox, json!({ "maxCount": 100 })).len(), 12);
    assert_snapshot!(sandbox.call("git_log", json!({ "maxCount": 101 })), @"
    [isError] Error: InvalidInputError

    Details: maxCount must be between 1 and 100

    Suggestion: Correct the argument and call again
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "maxCount": 0 })), @"
    [isError] Error: InvalidInputError

    Details: maxCount must be between 1 and 100

    Suggestion: Correct the argument and call again
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "skip": 99 })), @"
    # Git Log

    No commits found: this project has commits, and none matches skip.
    ");
}

#[test]
fn each_changed_file_has_a_status() {
    let lines = "one\ntwo\nthree\nfour\nfive\n";
    let sandbox = sandbox()
        .repository()
        .file("gone.txt", "x")
        .file("old name.txt", lines)
        .file("changed.txt", "a");
    sandbox.commit("2025-10-08", JOHN, "before");
    sandbox.git(&["rm", "-q", "gone.txt"]);
    sandbox.git(&["mv", "old name.txt", "größe 名.txt"]);
    sandbox.write("changed.txt", "b");
    sandbox.write("new.txt", "n");
    sandbox.commit("2025-10-09", JOHN, "after");
    assert_snapshot!(sandbox.call("git_log", json!({ "maxCount": 1 })), @"
    # Git Log

    ## Commit: f39dfd2 (2025-10-09)
    **Author**: John Doe <john@example.com>  
    **Message**: after

    **Files Changed** (4):
    - changed.txt (modified)
    - gone.txt (deleted)
    - größe 名.txt (renamed from old name.txt)
    - new.txt (added)

    > Note: There are earlier commits; read on with skip 1
    ");
    // The history of a path ends at a rename, and the answer names the earlier path.
    assert_snapshot!(sandbox.call("git_log", json!({ "filePath": "größe 名.txt" })), @"
    # Git Log

    ## Commit: f39dfd2 (2025-10-09)
    **Author**: John Doe <john@example.com>  
    **Message**: after

    **Files Changed** (4):
    - changed.txt (modified)
    - gone.txt (deleted)
    - größe 名.txt (renamed from old name.txt)
    - new.txt (added)

    > Note: Before f39dfd2 the file was old name.txt; ask for that path to see its earlier commits
    ");
}

#[test]
fn a_merge_lists_its_parents_and_its_own_changes() {
    let sandbox = sandbox().repository().file("a.txt", "1\n").file("b.txt", "1\n");
    sandbox.commit("2025-10-05", JOHN, "start");
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    sandbox.write("b.txt", "2\n");
    sandbox.commit("2025-10-06", JANE, "topic");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("a.txt", "2\n");
    sandbox.commit("2025-10-07", JOHN, "main");
    sandbox.git(&["merge", "-q", "--no-commit", "topic"]);
    sandbox.commit("2025-10-08", JOHN, "Merge topic");
    let answer = sandbox.call("git_log", json!({ "maxCount": 1 }));
    assert_snapshot!(answer, @"
    # Git Log

    ## Commit: 92f5bb5 (2025-10-08)
    **Author**: John Doe <john@example.com>  
    **Merge**: fde4ec4 57935b6  
    **Message**: Merge topic

    **Files Changed** (0): none beyond the merged commits

    > Note: There are earlier commits; read on with skip 1
    ");
    assert_eq!(
        list_subjects(&sandbox, json!({ "filePath": "b.txt" })),
        ["topic", "start"]
    );
}

#[test]
fn error_cases() {
    assert_snapshot!(sandbox().call("git_log", json!({})), @"
    [isError] Error: GitRepositoryError

    Details: This project is not a git repository

    Suggestion: Run git init in the project root, or start docent in a repository
    ");
    let sandbox = example();
    assert_snapshot!(sandbox.call("git_log", json!({ "since": "v9.9.9" })), @"
    [isError] Error: NotFoundError

    Details: Invalid commit reference: v9.9.9

    Suggestion: Give a date (2025-01-31, 30 days ago, yesterday), or a tag, branch or commit that exists here
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "until": "2025-02-30" })), @"
    [isError] Error: NotFoundError

    Details: Invalid commit reference: 2025-02-30

    Suggestion: Give a date (2025-01-31, 30 days ago, yesterday), or a tag, branch or commit that exists here
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "since": "-n1" })), @"
    [isError] Error: InvalidInputError

    Details: Invalid commit reference: -n1

    Suggestion: A reference does not begin with - and has no control characters
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "filePath": "../x" })), @"
    [isError] Error: InvalidInputError

    Details: Invalid file path: ../x (`..` is not allowed; name the file relative to the project root)

    Suggestion: Name the file relative to the project root, such as src/main.rs
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "filePath": "/etc/passwd" })), @"
    [isError] Error: InvalidInputError

    Details: Invalid file path: /etc/passwd (absolute paths are not allowed; name the file relative to the project root)

    Suggestion: Name the file relative to the project root, such as src/main.rs
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "maxCount": "ten" })), @"
    [isError] Error: InvalidInputError

    Details: maxCount must be a whole number

    Suggestion: Correct the argument and call again
    ");
}

#[test]
fn an_answer_without_commits_explains_the_path() {
    let sandbox = example();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write("debug.log", "x");
    assert_snapshot!(sandbox.call("git_log", json!({ "filePath": "debug.log" })), @"
    # Git Log

    No commits found: debug.log is not tracked by git (untracked or ignored).
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "filePath": "never.ts" })), @"
    # Git Log

    No commits found: no commit of this branch touches never.ts; check the spelling.
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "filePath": "src/auth/jwt.ts", "author": "Jane" })), @"
    # Git Log

    No commits found: src/auth/jwt.ts has commits, and none matches author.
    ");
}

#[test]
fn long_answers_are_cut_between_commits() {
    let sandbox = sandbox().repository();
    for number in 0..30 {
        for file in 0..20 {
            sandbox.write(
                &format!("a/rather/long/path/to/file_{file}.txt"),
                format!("{number}"),
            );
        }
        sandbox.commit("2025-10-09", JOHN, &format!("commit {number}"));
    }
    let mut subjects = Vec::new();
    loop {
        let answer = sandbox.call("git_log", json!({ "maxCount": 100, "skip": subjects.len() }));
        assert!(answer.text.chars().count() <= 20_000);
        subjects.extend(list_subjects(
            &sandbox,
            json!({ "maxCount": 100, "skip": subjects.len() }),
        ));
        let next = format!(
            "commits fit into this answer; read on with skip {}\n",
            subjects.len()
        );
        if !answer.text.ends_with(&next) {
            break;
        }
    }
    let all: Vec<String> = (0..30).rev().map(|number| format!("commit {number}")).collect();
    assert_eq!(subjects, all);
}

#[cfg(unix)]
#[test]
fn the_log_command_prints_colours_on_a_terminal() {
    let sandbox = example();
    let screen = sandbox.run_on_terminal(&["log", "src/auth/jwt.ts"]);
    assert_snapshot!(mark_escapes(&screen), @"
    ␛[1m␛[35m7cf5c08 2025-10-09 John Doe: feat(auth): add JWT authentication␛[0m
      src/auth/jwt.ts added +2 more
    ");
    let piped = sandbox.run(&["log", "--max-count", "1"]);
    assert!(
        piped.stdout.ends_with("\n… earlier commits: skip 1\n"),
        "{}",
        piped.stdout
    );
    assert_eq!(sandbox.run(&["log", "--since", "nonsense"]).code, 1);
}
