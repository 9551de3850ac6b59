//! A tool as a value, built at start-up: a name, a description, the schemas of its arguments and answer, a
//! command, and a function.
//!
//! How a call reaches the function is in `dispatch`.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::arguments::{self, ArgumentProblem, Object};
use super::call::{Call, Reply};
use super::failure::{Dialect, Failure};
use super::queue::CallWeight;
use crate::project::Project;
use crate::settings::AnswerForm;

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    pub(crate) about: &'static str,
    /// The schema of the arguments, which [`arguments::check`] validates calls against.
    pub(crate) input: Arc<Object>,
    /// The same with the bounds of the compact form, if it has others.
    compact_input: Option<Arc<Object>>,
    /// The schema of the answer, for tools that answer in JSON.
    pub(crate) output: Option<Arc<Object>>,
    /// Calls allowed per session in any minute, unless configured otherwise; 0 for any number.
    pub(crate) per_minute: u32,
    /// The limit for calls that go to a paid server.
    pub(crate) per_minute_paid: Option<u32>,
    /// Clients that load tools on demand should load this one at once.
    pub(crate) comes_first: bool,
    pub(crate) effect: Effect,
    pub(crate) weight: CallWeight,
    /// A call that takes longer is logged as slow.
    slow_after: Duration,
    /// Chooses another limit for slow calls, by the arguments of a call.
    choose_slow_after: fn(&Object) -> Option<Duration>,
    pub(crate) command: ToolCommand,
    /// Answers are indented.
    pub(crate) indented: bool,
    /// Chooses another dialect than the group's, by the arguments of a call.
    choose_dialect: fn(&Object) -> Option<Dialect>,
    /// The contract's wording for arguments that break the schema.
    reword_problems: fn(&[ArgumentProblem], &Object) -> Option<Failure>,
    /// Adapts the description to the project as it is now.
    adapt: Option<fn(&Project, &mut ToolDescription)>,
    run: Box<RunTool>,
}

type RunTool = dyn Fn(&Call<'_>, Object) -> Result<Reply, Failure> + Send + Sync;

/// The description of a tool that depends on the project.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolDescription {
    pub(crate) about: String,
    pub(crate) input: Object,
    /// True for `tools/list`, which must stay small; false for the schema that a call is validated against.
    pub(crate) is_listed: bool,
}

/// Tools that share a purpose and, unless a tool says otherwise, a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Context,
    Memory,
    Git,
    Docs,
    Coverage,
    Symbols,
}

/// The lasting effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Nothing,
    /// Something is added; existing content is not touched.
    Adds,
}

/// A tool as a command.
pub(crate) struct ToolCommand {
    /// The subcommand, or one inside another: `coverage file`.
    pub(crate) name: &'static str,
    /// Arguments given by position, in this order.
    pub(crate) positional: &'static [&'static str],
    /// The compact answer is mostly markdown of the project.
    pub(crate) is_markdown: bool,
    pub(crate) default_argument: Option<DefaultArgument>,
    /// Takes `--filter KEY=VALUE`, for arguments that depend on the project.
    pub(crate) filters: bool,
    /// The argument and its value that `--json` adds, for tools that answer with text unless asked for JSON.
    pub(crate) json_flag: Option<(&'static str, &'static str)>,
}

/// An argument that is required of clients and optional on the command line.
#[derive(Clone, Copy)]
pub(crate) struct DefaultArgument {
    /// A sentence for the command's help.
    pub(crate) about: &'static str,
    /// Adds the argument if it is missing, and returns a sentence that names the chosen value.
    pub(crate) fill: fn(&Project, &mut Object) -> Result<Option<String>, Failure>,
}

