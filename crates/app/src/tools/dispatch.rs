//! The way every call goes, from whichever side it came: look the tool up, admit, check the arguments, run under a
//! deadline, catch what breaks, then count, time and log.
//!
//! Invariant: a call always has an answer. Nothing a tool does, panics included, reaches the client as
//! anything but text it can read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_core::redact::redact;
use docent_engine::accesses::Accesses;
use docent_engine::clock::Clock;
use docent_engine::coverage::Coverage;
use docent_engine::deadline::{Deadline, Expired};
use docent_engine::files::Root;
use docent_engine::git::Git;
use docent_engine::index::{Corpus, Freshness, Index, Progress};
use docent_engine::memory::Memory;
use docent_engine::metrics::Metrics;
use docent_engine::sessions::{SessionUse, Sessions};
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::consent::{Consent, Question, Questions};
use super::failure::{Failure, brief};
use super::limit::Session;
use super::linked::Linked;
use super::{Approval, Audience, Call, Docs, Group, Object, Reply, Report, SearchSettings, Tool, arguments};

/// The tools of one project, ready to be called.
pub(crate) struct Dispatch {
    pub(crate) tools: Vec<Tool>,
    pub(crate) project: Project,
    pub(crate) audience: Audience,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) questions: Questions,
    /// Room for calls that run at once; more of them wait.
    places: Arc<Semaphore>,
    /// Says when what clients were told of may have changed.
    changed: watch::Sender<ChangeCounts>,
}

/// How often something happened that a client may have to be told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangeCounts {
    /// The index is another.
    pub(crate) index: u64,
    /// A session did something.
    pub(crate) calls: u64,
}

/// What the tools are about.
pub(crate) struct Project {
    pub(crate) root: Root,
    pub(crate) git: Arc<Git>,
    pub(crate) coverage: Coverage,
    pub(crate) accesses: Arc<Accesses>,
    pub(crate) index: Index,
    pub(crate) linked: Linked,
    pub(crate) search: SearchSettings,
    pub(crate) memory: Memory,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) approval: Approval,
    pub(crate) docs: Docs,
    pub(crate) clock: Clock,
}

/// Who calls, and until when.
#[derive(Clone)]
pub(crate) struct CallContext<'a> {
    pub(crate) session: &'a Session,
    pub(crate) consent: Consent,
    pub(crate) deadline: &'a Deadline,
    pub(crate) report: Report<'a>,
}

/// Calls that run at once.
pub(crate) const MAX_CONCURRENT_CALLS: usize = 16;

/// What a call may cost.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Characters of an answer.
    pub(crate) answer_chars: usize,
    pub(crate) call_time: Duration,
    /// Calls per session and minute, in the order of the tools.
    pub(crate) per_minute: Vec<u32>,
}

/// What a caller gets.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    pub(crate) text: String,
    /// The same as a value, for tools that answer in JSON.
    pub(crate) structured: Option<Value>,
    pub(crate) failure: Option<Failure>,
    /// There is no answer before the user has given one to this.
    pub(crate) question: Option<Question>,
}

impl Dispatch {
    pub(crate) fn new(tools: Vec<Tool>, project: Project, limits: Limits) -> Self {
        let places = Arc::new(Semaphore::new(MAX_CONCURRENT_CALLS));
        let changed = watch::Sender::new(ChangeCounts::default());
        let of_index = changed.clone();
        project.index.on_change(Box::new(move || {
            of_index.send_modify(|changes| changes.index += 1);
        }));
        Self {
            tools,
            project,
            audience: Audience::Client,
            limits,
            metrics: Metrics::default(),
            questions: Questions::default(),
            places,
            changed,
        }
    }

    /// Tells when what clients were told of may have changed: by files, or by what a session did.
    pub(crate) fn changes(&self) -> watch::Receiver<ChangeCounts> {
        self.changed.subscribe()
    }

