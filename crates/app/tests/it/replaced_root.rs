//! A project directory that is moved, deleted or replaced under a running server: all tools give one answer.

use std::fs;

use docent_testkit::{Era, JOHN, Sandbox, make_link, python_function};
use serde_json::{Value, json};

use crate::sandbox;

const MOVED: &str = "The project directory was moved or replaced. Restart docent.";

/// A repository with everything that the tools read.
fn project(word: &str) -> Sandbox {
    let sandbox = sandbox()
        .repository()
        .file("src/a.py", python_function(word))
        .file("docs/guide.md", format!("# Guide\n\n{word}\n"))
        .file(".context/memory/notes.md", format!("# Notes\n\n{word}\n"))
        .file("lcov.info", "SF:src/a.py\nDA:1,1\nend_of_record\n");
    sandbox.commit("2025-10-08", JOHN, word);
    sandbox
}

/// Valid arguments for a tool.
fn arguments_of(tool: &str) -> Value {
    match tool {
        "hello" | "git_log" | "git_diff" => json!({}),
        "read_repo_file" | "read_file" => json!({ "path": "src/a.py" }),
        "write_memory_entry" => json!({ "file": "best_practices.md", "entry": "a new entry" }),
        "context_search" | "search_docs" => json!({ "query": "walrus" }),
        "grep_codebase" => json!({ "pattern": "walrus" }),
        "git_blame" => json!({ "filePath": "src/a.py" }),
        "get_doc" => json!({ "chunk_id": "docs/guide.md#guide" }),
        "get_file_coverage" => json!({ "lcovPath": "lcov.info", "filePaths": ["src/a.py"] }),
        "get_overall_coverage" | "coverage_summary" | "start_coverage_snapshot" => {
            json!({ "lcovPath": "lcov.info" })
        }
        "end_coverage_snapshot" => json!({ "snapshotId": "x", "lcovPath": "lcov.info" }),
        "find_symbol" => json!({ "name": "walrus" }),
        "find_references" => json!({ "symbol": "walrus" }),
        other => panic!("{other} needs arguments here"),
    }
}

/// Fails unless every tool, by stdio and by HTTP, says that the directory was replaced after `replace`.
fn assert_one_answer(replace: impl Fn(&Sandbox)) {
    let sandbox = project("walrus");
    let tools: Vec<String> = crate::list_tools(&sandbox)
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(tools.len(), 17);
    let client = sandbox.start_client(Era::Handshake);
    let server = sandbox.start_http_server();
    assert!(!client.call("git_log", json!({})).is_error);
    assert!(!server.call(Era::Stateless, "git_log", json!({})).is_error);
    replace(&sandbox);
    for tool in &tools {
        for answer in [
            client.call(tool, arguments_of(tool)),
            server.call(Era::Stateless, tool, arguments_of(tool)),
        ] {
            assert!(answer.is_error && answer.text.contains(MOVED), "{tool}: {answer}");
            let shows_more = ["walrus", "hunter2", "Hello"]
                .iter()
                .any(|word| answer.text.contains(word));
            assert!(!shows_more, "{tool}: {answer}");
        }
    }
    let resource = client.request("resources/read", json!({ "uri": "context://project/overview" }));
    assert!(
        resource["error"]["message"]
            .as_str()
            .is_some_and(|text| text == MOVED),
        "{resource}"
    );
}

#[test]
fn every_tool_says_that_the_project_was_replaced_by_another() {
    assert_one_answer(|sandbox| {
        fs::rename(sandbox.root(), sandbox.outside().join("moved")).unwrap();
        fs::rename(project("hunter2").root(), sandbox.root()).unwrap();
    });
}

#[test]
fn every_tool_says_that_the_project_was_deleted() {
    assert_one_answer(|sandbox| fs::remove_dir_all(sandbox.root()).unwrap());
}

#[cfg(unix)]
#[test]
fn every_tool_says_that_the_project_was_replaced_by_a_link() {
    assert_one_answer(|sandbox| {
        let other = sandbox.outside().join("other");
        fs::rename(project("hunter2").root(), &other).unwrap();
        fs::rename(sandbox.root(), sandbox.outside().join("moved")).unwrap();
        make_link(&other, sandbox.root());
    });
}

#[test]
fn a_project_that_returns_is_served_again() {
    let sandbox = project("walrus");
    let client = sandbox.start_client(Era::Handshake);
    let read = || client.call("read_file", arguments_of("read_file"));
    assert!(!read().is_error);
    let aside = sandbox.outside().join("aside");
    fs::rename(sandbox.root(), &aside).unwrap();
    assert!(read().is_error);
    fs::rename(&aside, sandbox.root()).unwrap();
    assert!(!read().is_error);
    assert_eq!(crate::subjects(&client.call("git_log", json!({}))), ["walrus"]);
}
