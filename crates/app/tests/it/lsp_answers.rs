//! Hover, symbols, calls, implementations, highlights, folds and positions of the language server.

use docent_testkit::{JANE, JOHN};
use serde_json::{Value, json};

use crate::lsp::{Editor, six_languages};
use crate::sandbox;

fn hover(editor: &Editor, params: Value) -> String {
    let answer = editor.client.request("textDocument/hover", params);
    assert_eq!(answer["contents"]["kind"], "markdown", "{answer}");
    answer["contents"]["value"].as_str().unwrap().to_owned()
}

#[test]
fn hover_shows_signature_place_and_documentation() {
    let editor = Editor::open(six_languages());
    let shown = hover(&editor, editor.at("src/cage.rs", "hoot", 1));
    assert_eq!(
        shown,
        "```rust\npub fn hoot(times: u32) -> u32\n```\n```text\nsrc/owl.rs:1-4\n\nHoots `times` times.\n```"
    );
    let shown = hover(&editor, editor.at("java/zoo/Cage.java", "hoot", 0));
    assert_eq!(
        shown,
        "```java\npublic static int hoot(int times)\n```\n```text\njava/zoo/Owl.java:4-7 in Owl\n\nHoots.\n```"
    );
}

#[test]
fn hover_shows_the_last_commit_that_changed_the_definition() {
    let sandbox = six_languages().repository();
    sandbox.commit("2026-01-03", JOHN, "Hoot as often as asked");
    sandbox.write(
        "py/owl.py",
        "import os\n\n\ndef hoot(times):\n    \"\"\"Hoots.\"\"\"\n    return times\n",
    );
    sandbox.commit("2026-01-05", JANE, "Import a module");
    let editor = Editor::open(sandbox);
    let shown = hover(&editor, editor.at("py/cage.py", "hoot", 1));
    assert!(
        shown.contains("2026-01-03 John Doe: Hoot as often as asked"),
        "{shown}"
    );
    editor
        .sandbox
        .write("py/owl.py", "def hoot(times):\n    return 7\n");
    let shown = hover(&editor, editor.at("py/cage.py", "hoot", 1));
    assert!(!shown.contains("2026-01"), "not committed: {shown}");
}

#[test]
fn a_comment_cannot_leave_its_fence() {
    let text = "# ```\n# ![owl](http://localhost/owl.png)\n# ````\ndef lend(book):\n    pass\n\n\nlend(1)\n";
    let editor = Editor::open(sandbox().file("a.py", text));
    let shown = hover(&editor, editor.at("a.py", "lend", 1));
    assert!(shown.contains("\n`````text\na.py:1-5\n"), "{shown}");
    assert!(shown.ends_with("\n`````"), "{shown}");
}

#[test]
fn hidden_characters_are_written_out_in_a_hover() {
    let text = "# Lends\u{202e} a book.\ndef lend(book):\n    pass\n\n\nlend(1)\n";
    let editor = Editor::open(sandbox().file("a.py", text));
    let shown = hover(&editor, editor.at("a.py", "lend", 1));
    assert!(!shown.contains('\u{202e}'), "{shown}");
    assert!(shown.contains("202e") || shown.contains("202E"), "{shown}");
}

#[test]
fn symbols_of_a_document_are_a_tree() {
    let editor = Editor::open(six_languages());
    let symbols = |path: &str| {
        let params = json!({ "textDocument": { "uri": editor.uri(path) } });
        editor.client.request("textDocument/documentSymbol", params)
    };
    let owl = &symbols("java/zoo/Owl.java")[0];
    assert_eq!((&owl["name"], &owl["kind"]), (&json!("Owl"), &json!(5)));
    let hoot = &owl["children"][0];
    assert_eq!(hoot["name"], "hoot");
    assert_eq!(hoot["range"]["start"]["line"], 3);
    assert_eq!(hoot["range"]["end"]["line"], 6);
    assert_eq!(
        hoot["selectionRange"]["start"],
        json!({ "line": 4, "character": 22 })
    );
    assert_eq!(symbols("no/such/file.py"), Value::Null);
}

#[test]
fn a_client_without_trees_gets_a_list() {
    let sandbox = six_languages();
    let root = sandbox.root().canonicalize().unwrap();
    let base = format!("file://{}", root.display());
    let params = json!({ "rootUri": base, "capabilities": {} });
    let client = docent_testkit::LspClient::start(sandbox.docent(), params);
    let document = json!({ "textDocument": { "uri": format!("{base}/rb/owl.rb") } });
    let list = client.request("textDocument/documentSymbol", document);
    assert_eq!(list[1]["name"], "hoot");
    assert_eq!(list[1]["containerName"], "Owl");
    assert_eq!(
        list[1]["location"]["range"]["start"],
        json!({ "line": 2, "character": 11 })
    );
}

