//! The command line: the server, one command per tool, and the commands about docent itself.
//!
//! A command's flags stand beside its code; here is only which command does what.
//!
//! Invariant: exit codes are 0 done, 1 failed, 2 wrong usage.

mod bench;
mod call;
mod compare;
mod configuration;
mod docs;
mod doctor;
mod flags;
mod gain;
mod help;
mod hook;
mod hook_setup;
mod index;
mod installed;
mod links;
mod lsp;
mod memory;
mod outline;
mod overview;
mod plugin_carrier;
mod plugin_setup;
mod progress;
mod reference;
mod sessions;
mod setup;
mod setup_steps;
mod shell;
mod tool_command;
mod trust;
mod welcome;

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::project::RunMode;
use crate::settings::Flags;
use crate::terminal::{Colour, TerminalPage};
use crate::tools;
use crate::tools::tool::Tool;
use call::{CallOutput, PathBase, PlannedCall, make_call, parse_object};
use flags::{global_flags, parse_flags, resolve_settings, resolve_settings_at_home};

const ABOUT: &str = "A guide to your project, for coding agents and for you";

/// Reads the command line and runs its command.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(outcome) = shell::run_fast(&arguments).or_else(|| hook::run_fast(&arguments)) {
        return outcome;
    }
    let tools = tools::all();
    let matches = command(&tools).get_matches();
    let colour = Colour::parse(matches.get_one::<String>("color").expect("it has a default"));
    let flags = parse_flags(&matches)?;
    let settings = || resolve_settings(&flags, &tools);
    // Clients can be connected, and trust be listed, from any directory.
    let settings_anywhere = || match settings() {
        Ok(settings) => Ok((settings, false)),
        Err(error) => resolve_settings_at_home(&flags, &tools)
            .map(|settings| (settings, true))
            .ok_or(error),
    };
    let page = || TerminalPage::new(colour);
    let Some(subcommand) = matches.subcommand() else {
        return welcome::show(settings_anywhere(), ABOUT, page());
    };
    match subcommand {
        ("serve", given) => call::serve(given, &flags, tools),
        ("call", given) => {
            let planned = PlannedCall {
                tool: given.get_one::<String>("tool").expect("required"),
                arguments: parse_object(given.get_one::<String>("arguments").expect("it has a default"))?,
                paths: PathBase::Root,
                default_argument: None,
                output: if given.get_flag("compact") {
                    CallOutput::CompactText
                } else {
                    CallOutput::AsConfigured
                },
            };
            make_call(&flags, tools, planned)
        }
        ("lsp", _) => Ok(lsp::run(&flags)),
        ("index", given) => Ok(index::build(&settings()?, given)),
        ("status", given) => index::show_status(&settings()?, given.get_flag("json"), page()),
        ("clear", given) => index::clear(&settings()?, given.get_flag("older")),
        ("link", given) => links::link(&settings()?, given),
        ("unlink", given) => links::unlink(&settings()?, given),
        ("links", _) => links::list(&settings()?, page()),
        ("overview", given) => {
            let (dispatch, _) = call::open(&flags, tools, RunMode::SingleCall)?;
            sessions::show_overview(&dispatch.project, given, page())
        }
        ("outline", given) => {
            let (dispatch, _) = call::open(&flags, tools, RunMode::SingleCall)?;
            outline::run(&dispatch.project, given, page())
        }
        ("sessions", given) => sessions::show_sessions(&settings()?, given, page()),
        ("setup", given) => {
            let (settings, is_at_home) = settings_anywhere()?;
            setup::run(&settings, is_at_home, given, page())
        }
        ("trust", given) => {
            let (settings, is_at_home) = settings_anywhere()?;
            trust::run(&settings, is_at_home, given, page())
        }
        ("doctor", given) => doctor::run(&settings(), given, page()),
        ("bench", given) => bench::run(&settings()?, given, page()),
        ("compare", given) => compare::run(&settings()?, given, page()),
        ("gain", given) => gain::run(&settings_anywhere()?.0, given, page()),
        ("config", _) => configuration::show(&settings()?, page()),
        ("completions" | "man" | "reference", _) => print_reference(&matches, &tools),
        ("docs", given) if docs::is_own(given) => docs::run(&settings()?, given, page()),
        ("memory", given) if memory::is_own(given) => memory::run(&settings()?, given, page()),
        (name, given) => call_tool(name, given, &flags, tools, colour),
    }
}

