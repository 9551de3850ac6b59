//! `docent doctor`: problems are reported with their file or setting, and `--fix` repairs them if it is safe.

use std::fs;

use docent_testkit::{EmbeddingServer, Era, Finished, Sandbox, python_function};

use crate::sandbox;

fn project() -> Sandbox {
    sandbox()
        .file("src/a.py", python_function("walrus"))
        .file("src/b.py", python_function("narwhal"))
}

/// Runs `docent doctor`: whether the project is healthy, and state, message and advice of one check.
fn run_doctor(sandbox: &Sandbox, check: &str, arguments: &[&str]) -> (bool, String) {
    let finished = sandbox.run(&[&["doctor", "--json"], arguments].concat());
    let report = finished.json();
    let is_healthy = report["healthy"] == true;
    assert_eq!(finished.code == 0, is_healthy);
    let findings = report["findings"].as_array().unwrap();
    let of_check = findings.iter().filter(|finding| finding["what"] == check);
    let message = of_check.map(|finding| {
        let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        format!("{}: {} → {}\n", text("state"), text("said"), text("advice"))
    });
    (is_healthy, message.collect())
}

#[test]
fn a_healthy_project_is_reported_as_healthy() {
    let sandbox = project();
    sandbox.run(&["index"]);
    let shown = sandbox.run(&["doctor"]);
    assert_eq!(shown.code, 0, "{}", shown.stdout);
    assert!(
        shown.stdout.contains("✓ index     2 files, 2 chunks, up to date"),
        "{}",
        shown.stdout
    );
    assert!(!shown.stdout.contains('✗'), "{}", shown.stdout);
}

#[test]
fn a_missing_stale_or_damaged_index_is_reported_and_repaired() {
    let sandbox = project();
    assert!(
        run_doctor(&sandbox, "index", &[])
            .1
            .contains("there is none yet of 2 files")
    );
    assert!(
        run_doctor(&sandbox, "index", &["--fix"])
            .1
            .starts_with("good: 2 files")
    );
    sandbox.write("src/a.py", python_function("seal"));
    let (is_healthy, message) = run_doctor(&sandbox, "index", &[]);
    assert!(
        is_healthy && message.contains("1 of 2 files have changed since"),
        "{message}"
    );
    assert!(
        run_doctor(&sandbox, "index", &["--fix"])
            .1
            .starts_with("good: 2 files")
    );

    for entry in fs::read_dir(sandbox.index_directory()).unwrap().flatten() {
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "store")
        {
            fs::write(entry.path(), "nonsense").unwrap();
        }
    }
    let (is_healthy, message) = run_doctor(&sandbox, "index", &[]);
    assert!(
        !is_healthy && message.contains("cannot be read") && message.contains("docent index --force"),
        "{message}"
    );
    assert!(
        run_doctor(&sandbox, "index", &["--fix"])
            .1
            .starts_with("good: 2 files")
    );
}

#[test]
fn an_unwritable_cache_is_reported() {
    let sandbox = project();
    let cache = sandbox.home().join("cache");
    fs::create_dir_all(cache.join("docent")).unwrap();
    fs::write(cache.join("docent/projects"), "in the way").unwrap();
    let (is_healthy, message) = run_doctor(&sandbox, "cache", &[]);
    assert!(
        !is_healthy && message.contains("cannot be written") && message.contains("XDG_CACHE_HOME"),
        "{message}"
    );
}

