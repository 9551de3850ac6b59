//! Index files that other programs damage under a living server.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use docent_testkit::{Era, Sandbox, StdioClient, first_path, python_function};
use serde_json::{Value, json};

use crate::sandbox;

/// Enough chunks for files of the index that are read in parts, not copied.
fn project() -> Sandbox {
    let functions: Vec<String> = (0..700)
        .map(|number| format!("def common{number}(a, b):\n    return [a + {number}, b]\n\n"))
        .collect();
    sandbox()
        .file("src/a.py", python_function("walrus"))
        .file("src/many.py", functions.concat())
        .file("docs/guide.md", "# Guide\n\nThe seahorse.\n")
}

fn search_by_client(client: &StdioClient, word: &str) -> Value {
    let arguments = json!({ "query": word, "format": "json" });
    client.call("context_search", arguments).json()
}

/// The files of the index in use, those of pages included.
fn index_files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.index_directory();
    let mut files: Vec<PathBuf> = [folder.join("pages"), folder]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

fn open_to_write(file: &Path) -> fs::File {
    OpenOptions::new().write(true).open(file).unwrap()
}

/// Damages files of the index under a server and asks it; then asks a new process.
#[track_caller]
fn check_survives(damage: impl Fn(&Path), kinds: &[&str]) {
    let sandbox = project();
    let client = sandbox.start_client(Era::Handshake);
    assert_eq!(first_path(&search_by_client(&client, "walrus")), "src/a.py");
    for kind in kinds {
        let files = index_files(&sandbox);
        let damaged: Vec<&PathBuf> = files
            .iter()
            .filter(|file| file.to_str().unwrap().ends_with(kind))
            .collect();
        assert!(!damaged.is_empty(), "{kind}: {files:?}");
        for file in damaged {
            damage(file);
        }
        let word = format!("after{}", kind.trim_matches(['.', '_']).replace('.', ""));
        sandbox.write("src/b.py", python_function(&word));
        for (word, path) in [
            ("walrus", "src/a.py"),
            (&word, "src/b.py"),
            ("common7", "src/many.py"),
        ] {
            let answer = search_by_client(&client, word);
            assert_eq!(first_path(&answer), path, "{kind}: {answer}");
        }
        let docs = client.call("search_docs", json!({ "query": "seahorse" }));
        assert!(docs.text.contains("docs/guide.md"), "{kind}: {docs:?}");
        assert_eq!(first_path(&sandbox.search("walrus")), "src/a.py", "{kind}");
    }
}

const KINDS: [&str; 9] = [
    ".store",
    ".idx",
    ".term",
    ".fieldnorm",
    ".fast",
    ".pos",
    "meta.json",
    ".managed.json",
    "files.db",
];

#[test]
fn a_server_survives_index_files_that_are_emptied() {
    check_survives(|file| open_to_write(file).set_len(0).unwrap(), &KINDS);
}

#[test]
fn a_server_survives_index_files_that_are_cut_in_half() {
    let cut = |file: &Path| {
        let length = fs::metadata(file).unwrap().len();
        open_to_write(file).set_len(length / 2).unwrap();
    };
    check_survives(cut, &KINDS);
}

#[test]
fn a_server_survives_index_files_that_are_overwritten() {
    let overwrite = |file: &Path| {
        let mut content = fs::read(file).unwrap();
        let middle = content.len() / 3;
        for byte in &mut content[middle..] {
            *byte = !*byte;
        }
        fs::write(file, content).unwrap();
    };
    check_survives(overwrite, &KINDS);
}

#[test]
fn a_server_survives_index_files_that_are_deleted() {
    check_survives(|file| fs::remove_file(file).unwrap(), &KINDS);
}
