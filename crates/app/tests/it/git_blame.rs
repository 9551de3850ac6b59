//! `git_blame`: the example of its contract, line ranges, local modifications and error cases.

use docent_testkit::{JANE, JOHN, Sandbox};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

const BEFORE: &str = "import jwt from 'jsonwebtoken';\n\nfunction verifyToken(token) {\n  if (!decoded.userId) {\n    throw new Error('Invalid token');\n  return decoded;\n}\n";
const AFTER: &str = "import jwt from 'jsonwebtoken';\n\nfunction verifyToken(token: string) {\n  const decoded = jwt.verify(token, secret);\n  if (!decoded.userId) {\n    throw new Error('Invalid token');\n  }\n  return decoded;\n}\n";

fn example() -> Sandbox {
    let sandbox = sandbox().repository().file("src/auth/jwt.ts", BEFORE);
    sandbox.commit("2025-10-08", JANE, "fix(auth): add token validation");
    sandbox.write("src/auth/jwt.ts", AFTER);
    sandbox.commit("2025-10-09", JOHN, "feat(auth): add JWT verification");
    sandbox
}

#[test]
fn example_output_format() {
    let arguments = json!({ "filePath": "src/auth/jwt.ts", "startLine": 3, "endLine": 8 });
    assert_snapshot!(example().call("git_blame", arguments), @"
    # Git Blame: src/auth/jwt.ts

    ## Lines 3-8

    ```typescript
    3  4a3bb1a (John Doe    2025-10-09) function verifyToken(token: string) {
    4  4a3bb1a (John Doe    2025-10-09)   const decoded = jwt.verify(token, secret);
    5  be4af80 (Jane Smith  2025-10-08)   if (!decoded.userId) {
    6  be4af80 (Jane Smith  2025-10-08)     throw new Error('Invalid token');
    7  4a3bb1a (John Doe    2025-10-09)   }
    8  be4af80 (Jane Smith  2025-10-08)   return decoded;
    ```

    ### Commit 4a3bb1a
    **Author**: John Doe <john@example.com>  
    **Date**: 2025-10-09  
    **Message**: feat(auth): add JWT verification

    ### Commit be4af80
    **Author**: Jane Smith <jane@example.com>  
    **Date**: 2025-10-08  
    **Message**: fix(auth): add token validation
    ");
}

#[test]
fn line_numbers_of_a_range_are_those_of_the_file() {
    let sandbox = example();
    let whole = sandbox
        .call("git_blame", json!({ "filePath": "src/auth/jwt.ts" }))
        .text;
    let part = sandbox
        .call(
            "git_blame",
            json!({ "filePath": "src/auth/jwt.ts", "startLine": 9, "endLine": 99 }),
        )
        .text;
    assert!(
        whole.contains("## Lines 1-9") && part.contains("## Lines 9-9"),
        "{part}"
    );
    let last = whole.lines().find(|line| line.starts_with("9  ")).unwrap();
    assert!(part.contains(last), "{part}");
    assert_eq!(part.matches("### Commit").count(), 1);
}

#[test]
fn local_modifications_cause_a_warning() {
    let sandbox = example();
    sandbox.write("src/auth/jwt.ts", AFTER.replace("secret", "publicKey"));
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "src/auth/jwt.ts", "startLine": 3, "endLine": 4 })), @"
    # Git Blame: src/auth/jwt.ts

    ⚠ File has local modifications

    ## Lines 3-4

    ```typescript
    3  4a3bb1a (John Doe           2025-10-09) function verifyToken(token: string) {
    4  0000000 (Not committed yet  2026-01-09)   const decoded = jwt.verify(token, publicKey);
    ```

    ### Commit 4a3bb1a
    **Author**: John Doe <john@example.com>  
    **Date**: 2025-10-09  
    **Message**: feat(auth): add JWT verification
    ");
    // The warning appears even if the modified line is not in the range.
    let other = sandbox
        .call(
            "git_blame",
            json!({ "filePath": "src/auth/jwt.ts", "startLine": 9 }),
        )
        .text;
    assert!(other.contains("\n⚠ File has local modifications\n"), "{other}");
    sandbox.git(&["checkout", "-q", "src/auth/jwt.ts"]);
    let clean = sandbox
        .call("git_blame", json!({ "filePath": "src/auth/jwt.ts" }))
        .text;
    assert!(!clean.contains('⚠'), "{clean}");
}

#[test]
fn different_line_ends_on_disk_are_not_a_modification() {
    let sandbox = example();
    sandbox.git(&["config", "core.autocrlf", "true"]);
    sandbox.write("src/auth/jwt.ts", AFTER.replace('\n', "\r\n"));
    sandbox.git(&["add", "--renormalize", "."]);
    let answer = sandbox
        .call("git_blame", json!({ "filePath": "src/auth/jwt.ts" }))
        .text;
    assert!(
        !answer.contains('⚠') && !answer.contains("Not committed"),
        "{answer}"
    );
}

#[test]
fn a_file_missing_from_the_working_directory_is_shown_as_committed() {
    let sandbox = example();
    std::fs::remove_file(sandbox.root().join("src/auth/jwt.ts")).unwrap();
    let answer = sandbox.call("git_blame", json!({ "filePath": "src/auth/jwt.ts" }));
    assert!(
        !answer.is_error && answer.text.contains("⚠ File has local modifications"),
        "{answer}"
    );
}

