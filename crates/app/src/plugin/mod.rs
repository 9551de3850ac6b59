//! The plugin: what an agent's client takes beyond the server, made from the tables of the program.
//!
//! One folder serves Claude Code, Codex and Copilot CLI, each by a manifest of its own; `plugin/` in the
//! repository is exactly `repository_files`. `docent setup --plugin` writes the same texts for the clients
//! of this machine, so that nobody needs the repository for it.
//!
//! Left out: where a client keeps its files, and how they are written and deleted (`engine::plugin_files`).
//!
//! Invariant: names of tools, extensions and commands come from their tables; a test compares `plugin/` with
//! them.

mod commands;

use std::collections::BTreeSet;

use docent_core::chunk::has_grammar;
use docent_core::language::Language;
use docent_engine::clients::Client;
use docent_engine::hook_files::{HookPart, plugin_hooks};
use docent_engine::plugin_files::{FolderForm, OWN_FILE_MARK, PluginFile, PluginPart};
use serde_json::{Map, Value, json};

use crate::tools::tool::{Effect, Tool};
use commands::COMMANDS;

const ABOUT: &str = "Knows your project: code search, symbols, history, decisions and documentation, as tools, shell \
                     hooks, a language server for every language, a skill and an explorer";
const SKILL: &str = include_str!("skill.md");
const EXPLORER: &str = include_str!("explorer.md");
const EXPLORER_ABOUT: &str = "Answers questions about this project with docent's tools: where something is done, who \
                              uses it, why it is so, which tests cover it. Give it the whole question.";

/// The server's name in Claude Code's names of tools, if a plugin brings it.
const PLUGIN_SERVER: &str = "mcp__plugin_docent_docent";

/// The same for an entry in its settings.
const PLAIN_SERVER: &str = "mcp__docent";

/// What goes into a plugin.
pub(crate) struct PluginContents<'a> {
    pub(crate) parts: &'a [PluginPart],
    pub(crate) hooks: &'a [HookPart],
    /// How docent is started.
    pub(crate) program: &'a str,
    /// Extensions, with their dots, that another language server answers for.
    pub(crate) taken: &'a BTreeSet<String>,
}

/// The hooks that a plugin has unless the user chooses others. The Read hook changes what a read gives, so
/// that it must be named.
pub(crate) const DEFAULT_HOOKS: [HookPart; 3] = [HookPart::Shell, HookPart::Session, HookPart::Search];

/// The files of the plugin in the repository, with the catalogue that lists it.
#[cfg(test)]
fn repository_files(tools: &[Tool]) -> Vec<PluginFile> {
    let contents = PluginContents {
        parts: &PluginPart::ALL,
        hooks: &DEFAULT_HOOKS,
        program: "docent",
        taken: &BTreeSet::new(),
    };
    let mut files = vec![
        json_file(
            ".claude-plugin/marketplace.json",
            &json!({
                "name": "docent",
                "owner": { "name": "docent" },
                "metadata": { "description": "docent, a guide to your project for coding agents" },
                "plugins": [{ "name": "docent", "source": "./plugin", "description": ABOUT }],
            }),
        ),
        text_file("plugin/README.md", README.to_owned()),
    ];
    let below = |mut file: PluginFile| {
        file.path = format!("plugin/{}", file.path);
        file
    };
    files.extend(claude_files(tools, &contents).into_iter().map(below));
    files.extend(codex_and_copilot_files(&contents).into_iter().map(below));
    files
}

#[cfg(test)]
const README: &str = "\
# The docent plugin

For Claude Code, Codex and Copilot CLI: docent's tools, hooks for the shell, a language server, a skill, an explorer
subagent and slash commands. It starts the program `docent`, which has to be in `PATH`.

    claude plugin marketplace add PATH_OR_REPOSITORY && claude plugin install docent@docent
    codex plugin marketplace add PATH_OR_REPOSITORY && codex plugin add docent@docent
    copilot plugin marketplace add PATH_OR_REPOSITORY && copilot plugin install docent@docent

Without the repository, `docent setup --plugin` writes the same for the clients on this machine. What each part does,
and what each client gets: `docs/plugin.md`.

Every file here is made from the tables of the program; `DOCENT_UPDATE_DOCS=1 cargo test reference_pages` writes them.
";

