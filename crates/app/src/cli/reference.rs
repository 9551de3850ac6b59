//! The reference pages in `docs/` and the manual pages, printed from the tables that the program runs on.
//!
//! Invariant: the pages in `docs/` are exactly this output; a test fails when they are stale.

use anyhow::bail;
use clap::Command;
use serde_json::Value;

use crate::settings;
use crate::tools;
use crate::tools::arguments::is_required;
use crate::tools::tool::Tool;

/// The pages, each in `docs/PAGE.md`.
pub(super) const PAGES: [&str; 3] = ["tools", "cli", "config"];

pub(super) fn page(which: &str, tools: &[Tool], command: Command) -> String {
    let body = match which {
        "tools" => tools_page(tools),
        "cli" => cli_page(command),
        _ => config_page(tools),
    };
    format!("<!-- Made by `docent reference {which}`; do not edit. -->\n\n{body}")
}

fn tools_page(tools: &[Tool]) -> String {
    let mut page =
        String::from("# Tools\n\nWhat each tool promises in full is in [behaviour.md](behaviour.md).\n");
    for tool in tools {
        let limit = match tool.per_minute {
            0 => "any number of calls".to_owned(),
            n => format!("{n} calls per minute and session"),
        };
        page += &format!(
            "\n## {}\n\n{}\n\nGroup {}; `docent {}`; {limit}.\n\n",
            tool.name,
            tool.about,
            tool.group.name(),
            tool.command.name
        );
        page += "| argument | type | default | about |\n|---|---|---|---|\n";
        for (name, property) in tool.input["properties"].as_object().into_iter().flatten() {
            let default = if is_required(&tool.input, name) {
                "required".to_owned()
            } else {
                code(&property["default"])
            };
            let about = property["description"].as_str().unwrap_or_default();
            page += &format!("| `{name}` | {} | {default} | {about} |\n", kind(property));
        }
        if let Some(output) = &tool.output {
            let names: Vec<String> = output["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            page += &format!("\nAnswers with {}.\n", names.join(", "));
        }
    }
    page
}

/// The property's type with its bounds.
fn kind(property: &Value) -> String {
    if let Some(choices) = property["enum"].as_array() {
        return choices.iter().map(code).collect::<Vec<_>>().join(" or ");
    }
    let name = property["type"].as_str().unwrap_or_default();
    let bounds = |least: &str, most: &str| match (property[least].as_u64(), property[most].as_u64()) {
        (Some(least), Some(most)) => Some(format!(", {least} to {most}")),
        (Some(least), None) => Some(format!(", {least} or more")),
        (None, Some(most)) => Some(format!(", at most {most}")),
        (None, None) => None,
    };
    let range =
        bounds("minimum", "maximum").or_else(|| bounds("minLength", "maxLength").map(|b| b + " characters"));
    let pattern = property["pattern"]
        .as_str()
        .map(|pattern| format!(", `{pattern}`"));
    format!(
        "{name}{}{}",
        range.unwrap_or_default(),
        pattern.unwrap_or_default()
    )
}

fn code(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

fn cli_page(command: Command) -> String {
    let mut command = command.term_width(100).max_term_width(100);
    command.build();
    let mut page = format!("# Command line\n\n```text\n{}```\n", plain(&mut command));
    for sub in command.get_subcommands_mut() {
        sections(sub, "docent", &mut page);
    }
    page += "\nExit codes: 0 done, 1 failed, 2 wrong usage.\n";
    page
}

/// A command and the commands inside it.
fn sections(command: &mut Command, outer: &str, page: &mut String) {
    if command.get_name() == "help" {
        return;
    }
    let name = format!("{outer} {}", command.get_name());
    *page += &format!("\n## {name}\n\n```text\n{}```\n", plain(command));
    for sub in command.get_subcommands_mut() {
        sections(sub, &name, page);
    }
}

fn plain(command: &mut Command) -> String {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

fn config_page(tools: &[Tool]) -> String {
    let mut page = String::from(
        "# Settings\n\nA value is taken from the first of: `--set KEY=VALUE`, the variable, the project's `.context/config.toml`,\n\
         the user's `docent/config.toml` (in `$XDG_CONFIG_HOME`, `%APPDATA%` or `~/.config`), the default. `docent config`\n\
         shows what is in force and why. Lists in variables are separated by commas.\n\n\
         | setting | variable | default | from a project | about |\n|---|---|---|---|---|\n",
    );
    for key in settings::keys(&tools::default_limits(tools)) {
        let from_project = match (key.from_project, key.adds_up) {
            (true, true) => "adds to the user's",
            (true, false) => "yes",
            (false, _) => "no",
        };
        page += &format!(
            "| `{}` | `{}` | `{}` | {from_project} | {} |\n",
            key.name,
            key.variable(),
            key.default,
            key.about
        );
    }
    page
}

/// The manual page of docent, or of the command that `words` name.
pub(super) fn manual<'a>(
    mut command: Command,
    words: impl Iterator<Item = &'a String>,
) -> anyhow::Result<String> {
    command.build();
    let mut title = String::from("docent");
    for word in words {
        let Some(inner) = command.find_subcommand(word) else {
            bail!("there is no command {word}")
        };
        title = format!("{title}-{word}");
        command = inner.clone();
    }
    let command = command.name(title.clone()).display_name(title);
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}
