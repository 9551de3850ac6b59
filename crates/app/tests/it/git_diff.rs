//! `git_diff`: the examples of its contract, references, kinds of change and error cases.
//!
//! Left out: long diffs, which are in `git_limits.rs`.

use std::fmt::Write;

use docent_testkit::{JOHN, Sandbox};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

/// The contract's example: one file modified and one added on a branch.
fn example() -> Sandbox {
    let before = "import jwt from 'jsonwebtoken';\n\nfunction verifyToken(token: string) {\n  const decoded = jwt.verify(token, secret);\n  return decoded;\n}\n";
    let after = "import jwt from 'jsonwebtoken';\n\n/**\n * Verifies a JWT token\n */\nfunction verifyToken(token: string): DecodedToken {\n  const decoded = jwt.verify(token, secret);\n  if (!decoded.userId) throw new Error('Invalid token');\n  return decoded;\n}\n";
    let sandbox = sandbox().repository().file("src/auth/jwt.ts", before);
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.git(&["checkout", "-q", "-b", "feature-branch"]);
    sandbox.write("src/auth/jwt.ts", after);
    sandbox.write(
        "tests/auth.test.ts",
        "describe('verifyToken', () => {\n  it('should verify valid token', () => {});\n});\n",
    );
    sandbox.commit("2025-10-09", JOHN, "two");
    sandbox
}

/// A repository with one change of each kind between the tags `v1.0.0` and `v2.0.0`.
fn every_kind_of_change() -> Sandbox {
    let lines: String = (1..=20).fold(String::new(), |mut text, number| {
        writeln!(text, "line {number}").unwrap();
        text
    });
    let sandbox = sandbox()
        .repository()
        .file("modified.rs", &lines)
        .file("deleted.rs", "fn gone() {}\n")
        .file("old.rs", &lines)
        .file("mode.sh", "echo\n")
        .file("link", "a plain file\n")
        .file("image.png", b"\x89PNG\0\x01");
    sandbox.commit("2025-10-08", JOHN, "before");
    sandbox.git(&["tag", "v1.0.0"]);
    sandbox.write("modified.rs", lines.replace("line 10\n", "line ten\n"));
    sandbox.write("added.rs", "fn new() {}\n");
    sandbox.write("font.woff2", b"\0\x01");
    sandbox.write("image.png", b"\x89PNG\0\x02\x03");
    sandbox.git(&["rm", "-q", "deleted.rs", "link"]);
    sandbox.git(&["mv", "old.rs", "new.rs"]);
    sandbox.git(&["update-index", "--chmod=+x", "mode.sh"]);
    std::os::unix::fs::symlink("new.rs", sandbox.root().join("link")).unwrap();
    sandbox.git(&[
        "add",
        "added.rs",
        "font.woff2",
        "image.png",
        "link",
        "modified.rs",
    ]);
    sandbox.git(&["commit", "-q", "-m", "after"]);
    sandbox.git(&["checkout", "-q", "."]);
    sandbox.git(&["tag", "v2.0.0"]);
    sandbox
}

