//! A tool as a command: flags from its schema, arguments back from the flags.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;

use crate::tools::arguments::required;
use crate::tools::{Object, Tool};

/// The command of `tool`.
pub(super) fn command(tool: &Tool) -> Command {
    let mut command = Command::new(tool.mirror.command)
        .about(summary(tool.about))
        .long_about(tool.about);
    for (name, property) in properties(tool) {
        let mut arg = Arg::new(name.clone()).help(help(property));
        arg = match tool
            .mirror
            .positional
            .iter()
            .position(|positional| positional == name)
        {
            Some(at) => arg
                .index(at + 1)
                .required(required(&tool.input, name))
                .value_name(name.to_uppercase()),
            None => arg.long(kebab(name)).value_name(value_name(property)),
        };
        arg = if property["type"] == "boolean" {
            arg.action(ArgAction::SetTrue)
        } else {
            arg.allow_hyphen_values(true)
        };
        command = command.arg(arg);
    }
    command.arg(
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("Print the exact answer clients get"),
    )
}

/// The arguments a person gave, as a client would send them. What is not a number is passed on as it is, so
/// that the complaint is the tool's own.
pub(super) fn arguments(tool: &Tool, given: &ArgMatches) -> Object {
    let mut arguments = Object::new();
    for (name, property) in properties(tool) {
        let value = if property["type"] == "boolean" {
            given.get_flag(name).then_some(Value::Bool(true))
        } else {
            given
                .get_one::<String>(name)
                .map(|text| match text.parse::<i64>() {
                    Ok(number) if property["type"] == "integer" => number.into(),
                    _ => Value::String(text.clone()),
                })
        };
        if let Some(value) = value {
            arguments.insert(name.clone(), value);
        }
    }
    arguments
}

fn properties(tool: &Tool) -> impl Iterator<Item = (&String, &Value)> {
    tool.input
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The first sentence.
fn summary(about: &str) -> &str {
    about
        .split_once(". ")
        .map_or(about, |(first, _)| first)
        .trim_end_matches('.')
}

/// The property's description with what it accepts and what happens without it.
fn help(property: &Value) -> String {
    let mut help = property["description"].as_str().unwrap_or_default().to_owned();
    if let Some(choices) = property["enum"].as_array() {
        let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        help = format!("{help} [{}]", names.join(", "));
    }
    match &property["default"] {
        Value::Null | Value::Bool(false) => help,
        Value::String(text) => format!("{help} [default: {text}]"),
        other => format!("{help} [default: {other}]"),
    }
}

fn value_name(property: &Value) -> &'static str {
    match property["type"].as_str() {
        Some("integer") => "N",
        _ => "TEXT",
    }
}

/// `filePattern` as people type it: `file-pattern`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            kebab.push('-');
        }
        kebab.extend(c.to_lowercase());
    }
    kebab
}
