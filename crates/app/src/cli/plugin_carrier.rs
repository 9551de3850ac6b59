//! Which plugin carries docent's server and hooks in Claude Code, if any does.
//!
//! Left out: other clients. Their plugins are not written by docent.
//!
//! Invariant: where a plugin carries the server, `docent setup` writes no entry and no hooks beside it.

use docent_engine::client_plugins::claude_marketplace_plugin;
use docent_engine::clients::{Client, SettingsFile, SettingsScope};

use super::setup_steps::SetupPlace;

/// How docent's plugin carries the server of Claude Code.
pub(super) enum PluginCarrier {
    /// By this name, from a marketplace.
    Marketplace(String),
    /// In the user's folder, written by docent.
    Own,
}

/// The plugin that carries docent's server for this client, if there is one or `--plugin` wants it.
pub(super) fn find_carrier(place: &SetupPlace<'_>, file: &SettingsFile) -> Option<PluginCarrier> {
    if file.client != Client::ClaudeCode || file.scope != SettingsScope::User {
        return None;
    }
    if let Some(id) = claude_marketplace_plugin(place.machine) {
        return Some(PluginCarrier::Marketplace(id));
    }
    let folder = file.client.plugin_folder(file.scope, place.machine)?;
    (place.given.contains_id("plugin") || folder.has_own_files(&[])).then_some(PluginCarrier::Own)
}
