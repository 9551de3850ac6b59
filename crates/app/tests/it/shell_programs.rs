//! `docent sh git grep`, `docent sh ag` and `grep -P` beside the programs themselves.
//!
//! Tests of `ag` are skipped, loudly, where it is not installed.

use std::process::{Command, Output, Stdio};

use docent_testkit::{JANE, Sandbox};

use crate::shell_search::{check_plain, project, rewrite, run_docent, run_line, text, words};

#[test]
fn grep_with_patterns_of_perl_prints_the_same_lines_and_status() {
    let project = project();
    for line in [
        "grep -rnP 'walrus' src tests",
        "grep -nP 'row_1.*?,' src/sea.rs",
        "grep -noP 'row_(1|2).' src/sea.rs",
        "grep -rnhoP 'w(al|alrus)' src/ice.rs",
        "grep -nP '^[a-z]+ [^ ]+$' crlf.txt utf8.txt",
        "grep -niP 'É' utf8.txt",
        "grep -nP '(?:walrus|melt)\\(' src/ice.rs",
        "grep -cP 'x{y}' src/ice.rs",
        "grep -nP 'walrus' binary.bin",
    ] {
        check_plain(&project, line);
    }
}

#[test]
fn classes_of_perl_are_answered_where_the_installed_grep_reads_them_alike() {
    let project = project();
    let line = r"grep -rnoP 'walrus\b.' src";
    let output = project
        .docent()
        .args(["rewrite", "--", line])
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    if output.status.code() == Some(0) {
        let mut docent = project.docent();
        docent
            .args(["sh", "grep", "-rnoP", r"walrus\b.", "src"])
            .env("LC_ALL", "C");
        let original = run_line(&project, &format!("LC_ALL=C {line}"));
        assert_eq!(text(&docent.output().unwrap().stdout), text(&original.stdout));
    }
    for line in [
        r"grep -nP '(?=w)alrus' src/ice.rs",
        r"grep -nP '(w)\1' src/ice.rs",
        r"rg -P 'x' src",
    ] {
        assert_eq!(rewrite(&project, line), None, "{line}");
    }
}

/// The project with a commit of all files but the blocked one.
fn committed() -> Sandbox {
    let project = project()
        .file(".gitignore", "made/\n.env\n")
        .file("odd \"näme\".txt", "walrus quoted\n");
    project.commit("2025-10-01", JANE, "all");
    project
}

/// Compares the unshortened answer with that of git, messages included.
#[track_caller]
fn check_git(project: &Sandbox, line: &str) {
    let mut shell = project.program("sh");
    shell.args(["-c", line]).stdin(Stdio::null());
    let original = shell.output().unwrap();
    let mut docent = project.docent();
    docent
        .args(["sh", "--plain"])
        .args(words(line))
        .stdin(Stdio::null());
    let answer = docent.output().unwrap();
    assert_eq!(text(&answer.stdout), text(&original.stdout), "{line}");
    assert_eq!(text(&answer.stderr), text(&original.stderr), "{line}");
    assert_eq!(answer.status.code(), original.status.code(), "{line}");
}

#[test]
fn git_grep_prints_the_same_lines_and_status() {
    let project = committed();
    for line in [
        "git grep walrus",
        "git grep -n walrus",
        "git grep -nh walrus src",
        "git grep -n 'row_1\\|row_2' -- src",
        "git grep -nE 'row_(1|2)$' -- '*.rs'",
        "git grep -c walrus",
        "git grep -hc walrus src",
        "git grep -l walrus",
        "git grep -L walrus",
        "git grep -o 'row_1[0-9]'",
        "git grep -no walrus tests",
        "git grep -q walrus",
        "git grep -n -A1 -B1 melt",
        "git grep -n -2 walrus",
        "git grep -nw row_1",
        "git grep -nv walrus src/ice.rs",
        "git grep -n -e walrus --and -e fish",
        "git grep -nP 'walrus(?=.)'",
        "git grep -ni WALRUS -- ':!src'",
        "git grep --untracked -n walrus",
        "git grep --full-name -n walrus src",
        "git -C src grep -n walrus",
        "git -C src grep -n walrus ..",
        "git grep -n absent",
        "git grep -n '*x' src",
        "git grep -n -E '(' src",
        "git --no-pager grep -m2 walrus",
        "git grep -nI walrus",
        "git grep -na walrus",
        "git grep -n walrus HEAD -- src",
        "git grep -A1 melt HEAD --",
        "git -C src grep -c walrus HEAD~0 -- ..",
        "git grep -n walrus absent -- src",
    ] {
        check_git(&project, line);
    }
}

