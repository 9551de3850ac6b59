//! `git_log`, `git_blame` and `git_diff` in the compact form.

use docent_testkit::{JANE, JOHN, Sandbox};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

const BEFORE: &str =
    "def verify(token):\n    return decode(token)\n\n\ndef decode(token):\n    return token\n";
const AFTER: &str = "def verify(token):\n    if not token:\n        return None\n    return decode(token)\n\n\ndef decode(token):\n    return token\n";

fn project() -> Sandbox {
    let sandbox = sandbox()
        .repository()
        .file("src/jwt.py", BEFORE)
        .file("README.md", "# Tokens\n");
    sandbox.commit("2025-10-08", JANE, "Verify tokens");
    sandbox.write("src/jwt.py", AFTER);
    sandbox.write("README.md", "# Tokens\n\nEmpty ones are refused.\n");
    sandbox.commit(
        "2025-10-09",
        JOHN,
        "Refuse empty tokens\n\nThey were let in as guests.",
    );
    sandbox.compact()
}

#[test]
fn a_commit_is_a_paragraph() {
    assert_snapshot!(project().call("git_log", json!({})), @"
    df0a7b7 2025-10-09 John Doe: Refuse empty tokens
      They were let in as guests.
      README.md, src/jwt.py
    32b0850 2025-10-08 Jane Smith: Verify tokens
      README.md added, src/jwt.py added
    ");
}

#[test]
fn of_a_file_only_its_commits_and_the_number_of_other_files_are_shown() {
    assert_snapshot!(project().call("git_log", json!({ "filePath": "src/jwt.py" })), @"
    df0a7b7 2025-10-09 John Doe: Refuse empty tokens (+1 file)
      They were let in as guests.
    32b0850 2025-10-08 Jane Smith: Verify tokens
      src/jwt.py added +1 more
    ");
}

#[test]
fn one_commit_is_shown_in_full() {
    assert_snapshot!(project().call("git_log", json!({ "commit": "HEAD" })), @"
    df0a7b7 2025-10-09 John Doe <john@example.com>: Refuse empty tokens
      They were let in as guests.
    2 files, +4 −0
    README.md +2
    src/jwt.py +2
    … the patch: git_diff ref1 df0a7b7~1 ref2 df0a7b7
    ");
}

#[test]
fn the_history_of_a_function_and_of_a_text_are_found() {
    let sandbox = project();
    assert_snapshot!(sandbox.call("git_log", json!({ "filePath": "src/jwt.py", "symbol": "verify" })), @"
    src/jwt.py:1-4 verify
    df0a7b7 2025-10-09 John Doe: Refuse empty tokens
    @@ 1-4
     def verify(token):
    +    if not token:
    +        return None
         return decode(token)
    32b0850 2025-10-08 Jane Smith: Verify tokens
    @@ 1-2
    +def verify(token):
    +    return decode(token)
    ");
    assert_snapshot!(sandbox.call("git_log", json!({ "contains": "return None" })), @"
    df0a7b7 2025-10-09 John Doe: Refuse empty tokens
      They were let in as guests.
      src/jwt.py
    ");
}

#[test]
fn neighbouring_lines_of_one_commit_are_together() {
    assert_snapshot!(project().call("git_blame", json!({ "filePath": "src/jwt.py" })), @"
    src/jwt.py:1-8
    1 32b0850 2025-10-08 Jane Smith: Verify tokens
    1	def verify(token):
    2-3 df0a7b7 2025-10-09 John Doe: Refuse empty tokens
    2	    if not token:
    	        return None
    4-8 32b0850
    4	    return decode(token)
    5	
    	
    	def decode(token):
    	    return token
    ");
}

#[test]
fn a_diff_begins_with_its_summary() {
    assert_snapshot!(project().call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" })), @"
    HEAD~1...HEAD: 2 files, +4 −0
    README.md +2
    @@ 1-3
     # Tokens
    +
    +Empty ones are refused.
    src/jwt.py +2
    @@ 1-4
     def verify(token):
    +    if not token:
    +        return None
         return decode(token)
    ");
}

#[test]
fn staged_changes_are_named_where_nothing_else_changed() {
    let sandbox = project();
    sandbox.write("src/jwt.py", BEFORE);
    sandbox.git(&["add", "src/jwt.py"]);
    assert_snapshot!(sandbox.call("git_diff", json!({})), @"
    unstaged changes: no differences
    … 1 staged file, shown with staged true: src/jwt.py
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "staged": true })), @"
    staged changes: 1 file, +0 −2
    src/jwt.py −2
    @@ 1-2
     def verify(token):
    -    if not token:
    -        return None
         return decode(token)
    ");
}

#[test]
fn the_history_of_a_moved_function_names_its_lines_on_disk() {
    let sandbox = project();
    sandbox.write("src/jwt.py", format!("import re\n\n\n{AFTER}"));
    let history = |arguments: Value| {
        let text = sandbox.call("git_log", arguments).text;
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        history(json!({ "filePath": "src/jwt.py", "symbol": "verify" })),
        "src/jwt.py:1-4 verify in the last commit, 4-7 now"
    );
    assert_eq!(
        history(json!({ "filePath": "src/jwt.py", "startLine": 4, "endLine": 7 })),
        "src/jwt.py:1-4 in the last commit, 4-7 now"
    );
}

#[test]
fn the_rest_of_a_first_commit_is_only_counted() {
    let body = "    total = total + values[total] * weights[total]\n".repeat(80);
    let sandbox = sandbox()
        .repository()
        .file("a.py", format!("def long(total):\n{body}"));
    sandbox.commit("2025-10-08", JANE, "Add a");
    let sandbox = sandbox.compact();
    let text = sandbox
        .call("git_log", json!({ "filePath": "a.py", "symbol": "long" }))
        .text;
    // There is no commit before it that git_diff could compare with.
    let last = text.lines().last().unwrap_or_default();
    assert!(last.ends_with(" more changed lines"), "{text}");
}