    /// Makes one call and waits for it.
    pub(crate) fn call(&self, caller: CallContext<'_>, name: &str, given: Object) -> ToolAnswer {
        let session = caller.session;
        let started = Instant::now();
        let logged = logged(&given);
        let Some((tool, per_minute)) = self.find(name) else {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let failure = Failure::unknown_tool(name, &known);
            tracing::warn!(
                tool = brief(&redact(name)),
                session = session.id,
                arguments = logged,
                "unknown tool"
            );
            self.metrics
                .record("unknown", started.elapsed(), Some(failure.kind.name()));
            return ToolAnswer::failed(failure, Group::Context);
        };

        let group = (tool.dialect)(&given).unwrap_or(tool.group);
        let refused = |problems: Vec<arguments::ArgumentProblem>| {
            (tool.refuses)(&problems).unwrap_or_else(|| Failure::problems(problems))
        };
        let mut docs: Option<Freshness> = None;
        // A call that comes back with the user's answer was admitted before.
        let per_minute = match caller.consent {
            Consent::Answered { .. } => 0,
            _ => per_minute,
        };
        let outcome = session
            .admit(tool.name, per_minute, self.project.clock.instant())
            .map_err(|seconds| Failure::rate_limited(tool.name, seconds))
            .and_then(|()| {
                let shape = tool.is_shaped().then(|| {
                    // What it takes is said by the documentation, as it is now.
                    let patience = self.project.search.patience;
                    let index = &self.project.index;
                    docs = Some(index.freshen(Corpus::Docs, patience, caller.deadline, caller.report));
                    tool.shape(&self.project, false)
                });
                let schema = shape
                    .flatten()
                    .map_or_else(|| tool.input.clone(), |shape| Arc::new(shape.input));
                arguments::check(&schema, given).map_err(|problems| {
                    let failure = refused(problems);
                    if docs.as_ref().is_some_and(|docs| docs.pending > 0 || docs.unknown) {
                        failure.hint(
                            "The documentation is being indexed and may have more; ask again in a moment.",
                        )
                    } else {
                        failure
                    }
                })
            })
            .map(|known| (known, docs.take()))
            .and_then(|(known, docs)| self.run(tool, known, caller, docs));
        let answer = match outcome {
            Ok(reply) => ToolAnswer::of(reply, tool.indented),
            Err(failure) => ToolAnswer::failed(failure, group),
        };

        if answer.question.is_some() {
            // The call is not over; it is counted when it comes back.
            tracing::info!(tool = tool.name, session = session.id, "the user is asked");
            return answer;
        }
        session.used(SessionUse::Tool, tool.name);
        self.changed.send_modify(|changes| changes.calls += 1);
        let took = started.elapsed();
        let error = answer.failure.as_ref().map(|failure| failure.kind.name());
        self.metrics.record(tool.name, took, error);
        tracing::info!(
            tool = tool.name,
            session = session.id,
            arguments = logged,
            ms = milliseconds(took),
            size = answer.text.len(),
            success = error.is_none(),
            error,
            "tool call"
        );
        // Somebody at a terminal has seen it for themselves.
        if took > tool.slow_after && self.audience == Audience::Client {
            let limit = milliseconds(tool.slow_after);
            tracing::warn!(
                tool = tool.name,
                session = session.id,
                ms = milliseconds(took),
                limit,
                "slow call"
            );
        }
        answer
    }

    /// Makes one call from async code, which goes on meanwhile; `cancelled` ends it early.
    pub(crate) async fn call_beside(
        self: Arc<Self>,
        session: Arc<Session>,
        consent: Consent,
        name: String,
        given: Object,
        report: impl Fn(Progress) + Send + Sync + 'static,
        cancelled: CancellationToken,
    ) -> ToolAnswer {
        let deadline = self.deadline();
        let place = tokio::select! {
            place = self.places.clone().acquire_owned() => place.expect("the semaphore is never closed"),
            () = cancelled.cancelled() => return ToolAnswer::failed(Expired::Cancelled.into(), Group::Context),
        };
        let mut work = tokio::task::spawn_blocking({
            let deadline = deadline.clone();
            move || {
                let _place = place;
                let caller = CallContext {
                    session: &session,
                    consent,
                    deadline: &deadline,
                    report: &report,
                };
                self.call(caller, &name, given)
            }
        });
        let finished = tokio::select! {
            finished = &mut work => finished,
            () = cancelled.cancelled() => {
                deadline.cancel();
                work.await
            }
        };
        finished.unwrap_or_else(|_| ToolAnswer::failed(Failure::panicked("the call"), Group::Context))
    }

