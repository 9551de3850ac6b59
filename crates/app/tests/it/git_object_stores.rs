//! Object stores and repositories that a project's files lead to: git reads only those that the user has
//! allowed.

use std::fs;
use std::path::{Path, PathBuf};

use docent_testkit::{Answer, Era, JOHN, Sandbox, StdioClient, make_link};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

/// The line of the private file.
const SECRET: &str = "hunter2 is the password";

/// A private repository, and the id of its only commit.
pub(crate) fn private_repository() -> (Sandbox, String) {
    let victim = sandbox().repository().file("private.txt", format!("{SECRET}\n"));
    victim.commit("2025-10-08", JOHN, "a private commit");
    let id = victim.git(&["rev-parse", "HEAD"]);
    (victim, id)
}

fn objects_of(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().canonicalize().unwrap().join(".git/objects")
}

/// A project with one commit.
pub(crate) fn project() -> Sandbox {
    let sandbox = sandbox().repository().file("f.txt", "a\n");
    sandbox.commit("2025-10-09", JOHN, "one");
    sandbox
}

/// Names directories as git's own list of object stores does.
fn name_stores(objects: &Path, file: &str, lines: impl AsRef<[u8]>) {
    fs::create_dir_all(objects.join("info")).unwrap();
    fs::write(objects.join("info").join(file), lines).unwrap();
}

