//! `docent sh git …`: what git prints, or a shorter answer with everything counted, and no program but git.

use std::fs;
use std::process::Output;

use docent_testkit::{JANE, JOHN, Sandbox, set_mode};
use insta::assert_snapshot;

use crate::sandbox;

/// Runs git as a user would, with the configuration in the home directory.
fn plain(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let mut git = sandbox.program("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1").args(arguments);
    git.output().unwrap()
}

/// The same through docent, behind filters.
fn shell(sandbox: &Sandbox, filters: &[&str], arguments: &[&str]) -> Output {
    let mut docent = sandbox.docent();
    docent.env("GIT_CONFIG_NOSYSTEM", "1").arg("sh");
    for filter in filters {
        docent.args(["--then", filter]);
    }
    docent.arg("git").args(arguments).output().unwrap()
}

fn answer(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = shell(sandbox, &[], arguments);
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Fails unless docent prints the bytes of git and ends with its status.
fn assert_same(sandbox: &Sandbox, command: &str) {
    let arguments: Vec<&str> = command.split(' ').collect();
    let (plain, shown) = (plain(sandbox, &arguments), shell(sandbox, &[], &arguments));
    let texts = |output: &Output| {
        [
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ]
    };
    assert_eq!(texts(&shown), texts(&plain), "{command}");
    assert_eq!(shown.stdout, plain.stdout, "{command}");
    assert_eq!(shown.status.code(), plain.status.code(), "{command}");
}

fn assert_refused(sandbox: &Sandbox, command: &str, why: &str) {
    let arguments: Vec<&str> = command.split(' ').collect();
    let shown = shell(sandbox, &[], &arguments);
    let text = String::from_utf8_lossy(&shown.stderr);
    assert!(
        shown.status.code() == Some(2) && shown.stdout.is_empty() && text.contains(why),
        "{command}: {shown:?}"
    );
}

fn configure(sandbox: &Sandbox, text: &str) {
    fs::write(sandbox.home().join(".gitconfig"), text).unwrap();
}

const COMMANDS: [&str; 34] = [
    "log -2",
    "log --oneline",
    "log --oneline --all --graph",
    "log --format=%h|%an|%s",
    "log --pretty=format:%H",
    "log --stat -1",
    "log -p -1",
    "log --oneline -- sub",
    "show",
    "show --stat HEAD",
    "show HEAD:a.txt",
    "show --name-only --oneline HEAD~1",
    "show -s --format=%B",
    "diff",
    "diff HEAD",
    "diff --cached",
    "diff --cached --name-status",
    "diff HEAD~1 -- a.txt",
    "diff --numstat HEAD~1..HEAD",
    "diff -z --raw HEAD~1",
    "diff -U 0 -w HEAD~1",
    "diff --exit-code",
    "diff --quiet HEAD~1",
    "status",
    "status --short --branch",
    "status --porcelain=v2",
    "status -z",
    "blame a.txt",
    "blame -L 1,1 --line-porcelain a.txt",
    "show nothing",
    "log nothing..HEAD",
    "diff -- nothing",
    "-C sub diff HEAD",
    "-C sub log --oneline -- .",
];

/// Renames, a binary file, CRLF, names beyond ASCII, changes in the index and in the working tree.
fn varied() -> Sandbox {
    let sandbox = sandbox()
        .repository()
        .file("a.txt", "one\ntwo\nthree\n")
        .file("crlf.txt", "one\r\ntwo\r\n")
        .file("größe \"x\".txt", "eins\n")
        .file("blob.bin", [0_u8, 1, 2, 255])
        .file("old.txt", "some lines\nof a file\nthat moves\n")
        .file("sub/b.rs", "fn b() {}\n");
    sandbox.commit("2025-10-01", JOHN, "one\n\nA body\nof two lines.");
    sandbox.write("a.txt", "one\nTWO\nthree\n");
    sandbox.write("crlf.txt", "one\r\nTWO\r\n");
    sandbox.write("größe \"x\".txt", "zwei\n");
    sandbox.write("blob.bin", [0_u8, 9, 9]);
    fs::rename(sandbox.root().join("old.txt"), sandbox.root().join("new.txt")).unwrap();
    sandbox.commit("2025-10-02", JANE, "two");
    sandbox.write("sub/b.rs", "fn b() {}\n\nfn c() {}\n");
    sandbox.write("untracked.txt", "x\n");
    sandbox.git(&["add", "sub"]);
    sandbox.write("sub/b.rs", "fn b() {}\n\nfn c() {}\nfn d() {}");
    sandbox
}

#[test]
fn short_output_is_that_of_git_byte_for_byte() {
    let sandbox = varied();
    for command in COMMANDS {
        assert_same(&sandbox, command);
    }
}

#[test]
fn every_state_of_a_repository_is_shown_as_git_shows_it() {
    let empty = sandbox().repository().file("a.txt", "one\n");
    for command in COMMANDS {
        assert_same(&empty, command);
    }
    let none = sandbox().file("a.txt", "one\n");
    for command in ["log", "status", "show", "blame a.txt"] {
        assert_same(&none, command);
    }
    let detached = varied();
    detached.git(&["checkout", "-q", "--detach", "-f", "HEAD~1"]);
    for command in COMMANDS {
        assert_same(&detached, command);
    }
    // A conflict, and then a merge that resolves it.
    let merged = sandbox().repository().file("a.txt", "one\n");
    merged.commit("2025-10-01", JOHN, "base");
    merged.git(&["checkout", "-q", "-b", "side"]);
    merged.write("a.txt", "side\n");
    merged.commit("2025-10-02", JANE, "side");
    merged.git(&["checkout", "-q", "main"]);
    merged.write("a.txt", "main\n");
    merged.commit("2025-10-03", JOHN, "main");
    let mut merge = merged.program("git");
    merge.env("GIT_CONFIG_NOSYSTEM", "1");
    let conflict = merge
        .args(["-c", "user.name=J", "-c", "user.email=j@e.com", "merge", "side"])
        .output()
        .unwrap();
    assert!(!conflict.status.success());
    for command in ["diff", "status", "status --short", "log -p --all"] {
        assert_same(&merged, command);
    }
    merged.write("a.txt", "both\n");
    merged.commit("2025-10-04", JOHN, "merge");
    for command in [
        "show",
        "log -p",
        "log --oneline --graph",
        "show --stat",
        "log --cc -1",
    ] {
        assert_same(&merged, command);
    }
}

#[test]
fn the_configuration_of_the_user_keeps_its_meaning() {
    let sandbox = varied();
    for text in [
        "[diff]\n\tnoprefix = true\n",
        "[diff]\n\tmnemonicPrefix = true\n",
        "[diff]\n\trelative = true\n\tcontext = 0\n\tsuppressBlankEmpty = true\n",
        "[diff]\n\talgorithm = histogram\n\trenames = false\n\tsubmodule = log\n",
        "[core]\n\tquotePath = false\n\tpager = less\n[pager]\n\tlog = less\n",
        "[log]\n\tdate = iso\n\tdecorate = full\n\tabbrevCommit = true\n",
        "[format]\n\tpretty = oneline\n",
        "[format]\n\tpretty = %h %s\n[blame]\n\tdate = short\n",
        "[status]\n\tshort = true\n\tbranch = true\n\tshowUntrackedFiles = no\n",
        "[alias]\n\tlog = status\n\tdiff = !touch x\n",
    ] {
        configure(&sandbox, text);
        for command in COMMANDS {
            assert_same(&sandbox, command);
        }
    }
    configure(&sandbox, "[color]\n\tui = always\n");
    for command in [
        "log --oneline",
        "log -2",
        "status",
        "diff --stat HEAD",
        "diff --no-color",
    ] {
        assert_same(&sandbox, command);
    }
    assert_refused(&sandbox, "diff HEAD", "colours");
    configure(&sandbox, "[diff]\n\tsrcPrefix = x\n");
    assert_refused(&sandbox, "show", "prefixes");
}

#[test]
fn programs_whose_output_git_would_print_are_left_to_git() {
    let sandbox = varied();
    for (text, command) in [
        ("[diff]\n\texternal = difft\n", "diff"),
        ("[diff \"exif\"]\n\ttextconv = exif\n", "show HEAD"),
        ("[diff \"x\"]\n\tcommand = x\n", "log -p -1"),
        ("[diff]\n\tsubmodule = diff\n", "diff"),
        ("[log]\n\tshowSignature = true\n", "log -1"),
        ("[format]\n\tpretty = %h %G?\n", "show -s"),
        ("[pretty]\n\tsigned = %GK\n", "log --pretty=signed"),
        ("[status]\n\tsubmoduleSummary = true\n", "status"),
        ("[core]\n\tworktree = /\n", "status"),
    ] {
        configure(&sandbox, text);
        assert_refused(&sandbox, command, "command git ");
    }
    // They do not stand in the way of commands that do not need them.
    configure(&sandbox, "[diff]\n\texternal = difft\n");
    assert_same(&sandbox, "log --oneline");
    // A filter that is needed to compare a file, and one that is not.
    configure(
        &sandbox,
        "[filter \"up\"]\n\tclean = tr a-z A-Z\n\trequired = true\n",
    );
    sandbox.write(".gitattributes", "*.bin filter=up\n");
    assert_same(&sandbox, "diff HEAD -- a.txt");
    sandbox.write("blob.bin", "other\n");
    assert_refused(&sandbox, "diff HEAD", "filter");
}

#[test]
fn no_program_of_a_hostile_repository_runs() {
    let sandbox = varied();
    let program = sandbox.outside().join("ev.sh");
    let traces = sandbox.outside().display();
    fs::write(&program, format!("#!/bin/sh\ntouch {traces}/pwned_$1\n")).unwrap();
    set_mode(&program, 0o755);
    let program = program.display();
    // A submodule with settings of its own.
    let inside = sandbox.root().join("module");
    fs::create_dir(&inside).unwrap();
    sandbox.git_in(&inside, &["init", "-q"]);
    fs::write(inside.join("f.txt"), "f\n").unwrap();
    sandbox.git_in(&inside, &["add", "."]);
    sandbox.git_in(&inside, &["commit", "-qm", "inside"]);
    let head = sandbox.git_in(&inside, &["rev-parse", "HEAD"]);
    let entry = format!("160000,{head},module");
    sandbox.git(&["update-index", "--add", "--cacheinfo", &entry]);
    assert_same(&sandbox, "status");
    fs::write(inside.join("f.txt"), "changed\n").unwrap();
    assert_same(&sandbox, "status");
    assert_same(&sandbox, "diff");
    for directory in [&sandbox.root(), &inside] {
        for (key, name) in [
            ("core.fsmonitor", "fsmonitor"),
            ("filter.evil.clean", "clean"),
            ("filter.evil.process", "process"),
            ("core.pager", "pager"),
            ("pager.status", "pager_status"),
            ("core.editor", "editor"),
            ("gpg.program", "gpg"),
            ("core.sshCommand", "ssh"),
            ("interactive.diffFilter", "difffilter"),
            ("alias.log", "alias"),
        ] {
            sandbox.git_in(directory, &["config", key, &format!("{program} {name}")]);
        }
        fs::write(directory.join(".gitattributes"), "*.txt filter=evil diff=evil\n").unwrap();
        for hook in ["post-index-change", "post-checkout", "fsmonitor-watchman"] {
            let hook = directory.join(".git/hooks").join(hook);
            fs::create_dir_all(hook.parent().unwrap()).unwrap();
            fs::write(&hook, format!("#!/bin/sh\n{program} hook\n")).unwrap();
            set_mode(&hook, 0o755);
        }
    }
    let run_all = || {
        for command in COMMANDS {
            shell(&sandbox, &[], &command.split(' ').collect::<Vec<_>>());
        }
        let traces: Vec<_> = fs::read_dir(sandbox.outside())
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter(|name| name.starts_with("pwned_"))
            .collect();
        assert!(traces.is_empty(), "{traces:?}");
    };
    run_all();
    for (key, name) in [
        ("diff.external", "external"),
        ("diff.evil.textconv", "textconv"),
        ("diff.evil.command", "command"),
    ] {
        sandbox.git(&["config", key, &format!("{program} {name}")]);
    }
    sandbox.git(&["config", "log.showSignature", "true"]);
    run_all();
    // The attack is one: git itself runs the program.
    plain(&sandbox, &["diff", "HEAD"]);
    assert!(sandbox.outside().join("pwned_external").exists());
}

#[test]
fn filters_read_what_git_prints() {
    let sandbox = varied();
    let show = |filters: &[&str], command: &str| {
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = shell(&sandbox, filters, &arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_snapshot!(show(&["head -2"], "log --format=%s%n%an"), @r"
    two
    Jane Smith
    ");
    assert_snapshot!(show(&["sort", "tail -n 1"], "log --format=%an"), @"John Doe");
    // `head` succeeds whatever git says.
    assert_eq!(show(&["head -5"], "diff --exit-code -- a.txt"), "");
    assert_eq!(show(&["head -1"], "log --pretty=format:%s -1"), "two");
    assert_eq!(show(&["sort"], "log --pretty=format:%s -1"), "two\n");
    assert_eq!(show(&["grep two"], "log --pretty=format:%s -1"), "two\n");
    assert_eq!(show(&["grep -c e"], "log --format=%an"), "2\n");
    assert_eq!(show(&["wc -l"], "log --format=%s"), "2\n");
    let none = shell(&sandbox, &["grep absent"], &["log", "--format=%s"]);
    assert_eq!((none.status.code(), none.stdout.is_empty()), (Some(1), true));
}

#[test]
fn messages_of_git_go_through_the_filters_that_they_are_sent_to() {
    let sandbox = varied();
    let mut docent = sandbox.docent();
    docent.env("GIT_CONFIG_NOSYSTEM", "1");
    docent.args([
        "sh",
        "--with-errors",
        "--then",
        "grep -c fatal",
        "git",
        "log",
        "absent",
    ]);
    let output = docent.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
    assert_eq!((output.status.code(), output.stderr.is_empty()), (Some(0), true));
}

/// A change of code, tests, prose, a lock file, a generated file and a secret, over the budget.
fn large_change() -> Sandbox {
    let code = |word: &str, lines: usize| -> String {
        let line = |at| format!("    let value_{at} = compute({at}, \"{word}\");\n");
        format!("fn run() {{\n{}}}\n", (0..lines).map(line).collect::<String>())
    };
    let sandbox = sandbox()
        .repository()
        .file("src/run.rs", code("old", 60))
        .file("src/tiny.rs", "fn tiny() {\n    1\n}\n")
        .file("src/blank.rs", "fn blank() {\n  let a = 1;\n}\n")
        .file("src/gone.rs", "fn gone() {}\n".repeat(5))
        .file("src/moved.rs", "fn moved() {}\n// and a second line\n")
        .file("tests/run.rs", code("test", 30))
        .file("Cargo.lock", "version = 1\n".repeat(30))
        .file("api.pb.go", "var a = 1\n".repeat(30))
        .file(".env", "TOKEN=old\nHOST=a\n")
        .file("README.md", "# Title\n");
    sandbox.commit("2025-10-01", JOHN, "one");
    sandbox.write("src/run.rs", code("new", 60));
    sandbox.write("src/tiny.rs", "fn tiny() {\n    2\n}\n");
    sandbox.write("src/blank.rs", "fn blank() {\n    let a = 1;\n}\n");
    fs::remove_file(sandbox.root().join("src/gone.rs")).unwrap();
    fs::rename(
        sandbox.root().join("src/moved.rs"),
        sandbox.root().join("src/new_place.rs"),
    )
    .unwrap();
    sandbox.write("tests/run.rs", code("TEST", 30));
    sandbox.write("Cargo.lock", "version = 2\n".repeat(30));
    sandbox.write("api.pb.go", "var a = 2\n".repeat(30));
    sandbox.write(".env", "TOKEN=new\nHOST=a\n");
    sandbox.write("README.md", "# New title\n");
    sandbox.commit("2025-10-02", JANE, "two\n\nWith a reason.");
    sandbox
}

#[test]
fn a_patch_over_the_budget_is_a_table_of_files_and_the_hunks_that_fit() {
    let sandbox = large_change();
    let text = answer(&sandbox, &["diff", "HEAD~1", "HEAD"]);
    assert!(text.chars().count() <= 4_000, "{text}");
    let until_hunks: Vec<&str> = text.lines().take_while(|line| !line.starts_with('@')).collect();
    assert_snapshot!(until_hunks.join("\n"), @r"
    10 files, +154 -159; the rest: command git diff 'HEAD~1' HEAD -- PATH
    src/new_place.rs renamed from src/moved.rs
    src/run.rs +60 -60, left out: 43 lines
    src/tiny.rs +1 -1
    tests/run.rs +30 -30, left out: 1 hunk, 62 lines
    README.md +1 -1, left out: 1 hunk, 2 lines
    api.pb.go +30 -30 generated, left out: 1 hunk, 60 lines
    src/blank.rs +1 -1 only whitespace differs, left out: 1 hunk, 4 lines
    src/gone.rs deleted +0 -5, left out: 1 hunk, 5 lines
    .env +1 -1 blocked, left out: 1 hunk, 3 lines
    Cargo.lock +30 -30 lock file, left out: 1 hunk, 60 lines
    src/run.rs
    ");
    assert!(
        text.contains("\nsrc/tiny.rs\n@@ -1,3 +1,3 @@\n fn tiny() {\n-    1\n+    2\n }\n"),
        "{text}"
    );
    let text = answer(&sandbox, &["show"]);
    assert!(text.contains("    With a reason.\n\n10 files, "), "{text}");
    assert!(text.contains("; the rest: command git show -- PATH\n"), "{text}");
    // The command that is named shows one file, from below the top as well.
    let below = answer(&sandbox, &["-C", "src", "diff", "HEAD~1"]);
    assert!(
        below.contains("; the rest: command git -C src diff 'HEAD~1' -- :/PATH\n"),
        "{below}"
    );
}

#[test]
fn lines_of_blocked_files_are_counted_in_every_answer() {
    let sandbox = large_change();
    let secret = |text: &str| text.contains("TOKEN=");
    assert!(secret(&String::from_utf8_lossy(
        &plain(&sandbox, &["show"]).stdout
    )));
    for command in [
        "show",
        "log -p",
        "diff HEAD~1",
        "diff HEAD~1 --no-prefix",
        "show --format=%B",
        "log -p --reverse --stat",
        "diff -R HEAD~1",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let text = answer(&sandbox, &arguments);
        assert!(!secret(&text) && text.contains(".env"), "{command}: {text}");
        for filter in ["head -12", "sort", "tail -300", "sort -u"] {
            let output = shell(&sandbox, &[filter], &arguments);
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(!secret(&text), "{command} | {filter}: {text}");
        }
    }
    sandbox.write(".env", "TOKEN=newest\nHOST=a\n");
    assert_snapshot!(answer(&sandbox, &["diff"]), @r"
    diff --git a/.env b/.env
    index 804328d..6f77ae7 100644
    --- a/.env
    +++ b/.env
    … 4 lines of the patch of .env not shown: docent's access rules block the file
    ");
    for command in ["diff -- .env", "show HEAD:.env", "blame .env"] {
        assert_refused(&sandbox, command, "does not show");
    }
}

#[test]
fn a_log_over_the_budget_counts_its_commits() {
    let sandbox = sandbox().repository();
    for at in 0..30 {
        sandbox.write("a.txt", format!("{at}\n"));
        sandbox.commit(
            "2025-10-01",
            JANE,
            &format!("change {at}\n\n{}", "A line of the message.\n".repeat(at % 12)),
        );
    }
    let text = answer(&sandbox, &["log", "-12"]);
    assert_eq!(
        text.matches(" 2025-10-01 Jane Smith: change ").count(),
        12,
        "{text}"
    );
    assert!(
        text.ends_with("as git prints it: command git log -12\n"),
        "{text}"
    );
    let lines: Vec<String> = (0..200).map(|at| format!("file {at} with a name.txt")).collect();
    for name in &lines {
        sandbox.write(name, "x\n");
    }
    let text = answer(&sandbox, &["status", "--short"]);
    let notice = text.lines().last().unwrap();
    let shown = text.lines().count() - 1;
    assert_eq!(
        notice,
        format!("… {} more lines of 200: command git status --short", 200 - shown)
    );
    assert_same(&sandbox, "status --porcelain");
}

#[test]
fn grep_behind_git_leaves_out_the_lines_that_are_not_text() {
    let sandbox = sandbox().file("a.txt", "one e\n").repository();
    sandbox.commit("2025-10-01", JOHN, "Begin");
    sandbox.write("a.txt", b"one e\ncaf\xe9 fix e\nlast e\n");
    let mut docent = sandbox.docent();
    docent.env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C.UTF-8");
    docent.args(["sh", "--then", "grep 'e$'", "git", "diff"]);
    let output = docent.output().unwrap();
    // As grep 3.8 does.
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        " one e
+last e
"
    );
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "grep: (standard input): binary file matches\n"
    );
}

#[test]
fn wc_behind_git_counts_line_ends() {
    let sandbox = sandbox().file("a.txt", "one\ntwo").repository();
    sandbox.commit("2025-10-01", JOHN, "Begin");
    for (filters, command, expected) in [
        (&["wc -l"][..], "show HEAD:a.txt", "1\n"),
        (&["tail -1", "wc -l"], "show HEAD:a.txt", "0\n"),
        (&["head -1", "wc -l"], "show HEAD:a.txt", "1\n"),
        (&["sort", "wc -l"], "show HEAD:a.txt", "2\n"),
        (&["wc -l"], "log --format=format:%s", "0\n"),
        (&["wc -l"], "log --format=%s", "1\n"),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = shell(&sandbox, filters, &arguments);
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            expected,
            "{command} {filters:?}"
        );
    }
}
