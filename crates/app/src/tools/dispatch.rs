//! The way of every call, whichever door it came through: find the tool, admit, validate the arguments, run
//! under a deadline, catch panics, then count, time and log.
//!
//! The tools' own behaviour is in their files; only here are they limited, measured and logged.
//!
//! Invariant: a call always has an answer. A failure or a panic of a tool reaches the client as text it can
//! read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_core::text::redact::redact;
use docent_engine::deadline::{Deadline, Expired};
use docent_engine::index::{Corpus, Freshness, Progress};
use docent_engine::metrics::Metrics;
use docent_engine::sessions::SessionUse;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::arguments::{self, Object};
use super::call::{Audience, Call, Reply, ReportProgress};
use super::consent::{Consent, Question, Questions};
use super::failure::{Dialect, Failure, reveal_string, reveal_strings};
use super::queue::{CallQueue, CallWeight, QueueFull};
use super::tool::Tool;
use crate::markdown::shorten;
use crate::project::Project;
use crate::session::Session;
use crate::settings::{AnswerForm, CallLimits};

/// The tools of one project, ready to be called.
pub(crate) struct Dispatch {
    pub(crate) tools: Vec<Tool>,
    pub(crate) project: Project,
    pub(crate) audience: Audience,
    pub(crate) form: AnswerForm,
    pub(crate) limits: CallLimits,
    pub(crate) metrics: Metrics,
    pub(crate) questions: Questions,
    /// Calls of all sessions, which take turns.
    queue: Arc<CallQueue>,
    /// Wakes those who notify clients of changes.
    changed: watch::Sender<ChangeCounts>,
}

/// How often something has happened that clients may have to be notified of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangeCounts {
    /// Changes of the index.
    pub(crate) index: u64,
    /// Calls of any session.
    pub(crate) calls: u64,
}

/// The caller's side of a call.
#[derive(Clone)]
pub(crate) struct CallContext<'a> {
    pub(crate) session: &'a Session,
    pub(crate) consent: Consent,
    pub(crate) deadline: &'a Deadline,
    pub(crate) report: ReportProgress<'a>,
}

/// The answer to a call.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    pub(crate) text: String,
    /// The same as a value, for tools that answer in JSON.
    pub(crate) structured: Option<Value>,
    pub(crate) failure: Option<Failure>,
    /// Set when the call needs the user's confirmation; the client repeats the call with their answer.
    pub(crate) question: Option<Question>,
}

impl Dispatch {
    pub(crate) fn new(tools: Vec<Tool>, project: Project, limits: CallLimits) -> Self {
        let changed = watch::Sender::new(ChangeCounts::default());
        let index_changed = changed.clone();
        project.index.on_change(Box::new(move || {
            index_changed.send_modify(|changes| changes.index += 1);
        }));
        Self {
            tools,
            project,
            audience: Audience::Client,
            form: AnswerForm::Contract,
            limits,
            metrics: Metrics::default(),
            questions: Questions::default(),
            queue: CallQueue::new(),
            changed,
        }
    }

    /// Subscribes to changes that clients may have to be notified of: of the index, and by calls.
    pub(crate) fn changes(&self) -> watch::Receiver<ChangeCounts> {
        self.changed.subscribe()
    }

