//! MCP over HTTP: access control, and limits on the size and the time of a request.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use docent_testkit::{Era, Finished, HttpServer};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Builds a request to `path` with these headers, and for `/mcp` with those of the protocol.
fn build_request(path: &str, headers: &str) -> Vec<u8> {
    let method = if path == "/mcp" { "POST" } else { "GET" };
    let length = DISCOVER.len();
    let body = if path == "/mcp" { DISCOVER } else { "" };
    let mcp_headers = format!(
        "Content-Type: application/json\r\nContent-Length: {length}\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n"
    );
    let mcp_headers = if path == "/mcp" { mcp_headers.as_str() } else { "" };
    format!("{method} {path} HTTP/1.1\r\n{headers}{mcp_headers}Connection: close\r\n\r\n{body}").into_bytes()
}

#[test]
fn health_and_metrics_are_served() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    let health = server.send_raw(&build_request("/health", "Host: localhost\r\n"));
    assert_eq!(
        (health.status, health.message()["status"].as_str()),
        (200, Some("ok"))
    );
    server.call(Era::Stateless, "hello", json!({}));
    server.call(Era::Stateless, "hello", json!({ "name": 1 }));
    let metrics = server
        .send_raw(&build_request("/metrics", "Host: localhost\r\n"))
        .body;
    assert!(
        metrics.contains("docent_tool_calls_total{tool=\"hello\"} 2"),
        "{metrics}"
    );
    assert!(
        metrics.contains("docent_tool_errors_total{tool=\"hello\",kind=\"invalid\"} 1"),
        "{metrics}"
    );
    assert!(
        metrics.contains("docent_tool_seconds{tool=\"hello\",quantile=\"0.99\"}"),
        "{metrics}"
    );
}

#[test]
fn foreign_hosts_and_origins_are_refused_on_every_route() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    for path in ["/mcp", "/health", "/metrics"] {
        assert_eq!(
            server
                .send_raw(&build_request(path, "Host: localhost\r\n"))
                .status,
            200,
            "{path}"
        );
        assert_eq!(
            server
                .send_raw(&build_request(path, "Host: evil.example\r\n"))
                .status,
            403,
            "{path}"
        );
        let foreign = "Host: localhost\r\nOrigin: http://evil.example\r\n";
        assert_eq!(
            server.send_raw(&build_request(path, foreign)).status,
            403,
            "{path}"
        );
        let local = "Host: localhost\r\nOrigin: http://localhost:5173\r\n";
        assert_eq!(server.send_raw(&build_request(path, local)).status, 200, "{path}");
    }
    assert_eq!(
        server.send_raw(&build_request("/mcp", "")).status,
        403,
        "no Host at all"
    );
}

#[test]
fn a_configured_token_is_required() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent.env("DOCENT_HTTP_TOKEN", "s3cret");
    let server = HttpServer::start(docent);
    let status = |headers: &str| {
        server
            .send_raw(&build_request("/mcp", &format!("Host: localhost\r\n{headers}")))
            .status
    };
    assert_eq!(status(""), 401);
    assert_eq!(status("Authorization: Bearer wrong\r\n"), 401);
    assert_eq!(status("Authorization: Bearer s3cret\r\n"), 200);
    assert_eq!(
        server
            .send_raw(&build_request("/metrics", "Host: localhost\r\n"))
            .status,
        401
    );
    assert_eq!(
        server
            .send_raw(&build_request("/health", "Host: localhost\r\n"))
            .status,
        200
    );
}

#[test]
fn an_address_beyond_loopback_requires_a_token() {
    let sandbox = sandbox();
    let finished = sandbox.run(&["serve", "--http", "0.0.0.0:0"]);
    assert_eq!(finished.code, 1);
    let reason = finished
        .stderr
        .split_once(" can be reached")
        .expect("the reason")
        .1
        .to_owned();
    assert_snapshot!(
        reason.trim(),
        @"from other machines: set DOCENT_HTTP_TOKEN (or http.token) to a secret that clients must send"
    );
}

#[test]
fn a_token_of_blanks_is_refused_on_every_address() {
    let sandbox = sandbox();
    for address in ["0.0.0.0:0", "127.0.0.1:0"] {
        for token in [" ", "\t \u{a0}\u{2003}"] {
            let mut docent = sandbox.docent();
            docent
                .args(["serve", "--http", address])
                .env("DOCENT_HTTP_TOKEN", token);
            let mut child = docent.stderr(std::process::Stdio::piped()).spawn().unwrap();
            let mut first_line = String::new();
            let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
            std::io::BufRead::read_line(&mut stderr, &mut first_line).unwrap();
            // A server that listens would never end.
            let _ = child.kill();
            let _ = child.wait();
            assert!(
                first_line.contains(
                    "DOCENT_HTTP_TOKEN (or http.token) consists of blanks, which protect nothing: set a secret, or remove it"
                ),
                "{address} {token:?}: {first_line}"
            );
        }
    }
}

