//! What docent does on the machine: it opens files, walks and searches them, and keeps the time.
//!
//! Plain blocking Rust. Nothing here knows about MCP, HTTP, the terminal or where settings come from.

pub mod accesses;
pub mod clients;
pub mod clock;
pub mod coverage;
pub mod deadline;
pub mod dependencies;
pub mod discoveries;
pub mod docs;
pub mod embed;
pub mod files;
pub mod git;
pub mod grep;
pub mod index;
pub mod links;
pub mod memory;
pub mod metrics;
pub mod overview;
pub mod search;
pub mod sessions;
mod sqlite;
mod stamp;
pub mod store;
pub mod walk;
