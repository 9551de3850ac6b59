//! `read_file`: the examples, test cases and error cases of its contract, line ranges and long files.

use docent_testkit::{Era, pretty};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

#[test]
fn example_simple_file_read() {
    let sandbox = sandbox().file(
        "src/server/auth/AuthService.ts",
        "export class AuthService {\n  login() {}\n}\n",
    );
    let arguments = json!({ "path": "src/server/auth/AuthService.ts", "includeDeps": false });
    assert_snapshot!(pretty(&sandbox.call("read_file", arguments)), @r#"
    {
      "file": {
        "path": "src/server/auth/AuthService.ts",
        "content": "export class AuthService {\n  login() {}\n}\n",
        "size": 42,
        "lines": 3,
        "language": "typescript"
      },
      "dependencies": [],
      "metadata": {
        "module": "auth",
        "role": "core",
        "lastModified": "2026-01-09T10:00:00Z"
      }
    }
    "#);
}

#[test]
fn test_case_reads_file_content() {
    let sandbox = sandbox().file("src/index.ts", "console.log(1);\n");
    let answer = sandbox
        .call("read_file", json!({ "path": "src/index.ts" }))
        .json();
    assert_eq!(answer["file"]["content"], "console.log(1);\n");
}

#[test]
fn test_case_rejects_path_traversal() {
    assert_snapshot!(pretty(&sandbox().call("read_file", json!({ "path": "../../../etc/passwd" }))), @r#"
    [isError] {
      "error": "Path traversal not allowed",
      "path": "../../../etc/passwd",
      "suggestion": "Name the file relative to the project root"
    }
    "#);
}

#[test]
fn error_case_file_not_found() {
    assert_snapshot!(
        sandbox().call("read_file", json!({ "path": "invalid/path.ts" })),
        @r#"[isError] {"error":"File not found","path":"invalid/path.ts"}"#
    );
}

#[test]
fn error_case_permission_denied() {
    let sandbox = sandbox()
        .file(".env", "SECRET=1")
        .file(".git/config", "")
        .file("node_modules/a/index.js", "");
    assert_snapshot!(
        sandbox.call("read_file", json!({ "path": ".env" })),
        @r#"[isError] {"error":"Permission denied","path":".env"}"#
    );
    for path in [".git/config", "node_modules/a/index.js"] {
        assert_eq!(
            sandbox.call("read_file", json!({ "path": path })).json()["error"],
            "Permission denied"
        );
    }
}

#[test]
fn error_case_validation() {
    assert_snapshot!(pretty(&sandbox().call("read_file", json!({}))), @r#"
    [isError] {
      "error": "Invalid parameters",
      "details": [
        {
          "path": [
            "path"
          ],
          "message": "path is required"
        }
      ]
    }
    "#);
    assert_snapshot!(pretty(&sandbox().call("read_file", json!({ "path": "" }))), @r#"
    [isError] {
      "error": "Invalid parameters",
      "details": [
        {
          "path": [
            "path"
          ],
          "message": "path must have at least 1 character"
        }
      ]
    }
    "#);
    assert_snapshot!(pretty(&sandbox().call("read_file", json!({ "path": ["a"], "startLine": 0 }))), @r#"
    [isError] {
      "error": "Invalid parameters",
      "details": [
        {
          "path": [
            "path"
          ],
          "message": "path must be a string"
        },
        {
          "path": [
            "startLine"
          ],
          "message": "startLine must be at least 1"
        }
      ]
    }
    "#);
}

#[test]
fn absolute_paths_are_refused() {
    assert_snapshot!(pretty(&sandbox().call("read_file", json!({ "path": "/etc/passwd" }))), @r#"
    [isError] {
      "error": "Absolute paths not allowed",
      "path": "/etc/passwd",
      "suggestion": "Name the file relative to the project root"
    }
    "#);
    assert_snapshot!(pretty(&sandbox().call("read_file", json!({ "path": r"C:\Windows\win.ini" }))), @r#"
    [isError] {
      "error": "Absolute paths not allowed",
      "path": "C:\\Windows\\win.ini",
      "suggestion": "Name the file relative to the project root"
    }
    "#);
}

#[test]
fn a_file_over_1_mb_is_refused() {
    let sandbox = sandbox()
        .file("full.txt", vec![b'x'; 1_048_576])
        .file("over.txt", vec![b'x'; 1_048_577]);
    assert_eq!(
        sandbox.call("read_file", json!({ "path": "full.txt" })).json()["file"]["size"],
        1_048_576
    );
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "over.txt" }))), @r#"
    [isError] {
      "error": "File too large",
      "path": "over.txt",
      "details": "the file has 1048577 bytes, over the limit of 1048576"
    }
    "#);
}

#[test]
fn the_rate_limit_is_100_calls_a_minute() {
    let sandbox = sandbox().file("a.txt", "x");
    let client = sandbox.start_client(Era::Stateless);
    for _ in 0..100 {
        assert!(!client.call("read_file", json!({ "path": "a.txt" })).is_error);
    }
    let answer = client.call("read_file", json!({ "path": "a.txt" })).json();
    assert_eq!(answer["error"], "Rate limit exceeded for read_file");
    assert!(
        (1..=60).contains(&answer["retryAfter"].as_u64().unwrap()),
        "{answer}"
    );
}

#[test]
fn a_binary_file_points_to_read_repo_file() {
    let sandbox = sandbox().file("a.bin", b"\0\x01").file("latin1.txt", b"caf\xe9");
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "a.bin" }))), @r#"
    [isError] {
      "error": "Not a text file",
      "path": "a.bin",
      "details": "the file is binary or not UTF-8",
      "suggestion": "Use read_repo_file with encoding base64"
    }
    "#);
    assert!(
        sandbox
            .call("read_file", json!({ "path": "latin1.txt" }))
            .is_error
    );
}

