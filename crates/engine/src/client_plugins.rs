//! Plugins that Claude Code has: which language servers they bring, and whether docent is among them.
//!
//! Left out: plugins given as flags, and language servers of editors.
//!
//! Invariant: nothing is run and nothing is written. A file that cannot be read or parsed says nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use docent_core::client_config::read_json;
use serde_json::Value as Json;

use crate::clients::Machine;
use crate::files::read_own;

/// The extensions, with their dots, that language servers of other plugins answer for. Claude Code has one
/// server for an extension: the first that names it.
pub fn claude_server_extensions(machine: &Machine<'_>) -> BTreeSet<String> {
    let Some(folder) = machine.claude_directory() else {
        return BTreeSet::new();
    };
    let installed = read(&folder.join("plugins/installed_plugins.json"));
    let marketplaces = read(&folder.join("plugins/known_marketplaces.json"));
    let mut found = BTreeSet::new();
    for id in enabled_plugins(machine) {
        let Some((name, marketplace)) = id.rsplit_once('@').filter(|(name, _)| *name != "docent") else {
            continue;
        };
        for install in installed["plugins"][&id].as_array().into_iter().flatten() {
            if let Some(path) = install["installPath"].as_str() {
                add_plugin(Path::new(path), &mut found);
            }
        }
        // A marketplace may describe the servers of its plugins by itself.
        if let Some(place) = marketplaces[marketplace]["installLocation"].as_str() {
            let catalogue = read(&Path::new(place).join(".claude-plugin/marketplace.json"));
            let entries = catalogue["plugins"].as_array().into_iter().flatten();
            for entry in entries.filter(|entry| entry["name"] == name) {
                add_servers(&entry["lspServers"], Path::new(place), &mut found);
            }
        }
    }
    for plugin in plugin_folders(&folder.join("skills")) {
        add_plugin(&plugin, &mut found);
    }
    found
}

/// The plugins of others in the user's folder of skills.
#[expect(clippy::disallowed_methods, reason = "a folder of another program's settings")]
fn plugin_folders(skills: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(skills).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name() != "docent")
        .map(|entry| entry.path())
        .filter(|folder| folder.join(".claude-plugin/plugin.json").is_file())
        .collect()
}

/// docent's plugin from a marketplace, as `docent@MARKETPLACE`, if it is enabled.
pub fn claude_marketplace_plugin(machine: &Machine<'_>) -> Option<String> {
    enabled_plugins(machine)
        .into_iter()
        .find(|id| id.starts_with("docent@"))
}

/// Whether the user's own settings of Claude Code start docent's server for this project. What a project's
/// `.mcp.json` names does not count, because the user may not have allowed it.
pub fn has_claude_server(machine: &Machine<'_>) -> bool {
    let Some(file) = machine.claude_file() else {
        return false;
    };
    let settings = read(&file);
    let project = &settings["projects"][machine.root.to_string_lossy().as_ref()];
    [&settings, project]
        .iter()
        .any(|place| place["mcpServers"]["docent"].is_object())
}

/// The plugins that the settings turn on. Those of the project win over those of the user.
fn enabled_plugins(machine: &Machine<'_>) -> Vec<String> {
    let mut files: Vec<PathBuf> = Vec::new();
    files.extend(
        machine
            .claude_directory()
            .map(|folder| folder.join("settings.json")),
    );
    files.push(machine.root.join(".claude/settings.json"));
    files.push(machine.root.join(".claude/settings.local.json"));
    let mut enabled: Vec<String> = Vec::new();
    for file in files {
        let settings = read(&file);
        for (id, is_on) in settings["enabledPlugins"].as_object().into_iter().flatten() {
            enabled.retain(|other| other != id);
            if *is_on == Json::Bool(true) {
                enabled.push(id.clone());
            }
        }
    }
    enabled
}

/// Adds the extensions of a plugin's servers.
fn add_plugin(folder: &Path, found: &mut BTreeSet<String>) {
    add_servers(&read(&folder.join(".lsp.json")), folder, found);
    let manifest = read(&folder.join(".claude-plugin/plugin.json"));
    add_servers(&manifest["lspServers"], folder, found);
}

/// Adds the extensions of servers, which are given as a table, as the path of a file, or as a list of these.
fn add_servers(servers: &Json, folder: &Path, found: &mut BTreeSet<String>) {
    match servers {
        Json::String(path) => add_table(&read(&folder.join(path)), found),
        Json::Array(list) => {
            for servers in list {
                match servers {
                    Json::String(path) => add_table(&read(&folder.join(path)), found),
                    table => add_table(table, found),
                }
            }
        }
        table => add_table(table, found),
    }
}

fn add_table(servers: &Json, found: &mut BTreeSet<String>) {
    for server in servers.as_object().into_iter().flat_map(|table| table.values()) {
        let extensions = server["extensionToLanguage"].as_object();
        found.extend(
            extensions
                .into_iter()
                .flat_map(|map| map.keys())
                .map(|extension| extension.to_ascii_lowercase()),
        );
    }
}

/// The JSON in a file, `Null` without one.
fn read(path: &Path) -> Json {
    let text = read_own(path).ok().flatten().unwrap_or_default();
    read_json(&text).unwrap_or_default()
}
