//! `docent setup` on settings files of real clients: adds and removes its own entry, changes no other byte.
//!
//! The fixtures are written as each client writes its file: with comments, trailing commas, tabs, CRLF, byte
//! order marks, other servers and older entries of docent.

use std::fs;
use std::path::{Path, PathBuf};

use docent_testkit::{Finished, Sandbox};

use crate::sandbox;

const CLIENTS: [&str; 9] = [
    "claude-code",
    "claude-desktop",
    "codex",
    "cursor",
    "vscode",
    "gemini",
    "windsurf",
    "zed",
    "opencode",
];

/// The settings file of a client, below the home directory or in the project.
fn settings_file(sandbox: &Sandbox, client: &str) -> PathBuf {
    let (home, project) = (sandbox.home(), sandbox.root());
    match client {
        "claude-code" => home.join(".claude.json"),
        "claude-desktop" => home.join("config/Claude/claude_desktop_config.json"),
        "codex" => home.join(".codex/config.toml"),
        "cursor" => project.join(".cursor/mcp.json"),
        "vscode" => project.join(".vscode/mcp.json"),
        "gemini" => home.join(".gemini/settings.json"),
        "windsurf" => home.join(".codeium/windsurf/mcp_config.json"),
        "zed" => home.join("config/zed/settings.json"),
        _ => home.join("config/opencode/opencode.json"),
    }
}

