//! Limits of the git tools: the size of answers and how to read on, cached answers, and unusual arguments.

use std::fmt::Write;

use docent_testkit::{Era, JANE, JOHN, Sandbox, StdioClient};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// Starts a server with the smallest answer size that can be set.
fn start_with_small_answers(sandbox: &Sandbox) -> StdioClient {
    let mut command = sandbox.docent();
    command.env("DOCENT_ANSWER_MAX_CHARS", "2000");
    StdioClient::start(command, Era::Handshake)
}

/// Calls a tool, and fails if the answer is longer than `max_chars`.
fn call_within(client: &StdioClient, tool: &str, arguments: Value, max_chars: usize) -> String {
    let answer = client.call(tool, arguments);
    assert!(!answer.is_error, "{answer}");
    let length = answer.text.chars().count();
    assert!(length <= max_chars, "{tool}: {length} characters: {answer}");
    answer.text
}

#[test]
fn answers_stay_within_their_limit_for_any_content() {
    let backticks = "`".repeat(3_990);
    let controls = "\u{1f}".repeat(3_990);
    let sandbox = sandbox().repository().file("a.txt", "one\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write(
        "a.txt",
        format!("one\n{backticks}\n{controls}\n{}\n", "é".repeat(9_000)),
    );
    let name = "very long name ".repeat(100);
    sandbox.commit(
        "2025-10-09",
        (&name, &"x".repeat(1_000)),
        &"\u{202e}subject ".repeat(500),
    );
    let (small, usual) = (
        start_with_small_answers(&sandbox),
        sandbox.start_client(Era::Handshake),
    );
    for (tool, arguments) in [
        ("git_log", json!({})),
        ("git_blame", json!({ "filePath": "a.txt" })),
        ("git_blame", json!({ "filePath": "a.txt", "startLine": 2 })),
        ("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" })),
        (
            "git_diff",
            json!({ "ref1": "HEAD~1", "ref2": "HEAD", "summary": true }),
        ),
        (
            "git_diff",
            json!({ "ref1": format!("HEAD{}", "~0".repeat(400)), "ref2": "HEAD~1" }),
        ),
    ] {
        call_within(&small, tool, arguments.clone(), 2_000);
        call_within(&usual, tool, arguments, 20_000);
    }
}

#[test]
fn a_cut_answer_can_be_read_to_its_end() {
    let sandbox = sandbox().repository().file("a.txt", "");
    sandbox.commit("2025-10-08", JOHN, &"one ".repeat(300));
    sandbox.write(
        "a.txt",
        (0..40).fold(String::new(), |text, line| {
            text + &format!("{line} {}\n", "=".repeat(500))
        }),
    );
    sandbox.commit("2025-10-09", JANE, &"two ".repeat(300));
    let client = start_with_small_answers(&sandbox);
    let read_on = |tool: &str, mut arguments: Value, argument: &str| {
        let mut rounds = 0;
        let mut all = String::new();
        loop {
            let text = call_within(&client, tool, arguments.clone(), 2_000);
            all += &text;
            let Some((_, next)) = text.rsplit_once(&format!("read on with {argument} ")) else {
                return all;
            };
            let next: u64 = next.trim().parse().unwrap();
            assert!(
                next > arguments[argument].as_u64().unwrap_or(0),
                "{tool} makes no progress: {text}"
            );
            arguments[argument] = next.into();
            rounds += 1;
            assert!(rounds < 100);
        }
    };
    let all = read_on("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }), "offset");
    assert!(
        (0..40).all(|line| all.contains(&format!("\n+{line} ==="))),
        "{all}"
    );
    let all = read_on("git_blame", json!({ "filePath": "a.txt" }), "startLine");
    assert!(
        (0..40).all(|line| all.contains(&format!(") {line} ==="))),
        "{all}"
    );
    let all = read_on("git_log", json!({}), "skip");
    assert_eq!(all.matches("## Commit: ").count(), 2, "{all}");
}

#[test]
fn cached_answers_follow_the_mailmap_and_the_attributes() {
    let sandbox = sandbox().repository().file("a.txt", "one\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write("a.txt", "one\ntwo\n");
    sandbox.commit("2025-10-09", JOHN, "two");
    let blame = || sandbox.call("git_blame", json!({ "filePath": "a.txt" })).text;
    let diff = || {
        sandbox
            .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
            .text
    };
    assert!(blame().contains("John Doe") && diff().contains("+two"));
    sandbox.write(".mailmap", "Johanna Doe <john@example.com>\n");
    assert!(blame().contains("Johanna Doe"), "{}", blame());
    sandbox.write(".gitattributes", "*.txt binary\n");
    assert!(diff().contains("Binary file changed"), "{}", diff());
}

#[test]
fn arguments_that_git_would_misread_are_refused() {
    let sandbox = sandbox().repository();
    sandbox.commit("2025-10-08", JOHN, "one");
    for arguments in [
        json!({ "author": "zzz\nJohn" }),
        json!({ "skip": 99_999_999_999_u64 }),
    ] {
        let answer = sandbox.call("git_log", arguments);
        assert!(answer.text.starts_with("Error: InvalidInputError"), "{answer}");
    }
}

#[test]
fn a_file_name_with_a_line_break_is_counted_correctly() {
    let sandbox = sandbox()
        .repository()
        .file("a\nb.txt", "1\n")
        .file("c.txt", "1\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write("a\nb.txt", "1\n2\n");
    sandbox.write("c.txt", "1\n2\n3\n");
    sandbox.commit("2025-10-09", JOHN, "two");
    let text = sandbox
        .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
        .text;
    assert!(
        text.contains("- **Insertions**: +3 lines\n") && text.contains("name has a line end"),
        "{text}"
    );
}

#[test]
fn an_answer_without_results_says_why() {
    let sandbox = sandbox().repository().file("gone.txt", "1\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    std::fs::remove_file(sandbox.root().join("gone.txt")).unwrap();
    sandbox.commit("2025-10-09", JOHN, "two");
    let text = sandbox
        .call("git_log", json!({ "filePath": "gone.txt", "author": "nobody" }))
        .text;
    assert!(
        text.contains("gone.txt has commits, and none matches author."),
        "{text}"
    );
    let text = sandbox
        .call("git_diff", json!({ "ref1": "HEAD~1", "filePath": "srcc/tpyo" }))
        .text;
    assert!(
        text.contains("git does not track srcc/tpyo; check the spelling"),
        "{text}"
    );
}

#[test]
fn a_mode_change_before_a_merge_is_listed() {
    let sandbox = sandbox().repository().file("run.sh", "echo 1\n");
    sandbox.commit("2025-10-05", JOHN, "start");
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    sandbox.write("run.sh", "echo 1\necho 2\n");
    sandbox.commit("2025-10-06", JANE, "edit");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["update-index", "--chmod=+x", "run.sh"]);
    sandbox.git(&["commit", "-q", "-m", "chmod"]);
    sandbox.git(&["checkout", "-q", "-f", "main"]);
    sandbox.git(&["merge", "-q", "-m", "merge", "side"]);
    for _ in 0..30 {
        let text = sandbox.call("git_log", json!({ "filePath": "run.sh" })).text;
        assert_eq!(text.matches("## Commit: ").count(), 4, "{text}");
    }
}

#[test]
fn a_diff_over_a_thousand_lines_becomes_a_summary() {
    let lines = |count: usize| "x\n".repeat(count);
    let sandbox = sandbox().repository().file("a.txt", "").file("b.txt", "");
    sandbox.commit("2025-10-08", JOHN, "empty");
    sandbox.write("a.txt", lines(1_000));
    sandbox.commit("2025-10-09", JOHN, "a thousand");
    let full = sandbox
        .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
        .text;
    assert!(full.starts_with("# Git Diff: HEAD~1...HEAD\n"), "{full}");
    sandbox.write("b.txt", lines(1));
    sandbox.commit("2025-10-10", JOHN, "one more");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "HEAD~2", "ref2": "HEAD" })), @"
    # Git Diff Summary: HEAD~2...HEAD

    - **Files Changed**: 2
    - **Insertions**: +1,001 lines
    - **Deletions**: -0 lines

    ### Modified Files (2):
    - a.txt (+1,000 -0)
    - b.txt (+1 -0)

    > Note: 1,001 lines changed, over the limit of 1,000, so this is the summary; to see lines, ask for one file with filePath
    ");
    let one = sandbox
        .call(
            "git_diff",
            json!({ "ref1": "HEAD~2", "ref2": "HEAD", "filePath": "b.txt" }),
        )
        .text;
    assert!(one.starts_with("# Git Diff: HEAD~2...HEAD\n"), "{one}");
}

