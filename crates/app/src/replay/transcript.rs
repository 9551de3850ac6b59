//! Transcripts of past sessions: the tool calls of Claude Code (`~/.claude/projects`) and Codex
//! (`~/.codex/sessions`), one JSON value per line.
//!
//! Left out: everything that is no tool call, and calls without a result.
//!
//! Invariant: a line that cannot be read is skipped. No text of a transcript outlives its [`PastCall`].

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde_json::Value;

/// A tool call with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastCall {
    pub(crate) tool: PastTool,
    /// The directory that the session worked in.
    pub(crate) directory: PathBuf,
    /// What the model got.
    pub(crate) result: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PastTool {
    Shell {
        line: String,
    },
    Read {
        path: PathBuf,
        is_whole: bool,
    },
    /// A search of the client's own.
    Search,
    Edit {
        path: PathBuf,
    },
    Other,
}

/// Reads the calls of one transcript after the other.
#[derive(Debug, Default)]
pub(crate) struct TranscriptReader {
    /// Ids of calls that have ended. A session that is resumed repeats the earlier ones in a new file.
    ended: HashSet<String>,
}

impl TranscriptReader {
    /// The calls of a transcript, in the order in which they ended.
    pub(crate) fn read(&mut self, text: &str) -> Vec<PastCall> {
        let mut begun: HashMap<String, PastTool> = HashMap::new();
        let mut directory = PathBuf::new();
        let mut calls = Vec::new();
        for line in text.lines() {
            let Ok(entry) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let payload = entry.get("payload").unwrap_or(&Value::Null);
            if let Some(place) = text_of(&entry, "cwd").or_else(|| text_of(payload, "cwd")) {
                directory = place.into();
            }
            begun.extend(claude_calls(&entry));
            begun.extend(codex_call(payload));
            for (id, result) in claude_results(&entry).into_iter().chain(codex_result(payload)) {
                if let Some(tool) = begun.remove(&id)
                    && self.ended.insert(id)
                {
                    calls.push(PastCall {
                        tool,
                        directory: directory.clone(),
                        result,
                    });
                }
            }
        }
        calls
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// The parts of a message of Claude Code with this type.
fn claude_parts<'a>(entry: &'a Value, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    let content = entry.get("message").and_then(|message| message.get("content"));
    let parts = content.and_then(Value::as_array).into_iter().flatten();
    parts.filter(move |part| text_of(part, "type") == Some(kind))
}

fn claude_calls(entry: &Value) -> Vec<(String, PastTool)> {
    let calls = claude_parts(entry, "tool_use").filter_map(|part| {
        let input = part.get("input")?;
        let path = || text_of(input, "file_path").map(PathBuf::from);
        let tool = match text_of(part, "name")? {
            "Bash" => PastTool::Shell {
                line: text_of(input, "command")?.to_owned(),
            },
            "Read" => PastTool::Read {
                path: path()?,
                is_whole: ["offset", "limit", "pages"]
                    .iter()
                    .all(|name| input.get(name).is_none()),
            },
            "Grep" | "Glob" | "LS" => PastTool::Search,
            "Edit" | "Write" | "MultiEdit" => PastTool::Edit { path: path()? },
            _ => PastTool::Other,
        };
        Some((text_of(part, "id")?.to_owned(), tool))
    });
    calls.collect()
}

fn claude_results(entry: &Value) -> Vec<(String, String)> {
    let results = claude_parts(entry, "tool_result").filter_map(|part| {
        let id = text_of(part, "tool_use_id")?.to_owned();
        Some((id, flat_text(part.get("content")?)))
    });
    results.collect()
}

/// A text, or the texts of a list of parts.
fn flat_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| text_of(part, "text"));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn codex_call(payload: &Value) -> Option<(String, PastTool)> {
    let id = text_of(payload, "call_id")?.to_owned();
    let tool = match text_of(payload, "type")? {
        "function_call" => {
            let arguments: Value = serde_json::from_str(text_of(payload, "arguments")?).ok()?;
            match codex_line(&arguments) {
                Some(line) => PastTool::Shell { line },
                None => PastTool::Other,
            }
        }
        "local_shell_call" => PastTool::Shell {
            line: codex_line(payload.get("action")?)?,
        },
        "custom_tool_call" => match line_in_script(text_of(payload, "input")?) {
            Some(line) => PastTool::Shell { line },
            None => PastTool::Other,
        },
        _ => return None,
    };
    Some((id, tool))
}

/// The command line of a call: `cmd`, or `command` as a text or as words of which a shell gets the last.
fn codex_line(arguments: &Value) -> Option<String> {
    if let Some(line) = text_of(arguments, "cmd").or_else(|| text_of(arguments, "command")) {
        return Some(line.to_owned());
    }
    let words: Vec<&str> = arguments
        .get("command")?
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    match words.as_slice() {
        [shell, flag, line] if shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c') => {
            Some((*line).to_owned())
        }
        words => Some(words.join(" ")),
    }
}

/// The command line in a script that calls one shell command: `tools.exec_command({cmd: "…"})`.
fn line_in_script(script: &str) -> Option<String> {
    let (_, arguments) = script.split_once("exec_command(")?;
    let (_, value) = arguments.split_once("cmd")?;
    let value = value
        .trim_start_matches(['"', '\''])
        .trim_start()
        .strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(value.trim_start()).into_iter::<Value>();
    Some(values.next()?.ok()?.as_str()?.to_owned())
}