/// Writes a file, and the directories above it.
fn write_file(file: &Path, bytes: &[u8]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

fn run_setup(sandbox: &Sandbox, client: &str, more: &[&str]) -> Finished {
    sandbox.run(&[&["setup", "--client", client, "--yes"], more].concat())
}

fn list_fixtures(client: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/clients")
        .join(client);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort_unstable();
    files
}

/// True if `after` is `before` with one insertion and no other difference.
fn is_one_insertion(before: &[u8], after: &[u8]) -> bool {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let rest = before.len() - same;
    let end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    same + end == before.len()
}

#[test]
fn an_entry_is_added_and_removed_and_nothing_else_changes() {
    let mut fixture_count = 0;
    for client in CLIENTS {
        for fixture in list_fixtures(client) {
            let sandbox = sandbox();
            let (file, name) = (settings_file(&sandbox, client), fixture.display());
            let before = fs::read(&fixture).unwrap();
            write_file(&file, &before);
            let added = run_setup(&sandbox, client, &[]);
            assert_eq!(added.code, 0, "{name}: {added:?}");
            let with = fs::read(&file).unwrap();
            let text = String::from_utf8_lossy(&with).into_owned();
            assert!(
                text.contains("docent") && text.contains("serve"),
                "{name}: {text}"
            );
            assert_eq!(
                text.contains("--compact"),
                client != "claude-desktop",
                "{name}: {text}"
            );
            let is_new = !fixture.to_string_lossy().contains("stale");
            // An empty object may be formatted in another way.
            let is_empty = before
                .iter()
                .all(|byte| byte.is_ascii_whitespace() || b"{}".contains(byte));
            if is_new && !is_empty {
                assert!(is_one_insertion(&before, &with), "{name}: {text}");
            }
            // A second run changes nothing.
            let repeated = run_setup(&sandbox, client, &[]);
            assert!(
                repeated.stdout.contains("docent is there already"),
                "{name}: {repeated:?}"
            );
            assert_eq!(fs::read(&file).unwrap(), with, "{name}");

            let removed = run_setup(&sandbox, client, &["--remove"]);
            assert_eq!(removed.code, 0, "{name}: {removed:?}");
            if is_new {
                assert_eq!(fs::read(&file).unwrap(), before, "{name}");
                assert!(!backup_of(&file).exists(), "{name}");
            }
            fixture_count += 1;
        }
    }
    assert!(fixture_count > 50, "{fixture_count}");
}

/// The backup that `docent setup` keeps beside a settings file.
fn backup_of(file: &Path) -> PathBuf {
    let name = format!("{}.before-docent", file.file_name().unwrap().to_string_lossy());
    file.with_file_name(name)
}

#[test]
fn a_missing_settings_file_is_created_and_removed_again() {
    for client in CLIENTS {
        let sandbox = sandbox();
        let file = settings_file(&sandbox, client);
        assert_eq!(run_setup(&sandbox, client, &[]).code, 0, "{client}");
        assert!(file.exists(), "{client}");
        assert_eq!(run_setup(&sandbox, client, &["--remove"]).code, 0, "{client}");
        assert!(!file.exists(), "{client}");
    }
}

#[test]
fn changes_of_the_client_between_setup_and_removal_are_kept() {
    let sandbox = sandbox();
    let file = settings_file(&sandbox, "claude-code");
    write_file(&file, b"{\n  \"numStartups\": 1\n}\n");
    assert_eq!(run_setup(&sandbox, "claude-code", &[]).code, 0);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"numStartups\": 1", "\"numStartups\": 2")).unwrap();
    assert_eq!(run_setup(&sandbox, "claude-code", &["--remove"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"numStartups\": 2\n}\n");
}

#[test]
fn an_entry_of_an_earlier_version_is_upgraded_and_removed() {
    for (client, before) in [
        (
            "claude-code",
            "{\"mcpServers\":{\"docent\":{\"type\":\"stdio\",\"command\":\"PROGRAM\",\"args\":[\"serve\"]}},\"a\":1}\n",
        ),
        (
            "codex",
            "model = \"x\"\n\n[mcp_servers.docent]\ncommand = \"PROGRAM\"\nargs = [\"serve\"]\n",
        ),
        (
            "opencode",
            "{\"mcp\":{\"docent\":{\"type\":\"local\",\"command\":[\"PROGRAM\",\"serve\"]}}}\n",
        ),
    ] {
        let sandbox = sandbox();
        let file = settings_file(&sandbox, client);
        let before = before.replace("PROGRAM", env!("CARGO_BIN_EXE_docent"));
        write_file(&file, before.as_bytes());
        assert_eq!(run_setup(&sandbox, client, &[]).code, 0, "{client}");
        let upgraded = fs::read_to_string(&file).unwrap();
        let without_flag = upgraded
            .replace(",\"--compact\"", "")
            .replace(", \"--compact\"", "");
        assert_ne!(upgraded, before, "{client}");
        assert_eq!(without_flag, before, "{client}: only the flag is added");

        write_file(&file, before.as_bytes());
        let removed = run_setup(&sandbox, client, &["--remove"]);
        assert_eq!(removed.code, 0, "{client}: {removed:?}");
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(!text.contains("docent"), "{client}: {text}");
    }
}

#[test]
fn a_malformed_settings_file_is_named_and_not_changed() {
    let sandbox = sandbox();
    for (client, text, position) in [
        (
            "claude-code",
            "{\n  // mine\n  \"a\": 1\n}",
            ".claude.json:line 2, column 3",
        ),
        ("codex", "[mcp_servers\n", "config.toml:line 1, column 13"),
        ("cursor", "{ \"mcpServers\": [] }", "mcp.json:line 1, column 17"),
    ] {
        let file = settings_file(&sandbox, client);
        write_file(&file, text.as_bytes());
        let refused = run_setup(&sandbox, client, &[]);
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains(position), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn installed_clients_are_found_and_nothing_is_written_without_consent() {
    let sandbox = sandbox();
    let none = sandbox.run(&["setup"]);
    assert_eq!(none.code, 1);
    assert!(
        none.stderr.contains("no client was found") && none.stderr.contains("opencode"),
        "{}",
        none.stderr
    );
    write_file(&settings_file(&sandbox, "codex"), b"");
    write_file(&settings_file(&sandbox, "zed"), b"{}");
    let unconfirmed = sandbox.run(&["setup"]);
    assert_ne!(unconfirmed.code, 0);
    assert!(
        unconfirmed.stdout.contains("Codex: ") && unconfirmed.stdout.contains("Zed: "),
        "{}",
        unconfirmed.stdout
    );
    assert!(
        unconfirmed.stderr.contains("run it with --yes"),
        "{}",
        unconfirmed.stderr
    );
    let printed = sandbox.run(&["setup", "--print"]);
    assert!(
        printed.stdout.contains("[mcp_servers.docent]"),
        "{}",
        printed.stdout
    );
    assert_eq!(fs::read(settings_file(&sandbox, "codex")).unwrap(), b"");
}

#[test]
fn setup_works_in_the_home_directory_and_remove_takes_out_every_entry() {
    let sandbox = sandbox();
    let home = sandbox.home();
    write_file(&settings_file(&sandbox, "codex"), b"");
    fs::create_dir_all(home.join(".cursor")).unwrap();
    let mut at_home = sandbox.docent();
    at_home
        .env_remove("DOCENT_ROOT")
        .current_dir(&home)
        .args(["setup", "--yes"]);
    let connected = Finished::run(&mut at_home);
    assert_eq!(connected.code, 0, "{connected:?}");
    assert!(
        connected.stderr.contains("Cursor is connected inside a project"),
        "{}",
        connected.stderr
    );
    assert!(
        fs::read_to_string(settings_file(&sandbox, "codex"))
            .unwrap()
            .contains("docent")
    );

    // Inside a project, --remove takes out the entries of the user and of the project.
    assert_eq!(run_setup(&sandbox, "cursor", &[]).code, 0);
    assert_eq!(sandbox.run(&["setup", "--remove", "--yes"]).code, 0);
    assert!(!settings_file(&sandbox, "cursor").exists());
    assert_eq!(fs::read(settings_file(&sandbox, "codex")).unwrap(), b"");
    assert!(
        sandbox
            .run(&["setup", "--remove"])
            .stderr
            .contains("in no client's settings")
    );
}

#[test]
fn the_project_flag_writes_the_settings_of_the_project() {
    let sandbox = sandbox();
    let added = run_setup(&sandbox, "claude-code", &["--project"]);
    assert!(added.stderr.contains("allow the server"), "{}", added.stderr);
    assert!(sandbox.root().join(".mcp.json").exists());
    let refused = run_setup(&sandbox, "claude-desktop", &["--project"]);
    assert!(
        refused.stderr.contains("no settings for a project"),
        "{}",
        refused.stderr
    );
}

#[cfg(unix)]
#[test]
fn symbolic_links_and_permissions_are_preserved() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = sandbox();
    let (file, real) = (
        settings_file(&sandbox, "claude-code"),
        sandbox.outside().join("dotfiles.json"),
    );
    fs::write(&real, "{}").unwrap();
    docent_testkit::set_mode(&real, 0o600);
    docent_testkit::make_link(&real, &file);
    assert_eq!(run_setup(&sandbox, "claude-code", &[]).code, 0);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&real), mode(&backup_of(&file))), (0o600, 0o600));
    assert!(fs::read_to_string(&real).unwrap().contains("docent"));
}

#[test]
fn the_guide_flag_adds_a_guide_for_agents() {
    let sandbox = sandbox().file("AGENTS.md", "# Rules\n");
    write_file(&settings_file(&sandbox, "codex"), b"");
    assert_eq!(run_setup(&sandbox, "codex", &["--guide"]).code, 0);
    let guide = fs::read_to_string(sandbox.root().join("AGENTS.md")).unwrap();
    assert!(
        guide.starts_with("# Rules\n\n<!-- docent: begin -->\n") && guide.contains("context_search"),
        "{guide}"
    );
    assert_eq!(run_setup(&sandbox, "codex", &["--remove"]).code, 0);
    assert_eq!(
        fs::read_to_string(sandbox.root().join("AGENTS.md")).unwrap(),
        "# Rules\n"
    );
}
