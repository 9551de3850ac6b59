//! The hooks of Gemini CLI.
//!
//! Its policies are applied to the command after the hook. The input of a hook replaces that of the tool,
//! so that all of its fields are given.

use serde_json::{Value, json};

use super::event::{EventKind, HookAnswer, HookEvent, SearchFound, ShellCall, directory, text};

pub(super) fn read_event(input: &Value) -> Option<HookEvent> {
    let place = directory(input, "cwd")?;
    let tool = text(input, "tool_name").unwrap_or_default();
    let kind = match (text(input, "hook_event_name")?, tool) {
        ("BeforeTool", "run_shell_command") => {
            let call = ShellCall::read(input.get("tool_input")?, &place)?;
            EventKind::Shell(call.in_directory_of("directory").in_directory_of("dir_path"))
        }
        ("AfterTool", "grep_search" | "search_file_content" | "glob") => {
            let content = input.get("tool_response")?.get("llmContent")?;
            EventKind::Search(SearchFound::in_text(content.as_str()?))
        }
        ("SessionStart", _) => EventKind::SessionStart,
        _ => return None,
    };
    Some(HookEvent {
        kind,
        session: text(input, "session_id").unwrap_or_default().to_owned(),
        directory: place,
    })
}

pub(super) fn write_answer(event: &HookEvent, answer: &HookAnswer) -> Option<Value> {
    let name = match event.kind {
        EventKind::Shell(_) | EventKind::Read(_) => "BeforeTool",
        EventKind::Search(_) => "AfterTool",
        EventKind::SessionStart => "SessionStart",
    };
    let output = match answer {
        HookAnswer::Rewrite { input, .. } => json!({ "hookEventName": name, "tool_input": input }),
        HookAnswer::Context(context) => json!({ "hookEventName": name, "additionalContext": context }),
        HookAnswer::ReadPart { .. } => return None,
    };
    Some(json!({ "hookSpecificOutput": output }))
}
