//! MCP over stdio: both eras, what is listed, and lines that are no messages.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use docent_testkit::{Era, StdioClient};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

#[test]
fn the_handshake_accepts_the_version_of_the_client() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let sandbox = sandbox();
        let client = StdioClient::start_silent(sandbox.docent(), Era::Handshake);
        let result = client.initialize(version);
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "docent");
        assert!(!client.call("hello", json!({})).is_error);
    }
}

#[test]
fn a_stateless_client_needs_no_handshake() {
    let sandbox = sandbox();
    let client = StdioClient::start(sandbox.docent(), Era::Stateless);
    let found = client.request("server/discover", json!({}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")),
        "{found}"
    );
    assert!(!client.call("hello", json!({})).is_error);
}

#[test]
fn instructions_and_the_tool_list_stay_small() {
    let sandbox = sandbox();
    let client = StdioClient::start_silent(sandbox.docent(), Era::Handshake);
    let instructions = client.initialize("2025-11-25")["instructions"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(instructions.chars().count() < 2_000);
    let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
    assert!(list.to_string().len() < 12_000, "{}", list.to_string().len());
    for tool in list.as_array().unwrap() {
        assert!(
            instructions.contains(tool["name"].as_str().unwrap()),
            "the instructions say when to use {tool}"
        );
    }
}

#[test]
fn every_tool_is_listed_with_schemas_and_all_four_hints() {
    let sandbox = sandbox();
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut seen = String::new();
    for tool in list.as_array().unwrap() {
        let hints = &tool["annotations"];
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(hints[hint].is_boolean(), "{tool}");
        }
        assert_eq!(tool["inputSchema"]["type"], "object");
        // Clients show the model what is structured and drop the text, so markdown declares no schema.
        let name = tool["name"].as_str().unwrap();
        let is_markdown = name.starts_with("git_") || ["context_search", "get_doc"].contains(&name);
        assert_eq!(tool["outputSchema"]["type"] == "object", !is_markdown, "{tool}");
        // Older clients take no schema that is just `true`, and linters none that says nothing.
        let fields = tool["outputSchema"]["properties"].as_object();
        assert!(
            fields
                .into_iter()
                .flatten()
                .all(|(_, field)| field["type"].is_string()),
            "{tool}"
        );
        writeln!(seen, "{} {}", tool["name"], tool["inputSchema"]).unwrap();
    }
    assert_snapshot!(seen, @r#"
    "context_search" {"type":"object","properties":{"query":{"type":"string","description":"What to find: a question, a description or a name","minLength":3,"maxLength":500},"type":{"type":"string","enum":["all","pattern","rule","decision","issue"],"description":"Filter by discovery type (default: all)"},"module":{"type":"string","description":"Filter by module name"},"limit":{"type":"integer","minimum":1,"description":"Maximum number of results to return","maximum":20,"default":5},"projectScope":{"type":"string","enum":["current","all_linked"],"description":"Search current project only or all linked projects (default: current)"},"chunkType":{"type":"array","items":{"type":"string","enum":["function","class","method","interface","type"]},"description":"Filter by chunk types (default: all types)"},"format":{"type":"string","enum":["markdown","json"],"description":"Default: markdown; JSON with type or module"}},"required":["query"]}
    "read_file" {"type":"object","properties":{"path":{"type":"string","description":"File path relative to project root","minLength":1},"includeDeps":{"type":"boolean","description":"Include level 1 dependencies (imports)","default":false},"maxDepth":{"type":"integer","minimum":0,"maximum":1,"description":"Dependency tree depth","default":1},"startLine":{"type":"integer","minimum":1,"description":"First line, counted from 1"},"endLine":{"type":"integer","minimum":1,"description":"Last line, inclusive"}},"required":["path"]}
    "grep_codebase" {"type":"object","properties":{"pattern":{"type":"string","description":"Regex pattern to search for","minLength":1,"maxLength":200},"filePattern":{"type":"string","description":"Glob pattern to filter files (e.g., \"**/*.ts\")"},"caseSensitive":{"type":"boolean","description":"Case-sensitive search","default":false},"limit":{"type":"integer","minimum":1,"description":"Maximum number of matches to return","maximum":100,"default":50}},"required":["pattern"]}
    "hello" {"type":"object","properties":{"name":{"type":"string","description":"Name to greet","default":"World"}}}
    "read_repo_file" {"type":"object","properties":{"path":{"type":"string","description":"Relative path from repo root","pattern":"^[a-zA-Z0-9_./-]+$"},"encoding":{"type":"string","enum":["utf-8","base64"],"default":"utf-8"},"offset":{"type":"integer","minimum":0,"description":"Byte to start at, as a notice names it","default":0}},"required":["path"]}
    "write_memory_entry" {"type":"object","properties":{"file":{"type":"string","enum":["progress_log.jsonl","decisions.jsonl","best_practices.md"],"description":"Target memory file"},"entry":{"type":"string","description":"For .jsonl one JSON object on one line, e.g. {\"decision\": \"…\", \"why\": \"…\", \"module\": \"…\"}; for .md markdown","maxLength":10240}},"required":["file","entry"]}
    "git_log" {"type":"object","properties":{"filePath":{"type":"string","description":"File or directory, relative to project root"},"since":{"type":"string","description":"Show commits after this date or tag (e.g. '2025-01-01', '30 days ago', 'v1.0.0')"},"until":{"type":"string","description":"Show commits before this date or tag"},"author":{"type":"string","description":"Filter by author name or email"},"maxCount":{"type":"integer","minimum":1,"description":"Maximum number of commits to return","maximum":100,"default":10},"skip":{"type":"integer","minimum":0,"description":"Commits to skip, to read on","maximum":10000000,"default":0}}}
    "git_blame" {"type":"object","properties":{"filePath":{"type":"string","description":"File path relative to project root","minLength":1},"startLine":{"type":"integer","minimum":1,"description":"Start line number, counted from 1"},"endLine":{"type":"integer","minimum":1,"description":"End line number, inclusive"}},"required":["filePath"]}
    "git_diff" {"type":"object","properties":{"ref1":{"type":"string","description":"First reference (commit, branch, tag). Leave empty for working directory."},"ref2":{"type":"string","description":"Second reference. If omitted, compares ref1 to working directory."},"filePath":{"type":"string","description":"File or directory to show the difference of"},"summary":{"type":"boolean","description":"If true, return summary only (no line-by-line diff)","default":false},"offset":{"type":"integer","minimum":0,"description":"Diff lines to skip, to read on","maximum":10000000,"default":0}}}
    "search_docs" {"type":"object","properties":{"query":{"type":"string","description":"The search query (e.g., 'how to paginate', 'RateLimitError')."},"limit":{"type":"integer","minimum":1,"description":"Maximum number of results to return. Default is 10.","maximum":50,"default":10},"cursor":{"type":"string","description":"Opaque pagination token returned from a previous search. Omit for the first page. Returns an error if invalid or malformed."}},"required":["query"],"additionalProperties":false}
    "get_doc" {"type":"object","properties":{"chunk_id":{"type":"string","description":"The exact ID of the chunk to retrieve, as returned by search_docs (e.g., 'guides/retries.md#backoff-strategy')."},"context":{"type":"integer","minimum":0,"description":"Number of adjacent chunks to include before and after the target chunk. Default is 0. Use this to read the surrounding file context.","maximum":5,"default":0}},"required":["chunk_id"],"additionalProperties":false}
    "get_overall_coverage" {"type":"object","properties":{"lcovPath":{"type":"string","description":"Path to the LCOV coverage file, absolute or relative, e.g. \"./coverage/lcov.info\""}},"required":["lcovPath"]}
    "get_file_coverage" {"type":"object","properties":{"lcovPath":{"type":"string","description":"Path to the LCOV coverage file"},"filePaths":{"type":"array","items":{"type":"string"},"description":"Files to report, relative or absolute, e.g. \"src/parser.ts\""}},"required":["lcovPath","filePaths"]}
    "start_coverage_snapshot" {"type":"object","properties":{"lcovPath":{"type":"string","description":"Path to the LCOV coverage file"}},"required":["lcovPath"]}
    "end_coverage_snapshot" {"type":"object","properties":{"snapshotId":{"type":"string","description":"The ID that `start_coverage_snapshot` returned"},"lcovPath":{"type":"string","description":"Path to the current LCOV coverage file"}},"required":["snapshotId","lcovPath"]}
    "#);
}

#[test]
fn an_unknown_tool_is_an_answer_not_a_protocol_error() {
    let answer = sandbox().call("no_such_tool", json!({}));
    assert_snapshot!(answer, @r#"[isError] {"error":"Unknown tool: no_such_tool","tool":"no_such_tool","suggestion":"The tools are: context_search, read_file, grep_codebase, hello, read_repo_file, write_memory_entry, git_log, git_blame, git_diff, search_docs, get_doc, get_overall_coverage, get_file_coverage, start_coverage_snapshot, end_coverage_snapshot"}"#);
}

#[test]
fn unknown_methods_and_invalid_params_are_protocol_errors() {
    let sandbox = sandbox();
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
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
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
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

/// Sends a line that is no message: the error it gets, after which the server goes on.
fn complaint(line: impl AsRef<[u8]>) -> Value {
    let sandbox = sandbox();
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    client.send(line);
    let complaint = client.receive();
    assert!(!client.call("hello", json!({})).is_error);
    complaint
}

#[test]
fn malformed_json_is_answered_and_the_server_continues() {
    assert_snapshot!(complaint("{\"jsonrpc\": oops"), @r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: expected value at line 1 column 13"}}"#);
    assert_snapshot!(complaint("[]"), @r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: batches are not supported"}}"#);
    assert_snapshot!(complaint("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":7}"), @r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"Invalid request"}}"#);
}

#[test]
fn invalid_utf_8_is_answered_and_the_server_continues() {
    assert_snapshot!(complaint(b"{\"jsonrpc\":\"\xff\xfe\"}"), @r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: invalid UTF-8 after 12 bytes"}}"#);
}

#[test]
fn a_line_of_20_mb_is_answered_and_the_server_continues() {
    assert_snapshot!(complaint(vec![b'x'; 20 << 20]), @r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: the line is longer than 4194304 bytes"}}"#);
}

#[test]
fn invalid_lines_before_the_handshake_do_not_end_the_server() {
    let sandbox = sandbox();
    let client = StdioClient::start_silent(sandbox.docent(), Era::Handshake);
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
    // Its pipe is never read, and full after some hundred lines.
    let client = StdioClient::start_with_log(docent, Stdio::piped());
    for _ in 0..2_000 {
        assert!(!client.call("hello", json!({})).is_error);
    }
}

#[test]
fn closing_stdin_ends_the_process_with_success() {
    for era in Era::BOTH {
        let sandbox = sandbox();
        let client = StdioClient::start(sandbox.docent(), era);
        client.call("hello", json!({}));
        let (status, _) = client.close();
        assert!(status.success());
    }
}

#[test]
fn closing_stdin_before_any_request_ends_the_process_with_success() {
    let sandbox = sandbox();
    let (status, _) = StdioClient::start_silent(sandbox.docent(), Era::Handshake).close();
    assert!(status.success());
}

#[test]
fn closing_stdin_does_not_wait_for_a_long_call() {
    let mut sandbox = sandbox();
    for n in 0..40 {
        sandbox = sandbox.file(&format!("{n}.txt"), "aaaaaaaaaaaaaaaa\n".repeat(60_000));
    }
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    client.post(
        "tools/call",
        json!({ "name": "grep_codebase", "arguments": { "pattern": "(a|b|ab)*c(a|b|ab)*d" } }),
    );
    let (status, rest) = client.close();
    assert!(status.success());
    assert_eq!(rest, "", "the call was answered, so it was waited for");
}

/// Clients that run on Node connect by sockets, which docent reads and writes from threads of its own: long calls must
/// not take those.
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
    let client = StdioClient::start(sandbox.docent(), Era::Stateless);
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
