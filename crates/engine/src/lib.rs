//! The engine: everything in docent that touches the machine. Files, git, the index, embedders, memory, time.
//!
//! Plain blocking Rust. Protocols, the terminal and the loading of settings are in the app.
//!
//! Invariant: long loops take a [`deadline::Deadline`] and check it.

pub mod accesses;
pub mod client_plugins;
pub mod client_rules;
pub mod clients;
pub mod clock;
pub mod commands;
pub mod compare;
pub mod coverage;
pub mod deadline;
pub mod dependencies;
pub mod docs;
pub mod embed;
pub mod files;
pub mod gain;
pub mod git;
pub mod grep;
pub mod hook_files;
pub mod hook_reads;
pub mod hook_searches;
pub mod index;
pub mod links;
#[cfg(unix)]
pub mod listing;
pub mod memory;
pub mod metrics;
pub mod overview;
pub mod plugin_files;
pub mod search;
pub mod sessions;
mod sqlite;
mod stamp;
pub mod store;
pub mod symbols;
pub mod trust;
pub mod walk;
