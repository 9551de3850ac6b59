//! MCP over stdin and stdout: one JSON message per line.
//!
//! rmcp's own line transport passes over what it cannot read; a client that made a mistake would wait for ever. Here
//! every line that is not a message is answered: broken JSON, bytes that are not UTF-8, lines beyond the limit,
//! and JSON that is no message, with the request's id where it has one.
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

/// The longest line that is read; the same as the largest body over HTTP.
const MAX_LINE_BYTES: usize = 4 << 20;

/// The two streams as a transport.
pub(crate) struct StdioTransport {
    reader: StdioReader,
    writer: Arc<Mutex<StdioWriter>>,
    /// What was read and not yet cut into lines.
    pending: BytesMut,
    /// Up to where `pending` is known to have no line end.
    scanned: usize,
    /// Inside a line that was too long, whose rest is passed over.
    skipping: bool,
    /// Nothing but a request may come first.
    begun: bool,
    closed: CancellationToken,
    /// Room for complaints that wait to be read, and a place for the next one.
    room: Arc<Semaphore>,
    place: Option<OwnedSemaphorePermit>,
}

/// Complaints that may wait. A client that sends nonsense and reads nothing is not listened to further.
const MAX_WAITING_COMPLAINTS: usize = 64;

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
            begun: false,
            closed,
            room: Arc::new(Semaphore::new(MAX_WAITING_COMPLAINTS)),
            place: None,
        }
    }

    /// The next line with its end; nothing when stdin ends. May be dropped while waiting and called again.
    async fn line(&mut self) -> Option<InputLine> {
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
                // The buffer is given back: one long line should not be paid for ever after.
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
                    // The last line may have no end; it is given one.
                    self.pending.extend_from_slice(b"\n");
                    self.scanned = 0;
                    return Some(InputLine::Whole(self.pending.split()));
                }
                Ok(0) | Err(_) => return None,
            }
        }
    }

    /// Answers a line that is no message. Beside the reading, which may be dropped at any time.
    fn complain(&mut self, error: ErrorData, id: Option<RequestId>) {
        let answer = self.send(ServerJsonRpcMessage::error(error, id));
        let place = self.place.take();
        tokio::spawn(async move {
            let _ = answer.await;
            drop(place);
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
            if self.place.is_none() {
                self.place = self.room.clone().acquire_owned().await.ok();
            }
            let line = match self.line().await {
                None => {
                    self.closed.cancel();
                    return None;
                }
                Some(InputLine::TooLong) => {
                    let message = format!("Parse error: the line is longer than {MAX_LINE_BYTES} bytes");
                    self.complain(ErrorData::new(ErrorCode::PARSE_ERROR, message, None), None);
                    continue;
                }
                Some(InputLine::Whole(line)) => line,
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match read(&line) {
                Ok(Some(message)) if self.begun || matches!(message, ClientJsonRpcMessage::Request(_)) => {
                    self.begun = true;
                    return Some(message);
                }
                // Before the first request there is nothing a notification or a response could be about, and
                // rmcp would take it for the end of the handshake.
                Ok(_) => {}
                Err((error, id)) => self.complain(error, id),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.flush().await
    }
}

/// The message a whole line holds; nothing for notifications of other protocols, which are to be ignored.
fn read(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, (ErrorData, Option<RequestId>)> {
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
        let shown = match read(&line) {
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
    fn messages_are_read() {
        check(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "ping");
        check(
            b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
            "ping",
        );
    }

    #[test]
    fn whatever_is_no_message_has_an_answer() {
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
