//! The index after changes, with and without a watcher, and its treatment of unusual files.

use std::fs;
use std::path::Path;

use docent_testkit::{Era, Sandbox, StdioClient, python_function};
use serde_json::{Value, json};

use crate::sandbox;

/// Two running servers: one with a watcher, one that scans before each search.
struct Servers {
    watching: StdioClient,
    scanning: StdioClient,
}

impl Servers {
    fn start(sandbox: &Sandbox) -> Self {
        let mut scanning = sandbox.docent();
        scanning
            .env("DOCENT_INDEX_WATCH", "false")
            .env("DOCENT_LIMIT_CONTEXT_SEARCH", "0");
        let mut watching = sandbox.docent();
        watching.env("DOCENT_LIMIT_CONTEXT_SEARCH", "0");
        let servers = Self {
            watching: StdioClient::start(watching, Era::Handshake),
            scanning: StdioClient::start(scanning, Era::Handshake),
        };
        servers.find("anything");
        servers
    }

    /// The paths that both servers find. Fails if they differ.
    fn find(&self, word: &str) -> Vec<String> {
        let watching = find_by_client(&self.watching, word);
        assert_eq!(watching, find_by_client(&self.scanning, word), "{word}");
        watching
    }
}

/// The paths that a running server finds.
fn find_by_client(client: &StdioClient, word: &str) -> Vec<String> {
    let arguments = json!({ "query": word, "format": "json", "limit": 20 });
    let search = || client.call("context_search", arguments.clone()).json();
    let mut answer = search();
    // On a busy machine indexing may take longer than a search waits. The answer then says so.
    let is_late = |answer: &Value| {
        answer["notice"]
            .as_str()
            .is_some_and(|notice| notice.ends_with("in a moment"))
    };
    for _ in 0..5 {
        if is_late(&answer) {
            answer = search();
        }
    }
    paths_of(&answer, word)
}

/// The sorted paths of the results that contain the word. Fails if the answer has a notice.
fn paths_of(answer: &Value, word: &str) -> Vec<String> {
    assert_eq!(answer["notice"], Value::Null, "{answer}");
    let results = answer["results"].as_array().unwrap();
    let mut paths: Vec<String> = results
        .iter()
        .filter(|result| result["content"].as_str().unwrap().contains(word))
        .map(|result| result["path"].as_str().unwrap().to_owned())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The paths that a process of its own finds.
fn find_by_cli(sandbox: &Sandbox, word: &str) -> Vec<String> {
    let arguments = json!({ "query": word, "format": "json", "limit": 20 });
    paths_of(&sandbox.call_by_cli("context_search", arguments).json(), word)
}

#[test]
fn the_next_search_reflects_every_kind_of_change() {
    let sandbox = sandbox()
        .file("src/a.py", python_function("walrus"))
        .file("src/b.py", python_function("narwhal"));
    let root = sandbox.root();
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.find("walrus"), ["src/a.py"]);

    fs::write(root.join("src/a.py"), python_function("octopus")).unwrap();
    assert_eq!(servers.find("octopus"), ["src/a.py"], "saved");
    assert_eq!(servers.find("walrus"), [] as [&str; 0], "saved");

    fs::write(root.join("src/c.py"), python_function("cuttlefish")).unwrap();
    assert_eq!(servers.find("cuttlefish"), ["src/c.py"], "created");

    fs::create_dir_all(root.join("deep/er/still")).unwrap();
    fs::write(root.join("deep/er/still/d.py"), python_function("seahorse")).unwrap();
    assert_eq!(
        servers.find("seahorse"),
        ["deep/er/still/d.py"],
        "created in new directories"
    );
    fs::write(root.join("deep/er/still/e.py"), python_function("seahorse")).unwrap();
    assert_eq!(
        servers.find("seahorse"),
        ["deep/er/still/d.py", "deep/er/still/e.py"]
    );

    fs::rename(root.join("src/b.py"), root.join("src/renamed.py")).unwrap();
    assert_eq!(servers.find("narwhal"), ["src/renamed.py"], "renamed");

    fs::rename(root.join("deep"), root.join("shallow")).unwrap();
    assert_eq!(
        servers.find("seahorse"),
        ["shallow/er/still/d.py", "shallow/er/still/e.py"],
        "directory renamed"
    );

    fs::remove_file(root.join("src/c.py")).unwrap();
    assert_eq!(servers.find("cuttlefish"), [] as [&str; 0], "deleted");
    fs::remove_dir_all(root.join("shallow")).unwrap();
    assert_eq!(servers.find("seahorse"), [] as [&str; 0], "directory deleted");

    // Editors save like this: a new file replaces the old one.
    fs::write(root.join("src/a.py.tmp"), python_function("barnacle")).unwrap();
    fs::rename(root.join("src/a.py.tmp"), root.join("src/a.py")).unwrap();
    assert_eq!(servers.find("barnacle"), ["src/a.py"], "replaced");
    assert_eq!(servers.find("octopus"), [] as [&str; 0], "replaced");
    assert_eq!(find_by_cli(&sandbox, "barnacle"), ["src/a.py"]);
}

