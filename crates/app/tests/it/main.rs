//! docent from the outside: the real binary, called as clients and people call it. One file per tool, and files
//! for what all of them share.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests set their own scene and fail loudly"
)]

mod attacks;
mod cli;
mod context_search;
mod coverage;
mod coverage_cli;
mod coverage_reports;
#[cfg(unix)]
mod coverage_snapshots;
mod damaged_logs;
mod discoveries;
mod docs_manifests;
mod doctor;
mod embedding_server;
mod get_doc;
#[cfg(unix)]
mod git_attacks;
mod git_blame;
#[cfg(unix)]
mod git_diff;
mod git_limits;
mod git_log;
mod git_states;
mod grep_codebase;
mod hello;
mod http;
mod index;
mod index_states;
mod linked;
mod pages;
mod parity;
mod protocol;
mod read_file;
mod read_file_deps;
mod read_repo_file;
mod resources;
mod search_docs;
mod setup;
mod tidy;
mod write_memory_entry;

use docent_testkit::{Answer, Era, Sandbox, StdioClient};
use serde_json::{Value, json};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_docent"))
}

/// The subjects of the commits that a `git_log` answer lists.
fn subjects(answer: &Answer) -> Vec<String> {
    let subject = |line: &str| Some(line.strip_prefix("**Message**: ")?.to_owned());
    answer.text.lines().filter_map(subject).collect()
}

/// The tools as a client sees them.
fn tool_list(sandbox: &Sandbox) -> Vec<Value> {
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
    list.as_array().expect("a list").clone()
}
