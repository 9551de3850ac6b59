//! The tool table. [`all`] is the only list of tools there is: `tools/list`, the command line, the reference
//! pages, rate limits and metrics are made from it.
//!
//! A tool is a value built at start-up: a name, what it promises, the schemas of its arguments and answer, and
//! a function. It knows nothing of MCP, HTTP, limits or logs.

pub(crate) mod arguments;
mod budget;
pub(crate) mod consent;
mod context;
mod coverage;
pub(crate) mod dispatch;
pub(crate) mod docs;
pub(crate) mod failure;
mod file_text;
pub(crate) mod freshness;
mod git;
pub(crate) mod memory;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use docent_core::boost::BoostRules;
use docent_engine::accesses::Accesses;
use docent_engine::clock::Clock;
use docent_engine::coverage::Coverage;
use docent_engine::deadline::Deadline;
use docent_engine::files::Root;
use docent_engine::git::Git;
use docent_engine::index::{Freshness, Index, Patience, Progress};
use docent_engine::memory::Memory;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::project::Project;
use crate::project::linked::Linked;
use crate::session::Session;
use crate::terminal::TerminalPage;
use arguments::ArgumentProblem;
use consent::{Consent, Question};
use failure::Failure;

/// Every tool, in the order clients and people see them.
pub(crate) fn all() -> Vec<Tool> {
    vec![
        context::search::tool(),
        context::read_file::tool(),
        context::grep::tool(),
        memory::hello::tool(),
        memory::read_repo_file::tool(),
        memory::write_entry::tool(),
        git::log::tool(),
        git::blame::tool(),
        git::diff::tool(),
        docs::search::tool(),
        docs::get::tool(),
        coverage::overall::tool(),
        coverage::file::tool(),
        coverage::start::tool(),
        coverage::end::tool(),
    ]
}

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    pub(crate) about: &'static str,
    /// The schema of the arguments; what [`arguments::check`] holds a call against.
    pub(crate) input: Arc<Object>,
    /// The schema of the answer, for tools that answer in JSON.
    pub(crate) output: Option<Arc<Object>>,
    /// Calls allowed per session in any minute, unless configured otherwise; 0 for any number.
    pub(crate) per_minute: u32,
    /// Those where each may cost something, because it asks a paid server.
    pub(crate) per_minute_paid: Option<u32>,
    /// Clients that show tools only to who looks for them should show this one to all.
    pub(crate) comes_first: bool,
    /// What a call leaves behind.
    pub(crate) effect: Effect,
    /// A call that takes longer is logged as slow.
    pub(crate) slow_after: Duration,
    pub(crate) mirror: Mirror,
    /// The way it says errors, where that depends on how it was called.
    dialect: fn(&Object) -> Option<Group>,
    /// Its own words for arguments that break the schema.
    refuses: fn(&[ArgumentProblem]) -> Option<Failure>,
    /// What of it depends on the project, as it is now.
    shaped: Option<fn(&Project, &mut Shape)>,
    /// Answers are laid out for the eye.
    pub(crate) indented: bool,
    run: Box<Run>,
}

type Run = dyn Fn(&Call<'_>, Object) -> Result<Reply, Failure> + Send + Sync;

/// What callers are told of a tool, where that depends on the project.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) about: String,
    pub(crate) input: Object,
    /// It is for a list of tools, which has little room; else for a call to be held against.
    pub(crate) is_listed: bool,
}

/// Tools that share a purpose and a way of saying errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Context,
    Memory,
    Git,
    Docs,
    Coverage,
}

/// What is different after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    /// Something was added; nothing that was there is touched.
    Adds,
}

/// How a tool looks on the command line.
pub(crate) struct Mirror {
    /// The subcommand, or one inside another: `coverage file`.
    pub(crate) command: &'static str,
    /// Arguments given by position, in this order.
    pub(crate) positional: &'static [&'static str],
    /// Writes the answer for people.
    pub(crate) show: fn(&Value, &mut TerminalPage) -> io::Result<()>,
    pub(crate) left_out: Option<LeftOut>,
    /// Takes `--filter KEY=VALUE`, for arguments that depend on the project.
    pub(crate) filters: bool,
}

/// An argument that clients must give and people may leave out.
#[derive(Clone, Copy)]
pub(crate) struct LeftOut {
    /// What the command's help says about it.
    pub(crate) about: &'static str,
    /// Adds the argument, and says what was taken.
    pub(crate) find: fn(&Project, &mut Object) -> Result<Option<String>, Failure>,
}

/// What a tool gets to see of the world.
pub(crate) struct Call<'a> {
    pub(crate) root: &'a Root,
    pub(crate) git: &'a Git,
    pub(crate) coverage: &'a Coverage,
    pub(crate) accesses: &'a Accesses,
    pub(crate) index: &'a Index,
    pub(crate) linked: &'a Linked,
    pub(crate) search: &'a SearchSettings,
    pub(crate) memory: &'a Memory,
    pub(crate) approval: Approval,
    pub(crate) consent: Consent,
    /// How things stand with the documentation, for tools that depend on it.
    pub(crate) docs: Option<Freshness>,
    pub(crate) clock: Clock,
    pub(crate) session: &'a Session,
    pub(crate) deadline: &'a Deadline,
    /// Hears how far long work is.
    pub(crate) report: Report<'a>,
    pub(crate) audience: Audience,
    /// How many characters the answer may have.
    pub(crate) room: usize,
}

/// Hears how far long work is.
pub(crate) type Report<'a> = &'a (dyn Fn(Progress) + Sync);

