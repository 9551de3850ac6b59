//! A sandbox project, and the three ways to call docent in it: command line, stdio and HTTP.
//!
//! Every call runs the real binary in an environment of its own: a fixed clock, a home directory in the
//! sandbox, and no variables of the user who runs the tests.
//!
//! Left out: error values. A helper panics and prints what it saw, and the test has failed.

#![expect(
    clippy::needless_pass_by_value,
    reason = "`call(tool, json!({ … }))` reads better than a reference"
)]

mod answer;
mod embedding_server;
mod http;
mod lsp;
mod repo;
mod sample;
mod sandbox;
#[cfg(unix)]
mod special_files;
mod stdio;
mod user;

pub use answer::{Answer, first_path, notice, pretty};
pub use embedding_server::{Behaviour, EmbeddingServer};
pub use http::{Exchange, HttpServer};
pub use lsp::LspClient;
pub use repo::{JANE, JOHN};
pub use sample::{lcov_report, python_function};
pub use sandbox::{Finished, Sandbox, mark_escapes};
#[cfg(unix)]
pub use special_files::{copy_program, make_link, make_pipe, set_mode};
pub use stdio::StdioClient;
pub use user::User;

use std::time::Duration;

use serde_json::{Value, json};

/// A test fails after waiting this long for an event. It does not measure speed: a machine under load needs
/// minutes for short work.
pub const MAX_WAIT: Duration = Duration::from_mins(10);

/// The form of MCP that a client speaks: with a handshake, or with every request complete in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    Handshake,
    Stateless,
}

impl Era {
    pub const BOTH: [Self; 2] = [Self::Handshake, Self::Stateless];

    pub fn version(self) -> &'static str {
        match self {
            Self::Handshake => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }

    /// Builds a request as this era writes it.
    pub fn request(self, id: u64, method: &str, params: Value) -> Value {
        self.request_with_capabilities(id, method, params, json!({}))
    }

    /// Builds a request of a client with these capabilities.
    fn request_with_capabilities(
        self,
        id: u64,
        method: &str,
        mut params: Value,
        capabilities: Value,
    ) -> Value {
        if self == Self::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version(),
                "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "0" },
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }
}

/// Builds the parameters of `initialize`.
fn initialize_params(version: &str, capabilities: Value) -> Value {
    let client = json!({ "name": "testkit", "version": "0" });
    json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client })
}
