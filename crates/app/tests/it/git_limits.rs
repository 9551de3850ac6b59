//! The git tools at their edges: answers that keep to their size and go on, and what is kept that must not grow stale.

use docent_testkit::{Era, JANE, JOHN, Sandbox, StdioClient};
use serde_json::{Value, json};

use crate::sandbox;

/// Calls with the smallest answers that can be set.
fn small(sandbox: &Sandbox) -> StdioClient {
    let mut command = sandbox.docent();
    command.env("DOCENT_ANSWER_MAX_CHARS", "2000");
    StdioClient::start(command, Era::Handshake)
}

fn check(client: &StdioClient, tool: &str, arguments: Value, most: usize) -> String {
    let answer = client.call(tool, arguments);
    assert!(!answer.is_error, "{answer}");
    let length = answer.text.chars().count();
    assert!(length <= most, "{tool}: {length} characters: {answer}");
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
        small(&sandbox),
        StdioClient::start(sandbox.docent(), Era::Handshake),
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
        check(&small, tool, arguments.clone(), 2_000);
        check(&usual, tool, arguments, 20_000);
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
    let client = small(&sandbox);
    let follow = |tool: &str, mut arguments: Value, argument: &str| {
        let mut rounds = 0;
        let mut seen = String::new();
        loop {
            let text = check(&client, tool, arguments.clone(), 2_000);
            seen += &text;
            let Some((_, next)) = text.rsplit_once(&format!("read on with {argument} ")) else {
                return seen;
            };
            let next: u64 = next.trim().parse().unwrap();
            assert!(
                next > arguments[argument].as_u64().unwrap_or(0),
                "{tool} does not go on: {text}"
            );
            arguments[argument] = next.into();
            rounds += 1;
            assert!(rounds < 100);
        }
    };
    let seen = follow("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }), "offset");
    assert!(
        (0..40).all(|line| seen.contains(&format!("\n+{line} ==="))),
        "{seen}"
    );
    let seen = follow("git_blame", json!({ "filePath": "a.txt" }), "startLine");
    assert!(
        (0..40).all(|line| seen.contains(&format!(") {line} ==="))),
        "{seen}"
    );
    let seen = follow("git_log", json!({}), "skip");
    assert_eq!(seen.matches("## Commit: ").count(), 2, "{seen}");
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
