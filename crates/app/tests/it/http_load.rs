//! HTTP under load: connections and sessions that are abandoned, clients that hang up, and what is kept of
//! the strings that clients send.

use std::io::{Read, Write};
use std::net::TcpStream;

use docent_testkit::{Era, HttpServer};
use serde_json::{Value, json};

use crate::sandbox;

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Opens a connection and sends the beginning of a request.
fn open_half(server: &HttpServer) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(&HEALTH.as_bytes()[..20]).unwrap();
    stream
}

/// Reads until the server closes the connection.
fn read_all(mut stream: TcpStream) -> String {
    let mut response = Vec::new();
    // A connection may be reset, because the server closes it with bytes unread.
    let _ = stream.read_to_end(&mut response);
    String::from_utf8(response).unwrap()
}

#[test]
fn half_open_connections_give_way_to_new_ones() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent
        .env("DOCENT_HTTP_CONNECTIONS_PER_ADDRESS", "4")
        .env("DOCENT_HTTP_HEAD_SECONDS", "100000");
    let server = HttpServer::start(docent);
    let mut half_open: Vec<TcpStream> = (0..4).map(|_| open_half(&server)).collect();
    assert_eq!(server.send_raw(HEALTH.as_bytes()).status, 200);
    assert_eq!(read_all(half_open.remove(0)), "", "the oldest was closed");
    let mut second = half_open.remove(0);
    second.write_all(&HEALTH.as_bytes()[20..]).unwrap();
    assert!(
        read_all(second).starts_with("HTTP/1.1 200"),
        "the others were not"
    );
}

#[test]
fn health_answers_beside_a_thousand_half_open_connections() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent.env("DOCENT_HTTP_HEAD_SECONDS", "100000");
    let server = HttpServer::start(docent);
    let half_open: Vec<TcpStream> = (0..1_000).map(|_| open_half(&server)).collect();
    assert_eq!(server.send_raw(HEALTH.as_bytes()).status, 200);
    assert!(!server.call(Era::Stateless, "hello", json!({})).is_error);
    drop(half_open);
}

#[test]
fn a_connection_that_sends_no_head_in_time_is_closed() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent.env("DOCENT_HTTP_HEAD_SECONDS", "1");
    let server = HttpServer::start(docent);
    assert_eq!(read_all(open_half(&server)), "");
    assert_eq!(server.send_raw(HEALTH.as_bytes()).status, 200);
}

#[test]
fn a_new_client_gets_a_session_after_a_thousand_abandoned_ones() {
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    let has_session = |id: &str| {
        let headers = [
            ("Mcp-Session-Id", id.to_owned()),
            ("MCP-Protocol-Version", "2025-11-25".to_owned()),
        ];
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        server.post(request, &headers).status == 200
    };
    let used = server.open_session(json!({}));
    assert!(has_session(&used));
    let abandoned: Vec<String> = (0..1_000).map(|_| server.open_session(json!({}))).collect();
    let newest = server.open_session(json!({}));
    assert!(has_session(&newest));
    assert!(!has_session(&abandoned[0]), "the longest idle was closed");
    assert!(has_session(&used), "a session that was used stays");
}

#[test]
fn a_client_that_hangs_up_cancels_its_calls() {
    let sandbox = sandbox();
    for file in 0..40 {
        let line = format!("fn line_of_{file}() -> usize {{ 12345 }}\n");
        sandbox.write(&format!("src/f{file}.rs"), line.repeat(20_000));
    }
    let mut docent = sandbox.docent();
    docent.args(["--set", "limit.grep_codebase=0"]);
    let server = HttpServer::start(docent);
    let session = server.open_session(json!({}));
    let grep = json!({ "name": "grep_codebase", "arguments": { "pattern": "(a|b|c)+[x-z]{3}q" } });
    let send_and_hang_up = |era: Era, id: u64| {
        let body = era.request(id, "tools/call", grep.clone()).to_string();
        let headers = match era {
            Era::Handshake => format!("Mcp-Session-Id: {session}\r\n"),
            Era::Stateless => "Mcp-Method: tools/call\r\nMcp-Name: grep_codebase\r\n".to_owned(),
        };
        let (version, length) = (era.version(), body.len());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n{headers}\r\n{body}"
        );
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
    };
    let cancelled_calls = || {
        let metrics = server
            .send_raw(&HEALTH.replace("/health", "/metrics").into_bytes())
            .body;
        let name = "docent_tool_errors_total{tool=\"grep_codebase\",kind=\"cancelled\"} ";
        let count = metrics.lines().find_map(|line| line.strip_prefix(name));
        count.map_or(0, |count| count.parse::<u64>().unwrap())
    };
    for (era, at_least) in [(Era::Stateless, 1), (Era::Handshake, 1)] {
        let before = cancelled_calls();
        let mut id = 0;
        while cancelled_calls() < before + at_least {
            id += 1;
            assert!(id < 1_000, "no call is cancelled: {era:?}");
            send_and_hang_up(era, id);
        }
    }
}

