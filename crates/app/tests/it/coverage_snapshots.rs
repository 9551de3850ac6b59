//! Snapshots of coverage as files: they last, never mix or tear, and only this user's of this project are read.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use docent_testkit::{Answer, Era, Finished, HttpServer, Sandbox, StdioClient};
use insta::assert_snapshot;
use serde_json::json;

use crate::coverage::{id, lcov};
use crate::sandbox;

fn project() -> Sandbox {
    sandbox().file("lcov.info", lcov(&[("src/a.ts", 1, 2), ("src/b.ts", 0, 5)]))
}

fn start(sandbox: &Sandbox) -> String {
    id(&by_cli(
        sandbox,
        "start_coverage_snapshot",
        &json!({ "lcovPath": "lcov.info" }),
    ))
}

fn end(sandbox: &Sandbox, id: &str) -> Answer {
    by_cli(
        sandbox,
        "end_coverage_snapshot",
        &json!({ "snapshotId": id, "lcovPath": "lcov.info" }),
    )
}

fn by_cli(sandbox: &Sandbox, tool: &str, arguments: &serde_json::Value) -> Answer {
    let Finished { stdout, code, .. } = sandbox.run(&["call", tool, &arguments.to_string()]);
    Answer {
        text: stdout.trim_end().to_owned(),
        is_error: code != 0,
    }
}

fn files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = fs::read_dir(sandbox.temporary()).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_snapshot_is_one_private_file_in_the_temporary_directory() {
    let sandbox = project();
    let id = start(&sandbox);
    let [file] = files(&sandbox).try_into().unwrap();
    assert!(file.to_str().unwrap().contains(&id));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o600);
}