#[test]
fn a_diff_over_five_hundred_files_lists_the_first_fifty() {
    let sandbox = sandbox().repository();
    sandbox.commit("2025-10-08", JOHN, "empty");
    for number in 0..501 {
        sandbox.write(&format!("file_{number:03}.txt"), "x\n");
    }
    sandbox.commit("2025-10-09", JOHN, "many");
    for arguments in [
        json!({ "ref1": "HEAD~1", "ref2": "HEAD" }),
        json!({ "ref1": "HEAD~1", "ref2": "HEAD", "summary": true }),
    ] {
        let text = sandbox.call("git_diff", arguments).text;
        assert_eq!(text.matches("- file_").count(), 50, "{text}");
        assert!(
            text.contains("### Added Files (501):\n")
                && text.contains("\n- … and 451 more; filePath lists those of one directory\n"),
            "{text}"
        );
    }
    let text = sandbox
        .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
        .text;
    assert!(text.ends_with("> Note: 501 files changed, so this is the summary; to see lines, ask for one file with filePath\n"), "{text}");
}

#[test]
fn a_long_diff_is_read_in_parts() {
    let sandbox = sandbox().repository().file("a.txt", "").file("b.txt", "");
    sandbox.commit("2025-10-08", JOHN, "empty");
    let text = |name: char| {
        (0..400).fold(String::new(), |mut text, number| {
            writeln!(text, "{name} {number} {}", "=".repeat(60)).unwrap();
            text
        })
    };
    sandbox.write("a.txt", text('a'));
    sandbox.write("b.txt", text('b'));
    sandbox.commit("2025-10-09", JOHN, "long");
    let mut lines = String::new();
    let mut offset = 0;
    loop {
        let answer = sandbox
            .call(
                "git_diff",
                json!({ "ref1": "HEAD~1", "ref2": "HEAD", "offset": offset }),
            )
            .text;
        assert!(answer.chars().count() <= 20_000, "{}", answer.len());
        for line in answer.lines().filter(|line| line.ends_with('=')) {
            writeln!(lines, "{}", line.strip_prefix('+').unwrap_or(line)).unwrap();
        }
        let Some((_, next)) = answer.rsplit_once("read on with offset ") else {
            break;
        };
        offset = next.trim().parse().unwrap();
    }
    assert_eq!(lines, text('a') + &text('b'));
}
