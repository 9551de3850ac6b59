//! Hostile repositories: their programs do not run, and files outside the project are not shown.

use std::fs;
use std::path::Path;

use docent_testkit::{Era, Finished, JOHN, Sandbox, make_link, set_mode};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox;

/// A repository with two commits and a change, and a program that leaves a file `pwned_NAME` when it runs.
fn hostile_repository() -> (Sandbox, String) {
    let sandbox = sandbox().repository().file("f.txt", "a\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    sandbox.write("f.txt", "a\nb\n");
    sandbox.commit("2025-10-09", JOHN, "two");
    sandbox.write("f.txt", "a\nb\nc\n");
    let program = sandbox.outside().join("ev.sh");
    let traces = sandbox.outside().display();
    fs::write(&program, format!("#!/bin/sh\ntouch {traces}/pwned_$1\n")).unwrap();
    set_mode(&program, 0o755);
    let program = program.display().to_string();
    (sandbox, program)
}

/// Calls every git tool, and fails if a program of the repository ran.
fn assert_nothing_runs(sandbox: &Sandbox) {
    for (tool, arguments) in [
        ("git_log", json!({})),
        (
            "git_log",
            json!({ "filePath": "f.txt", "author": "John", "since": "2025-01-01" }),
        ),
        ("git_blame", json!({ "filePath": "f.txt" })),
        ("git_diff", json!({})),
        ("git_diff", json!({ "ref1": "HEAD" })),
        ("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" })),
        (
            "git_diff",
            json!({ "ref1": "HEAD~1", "summary": true, "filePath": "f.txt" }),
        ),
    ] {
        sandbox.call(tool, arguments);
    }
    let traces: Vec<_> = fs::read_dir(sandbox.outside())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.starts_with("pwned_"))
        .collect();
    assert!(traces.is_empty(), "{traces:?}");
}

#[test]
fn no_program_of_the_configuration_runs() {
    let (sandbox, program) = hostile_repository();
    sandbox.write(".gitattributes", "*.txt diff=evil\n");
    for (key, name) in [
        ("core.fsmonitor", "fsmonitor"),
        ("diff.evil.textconv", "textconv"),
        ("diff.evil.command", "diffcmd"),
        ("diff.external", "extdiff"),
        ("core.pager", "pager"),
        ("pager.log", "pager_log"),
        ("core.editor", "editor"),
        ("core.sshCommand", "ssh"),
        ("credential.helper", "credential"),
        ("interactive.diffFilter", "difffilter"),
        ("core.askPass", "askpass"),
    ] {
        sandbox.git(&["config", key, &format!("{program} {name}")]);
    }
    sandbox.git(&["config", "log.showSignature", "true"]);
    sandbox.git(&["config", "gpg.program", &program]);
    assert_nothing_runs(&sandbox);
}

#[test]
fn no_filter_runs_under_any_name() {
    let (sandbox, program) = hostile_repository();
    for name in ["evil", "e.v=i l", "Evil", "x\"y"] {
        for kind in ["clean", "smudge", "process"] {
            sandbox.git(&[
                "config",
                &format!("filter.{name}.{kind}"),
                &format!("{program} {kind}"),
            ]);
        }
        sandbox.git(&["config", &format!("filter.{name}.required"), "true"]);
    }
    for name in ["evil", "Evil"] {
        fs::write(
            sandbox.root().join(".git/info/attributes"),
            format!("*.txt filter={name}\n"),
        )
        .unwrap();
        assert_nothing_runs(&sandbox);
    }
    // Configuration may be in an included file that appears after the server has read the configuration.
    let extra = format!("[filter \"late\"]\n\tclean = {program} late\n\tprocess = {program} late\n");
    fs::write(sandbox.root().join(".git/info/attributes"), "*.txt filter=late\n").unwrap();
    sandbox.git(&["config", "include.path", "../extra.config"]);
    assert_nothing_runs(&sandbox);
    sandbox.write("extra.config", extra);
    sandbox.write("f.txt", "a\nb\nc\nd\n");
    assert_nothing_runs(&sandbox);
}

