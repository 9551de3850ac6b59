//! A user whom a client asks through elicitation, and who answers as the test says.

use serde_json::{Value, json};

/// How a client answers an elicitation request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    Accepts,
    Declines,
    /// Closes the question, as a client does that has no user to show it to.
    Cancels,
    /// Announces elicitation, then answers "method not found".
    CannotBeAsked,
    /// Announces elicitation, then answers with an unknown action.
    AnswersNonsense,
    /// Announces elicitation and never answers.
    NeverAnswers,
}

impl User {
    /// The capabilities that such a client announces.
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

    /// Builds the response to a question, in the era with a handshake. `None` if the user never answers.
    pub(crate) fn response(self, id: &Value) -> Option<Value> {
        match self {
            Self::NeverAnswers => None,
            Self::CannotBeAsked => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
            }
            _ => Some(json!({ "jsonrpc": "2.0", "id": id, "result": self.result() })),
        }
    }

    /// Builds what a stateless client adds when it repeats the call: an answer to each question.
    pub(crate) fn responses(self, questions: &Value) -> Value {
        let mut responses = json!({});
        for key in questions["inputRequests"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
        {
            responses[key] = self.result();
        }
        json!({ "inputResponses": responses, "requestState": questions["requestState"] })
    }
}
