//! `docent hook CLIENT`: answers to the events of coding agents.
//!
//! A client calls it before and after a tool, and at the start of a session, with JSON on standard input.
//! Each client has a file here that reads its events and writes its answers; the decisions are common to
//! all.
//!
//! Left out: refusing a call, and granting a permission that the user has not given. `allow` is written
//! only where no rewriting works without it, which is a client that takes none, or a plugin, which has no
//! rules; and only for a line that does nothing but `docent sh` and `cd`.
//!
//! Invariant: any doubt and any error is no answer, and the client goes ahead as if docent were not there.
//! Nothing is written but counts, and as hashes which files a session has read whole and which names it has
//! searched for.

mod claude;
mod copilot;
mod cursor;
mod event;
mod gemini;
mod opencode;
mod read;
mod search;
mod session;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use docent_engine::client_rules::is_restricted;
use docent_engine::clients::{Client, Machine, SettingsScope};
use docent_engine::hook_files::HookPart;
use serde_json::Value;

use crate::gain::GainCounter;
use crate::settings::{Flags, Settings, find_project};
use crate::shell::rewrite::{Rewrite, program_name, program_path, rewrite_line};
use event::{EventKind, HookAnswer, HookEvent, ShellCall};
pub(crate) use read::{FileHead, describe_head, is_outlined};

/// Looks up a variable of the process's environment.
pub(crate) type Lookup = fn(&str) -> Option<OsString>;

/// The clients with hooks, by their names on the command line.
pub(crate) const CLIENTS: [(&str, Client); 6] = [
    ("claude", Client::ClaudeCode),
    ("codex", Client::Codex),
    ("gemini", Client::Gemini),
    ("copilot", Client::Copilot),
    ("cursor", Client::Cursor),
    ("opencode", Client::Opencode),
];

/// The client with this name.
pub(crate) fn client_named(name: &str) -> Option<Client> {
    let mut clients = CLIENTS.into_iter();
    clients
        .find(|(client, _)| *client == name)
        .map(|(_, client)| client)
}

/// Where a hook is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookOrigin {
    /// In a file of the user or of the project, by `docent setup`.
    Settings,
    /// In a plugin of the client.
    Plugin,
}

/// The answer to an event. `None` for no answer, which changes nothing.
pub(crate) fn answer(client: Client, origin: HookOrigin, input: &[u8], variable: Lookup) -> Option<String> {
    // Deep nesting is an error of the parser.
    let input: Value = serde_json::from_slice(input).ok()?;
    let event = read_event(client, &input)?;
    if event.directory.is_dir() {
        std::env::set_current_dir(&event.directory).ok()?;
    }
    if origin == HookOrigin::Plugin && is_answered_by_settings(client, &event, variable) {
        return None;
    }
    let answer = decide(client, &event, variable)?;
    let written = match (client, origin) {
        (Client::ClaudeCode, HookOrigin::Plugin) => {
            // Other clients read this plugin, too, and their rules are not those that were asked.
            let is_claude = variable("CLAUDECODE").is_some();
            is_claude.then(|| claude::write_plugin_answer(&event, &answer))?
        }
        _ => write_answer(client, &event, &answer),
    };
    written.map(|value| value.to_string())
}

/// Whether a file of the user or of the project has docent's hooks, which answer then.
fn is_answered_by_settings(client: Client, event: &HookEvent, variable: Lookup) -> bool {
    let root = find_project(&variable).unwrap_or_else(|| event.directory.clone());
    let machine = Machine {
        variable: &variable,
        search: &[],
        root: &root,
        program: Path::new("docent"),
    };
    [SettingsScope::User, SettingsScope::Project]
        .into_iter()
        .filter_map(|scope| client.hook_file(scope, &machine))
        .any(|file| file.has_hooks())
}

fn read_event(client: Client, input: &Value) -> Option<HookEvent> {
    match client {
        Client::ClaudeCode | Client::Codex => claude::read_event(input),
        Client::Gemini => gemini::read_event(input),
        Client::Copilot => copilot::read_event(input),
        Client::Cursor => cursor::read_event(input),
        Client::Opencode => opencode::read_event(input),
        _ => None,
    }
}

fn write_answer(client: Client, event: &HookEvent, answer: &HookAnswer) -> Option<Value> {
    match client {
        Client::ClaudeCode => Some(claude::write_answer(event, answer)),
        Client::Codex => claude::write_codex_answer(event, answer),
        Client::Gemini => gemini::write_answer(event, answer),
        Client::Copilot => copilot::write_answer(answer),
        Client::Cursor => cursor::write_answer(answer),
        Client::Opencode => opencode::write_answer(answer),
        _ => None,
    }
}

fn decide(client: Client, event: &HookEvent, variable: Lookup) -> Option<HookAnswer> {
    match &event.kind {
        EventKind::Shell(call) => rewrite(client, event, call, variable),
        EventKind::Read(input) => read::answer(event, input, variable),
        EventKind::Search(found) => search::remark(*found).map(HookAnswer::Context),
        EventKind::SessionStart => {
            let rewrites = client.hook_parts().contains(&HookPart::Shell);
            session::describe(rewrites, variable).map(HookAnswer::Context)
        }
    }
}

