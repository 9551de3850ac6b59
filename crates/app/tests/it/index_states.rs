//! The index when things go wrong: partial, damaged, read-only, full, of another version; and many processes at once.

use std::fs;
use std::path::PathBuf;

use docent_testkit::{Era, Sandbox, StdioClient};
use serde_json::{Value, json};

use crate::index::{function, status};
use crate::sandbox;

fn project() -> Sandbox {
    sandbox()
        .file("src/a.py", function("walrus"))
        .file("src/b.py", function("narwhal"))
}

fn search(sandbox: &Sandbox, word: &str) -> Value {
    let arguments = json!({ "query": word, "format": "json" }).to_string();
    let finished = sandbox.run(&["call", "context_search", &arguments]);
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"))
}

/// The folder of the index, which only tests look into.
fn folder(sandbox: &Sandbox) -> PathBuf {
    let folder = status(sandbox)["folder"].as_str().unwrap().to_owned();
    folder.into()
}

fn first(answer: &Value) -> &str {
    answer["results"][0]["path"].as_str().unwrap_or_default()
}

#[test]
fn the_first_search_builds_the_index_and_clear_removes_it() {
    let sandbox = project();
    let before = status(&sandbox);
    assert_eq!((&before["indexed"], &before["pending"]), (&json!(0), &json!(2)));
    assert_eq!(first(&search(&sandbox, "walrus")), "src/a.py");
    let built = status(&sandbox);
    assert_eq!(
        (&built["indexed"], &built["pending"], &built["writer"]),
        (&json!(2), &json!(0), &Value::Null)
    );
    assert_eq!(built["languages"], json!({ "python": 2 }));
    assert!(built["bytesOnDisk"].as_u64().unwrap() > 0);

    assert!(sandbox.run(&["clear"]).stderr.contains("is gone"));
    assert_eq!(status(&sandbox)["indexed"], 0);
    assert!(sandbox.run(&["clear"]).stderr.contains("no index"));
    assert_eq!(first(&search(&sandbox, "narwhal")), "src/b.py");
}

#[test]
fn the_index_command_prints_what_it_did_and_force_rebuilds() {
    let sandbox = project();
    let run = |arguments: &[&str]| sandbox.run(arguments).stderr;
    assert!(run(&["index"]).starts_with("2 files are indexed: 2 chunks in "));
    assert_eq!(run(&["index"]), "2 files are indexed; nothing has changed\n");
    let before = folder(&sandbox);
    assert!(run(&["index", "--force"]).starts_with("2 files are indexed: 2 chunks in "));
    assert!(!before.exists());
    let shown = sandbox.run(&["status"]).stdout;
    for wanted in [
        "files       2  of 2 in the project",
        "freshness   up to date",
        "embedder    bundled-1",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
}

#[test]
fn a_server_keeps_answering_when_another_process_clears_or_rebuilds_the_index() {
    let sandbox = project();
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let ask = |word: &str| {
        let answer = client
            .call("context_search", json!({ "query": word, "format": "json" }))
            .json();
        first(&answer).to_owned()
    };
    assert_eq!(ask("walrus"), "src/a.py");
    sandbox.run(&["index", "--force"]);
    assert_eq!(ask("walrus"), "src/a.py");
    sandbox.run(&["clear"]);
    assert_eq!(ask("narwhal"), "src/b.py");
}

#[test]
fn a_damaged_index_is_rebuilt_and_reported() {
    for damaged in [
        "files.db",
        "meta.json",
        ".idx",
        ".term",
        ".store",
        ".fieldnorm",
        "meta.json gone",
    ] {
        let sandbox = project();
        search(&sandbox, "walrus");
        let folder = folder(&sandbox);
        let file = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| {
                path.to_str()
                    .unwrap()
                    .ends_with(damaged.trim_end_matches(" gone"))
            })
            .unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 3;
        for byte in &mut bytes[middle..] {
            *byte = !*byte;
        }
        fs::write(&file, bytes).unwrap();
        if damaged.ends_with(" gone") {
            fs::remove_file(&file).unwrap();
        }
        for leftover in ["files.db-wal", "files.db-shm"] {
            let _ = fs::remove_file(folder.join(leftover));
        }
        let answer = search(&sandbox, "walrus");
        assert_eq!(first(&answer), "src/a.py", "{damaged}: {answer}");
        let notice = answer["notice"].as_str().unwrap_or_default();
        assert!(notice.starts_with("The index was damaged"), "{damaged}: {answer}");
        assert_eq!(search(&sandbox, "narwhal")["notice"], Value::Null, "{damaged}");
        let troubles = status(&sandbox)["troubles"].to_string();
        assert!(troubles.contains("was damaged"), "{damaged}: {troubles}");
    }
}

