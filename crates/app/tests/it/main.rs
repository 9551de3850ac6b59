//! The real binary, called as clients and people call it.
//!
//! One file per tool, and files for the protocol, the index and the command line, which all tools share.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests prepare their own files, and a failure to do so fails the test"
)]

mod adoption;
mod attacks;
mod cli;
mod compact_docs;
mod compact_git;
mod compact_grep;
mod compact_read;
mod compact_search;
mod compare;
mod context_search;
mod coverage;
mod coverage_cli;
mod coverage_reports;
#[cfg(unix)]
mod coverage_snapshots;
mod damaged_logs;
mod discoveries;
mod docs_labels;
mod docs_manifests;
mod docs_markup;
mod doctor;
mod embedding_server;
mod file_patterns;
mod find_references;
mod find_symbol;
mod first_answers;
mod first_sight;
mod gain;
mod get_doc;
#[cfg(unix)]
mod git_attacks;
mod git_blame;
#[cfg(unix)]
mod git_diff;
#[cfg(unix)]
mod git_facts;
mod git_limits;
mod git_log;
#[cfg(unix)]
mod git_object_stores;
#[cfg(unix)]
mod git_races;
mod git_references;
mod git_states;
#[cfg(unix)]
mod git_submodules;
mod grep_codebase;
mod hello;
mod hidden_characters;
mod hook;
mod hook_setup;
mod http;
mod http_load;
mod index;
mod index_damage;
mod index_states;
mod linked;
mod lsp;
mod lsp_answers;
mod lsp_definition;
mod lsp_documents;
mod lsp_protocol;
mod outline;
mod output_schemas;
mod pages;
mod parity;
mod plugin_setup;
mod project_settings;
mod protocol;
mod read_file;
mod read_file_deps;
mod read_repo_file;
mod replaced_root;
mod reports;
mod resources;
mod search_docs;
mod search_uses;
mod setup;
mod shell_definitions;
mod shell_find;
mod shell_git;
mod shell_programs;
mod shell_search;
#[cfg(unix)]
mod shell_security;
#[cfg(unix)]
mod small_definitions;
mod tidy;
mod tidy_modules;
mod tool_list;
mod trust;
mod write_memory_entry;

use docent_testkit::{Answer, Era, Sandbox};
use serde_json::{Value, json};

/// An empty project for the binary under test.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_docent"))
}

/// The subjects of the commits that a `git_log` answer lists.
fn subjects(answer: &Answer) -> Vec<String> {
    let subject = |line: &str| Some(line.strip_prefix("**Message**: ")?.to_owned());
    answer.text.lines().filter_map(subject).collect()
}

/// The answer of `tools/list`.
fn list_tools(sandbox: &Sandbox) -> Vec<Value> {
    let client = sandbox.start_client(Era::Handshake);
    let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
    list.as_array().expect("a list").clone()
}

/// One tool as `tools/list` describes it.
fn find_tool(sandbox: &Sandbox, name: &str) -> Value {
    let tools = list_tools(sandbox);
    let tool = tools.into_iter().find(|tool| tool["name"] == name);
    tool.expect("a tool of this name")
}
