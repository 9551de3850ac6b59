//! `read_repo_file`: the example and the error codes of its contract, encodings and long files.

use docent_testkit::{Answer, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// The code of an answer that must be an error.
fn error_code(answer: &Answer) -> Value {
    assert!(answer.is_error, "{answer}");
    answer.json()["code"].clone()
}

#[test]
fn example_reads_a_file() {
    let sandbox = sandbox().file("paths/Advanced/tracker.md", "# Progress Tracker\n\n...");
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "paths/Advanced/tracker.md" })),
        @r##"{"content":"# Progress Tracker\n\n...","size":23,"modified":"2026-01-09T10:00:00Z"}"##
    );
}

#[test]
fn base64_has_the_exact_bytes() {
    let sandbox = sandbox().file("logo.png", b"\x89PNG\r\n\x1a\n\0\xff");
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "logo.png", "encoding": "base64" })),
        @r#"{"content":"iVBORw0KGgoA/w==","size":10,"modified":"2026-01-09T10:00:00Z"}"#
    );
}

#[test]
fn a_binary_file_read_as_text_is_400_and_names_base64() {
    let sandbox = sandbox().file("logo.png", b"\x89PNG\0\xff");
    assert_snapshot!(pretty(&sandbox.call("read_repo_file", json!({ "path": "logo.png" }))), @r#"
    [isError] {
      "error": "The file is binary or not UTF-8: logo.png. Use encoding base64",
      "code": 400
    }
    "#);
}

#[test]
fn invalid_parameters_are_400() {
    let sandbox = sandbox().file("a b.txt", "x");
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({})),
        @r#"[isError] {"error":"path is required","code":400}"#
    );
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "" })),
        @r#"[isError] {"error":"path must match ^[a-zA-Z0-9_./-]+$","code":400}"#
    );
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "a b.txt" })),
        @r#"[isError] {"error":"path must match ^[a-zA-Z0-9_./-]+$","code":400}"#
    );
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "a.txt", "encoding": "latin1" })),
        @r#"[isError] {"error":"encoding must be one of: utf-8, base64","code":400}"#
    );
    assert_eq!(
        error_code(&sandbox.call("read_repo_file", json!({ "path": "a\0b" }))),
        400
    );
}

#[test]
fn blocked_paths_are_403() {
    let sandbox = sandbox()
        .file(".env", "KEY=1")
        .file(".env.local", "KEY=1")
        .file("a/secrets/b.txt", "x")
        .file("server.key", "x")
        .file("certs/ca.pem", "x");
    for path in [
        ".env",
        ".env.local",
        "a/secrets/b.txt",
        "server.key",
        "certs/ca.pem",
        "../x",
        "/etc/passwd",
    ] {
        assert_eq!(
            error_code(&sandbox.call("read_repo_file", json!({ "path": path }))),
            403,
            "{path}"
        );
    }
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": ".env" })),
        @r#"[isError] {"error":"Access denied: .env","code":403}"#
    );
}

#[test]
fn a_missing_file_is_404() {
    assert_snapshot!(
        sandbox().call("read_repo_file", json!({ "path": "absent.md" })),
        @r#"[isError] {"error":"File not found: absent.md","code":404}"#
    );
}

#[test]
fn a_directory_is_400() {
    let sandbox = sandbox().file("src/a.rs", "");
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "src" })),
        @r#"[isError] {"error":"Not a file: src (the path is a directory)","code":400}"#
    );
}