    /// Makes one call and waits for it.
    pub(crate) fn call(&self, caller: CallContext<'_>, name: &str, arguments: Object) -> ToolAnswer {
        let session = caller.session;
        let started = Instant::now();
        let logged_arguments = redact_arguments(&arguments);
        let Some((tool, per_minute)) = self.find(name) else {
            return self.refuse_unknown_tool(name, session, &logged_arguments, started);
        };

        let dialect = self.dialect(Some(tool), &arguments);
        let slow_limit = tool.slow_limit(&arguments);
        let outcome = self
            .admit(tool, per_minute, &caller)
            .and_then(|()| self.check_project())
            .and_then(|()| self.validate(tool, arguments, &caller))
            .and_then(|(arguments, docs)| self.run(tool, arguments, caller, docs));
        let answer = match outcome {
            Ok(reply) => ToolAnswer::from_reply(reply, tool.indented, self.form),
            Err(failure) => ToolAnswer::from_failure(failure, dialect),
        };

        if answer.question.is_some() {
            // The call is not over. It is counted when the client repeats it with the user's answer.
            tracing::info!(tool = tool.name, session = session.id, "the user is asked");
            return answer;
        }
        session.record_use(SessionUse::Tool, tool.name);
        if let Some(shown) = session.shown() {
            shown.count_answer(answer.text.len());
        }
        self.changed.send_modify(|changes| changes.calls += 1);
        let took = started.elapsed();
        self.record(tool, session, &logged_arguments, took, &answer);
        // A person at a terminal has waited for it and needs no warning.
        if took > slow_limit && self.audience == Audience::Client {
            tracing::warn!(
                tool = tool.name,
                session = session.id,
                ms = milliseconds(took),
                limit = milliseconds(slow_limit),
                "slow call"
            );
        }
        answer
    }

    /// Makes one call from async code, on a blocking thread; `cancelled` ends it early.
    pub(crate) async fn call_beside(
        self: Arc<Self>,
        session: Arc<Session>,
        consent: Consent,
        name: String,
        arguments: Object,
        report: impl Fn(Progress) + Send + Sync + 'static,
        cancelled: CancellationToken,
    ) -> ToolAnswer {
        let deadline = self.deadline();
        let weight = self
            .find(&name)
            .map_or(CallWeight::Light, |(tool, _)| tool.weight);
        let slot = tokio::select! {
            slot = self.queue.enter(&session.id, weight) => slot,
            () = cancelled.cancelled() => {
                return self.refuse_waiting(Expired::Cancelled.into(), &name, &arguments);
            }
        };
        let slot = match slot {
            Ok(slot) => slot,
            Err(QueueFull) => return self.refuse_waiting(Failure::too_many_waiting(), &name, &arguments),
        };
        let no_tool_dialect = self.dialect(None, &arguments);
        let mut work = tokio::task::spawn_blocking({
            let deadline = deadline.clone();
            move || {
                let _slot = slot;
                let caller = CallContext {
                    session: &session,
                    consent,
                    deadline: &deadline,
                    report: &report,
                };
                self.call(caller, &name, arguments)
            }
        });
        let finished = tokio::select! {
            finished = &mut work => finished,
            () = cancelled.cancelled() => {
                deadline.cancel();
                work.await
            }
        };
        finished.unwrap_or_else(|_| ToolAnswer::from_failure(Failure::panicked("the call"), no_tool_dialect))
    }