/// Rewrites a shell command, unless a rule of the user may be about it or the shell has no `docent`.
fn rewrite(client: Client, event: &HookEvent, call: &ShellCall, variable: Lookup) -> Option<HookAnswer> {
    if client == Client::Copilot {
        return None;
    }
    let counter = GainCounter::new(&variable);
    let program = match client {
        // Its login shell may have another PATH.
        Client::Codex => program_path(),
        // Rules of the user are about the name.
        _ => program_name(&call.directory, &variable).map(str::to_owned),
    };
    let named = program.as_deref().unwrap_or("docent");
    let rewrite = rewrite_line(&call.line, &call.directory, named, &variable);
    read::remember_searches(event, &call.line, variable);
    for (program, reason) in &rewrite.left_alone {
        counter.record_left_alone(program, reason);
    }
    let Rewrite {
        line: Some(line),
        only_reads,
        ..
    } = rewrite
    else {
        return None;
    };
    let search = search_directories(variable);
    let root = find_project(&variable).unwrap_or_else(|| event.directory.clone());
    let machine = Machine {
        variable: &variable,
        search: &search,
        root: &root,
        program: Path::new("docent"),
    };
    if program.is_none() {
        counter.record_left_alone("other", "docent is not in PATH");
        return None;
    }
    if is_restricted(client, &machine, &call.line, &call.directory) {
        counter.record_left_alone("other", "a rule of the client may be about it");
        return None;
    }
    Some(HookAnswer::Rewrite {
        input: call.with_line(&line),
        only_reads,
    })
}

/// The directories of `PATH`.
fn search_directories(variable: Lookup) -> Vec<PathBuf> {
    variable("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default()
}

/// The settings of the project around the working directory. Limits of tools are not among them.
fn settings(variable: Lookup) -> Option<Settings> {
    Settings::resolve(&Flags::default(), &variable, &[]).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REWRITERS: [(Client, &str); 5] = [
        (Client::ClaudeCode, "PreToolUse"),
        (Client::Codex, "PreToolUse"),
        (Client::Gemini, "BeforeTool"),
        (Client::Cursor, "preToolUse"),
        (Client::Opencode, "before"),
    ];

    /// The answer of a client to a rewritten line.
    fn answer_rewritten(client: Client, event: &str, only_reads: bool) -> Option<Value> {
        let (tool, input) = match client {
            Client::Gemini => ("run_shell_command", "tool_input"),
            Client::Cursor => ("Shell", "tool_input"),
            Client::Opencode => ("bash", "args"),
            _ => ("Bash", "tool_input"),
        };
        let event = json!({
            "hook_event_name": event, "event": event, "tool_name": tool, "tool": tool,
            "cwd": "/", "directory": "/",
            input: { "command": "grep a b", "timeout": 5, "more": [1] },
        });
        let event = read_event(client, &event).unwrap();
        let EventKind::Shell(call) = &event.kind else {
            panic!("{event:?}");
        };
        assert_eq!(call.line, "grep a b");
        let answer = HookAnswer::Rewrite {
            input: call.with_line("docent sh grep a b"),
            only_reads,
        };
        write_answer(client, &event, &answer)
    }

    #[test]
    fn a_rewritten_line_keeps_all_other_fields() {
        let input = json!({ "command": "docent sh grep a b", "timeout": 5, "more": [1] });
        for (client, event) in REWRITERS {
            let answer = answer_rewritten(client, event, true).unwrap();
            let output = answer.get("hookSpecificOutput").unwrap_or(&answer);
            let names = ["updatedInput", "tool_input", "updated_input", "args"];
            let given = names.iter().find_map(|name| output.get(name));
            assert_eq!(given, Some(&input), "{client:?}: {answer}");
        }
    }

    #[test]
    fn a_decision_is_given_only_where_it_must_be_and_only_for_lines_that_read() {
        for (client, event) in REWRITERS {
            let needs_decision = matches!(client, Client::Codex | Client::Cursor);
            let answer = answer_rewritten(client, event, true).unwrap().to_string();
            assert_eq!(answer.contains("allow"), needs_decision, "{client:?}: {answer}");
            let answer = answer_rewritten(client, event, false);
            assert_eq!(answer.is_none(), needs_decision, "{client:?}: {answer:?}");
            assert!(
                !answer.unwrap_or_default().to_string().contains("allow"),
                "{client:?}"
            );
        }
    }

    #[test]
    fn every_client_with_hooks_has_a_name() {
        for client in Client::ALL {
            let is_named = CLIENTS.into_iter().any(|(_, named)| named == client);
            assert_eq!(is_named, !client.hook_parts().is_empty(), "{client:?}");
        }
        assert_eq!(client_named("opencode"), Some(Client::Opencode));
        assert_eq!(client_named("zed"), None);
    }
}
