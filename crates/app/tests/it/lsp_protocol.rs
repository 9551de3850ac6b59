//! The life cycle of the language server, and messages that are wrong.

use std::io::Write;

use docent_testkit::LspClient;
use serde_json::{Value, json};

use crate::lsp::{Editor, six_languages};
use crate::sandbox;

const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const PARSE_ERROR: i32 = -32700;
const NOT_INITIALIZED: i32 = -32002;

#[test]
fn the_server_says_what_it_answers_and_no_more() {
    let sandbox = sandbox();
    let client = LspClient::start_without_handshake(sandbox.docent());
    let result = client.request(
        "initialize",
        json!({ "processId": null, "rootUri": null, "capabilities": {} }),
    );
    assert_eq!(result["serverInfo"]["name"], "docent");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let capabilities = result["capabilities"].as_object().unwrap();
    let mut names: Vec<&str> = capabilities.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "callHierarchyProvider",
            "definitionProvider",
            "documentHighlightProvider",
            "documentSymbolProvider",
            "foldingRangeProvider",
            "hoverProvider",
            "implementationProvider",
            "positionEncoding",
            "referencesProvider",
            "textDocumentSync",
            "workspaceSymbolProvider",
        ]
    );
    assert_eq!(capabilities["positionEncoding"], "utf-16");
}

#[test]
fn requests_before_initialize_and_after_shutdown_are_refused() {
    let sandbox = sandbox();
    let client = LspClient::start_without_handshake(sandbox.docent());
    let code = |method: &str| client.respond_to(method, json!({}))["error"]["code"].clone();
    assert_eq!(code("textDocument/hover"), NOT_INITIALIZED);
    assert_eq!(code("shutdown"), NOT_INITIALIZED);
    client.notify("textDocument/didOpen", json!({}));
    client.request("initialize", json!({ "capabilities": {} }));
    assert_eq!(code("initialize"), INVALID_REQUEST);
    client.request("shutdown", Value::Null);
    assert_eq!(code("workspace/symbol"), INVALID_REQUEST);
    client.notify("exit", Value::Null);
    assert!(client.wait().success());
}

#[test]
fn exit_without_shutdown_and_the_end_of_stdin_end_the_process() {
    let sandbox = sandbox();
    let client = LspClient::start(sandbox.docent(), json!({ "capabilities": {} }));
    client.notify("exit", Value::Null);
    assert_eq!(client.wait().code(), Some(1));
    let client = LspClient::start(sandbox.docent(), json!({ "capabilities": {} }));
    assert_eq!(client.close().code(), Some(1));
}

/// The client's process ends while another process still has its end of stdin.
#[cfg(unix)]
#[test]
fn the_process_ends_with_that_of_the_client() {
    let sandbox = sandbox();
    let mut editor = sandbox.program("sleep").arg("1000").spawn().unwrap();
    let params = json!({ "processId": editor.id(), "capabilities": {} });
    let client = LspClient::start(sandbox.docent(), params);
    editor.kill().unwrap();
    editor.wait().unwrap();
    assert_eq!(client.wait().code(), Some(1));
}

#[test]
fn wrong_messages_are_answered_with_errors_and_the_server_goes_on() {
    let editor = Editor::open(six_languages());
    let client = &editor.client;
    let code_of = |message: Value| (message["id"].clone(), message["error"]["code"].clone());
    client.send_body(b"{ no json");
    assert_eq!(code_of(client.receive()), (Value::Null, json!(PARSE_ERROR)));
    client.send_body(b"\xff\xfe\x00");
    assert_eq!(code_of(client.receive()), (Value::Null, json!(PARSE_ERROR)));
    client.send_body(b"[1, 2]");
    assert_eq!(code_of(client.receive()), (Value::Null, json!(INVALID_REQUEST)));
    client.send_bytes(b"Content-Type: x\r\n\r\n");
    assert_eq!(code_of(client.receive()), (Value::Null, json!(PARSE_ERROR)));
    client.send_bytes(b"Content-Length: 40000000\r\n\r\n");
    client.send_bytes(&vec![b' '; 40_000_000]);
    assert_eq!(code_of(client.receive()), (Value::Null, json!(PARSE_ERROR)));
    let unknown = client.respond_to("textDocument/rename", json!({}));
    assert_eq!(unknown["error"]["code"], METHOD_NOT_FOUND);
    let wrong = client.respond_to("textDocument/hover", json!({ "position": "here" }));
    assert_eq!(wrong["error"]["code"], INVALID_PARAMS);
    client.notify("textDocument/didChange", json!([]));
    client.notify("no/such/notification", json!(7));
    client.notify("$/cancelRequest", json!({ "id": [] }));
    let found = editor.places("definition", editor.at("py/cage.py", "hoot", 1));
    assert_eq!(found, ["py/owl.py:1:5"]);
}

