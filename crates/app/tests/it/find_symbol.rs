//! `find_symbol`: definitions by name, in text and in JSON, by command line, stdio and HTTP.

use docent_testkit::{Sandbox, pretty};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

/// A table of rows, in two languages.
fn project() -> Sandbox {
    sandbox()
        .file(
            "src/row.ts",
            "/** A row of the table. It has cells. */\nexport class Row {\n  /** Draws the row. */\n  render(width: number): string {\n    \
             return this.cell(1);\n  }\n  cell(n: number) { return `${n}`; }\n}\n",
        )
        .file(
            "src/table.ts",
            "import { Row } from './row';\n\nexport class Table {\n  render() { return new Row().render(80); }\n}\n",
        )
        .file("tools/paint.py", "def paint_all(canvas):\n    \"\"\"Paints everything.\"\"\"\n    return canvas\n")
}

#[test]
fn definitions_have_place_kind_signature_and_documentation() {
    assert_snapshot!(project().call("find_symbol", json!({ "name": "Row.render" })), @"
    src/row.ts:3-6 method Row.render
    3	  /** Draws the row. */
    	  render(width: number): string {
    5	    return this.cell(1);
    	  }
    ");
    assert_snapshot!(project().call("find_symbol", json!({ "name": "paint_all" })), @r#"
    tools/paint.py:1-3 function paint_all
    1	def paint_all(canvas):
    	    """Paints everything."""
    	    return canvas
    "#);
}

#[test]
fn json_has_every_field() {
    let arguments = json!({ "name": "Row::render", "format": "json" });
    assert_snapshot!(pretty(&project().call("find_symbol", arguments)), @r#"
    {
      "symbols": [
        {
          "name": "render",
          "scope": "Row",
          "kind": "method",
          "path": "src/row.ts",
          "startLine": 3,
          "endLine": 6,
          "line": 4,
          "column": 3,
          "signature": "render(width: number): string",
          "doc": "Draws the row.",
          "match": "exact"
        }
      ],
      "total": 1,
      "filesSearched": 3,
      "filesNotParsed": 0
    }
    "#);
}

#[test]
fn several_names_prefixes_and_typing_mistakes_are_found_at_once() {
    assert_snapshot!(project().call("find_symbol", json!({ "name": "Table|pain|Rwo" })), @"
    src/table.ts:3-5 class Table
      class Table
    tools/paint.py:1-3 function paint_all (prefix)
      def paint_all(canvas):
      Paints everything.
    src/row.ts:1-8 class Row (similar)
      class Row
      A row of the table.
    ");
}

#[test]
fn path_and_kind_narrow_the_question() {
    let sandbox = project();
    let count = |arguments| {
        sandbox
            .call("find_symbol", arguments)
            .text
            .matches(" method ")
            .count()
    };
    assert_eq!(count(json!({ "name": "render" })), 2);
    assert_eq!(count(json!({ "name": "render", "path": "src/table.ts" })), 1);
    assert_eq!(count(json!({ "name": "render", "path": "./src/" })), 2);
    assert_eq!(count(json!({ "name": "render", "path": "src/row.ts:4" })), 1);
    assert_eq!(count(json!({ "name": "render", "kind": "Method" })), 2);
    assert_eq!(count(json!({ "name": "render", "kind": "class" })), 0);
}

#[test]
fn absence_says_its_ground() {
    let sandbox = project();
    assert_snapshot!(sandbox.call("find_symbol", json!({ "name": "zzz|Row" })), @"
    src/row.ts:1-8 class Row
    1	/** A row of the table. It has cells. */
    	export class Row {
    	  /** Draws the row. */
    	  render(width: number): string {
    5	    return this.cell(1);
    	  }
    	  cell(n: number) { return `${n}`; }
    	}
    No definition of 'zzz' in 3 files
    ");
    assert_snapshot!(
        sandbox.call("find_symbol", json!({ "name": "Row", "kind": "function", "path": "tools" })),
        @"No definition of 'Row' (kind function, path tools) in 3 files"
    );
}

#[test]
fn wrong_arguments_are_named_in_the_form_of_the_answer() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.call("find_symbol", json!({})), @"[isError] name is required");
    assert_snapshot!(sandbox.call("find_symbol", json!({ "name": "a", "kind": "thing" })), @"[isError] kind must be one of: function, method, class, interface, type, module, field, constant, variable, macro");
    assert_snapshot!(sandbox.call("find_symbol", json!({ "name": "a", "path": "../x", "format": "json" })), @r#"[isError] {"error":"Path traversal not allowed","path":"../x","suggestion":"Name the file relative to the project root"}"#);
}

#[test]
fn answers_are_cut_to_their_size() {
    let classes: Vec<String> = (0..500)
        .map(|at| format!("class Class{at}:\n    def walrus(self, a):\n        return a\n"))
        .collect();
    let sandbox = sandbox().file("a.py", classes.join("\n"));
    for format in ["text", "json"] {
        let arguments = json!({ "name": "walrus", "limit": 5_000, "format": format });
        let answer = sandbox.call("find_symbol", arguments);
        assert!(answer.text.len() <= 20_000, "{}", answer.text.len());
        assert!(answer.text.contains("of 500 definitions are shown"), "{answer}");
    }
    let arguments = json!({ "name": "walrus", "limit": 2 });
    assert_snapshot!(sandbox.call("find_symbol", arguments), @"
    a.py:2-3 method Class0.walrus
      def walrus(self, a):
    a.py:6-7 method Class1.walrus
      def walrus(self, a):
    … 2 of 500 definitions are shown; narrow the question with path or kind, or raise limit
    ");
}

#[test]
fn a_blocked_file_has_no_names() {
    let sandbox = sandbox()
        .file("secrets/keys.py", "def walrus():\n    pass\n")
        .file("a.py", "def seal():\n    pass\n");
    assert_snapshot!(sandbox.call("find_symbol", json!({ "name": "walrus" })), @"No definition of 'walrus' in 1 file");
}

#[test]
fn invisible_characters_of_a_file_are_written_out() {
    let sandbox = sandbox().file("a.py", "def walrus(a='\u{202e}'):\n    pass\n");
    let answer = sandbox.call("find_symbol", json!({ "name": "walrus" }));
    assert!(
        answer.text.contains(r"\u{202E}") && !answer.text.contains('\u{202e}'),
        "{answer}"
    );
}

#[test]
fn the_command_shows_people_the_definitions() {
    let sandbox = project();
    assert_snapshot!(sandbox.run(&["symbol", "Row.render"]).stdout, @"
    src/row.ts:3-6 method Row.render
    3	  /** Draws the row. */
    	  render(width: number): string {
    5	    return this.cell(1);
    	  }
    ");
    let json = sandbox.run(&["symbol", "Row.render", "--json"]).json();
    assert_eq!(json["symbols"][0]["path"], "src/row.ts");
}
