//! Invisible characters in a caller's own words: no answer and no error repeats them as they are.

use std::borrow::Cow;

use docent_core::text::reveal::reveal_part;
use docent_testkit::{Era, Sandbox};
use serde_json::{Map, Value, json};

use crate::{list_tools, sandbox};

/// A bidirectional, a zero-width and a tag character, a byte order mark, and control characters.
const HIDDEN: [char; 7] = [
    '\u{202e}',
    '\u{200b}',
    '\u{e0041}',
    '\u{feff}',
    '\u{1b}',
    '\u{7f}',
    '\r',
];

#[test]
fn no_tool_repeats_an_invisible_character_of_its_arguments() {
    let sandbox = project();
    let mut words = 0;
    for tool in list_tools(&sandbox) {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        for (property, rules) in &properties {
            let is_list = rules["type"] == "array";
            if !is_list && rules["type"] != "string" {
                continue;
            }
            // Sessions have limits of calls, so each argument gets one of its own.
            let client = sandbox.start_client(Era::Handshake);
            for hidden in HIDDEN {
                let word = format!("alpha{hidden}beta.txt");
                let mut arguments = required_arguments(schema);
                let value = if is_list { json!([word]) } else { json!(word) };
                arguments.insert(property.clone(), value);
                let answer = client.call(name, Value::Object(arguments));
                let what = format!("{name}, {property}, {hidden:?}");
                check(&answer.text, &what);
                words += usize::from(answer.text.contains("alpha"));
            }
        }
        let client = sandbox.start_client(Era::Handshake);
        for hidden in HIDDEN {
            let mut arguments = required_arguments(schema);
            arguments.insert(format!("no{hidden}such"), json!("x"));
            let answer = client.call(name, Value::Object(arguments));
            check(&answer.text, &format!("{name}, an unknown argument, {hidden:?}"));
        }
    }
    assert!(words > 60, "only {words} answers repeat the argument at all");
}

#[test]
fn no_request_of_the_protocol_is_answered_with_its_invisible_characters() {
    let sandbox = project();
    let client = sandbox.start_client(Era::Handshake);
    for hidden in HIDDEN {
        let word = format!("alpha{hidden}beta");
        check(&client.call(&word, json!({})).text, "an unknown tool");
        for (method, params) in [
            ("prompts/get", json!({ "name": word })),
            ("resources/read", json!({ "uri": format!("docent://{word}") })),
            ("resources/subscribe", json!({ "uri": word })),
            (word.as_str(), json!({})),
        ] {
            let answer = client.request(method, params);
            check_value(&answer["error"], &format!("{method}, {hidden:?}"));
            check_value(&answer["result"], &format!("{method}, {hidden:?}"));
        }
    }
}

/// A project with files of the names that the calls ask for, if a file can have such a name.
fn project() -> Sandbox {
    let mut sandbox = sandbox()
        .repository()
        .file("a.txt", "alpha\n")
        .file("lcov.info", "SF:a.txt\nDA:1,1\nend_of_record\n")
        .file("docs/page.md", "# Alpha\n\nbeta\n");
    for hidden in HIDDEN.iter().filter(|hidden| !hidden.is_control()) {
        sandbox = sandbox.file(&format!("alpha{hidden}beta.txt"), "alpha\n");
    }
    sandbox
}

/// A value for each argument that a tool demands.
fn required_arguments(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten();
    required
        .map(|name| {
            let name = name.as_str().unwrap();
            let rules = &schema["properties"][name];
            let value = match (name, rules["type"].as_str()) {
                ("lcovPath", _) => json!("lcov.info"),
                ("ref1" | "ref2", _) => json!("HEAD"),
                (_, Some("array")) => json!(["a.txt"]),
                (_, Some("integer")) => json!(1),
                (_, Some("boolean")) => json!(true),
                _ => rules["enum"].get(0).cloned().unwrap_or_else(|| json!("a.txt")),
            };
            (name.to_owned(), value)
        })
        .collect()
}

/// Fails if a text has an invisible character, as it is or in its JSON.
#[track_caller]
fn check(text: &str, what: &str) {
    assert!(matches!(reveal_part(text), Cow::Borrowed(_)), "{what}: {text:?}");
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        check_value(&value, what);
    }
}

#[track_caller]
fn check_value(value: &Value, what: &str) {
    match value {
        Value::String(text) => assert!(matches!(reveal_part(text), Cow::Borrowed(_)), "{what}: {text:?}"),
        Value::Array(items) => items.iter().for_each(|item| check_value(item, what)),
        Value::Object(fields) => fields.iter().for_each(|(name, item)| {
            check_value(&json!(name), what);
            check_value(item, what);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
