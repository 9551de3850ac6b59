//! Attempts to read files outside the project and blocked files, with every tool that reads.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use docent_testkit::{Era, Sandbox, StdioClient};
#[cfg(unix)]
use docent_testkit::{make_link, make_pipe, set_mode};
use serde_json::json;

use crate::sandbox;

/// Reads a path that both tools must refuse, and returns the error.
fn refuse(sandbox: &Sandbox, path: &str) -> String {
    let read = sandbox.call("read_file", json!({ "path": path }));
    let repo = sandbox.call("read_repo_file", json!({ "path": path }));
    assert!(read.is_error && repo.is_error, "{path}: {read} {repo}");
    assert!(
        !read.text.contains("TOP-SECRET") && !repo.text.contains("TOP-SECRET"),
        "{path}"
    );
    read.json()["error"].as_str().unwrap().to_owned()
}

/// The content of a file that must be readable.
fn read_content(sandbox: &Sandbox, path: &str) -> String {
    let answer = sandbox.call("read_file", json!({ "path": path })).json();
    answer["file"]["content"]
        .as_str()
        .unwrap_or_else(|| panic!("{path}: {answer}"))
        .to_owned()
}

/// The number of matches that grep finds for the secret.
fn count_leaks(sandbox: &Sandbox) -> u64 {
    sandbox
        .call("grep_codebase", json!({ "pattern": "TOP-SECRET" }))
        .json()["totalMatches"]
        .as_u64()
        .unwrap()
}

/// A project beside a directory with a secret. The name of the directory begins like that of the project.
fn project_beside_a_secret() -> Sandbox {
    let sandbox = sandbox().file("ok.txt", "fine");
    let sibling = sandbox.outside().join("project-secret");
    fs::create_dir(&sibling).unwrap();
    fs::write(sibling.join("secret.txt"), "TOP-SECRET").unwrap();
    sandbox
}

#[test]
fn parent_directories_are_refused_in_every_spelling() {
    let sandbox = project_beside_a_secret();
    for path in [
        "../project-secret/secret.txt",
        "./../project-secret/secret.txt",
        "src/../../project-secret/secret.txt",
        r"..\project-secret\secret.txt",
        r"src\..\..\project-secret\secret.txt",
        "..//project-secret/secret.txt",
        "a/b/../../../project-secret/secret.txt",
    ] {
        assert_eq!(refuse(&sandbox, path), "Path traversal not allowed", "{path}");
    }
    for path in [
        "..%2fproject-secret%2fsecret.txt",
        "....//project-secret/secret.txt",
        ".. /project-secret/secret.txt",
        "%2e%2e/x",
    ] {
        assert_eq!(refuse(&sandbox, path), "File not found", "{path}");
    }
}

#[test]
fn absolute_paths_and_control_characters_are_refused() {
    let sandbox = project_beside_a_secret();
    let absolute = sandbox
        .outside()
        .join("project-secret/secret.txt")
        .display()
        .to_string();
    let inside = sandbox.root().join("ok.txt").display().to_string();
    for path in [
        absolute.as_str(),
        inside.as_str(),
        "/etc/passwd",
        "//etc/passwd",
        r"\\host\share",
        r"C:\x",
        "/proc/self/environ",
    ] {
        assert_eq!(refuse(&sandbox, path), "Absolute paths not allowed", "{path}");
    }
    for path in ["ok.txt\0", "ok.txt\0.png", "ok\n.txt", "\u{7f}"] {
        assert_eq!(refuse(&sandbox, path), "Invalid path", "{path:?}");
    }
}

