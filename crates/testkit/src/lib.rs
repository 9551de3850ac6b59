//! A sandbox project and the three ways to call docent in it.
//!
//! Everything runs the real binary with an environment of its own: a fixed clock, its own home, no variables of
//! whoever runs the tests. Helpers panic with what they saw; a test that cannot set the scene has failed.

#![expect(
    clippy::needless_pass_by_value,
    reason = "`call(tool, json!({ … }))` reads better than a reference"
)]

mod embedding_server;
mod http;
mod repo;
mod sandbox;
mod stdio;
mod user;

pub use embedding_server::{EmbeddingServer, Mood};
pub use http::{Exchange, HttpServer};
pub use repo::{JANE, JOHN};
pub use sandbox::{Answer, Finished, Sandbox};
pub use stdio::StdioClient;
pub use user::User;

use std::time::Duration;

use serde_json::{Value, json};

/// After this long without the event that it waits for, a test has failed. On a machine under load even short work takes
/// minutes, so this is no measure of speed.
pub const MAX_WAIT: Duration = Duration::from_mins(10);

/// How a client speaks: with a handshake, or with every request complete in itself.
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

    /// A request as this era writes it.
    fn request(self, id: u64, method: &str, params: Value) -> Value {
        self.request_of(id, method, params, json!({}))
    }

    /// The same of a client with these capabilities.
    fn request_of(self, id: u64, method: &str, mut params: Value, capabilities: Value) -> Value {
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

fn initialize(version: &str, capabilities: Value) -> Value {
    let client = json!({ "name": "testkit", "version": "0" });
    json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client })
}
