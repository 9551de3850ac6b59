//! The tools as an MCP server: the lists, and how a call comes in and its answer goes out.
//!
//! rmcp speaks both eras of the protocol. They differ here in log messages, which the older era requests once
//! and the newer one with each request, in subscriptions, and in how the user is asked.
//!
//! Invariant: a request that may block runs on a blocking thread, so that other messages are never held up.

#![expect(
    deprecated,
    reason = "log messages and subscriptions by resource are deprecated in 2026-07-28 and still part of the older era"
)]

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::request::Parts;
use docent_engine::index::Progress;
use docent_engine::sessions::Sessions;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool as Listed,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::connection_life::ConnectionLife;
use super::elicitation;
use super::instructions;
use super::notifications::{self, Listener, Subscribed};
use super::prompts;
use super::resources;
use super::tool_list;
use crate::markdown::shorten;
use crate::session::Session;
use crate::settings::Approval;
use crate::tools::arguments::Object;
use crate::tools::consent::Consent;
use crate::tools::dispatch::{Dispatch, ToolAnswer};
use crate::tools::failure::{Failure, FailureKind};

/// One client's view of the tools.
#[derive(Clone)]
pub(crate) struct ClientView {
    dispatch: Arc<Dispatch>,
    instructions: Arc<str>,
    session: Arc<Session>,
    stateless_sessions: Arc<StatelessSessions>,
    /// The resources that this connection has subscribed to, in the older era.
    subscribed: Subscribed,
    /// The least severe log message to send to a client of the older era. None are sent before it sets a
    /// level.
    log_level: Arc<Mutex<Option<LoggingLevel>>>,
    connection: Arc<ConnectionLife>,
}

impl ClientView {
    pub(crate) fn new(dispatch: Arc<Dispatch>) -> Self {
        Self {
            instructions: instructions::build(&dispatch).into(),
            session: Arc::new(Session::new(dispatch.project.sessions.clone())),
            dispatch,
            stateless_sessions: Arc::default(),
            subscribed: Subscribed::default(),
            log_level: Arc::default(),
            connection: ConnectionLife::begin(),
        }
    }

    /// A view of the same tools for another client.
    pub(crate) fn for_new_client(&self) -> Self {
        Self {
            session: Arc::new(Session::new(self.dispatch.project.sessions.clone())),
            subscribed: Subscribed::default(),
            log_level: Arc::default(),
            connection: ConnectionLife::begin(),
            ..self.clone()
        }
    }

    /// The session a request belongs to: this connection's, or in the stateless era over HTTP the caller's.
    fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        match context.extensions.get::<Parts>() {
            Some(parts) if is_stateless(context) => {
                let address = parts.extensions.get::<IpAddr>().copied();
                let name = context
                    .client_info()
                    .map(|client| shorten(&client.name))
                    .unwrap_or_default();
                self.stateless_sessions
                    .session((address, name), &self.dispatch.project.sessions)
            }
            _ => self.session.clone(),
        }
    }

    /// The same session, with its client's name set.
    fn named_session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        let session = self.session(context);
        if let Some(client) = context.client_info() {
            session.set_client(&client.name);
        }
        session
    }

    /// Writes the end of the session to the log of sessions.
    pub(crate) fn leave(&self) {
        self.session.end();
        self.dispatch.project.sessions.flush();
    }

    /// Runs work that may block on a blocking thread.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(Arc<Dispatch>) -> T + Send + 'static,
    ) -> T {
        let dispatch = self.dispatch.clone();
        match tokio::task::spawn_blocking(move || work(dispatch)).await {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// Sends a log message about a failure that is docent's own, if the client wants messages of that level.
    async fn log_failure(&self, context: &RequestContext<RoleServer>, failure: &Failure) {
        let level = match failure.kind {
            FailureKind::Internal => LoggingLevel::Error,
            FailureKind::TimedOut => LoggingLevel::Warning,
            _ => return,
        };
        let min_level = if is_stateless(context) {
            context.meta.log_level()
        } else {
            *self
                .log_level
                .lock()
                .expect("nothing panics while it holds the level")
        };
        if min_level.is_some_and(|min| level as u8 >= min as u8) {
            let message =
                LoggingMessageNotificationParam::new(level, failure.sentence().into()).with_logger("docent");
            // A client that has disconnected needs no message.
            let _ = context.peer.notify_logging_message(message).await;
        }
    }
}

/// True for requests of the newer era, which carry everything with them.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some()
}