#[test]
fn secret_files_are_refused_and_files_with_similar_names_are_read() {
    let mut sandbox = sandbox();
    let blocked = [
        ".env",
        ".env.local",
        "x/.git/config",
        "certs/server.pem",
        "secrets/a.txt",
        "id_rsa",
        "deploy/credentials.json",
        "config/credentials.yml.enc",
        "credentials.go/main.go",
        "credentials/provider.go",
        ".npmrc",
    ];
    let open = [
        ".github/workflows/ci.yml",
        ".gitignore",
        "environment.ts",
        ".env.example",
        "src/keys.rs",
        "src/Credentials.kt",
        "app/credentials_controller.rb",
    ];
    for path in blocked {
        sandbox = sandbox.file(path, "TOP-SECRET");
    }
    for path in open {
        sandbox = sandbox.file(path, "fine");
    }
    for path in blocked.into_iter().chain([".ENV", ".Env.Local", "SECRETS/a.txt"]) {
        assert_eq!(refuse(&sandbox, path), "Permission denied", "{path}");
    }
    for path in open {
        assert_eq!(read_content(&sandbox, path), "fine", "{path}");
    }
    assert_eq!(count_leaks(&sandbox), 0);
}

#[test]
#[cfg(unix)]
fn links_to_files_outside_the_project_are_refused() {
    let sandbox = project_beside_a_secret();
    let root = sandbox.root();
    let secret = sandbox.outside().join("project-secret");
    make_link(secret.join("secret.txt"), root.join("file-absolute"));
    make_link("../project-secret/secret.txt", root.join("file-relative"));
    make_link(&secret, root.join("directory"));
    make_link("../..", root.join("deep/parent"));
    make_link("directory", root.join("chained"));
    make_link("/proc/self/environ", root.join("environ"));
    make_link("/proc/self/root", root.join("magic"));
    for path in [
        "file-absolute",
        "file-relative",
        "directory/secret.txt",
        "deep/parent/project-secret/secret.txt",
        "chained/secret.txt",
        "environ",
        "magic/etc/passwd",
    ] {
        assert_eq!(refuse(&sandbox, path), "Permission denied", "{path}");
    }
    assert_eq!(count_leaks(&sandbox), 0);
}

#[test]
#[cfg(unix)]
fn links_inside_the_project_are_followed_except_to_blocked_files() {
    let sandbox = sandbox()
        .file("real/a.txt", "fine")
        .file(".env", "TOP-SECRET")
        .file("x/.git/config", "TOP-SECRET");
    let root = sandbox.root();
    make_link("real/a.txt", root.join("relative"));
    make_link(root.join("real/a.txt"), root.join("absolute"));
    make_link("real", root.join("directory"));
    make_link("../real/../real/a.txt", root.join("deep/winding"));
    make_link(".env", root.join("innocent.txt"));
    make_link("x/.git", root.join("data"));
    make_link("loop-b", root.join("loop-a"));
    make_link("loop-a", root.join("loop-b"));
    for path in ["relative", "absolute", "directory/a.txt", "deep/winding"] {
        assert_eq!(read_content(&sandbox, path), "fine", "{path}");
    }
    assert_eq!(refuse(&sandbox, "innocent.txt"), "Permission denied");
    assert_eq!(refuse(&sandbox, "data/config"), "Permission denied");
    assert_eq!(refuse(&sandbox, "loop-a"), "File not found");
    assert_eq!(count_leaks(&sandbox), 0);
}

/// A directory and a link out of the project are swapped all the time. No read may follow the link.
#[test]
#[cfg(target_os = "linux")]
fn a_link_swapped_between_check_and_open_leaks_nothing() {
    let sandbox = project_beside_a_secret().file("swap/secret.txt", "fine");
    let root = sandbox.root();
    make_link(sandbox.outside().join("project-secret"), root.join("other"));
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let stop = stop.clone();
        let (one, two, spare) = (root.join("swap"), root.join("other"), root.join("spare"));
        move || {
            let mut swaps = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                fs::rename(&one, &spare).unwrap();
                fs::rename(&two, &one).unwrap();
                fs::rename(&spare, &two).unwrap();
                swaps += 1;
            }
            swaps
        }
    });
    let mut docent = sandbox.docent();
    docent.args(["--set", "limit.read_file=0", "--set", "limit.grep_codebase=0"]);
    let client = StdioClient::start(docent, Era::Handshake);
    let mut read_count = 0;
    for _ in 0..2_000 {
        let answer = client.call("read_file", json!({ "path": "swap/secret.txt" }));
        assert!(!answer.text.contains("TOP-SECRET"), "{answer}");
        read_count += u32::from(!answer.is_error);
    }
    for _ in 0..50 {
        assert_eq!(
            client
                .call("grep_codebase", json!({ "pattern": "TOP-SECRET" }))
                .json()["totalMatches"],
            0
        );
    }
    stop.store(true, Ordering::Relaxed);
    assert!(
        swapper.join().unwrap() > 0 && read_count > 0,
        "there were swaps, and reads that succeeded"
    );
}

