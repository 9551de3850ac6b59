//! MCP over stdin and stdout: one JSON message per line.
//!
//! rmcp's own line transport ignores lines that it cannot parse, so a client that made a mistake would wait
//! for ever. Here every line that is not a message gets an error: broken JSON, bytes that are not UTF-8,
//! lines beyond the limit, and JSON that is not a message, with the request's id if it has one. The meaning
//! of messages is left to rmcp.
//!
//! Invariant: memory is bounded for one line and for all requests, and no line ends the connection.

use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder};
use tokio_util::sync::CancellationToken;

use super::backlog::Backlog;
use super::incoming::{cancelled_request, trim_message};
use crate::tools::queue::MAX_WAITING_CALLS;

/// The longest line that is read; as large as a body over HTTP may be by default.
const MAX_LINE_BYTES: usize = 4 << 20;

/// stdin and stdout as a transport of rmcp.
pub(crate) type StdioTransport = LineTransport<StdioReader, StdioWriter>;

/// A pair of streams as a transport of rmcp.
pub(crate) struct LineTransport<R, W> {
    reader: R,
    writer: Arc<Mutex<W>>,
    /// Bytes that are read and not yet split into lines.
    pending: BytesMut,
    /// The length of the part of `pending` that has no line end.
    scanned: usize,
    /// Inside a line that was too long, whose rest is skipped.
    skipping: bool,
    /// The first request has arrived.
    started: bool,
    /// stdin has ended. Requests that are held back are still handed on.
    ended: bool,
    closed: CancellationToken,
    requests: Arc<Requests>,
}

/// Requests that are not answered, messages that are not written, and a signal for each that is.
#[derive(Default)]
struct Requests {
    backlog: std::sync::Mutex<Backlog<ClientJsonRpcMessage>>,
    /// Messages that wait to be written. A cancelled request has no place in the backlog any more, and its
    /// answer may wait all the same.
    unwritten: AtomicUsize,
    written: Notify,
}

impl Requests {
    fn backlog(&self) -> MutexGuard<'_, Backlog<ClientJsonRpcMessage>> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message that waits to be written.
struct UnwrittenMessage(Arc<Requests>);

impl UnwrittenMessage {
    fn new(requests: Arc<Requests>) -> Self {
        requests.unwritten.fetch_add(1, Ordering::Relaxed);
        Self(requests)
    }
}

impl Drop for UnwrittenMessage {
    fn drop(&mut self) {
        self.0.unwritten.fetch_sub(1, Ordering::Relaxed);
        self.0.written.notify_one();
    }
}

/// Messages that may wait to be written: the answers to all requests that are worked on, and as many errors
/// and notifications. A client that leaves more of them unread is not read any further.
const MAX_UNWRITTEN_MESSAGES: usize = 2 * MAX_WAITING_CALLS;

impl StdioTransport {
    /// Takes the process's streams. `closed` is cancelled when stdin ends.
    pub(crate) fn new(closed: CancellationToken) -> Self {
        let (reader, writer) = stdio_pipes();
        Self::over(reader, writer, closed)
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    fn over(reader: R, writer: W, closed: CancellationToken) -> Self {
        Self {
            reader,
            writer: Arc::new(Mutex::new(writer)),
            pending: BytesMut::new(),
            scanned: 0,
            skipping: false,
            started: false,
            ended: false,
            closed,
            requests: Arc::default(),
        }
    }

    /// The next line with its end. `None` when stdin ends. Cancel-safe: it may be dropped while it waits.
    async fn read_line(&mut self) -> Option<InputLine> {
        loop {
            if let Some(at) = self.pending[self.scanned..]
                .iter()
                .position(|byte| *byte == b'\n')
            {
                let line = self.pending.split_to(self.scanned + at + 1);
                self.scanned = 0;
                if std::mem::take(&mut self.skipping) {
                    continue;
                }
                return Some(InputLine::Whole(line));
            }
            self.scanned = self.pending.len();
            if self.skipping || self.scanned > MAX_LINE_BYTES {
                // Free the buffer, so that one long line does not hold its memory for ever.
                self.pending = BytesMut::new();
                self.scanned = 0;
                if !std::mem::replace(&mut self.skipping, true) {
                    return Some(InputLine::TooLong);
                }
            }
            self.pending.reserve(8 << 10);
            match self.reader.read_buf(&mut self.pending).await {
                Ok(1..) => {}
                Ok(0) if !self.pending.is_empty() && !self.skipping => {
                    // The last line may lack its end; add one.
                    self.pending.extend_from_slice(b"\n");
                    self.scanned = 0;
                    return Some(InputLine::Whole(self.pending.split()));
                }
                Ok(0) | Err(_) => return None,
            }
        }
    }

    /// Queues a request, and returns any other message that rmcp shall have at once.
    fn admit(&mut self, mut message: ClientJsonRpcMessage, bytes: usize) -> Option<ClientJsonRpcMessage> {
        if let Err((error, id)) = trim_message(&mut message) {
            self.send_error(error, id);
            return None;
        }
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                self.started = true;
                let id = request.id.clone();
                let mut backlog = self.requests.backlog();
                // It is answered when the client stops listening, so it must not take the place of another.
                if matches!(request.request, ClientRequest::SubscriptionsListenRequest(_))
                    && backlog.start_listening(&id)
                {
                    drop(backlog);
                    return Some(message);
                }
                backlog.add(id, bytes, message);
                None
            }
            // rmcp would take a notification or a response before the first request for the end of the
            // handshake.
            _ if !self.started => None,
            _ => {
                let is_known =
                    cancelled_request(&message).is_none_or(|id| self.requests.backlog().cancel(id));
                is_known.then_some(message)
            }
        }
    }

