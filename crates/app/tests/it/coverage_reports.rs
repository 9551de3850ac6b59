//! Coverage reports of real tools, in every variant and place, and files that are not reports.

use std::fs;
use std::path::{Path, PathBuf};

use docent_testkit::{Answer, Era, Sandbox, lcov_report, pretty};
#[cfg(unix)]
use docent_testkit::{make_link, make_pipe, set_mode};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// The report that a tool wrote. `tests/fixtures/lcov/README.md` says how, and which total the tool printed.
fn report_of(tool: &str) -> Vec<u8> {
    fs::read(fixture_directory().join(tool).join("lcov.info")).unwrap()
}

fn fixture_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lcov")
}

/// Calls `get_overall_coverage` for a report.
fn read_overall(report: impl AsRef<[u8]>) -> Answer {
    let sandbox = sandbox().file("lcov.info", report);
    sandbox.call("get_overall_coverage", json!({ "lcovPath": "lcov.info" }))
}

/// The overall percentage of a report.
fn percentage(report: impl AsRef<[u8]>) -> Value {
    let answer = read_overall(report);
    assert!(!answer.is_error, "{answer}");
    answer.json()["overall"].clone()
}

/// Calls `get_file_coverage` for the report of a sandbox.
fn read_files(sandbox: &Sandbox, paths: &[&str]) -> Answer {
    sandbox.call(
        "get_file_coverage",
        json!({ "lcovPath": "lcov.info", "filePaths": paths }),
    )
}

/// Totals as each tool printed them. `gcov2lcov` prints none, so its total is the sum of its report.
#[test]
fn percentages_equal_those_of_the_tools_that_wrote_the_reports() {
    let totals = [
        ("c8", 68.2),
        ("cargo-llvm-cov", 66.7),
        // The tool prints 14 of 18 lines, because it counts the first line of a closure twice. Its report
        // lists 13 of 17 lines, which is correct.
        ("cargo-llvm-cov-closure", 76.5),
        ("coveragepy", 66.7),
        ("coveragepy-branch", 66.7),
        ("gcov2lcov", 47.8),
        ("gcovr", 55.2),
        ("lcov", 55.2),
        ("lcov-merged", 50.0),
        ("lcov2", 55.2),
        ("nyc", 57.9),
        ("simplecov", 53.8),
    ];
    let mut fixtures: Vec<String> = fs::read_dir(fixture_directory())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    fixtures.sort();
    assert_eq!(fixtures, totals.map(|(tool, _)| tool));
    for (tool, total) in totals {
        assert_eq!(percentage(report_of(tool)).as_f64(), Some(total), "{tool}");
    }
}

#[test]
fn files_of_real_reports_are_found_by_their_project_path() {
    for (tool, path, percent) in [
        ("cargo-llvm-cov", "src/stock.rs", json!(77.3)),
        ("nyc", "src/stock.js", json!(66.7)),
        ("coveragepy", "shop/stock.py", json!(78.6)),
        ("lcov", "src/shop.h", json!(75)),
        ("gcovr", "src/stock.c", json!(40)),
        ("simplecov", "lib/stock.rb", json!(75)),
    ] {
        let sandbox = sandbox().file("lcov.info", report_of(tool));
        assert_eq!(
            read_files(&sandbox, &[path]).json()["files"][path],
            percent,
            "{tool}"
        );
        // The same report, written in this project.
        let here = String::from_utf8(report_of(tool)).unwrap();
        sandbox.write(
            "lcov.info",
            here.replace("/shop/", &format!("{}/", sandbox.root().display())),
        );
        assert_eq!(
            read_files(&sandbox, &[path]).json()["files"][path],
            percent,
            "{tool}, here"
        );
    }
}

