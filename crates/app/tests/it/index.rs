//! The index: fresh after every change, watched or not, and what becomes of files that are unusual.

use std::fs;
use std::path::Path;

use docent_testkit::{Era, Sandbox, StdioClient};
use serde_json::{Value, json};

use crate::sandbox;

pub(crate) fn function(name: &str) -> String {
    format!("def {name}():\n    return '{name}'\n")
}

/// The paths that a running server finds for a word, by both kinds of server: one that watches and one that looks.
struct Servers {
    watching: StdioClient,
    looking: StdioClient,
}

impl Servers {
    fn start(sandbox: &Sandbox) -> Self {
        let mut looking = sandbox.docent();
        looking
            .env("DOCENT_INDEX_WATCH", "false")
            .env("DOCENT_LIMIT_CONTEXT_SEARCH", "0");
        let mut watching = sandbox.docent();
        watching.env("DOCENT_LIMIT_CONTEXT_SEARCH", "0");
        let servers = Self {
            watching: StdioClient::start(watching, Era::Handshake),
            looking: StdioClient::start(looking, Era::Handshake),
        };
        servers.found("anything");
        servers
    }

    /// What both find; they must find the same.
    fn found(&self, word: &str) -> Vec<String> {
        let watching = found(&self.watching, word);
        assert_eq!(watching, found(&self.looking, word), "{word}");
        watching
    }
}

fn found(client: &StdioClient, word: &str) -> Vec<String> {
    let arguments = json!({ "query": word, "format": "json", "limit": 20 });
    let ask = || client.call("context_search", arguments.clone()).json();
    let mut answer = ask();
    // A machine that is busy with other things may need longer than a search waits; then it says so.
    let is_late = |answer: &Value| {
        answer["notice"]
            .as_str()
            .is_some_and(|said| said.ends_with("in a moment"))
    };
    for _ in 0..5 {
        if is_late(&answer) {
            answer = ask();
        }
    }
    paths(&answer, word)
}

/// The files of an answer that has nothing to add, those first whose text has the word.
fn paths(answer: &Value, word: &str) -> Vec<String> {
    assert_eq!(answer["notice"], Value::Null, "{answer}");
    let results = answer["results"].as_array().unwrap();
    let mut paths: Vec<String> = results
        .iter()
        .filter(|found| found["content"].as_str().unwrap().contains(word))
        .map(|found| found["path"].as_str().unwrap().to_owned())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

fn by_command(sandbox: &Sandbox, word: &str) -> Vec<String> {
    let arguments = json!({ "query": word, "format": "json", "limit": 20 }).to_string();
    let finished = sandbox.run(&["call", "context_search", &arguments]);
    paths(&serde_json::from_str(&finished.stdout).unwrap(), word)
}

pub(crate) fn status(sandbox: &Sandbox) -> Value {
    let finished = sandbox.run(&["status", "--json"]);
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.stderr))
}

