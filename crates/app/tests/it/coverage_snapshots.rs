//! Coverage snapshots as files: they persist, never mix, and are read by their own user and project only.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use docent_testkit::{
    Answer, Era, Finished, Sandbox, StdioClient, lcov_report, make_link, make_pipe, set_mode,
};
use insta::assert_snapshot;
use serde_json::json;

use crate::coverage::snapshot_id;
use crate::sandbox;

fn project() -> Sandbox {
    sandbox().file(
        "lcov.info",
        lcov_report(&[("src/a.ts", 1, 2), ("src/b.ts", 0, 5)]),
    )
}

/// Takes a snapshot and returns its id.
fn start_snapshot(sandbox: &Sandbox) -> String {
    let arguments = json!({ "lcovPath": "lcov.info" });
    snapshot_id(&sandbox.call_by_cli("start_coverage_snapshot", arguments))
}

/// Compares the report with a snapshot.
fn end_snapshot(sandbox: &Sandbox, id: &str) -> Answer {
    let arguments = json!({ "snapshotId": id, "lcovPath": "lcov.info" });
    sandbox.call_by_cli("end_coverage_snapshot", arguments)
}

/// The files of all snapshots.
fn list_snapshots(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = fs::read_dir(sandbox.temporary()).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_snapshot_is_one_private_file_in_the_temporary_directory() {
    let sandbox = project();
    let id = start_snapshot(&sandbox);
    let [file] = list_snapshots(&sandbox).try_into().unwrap();
    assert!(file.to_str().unwrap().contains(&id));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o600);
}

/// A file of the temporary directory that was written so many days ago.
fn write_aged(sandbox: &Sandbox, name: &str, days: u64) -> PathBuf {
    let path = sandbox.temporary().join(name);
    fs::write(&path, "kept").unwrap();
    let modified = SystemTime::now() - Duration::from_hours(24 * days);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    path
}

/// The file of a snapshot whose id ends with this number.
fn snapshot_name(number: u64) -> String {
    format!("docent-coverage-5f0c29a1-7d3e-4b6a-9c1d-{number:012x}.lcov")
}

#[test]
fn snapshots_older_than_thirty_days_are_removed() {
    let sandbox = project();
    let old = write_aged(&sandbox, &snapshot_name(1), 31);
    let recent = write_aged(&sandbox, &snapshot_name(2), 29);
    // Neither ids of docent's own nor regular files.
    let others = [
        "docent-coverage-5f0c29a1-7d3e-1b6a-9c1d-000000000003.lcov",
        "docent-coverage-notes.lcov",
        "coverage.lcov",
        "docent-coverage-5f0c29a1-7d3e-4b6a-9c1d-000000000004.lcov.bak",
    ]
    .map(|name| write_aged(&sandbox, name, 400));
    let target = sandbox.outside().join("target");
    fs::write(&target, "kept").unwrap();
    let link = sandbox.temporary().join(snapshot_name(5));
    make_link(&target, &link);
    let directory = sandbox.temporary().join(snapshot_name(6));
    fs::create_dir(&directory).unwrap();
    let id = start_snapshot(&sandbox);
    assert!(!old.exists());
    for kept in others.iter().chain([&recent, &target, &link, &directory]) {
        assert!(kept.symlink_metadata().is_ok(), "{}", kept.display());
    }
    assert!(!end_snapshot(&sandbox, &id).is_error);
}

#[test]
fn the_five_hundred_newest_snapshots_stay() {
    let sandbox = project();
    let numbers = 0..520;
    let files: Vec<PathBuf> = numbers
        .map(|number| write_aged(&sandbox, &snapshot_name(number), number / 20))
        .collect();
    let id = start_snapshot(&sandbox);
    assert_eq!(list_snapshots(&sandbox).len(), 500);
    assert!(files[..480].iter().all(|file| file.exists()));
    assert!(!end_snapshot(&sandbox, &id).is_error);
    start_snapshot(&sandbox);
    assert_eq!(list_snapshots(&sandbox).len(), 500);
    assert!(
        !end_snapshot(&sandbox, &id).is_error,
        "a comparison may be repeated"
    );
}

#[test]
fn a_snapshot_outlives_the_process_that_took_it() {
    let sandbox = project();
    let taken = [
        start_snapshot(&sandbox),
        snapshot_id(
            &sandbox
                .start_client(Era::Handshake)
                .call("start_coverage_snapshot", json!({ "lcovPath": "lcov.info" })),
        ),
        snapshot_id(&sandbox.start_http_server().call(
            Era::Stateless,
            "start_coverage_snapshot",
            json!({ "lcovPath": "lcov.info" }),
        )),
    ];
    sandbox.write(
        "lcov.info",
        lcov_report(&[("src/a.ts", 2, 2), ("src/b.ts", 0, 5)]),
    );
    for id in &taken {
        let arguments = json!({ "snapshotId": id, "lcovPath": "lcov.info" });
        let ended = sandbox.call("end_coverage_snapshot", arguments).json();
        assert_eq!(ended["fileChanges"], json!({ "src/a.ts": 50, "src/b.ts": 0 }));
    }
    assert_eq!(
        list_snapshots(&sandbox).len(),
        3,
        "a comparison does not delete the snapshot"
    );
}

