//! `docent doctor`: what is wrong is found, named with its file or setting, and mended where that is safe.

use std::fs;

use docent_testkit::{EmbeddingServer, Sandbox, StdioClient};
use serde_json::Value;

use crate::index::{function, status};
use crate::sandbox;

fn project() -> Sandbox {
    sandbox()
        .file("src/a.py", function("walrus"))
        .file("src/b.py", function("narwhal"))
}

/// Whether it calls the project healthy, and what it says of one thing: how it is, what was seen, what to do.
fn examined(sandbox: &Sandbox, what: &str, arguments: &[&str]) -> (bool, String) {
    let finished = sandbox.run(&[&["doctor", "--json"], arguments].concat());
    let report: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"));
    let is_healthy = report["healthy"] == true;
    assert_eq!(finished.code == 0, is_healthy);
    let findings = report["findings"].as_array().unwrap();
    let of_it = findings.iter().filter(|finding| finding["what"] == what);
    let said = of_it.map(|finding| {
        let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        format!("{}: {} → {}\n", text("state"), text("said"), text("advice"))
    });
    (is_healthy, said.collect())
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
        examined(&sandbox, "index", &[])
            .1
            .contains("there is none yet of 2 files")
    );
    assert!(
        examined(&sandbox, "index", &["--fix"])
            .1
            .starts_with("good: 2 files")
    );
    sandbox.write("src/a.py", function("seal"));
    let (is_healthy, said) = examined(&sandbox, "index", &[]);
    assert!(
        is_healthy && said.contains("1 of 2 files have changed since"),
        "{said}"
    );
    assert!(
        examined(&sandbox, "index", &["--fix"])
            .1
            .starts_with("good: 2 files")
    );

    let folder = status(&sandbox)["folder"].as_str().unwrap().to_owned();
    #[expect(clippy::disallowed_methods, reason = "tests look into the cache")]
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "store")
        {
            fs::write(entry.path(), "nonsense").unwrap();
        }
    }
    let (is_healthy, said) = examined(&sandbox, "index", &[]);
    assert!(
        !is_healthy && said.contains("cannot be read") && said.contains("docent index --force"),
        "{said}"
    );
    assert!(
        examined(&sandbox, "index", &["--fix"])
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
    let (is_healthy, said) = examined(&sandbox, "cache", &[]);
    assert!(
        !is_healthy && said.contains("cannot be written") && said.contains("XDG_CACHE_HOME"),
        "{said}"
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
    // Clients that know no project start their servers there.
    let mut lost = sandbox.docent();
    lost.env_remove("DOCENT_ROOT").current_dir(&home).arg("doctor");
    let lost = docent_testkit::Finished::of(&mut lost);
    assert!(
        lost.stdout.contains("is no project; name one with --root DIR"),
        "{}",
        lost.stdout
    );
}

#[test]
fn a_settings_error_is_reported_with_line_and_column() {
    let sandbox = project().file(".context/config.toml", "[index]\nwatch = maybe\n");
    let (is_healthy, said) = examined(&sandbox, "settings", &[]);
    assert!(
        !is_healthy && said.contains(".context/config.toml") && said.contains("line 2, column 9"),
        "{said}"
    );
    sandbox.write(".context/config.toml", "[index]\nwacth = true\n");
    let (is_healthy, said) = examined(&sandbox, "settings", &[]);
    assert!(
        is_healthy && said.contains("there is no setting index.wacth"),
        "{said}"
    );
}

#[test]
fn a_missing_git_is_reported() {
    let sandbox = project();
    let mut without = sandbox.docent();
    without.env("PATH", sandbox.outside()).arg("doctor");
    let found = docent_testkit::Finished::of(&mut without);
    assert_eq!(found.code, 1);
    assert!(
        found.stdout.contains("✗ git") && found.stdout.contains("install git"),
        "{}",
        found.stdout
    );
}

#[test]
fn an_embedding_server_that_does_not_answer_is_reported() {
    let sandbox = project();
    let server = EmbeddingServer::start();
    let at = |url: &str| {
        let url = format!("embedder.url={url}");
        examined(
            &sandbox,
            "embedder",
            &["--set", &url, "--set", "embedder.model=m"],
        )
    };
    let (is_healthy, said) = at("http://127.0.0.1:9/v1");
    assert!(
        !is_healthy && said.contains("127.0.0.1:9 cannot be reached") && said.contains("embedder.url"),
        "{said}"
    );
    assert!(at(&server.url()).1.contains("m at 127.0.0.1"));
}

#[test]
fn stale_and_duplicate_client_entries_are_reported_and_repaired() {
    let sandbox = project();
    let user = sandbox.home().join(".claude.json");
    let entry = |program: &str| {
        format!("{{\"mcpServers\":{{\"docent\":{{\"command\":\"{program}\",\"args\":[\"serve\"]}}}}}}")
    };
    fs::write(&user, entry("/gone/docent")).unwrap();
    let (is_healthy, said) = examined(&sandbox, "clients", &[]);
    assert!(
        !is_healthy && said.contains("Claude Code: it starts /gone/docent, which is not there"),
        "{said}"
    );
    assert!(said.contains("docent setup --client claude-code"), "{said}");
    assert!(examined(&sandbox, "clients", &["--fix"]).0);

    sandbox.write(".mcp.json", fs::read_to_string(&user).unwrap());
    let (_, said) = examined(&sandbox, "clients", &[]);
    assert!(
        said.contains("Claude Code has docent twice") && said.contains("--remove --project"),
        "{said}"
    );
    fs::write(&user, "{ nonsense").unwrap();
    let (is_healthy, said) = examined(&sandbox, "clients", &[]);
    assert!(
        !is_healthy && said.contains(".claude.json:line 1, column 3"),
        "{said}"
    );
}

#[test]
fn running_servers_are_listed_with_their_root() {
    let sandbox = project();
    let client = StdioClient::start(sandbox.docent(), docent_testkit::Era::Handshake);
    let (_, said) = examined(&sandbox, "servers", &[]);
    let root = sandbox.root().canonicalize().unwrap();
    assert!(
        said.contains(&format!("in {}", root.display())) || !cfg!(target_os = "linux"),
        "{said}"
    );
    drop(client);
}

/// Real exhaustion, in a namespace of its own: where the system does not let anybody make one, there is nothing to try.
#[cfg(target_os = "linux")]
#[test]
fn exhausted_inotify_watches_are_reported() {
    let sandbox = project();
    let inside = |script: &str| {
        let mut command = sandbox.program("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", script]);
        command.output()
    };
    let can =
        inside("echo 1 > /proc/sys/user/max_inotify_watches").is_ok_and(|output| output.status.success());
    if !can {
        return;
    }
    let binary = sandbox.docent().get_program().to_string_lossy().into_owned();
    let script = format!("echo 1 > /proc/sys/user/max_inotify_watches; '{binary}' doctor");
    let output = inside(&script).unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown.contains("✗ watcher") && shown.contains("sysctl fs.inotify.max_user_watches"),
        "{shown}"
    );
}