#[test]
fn changes_within_one_clock_tick_are_all_found() {
    let sandbox = sandbox().file("a.py", python_function("walrus"));
    for (round, word) in ["octopus", "barnacl", "narwhal", "seacows", "penguin", "herring"]
        .iter()
        .enumerate()
    {
        sandbox.write("a.py", python_function(word));
        assert_eq!(find_by_cli(&sandbox, word), ["a.py"], "round {round}");
    }
}

#[test]
fn a_branch_switch_of_two_thousand_files_is_found_at_once() {
    let sandbox = sandbox();
    let write_files = |side: &str| {
        for number in 0..2_000 {
            sandbox.write(
                &format!("src/m{}/f{number}.py", number % 40),
                python_function(&format!("{side}_{number}")),
            );
        }
    };
    sandbox.git(&["init", "-q", "-b", "main"]);
    let commit_files = |side: &str| {
        write_files(side);
        sandbox.git(&["add", "."]);
        sandbox.git(&["commit", "-qm", side]);
    };
    commit_files("left");
    sandbox.git(&["switch", "-qc", "other"]);
    commit_files("right");

    sandbox.run(&["index"]);
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.find("right_1234"), ["src/m34/f1234.py"]);
    sandbox.git(&["switch", "-q", "main"]);
    assert_eq!(servers.find("left_1234"), ["src/m34/f1234.py"]);
    assert_eq!(servers.find("right_1234"), [] as [&str; 0]);
    sandbox.git(&["switch", "-q", "other"]);
    assert_eq!(find_by_cli(&sandbox, "right_777"), ["src/m17/f777.py"]);
    assert_eq!(servers.find("left_777"), [] as [&str; 0]);
}

#[test]
fn ignore_files_apply_at_every_level_and_docentignore_overrides_them() {
    let sandbox = sandbox()
        .file(".gitignore", "generated/\n*.log\n")
        .file("src/.gitignore", "local.py\n")
        .file("src/deep/.ignore", "scratch.py\n")
        .file("generated/model.py", python_function("walrus"))
        .file("generated/other.py", python_function("walrus"))
        .file("src/local.py", python_function("walrus"))
        .file("src/deep/scratch.py", python_function("walrus"))
        .file("src/kept.py", python_function("walrus"))
        .file("src/huge.py", python_function("walrus"))
        .file("run.log", "walrus\n")
        .file("dist/built.py", python_function("walrus"))
        .file(
            ".docentignore",
            "src/huge.py\n!generated/\ngenerated/other.py\n!*.log\n",
        );
    let servers = Servers::start(&sandbox);
    assert_eq!(
        servers.find("walrus"),
        ["generated/model.py", "run.log", "src/kept.py"]
    );
    sandbox.write(".docentignore", "!generated/\n!dist/\n");
    assert_eq!(
        servers.find("walrus"),
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
        servers.find("walrus"),
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
        .file("a.py", python_function("walrus"))
        .file("b.py", python_function("other"))
        .file("notes.scratch", "walrus\n");
    sandbox.git(&["init", "-q"]);
    let config = sandbox.home().join("config/git");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("ignore"), "*.scratch\n").unwrap();
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.find("walrus"), ["a.py"]);
    fs::write(sandbox.root().join(".git/info/exclude"), "a.py\n").unwrap();
    assert_eq!(servers.find("walrus"), [] as [&str; 0]);
    fs::write(sandbox.root().join(".git/info/exclude"), "").unwrap();
    fs::write(config.join("ignore"), "").unwrap();
    assert_eq!(servers.find("walrus"), ["a.py", "notes.scratch"]);
}

#[test]
fn nested_repositories_and_submodules_are_indexed_and_other_work_trees_are_not() {
    let sandbox = sandbox().file("a.py", python_function("walrus"));
    let git = |directory: &Path, arguments: &[&str]| sandbox.git_in(directory, arguments);
    let root = sandbox.root();
    let library = sandbox.outside().join("library");
    for (directory, file) in [(&library, "lib.py"), (&root.join("nested"), "inner.py")] {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join(file), python_function("walrus")).unwrap();
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
        find_by_cli(&sandbox, "walrus"),
        ["a.py", "nested/inner.py", "vendored/lib.py"]
    );

    // A work tree is a project with its own index.
    let tree = root.join("trees/feature");
    fs::write(tree.join("a.py"), python_function("narwhal")).unwrap();
    let tree = tree.to_str().unwrap();
    let arguments = r#"{"query":"narwhal","format":"json"}"#;
    let finished = sandbox.run(&["--root", tree, "call", "context_search", arguments]);
    assert_eq!(paths_of(&finished.json(), "narwhal"), ["a.py"]);
    assert_eq!(find_by_cli(&sandbox, "narwhal"), [] as [&str; 0]);
}