/// A request with `text` in one more place for each `place`. `None` after the last.
fn request_with_text(place: usize, text: &str) -> Option<(Era, &'static str, Value)> {
    let client = |field: &str, value: Value| {
        let mut client = json!({ "name": "t", "version": "0" });
        client[field] = value;
        client
    };
    let initialize = |params: Value| {
        let mut all = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client("name", json!("t")),
        });
        for (name, value) in params.as_object().unwrap() {
            all[name.as_str()] = value.clone();
        }
        Some((Era::Handshake, "initialize", all))
    };
    let ask = |method: &'static str, params: Value| Some((Era::Stateless, method, params));
    let with_client = |client: Value| {
        let meta = json!({ "io.modelcontextprotocol/clientInfo": client });
        ask(
            "tools/call",
            json!({ "name": "hello", "arguments": {}, "_meta": meta }),
        )
    };
    match place {
        0 => with_client(client("name", json!(text))),
        1 => with_client(client("version", json!(text))),
        2 => with_client(client("title", json!(text))),
        3 => initialize(json!({ "clientInfo": client("name", json!(text)) })),
        4 => initialize(json!({ "clientInfo": client("version", json!(text)) })),
        5 => initialize(json!({ "clientInfo": client("title", json!(text)) })),
        6 => initialize(json!({ "clientInfo": client("description", json!(text)) })),
        7 => initialize(json!({ "clientInfo": client("websiteUrl", json!(text)) })),
        8 => initialize(json!({ "clientInfo": client("icons", json!([{ "src": text }])) })),
        9 => initialize(json!({ "capabilities": { "experimental": { text: {} } } })),
        10 => initialize(json!({ "capabilities": { "extensions": { "x": { "y": text } } } })),
        11 => initialize(json!({ "_meta": { text: 1 } })),
        _ => call_with_text(place, text),
    }
}

/// The same for places in calls of tools and other requests.
fn call_with_text(place: usize, text: &str) -> Option<(Era, &'static str, Value)> {
    let ask = |method: &'static str, params: Value| Some((Era::Stateless, method, params));
    match place {
        12 => ask("tools/call", json!({ "name": text, "arguments": {} })),
        13 => ask(
            "tools/call",
            json!({ "name": "hello", "arguments": { "name": text } }),
        ),
        14 => ask(
            "tools/call",
            json!({ "name": "hello", "arguments": {}, "_meta": { "progressToken": text } }),
        ),
        15 => ask(
            "tools/call",
            json!({ "name": "hello", "arguments": {}, "_meta": { text: 1 } }),
        ),
        16 => ask(
            "tools/call",
            json!({ "name": "context_search", "arguments": { "query": text } }),
        ),
        17 => ask(
            "tools/call",
            json!({ "name": "read_file", "arguments": { "path": text } }),
        ),
        18 => ask(
            "tools/call",
            json!({
                "name": "search_docs", "arguments": { "query": "a", "cursor": text },
            }),
        ),
        19 => ask(
            "tools/call",
            json!({
                "name": "write_memory_entry", "arguments": { "file": "progress", "content": text },
            }),
        ),
        20 => ask("resources/read", json!({ "uri": format!("docent://{text}") })),
        21 => ask("prompts/get", json!({ "name": text })),
        22 => ask(
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": text }, "argument": { "name": text, "value": text },
            }),
        ),
        23 => ask(
            "tools/call",
            json!({
                "name": "hello", "arguments": {}, "requestState": text,
                "inputResponses": { "approve": { "action": "accept", "content": { text: text } } },
            }),
        ),
        _ => None,
    }
}

#[test]
#[cfg(target_os = "linux")]
fn no_string_that_a_client_sends_is_kept_whole() {
    const TEXT_BYTES: usize = 1_300_000;
    const REPEATS: usize = 8;
    let sandbox = sandbox();
    let server = sandbox.start_http_server();
    let send = |place: usize, salt: usize, length: usize| {
        let text = format!("{salt:0>8}{}", "x".repeat(length));
        let (era, method, params) = request_with_text(place, &text)?;
        let mut headers = vec![("MCP-Protocol-Version", era.version().to_owned())];
        if era == Era::Stateless {
            headers.push(("Mcp-Method", method.to_owned()));
            for name in ["name", "uri"] {
                if let Some(name) = params[name].as_str() {
                    headers.push(("Mcp-Name", name.chars().take(1_000).collect()));
                }
            }
        } else {
            headers.clear();
        }
        let mut request = era.request(salt as u64, method, params.clone());
        if let Some(more) = params["_meta"].as_object() {
            for (name, value) in more {
                request["params"]["_meta"][name.as_str()] = value.clone();
            }
        }
        server.post(&request.to_string(), &headers);
        Some(())
    };
    // The first round fills buffers and tables of a fixed size, and starts threads.
    let mut salt = 0;
    let mut grown = Vec::new();
    for repeats in [1, REPEATS] {
        grown.clear();
        for place in 0.. {
            let before = server.resident_bytes();
            let mut is_past_end = false;
            for _ in 0..repeats {
                salt += 1;
                is_past_end |= send(place, salt, TEXT_BYTES).is_none();
            }
            if is_past_end {
                break;
            }
            grown.push(server.resident_bytes().saturating_sub(before));
        }
    }
    // A field that is kept adds all that was sent in it. Allocators keep some memory for themselves.
    let kept: Vec<(usize, &u64)> = grown
        .iter()
        .enumerate()
        .filter(|(_, grown)| **grown > (REPEATS * TEXT_BYTES * 3 / 4) as u64)
        .collect();
    assert!(kept.is_empty(), "kept by place: {kept:?} of {grown:?}");
}