#[test]
fn the_next_search_reflects_every_kind_of_change() {
    let sandbox = sandbox()
        .file("src/a.py", function("walrus"))
        .file("src/b.py", function("narwhal"));
    let root = sandbox.root();
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.found("walrus"), ["src/a.py"]);

    fs::write(root.join("src/a.py"), function("octopus")).unwrap();
    assert_eq!(servers.found("octopus"), ["src/a.py"], "saved");
    assert_eq!(servers.found("walrus"), [] as [&str; 0], "saved");

    fs::write(root.join("src/c.py"), function("cuttlefish")).unwrap();
    assert_eq!(servers.found("cuttlefish"), ["src/c.py"], "created");

    fs::create_dir_all(root.join("deep/er/still")).unwrap();
    fs::write(root.join("deep/er/still/d.py"), function("seahorse")).unwrap();
    assert_eq!(
        servers.found("seahorse"),
        ["deep/er/still/d.py"],
        "created in new directories"
    );
    fs::write(root.join("deep/er/still/e.py"), function("seahorse")).unwrap();
    assert_eq!(
        servers.found("seahorse"),
        ["deep/er/still/d.py", "deep/er/still/e.py"]
    );

    fs::rename(root.join("src/b.py"), root.join("src/renamed.py")).unwrap();
    assert_eq!(servers.found("narwhal"), ["src/renamed.py"], "renamed");

    fs::rename(root.join("deep"), root.join("shallow")).unwrap();
    assert_eq!(
        servers.found("seahorse"),
        ["shallow/er/still/d.py", "shallow/er/still/e.py"],
        "directory renamed"
    );

    fs::remove_file(root.join("src/c.py")).unwrap();
    assert_eq!(servers.found("cuttlefish"), [] as [&str; 0], "deleted");
    fs::remove_dir_all(root.join("shallow")).unwrap();
    assert_eq!(servers.found("seahorse"), [] as [&str; 0], "directory deleted");

    // As editors save: a new file takes the old one's place.
    fs::write(root.join("src/a.py.tmp"), function("barnacle")).unwrap();
    fs::rename(root.join("src/a.py.tmp"), root.join("src/a.py")).unwrap();
    assert_eq!(servers.found("barnacle"), ["src/a.py"], "replaced");
    assert_eq!(servers.found("octopus"), [] as [&str; 0], "replaced");
    assert_eq!(by_command(&sandbox, "barnacle"), ["src/a.py"]);
}

#[test]
fn changes_within_one_clock_tick_are_all_found() {
    let sandbox = sandbox().file("a.py", function("walrus"));
    for (round, word) in ["octopus", "barnacl", "narwhal", "seacows", "penguin", "herring"]
        .iter()
        .enumerate()
    {
        sandbox.write("a.py", function(word));
        assert_eq!(by_command(&sandbox, word), ["a.py"], "round {round}");
    }
}

#[test]
fn a_branch_switch_of_two_thousand_files_is_found_at_once() {
    let sandbox = sandbox();
    let git = |arguments: &[&str]| {
        let output = sandbox.program("git").args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let write = |side: &str| {
        for number in 0..2_000 {
            sandbox.write(
                &format!("src/m{}/f{number}.py", number % 40),
                function(&format!("{side}_{number}")),
            );
        }
    };
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
    let commit = |message: &str| git(&[&identity[..], &["commit", "-qm", message]].concat());
    git(&["init", "-q", "-b", "main"]);
    write("left");
    git(&["add", "."]);
    commit("left");
    git(&["switch", "-qc", "other"]);
    write("right");
    git(&["add", "."]);
    commit("right");

    sandbox.run(&["index"]);
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.found("right_1234"), ["src/m34/f1234.py"]);
    git(&["switch", "-q", "main"]);
    assert_eq!(servers.found("left_1234"), ["src/m34/f1234.py"]);
    assert_eq!(servers.found("right_1234"), [] as [&str; 0]);
    git(&["switch", "-q", "other"]);
    assert_eq!(by_command(&sandbox, "right_777"), ["src/m17/f777.py"]);
    assert_eq!(servers.found("left_777"), [] as [&str; 0]);
}

#[test]
fn ignore_files_apply_at_every_level_and_docentignore_overrides_them() {
    let sandbox = sandbox()
        .file(".gitignore", "generated/\n*.log\n")
        .file("src/.gitignore", "local.py\n")
        .file("src/deep/.ignore", "scratch.py\n")
        .file("generated/model.py", function("walrus"))
        .file("generated/other.py", function("walrus"))
        .file("src/local.py", function("walrus"))
        .file("src/deep/scratch.py", function("walrus"))
        .file("src/kept.py", function("walrus"))
        .file("src/huge.py", function("walrus"))
        .file("run.log", "walrus\n")
        .file("dist/built.py", function("walrus"))
        .file(
            ".docentignore",
            "src/huge.py\n!generated/\ngenerated/other.py\n!*.log\n",
        );
    let servers = Servers::start(&sandbox);
    assert_eq!(
        servers.found("walrus"),
        ["generated/model.py", "run.log", "src/kept.py"]
    );
    sandbox.write(".docentignore", "!generated/\n!dist/\n");
    assert_eq!(
        servers.found("walrus"),
        [
            "dist/built.py",
            "generated/model.py",
            "generated/other.py",
            "src/huge.py",
            "src/kept.py"
        ]
    );
    sandbox.write(".gitignore", "");
    fs::remove_file(sandbox.root().join(".docentignore")).unwrap();
    assert_eq!(
        servers.found("walrus"),
        [
            "generated/model.py",
            "generated/other.py",
            "run.log",
            "src/huge.py",
            "src/kept.py"
        ]
    );
}

