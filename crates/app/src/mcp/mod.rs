//! Serving: one project over stdio until stdin ends, or over HTTP until a signal.

mod elicitation;
mod http;
mod notifications;
mod prompts;
mod resources;
mod server;
mod stdio;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use docent_engine::git::end_children;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::settings::Http;
use crate::tools::dispatch::{Dispatch, MAX_CONCURRENT_CALLS};
use server::ClientView;
use stdio::StdioTransport;

/// How long answers under way may take after stdin has ended. Whoever closed it waits for the process to go.
const EXIT_GRACE: Duration = Duration::from_millis(25);

/// Threads beside those that calls may take: where stdin and stdout are no pipes, each is read and written by one.
const SPARE_THREADS: usize = 4;

/// Speaks MCP over stdio. Ends when stdin does.
pub(crate) fn stdio(dispatch: Dispatch) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let closed = CancellationToken::new();
        let guide = ClientView::new(Arc::new(dispatch), Arc::new(|| false));
        let serving = async {
            match guide.clone().serve(StdioTransport::new(closed.clone())).await {
                Ok(service) => drop(service.waiting().await),
                Err(ServerInitializeError::ConnectionClosed(_)) => {}
                Err(error) => return Err(error),
            }
            Ok(())
        };
        let grace = async {
            closed.cancelled().await;
            tokio::time::sleep(EXIT_GRACE).await;
        };
        let outcome = tokio::select! {
            outcome = serving => outcome,
            () = grace => Ok(()),
        };
        guide.leave();
        outcome
    });
    // A call that did not make it in time is left behind; the process ends now, and no git goes on without it.
    end_children();
    runtime.shutdown_background();
    outcome.context("the client did not open the session as MCP asks")
}

/// Speaks MCP over HTTP. Ends on SIGINT or SIGTERM.
pub(crate) fn http(dispatch: Dispatch, address: &str, settings: Http) -> anyhow::Result<()> {
    let runtime = runtime()?;
    let outcome = runtime.block_on(http::serve(dispatch, address, settings));
    end_children();
    runtime.shutdown_background();
    outcome
}

/// One thread for messages; calls run beside it.
fn runtime() -> anyhow::Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_CONCURRENT_CALLS + SPARE_THREADS)
        .build()
        .context("no async runtime")
}
