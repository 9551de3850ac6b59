//! `docent sh grep` and `rg` beside the programs themselves, and `docent rewrite`.
//!
//! `grep` is on every machine that runs these; tests of `rg` are skipped, loudly, where it is not.

use std::process::{Command, Output, Stdio};

use docent_testkit::Sandbox;

use crate::sandbox;

/// A git project with hidden, ignored, blocked, binary and oddly encoded files.
pub(crate) fn project() -> Sandbox {
    let mut rows = String::new();
    for number in 0..30 {
        rows += &format!("    let row_{number} = walrus(fish, {number});\n");
    }
    sandbox()
        .repository()
        .file(
            "src/sea.rs",
            format!("fn feed(fish: Fish) {{\n{rows}}}\n\nfn walrus() {{}}\n"),
        )
        .file("src/ice.rs", "fn melt() {\n    walrus();\n}\n")
        .file(
            "tests/sea.rs",
            "#[test]\nfn a_walrus_sinks() {\n    walrus();\n}\n",
        )
        .file(".hidden/notes.txt", "a hidden walrus\n")
        .file(".gitignore", "made/\n")
        .file("made/out.txt", "an ignored walrus\n")
        .file(".env", "WALRUS_TOKEN=walrus\n")
        .file("binary.bin", "walrus\0walrus\n")
        .file("crlf.txt", "walrus one\r\nfish\r\n")
        .file("utf8.txt", "walrus é\nÉTÉ\n")
        .file("context.bin", "walrus\0\ntwo\nfish\n")
        .file("empty.txt", "")
        .file(
            "latin.txt",
            b"walrus caf\xe9\nwalrus two\n\xff\nfish\n".as_slice(),
        )
        .file("no_end.txt", "walrus without end")
}

pub(crate) fn run_line(project: &Sandbox, line: &str) -> Output {
    let mut shell = project.program("sh");
    shell
        .args(["-c", line])
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null());
    shell.output().unwrap()
}

pub(crate) fn run_docent(project: &Sandbox, words: &[&str]) -> Output {
    let mut docent = project.docent();
    docent
        .arg("sh")
        .args(words)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null());
    docent.output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The words of a line that has no quotes but single ones.
pub(crate) fn words(line: &str) -> Vec<String> {
    docent_core::shell::split_words(line)
        .unwrap()
        .into_iter()
        .map(|word| word.text)
        .collect()
}