#[test]
#[cfg(unix)]
fn pipes_devices_and_sockets_are_refused_without_waiting() {
    let sandbox = sandbox();
    let root = sandbox.root();
    make_pipe(root.join("pipe"));
    let _listener = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    make_link("/dev/zero", root.join("zero"));
    assert_eq!(refuse(&sandbox, "pipe"), "Not a file");
    assert_eq!(refuse(&sandbox, "socket"), "Not a file");
    assert_eq!(refuse(&sandbox, "zero"), "Permission denied");
    assert_eq!(count_leaks(&sandbox), 0);
}

/// The root itself has devices and kernel files, so that only the check of the file type can refuse them.
#[test]
#[cfg(target_os = "linux")]
fn a_root_of_devices_or_kernel_files_is_read_within_bounds() {
    let sandbox = sandbox();
    let mut docent = sandbox.docent();
    docent.env("DOCENT_ROOT", "/dev");
    let client = StdioClient::start(docent, Era::Handshake);
    for path in ["zero", "null", "tty"] {
        let answer = client.call("read_file", json!({ "path": path })).json();
        assert!(answer["error"].is_string(), "{path}: {answer}");
    }
    let mut docent = sandbox.docent();
    docent.env("DOCENT_ROOT", "/proc/self");
    let client = StdioClient::start(docent, Era::Handshake);
    assert!(
        !client.call("read_file", json!({ "path": "status" })).is_error,
        "a kernel file has size 0 and content"
    );
    assert!(client.call("read_file", json!({ "path": "cwd/ok.txt" })).is_error);
    assert!(
        client
            .call("read_file", json!({ "path": "root/etc/passwd" }))
            .is_error
    );
}

#[test]
#[cfg(unix)]
fn a_file_without_read_permission_is_refused() {
    let sandbox = sandbox().file("locked.txt", "TOP-SECRET");
    set_mode(sandbox.root().join("locked.txt"), 0o000);
    if fs::read(sandbox.root().join("locked.txt")).is_ok() {
        println!("skipped: this user may read every file");
        return;
    }
    assert_eq!(refuse(&sandbox, "locked.txt"), "Permission denied");
}

/// A library reads ignore files by name. A pipe, a device or a huge file must not block or break it.
#[test]
#[cfg(unix)]
fn hostile_ignore_files_are_not_read() {
    let sandbox = sandbox()
        .file("a.txt", "needle")
        .file("pipe/a.txt", "needle")
        .file("zero/a.txt", "needle")
        .file("outside/a.txt", "needle")
        .file("deep/a.txt", "needle")
        .file("deep/.gitignore", "{".repeat(5_000) + "a" + &"}".repeat(5_000))
        .file("long/a.txt", "needle")
        .file("long/.gitignore", "x\n".repeat(100_000));
    let root = sandbox.root();
    std::fs::write(sandbox.outside().join("rules"), "*\n").unwrap();
    make_pipe(root.join("pipe/.gitignore"));
    make_link("/dev/zero", root.join("zero/.ignore"));
    make_link(sandbox.outside().join("rules"), root.join("outside/.gitignore"));
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(answer["totalMatches"], 1);
    assert_eq!(
        answer["notice"],
        "5 could not be searched: deep, long, outside, pipe, zero"
    );

    make_pipe(root.join(".gitignore"));
    let answer = sandbox
        .call("grep_codebase", json!({ "pattern": "needle" }))
        .json();
    assert_eq!(answer["totalMatches"], 1);
}

