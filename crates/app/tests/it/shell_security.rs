//! `docent rewrite`, `docent sh` and `docent hook` against hostile projects and command lines: nothing is
//! written, no program but git runs, blocked files are counted and never shown, and any doubt is left alone.
//!
//! Left out: settings of a hostile repository that make git run programs, which `shell_git` attacks.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use docent_testkit::{Sandbox, make_link, set_mode};
use serde_json::json;

use crate::sandbox;

const SECRET: &str = "hunter2-do-not-show";

/// A project with blocked files, links that lead out of it or to blocked files, and names that act.
fn hostile_project() -> Sandbox {
    let sandbox = sandbox()
        .repository()
        .file("src/a.txt", "walrus one\n")
        .file("-rf", "walrus dash\n")
        .file("src/$(touch pwned).txt", "walrus substitution\n")
        .file("src/`touch pwned`.txt", "walrus backquotes\n")
        .file("src/a.rs:12:walrus", "walrus colon\n")
        .file("src/hidden.txt", "walrus \u{1b}]0;title\u{7} \u{202e}reversed\n")
        .file(".env", format!("walrus {SECRET}\n"))
        .file("keys/server.key", format!("walrus {SECRET}\n"))
        .file("src/new\na.txt:9:line.txt", format!("walrus {SECRET}\n"))
        .file("src/\u{1b}[31mred.txt", format!("walrus {SECRET}\n"));
    let outside = sandbox.outside().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), format!("walrus {SECRET}\n")).unwrap();
    make_link(&outside, sandbox.root().join("out"));
    make_link(outside.join("secret.txt"), sandbox.root().join("src/outside.txt"));
    make_link("../.env", sandbox.root().join("src/inside.txt"));
    sandbox
}

fn shell(sandbox: &Sandbox, words: &[&str]) -> Output {
    let mut docent = sandbox.docent();
    docent.arg("sh").args(words).env("LC_ALL", "C.UTF-8");
    docent.output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The rewritten line, `None` if it is left alone.
fn rewrite(sandbox: &Sandbox, line: &str) -> Option<String> {
    let finished = sandbox.run(&["rewrite", "--", line]);
    (finished.code == 0).then_some(finished.stdout)
}

/// The answer of Claude Code's hook to a shell command, and how long it took.
fn ask_hook(mut docent: Command, directory: &Path, line: &str) -> (Output, Duration) {
    let event = json!({
        "session_id": "s", "cwd": directory, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": line },
    });
    docent.args(["hook", "claude"]);
    docent
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = docent.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The hook may have given up before it has read everything.
    let _ = stdin.write_all(event.to_string().as_bytes());
    drop(stdin);
    (child.wait_with_output().unwrap(), start.elapsed())
}

/// Commands that answer from files of every kind.
const SEARCHES: &[&[&str]] = &[
    &["grep", "-rn", "walrus", "."],
    &["grep", "-rno", "walrus.*", "."],
    &["grep", "-rh", "walrus", "."],
    &["grep", "-Rn", "walrus", "."],
    &["grep", "-rn", "-C2", "walrus", "."],
    &["grep", "-rv", "zebra", "."],
    &["grep", "walrus", ".env", "keys/server.key"],
    &["grep", "walrus", "src/inside.txt", "src/outside.txt"],
    &["grep", "walrus", "out/secret.txt"],
    &["rg", "--hidden", "--no-ignore", "walrus"],
    &["rg", "--hidden", "-o", "walrus.*"],
    &["git", "grep", "-n", "walrus"],
    &["git", "grep", "--untracked", "-n", "walrus"],
];

#[test]
fn blocked_files_and_targets_of_links_are_counted_and_never_shown() {
    let sandbox = hostile_project();
    sandbox.git(&["add", "-A", "-f"]);
    for words in SEARCHES {
        for prefix in [&[][..], &["--plain"], &["--then", "sort"]] {
            let output = shell(&sandbox, &[prefix, words].concat());
            let text = out(&output);
            assert!(!text.contains(SECRET), "{words:?}: {text}");
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!errors.contains(SECRET), "{words:?}: {errors}");
        }
    }
    let counted = out(&shell(
        &sandbox,
        &["grep", "walrus", "src/inside.txt", "src/outside.txt"],
    ));
    assert_eq!(
        counted,
        "not shown, because docent does not show such files: src/inside.txt 1, src/outside.txt 1\n"
    );
    // By git, too.
    sandbox.git(&["commit", "-qm", "secrets"]);
    for words in [
        &["git", "show"][..],
        &["git", "show", "--", ".env"],
        &["git", "log", "-p"],
        &["git", "diff", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "HEAD"],
        &["git", "show", "HEAD:.env"],
        &["git", "blame", ".env"],
    ] {
        let text = out(&shell(&sandbox, words));
        assert!(!text.contains(SECRET), "{words:?}: {text}");
    }
}

