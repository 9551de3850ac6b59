//! A client of the language server: starts `docent lsp` and exchanges messages with it.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

/// A running `docent lsp`.
pub struct LspClient {
    child: RefCell<Child>,
    input: RefCell<Option<ChildStdin>>,
    output: RefCell<BufReader<ChildStdout>>,
    last_id: Cell<u64>,
    /// Requests and notifications of the server that came before an answer.
    pub received: RefCell<Vec<Value>>,
}

impl LspClient {
    /// Starts the server and does the handshake with these parameters.
    pub fn start(command: Command, params: Value) -> Self {
        let client = Self::start_without_handshake(command);
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    pub fn start_without_handshake(mut command: Command) -> Self {
        command
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("docent starts");
        Self {
            input: RefCell::new(child.stdin.take()),
            output: RefCell::new(BufReader::new(child.stdout.take().expect("a pipe"))),
            child: RefCell::new(child),
            last_id: Cell::new(0),
            received: RefCell::default(),
        }
    }

    /// Sends a request and waits for its result.
    pub fn request(&self, method: &str, params: Value) -> Value {
        let response = self.respond_to(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Sends a request and waits for its response, which may be an error.
    pub fn respond_to(&self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.wait_for(&json!(id))
    }

    /// Sends a request without waiting, and returns its id.
    pub fn post(&self, method: &str, params: Value) -> u64 {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the response with an id, which may have come before that of an earlier request.
    pub fn wait_for(&self, id: &Value) -> Value {
        let is_response = |message: &Value| message.get("method").is_none() && message["id"] == *id;
        let mut received = self.received.borrow_mut();
        if let Some(at) = received.iter().position(is_response) {
            return received.remove(at);
        }
        drop(received);
        loop {
            let message = self.receive();
            if is_response(&message) {
                return message;
            }
            self.received.borrow_mut().push(message);
        }
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn send(&self, message: &Value) {
        self.send_body(message.to_string().as_bytes());
    }

    /// Sends a message with any body.
    pub fn send_body(&self, body: &[u8]) {
        let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend(body);
        self.send_bytes(&bytes);
    }

    /// Sends bytes as given, which need not be a message.
    pub fn send_bytes(&self, bytes: &[u8]) {
        let mut input = self.input.borrow_mut();
        let input = input.as_mut().expect("stdin is open");
        input
            .write_all(bytes)
            .and_then(|()| input.flush())
            .expect("docent reads");
    }

    /// Waits for the next message.
    pub fn receive(&self) -> Value {
        let mut output = self.output.borrow_mut();
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = output.read_line(&mut line).expect("docent writes headers");
            assert!(read > 0, "docent has closed stdout");
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").expect("a header");
            assert_eq!(name, "Content-Length", "stdout has messages alone");
            length = value.parse().expect("a length");
        }
        let mut body = vec![0; length];
        output.read_exact(&mut body).expect("a whole message");
        serde_json::from_slice(&body).expect("a message is JSON")
    }

    /// The id of the server's process.
    pub fn process_id(&self) -> u32 {
        self.child.borrow().id()
    }

    /// Waits for the server to exit by itself, with stdin still open.
    pub fn wait(&self) -> ExitStatus {
        self.child.borrow_mut().wait().expect("docent ends")
    }

    /// Closes stdin and waits for the server to exit.
    pub fn close(self) -> ExitStatus {
        drop(self.input.borrow_mut().take());
        self.child.borrow_mut().wait().expect("docent ends")
    }
}

impl Drop for LspClient {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        // docent may have exited already.
        let _ = child.kill();
        let _ = child.wait();
    }
}