#[test]
fn every_variant_of_lcov_is_read() {
    let listed = "SF:a\nDA:1,1\nDA:2,0\nDA:3,1\nDA:4,1\nend_of_record\n";
    for (form, report, expected) in [
        ("lines only", listed.to_owned(), json!(75)),
        (
            "totals only",
            "SF:a\nLF:8\nLH:2\nend_of_record\n".into(),
            json!(25),
        ),
        (
            "disagreeing totals",
            listed.replace("end", "LF:9\nLH:9\nend"),
            json!(75),
        ),
        (
            "sections of one file",
            format!("{listed}SF:a\nDA:1,0\nDA:2,5\nend_of_record\n"),
            json!(100),
        ),
        (
            "sections named differently",
            format!("{listed}SF:./x/../a\nDA:2,5\nend_of_record\n"),
            json!(100),
        ),
        ("Windows line ends", listed.replace('\n', "\r\n"), json!(75)),
        ("a byte order mark", format!("\u{feff}{listed}"), json!(75)),
        (
            "records of its own",
            format!("hello\nTN:x,diff\n{}", listed.replace("end", "ZZ:1\n\nend")),
            json!(75),
        ),
        ("no line end at the end", listed.trim_end().to_owned(), json!(75)),
        ("nothing to cover", "SF:a\nend_of_record\n".into(), json!(0)),
        ("one line of 2,000", lcov_report(&[("a", 1, 2_000)]), json!(0.1)),
    ] {
        assert_eq!(percentage(report), expected, "{form}");
    }
}

