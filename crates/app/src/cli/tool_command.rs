//! A tool as a command, or as one inside another (`coverage file`): flags from its schema, and arguments back
//! from the flags.
//!
//! Invariant: a new argument of a tool needs no change here; the schema is the only list of flags.

use std::mem;
use std::path::Path;

use anyhow::bail;
use clap::{Arg, ArgAction, ArgMatches, Command};
use docent_core::path::{RepoPath, normalise_path};
use serde_json::Value;

use super::flags::flag;
use crate::tools::arguments::{Object, is_required};
use crate::tools::tool::Tool;

/// The flag for arguments that depend on the project.
const FILTER: &str = "filter";

/// Shorter names of arguments.
const ALIASES: [(&str, &str); 1] = [("includeDeps", "deps")];

/// The commands of all tools.
pub(super) fn commands(tools: &[Tool]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for tool in tools {
        let inner = command(tool);
        match tool.command.name.split_once(' ') {
            None => commands.push(inner),
            Some((outer, _)) => match commands.iter_mut().find(|command| command.get_name() == outer) {
                Some(outer) => *outer = mem::take(outer).subcommand(inner),
                None => commands.push(Command::new(outer).subcommand(inner)),
            },
        }
    }
    commands
}

/// The tool whose command was given, with the matches of that command.
pub(super) fn find<'a>(
    tools: &'a [Tool],
    name: &str,
    given: &'a ArgMatches,
) -> anyhow::Result<(&'a Tool, &'a ArgMatches)> {
    const MADE: &str = "the commands are made from the tools";
    let tool = |command: &str| tools.iter().find(|tool| tool.command.name == command);
    let Some((inner, inner_given)) = given.subcommand() else {
        return Ok((tool(name).expect(MADE), given));
    };
    let inner_tool = tool(&format!("{name} {inner}")).expect(MADE);
    let Some(outer) = tool(name) else {
        return Ok((inner_tool, inner_given));
    };
    // clap cannot forbid the flags of the outer command in front of an inner one.
    let stray = parse_arguments(outer, given)
        .keys()
        .next()
        .map(|name| kebab(name));
    if let Some(stray) = stray.or_else(|| given.get_flag("json").then(|| "json".into())) {
        bail!("--{stray} belongs behind {inner}");
    }
    Ok((inner_tool, inner_given))
}

/// The command of `tool`, under the last word of its name.
fn command(tool: &Tool) -> Command {
    let words = tool.command.name;
    let mut command = Command::new(words.rsplit_once(' ').map_or(words, |(_, last)| last))
        .about(summary(tool.about))
        .long_about(tool.about);
    for (name, property) in properties(tool) {
        let mut arg = Arg::new(name.clone()).help(help(property));
        arg = match tool
            .command
            .positional
            .iter()
            .position(|positional| positional == name)
        {
            Some(at) => arg
                .index(at + 1)
                .required(is_required(&tool.input, name))
                .value_name(kebab(name).to_uppercase()),
            None => arg.long(kebab(name)).value_name(value_name(property)),
        };
        if let Some((_, short)) = ALIASES.iter().find(|(long, _)| long == name) {
            arg = arg.visible_alias(short);
        }
        arg = match property["type"].as_str() {
            Some("boolean") => arg.action(ArgAction::SetTrue),
            Some("array") => arg.action(ArgAction::Append).num_args(1..),
            _ => arg.allow_hyphen_values(true),
        };
        command = command.arg(arg);
    }
    if tool.command.filters {
        command = command.arg(
            Arg::new(FILTER)
                .long(FILTER)
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .help("Only results with this label; may be given for several labels"),
        );
    }
    if let Some(argument) = &tool.command.default_argument {
        command = command.after_help(argument.about);
    }
    command.arg(flag("json", "Print the exact answer clients get"))
}

/// The arguments as a client would send them. A text where a number belongs is passed on as it is, so that
/// the error is the tool's own.
pub(super) fn parse_arguments(tool: &Tool, given: &ArgMatches) -> Object {
    let mut arguments = Object::new();
    for (name, property) in properties(tool) {
        let value = match property["type"].as_str() {
            Some("boolean") => given.get_flag(name).then_some(Value::Bool(true)),
            Some("array") => given
                .get_many::<String>(name)
                .map(|items| items.map(String::as_str).collect()),
            _ => given
                .get_one::<String>(name)
                .map(|text| match text.parse::<i64>() {
                    Ok(number) if property["type"] == "integer" => number.into(),
                    _ => Value::String(text.clone()),
                }),
        };
        if let Some(value) = value {
            arguments.insert(name.clone(), value);
        }
    }
    for filter in filters(tool, given) {
        if let Some((key, value)) = filter.split_once('=') {
            arguments.insert(key.to_owned(), value.into());
        }
    }
    arguments
}

/// The values of `--filter`, if the tool takes it.
fn filters<'a>(tool: &Tool, given: &'a ArgMatches) -> impl Iterator<Item = &'a String> {
    let filters = tool.command.filters.then(|| given.get_many::<String>(FILTER));
    filters.flatten().into_iter().flatten()
}

/// Refuses malformed and repeated filters.
pub(super) fn check_filters(tool: &Tool, given: &ArgMatches) -> anyhow::Result<()> {
    let mut keys: Vec<&str> = Vec::new();
    for filter in filters(tool, given) {
        let Some((key, _)) = filter.split_once('=') else {
            bail!("--filter takes KEY=VALUE, not {filter}");
        };
        if properties(tool).any(|(name, _)| name == key) {
            bail!("{key} is no label; use --{key}");
        }
        if keys.contains(&key) {
            bail!("--filter {key} was given twice; a page has one value of it");
        }
        keys.push(key);
    }
    Ok(())
}

/// Arguments that name a file or directory of the project.
const PATH_ARGUMENTS: [&str; 4] = ["path", "filePath", "filePaths", "lcovPath"];

/// Rewrites paths relative to `directory` as paths relative to the root, if such a file exists. Others are
/// left alone, because they may be relative to the root already.
pub(super) fn rebase_paths(arguments: &mut Object, root: &Path, directory: &str) {
    let rebase = |value: &mut Value| {
        let Value::String(text) = value else { return };
        // A definition is named by its file and line.
        let is_number = |line: &str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) if is_number(line) && !root.join(directory).join(&*text).exists() => {
                (file, format!(":{line}"))
            }
            _ => (text.as_str(), String::new()),
        };
        let path = normalise_path(&format!("{directory}/{file}"));
        let is_inside = !Path::new(file).is_absolute() && RepoPath::parse(&path).is_ok();
        if is_inside && root.join(&path).exists() {
            *text = path + &line;
        }
    };
    for name in PATH_ARGUMENTS {
        match arguments.get_mut(name) {
            Some(Value::Array(items)) => items.iter_mut().for_each(rebase),
            Some(one) => rebase(one),
            None => {}
        }
    }
}

fn properties(tool: &Tool) -> impl Iterator<Item = (&String, &Value)> {
    tool.input
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The first sentence of a description.
fn summary(about: &str) -> &str {
    about
        .split_once(". ")
        .map_or(about, |(first, _)| first)
        .trim_end_matches('.')
}

/// The property's description with its choices and its default.
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

/// `filePattern` as a flag: `file-pattern`.
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
