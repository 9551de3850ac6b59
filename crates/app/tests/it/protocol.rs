//! MCP over stdio: both eras, invalid lines, concurrent calls, and the end of the process.

use std::io::Write;
use std::process::Stdio;

use docent_testkit::{Era, StdioClient, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

#[test]
fn the_handshake_accepts_the_version_of_the_client() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let sandbox = sandbox();
        let client = StdioClient::start_without_handshake(sandbox.docent(), Era::Handshake);
        let result = client.initialize(version);
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "docent");
        assert!(!client.call("hello", json!({})).is_error);
    }
}

#[test]
fn a_stateless_client_needs_no_handshake() {
    let sandbox = sandbox();
    let client = sandbox.start_client(Era::Stateless);
    let discovered = client.request("server/discover", json!({}));
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")),
        "{discovered}"
    );
    assert!(!client.call("hello", json!({})).is_error);
}

#[test]
fn an_unknown_tool_is_an_answer_not_a_protocol_error() {
    let answer = sandbox().call("no_such_tool", json!({}));
    assert_snapshot!(pretty(&answer), @r#"
    [isError] {
      "error": "Unknown tool: no_such_tool",
      "tool": "no_such_tool",
      "suggestion": "The tools are: context_search, read_file, grep_codebase, hello, read_repo_file, write_memory_entry, git_log, git_blame, git_diff, search_docs, get_doc, get_overall_coverage, get_file_coverage, start_coverage_snapshot, end_coverage_snapshot, find_symbol, find_references"
    }
    "#);
}

#[test]
fn unknown_methods_and_invalid_params_are_protocol_errors() {
    let sandbox = sandbox();
    let client = sandbox.start_client(Era::Handshake);
    assert_eq!(client.request("no/such", json!({}))["error"]["code"], -32601);
    assert_eq!(
        client.request("tools/call", json!({ "name": 5 }))["error"]["code"],
        -32602
    );
    assert!(!client.call("hello", json!({})).is_error);
}

#[test]
fn answers_to_huge_arguments_stay_small() {
    let long = "x".repeat(1_000_000);
    let sandbox = sandbox().file("a.txt", "x");
    let client = sandbox.start_client(Era::Handshake);
    for (tool, arguments) in [
        (long.as_str(), json!({})),
        ("read_file", json!({ "path": long })),
        ("read_repo_file", json!({ "path": long })),
        ("grep_codebase", json!({ "pattern": long, "filePattern": long })),
        (
            "grep_codebase",
            json!({ "pattern": "x", "filePattern": "y".repeat(1_000) }),
        ),
        ("hello", json!({ "name": long })),
        ("read_file", json!({ "path": "a/".repeat(2_000) + "b" })),
    ] {
        let answer = client.call(tool, arguments);
        assert!(answer.text.chars().count() <= 20_000, "{}", &answer.text[..200]);
    }
}

/// Sends a line that is not a valid message and returns the error. The server must still answer afterwards.
fn send_invalid(line: impl AsRef<[u8]>) -> Value {
    let sandbox = sandbox();
    let client = sandbox.start_client(Era::Handshake);
    client.send(line);
    let error = client.receive();
    assert!(!client.call("hello", json!({})).is_error);
    error
}

#[test]
fn malformed_json_is_answered_and_the_server_continues() {
    assert_snapshot!(pretty(&send_invalid("{\"jsonrpc\": oops")), @r#"
    {
      "jsonrpc": "2.0",
      "error": {
        "code": -32700,
        "message": "Parse error: expected value at line 1 column 13"
      }
    }
    "#);
    assert_snapshot!(pretty(&send_invalid("[]")), @r#"
    {
      "jsonrpc": "2.0",
      "error": {
        "code": -32600,
        "message": "Invalid request: batches are not supported"
      }
    }
    "#);
    assert_snapshot!(
        send_invalid("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":7}"),
        @r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"Invalid request"}}"#
    );
}

#[test]
fn invalid_utf_8_is_answered_and_the_server_continues() {
    assert_snapshot!(pretty(&send_invalid(b"{\"jsonrpc\":\"\xff\xfe\"}")), @r#"
    {
      "jsonrpc": "2.0",
      "error": {
        "code": -32700,
        "message": "Parse error: invalid UTF-8 after 12 bytes"
      }
    }
    "#);
}

#[test]
fn a_line_of_20_mb_is_answered_and_the_server_continues() {
    assert_snapshot!(pretty(&send_invalid(vec![b'x'; 20 << 20])), @r#"
    {
      "jsonrpc": "2.0",
      "error": {
        "code": -32700,
        "message": "Parse error: the line is longer than 4194304 bytes"
      }
    }
    "#);
}

#[test]
fn invalid_lines_before_the_handshake_do_not_end_the_server() {
    let sandbox = sandbox();
    let client = StdioClient::start_without_handshake(sandbox.docent(), Era::Handshake);
    client.send("");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    client.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    client.send("oops");
    assert_eq!(client.receive()["error"]["code"], -32700);
    assert_eq!(client.initialize("2025-11-25")["protocolVersion"], "2025-11-25");
}

#[test]
fn the_last_line_needs_no_line_end() {
    let sandbox = sandbox();
    let mut child = sandbox
        .docent()
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
}

#[test]
fn a_client_that_does_not_read_the_log_is_still_answered() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent.args(["--set", "limit.hello=0"]);
    // The pipe of the log is never read, so that it is full after some hundred lines.
    let client = StdioClient::start_with_log(docent, Stdio::piped());
    for _ in 0..2_000 {
        assert!(!client.call("hello", json!({})).is_error);
    }
}

#[test]
fn closing_stdin_ends_the_process_with_success() {
    for era in Era::BOTH {
        let sandbox = sandbox();
        let client = sandbox.start_client(era);
        client.call("hello", json!({}));
        let (status, _) = client.close();
        assert!(status.success());
    }
}

#[test]
fn closing_stdin_before_any_request_ends_the_process_with_success() {
    let sandbox = sandbox();
    let (status, _) = StdioClient::start_without_handshake(sandbox.docent(), Era::Handshake).close();
    assert!(status.success());
}

#[test]
fn closing_stdin_does_not_wait_for_a_long_call() {
    let mut sandbox = sandbox();
    for n in 0..40 {
        sandbox = sandbox.file(&format!("{n}.txt"), "aaaaaaaaaaaaaaaa\n".repeat(60_000));
    }
    let client = sandbox.start_client(Era::Handshake);
    client.post(
        "tools/call",
        json!({ "name": "grep_codebase", "arguments": { "pattern": "(a|b|ab)*c(a|b|ab)*d" } }),
    );
    let (status, rest) = client.close();
    assert!(status.success());
    assert_eq!(rest, "", "an answer means that docent waited for the call");
}

/// Clients on Node connect by sockets. docent reads and writes them on blocking threads, which long calls
/// must not occupy.
#[test]
#[cfg(unix)]
fn long_calls_over_sockets_do_not_delay_other_requests() {
    let mut sandbox = sandbox();
    for n in 0..20 {
        sandbox = sandbox.file(&format!("{n}.txt"), "aaaaaaaaaaaaaaaa\n".repeat(20_000));
    }
    let client = StdioClient::start_over_sockets(sandbox.docent());
    let arguments = json!({ "pattern": "(a|b|ab)*c(a|b|ab)*d" });
    for _ in 0..30 {
        client.post(
            "tools/call",
            json!({ "name": "grep_codebase", "arguments": arguments }),
        );
    }
    let id = client.post("tools/list", json!({}));
    assert_eq!(
        client.receive()["id"],
        id,
        "the list is answered before any of the searches"
    );
    assert!(client.close().0.success());
}

#[test]
fn concurrent_calls_are_all_answered() {
    let sandbox = sandbox().file("a.txt", "x");
    let client = sandbox.start_client(Era::Stateless);
    let sent: Vec<u64> = (0..50)
        .map(|_| client.post("tools/call", json!({ "name": "hello", "arguments": {} })))
        .collect();
    let mut received: Vec<u64> = sent
        .iter()
        .map(|_| client.receive()["id"].as_u64().unwrap())
        .collect();
    received.sort_unstable();
    assert_eq!(received, sent);
}

#[test]
fn calls_whose_answers_are_read_late_are_all_answered() {
    const CALLS: u64 = 4_000;
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent
        .args(["--set", "limit.hello=0", "serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = docent.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let (begun, begins) = std::sync::mpsc::channel();
    // Several megabytes, so that the client must wait for the server before it has sent all of them.
    let writer = std::thread::spawn(move || {
        let client = json!({ "name": "testkit", "version": "0" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        writeln!(input, "{initialize}").unwrap();
        for id in 1..=CALLS {
            let params = json!({ "name": "hello", "arguments": { "name": "x".repeat(1_000) } });
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            writeln!(input, "{call}").unwrap();
            if id == 500 {
                begun.send(()).unwrap();
            }
        }
        input
    });
    begins.recv().unwrap();
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut ids = std::collections::BTreeSet::new();
    while ids.len() <= usize::try_from(CALLS).unwrap() {
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert!(
            answer.get("error").is_none() && answer["result"]["isError"] != true,
            "{answer}"
        );
        assert!(
            ids.insert(answer["id"].as_u64().unwrap()),
            "answered twice: {answer}"
        );
    }
    drop(writer.join().unwrap());
    assert!(child.wait().unwrap().success());
}