#[test]
fn snapshots_of_concurrent_processes_do_not_mix() {
    const PROCESSES: u32 = 6;
    const EACH: u32 = 8;
    let sandbox = project();
    let shared = start_snapshot(&sandbox);
    // Each process and round writes a different report, so that a mix-up changes a number.
    let report = |process: u32, round: u32| lcov_report(&[("src/a.ts", process * EACH + round, 100)]);
    std::thread::scope(|scope| {
        for process in 0..PROCESSES {
            let (docent, root, shared) = (sandbox.docent(), sandbox.root(), &shared);
            scope.spawn(move || {
                let client = StdioClient::start(docent, Era::Handshake);
                let name = format!("{process}.info");
                let mut taken = Vec::new();
                for round in 0..EACH {
                    fs::write(root.join(&name), report(process, round)).unwrap();
                    taken.push(snapshot_id(
                        &client.call("start_coverage_snapshot", json!({ "lcovPath": name })),
                    ));
                    let arguments = json!({ "snapshotId": shared, "lcovPath": "lcov.info" });
                    let ended = client.call("end_coverage_snapshot", arguments);
                    assert_eq!(
                        ended.json()["fileChanges"],
                        json!({ "src/a.ts": 0, "src/b.ts": 0 })
                    );
                }
                fs::write(root.join(&name), lcov_report(&[("src/a.ts", 0, 100)])).unwrap();
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
        list_snapshots(&sandbox).len(),
        written,
        "no unfinished file is left behind"
    );
}

#[test]
fn forged_snapshot_ids_are_refused() {
    let sandbox = project();
    let id = start_snapshot(&sandbox);
    let file = list_snapshots(&sandbox).remove(0);
    // Copies of the file under the names that forged ids point to.
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
            format!(
                "[isError] Error: Snapshot not found with ID {}",
                forged.replace('\0', "\\u{0}")
            )
        );
    }
    assert!(
        !end_snapshot(&sandbox, &id.to_uppercase()).is_error,
        "the same id, written in capitals"
    );
}

#[test]
fn a_snapshot_of_another_project_is_refused() {
    let (project, other_project) = (project(), project());
    let id = start_snapshot(&other_project);
    let file = list_snapshots(&other_project).remove(0);
    fs::copy(&file, project.temporary().join(file.file_name().unwrap())).unwrap();
    assert_eq!(
        end_snapshot(&project, &id).to_string(),
        format!("[isError] Error: Snapshot not found with ID {id}")
    );
    assert!(!end_snapshot(&other_project, &id).is_error);
}

#[test]
fn a_snapshot_file_that_was_cut_replaced_or_linked_is_refused() {
    let sandbox = project();
    let id = start_snapshot(&sandbox);
    let file = list_snapshots(&sandbox).remove(0);
    let text = fs::read_to_string(&file).unwrap();
    let assert_refused = |what: &str| {
        let expected = format!("[isError] Error: Snapshot not found with ID {id}");
        assert_eq!(end_snapshot(&sandbox, &id).to_string(), expected, "{what}");
    };
    for cut in [
        &text[..0],
        &text[..text.len() / 2],
        &text[..text.len() - 1],
        "SF:a\nDA:1,1\nend_of_record\n",
    ] {
        fs::write(&file, cut).unwrap();
        assert_refused(cut);
    }
    fs::write(&file, b"docent-snapshot:1,\xff\xfe").unwrap();
    assert_refused("not text");

    fs::remove_file(&file).unwrap();
    let target = sandbox.outside().join("target");
    fs::write(&target, &text).unwrap();
    make_link(&target, &file);
    assert_refused("a link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_refused("a directory");
    fs::remove_dir(&file).unwrap();
    make_pipe(&file);
    assert_refused("a pipe that nobody writes to");
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
        Finished::run(&mut docent)
    };
    let finished = start_in(sandbox.outside().join("absent"));
    assert_snapshot!(finished.stdout, @"Error: Cannot create snapshot: temp dir does not exist");
    assert_eq!(finished.code, 1);
    assert_snapshot!(
        start_in(sandbox.root().join("not-a-directory")).stdout,
        @"Error: Cannot create snapshot: temp dir is not a directory"
    );
}

#[test]
fn a_read_only_temporary_directory_is_a_storage_error() {
    let sandbox = project();
    set_mode(sandbox.temporary(), 0o555);
    let arguments = json!({ "lcovPath": "lcov.info" });
    let answer = sandbox.call_unprivileged("start_coverage_snapshot", arguments);
    assert_snapshot!(answer, @"[isError] Error: Cannot create snapshot: temp dir not writable");
}

#[test]
fn a_full_disk_is_a_storage_error_and_leaves_no_file_behind() {
    let sandbox = project();
    // With this limit every write fails, as on a full disk.
    let docent = env!("CARGO_BIN_EXE_docent");
    let script = format!(
        r#"trap "" XFSZ; ulimit -f 0; exec {docent} call start_coverage_snapshot '{{"lcovPath":"lcov.info"}}'"#
    );
    let finished = Finished::run(sandbox.program("sh").args(["-c", &script]));
    assert_snapshot!(
        finished.stdout,
        @"Error: Cannot create snapshot: temp dir cannot be used: File too large (os error 27)"
    );
    assert_eq!(list_snapshots(&sandbox), [] as [PathBuf; 0]);
}

/// The snapshot belongs to another user only if the tests run as root. Otherwise it is read.
#[test]
fn a_snapshot_of_another_user_is_refused() {
    let sandbox = project();
    let id = start_snapshot(&sandbox);
    let file = list_snapshots(&sandbox).remove(0);
    set_mode(&file, 0o644);
    let arguments = json!({ "snapshotId": id, "lcovPath": "lcov.info" });
    let by_other_user = sandbox.call_unprivileged("end_coverage_snapshot", arguments);
    let is_own = fs::metadata(&file).unwrap().uid() != 0;
    assert_eq!(!by_other_user.is_error, is_own, "{by_other_user}");
    assert!(!end_snapshot(&sandbox, &id).is_error);
}
