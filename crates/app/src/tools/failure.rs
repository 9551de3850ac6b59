//! A failed call: its kind, and the dialect in which its group of tools has promised to write errors.
//!
//! Which error leads to which failure is decided in the groups, next to the calls of the engine.
//!
//! Invariant: no rendered failure has an invisible character. Messages repeat the words of the caller, and
//! names of files that the caller did not choose.

use std::borrow::Cow;

use docent_core::text::reveal::{find_hidden_char, reveal, reveal_part};
use docent_engine::deadline::Expired;
use docent_engine::files::{FileError, MOVED_PROJECT};
use serde_json::{Value, json};

use super::arguments::{ArgumentProblem, Object, ProblemKind};
use crate::markdown::shorten;

/// How errors are written. Each of the five contracts has its own form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `{"error", "details", "suggestion", …}`
    Json,
    /// `{"error", "code"}`: one sentence and an HTTP status.
    JsonWithCode,
    /// `Error`, `Details` and `Suggestion`, a blank line between.
    Markdown,
    /// One sentence.
    Sentence,
    /// One sentence after `Error: `.
    PrefixedSentence,
    /// One sentence after `Error: `, and the hint on a line of its own. All tools in the compact form.
    Compact,
}

/// A failed call.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) message: String,
    /// The subject of the failure, as the caller named it: `("path", "src/x.rs")`.
    subject: Option<(&'static str, String)>,
    details: Option<String>,
    hint: Option<String>,
    problems: Vec<ArgumentProblem>,
    retry_after: Option<u64>,
}

/// The kind of a failure. Fixes the HTTP status, the name in metrics and the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Invalid,
    UnknownTool,
    NoRepository,
    Denied,
    Missing,
    TooLarge,
    /// A file exists and cannot be parsed.
    Malformed,
    RateLimited,
    TimedOut,
    Cancelled,
    Internal,
}

impl FailureKind {
    /// The kind of a file error.
    pub(crate) fn of(error: &FileError) -> Self {
        match error {
            FileError::Missing => Self::Missing,
            FileError::Blocked
            | FileError::Outside
            | FileError::Ambiguous(_)
            | FileError::Link
            | FileError::Denied => Self::Denied,
            FileError::Directory | FileError::Special => Self::Invalid,
            FileError::TooLarge { .. } => Self::TooLarge,
            FileError::Io(_) => Self::Internal,
        }
    }