/// Runs the command of a tool.
fn call_tool(
    name: &str,
    given: &ArgMatches,
    flags: &Flags,
    tools: Vec<Tool>,
    colour: Colour,
) -> anyhow::Result<ExitCode> {
    let (tool, given) = tool_command::find(&tools, name, given)?;
    tool_command::check_filters(tool, given)?;
    let mut arguments = tool_command::parse_arguments(tool, given);
    if let (Some((name, value)), true) = (tool.command.json_flag, given.get_flag("json")) {
        arguments.entry(name).or_insert_with(|| value.into());
    }
    let planned = PlannedCall {
        tool: tool.name,
        arguments,
        paths: PathBase::WorkingDirectory,
        default_argument: tool.command.default_argument,
        output: if given.get_flag("json") {
            CallOutput::ContractText
        } else {
            CallOutput::CompactPage {
                page: TerminalPage::new(colour),
                is_markdown: tool.command.is_markdown,
            }
        },
    };
    make_call(flags, tools, planned)
}

/// Prints a text that is made from the commands and tools.
fn print_reference(matches: &ArgMatches, tools: &[Tool]) -> anyhow::Result<ExitCode> {
    let text = match matches.subcommand().expect("a subcommand is required") {
        ("completions", given) => {
            let shell = *given.get_one::<Shell>("shell").expect("required");
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(tools), "docent", &mut script);
            String::from_utf8(script)?
        }
        ("man", given) => {
            let words = given.get_many::<String>("command").unwrap_or_default();
            reference::manual(command(tools), words)?
        }
        (_, given) => {
            let page = given.get_one::<String>("page").expect("required");
            reference::page(page, tools, command(tools))
        }
    };
    TerminalPage::new(Colour::Never).verbatim(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The whole command line, made from the tool table.
fn command(tools: &[Tool]) -> Command {
    let port = "Serve streamable HTTP at http://ADDRESS/mcp instead of stdio, e.g. 127.0.0.1:7077 (port 0 takes a free one)";
    Command::new("docent")
        .version(env!("CARGO_PKG_VERSION"))
        .long_version(env!("DOCENT_LONG_VERSION"))
        .about(ABOUT)
        .override_help(help::screen(ABOUT))
        .args(global_flags())
        .subcommand(
            Command::new("serve")
                .about("Speak MCP to a client, over stdio or HTTP")
                .arg(Arg::new("http").long("http").value_name("ADDRESS").help(port))
                .arg(compact_flag()),
        )
        .subcommand(lsp::command())
        .subcommands(
            tool_command::commands(tools)
                .into_iter()
                .map(docs::add_own)
                .map(memory::add_own),
        )
        .subcommand(
            Command::new("call")
                .about("Call any tool with JSON arguments and print its exact answer")
                .arg(
                    Arg::new("tool")
                        .required(true)
                        .value_name("TOOL")
                        .help("The tool's name"),
                )
                .arg(
                    Arg::new("arguments")
                        .default_value("{}")
                        .value_name("JSON")
                        .help("Its arguments"),
                )
                .arg(compact_flag()),
        )
        .subcommand(outline::command())
        .subcommand(setup::command())
        .subcommand(doctor::command())
        .subcommand(trust::command())
        .subcommands(index::commands())
        .subcommand(bench::command())
        .subcommand(compare::command())
        .subcommands(links::commands())
        .subcommands(sessions::commands())
        .subcommands(shell::commands())
        .subcommand(hook::command())
        .subcommand(gain::command())
        .subcommand(Command::new("config").about("Show every setting, its value and where that came from"))
        .subcommands(reference_commands())
}

/// The flag for answers in the compact form.
fn compact_flag() -> Arg {
    flags::flag(
        "compact",
        "Answer in the compact form, plain text for models (also: answer.form = \"compact\")",
    )
}

/// The commands that print what they know about docent itself.
fn reference_commands() -> [Command; 3] {
    [
        Command::new("completions")
            .about("Print completions for a shell")
            .arg(
                Arg::new("shell")
                    .required(true)
                    .value_name("SHELL")
                    .value_parser(value_parser!(Shell)),
            ),
        Command::new("man")
            .about("Print the manual page, of docent or of one of its commands")
            .arg(Arg::new("command").value_name("COMMAND").num_args(0..)),
        Command::new("reference")
            .about("Print a page of the reference, as in docs/")
            .arg(
                Arg::new("page")
                    .required(true)
                    .value_name("PAGE")
                    .value_parser(reference::PAGES),
            ),
    ]
}
