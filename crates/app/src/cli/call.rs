//! Calls of tools from the command line: the server that makes them for clients, and single calls for people.
//!
//! Invariant: `docent call` gets the exact answer that a client gets; a tool's own command may show people
//! more.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::ArgMatches;
use docent_engine::client_plugins::has_claude_server;
use docent_engine::clients::Machine;
use serde_json::Value;

use super::flags::{resolve_settings, variable};
use super::progress::IndexProgress;
use super::tool_command;
use crate::log::{self, Stderr};
use crate::mcp;
use crate::project::{Project, RunMode};
use crate::session::Session;
use crate::settings::{AnswerForm, Flags, HttpSettings};
use crate::terminal::{self, Colour, TerminalPage};
use crate::tools;
use crate::tools::arguments::Object;
use crate::tools::call::Audience;
use crate::tools::consent::Consent;
use crate::tools::dispatch::{CallContext, Dispatch, ToolAnswer};
use crate::tools::tool::{DefaultArgument, Tool};

/// `docent serve`.
pub(super) fn serve(given: &ArgMatches, flags: &Flags, tools: Vec<Tool>) -> anyhow::Result<ExitCode> {
    let address = given.get_one::<String>("http");
    let mode = match address {
        Some(_) => RunMode::Http,
        None => RunMode::Stdio,
    };
    let (mut dispatch, http) = open(flags, tools, mode)?;
    if is_second_server(&dispatch.project) {
        tracing::info!(
            "Claude Code's own settings start docent, so that the plugin's server offers no tools"
        );
        dispatch.tools = Vec::new();
    }
    if given.get_flag("compact") {
        dispatch.form = AnswerForm::Compact;
    }
    let outcome = match address {
        None => mcp::serve_stdio(dispatch),
        Some(address) => mcp::serve_http(dispatch, address, http),
    };
    Ok(outcome.map_or_else(
        |error| {
            terminal::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    ))
}

/// Whether Claude Code has started this server for docent's plugin, and starts another by the user's own
/// settings. A model would see every tool twice.
fn is_second_server(project: &Project) -> bool {
    // Other clients that read the plugin do not set both.
    if variable("CLAUDE_PLUGIN_ROOT").is_none() || variable("CLAUDECODE").is_none() {
        return false;
    }
    has_claude_server(&Machine {
        variable: &variable,
        search: &[],
        root: project.root.path(),
        program: Path::new("docent"),
    })
}

/// Resolves the settings, starts the log and opens the project with its tools.
pub(super) fn open(
    flags: &Flags,
    tools: Vec<Tool>,
    mode: RunMode,
) -> anyhow::Result<(Dispatch, HttpSettings)> {
    let settings = resolve_settings(flags, &tools)?;
    let resolve_linked = Box::new(|root: &Path| {
        let flags = Flags {
            root: Some(root.to_owned()),
            set: Vec::new(),
        };
        resolve_settings(&flags, &tools::all())
    });
    let project = Project::open(&settings, mode, resolve_linked);
    let stderr = match mode {
        RunMode::Stdio | RunMode::Http => Stderr::Log,
        RunMode::SingleCall => Stderr::Terminal,
    };
    log::start(&settings.log, stderr)?;
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let mut dispatch = Dispatch::new(tools, project, settings.limits);
    dispatch.form = settings.form;
    Ok((dispatch, settings.http))
}

/// A call to make.
pub(super) struct PlannedCall<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: Object,
    pub(super) paths: PathBase,
    pub(super) default_argument: Option<DefaultArgument>,
    pub(super) output: CallOutput,
}

/// Form and layout of the answer on the command line.
pub(super) enum CallOutput {
    /// As a client gets it whose server has these settings.
    AsConfigured,
    /// As a client gets it, in the contract form.
    ContractText,
    /// As a client gets it, in the compact form.
    CompactText,
    /// The compact form, in colour on a terminal.
    CompactPage {
        page: TerminalPage,
        /// The answer is mostly markdown of the project.
        is_markdown: bool,
    },
}