    /// The deadline of a call that starts now.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::by(self.project.clock, self.limits.call_time)
    }

    fn find(&self, name: &str) -> Option<(&Tool, u32)> {
        let at = self.tools.iter().position(|tool| tool.name == name)?;
        Some((&self.tools[at], self.limits.per_minute[at]))
    }

    /// The dialect in which a call with these arguments gets its errors. `tool` is `None` for errors that
    /// belong to no tool.
    fn dialect(&self, tool: Option<&Tool>, arguments: &Object) -> Dialect {
        match (self.form, tool) {
            (AnswerForm::Compact, _) => Dialect::Compact,
            (AnswerForm::Contract, Some(tool)) => tool.dialect(arguments),
            (AnswerForm::Contract, None) => Dialect::Json,
        }
    }

    fn refuse_unknown_tool(
        &self,
        name: &str,
        session: &Session,
        logged_arguments: &str,
        started: Instant,
    ) -> ToolAnswer {
        let known: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
        let failure = Failure::unknown_tool(name, &known);
        tracing::warn!(
            tool = shorten(&redact(name)),
            session = session.id,
            arguments = logged_arguments,
            "unknown tool"
        );
        self.metrics
            .record("unknown", started.elapsed(), Some(failure.kind.name()));
        ToolAnswer::from_failure(failure, self.dialect(None, &Object::new()))
    }

    /// Answers and counts a call that never had its turn.
    fn refuse_waiting(&self, failure: Failure, name: &str, arguments: &Object) -> ToolAnswer {
        let tool = self.find(name).map(|(tool, _)| tool);
        self.metrics.record(
            tool.map_or("unknown", |tool| tool.name),
            Duration::ZERO,
            Some(failure.kind.name()),
        );
        ToolAnswer::from_failure(failure, self.dialect(tool, arguments))
    }

    /// Counts the call against the session's rate limit.
    fn admit(&self, tool: &Tool, per_minute: u32, caller: &CallContext<'_>) -> Result<(), Failure> {
        // A call that is repeated with the user's answer was counted the first time.
        if matches!(caller.consent, Consent::Answered { .. }) {
            return Ok(());
        }
        caller
            .session
            .admit(tool.name, per_minute, self.project.clock.instant())
            .map_err(|seconds| Failure::rate_limited(tool.name, seconds))
    }

    /// Refuses the call if another directory was put at the project's path. Without this check some tools
    /// would answer from the old directory, by their handle of it, and others from the new one.
    pub(crate) fn check_project(&self) -> Result<(), Failure> {
        if self.project.root.is_still_there() {
            Ok(())
        } else {
            Err(Failure::moved_project())
        }
    }

    /// Validates the arguments. For a tool whose arguments depend on the documentation, that is indexed
    /// first, and its freshness is returned.
    fn validate(
        &self,
        tool: &Tool,
        arguments: Object,
        caller: &CallContext<'_>,
    ) -> Result<(Object, Option<Freshness>), Failure> {
        let given = arguments.clone();
        if !tool.is_adaptive() {
            let arguments = arguments::check(tool.input_in(self.form), arguments)
                .map_err(|problems| tool.refuse(problems, &given))?;
            return Ok((arguments, None));
        }
        let patience = self.project.search.patience;
        let index = &self.project.index;
        let docs = index.freshen(Corpus::Docs, patience, caller.deadline, caller.report);
        let schema = tool
            .describe(&self.project, false)
            .map_or_else(|| tool.input.clone(), |description| Arc::new(description.input));
        match arguments::check(&schema, arguments) {
            Ok(arguments) => Ok((arguments, Some(docs))),
            Err(problems) if docs.pending > 0 || docs.unknown => Err(tool
                .refuse(problems, &given)
                .hint("The documentation is being indexed and may have more; ask again in a moment.")),
            Err(problems) => Err(tool.refuse(problems, &given)),
        }
    }

    fn run(
        &self,
        tool: &Tool,
        arguments: Object,
        caller: CallContext<'_>,
        docs: Option<Freshness>,
    ) -> Result<Reply, Failure> {
        caller.deadline.check()?;
        let call = Call {
            project: &self.project,
            session: caller.session,
            consent: caller.consent,
            deadline: caller.deadline,
            report: caller.report,
            audience: self.audience,
            form: self.form,
            skip_shown: self.limits.skip_shown,
            budget: match self.audience {
                Audience::Client => self.limits.answer_chars,
                Audience::Person => usize::MAX,
            },
            docs,
        };
        catch_unwind(AssertUnwindSafe(|| tool.run(&call, arguments))).unwrap_or_else(|panic| {
            let cause = panic
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            tracing::error!(tool = tool.name, cause, "a tool panicked");
            Err(Failure::panicked(tool.name))
        })
    }

    /// Counts and logs a finished call.
    fn record(
        &self,
        tool: &Tool,
        session: &Session,
        logged_arguments: &str,
        took: Duration,
        answer: &ToolAnswer,
    ) {
        let error = answer.failure.as_ref().map(|failure| failure.kind.name());
        self.metrics.record(tool.name, took, error);
        tracing::info!(
            tool = tool.name,
            session = session.id,
            arguments = logged_arguments,
            ms = milliseconds(took),
            size = answer.text.len(),
            success = error.is_none(),
            error,
            "tool call"
        );
    }
}

