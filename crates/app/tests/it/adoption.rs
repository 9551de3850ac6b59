//! The first index of a working tree, taken over from another working tree of the same repository.

use std::fs;
use std::path::{Path, PathBuf};

use docent_testkit::{Finished, JANE, JOHN, Sandbox, python_function};
use serde_json::json;

use crate::sandbox;

/// A repository with an index, and a second working tree beside it.
struct Trees {
    first: Sandbox,
    second: PathBuf,
}

impl Trees {
    fn new() -> Self {
        let first = sandbox()
            .file("src/sea.py", python_function("walrus"))
            .file("src/land.py", python_function("badger"))
            .file("docs/sea.md", "# Tides\n\nThey come twice a day.\n")
            .repository();
        first.commit("2025-10-01", JOHN, "Decide to use tides, because they are free");
        let second = first.outside().join("second");
        Self { first, second }
    }

    /// Adds the second tree, and indexes the first.
    fn add_second(&self) -> String {
        let second = self.second.to_str().expect("a name of the test");
        self.first.git(&["worktree", "add", "-q", second]);
        self.first.run(&["index"]).stderr
    }

    /// Runs docent in the second tree.
    fn in_second(&self, arguments: &[&str]) -> Finished {
        let mut docent = self.first.docent();
        docent.env("DOCENT_ROOT", &self.second).current_dir(&self.second);
        Finished::run(docent.args(arguments))
    }
}

const TAKEN_OVER: &str = "as in another working tree of this repository";

