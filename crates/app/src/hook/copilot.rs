//! The hooks of Copilot CLI.
//!
//! Its events have no name; their fields tell them apart. Commands are not rewritten: Copilot applies its
//! rules to the command after the hook, and its rules are flags that a hook cannot see.

use serde_json::{Value, json};

use super::event::{EventKind, HookAnswer, HookEvent, SearchFound, directory, text};

pub(super) fn read_event(input: &Value) -> Option<HookEvent> {
    let result = input
        .get("toolResult")
        .and_then(|result| text(result, "textResultForLlm"));
    let kind = match (text(input, "toolName"), result) {
        (Some("grep" | "rg" | "glob"), Some(result)) => EventKind::Search(SearchFound::in_text(result)),
        (None, None) if text(input, "source").is_some() => EventKind::SessionStart,
        _ => return None,
    };
    Some(HookEvent {
        kind,
        session: text(input, "sessionId").unwrap_or_default().to_owned(),
        directory: directory(input, "cwd")?,
    })
}

pub(super) fn write_answer(answer: &HookAnswer) -> Option<Value> {
    match answer {
        HookAnswer::Context(context) => Some(json!({ "additionalContext": context })),
        HookAnswer::Rewrite { .. } | HookAnswer::ReadPart { .. } => None,
    }
}