/// A caller's address and the name it gives itself.
type Caller = (Option<IpAddr>, String);

/// Sessions of the stateless era over HTTP, which has no connections. They are identified by the caller's
/// address and name, the most recent first. Callers choose their names, so the number is bounded; an evicted
/// session only loses its rate limit and its module.
#[derive(Default)]
struct StatelessSessions(Mutex<VecDeque<(Caller, Arc<Session>)>>);

impl StatelessSessions {
    const MAX_SESSIONS: usize = 1_000;

    fn session(&self, caller: Caller, log: &Arc<Sessions>) -> Arc<Session> {
        let mut seen = self.0.lock().expect("nothing panics while it holds the sessions");
        let known = seen
            .iter()
            .position(|(other, _)| *other == caller)
            .and_then(|at| seen.remove(at));
        let (caller, session) = known.unwrap_or_else(|| (caller, Arc::new(Session::shared(log.clone()))));
        seen.push_front((caller, session.clone()));
        seen.truncate(Self::MAX_SESSIONS);
        session
    }
}

impl ServerHandler for ClientView {
    fn get_info(&self) -> ServerConfig {
        let docent = Implementation::new("docent", env!("CARGO_PKG_VERSION")).with_title("docent");
        ServerConfig::new(capabilities())
            .with_server_info(docent)
            .with_instructions(&*self.instructions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.run_blocking(|dispatch| tool_list::list_all(&dispatch)).await;
        Ok(ListToolsResult::with_all_items(listed))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self
            .run_blocking(|dispatch| prompts::list(&dispatch.project))
            .await;
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.connection.initialize() {
            return;
        }
        self.dispatch.project.index.begin();
        let notifying = notifications::notify(
            self.dispatch.clone(),
            self.session.clone(),
            Listener::Connection(context.peer),
            self.subscribed.clone(),
        );
        let ended = self.connection.ended();
        tokio::spawn(async move {
            tokio::select! {
                () = notifying => {}
                () = ended.cancelled() => {}
            }
        });
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self
            .log_level
            .lock()
            .expect("nothing panics while it holds the level") = Some(request.level);
        Ok(())
    }

    fn get_tool(&self, name: &str) -> Option<Listed> {
        let tool = self.dispatch.tools.iter().find(|tool| tool.name == name)?;
        Some(tool_list::list_tool(
            tool,
            &self.dispatch.project,
            self.dispatch.form,
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.run_blocking(move |dispatch| prompts::fill(&dispatch.project, &request))
            .await
            .map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let session = self.named_session(&context);
        self.run_blocking(move |dispatch| resources::read(&dispatch, &session, &request.uri))
            .await
            .map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let names = self
            .run_blocking(move |dispatch| resources::complete(&dispatch, &request))
            .await;
        Ok(CompleteResult::new(names))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (session, uri) = (self.named_session(&context), request.uri);
        let subscribed = self.subscribed.clone();
        self.run_blocking(
            move |dispatch| match resources::render(&dispatch, &session, &uri) {
                None => Err(resources::not_found(&uri)),
                Some(text) if subscribed.add(&uri, &text) => Ok(()),
                Some(_) => Err(ErrorData::invalid_params(
                    "there are too many subscriptions",
                    None,
                )),
            },
        )
        .await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.resources_list_changed = None;
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::is_known(uri));
            uris.truncate(notifications::MAX_SUBSCRIPTIONS);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(_listening) = self.connection.begin_listening() else {
            return Err(ErrorData::invalid_params(
                "too many requests listen already",
                None,
            ));
        };
        let session = self.named_session(context.request_context());
        let subscribed = Subscribed::default();
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let (session, subscribed, uri) = (session.clone(), subscribed.clone(), uri.clone());
            self.run_blocking(move |dispatch| {
                let text = resources::render(&dispatch, &session, &uri).unwrap_or_default();
                subscribed.add(&uri, &text)
            })
            .await;
        }
        let listener = Listener::Request(context.sink().clone());
        tokio::select! {
            () = notifications::notify(self.dispatch.clone(), session, listener, subscribed) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }

    /// rmcp reports a request whose parameters do not fit its method as one of an unknown method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        let is_known = match method.as_str() {
            "tools/call" | "prompts/get" | "resources/read" | "completion/complete" => true,
            "subscriptions/listen" => is_stateless(&context),
            "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => !is_stateless(&context),
            _ => false,
        };
        Err(if is_known {
            ErrorData::invalid_params(format!("the params do not fit {method}"), None)
        } else {
            ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("unknown method: {}", shorten(&method)),
                None,
            )
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let questions = &self.dispatch.questions;
        let mut consent = elicitation::read_consent(&request, &context, questions);
        let name = request.name.into_owned();
        let arguments = request.arguments.unwrap_or_default();
        let mut answer = self.call_once(&context, &name, arguments.clone(), consent).await;
        if let Some(question) = answer.question.take() {
            if is_stateless(&context) {
                return Ok(elicitation::input_required(&question, questions).into());
            }
            let patience = match self.dispatch.project.approval {
                Approval::ByUser(patience) => patience,
                Approval::Never => Duration::ZERO,
            };
            consent = tokio::select! {
                consent = elicitation::ask_user(&context, &question, patience) => consent,
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
            };
            answer = self.call_once(&context, &name, arguments, consent).await;
        }
        let content = vec![ContentBlock::text(answer.text)];
        if let Some(failure) = &answer.failure {
            self.log_failure(&context, failure).await;
            return Ok(CallToolResult::error(content).into());
        }
        let mut result = CallToolResult::success(content);
        result.structured_content = answer.structured;
        Ok(result.into())
    }
}

impl ClientView {
    /// Makes a call, and sends the client the progress of long work.
    async fn call_once(
        &self,
        context: &RequestContext<RoleServer>,
        name: &str,
        arguments: Object,
        consent: Consent,
    ) -> ToolAnswer {
        let session = self.named_session(context);
        let (progress, mut reports) = tokio::sync::watch::channel(Progress::default());
        let call = self.dispatch.clone().call_beside(
            session,
            consent,
            name.to_owned(),
            arguments,
            move |now| progress.send_modify(|last| *last = now),
            context.ct.clone(),
        );
        let send_progress = async {
            let Some(token) = context.meta.get_progress_token() else {
                return;
            };
            let mut last = Progress::default();
            while reports.changed().await.is_ok() {
                let now = *reports.borrow_and_update();
                if now.done > last.done {
                    last = now;
                    let message = format!("{} of {} files indexed", now.done, now.total);
                    let param = ProgressNotificationParam::new(token.clone(), to_float(now.done))
                        .with_total(to_float(now.total))
                        .with_message(message);
                    // A client that has disconnected needs no message.
                    let _ = context.peer.notify_progress(param).await;
                }
            }
        };
        let (answer, ()) = tokio::join!(call, send_progress);
        answer
    }
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities::builder()
        .enable_logging()
        .enable_completions()
        .enable_prompts()
        .enable_prompts_list_changed()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_tools()
        .enable_tool_list_changed()
        .build()
}

/// Counts of files are far below 2^53, up to which a float is exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn to_float(count: u64) -> f64 {
    count as f64
}
