//! A client that starts docent and speaks with it over stdin and stdout.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Answer, Era, initialize};

/// A running `docent serve`.
pub struct StdioClient {
    child: RefCell<Child>,
    input: RefCell<Option<ChildStdin>>,
    output: RefCell<BufReader<ChildStdout>>,
    era: Era,
    last_id: Cell<u64>,
}

impl StdioClient {
    /// Starts `docent serve` and opens the conversation.
    pub fn start(command: Command, era: Era) -> Self {
        let client = Self::start_silent(command, era);
        if era == Era::Handshake {
            client.initialize(era.version());
        }
        client
    }

    /// Starts `docent serve` and says nothing yet.
    pub fn start_silent(mut command: Command, era: Era) -> Self {
        command
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("docent starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child: RefCell::new(child),
            input: RefCell::new(input),
            output: RefCell::new(output),
            era,
            last_id: Cell::new(0),
        }
    }

    /// The handshake; its result.
    pub fn initialize(&self, version: &str) -> Value {
        let response = self.request("initialize", initialize(version));
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        response["result"].clone()
    }

    /// Sends a request and waits for its response.
    pub fn request(&self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Sends a request; its id.
    pub fn post(&self, method: &str, params: Value) -> u64 {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        self.send(self.era.request(id, method, params).to_string());
        id
    }

    /// Calls a tool.
    pub fn call(&self, tool: &str, arguments: Value) -> Answer {
        let response = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        Answer::of(&response["result"])
    }

    /// Sends a line as it is.
    pub fn send(&self, line: impl AsRef<[u8]>) {
        let mut input = self.input.borrow_mut();
        let input = input.as_mut().expect("stdin is open");
        input
            .write_all(line.as_ref())
            .and_then(|()| input.write_all(b"\n"))
            .expect("docent reads");
    }

    /// The next message.
    pub fn receive(&self) -> Value {
        let mut line = String::new();
        self.output
            .borrow_mut()
            .read_line(&mut line)
            .expect("docent writes UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
    }

    /// Closes stdin and waits for the end: how docent exited, and how long it took.
    pub fn close(self) -> (ExitStatus, Duration) {
        drop(self.input.borrow_mut().take());
        let closed = Instant::now();
        let status = self.child.borrow_mut().wait().expect("docent ends");
        (status, closed.elapsed())
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}