/// How searches are answered.
#[derive(Clone, Debug)]
pub(crate) struct SearchSettings {
    pub(crate) boosts: BoostRules,
    /// How long they wait for what has changed.
    pub(crate) patience: Patience,
}

/// Who decides what is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// The user, who has so long to answer.
    Asked(Duration),
    /// Nobody: the operator trusts the clients.
    Never,
}

/// What is said of the documentation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Docs {
    /// What there is to search, to follow "Search the".
    pub(crate) description: String,
}

/// Who gets the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A model, or a program: the answer is what was promised, and has a size limit.
    Client,
    /// Somebody who sees it as the tool's `show` lays it out, and can scroll. May be told more.
    Person,
}

/// What a tool answers: a value, which clients get as text and as it is, or text alone.
#[derive(Debug)]
pub(crate) enum Reply {
    Json(Value),
    Text(String),
    /// The user has to be asked first; the call is then made again, with the answer.
    Ask(Question),
}

impl Reply {
    pub(crate) fn json(answer: &impl Serialize) -> Self {
        Self::Json(serde_json::to_value(answer).expect("answers are plain data with string keys"))
    }
}

impl Tool {
    /// A tool that takes `A`, whose schema is what callers see.
    pub(crate) fn new<A>(
        name: &'static str,
        group: Group,
        about: &'static str,
        run: fn(&Call<'_>, &A) -> Result<Reply, Failure>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
    {
        Self {
            name,
            group,
            about,
            input: Arc::new(arguments::schema::<A>()),
            output: None,
            per_minute: 0,
            per_minute_paid: None,
            comes_first: false,
            effect: Effect::Nothing,
            slow_after: Duration::from_secs(5),
            mirror: Mirror {
                command: name,
                positional: &[],
                show: |value, page| page.json(value),
                left_out: None,
                filters: false,
            },
            dialect: |_| None,
            refuses: |_| None,
            shaped: None,
            indented: false,
            run: Box::new(move |call, arguments| {
                let arguments =
                    serde_json::from_value(Value::Object(arguments)).map_err(Failure::arguments)?;
                run(call, &arguments)
            }),
        }
    }

    /// Declares the answer's form.
    pub(crate) fn answers<O: JsonSchema>(mut self) -> Self {
        self.output = Some(Arc::new(arguments::answer_schema::<O>()));
        self
    }

    pub(crate) fn per_minute(mut self, calls: u32) -> Self {
        self.per_minute = calls;
        self
    }

    pub(crate) fn comes_first(mut self) -> Self {
        self.comes_first = true;
        self
    }

    pub(crate) fn per_minute_paid(mut self, calls: u32) -> Self {
        self.per_minute_paid = Some(calls);
        self
    }

    pub(crate) fn adds(mut self) -> Self {
        self.effect = Effect::Adds;
        self
    }

    /// Says errors as another group does, where the arguments ask for it.
    pub(crate) fn dialect(mut self, dialect: fn(&Object) -> Option<Group>) -> Self {
        self.dialect = dialect;
        self
    }

    /// Has words of its own for some arguments that break the schema.
    pub(crate) fn refuses(mut self, refuses: fn(&[ArgumentProblem]) -> Option<Failure>) -> Self {
        self.refuses = refuses;
        self
    }

    /// Takes no argument that the schema does not know.
    pub(crate) fn strict(mut self) -> Self {
        Arc::make_mut(&mut self.input).insert("additionalProperties".to_owned(), false.into());
        self
    }

    /// Depends on the project in what it says of itself and in what it takes.
    pub(crate) fn shaped(mut self, shaped: fn(&Project, &mut Shape)) -> Self {
        self.shaped = Some(shaped);
        self
    }

    pub(crate) fn indented(mut self) -> Self {
        self.indented = true;
        self
    }

    pub(crate) fn is_shaped(&self) -> bool {
        self.shaped.is_some()
    }

    /// What callers are told of it, where that depends on the project.
    pub(crate) fn shape(&self, project: &Project, is_listed: bool) -> Option<Shape> {
        let shaped = self.shaped?;
        let mut shape = Shape {
            about: self.about.to_owned(),
            input: self.input.as_ref().clone(),
            is_listed,
        };
        shaped(project, &mut shape);
        Some(shape)
    }

    pub(crate) fn slow_after(mut self, time: Duration) -> Self {
        self.slow_after = time;
        self
    }

    pub(crate) fn cli(
        mut self,
        command: &'static str,
        positional: &'static [&'static str],
        show: fn(&Value, &mut TerminalPage) -> io::Result<()>,
    ) -> Self {
        self.mirror = Mirror {
            command,
            positional,
            show,
            left_out: None,
            filters: false,
        };
        self
    }

    /// After `cli`: an argument that is found if a person leaves it out.
    pub(crate) fn finds(mut self, left_out: LeftOut) -> Self {
        self.mirror.left_out = Some(left_out);
        self
    }

    /// After `cli`: arguments that depend on the project are given as `--filter KEY=VALUE`.
    pub(crate) fn filters(mut self) -> Self {
        self.mirror.filters = true;
        self
    }

    /// The same for a tool that answers in markdown, which people can read as it is.
    pub(crate) fn cli_text(self, command: &'static str, positional: &'static [&'static str]) -> Self {
        self.cli(command, positional, |answer, page| {
            page.markdown(answer.as_str().unwrap_or_default())
        })
    }
}

impl Group {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Memory => "memory",
            Self::Git => "git",
            Self::Docs => "docs",
            Self::Coverage => "coverage",
        }
    }
}
