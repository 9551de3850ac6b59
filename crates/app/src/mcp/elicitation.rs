//! Asking the user through an MCP client: with a request of our own in the older era, with an answer that asks for input in
//! the newer one, where the client comes back with what the user said.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};

use crate::tools::consent::{Consent, Question, Questions, Verdict};

/// What the question is called in the newer era.
const APPROVE: &str = "approve";

/// What a call brings along. An answer is one to a question that was asked before, in the newer era.
pub(crate) fn brought(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    questions: &Questions,
) -> Consent {
    if let (Some(responses), Some(word)) = (&request.input_responses, &request.request_state)
        && let Some(response) = responses.get(APPROVE)
        && let Some(about) = questions.take(word)
    {
        let answer = serde_json::from_value::<ElicitResult>(response.clone());
        return Consent::Answered {
            about,
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
    let verdict = match context.peer.send_request_with_option(request, options).await {
        Err(_) => Verdict::Unanswered,
        Ok(asked) => match asked.await_response().await {
            Ok(ClientResult::ElicitResult(answer)) => verdict(&answer.action),
            Err(ServiceError::Timeout { .. }) => Verdict::Late,
            _ => Verdict::Unanswered,
        },
    };
    Consent::Answered {
        about: question.key.clone(),
        verdict,
    }
}

/// The answer that asks, in the newer era.
pub(crate) fn input_required(question: &Question, questions: &Questions) -> InputRequiredResult {
    let mut requests = InputRequests::new();
    let request = ElicitRequest::new(form(question));
    requests.insert(APPROVE.to_owned(), InputRequest::Elicitation(request));
    InputRequiredResult::new(Some(requests), Some(questions.ask(question)))
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
