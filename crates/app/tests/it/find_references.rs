//! `find_references`: uses by file and function, trees of callers, callees and implementations.

use docent_testkit::{Sandbox, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// A table that draws rows, a page that draws the table, and a test.
fn project() -> Sandbox {
    sandbox()
        .file(
            "src/row.ts",
            "export interface Shape {\n  area(): number;\n}\n\nexport class Row implements Shape {\n  area(): number {\n    return 1;\n  }\n  \
             render(): string {\n    return '';\n  }\n}\n",
        )
        .file(
            "src/table.ts",
            "import { Row } from './row';\n\nexport class Table {\n  draw(): void {\n    const row = new Row();\n    row.render();\n    \
             row.render();\n  }\n}\n",
        )
        .file(
            "src/page.ts",
            "import { Table } from './table';\n\nexport function show(anything: any): void {\n  const table = new Table();\n  \
             table.draw();\n  anything.render();\n}\n",
        )
        .file(
            "tests/row.test.ts",
            "import { Row } from '../src/row';\n\nfunction checks_a_row(): void {\n  const row = new Row();\n  row.render();\n}\n",
        )
}

/// The uses of an answer in JSON: `path:line role grade`.
fn list_uses(answer: &Value) -> Vec<String> {
    let mut uses = Vec::new();
    for file in answer["files"].as_array().unwrap() {
        for one in file["uses"].as_array().unwrap() {
            uses.push(format!(
                "{}:{} {} {}",
                file["path"].as_str().unwrap(),
                one["line"],
                one["role"].as_str().unwrap(),
                one["grade"].as_str().unwrap()
            ));
        }
    }
    uses
}

#[test]
fn uses_stand_under_their_file_and_function_with_tests_apart() {
    assert_snapshot!(project().call("find_references", json!({ "symbol": "Row.render" })), @"
    src/row.ts:9-11 method Row.render
    4 uses in 3 files, 3 exact, 1 by name

    calls:
    src/table.ts
      4-8 Table.draw
        6: row.render();
        7: row.render();
    src/page.ts
      3-7 show
        6 by name: anything.render();

    tests:
    tests/row.test.ts
      3-6 checks_a_row
        5: row.render();
    ");
}

#[test]
fn uses_that_are_no_calls_come_after_the_calls() {
    assert_snapshot!(project().call("find_references", json!({ "symbol": "Row" })), @"
    src/row.ts:5-12 class Row
    4 uses in 2 files, exact

    calls:
    src/table.ts
      4-8 Table.draw
        5: const row = new Row();

    other uses:
    src/table.ts
      1: import { Row } from './row';

    tests:
    tests/row.test.ts
      1: import { Row } from '../src/row';
      3-6 checks_a_row
        4: const row = new Row();
    ");
}

#[test]
fn json_has_every_field() {
    let arguments = json!({ "symbol": "Table.draw", "format": "json" });
    assert_snapshot!(pretty(&project().call("find_references", arguments)), @r#"
    {
      "symbol": "Table.draw",
      "direction": "callers",
      "depth": 1,
      "targets": [
        {
          "name": "draw",
          "scope": "Table",
          "kind": "method",
          "path": "src/table.ts",
          "startLine": 4,
          "endLine": 8,
          "line": 4,
          "column": 3,
          "signature": "draw(): void",
          "doc": ""
        }
      ],
      "files": [
        {
          "path": "src/page.ts",
          "isTest": false,
          "uses": [
            {
              "line": 5,
              "column": 9,
              "role": "call",
              "grade": "exact",
              "in": {
                "name": "show",
                "kind": "function",
                "startLine": 3,
                "endLine": 7
              },
              "text": "table.draw();"
            }
          ]
        }
      ],
      "exact": 1,
      "byName": 0,
      "filesSearched": 4,
      "filesNotParsed": 0,
      "tree": []
    }
    "#);
    let arguments = json!({ "symbol": "Row.render", "format": "json" });
    let answer = project().call("find_references", arguments).json();
    assert_snapshot!(list_uses(&answer).join("\n"), @"
    src/table.ts:6 call exact
    src/table.ts:7 call exact
    src/page.ts:6 call by name
    tests/row.test.ts:5 call exact
    ");
}

#[test]
fn depth_shows_callers_of_callers_as_a_tree() {
    assert_snapshot!(project().call("find_references", json!({ "symbol": "Row.render", "depth": 2 })), @"
    src/row.ts:9-11 method Row.render
    4 uses to depth 2, 3 exact, 1 by name
      tests/row.test.ts:3-6 checks_a_row: 5
      src/table.ts:4-8 Table.draw: 6, 7
        src/page.ts:3-7 show: 5
    … 1 other use is listed with depth 1
    ");
}

#[test]
fn callees_are_the_definitions_that_a_function_uses() {
    let arguments = json!({ "symbol": "Table.draw", "direction": "callees" });
    assert_snapshot!(project().call("find_references", arguments), @"
    src/table.ts:4-8 method Table.draw
    2 callees, exact
      src/row.ts:5-12 Row: 5
      src/row.ts:9-11 Row.render: 6, 7
    ");
}

#[test]
fn implementations_of_an_interface_are_listed() {
    let arguments = json!({ "symbol": "Shape", "direction": "implementations" });
    assert_snapshot!(project().call("find_references", arguments), @"
    src/row.ts:1-3 interface Shape
    1 implementation, exact
      src/row.ts:5-12 Row: class Row implements Shape
    ");
}

#[test]
fn an_unused_definition_says_on_what_ground() {
    let sandbox = sandbox()
        .file("a.py", "def walrus():\n    pass\n")
        .file("b.py", "def seal():\n    pass\n");
    assert_snapshot!(sandbox.call("find_references", json!({ "symbol": "walrus" })), @"
    a.py:1-2 function walrus
    No use in 2 files
    ");
}

#[test]
fn a_symbol_that_does_not_exist_suggests_near_names() {
    let sandbox = project();
    assert_snapshot!(sandbox.call("find_references", json!({ "symbol": "Row.rendr" })), @"No definition of 'Row.rendr' in 4 files. Similar: Row.render (src/row.ts:9)");
    assert_snapshot!(sandbox.call("find_references", json!({ "symbol": "zzz" })), @"No definition of 'zzz' in 4 files");
}

#[test]
fn several_definitions_are_listed_with_their_uses_together() {
    let sandbox = sandbox()
        .file("a.py", "def walrus():\n    pass\n\ndef one():\n    walrus()\n")
        .file("b.py", "def walrus():\n    pass\n\ndef two():\n    walrus()\n");
    assert_snapshot!(sandbox.call("find_references", json!({ "symbol": "walrus" })), @"
    a.py:1-2 function walrus
    b.py:1-2 function walrus
    2 uses in 2 files, exact

    calls:
    a.py
      4-5 one
        5: walrus()
    b.py
      4-5 two
        5: walrus()
    … 2 definitions have this name, and their uses are shown together; choose one with its scope or with path, e.g. b.py
    ");
    assert_snapshot!(sandbox.call("find_references", json!({ "symbol": "walrus", "path": "b.py" })), @"
    b.py:1-2 function walrus
    1 use in 1 file, exact

    calls:
    b.py
      4-5 two
        5: walrus()
    ");
}

#[test]
fn answers_are_cut_to_their_size() {
    let calls: Vec<String> = (0..1_000)
        .map(|at| format!("def caller_{at}():\n    walrus()\n"))
        .collect();
    let sandbox = sandbox().file("a.py", format!("def walrus():\n    pass\n\n{}", calls.join("\n")));
    for format in ["text", "json"] {
        let arguments = json!({ "symbol": "walrus", "limit": 5_000, "format": format });
        let answer = sandbox.call("find_references", arguments);
        assert!(answer.text.len() <= 20_000, "{}", answer.text.len());
        let rest = if format == "json" {
            "of 1000 uses are shown"
        } else {
            "… 504 more uses in 1 file"
        };
        assert!(answer.text.contains(rest), "{answer}");
    }
    let answer = sandbox.call("find_references", json!({ "symbol": "walrus", "limit": 2 }));
    assert!(
        answer.text.contains("… 998 more uses; narrow with path"),
        "{answer}"
    );
}

#[test]
fn wrong_arguments_are_named() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.call("find_references", json!({ "symbol": "a", "depth": 4 })), @"[isError] depth must be between 1 and 3");
    assert_snapshot!(sandbox.call("find_references", json!({ "symbol": "a", "path": "/etc" })), @"[isError] Absolute paths not allowed: /etc. Name the file relative to the project root");
}

#[test]
fn the_command_shows_people_the_uses() {
    let sandbox = project();
    assert_snapshot!(sandbox.run(&["references", "Row.render"]).stdout, @"
    src/row.ts:9-11 method Row.render
    4 uses in 3 files, 3 exact, 1 by name

    calls:
    src/table.ts
      4-8 Table.draw
        6: row.render();
        7: row.render();
    src/page.ts
      3-7 show
        6 by name: anything.render();

    tests:
    tests/row.test.ts
      3-6 checks_a_row
        5: row.render();
    ");
    assert_snapshot!(sandbox.run(&["references", "Row.render", "--depth", "2"]).stdout, @"
    src/row.ts:9-11 method Row.render
    4 uses to depth 2, 3 exact, 1 by name
      tests/row.test.ts:3-6 checks_a_row: 5
      src/table.ts:4-8 Table.draw: 6, 7
        src/page.ts:3-7 show: 5
    … 1 other use is listed with depth 1
    ");
    let json = sandbox.run(&["references", "Row.render", "--json"]).json();
    assert_eq!(json["targets"][0]["path"], "src/row.ts");
}
