//! One call of a tool: what the tool gets to see of it, and what it may reply.
//!
//! The way a call takes before and after the tool runs is in `dispatch`.

use docent_engine::deadline::Deadline;
use docent_engine::index::{Freshness, Progress};
use serde::Serialize;
use serde_json::Value;

use super::consent::{Consent, Question};
use crate::project::Project;
use crate::session::{Session, ShownParts};
use crate::settings::AnswerForm;

/// One call: the project it is about, who makes it, and what it may cost.
pub(crate) struct Call<'a> {
    pub(crate) project: &'a Project,
    pub(crate) session: &'a Session,
    pub(crate) consent: Consent,
    pub(crate) deadline: &'a Deadline,
    pub(crate) report: ReportProgress<'a>,
    pub(crate) audience: Audience,
    pub(crate) form: AnswerForm,
    /// The setting `answer.skip_shown`.
    pub(crate) skip_shown: bool,
    /// How many characters the answer may have.
    pub(crate) budget: usize,
    /// Freshness of the documentation, for tools whose arguments depend on it.
    pub(crate) docs: Option<Freshness>,
}

impl Call<'_> {
    /// True if these lines of a file need not be sent, because the client was sent them lately.
    pub(crate) fn is_shown(&self, path: &str, first_line: usize, text: &str) -> bool {
        let shown = self.shown().filter(|_| self.skip_shown);
        shown.is_some_and(|shown| shown.is_shown(path, first_line, text))
    }

    /// Records that lines of a file are sent.
    pub(crate) fn record_shown(&self, path: &str, first_line: usize, text: &str) {
        if let Some(shown) = self.shown() {
            shown.record(path, first_line, text);
        }
    }

    /// The contract form always sends what is asked for.
    fn shown(&self) -> Option<&ShownParts> {
        match self.form {
            AnswerForm::Compact => self.session.shown(),
            AnswerForm::Contract => None,
        }
    }
}

/// Is called with the progress of long work.
pub(crate) type ReportProgress<'a> = &'a (dyn Fn(Progress) + Sync);

/// The reader of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A model or a program: the answer keeps to the contract, and has a size limit.
    Client,
    /// A person at a terminal, who can scroll: the answer has no size limit.
    Person,
}

/// A tool's reply: a value, which clients get as text and as structured content, or text alone.
#[derive(Debug)]
pub(crate) enum Reply {
    Json(Value),
    Text(String),
    /// The user must be asked first; the call is then repeated with their answer.
    Ask(Question),
}

impl Reply {
    pub(crate) fn json(answer: &impl Serialize) -> Self {
        Self::Json(serde_json::to_value(answer).expect("answers are plain data with string keys"))
    }
}
