//! `docent hook`: what each client gets for its events, and that it gets nothing in doubt.

use std::io::Write;
use std::process::Stdio;

use docent_testkit::{Finished, Sandbox};
use serde_json::{Value, json};

use crate::sandbox;

const CLIENTS: [&str; 6] = ["claude", "codex", "gemini", "copilot", "cursor", "opencode"];

/// Runs the hook of a client with an event.
fn run(sandbox: &Sandbox, client: &str, event: &[u8]) -> Finished {
    run_with(sandbox, client, event, &[])
}

fn run_with(sandbox: &Sandbox, client: &str, event: &[u8], variables: &[(&str, &str)]) -> Finished {
    let mut child = sandbox
        .docent()
        .args(["hook", client])
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The hook may end before it has read everything.
    let _ = stdin.write_all(event);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Finished {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

/// The answer to an event. `Null` for no answer.
fn ask(sandbox: &Sandbox, client: &str, event: &Value) -> Value {
    let finished = run(sandbox, client, event.to_string().as_bytes());
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{finished:?}");
    match finished.stdout.trim() {
        "" => Value::Null,
        answer => serde_json::from_str(answer).unwrap(),
    }
}

/// The events of a client: before a shell command, after a search of its own, at the start of a session.
fn events(sandbox: &Sandbox, client: &str, line: &str, found: &str) -> [Value; 3] {
    let place = sandbox.root();
    let claude = |event: &str| json!({ "session_id": "s", "cwd": place, "hook_event_name": event });
    let with = |mut event: Value, more: Value| {
        let more = more.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(more);
        event
    };
    let input = json!({ "command": line, "description": "d", "timeout": 5 });
    match client {
        "claude" | "codex" => [
            with(
                claude("PreToolUse"),
                json!({ "tool_name": "Bash", "tool_input": input }),
            ),
            with(
                claude("PostToolUse"),
                json!({ "tool_name": "Grep", "tool_response": { "mode": "content", "content": found, "numLines": found.lines().count() } }),
            ),
            with(claude("SessionStart"), json!({ "source": "startup" })),
        ],
        "gemini" => [
            with(
                claude("BeforeTool"),
                json!({ "tool_name": "run_shell_command", "tool_input": input }),
            ),
            with(
                claude("AfterTool"),
                json!({ "tool_name": "grep_search", "tool_response": { "llmContent": found } }),
            ),
            with(claude("SessionStart"), json!({ "source": "startup" })),
        ],
        "copilot" => [
            json!({ "sessionId": "s", "cwd": place, "toolName": "bash", "toolArgs": input }),
            json!({ "sessionId": "s", "cwd": place, "toolName": "grep", "toolArgs": {}, "toolResult": { "textResultForLlm": found } }),
            json!({ "sessionId": "s", "cwd": place, "source": "new" }),
        ],
        "cursor" => [
            with(
                claude("preToolUse"),
                json!({ "tool_name": "Shell", "tool_input": input }),
            ),
            with(
                claude("postToolUse"),
                json!({ "tool_name": "Grep", "tool_output": found }),
            ),
            json!({ "hook_event_name": "sessionStart", "workspace_roots": [place] }),
        ],
        _ => [
            json!({ "event": "before", "tool": "bash", "args": input, "session": "s", "directory": place }),
            json!({ "event": "after", "tool": "grep", "output": found, "session": "s", "directory": place }),
            json!({ "event": "start", "directory": place }),
        ],
    }
}

/// The text that a client is told, in its own form.
fn context(answer: &Value) -> &str {
    let inner = answer.get("hookSpecificOutput").unwrap_or(answer);
    ["additionalContext", "additional_context", "context"]
        .iter()
        .find_map(|name| inner.get(name)?.as_str())
        .unwrap_or_default()
}

#[test]
fn every_client_is_told_at_the_start_what_the_project_is() {
    let sandbox = sandbox()
        .file("src/a.rs", "fn walrus() {}\n")
        .file("src/b.py", "def seal(): pass\n");
    for client in CLIENTS {
        let [_, _, start] = events(&sandbox, client, "", "");
        let answer = ask(&sandbox, client, &start);
        let text = context(&answer);
        assert!(
            text.contains("no index yet") && text.len() <= 600,
            "{client}: {answer}"
        );
        // Copilot's commands are never replaced.
        let names_plain_form = ["`command grep …`", "`\\grep …`", "`DOCENT_RAW=1 grep …`"]
            .iter()
            .all(|form| text.contains(form));
        assert_eq!(names_plain_form, client != "copilot", "{client}: {text}");
    }
    assert_eq!(sandbox.run(&["index"]).code, 0);
    sandbox.write(
        ".context/memory/decisions.jsonl",
        "{\"decision\": \"a\"}\n{\"decision\": \"b\"}\n",
    );
    let [_, _, start] = events(&sandbox, "claude", "", "");
    let answer = ask(&sandbox, "claude", &start);
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
    let text = context(&answer);
    assert!(
        text.starts_with(
            "docent has indexed the project project: 2 files (1 python, 1 rust). Its memory has 2 entries"
        ),
        "{text}"
    );
    assert!(text.len() <= 600 && text.ends_with("in less text."), "{text}");
}

#[test]
fn a_search_that_found_nothing_or_too_much_gets_one_line() {
    let sandbox = sandbox();
    for client in ["claude", "gemini", "copilot", "cursor", "opencode"] {
        for (found, expected) in [
            ("", "Nothing matched"),
            ("a.rs:1: walrus\n", ""),
            (&"a.rs:1: walrus\n".repeat(2_000), "Much matched"),
        ] {
            let [_, search, _] = events(&sandbox, client, "", found);
            let answer = ask(&sandbox, client, &search);
            let text = context(&answer);
            assert!(
                text.starts_with(expected) && text.lines().count() <= 1,
                "{client}: {answer}"
            );
            assert_eq!(text.is_empty(), expected.is_empty(), "{client}: {answer}");
        }
    }
}

#[test]
fn commands_that_docent_does_not_answer_are_left_alone() {
    let sandbox = sandbox().file("a.txt", "a\n");
    for client in CLIENTS {
        for line in [
            "rm -rf x",
            "cargo test",
            "echo a > b",
            "grep",
            "",
            "'",
            "$(",
            "a\u{0}b",
            "\u{202e}",
        ] {
            let [shell, ..] = events(&sandbox, client, line, "");
            let answer = ask(&sandbox, client, &shell);
            let expected = if client == "cursor" {
                json!({})
            } else {
                Value::Null
            };
            assert_eq!(answer, expected, "{client}: {line}");
        }
    }
}

#[test]
fn hostile_input_gets_no_answer() {
    let sandbox = sandbox();
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let deep_field = [b"{\"cwd\":".repeat(50_000), b"1".to_vec()].concat();
    let huge = format!("{{\"cwd\": \"/\", \"x\": \"{}\"}}", "a".repeat(9 * 1024 * 1024)).into_bytes();
    let mut inputs: Vec<Vec<u8>> = vec![
        deep,
        deep_field,
        huge,
        b"".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"{".to_vec(),
        b"\xff\xfe{}".to_vec(),
        b"{\"hook_event_name\": 5, \"cwd\": []}".to_vec(),
    ];
    let root = sandbox.root();
    for (name, value) in [
        ("cwd", json!("relative")),
        ("cwd", json!("/no/such/directory\u{0}")),
        ("cwd", json!(null)),
        ("tool_input", json!("grep a b")),
        ("tool_input", json!({ "command": ["grep", "a"] })),
        ("tool_input", json!({ "command": null, "file_path": 7 })),
        ("tool_name", json!({ "Bash": true })),
        ("hook_event_name", json!(["PreToolUse"])),
    ] {
        let mut event = json!({
            "cwd": root, "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": "grep -rn a ." },
        });
        event[name] = value;
        inputs.push(event.to_string().into_bytes());
    }
    for client in CLIENTS {
        for input in &inputs {
            let start = String::from_utf8_lossy(&input[..input.len().min(80)]).into_owned();
            let finished = run(&sandbox, client, input);
            assert_eq!(
                (finished.code, finished.stderr.as_str()),
                (0, ""),
                "{client}: {start}"
            );
            let nothing = if client == "cursor" { "{}\n" } else { "" };
            assert_eq!(finished.stdout, nothing, "{client}: {start}");
        }
    }
}

#[test]
fn an_unknown_client_is_no_refusal() {
    let sandbox = sandbox();
    for arguments in [&["hook", "nobody"][..], &["hook"]] {
        let finished = sandbox.run(arguments);
        assert_eq!((finished.code, finished.stdout.as_str()), (0, ""), "{finished:?}");
    }
    assert!(sandbox.run(&["hook", "--help"]).stdout.contains("opencode"));
}

#[test]
fn standard_input_that_never_ends_is_given_up() {
    let sandbox = sandbox();
    let mut child = sandbox
        .docent()
        .args(["hook", "claude"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The pipe stays open until the hook has ended.
    let stdin = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

/// A line that is rewritten needs a `docent` in `PATH`.
fn with_program(sandbox: &Sandbox) -> String {
    let folder = sandbox.outside().join("bin");
    if !folder.exists() {
        std::fs::create_dir(&folder).unwrap();
        docent_testkit::make_link(env!("CARGO_BIN_EXE_docent"), folder.join("docent"));
    }
    let path = std::env::join_paths([folder, "/usr/bin".into(), "/bin".into()]).unwrap();
    path.into_string().unwrap()
}

fn ask_about_line(sandbox: &Sandbox, client: &str, line: &str) -> Value {
    let [shell, ..] = events(sandbox, client, line, "");
    let path = with_program(sandbox);
    let finished = run_with(sandbox, client, shell.to_string().as_bytes(), &[("PATH", &path)]);
    assert_eq!(finished.code, 0, "{finished:?}");
    serde_json::from_str(finished.stdout.trim()).unwrap_or_default()
}

#[test]
fn a_search_in_the_shell_is_rewritten_in_the_form_of_each_client() {
    let sandbox = sandbox().file("src/a.rs", "fn walrus() {}\n").repository();
    let line = "grep -rn walrus src";
    let with = |program: &str| json!({ "command": format!("{program} sh {line}"), "description": "d", "timeout": 5 });
    let input = with("docent");
    // Its login shell may have another PATH.
    let by_path = with(env!("CARGO_BIN_EXE_docent"));
    for (client, expected) in [
        (
            "claude",
            json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": input } }),
        ),
        (
            "codex",
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": by_path,
            } }),
        ),
        (
            "gemini",
            json!({ "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input } }),
        ),
        ("copilot", Value::Null),
        ("cursor", json!({ "permission": "allow", "updated_input": input })),
        ("opencode", json!({ "args": input })),
    ] {
        assert_eq!(ask_about_line(&sandbox, client, line), expected, "{client}");
    }
}

#[test]
fn allow_is_given_only_for_lines_that_do_nothing_but_read() {
    let sandbox = sandbox().file("src/a.rs", "fn walrus() {}\n").repository();
    for line in [
        "grep -rn walrus src; rm -rf src",
        "grep -rn walrus src && make",
        "make && grep -rn walrus src",
        "touch x && grep -rn walrus src | head -5",
        "touch x 2>/dev/null && grep -rn walrus src 2>/dev/null | head -5",
        "set -e; touch x && cd src && grep -rn walrus . 2>/dev/null | head -5",
        "grep -rn walrus src 2>/dev/null | head -5 && touch x",
    ] {
        for client in CLIENTS {
            let answer = ask_about_line(&sandbox, client, line);
            assert!(
                !answer.to_string().contains("allow"),
                "{client}: {line}: {answer}"
            );
            if matches!(client, "codex" | "cursor" | "copilot") {
                let expected = if client == "cursor" {
                    json!({})
                } else {
                    Value::Null
                };
                assert_eq!(answer, expected, "{client}: {line}");
            }
        }
    }
    for client in CLIENTS {
        let line = "cd src && grep -rn walrus .";
        let is_allowed = ask_about_line(&sandbox, client, line)
            .to_string()
            .contains("allow");
        assert_eq!(is_allowed, matches!(client, "codex" | "cursor"), "{client}");
    }
}

#[test]
fn a_line_that_a_rule_of_the_user_is_about_is_left_alone() {
    let sandbox = sandbox()
        .file("src/a.rs", "fn walrus() {}\n")
        .file("secret/a.rs", "fn walrus() {}\n")
        .file(
            ".claude/settings.json",
            "{\"permissions\": {\"deny\": [\"Read(./secret/**)\", \"Bash(rg:*)\"]}}",
        )
        .repository();
    assert_eq!(
        ask_about_line(&sandbox, "claude", "grep -rn walrus secret"),
        Value::Null
    );
    assert_eq!(ask_about_line(&sandbox, "claude", "rg walrus src"), Value::Null);
    assert_ne!(
        ask_about_line(&sandbox, "claude", "grep -rn walrus src"),
        Value::Null
    );
    // Without a `docent` in PATH the rewritten command would fail.
    let [shell, ..] = events(&sandbox, "claude", "grep -rn walrus src", "");
    let finished = run_with(
        &sandbox,
        "claude",
        shell.to_string().as_bytes(),
        &[("PATH", "/usr/bin:/bin")],
    );
    assert_eq!(finished.stdout, "");
}

/// An event before Claude Code reads a file.
fn read_event(sandbox: &Sandbox, session: &str, input: &Value) -> Value {
    json!({
        "session_id": session, "cwd": sandbox.root(), "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": input,
    })
}

fn with_large_files() -> Sandbox {
    let code = "fn walrus() {\n    dive();\n}\n".repeat(300);
    sandbox()
        .file("src/large.rs", &code)
        .file("src/small.rs", "fn seal() {}\n")
        .file("notes.md", &code)
        .file("data.json", format!("[\n{}1]", "1,\n".repeat(900)))
        .file("node_modules/x/large.js", "function walrus() {}\n".repeat(900))
        .file("src/plain.txt", &code)
}

#[test]
fn the_first_read_of_a_large_source_file_gets_its_head_and_its_outline() {
    let sandbox = with_large_files();
    let file = sandbox.root().join("src/large.rs");
    let on = [("DOCENT_HOOK_READ", "outline")];
    let ask = |session: &str, input: Value| -> Value {
        let event = read_event(&sandbox, session, &input).to_string();
        let finished = run_with(&sandbox, "claude", event.as_bytes(), &on);
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
        serde_json::from_str(finished.stdout.trim()).unwrap_or_default()
    };
    let whole = json!({ "file_path": file });
    let answer = ask("s", whole.clone());
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["updatedInput"], json!({ "file_path": file, "limit": 40 }));
    assert_eq!(output.get("permissionDecision"), None);
    let text = context(&answer);
    assert!(
        text.contains("src/large.rs, 900 lines\n") && text.contains("fn walrus()"),
        "{text}"
    );
    assert!(
        text.contains("once more gives the whole file") && text.len() < 4_500,
        "{text}"
    );

    // The same read again, ranges and other sessions.
    assert_eq!(ask("s", whole.clone()), Value::Null);
    assert_ne!(ask("t", whole.clone()), Value::Null);
    assert_eq!(ask("u", json!({ "file_path": file, "offset": 1 })), Value::Null);
    assert_eq!(
        ask("u", json!({ "file_path": file, "limit": 2_000 })),
        Value::Null
    );
    // Nothing is done unless the user has asked for it.
    let event = read_event(&sandbox, "v", &whole).to_string();
    assert_eq!(run(&sandbox, "claude", event.as_bytes()).stdout, "");

    let gain = sandbox.run(&["gain", "--json"]);
    let counts: Value = serde_json::from_str(&gain.stdout).unwrap();
    assert_eq!(counts["answers"][0]["program"], "Read");
    assert_eq!(counts["answers"][0]["calls"], 2);
}

#[test]
fn an_outline_is_unfolded_around_names_that_the_session_has_searched_for() {
    let mut code = String::from("import os\n");
    for class in 0..40 {
        code += &format!("class Animal{class}:\n");
        for method in 0..6 {
            code += &format!("    def act_{class}_{method}(self):\n        return {class}\n\n");
        }
    }
    let sandbox = sandbox().repository().file("zoo.py", &code);
    let on = [("DOCENT_HOOK_READ", "outline")];
    let read = |session: &str| {
        let event = read_event(
            &sandbox,
            session,
            &json!({ "file_path": sandbox.root().join("zoo.py") }),
        );
        let finished = run_with(&sandbox, "claude", event.to_string().as_bytes(), &on);
        let answer: Value = serde_json::from_str(finished.stdout.trim()).unwrap();
        context(&answer).to_owned()
    };
    let search = |session: &str, line: &str| {
        let event = json!({
            "session_id": session, "cwd": sandbox.root(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": line },
        });
        run_with(&sandbox, "claude", event.to_string().as_bytes(), &on);
    };
    search("s", "grep -n 'class Animal7' zoo.py | head");
    search("s", r"cd . && grep -rn 'act_30_2\|absent' .");
    let text = read("s");
    for shown in [
        "class Animal0",
        "def act_7_0",
        "def act_7_5",
        "class Animal30",
        "def act_30_2",
        "class Animal39",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    for folded in ["act_8_0", "act_30_1"] {
        assert!(!text.contains(folded), "{folded}: {text}");
    }
    assert!(text.contains("… 233 folded definitions"), "{text}");
    assert!(text.starts_with("Only lines 1-40 were read."), "{text}");
    // Another session has searched for nothing, and no name is written down.
    assert!(!read("t").contains("folded definitions"));
    let mut folders = vec![sandbox.home()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if let Ok(written) = std::fs::read_to_string(entry.path()) {
                assert!(!written.contains("act_30"), "{:?}", entry.path());
            }
        }
    }
}

#[test]
fn other_reads_are_not_touched() {
    let sandbox = with_large_files();
    std::fs::write(sandbox.outside().join("large.rs"), "fn walrus() {}\n".repeat(900)).unwrap();
    std::fs::create_dir_all(sandbox.root().join(".context")).unwrap();
    for path in [
        "src/small.rs",
        "notes.md",
        "data.json",
        "node_modules/x/large.js",
        "src/plain.txt",
        "src/absent.rs",
        "src",
        "../large.rs",
    ] {
        let event = read_event(&sandbox, "s", &json!({ "file_path": sandbox.root().join(path) }));
        let finished = run_with(
            &sandbox,
            "claude",
            event.to_string().as_bytes(),
            &[("DOCENT_HOOK_READ", "outline")],
        );
        assert_eq!((finished.stdout.as_str(), finished.code), ("", 0), "{path}");
    }
    // A project cannot turn the hook on, and cannot make it touch what the user did not want.
    sandbox.write(".context/config.toml", "[hook]\nread = \"outline\"\n");
    let event = read_event(
        &sandbox,
        "s",
        &json!({ "file_path": sandbox.root().join("src/large.rs") }),
    );
    assert_eq!(run(&sandbox, "claude", event.to_string().as_bytes()).stdout, "");
}

#[test]
fn a_read_that_cannot_be_remembered_is_not_touched() {
    let sandbox = with_large_files();
    let event = read_event(
        &sandbox,
        "s",
        &json!({ "file_path": sandbox.root().join("src/large.rs") }),
    );
    let file = sandbox.outside().join("a-file");
    std::fs::write(&file, "").unwrap();
    let finished = run_with(
        &sandbox,
        "claude",
        event.to_string().as_bytes(),
        &[
            ("DOCENT_HOOK_READ", "outline"),
            ("XDG_CACHE_HOME", file.to_str().unwrap()),
        ],
    );
    assert_eq!((finished.stdout.as_str(), finished.code), ("", 0));
}