#[test]
fn calls_are_followed_in_both_directions() {
    let editor =
        Editor::open(six_languages().file("py/main.py", "from cage import open_cage\n\nopen_cage()\n"));
    let prepare = |path: &str, word: &str, occurrence: usize| {
        let items = editor.client.request(
            "textDocument/prepareCallHierarchy",
            editor.at(path, word, occurrence),
        );
        items[0].clone()
    };
    let hoot = prepare("py/cage.py", "hoot", 1);
    assert_eq!(hoot["name"], "hoot");
    let incoming = editor
        .client
        .request("callHierarchy/incomingCalls", json!({ "item": hoot }));
    assert_eq!(incoming.as_array().unwrap().len(), 1, "{incoming}");
    assert_eq!(incoming[0]["from"]["name"], "open_cage");
    assert_eq!(
        incoming[0]["fromRanges"][0]["start"],
        json!({ "line": 4, "character": 11 })
    );
    let outgoing = editor.client.request(
        "callHierarchy/outgoingCalls",
        json!({ "item": incoming[0]["from"] }),
    );
    assert_eq!(outgoing[0]["to"]["name"], "hoot");
    assert_eq!(outgoing[0]["fromRanges"], incoming[0]["fromRanges"]);
    // A call at the top level of a file comes from the file.
    let open_cage = prepare("py/cage.py", "open_cage", 0);
    let incoming = editor
        .client
        .request("callHierarchy/incomingCalls", json!({ "item": open_cage }));
    assert_eq!(incoming[0]["from"]["name"], "main.py");
    assert_eq!(
        incoming[0]["fromRanges"][0]["start"],
        json!({ "line": 2, "character": 0 })
    );
}

#[test]
fn implementations_of_an_interface_are_found() {
    let sandbox = sandbox()
        .file("go.mod", "module zoo\n\ngo 1.21\n")
        .file("a.go", "package zoo\n\ntype Bird interface {\n\tHoot() int\n}\n")
        .file(
            "b.go",
            "package zoo\n\ntype Owl struct{}\n\nfunc (o Owl) Hoot() int {\n\treturn 1\n}\n",
        );
    let editor = Editor::open(sandbox);
    assert_eq!(
        editor.places("implementation", editor.at("a.go", "Bird", 0)),
        ["b.go:3:6"]
    );
    assert_eq!(
        editor.places("implementation", editor.at("a.go", "Hoot", 0)),
        ["b.go:5:14"]
    );
    // Nothing overrides it.
    assert_eq!(
        editor.places("implementation", editor.at("b.go", "Hoot", 0)),
        ["b.go:5:14"]
    );
}

#[test]
fn uses_in_one_document_are_highlighted() {
    let editor = Editor::open(six_languages());
    let highlights = editor.client.request(
        "textDocument/documentHighlight",
        editor.at("rb/owl.rb", "hoot", 0),
    );
    assert_eq!(highlights.as_array().unwrap().len(), 1);
    let highlights = editor.client.request(
        "textDocument/documentHighlight",
        editor.at("py/cage.py", "hoot", 1),
    );
    let lines: Vec<&Value> = highlights
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["range"]["start"]["line"])
        .collect();
    assert_eq!(lines, [&json!(0), &json!(4)]);
}

#[test]
fn folds_end_before_the_line_that_closes_them() {
    let editor = Editor::open(six_languages());
    let params = json!({ "textDocument": { "uri": editor.uri("src/owl.rs") } });
    let folds = editor.client.request("textDocument/foldingRange", params);
    assert_eq!(folds, json!([{ "startLine": 1, "endLine": 2 }]));
}

/// A project whose lines have emoji, combining marks, tabs, CRLF and a byte order mark before the names.
const HARD_TEXT: &str =
    "\u{feff}def owl(): pass\r\n\t\r\nx = '🦉e\u{301}'; owl()\r\nif x:\r\n\towl(); '🦉'; owl()\r\n";

#[test]
fn positions_are_right_in_every_encoding() {
    let places = |encoding: &str, mark: u64| {
        let sandbox = sandbox().file("a.py", HARD_TEXT);
        let general = json!({ "general": { "positionEncodings": [encoding] } });
        let editor = Editor::open_with(sandbox, general);
        let mut params = json!({ "textDocument": { "uri": editor.uri("a.py") }, "position": { "line": 0, "character": 5 } });
        params["context"] = json!({ "includeDeclaration": true });
        let found = editor.places("references", params.clone());
        // The client that opens the text with its mark counts the mark.
        editor.did_open("a.py", HARD_TEXT);
        params["position"]["character"] = json!(4 + mark);
        let open = editor.places("references", params);
        assert_eq!(open[0], format!("a.py:1:{}", 5 + mark));
        assert_eq!(open[1..], found[1..]);
        found
    };
    assert_eq!(
        places("utf-8", 3),
        ["a.py:1:5", "a.py:3:16", "a.py:5:2", "a.py:5:17"]
    );
    assert_eq!(
        places("utf-16", 1),
        ["a.py:1:5", "a.py:3:13", "a.py:5:2", "a.py:5:15"]
    );
    assert_eq!(
        places("utf-32", 1),
        ["a.py:1:5", "a.py:3:12", "a.py:5:2", "a.py:5:14"]
    );
}

#[test]
fn the_first_build_of_the_index_is_shown_if_the_client_agrees() {
    let mut sandbox = six_languages();
    for number in 0..30 {
        sandbox = sandbox.file(&format!("many/{number}.py"), "def a():\n    pass\n".repeat(200));
    }
    let editor = Editor::open_with(sandbox, json!({ "window": { "workDoneProgress": true } }));
    editor.places("definition", editor.at("py/cage.py", "hoot", 1));
    // A small project may be ready before there is anything to show; what is shown is what the protocol has.
    for message in editor.client.received.borrow().iter() {
        assert!(
            message["method"] == "window/workDoneProgress/create",
            "nobody has agreed: {message}"
        );
        assert_eq!(message["params"]["token"], "docent/index");
    }
}
