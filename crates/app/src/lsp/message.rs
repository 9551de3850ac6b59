//! JSON-RPC messages: requests, notifications, and responses of the client.
//!
//! Invariant: any bytes lead to a message or to the error that the client is answered with.

use serde_json::{Map, Value};

/// A message of the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Incoming {
    Request(ClientRequest),
    Notification { method: String, params: Value },
    Response { id: Value, is_error: bool },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClientRequest {
    /// An integer or a text, which the answer repeats.
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Value,
}

/// The error that a request is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestFailure {
    pub(super) code: i32,
    pub(super) message: String,
}

/// The codes of JSON-RPC and of the Language Server Protocol.
pub(super) mod code {
    pub(in crate::lsp) const PARSE_ERROR: i32 = -32700;
    pub(in crate::lsp) const INVALID_REQUEST: i32 = -32600;
    pub(in crate::lsp) const METHOD_NOT_FOUND: i32 = -32601;
    pub(in crate::lsp) const INVALID_PARAMS: i32 = -32602;
    pub(in crate::lsp) const INTERNAL_ERROR: i32 = -32603;
    pub(in crate::lsp) const NOT_INITIALIZED: i32 = -32002;
    pub(in crate::lsp) const REQUEST_FAILED: i32 = -32803;
    pub(in crate::lsp) const REQUEST_CANCELLED: i32 = -32800;
}

impl RequestFailure {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// Parses a message. An error has the id of the request that it answers, which is null if that is not known.
pub(super) fn parse(body: &[u8]) -> Result<Incoming, (Value, RequestFailure)> {
    let invalid = |id: Value, message: &str| Err((id, RequestFailure::new(code::INVALID_REQUEST, message)));
    let mut object: Map<String, Value> = match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return invalid(Value::Null, "a message is a JSON object"),
        Err(error) => {
            let message = format!("the message is not JSON: {error}");
            return Err((Value::Null, RequestFailure::new(code::PARSE_ERROR, message)));
        }
    };
    let id = object.remove("id");
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    let known = id.clone().filter(is_id).unwrap_or_default();
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        None if id.is_some() && (object.contains_key("result") || object.contains_key("error")) => {
            return Ok(Incoming::Response {
                id: known,
                is_error: object.contains_key("error"),
            });
        }
        _ => return invalid(known, "a message has a method"),
    };
    let params = object.remove("params").unwrap_or_default();
    match id {
        None => Ok(Incoming::Notification { method, params }),
        Some(id) if is_id(&id) => Ok(Incoming::Request(ClientRequest { id, method, params })),
        Some(_) => invalid(Value::Null, "an id is an integer or a text"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_error(body: &[u8], id: Value, expected: i32) {
        let (answered, failure) = parse(body).unwrap_err();
        assert_eq!((answered, failure.code), (id, expected));
    }

    #[test]
    fn messages_are_told_apart() {
        let request = parse(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}"#).unwrap();
        let expected = ClientRequest {
            id: json!("a"),
            method: "m".into(),
            params: json!([1]),
        };
        assert_eq!(request, Incoming::Request(expected));
        let notification = parse(br#"{"method":"m"}"#).unwrap();
        assert_eq!(
            notification,
            Incoming::Notification {
                method: "m".into(),
                params: Value::Null
            }
        );
        let response = parse(br#"{"id":1,"error":{}}"#).unwrap();
        assert_eq!(
            response,
            Incoming::Response {
                id: json!(1),
                is_error: true
            }
        );
    }

    #[test]
    fn other_bytes_are_answered_with_an_error() {
        check_error(b"{", Value::Null, code::PARSE_ERROR);
        check_error(b"\xff\xff", Value::Null, code::PARSE_ERROR);
        check_error(b"[]", Value::Null, code::INVALID_REQUEST);
        check_error(br#"{"id":7}"#, json!(7), code::INVALID_REQUEST);
        check_error(br#"{"id":7,"method":3}"#, json!(7), code::INVALID_REQUEST);
        check_error(br#"{"id":1.5,"method":"m"}"#, Value::Null, code::INVALID_REQUEST);
        check_error(br#"{"id":null,"method":"m"}"#, Value::Null, code::INVALID_REQUEST);
        let deep = "[".repeat(100_000);
        check_error(deep.as_bytes(), Value::Null, code::PARSE_ERROR);
    }
}
