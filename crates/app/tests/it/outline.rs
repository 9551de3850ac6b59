//! `docent outline`, and the argument `outline` of the tools that read files.

use docent_testkit::{Sandbox, pretty};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

fn project() -> Sandbox {
    sandbox()
        .file(
            "src/store/table.py",
            "\"\"\"A table.\"\"\"\n\nclass Table:\n    \"\"\"Rows in order.\"\"\"\n\n    def insert(self, row):\n        return row\n\n\n\
             def open_table(name):\n    return Table()\n",
        )
        .file("src/main.go", "package main\n\n// main starts the program.\nfunc main() {\n}\n")
        .file("notes.txt", "walrus\n")
}

#[test]
fn the_command_lists_the_definitions_of_a_file() {
    let sandbox = project();
    assert_snapshot!(sandbox.run(&["outline", "src/store/table.py"]).stdout, @"
    src/store/table.py
      3-7 class Table:
        6-7 def insert(self, row):
      10-11 def open_table(name):
    ");
    let json = sandbox.run(&["outline", "src/store/table.py", "--json"]);
    assert_snapshot!(pretty(&json.stdout.trim_end()), @r#"
    {
      "path": "src/store/table.py",
      "language": "python",
      "definitions": [
        {
          "name": "Table",
          "scope": "",
          "kind": "class",
          "path": "src/store/table.py",
          "startLine": 3,
          "endLine": 7,
          "line": 3,
          "column": 7,
          "signature": "class Table:",
          "doc": "Rows in order."
        },
        {
          "name": "insert",
          "scope": "Table",
          "kind": "method",
          "path": "src/store/table.py",
          "startLine": 6,
          "endLine": 7,
          "line": 6,
          "column": 9,
          "signature": "def insert(self, row):",
          "doc": ""
        },
        {
          "name": "open_table",
          "scope": "",
          "kind": "function",
          "path": "src/store/table.py",
          "startLine": 10,
          "endLine": 11,
          "line": 10,
          "column": 5,
          "signature": "def open_table(name):",
          "doc": ""
        }
      ]
    }
    "#);
}

#[test]
fn the_command_lists_the_files_of_a_directory() {
    let sandbox = project();
    assert_snapshot!(sandbox.run(&["outline", "src"]).stdout, @"
    src/main.go
      3-5 func main()
    src/store/table.py
      3-7 class Table:
      10-11 def open_table(name):
    ");
    let all = sandbox.run(&["outline", "src", "--json"]).json();
    let paths: Vec<&str> = all["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    assert_eq!(paths, ["src/main.go", "src/store/table.py"]);
}

#[test]
fn a_file_without_definitions_says_why() {
    let sandbox = project();
    let finished = sandbox.run(&["outline", "notes.txt"]);
    assert_eq!(finished.code, 0);
    assert_snapshot!(finished.stderr, @"");
    let missing = sandbox.run(&["outline", "absent.py"]);
    assert_eq!(missing.code, 1);
    assert_snapshot!(missing.stderr, @"error: File not found: absent.py");
}

#[test]
fn read_file_shows_the_outline_of_a_file() {
    let arguments = json!({ "path": "src/store/table.py", "outline": true });
    assert_snapshot!(pretty(&project().call("read_file", arguments)), @r#"
    {
      "file": {
        "path": "src/store/table.py",
        "content": "3-7 class Table:\n  6-7 def insert(self, row):\n10-11 def open_table(name):\n",
        "size": 144,
        "lines": 11,
        "language": "python"
      },
      "dependencies": [],
      "metadata": {
        "module": "store",
        "role": "core",
        "lastModified": "2026-01-09T10:00:00Z"
      }
    }
    "#);
}

#[test]
fn read_file_shows_the_outline_of_a_directory() {
    let arguments = json!({ "path": "src", "outline": true });
    assert_snapshot!(pretty(&project().call("read_file", arguments)), @r#"
    {
      "file": {
        "path": "src",
        "content": "src/main.go\n  3-5 func main()\nsrc/store/table.py\n  3-7 class Table:\n  10-11 def open_table(name):\n",
        "size": 0,
        "lines": 0,
        "language": "directory"
      },
      "dependencies": [],
      "metadata": {
        "module": "root",
        "role": "core"
      }
    }
    "#);
    let whole = project()
        .call("read_file", json!({ "path": ".", "outline": true }))
        .json();
    assert!(
        whole["file"]["content"]
            .as_str()
            .unwrap()
            .contains("src/main.go\n"),
        "{whole}"
    );
}

#[test]
fn read_repo_file_shows_outlines_too() {
    let sandbox = project();
    let arguments = json!({ "path": "src/main.go", "outline": true });
    assert_snapshot!(sandbox.call("read_repo_file", arguments), @r#"{"content":"3-5 func main()\n","size":58,"modified":"2026-01-09T10:00:00Z"}"#);
    let arguments = json!({ "path": "src/store", "outline": true });
    assert_snapshot!(sandbox.call("read_repo_file", arguments), @r#"{"content":"src/store/table.py\n  3-7 class Table:\n  10-11 def open_table(name):\n","size":0}"#);
}

#[test]
fn an_outline_is_of_the_file_as_it_is_now() {
    let sandbox = project();
    let outline = json!({ "path": "src/main.go", "outline": true });
    sandbox.call("read_file", outline.clone());
    sandbox.write("src/main.go", "package main\n\nfunc begin() {\n}\n");
    let answer = sandbox.call("read_file", outline).json();
    assert_eq!(answer["file"]["content"], "3-4 func begin()\n");
}

#[test]
fn a_long_outline_is_cut() {
    let functions: Vec<String> = (0..3_000)
        .map(|at| format!("def walrus_{at}():\n    pass\n"))
        .collect();
    let sandbox = sandbox().file("a.py", functions.join("\n"));
    let answer = sandbox.call("read_file", json!({ "path": "a.py", "outline": true }));
    assert!(answer.text.len() <= 20_000, "{}", answer.text.len());
    assert!(
        answer.text.contains("of 3000 definitions fit into this answer"),
        "{answer}"
    );
}
