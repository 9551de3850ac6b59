//! Limits on the strings of a message that outlive it.
//!
//! rmcp keeps the parameters of the handshake for as long as the session lives, and the id and the progress
//! token of a request until it is answered. A client chooses all of them, up to the size of a whole message.
//!
//! Invariant: what rmcp keeps of one message has at most a few kilobytes, arguments of running calls apart.

use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ClientNotification, ClientRequest, ElicitationCapability,
    ErrorData, FormElicitationCapability, GetMeta, Implementation, InitializeRequestParams, NumberOrString,
    ProtocolVersion, RequestId, RequestMetaObject, UrlElicitationCapability,
};

use crate::markdown::shorten;

/// The longest id or progress token of a request. Clients count, or use a UUID.
const MAX_ID_BYTES: usize = 1_000;

/// Protocol versions are dates.
const MAX_VERSION_CHARS: usize = 30;

/// Cuts the strings that would be kept. Returns the error for a message that cannot be cut, because its id or
/// progress token is sent back as it came, and the id of the request unless that is too long itself.
pub(crate) fn trim_message(message: &mut ClientJsonRpcMessage) -> Result<(), (ErrorData, Option<RequestId>)> {
    match message {
        ClientJsonRpcMessage::Request(request) => {
            if is_too_long(&request.id) {
                return Err((too_long(), None));
            }
            let token = request.request.get_meta().get_progress_token();
            if token.is_some_and(|token| is_too_long(&token.0)) {
                return Err((too_long(), Some(request.id.clone())));
            }
            if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                *request.request.get_meta_mut() = RequestMetaObject::default();
            }
            if let ClientRequest::InitializeRequest(initialize) = &mut request.request {
                let trimmed = trim_handshake(&initialize.params);
                initialize.params = trimmed;
            }
            Ok(())
        }
        // Nothing waits for an answer to them, so they are dropped with their text.
        _ => Ok(()),
    }
}

/// The request that a notification cancels.
pub(crate) fn cancelled_request(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

fn is_too_long(id: &NumberOrString) -> bool {
    matches!(id, NumberOrString::String(text) if text.len() > MAX_ID_BYTES)
}

fn too_long() -> ErrorData {
    let message =
        format!("Invalid request: the id or the progress token is longer than {MAX_ID_BYTES} bytes");
    ErrorData::invalid_request(message, None)
}

/// The parameters of the handshake, as far as they are read later: the client's name and whether it can ask
/// its user.
fn trim_handshake(params: &InitializeRequestParams) -> InitializeRequestParams {
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = params.capabilities.elicitation.as_ref().map(|modes| {
        let mut kept = ElicitationCapability::new();
        kept.form = modes.form.as_ref().map(|_| FormElicitationCapability::default());
        kept.url = modes.url.as_ref().map(|_| UrlElicitationCapability::default());
        kept
    });
    let client = Implementation::new(
        shorten(&params.client_info.name),
        shorten(&params.client_info.version),
    );
    let mut trimmed = InitializeRequestParams::new(capabilities, client);
    trimmed.protocol_version = trim_version(&params.protocol_version);
    trimmed
}

/// A version that is too long names none that exists, and neither does its beginning.
fn trim_version(version: &ProtocolVersion) -> ProtocolVersion {
    let text: String = version.as_str().chars().take(MAX_VERSION_CHARS).collect();
    serde_json::from_value(text.into()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn trim(message: Value) -> Result<Value, (ErrorData, Option<RequestId>)> {
        let mut message: ClientJsonRpcMessage = serde_json::from_value(message).unwrap();
        trim_message(&mut message)?;
        Ok(serde_json::to_value(&message).unwrap())
    }

    #[test]
    fn the_handshake_keeps_the_client_and_whether_it_can_ask() {
        let long = "x".repeat(1_000_000);
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "_meta": { "k": long.clone(), long.clone(): 1 },
            "protocolVersion": long,
            "capabilities": {
                "experimental": { long.clone(): { "a": long.clone() } },
                "extensions": { long.clone(): { "a": long.clone() } },
                "sampling": { "tools": { "a": long.clone() } },
                "roots": { "listChanged": true },
                "elicitation": { "form": {}, "url": {} },
            },
            "clientInfo": {
                "name": long, "version": long, "title": long, "description": long, "websiteUrl": long,
                "icons": [{ "src": long, "mimeType": long, "sizes": [long] }],
            },
        } });
        let kept = trim(message).unwrap();
        assert!(kept.to_string().len() < 2_000, "{kept}");
        assert_eq!(
            kept["params"]["capabilities"],
            json!({ "elicitation": { "form": {}, "url": {} } })
        );
        assert_eq!(
            kept["params"]["clientInfo"]["name"]
                .as_str()
                .unwrap()
                .chars()
                .count(),
            301
        );
    }

    #[test]
    fn a_usual_handshake_is_kept() {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "editor", "version": "1.2" },
        } });
        let mut kept = trim(message.clone()).unwrap();
        // Metadata of the handshake are dropped; rmcp writes none as an empty object.
        kept["params"].as_object_mut().unwrap().shift_remove("_meta");
        assert_eq!(kept, message);
    }

    #[test]
    fn long_ids_and_progress_tokens_are_refused() {
        let call = |id: Value, token: Value| {
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                "name": "hello", "arguments": {}, "_meta": { "progressToken": token },
            } })
        };
        let (long, longest) = ("x".repeat(MAX_ID_BYTES + 1), "x".repeat(MAX_ID_BYTES));
        assert!(trim(call(json!(longest), json!(longest))).is_ok());
        assert!(trim(call(json!(1), json!(2))).is_ok());
        for (message, id) in [
            (call(json!(long), json!(1)), None),
            (call(json!(1), json!(long)), Some(RequestId::Number(1))),
        ] {
            let (error, answered) = trim(message).unwrap_err();
            assert_eq!(answered, id);
            assert_eq!(
                error.message,
                "Invalid request: the id or the progress token is longer than 1000 bytes"
            );
        }
    }
}
