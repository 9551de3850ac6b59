//! The index when something is wrong (incomplete, damaged, read-only, newer), and many processes at once.

use std::fs;
use std::path::PathBuf;

#[cfg(unix)]
use docent_testkit::set_mode;
use docent_testkit::{Answer, Era, Sandbox, StdioClient, first_path, notice, python_function};
use serde_json::{Value, json};

use crate::sandbox;

fn project() -> Sandbox {
    sandbox()
        .file("src/a.py", python_function("walrus"))
        .file("src/b.py", python_function("narwhal"))
}

fn search_by_client(client: &StdioClient, word: &str) -> Value {
    let arguments = json!({ "query": word, "format": "json" });
    client.call("context_search", arguments).json()
}

#[test]
fn the_first_search_builds_the_index_and_clear_removes_it() {
    let sandbox = project();
    let before = sandbox.index_status();
    assert_eq!((&before["indexed"], &before["pending"]), (&json!(0), &json!(2)));
    assert_eq!(first_path(&sandbox.search("walrus")), "src/a.py");
    let built = sandbox.index_status();
    assert_eq!(
        (&built["indexed"], &built["pending"], &built["writer"]),
        (&json!(2), &json!(0), &Value::Null)
    );
    assert_eq!(built["languages"], json!({ "python": 2 }));
    assert!(built["bytesOnDisk"].as_u64().unwrap() > 0);

    assert!(sandbox.run(&["clear"]).stderr.contains("is gone"));
    assert_eq!(sandbox.index_status()["indexed"], 0);
    assert!(sandbox.run(&["clear"]).stderr.contains("no index"));
    assert_eq!(first_path(&sandbox.search("narwhal")), "src/b.py");
}

#[test]
fn the_index_command_prints_what_it_did_and_force_rebuilds() {
    let sandbox = project();
    let run = |arguments: &[&str]| sandbox.run(arguments).stderr;
    assert!(run(&["index"]).starts_with("2 files are indexed: 2 chunks in "));
    assert_eq!(run(&["index"]), "2 files are indexed; nothing has changed\n");
    let before = sandbox.index_directory();
    assert!(run(&["index", "--force"]).starts_with("2 files are indexed: 2 chunks in "));
    assert!(!before.exists());
    let shown = sandbox.run(&["status"]).stdout;
    for line in [
        "files       2  of 2 in the project",
        "freshness   up to date",
        "embedder    bundled-1",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}

#[test]
fn a_server_keeps_answering_when_another_process_clears_or_rebuilds_the_index() {
    let sandbox = project();
    let client = sandbox.start_client(Era::Handshake);
    let ask = |word: &str| first_path(&search_by_client(&client, word)).to_owned();
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
        sandbox.search("walrus");
        let folder = sandbox.index_directory();
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
        let answer = sandbox.search("walrus");
        assert_eq!(first_path(&answer), "src/a.py", "{damaged}: {answer}");
        assert!(
            notice(&answer).starts_with("The index was damaged"),
            "{damaged}: {answer}"
        );
        assert_eq!(sandbox.search("narwhal")["notice"], Value::Null, "{damaged}");
        let troubles = sandbox.index_status()["troubles"].to_string();
        assert!(troubles.contains("was damaged"), "{damaged}: {troubles}");
    }
}

#[cfg(unix)]
#[test]
fn an_unwritable_cache_is_reported_and_the_search_answers() {
    let sandbox = project();
    let cache = sandbox.home().join("cache");
    fs::create_dir_all(&cache).unwrap();
    set_mode(&cache, 0o555);
    let arguments = json!({ "query": "walrus", "format": "json" });
    let answer = sandbox.call_unprivileged("context_search", arguments).json();
    assert_eq!(first_path(&answer), "src/a.py", "{answer}");
    let notice = notice(&answer);
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
    let sandbox = project();
    sandbox.search("walrus");
    let cache = sandbox.home();
    let mut all = vec![cache.clone()];
    while let Some(path) = all.pop() {
        if path.is_dir() {
            all.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            set_mode(&path, 0o555);
        } else {
            set_mode(&path, 0o444);
        }
    }
    sandbox.write("src/c.py", python_function("seahorse"));
    let arguments = json!({ "query": "seahorse", "format": "json" });
    let answer = sandbox.call_unprivileged("context_search", arguments).json();
    assert_eq!(first_path(&answer), "src/c.py", "{answer}");
    assert!(
        notice(&answer).starts_with("The index cannot be written ("),
        "{answer}"
    );
}