    /// The time a call gets, from now on.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::by(self.project.clock, self.limits.call_time)
    }

    fn find(&self, name: &str) -> Option<(&Tool, u32)> {
        let at = self.tools.iter().position(|tool| tool.name == name)?;
        Some((&self.tools[at], self.limits.per_minute[at]))
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
            root: &self.project.root,
            git: &self.project.git,
            coverage: &self.project.coverage,
            accesses: &self.project.accesses,
            index: &self.project.index,
            linked: &self.project.linked,
            search: &self.project.search,
            memory: &self.project.memory,
            approval: self.project.approval,
            consent: caller.consent,
            docs,
            clock: self.project.clock,
            session: caller.session,
            deadline: caller.deadline,
            report: caller.report,
            audience: self.audience,
            room: match self.audience {
                Audience::Client => self.limits.answer_chars,
                Audience::Person => usize::MAX,
            },
        };
        catch_unwind(AssertUnwindSafe(|| (tool.run)(&call, arguments))).unwrap_or_else(|panic| {
            let cause = panic
                .downcast_ref::<&str>()
                .copied()
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            tracing::error!(tool = tool.name, cause, "a tool panicked");
            Err(Failure::panicked(tool.name))
        })
    }
}

impl ToolAnswer {
    fn of(reply: Reply, indented: bool) -> Self {
        let mut answer = Self {
            text: String::new(),
            structured: None,
            failure: None,
            question: None,
        };
        match reply {
            Reply::Json(value) => {
                answer.text = if indented {
                    format!("{value:#}")
                } else {
                    value.to_string()
                };
                answer.structured = Some(value);
            }
            Reply::Text(text) => answer.text = text,
            Reply::Ask(question) => answer.question = Some(question),
        }
        answer
    }

    fn failed(failure: Failure, group: Group) -> Self {
        Self {
            text: failure.text(group),
            structured: None,
            failure: Some(failure),
            question: None,
        }
    }
}

/// To the microsecond, as a log wants it.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// The arguments as they may stand in a log: without secrets, and not endless. Values are looked at before they
/// are quoted, and the whole once more for values that only their name gives away.
fn logged(arguments: &Object) -> String {
    let clean: Object = arguments
        .iter()
        .map(|(name, value)| (name.clone(), clean(value)))
        .collect();
    let json = serde_json::to_string(&clean).expect("JSON values can be written as JSON");
    brief(&redact(&json))
}

fn clean(value: &Value) -> Value {
    match value {
        // More is looked at than is logged, so that no secret is cut in two and half of it kept.
        Value::String(text) => {
            let end = text.char_indices().nth(2_000).map_or(text.len(), |(end, _)| end);
            brief(&redact(&text[..end])).into()
        }
        Value::Array(items) => items.iter().take(10).map(clean).collect(),
        Value::Object(inner) => inner
            .iter()
            .take(10)
            .map(|(name, value)| (name.clone(), clean(value)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_core::access::Access;
    use docent_core::boost::BoostRules;
    use docent_engine::coverage::ReportScope;
    use docent_engine::git::GitEnvironment;
    use docent_engine::index::{IndexOptions, Patience};
    use docent_engine::links::Links;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}

    fn dispatch(run: fn(&Call<'_>, &Nothing) -> Result<Reply, Failure>, per_minute: u32) -> Dispatch {
        let tools = vec![Tool::new("probe", Group::Context, "A tool for tests", run)];
        let root = Root::open(std::env::temp_dir().as_path(), Access::new([]).unwrap()).unwrap();
        let limits = Limits {
            answer_chars: 20_000,
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
            linked: Linked::new(
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
            docs: Docs::default(),
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
        assert!(late.starts_with(r#"{"error":"The call took too long"#), "{late}");
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
        let log = |arguments: Value| logged(arguments.as_object().unwrap());
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