/// The files of Claude Code's plugin.
pub(crate) fn claude_files(tools: &[Tool], contents: &PluginContents<'_>) -> Vec<PluginFile> {
    let server = json!({
        "command": contents.program,
        "args": ["serve", "--compact"],
        "alwaysLoad": true,
    });
    let mut files = vec![
        json_file(".claude-plugin/plugin.json", &manifest()),
        json_file(".mcp.json", &json!({ "mcpServers": { "docent": server } })),
    ];
    if !contents.hooks.is_empty() {
        let hooks = plugin_hooks(Client::ClaudeCode, contents.hooks, contents.program);
        files.push(json_file("hooks/hooks.json", &hooks));
    }
    let languages = extensions(contents.taken);
    if contents.parts.contains(&PluginPart::LanguageServer) && !languages.is_empty() {
        let server = json!({
            "command": contents.program,
            "args": ["lsp"],
            "extensionToLanguage": languages,
        });
        files.push(json_file(".lsp.json", &json!({ "docent": server })));
    }
    if contents.parts.contains(&PluginPart::Skill) {
        files.push(text_file("skills/docent/SKILL.md", SKILL.to_owned()));
    }
    if contents.parts.contains(&PluginPart::Explorer) {
        files.push(text_file(
            "agents/explorer.md",
            explorer(Client::ClaudeCode, FolderForm::Plugin, tools),
        ));
    }
    if contents.parts.contains(&PluginPart::Commands) {
        let command = |command: &commands::SlashCommand| {
            text_file(&format!("commands/{}.md", command.name), command.to_markdown())
        };
        files.extend(COMMANDS.iter().map(command));
    }
    files
}

/// The manifests by which Codex and Copilot CLI read the same folder, and what they have in another form.
#[cfg(test)]
fn codex_and_copilot_files(contents: &PluginContents<'_>) -> Vec<PluginFile> {
    let with = |more: Value| {
        let mut manifest = manifest();
        if let (Value::Object(manifest), Value::Object(more)) = (&mut manifest, more) {
            manifest.extend(more);
        }
        manifest
    };
    let server = json!({
        "command": contents.program,
        "args": ["lsp"],
        "fileExtensions": extensions(contents.taken),
    });
    vec![
        json_file(
            ".codex-plugin/plugin.json",
            &with(
                json!({ "skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/codex.json" }),
            ),
        ),
        json_file(
            ".github/plugin/plugin.json",
            &with(json!({
                "skills": "./skills/",
                "agents": "./agents/",
                "mcpServers": "./.mcp.json",
                "hooks": "./hooks/copilot.json",
                "lspServers": "./hooks/copilot-lsp.json",
            })),
        ),
        json_file(
            "hooks/codex.json",
            &plugin_hooks(Client::Codex, contents.hooks, contents.program),
        ),
        json_file(
            "hooks/copilot.json",
            &plugin_hooks(Client::Copilot, contents.hooks, contents.program),
        ),
        json_file(
            "hooks/copilot-lsp.json",
            &json!({ "lspServers": { "docent": server } }),
        ),
    ]
}

/// The files for a client without plugins that docent can write, each below the client's own folder.
pub(crate) fn loose_files(client: Client, tools: &[Tool], parts: &[PluginPart]) -> Vec<PluginFile> {
    let mut files = Vec::new();
    let marked = |text: String| format!("{text}\n<!-- {OWN_FILE_MARK} -->\n");
    for part in client.plugin_parts() {
        if !parts.contains(part) {
            continue;
        }
        match part {
            PluginPart::Skill => {
                files.push(text_file("skills/docent/SKILL.md", marked(SKILL.to_owned())));
            }
            PluginPart::Explorer if client == Client::Codex => {
                let text = format!(
                    "# {OWN_FILE_MARK}\nname = \"docent-explorer\"\ndescription = \"{EXPLORER_ABOUT}\"\nsandbox_mode = \
                     \"read-only\"\ndeveloper_instructions = '''\n{EXPLORER}'''\n"
                );
                files.push(text_file("agents/docent-explorer.toml", text));
            }
            PluginPart::Explorer => {
                let name = match client {
                    Client::Copilot => "agents/docent-explorer.agent.md",
                    _ => "agents/docent-explorer.md",
                };
                files.push(text_file(
                    name,
                    marked(explorer(client, FolderForm::Shared, tools)),
                ));
            }
            PluginPart::Commands => files.extend(COMMANDS.iter().map(|command| {
                let name = command.name;
                match client {
                    Client::Gemini => text_file(
                        &format!("commands/docent/{name}.toml"),
                        format!("# {OWN_FILE_MARK}\n{}", command.to_toml()),
                    ),
                    Client::ClaudeCode => text_file(
                        &format!("commands/docent/{name}.md"),
                        marked(command.to_markdown()),
                    ),
                    _ => text_file(
                        &format!("commands/docent-{name}.md"),
                        marked(command.to_markdown()),
                    ),
                }
            })),
            PluginPart::LanguageServer => {}
        }
    }
    files
}

