//! The events that docent's plugin of opencode sends. The plugin is in `engine::hook_files`.
//!
//! opencode applies its permissions to the command after the plugin, so that no decision is given.

use serde_json::{Value, json};

use super::event::{EventKind, HookAnswer, HookEvent, SearchFound, ShellCall, directory, text};

pub(super) fn read_event(input: &Value) -> Option<HookEvent> {
    let place = directory(input, "directory")?;
    let kind = match (text(input, "event")?, text(input, "tool").unwrap_or_default()) {
        ("before", "bash") => {
            let call = ShellCall::read(input.get("args")?, &place)?;
            EventKind::Shell(call.in_directory_of("workdir"))
        }
        ("after", "grep" | "glob") => EventKind::Search(SearchFound::in_text(text(input, "output")?)),
        ("start", _) => EventKind::SessionStart,
        _ => return None,
    };
    Some(HookEvent {
        kind,
        session: text(input, "session").unwrap_or_default().to_owned(),
        directory: place,
    })
}

pub(super) fn write_answer(answer: &HookAnswer) -> Option<Value> {
    match answer {
        HookAnswer::Rewrite { input, .. } => Some(json!({ "args": input })),
        HookAnswer::Context(context) => Some(json!({ "context": context })),
        HookAnswer::ReadPart { .. } => None,
    }
}
