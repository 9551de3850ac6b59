//! MCP over streamable HTTP at `/mcp`, with `/health` for monitors and `/metrics` for Prometheus.
//!
//! Invariant: no request reaches a route before [`gate`] has admitted it.

mod gate;
mod metrics;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Json, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::server::ClientView;
use crate::settings::HttpSettings;
use crate::terminal::announce;
use crate::tools::dispatch::Dispatch;
use gate::Gate;

/// Connections open at once; more of them wait.
const MAX_CONNECTIONS: usize = 1_000;

/// Sessions of the older protocol era kept at once.
const MAX_SESSIONS: usize = 1_000;

/// A session of the older era ends after this long without a request.
const SESSION_IDLE: Duration = Duration::from_hours(1);

/// How long a client may take to send a request's head.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Serves until a signal ends it.
pub(crate) async fn serve(dispatch: Dispatch, address: &str, settings: HttpSettings) -> anyhow::Result<()> {
    // Trimmed, it would be the empty secret, which every client can send.
    if settings.token.as_ref().is_some_and(|token| token.trim().is_empty()) {
        bail!(
            "DOCENT_HTTP_TOKEN (or http.token) consists of blanks, which protect nothing: set a secret, or remove it"
        );
    }
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}"))?;
    let local = listener.local_addr().context("the listener has no address")?;
    if !local.ip().is_loopback() && settings.token.is_none() {
        bail!(
            "{local} can be reached from other machines: set DOCENT_HTTP_TOKEN (or http.token) to a secret that clients must send"
        );
    }
    let signal = signal().context("signals cannot be received")?;
    announce(&format!(
        "docent serves {} at http://{local}/mcp",
        dispatch.project.root.path().display()
    ));
    let ended = CancellationToken::new();
    let router = router(Arc::new(dispatch), local, settings, &ended);
    tokio::select! {
        () = accept(&listener, &router) => {}
        () = signal => {}
    }
    ended.cancel();
    Ok(())
}

fn router(
    dispatch: Arc<Dispatch>,
    local: SocketAddr,
    settings: HttpSettings,
    ended: &CancellationToken,
) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = session_config();
    let sessions = Arc::new(sessions);
    // The gate checks Host and Origin, for every route alike; rmcp would do so for `/mcp` only.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(settings.max_body_bytes)
        .with_cancellation_token(ended.clone());
    let open_sessions = sessions.clone();
    let is_full = move || {
        open_sessions
            .sessions
            .try_read()
            .is_ok_and(|open| open.len() > MAX_SESSIONS)
    };
    let view = ClientView::new(dispatch.clone(), Arc::new(is_full));
    let mcp = StreamableHttpService::new(move || Ok(view.for_new_client()), sessions, config);
    Router::new()
        .route("/metrics", get(metrics::serve_metrics))
        .with_state(dispatch)
        .route("/health", get(health))
        .route_service("/mcp", mcp)
        .layer(from_fn_with_state(
            Arc::new(Gate::new(local, settings)),
            gate::admit,
        ))
}

fn session_config() -> SessionConfig {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SESSION_IDLE);
    config
}

async fn health() -> Json<Value> {
    Json(json!({ "status": "ok", "name": "docent", "version": env!("CARGO_PKG_VERSION") }))
}

async fn accept(listener: &TcpListener, router: &Router) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let permit = permits
            .clone()
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let (stream, peer) = match listener.accept().await {
            Ok(connection) => connection,
            Err(error) => {
                // The connection broke, or no file descriptors are left. The others go on.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let router = router.clone();
        tokio::spawn(async move {
            serve_connection(stream, peer, router).await;
            drop(permit);
        });
    }
}

async fn serve_connection(stream: TcpStream, peer: SocketAddr, router: Router) {
    let with_peer = router.layer(axum::middleware::from_fn_with_state(peer.ip(), remember_peer));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(with_peer));
    if let Err(error) = connection.await {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

/// Adds the caller's address to the request, for the handler of the call.
async fn remember_peer(
    State(peer): State<IpAddr>,
    mut request: Request,
    next: axum::middleware::Next,
) -> axum::response::Response {
    request.extensions_mut().insert(peer);
    next.run(request).await
}

/// Installs handlers for the signals that end a server. The future completes when one arrives.
#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