    /// Answers a line that is not a message. In a task, because reading may be cancelled at any time.
    fn send_error(&mut self, error: ErrorData, id: Option<RequestId>) {
        let answer = self.send(ServerJsonRpcMessage::error(error, id));
        tokio::spawn(async move { drop(answer.await) });
    }
}

enum InputLine {
    Whole(BytesMut),
    TooLong,
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, requests, closed) = (self.writer.clone(), self.requests.clone(), self.closed.clone());
        // Counted before the future is polled: it may wait for long behind others.
        let unwritten = UnwrittenMessage::new(requests.clone());
        async move {
            let _unwritten = unwritten;
            let answered = match &message {
                ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
                ServerJsonRpcMessage::Error(error) => error.id.clone(),
                _ => None,
            };
            let mut line = BytesMut::new();
            JsonRpcMessageCodec::<ServerJsonRpcMessage>::new().encode(message, &mut line)?;
            let mut writer = writer.lock().await;
            writer.write_all(&line).await.inspect_err(|_| closed.cancel())?;
            writer.flush().await.inspect_err(|_| closed.cancel())?;
            // Only now: an answer that nobody reads takes as much memory as its request.
            if let Some(id) = answered {
                requests.backlog().answered(&id);
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let requests = self.requests.clone();
            let has_room = requests.unwritten.load(Ordering::Relaxed) < MAX_UNWRITTEN_MESSAGES;
            let (next, is_empty, is_full) = {
                let mut backlog = requests.backlog();
                let next = if has_room { backlog.start_next() } else { None };
                (next, backlog.is_empty(), backlog.is_full())
            };
            if next.is_some() {
                return next;
            }
            if self.ended && is_empty {
                return None;
            }
            let can_read = has_room && !is_full && !self.ended;
            let line = tokio::select! {
                line = self.read_line(), if can_read => line,
                () = requests.written.notified() => continue,
            };
            let line = match line {
                None => {
                    self.ended = true;
                    self.closed.cancel();
                    continue;
                }
                Some(InputLine::TooLong) => {
                    let message = format!("Parse error: the line is longer than {MAX_LINE_BYTES} bytes");
                    self.send_error(ErrorData::new(ErrorCode::PARSE_ERROR, message, None), None);
                    continue;
                }
                Some(InputLine::Whole(line)) => line,
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match parse_line(&line) {
                Ok(Some(message)) => {
                    if let Some(message) = self.admit(message, line.len()) {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err((error, id)) => self.send_error(error, id),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.flush().await
    }
}

/// Parses a whole line. `None` for notifications of other protocols, which are ignored.
fn parse_line(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, (ErrorData, Option<RequestId>)> {
    let broken = |why: String| {
        (
            ErrorData::new(ErrorCode::PARSE_ERROR, format!("Parse error: {why}"), None),
            None,
        )
    };
    let text = str::from_utf8(line)
        .map_err(|error| broken(format!("invalid UTF-8 after {} bytes", error.valid_up_to())))?;
    match JsonRpcMessageCodec::new().decode(&mut BytesMut::from(text)) {
        Ok(message) => Ok(message),
        Err(_) => match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
            Err(error) => Err(broken(error.to_string())),
            Ok(value) => {
                let id = value
                    .get("id")
                    .and_then(|id| serde_json::from_value(id.clone()).ok());
                let why = if value.is_array() {
                    "Invalid request: batches are not supported"
                } else {
                    "Invalid request"
                };
                Err((ErrorData::invalid_request(why, None), id))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[u8], expected: &str) {
        let mut line = line.to_vec();
        line.push(b'\n');
        let shown = match parse_line(&line) {
            Ok(None) => "ignored".to_owned(),
            Ok(Some(message)) => serde_json::to_value(message).unwrap()["method"]
                .as_str()
                .unwrap()
                .to_owned(),
            Err((error, id)) => {
                format!(
                    "{} {} {:?}",
                    error.code.0,
                    error.message,
                    id.map(|id| id.to_string())
                )
            }
        };
        assert_eq!(shown, expected);
    }

    /// The id of the next request, if there is one without waiting.
    fn poll_request<R: AsyncRead + Unpin + Send>(
        transport: &mut LineTransport<R, tokio::io::Sink>,
    ) -> Option<RequestId> {
        let mut receiving = std::pin::pin!(transport.receive());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match receiving.as_mut().poll(&mut context) {
            std::task::Poll::Ready(Some(ClientJsonRpcMessage::Request(request))) => Some(request.id),
            std::task::Poll::Ready(Some(_)) => panic!("not a request"),
            std::task::Poll::Ready(None) | std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn requests_are_read_only_as_far_as_answers_are_written() {
        let count = 40_000;
        let mut input = String::new();
        for id in 0..count {
            let params = "{\"name\":\"hello\"}";
            input += &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n"
            );
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut transport = LineTransport::over(
                io::Cursor::new(input.into_bytes()),
                tokio::io::sink(),
                CancellationToken::new(),
            );
            let mut received = Vec::new();
            let mut answered = 0;
            while answered < count {
                let mut is_stuck = true;
                // The scheduler may pause a task that reads much; only several pauses in a row are an end.
                for _ in 0..100 {
                    while let Some(id) = poll_request(&mut transport) {
                        received.push(id);
                        is_stuck = false;
                    }
                    tokio::task::yield_now().await;
                }
                assert!(!is_stuck, "after {answered} answers");
                assert!(
                    received.len() - answered <= 64,
                    "{} at once",
                    received.len() - answered
                );
                // Two megabytes: the lines held back, and one buffer of the reader.
                let read = usize::try_from(transport.reader.position()).unwrap();
                assert!(read <= received.len() * 80 + (2 << 20), "{read} bytes are read");
                for id in &received[answered..] {
                    let error = ErrorData::internal_error("an answer", None);
                    let sent = transport.send(ServerJsonRpcMessage::error(error, Some(id.clone())));
                    sent.await.unwrap();
                }
                answered = received.len();
            }
            let in_order: Vec<RequestId> = (0..count)
                .map(|id| RequestId::Number(i64::try_from(id).unwrap()))
                .collect();
            assert_eq!(received, in_order);
        });
    }

    #[test]
    fn cancellations_are_read_behind_requests_that_are_held_back() {
        let mut input = String::new();
        for id in 0..100 {
            input += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        }
        for id in [90, 5] {
            input += &format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            );
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let reader = io::Cursor::new(input.into_bytes());
            let mut transport = LineTransport::over(reader, tokio::io::sink(), CancellationToken::new());
            for id in 0..64 {
                assert_eq!(poll_request(&mut transport), Some(RequestId::Number(id)));
            }
            let Some(ClientJsonRpcMessage::Notification(_)) = transport.receive().await else {
                panic!("the cancellation of a request that runs is handed on");
            };
            for (id, answered) in (64..90).chain(91..100).zip(6..) {
                let answer = ServerJsonRpcMessage::error(
                    ErrorData::internal_error("an answer", None),
                    Some(RequestId::Number(answered)),
                );
                if id > 64 {
                    transport.send(answer).await.unwrap();
                }
                assert_eq!(poll_request(&mut transport), Some(RequestId::Number(id)));
            }
        });
    }

    /// Messages that are received while none of the answers is written.
    fn count_received_unwritten(input: String, answers: impl Fn(&ClientJsonRpcMessage) -> bool) -> usize {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let reader = io::Cursor::new(input.into_bytes());
            let mut transport = LineTransport::over(reader, tokio::io::sink(), CancellationToken::new());
            let mut unwritten = Vec::new();
            let mut received = 0;
            // Polled once: without a written answer nothing wakes it.
            while let Some(Some(message)) = poll_once(transport.receive()) {
                received += 1;
                if answers(&message)
                    && let ClientJsonRpcMessage::Request(request) = message
                {
                    let error = ErrorData::internal_error("an answer", None);
                    unwritten.push(transport.send(ServerJsonRpcMessage::error(error, Some(request.id))));
                }
            }
            received
        })
    }

    fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut context) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }

    #[test]
    fn a_cancelled_request_whose_answer_waits_leaves_no_room_for_another() {
        let mut input = String::new();
        for id in 0..10_000 {
            input += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            input += &format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            );
        }
        let received = count_received_unwritten(input, |_| true);
        assert!(received <= 2 * MAX_UNWRITTEN_MESSAGES, "{received}");
    }

    #[test]
    fn requests_that_listen_are_bounded_too() {
        let mut input = String::new();
        for id in 0..10_000 {
            input += &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"subscriptions/listen\",\"params\":{{\"notifications\":{{}}}}}}\n"
            );
        }
        let received = count_received_unwritten(input, |_| false);
        assert!((16..=16 + MAX_WAITING_CALLS).contains(&received), "{received}");
    }

    #[test]
    fn messages_are_parsed() {
        check(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "ping");
        check(
            b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
            "ping",
        );
    }

    #[test]
    fn a_line_that_is_not_a_message_gets_an_error() {
        check(
            b"{oops",
            "-32700 Parse error: key must be a string at line 1 column 2 None",
        );
        check(
            b"{\"a\":\"\xff\"}",
            "-32700 Parse error: invalid UTF-8 after 6 bytes None",
        );
        check(b"[]", "-32600 Invalid request: batches are not supported None");
        check(
            br#"{"jsonrpc":"2.0","id":7,"method":5}"#,
            "-32600 Invalid request Some(\"7\")",
        );
        check(b"42", "-32600 Invalid request None");
    }
}
