//! Sessions of the older protocol era: how many are open, which is closed for a new one, and how an answer
//! reaches its request.
//!
//! rmcp's own table would refuse new clients once it is full, and goes on with the call of a client that has
//! hung up.
//!
//! Invariant: there are at most [`MAX_SESSIONS`], and a new client always gets one.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::runtime::Handle;

use crate::mcp::incoming::trim_message;

/// Sessions kept at once.
const MAX_SESSIONS: usize = 1_000;

/// A session ends after this long without a request.
const SESSION_IDLE: Duration = Duration::from_hours(1);

/// How long the head of a response waits for the answer, so that both are one write. After that the stream
/// begins, with a comment every few seconds that keeps proxies from closing it.
const MAX_HEAD_WAIT: Duration = Duration::from_secs(2);

/// rmcp's sessions, bounded.
pub(super) struct BoundedSessions {
    inner: Arc<LocalSessionManager>,
    table: Arc<Mutex<SessionTable>>,
}

impl BoundedSessions {
    pub(super) fn new() -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config = session_config();
        Self {
            inner: Arc::new(inner),
            table: Arc::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_stream(&self, id: &SessionId, request: Option<RequestId>) -> OpenStream {
        self.table().begin_stream(id, request.is_some());
        OpenStream {
            sessions: self.inner.clone(),
            table: self.table.clone(),
            session: id.clone(),
            unanswered: request,
        }
    }
}

/// Answers are not kept for a client that comes back for them, because a hang-up cancels its call.
fn session_config() -> SessionConfig {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SESSION_IDLE);
    config.sse_retry = None;
    config.completed_cache_ttl = Duration::ZERO;
    config
}

impl SessionManager for BoundedSessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        for evicted in self.table().open(&id, MAX_SESSIONS) {
            tracing::info!(session = %evicted, "a session was closed for a new one");
            let sessions = self.inner.clone();
            // In a task, because a session whose client reads nothing may take long to hear of it.
            tokio::spawn(async move { drop(sessions.close_session(&evicted).await) });
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        if let Err((error, request)) = trim_message(&mut message) {
            self.close_session(id).await?;
            return Ok(ServerJsonRpcMessage::error(error, request));
        }
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.table().close(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let Err((error, request)) = trim_message(&mut message) {
            let refusal = ServerSseMessage::from_message(ServerJsonRpcMessage::error(error, request));
            return Ok(AnswerStream::finished(refusal, self.begin_stream(id, None)));
        }
        // From here on a dropped future, which is a client that hung up, cancels the request.
        let open = self.begin_stream(id, request);
        let stream = self.inner.create_stream(id, message).await?;
        let mut stream = AnswerStream::new(Box::pin(stream), open);
        stream.wait_for_first(MAX_HEAD_WAIT).await;
        Ok(stream)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.table().touch(id);
        if trim_message(&mut message).is_err() {
            return Ok(());
        }
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let open = self.begin_stream(id, None);
        let stream = self.inner.create_standalone_stream(id).await?;
        Ok(AnswerStream::new(Box::pin(stream), open))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let open = self.begin_stream(id, None);
        let stream = self.inner.resume(id, last_event_id).await?;
        Ok(AnswerStream::new(Box::pin(stream), open))
    }
}

type Messages = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// The messages that answer one request. It ends with the answer, so that head, answer and end are written at
/// once.
struct AnswerStream {
    first: Option<ServerSseMessage>,
    /// `None` after the answer.
    rest: Option<Messages>,
    open: OpenStream,
}

impl AnswerStream {
    fn new(messages: Messages, open: OpenStream) -> Self {
        Self {
            first: None,
            rest: Some(messages),
            open,
        }
    }

    fn finished(message: ServerSseMessage, open: OpenStream) -> Self {
        Self {
            first: Some(message),
            rest: None,
            open,
        }
    }

    async fn wait_for_first(&mut self, wait: Duration) {
        let first = std::future::poll_fn(|context| self.poll_rest(context));
        if let Ok(first) = tokio::time::timeout(wait, first).await {
            self.first = first;
        }
    }

    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let Some(rest) = &mut self.rest else {
            return Poll::Ready(None);
        };
        let polled = rest.as_mut().poll_next(context);
        match &polled {
            Poll::Ready(Some(message)) if self.open.unanswered.is_some() && is_answer(message) => {
                self.open.unanswered = None;
                self.rest = None;
            }
            Poll::Ready(None) => {
                self.open.unanswered = None;
                self.rest = None;
            }
            _ => {}
        }
        polled
    }
}

impl Stream for AnswerStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => self.poll_rest(context),
        }
    }
}

fn is_answer(message: &ServerSseMessage) -> bool {
    matches!(
        message.message.as_deref(),
        Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    )
}

/// A stream that a client has open. Cancels the client's request if it is dropped before the answer.
struct OpenStream {
    sessions: Arc<LocalSessionManager>,
    table: Arc<Mutex<SessionTable>>,
    session: SessionId,
    unanswered: Option<RequestId>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.table
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .end_stream(&self.session);
        // There is no runtime any more when the server ends.
        let (Some(request), Ok(runtime)) = (self.unanswered.take(), Handle::try_current()) else {
            return;
        };
        let (sessions, session) = (self.sessions.clone(), self.session.clone());
        let reason = Some("the client closed the connection".to_owned());
        let cancelled = CancelledNotification::new(CancelledNotificationParam::new(Some(request), reason));
        let message =
            ClientJsonRpcMessage::notification(ClientNotification::CancelledNotification(cancelled));
        runtime.spawn(async move { drop(sessions.accept_message(&session, message).await) });
    }
}