/// Compares the unshortened answer with the program's, but for lines of files that are never shown.
#[track_caller]
pub(crate) fn check_plain(project: &Sandbox, line: &str) {
    let original = run_line(project, line);
    let words = words(line);
    let mut given = vec!["--plain"];
    given.extend(words.iter().map(String::as_str));
    let answer = run_docent(project, &given);
    let is_shown = |line: &&str| !line.starts_with("./.env:") && !line.starts_with("./.git/");
    let expected: Vec<String> = text(&original.stdout)
        .lines()
        .filter(is_shown)
        .map(str::to_owned)
        .collect();
    let shown: Vec<String> = text(&answer.stdout).lines().map(str::to_owned).collect();
    assert_eq!(shown, expected, "{line}");
    assert_eq!(answer.status.code(), original.status.code(), "{line}");
    // Behind the directories of git, which hold what they want.
    let messages = |output: &Output| text(&output.stderr).replace("./.git/", "");
    if line.starts_with("grep") {
        assert_eq!(messages(&answer), messages(&original), "{line}");
    }
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn has_ripgrep() -> bool {
    let is_there = Command::new("rg").arg("--version").output().is_ok();
    if !is_there {
        println!("SKIPPED: rg is not installed");
    }
    is_there
}

#[test]
fn grep_prints_the_same_lines_and_status() {
    let project = project();
    for line in [
        "grep -rn walrus .",
        "grep -rn walrus src tests",
        "grep -n walrus src/sea.rs",
        "grep walrus src/sea.rs src/ice.rs",
        "grep -n 'row_1\\|row_2' src/sea.rs",
        "grep -nE 'row_(1|2)[0-9]?' src/sea.rs",
        "grep -nF 'walrus()' src/ice.rs src/sea.rs",
        "grep -rnw row_1 src",
        "grep -rniE 'WALRUS|FISH' tests crlf.txt",
        "grep -rnv walrus src/ice.rs",
        "grep -n -x fish crlf.txt",
        "grep -n 'one$' crlf.txt",
        "grep -n -A1 -B1 melt src/ice.rs",
        "grep -rn -C1 walrus src tests",
        "grep -c walrus src/sea.rs src/ice.rs empty.txt",
        "grep -rl walrus src tests made",
        "grep -rL walrus src tests",
        "grep -no 'row_[0-9]*' src/sea.rs",
        "grep -rq walrus src",
        "grep -rq absent src",
        "grep -n absent src/sea.rs",
        "grep -n walrus absent.rs src/ice.rs",
        "grep -n walrus src",
        "grep -ns walrus absent.rs",
        "grep -m2 -n walrus src/sea.rs",
        "grep -rn --include=*.rs walrus .",
        "grep -rn --exclude-dir=made --exclude-dir=.git walrus .",
        "grep -n walrus binary.bin",
        "grep -an walrus binary.bin",
        "grep -rnI walrus . --exclude-dir=.git",
        "grep -ni été utf8.txt",
        "grep -h walrus src/sea.rs src/ice.rs",
        "grep -H walrus src/ice.rs",
        "grep walrus no_end.txt",
        "grep -n '' empty.txt no_end.txt",
        "grep -n walrus latin.txt",
        "grep -nv zebra latin.txt",
        "grep -nvI zebra latin.txt",
        "grep -cv zebra latin.txt",
    ] {
        check_plain(&project, line);
    }
}

#[test]
fn ripgrep_prints_the_same_lines_and_status() {
    if !has_ripgrep() {
        return;
    }
    let project = project();
    for line in [
        "rg -n walrus src/sea.rs",
        "rg -n --sort path walrus",
        "rg -n --sort path walrus .",
        "rg --sort path --hidden -n walrus -g !.git -g !.env",
        "rg --sort path -n walrus -g '*.rs'",
        "rg --sort path -n walrus -t rust src tests",
        "rg --sort path -c walrus src",
        "rg --sort path -l walrus",
        "rg --sort path --files-without-match walrus src tests",
        "rg -n -S Walrus src/sea.rs",
        "rg -n -S WALRUS src/sea.rs",
        "rg -nw row_1 src/sea.rs",
        "rg -n -C1 melt src/ice.rs",
        "rg -n absent src",
        "rg -n walrus made/out.txt",
        "rg --sort path -u walrus made",
        "rg -o 'row_\\d' src/sea.rs",
        "rg -n 'walrus\\(\\)' src/ice.rs",
        "rg -n -C1 fish context.bin",
        "rg -n -A1 fish context.bin",
        "rg -n -C1 walrus context.bin",
    ] {
        check_plain(&project, line);
    }
}

#[test]
fn ripgrep_without_a_path_reads_a_pipe() {
    let project = project();
    let docent = env!("CARGO_BIN_EXE_docent");
    let line = format!("printf 'one walrus\\nfish\\n' | {docent} sh rg -n walrus");
    assert_eq!(text(&run_line(&project, &line).stdout), "1:one walrus\n");
}

#[test]
fn filters_select_the_lines_that_a_pipeline_would() {
    let project = project();
    for (filters, line) in [
        (&["head -3"][..], "grep -n walrus src/sea.rs"),
        (&["tail -2"], "grep -n walrus src/sea.rs"),
        (&["sed -n 2,4p"], "grep -n walrus src/sea.rs"),
        (&["grep -v row_1"], "grep -n walrus src/sea.rs"),
        (&["grep -vE 'row_(1|2)'", "head -2"], "grep -n walrus src/sea.rs"),
        (&["sort -u"], "grep -h walrus src/ice.rs tests/sea.rs"),
        (&["grep -v walrus"], "grep -n walrus src/ice.rs"),
        (&["head -1"], "grep -n absent src/ice.rs"),
        (&["grep -c row"], "grep -n walrus src/sea.rs"),
        (&["grep -c absent"], "grep -n walrus src/sea.rs"),
        (&["grep row_1", "wc -l"], "grep -n walrus src/sea.rs"),
    ] {
        let pipeline = format!("{line} | {}", filters.join(" | "));
        let original = run_line(&project, &pipeline);
        let words = words(line);
        let mut given = vec!["--plain"];
        given.extend(filters.iter().flat_map(|filter| ["--then", filter]));
        given.extend(words.iter().map(String::as_str));
        let answer = run_docent(&project, &given);
        assert_eq!(text(&answer.stdout), text(&original.stdout), "{pipeline}");
        assert_eq!(answer.status.code(), original.status.code(), "{pipeline}");
    }
}

#[test]
fn a_long_answer_groups_matches_below_their_definitions_and_counts_the_rest() {
    let project = project();
    let original = run_line(&project, "grep -rn walrus src tests");
    let answer = run_docent(&project, &["grep", "-rn", "walrus", "src", "tests"]);
    let (original, answer) = (text(&original.stdout), text(&answer.stdout));
    assert!(answer.chars().count() < original.chars().count(), "{answer}");
    assert!(
        answer.starts_with("34 matches in 3 files\ndefined: src/sea.rs:34 walrus\n"),
        "{answer}"
    );
    assert!(
        answer.contains("\n1-32 feed\n2: let row_0 = walrus(fish, 0);\n"),
        "{answer}"
    );
    assert!(answer.contains("… 24 more 8-31\n"), "{answer}");
    assert!(
        answer.find("src/ice.rs").unwrap() < answer.find("tests/sea.rs").unwrap(),
        "{answer}"
    );
}

#[test]
fn a_short_answer_has_the_whole_function_below_its_line() {
    let answer = run_docent(&project(), &["grep", "-n", "walrus", "src/ice.rs"]);
    insta::assert_snapshot!(text(&answer.stdout), @"
    2:    walrus();
    src/ice.rs
    1-3 melt
    1	fn melt() {
    2	    walrus();
    	}
    ");
}

#[test]
fn lines_of_blocked_files_are_counted_and_never_shown() {
    let project = project();
    for line in [
        &["grep", "-rn", "TOKEN", "."][..],
        &["grep", "-rnh", "TOKEN", "."],
        &["grep", "-rno", "TOKEN=w", "."],
        &["--plain", "grep", "-rn", "TOKEN", "."],
        &["--then", "head -5", "grep", "-rn", "TOKEN", "."],
        &["grep", "-n", "TOKEN", ".env"],
        &["grep", "-rn", "-A3", "TOKEN", "."],
    ] {
        let answer = run_docent(&project, line);
        let answer_text = text(&answer.stdout) + &text(&answer.stderr);
        assert!(!answer_text.contains("TOKEN=w"), "{line:?}: {answer_text}");
        assert_eq!(answer.status.code(), Some(0), "{line:?}");
    }
    let answer = run_docent(&project, &["grep", "-rn", "TOKEN", "."]);
    insta::assert_snapshot!(text(&answer.stdout), @"not shown, because docent does not show such files: ./.env 1");
}

#[test]
fn nothing_found_tells_what_comes_near_with_the_same_status() {
    let project = project();
    let answer = run_docent(&project, &["grep", "-rn", "Walrus", "src"]);
    assert_eq!(answer.status.code(), Some(1));
    let shown = text(&answer.stdout);
    assert!(shown.starts_with("no match; in another case: src/"), "{shown}");
    assert!(shown.ends_with(" and 31 more\n"), "{shown}");

    let answer = run_docent(&project, &["rg", "-n", "an ignored walrus"]);
    assert_eq!(answer.status.code(), Some(1));
    let shown = text(&answer.stdout);
    assert_eq!(shown, "no match; in a hidden or ignored file: made/out.txt:1\n");
}

pub(crate) fn rewrite(project: &Sandbox, line: &str) -> Option<String> {
    let output = project.docent().args(["rewrite", "--", line]).output().unwrap();
    let rewritten = text(&output.stdout);
    match output.status.code() {
        Some(0) => Some(
            rewritten
                .trim_end()
                .replace(env!("CARGO_BIN_EXE_docent"), "docent"),
        ),
        Some(1) if rewritten.is_empty() => None,
        other => panic!("{line}: {other:?} {rewritten} {}", text(&output.stderr)),
    }
}

#[test]
fn a_rewritten_line_runs_and_gives_the_same_status() {
    let project = project();
    for (line, expected) in [
        ("grep -rn melt src", "docent sh grep -rn melt src"),
        (
            "cd src && grep -n melt *.rs | head -2",
            "cd src && docent sh --then 'head -2' grep -n melt *.rs",
        ),
        (
            "grep -rn absent src || echo none",
            "docent sh grep -rn absent src || echo none",
        ),
        (
            "find . -name sea.rs; git status --short",
            "docent sh find . -name sea.rs; docent sh git status --short",
        ),
    ] {
        let rewritten = rewrite(&project, line);
        assert_eq!(rewritten.as_deref(), Some(expected), "{line}");
        let runnable = expected.replace("docent sh", &format!("{} sh", env!("CARGO_BIN_EXE_docent")));
        let (original, answer) = (run_line(&project, line), run_line(&project, &runnable));
        assert_eq!(answer.status.code(), original.status.code(), "{line}");
        assert!(
            answer.stdout.starts_with(&original.stdout) || line.contains("find"),
            "{line}"
        );
    }
}

#[test]
fn lines_about_other_places_and_blocked_files_are_left_alone() {
    let project = project();
    for line in [
        "grep -rn root /etc",
        "grep -rn x ..",
        "grep -n x ../other.rs",
        "grep -n x ~/.bashrc",
        "cd .. && grep -rn x .",
        "cd /tmp && grep -rn x .",
        "cd absent && grep -rn x .",
        "grep -n TOKEN .env",
        "grep -n TOKEN .e*",
        "grep -n TOKEN {.env,crlf.txt}",
        "grep -n TOKEN src/{1..3}.rs",
        "grep -n x .git/config",
        "find / -name x",
        "grep -rn x $HOME",
        "echo grep",
    ] {
        assert_eq!(rewrite(&project, line), None, "{line}");
    }
}

#[test]
fn a_setting_of_the_environment_leaves_all_lines_alone() {
    let project = project();
    let line = "rg -n walrus src";
    for (name, value) in [
        ("DOCENT_RAW", "1"),
        ("RIPGREP_CONFIG_PATH", "/x"),
        ("POSIXLY_CORRECT", "1"),
    ] {
        let output = project
            .docent()
            .args(["rewrite", "--", line])
            .env(name, value)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
    }
}
