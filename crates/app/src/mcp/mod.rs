//! docent as an MCP server: one project over stdio until stdin ends, or over HTTP until a signal.
//!
//! `server` has the protocol's requests; the transports are `stdio` and `http`. The tools themselves know
//! nothing of MCP.
//!
//! Invariant: no `git` process outlives the server.

mod backlog;
mod connection_life;
mod elicitation;
mod http;
mod incoming;
mod instructions;
mod notifications;
mod prompts;
mod resources;
mod server;
mod stdio;
mod tool_list;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use docent_engine::git::end_children;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::settings::HttpSettings;
use crate::tools::dispatch::Dispatch;
use crate::tools::queue::MAX_CONCURRENT_CALLS;
use server::ClientView;
use stdio::StdioTransport;

/// How long calls that still run may take after stdin has ended. The client waits for the process to exit.
const EXIT_GRACE: Duration = Duration::from_millis(25);

/// Threads beside those of the calls: stdin and stdout take one each when they are not pipes.
const SPARE_THREADS: usize = 4;

/// Speaks MCP over stdio. Ends when stdin does.
pub(crate) fn serve_stdio(dispatch: Dispatch) -> anyhow::Result<()> {
    let runtime = build_runtime()?;
    let outcome = runtime.block_on(async {
        let closed = CancellationToken::new();
        let view = ClientView::new(Arc::new(dispatch));
        let serving = async {
            match view.clone().serve(StdioTransport::new(closed.clone())).await {
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
        view.leave();
        outcome
    });
    // The process ends now, with calls that are still running. Their git processes must not go on without it.
    end_children();
    runtime.shutdown_background();
    outcome.context("the client did not open the session as MCP asks")
}

/// Speaks MCP over HTTP. Ends on SIGINT or SIGTERM.
pub(crate) fn serve_http(dispatch: Dispatch, address: &str, settings: HttpSettings) -> anyhow::Result<()> {
    let runtime = build_runtime()?;
    let outcome = runtime.block_on(http::serve(dispatch, address, settings));
    end_children();
    runtime.shutdown_background();
    outcome
}

/// One thread for messages; calls run on blocking threads beside it.
fn build_runtime() -> anyhow::Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_CONCURRENT_CALLS + SPARE_THREADS)
        .build()
        .context("no async runtime")
}