#[test]
fn names_of_files_add_no_lines_and_no_escapes_to_what_docent_says() {
    let sandbox = hostile_project();
    let text = out(&shell(&sandbox, &["grep", "-rn", "walrus", "."]));
    let hidden: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("not shown, because"))
        .collect();
    let [hidden] = hidden.as_slice() else {
        panic!("{text}");
    };
    for name in [
        "./src/new\\u{A}a.txt:9:line.txt 1",
        "./src/\\u{1B}[31mred.txt 1",
        "./.env 1",
    ] {
        assert!(hidden.contains(name), "{name}: {hidden}");
    }
    assert!(!text.contains("\na.txt:9:line.txt"), "{text}");
    // The list is short, however many files there are, and complete.
    for number in 0..400 {
        sandbox.write(&format!("deep/{number}/.env"), "walrus\n");
    }
    let text = out(&shell(&sandbox, &["grep", "-rn", "walrus", "."]));
    let hidden = text
        .lines()
        .find(|line| line.starts_with("not shown, because"))
        .unwrap();
    assert!(hidden.len() < 600 && hidden.contains("./deep/ 400"), "{hidden}");
}

#[test]
fn names_and_patterns_that_act_in_a_shell_run_nothing() {
    let sandbox = hostile_project();
    for line in [
        "grep -rn walrus .",
        "grep -n walrus ./-rf src/*",
        "grep -n walrus -- -rf",
        "grep -rn '$(touch pwned)' src",
        "grep -rn '`touch pwned`' src | head -5",
        "find . -name '*.txt'",
        "ls -R",
        "git status",
    ] {
        let Some(rewritten) = rewrite(&sandbox, line) else {
            continue;
        };
        let mut bash = sandbox.program("bash");
        let output = bash.args(["-c", &rewritten]).output().unwrap();
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{line}: {output:?}"
        );
    }
    assert!(rewrite(&sandbox, "grep -rn walrus .").is_some());
    assert!(rewrite(&sandbox, "grep -n walrus ./-rf src/a*").is_some());
    assert!(!sandbox.root().join("pwned").exists());
}

/// Lines with which a program would run another one, write, or read what docent does not show.
const LINES_LEFT_ALONE: &[&str] = &[
    "rg --pre 'touch pwned' x src",
    "rg --pre=sh x src",
    "rg --hostname-bin=./x x src",
    "rg -z x src",
    "rg --ignore-file=.env x",
    "rg -L walrus",
    "grep -f .env src/a.txt",
    "grep -rf.env src",
    "rg -f .env src",
    "find . -exec touch pwned ;",
    "find . -exec touch pwned \\;",
    "find . -name x -delete",
    "find . -fprintf pwned %p",
    "find . -fls pwned",
    "find . -ok rm {} \\;",
    "find -files0-from .env",
    "find -L .",
    "fd -x touch pwned",
    "fd --exec-batch touch pwned",
    "tree -o pwned",
    "tree --fromfile .env",
    "tree -l",
    "ls -R > pwned",
    "git grep -O x",
    "git grep -Otouch x",
    "git grep --open-files-in-pager=touch x",
    "git diff --output=pwned",
    "git log --output pwned",
    "git log -p --output=pwned",
    "git diff --ext-diff",
    "git show --textconv HEAD",
    "git log --show-signature",
    "git log --format=%GG",
    "git -c core.pager=touch log",
    "git -c core.fsmonitor=touch status",
    "git --exec-path=. log",
    "git --git-dir=/tmp/x log",
    "git --work-tree=/ status",
    "git -p log",
    "git diff --no-index /etc/passwd src/a.txt",
    "git diff -O.env",
    "git blame --contents=.env src/a.txt",
    "git blame -S .env src/a.txt",
    "git blame .env",
    "git show HEAD:.env",
    "git diff -- .env",
    "git log -p -- .env",
    "git log -L1,2:.env",
    "git log --notes=.env",
    "git diff --submodule=diff",
    "git difftool",
    "git status | tee pwned",
    "git log | sort -o pwned",
    "git log | sort --compress-program=touch",
    "git log | uniq - pwned",
    "git log | head .env",
    "git log | sed -n '1w pwned'",
    "git log | sed -n '1e touch pwned'",
    "grep -rn x . | grep -vf .env",
    "grep -rn x . | sort -o pwned",
    "grep -rn walrus src/inside.txt",
    "grep -rn walrus src/outside.txt",
    "grep -rn walrus out",
    "grep -rn walrus out/*",
    "grep -n walrus src/*",
    "grep -n walrus {src/a.txt,keys/*}",
    "git grep walrus -- .env",
    "grep -rn walrus ..",
    "grep -rn walrus /etc/passwd",
    "grep -rn walrus ~/.ssh",
    "grep -rn walrus .git",
    "grep -rn walrus src/../.env",
    "grep walrus keys/server.key",
    "rg walrus .env",
    "find out",
    "ls -R /etc",
    "grep -rn walrus $HOME",
    "grep -rn walrus \"`touch pwned`\"",
    "grep -rn walrus <(touch pwned)",
    "grep() { touch pwned; }; grep -rn walrus .",
    "alias grep='touch pwned'; grep -rn walrus .",
    "PATH=.:$PATH; grep -rn walrus .",
    "GIT_EXTERNAL_DIFF=touch git diff",
    "export GIT_DIR=/tmp/x; git log",
    "export CDPATH=/; cd src && grep -rn walrus .",
];

