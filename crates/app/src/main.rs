//! docent: a guide to a software project, for coding agents over MCP and for people on the command line.
//!
//! Parses, runs, exits: 0 done, 1 failed, 2 wrong usage.

mod cli;
mod http;
mod log;
mod mcp;
mod serve;
mod settings;
mod stdio;
mod tools;

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(code) => code,
        // Whoever read our output has seen enough.
        Err(error)
            if error
                .downcast_ref::<io::Error>()
                .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) =>
        {
            ExitCode::SUCCESS
        }
        Err(error) => {
            cli::print::complain(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}
