//! docent as a language server over stdio: symbols of every language with a grammar, from the index.
//!
//! The main thread reads messages and keeps the open documents; requests are answered by threads of
//! `requests`, one file for each. What a symbol is and where it is used is the engine's matter.
//!
//! Invariant: stdout has nothing but messages of the protocol, every request is answered, and the process
//! ends with `exit`, with stdin, or with the client's process.

mod call_hierarchy;
mod definition;
mod document_highlight;
mod document_symbol;
mod documents;
mod folding_range;
mod hover;
mod implementation;
mod initialize;
mod message;
mod parent;
mod progress;
mod ranges;
mod references;
mod requests;
mod served;
mod transport;
mod uri;
mod workspace_symbol;

use std::io::{BufReader, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use docent_engine::git::end_children;
use lsp_types::{DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::project::Project;
use documents::DocumentSet;
use initialize::ClientTraits;
use message::{ClientRequest, Incoming, RequestFailure, code};
use progress::ProgressConsent;
use requests::RequestQueue;
use served::ServedProject;
use transport::{MAX_MESSAGE_BYTES, MessageFrame, Outgoing, read_frame};

/// Opens the project around a folder of the client, or the usual one if it has none.
pub(crate) type OpenProject = Box<dyn Fn(Option<&Path>) -> anyhow::Result<Project>>;

/// Speaks the Language Server Protocol over stdio until the client ends it.
pub(crate) fn serve(open: OpenProject) -> ExitCode {
    let outgoing = Arc::new(Outgoing::new(Box::new(std::io::stdout())));
    let code = match RequestQueue::start(&outgoing) {
        Ok(requests) => LanguageServer::new(open, outgoing, requests).run(std::io::stdin()),
        Err(error) => {
            tracing::error!("no thread for requests: {error}");
            ExitCode::FAILURE
        }
    };
    // Requests that still run end with the process. Their git processes must not go on without it.
    end_children();
    code
}

/// The stage of the life cycle that the client has reached.
enum LifeStage {
    Started,
    Serving(Arc<ServedProject>),
    ShutDown,
}

struct LanguageServer {
    open: OpenProject,
    outgoing: Arc<Outgoing>,
    requests: RequestQueue,
    documents: DocumentSet,
    stage: LifeStage,
    consent: Arc<ProgressConsent>,
}

impl LanguageServer {
    fn new(open: OpenProject, outgoing: Arc<Outgoing>, requests: RequestQueue) -> Self {
        Self {
            open,
            outgoing,
            requests,
            documents: DocumentSet::default(),
            stage: LifeStage::Started,
            consent: Arc::default(),
        }
    }

    /// Reads messages until the end. The exit code says whether the client has shut the server down before.
    fn run(&mut self, input: impl Read) -> ExitCode {
        let mut input = BufReader::new(input);
        loop {
            let refused = match read_frame(&mut input) {
                Ok(MessageFrame::Message(body)) => match message::parse(&body) {
                    Ok(Incoming::Notification { method, .. }) if method == "exit" => break,
                    Ok(message) => self.receive(message),
                    Err(refused) => Err(refused),
                },
                Ok(MessageFrame::TooLong(bytes)) => {
                    let message =
                        format!("the message has {bytes} bytes, over the limit of {MAX_MESSAGE_BYTES}");
                    Err((Value::Null, RequestFailure::new(code::PARSE_ERROR, message)))
                }
                Ok(MessageFrame::NoLength) => {
                    let message = "a message begins with its Content-Length";
                    Err((Value::Null, RequestFailure::new(code::PARSE_ERROR, message)))
                }
                Ok(MessageFrame::End) | Err(_) => break,
            };
            if let Err((id, failure)) = refused {
                self.outgoing.refuse(&id, failure.code, &failure.message);
            }
        }
        match self.stage {
            LifeStage::ShutDown => ExitCode::SUCCESS,
            LifeStage::Started | LifeStage::Serving(_) => ExitCode::FAILURE,
        }
    }

    /// Handles a message. A failure is the answer to it.
    fn receive(&mut self, message: Incoming) -> Result<(), (Value, RequestFailure)> {
        match message {
            Incoming::Request(request) => self.receive_request(request),
            Incoming::Notification { method, params } => {
                self.receive_notification(&method, params);
                Ok(())
            }
            Incoming::Response { id, is_error } => {
                self.consent.receive(&id, is_error);
                Ok(())
            }
        }
    }

    fn receive_request(&mut self, request: ClientRequest) -> Result<(), (Value, RequestFailure)> {
        let refuse = |code: i32, message: &str| Err((request.id.clone(), RequestFailure::new(code, message)));
        match (request.method.as_str(), &self.stage) {
            ("initialize", LifeStage::Started) => {
                self.initialize(&request);
                Ok(())
            }
            ("initialize", _) => refuse(code::INVALID_REQUEST, "the server is initialized already"),
            (_, LifeStage::Started) => refuse(code::NOT_INITIALIZED, "the server is not initialized"),
            (_, LifeStage::ShutDown) => refuse(code::INVALID_REQUEST, "the server is shut down"),
            ("shutdown", LifeStage::Serving(_)) => {
                self.stage = LifeStage::ShutDown;
                self.documents = DocumentSet::default();
                self.outgoing.answer(&request.id, &Value::Null);
                Ok(())
            }
            (_, LifeStage::Serving(served)) => self.requests.add(request, served, &self.documents),
        }
    }

    fn initialize(&mut self, request: &ClientRequest) {
        let client = ClientTraits::of(&request.params);
        let result = serde_json::to_value(client.result()).expect("capabilities are plain values");
        self.outgoing.answer(&request.id, &result);
        if let Some(process) = client.process {
            parent::end_with(process);
        }
        let project = (self.open)(client.folder.as_deref())
            .inspect_err(|error| tracing::warn!("{error:#}"))
            .ok();
        self.stage = LifeStage::Serving(Arc::new(ServedProject { project, client }));
    }

    /// Handles a notification. Those that are not known, or come too early, are ignored, as the protocol
    /// asks.
    fn receive_notification(&mut self, method: &str, params: Value) {
        let LifeStage::Serving(served) = &self.stage else {
            return;
        };
        let served = served.clone();
        match method {
            "initialized" => progress::build_index(served, self.outgoing.clone(), self.consent.clone()),
            "$/cancelRequest" => self.requests.cancel(&params["id"]),
            "textDocument/didOpen" => {
                if let Some(DidOpenTextDocumentParams { text_document }) = parse(method, params)
                    && let Some(path) = served.locate(&text_document.uri)
                    && let Some(project) = &served.project
                {
                    let (uri, text) = (text_document.uri, text_document.text);
                    self.documents.open(&project.root, path, uri, text);
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = parse::<DidChangeTextDocumentParams>(method, params)
                    && let Some(path) = served.locate(&params.text_document.uri)
                    && let Some(project) = &served.project
                {
                    let (uri, changes) = (params.text_document.uri, params.content_changes);
                    let encoding = served.client.encoding;
                    self.documents
                        .change(&project.root, &path, uri, changes, encoding);
                }
            }
            "textDocument/didClose" => {
                if let Some(params) = parse::<DidCloseTextDocumentParams>(method, params)
                    && let Some(path) = served.locate(&params.text_document.uri)
                {
                    self.documents.close(&path);
                }
            }
            // A saved file is seen by the watcher of the index.
            _ => {}
        }
    }
}

fn parse<P: DeserializeOwned>(method: &str, params: Value) -> Option<P> {
    let parsed = serde_json::from_value(params);
    parsed
        .inspect_err(|error| tracing::warn!("{method} has wrong parameters: {error}"))
        .ok()
}