#[test]
fn a_second_working_tree_parses_only_what_differs() {
    let trees = Trees::new();
    trees.add_second();
    fs::write(trees.second.join("src/land.py"), python_function("hedgehog")).unwrap();
    fs::remove_file(trees.second.join("docs/sea.md")).unwrap();
    let said = trees.in_second(&["index"]).stderr;
    assert!(said.contains("1 had changed"), "{said}");
    assert!(said.contains(&format!("1 files were {TAKEN_OVER}")), "{said}");
    for (name, is_there) in [("walrus", true), ("hedgehog", true), ("badger", false)] {
        let found = trees.in_second(&["symbol", name]).stdout;
        assert_eq!(
            found.contains(&format!("def {name}")),
            is_there,
            "{name}: {found}"
        );
    }
    let docs = trees
        .in_second(&["call", "search_docs", r#"{"query":"tides"}"#])
        .stdout;
    assert!(!docs.contains("twice a day"), "{docs}");
    let again = trees.in_second(&["index"]).stderr;
    assert!(
        again.contains("nothing has changed") && !again.contains(TAKEN_OVER),
        "{again}"
    );
}

#[test]
fn an_adopted_index_answers_as_one_that_was_built_here() {
    let trees = Trees::new();
    trees.add_second();
    assert!(trees.in_second(&["index"]).stderr.contains(TAKEN_OVER));
    let questions = [
        (
            "context_search",
            json!({ "query": "why tides", "format": "json" }),
        ),
        ("context_search", json!({ "query": "walrus", "format": "json" })),
        ("search_docs", json!({ "query": "tides" })),
        ("find_symbol", json!({ "name": "walrus" })),
    ];
    let answers = || {
        questions
            .each_ref()
            .map(|(tool, arguments)| trees.in_second(&["call", tool, &arguments.to_string()]).stdout)
    };
    let adopted = answers();
    assert!(!trees.in_second(&["index", "--force"]).stderr.contains(TAKEN_OVER));
    assert_eq!(adopted, answers());
}

#[test]
fn files_and_commits_of_the_other_tree_alone_are_not_taken_over() {
    let trees = Trees::new();
    let second = trees.second.to_str().unwrap();
    trees.first.git(&["worktree", "add", "-q", second]);
    trees
        .first
        .write("src/private.py", python_function("secret_walrus"));
    trees.first.commit(
        "2025-10-02",
        JANE,
        "Decide to hide the narwhal, because it is shy",
    );
    trees
        .first
        .write("src/uncommitted.py", python_function("unborn_walrus"));
    trees
        .first
        .write("src/land.py", python_function("changed_badger"));
    trees.first.run(&["index"]);
    assert!(trees.in_second(&["index"]).stderr.contains(TAKEN_OVER));
    for name in ["secret_walrus", "unborn_walrus", "changed_badger"] {
        let found = trees.in_second(&["symbol", name]).stdout;
        assert!(!found.contains("def "), "{found}");
    }
    let why = trees
        .in_second(&["search", "--type", "decision", "why is the narwhal hidden"])
        .stdout;
    assert!(!why.contains("shy"), "{why}");
    assert!(
        trees
            .in_second(&["symbol", "badger"])
            .stdout
            .contains("def badger")
    );
}

#[test]
fn the_memory_is_read_in_its_own_tree() {
    let trees = Trees::new();
    let entry = r#"{"decision": "Use lanterns", "why": "They burn long"}"#;
    trees
        .first
        .write(".context/memory/decisions.jsonl", format!("{entry}\n"));
    trees.first.commit("2025-10-02", JANE, "Remember lanterns");
    trees.add_second();
    assert!(trees.in_second(&["index"]).stderr.contains(TAKEN_OVER));
    let found = trees
        .in_second(&["search", "--type", "decision", "lanterns"])
        .stdout;
    assert!(found.contains("They burn long"), "{found}");
}

#[test]
fn an_index_of_another_repository_is_not_adopted() {
    let trees = Trees::new();
    trees.first.run(&["index"]);
    fs::create_dir_all(trees.second.join("src")).unwrap();
    fs::write(trees.second.join("src/sea.py"), python_function("walrus")).unwrap();
    trees.first.git_in(&trees.second, &["init", "-q"]);
    trees.first.git_in(&trees.second, &["add", "-A"]);
    trees
        .first
        .git_in(&trees.second, &["commit", "-q", "-m", "Another sea"]);
    let said = trees.in_second(&["index"]).stderr;
    assert!(said.starts_with("1 files are indexed: 1 chunks"), "{said}");
    assert!(!said.contains(TAKEN_OVER), "{said}");
}

#[test]
fn a_damaged_index_is_not_adopted() {
    let trees = Trees::new();
    trees.add_second();
    damage_words(&trees.first.index_directory());
    let said = trees.in_second(&["index"]).stderr;
    assert!(!said.contains(TAKEN_OVER), "{said}");
    assert!(
        trees
            .in_second(&["symbol", "walrus"])
            .stdout
            .contains("def walrus")
    );
}

/// Flips a bit in the words of an index.
fn damage_words(generation: &Path) {
    for entry in fs::read_dir(generation).unwrap().flatten() {
        let is_segment = entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "term");
        if is_segment {
            let mut bytes = fs::read(entry.path()).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(entry.path(), bytes).unwrap();
        }
    }
}

/// The words behind `digest: `.
fn digest_of(said: &str) -> String {
    let (_, digest) = said.rsplit_once("digest: ").unwrap();
    digest.trim().to_owned()
}

/// Exports the index of the first tree, and removes it, so that it cannot be adopted.
fn export(trees: &Trees) -> (String, String) {
    let file = trees.first.outside().join("index.export");
    let file = file.to_str().unwrap().to_owned();
    let said = trees.first.run(&["index", "--export", &file]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    trees.first.run(&["clear"]);
    (file, digest_of(&said.stderr))
}

#[test]
fn an_exported_index_is_imported_elsewhere() {
    let trees = Trees::new();
    trees.add_second();
    let (file, digest) = export(&trees);
    fs::write(trees.second.join("src/land.py"), python_function("hedgehog")).unwrap();
    let imported = trees.in_second(&["index", "--import", &file, "--digest", &digest]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let said = imported.stderr;
    assert!(said.starts_with("2 files are as in "), "{said}");
    assert!(said.contains("1 had changed"), "{said}");
    assert_eq!(digest_of(said.lines().next().unwrap()), digest);
    for (name, is_there) in [("walrus", true), ("hedgehog", true), ("badger", false)] {
        let found = trees.in_second(&["symbol", name]).stdout;
        assert_eq!(
            found.contains(&format!("def {name}")),
            is_there,
            "{name}: {found}"
        );
    }
    let docs = trees
        .in_second(&["call", "search_docs", r#"{"query":"tides"}"#])
        .stdout;
    assert!(docs.contains("twice a day"), "{docs}");
}

#[test]
fn an_export_with_another_digest_is_refused() {
    let trees = Trees::new();
    trees.add_second();
    let (file, digest) = export(&trees);
    let other = digest.replace(|digit: char| digit.is_ascii_digit(), "0");
    let refused = trees.in_second(&["index", "--import", &file, "--digest", &other]);
    assert_eq!(refused.code, 1);
    assert!(
        refused
            .stderr
            .contains(&format!("its digest is {digest}, not {other}")),
        "{}",
        refused.stderr
    );
    assert_eq!(trees.in_second(&["status", "--json"]).json()["indexed"], 0);
}

#[test]
fn an_export_of_other_settings_is_refused() {
    let trees = Trees::new();
    trees.add_second();
    let (file, _) = export(&trees);
    let refused = trees.in_second(&[
        "index",
        "--set",
        "index.max_file_bytes=3000000",
        "--import",
        &file,
    ]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("with other settings"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_file_that_is_no_export_is_refused_and_left_as_it_is() {
    let trees = Trees::new();
    trees.add_second();
    let file = trees.first.outside().join("notes.txt");
    fs::write(&file, "my notes\n").unwrap();
    for arguments in [["index", "--import"], ["index", "--export"]] {
        let refused = trees.in_second(&[arguments[0], arguments[1], file.to_str().unwrap()]);
        assert_eq!(refused.code, 1);
        assert!(
            refused.stderr.contains("it is no export of an index"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "my notes\n");
}

#[test]
fn a_damaged_export_is_refused() {
    let trees = Trees::new();
    trees.add_second();
    let (file, _) = export(&trees);
    let bytes = fs::read(&file).unwrap();
    for at in (40..bytes.len()).step_by(bytes.len() / 23) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        fs::write(&file, damaged).unwrap();
        let imported = trees.in_second(&["index", "--import", &file]);
        let found = trees.in_second(&["symbol", "walrus"]).stdout;
        assert!(found.contains("def walrus"), "{at}: {}\n{found}", imported.stderr);
    }
}
