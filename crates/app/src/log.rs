//! Logs: readable lines on stderr, and JSON lines in a file where one is asked for. Never stdout, which belongs
//! to the protocol.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::sync::Mutex;

use anyhow::Context;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::settings::Log;

/// Starts logging. Libraries are only heard when something is wrong: their lines may repeat what clients sent.
pub(crate) fn start(log: &Log) -> anyhow::Result<()> {
    let level: LevelFilter = log.level.parse().expect("settings accept only levels");
    let filter = Targets::new()
        .with_target("docent", level)
        .with_default(level.min(LevelFilter::ERROR));
    let stderr = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false)
        .with_filter(filter.clone());
    let file = match &log.file {
        None => None,
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.with_context(|| format!("log.file {}", path.display()))?;
            Some(
                tracing_subscriber::fmt::layer()
                    .json()
                    .with_writer(Mutex::new(file))
                    .with_filter(filter),
            )
        }
    };
    tracing_subscriber::registry().with(stderr).with(file).init();
    Ok(())
}
