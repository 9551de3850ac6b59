//! Index files that other programs damage under a living server, and a cache on a full disk.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use docent_testkit::notice;
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

/// Runs a shell script with a file system of this size in place of the cache. `None` if this system does not
/// allow user namespaces.
#[cfg(target_os = "linux")]
fn run_with_cache_of(kilobytes: u32, sandbox: &Sandbox, script: &str) -> Option<String> {
    let cache = sandbox.home().join("cache");
    fs::create_dir_all(&cache).unwrap();
    let run = |script: &str| {
        let mount = format!("mount -t tmpfs -o size={kilobytes}k tmpfs '{}'", cache.display());
        let mut command = sandbox.program("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        command.arg(format!("{mount} && {{ {script}\n}}"));
        command.output()
    };
    if !run("true").is_ok_and(|output| output.status.success()) {
        return None;
    }
    let output = run(script).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[cfg(target_os = "linux")]
fn search_command(sandbox: &Sandbox, word: &str) -> String {
    let binary = sandbox.docent().get_program().to_string_lossy().into_owned();
    format!("'{binary}' search {word} --json --format json")
}

#[cfg(target_os = "linux")]
#[test]
fn an_index_that_does_not_fit_on_the_disk_is_kept_in_memory() {
    // From a disk that has no room for the first file to one that is full in the middle of the build.
    for kilobytes in [4, 20, 40, 80, 120, 160, 200] {
        let sandbox = project();
        let Some(shown) = run_with_cache_of(kilobytes, &sandbox, &search_command(&sandbox, "walrus")) else {
            return;
        };
        let answer: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(first_path(&answer), "src/a.py", "{kilobytes}: {answer}");
        let notice = notice(&answer);
        assert!(
            notice.starts_with("The index cannot be written (") && notice.contains("kept in memory"),
            "{kilobytes}: {notice}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_saved_while_the_disk_is_full_is_found() {
    let sandbox = project();
    let script = format!(
        "{} > /dev/null; cat /dev/zero > '{}/full' 2> /dev/null; echo 'def narwhal(): pass' > src/new.py; {}",
        search_command(&sandbox, "walrus"),
        sandbox.home().join("cache").display(),
        search_command(&sandbox, "narwhal"),
    );
    let Some(shown) = run_with_cache_of(8_000, &sandbox, &script) else {
        return;
    };
    let answer: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(first_path(&answer), "src/new.py", "{answer}");
    assert!(notice(&answer).contains("kept in memory"), "{answer}");
}
