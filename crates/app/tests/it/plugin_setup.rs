//! `docent setup --plugin`: one plugin in Claude Code, files in the folders of other clients, and all of it
//! out again byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use docent_testkit::{Finished, Sandbox, set_mode};
use serde_json::{Value, json};

use crate::sandbox;

const CLIENTS: [&str; 6] = ["claude-code", "codex", "gemini", "copilot", "cursor", "opencode"];

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Finished {
    let finished = sandbox.run(&[&["setup", "--yes"], arguments].concat());
    assert_eq!(finished.code, 0, "{arguments:?}: {finished:?}");
    finished
}

fn write_file(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Every file of the home directory and of the project, with its text. docent's own cache and state are not
/// the clients'.
fn all_files(sandbox: &Sandbox) -> BTreeMap<PathBuf, String> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![sandbox.home(), sandbox.root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_own = ["cache", "state", ".git"].iter().any(|name| path.ends_with(name));
            if path.is_dir() && !is_own {
                folders.push(path);
            } else if path.is_file() {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                files.insert(path, text);
            }
        }
    }
    files
}

fn claude_plugin(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.home().join(".claude/skills/docent").join(name)
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap_or_default()).unwrap_or_default()
}

/// The first line of JSON that a command answers its input with and that is wanted; `Null` without one.
/// For a hook, the input has to end before the answer; a server keeps it open until then.
fn first_answer(command: &mut Command, input: &str, is_wanted: &dyn Fn(&Value) -> bool) -> Value {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    let is_server = input.ends_with('\n');
    let open = is_server.then_some(stdin);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer = lines
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
        .find(is_wanted);
    drop(open);
    child.wait().unwrap();
    answer.unwrap_or_default()
}

/// A home as users have it: settings of every client, with things of theirs beside docent's places.
fn furnished() -> Sandbox {
    let sandbox = sandbox();
    let home = sandbox.home();
    for (name, text) in [
        (".claude.json", "{\n  \"numStartups\": 3\n}\n"),
        (
            ".claude/settings.json",
            "{\"model\":\"opus\",\"permissions\":{\"allow\":[\"Bash(ls:*)\"]}}",
        ),
        (".claude/skills/mine/SKILL.md", "---\nname: mine\n---\n"),
        (".codex/config.toml", "# mine\nmodel = \"x\"\n"),
        (".codex/hooks.json", "{ \"hooks\": { \"Stop\": [] } }\n"),
        (
            ".gemini/settings.json",
            "{\r\n\t// mine\r\n\t\"theme\": \"x\"\r\n}\r\n",
        ),
        (".gemini/commands/mine.toml", "prompt = \"x\"\n"),
        (".copilot/mcp-config.json", "{\"mcpServers\": {}}"),
        (
            "config/opencode/opencode.jsonc",
            "{\n  // mine\n  \"model\": \"x\",\n}\n",
        ),
        ("config/opencode/agents/mine.md", "mine\n"),
    ] {
        write_file(&home.join(name), text);
    }
    write_file(&sandbox.root().join(".cursor/rules/mine.mdc"), "mine\n");
    sandbox
}

#[test]
fn everything_is_installed_and_every_byte_comes_back() {
    for extra in [&[][..], &["--hooks"], &["--hooks=shell,session,search,read"]] {
        let sandbox = furnished();
        let before = all_files(&sandbox);
        run(&sandbox, &[&["--plugin"], extra].concat());
        let with = all_files(&sandbox);
        assert!(with.len() > before.len() + 20, "{:?}", with.keys());
        // A second run changes nothing.
        run(&sandbox, &[&["--plugin"], extra].concat());
        assert_eq!(all_files(&sandbox), with, "{extra:?}");
        run(&sandbox, &["--remove"]);
        assert_eq!(all_files(&sandbox), before, "{extra:?}");
        for folder in [
            ".claude/skills/docent",
            ".codex/skills",
            ".gemini/agents",
            ".copilot/agents",
        ] {
            assert!(!sandbox.home().join(folder).exists(), "{folder}");
        }
    }
}