    /// The name in metrics and logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::UnknownTool => "unknown_tool",
            Self::NoRepository => "no_repository",
            Self::Denied => "denied",
            Self::Missing => "missing",
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::RateLimited => "rate_limited",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }

    /// The HTTP status that stands for it in [`Dialect::JsonWithCode`].
    fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Denied => 403,
            Self::Missing | Self::UnknownTool | Self::NoRepository => 404,
            Self::TooLarge => 413,
            Self::Malformed => 422,
            Self::RateLimited => 429,
            Self::TimedOut | Self::Cancelled | Self::Internal => 500,
        }
    }

    /// The name of the error in [`Dialect::Markdown`].
    fn type_name(self) -> &'static str {
        match self {
            Self::NoRepository => "GitRepositoryError",
            Self::Invalid | Self::UnknownTool => "InvalidInputError",
            Self::Denied => "PermissionError",
            Self::Missing => "NotFoundError",
            Self::TooLarge
            | Self::Malformed
            | Self::RateLimited
            | Self::TimedOut
            | Self::Cancelled
            | Self::Internal => "ProcessingError",
        }
    }

    /// The exit code on the command line: 2 for wrong usage, 1 for everything else.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Invalid | Self::UnknownTool => 2,
            _ => 1,
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            subject: None,
            details: None,
            hint: None,
            problems: Vec::new(),
            retry_after: None,
        }
    }

    pub(crate) fn about(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.subject = Some((name, shorten(&value.into())));
        self
    }

    pub(crate) fn details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Arguments that break the schema.
    pub(crate) fn problems(problems: Vec<ArgumentProblem>) -> Self {
        let message = problems
            .iter()
            .map(|problem| problem.message.as_str())
            .collect::<Vec<_>>()
            .join("; ");
        Self {
            problems,
            ..Self::new(FailureKind::Invalid, message)
        }
    }

    /// Arguments that fit the schema and still cannot be deserialised.
    #[expect(clippy::needless_pass_by_value, reason = "the signature `map_err` wants")]
    pub(crate) fn arguments(error: serde_json::Error) -> Self {
        Self::problems(vec![ArgumentProblem {
            kind: ProblemKind::Unreadable,
            path: Vec::new(),
            message: error.to_string(),
        }])
    }

    pub(crate) fn unknown_tool(name: &str, known: &[&str]) -> Self {
        Self::new(
            FailureKind::UnknownTool,
            format!("Unknown tool: {}", shorten(name)),
        )
        .about("tool", name)
        .hint(format!("The tools are: {}", known.join(", ")))
    }

    pub(crate) fn rate_limited(tool: &str, retry_after: u64) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(
                FailureKind::RateLimited,
                format!("Rate limit exceeded for {tool}"),
            )
            .hint(format!("Try again in {retry_after} s"))
        }
    }

    /// Files are opened below a handle of the project's directory. Another directory at its path is another
    /// project, of which neither the rules nor the index are known.
    pub(crate) fn moved_project() -> Self {
        Self::new(FailureKind::Missing, format!("{MOVED_PROJECT}."))
    }

    pub(crate) fn too_many_waiting() -> Self {
        Self::new(
            FailureKind::RateLimited,
            "Too many calls of this session wait for their turn",
        )
        .hint("Wait for some of the answers, then try again")
    }

    pub(crate) fn panicked(tool: &str) -> Self {
        Self::new(
            FailureKind::Internal,
            format!("{tool} failed inside docent; the log has the cause"),
        )
    }

    /// The text that a client gets.
    pub(crate) fn text(&self, dialect: Dialect) -> String {
        let text = match dialect {
            Dialect::Json => return self.json_text(),
            Dialect::JsonWithCode => {
                return json!({ "error": self.sentence(), "code": self.kind.status() }).to_string();
            }
            Dialect::Markdown => self.markdown_text(),
            Dialect::Sentence => self.sentence(),
            Dialect::PrefixedSentence => format!("Error: {}", self.sentence()),
            Dialect::Compact => self.compact_text(),
        };
        reveal_part(&text).into_owned()
    }

    fn json_text(&self) -> String {
        let mut text = Object::new();
        let mut put = |name: &str, value: Value| drop(text.insert(name.to_owned(), value));
        if self.problems.is_empty() {
            put("error", json!(self.message));
        } else {
            put("error", json!("Invalid parameters"));
            put("details", json!(self.problems));
        }
        if let Some((name, value)) = &self.subject {
            put(name, json!(value));
        }
        if let Some(details) = &self.details {
            put("details", json!(details));
        }
        if let Some(hint) = &self.hint {
            put("suggestion", json!(hint));
        }
        if let Some(seconds) = self.retry_after {
            put("retryAfter", json!(seconds));
        }
        let mut text = Value::Object(text);
        reveal_strings(&mut text);
        text.to_string()
    }

    fn markdown_text(&self) -> String {
        let mut details = self.message.clone();
        if let Some(more) = &self.details {
            details = format!("{details} ({more})");
        }
        let hint = self.hint.as_deref().unwrap_or(match self.kind {
            FailureKind::Invalid => "Correct the argument and call again",
            _ => "Try again; the log has more",
        });
        format!(
            "Error: {}\n\nDetails: {details}\n\nSuggestion: {hint}",
            self.kind.type_name()
        )
    }

    fn compact_text(&self) -> String {
        let message = self.message_with_subject();
        match &self.hint {
            Some(hint) => format!("Error: {message}\n{hint}"),
            None => format!("Error: {message}"),
        }
    }

    /// Everything in one line.
    pub(crate) fn sentence(&self) -> String {
        let mut sentence = self.message_with_subject();
        if let Some(hint) = &self.hint {
            sentence = format!("{sentence}. {hint}");
        }
        reveal_part(&sentence).into_owned()
    }

    /// The message, the subject and the details in one line.
    fn message_with_subject(&self) -> String {
        let mut sentence = self.message.clone();
        if let Some((_, value)) = &self.subject
            && self.kind != FailureKind::UnknownTool
        {
            sentence = format!("{sentence}: {value}");
        }
        if let Some(details) = &self.details {
            sentence = format!("{sentence} ({details})");
        }
        sentence
    }
}

/// Writes out the invisible characters in all texts of a JSON value, the names of fields included.
pub(crate) fn reveal_strings(value: &mut Value) {
    match value {
        Value::String(text) => reveal_string(text),
        Value::Array(items) => items.iter_mut().for_each(reveal_strings),
        Value::Object(fields) => {
            fields.values_mut().for_each(reveal_strings);
            if fields.keys().any(|name| find_hidden_char(name).is_some()) {
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(name, value)| (reveal(&name).into_owned(), value))
                    .collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same for one text. A byte order mark at its start stays: a whole file may begin with one.
pub(crate) fn reveal_string(text: &mut String) {
    if let Cow::Owned(shown) = reveal(text) {
        *text = shown;
    }
}

impl From<Expired> for Failure {
    fn from(expired: Expired) -> Self {
        match expired {
            Expired::TimedOut => Self::new(FailureKind::TimedOut, "The call took too long and was stopped")
                .hint("Ask for less, or raise call.timeout_seconds"),
            Expired::Cancelled => Self::new(FailureKind::Cancelled, "The call was cancelled"),
        }
    }
}