#[test]
fn a_file_that_is_not_a_report_is_refused_with_the_reason() {
    assert_snapshot!(
        read_overall(""),
        @"[isError] Error: Failed to parse LCOV file: invalid format: the file is empty"
    );
    assert_snapshot!(
        read_overall("SF:a\nDA:1,1\n"),
        @"[isError] Error: Failed to parse LCOV file: invalid format: it ends in the middle of a record, line 2; perhaps it is still being written"
    );
    assert_snapshot!(
        read_overall("SF:a\nDA:1,1\nend_of_record\nSF:b\nDA:1"),
        @"[isError] Error: Failed to parse LCOV file: invalid format in line 5: DA without a line number and a count"
    );
    assert_snapshot!(
        read_overall("{\"total\": 5}"),
        @"[isError] Error: Failed to parse LCOV file: invalid format: there is no coverage record in it"
    );
    assert_snapshot!(
        read_overall(b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe\n\0\0"),
        @"[isError] Error: Failed to parse LCOV file: invalid format: there is no coverage record in it"
    );
    assert_snapshot!(
        read_overall(b"\xff\xfeS\0F\0:\0a\0\n\0"),
        @"[isError] Error: Failed to parse LCOV file: invalid format: it is UTF-16; write it as UTF-8"
    );
    assert_snapshot!(
        read_overall("SF:a\nDA:one,1\nend_of_record\n"),
        @"[isError] Error: Failed to parse LCOV file: invalid format in line 2: DA without a line number and a count"
    );
}

#[test]
fn a_path_that_is_not_a_readable_file_is_refused_with_the_reason() {
    let sandbox = sandbox()
        .file("secrets/lcov.info", lcov_report(&[("a", 1, 2)]))
        .file(".env", "SF:a\nDA:1,1\nend_of_record\n");
    let call = |path: &str| sandbox.call("get_overall_coverage", json!({ "lcovPath": path }));
    assert_snapshot!(call("."), @"[isError] Error: Cannot read LCOV file: the path is a directory");
    assert_snapshot!(
        call("secrets"),
        @"[isError] Error: Cannot read LCOV file: the path is blocked because it may hold secrets or machinery"
    );
    assert_snapshot!(
        call("secrets/lcov.info"),
        @"[isError] Error: Cannot read LCOV file: the path is blocked because it may hold secrets or machinery"
    );
    assert_snapshot!(
        call(".env"),
        @"[isError] Error: Cannot read LCOV file: the path is blocked because it may hold secrets or machinery"
    );
    assert_snapshot!(
        call("absent/lcov.info"),
        @"[isError] Error: LCOV file not found at path absent/lcov.info"
    );
    fs::create_dir(sandbox.root().join("coverage")).unwrap();
    assert_snapshot!(call("coverage"), @"[isError] Error: Cannot read LCOV file: the path is a directory");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_waiting() {
    let sandbox = sandbox();
    make_pipe(sandbox.root().join("lcov.info"));
    let call = |path: &str| sandbox.call("get_overall_coverage", json!({ "lcovPath": path }));
    assert_snapshot!(
        call("lcov.info"),
        @"[isError] Error: Cannot read LCOV file: the path is not a regular file"
    );
}

#[cfg(unix)]
#[test]
fn a_report_without_read_permission_is_refused() {
    let sandbox = sandbox().file("lcov.info", lcov_report(&[("a", 1, 2)]));
    set_mode(sandbox.root().join("lcov.info"), 0o000);
    let finished = sandbox.run_unprivileged(&["call", "get_overall_coverage", r#"{"lcovPath":"lcov.info"}"#]);
    assert_snapshot!(finished.stdout, @"Error: Cannot read LCOV file: permission denied");
    assert_eq!(finished.code, 1);
}

#[test]
fn an_error_never_quotes_the_file() {
    let sandbox = sandbox();
    let secret = "hunter2hunter2";
    for text in [
        format!("password={secret}\n"),
        format!("SF:{secret}\nDA:{secret},1\nend_of_record\n"),
        format!("SF:a\nLF:{secret}\n"),
        format!("SF:{secret}\nSF:{secret}\n"),
        format!("DA:{secret}"),
    ] {
        sandbox.write("lcov.info", text);
        let answer = sandbox.call("get_overall_coverage", json!({ "lcovPath": "lcov.info" }));
        assert!(answer.is_error && !answer.text.contains(secret), "{answer}");
    }
}

#[test]
fn a_report_outside_the_project_is_readable_over_stdio_only() {
    let sandbox = sandbox().file("inside.info", lcov_report(&[("a", 1, 2)]));
    let beside = sandbox.outside().join("lcov.info");
    fs::write(&beside, lcov_report(&[("a", 1, 4)])).unwrap();
    let arguments = |path: &Path| json!({ "lcovPath": path.to_str().unwrap() });
    let stdio = sandbox.start_client(Era::Handshake);
    let http = sandbox.start_http_server();
    let by_http = |path: &Path| http.call(Era::Stateless, "get_overall_coverage", arguments(path));

    let windows_path = Path::new(r"C:\coverage\lcov.info");
    assert_snapshot!(
        stdio.call("get_overall_coverage", arguments(windows_path)),
        @r"[isError] Error: LCOV file not found at path C:\coverage\lcov.info"
    );
    assert_snapshot!(stdio.call("get_overall_coverage", arguments(&beside)), @r#"{"overall":25}"#);
    assert_snapshot!(
        by_http(&beside),
        @"[isError] Error: Cannot read LCOV file: it lies outside the project, which is not allowed over HTTP"
    );
    // The error does not reveal whether the file exists.
    assert_eq!(by_http(&sandbox.outside().join("absent")), by_http(&beside));
    assert_snapshot!(by_http(&sandbox.root().join("inside.info")), @r#"{"overall":50}"#);
    assert_snapshot!(
        by_http(&sandbox.root().join("../lcov.info")),
        @"[isError] Error: Cannot read LCOV file: `..` is not allowed; name the file relative to the project root"
    );
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_followed_over_stdio_only() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.outside().join("target")).unwrap();
    fs::write(
        sandbox.outside().join("target/lcov.info"),
        lcov_report(&[("a", 1, 4)]),
    )
    .unwrap();
    make_link(sandbox.outside().join("target"), sandbox.root().join("target"));
    let arguments = json!({ "lcovPath": "target/lcov.info" });
    let stdio = sandbox.start_client(Era::Handshake);
    let http = sandbox.start_http_server();
    assert_snapshot!(stdio.call("get_overall_coverage", arguments.clone()), @r#"{"overall":25}"#);
    assert_snapshot!(
        http.call(Era::Stateless, "get_overall_coverage", arguments),
        @"[isError] Error: Cannot read LCOV file: the path leads outside the project"
    );
}

#[test]
fn a_file_is_found_by_any_spelling_of_its_path() {
    let sandbox = sandbox();
    let root = sandbox.root().display().to_string();
    let report = format!(
        "{}{}",
        lcov_report(&[
            ("./src/a.ts", 1, 2),
            (r"src\b.ts", 1, 4),
            ("/other/lib/c.ts", 3, 4)
        ]),
        lcov_report(&[(&format!("{root}/src/d.ts"), 1, 5), (r"C:\work\lib\e.ts", 2, 5)])
    );
    sandbox.write("lcov.info", report);
    let absolute = format!("{root}/src/a.ts");
    let paths = [
        "src/a.ts",
        "./src/a.ts",
        r"src\a.ts",
        &absolute,
        "a.ts",
        "src/b.ts",
        "lib/c.ts",
        "/other/lib/c.ts",
        "src/d.ts",
        "lib/e.ts",
        "other/a.ts",
        "ts",
    ];
    let answer = read_files(&sandbox, &paths).text.replace(&root, "ROOT");
    assert_snapshot!(pretty(&answer), @r#"
    {
      "files": {
        "src/a.ts": 50,
        "./src/a.ts": 50,
        "src\\a.ts": 50,
        "ROOT/src/a.ts": 50,
        "a.ts": 50,
        "src/b.ts": 25,
        "lib/c.ts": 75,
        "/other/lib/c.ts": 75,
        "src/d.ts": 20,
        "lib/e.ts": 40,
        "other/a.ts": 0,
        "ts": 0
      },
      "notice": "other/a.ts is not in the report, which has src/a.ts"
    }
    "#);
}

#[test]
fn an_ambiguous_path_is_an_error_that_lists_the_matching_files() {
    let sandbox = sandbox().file(
        "lcov.info",
        lcov_report(&[("one/src/a.ts", 1, 2), ("two/src/a.ts", 1, 4), ("src/b.ts", 1, 1)]),
    );
    assert_snapshot!(
        read_files(&sandbox, &["src/b.ts", "src/a.ts"]),
        @"[isError] Error: Ambiguous file path src/a.ts: the report has one/src/a.ts, two/src/a.ts"
    );
    assert_snapshot!(read_files(&sandbox, &["two/src/a.ts"]), @r#"{"files":{"two/src/a.ts":25}}"#);
    let many: Vec<String> = (0..30)
        .map(|number| format!("package{number:02}/index.ts"))
        .collect();
    let many: Vec<_> = many.iter().map(|path| (path.as_str(), 1, 2)).collect();
    sandbox.write("lcov.info", lcov_report(&many));
    assert_snapshot!(
        read_files(&sandbox, &["index.ts"]),
        @"[isError] Error: Ambiguous file path index.ts: the report has package00/index.ts, package01/index.ts, package02/index.ts, package03/index.ts, package04/index.ts, package05/index.ts, package06/index.ts, package07/index.ts, package08/index.ts, package09/index.ts and 20 more"
    );
}

#[test]
fn the_report_of_a_package_finds_its_files_by_project_path() {
    let sandbox = sandbox().file(
        "packages/one/coverage/lcov.info",
        lcov_report(&[("src/index.ts", 1, 2)]),
    );
    let arguments = json!({
        "lcovPath": "packages/one/coverage/lcov.info",
        "filePaths": ["packages/one/src/index.ts", "packages/two/src/index.ts", "src/index.ts"],
    });
    assert_snapshot!(
        sandbox.call("get_file_coverage", arguments),
        @r#"{"files":{"packages/one/src/index.ts":50,"packages/two/src/index.ts":0,"src/index.ts":50},"notice":"packages/two/src/index.ts is not in the report, which has src/index.ts"}"#
    );
}

#[test]
fn invisible_characters_in_file_names_are_shown() {
    let sandbox = sandbox().file("lcov.info", lcov_report(&[("src/\u{202e}a\u{200b}.ts", 1, 2)]));
    let started = sandbox.call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }));
    let arguments = json!({ "snapshotId": crate::coverage::snapshot_id(&started), "lcovPath": "lcov.info" });
    assert_snapshot!(pretty(&sandbox.call("end_coverage_snapshot", arguments)), @r#"
    {
      "overallChange": 0,
      "fileChanges": {
        "src/\\u{202E}a\\u{200B}.ts": 0
      },
      "newFiles": [],
      "removedFiles": []
    }
    "#);
}

#[test]
fn a_rewritten_report_of_the_same_size_and_time_is_read_again() {
    let sandbox = sandbox();
    let client = sandbox.start_client(Era::Handshake);
    let call = || {
        client
            .call("get_overall_coverage", json!({ "lcovPath": "lcov.info" }))
            .json()["overall"]
            .clone()
    };
    for round in 0..50 {
        let hit = round % 10;
        // The new file has the size and the modification time of the old one.
        sandbox.write("lcov.info", lcov_report(&[("a.ts", hit, 10)]));
        assert_eq!(call(), json!(hit * 10), "round {round}");
        assert_eq!(call(), json!(hit * 10), "round {round}, again");
    }
}
