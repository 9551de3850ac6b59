//! Output schemas: every JSON answer fits the schema that `tools/list` declares for it, and the schema names
//! every field of the answer.

use std::collections::BTreeMap;

use docent_testkit::lcov_report;
use serde_json::{Value, json};

use crate::{list_tools, sandbox};

/// The output schemas of all tools that answer with JSON.
fn output_schemas() -> BTreeMap<String, Value> {
    let mut schemas = BTreeMap::new();
    for tool in list_tools(&sandbox()) {
        if !tool["outputSchema"].is_null() {
            let name = tool["name"].as_str().unwrap().to_owned();
            schemas.insert(name, tool["outputSchema"].clone());
        }
    }
    schemas
}

/// Fails if a value does not fit a schema. Only the keywords that our schemas use are understood.
fn check(schema: &Value, value: &Value, place: &str) {
    if let Some(choices) = schema["anyOf"].as_array() {
        return check(&choices[usize::from(value.is_null())], value, place);
    }
    let of_type = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{place}: unknown type {other}"),
    };
    assert!(
        of_type(&schema["type"]),
        "{place}: {value} is not {}",
        schema["type"]
    );
    if let Some(choices) = schema["enum"].as_array() {
        assert!(choices.contains(value), "{place}: {value} is none of {choices:?}");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        assert!(
            value.is_null() || value.get(name).is_some(),
            "{place}: no {name} in {value}"
        );
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Null) => panic!("{place} is not in the schema"),
            (Value::Null, additional) => check(additional, inner, &place),
            (property, _) => check(property, inner, &place),
        }
    }
    for item in value.as_array().into_iter().flatten() {
        check(&schema["items"], item, &format!("{place}[]"));
    }
}

#[test]
fn every_answer_fits_its_output_schema() {
    let sandbox = sandbox()
        .file(
            "src/a.ts",
            "import { b } from './b';\nimport 'react';\nexport const walrus = b;\n",
        )
        .file("src/b.ts", "export const b = 1;\n")
        .file("long.txt", "line\n".repeat(9_000))
        .file("docs/a.md", "# A\n\nwalrus\n")
        .file(
            "docs/.docs-mcp.json",
            r#"{"version": "1", "metadata": {"team": "Core"}}"#,
        )
        .file(
            "lcov.info",
            lcov_report(&[("src/a.ts", 1, 3), ("src/b.ts", 1, 1)]),
        );
    let started = sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    let id = crate::coverage::snapshot_id(&started);
    let schemas = output_schemas();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (tool, arguments) in [
        ("read_file", json!({ "path": "src/a.ts", "includeDeps": true })),
        ("read_file", json!({ "path": "long.txt", "startLine": 2 })),
        ("grep_codebase", json!({ "pattern": "walrus" })),
        ("grep_codebase", json!({ "pattern": "n0thing" })),
        ("hello", json!({})),
        ("read_repo_file", json!({ "path": "src/a.ts" })),
        ("read_repo_file", json!({ "path": "long.txt" })),
        (
            "write_memory_entry",
            json!({ "file": "best_practices.md", "entry": "Count walruses." }),
        ),
        ("search_docs", json!({ "query": "walrus" })),
        ("search_docs", json!({ "query": "walrus", "limit": 1 })),
        ("search_docs", json!({ "query": "n0thing" })),
        ("get_overall_coverage", json!({ "lcovPath": "lcov.info" })),
        (
            "get_file_coverage",
            json!({ "lcovPath": "lcov.info", "filePaths": ["src/a.ts", "src"] }),
        ),
        ("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" })),
        (
            "end_coverage_snapshot",
            json!({ "snapshotId": id, "lcovPath": "lcov.info" }),
        ),
    ] {
        let answer = sandbox.call_by_cli(tool, arguments);
        assert!(!answer.is_error, "{tool}: {answer}");
        check(&schemas[tool], &answer.json(), tool);
        *seen.entry(tool).or_default() += 1;
    }
    let checked: Vec<&str> = seen.into_keys().collect();
    assert_eq!(checked, schemas.keys().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn fields_that_are_always_there_are_required() {
    let schemas = output_schemas();
    for (tool, fields) in [
        ("search_docs", vec!["hits", "next_cursor", "hint"]),
        ("read_repo_file", vec!["content", "size"]),
        (
            "grep_codebase",
            vec![
                "matches",
                "pattern",
                "totalMatches",
                "filesSearched",
                "searchTime",
            ],
        ),
        (
            "end_coverage_snapshot",
            vec!["overallChange", "fileChanges", "newFiles", "removedFiles"],
        ),
        ("hello", vec!["message", "timestamp"]),
        ("get_file_coverage", vec!["files"]),
        (
            "write_memory_entry",
            vec!["success", "bytes_written", "timestamp"],
        ),
    ] {
        assert_eq!(schemas[tool]["required"], json!(fields), "{tool}");
    }
    // A file system without times has no `modified`, so it is named and not required.
    assert_eq!(
        schemas["read_repo_file"]["properties"]["modified"],
        json!({ "type": "string", "format": "date-time" })
    );
    assert_eq!(
        schemas["hello"]["properties"]["timestamp"],
        json!({ "type": "string", "format": "date-time" })
    );
    let search = &schemas["search_docs"]["properties"];
    let nullable_text = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
    assert_eq!(search["next_cursor"], nullable_text);
    assert_eq!(search["hint"]["anyOf"][0]["type"], "object");
}

#[test]
fn descriptions_have_the_facts_of_the_contracts() {
    let tools = list_tools(&sandbox());
    for (name, fact) in [
        ("read_file", "Tracks access for context scoring"),
        ("grep_codebase", "Respects .gitignore"),
        ("read_repo_file", "Limited to safe paths"),
        ("write_memory_entry", "Only supports append operations"),
        ("get_overall_coverage", "entire project"),
        ("get_file_coverage", "specific files"),
        ("start_coverage_snapshot", "stored temporarily"),
        (
            "end_coverage_snapshot",
            "new files added and files removed since the snapshot",
        ),
    ] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let about = tool["description"].as_str().unwrap();
        assert!(about.contains(fact), "{name}: {about}");
    }
}
