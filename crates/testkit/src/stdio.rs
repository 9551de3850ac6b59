//! An MCP client over stdio: starts docent and exchanges lines with it.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::{Answer, Era, User, initialize_params};

/// A running `docent serve`.
pub struct StdioClient {
    child: RefCell<Child>,
    input: RefCell<Option<Box<dyn Write>>>,
    output: RefCell<Box<dyn BufRead>>,
    era: Era,
    /// Answers elicitation requests. `None` for a client without elicitation.
    user: Option<User>,
    last_id: Cell<u64>,
}

impl StdioClient {
    /// Starts `docent serve`, and does the handshake if the era has one.
    pub fn start(command: Command, era: Era) -> Self {
        let client = Self::start_without_handshake(command, era);
        if era == Era::Handshake {
            client.initialize(era.version());
        }
        client
    }

    /// Starts `docent serve` for a client that can ask its user.
    pub fn start_with_user(command: Command, era: Era, user: User) -> Self {
        let mut client = Self::start_without_handshake(command, era);
        client.user = Some(user);
        if era == Era::Handshake {
            client.initialize(era.version());
        }
        client
    }

    /// Starts `docent serve` with its log written to `log`, and does the handshake.
    pub fn start_with_log(command: Command, log: Stdio) -> Self {
        let client = Self::spawn(command, Era::Handshake, log);
        client.initialize(Era::Handshake.version());
        client
    }

    /// Starts `docent serve` without a handshake.
    pub fn start_without_handshake(command: Command, era: Era) -> Self {
        Self::spawn(command, era, Stdio::null())
    }

    fn spawn(mut command: Command, era: Era, log: Stdio) -> Self {
        command
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = command.spawn().expect("docent starts");
        let input = child.stdin.take().expect("a pipe");
        let output = child.stdout.take().expect("a pipe");
        Self::new(child, Box::new(input), Box::new(BufReader::new(output)), era)
    }

    /// Starts `docent serve` over sockets instead of pipes, as clients on Node do, and does the handshake.
    #[cfg(unix)]
    pub fn start_over_sockets(mut command: Command) -> Self {
        use std::os::fd::OwnedFd;
        use std::os::unix::net::UnixStream;

        let (input, stdin) = UnixStream::pair().expect("a pair of sockets");
        let (output, stdout) = UnixStream::pair().expect("a pair of sockets");
        command
            .arg("serve")
            .stdin(OwnedFd::from(stdin))
            .stdout(OwnedFd::from(stdout))
            .stderr(Stdio::null());
        let child = command.spawn().expect("docent starts");
        let client = Self::new(
            child,
            Box::new(input),
            Box::new(BufReader::new(output)),
            Era::Handshake,
        );
        client.initialize(Era::Handshake.version());
        client
    }

    fn new(child: Child, input: Box<dyn Write>, output: Box<dyn BufRead>, era: Era) -> Self {
        Self {
            child: RefCell::new(child),
            input: RefCell::new(Some(input)),
            output: RefCell::new(output),
            era,
            user: None,
            last_id: Cell::new(0),
        }
    }

    /// Does the handshake and returns the result of `initialize`.
    pub fn initialize(&self, version: &str) -> Value {
        let response = self.request("initialize", initialize_params(version, self.capabilities()));
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        response["result"].clone()
    }

    /// Sends a request and waits for its response.
    pub fn request(&self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            if message["method"] == "elicitation/create"
                && let Some(response) = self.user.and_then(|user| user.response(&message["id"]))
            {
                self.send(response.to_string());
            }
        }
    }

    fn capabilities(&self) -> Value {
        self.user.map_or_else(|| json!({}), |_| User::capabilities())
    }

    /// Sends a request without waiting, and returns its id.
    pub fn post(&self, method: &str, params: Value) -> u64 {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let request = self
            .era
            .request_with_capabilities(id, method, params, self.capabilities());
        self.send(request.to_string());
        id
    }

    /// Calls a tool. If the server asks the user, repeats the call with the answer.
    pub fn call(&self, tool: &str, arguments: Value) -> Answer {
        let call = json!({ "name": tool, "arguments": arguments });
        let mut response = self.request("tools/call", call.clone());
        if let Some(user) = self.user
            && response["result"]["resultType"] == "input_required"
        {
            let mut repeated = user.responses(&response["result"]);
            repeated["name"] = call["name"].clone();
            repeated["arguments"] = call["arguments"].clone();
            response = self.request("tools/call", repeated);
        }
        Answer::from_result(&response["result"])
    }

    /// Sends a line as given, which need not be a message.
    pub fn send(&self, line: impl AsRef<[u8]>) {
        let mut input = self.input.borrow_mut();
        let input = input.as_mut().expect("stdin is open");
        input
            .write_all(line.as_ref())
            .and_then(|()| input.write_all(b"\n"))
            .expect("docent reads");
    }

    /// Waits for the next message.
    pub fn receive(&self) -> Value {
        let mut line = String::new();
        self.output
            .borrow_mut()
            .read_line(&mut line)
            .expect("docent writes UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
    }

    /// Closes stdin and waits for docent to exit. Returns the exit status and the unread rest of stdout.
    pub fn close(self) -> (ExitStatus, String) {
        drop(self.input.borrow_mut().take());
        let mut rest = String::new();
        self.output
            .borrow_mut()
            .read_to_string(&mut rest)
            .expect("docent writes UTF-8");
        let status = self.child.borrow_mut().wait().expect("docent ends");
        (status, rest)
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        // docent may have exited already.
        let _ = child.kill();
        let _ = child.wait();
    }
}
