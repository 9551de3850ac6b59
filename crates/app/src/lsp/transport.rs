//! Messages of the Language Server Protocol on a pair of streams: `Content-Length: N`, an empty line, and N
//! bytes.
//!
//! `lsp-server`, which other servers use for this, ends at the first message that is malformed and allocates
//! whatever a header says; a client's mistake must not end a server.
//!
//! Invariant: memory is taken for bytes that have arrived, and for no more than [`MAX_MESSAGE_BYTES`] of one
//! message.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// Longer messages are read to their end and not kept.
pub(super) const MAX_MESSAGE_BYTES: u64 = 32 << 20;

/// A longer line is no header.
const MAX_HEADER_BYTES: u64 = 4 << 10;

/// A message as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MessageFrame {
    Message(Vec<u8>),
    /// It had more bytes than are kept.
    TooLong(u64),
    /// Its headers do not say how long it is.
    NoLength,
    End,
}

/// Reads the next message.
pub(super) fn read_frame(input: &mut impl BufRead) -> io::Result<MessageFrame> {
    let mut length: Option<u64> = None;
    let mut has_headers = false;
    loop {
        let mut line = Vec::new();
        let read = input
            .by_ref()
            .take(MAX_HEADER_BYTES)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(MessageFrame::End);
        }
        let is_whole = line.ends_with(b"\n");
        let line = line.trim_ascii();
        if line.is_empty() && is_whole {
            if has_headers {
                break;
            }
            // Blank lines between messages.
            continue;
        }
        has_headers = true;
        if let Some(value) = header_value(line) {
            length = std::str::from_utf8(value)
                .ok()
                .and_then(|value| value.parse().ok());
        }
    }
    let Some(length) = length else {
        return Ok(MessageFrame::NoLength);
    };
    if length > MAX_MESSAGE_BYTES {
        let skipped = io::copy(&mut input.take(length), &mut io::sink())?;
        return Ok(if skipped < length {
            MessageFrame::End
        } else {
            MessageFrame::TooLong(length)
        });
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    Ok(if (body.len() as u64) < length {
        MessageFrame::End
    } else {
        MessageFrame::Message(body)
    })
}

/// The value of a `Content-Length` header. `None` for other headers.
fn header_value(line: &[u8]) -> Option<&[u8]> {
    let at = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at(at);
    name.trim_ascii()
        .eq_ignore_ascii_case(b"content-length")
        .then(|| value[1..].trim_ascii())
}

/// The client's side of the connection. Messages of several threads do not mix.
pub(super) struct Outgoing {
    output: Mutex<Box<dyn Write + Send>>,
}

impl Outgoing {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self {
            output: Mutex::new(output),
        }
    }

    pub(super) fn answer(&self, id: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub(super) fn refuse(&self, id: &Value, code: i32, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(super) fn request(&self, id: &str, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn send(&self, message: &Value) {
        let body = message.to_string();
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that has gone closes stdin as well, and the server ends by that.
        let _ = write!(output, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| output.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], expected: &[MessageFrame]) {
        let mut input = input;
        for frame in expected {
            assert_eq!(read_frame(&mut input).unwrap(), *frame);
        }
        assert_eq!(read_frame(&mut input).unwrap(), MessageFrame::End);
    }

    fn message(text: &str) -> MessageFrame {
        MessageFrame::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn messages_are_read_one_after_the_other() {
        check(
            b"Content-Length: 2\r\n\r\n{}Content-Type: x\r\ncontent-length:3\r\n\r\n[1]",
            &[message("{}"), message("[1]")],
        );
        check(b"Content-Length: 2\n\n{}\r\n", &[message("{}")]);
        check(b"", &[]);
    }

    #[test]
    fn a_message_without_a_length_is_told_apart_from_the_end() {
        check(
            b"Content-Type: x\r\n\r\nContent-Length: 2\r\n\r\n{}",
            &[MessageFrame::NoLength, message("{}")],
        );
        check(b"Content-Length: -1\r\n\r\n", &[MessageFrame::NoLength]);
        check(
            b"Content-Length: 99999999999999999999999\r\n\r\n",
            &[MessageFrame::NoLength],
        );
        check(b"\xff\xfe{}\r\n\r\n", &[MessageFrame::NoLength]);
    }

    #[test]
    fn a_huge_length_takes_no_memory() {
        check(b"Content-Length: 9999999999999999\r\n\r\n{}", &[]);
        check(b"Content-Length: 100\r\n\r\n{}", &[]);
        let length = MAX_MESSAGE_BYTES + 1;
        let mut input = format!("Content-Length: {length}\r\n\r\n").into_bytes();
        input.resize(input.len() + usize::try_from(length).unwrap(), b' ');
        input.extend(b"Content-Length: 2\r\n\r\n{}");
        check(&input, &[MessageFrame::TooLong(length), message("{}")]);
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut input = vec![b'x'; 100_000];
        input.extend(b"\r\nContent-Length: 2\r\n\r\n{}");
        check(&input, &[message("{}")]);
    }
}
