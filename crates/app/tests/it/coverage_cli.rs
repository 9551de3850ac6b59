//! `docent coverage` and its subcommands on the command line.

use std::fs;
use std::time::{Duration, SystemTime};

use docent_testkit::{Sandbox, lcov_report};
use insta::assert_snapshot;

use crate::sandbox;

fn project() -> Sandbox {
    let files = [
        ("src/good.ts", 99, 100),
        ("src/middling.ts", 13, 20),
        ("src/bad.ts", 1, 40),
        ("src/untouched.ts", 0, 7),
        ("src/all.ts", 3, 3),
        ("src/nothing.ts", 0, 0),
    ];
    sandbox().file("coverage/lcov.info", lcov_report(&files))
}

#[test]
fn the_worst_files_come_first() {
    let finished = project().run(&["coverage"]);
    assert_snapshot!(finished.stdout, @"
    68.2 % 116/170 lines, 6 files
    0.0 % 0/7 src/untouched.ts
    2.5 % 1/40 src/bad.ts
    65.0 % 13/20 src/middling.ts
    99.0 % 99/100 src/good.ts
    ");
    assert_eq!(finished.stderr, "Report: coverage/lcov.info\n");
    assert_eq!(finished.code, 0);
}

#[test]
fn a_long_list_is_cut_and_says_how_many_files_are_missing() {
    let names: Vec<String> = (0..50).map(|number| format!("file{number:02}.ts")).collect();
    let files: Vec<_> = (1..)
        .zip(&names)
        .map(|(hit, name)| (name.as_str(), hit, 50))
        .collect();
    let sandbox = sandbox().file("lcov.info", lcov_report(&files));
    let shown = sandbox.run(&["coverage"]).stdout;
    assert_eq!(shown.lines().count(), 12);
    assert!(
        shown.ends_with("\n… 39 more files with missed lines, 22.0 % and more\n"),
        "{shown}"
    );
}

#[test]
fn the_files_command_keeps_the_order_of_its_arguments() {
    let finished = project().run(&["coverage", "file", "src/good.ts", "src/absent.ts", "bad.ts"]);
    assert_snapshot!(finished.stdout, @"
    99.0 % 99/100 src/good.ts
    0 % src/absent.ts (not in the report)
    2.5 % 1/40 bad.ts
    ");
}

#[test]
fn the_end_command_lists_changes_from_worst_to_best() {
    let sandbox = project();
    let started = sandbox.run(&["coverage", "start"]);
    let id = started.stdout.trim();
    assert!(!id.contains(char::is_whitespace), "a script can keep it: {id}");
    let after = [
        ("src/good.ts", 80, 100),
        ("src/middling.ts", 13, 20),
        ("src/bad.ts", 3, 40),
        ("src/untouched.ts", 0, 7),
        ("src/fresh.ts", 1, 2),
    ];
    sandbox.write("coverage/lcov.info", lcov_report(&after));
    assert_snapshot!(sandbox.run(&["coverage", "end", id]).stdout, @"
    -10.8 overall
    -100.0 src/all.ts (removed)
    -19.0 src/good.ts
    0.0 src/nothing.ts (removed)
    +5.0 src/bad.ts
    +50.0 src/fresh.ts (new)
    … 2 files unchanged
    ");
}

#[test]
fn the_newest_report_in_the_usual_places_is_used() {
    let sandbox = project().file("target/llvm-cov/lcov.info", lcov_report(&[("src/new.rs", 1, 2)]));
    let newer = fs::File::options()
        .write(true)
        .open(sandbox.root().join("target/llvm-cov/lcov.info"))
        .unwrap();
    newer
        .set_modified(SystemTime::now() + Duration::from_hours(1))
        .unwrap();
    assert_eq!(
        sandbox.run(&["coverage"]).stderr,
        "Report: target/llvm-cov/lcov.info\n"
    );
    let named = sandbox.run(&["coverage", "--lcov-path", "coverage/lcov.info"]);
    assert_eq!(named.stderr, "");
    assert!(named.stdout.contains("src/bad.ts"));
}

#[test]
fn without_a_report_the_error_lists_the_usual_places() {
    let finished = sandbox().run(&["coverage"]);
    assert_snapshot!(
        finished.stderr,
        @"error: There is no LCOV report in the usual places (coverage/lcov.info, lcov.info, target/llvm-cov/lcov.info, target/lcov.info, target/coverage/lcov.info, coverage.lcov, coverage.info, coverage/coverage.info, coverage/lcov/lcov.info, cover/lcov.info, build/coverage.info, build/lcov.info, build/coverage/lcov.info, reports/lcov.info, bazel-out/_coverage/_coverage_report.dat). Let a test run write one, or name it with --lcov-path"
    );
    assert_eq!(finished.code, 1);
    assert_eq!(sandbox().run(&["coverage", "start", "--json"]).code, 1);
}

#[test]
fn the_json_flag_prints_the_answer_of_the_tool() {
    let sandbox = project();
    assert_snapshot!(sandbox.run(&["coverage", "--json"]).stdout, @r#"{"overall":68.2}"#);
    assert_snapshot!(
        sandbox.run(&["coverage", "file", "src/good.ts", "--json"]).stdout,
        @r#"{"files":{"src/good.ts":99}}"#
    );
}

#[test]
fn subcommands_have_help_and_a_manual() {
    let sandbox = project();
    assert!(
        sandbox
            .run(&["coverage", "--help"])
            .stdout
            .contains("coverage/lcov.info")
    );
    assert!(
        sandbox
            .run(&["coverage", "end", "--help"])
            .stdout
            .contains("<SNAPSHOT-ID>")
    );
    assert!(
        sandbox
            .run(&["man", "coverage", "file"])
            .stdout
            .contains(".TH docent-coverage-file")
    );
    assert_eq!(sandbox.run(&["coverage", "file"]).code, 2, "a file must be named");
    assert_eq!(sandbox.run(&["coverage", "other"]).code, 2);
    let with_colour = sandbox.run(&["coverage", "--color", "never", "file", "src/all.ts"]);
    assert!(with_colour.stdout.contains("3/3"), "{}", with_colour.stderr);
    for misplaced in [["--lcov-path", "x"], ["--json", "--color=never"]] {
        let finished = sandbox.run(&["coverage", misplaced[0], misplaced[1], "file", "src/all.ts"]);
        assert_eq!(finished.code, 2);
        assert_eq!(
            finished.stderr,
            format!("error: {} belongs behind file\n", misplaced[0])
        );
    }
}