#[test]
fn paths_may_use_both_separators_and_any_script() {
    let sandbox = sandbox().file("src/größe/日本.rs", "fn main() {}");
    for path in ["src/größe/日本.rs", r"src\größe\日本.rs", "./src//größe/日本.rs"] {
        assert_eq!(
            sandbox.call("read_file", json!({ "path": path })).json()["file"]["path"],
            "src/größe/日本.rs"
        );
    }
}

#[test]
fn an_empty_file_has_no_lines() {
    let sandbox = sandbox().file("empty.rs", "");
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "empty.rs" }))), @r#"
    {
      "file": {
        "path": "empty.rs",
        "content": "",
        "size": 0,
        "lines": 0,
        "language": "rust"
      },
      "dependencies": [],
      "metadata": {
        "module": "root",
        "role": "core",
        "lastModified": "2026-01-09T10:00:00Z"
      }
    }
    "#);
}

#[test]
fn a_line_range_is_read() {
    let sandbox = sandbox().file("a.txt", "one\ntwo\r\nthree\nfour");
    let answer = sandbox.call(
        "read_file",
        json!({ "path": "a.txt", "startLine": 2, "endLine": 3 }),
    );
    assert_snapshot!(pretty(&answer), @r#"
    {
      "file": {
        "path": "a.txt",
        "content": "two\r\nthree\n",
        "size": 19,
        "lines": 4,
        "language": "plaintext",
        "startLine": 2,
        "endLine": 3
      },
      "dependencies": [],
      "metadata": {
        "module": "root",
        "role": "docs",
        "lastModified": "2026-01-09T10:00:00Z"
      }
    }
    "#);
    let rest = sandbox
        .call(
            "read_file",
            json!({ "path": "a.txt", "startLine": 4, "endLine": 99 }),
        )
        .json();
    assert_eq!(
        (rest["file"]["content"].as_str(), rest["file"]["endLine"].as_u64()),
        (Some("four"), Some(4))
    );
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "a.txt", "startLine": 5 }))), @r#"
    [isError] {
      "error": "Invalid line range",
      "path": "a.txt",
      "details": "lines 5 to the end were asked for and the file has 4"
    }
    "#);
    assert!(
        sandbox
            .call(
                "read_file",
                json!({ "path": "a.txt", "startLine": 3, "endLine": 2 })
            )
            .is_error
    );
}

