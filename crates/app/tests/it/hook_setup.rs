//! `docent setup --hooks`: hooks are added to the files of each client and come out again byte for byte.

use std::fs;
use std::path::PathBuf;

use docent_testkit::{Finished, Sandbox};
use serde_json::Value;

use crate::sandbox;

/// The clients with hooks, each with its file of hooks, below the home directory or in the project.
const CLIENTS: [(&str, &str); 6] = [
    ("claude-code", "home/.claude/settings.json"),
    ("codex", "home/.codex/hooks.json"),
    ("gemini", "home/.gemini/settings.json"),
    ("copilot", "home/.copilot/hooks/docent.json"),
    ("cursor", "project/.cursor/hooks.json"),
    ("opencode", "home/config/opencode/plugins/docent.js"),
];

const ALL_PARTS: &str = "--hooks=shell,session,search,read";

fn run(sandbox: &Sandbox, client: &str, more: &[&str]) -> Finished {
    let finished = sandbox.run(&[&["setup", "--yes", "--client", client], more].concat());
    assert_eq!(finished.code, 0, "{client}: {finished:?}");
    finished
}

fn hook_file(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.outside().join(name)
}

/// Files as the clients and their users write them.
fn fixtures(client: &str) -> Vec<&'static str> {
    let mut texts = vec![
        "{}",
        "{ }\n",
        "{\n  \"a\": 1\n}\n",
        "{\"a\":1,\"hooks\":{}}",
        "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\r\n\t\t]\r\n\t}\r\n}\r\n",
        "\u{feff}{\n    \"permissions\": {\n        \"allow\": [\n            \"Bash(ls:*)\"\n        ],\n        \"deny\": []\n    },\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"Bash\",\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"rtk hook claude\"\n                    }\n                ]\n            }\n        ]\n    }\n}",
        "{\n \"hooks\": {\n   \"SessionStart\": [], \"BeforeTool\": [ ], \"preToolUse\": [{\"command\": \"x\"}]},\n      \"z\": {\"y\": [1,\n2]}}\n",
        "{\"version\": 1, \"hooks\": {\"preToolUse\": [{\"command\": \"./mine.sh\", \"matcher\": \"Shell\"}]}}\n",
    ];
    if client == "gemini" {
        texts.push("{\n  // my hooks\n  \"hooks\": {\n    \"BeforeTool\": [\n      { \"matcher\": \"x\" } // last\n    ]\n  }\n}\n");
    }
    texts
}

#[test]
fn hooks_are_added_and_removed_and_every_byte_comes_back() {
    for (client, name) in CLIENTS {
        if matches!(client, "copilot" | "opencode") {
            continue;
        }
        for before in fixtures(client) {
            let sandbox = sandbox();
            let file = hook_file(&sandbox, name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, before).unwrap();
            run(&sandbox, client, &[ALL_PARTS]);
            let with = fs::read_to_string(&file).unwrap();
            assert!(with.contains(" hook "), "{client}: {with}");
            assert!(with.contains("|| true"), "{client}: {with}");
            let repeated = run(&sandbox, client, &[ALL_PARTS]);
            assert!(
                repeated.stdout.contains("the hooks are there already"),
                "{client}: {repeated:?}"
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), with, "{client}");

            run(&sandbox, client, &["--remove"]);
            assert_eq!(fs::read_to_string(&file).unwrap(), before, "{client}: {with}");
            let backup = file.with_file_name(format!(
                "{}.before-docent",
                file.file_name().unwrap().to_string_lossy()
            ));
            assert!(!backup.exists(), "{client}: {before}");
        }
    }
}

#[test]
fn a_missing_file_is_created_and_deleted_again() {
    for (client, name) in CLIENTS {
        let sandbox = sandbox();
        let file = hook_file(&sandbox, name);
        run(&sandbox, client, &[ALL_PARTS]);
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(text.contains("docent"), "{client}: {text}");
        if client != "opencode" {
            serde_json::from_str::<Value>(&text).unwrap();
        }
        run(&sandbox, client, &["--remove"]);
        assert!(!file.exists(), "{client}");
        let settings = sandbox.home().join("config/docent/config.toml");
        assert!(!settings.exists(), "{client}");
    }
}

#[test]
fn without_the_flag_no_hook_is_installed() {
    for (client, name) in CLIENTS {
        let sandbox = sandbox();
        run(&sandbox, client, &[]);
        run(&sandbox, client, &["--no-hooks"]);
        let text = fs::read_to_string(hook_file(&sandbox, name)).unwrap_or_default();
        assert!(!text.contains(" hook "), "{client}: {text}");
    }
    let both = sandbox().run(&["setup", "--hooks", "--no-hooks"]);
    assert_eq!(both.code, 2);
    let unknown = sandbox().run(&["setup", "--client", "codex", "--yes", "--hooks=all"]);
    assert!(
        unknown.stderr.contains("shell, session, search, read"),
        "{unknown:?}"
    );
}