#[test]
fn a_cancelled_request_is_answered_once() {
    let editor = Editor::open(six_languages());
    let client = &editor.client;
    let ids: Vec<u64> = (0..50)
        .map(|_| client.post("textDocument/references", editor.at("py/owl.py", "hoot", 0)))
        .collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    for id in ids {
        let answer = client.wait_for(&json!(id));
        // The parameters lack a context, so that the request is refused or cancelled.
        let code = answer["error"]["code"].as_i64().unwrap();
        assert!([-32800, i64::from(INVALID_PARAMS)].contains(&code), "{answer}");
    }
}

#[test]
fn a_client_without_a_folder_is_served_the_project_around_it() {
    let sandbox = six_languages();
    let params = json!({ "processId": null, "rootUri": null, "capabilities": {} });
    let client = LspClient::start(sandbox.docent(), params);
    let found = client.request("workspace/symbol", json!({ "query": "open_cage" }));
    assert_eq!(found.as_array().unwrap().len(), 1);
}

#[test]
fn nothing_outside_of_the_folder_is_answered_about() {
    let sandbox = six_languages().file("inner/a.py", "def inner_owl():\n    pass\n");
    let root = sandbox.root().canonicalize().unwrap();
    let params = json!({ "rootUri": format!("file://{}/inner", root.display()), "capabilities": {} });
    let mut command = sandbox.docent();
    command.env_remove("DOCENT_ROOT");
    let client = LspClient::start(command, params);
    let uri = |path: &str| format!("file://{}/{path}", root.display());
    let ask = |path: &str| {
        let params = json!({ "textDocument": { "uri": uri(path) } });
        client.request("textDocument/documentSymbol", params)
    };
    assert_eq!(ask("inner/a.py")[0]["name"], "inner_owl");
    assert_eq!(ask("py/owl.py"), Value::Null);
    assert_eq!(ask("inner/../py/owl.py"), Value::Null);
    assert_eq!(
        client.request("workspace/symbol", json!({ "query": "hoot" })),
        json!([])
    );
}

/// Messages that are made from real ones by chance, in an order that a fixed seed gives.
#[test]
fn messages_made_by_chance_do_not_end_the_server() {
    let editor = Editor::open(six_languages());
    let mut chance = Chance(7);
    let text = "def hoot(x):\r\n\treturn '🦉e\u{301}'\n";
    for number in 0..300 {
        let line = chance.below(4);
        let column = chance.below(30);
        let at = json!({ "line": line, "character": column });
        let path = ["py/cage.py", "rb/owl.rb", ".env", "no/such.go", "ts/cage.ts"][chance.below(5)];
        let document = json!({ "uri": editor.uri(path), "version": line, "languageId": "x", "text": text });
        let change = json!([{ "range": { "start": at, "end": { "line": chance.below(4), "character": 2 } }, "text": "🦉\r" }]);
        let mut params = json!({
            "textDocument": document, "position": at, "contentChanges": change, "query": "h", "context": { "includeDeclaration": true },
            "item": { "name": "x", "kind": 12, "uri": editor.uri(path), "range": { "start": at, "end": at }, "selectionRange": { "start": at, "end": at } },
        });
        let methods = [
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didClose",
            "textDocument/definition",
            "textDocument/references",
            "textDocument/hover",
            "textDocument/documentSymbol",
            "textDocument/foldingRange",
            "textDocument/documentHighlight",
            "callHierarchy/incomingCalls",
            "workspace/symbol",
            "$/cancelRequest",
        ];
        let method = methods[chance.below(methods.len())];
        match chance.below(10) {
            0 => params = json!([params]),
            1 => params["position"]["line"] = json!(u32::MAX),
            2 => params["textDocument"]["uri"] = json!("file:///%ff%"),
            3 => drop(params.as_object_mut().unwrap().remove("textDocument")),
            _ => {}
        }
        let mut body =
            json!({ "jsonrpc": "2.0", "id": format!("chance {number}"), "method": method, "params": params })
                .to_string()
                .into_bytes();
        if chance.below(5) == 0 {
            let at = chance.below(body.len());
            body[at] ^= 1 << chance.below(8);
        }
        editor.client.send_body(&body);
        // Answers are read now and then, so that the pipe does not fill up.
        if number % 10 == 9 {
            editor
                .client
                .request("workspace/symbol", json!({ "query": "hoot" }));
        }
    }
}

/// Numbers that look drawn by chance, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// A message in two parts with a pause of the client between them.
#[test]
fn a_message_may_come_in_parts() {
    let editor = Editor::open(six_languages());
    let body =
        json!({ "jsonrpc": "2.0", "id": "a", "method": "workspace/symbol", "params": { "query": "hoot" } })
            .to_string();
    let mut bytes = Vec::new();
    write!(bytes, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let (first, rest) = bytes.split_at(30);
    editor.client.send_bytes(first);
    editor.client.send_bytes(rest);
    let answer = editor.client.wait_for(&json!("a"));
    assert!(answer["result"].as_array().is_some(), "{answer}");
}
