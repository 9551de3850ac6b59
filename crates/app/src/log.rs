//! Logs: readable lines on stderr, and JSON lines in a file if one is set. Never stdout, which belongs to the
//! protocol.
//!
//! Invariant: a server never blocks on its log. A client that does not read stderr loses lines, not answers.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::Context;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::settings::LogSettings;

/// The purpose of stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stderr {
    /// A server's log.
    Log,
    /// A person's terminal: warnings and errors only, unless the level is above the default.
    Terminal,
}

/// Lines that may wait to be written; further ones are lost.
const MAX_WAITING_LINES: usize = 1_000;

/// Starts logging. Libraries log errors only, because their lines may repeat what clients sent.
pub(crate) fn start(log: &LogSettings, purpose: Stderr) -> anyhow::Result<()> {
    let level: LevelFilter = log.level.parse().expect("settings accept only levels");
    let (stderr_level, writer) = match purpose {
        Stderr::Log => {
            let lines = StderrLines::start();
            (level, BoxMakeWriter::new(move || lines.clone()))
        }
        Stderr::Terminal if level <= LevelFilter::INFO => {
            (level.min(LevelFilter::WARN), BoxMakeWriter::new(io::stderr))
        }
        Stderr::Terminal => (level, BoxMakeWriter::new(io::stderr)),
    };
    let stderr = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(false)
        .with_target(false)
        .with_filter(filter(stderr_level));
    let file = match &log.file {
        None => None,
        Some(path) => {
            let file = open(path).with_context(|| format!("log.file {}", path.display()))?;
            Some(
                tracing_subscriber::fmt::layer()
                    .json()
                    .with_writer(Mutex::new(file))
                    .with_filter(filter(level)),
            )
        }
    };
    tracing_subscriber::registry().with(stderr).with(file).init();
    Ok(())
}

fn filter(level: LevelFilter) -> Targets {
    Targets::new()
        .with_target("docent", level)
        .with_default(level.min(LevelFilter::ERROR))
}

/// Opens the log's file, readable by its user alone, because it says what they work on.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Hands whole lines to a thread that writes them to stderr.
#[derive(Clone)]
struct StderrLines(SyncSender<Vec<u8>>);

impl StderrLines {
    fn start() -> Self {
        let (sender, receiver) = sync_channel::<Vec<u8>>(MAX_WAITING_LINES);
        thread::spawn(move || {
            for line in receiver {
                // Without a stderr nobody can read it.
                let _ = io::stderr().write_all(&line);
            }
        });
        Self(sender)
    }
}

impl Write for StderrLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The subscriber writes a whole event at once. If the queue is full, that line is lost.
        let _ = self.0.try_send(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