fn manifest() -> Value {
    json!({
        "name": "docent",
        "version": env!("CARGO_PKG_VERSION"),
        "description": ABOUT,
        "author": { "name": "docent" },
        "license": env!("CARGO_PKG_LICENSE"),
    })
}

/// The explorer's profile in the form of a client.
fn explorer(client: Client, form: FolderForm, tools: &[Tool]) -> String {
    // Reading takes no approval; what the user has to approve is asked in the main conversation.
    let names: Vec<&str> = tools
        .iter()
        .filter(|tool| tool.effect == Effect::Nothing && tool.name != "hello")
        .map(|tool| tool.name)
        .collect();
    let all =
        |form: &dyn Fn(&str) -> String| -> Vec<String> { names.iter().map(|name| form(name)).collect() };
    let fields = match client {
        Client::ClaudeCode => {
            // Every request of the main conversation has this list, so that it is kept short.
            let mut list = match form {
                FolderForm::Plugin => all(&|name| format!("{PLUGIN_SERVER}__{name}")),
                FolderForm::Shared => all(&|name| format!("{PLAIN_SERVER}__{name}")),
            };
            if form == FolderForm::Plugin {
                list.push(PLAIN_SERVER.to_owned());
            }
            list.extend(["LSP", "Read", "Grep", "Glob", "Bash"].map(str::to_owned));
            format!("tools: {}\n", list.join(", "))
        }
        Client::Gemini => {
            let mut list = all(&|name| format!("mcp_docent_{name}"));
            list.extend(["read_file", "grep_search", "glob"].map(str::to_owned));
            format!("tools:\n  - {}\n", list.join("\n  - "))
        }
        Client::Copilot => {
            let mut list = all(&|name| format!("docent/{name}"));
            list.extend(["read", "search"].map(str::to_owned));
            format!("tools: {}\n", json!(list))
        }
        // Tools of servers are there unless a profile takes them out.
        Client::Opencode => "mode: subagent\ntools:\n  edit: false\n  write: false\n".to_owned(),
        Client::Cursor => "readonly: true\n".to_owned(),
        _ => String::new(),
    };
    let name = match form {
        FolderForm::Plugin => "explorer",
        FolderForm::Shared => "docent-explorer",
    };
    format!("---\nname: {name}\ndescription: \"{EXPLORER_ABOUT}\"\n{fields}---\n\n{EXPLORER}")
}

/// The extensions of the languages that are parsed, each with its language as editors call it.
fn extensions(taken: &BTreeSet<String>) -> Map<String, Value> {
    let parsed = Language::EXTENSIONS
        .iter()
        .filter(|(_, language)| has_grammar(*language));
    parsed
        .map(|(extension, language)| (format!(".{extension}"), Value::from(language.name())))
        .filter(|(extension, _)| !taken.contains(extension))
        .collect()
}

/// How many languages have extensions that no other server answers for.
pub(crate) fn count_languages(taken: &BTreeSet<String>) -> usize {
    let names: BTreeSet<String> = extensions(taken).values().map(Value::to_string).collect();
    names.len()
}

fn json_file(path: &str, value: &Value) -> PluginFile {
    text_file(path, format!("{value:#}\n"))
}

fn text_file(path: &str, text: String) -> PluginFile {
    PluginFile {
        path: path.to_owned(),
        text,
    }
}

#[cfg(test)]
mod tests;
