//! An entry put into TOML files of MCP clients, and taken out. The invariant is in
//! `docent_fuzz::client_config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| docent_fuzz::client_config::check_toml(input));