#[test]
fn origins_with_a_user_or_a_second_origin_are_refused_on_every_route() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    for path in ["/mcp", "/health", "/metrics"] {
        for origins in [
            "Origin: http://evil@localhost\r\n",
            "Origin: http://localhost@evil.example\r\n",
            "Origin: http://localhost\r\nOrigin: http://evil.example\r\n",
            "Origin: http://evil.example\r\nOrigin: http://localhost\r\n",
        ] {
            let headers = format!("Host: localhost\r\n{origins}");
            assert_eq!(
                server.send_raw(&build_request(path, &headers)).status,
                403,
                "{path} {origins}"
            );
        }
    }
}

#[test]
fn an_address_that_cannot_be_bound_is_named() {
    let sandbox = sandbox();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let finished = sandbox.run(&["serve", "--http", &address]);
    assert_eq!(finished.code, 1);
    assert!(
        finished.stderr.contains(&format!("cannot listen on {address}")),
        "{}",
        finished.stderr
    );
    assert_eq!(sandbox.run(&["serve", "--http", "nonsense"]).code, 1);
}

#[test]
fn an_oversized_body_is_refused() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    let declared = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n";
    assert_eq!(server.send_raw(declared).status, 413, "before the body is sent");
    // Without a declared length the body is read up to the limit. The server may close instead of answering.
    let chunk = format!("500000\r\n{}\r\n0\r\n\r\n", "x".repeat(0x50_0000));
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let status = server.send_raw(format!("{head}{chunk}").as_bytes()).status;
    assert!(matches!(status, 413 | 0), "{status}");
    assert!(!server.call(Era::Stateless, "hello", json!({})).is_error);
}

#[test]
fn a_slow_body_times_out_while_other_requests_are_served() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent.env("DOCENT_HTTP_BODY_SECONDS", "1");
    let server = HttpServer::start(docent);
    let mut slow = TcpStream::connect(server.address()).unwrap();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    slow.write_all(head.as_bytes()).unwrap();
    assert!(!server.call(Era::Stateless, "hello", json!({})).is_error);
    let mut response = String::new();
    slow.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 408"), "{response}");
}

#[test]
fn malformed_bodies_get_an_error_and_the_server_goes_on() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    for body in ["{oops", "", "[]", "42"] {
        let status = server.post(body, &[]).status;
        assert!((400..500).contains(&status), "{body:?}: {status}");
    }
    assert!(!server.call(Era::Handshake, "hello", json!({})).is_error);
}

#[test]
fn an_unknown_session_is_404() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    let headers = [
        ("Mcp-Session-Id", "nope".to_owned()),
        ("MCP-Protocol-Version", "2025-11-25".to_owned()),
    ];
    let exchange = server.post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, &headers);
    assert_eq!(exchange.status, 404);
}

#[test]
fn stateless_clients_of_one_name_share_a_rate_limit() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent.args(["--set", "limit.hello=2"]);
    let server = HttpServer::start(docent);
    let are_errors: Vec<bool> = (0..3)
        .map(|_| server.call(Era::Stateless, "hello", json!({})).is_error)
        .collect();
    assert_eq!(are_errors, [false, false, true]);
    let body = json!({ "name": "hello", "arguments": {} });
    let call = server.request_with(
        Era::Stateless,
        "tools/call",
        body,
        &[("Mcp-Session-Id", "made-up".to_owned())],
    );
    assert_eq!(
        call["result"]["isError"], true,
        "a session that was never opened does not count"
    );
    let own = server.call(Era::Handshake, "hello", json!({}));
    assert!(!own.is_error, "a session has its own limit");
}

#[test]
#[cfg(unix)]
fn a_signal_ends_the_server_with_success() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent
        .args(["serve", "--http", "127.0.0.1:0"])
        .stderr(std::process::Stdio::piped());
    let mut child = docent.spawn().unwrap();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut String::new()).unwrap();
    let killed = Finished::run(Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]));
    assert_eq!(killed.code, 0);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_tool_list_is_the_same_as_over_stdio() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    let client = sandbox.start_client(Era::Handshake);
    let by_stdio: Value = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for era in Era::BOTH {
        assert_eq!(
            server.request(era, "tools/list", json!({}))["result"]["tools"],
            by_stdio
        );
    }
}