impl CallOutput {
    /// The form that the answer has to have. `None` if the settings decide.
    fn form(&self) -> Option<AnswerForm> {
        match self {
            Self::AsConfigured => None,
            Self::ContractText => Some(AnswerForm::Contract),
            Self::CompactText | Self::CompactPage { .. } => Some(AnswerForm::Compact),
        }
    }

    /// True if a person at a terminal reads the answer and can scroll.
    fn is_for_person(&self) -> bool {
        match self {
            Self::CompactPage { page, .. } => page.is_terminal(),
            Self::AsConfigured | Self::ContractText | Self::CompactText => false,
        }
    }
}

/// The directory that relative paths in the arguments start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathBase {
    /// The project's root, as in calls of clients.
    Root,
    /// The working directory, if the file exists there; the root otherwise.
    WorkingDirectory,
}

/// Makes one call and prints its answer.
pub(super) fn make_call(
    flags: &Flags,
    tools: Vec<Tool>,
    planned: PlannedCall<'_>,
) -> anyhow::Result<ExitCode> {
    let PlannedCall {
        tool,
        mut arguments,
        paths,
        default_argument,
        output,
    } = planned;
    let (mut dispatch, _) = open(flags, tools, RunMode::SingleCall)?;
    if output.is_for_person() {
        dispatch.audience = Audience::Person;
    }
    dispatch.form = output.form().unwrap_or(dispatch.form);
    let root = dispatch.project.root.path();
    if paths == PathBase::WorkingDirectory
        && let Some(directory) = working_directory(root)
    {
        tool_command::rebase_paths(&mut arguments, root, &directory);
    }
    match default_argument.map(|argument| (argument.fill)(&dispatch.project, &mut arguments)) {
        None | Some(Ok(None)) => {}
        Some(Ok(Some(sentence))) => terminal::announce(&sentence),
        Some(Err(failure)) => {
            terminal::complain(&failure.sentence());
            return Ok(ExitCode::from(failure.kind.exit_code()));
        }
    }
    let session = Session::new(dispatch.project.sessions.clone());
    let deadline = dispatch.deadline();
    let is_page = matches!(output, CallOutput::CompactPage { .. });
    let progress_bar = is_page.then(IndexProgress::default);
    let caller = CallContext {
        session: &session,
        // A person who types the tool's own command is the user. `docent call` is treated like a client.
        consent: match paths {
            PathBase::Root => Consent::Nobody,
            PathBase::WorkingDirectory => Consent::Given,
        },
        deadline: &deadline,
        report: &|progress| {
            if let Some(bar) = &progress_bar {
                bar.show(progress);
            }
        },
    };
    let answer = dispatch.call(caller, tool, arguments);
    drop(progress_bar);
    let code = answer
        .failure
        .as_ref()
        .map_or(0, |failure| failure.kind.exit_code());
    print_answer(answer, output)?;
    Ok(ExitCode::from(code))
}

/// Prints an answer or its failure.
fn print_answer(answer: ToolAnswer, output: CallOutput) -> io::Result<()> {
    match (answer.failure, output) {
        (
            None,
            CallOutput::CompactPage {
                mut page,
                is_markdown,
            },
        ) => {
            if is_markdown {
                page.markdown(&answer.text)?;
            } else {
                page.compact(&answer.text)?;
            }
            page.finish()?;
        }
        (Some(failure), CallOutput::CompactPage { .. }) => {
            terminal::complain(&failure.sentence());
        }
        (_, CallOutput::AsConfigured | CallOutput::ContractText | CallOutput::CompactText) => {
            TerminalPage::new(Colour::Never).verbatim(&(answer.text + "\n"))?;
        }
    }
    Ok(())
}

/// The working directory relative to the root. `None` at the root itself and outside the project.
pub(super) fn working_directory(root: &Path) -> Option<String> {
    let directory = std::env::current_dir().ok()?.canonicalize().ok()?;
    let inside = directory.strip_prefix(root).ok()?.to_str()?;
    (!inside.is_empty()).then(|| inside.to_owned())
}

/// Parses the arguments of `docent call`.
pub(super) fn parse_object(text: &str) -> anyhow::Result<Object> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => bail!("the arguments must be a JSON object, like {{\"path\": \"README.md\"}}"),
        Err(error) => bail!("the arguments are not JSON: {error}"),
    }
}