#[test]
fn what_a_former_version_has_set_up_moves_into_the_plugin_and_comes_out() {
    let sandbox = furnished();
    let before = all_files(&sandbox);
    run(&sandbox, &["--hooks"]);
    let plain = sandbox.home().join(".claude.json");
    assert!(fs::read_to_string(&plain).unwrap().contains("docent"));
    let moved = run(&sandbox, &["--plugin"]);
    assert!(moved.stderr.contains("the plugin has it"), "{}", moved.stderr);
    for name in [".claude.json", ".claude/settings.json"] {
        let file = sandbox.home().join(name);
        assert_eq!(fs::read_to_string(&file).unwrap(), before[&file], "{name}");
    }
    let server = read_json(&claude_plugin(&sandbox, ".mcp.json"));
    assert_eq!(
        server["mcpServers"]["docent"],
        json!({ "command": env!("CARGO_BIN_EXE_docent"), "args": ["serve", "--compact"], "alwaysLoad": true })
    );
    // Plain setup writes no second entry, and no second hooks.
    let again = run(&sandbox, &["--hooks"]);
    assert!(
        again.stdout.contains("docent is there as a plugin"),
        "{}",
        again.stdout
    );
    assert_eq!(fs::read_to_string(&plain).unwrap(), before[&plain]);
    run(&sandbox, &["--remove"]);
    assert_eq!(all_files(&sandbox), before);
}

#[test]
fn the_plugin_has_the_hooks_and_parts_that_were_chosen() {
    let sandbox = sandbox();
    let install = |arguments: &[&str]| {
        run(&sandbox, &[&["--client", "claude-code"], arguments].concat());
    };
    let events = || -> Vec<String> {
        let hooks = read_json(&claude_plugin(&sandbox, "hooks/hooks.json"));
        let events = hooks["hooks"].as_object().cloned().unwrap_or_default();
        events.keys().cloned().collect()
    };
    install(&["--plugin"]);
    assert_eq!(events(), ["PreToolUse", "SessionStart", "PostToolUse"]);
    let languages = read_json(&claude_plugin(&sandbox, ".lsp.json"));
    assert_eq!(languages["docent"]["args"], json!(["lsp"]));
    assert_eq!(languages["docent"]["extensionToLanguage"][".rb"], "ruby");
    install(&["--plugin=skill,lsp", "--hooks=session"]);
    assert_eq!(events(), ["SessionStart"]);
    assert!(claude_plugin(&sandbox, "skills/docent/SKILL.md").exists());
    assert!(!claude_plugin(&sandbox, "agents").exists() && !claude_plugin(&sandbox, "commands").exists());
    install(&["--plugin=skill", "--no-hooks"]);
    assert!(!claude_plugin(&sandbox, "hooks").exists() && !claude_plugin(&sandbox, ".lsp.json").exists());
    let unknown = sandbox.run(&["setup", "--yes", "--client", "claude-code", "--plugin=all"]);
    assert!(
        unknown.stderr.contains("skill, explorer, commands, lsp"),
        "{unknown:?}"
    );
}