#[test]
fn a_file_of_1_mb_is_read_and_one_byte_more_is_413() {
    let sandbox = sandbox()
        .file("full.txt", vec![b'x'; 1_048_576])
        .file("over.txt", vec![b'x'; 1_048_577]);
    let full = sandbox
        .call("read_repo_file", json!({ "path": "full.txt" }))
        .json();
    assert_eq!(full["size"], 1_048_576);
    assert_snapshot!(pretty(&sandbox.call("read_repo_file", json!({ "path": "over.txt" }))), @r#"
    [isError] {
      "error": "File too large: over.txt (the file has 1048577 bytes, over the limit of 1048576)",
      "code": 413
    }
    "#);
}

#[test]
fn a_long_file_is_read_in_parts_that_join_to_the_whole_file() {
    let text = "a line of text \u{200b} größe\n".repeat(2_000);
    let sandbox = sandbox().file("long.txt", &text);
    for encoding in ["utf-8", "base64"] {
        let mut joined = Vec::new();
        let mut offset = 0;
        loop {
            let arguments = json!({ "path": "long.txt", "encoding": encoding, "offset": offset });
            let answer = sandbox.call("read_repo_file", arguments);
            assert!(answer.text.chars().count() <= 20_000, "{}", answer.text.len());
            let content = answer.json()["content"].as_str().unwrap().to_owned();
            match encoding {
                "utf-8" => joined.extend(content.replace("\\u{200B}", "\u{200b}").into_bytes()),
                _ => joined.extend(decode_base64(&content)),
            }
            let notice = answer.json()["notice"].as_str().unwrap_or_default().to_owned();
            let Some(next) = notice.split("read on with offset ").nth(1) else {
                break;
            };
            offset = next.split('.').next().unwrap().parse().unwrap();
        }
        assert!(joined == text.as_bytes(), "{encoding}");
    }
}

#[test]
fn an_offset_must_be_at_the_start_of_a_character() {
    let sandbox = sandbox().file("a.txt", "é");
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "a.txt", "offset": 1 })),
        @r#"[isError] {"error":"offset is not at a character of the file: a.txt","code":400}"#
    );
    assert_snapshot!(
        sandbox.call("read_repo_file", json!({ "path": "a.txt", "offset": 3, "encoding": "base64" })),
        @r#"[isError] {"error":"offset is beyond the file's end: a.txt","code":400}"#
    );
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let used = group.iter().filter(|c| **c != b'=').count();
        let bits = group
            .iter()
            .fold(0_u32, |bits, c| bits << 6 | u32::from(value(*c) & 63));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..used]);
    }
    bytes
}

#[test]
fn invisible_characters_are_shown_with_a_notice() {
    let sandbox = sandbox().file("sly.md", "ok\u{202e}\u{e0041}");
    assert_snapshot!(pretty(&sandbox.call("read_repo_file", json!({ "path": "sly.md" }))), @r#"
    {
      "content": "ok\\u{202E}\\u{E0041}",
      "size": 9,
      "modified": "2026-01-09T10:00:00Z",
      "notice": "Invisible characters are written as \\u{…}; encoding base64 has the exact bytes"
    }
    "#);
}

#[test]
fn a_symbol_or_ranges_are_read_with_a_notice_of_their_lines() {
    let sandbox = sandbox().file(
        "a.py",
        "class Square:\n    def area(self):\n        return 4\n\n\nclass Circle:\n    def area(self):\n        return 3\n",
    );
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": "a.py", "symbol": "Circle.area" })), @r#"{"content":"    def area(self):\n        return 3\n","size":104,"modified":"2026-01-09T10:00:00Z","notice":"Lines 7-8 of 8 are shown"}"#);
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": "a.py", "ranges": ["1", "3", "4-5"] })), @r#"{"content":"class Square:\n… line 2 left out …\n        return 4\n\n\n","size":104,"modified":"2026-01-09T10:00:00Z","notice":"Lines 1, 3-5 of 8 are shown"}"#);
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": "a.py", "symbol": "area" })), @r#"[isError] {"error":"Ambiguous symbol: a.py ('area' is defined 2 times: Square.area (2-3), Circle.area (7-8)). Name it with its scope, or read its lines with ranges","code":400}"#);
    assert_snapshot!(sandbox.call("read_repo_file", json!({ "path": "a.py", "symbol": "zzz" })), @r#"[isError] {"error":"Symbol not found: a.py (the file defines no 'zzz'). Use outline to list the definitions of the file","code":404}"#);
    let arguments = json!({ "path": "a.py", "symbol": "Circle", "encoding": "base64" });
    assert_snapshot!(sandbox.call("read_repo_file", arguments), @r#"[isError] {"error":"Several parts of the file are asked for. Use one of symbol, ranges, outline, and the arguments for lines or bytes","code":400}"#);
}
