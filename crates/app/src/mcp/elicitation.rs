//! Elicitation: questions to the user through an MCP client. In the older era the server sends a request; in
//! the newer one the call's result asks for input, and the client repeats the call with the user's answer.
//!
//! Invariant: an answer counts only if it belongs to a question that this server asked.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};

use crate::tools::consent::{Consent, Question, Questions, Verdict};

/// The key of the question in the newer era.
const APPROVE: &str = "approve";

/// Reads the consent that a call carries: an answer, in the newer era, or else whether the client can ask.
pub(crate) fn read_consent(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    questions: &Questions,
) -> Consent {
    if let (Some(responses), Some(word)) = (&request.input_responses, &request.request_state)
        && let Some(response) = responses.get(APPROVE)
        && let Some(question) = questions.take(word)
    {
        let answer = serde_json::from_value::<ElicitResult>(response.clone());
        return Consent::Answered {
            question,
            verdict: answer.map_or(Verdict::Unanswered, |answer| verdict(&answer.action)),
        };
    }
    let elicitation = context
        .client_capabilities()
        .and_then(|client| client.elicitation);
    // A client that names no mode of elicitation supports forms, by the protocol.
    match elicitation {
        Some(modes) if modes.form.is_some() || modes.url.is_none() => Consent::CanBeAsked,
        _ => Consent::Nobody,
    }
}

/// Asks and waits for the answer, in the older era.
pub(crate) async fn ask_user(
    context: &RequestContext<RoleServer>,
    question: &Question,
    patience: Duration,
) -> Consent {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question)));
    let options = PeerRequestOptions::with_timeout(patience);
    let verdict = match context.peer.send_request_with_option(request, options).await {
        Err(_) => Verdict::Unanswered,
        Ok(request) => match request.await_response().await {
            Ok(ClientResult::ElicitResult(answer)) => verdict(&answer.action),
            Err(ServiceError::Timeout { .. }) => Verdict::Late,
            _ => Verdict::Unanswered,
        },
    };
    Consent::Answered {
        question: question.key.clone(),
        verdict,
    }
}

/// The result that asks for input, in the newer era.
pub(crate) fn input_required(question: &Question, questions: &Questions) -> InputRequiredResult {
    let mut requests = InputRequests::new();
    let request = ElicitRequest::new(form(question));
    requests.insert(APPROVE.to_owned(), InputRequest::Elicitation(request));
    InputRequiredResult::new(Some(requests), Some(questions.open(question)))
}

/// A form without fields: the user accepts or declines.
fn form(question: &Question) -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.message.clone(),
        requested_schema: ElicitationSchema::new(std::collections::BTreeMap::new()),
    }
}

fn verdict(action: &ElicitationAction) -> Verdict {
    match action {
        ElicitationAction::Accept => Verdict::Accepted,
        ElicitationAction::Decline => Verdict::Declined,
        ElicitationAction::Cancel => Verdict::Dismissed,
        _ => Verdict::Unanswered,
    }
}