#[test]
fn the_global_ignore_files_of_the_user_apply() {
    let sandbox = sandbox()
        .file("a.py", function("walrus"))
        .file("b.py", function("other"))
        .file("notes.scratch", "walrus\n");
    let git = sandbox.program("git").args(["init", "-q"]).output().unwrap();
    assert!(git.status.success());
    let config = sandbox.home().join("config/git");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("ignore"), "*.scratch\n").unwrap();
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.found("walrus"), ["a.py"]);
    fs::write(sandbox.root().join(".git/info/exclude"), "a.py\n").unwrap();
    assert_eq!(servers.found("walrus"), [] as [&str; 0]);
    fs::write(sandbox.root().join(".git/info/exclude"), "").unwrap();
    fs::write(config.join("ignore"), "").unwrap();
    assert_eq!(servers.found("walrus"), ["a.py", "notes.scratch"]);
}

#[test]
fn nested_repositories_and_submodules_are_indexed_and_other_work_trees_are_not() {
    let sandbox = sandbox().file("a.py", function("walrus"));
    let git = |directory: &Path, arguments: &[&str]| {
        let identity = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "-c",
            "protocol.file.allow=always",
        ];
        let output = sandbox
            .program("git")
            .current_dir(directory)
            .args(identity)
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let root = sandbox.root();
    let library = sandbox.outside().join("library");
    for (directory, file) in [(&library, "lib.py"), (&root.join("nested"), "inner.py")] {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join(file), function("walrus")).unwrap();
        git(directory, &["init", "-q"]);
        git(directory, &["add", "."]);
        git(directory, &["commit", "-qm", "one"]);
    }
    git(&root, &["init", "-q"]);
    git(
        &root,
        &[
            "submodule",
            "--quiet",
            "add",
            library.to_str().unwrap(),
            "vendored",
        ],
    );
    git(&root, &["add", "a.py"]);
    git(&root, &["commit", "-qm", "one"]);
    git(&root, &["worktree", "add", "-q", "trees/feature"]);
    assert_eq!(
        by_command(&sandbox, "walrus"),
        ["a.py", "nested/inner.py", "vendored/lib.py"]
    );

    // A work tree is a project of its own, with an index of its own.
    let tree = root.join("trees/feature");
    fs::write(tree.join("a.py"), function("narwhal")).unwrap();
    let tree = tree.to_str().unwrap();
    let arguments = r#"{"query":"narwhal","format":"json"}"#;
    let finished = sandbox.run(&["--root", tree, "call", "context_search", arguments]);
    assert_eq!(
        paths(&serde_json::from_str(&finished.stdout).unwrap(), "narwhal"),
        ["a.py"]
    );
    assert_eq!(by_command(&sandbox, "narwhal"), [] as [&str; 0]);
}

#[cfg(unix)]
#[test]
fn circular_links_end_and_names_that_are_not_utf8_are_counted() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let sandbox = sandbox().file("src/a.py", function("walrus"));
    let root = sandbox.root();
    symlink("..", root.join("src/up")).unwrap();
    symlink(".", root.join("here")).unwrap();
    symlink("a.py", root.join("src/same.py")).unwrap();
    symlink("/etc/passwd", root.join("src/passwd.py")).unwrap();
    fs::write(root.join(OsStr::from_bytes(b"caf\xe9.py")), function("walrus")).unwrap();
    fs::write(root.join("latin1.txt"), b"walrus caf\xe9\n").unwrap();
    assert_eq!(by_command(&sandbox, "walrus"), ["latin1.txt", "src/a.py"]);
    assert_eq!(by_command(&sandbox, "root"), [] as [&str; 0]);
    assert_eq!(status(&sandbox)["unnameable"], 1);
}

