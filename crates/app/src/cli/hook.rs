//! `docent hook CLIENT`: reads an event from standard input, and prints the answer.
//!
//! It runs before each call of an agent's tools, so that it starts without the table of tools.
//!
//! Invariant: it ends with success in every case, within [`MAX_TIME`], and prints an answer or nothing.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::{Arg, Command};
use docent_engine::clients::Client;

use super::flags::{flag, variable};
use crate::hook::{self, HookOrigin};

/// An answer that takes longer is not given.
const MAX_TIME: Duration = Duration::from_millis(300);

/// Bytes of an event. A longer one is read to its end and not answered.
const MAX_EVENT_BYTES: u64 = 8 * 1024 * 1024;

/// The command as `--help` shows it. [`run_fast`] takes its arguments as they are.
pub(super) fn command() -> Command {
    let names: Vec<&'static str> = hook::CLIENTS.into_iter().map(|(name, _)| name).collect();
    Command::new("hook")
        .about("Answer an event of a coding agent, as JSON on standard input; `docent setup` installs this")
        .arg(
            Arg::new("client")
                .value_name("CLIENT")
                .value_parser(names)
                .required(true)
                .help("The client whose form the event has"),
        )
        .arg(flag(
            "plugin",
            "The hook belongs to a plugin: no answer where the user's own settings have docent's hooks",
        ))
}

/// Runs `docent hook CLIENT`. `None` if the arguments are those of another command.
pub(super) fn run_fast(arguments: &[OsString]) -> Option<anyhow::Result<ExitCode>> {
    let [command, rest @ ..] = arguments else {
        return None;
    };
    if command != "hook" || rest.first().is_some_and(|word| word == "--help" || word == "-h") {
        return None;
    }
    let name = rest.first().and_then(|name| name.to_str()).unwrap_or_default();
    if let Some(client) = hook::client_named(name) {
        let origin = if rest.iter().any(|word| word == "--plugin") {
            HookOrigin::Plugin
        } else {
            HookOrigin::Settings
        };
        run(client, origin);
    }
    // A client takes an error for a refusal of the call, so that a wrong name is none.
    Some(Ok(ExitCode::SUCCESS))
}

fn run(client: Client, origin: HookOrigin) {
    // A panic ends the thread and must not be shown in the client.
    std::panic::set_hook(Box::new(|_| {}));
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let answer = read_event().and_then(|event| hook::answer(client, origin, &event, variable));
        let _ = sender.send(answer);
    };
    if thread::Builder::new().spawn(work).is_err() {
        return;
    }
    let answer = receiver.recv_timeout(MAX_TIME).ok().flatten();
    // Cursor complains of an answer that is no JSON.
    let answer = answer.or_else(|| (client == Client::Cursor).then(|| "{}".to_owned()));
    if let Some(answer) = answer {
        let _ = writeln!(std::io::stdout(), "{answer}");
    }
}

fn read_event() -> Option<Vec<u8>> {
    let mut stdin = std::io::stdin().lock();
    let mut event = Vec::new();
    let limit = MAX_EVENT_BYTES;
    stdin.by_ref().take(limit + 1).read_to_end(&mut event).ok()?;
    if event.len() as u64 > limit {
        // A client that cannot write the rest would report an error.
        std::io::copy(&mut stdin, &mut std::io::sink()).ok()?;
        return None;
    }
    Some(event)
}
