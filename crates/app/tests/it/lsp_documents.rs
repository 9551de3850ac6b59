//! Open documents: unsaved text is answered about, and that of blocked files is not kept.

use serde_json::{Value, json};

use crate::lsp::{Editor, six_languages};
use crate::sandbox;

fn change(editor: &Editor, path: &str, changes: &Value) {
    let document = json!({ "uri": editor.uri(path), "version": 2 });
    let params = json!({ "textDocument": document, "contentChanges": changes });
    editor.client.notify("textDocument/didChange", params);
}

fn close(editor: &Editor, path: &str) {
    let params = json!({ "textDocument": { "uri": editor.uri(path) } });
    editor.client.notify("textDocument/didClose", params);
}

#[test]
fn a_use_in_unsaved_text_is_found() {
    let editor = Editor::open(six_languages());
    let saved = "from owl import hoot\n\n\ndef open_cage():\n    return hoot(2)\n";
    editor.did_open("py/cage.py", saved);
    // A whole line before, and two characters outside of the first plane.
    let end = json!({ "line": 4, "character": 18 });
    let text = " + len(\"🦉🦉\") + hoot(3)";
    change(
        &editor,
        "py/cage.py",
        &json!([{ "range": { "start": end, "end": end }, "text": text }]),
    );
    let start = json!({ "line": 0, "character": 0 });
    change(
        &editor,
        "py/cage.py",
        &json!([{ "range": { "start": start, "end": start }, "text": "import os\n" }]),
    );

    let unsaved = format!(
        "import os\n{}",
        saved.replace("hoot(2)", &format!("hoot(2){text}"))
    );
    let at_use = editor.at_in("py/cage.py", &unsaved, "hoot", 2);
    assert_eq!(editor.places("definition", at_use), ["py/owl.py:1:5"]);
    let mut at_definition = editor.at("py/owl.py", "hoot", 0);
    at_definition["context"] = json!({ "includeDeclaration": false });
    let uses = ["py/cage.py:2:17", "py/cage.py:6:12", "py/cage.py:6:36"];
    assert_eq!(editor.places("references", at_definition.clone()), uses);

    close(&editor, "py/cage.py");
    let saved_uses = ["py/cage.py:1:17", "py/cage.py:5:12"];
    assert_eq!(editor.places("references", at_definition), saved_uses);
}

#[test]
fn a_definition_in_unsaved_text_is_found() {
    let editor = Editor::open(six_languages());
    editor.did_open("py/owl.py", "import os\n\n\ndef hoot(times):\n    return times\n");
    assert_eq!(
        editor.places("definition", editor.at("py/cage.py", "hoot", 1)),
        ["py/owl.py:4:5"]
    );
    let found = editor
        .client
        .request("workspace/symbol", json!({ "query": "hoot" }));
    let places: Vec<String> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| editor.show(&one["location"]))
        .collect();
    assert!(places.contains(&"py/owl.py:4:5".to_owned()), "{places:?}");

    change(
        &editor,
        "py/owl.py",
        &json!([{ "text": "def screech():\n    pass\n" }]),
    );
    let nowhere: [&str; 0] = [];
    assert_eq!(
        editor.places("definition", editor.at("py/cage.py", "hoot", 1)),
        nowhere
    );
}

#[test]
fn a_file_that_is_not_saved_yet_is_answered_about() {
    let editor = Editor::open(six_languages());
    let text = "from owl import hoot\n\nhoot(7)\n";
    editor.did_open("py/new/feeding.py", text);
    let moved = "from owl import hoot\n\nhoot(7)\n";
    editor.did_open("py/feeding.py", moved);
    let at = editor.at_in("py/feeding.py", moved, "hoot", 1);
    assert_eq!(editor.places("definition", at), ["py/owl.py:1:5"]);
}

#[test]
fn blocked_files_have_no_symbols_and_no_text() {
    let secret = "def hoot(times):\n    return 'SECRET'\n\n\nhoot(1)\n";
    let editor = Editor::open(
        sandbox()
            .file(".env", secret)
            .file("keys.pem", secret)
            .file(".git/hooks/hoot.py", secret)
            .file("py/cage.py", "hoot(1)\n"),
    );
    for path in [".env", "keys.pem", ".git/hooks/hoot.py", "../outside.py"] {
        if path.starts_with("..") {
            std::fs::write(editor.sandbox.outside().join("outside.py"), secret).unwrap();
        }
        for is_open in [false, true] {
            if is_open {
                editor.did_open(path, secret);
            }
            let at = editor.at_in(path, secret, "hoot", 1);
            for method in [
                "definition",
                "hover",
                "documentSymbol",
                "foldingRange",
                "documentHighlight",
            ] {
                let answer = editor
                    .client
                    .request(&format!("textDocument/{method}"), at.clone());
                assert_eq!(answer, Value::Null, "{method} {path} {is_open}");
            }
        }
    }
    let found = editor
        .client
        .request("workspace/symbol", json!({ "query": "hoot" }));
    assert_eq!(found, json!([]));
    let nowhere: [&str; 0] = [];
    assert_eq!(
        editor.places("definition", editor.at("py/cage.py", "hoot", 0)),
        nowhere
    );
}
