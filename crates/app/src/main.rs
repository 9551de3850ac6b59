//! docent: a guide to a software project, for coding agents over MCP and for people on the command line.
//!
//! Parses, runs, exits: 0 done, 1 failed, 2 wrong usage.

mod cli;
mod log;
mod markdown;
mod mcp;
mod overview;
mod project;
mod session;
mod settings;
mod terminal;
mod tools;

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let error = match cli::run() {
        Ok(code) => return code,
        Err(error) => error,
    };
    let code = match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        // Whoever read our output has seen enough.
        Some(io::ErrorKind::BrokenPipe) => return ExitCode::SUCCESS,
        Some(_) => 1,
        None => 2,
    };
    terminal::complain(&format!("{error:#}"));
    ExitCode::from(code)
}
