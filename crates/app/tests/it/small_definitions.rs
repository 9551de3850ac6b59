//! `context_search`: definitions that are too small for chunks of their own, and the lines of results.

use docent_testkit::Sandbox;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// A small class with methods, a function inside a function, and a comment above a blank line.
fn project() -> Sandbox {
    sandbox()
        .file(
            "src/library.py",
            "\"\"\"Loans.\"\"\"\n\nimport os\n\n\nclass Library:\n    def lend(self, book):\n        return book\n\n    def take_back(self, book):\n        return None\n",
        )
        .file(
            "src/desk.js",
            "let x = 1;\n\n/**\n * Serves the next member.\n */\n\nexport function serve(queue) {\n  const nextMember = () => queue.shift();\n  return nextMember();\n}\n\n",
        )
}

/// Places, names and kinds of the results.
fn check(arguments: &Value, expected: &[&str]) {
    let answer = project().call("context_search", arguments.clone()).json();
    let results = answer["results"].as_array().cloned().unwrap_or_default();
    let shown: Vec<String> = results
        .iter()
        .map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            let lines = format!("{}-{}", one["startLine"], one["endLine"]);
            format!("{}:{lines} {} {}", text("path"), text("kind"), text("name"))
        })
        .collect();
    assert_eq!(shown, expected, "{arguments}");
}

#[test]
fn a_method_of_a_small_class_is_found_by_its_name() {
    check(
        &json!({ "query": "take_back", "format": "json" }),
        &["src/library.py:10-11 method Library.take_back"],
    );
    check(
        &json!({ "query": "Library", "format": "json", "limit": 1 }),
        &["src/library.py:6-11 class Library"],
    );
}

#[test]
fn a_method_of_a_small_class_is_found_by_its_kind() {
    check(
        &json!({ "query": "lend a book", "chunkType": ["method"], "format": "json", "limit": 1 }),
        &["src/library.py:7-8 method Library.lend"],
    );
}

#[test]
fn a_short_nested_function_is_found_by_its_name() {
    check(
        &json!({ "query": "nextMember", "format": "json" }),
        &["src/desk.js:8-8 function serve.nextMember"],
    );
}

#[test]
fn a_comment_above_a_blank_line_is_shown_with_its_function() {
    let answer = project().call(
        "context_search",
        json!({ "query": "serve", "chunkType": ["function"], "limit": 1, "format": "json" }),
    );
    assert_snapshot!(answer.json()["results"][0]["content"].as_str().unwrap_or_default(), @"
    /**
     * Serves the next member.
     */

    export function serve(queue) {
      const nextMember = () => queue.shift();
      return nextMember();
    }
    ");
}

#[test]
fn a_method_that_has_moved_is_shown_at_its_new_place() {
    let sandbox = project();
    sandbox.call("context_search", json!({ "query": "take_back" }));
    sandbox.write(
        "src/library.py",
        "\n\n\nclass Library:\n    def take_back(self, book):\n        return 2\n",
    );
    let answer = sandbox
        .call(
            "context_search",
            json!({ "query": "take_back", "format": "json" }),
        )
        .json();
    assert_eq!(answer["results"][0]["startLine"], 5);
}