#[test]
fn error_cases_of_paths() {
    let sandbox = example()
        .file("new.ts", "x\n")
        .file("staged.ts", "x\n")
        .file("a.bin", b"\0\x01\x02")
        .file(".env", "A=1\n");
    sandbox.git(&["add", "a.bin", ".env"]);
    sandbox.git(&["commit", "-q", "-m", "more"]);
    sandbox.git(&["add", "staged.ts"]);
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "new.ts" })), @"
    [isError] Error: NotFoundError

    Details: File not tracked by git: new.ts

    Suggestion: Name a file that is in the last commit; what is untracked, ignored or only staged has no history yet
    ");
    for path in ["staged.ts", "absent.ts", "src/auth", "src"] {
        let text = sandbox.call("git_blame", json!({ "filePath": path })).text;
        assert!(
            text.contains(&format!("Details: File not tracked by git: {path}")),
            "{text}"
        );
    }
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "a.bin" })), @"
    [isError] Error: InvalidInputError

    Details: Binary file: a.bin

    Suggestion: Lines have authors in text files only; git_log shows the file's commits
    ");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": ".env" })), @"
    [isError] Error: PermissionError

    Details: Cannot read file: .env (the path is blocked because it may hold secrets or machinery, or leads outside the project)

    Suggestion: git_log shows when and by whom it was changed
    ");
    assert_snapshot!(sandbox.call("git_blame", json!({})), @"
    [isError] Error: InvalidInputError

    Details: filePath is required

    Suggestion: Correct the argument and call again
    ");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "../x" })), @"
    [isError] Error: InvalidInputError

    Details: Invalid file path: ../x (`..` is not allowed; name the file relative to the project root)

    Suggestion: Name the file relative to the project root, such as src/main.rs
    ");
    assert_snapshot!(crate::sandbox().call("git_blame", json!({ "filePath": "x" })), @"
    [isError] Error: GitRepositoryError

    Details: This project is not a git repository

    Suggestion: Run git init in the project root, or start docent in a repository
    ");
}

#[test]
fn error_cases_of_line_ranges() {
    let sandbox = example();
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "src/auth/jwt.ts", "startLine": 8, "endLine": 3 })), @"
    [isError] Error: InvalidInputError

    Details: Invalid line range: 8-3 (the file has 9 lines)

    Suggestion: Count lines from 1, and end no earlier than you start
    ");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "src/auth/jwt.ts", "startLine": 10 })), @"
    [isError] Error: InvalidInputError

    Details: Invalid line range: 10-9 (the file has 9 lines)

    Suggestion: Count lines from 1, and end no earlier than you start
    ");
    let refuse = |start: Value, end: Value| {
        let arguments = json!({ "filePath": "src/auth/jwt.ts", "startLine": start, "endLine": end });
        sandbox.call("git_blame", arguments)
    };
    assert_snapshot!(refuse(json!(0), json!(3)), @"
    [isError] Error: InvalidInputError

    Details: Invalid line range: 0-3

    Suggestion: Count lines from 1, and end no earlier than you start
    ");
    for (start, end, range) in [
        (json!(0), json!(null), "0-end"),
        (json!(-2), json!(0), "-2-0"),
        (json!(null), json!(0), "1-0"),
    ] {
        let answer = refuse(start, end);
        let details = format!("Details: Invalid line range: {range}\n");
        assert!(answer.is_error && answer.text.contains(&details), "{answer}");
    }
    // A number of another type is no line range.
    let answer = refuse(json!("0"), json!(3));
    assert!(
        answer.text.contains("startLine must be a whole number"),
        "{answer}"
    );
}

#[test]
fn an_empty_file_has_no_authors() {
    let sandbox = sandbox().repository().file("empty.rs", "");
    sandbox.commit("2025-10-08", JOHN, "nothing");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "empty.rs" })), @"
    # Git Blame: empty.rs

    The file is empty.
    ");
}

#[test]
fn a_long_file_is_read_in_parts_without_overlap() {
    let text = (1..=2_000).fold(String::new(), |text, number| {
        text + &format!("line {number} of a file\n")
    });
    let sandbox = sandbox().repository().file("long.txt", &text);
    sandbox.commit("2025-10-08", JOHN, "long");
    let mut numbers = Vec::new();
    loop {
        let answer = sandbox
            .call(
                "git_blame",
                json!({ "filePath": "long.txt", "startLine": numbers.len() + 1 }),
            )
            .text;
        assert!(answer.chars().count() <= 20_000);
        let number = |line: &str| line.trim_start().split_once("  ")?.0.parse::<usize>().ok();
        numbers.extend(answer.lines().filter_map(number));
        if !answer.contains(&format!("read on with startLine {}\n", numbers.len() + 1)) {
            break;
        }
    }
    assert_eq!(numbers, (1..=2_000).collect::<Vec<_>>());
}

#[test]
fn author_names_are_aligned_and_invisible_characters_are_shown() {
    let sandbox = sandbox().repository().file("a.rs", "fn a() {}\n");
    sandbox.commit("2025-10-08", ("Jürgen \u{202e}X", "j@example.com"), "a\u{200b}b");
    sandbox.write("a.rs", "fn a() {}\n\u{202e}// ``` hidden\n");
    sandbox.commit("2025-10-09", JOHN, "second");
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "a.rs" })), @r"
    # Git Blame: a.rs

    ## Lines 1-2

    ````rust
    1  90c14f5 (Jürgen \u{202E}X  2025-10-08) fn a() {}
    2  6250bd9 (John Doe          2025-10-09) \u{202E}// ``` hidden
    ````

    ### Commit 90c14f5
    **Author**: Jürgen \u{202E}X <j@example.com>  
    **Date**: 2025-10-08  
    **Message**: a\u{200B}b

    ### Commit 6250bd9
    **Author**: John Doe <john@example.com>  
    **Date**: 2025-10-09  
    **Message**: second
    ");
}
