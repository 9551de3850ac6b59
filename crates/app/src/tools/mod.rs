//! The tool table. [`all`] is the only list of tools: `tools/list`, the command line, the reference pages,
//! rate limits and metrics are made from it.
//!
//! A group of tools is a folder, a tool is a file in it. Tools know nothing of MCP, HTTP, limits or logs.
//!
//! Invariant: modules in here import what they use from where it is defined, and in one direction:
//! `dispatch`, the groups, `tool`, `call`, `failure`, `arguments`. A test looks for cycles.

pub(crate) mod arguments;
mod budget;
pub(crate) mod call;
pub(crate) mod consent;
pub(crate) mod context;
mod coverage;
pub(crate) mod dispatch;
pub(crate) mod docs;
pub(crate) mod failure;
pub(crate) mod file_compact;
pub(crate) mod file_parts;
pub(crate) mod file_text;
pub(crate) mod freshness;
mod git;
mod memory;
pub(crate) mod queue;
pub(crate) mod symbol_entry;
pub(crate) mod symbols;
pub(crate) mod tool;

use crate::settings::DefaultLimit;
use tool::Tool;

/// Every tool, in the order clients and people see them.
pub(crate) fn all() -> Vec<Tool> {
    vec![
        context::search::tool(),
        context::read_file::tool(),
        context::grep::tool(),
        memory::hello::tool(),
        memory::read_repo_file::tool(),
        memory::write_entry::tool(),
        git::log::tool(),
        git::blame::tool(),
        git::diff::tool(),
        docs::search::tool(),
        docs::get::tool(),
        coverage::overall::tool(),
        coverage::file::tool(),
        coverage::start::tool(),
        coverage::end::tool(),
        symbols::find_symbol::tool(),
        symbols::find_references::tool(),
    ]
}

/// The rate limits that the tools come with, in the same order.
pub(crate) fn default_limits(tools: &[Tool]) -> Vec<DefaultLimit> {
    tools
        .iter()
        .map(|tool| DefaultLimit {
            tool: tool.name,
            per_minute: tool.per_minute,
            per_minute_paid: tool.per_minute_paid,
        })
        .collect()
}