#[test]
fn a_root_that_is_not_a_project_is_reported() {
    let sandbox = project();
    let missing = sandbox.run(&["--root", "/nowhere/at/all", "doctor"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stdout.contains("/nowhere/at/all"), "{}", missing.stdout);
    let home = sandbox.home();
    let at_home = sandbox.run(&["--root", home.to_str().unwrap(), "doctor"]);
    assert_eq!(at_home.code, 1);
    assert!(
        at_home.stdout.contains("✗ project") && at_home.stdout.contains("--root DIR"),
        "{}",
        at_home.stdout
    );
    // Clients without a project start their servers in the home directory.
    let mut without_root = sandbox.docent();
    without_root
        .env_remove("DOCENT_ROOT")
        .current_dir(&home)
        .arg("doctor");
    let finished = Finished::run(&mut without_root);
    assert!(
        finished.stdout.contains(
            "not a project: change to a project's directory (cd PROJECT), or name it with --root DIR"
        ),
        "{}",
        finished.stdout
    );
}

#[test]
fn a_settings_error_is_reported_with_its_line() {
    let sandbox = project().file(".context/config.toml", "[index]\nwatch = maybe\n");
    let (is_healthy, message) = run_doctor(&sandbox, "settings", &[]);
    // docent works, because a project's wrong settings are ignored. Those of the user are not.
    assert!(
        is_healthy && message.contains(".context/config.toml: the file is ignored: line 2: "),
        "{message}"
    );
    let file = sandbox.home().join("config/docent/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[index]\nwatch = maybe\n").unwrap();
    let (is_healthy, message) = run_doctor(&sandbox, "settings", &[]);
    assert!(
        !is_healthy && message.contains("docent/config.toml: line 2: "),
        "{message}"
    );
    fs::remove_file(&file).unwrap();
    sandbox.write(".context/config.toml", "[index]\nwacth = true\n");
    let (is_healthy, message) = run_doctor(&sandbox, "settings", &[]);
    assert!(
        is_healthy && message.contains("there is no setting index.wacth"),
        "{message}"
    );
}

#[test]
fn a_missing_git_is_reported() {
    let sandbox = project();
    let mut without_git = sandbox.docent();
    without_git.env("PATH", sandbox.outside()).arg("doctor");
    let finished = Finished::run(&mut without_git);
    assert_eq!(finished.code, 1);
    assert!(
        finished.stdout.contains("✗ git") && finished.stdout.contains("install git"),
        "{}",
        finished.stdout
    );
}

#[test]
fn an_embedding_server_that_does_not_answer_is_reported() {
    let sandbox = project();
    let server = EmbeddingServer::start();
    let check_server = |url: &str| {
        let url = format!("embedder.url={url}");
        run_doctor(
            &sandbox,
            "embedder",
            &["--set", &url, "--set", "embedder.model=m"],
        )
    };
    let (is_healthy, message) = check_server("http://127.0.0.1:9/v1");
    assert!(
        !is_healthy && message.contains("127.0.0.1:9 cannot be reached") && message.contains("embedder.url"),
        "{message}"
    );
    assert!(check_server(&server.url()).1.contains("m at 127.0.0.1"));
}

#[test]
fn stale_and_duplicate_client_entries_are_reported_and_repaired() {
    let sandbox = project();
    let user = sandbox.home().join(".claude.json");
    let entry = |program: &str| {
        format!("{{\"mcpServers\":{{\"docent\":{{\"command\":\"{program}\",\"args\":[\"serve\"]}}}}}}")
    };
    fs::write(&user, entry("/gone/docent")).unwrap();
    let (is_healthy, message) = run_doctor(&sandbox, "clients", &[]);
    assert!(
        !is_healthy && message.contains("Claude Code: it starts /gone/docent, which is not there"),
        "{message}"
    );
    assert!(message.contains("docent setup --client claude-code"), "{message}");
    assert!(run_doctor(&sandbox, "clients", &["--fix"]).0);

    sandbox.write(".mcp.json", fs::read_to_string(&user).unwrap());
    let (_, message) = run_doctor(&sandbox, "clients", &[]);
    assert!(
        message.contains("Claude Code has docent twice") && message.contains("--remove --project"),
        "{message}"
    );
    fs::write(&user, "{ nonsense").unwrap();
    let (is_healthy, message) = run_doctor(&sandbox, "clients", &[]);
    assert!(
        !is_healthy && message.contains(".claude.json:line 1, column 3"),
        "{message}"
    );
}

#[test]
fn running_servers_are_listed_with_their_root() {
    let sandbox = project();
    let client = sandbox.start_client(Era::Handshake);
    let (_, message) = run_doctor(&sandbox, "servers", &[]);
    let root = sandbox.root().canonicalize().unwrap();
    assert!(
        message.contains(&format!("in {}", root.display())) || !cfg!(target_os = "linux"),
        "{message}"
    );
    drop(client);
}

/// Sets the limit to one in a user namespace. Skipped if this system does not allow one.
#[cfg(target_os = "linux")]
#[test]
fn exhausted_inotify_watches_are_reported() {
    let sandbox = project();
    let run_in_namespace = |script: &str| {
        let mut command = sandbox.program("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", script]);
        command.output()
    };
    let is_allowed = run_in_namespace("echo 1 > /proc/sys/user/max_inotify_watches")
        .is_ok_and(|output| output.status.success());
    if !is_allowed {
        return;
    }
    let binary = sandbox.docent().get_program().to_string_lossy().into_owned();
    let script = format!("echo 1 > /proc/sys/user/max_inotify_watches; '{binary}' doctor");
    let output = run_in_namespace(&script).unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown.contains("✗ watcher") && shown.contains("sysctl fs.inotify.max_user_watches"),
        "{shown}"
    );
}