#[test]
fn lines_that_write_or_run_or_name_a_blocked_file_are_left_alone() {
    let sandbox = hostile_project();
    // Without what makes them dangerous, such lines are replaced.
    for line in [
        "rg x src",
        "grep -rn walrus .",
        "find . -name x",
        "git diff",
        "git log -p",
        "git log | head -5",
        "cd src && grep -rn walrus .",
    ] {
        assert!(rewrite(&sandbox, line).is_some(), "{line}");
    }
    for line in LINES_LEFT_ALONE {
        assert_eq!(rewrite(&sandbox, line), None, "{line}");
    }
    assert!(!sandbox.root().join("pwned").exists());
    // What `docent sh` is given itself is refused for the same reasons.
    for line in LINES_LEFT_ALONE {
        let words: Vec<&str> = line.split(' ').collect();
        let output = shell(&sandbox, &words);
        assert!(!out(&output).contains(SECRET), "{line}: {output:?}");
    }
    assert!(!sandbox.root().join("pwned").exists());
}

/// Every file of a project with its size and its time of modification.
fn list_files(directory: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            list_files(&path, found);
        }
        let state = format!("{} {:?}", metadata.len(), metadata.modified().unwrap());
        found.insert(path.display().to_string(), state);
    }
}

#[test]
fn no_answer_writes_into_the_project() {
    let sandbox = hostile_project();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "all"]);
    sandbox.write("src/a.txt", "walrus two\n");
    let list = || {
        let mut found = BTreeMap::new();
        list_files(&sandbox.root(), &mut found);
        found
    };
    let before = list();
    let questions: &[&[&str]] = &[
        &["git", "status"],
        &["git", "diff"],
        &["git", "log", "-p"],
        &["git", "show", "--stat"],
        &["git", "blame", "src/a.txt"],
        &["find", "."],
        &["ls", "-R"],
    ];
    for words in SEARCHES.iter().chain(questions) {
        shell(&sandbox, words);
        let line = words.join(" ");
        rewrite(&sandbox, &line);
        ask_hook(sandbox.docent(), &sandbox.root(), &line);
    }
    assert_eq!(list(), before);
}

#[test]
fn programs_that_a_project_brings_are_not_run() {
    let sandbox = hostile_project();
    let root = sandbox.root();
    let trace = sandbox.outside().join("pwned");
    for place in ["bin/git", "bin/docent", "git", "docent", "src/git", "src/docent"] {
        let program = root.join(place);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, format!("#!/bin/sh\ntouch {}\n", trace.display())).unwrap();
        set_mode(&program, 0o755);
    }
    let own = sandbox.docent().get_program().to_owned();
    let outside = sandbox.outside().join("programs");
    fs::create_dir(&outside).unwrap();
    make_link(&own, outside.join("docent"));
    let usual = format!("{}:/usr/bin:/bin", outside.display());
    let inside = root.join("bin").display().to_string();
    for first in [".", "", "bin", inside.as_str()] {
        let path = format!("{first}:{usual}");
        for directory in [root.clone(), root.join("src")] {
            let mut docent = sandbox.docent();
            docent.current_dir(&directory).env("PATH", &path);
            let (answer, _) = ask_hook(docent, &directory, "grep -rn walrus .");
            assert_eq!(out(&answer), "", "{first}: {directory:?}");
            for words in [&["status"][..], &["-C", "..", "log"], &["grep", "walrus"]] {
                let mut docent = sandbox.docent();
                docent.current_dir(&directory).env("PATH", &path);
                docent.args(["sh", "git"]).args(words).output().unwrap();
            }
            let mut docent = sandbox.docent();
            docent.current_dir(&directory).env("PATH", &path);
            docent.args(["rewrite", "--", "grep -rn walrus ."]);
            let rewritten = out(&docent.output().unwrap());
            let expected = format!("{} sh grep", own.display());
            assert!(rewritten.starts_with(&expected), "{first}: {rewritten}");
        }
    }
    assert!(!trace.exists());
    // Behind the user's own directory, it does no harm.
    let mut docent = sandbox.docent();
    docent.env("PATH", format!("{usual}:."));
    let (answer, _) = ask_hook(docent, &root, "grep -rn walrus .");
    assert!(out(&answer).contains("docent sh grep"), "{answer:?}");
}