#[test]
fn extensions_of_other_language_servers_are_left_to_them() {
    let sandbox = sandbox();
    let claude = sandbox.home().join(".claude");
    let installed = sandbox.outside().join("typed-python");
    let catalogue = sandbox.outside().join("typed");
    write_file(
        &claude.join("settings.json"),
        "{\"enabledPlugins\": {\"py@typed\": true, \"go@typed\": true, \"rust@typed\": false}}",
    );
    let installs = json!({ "plugins": { "py@typed": [{ "installPath": installed }] } });
    write_file(
        &claude.join("plugins/installed_plugins.json"),
        &installs.to_string(),
    );
    let places = json!({ "typed": { "installLocation": catalogue } });
    write_file(
        &claude.join("plugins/known_marketplaces.json"),
        &places.to_string(),
    );
    let server = |extension: &str| json!({ "command": "x", "extensionToLanguage": { extension: "x" } });
    write_file(
        &installed.join(".lsp.json"),
        &json!({ "py": server(".PY") }).to_string(),
    );
    let plugin =
        |name: &str, extension: &str| json!({ "name": name, "lspServers": { name: server(extension) } });
    let listed = json!({ "plugins": [plugin("go", ".go"), plugin("rust", ".rs"), plugin("other", ".java")] });
    write_file(
        &catalogue.join(".claude-plugin/marketplace.json"),
        &listed.to_string(),
    );
    let own = claude.join("skills/lua");
    write_file(
        &own.join(".claude-plugin/plugin.json"),
        "{\"name\": \"lua\", \"lspServers\": \"./l.json\"}",
    );
    write_file(&own.join("l.json"), &json!({ "lua": server(".lua") }).to_string());

    run(&sandbox, &["--client", "claude-code", "--plugin"]);
    let clean = sandbox.run(&["doctor"]).stdout;
    assert!(
        clean.contains("Claude Code") && !clean.contains("another language server"),
        "{clean}"
    );
    write_file(
        &installed.join(".lsp.json"),
        &json!({ "rs": server(".rs") }).to_string(),
    );
    let noted = sandbox.run(&["doctor"]).stdout;
    assert!(
        noted.contains("another language server answer for .rs"),
        "{noted}"
    );
    let map = &read_json(&claude_plugin(&sandbox, ".lsp.json"))["docent"]["extensionToLanguage"];
    for (extension, is_left) in [
        (".py", true),
        (".go", true),
        (".lua", true),
        (".rs", false),
        (".java", false),
    ] {
        assert_eq!(map[extension].is_null(), is_left, "{extension}: {map}");
    }
}

#[test]
fn a_plugin_from_a_marketplace_takes_the_place_of_plain_entries() {
    let sandbox = sandbox();
    run(&sandbox, &["--client", "claude-code", "--hooks"]);
    let settings = sandbox.home().join(".claude/settings.json");
    let mut enabled = read_json(&settings);
    enabled["enabledPlugins"] = json!({ "docent@docent": true });
    fs::write(&settings, enabled.to_string()).unwrap();
    for arguments in [&[][..], &["--plugin"]] {
        let told = run(&sandbox, &[&["--client", "claude-code"], arguments].concat());
        assert!(
            told.stdout.contains("the plugin docent@docent"),
            "{}",
            told.stdout
        );
        assert!(!sandbox.home().join(".claude.json").exists());
        assert!(!fs::read_to_string(&settings).unwrap().contains(" hook "));
        assert!(!claude_plugin(&sandbox, "").exists());
    }
    let removed = sandbox.run(&["setup", "--yes", "--remove"]);
    assert!(
        removed.stderr.contains("claude plugin uninstall docent@docent"),
        "{}",
        removed.stderr
    );
}