impl Tool {
    /// A tool that takes `A`, whose schema callers see.
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
            compact_input: None,
            output: None,
            per_minute: 0,
            per_minute_paid: None,
            comes_first: false,
            effect: Effect::Nothing,
            weight: CallWeight::Light,
            slow_after: Duration::from_secs(5),
            choose_slow_after: |_| None,
            command: ToolCommand {
                name,
                positional: &[],
                is_markdown: false,
                default_argument: None,
                filters: false,
                json_flag: None,
            },
            indented: false,
            choose_dialect: |_| None,
            reword_problems: |_, _| None,
            adapt: None,
            run: Box::new(move |call, arguments| {
                let arguments =
                    serde_json::from_value(Value::Object(arguments)).map_err(Failure::arguments)?;
                run(call, &arguments)
            }),
        }
    }

    /// Declares other lengths of a text in the compact form than in the contract.
    pub(crate) fn compact_length(mut self, argument: &str, min: usize, max: usize) -> Self {
        let mut input = self.input.as_ref().clone();
        let properties = input.get_mut("properties").and_then(Value::as_object_mut);
        if let Some(Value::Object(property)) = properties.and_then(|all| all.get_mut(argument)) {
            property.insert("minLength".to_owned(), min.into());
            property.insert("maxLength".to_owned(), max.into());
        }
        self.compact_input = Some(Arc::new(input));
        self
    }

    /// The schema that calls in a form are validated against.
    pub(super) fn input_in(&self, form: AnswerForm) -> &Object {
        match (form, &self.compact_input) {
            (AnswerForm::Compact, Some(input)) => input,
            _ => &self.input,
        }
    }

    /// Declares the schema of the answer.
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

    /// Declares that a call takes whole cores.
    pub(crate) fn heavy(mut self) -> Self {
        self.weight = CallWeight::Heavy;
        self
    }

    pub(crate) fn adds(mut self) -> Self {
        self.effect = Effect::Adds;
        self
    }

    /// Chooses the dialect of errors by the arguments of a call; `None` stands for the group's.
    pub(crate) fn choose_dialect(mut self, choose: fn(&Object) -> Option<Dialect>) -> Self {
        self.choose_dialect = choose;
        self
    }

    /// Words some argument problems of a call as the tool's contract does; `None` stands for the usual
    /// wording.
    pub(crate) fn reword_problems(
        mut self,
        reword: fn(&[ArgumentProblem], &Object) -> Option<Failure>,
    ) -> Self {
        self.reword_problems = reword;
        self
    }

    /// Refuses arguments that are not in the schema.
    pub(crate) fn strict(mut self) -> Self {
        Arc::make_mut(&mut self.input).insert("additionalProperties".to_owned(), false.into());
        self
    }

    /// Adapts the description and the arguments to the project.
    pub(crate) fn adapt(mut self, adapt: fn(&Project, &mut ToolDescription)) -> Self {
        self.adapt = Some(adapt);
        self
    }

    pub(crate) fn indented(mut self) -> Self {
        self.indented = true;
        self
    }

    /// True if the description depends on the project.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.adapt.is_some()
    }

    /// The description for this project. `None` if it is the same for every project.
    pub(crate) fn describe(&self, project: &Project, is_listed: bool) -> Option<ToolDescription> {
        let adapt = self.adapt?;
        let mut description = ToolDescription {
            about: self.about.to_owned(),
            input: self.input.as_ref().clone(),
            is_listed,
        };
        adapt(project, &mut description);
        Some(description)
    }

    /// The dialect in which a call with these arguments gets its errors.
    pub(super) fn dialect(&self, arguments: &Object) -> Dialect {
        (self.choose_dialect)(arguments).unwrap_or(self.group.dialect())
    }

    /// The failure for arguments that break the schema.
    pub(super) fn refuse(&self, problems: Vec<ArgumentProblem>, arguments: &Object) -> Failure {
        (self.reword_problems)(&problems, arguments).unwrap_or_else(|| Failure::problems(problems))
    }

    /// Runs the tool with arguments that fit its schema.
    pub(super) fn run(&self, call: &Call<'_>, arguments: Object) -> Result<Reply, Failure> {
        (self.run)(call, arguments)
    }

    pub(crate) fn slow_after(mut self, time: Duration) -> Self {
        self.slow_after = time;
        self
    }

    /// Chooses the limit for slow calls by the arguments of a call; `None` stands for the usual one.
    pub(crate) fn choose_slow_after(mut self, choose: fn(&Object) -> Option<Duration>) -> Self {
        self.choose_slow_after = choose;
        self
    }

    /// The time after which a call with these arguments is slow.
    pub(crate) fn slow_limit(&self, arguments: &Object) -> Duration {
        (self.choose_slow_after)(arguments).unwrap_or(self.slow_after)
    }

    /// The command of the tool, and the arguments that it takes by position.
    pub(crate) fn cli(mut self, command: &'static str, positional: &'static [&'static str]) -> Self {
        self.command.name = command;
        self.command.positional = positional;
        self
    }

    /// The answer is mostly markdown, which gets its colours on a terminal.
    pub(crate) fn markdown_page(mut self) -> Self {
        self.command.is_markdown = true;
        self
    }

    /// An argument that is filled in if a person leaves it out.
    pub(crate) fn default_argument(mut self, argument: DefaultArgument) -> Self {
        self.command.default_argument = Some(argument);
        self
    }

    /// Arguments that depend on the project are given as `--filter KEY=VALUE`.
    pub(crate) fn filters(mut self) -> Self {
        self.command.filters = true;
        self
    }

    /// `--json` adds this argument, unless it is given.
    pub(crate) fn json_flag(mut self, argument: &'static str, value: &'static str) -> Self {
        self.command.json_flag = Some((argument, value));
        self
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
            Self::Symbols => "symbols",
        }
    }

    /// How these tools write errors, unless one chooses otherwise.
    fn dialect(self) -> Dialect {
        match self {
            Self::Context => Dialect::Json,
            Self::Memory => Dialect::JsonWithCode,
            Self::Git => Dialect::Markdown,
            Self::Docs | Self::Symbols => Dialect::Sentence,
            Self::Coverage => Dialect::PrefixedSentence,
        }
    }
}