#[test]
fn a_project_turns_on_no_hook_and_loosens_no_rule() {
    let large = "fn walrus() {\n    dive();\n}\n".repeat(300);
    let settings =
        "[hook]\nread = \"outline\"\nread_lines = 1\n[access]\nblocked = []\nallowed = [\".env\"]\n";
    let sandbox = hostile_project()
        .file("src/large.rs", &large)
        .file(".context/config.toml", settings);
    let event = json!({
        "session_id": "s", "cwd": sandbox.root(), "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": { "file_path": sandbox.root().join("src/large.rs") },
    });
    let mut docent = sandbox.docent();
    docent
        .args(["hook", "claude"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = docent.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(event.to_string().as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(out(&child.wait_with_output().unwrap()), "");
    for text in [settings, "access = 7", "[", "\u{0}"] {
        sandbox.write(".context/config.toml", text);
        let answer = out(&shell(&sandbox, &["grep", "-rn", "walrus", "."]));
        assert!(!answer.contains(SECRET), "{text}: {answer}");
        assert!(rewrite(&sandbox, "grep walrus .env").is_none(), "{text}");
    }
    // A root that the environment names does not widen what may be shown.
    for root in ["/", "/etc", "no/such"] {
        let mut docent = sandbox.docent();
        docent.env("DOCENT_ROOT", root);
        docent.args(["sh", "grep", "-rn", "walrus", "."]);
        let answer = out(&docent.output().unwrap());
        assert!(!answer.contains(SECRET), "{root}: {answer}");
    }
}

#[test]
fn patterns_cannot_exhaust_time_or_memory() {
    let sandbox = sandbox()
        .repository()
        .file("a.txt", format!("{}b\n", "a".repeat(5_000)));
    let nested = format!("{}a{}", "(".repeat(15_000), ")".repeat(15_000));
    let alternatives = (0..10_000)
        .map(|word| format!("w{word}"))
        .collect::<Vec<_>>()
        .join("|");
    let stars = format!("{}c", "*a".repeat(3_000));
    let braces = "{a,b}".repeat(40);
    let patterns: &[&[&str]] = &[
        &["grep", "-E", "(a+)+$", "a.txt"],
        &["grep", "-E", "(a|a)*c", "a.txt"],
        &["grep", "-E", "((a{1,200}){1,200}){1,200}", "a.txt"],
        &["rg", "((a{1,200}){1,200}){1,200}", "a.txt"],
        &["grep", "-P", "(a+)+$", "a.txt"],
        &["grep", "\\(a*\\)*\\1\\1c", "a.txt"],
        &["grep", "-E", &nested, "a.txt"],
        &["rg", &nested, "a.txt"],
        &["grep", "-E", &alternatives, "a.txt"],
        &["find", ".", "-name", &stars],
        &["rg", "-g", &braces, "a"],
    ];
    for words in patterns {
        let start = Instant::now();
        let output = shell(&sandbox, words);
        let shown: String = words.join(" ").chars().take(60).collect();
        assert!(
            output.status.code().is_some_and(|code| code <= 2),
            "{shown}: {output:?}"
        );
        assert!(start.elapsed() < Duration::from_secs(20), "{shown}");
    }
}

#[test]
fn a_hook_gives_up_lines_that_are_made_to_keep_it_busy() {
    let sandbox = sandbox().repository().file("a.txt", "a\n");
    for line in [
        format!("grep -rnE '{}' .", "a".repeat(7_000_000)),
        format!("grep -rnE '{}' .", "(".repeat(3_000_000)),
        format!("{}grep x{}", "$(".repeat(50_000), ")".repeat(50_000)),
        format!("{}true", "grep x a && ".repeat(100_000)),
        format!("{}grep x a 2>/dev/null | head", "cd . && ".repeat(20_000)),
        format!("{}grep x a", "! ".repeat(50_000)),
        format!("grep x a{}", " 2>/dev/null".repeat(50_000)),
        format!("{}grep x a;{}", "{ ".repeat(50_000), "}".repeat(50_000)),
        format!("{}cat", "grep x a | ".repeat(100_000)),
        "grep x a; ".repeat(100_000),
        format!("grep {}", "\"".repeat(200_001)),
        format!("grep -rn x {}", "../".repeat(500_000)),
    ] {
        let (output, time) = ask_hook(sandbox.docent(), &sandbox.root(), &line);
        let shown: String = line.chars().take(40).collect();
        assert_eq!(output.status.code(), Some(0), "{shown}");
        assert!(output.stderr.is_empty(), "{shown}: {output:?}");
        assert!(time < Duration::from_secs(10), "{shown}: {time:?}");
    }
}