/// The user's own settings file.
fn set_for_user(sandbox: &Sandbox, text: &str) {
    let folder = sandbox.home().join("config/docent");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

fn allow_for_user(sandbox: &Sandbox, directory: &Path) {
    set_for_user(
        sandbox,
        &format!("git.allowed_directories = [{:?}]\n", directory.to_str().unwrap()),
    );
}

/// The answers of every git tool to questions about a foreign commit.
fn ask_about(sandbox: &Sandbox, id: &str) -> Vec<Answer> {
    [
        ("git_diff", json!({ "ref1": "HEAD", "ref2": id })),
        ("git_diff", json!({ "ref1": &id[..4], "ref2": "HEAD" })),
        ("git_diff", json!({ "ref1": id })),
        ("git_log", json!({ "until": id })),
        ("git_log", json!({ "until": &id[..7] })),
        ("git_blame", json!({ "filePath": "private.txt" })),
    ]
    .into_iter()
    .map(|(tool, arguments)| sandbox.call(tool, arguments))
    .collect()
}

/// Fails if an answer shows anything of the private repository.
fn assert_nothing_private(what: &str, answers: &[Answer]) {
    for answer in answers {
        let shows = ["hunter2", "a private commit", "private.txt (added)"]
            .iter()
            .any(|word| answer.text.contains(word));
        assert!(answer.is_error && !shows, "{what}: {answer}");
    }
}

#[test]
fn an_object_store_outside_the_repository_is_refused() {
    let (victim, id) = private_repository();
    let store = objects_of(&victim);
    let store = store.to_str().unwrap();
    let octal: Vec<String> = store.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    let octal = octal.concat();
    let up = "../".repeat(30);
    for (what, lines) in [
        ("absolute", format!("{store}\n")),
        ("without a line end", store.to_owned()),
        ("relative", format!("{up}{}\n", &store[1..])),
        ("quoted", format!("\"{store}\"\n")),
        ("quoted in octal", format!("\"{octal}\"\n")),
        ("behind a comment", format!("# {store}x\n\n{store}\n")),
        (
            "behind a quoted line that goes on",
            format!("\"absent\"#{store}\n"),
        ),
        (
            "behind a directory that is absent",
            format!("/absent/objects\n{store}\n"),
        ),
        ("before a NUL", format!("{store}\0x\n")),
        ("with dots", format!("{store}/../objects/./\n")),
    ] {
        let sandbox = project();
        name_stores(&objects_of(&sandbox), "alternates", lines);
        // Otherwise this line would be no attack.
        sandbox.git(&["cat-file", "-e", &id]);
        assert_nothing_private(what, &ask_about(&sandbox, &id));
    }
    let sandbox = project();
    name_stores(
        &objects_of(&sandbox),
        "http-alternates",
        "http://localhost:1/objects\n",
    );
    assert_nothing_private("http-alternates", &ask_about(&sandbox, &id));
}

#[test]
fn an_object_store_inside_the_repository_may_not_name_another() {
    let (victim, id) = private_repository();
    let sandbox = project();
    let objects = objects_of(&sandbox);
    let inside = objects.with_file_name("more");
    fs::create_dir_all(&inside).unwrap();
    name_stores(&objects, "alternates", "../more\n");
    assert!(!sandbox.call("git_log", json!({})).is_error);
    let deeper = objects.with_file_name("deeper");
    fs::create_dir_all(&deeper).unwrap();
    name_stores(&inside, "alternates", "../deeper\n");
    name_stores(
        &deeper,
        "alternates",
        format!("{}\n", objects_of(&victim).display()),
    );
    sandbox.git(&["cat-file", "-e", &id]);
    assert_nothing_private("nested", &ask_about(&sandbox, &id));
    // Stores that name each other end.
    name_stores(&deeper, "alternates", "../objects\n../more\n");
    assert!(!sandbox.call("git_log", json!({})).is_error);
    // A store inside the repository that is a link.
    fs::remove_dir_all(&inside).unwrap();
    make_link(objects_of(&victim), &inside);
    sandbox.git(&["cat-file", "-e", &id]);
    assert_nothing_private("a link", &ask_about(&sandbox, &id));
}

#[test]
fn a_shared_clone_is_read_after_the_user_has_allowed_its_store() {
    let (origin, _) = private_repository();
    let sandbox = sandbox();
    fs::remove_dir(sandbox.root()).unwrap();
    let (from, to) = (origin.root(), sandbox.root());
    sandbox.git_in(
        sandbox.outside(),
        &[
            "clone",
            "-q",
            "--shared",
            from.to_str().unwrap(),
            to.to_str().unwrap(),
        ],
    );
    assert_snapshot!(sandbox.call("git_log", json!({})), @"
    [isError] Error: PermissionError

    Details: Cannot access git repository (its objects/info/alternates names an object store outside the repository)

    Suggestion: If you made it with git clone --shared or --reference, add the store's directory to git.allowed_directories in your user settings (docent/config.toml)
    ");
    // A clone cannot allow it for itself.
    let allowed = origin.root().canonicalize().unwrap();
    let line = format!("git.allowed_directories = [{:?}]\n", allowed.to_str().unwrap());
    sandbox.write(".context/config.toml", line);
    assert!(sandbox.call_by_cli("git_log", json!({})).is_error);
    fs::remove_dir_all(sandbox.root().join(".context")).unwrap();

    allow_for_user(&sandbox, &allowed.join("other"));
    assert!(sandbox.call_by_cli("git_log", json!({})).is_error);
    allow_for_user(&sandbox, &allowed);
    let log = sandbox.call_by_cli("git_log", json!({}));
    assert!(log.text.contains("a private commit"), "{log}");
    set_for_user(&sandbox, "");
    let mut command = sandbox.docent();
    command.env("DOCENT_GIT_ALLOWED_DIRECTORIES", &allowed);
    let client = StdioClient::start(command, Era::Handshake);
    let blame = client.call("git_blame", json!({ "filePath": "private.txt" }));
    assert!(blame.text.contains(SECRET), "{blame}");
    // The allowed store may not name a third one.
    let (third, _) = private_repository();
    let third = objects_of(&third);
    name_stores(
        &objects_of(&origin),
        "alternates",
        format!("{}\n", third.display()),
    );
    assert!(client.call("git_log", json!({})).is_error);
}

#[test]
fn an_object_store_that_appears_under_a_server_is_refused() {
    let (victim, id) = private_repository();
    let sandbox = project();
    assert!(!sandbox.call("git_log", json!({})).is_error);
    assert!(sandbox.call("git_diff", json!({ "ref1": id })).is_error);
    let store = format!("{}\n", objects_of(&victim).display());
    name_stores(&objects_of(&sandbox), "alternates", store);
    assert_nothing_private("a server", &ask_about(&sandbox, &id));
    fs::remove_file(objects_of(&sandbox).join("info/alternates")).unwrap();
    assert!(!sandbox.call("git_log", json!({})).is_error);
    assert!(sandbox.call("git_diff", json!({ "ref1": id })).is_error);
    // A directory that is replaced by a link.
    for part in ["objects/pack", "objects", "refs/heads", "refs"] {
        let path = sandbox.root().join(".git").join(part);
        let aside = sandbox.outside().join("aside");
        fs::rename(&path, &aside).unwrap();
        make_link(victim.root().join(".git").join(part), &path);
        assert_nothing_private(part, &ask_about(&sandbox, &id));
        fs::remove_file(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
        assert!(!sandbox.call("git_log", json!({})).is_error);
    }
}

#[test]
fn worktrees_submodules_and_linked_projects_keep_to_their_own_store() {
    let (victim, id) = private_repository();
    let store = format!("{}\n", objects_of(&victim).display());
    let sandbox = project();
    let worktree = sandbox.outside().join("worktree");
    let place = worktree.to_str().unwrap();
    sandbox.git(&["worktree", "add", "-q", "-b", "topic", place]);
    let inner = project();
    let url = format!("file://{}", inner.root().display());
    sandbox.git(&["submodule", "--quiet", "add", &url, "inner"]);
    let call_in = |root: &str| {
        let arguments = json!({ "ref1": "HEAD", "ref2": id }).to_string();
        sandbox
            .run(&["--root", root, "call", "git_diff", &arguments])
            .stdout
    };
    let log_in = |root: &str| sandbox.run(&["--root", root, "call", "git_log", "{}"]).stdout;
    for (root, objects) in [(place, ".git/objects"), ("inner", ".git/modules/inner/objects")] {
        assert!(log_in(root).contains("**Message**: one"), "{root}");
        let objects = sandbox.root().join(objects);
        name_stores(&objects, "alternates", &store);
        let answer = call_in(root);
        assert!(
            answer.starts_with("Error: PermissionError") && !answer.contains("hunter2"),
            "{root}: {answer}"
        );
    }
}

#[test]
fn searches_show_no_commit_of_a_foreign_store() {
    let (victim, _) = private_repository();
    victim.commit("2025-10-09", JOHN, "fix: the walrus crashed because of hunter2");
    let id = victim.git(&["rev-parse", "HEAD"]);
    let store = format!("{}\n", objects_of(&victim).display());
    let sandbox = project();
    let linked = sandbox.outside().join("linked");
    sandbox.git_in(sandbox.outside(), &["init", "-q", "linked"]);
    fs::write(linked.join("a.py"), "x = 1\n").unwrap();
    for git_dir in [sandbox.root().join(".git"), linked.join(".git")] {
        name_stores(&git_dir.join("objects"), "alternates", &store);
        fs::write(git_dir.join("HEAD"), format!("{id}\n")).unwrap();
    }
    assert_eq!(sandbox.run(&["link", "../linked"]).code, 0);
    for scope in ["current", "all_linked"] {
        let arguments = json!({ "query": "walrus crashed", "projectScope": scope });
        let answer = sandbox.call_by_cli("context_search", arguments);
        assert!(
            !answer.text.contains("hunter2") && answer.text.contains("The history cannot be read"),
            "{answer}"
        );
    }
}

#[test]
fn object_stores_of_the_environment_are_not_passed_on() {
    let (victim, id) = private_repository();
    let sandbox = project();
    let mut command = sandbox.docent();
    command
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects_of(&victim))
        .env("GIT_OBJECT_DIRECTORY", objects_of(&victim))
        .env("GIT_COMMON_DIR", victim.root().join(".git"))
        .env("GIT_DIR", victim.root().join(".git"));
    let client = StdioClient::start(command, Era::Handshake);
    assert_eq!(crate::subjects(&client.call("git_log", json!({}))), ["one"]);
    let diff = client.call("git_diff", json!({ "ref1": "HEAD", "ref2": id }));
    assert!(diff.text.contains("Invalid git reference"), "{diff}");
}

#[test]
fn linked_objects_and_packs_are_refused() {
    let (victim, id) = private_repository();
    let loose = |sandbox: &Sandbox| objects_of(sandbox).join(&id[..2]).join(&id[2..]);
    let sandbox = project();
    fs::create_dir_all(loose(&sandbox).parent().unwrap()).unwrap();
    make_link(loose(&victim), loose(&sandbox));
    sandbox.git(&["cat-file", "-e", &id]);
    assert_nothing_private("a loose object", &ask_about(&sandbox, &id));

    victim.git(&["repack", "-q", "-a", "-d"]);
    let sandbox = project();
    for entry in fs::read_dir(objects_of(&victim).join("pack")).unwrap() {
        let entry = entry.unwrap();
        make_link(
            entry.path(),
            objects_of(&sandbox).join("pack").join(entry.file_name()),
        );
    }
    sandbox.git(&["cat-file", "-e", &id]);
    assert_nothing_private("a pack", &ask_about(&sandbox, &id));
    // A directory of references behind a link that stays inside.
    let sandbox = project();
    let git_dir = sandbox.root().join(".git");
    fs::rename(git_dir.join("refs/heads"), git_dir.join("other")).unwrap();
    make_link("../other", git_dir.join("refs/heads"));
    assert!(!sandbox.call("git_log", json!({})).is_error);
    make_link(
        victim.root().join(".git/refs/heads/main"),
        git_dir.join("other/theirs"),
    );
    assert!(sandbox.call_by_cli("git_log", json!({})).is_error);
}

#[test]
fn the_files_of_a_bare_repository_are_not_taken_on_trust() {
    let (victim, id) = private_repository();
    let store = format!("{}\n", objects_of(&victim).display());
    // Plain files that any clone can contain.
    let sandbox = sandbox()
        .file("HEAD", format!("{id}\n"))
        .file("refs/x", "")
        .file("objects/info/alternates", store);
    sandbox.git_in(&sandbox.root(), &["--git-dir=.", "cat-file", "-e", &id]);
    assert_nothing_private("bare", &ask_about(&sandbox, &id));
    assert_snapshot!(sandbox.call("git_log", json!({})), @"
    [isError] Error: PermissionError

    Details: Cannot access git repository (the project has the files of a bare repository, which any clone may contain)

    Suggestion: If it is a bare repository of your own, add its directory to git.allowed_directories in your user settings (docent/config.toml)
    ");
    // The repository around such a directory is read instead.
    let outer = project();
    for (path, text) in [
        ("d/HEAD", id.as_str()),
        ("d/refs/x", ""),
        ("d/objects/x", ""),
        ("d/f", "x"),
    ] {
        outer.write(path, text);
    }
    outer.commit("2025-10-10", JOHN, "a directory");
    let log = outer.run(&["--root", "d", "call", "git_log", "{}"]).stdout;
    assert!(log.contains("**Message**: a directory"), "{log}");
    // An allowed directory is not allowed to name other stores.
    allow_for_user(&sandbox, &sandbox.root().canonicalize().unwrap());
    assert!(sandbox.call_by_cli("git_log", json!({})).is_error);
}
