//! `context_search` asked for the callers, uses, tests and implementations of a symbol.

use docent_testkit::{Sandbox, notice};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// Rows that are drawn by a table, a page that says much about drawing rows, and a test.
fn project() -> Sandbox {
    sandbox()
        .file(
            "src/row.ts",
            "export interface Shape {\n  area(): number;\n}\n\nexport class Row implements Shape {\n  area(): number {\n    return 1;\n  }\n  \
             paint(): string {\n    return '';\n  }\n}\n",
        )
        .file(
            "src/table.ts",
            "import { Row } from './row';\n\nexport class Table {\n  fill(): void {\n    const row = new Row();\n    row.paint();\n  }\n}\n",
        )
        .file(
            "src/page.ts",
            "// Who calls paint? Every caller of paint must call paint once: paint calls are where paint is used.\n\
             export function whoCallsPaint(): string {\n  return 'who calls paint';\n}\n",
        )
        .file(
            "tests/row.test.ts",
            "import { Row } from '../src/row';\n\nfunction checksARow(): void {\n  const row = new Row();\n  row.paint();\n}\n",
        )
}

/// Names of the results, the best first.
fn names(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results
        .iter()
        .filter_map(|found| found["name"].as_str())
        .collect()
}

#[test]
fn callers_of_a_symbol_come_first() {
    let sandbox = project();
    for question in [
        "who calls paint",
        "callers of `Row.paint()`",
        "where is paint called?",
    ] {
        let answer = sandbox.search(question);
        assert_eq!(
            names(&answer)[..2],
            ["Table", "checksARow"],
            "{question}: {answer}"
        );
        let scores: Vec<f64> = answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|found| found["score"].as_f64())
            .collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    }
    assert_snapshot!(
        notice(&sandbox.search("who calls paint")),
        @"paint has 2 exact uses; find_references lists them"
    );
}

#[test]
fn tests_and_implementations_of_a_symbol_come_first() {
    let sandbox = project();
    assert_eq!(names(&sandbox.search("tests for paint"))[0], "checksARow");
    let answer = sandbox.search("which classes implement Shape");
    assert_eq!(names(&answer)[0], "Row");
    assert_snapshot!(notice(&answer), @"Shape has 1 exact implementation; find_references lists them");
}

#[test]
fn every_way_in_has_the_same_answer() {
    let answer = project().call(
        "context_search",
        json!({ "query": "where is paint used", "limit": 2 }),
    );
    let found: Vec<&str> = answer
        .text
        .lines()
        .filter(|line| line.starts_with("## Result"))
        .collect();
    assert_snapshot!(found.join("\n"), @"
    ## Result 1: Table (src/table.ts:3-8) [Score: 1.00]
    ## Result 2: checksARow (tests/row.test.ts:3-6) [Score: 1.00]
    ");
}

#[test]
fn a_name_that_is_not_defined_is_searched_by_words() {
    let sandbox = project();
    let answer = sandbox.search("who calls walrus");
    assert!(!notice(&answer).contains("find_references"), "{answer}");
    let arguments = json!({ "query": "who calls paint", "type": "decision", "format": "json" });
    let decisions = sandbox.call_by_cli("context_search", arguments).json();
    assert!(!notice(&decisions).contains("find_references"), "{decisions}");
}

#[test]
fn filters_hold_for_uses_too() {
    let sandbox = project();
    let arguments = json!({ "query": "who calls paint", "chunkType": ["function"], "format": "json" });
    let answer = sandbox.call_by_cli("context_search", arguments).json();
    assert_eq!(names(&answer)[0], "checksARow");
    assert!(!names(&answer).contains(&"Table"), "{answer}");
}

#[test]
fn uses_are_found_as_the_files_are_now() {
    let sandbox = project();
    assert_eq!(names(&sandbox.search("who calls paint"))[0], "Table");
    sandbox.write(
        "src/table.ts",
        "import { Row } from './row';\n\nexport function begin(): void {\n  const row = new Row();\n  row.paint();\n}\n",
    );
    assert_eq!(names(&sandbox.search("who calls paint"))[0], "begin");
}
