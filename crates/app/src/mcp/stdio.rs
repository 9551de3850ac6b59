//! MCP over stdin and stdout: one JSON message per line.
//!
//! rmcp's own line transport ignores lines that it cannot parse, so a client that made a mistake would wait
//! for ever. Here every line that is not a message gets an error: broken JSON, bytes that are not UTF-8,
//! lines beyond the limit, and JSON that is not a message, with the request's id if it has one. The meaning
//! of messages is left to rmcp.
//!
//! Invariant: memory for one line is bounded, and no line ends the connection.

use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::async_rw::JsonRpcMessageCodec;
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder};
use tokio_util::sync::CancellationToken;

/// The longest line that is read; as large as a body over HTTP may be by default.
const MAX_LINE_BYTES: usize = 4 << 20;

/// stdin and stdout as a transport of rmcp.
pub(crate) struct StdioTransport {
    reader: StdioReader,
    writer: Arc<Mutex<StdioWriter>>,
    /// Bytes that are read and not yet split into lines.
    pending: BytesMut,
    /// The length of the part of `pending` that has no line end.
    scanned: usize,
    /// Inside a line that was too long, whose rest is skipped.
    skipping: bool,
    /// The first request has arrived.
    started: bool,
    closed: CancellationToken,
    /// Permits for errors that wait to be written, and the one for the next error.
    error_permits: Arc<Semaphore>,
    next_permit: Option<OwnedSemaphorePermit>,
}

/// Errors that may wait to be written. A client that sends garbage and reads no answers is not read any
/// further.
const MAX_WAITING_ERRORS: usize = 64;

impl StdioTransport {
    /// Takes the process's streams. `closed` is cancelled when stdin ends.
    pub(crate) fn new(closed: CancellationToken) -> Self {
        let (reader, writer) = stdio_pipes();
        Self {
            reader,
            writer: Arc::new(Mutex::new(writer)),
            pending: BytesMut::new(),
            scanned: 0,
            skipping: false,
            started: false,
            closed,
            error_permits: Arc::new(Semaphore::new(MAX_WAITING_ERRORS)),
            next_permit: None,
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

    /// Answers a line that is not a message. In a task, because reading may be cancelled at any time.
    fn send_error(&mut self, error: ErrorData, id: Option<RequestId>) {
        let answer = self.send(ServerJsonRpcMessage::error(error, id));
        let permit = self.next_permit.take();
        tokio::spawn(async move {
            let _ = answer.await;
            drop(permit);
        });
    }
}

enum InputLine {
    Whole(BytesMut),
    TooLong,
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = self.writer.clone();
        async move {
            let mut line = BytesMut::new();
            JsonRpcMessageCodec::<ServerJsonRpcMessage>::new().encode(message, &mut line)?;
            let mut writer = writer.lock().await;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.next_permit.is_none() {
                self.next_permit = self.error_permits.clone().acquire_owned().await.ok();
            }
            let line = match self.read_line().await {
                None => {
                    self.closed.cancel();
                    return None;
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
                Ok(Some(message)) if self.started || matches!(message, ClientJsonRpcMessage::Request(_)) => {
                    self.started = true;
                    return Some(message);
                }
                // rmcp would take a notification or a response before the first request for the end of the
                // handshake.
                Ok(_) => {}
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
