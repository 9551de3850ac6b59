//! `git_diff` while files change: no content from outside the project, and one consistent answer.

use std::fs;
use std::path::Path;
use std::process::Command;

use docent_testkit::{Finished, JOHN, Sandbox, copy_program, make_pipe};
use serde_json::json;

use crate::sandbox;

/// A `git` that runs `action` in the project when the `at`-th `git diff` has printed its first byte. The
/// names of the changed files are fixed then, and most of the content is not yet read.
fn make_git_with_pause(sandbox: &Sandbox, at: usize, action: &str) -> String {
    let real = Command::new("sh")
        .args(["-c", "command -v git"])
        .output()
        .unwrap();
    let real = String::from_utf8(real.stdout).unwrap();
    let (bin, count) = (sandbox.outside().join("bin"), sandbox.outside().join("count"));
    fs::create_dir_all(&bin).unwrap();
    let script = format!(
        r#"#!/bin/sh
case " $* " in
  *" diff "*) ;;
  *) exec {real} "$@" ;;
esac
echo x >> {count}
if [ "$(wc -l < {count})" != {at} ]; then exec {real} "$@"; fi
{real} "$@" | {{ dd bs=1 count=1 2>/dev/null; cd {root}; {action}; cat; }}
"#,
        real = real.trim(),
        count = count.display(),
        root = sandbox.root().display(),
    );
    let source = sandbox.outside().join("git.sh");
    fs::write(&source, script).unwrap();
    copy_program(source, bin.join("git"));
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

/// A repository with a long change, which fills every pipe, and a short one after it.
fn changed_repository() -> Sandbox {
    let sandbox = sandbox()
        .repository()
        .file("a.txt", "one\n")
        .file("z/passwd", "tracked\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write("a.txt", format!("{}\n", "long ".repeat(160)).repeat(400));
    sandbox.write("z/passwd", "changed here\n");
    let outside = sandbox.outside().join("target");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("passwd"), "hunter2\n").unwrap();
    sandbox
}

fn diff(sandbox: &Sandbox, path: &str, arguments: &str) -> String {
    let mut command = sandbox.docent();
    let finished = Finished::run(command.env("PATH", path).args(["call", "git_diff", arguments]));
    assert!(
        !finished.stdout.contains("hunter2") && !finished.stderr.contains("hunter2"),
        "{finished:?}"
    );
    finished.stdout
}

#[test]
fn a_directory_replaced_by_a_link_while_git_compares_shows_nothing_outside() {
    for at in 1..=3 {
        for arguments in [r#"{"offset":401}"#, r#"{"ref1":"HEAD","offset":401}"#] {
            let sandbox = changed_repository();
            let target = sandbox.outside().join("target");
            let action = format!("mv z moved; ln -s {} z", target.display());
            let path = make_git_with_pause(&sandbox, at, &action);
            let answer = diff(&sandbox, &path, arguments);
            assert!(answer.contains("z/passwd"), "{at} {arguments}: {answer}");
        }
    }
}

#[test]
fn files_that_are_saved_during_a_diff_do_not_break_it() {
    for at in 1..=3 {
        for action in [
            "printf 'saved\\n' > z/passwd",
            "rm -r z",
            "rm a.txt; mkdir a.txt; printf 'x\\n' > a.txt/x",
            "rm -r z; printf 'file\\n' > z",
        ] {
            let sandbox = changed_repository();
            let path = make_git_with_pause(&sandbox, at, action);
            let answer = diff(&sandbox, &path, r#"{"ref1":"HEAD"}"#);
            assert!(
                answer.starts_with("# Git Diff") && answer.contains("**Files Changed**: 2"),
                "{at} {action}: {answer}"
            );
        }
    }
}

#[test]
fn a_diff_leaves_no_copy_behind() {
    let sandbox = changed_repository();
    let trees = sandbox.outside().join("trees");
    // Each `git diff` notes the directory in which it compares.
    let path = make_git_with_pause(&sandbox, 0, "");
    let script = sandbox.outside().join("git.sh");
    let note = format!("echo \"$GIT_WORK_TREE\" >> {}\ncase", trees.display());
    let noting = fs::read_to_string(&script).unwrap().replacen("case", &note, 1);
    fs::write(&script, noting).unwrap();
    copy_program(&script, sandbox.outside().join("bin/git"));
    for arguments in ["{}", r#"{"ref1":"HEAD","summary":true}"#] {
        let answer = diff(&sandbox, &path, arguments);
        assert!(answer.contains("**Files Changed**: 2"), "{answer}");
    }
    let trees = fs::read_to_string(trees).unwrap();
    let copies: Vec<&str> = trees.lines().filter(|tree| tree.ends_with("/tree")).collect();
    assert!(!copies.is_empty(), "{trees}");
    for copy in copies {
        let folder = Path::new(copy).parent().unwrap();
        assert!(!folder.exists(), "{folder:?} is left");
    }
}

#[test]
fn an_index_that_is_a_pipe_or_has_gigabytes_is_refused_at_once() {
    let sandbox = sandbox().repository().file("a.txt", "a\n");
    sandbox.commit("2025-10-09", JOHN, "one");
    let index = sandbox.root().join(".git/index");
    fs::remove_file(&index).unwrap();
    make_pipe(&index);
    let refusal = sandbox.call("git_diff", json!({ "ref1": "HEAD" }));
    let reason = "Cannot access git repository (its index is not a regular file)";
    assert!(refusal.is_error && refusal.text.contains(reason), "{refusal}");
    fs::remove_file(&index).unwrap();
    fs::File::create(&index).unwrap().set_len(3 << 30).unwrap();
    let refusal = sandbox.call("git_diff", json!({ "ref1": "HEAD" }));
    assert!(
        refusal.is_error && refusal.text.contains("its index is too large"),
        "{refusal}"
    );
}