#[test]
fn large_and_binary_files_are_not_indexed_and_are_listed() {
    let sandbox = sandbox()
        .file("a.py", function("walrus"))
        .file("picture.png", b"\x89PNG\0\0walrus")
        .file(
            "huge.txt",
            "walrus in a long line of text\n"
                .repeat(50 << 20 >> 5)
                .into_bytes(),
        )
        .file("bundle.min.js", format!("var walrus={};", "a=1,".repeat(3_000)))
        .file("empty.py", "");
    assert_eq!(by_command(&sandbox, "walrus"), ["a.py", "bundle.min.js"]);
    let status = status(&sandbox);
    let notes: Vec<String> = status["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| {
            format!(
                "{} {}",
                note["why"].as_str().unwrap(),
                note["first"][0].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        notes,
        [
            "binary picture.png",
            "minified bundle.min.js",
            "too large huge.txt"
        ]
    );
    assert_eq!((&status["files"], &status["pending"]), (&json!(5), &json!(0)));
    let arguments = r#"{"query":"walrus","format":"json"}"#;
    let smaller = sandbox.run(&[
        "call",
        "context_search",
        arguments,
        "--set",
        "index.max_file_bytes=2000",
    ]);
    assert!(!smaller.stdout.contains("bundle.min.js"), "{}", smaller.stdout);
}

#[test]
fn caches_and_virtual_environments_are_not_indexed() {
    let sandbox = sandbox()
        .file("a.py", function("walrus"))
        .file("env/pyvenv.cfg", "home = /usr\n")
        .file("env/lib/b.py", function("walrus"))
        .file(
            "out/CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55\n",
        )
        .file("out/c.py", function("walrus"));
    assert_eq!(by_command(&sandbox, "walrus"), ["a.py"]);
}

#[test]
fn thousands_of_tiny_files_are_indexed() {
    // Several batches and commits. 100,000 files are measured by `bench/files.py`.
    let sandbox = sandbox();
    let root = sandbox.root();
    for directory in 0..20 {
        let directory_path = root.join(format!("d{directory}"));
        fs::create_dir(&directory_path).unwrap();
        for file in 0..500 {
            fs::write(
                directory_path.join(format!("f{file}.txt")),
                format!("walrus{directory}x{file}\n"),
            )
            .unwrap();
        }
    }
    assert_eq!(by_command(&sandbox, "walrus15x321"), ["d15/f321.txt"]);
    fs::write(root.join("d15/f321.txt"), "narwhal\n").unwrap();
    assert_eq!(by_command(&sandbox, "narwhal"), ["d15/f321.txt"]);
    assert_eq!(status(&sandbox)["indexed"], 10_000);
}

#[test]
fn a_directory_that_replaces_another_is_scanned() {
    let sandbox = sandbox()
        .file("src/gen/old.py", function("walrus"))
        .file("other.py", function("narwhal"));
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.found("walrus"), ["src/gen/old.py"]);
    let directory = sandbox.root().join("src/gen");
    for round in 0..5 {
        fs::remove_dir_all(&directory).unwrap();
        fs::create_dir(&directory).unwrap();
        if round > 2 {
            // Everything is looked at because of this, and the directory may have the number of the one before.
            sandbox.write(".gitignore", format!("# {round}\n"));
        }
        fs::write(directory.join("new.py"), function(&format!("seahorse{round}"))).unwrap();
        assert_eq!(servers.found(&format!("seahorse{round}")), ["src/gen/new.py"]);
        fs::write(directory.join("more.py"), function(&format!("octopus{round}"))).unwrap();
        assert_eq!(servers.found(&format!("octopus{round}")), ["src/gen/more.py"]);
    }
    assert_eq!(servers.found("walrus"), [] as [&str; 0]);
}