#[cfg(unix)]
#[test]
fn circular_links_end_and_names_that_are_not_utf8_are_counted() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let sandbox = sandbox().file("src/a.py", python_function("walrus"));
    let root = sandbox.root();
    symlink("..", root.join("src/up")).unwrap();
    symlink(".", root.join("here")).unwrap();
    symlink("a.py", root.join("src/same.py")).unwrap();
    symlink("/etc/passwd", root.join("src/passwd.py")).unwrap();
    fs::write(
        root.join(OsStr::from_bytes(b"caf\xe9.py")),
        python_function("walrus"),
    )
    .unwrap();
    fs::write(root.join("latin1.txt"), b"walrus caf\xe9\n").unwrap();
    assert_eq!(find_by_cli(&sandbox, "walrus"), ["latin1.txt", "src/a.py"]);
    assert_eq!(find_by_cli(&sandbox, "root"), [] as [&str; 0]);
    assert_eq!(sandbox.index_status()["unnameable"], 1);
}

#[test]
fn a_file_in_utf_16_is_found_with_the_lines_that_grep_shows() {
    let text = "\u{feff}def walrus():\n    return 1\n\ndef narwhal():\n    return 2\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let page: Vec<u8> = "\u{feff}# Guide\n\nThe seahorse.\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let sandbox = sandbox()
        .file("little.py", little)
        .file("big.py", big)
        .file("docs/guide.md", page);
    let answer = sandbox.search("narwhal");
    for result in answer["results"].as_array().unwrap() {
        assert_eq!(result["content"], "def narwhal():\n    return 2", "{answer}");
    }
    assert_eq!(find_by_cli(&sandbox, "narwhal"), ["big.py", "little.py"]);
    let arguments = json!({ "pattern": "def narwhal" });
    let matches = sandbox.call_by_cli("grep_codebase", arguments).json();
    assert_eq!(matches["matches"][0]["line"], 4, "{matches}");
    assert_eq!(answer["results"][0]["startLine"], 4, "{answer}");
    assert_eq!(sandbox.index_status()["notes"], json!([]));
    let page = sandbox.call_by_cli("search_docs", json!({ "query": "seahorse" }));
    assert!(page.text.contains("The seahorse."), "{page:?}");
}

#[test]
fn large_and_binary_files_are_not_indexed_and_are_listed() {
    let sandbox = sandbox()
        .file("a.py", python_function("walrus"))
        .file("picture.png", b"\x89PNG\0\0walrus")
        .file(
            "huge.txt",
            "walrus in a long line of text\n"
                .repeat(50 << 20 >> 5)
                .into_bytes(),
        )
        .file("bundle.min.js", format!("var walrus={};", "a=1,".repeat(3_000)))
        .file("empty.py", "");
    assert_eq!(find_by_cli(&sandbox, "walrus"), ["a.py", "bundle.min.js"]);
    let status = sandbox.index_status();
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
        .file("a.py", python_function("walrus"))
        .file("env/pyvenv.cfg", "home = /usr\n")
        .file("env/lib/b.py", python_function("walrus"))
        .file(
            "out/CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55\n",
        )
        .file("out/c.py", python_function("walrus"));
    assert_eq!(find_by_cli(&sandbox, "walrus"), ["a.py"]);
}

#[test]
fn thousands_of_tiny_files_are_indexed() {
    // Enough for several batches and store commits. 100,000 files are measured by `bench/files.py`.
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
    assert_eq!(find_by_cli(&sandbox, "walrus15x321"), ["d15/f321.txt"]);
    fs::write(root.join("d15/f321.txt"), "narwhal\n").unwrap();
    assert_eq!(find_by_cli(&sandbox, "narwhal"), ["d15/f321.txt"]);
    assert_eq!(sandbox.index_status()["indexed"], 10_000);
}

#[test]
fn a_directory_that_replaces_another_is_scanned() {
    let sandbox = sandbox()
        .file("src/gen/old.py", python_function("walrus"))
        .file("other.py", python_function("narwhal"));
    let servers = Servers::start(&sandbox);
    assert_eq!(servers.find("walrus"), ["src/gen/old.py"]);
    let directory = sandbox.root().join("src/gen");
    for round in 0..5 {
        fs::remove_dir_all(&directory).unwrap();
        fs::create_dir(&directory).unwrap();
        if round > 2 {
            // A changed ignore file causes a full scan. The new directory may have the inode of the old one.
            sandbox.write(".gitignore", format!("# {round}\n"));
        }
        fs::write(
            directory.join("new.py"),
            python_function(&format!("seahorse{round}")),
        )
        .unwrap();
        assert_eq!(servers.find(&format!("seahorse{round}")), ["src/gen/new.py"]);
        fs::write(
            directory.join("more.py"),
            python_function(&format!("octopus{round}")),
        )
        .unwrap();
        assert_eq!(servers.find(&format!("octopus{round}")), ["src/gen/more.py"]);
    }
    assert_eq!(servers.find("walrus"), [] as [&str; 0]);
}
