//! docent: a guide to a software project, for coding agents over MCP and for people on the command line.
//!
//! Parses, runs, exits: 0 done, 1 failed, 2 wrong usage.
//!
//! Invariant: modules depend on each other in one direction, from the top of this list to its end: `cli`,
//! `mcp`, `lsp`, `replay`, `hook`, `gain`, `overview`, `plugin`, `tools`, `shell`, `compact`, `project`,
//! `session`, `log`, `settings`, `terminal`, `markdown`. A test looks for cycles.

mod cli;
mod compact;
mod gain;
mod hook;
mod log;
mod lsp;
mod markdown;
mod mcp;
mod overview;
mod plugin;
mod project;
mod replay;
mod session;
mod settings;
mod shell;
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
        // The reader of our output, such as `head`, has seen enough and closed the pipe.
        Some(io::ErrorKind::BrokenPipe) => return ExitCode::SUCCESS,
        Some(_) => 1,
        None => 2,
    };
    terminal::complain(&format!("{error:#}"));
    ExitCode::from(code)
}
