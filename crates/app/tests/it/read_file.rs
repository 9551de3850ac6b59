//! `read_file`: the examples, test cases and error cases of its contract, line ranges and long files.

use docent_testkit::{Era, Sandbox, notice, pretty};
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

/// A file with two methods of the same name.
fn shapes() -> Sandbox {
    sandbox().file(
        "shapes.py",
        "class Square:\n    # Four sides.\n    def area(self):\n        return 4\n\n\nclass Circle:\n    def area(self):\n        return 3\n",
    )
}

#[test]
fn a_symbol_is_read_with_its_lines() {
    let arguments = json!({ "path": "shapes.py", "symbol": "Square.area" });
    assert_snapshot!(pretty(&shapes().call("read_file", arguments)), @r#"
    {
      "file": {
        "path": "shapes.py",
        "content": "    def area(self):\n        return 4\n",
        "size": 122,
        "lines": 9,
        "language": "python",
        "startLine": 3,
        "endLine": 4
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
fn an_ambiguous_symbol_is_listed_with_its_places() {
    let sandbox = shapes();
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "shapes.py", "symbol": "area" }))), @r#"
    [isError] {
      "error": "Ambiguous symbol",
      "path": "shapes.py",
      "details": "'area' is defined 2 times: Square.area (3-4), Circle.area (8-9)",
      "suggestion": "Name it with its scope, or read its lines with ranges"
    }
    "#);
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "shapes.py", "symbol": "Sqare" }))), @r#"
    [isError] {
      "error": "Symbol not found",
      "path": "shapes.py",
      "details": "the file defines no 'Sqare'",
      "suggestion": "Similar: Square (1-4)"
    }
    "#);
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "shapes.py", "symbol": "zzz" }))), @r#"
    [isError] {
      "error": "Symbol not found",
      "path": "shapes.py",
      "details": "the file defines no 'zzz'",
      "suggestion": "Use outline to list the definitions of the file"
    }
    "#);
}

#[test]
fn a_file_without_a_grammar_has_no_symbols() {
    let sandbox = sandbox().file("notes.txt", "walrus\n");
    assert_snapshot!(pretty(&sandbox.call("read_file", json!({ "path": "notes.txt", "symbol": "walrus" }))), @r#"
    [isError] {
      "error": "The file has no symbols",
      "path": "notes.txt",
      "details": "no grammar",
      "suggestion": "Use ranges of lines"
    }
    "#);
}

#[test]
fn several_ranges_are_read_at_once_and_overlaps_are_joined() {
    let sandbox = sandbox().file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9");
    let arguments = json!({ "path": "a.txt", "ranges": ["8-", "1-2", "2-3", "6"] });
    assert_snapshot!(pretty(&sandbox.call("read_file", arguments)), @r#"
    {
      "file": {
        "path": "a.txt",
        "content": "1\n2\n3\n… lines 4-5 left out …\n6\n… line 7 left out …\n8\n9",
        "size": 17,
        "lines": 9,
        "language": "plaintext",
        "startLine": 1,
        "endLine": 9
      },
      "dependencies": [],
      "metadata": {
        "module": "root",
        "role": "docs",
        "lastModified": "2026-01-09T10:00:00Z"
      },
      "notice": "Lines 1-3, 6, 8-9 of 9 are shown"
    }
    "#);
}

#[test]
fn wrong_ranges_are_named() {
    let sandbox = sandbox().file("a.txt", "1\n2\n3\n");
    for range in ["x", "3-2", "0-1", "4", "1-2-3", ""] {
        let answer = sandbox.call("read_file", json!({ "path": "a.txt", "ranges": ["1", range] }));
        assert_eq!(answer.json()["error"], "Invalid line range", "{range}: {answer}");
        assert_eq!(answer.json()["ranges"], range, "{answer}");
    }
    assert!(
        sandbox
            .call("read_file", json!({ "path": "a.txt", "ranges": [] }))
            .is_error
    );
}

#[test]
fn ranges_that_do_not_fit_say_how_to_read_on() {
    let sandbox = sandbox().file("long.txt", "0123456789\n".repeat(4_000));
    let arguments = json!({ "path": "long.txt", "ranges": ["1-10", "100-3000", "3500-3600"] });
    let answer = sandbox.call("read_file", arguments);
    assert!(answer.text.len() <= 20_000, "{}", answer.text.len());
    let last = answer.json()["file"]["endLine"].as_u64().unwrap();
    let expected = format!("read on with ranges [\"{}-3000\", \"3500-3600\"]", last + 1);
    assert!(notice(&answer.json()).contains(&expected), "{expected}: {answer}");
}

#[test]
fn only_one_part_of_a_file_may_be_asked_for() {
    let sandbox = shapes();
    for arguments in [
        json!({ "path": "shapes.py", "symbol": "Square", "outline": true }),
        json!({ "path": "shapes.py", "symbol": "Square", "ranges": ["1"] }),
        json!({ "path": "shapes.py", "symbol": "Square", "startLine": 1 }),
    ] {
        let answer = sandbox.call("read_file", arguments);
        assert_eq!(
            answer.json()["error"],
            "Several parts of the file are asked for",
            "{answer}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_terminal_numbers_the_lines_of_ranges() {
    let sandbox = sandbox().file("a.txt", "one\ntwo\nthree\nfour\n");
    let shown = sandbox.run_on_terminal(&["read", "a.txt", "--ranges", "1", "4", "--color", "never"]);
    assert_snapshot!(shown, @"
    1-4 of 4
    1	one
    … 2 lines 2-3
    4	four
    ");
}