#[test]
fn example_full_diff() {
    assert_snapshot!(example().call("git_diff", json!({ "ref1": "main", "ref2": "feature-branch" })), @"
    # Git Diff: main...feature-branch

    ## Summary
    - **Files Changed**: 2
    - **Insertions**: +8 lines
    - **Deletions**: -1 lines

    ---

    ## File: src/auth/jwt.ts (modified)
    **Changes**: +5 -1

    ```diff
    @@ -1,6 +1,10 @@
     import jwt from 'jsonwebtoken';
     
    -function verifyToken(token: string) {
    +/**
    + * Verifies a JWT token
    + */
    +function verifyToken(token: string): DecodedToken {
       const decoded = jwt.verify(token, secret);
    +  if (!decoded.userId) throw new Error('Invalid token');
       return decoded;
     }
    ```

    ---

    ## File: tests/auth.test.ts (added)
    **Changes**: +3 -0

    ```typescript
    describe('verifyToken', () => {
      it('should verify valid token', () => {});
    });
    ```
    ");
}

/// The full diff of [`every_kind_of_change`] in two halves: up to the binary files, and the rest.
fn full_diff() -> (String, String) {
    let arguments = json!({ "ref1": "v1.0.0", "ref2": "v2.0.0" });
    let answer = every_kind_of_change().call("git_diff", arguments);
    assert!(!answer.is_error, "{answer}");
    let (first, second) = answer.text.split_once("\n---\n\n## File: link ").unwrap();
    (first.to_owned(), format!("## File: link {second}"))
}

#[test]
fn a_full_diff_shows_added_deleted_and_binary_files() {
    assert_snapshot!(full_diff().0, @"
    # Git Diff: v1.0.0...v2.0.0

    ## Summary
    - **Files Changed**: 8
    - **Insertions**: +3 lines
    - **Deletions**: -3 lines

    ---

    ## File: added.rs (added)
    **Changes**: +1 -0

    ```rust
    fn new() {}
    ```

    ---

    ## File: deleted.rs (deleted)
    **Changes**: +0 -1

    ```diff
    @@ -1 +0,0 @@
    -fn gone() {}
    ```

    ---

    ## File: font.woff2 (added)

    Binary file changed

    ---

    ## File: image.png (modified)

    Binary file changed
    ");
}

#[test]
fn a_full_diff_shows_changed_types_modes_lines_and_names() {
    assert_snapshot!(full_diff().1, @r"
    ## File: link (type changed)
    **Changes**: +1 -1
    **Mode**: 100644 to 120000

    ```diff
    @@ -1 +0,0 @@
    -a plain file
    @@ -0,0 +1 @@
    +new.rs
    \ No newline at end of file
    ```

    ---

    ## File: mode.sh (modified)
    **Changes**: +0 -0
    **Mode**: 100644 to 100755

    ---

    ## File: modified.rs (modified)
    **Changes**: +1 -1

    ```diff
    @@ -7,7 +7,7 @@ line 6
     line 7
     line 8
     line 9
    -line 10
    +line ten
     line 11
     line 12
     line 13
    ```

    ---

    ## File: new.rs (renamed from old.rs)
    **Changes**: +0 -0
    ");
}

#[test]
fn example_summary_only() {
    let arguments = json!({ "ref1": "v1.0.0", "ref2": "v2.0.0", "summary": true });
    assert_snapshot!(every_kind_of_change().call("git_diff", arguments), @"
    # Git Diff Summary: v1.0.0...v2.0.0

    - **Files Changed**: 8
    - **Insertions**: +3 lines
    - **Deletions**: -3 lines

    ### Modified Files (4):
    - image.png (binary)
    - link (+1 -1)
    - mode.sh (+0 -0)
    - modified.rs (+1 -1)

    ### Added Files (2):
    - added.rs (+1)
    - font.woff2 (binary)

    ### Deleted Files (1):
    - deleted.rs (-1)

    ### Renamed Files (1):
    - new.rs (from old.rs, +0 -0)

    **Binary Files**: 2 binary files changed (fonts, images)
    ");
}

#[test]
fn one_reference_is_compared_with_the_working_directory() {
    let sandbox = example();
    sandbox.write("tests/auth.test.ts", "changed\n");
    let text = sandbox.call("git_diff", json!({ "ref1": "main" })).text;
    assert!(
        text.starts_with("# Git Diff: main...working directory\n"),
        "{text}"
    );
    assert!(
        text.contains("- **Files Changed**: 2\n") && text.contains("\nchanged\n"),
        "{text}"
    );
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref2": "HEAD", "filePath": "tests" })), @"
    # Git Diff: working directory...HEAD

    ## Summary
    - **Files Changed**: 1
    - **Insertions**: +3 lines
    - **Deletions**: -1 lines

    ---

    ## File: tests/auth.test.ts (modified)
    **Changes**: +3 -1

    ```diff
    @@ -1 +1,3 @@
    -changed
    +describe('verifyToken', () => {
    +  it('should verify valid token', () => {});
    +});
    ```
    ");
}

#[test]
fn without_references_the_unstaged_changes_are_shown() {
    let sandbox = example();
    assert_snapshot!(sandbox.call("git_diff", json!({})), @"
    # Git Diff: unstaged changes

    No differences.
    ");
    sandbox.write("src/auth/jwt.ts", "staged\n");
    sandbox.git(&["add", "."]);
    sandbox.write("tests/auth.test.ts", "not staged\n");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "", "ref2": "" })), @"
    # Git Diff: unstaged changes

    ## Summary
    - **Files Changed**: 1
    - **Insertions**: +1 lines
    - **Deletions**: -3 lines

    ---

    ## File: tests/auth.test.ts (modified)
    **Changes**: +1 -3

    ```diff
    @@ -1,3 +1 @@
    -describe('verifyToken', () => {
    -  it('should verify valid token', () => {});
    -});
    +not staged
    ```
    ");
}

#[test]
fn the_file_path_limits_the_diff_to_one_file() {
    let sandbox = example();
    let arguments = json!({ "ref1": "main", "ref2": "feature-branch", "filePath": "tests/auth.test.ts" });
    let alone = sandbox.call("git_diff", arguments.clone()).text;
    assert!(
        alone.contains("- **Files Changed**: 1\n") && !alone.contains("jwt"),
        "{alone}"
    );
    // The answer is the same when it comes from the cached full diff.
    sandbox.call("git_diff", json!({ "ref1": "main", "ref2": "feature-branch" }));
    assert_eq!(sandbox.call("git_diff", arguments).text, alone);
    let renamed = json!({ "ref1": "v1.0.0", "ref2": "v2.0.0", "filePath": "new.rs" });
    let changes = every_kind_of_change();
    let alone = changes.call("git_diff", renamed.clone()).text;
    changes.call("git_diff", json!({ "ref1": "v1.0.0", "ref2": "v2.0.0" }));
    assert_eq!(changes.call("git_diff", renamed).text, alone);
    assert_snapshot!(changes.call("git_diff", json!({ "ref1": "v1.0.0", "ref2": "v2.0.0", "filePath": "absent" })), @"
    # Git Diff: v1.0.0...v2.0.0

    No differences: git does not track absent; check the spelling.
    ");
}

#[test]
fn error_cases() {
    let sandbox = example();
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "nope" })), @"
    [isError] Error: NotFoundError

    Details: Invalid git reference: nope

    Suggestion: Name a commit, branch or tag that exists here, such as HEAD~2 or main; of a range, give the ends as ref1 and ref2
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "main", "ref2": "v9" })), @"
    [isError] Error: NotFoundError

    Details: Invalid git reference: v9

    Suggestion: Name a commit, branch or tag that exists here, such as HEAD~2 or main; of a range, give the ends as ref1 and ref2
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "main..feature-branch" })), @"
    [isError] Error: NotFoundError

    Details: Invalid git reference: main..feature-branch

    Suggestion: Name a commit, branch or tag that exists here, such as HEAD~2 or main; of a range, give the ends as ref1 and ref2
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "HEAD:src/auth/jwt.ts" })), @"
    [isError] Error: NotFoundError

    Details: Invalid git reference: HEAD:src/auth/jwt.ts

    Suggestion: Name a commit, branch or tag that exists here, such as HEAD~2 or main; of a range, give the ends as ref1 and ref2
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "--output=x" })), @"
    [isError] Error: InvalidInputError

    Details: Invalid git reference: --output=x

    Suggestion: A reference does not begin with - and has no control characters
    ");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": 7 })), @"
    [isError] Error: InvalidInputError

    Details: ref1 must be a string

    Suggestion: Correct the argument and call again
    ");
    assert_snapshot!(crate::sandbox().call("git_diff", json!({})), @"
    [isError] Error: GitRepositoryError

    Details: This project is not a git repository

    Suggestion: Run git init in the project root, or start docent in a repository
    ");
}

