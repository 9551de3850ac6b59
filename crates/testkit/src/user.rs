//! A user whom a client asks, and who answers as the test says.

use serde_json::{Value, json};

/// What a client does when docent wants to ask its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    Accepts,
    Declines,
    /// Closes the question, as clients do that have nobody to show it to.
    Cancels,
    /// Says that it can ask, and then that it knows no such thing.
    CannotBeAsked,
    /// Says that it can ask, and answers with something else.
    TalksNonsense,
    /// Says that it can ask, and never answers.
    IsSilent,
}

impl User {
    /// What such a client says it can do.
    pub(crate) fn capabilities() -> Value {
        json!({ "elicitation": { "form": {} } })
    }

    fn result(self) -> Value {
        match self {
            Self::Accepts => json!({ "action": "accept", "content": {} }),
            Self::Declines => json!({ "action": "decline" }),
            Self::Cancels => json!({ "action": "cancel" }),
            _ => json!({ "action": "maybe" }),
        }
    }

    /// The response to a question with this id, in the older era; nothing where none comes.
    pub(crate) fn response(self, id: &Value) -> Option<Value> {
        match self {
            Self::IsSilent => None,
            Self::CannotBeAsked => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
            }
            _ => Some(json!({ "jsonrpc": "2.0", "id": id, "result": self.result() })),
        }
    }

    /// What is added to a call when it is made again, in the newer era: an answer to each question.
    pub(crate) fn responses(self, asked: &Value) -> Value {
        let mut responses = json!({});
        for key in asked["inputRequests"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
        {
            responses[key] = self.result();
        }
        json!({ "inputResponses": responses, "requestState": asked["requestState"] })
    }
}