/// The open sessions and when each was last used.
#[derive(Debug, Default)]
struct SessionTable {
    sessions: HashMap<SessionId, SessionUsage>,
    /// Counts the uses of all sessions. The clock is too coarse for an order.
    uses: u64,
}

#[derive(Debug, Default)]
struct SessionUsage {
    last_use: u64,
    open_streams: usize,
    /// The client has sent a request after the handshake. Otherwise it may have abandoned the session.
    is_used: bool,
}

impl SessionTable {
    /// Adds a session. Returns those to close, so that there are at most `max`. The new one is not among
    /// them: it has not been used yet, and would always be the first to go.
    fn open(&mut self, id: &SessionId, max: usize) -> Vec<SessionId> {
        let room = max.saturating_sub(1);
        let evicted = std::iter::from_fn(|| self.evict(room)).collect();
        self.sessions.insert(id.clone(), SessionUsage::default());
        self.touch(id);
        evicted
    }

    fn close(&mut self, id: &SessionId) {
        self.sessions.remove(id);
    }

    fn touch(&mut self, id: &SessionId) {
        self.uses += 1;
        if let Some(usage) = self.sessions.get_mut(id) {
            usage.last_use = self.uses;
        }
    }

    fn begin_stream(&mut self, id: &SessionId, is_request: bool) {
        self.touch(id);
        if let Some(usage) = self.sessions.get_mut(id) {
            usage.open_streams += 1;
            usage.is_used |= is_request;
        }
    }

    fn end_stream(&mut self, id: &SessionId) {
        self.touch(id);
        if let Some(usage) = self.sessions.get_mut(id) {
            usage.open_streams = usage.open_streams.saturating_sub(1);
        }
    }

    /// Removes the session to close if there are more than `max`: one without an open stream before one with,
    /// one that was never used before one that was, and then the longest idle.
    fn evict(&mut self, max: usize) -> Option<SessionId> {
        if self.sessions.len() <= max {
            return None;
        }
        let (id, _) = self
            .sessions
            .iter()
            .min_by_key(|(_, usage)| (usage.open_streams > 0, usage.is_used, usage.last_use))?;
        let id = id.clone();
        self.sessions.remove(&id);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(table: &mut SessionTable, names: &[&str]) -> Vec<SessionId> {
        let ids: Vec<SessionId> = names.iter().map(|name| SessionId::from(*name)).collect();
        for id in &ids {
            table.open(id, usize::MAX);
        }
        ids
    }

    fn evict_all(table: &mut SessionTable) -> Vec<String> {
        std::iter::from_fn(|| table.evict(0))
            .map(|id| id.to_string())
            .collect()
    }

    #[test]
    fn nothing_is_evicted_below_the_limit() {
        let mut table = SessionTable::default();
        open(&mut table, &["a", "b"]);
        assert_eq!(table.evict(2), None);
        assert_eq!(table.evict(1).as_deref(), Some("a"));
        assert_eq!(table.evict(1), None);
    }

    #[test]
    fn a_new_session_replaces_a_used_one_and_never_itself() {
        let mut table = SessionTable::default();
        let ids = open(&mut table, &["a", "b"]);
        let ask = |table: &mut SessionTable, id: &SessionId| {
            table.begin_stream(id, true);
            table.end_stream(id);
        };
        for id in &ids {
            ask(&mut table, id);
        }
        let new = SessionId::from("new");
        assert_eq!(table.open(&new, 2), [ids[0].clone()]);
        ask(&mut table, &new);
        assert_eq!(table.open(&SessionId::from("newer"), 2), [ids[1].clone()]);
    }

    #[test]
    fn the_longest_idle_session_goes_first() {
        let mut table = SessionTable::default();
        let ids = open(&mut table, &["a", "b", "c"]);
        table.touch(&ids[0]);
        assert_eq!(evict_all(&mut table), ["b", "c", "a"]);
    }

    #[test]
    fn abandoned_handshakes_go_before_sessions_that_were_used_and_those_before_busy_ones() {
        let mut table = SessionTable::default();
        let ids = open(&mut table, &["used", "busy", "listens"]);
        table.begin_stream(&ids[0], true);
        table.end_stream(&ids[0]);
        table.begin_stream(&ids[1], true);
        table.begin_stream(&ids[2], false);
        open(&mut table, &["abandoned", "abandoned too"]);
        assert_eq!(
            evict_all(&mut table),
            ["abandoned", "abandoned too", "used", "listens", "busy"]
        );
    }

    #[test]
    fn a_closed_session_takes_no_place() {
        let mut table = SessionTable::default();
        let ids = open(&mut table, &["a", "b"]);
        table.close(&ids[0]);
        table.end_stream(&ids[0]);
        assert_eq!(table.evict(1), None);
    }
}