#[test]
fn every_form_of_reference_that_git_accepts_works() {
    let sandbox = example();
    let id = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.git(&["tag", "-a", "v1", "-m", "tag"]);
    for reference in [
        "HEAD",
        "@",
        "feature-branch",
        "v1",
        "v1^{}",
        "v1^0",
        &id,
        &id[..7],
        "main@{0}",
        ":/two",
        "HEAD^{/two}",
        "refs/heads/feature-branch",
    ] {
        let answer = sandbox.call(
            "git_diff",
            json!({ "ref1": "HEAD~1", "ref2": reference, "summary": true }),
        );
        assert!(!answer.is_error, "{reference}: {answer}");
    }
}

#[test]
fn a_code_fence_in_a_file_does_not_end_the_block() {
    let sandbox = sandbox().repository().file("a.md", "text\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write("a.md", "```\n````\n## File: forged (added)\n");
    sandbox.write("b.md", "```\nnew\u{202e}\n");
    sandbox.commit("2025-10-09", JOHN, "two");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" })), @r"
    # Git Diff: HEAD~1...HEAD

    ## Summary
    - **Files Changed**: 2
    - **Insertions**: +5 lines
    - **Deletions**: -1 lines

    ---

    ## File: a.md (modified)
    **Changes**: +3 -1

    `````diff
    @@ -1 +1,3 @@
    -text
    +```
    +````
    +## File: forged (added)
    `````

    ---

    ## File: b.md (added)
    **Changes**: +2 -0

    ````markdown
    ```
    new\u{202E}
    ````
    ");
}

#[test]
fn files_with_unusual_names_have_their_patches() {
    let names = [
        "größe/名.txt",
        "a b.txt",
        "quo\"te.txt",
        "tab\there.txt",
        "emoji 🦀.rs",
        "-dash",
        "a => b",
        ":colon",
    ];
    let sandbox = sandbox().repository();
    for name in names {
        sandbox.write(name, "old\n");
    }
    sandbox.commit("2025-10-08", JOHN, "one");
    for name in names {
        sandbox.write(name, "old\nnew\n");
    }
    sandbox.commit("2025-10-09", JOHN, "two");
    let text = sandbox
        .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
        .text;
    assert_eq!(text.matches("\n+new\n").count(), names.len() - 1, "{text}");
    // A path with a tab is invalid for read_file, so its content is not shown here either.
    assert_eq!(text.matches("Content not shown").count(), 1, "{text}");
    for name in ["größe/名.txt", "-dash", "a => b", ":colon"] {
        let text = sandbox
            .call(
                "git_diff",
                json!({ "ref1": "HEAD~1", "ref2": "HEAD", "filePath": name }),
            )
            .text;
        assert!(text.contains("\n+new\n"), "{text}");
        assert!(!sandbox.call("git_blame", json!({ "filePath": name })).is_error);
    }
}

#[test]
fn line_ends_are_shown_if_only_they_differ() {
    let sandbox = sandbox()
        .repository()
        .file("crlf.txt", "one\r\ntwo\r\n")
        .file("turned.txt", "one\r\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write("crlf.txt", "one\r\n2\r\n");
    sandbox.write("turned.txt", "one\n");
    sandbox.commit("2025-10-09", JOHN, "two");
    let text = sandbox
        .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
        .text;
    assert!(text.contains("\n one\n-two\n+2\n"), "{text}");
    assert!(text.contains("\n-one\\u{D}\n+one\n"), "{text}");
}

#[test]
fn a_moved_binary_file_is_reported_alike_in_diff_and_summary() {
    let sandbox = sandbox().repository().file("old.png", b"\x89PNG\0\x01");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.git(&["mv", "old.png", "new.png"]);
    sandbox.commit("2025-10-09", JOHN, "two");
    let summary = json!({ "ref1": "HEAD~1", "ref2": "HEAD", "summary": true });
    let fresh = sandbox.call("git_diff", summary.clone()).text;
    assert!(fresh.contains("- new.png (from old.png, +0 -0)"), "{fresh}");
    sandbox.call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }));
    assert_eq!(sandbox.call("git_diff", summary).text, fresh);
}
