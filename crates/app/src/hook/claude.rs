//! The hooks of Claude Code, and those of Codex, which have the same form.
//!
//! Claude Code applies its rules to the command after the hook, so that no decision is given: `docent sh` is
//! asked about, allowed or denied as the user's rules say. Codex takes another command only together with
//! `permissionDecision: "allow"`. So does Claude Code with the plugin, because a plugin cannot bring the rule
//! that lets `docent sh` pass as `grep` does.
//!
//! Invariant: `allow` is written only for Codex and for the plugin, and only for a line that only reads.

use serde_json::{Map, Value, json};

use super::event::{EventKind, HookAnswer, HookEvent, SearchFound, ShellCall, directory, text};

/// A result with more files, or that the client has cut, found too much.
const MAX_FILES: u64 = 99;

pub(super) fn read_event(input: &Value) -> Option<HookEvent> {
    let place = directory(input, "cwd")?;
    let tool = text(input, "tool_name").unwrap_or_default();
    let kind = match (text(input, "hook_event_name")?, tool) {
        ("PreToolUse", "Bash") => EventKind::Shell(ShellCall::read(input.get("tool_input")?, &place)?),
        ("PreToolUse", "Read") => EventKind::Read(input.get("tool_input")?.as_object()?.clone()),
        ("PostToolUse", "Grep" | "Glob") => EventKind::Search(found(input.get("tool_response")?)),
        ("SessionStart", _) => EventKind::SessionStart,
        _ => return None,
    };
    Some(HookEvent {
        kind,
        session: text(input, "session_id").unwrap_or_default().to_owned(),
        directory: place,
    })
}

/// How much Grep or Glob found. Counts are there in every mode of them.
fn found(response: &Value) -> SearchFound {
    if let Some(text) = response.as_str() {
        return SearchFound::in_text(text);
    }
    let number = |name: &str| response.get(name).and_then(Value::as_u64);
    let counts = ["numFiles", "numLines", "numMatches"].map(number);
    let is_cut = response.get("truncated") == Some(&Value::Bool(true)) || number("appliedLimit").is_some();
    if is_cut || number("numFiles") > Some(MAX_FILES) {
        return SearchFound::TooMuch;
    }
    match text(response, "content") {
        Some(content) if !content.is_empty() => SearchFound::in_text(content),
        _ if counts.iter().flatten().any(|count| *count > 0) => SearchFound::Some,
        _ if counts.iter().any(Option::is_some) => SearchFound::Nothing,
        _ => SearchFound::Some,
    }
}

pub(super) fn write_answer(event: &HookEvent, answer: &HookAnswer) -> Value {
    let mut output = Map::new();
    output.insert("hookEventName".to_owned(), event_name(event).into());
    match answer {
        HookAnswer::Rewrite { input, .. } => {
            output.insert("updatedInput".to_owned(), input.clone().into());
        }
        HookAnswer::ReadPart { input, context } => {
            output.insert("updatedInput".to_owned(), input.clone().into());
            output.insert("additionalContext".to_owned(), context.as_str().into());
        }
        HookAnswer::Context(context) => {
            output.insert("additionalContext".to_owned(), context.as_str().into());
        }
    }
    json!({ "hookSpecificOutput": output })
}

pub(super) fn write_codex_answer(event: &HookEvent, answer: &HookAnswer) -> Option<Value> {
    match answer {
        HookAnswer::ReadPart { .. } => None,
        _ => write_plugin_answer(event, answer),
    }
}

/// The answer of a hook in Claude Code's plugin.
pub(super) fn write_plugin_answer(event: &HookEvent, answer: &HookAnswer) -> Option<Value> {
    let HookAnswer::Rewrite { input, only_reads } = answer else {
        return Some(write_answer(event, answer));
    };
    let output = json!({
        "hookEventName": event_name(event),
        "permissionDecision": "allow",
        "updatedInput": input,
    });
    only_reads.then(|| json!({ "hookSpecificOutput": output }))
}

fn event_name(event: &HookEvent) -> &'static str {
    match event.kind {
        EventKind::Shell(_) | EventKind::Read(_) => "PreToolUse",
        EventKind::Search(_) => "PostToolUse",
        EventKind::SessionStart => "SessionStart",
    }
}