#[test]
fn claude_code_gets_one_hook_for_each_part_and_one_rule() {
    let sandbox = sandbox();
    run(&sandbox, "claude-code", &["--hooks"]);
    let file = hook_file(&sandbox, CLIENTS[0].1);
    let read = || -> Value { serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap() };
    let matchers = |settings: &Value, event: &str| -> Vec<String> {
        let hooks = settings["hooks"][event].as_array().cloned().unwrap_or_default();
        hooks
            .iter()
            .map(|hook| hook["matcher"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let settings = read();
    assert_eq!(matchers(&settings, "PreToolUse"), ["Bash"]);
    assert_eq!(matchers(&settings, "PostToolUse"), ["Grep|Glob"]);
    assert_eq!(matchers(&settings, "SessionStart"), ["startup|clear|compact"]);
    assert_eq!(
        settings["permissions"]["allow"],
        serde_json::json!(["Bash(docent sh:*)"])
    );
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    assert!(
        command.ends_with("docent hook claude 2>/dev/null || true"),
        "{command}"
    );
    assert!(!sandbox.home().join("config/docent/config.toml").exists());

    // Another choice replaces the first.
    run(&sandbox, "claude-code", &["--hooks=read"]);
    let settings = read();
    assert_eq!(matchers(&settings, "PreToolUse"), ["Read"]);
    assert_eq!(matchers(&settings, "SessionStart"), [""; 0]);
    assert_eq!(settings["permissions"]["allow"], serde_json::json!([]));
    let own = fs::read_to_string(sandbox.home().join("config/docent/config.toml")).unwrap();
    assert_eq!(own, "[hook]\nread = \"outline\"\n");
}

#[test]
fn the_users_own_settings_come_back_as_they_were() {
    for before in [
        "# mine\n[log]\nlevel = \"warn\"\n",
        "[hook]\nread_lines = 900 # large\n",
        "answer.form = \"compact\"",
        "",
    ] {
        let sandbox = sandbox();
        let file = sandbox.home().join("config/docent/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        run(&sandbox, "claude-code", &[ALL_PARTS]);
        let shown = sandbox.run(&["config"]).stdout;
        assert!(
            shown.contains("hook.read") && shown.contains("outline"),
            "{shown}"
        );
        run(&sandbox, "claude-code", &["--remove"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
    // What the user has set without setup is theirs.
    let sandbox = sandbox();
    let file = sandbox.home().join("config/docent/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "[hook]\nread = \"outline\"\nread_lines = 900\n").unwrap();
    run(&sandbox, "claude-code", &[ALL_PARTS]);
    run(&sandbox, "claude-code", &["--remove"]);
    assert!(fs::read_to_string(&file).unwrap().contains("outline"));
}

#[test]
fn changes_in_between_are_kept_and_hooks_of_others_stay() {
    let sandbox = sandbox();
    let file = hook_file(&sandbox, CLIENTS[0].1);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{\n  \"model\": \"opus\"\n}\n").unwrap();
    run(&sandbox, "claude-code", &["--hooks"]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("opus", "haiku")).unwrap();
    run(&sandbox, "claude-code", &["--remove"]);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "{\n  \"model\": \"haiku\"\n}\n"
    );
}

#[test]
fn remove_without_names_takes_out_every_hook() {
    let sandbox = sandbox();
    for (client, _) in CLIENTS {
        run(&sandbox, client, &["--hooks"]);
    }
    let removed = sandbox.run(&["setup", "--remove", "--yes"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    for (client, name) in CLIENTS {
        assert!(!hook_file(&sandbox, name).exists(), "{client}");
    }
    assert!(!sandbox.root().join("AGENTS.md").exists());
    assert!(
        sandbox
            .run(&["setup", "--remove"])
            .stderr
            .contains("in no client's settings")
    );
}

#[test]
fn clients_without_rewriting_are_told_in_their_instructions() {
    let sandbox = sandbox().file("AGENTS.md", "# Rules\n");
    run(&sandbox, "zed", &["--hooks"]);
    let guide = || fs::read_to_string(sandbox.root().join("AGENTS.md")).unwrap();
    assert!(guide().contains("docent sh grep"), "{}", guide());
    run(&sandbox, "zed", &["--remove"]);
    assert_eq!(guide(), "# Rules\n");
    run(&sandbox, "claude-code", &["--hooks"]);
    assert_eq!(guide(), "# Rules\n");
}

#[test]
fn a_malformed_file_is_named_and_not_changed() {
    let sandbox = sandbox();
    let file = hook_file(&sandbox, CLIENTS[0].1);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for text in [
        "{ // mine\n}",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PreToolUse\": 1}}",
        "[",
    ] {
        fs::write(&file, text).unwrap();
        let refused = sandbox.run(&["setup", "--yes", "--client", "claude-code", "--hooks"]);
        assert_eq!(refused.code, 1, "{text}: {refused:?}");
        assert!(
            refused.stderr.contains("settings.json:line 1"),
            "{text}: {refused:?}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn print_shows_the_hooks_and_writes_nothing() {
    let sandbox = sandbox();
    let printed = sandbox.run(&["setup", "--client", "cursor", "--print", "--hooks"]);
    assert!(
        printed.stdout.contains("\"preToolUse\"") && printed.stdout.contains("hook cursor"),
        "{printed:?}"
    );
    assert!(!hook_file(&sandbox, CLIENTS[4].1).exists());
}

#[cfg(unix)]
#[test]
fn each_hook_is_one_question_on_the_terminal() {
    let sandbox = sandbox();
    fs::create_dir_all(sandbox.home().join(".codex")).unwrap();
    // Write the server's entry, trust nothing, take the first hook and not the second, write; no skill.
    let screen = sandbox.type_on_terminal(&["setup", "--client", "codex"], Some("y\nn\ny\nn\ny\nn\n"));
    assert!(
        screen.contains("answer grep, rg, find and git in the shell?"),
        "{screen}"
    );
    assert!(screen.contains("what the project is"), "{screen}");
    assert!(!screen.contains("outline?"), "{screen}");
    let text = fs::read_to_string(hook_file(&sandbox, CLIENTS[1].1)).unwrap_or_default();
    assert!(
        text.contains("PreToolUse") && !text.contains("SessionStart"),
        "{screen}\n{text}"
    );
}
