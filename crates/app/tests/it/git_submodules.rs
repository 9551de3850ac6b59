//! Submodules: git reads their commit, and docent shows it only if it is the submodule's own.

use std::fs;
use std::path::PathBuf;

use docent_testkit::{Sandbox, make_link};
use serde_json::json;

use crate::git_object_stores::{private_repository, project};

/// A project with a submodule `sub` whose repository lies in `sub/.git`, at a commit of its own.
fn project_with_submodule() -> (Sandbox, PathBuf) {
    let sandbox = project();
    let inside = sandbox.root().join("sub");
    fs::create_dir(&inside).unwrap();
    sandbox.git_in(&inside, &["init", "-q", "-b", "main"]);
    sandbox.git_in(&inside, &["commit", "-q", "--allow-empty", "-m", "inside"]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{head},sub"),
    ]);
    (sandbox, inside.join(".git"))
}

/// Fails unless git itself would show the private commit as that of the submodule, and docent does not.
fn assert_submodule_is_withheld(what: &str, sandbox: &Sandbox, id: &str) {
    let shown = sandbox.git(&["diff", "--submodule=short", "--ignore-submodules=dirty"]);
    assert!(shown.contains(id), "{what} is no attack: {shown}");
    for arguments in [
        json!({}),
        json!({ "ref1": "HEAD" }),
        json!({ "ref2": "HEAD", "filePath": "sub" }),
    ] {
        let answer = sandbox.call("git_diff", arguments);
        assert!(
            answer.text.contains("## File: sub") && !answer.text.contains(&id[..7]),
            "{what}: {answer}"
        );
    }
}

#[test]
fn a_submodule_with_links_in_its_git_directory_shows_no_foreign_commit() {
    let (victim, id) = private_repository();
    let theirs = victim.root().canonicalize().unwrap().join(".git");
    let (sandbox, _) = project_with_submodule();
    let honest = sandbox.call("git_diff", json!({})).text;
    assert!(honest.contains("+Subproject commit "), "{honest}");
    for part in ["refs", "refs/heads", "refs/heads/main"] {
        let (sandbox, git_dir) = project_with_submodule();
        let path = git_dir.join(part);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        make_link(theirs.join(part), &path);
        assert_submodule_is_withheld(part, &sandbox, &id);
    }
    victim.git(&["pack-refs", "--all"]);
    let (sandbox, git_dir) = project_with_submodule();
    fs::remove_file(git_dir.join("refs/heads/main")).unwrap();
    make_link(theirs.join("packed-refs"), git_dir.join("packed-refs"));
    assert_submodule_is_withheld("packed-refs", &sandbox, &id);
}

#[test]
fn a_submodule_that_leads_on_to_another_repository_shows_no_foreign_commit() {
    let (victim, id) = private_repository();
    let theirs = victim.root().canonicalize().unwrap().join(".git");
    // In the place where git puts the repositories of submodules, with a further step to another one.
    let (sandbox, git_dir) = project_with_submodule();
    let module = sandbox.root().join(".git/modules/sub");
    fs::create_dir_all(module.parent().unwrap()).unwrap();
    fs::rename(&git_dir, &module).unwrap();
    fs::write(&git_dir, "gitdir: ../.git/modules/sub\n").unwrap();
    let honest = sandbox.call("git_diff", json!({})).text;
    assert!(honest.contains("+Subproject commit "), "{honest}");
    fs::write(module.join("commondir"), theirs.to_str().unwrap()).unwrap();
    assert_submodule_is_withheld("commondir", &sandbox, &id);
    fs::remove_file(module.join("commondir")).unwrap();
    fs::remove_dir_all(module.join("refs")).unwrap();
    make_link(theirs.join("refs"), module.join("refs"));
    assert_submodule_is_withheld("modules", &sandbox, &id);
    // A file that became a repository, and a submodule in conflict.
    let (sandbox, git_dir) = project_with_submodule();
    fs::remove_dir_all(git_dir.join("refs")).unwrap();
    make_link(theirs.join("refs"), git_dir.join("refs"));
    let blob = sandbox.git(&["rev-parse", "HEAD:f.txt"]);
    sandbox.git(&["update-index", "--force-remove", "sub"]);
    sandbox.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{blob},sub"),
    ]);
    assert_submodule_is_withheld("a file", &sandbox, &id);
    sandbox.git(&["update-index", "--force-remove", "sub"]);
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let other = "1".repeat(40);
    sandbox.write(
        "stages",
        format!("160000 {head} 1\tsub\n160000 {head} 2\tsub\n160000 {other} 3\tsub\n"),
    );
    let stages = fs::File::open(sandbox.root().join("stages")).unwrap();
    let staged = std::process::Command::new("git")
        .args(["update-index", "--index-info"])
        .current_dir(sandbox.root())
        .stdin(stages)
        .status();
    assert!(staged.unwrap().success());
    for arguments in [json!({}), json!({ "ref1": "HEAD" })] {
        let answer = sandbox.call("git_diff", arguments);
        assert!(!answer.text.contains(&id[..7]), "{answer}");
    }
}

#[test]
fn a_submodule_in_a_directory_that_a_git_file_cannot_name_shows_no_foreign_commit() {
    let (victim, id) = private_repository();
    let theirs = victim.root().canonicalize().unwrap().join(".git");
    let (sandbox, inside) = project_with_submodule();
    let modules = sandbox.root().join(".git/modules");
    fs::create_dir(&modules).unwrap();
    // A `.git` file ends at a line break, so git would open `y` where `y` and a line break was checked.
    fs::rename(&inside, modules.join("y\n")).unwrap();
    make_link("y\n", modules.join("x"));
    make_link(&theirs, modules.join("y"));
    fs::write(&inside, "gitdir: ../.git/modules/x\n").unwrap();
    for arguments in [json!({}), json!({ "ref1": "HEAD" })] {
        let answer = sandbox.call("git_diff", arguments);
        assert!(!answer.text.contains(&id[..7]), "{answer}");
    }
}
