//! Wrong settings of a project: they arrive with a clone, so they are ignored and reported, and docent starts
//! and answers.

use std::fs;

use docent_testkit::{Era, Sandbox};
use serde_json::json;

use crate::sandbox;

/// Values that no setting takes, or that only some do: of another type, out of every range, nested.
const HOSTILE: &[&str] = &[
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "-9223372036854775808",
    "nan",
    "inf",
    "1e308",
    "0.0",
    "true",
    "\"\"",
    "\"\\u202E\\u0000\"",
    "[]",
    "[[[]]]",
    "[\"../..\", \"/\", \"{\", \"\", 1]",
    "{ x = { y = 1 } }",
    "1979-05-27T07:32:00Z",
];

fn project(settings: &str) -> Sandbox {
    sandbox()
        .file("a.md", "# A\n\nwalrus\n")
        .file(".context/config.toml", settings)
}

/// Starts the server, and makes calls that depend on limits, the index and the documentation.
fn assert_answers(sandbox: &Sandbox, settings: &str) {
    let client = sandbox.start_client(Era::Handshake);
    let hello = client.call("hello", json!({}));
    assert!(
        hello.text.starts_with("{\"message\":\"Hello, World!\""),
        "{settings}: {hello}"
    );
    let read = client.call("read_file", json!({ "path": "a.md" }));
    assert!(read.text.contains("walrus"), "{settings}: {read}");
}

#[test]
fn no_value_of_any_setting_in_a_project_ends_the_server() {
    let names: Vec<String> = project("")
        .run(&["config"])
        .stdout
        .lines()
        .filter_map(|line| Some(line.split_once(' ')?.0.to_owned()))
        .filter(|name| name.contains('.'))
        .collect();
    assert!(names.len() > 30, "{names:?}");
    let sandbox = project("");
    for value in HOSTILE {
        // Every setting at once: each is checked by itself, so a wrong one does not hide another.
        let lines: Vec<String> = names.iter().map(|name| format!("{name} = {value}")).collect();
        sandbox.write(".context/config.toml", lines.join("\n"));
        assert_answers(&sandbox, value);
        for command in [&["call", "hello"][..], &["status"], &["links"], &["sessions"]] {
            let finished = sandbox.run(command);
            assert_eq!(finished.code, 0, "{value} {command:?}: {}", finished.stderr);
        }
    }
}

#[test]
fn a_file_that_cannot_be_used_is_ignored_and_reported() {
    let long = format!("x = \"{}\"", "y".repeat(70_000));
    let deep = format!("x = {}{}", "[".repeat(20_000), "]".repeat(20_000));
    for (text, reason) in [
        (&b"call = [1"[..], "line 1: "),
        (b"a = 1\na = 2", "line 2: "),
        (b"\xff\xfe", "it is not UTF-8"),
        (long.as_bytes(), "the file is ignored: "),
        (deep.as_bytes(), "line 1: "),
    ] {
        let sandbox = project("");
        sandbox.write(".context/config.toml", text);
        assert_answers(&sandbox, reason);
        let config = sandbox.run(&["config"]);
        assert_eq!(config.code, 1, "something was ignored");
        assert!(
            config
                .stderr
                .contains(".context/config.toml: the file is ignored: ")
                && config.stderr.contains(reason)
                && config.stderr.len() < 1_000,
            "{}",
            config.stderr
        );
    }
    let sandbox = project("");
    fs::remove_file(sandbox.root().join(".context/config.toml")).unwrap();
    fs::create_dir(sandbox.root().join(".context/config.toml")).unwrap();
    assert_answers(&sandbox, "a directory");
}

#[test]
fn wrong_settings_of_a_project_are_told_in_the_answer_and_by_doctor() {
    let sandbox = project("call.timeout_seconds = 0\n");
    let notice =
        "Part of the project's .context/config.toml is wrong and ignored; `docent doctor` says which";
    let search = sandbox.call("context_search", json!({ "query": "walrus", "format": "json" }));
    assert_eq!(search.json()["notice"], notice);
    let docs = sandbox.call("search_docs", json!({ "query": "walrus" }));
    assert_eq!(docs.json()["notice"], notice);
    let doctor = sandbox.run(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("call.timeout_seconds must be a whole number from 1 to 86400; the value is ignored"),
        "{}",
        doctor.stdout
    );
    sandbox.write(".context/config.toml", "call.timeout_seconds = 5\n");
    let search = sandbox.search("walrus");
    assert!(search["notice"].is_null(), "{search}");
}

#[test]
fn many_and_costly_patterns_of_a_project_do_not_end_the_server() {
    let costly: Vec<String> = (0..900)
        .map(|at| format!("\"*a?b*{at}*[!x-z]*/**/{{c,d}}*\""))
        .collect();
    let settings = format!("access.blocked = [{}]", costly.join(","));
    assert!(settings.len() < 65_536);
    assert_answers(&project(&settings), "patterns");
}

#[test]
fn a_wrong_setting_of_the_user_is_an_error_that_names_it() {
    let sandbox = project("");
    let file = sandbox.home().join("config/docent/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "call.timeout_seconds = 0\n").unwrap();
    let finished = sandbox.run(&["hello"]);
    assert_eq!(finished.code, 2);
    assert!(
        finished
            .stderr
            .ends_with("docent/config.toml: call.timeout_seconds must be a whole number from 1 to 86400\n"),
        "{}",
        finished.stderr
    );
}
