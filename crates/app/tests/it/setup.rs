//! `docent setup` on the files of real clients: its own entry comes and goes, and nothing else changes by a byte.
//!
//! The fixtures are written as each client writes its file: with comments, commas after the last member, tabs, CRLF, byte order
//! marks, other servers, older entries of docent.

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

/// Where each client has its file, below the home or in the project.
fn place(sandbox: &Sandbox, client: &str) -> PathBuf {
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

fn put(file: &Path, bytes: &[u8]) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

fn setup(sandbox: &Sandbox, client: &str, more: &[&str]) -> Finished {
    sandbox.run(&[&["setup", "--client", client, "--yes"], more].concat())
}

fn fixtures(client: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/clients")
        .join(client);
    #[expect(clippy::disallowed_methods, reason = "fixtures of these tests")]
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort_unstable();
    files
}

/// The bytes without those of docent's entry: what stands before the first difference and behind the last.
fn is_spliced(before: &[u8], after: &[u8]) -> bool {
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
    let mut tried = 0;
    for client in CLIENTS {
        for fixture in fixtures(client) {
            let sandbox = sandbox();
            let (file, name) = (place(&sandbox, client), fixture.display());
            let before = fs::read(&fixture).unwrap();
            put(&file, &before);
            let made = setup(&sandbox, client, &[]);
            assert_eq!(made.code, 0, "{name}: {made:?}");
            let with = fs::read(&file).unwrap();
            let text = String::from_utf8_lossy(&with).into_owned();
            assert!(
                text.contains("docent") && text.contains("serve"),
                "{name}: {text}"
            );
            let is_new = !fixture.to_string_lossy().contains("stale");
            // Between the braces of an empty file there is nothing to keep.
            let is_empty = before
                .iter()
                .all(|byte| byte.is_ascii_whitespace() || b"{}".contains(byte));
            if is_new && !is_empty {
                assert!(is_spliced(&before, &with), "{name}: {text}");
            }
            // Twice is once.
            let again = setup(&sandbox, client, &[]);
            assert!(
                again.stdout.contains("docent is there already"),
                "{name}: {again:?}"
            );
            assert_eq!(fs::read(&file).unwrap(), with, "{name}");

            let gone = setup(&sandbox, client, &["--remove"]);
            assert_eq!(gone.code, 0, "{name}: {gone:?}");
            if is_new {
                assert_eq!(fs::read(&file).unwrap(), before, "{name}");
                assert!(!backup(&file).exists(), "{name}");
            }
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}

fn backup(file: &Path) -> PathBuf {
    let name = format!("{}.before-docent", file.file_name().unwrap().to_string_lossy());
    file.with_file_name(name)
}

#[test]
fn a_missing_settings_file_is_created_and_removed_again() {
    for client in CLIENTS {
        let sandbox = sandbox();
        let file = place(&sandbox, client);
        assert_eq!(setup(&sandbox, client, &[]).code, 0, "{client}");
        assert!(file.exists(), "{client}");
        assert_eq!(setup(&sandbox, client, &["--remove"]).code, 0, "{client}");
        assert!(!file.exists(), "{client}");
    }
}

#[test]
fn changes_of_the_client_between_setup_and_removal_are_kept() {
    let sandbox = sandbox();
    let file = place(&sandbox, "claude-code");
    put(&file, b"{\n  \"numStartups\": 1\n}\n");
    assert_eq!(setup(&sandbox, "claude-code", &[]).code, 0);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"numStartups\": 1", "\"numStartups\": 2")).unwrap();
    assert_eq!(setup(&sandbox, "claude-code", &["--remove"]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"numStartups\": 2\n}\n");
}

#[test]
fn a_malformed_settings_file_is_named_and_not_changed() {
    let sandbox = sandbox();
    for (client, text, said) in [
        (
            "claude-code",
            "{\n  // mine\n  \"a\": 1\n}",
            ".claude.json:line 2, column 3",
        ),
        ("codex", "[mcp_servers\n", "config.toml:line 1, column 13"),
        ("cursor", "{ \"mcpServers\": [] }", "mcp.json:line 1, column 17"),
    ] {
        let file = place(&sandbox, client);
        put(&file, text.as_bytes());
        let refused = setup(&sandbox, client, &[]);
        assert_eq!(refused.code, 1);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
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
    put(&place(&sandbox, "codex"), b"");
    put(&place(&sandbox, "zed"), b"{}");
    let unasked = sandbox.run(&["setup"]);
    assert_ne!(unasked.code, 0);
    assert!(
        unasked.stdout.contains("Codex: ") && unasked.stdout.contains("Zed: "),
        "{}",
        unasked.stdout
    );
    assert!(unasked.stderr.contains("run it with --yes"), "{}", unasked.stderr);
    let printed = sandbox.run(&["setup", "--print"]);
    assert!(
        printed.stdout.contains("[mcp_servers.docent]"),
        "{}",
        printed.stdout
    );
    assert_eq!(fs::read(place(&sandbox, "codex")).unwrap(), b"");
}

#[test]
fn setup_works_in_the_home_directory_and_remove_takes_out_every_entry() {
    let sandbox = sandbox();
    let home = sandbox.home();
    put(&place(&sandbox, "codex"), b"");
    fs::create_dir_all(home.join(".cursor")).unwrap();
    let mut at_home = sandbox.docent();
    at_home
        .env_remove("DOCENT_ROOT")
        .current_dir(&home)
        .args(["setup", "--yes"]);
    let made = Finished::of(&mut at_home);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(
        made.stderr.contains("Cursor is connected inside a project"),
        "{}",
        made.stderr
    );
    assert!(
        fs::read_to_string(place(&sandbox, "codex"))
            .unwrap()
            .contains("docent")
    );

    // Inside a project, what is there goes, whoever it is for.
    assert_eq!(setup(&sandbox, "cursor", &[]).code, 0);
    assert_eq!(sandbox.run(&["setup", "--remove", "--yes"]).code, 0);
    assert!(!place(&sandbox, "cursor").exists());
    assert_eq!(fs::read(place(&sandbox, "codex")).unwrap(), b"");
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
    let made = setup(&sandbox, "claude-code", &["--project"]);
    assert!(made.stderr.contains("allow the server"), "{}", made.stderr);
    assert!(sandbox.root().join(".mcp.json").exists());
    let refused = setup(&sandbox, "claude-desktop", &["--project"]);
    assert!(
        refused.stderr.contains("no settings for a project"),
        "{}",
        refused.stderr
    );
}

#[cfg(unix)]
#[test]
fn symbolic_links_and_permissions_are_preserved() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let sandbox = sandbox();
    let (file, real) = (
        place(&sandbox, "claude-code"),
        sandbox.outside().join("dotfiles.json"),
    );
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&real, &file).unwrap();
    assert_eq!(setup(&sandbox, "claude-code", &[]).code, 0);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&real), mode(&backup(&file))), (0o600, 0o600));
    assert!(fs::read_to_string(&real).unwrap().contains("docent"));
}

#[test]
fn the_guide_flag_adds_a_guide_for_agents() {
    let sandbox = sandbox().file("AGENTS.md", "# Rules\n");
    put(&place(&sandbox, "codex"), b"");
    assert_eq!(setup(&sandbox, "codex", &["--guide"]).code, 0);
    let guide = fs::read_to_string(sandbox.root().join("AGENTS.md")).unwrap();
    assert!(
        guide.starts_with("# Rules\n\n<!-- docent: begin -->\n") && guide.contains("context_search"),
        "{guide}"
    );
    assert_eq!(setup(&sandbox, "codex", &["--remove"]).code, 0);
    assert_eq!(
        fs::read_to_string(sandbox.root().join("AGENTS.md")).unwrap(),
        "# Rules\n"
    );
}