#[test]
fn a_range_that_is_the_whole_file_is_named_if_it_was_asked_for() {
    let sandbox = sandbox().file("a.txt", "one\ntwo\n").file("empty.txt", "");
    for (path, range, expected) in [
        (
            "a.txt",
            json!({ "startLine": 1, "endLine": 2 }),
            (Some(1), Some(2)),
        ),
        ("a.txt", json!({ "startLine": 1 }), (Some(1), Some(2))),
        ("a.txt", json!({ "endLine": 9 }), (Some(1), Some(2))),
        ("a.txt", json!({}), (None, None)),
        ("a.txt", json!({ "startLine": null }), (None, None)),
        ("empty.txt", json!({ "startLine": 1 }), (Some(1), Some(0))),
        ("empty.txt", json!({}), (None, None)),
    ] {
        let mut arguments = range.clone();
        arguments["path"] = path.into();
        let file = sandbox.call("read_file", arguments).json()["file"].clone();
        let shown = (file["startLine"].as_u64(), file["endLine"].as_u64());
        assert_eq!(shown, expected, "{path} {range}");
    }
}

#[test]
fn a_long_file_is_read_in_parts_that_join_to_the_whole_file() {
    let text = "\t\"line\" \\ \u{1b}\n".repeat(3_000);
    let sandbox = sandbox().file("long.txt", &text);
    let mut joined = String::new();
    let mut start = 1;
    loop {
        let answer = sandbox.call("read_file", json!({ "path": "long.txt", "startLine": start }));
        assert!(answer.text.chars().count() <= 20_000, "{}", answer.text.len());
        let file = &answer.json()["file"];
        joined += file["content"].as_str().unwrap();
        start = file["endLine"].as_u64().unwrap() + 1;
        if start > 3_000 {
            break;
        }
        let notice = answer.json()["notice"].as_str().unwrap().to_owned();
        assert!(
            notice.contains(&format!("read on with startLine {start}")),
            "{notice}"
        );
    }
    assert_eq!(joined, text.replace('\u{1b}', "\\u{1B}"));
}

#[test]
fn a_very_long_line_is_cut_and_can_be_read_on() {
    let line = "é".repeat(30_000);
    let sandbox = sandbox().file("a.js", format!("first\n{line}\nlast\n"));
    let answer = sandbox.call("read_file", json!({ "path": "a.js", "startLine": 2 }));
    assert!(answer.text.chars().count() <= 20_000);
    let notice = answer.json()["notice"].as_str().unwrap().to_owned();
    let offset: usize = notice
        .split("offset ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(
        notice,
        format!(
            "Line 2 is cut; read_repo_file with offset {offset} reads on, the next line with startLine 3"
        )
    );
    let rest = sandbox
        .call("read_repo_file", json!({ "path": "a.js", "offset": offset }))
        .json();
    let joined =
        answer.json()["file"]["content"].as_str().unwrap().to_owned() + rest["content"].as_str().unwrap();
    assert_eq!(joined, format!("{line}\nlast\n"));
}

#[test]
fn the_maximum_answer_size_is_configurable() {
    let sandbox = sandbox()
        .file("long.txt", "line\n".repeat(1_000))
        .file(".context/config.toml", "answer.max_chars = 2500");
    assert!(
        sandbox
            .call("read_file", json!({ "path": "long.txt" }))
            .text
            .chars()
            .count()
            <= 2_500
    );
}

#[test]
fn invisible_characters_are_shown_with_a_notice() {
    let sandbox = sandbox().file("sly.py", "x = 1 #\u{202e} \u{e0049}\n");
    let answer = sandbox.call("read_file", json!({ "path": "sly.py" })).json();
    assert_eq!(answer["file"]["content"], "x = 1 #\\u{202E} \\u{E0049}\n");
    assert!(
        answer["notice"]
            .as_str()
            .unwrap()
            .starts_with("Invisible characters"),
        "{answer}"
    );
}