#[test]
fn nothing_is_fetched_for_a_partial_clone() {
    let (sandbox, program) = hostile_repository();
    let blob = sandbox.git(&["rev-parse", "HEAD:f.txt"]);
    for (key, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "evil"),
        ("remote.evil.url", "ssh://host/x"),
        ("remote.evil.promisor", "true"),
    ] {
        sandbox.git(&["config", key, value]);
    }
    sandbox.git(&["config", "core.sshCommand", &format!("{program} lazyfetch;:")]);
    fs::remove_file(
        sandbox
            .root()
            .join(".git/objects")
            .join(&blob[..2])
            .join(&blob[2..]),
    )
    .unwrap();
    assert_nothing_runs(&sandbox);
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "f.txt" })), @"
    [isError] Error: ProcessingError

    Details: This clone does not have the content of the file

    Suggestion: A partial clone fetches content when it is needed, which docent does not do; git fetch --refetch gets all of it
    ");
}

#[test]
fn git_is_not_run_inside_a_submodule() {
    let (inner, program) = hostile_repository();
    let (sandbox, _) = hostile_repository();
    let url = format!("file://{}", inner.root().display());
    sandbox.git(&["submodule", "--quiet", "add", &url, "inner"]);
    sandbox.commit("2025-10-10", JOHN, "submodule");
    let inside = sandbox.root().join("inner");
    let program = program.replace(
        inner.outside().to_str().unwrap(),
        sandbox.outside().to_str().unwrap(),
    );
    sandbox.git_in(
        &inside,
        &["config", "core.fsmonitor", &format!("{program} submodule")],
    );
    sandbox.git_in(
        &inside,
        &[
            "config",
            "filter.evil.clean",
            &format!("{program} submodule_filter"),
        ],
    );
    fs::write(inside.join(".gitattributes"), "* filter=evil\n").unwrap();
    fs::write(inside.join("f.txt"), "changed\n").unwrap();
    sandbox.git(&["config", "diff.submodule", "log"]);
    sandbox.git(&["config", "diff.ignoreSubmodules", "none"]);
    assert_nothing_runs(&sandbox);
}

#[test]
fn a_git_program_in_the_project_is_not_run() {
    let (sandbox, program) = hostile_repository();
    fs::create_dir(sandbox.root().join("bin")).unwrap();
    fs::copy(&program, sandbox.root().join("bin/git")).unwrap();
    for directories in [".", "bin", sandbox.root().join("bin").to_str().unwrap()] {
        let finished = Finished::run(
            sandbox
                .docent()
                .env("PATH", directories)
                .args(["call", "git_log"]),
        );
        assert!(finished.stdout.contains("git is not installed"), "{finished:?}");
    }
    assert_nothing_runs(&sandbox);
}

