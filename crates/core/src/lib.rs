//! The computations of docent: text in, values out.
//!
//! Invariant: nothing in this crate touches files, the network, the environment or the clock, so every
//! function here can be tested with a literal and fuzzed with random bytes.

pub mod access;
pub mod agent_instructions;
pub mod chunk;
pub mod client_config;
pub mod compare;
pub mod coverage;
pub mod date;
pub mod discovery;
pub mod docs;
pub mod fold;
pub mod glob;
pub mod imports;
pub mod language;
pub mod memory;
pub mod module;
pub mod path;
pub mod programs;
pub mod purpose;
pub mod rank;
pub mod report;
pub mod role;
pub mod shell;
pub mod symbols;
pub mod text;
mod yaml;
