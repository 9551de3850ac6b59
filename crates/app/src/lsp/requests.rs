//! The requests that are answered, and the threads that answer them.
//!
//! Invariant: every request is answered once, also if it is cancelled, fails or panics, and no more than
//! [`MAX_UNANSWERED`] wait.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use docent_engine::deadline::Deadline;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::documents::DocumentSet;
use super::message::{ClientRequest, RequestFailure, code};
use super::served::{RequestView, ServedProject};
use super::transport::Outgoing;
use super::{
    call_hierarchy, definition, document_highlight, document_symbol, folding_range, hover, implementation,
    references, workspace_symbol,
};

/// Answers a request with these parameters.
type Handler = fn(&RequestView<'_>, Value) -> Result<Value, RequestFailure>;

/// What is answered beside the life cycle.
const HANDLERS: [(&str, Handler); 11] = [
    ("textDocument/documentSymbol", |view, params| {
        answer(view, params, document_symbol::answer)
    }),
    ("workspace/symbol", |view, params| {
        answer(view, params, workspace_symbol::answer)
    }),
    ("textDocument/definition", |view, params| {
        answer(view, params, definition::answer)
    }),
    ("textDocument/references", |view, params| {
        answer(view, params, references::answer)
    }),
    ("textDocument/implementation", |view, params| {
        answer(view, params, implementation::answer)
    }),
    ("textDocument/hover", |view, params| {
        answer(view, params, hover::answer)
    }),
    ("textDocument/documentHighlight", |view, params| {
        answer(view, params, document_highlight::answer)
    }),
    ("textDocument/foldingRange", |view, params| {
        answer(view, params, folding_range::answer)
    }),
    ("textDocument/prepareCallHierarchy", |view, params| {
        answer(view, params, call_hierarchy::prepare)
    }),
    ("callHierarchy/incomingCalls", |view, params| {
        answer(view, params, call_hierarchy::incoming)
    }),
    ("callHierarchy/outgoingCalls", |view, params| {
        answer(view, params, call_hierarchy::outgoing)
    }),
];

/// Requests that wait or are being answered.
const MAX_UNANSWERED: usize = 1_000;

/// Requests that are answered at once: a slow one does not hold up the next.
const THREADS: usize = 2;

/// A request takes no longer.
const MAX_TIME: Duration = Duration::from_secs(20);

/// A request with the state that it is about.
struct Job {
    request: ClientRequest,
    handler: Handler,
    served: Arc<ServedProject>,
    documents: DocumentSet,
    deadline: Deadline,
}

type Unanswered = Arc<Mutex<HashMap<String, Deadline>>>;

/// Hands requests to threads.
pub(super) struct RequestQueue {
    jobs: Sender<Job>,
    unanswered: Unanswered,
}

impl RequestQueue {
    pub(super) fn start(outgoing: &Arc<Outgoing>) -> std::io::Result<Self> {
        let (jobs, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let unanswered = Unanswered::default();
        for _ in 0..THREADS {
            let (receiver, unanswered, outgoing) = (receiver.clone(), unanswered.clone(), outgoing.clone());
            let thread = thread::Builder::new().name("lsp".into());
            thread.spawn(move || work(&receiver, &unanswered, &outgoing))?;
        }
        Ok(Self { jobs, unanswered })
    }

    /// Answers a request as soon as a thread is free. A failure is the answer already.
    pub(super) fn add(
        &self,
        request: ClientRequest,
        served: &Arc<ServedProject>,
        documents: &DocumentSet,
    ) -> Result<(), (Value, RequestFailure)> {
        let found = HANDLERS.iter().find(|(method, _)| *method == request.method);
        let Some((_, handler)) = found else {
            let message = format!("docent does not answer {}", cut_method(&request.method));
            return Err((request.id, RequestFailure::new(code::METHOD_NOT_FOUND, message)));
        };
        let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        if unanswered.len() >= MAX_UNANSWERED {
            let message = "too many requests wait for an answer";
            return Err((request.id, RequestFailure::new(code::REQUEST_FAILED, message)));
        }
        let clock = served
            .project
            .as_ref()
            .map(|project| project.clock)
            .unwrap_or_default();
        let deadline = Deadline::by(clock, MAX_TIME);
        unanswered.insert(request.id.to_string(), deadline.clone());
        drop(unanswered);
        let job = Job {
            request,
            handler: *handler,
            served: served.clone(),
            documents: documents.clone(),
            deadline,
        };
        // The threads live as long as this sender.
        let _ = self.jobs.send(job);
        Ok(())
    }

    /// Ends a request early. One that is answered already is left alone.
    pub(super) fn cancel(&self, id: &Value) {
        let unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(deadline) = unanswered.get(&id.to_string()) {
            deadline.cancel();
        }
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, unanswered: &Unanswered, outgoing: &Outgoing) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        let id = job.request.id.clone();
        let outcome = catch_unwind(AssertUnwindSafe(|| run(job)));
        unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id.to_string());
        match outcome {
            Ok(Ok(result)) => outgoing.answer(&id, &result),
            Ok(Err(failure)) => outgoing.refuse(&id, failure.code, &failure.message),
            Err(_) => outgoing.refuse(
                &id,
                code::INTERNAL_ERROR,
                "docent failed to answer; its log says why",
            ),
        }
    }
}

fn run(job: Job) -> Result<Value, RequestFailure> {
    let cancelled = || RequestFailure::new(code::REQUEST_CANCELLED, "the request was cancelled");
    job.deadline.check().map_err(|_| cancelled())?;
    let view = RequestView {
        served: &job.served,
        documents: &job.documents,
        deadline: &job.deadline,
    };
    (job.handler)(&view, job.request.params)
}

/// Parses the parameters of a request, and writes its result.
fn answer<P: DeserializeOwned, R: Serialize>(
    view: &RequestView<'_>,
    params: Value,
    handler: fn(&RequestView<'_>, &P) -> Result<R, RequestFailure>,
) -> Result<Value, RequestFailure> {
    let params = serde_json::from_value(params).map_err(|error| {
        RequestFailure::new(code::INVALID_PARAMS, format!("the parameters are wrong: {error}"))
    })?;
    let result = handler(view, &params)?;
    serde_json::to_value(result).map_err(|error| RequestFailure::new(code::INTERNAL_ERROR, error.to_string()))
}

/// A method's name as an error repeats it.
fn cut_method(method: &str) -> String {
    const MAX_CHARS: usize = 100;
    method
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_CHARS)
        .collect()
}
