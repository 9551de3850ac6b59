//! A call has the same answer over every transport and in both eras.

use docent_testkit::Era;
use serde_json::json;

use crate::sandbox;

#[test]
fn all_transports_and_eras_give_the_same_answer() {
    let sandbox = sandbox().file("src/a.rs", "fn main() {}\n");
    let calls = [
        ("hello", json!({ "name": "you" })),
        ("read_file", json!({ "path": "src/a.rs" })),
        ("read_file", json!({ "path": "src/b.rs" })),
        (
            "read_repo_file",
            json!({ "path": "src/a.rs", "encoding": "base64" }),
        ),
        ("grep_codebase", json!({ "pattern": "main" })),
        ("grep_codebase", json!({ "pattern": "(" })),
    ];
    let server = sandbox.start_http_server();
    for era in Era::BOTH {
        let client = sandbox.start_client(era);
        for (tool, arguments) in &calls {
            let expected = sandbox.call(tool, arguments.clone());
            assert_eq!(client.call(tool, arguments.clone()), expected, "stdio, {era:?}");
            assert_eq!(
                server.call(era, tool, arguments.clone()),
                expected,
                "HTTP, {era:?}"
            );
        }
    }
}

#[test]
fn commands_with_the_json_flag_print_the_exact_answer() {
    let sandbox = sandbox().file("src/a.rs", "fn main() {}\nfn other() {}\n");
    let commands: [(&[&str], &str, serde_json::Value); 5] = [
        (&["hello", "you"], "hello", json!({ "name": "you" })),
        (
            &["read", "src/a.rs", "--start-line", "2"],
            "read_file",
            json!({ "path": "src/a.rs", "startLine": 2 }),
        ),
        (
            &["repo-file", "src/a.rs", "--encoding", "base64"],
            "read_repo_file",
            json!({ "path": "src/a.rs", "encoding": "base64" }),
        ),
        (
            &[
                "grep",
                "fn MAIN",
                "--file-pattern",
                "*.rs",
                "--limit",
                "3",
                "--case-sensitive",
            ],
            "grep_codebase",
            json!({ "pattern": "fn MAIN", "filePattern": "*.rs", "limit": 3, "caseSensitive": true }),
        ),
        (
            &["grep", "-x", "--limit", "many"],
            "grep_codebase",
            json!({ "pattern": "-x", "limit": "many" }),
        ),
    ];
    for (command, tool, arguments) in commands {
        let finished = sandbox.run(&[command, &["--json"]].concat());
        let expected = sandbox.call(tool, arguments);
        assert_eq!(finished.stdout.trim_end(), expected.text, "{command:?}");
        assert_eq!(finished.code != 0, expected.is_error, "{command:?}");
    }
}
