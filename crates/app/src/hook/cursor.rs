//! The hooks of Cursor.
//!
//! Another command needs `permission: "allow"`, which is written only for a line that only reads.

use serde_json::{Value, json};

use super::event::{EventKind, HookAnswer, HookEvent, SearchFound, ShellCall, directory, text};

pub(super) fn read_event(input: &Value) -> Option<HookEvent> {
    let roots = input.get("workspace_roots").and_then(Value::as_array);
    let first = roots
        .and_then(|roots| roots.first())
        .map(|root| json!({ "cwd": root }));
    let place = directory(input, "cwd").or_else(|| directory(&first?, "cwd"))?;
    let tool = text(input, "tool_name").unwrap_or_default();
    let kind = match (text(input, "hook_event_name")?, tool) {
        ("preToolUse", "Shell") => {
            let call = ShellCall::read(input.get("tool_input")?, &place)?;
            EventKind::Shell(call.in_directory_of("cwd").in_directory_of("working_directory"))
        }
        ("postToolUse", "Grep") => EventKind::Search(SearchFound::in_text(text(input, "tool_output")?)),
        ("sessionStart", _) => EventKind::SessionStart,
        _ => return None,
    };
    Some(HookEvent {
        kind,
        session: text(input, "conversation_id").unwrap_or_default().to_owned(),
        directory: place,
    })
}

pub(super) fn write_answer(answer: &HookAnswer) -> Option<Value> {
    match answer {
        HookAnswer::Rewrite { input, only_reads } => {
            only_reads.then(|| json!({ "permission": "allow", "updated_input": input }))
        }
        HookAnswer::Context(context) => Some(json!({ "additional_context": context })),
        HookAnswer::ReadPart { .. } => None,
    }
}