#[cfg(unix)]
#[test]
fn an_unwritable_cache_is_reported_and_the_search_answers() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = project();
    let cache = sandbox.home().join("cache");
    fs::create_dir_all(&cache).unwrap();
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o555)).unwrap();
    let arguments = r#"{"query":"walrus","format":"json"}"#;
    let finished = sandbox.run_unprivileged(&["call", "context_search", arguments]);
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(first(&answer), "src/a.py", "{answer}");
    let notice = answer["notice"].as_str().unwrap();
    assert!(
        notice.starts_with("The index cannot be written (") && notice.contains("kept in memory"),
        "{notice}"
    );
    let status = sandbox.run_unprivileged(&["status"]);
    assert!(
        status.stderr.contains("The index cannot be written ("),
        "{status:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_read_only_index_still_answers() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = project();
    search(&sandbox, "walrus");
    let cache = sandbox.home();
    let mut all = vec![cache.clone()];
    while let Some(path) = all.pop() {
        if path.is_dir() {
            all.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).unwrap();
        } else {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        }
    }
    sandbox.write("src/c.py", function("seahorse"));
    let arguments = r#"{"query":"seahorse","format":"json"}"#;
    let finished = sandbox.run_unprivileged(&["call", "context_search", arguments]);
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(first(&answer), "src/c.py", "{answer}");
    let notice = answer["notice"].as_str().unwrap();
    assert!(notice.starts_with("The index cannot be written ("), "{answer}");
}

#[test]
fn an_index_of_a_newer_version_is_kept_and_listed() {
    let sandbox = project();
    search(&sandbox, "walrus");
    let project = folder(&sandbox).parent().unwrap().parent().unwrap().to_owned();
    let newer = project.join("index-99-abcdef01");
    fs::create_dir(&newer).unwrap();
    fs::write(newer.join("current"), "of another time").unwrap();
    assert_eq!(first(&search(&sandbox, "walrus")), "src/a.py");
    assert_eq!(status(&sandbox)["others"], json!(["index-99-abcdef01"]));
    sandbox.run(&["clear"]);
    assert!(newer.join("current").exists());
}

#[test]
fn many_processes_share_one_index() {
    let sandbox = project();
    let clients: Vec<StdioClient> = (0..6)
        .map(|_| StdioClient::start(sandbox.docent(), Era::Handshake))
        .collect();
    for round in 0..12 {
        let word = format!("creature{round}");
        sandbox.write(&format!("src/m{}/new{round}.py", round % 3), function(&word));
        if round > 0 {
            fs::remove_file(
                sandbox
                    .root()
                    .join(format!("src/m{}/new{}.py", (round - 1) % 3, round - 1)),
            )
            .unwrap();
        }
        for client in &clients {
            let answer = client
                .call("context_search", json!({ "query": word, "format": "json" }))
                .json();
            assert_eq!(
                first(&answer),
                format!("src/m{}/new{round}.py", round % 3),
                "{answer}"
            );
            assert_eq!(answer["notice"], Value::Null, "{answer}");
        }
        assert_eq!(
            first(&search(&sandbox, &word)),
            format!("src/m{}/new{round}.py", round % 3)
        );
    }
}

#[test]
fn the_first_search_does_not_wait_for_the_full_build_and_reports_progress() {
    let sandbox = sandbox();
    let functions: Vec<String> = (0..400)
        .map(|number| format!("def f{number}(a, b):\n    return [a + {number}, b]\n\n"))
        .collect();
    let body = functions.concat();
    for number in 0..600 {
        sandbox.write(&format!("src/m{number}/code.py"), &body);
    }
    let client = StdioClient::start_silent(sandbox.docent_with_running_clock(), Era::Handshake);
    client.initialize("2025-11-25");
    let result = client.request(
        "tools/call",
        json!({
            "name": "context_search",
            "arguments": { "query": "f123", "format": "json" },
            "_meta": { "progressToken": "p1" },
        }),
    );
    let answer: Value =
        serde_json::from_str(result["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let notice = answer["notice"].as_str().unwrap();
    assert!(
        notice.starts_with("The index is being built: ") && notice.contains("of 600 files"),
        "{notice}"
    );
}

#[test]
fn processes_that_write_in_turn_leave_few_segments() {
    let sandbox = project();
    let clients: Vec<StdioClient> = (0..2)
        .map(|_| StdioClient::start(sandbox.docent(), Era::Handshake))
        .collect();
    for round in 0..24 {
        let word = format!("creature{round}");
        sandbox.write("src/a.py", function(&word));
        let answer = clients[round % 2].call("context_search", json!({ "query": word, "format": "json" }));
        assert_eq!(first(&answer.json()), "src/a.py");
    }
    let segments = fs::read_dir(folder(&sandbox))
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|end| end == "store")
        })
        .count();
    assert!(segments <= 10, "{segments} segments");
}

