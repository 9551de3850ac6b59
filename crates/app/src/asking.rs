//! Asking the user through an MCP client: with a request of our own in the older era, with an answer that asks for input in
//! the newer one, where the client comes back with what the user said.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};

use crate::tools::consent::{Consent, Question, Verdict};

/// What the question is called in the newer era.
const APPROVE: &str = "approve";

/// What a call brings along.
pub(crate) fn brought(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Consent {
    if let (Some(responses), Some(state)) = (&request.input_responses, &request.request_state)
        && let Some(response) = responses.get(APPROVE)
    {
        let answer = serde_json::from_value::<ElicitResult>(response.clone());
        return Consent::Answered {
            about: state.clone(),
            verdict: answer.map_or(Verdict::Unanswered, |answer| verdict(&answer.action)),
        };
    }
    let elicitation = context
        .client_capabilities()
        .and_then(|client| client.elicitation);
    // A client that says no more than that it can ask, can ask with a form.
    match elicitation {
        Some(modes) if modes.form.is_some() || modes.url.is_none() => Consent::CanBeAsked,
        _ => Consent::Nobody,
    }
}

/// Asks now and waits, in the older era.
pub(crate) async fn ask(
    context: &RequestContext<RoleServer>,
    question: &Question,
    patience: Duration,
) -> Consent {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question)));
    let options = PeerRequestOptions::with_timeout(patience);
    let answer = match context.peer.send_request_with_option(request, options).await {
        Ok(asked) => asked.await_response().await,
        Err(error) => Err(error),
    };
    Consent::Answered {
        about: question.key.clone(),
        verdict: match answer {
            Ok(ClientResult::ElicitResult(answer)) => verdict(&answer.action),
            _ => Verdict::Unanswered,
        },
    }
}

/// The answer that asks, in the newer era.
pub(crate) fn input_required(question: &Question) -> InputRequiredResult {
    let mut requests = InputRequests::new();
    let request = ElicitRequest::new(form(question));
    requests.insert(APPROVE.to_owned(), InputRequest::Elicitation(request));
    InputRequiredResult::new(Some(requests), Some(question.key.clone()))
}

/// There is nothing to fill in: the answer is whether it is accepted.
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