#[test]
fn a_snapshot_outlives_the_process_that_took_it() {
    let sandbox = project();
    let taken = [
        start(&sandbox),
        id(&StdioClient::start(sandbox.docent(), Era::Handshake)
            .call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" }))),
        id(&HttpServer::start(sandbox.docent()).call(
            Era::Stateless,
            "start_coverage_snapshot",
            json!({ "lcovPath": "lcov.info" }),
        )),
    ];
    sandbox.write("lcov.info", lcov(&[("src/a.ts", 2, 2), ("src/b.ts", 0, 5)]));
    for id in &taken {
        let arguments = json!({ "snapshotId": id, "lcovPath": "lcov.info" });
        let ended = sandbox.call("end_coverage_snapshot", arguments).json();
        assert_eq!(ended["fileChanges"], json!({ "src/a.ts": 50, "src/b.ts": 0 }));
    }
    assert_eq!(files(&sandbox).len(), 3, "none was used up");
}

#[test]
fn snapshots_of_concurrent_processes_do_not_mix() {
    const PROCESSES: u32 = 6;
    const EACH: u32 = 8;
    let sandbox = project();
    let shared = start(&sandbox);
    // Every process and every round has a report of its own; what comes back must be about that one.
    let report = |process: u32, round: u32| lcov(&[("src/a.ts", process * EACH + round, 100)]);
    std::thread::scope(|scope| {
        for process in 0..PROCESSES {
            let (docent, root, shared) = (sandbox.docent(), sandbox.root(), &shared);
            scope.spawn(move || {
                let client = StdioClient::start(docent, Era::Handshake);
                let name = format!("{process}.info");
                let mut taken = Vec::new();
                for round in 0..EACH {
                    fs::write(root.join(&name), report(process, round)).unwrap();
                    taken.push(id(
                        &client.call("start_coverage_snapshot", json!({ "lcovPath": name }))
                    ));
                    let of_all = json!({ "snapshotId": shared, "lcovPath": "lcov.info" });
                    let ended = client.call("end_coverage_snapshot", of_all);
                    assert_eq!(
                        ended.json()["fileChanges"],
                        json!({ "src/a.ts": 0, "src/b.ts": 0 })
                    );
                }
                fs::write(root.join(&name), lcov(&[("src/a.ts", 0, 100)])).unwrap();
                for (round, id) in (0..EACH).zip(&taken) {
                    let ended = client.call(
                        "end_coverage_snapshot",
                        json!({ "snapshotId": id, "lcovPath": name }),
                    );
                    let was = process * EACH + round;
                    assert_eq!(ended.json()["overallChange"], json!(-i64::from(was)), "{ended}");
                }
            });
        }
    });
    let written = (PROCESSES * EACH) as usize + 1;
    assert_eq!(
        files(&sandbox).len(),
        written,
        "nothing unfinished was left behind"
    );
}

#[test]
fn forged_snapshot_ids_are_refused() {
    let sandbox = project();
    let id = start(&sandbox);
    let file = files(&sandbox).remove(0);
    // The same file under names that a forged id would lead to.
    fs::copy(&file, sandbox.temporary().join("docent-coverage-x.lcov")).unwrap();
    fs::copy(&file, sandbox.outside().join("x.lcov")).unwrap();
    let simple = id.replace('-', "");
    let version_1 = format!("{}1{}", &id[..14], &id[15..]);
    fs::copy(
        &file,
        sandbox
            .temporary()
            .join(format!("docent-coverage-{version_1}.lcov")),
    )
    .unwrap();
    for forged in [
        "",
        "x",
        "../x",
        "../../etc/passwd",
        "/etc/passwd",
        "x.lcov",
        simple.as_str(),
        &format!("{{{id}}}"),
        &format!("urn:uuid:{id}"),
        &format!("{id} "),
        &format!("{id}\0"),
        &format!("../tmp/{id}"),
        version_1.as_str(),
        "00000000-0000-0000-0000-000000000000",
    ] {
        let arguments = json!({ "snapshotId": forged, "lcovPath": "lcov.info" });
        let answer = sandbox.call("end_coverage_snapshot", arguments);
        assert_eq!(
            answer.to_string(),
            format!("[isError] Error: Snapshot not found with ID {forged}")
        );
    }
    assert!(
        !end(&sandbox, &id.to_uppercase()).is_error,
        "the same id, written in capitals"
    );
}

#[test]
fn a_snapshot_of_another_project_is_refused() {
    let (here, there) = (project(), project());
    let id = start(&there);
    let file = files(&there).remove(0);
    fs::copy(&file, here.temporary().join(file.file_name().unwrap())).unwrap();
    assert_eq!(
        end(&here, &id).to_string(),
        format!("[isError] Error: Snapshot not found with ID {id}")
    );
    assert!(!end(&there, &id).is_error);
}

#[test]
fn a_snapshot_file_that_was_cut_replaced_or_linked_is_refused() {
    let sandbox = project();
    let id = start(&sandbox);
    let file = files(&sandbox).remove(0);
    let text = fs::read_to_string(&file).unwrap();
    let refused = |what: &str| {
        let expected = format!("[isError] Error: Snapshot not found with ID {id}");
        assert_eq!(end(&sandbox, &id).to_string(), expected, "{what}");
    };
    for torn in [
        &text[..0],
        &text[..text.len() / 2],
        &text[..text.len() - 1],
        "SF:a\nDA:1,1\nend_of_record\n",
    ] {
        fs::write(&file, torn).unwrap();
        refused(torn);
    }
    fs::write(&file, b"docent-snapshot:1,\xff\xfe").unwrap();
    refused("not text");

    fs::remove_file(&file).unwrap();
    let elsewhere = sandbox.outside().join("elsewhere");
    fs::write(&elsewhere, &text).unwrap();
    symlink(&elsewhere, &file).unwrap();
    refused("a link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused("a directory");
    fs::remove_dir(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    refused("a pipe that nobody writes to");
}

#[test]
fn a_missing_temporary_directory_is_a_storage_error() {
    let sandbox = project().file("not-a-directory", "");
    let start_in = |temporary: PathBuf| {
        let mut docent = sandbox.docent();
        docent.env("TMPDIR", temporary).args([
            "call",
            "start_coverage_snapshot",
            r#"{"lcovPath":"lcov.info"}"#,
        ]);
        Finished::of(&mut docent)
    };
    let finished = start_in(sandbox.outside().join("absent"));
    assert_snapshot!(finished.stdout, @"Error: Cannot create snapshot: temp dir does not exist");
    assert_eq!(finished.code, 1);
    assert_snapshot!(start_in(sandbox.root().join("not-a-directory")).stdout, @"Error: Cannot create snapshot: temp dir is not a directory");
}

#[test]
fn a_read_only_temporary_directory_is_a_storage_error() {
    let sandbox = project();
    fs::set_permissions(sandbox.temporary(), fs::Permissions::from_mode(0o555)).unwrap();
    let finished =
        sandbox.run_unprivileged(&["call", "start_coverage_snapshot", r#"{"lcovPath":"lcov.info"}"#]);
    assert_snapshot!(finished.stdout, @"Error: Cannot create snapshot: temp dir not writable");
}

#[test]
fn a_full_disk_is_a_storage_error_and_leaves_no_file_behind() {
    let sandbox = project();
    // No file may grow here: a write fails as it does on a full disk.
    let docent = env!("CARGO_BIN_EXE_docent");
    let script = format!(
        r#"trap "" XFSZ; ulimit -f 0; exec {docent} call start_coverage_snapshot '{{"lcovPath":"lcov.info"}}'"#
    );
    let finished = Finished::of(sandbox.program("sh").args(["-c", &script]));
    assert_snapshot!(finished.stdout, @"Error: Cannot create snapshot: temp dir cannot be used: File too large (os error 27)");
    assert_eq!(files(&sandbox), [] as [PathBuf; 0]);
}

/// Only the superuser can set this scene.
#[test]
fn a_snapshot_of_another_user_is_refused() {
    let sandbox = project();
    let id = start(&sandbox);
    let file = files(&sandbox).remove(0);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let arguments = json!({ "snapshotId": id, "lcovPath": "lcov.info" }).to_string();
    let by_another = sandbox.run_unprivileged(&["call", "end_coverage_snapshot", &arguments]);
    let is_own = fs::metadata(&file).unwrap().uid() != 0;
    assert_eq!(by_another.code == 0, is_own, "{}", by_another.stdout);
    assert!(!end(&sandbox, &id).is_error);
}