impl ToolAnswer {
    /// An answer without invisible characters. Tools write out those of files and commits; the caller's own
    /// words, which many answers repeat, are written out here.
    fn from_reply(reply: Reply, indented: bool, form: AnswerForm) -> Self {
        let mut answer = Self {
            text: String::new(),
            structured: None,
            failure: None,
            question: None,
        };
        match reply {
            Reply::Json(mut value) => {
                reveal_strings(&mut value);
                answer.text = if indented {
                    format!("{value:#}")
                } else {
                    value.to_string()
                };
                // Clients that get structured content drop the text, which the compact form is all about.
                answer.structured = (form == AnswerForm::Contract).then_some(value);
            }
            Reply::Text(mut text) => {
                reveal_string(&mut text);
                answer.text = text;
            }
            Reply::Ask(question) => answer.question = Some(question),
        }
        answer
    }

    fn from_failure(failure: Failure, dialect: Dialect) -> Self {
        Self {
            text: failure.text(dialect),
            structured: None,
            failure: Some(failure),
            question: None,
        }
    }
}

/// Milliseconds with three decimals, for the log.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// The arguments as the log may have them: shortened, and without secrets. Values are redacted before they
/// are quoted, and the whole text once more, for secrets that only the name of their argument gives away.
fn redact_arguments(arguments: &Object) -> String {
    let redacted: Object = arguments
        .iter()
        .map(|(name, value)| (name.clone(), redact_value(value)))
        .collect();
    let json = serde_json::to_string(&redacted).expect("JSON values can be written as JSON");
    shorten(&redact(&json))
}