#[test]
fn an_index_of_a_newer_version_is_kept_and_listed() {
    let sandbox = project();
    sandbox.search("walrus");
    let project = sandbox
        .index_directory()
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    let newer = project.join("index-99-abcdef01");
    fs::create_dir(&newer).unwrap();
    fs::write(newer.join("current"), "of another time").unwrap();
    assert_eq!(first_path(&sandbox.search("walrus")), "src/a.py");
    assert_eq!(sandbox.index_status()["others"], json!(["index-99-abcdef01"]));
    sandbox.run(&["clear"]);
    assert!(newer.join("current").exists());
}

#[test]
fn many_processes_share_one_index() {
    let sandbox = project();
    let clients: Vec<StdioClient> = (0..6).map(|_| sandbox.start_client(Era::Handshake)).collect();
    for round in 0..12 {
        let word = format!("creature{round}");
        sandbox.write(
            &format!("src/m{}/new{round}.py", round % 3),
            python_function(&word),
        );
        if round > 0 {
            fs::remove_file(
                sandbox
                    .root()
                    .join(format!("src/m{}/new{}.py", (round - 1) % 3, round - 1)),
            )
            .unwrap();
        }
        for client in &clients {
            let answer = search_by_client(client, &word);
            assert_eq!(
                first_path(&answer),
                format!("src/m{}/new{round}.py", round % 3),
                "{answer}"
            );
            assert_eq!(answer["notice"], Value::Null, "{answer}");
        }
        assert_eq!(
            first_path(&sandbox.search(&word)),
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
    let client = StdioClient::start_without_handshake(sandbox.docent_with_running_clock(), Era::Handshake);
    client.initialize("2025-11-25");
    let result = client.request(
        "tools/call",
        json!({
            "name": "context_search",
            "arguments": { "query": "f123", "format": "json" },
            "_meta": { "progressToken": "p1" },
        }),
    );
    let answer = Answer::from_result(&result["result"]).json();
    let notice = notice(&answer);
    assert!(
        notice.starts_with("The index is being built: ") && notice.contains("of 600 files"),
        "{notice}"
    );
}

#[test]
fn processes_that_write_in_turn_leave_few_segments() {
    let sandbox = project();
    let clients: Vec<StdioClient> = (0..2).map(|_| sandbox.start_client(Era::Handshake)).collect();
    for round in 0..24 {
        let word = format!("creature{round}");
        sandbox.write("src/a.py", python_function(&word));
        let answer = search_by_client(&clients[round % 2], &word);
        assert_eq!(first_path(&answer), "src/a.py");
    }
    let segments = fs::read_dir(sandbox.index_directory())
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
    sandbox.search("walrus");
    let folder = sandbox.index_directory();
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
    sandbox.write("src/c.py", python_function("seahorse"));
    assert_eq!(first_path(&sandbox.search("seahorse")), "src/c.py");
    // As after a power cut: the file table is newer than the store.
    for file in files(&folder) {
        fs::remove_file(file).unwrap();
    }
    for file in files(&copy) {
        fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let answer = sandbox.search("seahorse");
    assert_eq!(first_path(&answer), "src/c.py", "{answer}");
    assert!(notice(&answer).contains("its newest commit is lost"), "{answer}");
}

#[test]
fn a_repaired_damage_is_not_reported_again() {
    let sandbox = project();
    sandbox.search("walrus");
    let folder = sandbox.index_directory();
    fs::write(folder.join("meta.json"), "no index").unwrap();
    let client = sandbox.start_client(Era::Handshake);
    let notices = [0, 1, 2].map(|_| search_by_client(&client, "walrus")["notice"].clone());
    assert_eq!(notices[2], Value::Null, "{notices:?}");
    assert_eq!(first_path(&sandbox.search("walrus")), "src/a.py");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_listed_and_causes_no_further_writes() {
    let sandbox = project();
    let file = sandbox.root().join("src/b.py");
    set_mode(&file, 0o000);
    let search = || {
        let arguments = json!({ "query": "walrus", "format": "json" });
        sandbox.call_unprivileged("context_search", arguments)
    };
    set_mode(sandbox.home(), 0o777);
    assert!(search().text.contains("src/a.py"));
    let before = sandbox.run_unprivileged(&["status", "--json"]).json();
    assert_eq!(before["notes"][0]["first"], json!(["src/b.py"]), "{before}");
    let meta = PathBuf::from(before["folder"].as_str().unwrap()).join("meta.json");
    let written = fs::read(&meta).unwrap();
    search();
    assert_eq!(fs::read(&meta).unwrap(), written);
}

#[test]
fn a_replaced_project_directory_does_not_empty_the_index() {
    let sandbox = project();
    let client = sandbox.start_client(Era::Handshake);
    let ask = || search_by_client(&client, "walrus");
    assert_eq!(first_path(&ask()), "src/a.py");
    fs::rename(sandbox.root(), sandbox.outside().join("moved")).unwrap();
    sandbox.write("src/new.py", python_function("walrus"));
    assert_eq!(first_path(&sandbox.search("walrus")), "src/new.py");
    let answer = client.call("context_search", json!({ "query": "walrus" }));
    assert!(
        answer.is_error && answer.text.contains("was moved or replaced"),
        "{answer}"
    );
    assert_eq!(first_path(&sandbox.search("walrus")), "src/new.py");
}

/// A chain of directories, each inside the one before it.
#[cfg(unix)]
fn nested(depth: usize) -> PathBuf {
    ["deep"].repeat(depth).iter().collect()
}

#[cfg(unix)]
#[test]
fn directories_deeper_than_any_path_are_named_and_the_rest_is_served() {
    let sandbox = project();
    let (root, outside) = (sandbox.root(), sandbox.outside());
    // No path may be as long as the whole chain of 1,900, so it is put together from its lower end.
    let parts = ["first", "second", "third"].map(|name| outside.join(name));
    for (part, depth) in parts.iter().zip([700, 700, 498]) {
        fs::create_dir_all(part.join(nested(depth))).unwrap();
        fs::write(part.join("near.py"), python_function("seahorse")).unwrap();
    }
    let bottom = nested(700).join("next");
    fs::rename(&parts[2], parts[1].join(&bottom)).unwrap();
    fs::rename(&parts[1], parts[0].join(&bottom)).unwrap();
    fs::rename(&parts[0], root.join("deep")).unwrap();

    let client = sandbox.start_client(Era::Handshake);
    let answer = search_by_client(&client, "seahorse");
    assert_eq!(first_path(&answer), "deep/near.py", "{answer}");
    assert_eq!(
        notice(&answer),
        "1 directory could not be looked into",
        "{answer}"
    );
    sandbox.write("src/c.py", python_function("narwhal2"));
    assert_eq!(first_path(&search_by_client(&client, "narwhal2")), "src/c.py");
    let found = client
        .call("grep_codebase", json!({ "pattern": "narwhal2" }))
        .json();
    assert_eq!(found["matches"][0]["file"], "src/c.py", "{found}");
    assert!(
        found["notice"]
            .as_str()
            .unwrap()
            .starts_with("1 could not be searched: deep/")
    );
    let path = format!(
        "deep/{}/next/{}/f.py",
        nested(700).display(),
        nested(700).display()
    );
    assert!(client.call("read_file", json!({ "path": path })).is_error);
    assert!(!client.call("search_docs", json!({ "query": "walrus" })).is_error);
    let status = sandbox.index_status();
    assert_eq!(status["pending"], 0, "{status}");
    let unreadable = status["unreadableDirectories"][0].as_str().unwrap();
    assert!(
        unreadable.starts_with("deep/deep/") && unreadable.len() > 3_000,
        "{unreadable}"
    );
    let shown = sandbox.run(&["status"]).stdout;
    assert!(shown.contains("deep/deep (path of "), "{shown}");
    assert!(!sandbox.run(&["doctor"]).stdout.contains("✗ watcher"));

    // In parts again, because removing the whole chain would open more directories than a process may.
    fs::rename(root.join("deep").join(&bottom), &parts[1]).unwrap();
    fs::rename(parts[1].join(&bottom), &parts[2]).unwrap();
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
        sandbox.write(&format!("src/f{at}.py"), python_function(&format!("before{at}")));
    }
    let client = sandbox.start_client(Era::Handshake);
    let ask = || client.call("search_docs", json!({ "query": "walrus" }));
    ask();
    for at in 0..CHANGED {
        sandbox.write(&format!("src/f{at}.py"), python_function(&format!("zebra{at}")));
        if at % 10 == 0 {
            assert!(!ask().is_error);
        }
    }
    let search = |word: &str| search_by_client(&client, word);
    let complete = (0..100).find(|_| search("zebra0").get("notice").is_none());
    assert!(
        complete.is_some(),
        "the index is not complete: {}",
        search("zebra0")
    );
    for at in (0..CHANGED).step_by(7) {
        assert_eq!(
            first_path(&search(&format!("zebra{at}"))),
            format!("src/f{at}.py")
        );
        let answer = search(&format!("before{at}"));
        assert_ne!(first_path(&answer), format!("src/f{at}.py"), "{answer}");
    }
}
