//! An MCP client over HTTP: starts docent as a server and sends it requests.

use std::cell::OnceCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::{Answer, Era, User, initialize_params};

/// A running `docent serve --http`.
pub struct HttpServer {
    child: Child,
    address: String,
    session: OnceCell<String>,
}

/// An HTTP response: its status, session id and body.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub status: u16,
    pub session: Option<String>,
    pub body: String,
}

impl HttpServer {
    /// Starts a server on a free port of this machine.
    pub fn start(mut command: Command) -> Self {
        command
            .args(["serve", "--http", "127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("docent starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(
                stderr.read_line(&mut line).expect("UTF-8") > 0,
                "docent exited before it listened"
            );
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.trim().trim_end_matches("/mcp").to_owned();
            }
        };
        // Read the log to its end. Otherwise the pipe fills up and the server blocks.
        thread::spawn(move || drop(std::io::copy(&mut stderr, &mut std::io::sink())));
        Self {
            child,
            address,
            session: OnceCell::new(),
        }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Bytes of memory that the server takes now.
    #[cfg(target_os = "linux")]
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a project")]
    pub fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.expect("a size").trim().trim_end_matches(" kB");
        number.parse::<u64>().expect("a number") << 10
    }

    /// Calls a tool.
    pub fn call(&self, era: Era, tool: &str, arguments: Value) -> Answer {
        let message = self.request(era, "tools/call", json!({ "name": tool, "arguments": arguments }));
        Answer::from_result(&message["result"])
    }

    /// Calls a tool as a client that can ask its user, in a session of its own.
    pub fn call_with_user(&self, era: Era, user: User, tool: &str, arguments: Value) -> Answer {
        let call = json!({ "name": tool, "arguments": arguments });
        let message = match era {
            Era::Handshake => self.call_in_session(user, call),
            Era::Stateless => self.call_and_repeat(user, tool, call),
        };
        Answer::from_result(&message["result"])
    }

    /// Calls a tool in a new session and answers the questions that arrive before the response.
    fn call_in_session(&self, user: User, call: Value) -> Value {
        let era = Era::Handshake;
        let session = self.open_session(User::capabilities());
        let headers = [
            ("MCP-Protocol-Version", era.version().to_owned()),
            ("Mcp-Session-Id", session),
        ];
        let request = era.request(1, "tools/call", call);
        let mut response = self.send(&request.to_string(), &headers);
        let mut lines = BufReader::new(response.body_mut().as_reader()).lines();
        loop {
            let line = lines.next().expect("an answer").expect("UTF-8");
            let Some(data) = line.strip_prefix("data:").map(str::trim) else {
                continue;
            };
            let Ok(message) = serde_json::from_str::<Value>(data) else {
                continue;
            };
            if message["method"] == "elicitation/create" {
                if let Some(response) = user.response(&message["id"]) {
                    self.post(&response.to_string(), &headers);
                }
            } else if message["id"] == 1 {
                return message;
            }
        }
    }

    /// Calls a tool without a session. If the server asks the user, repeats the call with the answer.
    fn call_and_repeat(&self, user: User, tool: &str, mut call: Value) -> Value {
        let era = Era::Stateless;
        let headers = [
            ("MCP-Protocol-Version", era.version().to_owned()),
            ("Mcp-Method", "tools/call".to_owned()),
            ("Mcp-Name", tool.to_owned()),
        ];
        let send = |call: Value| {
            let request = era.request_with_capabilities(1, "tools/call", call, User::capabilities());
            self.post(&request.to_string(), &headers).message()
        };
        let first = send(call.clone());
        if first["result"]["resultType"] != "input_required" {
            return first;
        }
        let answers = user.responses(&first["result"]);
        call["inputResponses"] = answers["inputResponses"].clone();
        call["requestState"] = answers["requestState"].clone();
        send(call)
    }

    /// Sends a request and returns the JSON-RPC response.
    pub fn request(&self, era: Era, method: &str, params: Value) -> Value {
        self.request_with(era, method, params, &[])
    }

    /// Sends a request with more headers.
    pub fn request_with(&self, era: Era, method: &str, params: Value, more: &[(&str, String)]) -> Value {
        let mut headers = vec![("MCP-Protocol-Version", era.version().to_owned())];
        headers.extend_from_slice(more);
        match era {
            Era::Handshake => {
                let session = self.session.get_or_init(|| self.open_session(json!({})));
                headers.push(("Mcp-Session-Id", session.clone()));
            }
            Era::Stateless => {
                headers.push(("Mcp-Method", method.to_owned()));
                if let Some(name) = params["name"].as_str() {
                    headers.push(("Mcp-Name", name.to_owned()));
                }
            }
        }
        let exchange = self.post(&era.request(1, method, params).to_string(), &headers);
        exchange.message()
    }

    /// Opens a session and returns its id.
    pub fn open_session(&self, capabilities: Value) -> String {
        let version = Era::Handshake.version();
        let request = Era::Handshake.request(0, "initialize", initialize_params(version, capabilities));
        let session = self
            .post(&request.to_string(), &[])
            .session
            .expect("a session id");
        let headers = [
            ("MCP-Protocol-Version", version.to_owned()),
            ("Mcp-Session-Id", session.clone()),
        ];
        self.post(
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            &headers,
        );
        session
    }

    /// Posts a body to `/mcp`.
    pub fn post(&self, body: &str, headers: &[(&str, String)]) -> Exchange {
        let mut response = self.send(body, headers);
        Exchange {
            status: response.status().as_u16(),
            session: response
                .headers()
                .get("mcp-session-id")
                .map(|id| id.to_str().expect("ASCII").to_owned()),
            body: response.body_mut().read_to_string().expect("a body of UTF-8"),
        }
    }

    fn send(&self, body: &str, headers: &[(&str, String)]) -> ureq::http::Response<ureq::Body> {
        let agent =
            ureq::Agent::new_with_config(ureq::Agent::config_builder().http_status_as_error(false).build());
        let mut request = agent
            .post(format!("http://{}/mcp", self.address))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        request.send(body).expect("docent responds")
    }

    /// Sends bytes as given and reads until the server closes the connection.
    pub fn send_raw(&self, bytes: &[u8]) -> Exchange {
        let mut stream = TcpStream::connect(&self.address).expect("docent accepts");
        // The server may refuse and close the connection before everything is written.
        let _ = stream.write_all(bytes);
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        let response = String::from_utf8_lossy(&response).into_owned();
        let status = response
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0);
        let body = response
            .split_once("\r\n\r\n")
            .map_or(String::new(), |(_, body)| body.to_owned());
        Exchange {
            status,
            session: None,
            body,
        }
    }
}

impl Exchange {
    /// Parses the JSON-RPC message of the body: all of it, or the last event of a stream.
    pub fn message(&self) -> Value {
        let mut events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(str::trim);
        let text = events.rfind(|data| !data.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // docent may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
