//! `textDocument/definition`, `references`, `implementation` and `documentHighlight`.

use serde_json::json;

use crate::lsp::{Editor, six_languages};

#[test]
fn a_use_leads_to_its_definition_in_six_languages() {
    let editor = Editor::open(six_languages());
    let check = |path: &str, word: &str, occurrence: usize, expected: &str| {
        let found = editor.places("definition", editor.at(path, word, occurrence));
        assert_eq!(found, [expected], "{path}");
    };
    check("src/cage.rs", "hoot", 1, "src/owl.rs:2:8");
    check("py/cage.py", "hoot", 1, "py/owl.py:1:5");
    check("ts/cage.ts", "hoot", 1, "ts/owl.ts:2:17");
    check("go/cage.go", "Hoot", 0, "go/owl.go:4:6");
    check("java/zoo/Cage.java", "hoot", 0, "java/zoo/Owl.java:5:23");
    check("rb/cage.rb", "hoot", 0, "rb/owl.rb:3:12");
    // At an import, at the definition itself, and behind the last letter.
    check("ts/cage.ts", "hoot", 0, "ts/owl.ts:2:17");
    check("src/owl.rs", "hoot", 0, "src/owl.rs:2:8");
    check("src/cage.rs", "(2)", 0, "src/owl.rs:2:8");
}

#[test]
fn a_definition_leads_to_its_uses_in_six_languages() {
    let editor = Editor::open(six_languages());
    let check = |path: &str, word: &str, occurrence: usize, expected: &[&str]| {
        let mut params = editor.at(path, word, occurrence);
        params["context"] = json!({ "includeDeclaration": false });
        assert_eq!(editor.places("references", params.clone()), expected, "{path}");
        params["context"] = json!({ "includeDeclaration": true });
        assert_eq!(
            editor.places("references", params).len(),
            expected.len() + 1,
            "{path}"
        );
    };
    check("src/owl.rs", "hoot", 0, &["src/cage.rs:1:17", "src/cage.rs:4:5"]);
    check("py/owl.py", "hoot", 0, &["py/cage.py:1:17", "py/cage.py:5:12"]);
    check("ts/owl.ts", "hoot", 0, &["ts/cage.ts:1:10", "ts/cage.ts:4:10"]);
    check("go/owl.go", "Hoot", 1, &["go/cage.go:4:9"]);
    check("java/zoo/Owl.java", "hoot", 0, &["java/zoo/Cage.java:5:20"]);
    check("rb/owl.rb", "hoot", 0, &["rb/cage.rb:5:9"]);
    // From a use, all uses.
    check("py/cage.py", "hoot", 1, &["py/cage.py:1:17", "py/cage.py:5:12"]);
}
