//! The first build of the index as progress that the client shows.
//!
//! Invariant: progress is reported only after the client has agreed to it, and it ends if it has begun.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use docent_engine::deadline::Deadline;
use docent_engine::index::{Corpus, Patience, Progress};
use serde_json::{Value, json};

use super::served::ServedProject;
use super::transport::Outgoing;

/// Names the progress, and the request to show it.
const TOKEN: &str = "docent/index";

/// Whether the client shows the progress.
#[derive(Debug, Default)]
pub(super) struct ProgressConsent {
    is_given: AtomicBool,
}

impl ProgressConsent {
    /// Takes the client's answer to the request to show progress.
    pub(super) fn receive(&self, id: &Value, is_error: bool) {
        if id == TOKEN && !is_error {
            self.is_given.store(true, Ordering::Relaxed);
        }
    }
}

/// How far the report has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReportStage {
    #[default]
    Silent,
    Asked,
    /// With the last state that was sent.
    Begun(Progress),
}

/// Builds the index in the background, and reports how far it has come.
pub(super) fn build_index(
    served: Arc<ServedProject>,
    outgoing: Arc<Outgoing>,
    consent: Arc<ProgressConsent>,
) {
    let thread = thread::Builder::new().name("progress".into());
    let work = move || {
        let Some(project) = &served.project else { return };
        let stage = Mutex::new(ReportStage::default());
        let report = |progress: Progress| {
            let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
            if served.client.has_progress && progress.total > 0 {
                *stage = send_progress(*stage, progress, &outgoing, &consent);
            }
        };
        project
            .index
            .freshen(Corpus::Code, Patience::UntilDone, &Deadline::default(), &report);
        if let ReportStage::Begun(_) = *stage.lock().unwrap_or_else(PoisonError::into_inner) {
            outgoing.notify(
                "$/progress",
                &json!({ "token": TOKEN, "value": { "kind": "end" } }),
            );
        }
    };
    // Without a thread, the first request starts the index.
    let _ = thread.spawn(work);
}

fn send_progress(
    stage: ReportStage,
    progress: Progress,
    outgoing: &Outgoing,
    consent: &ProgressConsent,
) -> ReportStage {
    let percentage = progress.done.min(progress.total) * 100 / progress.total.max(1);
    let message = format!("{} of {} files", progress.done, progress.total);
    let value = match stage {
        ReportStage::Silent => {
            outgoing.request(
                TOKEN,
                "window/workDoneProgress/create",
                &json!({ "token": TOKEN }),
            );
            return ReportStage::Asked;
        }
        ReportStage::Asked if !consent.is_given.load(Ordering::Relaxed) => return stage,
        ReportStage::Asked => {
            json!({ "kind": "begin", "title": "Indexing", "message": message, "percentage": percentage })
        }
        ReportStage::Begun(last) if (last.done, last.total) == (progress.done, progress.total) => {
            return stage;
        }
        ReportStage::Begun(_) => json!({ "kind": "report", "message": message, "percentage": percentage }),
    };
    outgoing.notify("$/progress", &json!({ "token": TOKEN, "value": value }));
    ReportStage::Begun(progress)
}