#[test]
fn settings_of_git_grep_keep_their_meaning_or_leave_it_to_git() {
    let project = committed();
    let configure = |text: &str| std::fs::write(project.home().join(".gitconfig"), text).unwrap();
    for settings in [
        "[grep]\n lineNumber = true\n fullName = true\n",
        "[grep]\n patternType = perl\n",
        "[grep]\n extendedRegexp = true\n[color \"grep\"]\n separator = red\n",
        "[core]\n quotePath = false\n",
    ] {
        configure(settings);
        for line in [
            "git grep walrus",
            "git -C src grep -A1 'row_(1|2)' ..",
            "git grep -n --full-name walrus",
        ] {
            check_git(&project, line);
        }
    }
    for settings in [
        "[grep]\n column = true\n",
        "[color]\n grep = always\n",
        "[color]\n ui = always\n",
        "[submodule]\n recurse = true\n",
    ] {
        configure(settings);
        assert_eq!(rewrite(&project, "git grep walrus"), None, "{settings}");
    }
    configure("[color]\n ui = always\n");
    assert!(rewrite(&project, "git grep --no-color walrus").is_some());
}

#[test]
fn git_grep_counts_blocked_files_and_searches_no_revision() {
    let project = committed();
    project.git(&["add", "-f", ".env"]);
    let answer = run_docent(&project, &["git", "grep", "-n", "TOKEN"]);
    let shown = text(&answer.stdout);
    assert!(!shown.contains("TOKEN=w"), "{shown}");
    assert_eq!(
        shown,
        "not shown, because docent does not show such files: .env 1\n"
    );
    assert_eq!(answer.status.code(), Some(0));
    for line in [
        "git grep walrus HEAD",
        "git -C .. grep walrus",
        "git grep -n TOKEN -- .env",
        "git grep -Oless walrus",
    ] {
        assert_eq!(rewrite(&project, line), None, "{line}");
    }
}

#[test]
fn lines_of_a_revision_are_not_put_below_definitions_of_today() {
    let project = committed();
    project.write("src/ice.rs", "fn other() {\n    walrus();\n}\n");
    let answer = text(
        &run_docent(
            &project,
            &["git", "grep", "-n", "walrus", "HEAD", "--", "src/ice.rs"],
        )
        .stdout,
    );
    assert_eq!(answer, "HEAD:src/ice.rs:2:    walrus();\n");
    project.git(&["add", "-f", ".env"]);
    project.git(&[
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b.c",
        "commit",
        "-qm",
        "secret",
    ]);
    std::fs::remove_file(project.root().join(".env")).unwrap();
    let answer = text(&run_docent(&project, &["git", "grep", "-n", "TOKEN", "HEAD", "--"]).stdout);
    assert!(
        !answer.contains("TOKEN=w") && answer.contains("HEAD:.env 1"),
        "{answer}"
    );
}

#[test]
fn a_long_answer_of_git_grep_is_grouped_like_any_search() {
    let project = committed();
    let answer = text(&run_docent(&project, &["git", "grep", "-n", "walrus", "src", "tests"]).stdout);
    assert!(
        answer.starts_with("34 matches in 3 files\ndefined: src/sea.rs:34 walrus\n"),
        "{answer}"
    );
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn has_silver_searcher() -> bool {
    let version = Command::new("ag").arg("--version").output();
    let is_there = version.is_ok_and(|version| text(&version.stdout).starts_with("ag version 2.2"));
    if !is_there {
        println!("SKIPPED: ag 2.2 is not installed");
    }
    is_there
}

#[test]
fn ag_prints_the_same_lines_and_status() {
    if !has_silver_searcher() {
        return;
    }
    let project = project()
        .file("src/.ignore", "/deep\nmelt*\n")
        .file("src/deep/a.rs", "walrus deep\n")
        .file("src/melted.txt", "walrus melted\n")
        .file("other/made/x.txt", "walrus in another made\n");
    for line in [
        "ag walrus src/sea.rs",
        "ag Walrus src",
        "ag -i WALRUS src/ice.rs tests/sea.rs",
        "ag -w 'row_1' src/sea.rs",
        "ag -Q 'walrus()' src/ice.rs",
        "ag 'row_(1|2)[0-9]' src/sea.rs",
        "ag -c walrus src/sea.rs",
        "ag -l walrus src/ice.rs",
        "ag walrus crlf.txt",
        "ag walrus binary.bin",
        "ag -u walrus binary.bin",
        "ag absent src",
        "ag melt src/ice.rs",
        "ag walrus made",
    ] {
        check_plain(&project, line);
    }
    for line in [
        "ag -l walrus",
        "ag -l walrus .",
        "ag -l --hidden walrus ./",
        "ag -t -l walrus src",
        "ag -L walrus",
    ] {
        let original = run_line(&project, line);
        let mut given = vec!["--plain".to_owned()];
        given.extend(words(line));
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let answer = run_docent(&project, &given);
        let sorted = |output: &Output| {
            let mut lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&answer), sorted(&original), "{line}");
        assert_eq!(answer.status.code(), original.status.code(), "{line}");
    }
}