fn codex_result(payload: &Value) -> Option<(String, String)> {
    if !text_of(payload, "type")?.ends_with("_call_output") {
        return None;
    }
    let id = text_of(payload, "call_id")?.to_owned();
    let output = flat_text(payload.get("output")?);
    // Older versions put the output into a JSON value of its own.
    let inner: Option<Value> = serde_json::from_str(&output).ok();
    let inner = inner.as_ref().and_then(|inner| text_of(inner, "output"));
    Some((id, inner.map_or(output.clone(), str::to_owned)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(lines: &[Value]) -> Vec<PastCall> {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        TranscriptReader::default().read(&format!("no json\n{}\n", lines.join("\n")))
    }

    fn lines_of(calls: &[PastCall]) -> Vec<(&str, &str)> {
        let line = |call: &'_ PastCall| match &call.tool {
            PastTool::Shell { line } => Some(line.clone()),
            _ => None,
        };
        calls
            .iter()
            .map(|call| {
                (
                    line(call).unwrap_or_default().leak() as &str,
                    call.result.as_str(),
                )
            })
            .collect()
    }

    #[test]
    fn calls_of_claude_code_are_paired_with_their_results() {
        let call = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
        let calls = read(&[
            json!({ "cwd": "/p", "message": { "content": [
                { "type": "text", "text": "hello" },
                call("1", "Bash", json!({ "command": "grep a b" })),
                call("2", "Read", json!({ "file_path": "/p/x.rs" })),
                call("3", "Read", json!({ "file_path": "/p/x.rs", "limit": 5 })),
                call("4", "Edit", json!({ "file_path": "/p/x.rs" })),
                call("5", "Bash", json!({ "command": 7 })),
            ] } }),
            json!({ "message": { "content": [
                { "type": "tool_result", "tool_use_id": "2", "content": [{ "type": "text", "text": "whole" }] },
                { "type": "tool_result", "tool_use_id": "1", "content": "found" },
                { "type": "tool_result", "tool_use_id": "3", "content": "part" },
                { "type": "tool_result", "tool_use_id": "4", "content": "edited" },
                { "type": "tool_result", "tool_use_id": "1", "content": "again" },
                { "type": "tool_result", "tool_use_id": "9", "content": "no call" },
            ] } }),
        ]);
        let tools: Vec<PastTool> = calls.iter().map(|call| call.tool.clone()).collect();
        let path = PathBuf::from("/p/x.rs");
        assert_eq!(
            tools,
            [
                PastTool::Read {
                    path: path.clone(),
                    is_whole: true
                },
                PastTool::Shell {
                    line: "grep a b".to_owned()
                },
                PastTool::Read {
                    path: path.clone(),
                    is_whole: false
                },
                PastTool::Edit { path },
            ]
        );
        assert_eq!(
            (calls[0].result.as_str(), calls[1].result.as_str()),
            ("whole", "found")
        );
        assert!(
            calls
                .iter()
                .all(|call| call.directory == std::path::Path::new("/p"))
        );
    }

    #[test]
    fn commands_of_codex_are_found_in_each_of_its_forms() {
        let call = |kind: &str, id: &str, name: &str, value: Value| json!({ "payload": { "type": kind, "call_id": id, name: value } });
        let arguments = |value: Value| Value::from(value.to_string());
        let output = |id: &str, text: &str| call("function_call_output", id, "output", text.into());
        let calls = read(&[
            json!({ "type": "session_meta", "payload": { "cwd": "/q" } }),
            call(
                "function_call",
                "1",
                "arguments",
                arguments(json!({ "command": ["bash", "-lc", "rg a"] })),
            ),
            call(
                "function_call",
                "2",
                "arguments",
                arguments(json!({ "cmd": "rg b" })),
            ),
            call(
                "custom_tool_call",
                "3",
                "input",
                "text(await tools.exec_command({cmd: \"rg \\\"c\\\"\", x: 1}))".into(),
            ),
            call(
                "custom_tool_call",
                "4",
                "input",
                "text(await tools.exec_command({\"cmd\":\"rg d\"}))".into(),
            ),
            call(
                "local_shell_call",
                "5",
                "action",
                json!({ "command": ["ls", "-l"] }),
            ),
            call("function_call", "6", "arguments", "no json".into()),
            output("1", "{\"output\":\"one\",\"metadata\":{}}"),
            output("2", "two"),
            call(
                "custom_tool_call_output",
                "3",
                "output",
                json!([{ "type": "input_text", "text": "three" }]),
            ),
            output("4", "four"),
            output("5", "five"),
        ]);
        assert_eq!(
            lines_of(&calls),
            [
                ("rg a", "one"),
                ("rg b", "two"),
                ("rg \"c\"", "three"),
                ("rg d", "four"),
                ("ls -l", "five")
            ]
        );
        assert_eq!(calls[0].directory, PathBuf::from("/q"));
    }

    #[test]
    fn a_resumed_session_does_not_count_twice() {
        let lines = [
            json!({ "message": { "content": [{ "type": "tool_use", "id": "1", "name": "Grep", "input": {} }] } }),
            json!({ "message": { "content": [{ "type": "tool_result", "tool_use_id": "1", "content": "x" }] } }),
        ];
        let text = lines.map(|line| line.to_string()).join("\n");
        let mut reader = TranscriptReader::default();
        assert_eq!((reader.read(&text).len(), reader.read(&text).len()), (1, 0));
    }
}