#[test]
fn files_of_others_by_the_same_name_are_kept() {
    for (client, name) in [
        ("claude-code", ".claude/skills/docent/SKILL.md"),
        ("codex", ".codex/skills/docent/SKILL.md"),
    ] {
        let sandbox = sandbox();
        let file = sandbox.home().join(name);
        write_file(&file, "mine\n");
        let other = sandbox
            .home()
            .join(".claude/skills/docent/skills/docent/SKILL.md");
        write_file(&other, "mine, too\n");
        let refused = sandbox.run(&["setup", "--yes", "--client", client, "--plugin"]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(
            refused.stderr.contains("was not written by docent"),
            "{}",
            refused.stderr
        );
        sandbox.run(&["setup", "--yes", "--client", client, "--remove"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine, too\n");
    }
}

#[test]
fn a_projects_files_are_for_everybody_who_works_on_it() {
    let sandbox = sandbox().file(".claude/commands/mine.md", "mine\n");
    let before = all_files(&sandbox);
    for client in CLIENTS.into_iter().filter(|client| *client != "copilot") {
        run(&sandbox, &["--client", client, "--project", "--plugin"]);
    }
    for name in [
        ".claude/skills/docent/SKILL.md",
        ".claude/agents/docent-explorer.md",
        ".claude/commands/docent/why.md",
        ".codex/skills/docent/SKILL.md",
        ".gemini/commands/docent/why.toml",
        ".cursor/commands/docent-why.md",
        ".opencode/agents/docent-explorer.md",
    ] {
        assert!(sandbox.root().join(name).exists(), "{name}");
    }
    assert!(!claude_plugin(&sandbox, "").exists());
    run(&sandbox, &["--project", "--remove"]);
    assert_eq!(all_files(&sandbox), before);
}

#[test]
fn a_hook_of_the_plugin_is_silent_where_the_settings_have_hooks() {
    let sandbox = sandbox().file("a.py", "walrus = 1\n").repository();
    let event = json!({
        "session_id": "s", "cwd": sandbox.root(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "grep -rn walrus ." },
    });
    let bin = sandbox.outside().join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("docent"), "#!/bin/sh\n").unwrap();
    set_mode(bin.join("docent"), 0o755);
    let ask = |client: &str, is_claude: bool| {
        let mut hook = sandbox.docent();
        hook.env("PATH", &bin).args(["hook", client, "--plugin"]);
        if is_claude {
            hook.env("CLAUDECODE", "1");
        }
        first_answer(&mut hook, &event.to_string(), &|_| true)["hookSpecificOutput"].clone()
    };
    let answer = ask("claude", true);
    assert_eq!(answer["permissionDecision"], "allow", "{answer}");
    assert_eq!(
        answer["updatedInput"]["command"], "docent sh grep -rn walrus .",
        "{answer}"
    );
    // Other clients read the plugin of Claude Code, too.
    assert_eq!(ask("claude", false), Value::Null);
    run(&sandbox, &["--client", "claude-code", "--hooks=session"]);
    assert_eq!(ask("claude", true), Value::Null);
    assert_ne!(ask("codex", false), Value::Null);
    run(&sandbox, &["--client", "codex", "--hooks"]);
    assert_eq!(ask("codex", false), Value::Null);
}

#[test]
fn a_plugins_server_has_no_tools_where_the_settings_start_one() {
    let sandbox = sandbox();
    let count_tools = |variables: &[(&str, &str)]| {
        let mut serve = sandbox.docent();
        serve.args(["serve", "--compact"]).envs(variables.iter().copied());
        let requests = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        ];
        let lines = requests.map(|request| request.to_string()).join("\n") + "\n";
        let listed = first_answer(&mut serve, &lines, &|answer| answer["id"] == 2);
        listed["result"]["tools"].as_array().map(Vec::len)
    };
    let in_plugin = [("CLAUDE_PLUGIN_ROOT", "/plugin"), ("CLAUDECODE", "1")];
    let all = count_tools(&[]);
    assert_eq!(count_tools(&in_plugin), all);
    run(&sandbox, &["--client", "claude-code"]);
    assert_eq!(count_tools(&in_plugin), Some(0));
    assert_eq!(count_tools(&in_plugin[..1]), all);
}

#[cfg(unix)]
#[test]
fn the_language_server_is_a_question_for_itself() {
    let sandbox = sandbox();
    fs::create_dir_all(sandbox.home().join(".claude")).unwrap();
    // Write the entry, trust nothing, none of the four hooks, no skill, the language server, write.
    let screen = sandbox.type_on_terminal(
        &["setup", "--client", "claude-code"],
        Some("y\nn\nn\nn\nn\nn\nn\ny\ny\n"),
    );
    assert!(
        screen.contains("install a skill") && screen.contains("languages from docent's index?"),
        "{screen}"
    );
    assert!(claude_plugin(&sandbox, ".lsp.json").exists(), "{screen}");
    assert!(!claude_plugin(&sandbox, "skills").exists() && !claude_plugin(&sandbox, "hooks").exists());
    assert!(!sandbox.home().join(".claude.json").exists(), "{screen}");
}