#[test]
fn an_index_that_lost_its_newest_commit_is_rebuilt() {
    let sandbox = project();
    search(&sandbox, "walrus");
    let folder = folder(&sandbox);
    let copy = sandbox.outside().join("before");
    fs::create_dir(&copy).unwrap();
    let files = |directory: &PathBuf| -> Vec<PathBuf> {
        let entries = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.is_file())
            .filter(|path| {
                !path
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .starts_with("files.db")
            })
            .collect()
    };
    for file in files(&folder) {
        fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
    }
    sandbox.write("src/c.py", function("seahorse"));
    assert_eq!(first(&search(&sandbox, "seahorse")), "src/c.py");
    // As after a power cut: the table is newer than what it is about.
    for file in files(&folder) {
        fs::remove_file(file).unwrap();
    }
    for file in files(&copy) {
        fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let answer = search(&sandbox, "seahorse");
    assert_eq!(first(&answer), "src/c.py", "{answer}");
    assert!(
        answer["notice"]
            .as_str()
            .unwrap()
            .contains("its newest commit is lost"),
        "{answer}"
    );
}

#[test]
fn a_repaired_damage_is_not_reported_again() {
    let sandbox = project();
    search(&sandbox, "walrus");
    let folder = folder(&sandbox);
    fs::write(folder.join("meta.json"), "no index").unwrap();
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let notice = || {
        client
            .call("context_search", json!({ "query": "walrus", "format": "json" }))
            .json()["notice"]
            .clone()
    };
    let told = [notice(), notice(), notice()];
    assert_eq!(told[2], Value::Null, "{told:?}");
    assert_eq!(first(&search(&sandbox, "walrus")), "src/a.py");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_listed_and_causes_no_further_writes() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = project();
    let file = sandbox.root().join("src/b.py");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let ask =
        || sandbox.run_unprivileged(&["call", "context_search", r#"{"query":"walrus","format":"json"}"#]);
    fs::set_permissions(sandbox.home(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(ask().stdout.contains("src/a.py"));
    let status = || -> Value {
        serde_json::from_str(&sandbox.run_unprivileged(&["status", "--json"]).stdout).unwrap()
    };
    let before = status();
    assert_eq!(before["notes"][0]["first"], json!(["src/b.py"]), "{before}");
    let meta = PathBuf::from(before["folder"].as_str().unwrap()).join("meta.json");
    let written = fs::read(&meta).unwrap();
    ask();
    assert_eq!(fs::read(&meta).unwrap(), written);
}

#[test]
fn a_replaced_project_directory_does_not_empty_the_index() {
    let sandbox = project();
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let ask = || {
        client
            .call("context_search", json!({ "query": "walrus", "format": "json" }))
            .json()
    };
    assert_eq!(first(&ask()), "src/a.py");
    fs::rename(sandbox.root(), sandbox.outside().join("moved")).unwrap();
    sandbox.write("src/new.py", function("walrus"));
    assert_eq!(first(&search(&sandbox, "walrus")), "src/new.py");
    let notice = ask()["notice"].as_str().unwrap_or_default().to_owned();
    assert!(notice.contains("was moved or made anew"), "{notice}");
    assert_eq!(first(&search(&sandbox, "walrus")), "src/new.py");
}

#[test]
fn a_cache_inside_the_project_does_not_index_itself() {
    let sandbox = project();
    let run = || {
        let mut command = sandbox.docent();
        command.env("XDG_CACHE_HOME", sandbox.root().join("cache"));
        let output = command
            .args(["search", "walrus meta", "--json"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for _ in 0..3 {
        assert!(!run().contains("cache/docent"), "{}", run());
    }
}

#[test]
fn changes_during_a_build_survive_searches_of_the_documentation() {
    const FILES: usize = 3_000;
    const CHANGED: usize = 150;
    let sandbox = sandbox().file("README.md", "# Read me\n\nwalrus\n");
    for at in 0..FILES {
        sandbox.write(&format!("src/f{at}.py"), function(&format!("before{at}")));
    }
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let ask = || client.call("search_docs", json!({ "query": "walrus" }));
    ask();
    for at in 0..CHANGED {
        sandbox.write(&format!("src/f{at}.py"), function(&format!("zebra{at}")));
        if at % 10 == 0 {
            assert!(!ask().is_error);
        }
    }
    let search = |word: &str| {
        let arguments = json!({ "query": word, "format": "json" });
        client.call("context_search", arguments).json()
    };
    let complete = (0..100).find(|_| search("zebra0").get("notice").is_none());
    assert!(
        complete.is_some(),
        "the index is not complete: {}",
        search("zebra0")
    );
    for at in (0..CHANGED).step_by(7) {
        assert_eq!(first(&search(&format!("zebra{at}"))), format!("src/f{at}.py"));
        let gone = search(&format!("before{at}"));
        assert_ne!(first(&gone), format!("src/f{at}.py"), "{gone}");
    }
}