#[test]
fn no_argument_becomes_an_option() {
    let (sandbox, _) = hostile_repository();
    fs::write(sandbox.outside().join("secret.txt"), "outside\n").unwrap();
    let outside = sandbox.outside().join("secret.txt").display().to_string();
    let created = sandbox.outside().join("created").display().to_string();
    let listing = |directory: &Path| {
        let mut names: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = (listing(&sandbox.root()), listing(&sandbox.root().join(".git")));
    for text in [
        format!("--output={created}"),
        "-O".into(),
        format!("-O{outside}"),
        "--no-index".into(),
        format!("--no-index {outside}"),
        format!("--upload-pack=touch {created}"),
        "--ext-diff".into(),
        "--contents=/etc/passwd".into(),
        format!("HEAD\n--output={created}"),
        format!("HEAD\0--output={created}"),
        "--help".into(),
        outside.clone(),
        format!("../{}", "secret.txt"),
    ] {
        for (tool, argument) in [
            ("git_log", "filePath"),
            ("git_log", "since"),
            ("git_log", "until"),
            ("git_log", "author"),
            ("git_blame", "filePath"),
            ("git_diff", "ref1"),
            ("git_diff", "ref2"),
            ("git_diff", "filePath"),
        ] {
            let mut arguments = json!({});
            arguments[argument] = Value::String(text.clone());
            let answer = if text.contains('\0') {
                // A command line argument cannot contain a NUL.
                let client = sandbox.start_client(Era::Handshake);
                client.call(tool, arguments)
            } else {
                sandbox.call(tool, arguments)
            };
            assert!(
                !answer.text.contains("outside\n") && !answer.text.contains("root:"),
                "{tool} {text}: {answer}"
            );
        }
    }
    assert_eq!(
        before,
        (listing(&sandbox.root()), listing(&sandbox.root().join(".git")))
    );
    assert!(!Path::new(&created).exists());
}

#[test]
fn a_git_file_that_points_to_another_repository_is_refused() {
    let (victim, _) = hostile_repository();
    let git_dir = victim.root().join(".git").display().to_string();
    let sandbox = sandbox().file(".git", format!("gitdir: {git_dir}\n"));
    assert_snapshot!(sandbox.call("git_log", json!({})), @"
    [isError] Error: PermissionError

    Details: Cannot access git repository (its .git file leads to a directory that does not belong to it)

    Suggestion: docent follows .git only to a repository that names this project as its own
    ");
    for content in ["nonsense", "gitdir: /nonexistent\n", ""] {
        sandbox.write(".git", content);
        let answer = sandbox.call("git_diff", json!({}));
        assert!(
            answer
                .text
                .starts_with("Error: PermissionError\n\nDetails: Cannot access git repository"),
            "{answer}"
        );
    }
    // A directory that looks like a linked work tree of that repository.
    let fake = sandbox.outside().join("fake");
    fs::create_dir(&fake).unwrap();
    fs::write(fake.join("commondir"), &git_dir).unwrap();
    fs::write(
        fake.join("gitdir"),
        sandbox.root().join(".git").display().to_string(),
    )
    .unwrap();
    fs::write(fake.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    sandbox.write(".git", format!("gitdir: {}\n", fake.display()));
    assert!(sandbox.call("git_log", json!({})).is_error);
    fs::remove_file(sandbox.root().join(".git")).unwrap();
    make_link(&git_dir, sandbox.root().join(".git"));
    assert!(sandbox.call("git_log", json!({})).is_error);
}

#[test]
fn a_git_directory_that_points_to_another_repository_is_refused() {
    let (victim, _) = hostile_repository();
    let git_dir = victim.root().join(".git");
    let (sandbox, _) = hostile_repository();
    sandbox.git(&["config", "core.worktree", victim.root().to_str().unwrap()]);
    assert_snapshot!(sandbox.call("git_diff", json!({})), @"
    [isError] Error: PermissionError

    Details: Cannot access git repository (its core.worktree leads to another directory)

    Suggestion: docent follows .git only to a repository that names this project as its own
    ");
    let (sandbox, _) = hostile_repository();
    fs::write(
        sandbox.root().join(".git/commondir"),
        git_dir.display().to_string(),
    )
    .unwrap();
    assert!(sandbox.call("git_log", json!({})).is_error);
    let (sandbox, _) = hostile_repository();
    fs::remove_dir_all(sandbox.root().join(".git/objects")).unwrap();
    make_link(git_dir.join("objects"), sandbox.root().join(".git/objects"));
    assert!(sandbox.call("git_log", json!({})).is_error);
}

#[test]
fn blocked_files_are_not_shown_under_any_name() {
    let sandbox = sandbox()
        .repository()
        .file(".env", "TOKEN=hunter2\nA=1\nB=2\nC=3\n")
        .file("key.PEM", "hunter2\n");
    sandbox.commit("2025-10-08", JOHN, "secrets");
    sandbox.git(&["mv", ".env", "settings.txt"]);
    sandbox.write("secrets/x.txt", "hunter2\n");
    sandbox.commit("2025-10-09", JOHN, "moved");
    sandbox.write("key.PEM", "hunter2 changed\n");
    assert_snapshot!(sandbox.call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" })), @"
    # Git Diff: HEAD~1...HEAD

    ## Summary
    - **Files Changed**: 2
    - **Insertions**: +1 lines
    - **Deletions**: -0 lines

    ---

    ## File: secrets/x.txt (added)
    **Changes**: +1 -0

    Content not shown: the path is blocked because it may hold secrets.

    ---

    ## File: settings.txt (renamed from .env)
    **Changes**: +0 -0

    Content not shown: the path is blocked because it may hold secrets.
    ");
    for arguments in [
        json!({}),
        json!({ "ref1": "HEAD" }),
        json!({ "ref1": "HEAD", "filePath": "key.PEM" }),
        json!({ "ref1": "HEAD~1", "ref2": "HEAD", "filePath": "secrets" }),
    ] {
        let answer = sandbox.call("git_diff", arguments);
        assert!(
            !answer.text.contains("hunter2") && answer.text.contains("Content not shown"),
            "{answer}"
        );
    }
    let blame = sandbox.call("git_blame", json!({ "filePath": "key.PEM" }));
    assert!(blame.is_error && !blame.text.contains("hunter2"), "{blame}");
    let log = sandbox.call("git_log", json!({ "filePath": "key.PEM" }));
    assert!(!log.is_error && log.text.contains("- key.PEM (added)"), "{log}");
}

#[test]
fn a_directory_replaced_by_a_link_is_not_followed() {
    let sandbox = sandbox().repository().file("d/passwd", "tracked\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    let outside = sandbox.outside().join("target");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("passwd"), "hunter2\n").unwrap();
    fs::remove_dir_all(sandbox.root().join("d")).unwrap();
    make_link(&outside, sandbox.root().join("d"));
    for (tool, arguments) in [
        ("git_blame", json!({ "filePath": "d/passwd" })),
        ("git_diff", json!({})),
        ("git_diff", json!({ "ref1": "HEAD" })),
        ("git_diff", json!({ "ref2": "HEAD", "filePath": "d/passwd" })),
    ] {
        let answer = sandbox.call(tool, arguments);
        assert!(!answer.text.contains("hunter2"), "{answer}");
    }
}

#[test]
fn a_configuration_that_cannot_be_read_completely_is_refused() {
    let (sandbox, program) = hostile_repository();
    let config = sandbox.root().join(".git/config");
    let honest = fs::read(&config).unwrap();
    fs::write(
        sandbox.root().join(".git/info/attributes"),
        b"*.txt filter=ev\xffil\n",
    )
    .unwrap();
    let named = [
        b"[filter \"ev\xffil\"]\n\tclean = ",
        program.as_bytes(),
        b" odd\n",
    ]
    .concat();
    fs::write(&config, [honest.clone(), named].concat()).unwrap();
    assert_nothing_runs(&sandbox);
    assert_snapshot!(sandbox.call("git_diff", json!({})), @"
    [isError] Error: PermissionError

    Details: Cannot access git repository (its configuration is not UTF-8)

    Suggestion: docent follows .git only to a repository that names this project as its own
    ");
    fs::write(
        sandbox.root().join(".git/info/attributes"),
        b"*.txt filter=evil\n",
    )
    .unwrap();
    let padding = format!("[pad]\n\tx = {}\n", "y".repeat(1_000_000)).repeat(5);
    let late = format!("[filter \"evil\"]\n\tclean = {program} late\n");
    fs::write(
        &config,
        [honest, padding.into_bytes(), late.into_bytes()].concat(),
    )
    .unwrap();
    assert_nothing_runs(&sandbox);
}

#[test]
fn a_patch_is_never_shown_under_the_name_of_another_file() {
    // git prints no patch for a file whose two versions are equal after `git replace`.
    let sandbox = sandbox()
        .repository()
        .file("!a.txt", "one\n")
        .file(".env", "K=1\n")
        .file("b.txt", "1\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    let before = sandbox.git(&["rev-parse", "HEAD:!a.txt"]);
    for (name, text) in [("!a.txt", "two\n"), (".env", "K=hunter2\n"), ("b.txt", "2\n")] {
        sandbox.write(name, text);
    }
    sandbox.commit("2025-10-09", JOHN, "two");
    let after = sandbox.git(&["rev-parse", "HEAD:!a.txt"]);
    sandbox.git(&["replace", &before, &after]);
    let answer = sandbox
        .call("git_diff", json!({ "ref1": "HEAD~1", "ref2": "HEAD" }))
        .text;
    assert!(!answer.contains("hunter2") && answer.contains("+two"), "{answer}");
    // The project directory was a file in an earlier commit.
    let sandbox = crate::sandbox().repository().file("sub", "x\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    fs::remove_file(sandbox.root().join("sub")).unwrap();
    sandbox.write("sub/.env", "API_KEY=hunter2\n");
    sandbox.write("sub/a.txt", "hi\n");
    sandbox.commit("2025-10-09", JOHN, "two");
    let arguments = r#"{"ref1":"HEAD~1","ref2":"HEAD"}"#;
    let answer = sandbox
        .run(&["--root", "sub", "call", "git_diff", arguments])
        .stdout;
    assert!(
        !answer.contains("hunter2") && answer.contains("\nhi\n"),
        "{answer}"
    );
}

#[test]
fn a_conflict_with_a_forged_file_name_leaks_nothing() {
    let sandbox = sandbox().repository().file(".env", "K=1\n").file("b.txt", "1\n");
    sandbox.commit("2025-10-08", JOHN, "one");
    let blob = sandbox.git(&["rev-parse", "HEAD:b.txt"]);
    for (name, text) in [(".env", "K=hunter2\n"), ("b.txt", "1\n2\n")] {
        sandbox.write(name, text);
    }
    for forged in [
        "\ndiff --git .env .env",
        "\n@@ -1,99 +1,99 @@",
        "!\ndiff --git b.txt b.txt",
    ] {
        let mut index = std::process::Command::new("git")
            .args(["update-index", "-z", "--index-info"])
            .current_dir(sandbox.root())
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let line = format!("100644 {blob} 1\t{forged}\0");
        std::io::Write::write_all(&mut index.stdin.take().unwrap(), line.as_bytes()).unwrap();
        assert!(index.wait().unwrap().success());
        let answer = sandbox.call("git_diff", json!({}));
        assert!(!answer.text.contains("hunter2"), "{forged:?}: {answer}");
    }
}

#[test]
fn links_out_of_the_git_directory_are_refused() {
    let (victim, _) = hostile_repository();
    let git_dir = victim.root().join(".git");
    for part in [
        "refs/heads",
        "refs/heads/main",
        "HEAD",
        "index",
        "logs",
        "packed-refs",
        "objects/info/alternates",
        "sharedindex.x",
    ] {
        let (sandbox, _) = hostile_repository();
        let path = sandbox.root().join(".git").join(part);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        make_link(git_dir.join(part), &path);
        let answer = sandbox.call("git_log", json!({}));
        assert!(
            answer.text.starts_with("Error: PermissionError"),
            "{part}: {answer}"
        );
    }
    // The files of a bare repository are plain files, which a clone may contain.
    let sandbox = sandbox()
        .file("HEAD", "ref: refs/heads/main\n")
        .file("refs/x", "")
        .file("objects/x", "");
    sandbox.write("commondir", git_dir.display().to_string());
    assert!(sandbox.call("git_log", json!({})).is_error);
}

#[test]
fn a_submodule_that_points_to_another_repository_leaks_no_commit_id() {
    let (victim, _) = hostile_repository();
    let (sandbox, _) = hostile_repository();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{head},sub"),
    ]);
    sandbox.write(
        "sub/.git",
        format!("gitdir: {}\n", victim.root().join(".git").display()),
    );
    let secret =
        victim.git(&["commit", "-q", "--allow-empty", "-m", "private"]) + &victim.git(&["rev-parse", "HEAD"]);
    let answer = sandbox.call("git_diff", json!({}));
    assert!(
        answer.text.contains("## File: sub") && !answer.text.contains(&secret),
        "{answer}"
    );
}

#[test]
fn error_messages_of_git_are_not_repeated() {
    let (sandbox, _) = hostile_repository();
    let outside = sandbox.outside().join("outside.txt");
    fs::write(&outside, "hunter2 is the password\n").unwrap();
    sandbox.git(&["config", "blame.ignoreRevsFile", outside.to_str().unwrap()]);
    assert_snapshot!(sandbox.call("git_blame", json!({ "filePath": "f.txt" })), @"
    [isError] Error: ProcessingError

    Details: git cannot answer from this repository: objects are missing or broken

    Suggestion: Try the same with git on the command line; git fsck finds broken objects
    ");
}

#[test]
fn malformed_commits_do_not_break_the_answers() {
    let (sandbox, _) = hostile_repository();
    let tree = sandbox.git(&["rev-parse", "HEAD^{tree}"]);
    for (zone, message) in [
        ("+2147483647", "hi".to_owned()),
        ("-9959", "x".repeat(3_000_000)),
        ("", "\u{1b}[2J".to_owned()),
    ] {
        let text = format!(
            "tree {tree}\nauthor a <a@b> 1700000000 {zone}\ncommitter a <a@b> 1700000000 +0000\n\n{message}\n"
        );
        sandbox.write("commit", text);
        let id = sandbox.git(&["hash-object", "-t", "commit", "-w", "--literally", "commit"]);
        sandbox.git(&["update-ref", "refs/heads/main", &id]);
        for (tool, arguments) in [
            ("git_log", json!({})),
            ("git_blame", json!({ "filePath": "f.txt" })),
        ] {
            let answer = sandbox.call(tool, arguments);
            assert!(
                !answer.is_error && answer.text.chars().count() < 2_000,
                "{answer}"
            );
            assert!(!answer.text.contains('\u{1b}'));
        }
    }
}