#[test]
fn hostile_globs_are_refused() {
    let bomb = "{".repeat(400) + "a" + &"}".repeat(400);
    let sandbox = sandbox().file("a.txt", "needle");
    let answer = sandbox.call(
        "grep_codebase",
        json!({ "pattern": "needle", "filePattern": bomb }),
    );
    assert_eq!(answer.json()["details"], "it is too long or too deep");
    let deep = "{".repeat(30_000) + "a" + &"}".repeat(30_000);
    sandbox.write(".context/config.toml", format!("access.blocked = [\"{deep}\"]"));
    let finished = sandbox.run(&["config"]);
    assert!(
        finished.stderr.contains("access.blocked: `{{{") && finished.stderr.len() < 1_000,
        "{}",
        finished.stderr
    );
    assert_eq!(sandbox.run(&["hello"]).code, 0);
}

#[test]
fn a_colon_in_a_name_does_not_bypass_the_access_rules() {
    let sandbox = sandbox()
        .file("host:443.pem", "TOP-SECRET")
        .file("a:b.txt", "fine");
    assert_eq!(
        sandbox
            .call("read_file", json!({ "path": "host:443.pem" }))
            .json()["error"],
        "Permission denied"
    );
    assert_eq!(read_content(&sandbox, "a:b.txt"), "fine");
    assert_eq!(count_leaks(&sandbox), 0);
}

#[test]
fn secrets_stay_out_of_the_logs() {
    let sandbox = sandbox().file("a.txt", "x");
    let log = sandbox.outside().join("docent.log");
    let mut docent = sandbox.docent();
    docent.args(["--set", &format!("log.file={}", log.display())]);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let client = StdioClient::start(docent, Era::Handshake);
    client.call("grep_codebase", json!({ "pattern": token }));
    client.call("grep_codebase", json!({ "pattern": "password = \"hunter22\"" }));
    client.call(&token, json!({}));
    client.close();
    let logged = fs::read_to_string(&log).unwrap();
    assert!(
        logged.contains("grep_codebase") && logged.contains("[redacted]"),
        "{logged}"
    );
    assert!(
        !logged.contains(&token) && !logged.contains("hunter22"),
        "{logged}"
    );
}

#[test]
fn history_shows_source_files_named_credentials_and_no_data() {
    let sandbox = sandbox()
        .repository()
        .file("src/Credentials.kt", "class Credentials\n")
        .file("credentials.json", "hunter2\n");
    sandbox.commit("2025-10-08", docent_testkit::JOHN, "credentials");
    sandbox.write("src/Credentials.kt", "class Credentials(val user: String)\n");
    sandbox.write("credentials.json", "hunter2 changed\n");
    for arguments in [json!({}), json!({ "ref1": "HEAD" })] {
        let diff = sandbox.call("git_diff", arguments);
        assert!(
            diff.text.contains("+class Credentials(val user: String)"),
            "{diff}"
        );
        assert!(!diff.text.contains("hunter2"), "{diff}");
    }
    let blame = sandbox.call("git_blame", json!({ "filePath": "src/Credentials.kt" }));
    assert!(
        !blame.is_error && blame.text.contains("class Credentials"),
        "{blame}"
    );
    let blame = sandbox.call("git_blame", json!({ "filePath": "credentials.json" }));
    assert!(blame.is_error && !blame.text.contains("hunter2"), "{blame}");
    let search = sandbox.call("context_search", json!({ "query": "Credentials user" }));
    assert!(search.text.contains("src/Credentials.kt"), "{search}");
    assert!(!search.text.contains("hunter2"), "{search}");
}
