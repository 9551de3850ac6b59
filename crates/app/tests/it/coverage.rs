//! The coverage tools: the examples, workflows and error cases of their contract.

use docent_testkit::{Answer, Era, lcov_report, pretty};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// The id of a snapshot, from the answer of `start_coverage_snapshot`.
pub(crate) fn snapshot_id(started: &Answer) -> String {
    let answer = started.json();
    answer["snapshotId"].as_str().expect("an id").to_owned()
}

#[test]
fn example_overall_coverage() {
    let sandbox = sandbox().file(
        "coverage/lcov.info",
        lcov_report(&[("a.ts", 354, 400), ("b.ts", 500, 600)]),
    );
    let call = |path: &str| sandbox.call("get_overall_coverage", json!({ "lcovPath": path }));
    assert_snapshot!(call("./coverage/lcov.info"), @r#"{"overall":85.4}"#);
    assert_snapshot!(call("coverage/lcov.info"), @r#"{"overall":85.4}"#);
    assert_snapshot!(call(r"coverage\lcov.info"), @r#"{"overall":85.4}"#);
    let absolute = sandbox.root().join("coverage/lcov.info");
    assert_snapshot!(call(absolute.to_str().unwrap()), @r#"{"overall":85.4}"#);
}

#[test]
fn example_file_coverage() {
    let report = [
        ("src/parser.ts", 923, 1000),
        ("src/coverage.ts", 781, 1000),
        ("src/other.ts", 1, 1),
    ];
    let sandbox = sandbox().file("lcov.info", lcov_report(&report));
    let call = |paths: Value| {
        sandbox.call(
            "get_file_coverage",
            json!({ "lcovPath": "lcov.info", "filePaths": paths }),
        )
    };
    assert_snapshot!(
        call(json!(["src/parser.ts", "src/coverage.ts", "src/new-file.ts"])),
        @r#"{"files":{"src/parser.ts":92.3,"src/coverage.ts":78.1,"src/new-file.ts":0}}"#
    );
    // An empty list of paths is answered with an empty object.
    assert_snapshot!(call(json!([])), @r#"{"files":{}}"#);
    assert_snapshot!(call(json!(["src/other.ts", "src/other.ts"])), @r#"{"files":{"src/other.ts":100}}"#);
}

#[test]
fn a_mistyped_file_or_a_directory_has_0_and_a_notice_that_names_near_files() {
    let report = [("src/parser.ts", 923, 1000), ("src/coverage.ts", 781, 1000)];
    let sandbox = sandbox()
        .file("lcov.info", lcov_report(&report))
        .file("src/parse.ts", "// No test loads it.\n")
        .file("other/x.ts", "");
    let call = |paths: Value| {
        sandbox.call(
            "get_file_coverage",
            json!({ "lcovPath": "lcov.info", "filePaths": paths }),
        )
    };
    assert_snapshot!(
        call(json!(["src/pasrer.ts"])),
        @r#"{"files":{"src/pasrer.ts":0},"notice":"src/pasrer.ts is not in the report, which has src/parser.ts"}"#
    );
    assert_snapshot!(
        call(json!(["src", "src/parser.ts"])),
        @r#"{"files":{"src":0,"src/parser.ts":92.3},"notice":"src is a directory; the report has 2 files below it, such as src/coverage.ts"}"#
    );
    assert_snapshot!(
        call(json!(["other/"])),
        @r#"{"files":{"other/":0},"notice":"other/ is a directory, and the report has no file below it"}"#
    );
    // A file of the project is not mistyped, however near others are.
    assert_snapshot!(call(json!(["src/parse.ts"])), @r#"{"files":{"src/parse.ts":0}}"#);
    assert_snapshot!(call(json!(["src/new-file.ts"])), @r#"{"files":{"src/new-file.ts":0}}"#);
}

#[test]
fn example_start_of_a_snapshot() {
    let sandbox = sandbox().file("lcov.info", lcov_report(&[("a.ts", 1, 2)]));
    let started = sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    assert_snapshot!(started.without_ids(), @r#"{"snapshotId":"UUID","timestamp":1767954600000}"#);
}

#[test]
fn example_end_of_a_snapshot() {
    let before = [
        ("src/coverage.ts", 500, 1000),
        ("src/deprecated.ts", 25, 100),
        ("src/parser.ts", 500, 1000),
        ("src/snapshot.ts", 3, 4),
    ];
    let after = [
        ("src/coverage.ts", 477, 1000),
        ("src/new-feature.ts", 27, 27),
        ("src/parser.ts", 551, 1000),
        ("src/snapshot.ts", 3, 4),
    ];
    let sandbox = sandbox().file("lcov.info", lcov_report(&before));
    let started = sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    sandbox.write("lcov.info", lcov_report(&after));
    let ended = sandbox.call(
        "end_coverage_snapshot",
        json!({ "snapshotId": snapshot_id(&started), "lcovPath": "lcov.info" }),
    );
    assert_snapshot!(pretty(&ended), @r#"
    {
      "overallChange": 3.2,
      "fileChanges": {
        "src/coverage.ts": -2.3,
        "src/deprecated.ts": -25,
        "src/new-feature.ts": 100,
        "src/parser.ts": 5.1,
        "src/snapshot.ts": 0
      },
      "newFiles": [
        "src/new-feature.ts"
      ],
      "removedFiles": [
        "src/deprecated.ts"
      ]
    }
    "#);
}

#[test]
fn workflow_1_checks_current_coverage() {
    let sandbox = sandbox().file("coverage/lcov.info", lcov_report(&[("a.ts", 33, 40)]));
    let client = sandbox.start_client(Era::Handshake);
    let arguments = json!({ "lcovPath": "./coverage/lcov.info" });
    assert_snapshot!(client.call("get_overall_coverage", arguments), @r#"{"overall":82.5}"#);
}

#[test]
fn workflow_2_checks_files_after_changes() {
    let sandbox = sandbox().file(
        "coverage/lcov.info",
        lcov_report(&[("src/parser.ts", 1, 2), ("src/coverage.ts", 1, 2)]),
    );
    let client = sandbox.start_client(Era::Handshake);
    let arguments =
        json!({ "lcovPath": "./coverage/lcov.info", "filePaths": ["src/parser.ts", "src/coverage.ts"] });
    assert_snapshot!(
        client.call("get_file_coverage", arguments.clone()),
        @r#"{"files":{"src/parser.ts":50,"src/coverage.ts":50}}"#
    );
    sandbox.write(
        "coverage/lcov.info",
        lcov_report(&[("src/parser.ts", 9, 10), ("src/coverage.ts", 3, 4)]),
    );
    assert_snapshot!(
        client.call("get_file_coverage", arguments),
        @r#"{"files":{"src/parser.ts":90,"src/coverage.ts":75}}"#
    );
}

#[test]
fn workflow_3_tracks_the_impact_of_a_change() {
    let sandbox = sandbox().file("coverage/lcov.info", lcov_report(&[("src/old.ts", 500, 1000)]));
    let client = sandbox.start_client(Era::Handshake);
    let report = "./coverage/lcov.info";
    let started = client.call("start_coverage_snapshot", json!({ "lcovPath": report }));
    sandbox.write(
        "coverage/lcov.info",
        lcov_report(&[("src/new.ts", 177, 177), ("src/old.ts", 449, 1000)]),
    );
    let arguments = json!({ "snapshotId": snapshot_id(&started), "lcovPath": report });
    let ended = client.call("end_coverage_snapshot", arguments.clone());
    assert_snapshot!(pretty(&ended), @r#"
    {
      "overallChange": 3.2,
      "fileChanges": {
        "src/new.ts": 100,
        "src/old.ts": -5.1
      },
      "newFiles": [
        "src/new.ts"
      ],
      "removedFiles": []
    }
    "#);
    assert_eq!(
        client.call("end_coverage_snapshot", arguments),
        ended,
        "a snapshot can be compared more than once"
    );
}

#[test]
fn a_missing_report_is_an_error_with_its_path() {
    let sandbox = sandbox();
    let path = "./coverage/lcov.info";
    assert_snapshot!(
        sandbox.call("get_overall_coverage", json!({ "lcovPath": path })),
        @"[isError] Error: LCOV file not found at path ./coverage/lcov.info"
    );
    assert_snapshot!(
        sandbox.call("get_file_coverage", json!({ "lcovPath": path, "filePaths": [] })),
        @"[isError] Error: LCOV file not found at path ./coverage/lcov.info"
    );
    assert_snapshot!(
        sandbox.call("start_coverage_snapshot", json!({ "lcovPath": path })),
        @"[isError] Error: Cannot create snapshot - LCOV file not found at path ./coverage/lcov.info"
    );
    sandbox.write("lcov.info", lcov_report(&[("a.ts", 1, 2)]));
    let started = sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    assert_snapshot!(
        sandbox.call("end_coverage_snapshot", json!({ "snapshotId": snapshot_id(&started), "lcovPath": path })),
        @"[isError] Error: LCOV file not found at path ./coverage/lcov.info"
    );
}

#[test]
fn a_malformed_report_is_an_error_with_the_reason() {
    let sandbox = sandbox()
        .file("good.info", lcov_report(&[("a.ts", 1, 2)]))
        .file("bad.info", "hello\n");
    let started = sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "good.info" }));
    let answers = [
        sandbox.call("get_overall_coverage", json!({ "lcovPath": "bad.info" })),
        sandbox.call(
            "get_file_coverage",
            json!({ "lcovPath": "bad.info", "filePaths": ["a.ts"] }),
        ),
        sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "bad.info" })),
        sandbox.call(
            "end_coverage_snapshot",
            json!({ "snapshotId": snapshot_id(&started), "lcovPath": "bad.info" }),
        ),
    ];
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
    }
    assert_snapshot!(
        answers[0],
        @"[isError] Error: Failed to parse LCOV file: invalid format: there is no coverage record in it"
    );
}

#[test]
fn an_unknown_snapshot_is_an_error_with_its_id() {
    let sandbox = sandbox().file("lcov.info", lcov_report(&[("a.ts", 1, 2)]));
    let id = "550e8400-e29b-41d4-a716-446655440000";
    let arguments = json!({ "snapshotId": id, "lcovPath": "lcov.info" });
    assert_snapshot!(
        sandbox.call("end_coverage_snapshot", arguments),
        @"[isError] Error: Snapshot not found with ID 550e8400-e29b-41d4-a716-446655440000"
    );
    // The snapshot is checked before the report.
    let arguments = json!({ "snapshotId": id, "lcovPath": "absent.info" });
    assert_snapshot!(
        sandbox.call("end_coverage_snapshot", arguments),
        @"[isError] Error: Snapshot not found with ID 550e8400-e29b-41d4-a716-446655440000"
    );
}

#[test]
fn an_error_names_the_wrong_argument_and_the_expected_type() {
    let sandbox = sandbox().file("lcov.info", lcov_report(&[("a.ts", 1, 2)]));
    assert_snapshot!(
        sandbox.call("get_overall_coverage", json!({})),
        @"[isError] Error: lcovPath is required"
    );
    assert_snapshot!(
        sandbox.call("get_overall_coverage", json!({ "lcovPath": 5 })),
        @"[isError] Error: lcovPath must be a string"
    );
    assert_snapshot!(
        sandbox.call("get_overall_coverage", json!({ "lcovPath": "" })),
        @"[isError] Error: Cannot read LCOV file: the path is empty"
    );
    assert_snapshot!(
        sandbox.call("get_overall_coverage", json!({ "lcovPath": "a\nb" })),
        @"[isError] Error: Cannot read LCOV file: the path contains a control character"
    );
    assert_snapshot!(
        sandbox.call("get_overall_coverage", json!({ "lcovPath": "../lcov.info" })),
        @"[isError] Error: Cannot read LCOV file: `..` is not allowed; name the file relative to the project root"
    );
    let files = |paths: Value| {
        sandbox.call(
            "get_file_coverage",
            json!({ "lcovPath": "lcov.info", "filePaths": paths }),
        )
    };
    assert_snapshot!(files(json!("a.ts")), @"[isError] Error: filePaths must be an array");
    assert_snapshot!(files(json!({ "a.ts": 1 })), @"[isError] Error: filePaths must be an array");
    assert_snapshot!(files(json!(["a.ts", 1])), @"[isError] Error: filePaths[1] must be a string");
    assert_snapshot!(files(json!([""])), @r#"{"files":{"":0}}"#);
    assert_snapshot!(files(json!(null)), @"[isError] Error: filePaths is required");
    assert_snapshot!(
        sandbox.call("end_coverage_snapshot", json!({ "lcovPath": "lcov.info" })),
        @"[isError] Error: snapshotId is required"
    );
}

#[test]
fn answers_have_exactly_the_fields_of_the_contract() {
    let sandbox = sandbox().file("lcov.info", lcov_report(&[("a.ts", 1, 2)]));
    let report = json!({ "lcovPath": "lcov.info" });
    let started = sandbox.call("start_coverage_snapshot", report.clone());
    let id = snapshot_id(&started);
    for (answer, fields) in [
        (sandbox.call("get_overall_coverage", report), vec!["overall"]),
        (
            sandbox.call(
                "get_file_coverage",
                json!({ "lcovPath": "lcov.info", "filePaths": ["a.ts"] }),
            ),
            vec!["files"],
        ),
        (started, vec!["snapshotId", "timestamp"]),
        (
            sandbox.call(
                "end_coverage_snapshot",
                json!({ "snapshotId": id, "lcovPath": "lcov.info" }),
            ),
            vec!["overallChange", "fileChanges", "newFiles", "removedFiles"],
        ),
    ] {
        let object = answer.json();
        let names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, fields);
        assert!(answer.text.len() < 150, "{answer}");
    }
}

#[test]
fn a_long_answer_keeps_the_files_that_changed_most() {
    let name = |number: usize| format!("src/some/directory/with/a/name/file{number:04}.ts");
    let report = |hit: fn(usize) -> u32| {
        let names: Vec<String> = (0..2_000).map(name).collect();
        let files: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(number, path)| (path.as_str(), hit(number), 10))
            .collect();
        lcov_report(&files)
    };
    let sandbox = sandbox().file("lcov.info", report(|_| 5));
    let started = sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    sandbox.write(
        "lcov.info",
        report(|number| if number % 100 == 7 { 9 } else { 5 }),
    );
    let arguments = json!({ "snapshotId": snapshot_id(&started), "lcovPath": "lcov.info" });
    let ended = sandbox.call("end_coverage_snapshot", arguments);
    assert!(ended.text.chars().count() <= 20_000);
    let answer = ended.json();
    assert_snapshot!(
        answer["notice"],
        @r#""417 of 2000 files are listed, those that changed most; the others did not change in percent. A larger answer.max_chars has room for all""#
    );
    let changes = answer["fileChanges"].as_object().unwrap();
    let changed = changes.values().filter(|change| **change == json!(40)).count();
    assert_eq!(changed, 20, "all changed files are listed");
    assert!(changes.keys().is_sorted());

    // A new file without coverage is listed although its percentage did not change.
    sandbox.write("lcov.info", report(|_| 5) + &lcov_report(&[("new.ts", 0, 5)]));
    let arguments = json!({ "snapshotId": snapshot_id(&started), "lcovPath": "lcov.info" });
    assert_eq!(
        sandbox.call("end_coverage_snapshot", arguments).json()["newFiles"],
        json!(["new.ts"])
    );
    let new: Vec<String> = (0..2_000).map(|number| format!("new{}", name(number))).collect();
    let new: Vec<_> = new.iter().map(|path| (path.as_str(), 0, 1)).collect();
    sandbox.write("lcov.info", report(|_| 5) + &lcov_report(&new));
    let arguments = json!({ "snapshotId": snapshot_id(&started), "lcovPath": "lcov.info" });
    let ended = sandbox.call("end_coverage_snapshot", arguments);
    assert!((19_000..=20_000).contains(&ended.text.chars().count()));
    assert_snapshot!(
        ended.json()["notice"],
        @r#""200 of 4000 files are listed, those that changed most; the others did not change in percent, and 1800 of them are new. A larger answer.max_chars has room for all""#
    );

    let paths: Vec<String> = (0..2_000).map(name).collect();
    let arguments = json!({ "lcovPath": "lcov.info", "filePaths": paths });
    assert_snapshot!(
        sandbox.call("get_file_coverage", arguments),
        @"[isError] Error: The answer would have over 20000 characters; ask for fewer files"
    );
}

#[test]
fn only_start_coverage_snapshot_is_marked_as_writing() {
    let sandbox = sandbox();
    let hints = |name: &str| crate::find_tool(&sandbox, name)["annotations"].to_string();
    let reads =
        r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#;
    assert_eq!(hints("get_overall_coverage"), reads);
    assert_eq!(hints("get_file_coverage"), reads);
    assert_eq!(hints("end_coverage_snapshot"), reads);
    assert_eq!(
        hints("start_coverage_snapshot"),
        r#"{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}"#
    );
}
