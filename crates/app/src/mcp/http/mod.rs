//! MCP over streamable HTTP at `/mcp`, with `/health` for monitors and `/metrics` for Prometheus.
//!
//! Invariant: no request reaches a route before [`gate`] has admitted it.

mod connections;
mod gate;
mod metrics;
mod sessions;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::server::ClientView;
use crate::settings::HttpSettings;
use crate::terminal::announce;
use crate::tools::dispatch::Dispatch;
use connections::{AnswerGuard, Connection, Connections, GuardedBody, Phase};
use gate::Gate;
use sessions::BoundedSessions;

/// How long a connection may be idle between two requests.
const KEEP_ALIVE_TIME: Duration = Duration::from_secs(30);

/// The longest head of a request.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves until a signal ends it.
pub(crate) async fn serve(dispatch: Dispatch, address: &str, settings: HttpSettings) -> anyhow::Result<()> {
    // Trimmed, it would be the empty secret, which every client can send.
    if settings
        .token
        .as_ref()
        .is_some_and(|token| token.trim().is_empty())
    {
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
    let head_time = settings.head_time;
    let connections = Connections::new(settings.max_connections_per_address);
    let router = router(Arc::new(dispatch), local, settings, &ended);
    tokio::select! {
        () = accept(&listener, &router, &connections, head_time) => {}
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
    // The gate checks Host and Origin, for every route alike; rmcp would do so for `/mcp` only.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_sse_retry(None)
        .with_max_request_body_bytes(settings.max_body_bytes)
        .with_cancellation_token(ended.clone());
    let view = ClientView::new(dispatch.clone());
    let mcp = StreamableHttpService::new(
        move || Ok(view.for_new_client()),
        Arc::new(BoundedSessions::new()),
        config,
    );
    Router::new()
        .route("/metrics", get(metrics::serve_metrics))
        .with_state(dispatch)
        .route("/health", get(health))
        .route_service("/mcp", mcp)
        .layer(from_fn(mark_answered))
        .layer(from_fn_with_state(
            Arc::new(Gate::new(local, settings)),
            gate::admit,
        ))
}

async fn health() -> Json<Value> {
    Json(json!({ "status": "ok", "name": "docent", "version": env!("CARGO_PKG_VERSION") }))
}

async fn accept(listener: &TcpListener, router: &Router, connections: &Connections, head_time: Duration) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // The connection broke, or no file descriptors are left. The others go on.
                tracing::warn!(%error, "a connection was not accepted");
                if is_out_of_files(&error) {
                    connections.close_one();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Some(connection) = connections.admit(peer.ip()) {
            let router = router.clone();
            tokio::spawn(serve_connection(stream, peer, connection, router, head_time));
        } else {
            tracing::warn!(%peer, "a connection was closed, because too many are being answered");
        }
    }
}

/// Whether the process or the system has no file descriptors left. Any other error concerns one connection.
fn is_out_of_files(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    cfg!(not(unix)) || matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    connection: Connection,
    router: Router,
    head_time: Duration,
) {
    // Otherwise the second packet of an answer waits for the client's delayed acknowledgement of the first,
    // which takes 40 ms.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "TCP_NODELAY was not set");
    }
    let connection = Arc::new(connection);
    let with_peer = router.layer(from_fn_with_state((peer.ip(), connection.clone()), remember_peer));
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(KEEP_ALIVE_TIME)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(with_peer));
    let first_request_is_late = async {
        tokio::time::sleep(head_time).await;
        if connection.has_sent_head() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        served = serving => if let Err(error) = served {
            tracing::debug!(%peer, %error, "a connection ended early");
        },
        () = connection.closed.cancelled() => tracing::debug!(%peer, "a connection was closed for another one"),
        () = first_request_is_late => tracing::debug!(%peer, "a connection sent no request"),
    }
}

/// Adds the caller's address and connection to the request.
async fn remember_peer(
    State((peer, connection)): State<(IpAddr, Arc<Connection>)>,
    mut request: Request,
    next: Next,
) -> Response {
    connection.set_phase(Phase::SendsBody);
    request.extensions_mut().insert(peer);
    request.extensions_mut().insert(connection);
    next.run(request).await
}

/// Marks the connection as being answered, after the gate has read the whole request, until the answer is
/// written.
async fn mark_answered(mut request: Request, next: Next) -> Response {
    let Some(connection) = request.extensions_mut().remove::<Arc<Connection>>() else {
        return next.run(request).await;
    };
    connection.set_phase(if is_listening(&request) {
        Phase::Listens
    } else {
        Phase::AwaitsAnswer
    });
    let guard = AnswerGuard(connection);
    next.run(request).await.map(|body| GuardedBody::wrap(body, guard))
}

/// Whether the answer to a request lasts as long as the client listens: the stream of a session, or
/// `subscriptions/listen`. rmcp refuses a request whose `Mcp-Method` is not the method of its body.
fn is_listening(request: &Request) -> bool {
    let method = request.headers().get("mcp-method");
    let is_stream = request.method() == Method::GET && request.uri().path() == "/mcp";
    is_stream || method.is_some_and(|method| method == "subscriptions/listen")
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