fn redact_value(value: &Value) -> Value {
    match value {
        // Redact more than is logged: a secret that is cut in two would not be recognised.
        Value::String(text) => {
            let end = text.char_indices().nth(2_000).map_or(text.len(), |(end, _)| end);
            shorten(&redact(&text[..end])).into()
        }
        Value::Array(items) => items.iter().take(10).map(redact_value).collect(),
        Value::Object(inner) => inner
            .iter()
            .take(10)
            .map(|(name, value)| (name.clone(), redact_value(value)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_core::access::Access;
    use docent_core::docs::listing::ProjectTrust;
    use docent_core::rank::boosts::BoostRules;
    use docent_engine::accesses::Accesses;
    use docent_engine::clock::Clock;
    use docent_engine::coverage::{Coverage, ReportScope};
    use docent_engine::files::Root;
    use docent_engine::git::{Git, GitEnvironment};
    use docent_engine::index::{Index, IndexOptions, Patience};
    use docent_engine::links::Links;
    use docent_engine::memory::Memory;
    use docent_engine::sessions::Sessions;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use crate::project::{LinkedProjects, SearchSettings};
    use crate::settings::{Approval, DocsSettings};
    use crate::tools::tool::Group;

    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}

    fn dispatch(run: fn(&Call<'_>, &Nothing) -> Result<Reply, Failure>, per_minute: u32) -> Dispatch {
        let tools = vec![Tool::new("probe", Group::Context, "A tool for tests", run)];
        let root = Root::open(std::env::temp_dir().as_path(), Access::new([]).unwrap()).unwrap();
        let limits = CallLimits {
            answer_chars: 20_000,
            skip_shown: true,
            call_time: Duration::from_secs(5),
            per_minute: vec![per_minute],
        };
        let git = Arc::new(Git::new(
            root.clone(),
            GitEnvironment::default(),
            Clock::System,
            None,
        ));
        let coverage = Coverage::new(
            root.clone(),
            ReportScope::Machine,
            Clock::System,
            std::env::temp_dir(),
        );
        let accesses = Arc::new(Accesses::new(None, Clock::System));
        let project = Project {
            git,
            coverage,
            index: Index::new(root.clone(), None, accesses.clone(), IndexOptions::default()),
            linked: LinkedProjects::new(
                Links::new(None),
                Box::new(|_| anyhow::bail!("there are no others")),
            ),
            search: SearchSettings {
                boosts: BoostRules::default(),
                patience: Patience::Moment,
            },
            memory: Memory::new(root.clone(), Clock::System, None),
            sessions: Arc::new(Sessions::new(None, Clock::System)),
            approval: Approval::Never,
            docs: DocsSettings::default(),
            trust: ProjectTrust::Untrusted,
            has_wrong_settings: false,
            root,
            accesses,
            clock: Clock::System,
        };
        Dispatch::new(tools, project, limits)
    }

    fn session(dispatch: &Dispatch) -> Session {
        Session::new(dispatch.project.sessions.clone())
    }

    fn call(dispatch: &Dispatch, session: &Session, deadline: &Deadline) -> String {
        let caller = CallContext {
            session,
            consent: Consent::Nobody,
            deadline,
            report: &|_| {},
        };
        dispatch.call(caller, "probe", Object::new()).text
    }

    #[test]
    fn a_panic_is_an_answer() {
        let dispatch = dispatch(|_, _| panic!("broken"), 0);
        let text = call(&dispatch, &session(&dispatch), &Deadline::default());
        assert_eq!(
            text,
            r#"{"error":"probe failed inside docent; the log has the cause"}"#
        );
        assert_eq!(dispatch.metrics.figures()[0].errors, [("internal", 1)].into());
    }

    #[test]
    fn a_call_over_the_limit_is_told_when_to_come_back() {
        let dispatch = dispatch(|_, _| Ok(Reply::json(&json!({}))), 1);
        let session = session(&dispatch);
        assert_eq!(call(&dispatch, &session, &Deadline::default()), "{}");
        assert_eq!(
            call(&dispatch, &session, &Deadline::default()),
            r#"{"error":"Rate limit exceeded for probe","suggestion":"Try again in 60 s","retryAfter":60}"#
        );
    }

    #[test]
    fn a_call_that_is_out_of_time_or_cancelled_does_not_start() {
        let dispatch = dispatch(|_, _| panic!("it must not run"), 0);
        let late = call(&dispatch, &session(&dispatch), &Deadline::after(Duration::ZERO));
        assert_eq!(
            late,
            r#"{"error":"The call took too long and was stopped","suggestion":"Ask for less, or raise call.timeout_seconds"}"#
        );
        let cancelled = Deadline::default();
        cancelled.cancel();
        assert_eq!(
            call(&dispatch, &session(&dispatch), &cancelled),
            r#"{"error":"The call was cancelled"}"#
        );
    }

    #[test]
    fn cancelling_ends_a_running_call() {
        fn until_cancelled(call: &Call<'_>, _: &Nothing) -> Result<Reply, Failure> {
            loop {
                call.deadline.check()?;
                std::thread::yield_now();
            }
        }
        let dispatch = Arc::new(dispatch(until_cancelled, 0));
        let cancelled = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let session = Arc::new(session(&dispatch));
        let answer = runtime.block_on(async {
            let call = dispatch.call_beside(
                session,
                Consent::Nobody,
                "probe".into(),
                Object::new(),
                |_| {},
                cancelled.clone(),
            );
            tokio::join!(call, async { cancelled.cancel() }).0
        });
        assert_eq!(answer.text, r#"{"error":"The call was cancelled"}"#);
    }

    #[test]
    fn logged_arguments_are_short_and_without_secrets() {
        let log = |arguments: Value| redact_arguments(arguments.as_object().unwrap());
        assert_eq!(log(json!({ "token": "abcdef123" })), r#"{"token":"[redacted]"}"#);
        assert_eq!(
            log(json!({ "pattern": "password = \"hunter22\"" })),
            r#"{"pattern":"password = \"[redacted]\""}"#
        );
        let nested = log(json!({ "a": ["{\"api_key\":\"abcdef99\"}"], "b": { "secret": "abcdef99" } }));
        assert!(!nested.contains("abcdef99"), "{nested}");
        assert_eq!(log(json!({ "text": "x".repeat(500) })).chars().count(), 301);
    }
}
