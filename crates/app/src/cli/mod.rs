//! The command line: the server, one command per tool, and the commands about docent itself.

mod bench;
mod configuration;
mod docs;
mod doctor;
mod index;
mod links;
mod memory;
mod overview;
mod reference;
mod sessions;
mod setup;
mod tool_command;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use docent_engine::accesses::Accesses;
use docent_engine::coverage::{Coverage, ReportScope};
use docent_engine::embed::Remote;
use docent_engine::git::Git;
use docent_engine::index::{Index, IndexOptions, Patience};
use docent_engine::links::Links;
use docent_engine::sessions::Sessions;
use serde_json::Value;

use crate::log::{self, Stderr};
use crate::mcp;
use crate::project::Project;
use crate::project::linked::{Linked, Neighbour};
use crate::session::Session;
use crate::settings::{Flags, Http, Settings, home_directory};
use crate::terminal::{self, Colour, TerminalPage};
use crate::tools::consent::Consent;
use crate::tools::dispatch::{CallContext, Dispatch};
use crate::tools::{self, Audience, LeftOut, Object, SearchSettings, Tool};

const ABOUT: &str = "A guide to your project, for coding agents and for you";

/// Reads the command line and does what it says.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let tools = tools::all();
    let matches = command(&tools).get_matches();
    let colour = Colour::parse(matches.get_one::<String>("color").expect("it has a default"));
    let flags = flags(&matches)?;
    match matches.subcommand().expect("a subcommand is required") {
        ("serve", given) => serve(given, &flags, tools),
        ("call", given) => {
            let name = given.get_one::<String>("tool").expect("required");
            let arguments = object(given.get_one::<String>("arguments").expect("it has a default"))?;
            let order = PlannedCall {
                tool: name,
                arguments,
                paths: Paths::FromRoot,
                left_out: None,
                show: None,
            };
            call(&flags, tools, order)
        }
        ("index", given) => {
            let settings = settings(&flags, &tools)?;
            Ok(index::build(&settings, given.get_flag("force")))
        }
        ("status", given) => {
            let settings = settings(&flags, &tools)?;
            index::status(&settings, given.get_flag("json"), TerminalPage::new(colour))
        }
        ("clear", _) => index::clear(&settings(&flags, &tools)?),
        ("link", given) => links::link(&settings(&flags, &tools)?, given),
        ("unlink", given) => links::unlink(&settings(&flags, &tools)?, given),
        ("links", _) => links::list(&settings(&flags, &tools)?, TerminalPage::new(colour)),
        ("overview", given) => {
            let (dispatch, _) = prepare(&flags, tools, Stay::ForOneCall)?;
            sessions::overview(&dispatch.project, given, TerminalPage::new(colour))
        }
        ("sessions", given) => {
            sessions::sessions(&settings(&flags, &tools)?, given, TerminalPage::new(colour))
        }
        ("setup", given) => {
            let (settings, is_at_home) = match settings(&flags, &tools) {
                Ok(settings) => (settings, false),
                // A user's clients can be connected from anywhere.
                Err(error) => (at_home(&flags, &tools).ok_or(error)?, true),
            };
            setup::run(&settings, is_at_home, given, TerminalPage::new(colour))
        }
        ("doctor", given) => doctor::run(&settings(&flags, &tools), given, TerminalPage::new(colour)),
        ("bench", given) => bench::run(&settings(&flags, &tools)?, given, TerminalPage::new(colour)),
        ("config", _) => configuration::show(&settings(&flags, &tools)?, TerminalPage::new(colour)),
        ("completions", given) => {
            let shell = *given.get_one::<Shell>("shell").expect("required");
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(&tools), "docent", &mut script);
            write(&String::from_utf8(script)?)
        }
        ("man", given) => {
            let words = given.get_many::<String>("command").unwrap_or_default();
            write(&manual(command(&tools), words)?)
        }
        ("reference", given) => {
            let which = given.get_one::<String>("page").expect("required");
            write(&reference::page(which, &tools, command(&tools)))
        }
        ("docs", given) if docs::is_own(given) => {
            docs::run(&settings(&flags, &tools)?, given, TerminalPage::new(colour))
        }
        ("memory", given) if memory::is_own(given) => {
            memory::run(&settings(&flags, &tools)?, given, TerminalPage::new(colour))
        }
        (name, given) => {
            let (tool, given) = tool_command::find(&tools, name, given)?;
            tool_command::check_filters(tool, given)?;
            let order = PlannedCall {
                tool: tool.name,
                arguments: tool_command::arguments(tool, given),
                paths: Paths::FromHere,
                left_out: tool.mirror.left_out,
                show: (!given.get_flag("json")).then(|| (tool.mirror.show, TerminalPage::new(colour))),
            };
            call(&flags, tools, order)
        }
    }
}

/// The whole command line, made from the tool table.
pub(crate) fn command(tools: &[Tool]) -> Command {
    let port = "Serve streamable HTTP at http://ADDRESS/mcp instead of stdio, e.g. 127.0.0.1:7077 (port 0 takes a free one)";
    Command::new("docent")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            global("root")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("The project's directory"),
        )
        .arg(
            global("set")
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .help("Change a setting for this run; `docent config` lists them"),
        )
        .arg(
            global("color")
                .value_name("WHEN")
                .value_parser(["auto", "always", "never"])
                .default_value("auto")
                .help("When to use colours"),
        )
        .subcommand(
            Command::new("serve")
                .about("Speak MCP to a client, over stdio or HTTP")
                .arg(Arg::new("http").long("http").value_name("ADDRESS").help(port)),
        )
        .subcommands(
            tool_command::commands(tools)
                .into_iter()
                .map(docs::with_own)
                .map(memory::with_own),
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
                ),
        )
        .subcommand(setup::command())
        .subcommand(doctor::command())
        .subcommands(index::commands())
        .subcommand(bench::command())
        .subcommands(links::commands())
        .subcommands(sessions::commands())
        .subcommand(Command::new("config").about("Show every setting, its value and where that came from"))
        .subcommand(
            Command::new("completions")
                .about("Print completions for a shell")
                .arg(
                    Arg::new("shell")
                        .required(true)
                        .value_name("SHELL")
                        .value_parser(value_parser!(Shell)),
                ),
        )
        .subcommand(
            Command::new("man")
                .about("Print the manual page, of docent or of one of its commands")
                .arg(Arg::new("command").value_name("COMMAND").num_args(0..)),
        )
        .subcommand(
            Command::new("reference")
                .about("Print a page of the reference, as in docs/")
                .arg(
                    Arg::new("page")
                        .required(true)
                        .value_name("PAGE")
                        .value_parser(reference::PAGES),
                ),
        )
}

/// Something that is said or not.
fn flag(name: &'static str, about: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(about)
}

fn global(name: &'static str) -> Arg {
    Arg::new(name).long(name).global(true)
}

fn flags(matches: &ArgMatches) -> anyhow::Result<Flags> {
    let mut set = Vec::new();
    for pair in matches.get_many::<String>("set").into_iter().flatten() {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("--set takes KEY=VALUE, not {pair}")
        };
        set.push((name.to_owned(), value.to_owned()));
    }
    Ok(Flags {
        root: matches.get_one::<PathBuf>("root").cloned(),
        set,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that hands the process's environment to the settings"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn settings(flags: &Flags, tools: &[Tool]) -> anyhow::Result<Settings> {
    Settings::resolve(flags, &variable, tools)
}

/// The settings of somebody who has named no project, with their home in its place.
fn at_home(flags: &Flags, tools: &[Tool]) -> Option<Settings> {
    if flags.root.is_some() {
        return None;
    }
    let flags = Flags {
        root: Some(home_directory(&variable)?),
        ..flags.clone()
    };
    settings(&flags, tools).ok()
}

/// How long the process will be there, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    /// As the server of whoever started it.
    OverStdio,
    /// As the server of whoever can reach it.
    OverHttp,
    ForOneCall,
}

/// Resolves the settings, starts the log and lays the tools ready.
fn prepare(flags: &Flags, tools: Vec<Tool>, stay: Stay) -> anyhow::Result<(Dispatch, Http)> {
    let Settings {
        root,
        limits,
        log,
        http,
        clock,
        surroundings,
        folder,
        index,
        boosts,
        docs,
        approval,
        state,
        links,
        temporary,
        warnings,
        ..
    } = settings(flags, &tools)?;
    let accesses = Arc::new(Accesses::new(folder.clone(), clock));
    let search = SearchSettings {
        boosts,
        patience: match stay {
            Stay::OverStdio | Stay::OverHttp => Patience::Moment,
            Stay::ForOneCall => Patience::UntilDone,
        },
    };
    let (stderr, learned) = match stay {
        Stay::OverStdio | Stay::OverHttp => (Stderr::Log, folder.clone()),
        // One answer is given sooner than anything could be learned for the next.
        Stay::ForOneCall => (Stderr::Terminal, None),
    };
    let git = Arc::new(Git::new(root.clone(), surroundings, clock, learned));
    let options = IndexOptions {
        watch: index.watch && stay != Stay::ForOneCall,
        // What takes longer than one call is left to who stays.
        fills: stay != Stay::ForOneCall,
        git: Some(git.clone()),
        ..index
    };
    let (remote, fills) = (options.remote.clone(), options.fills);
    // One model for all projects: whoever asks it the same question waits for one answer.
    let neighbours = Box::new(move |path: &Path| neighbour(path, remote.clone(), fills));
    let index = Index::new(root.clone(), folder, accesses.clone(), options);
    log::start(&log, stderr)?;
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    let reach = match stay {
        Stay::OverHttp => ReportScope::Project,
        Stay::OverStdio | Stay::ForOneCall => ReportScope::Machine,
    };
    let project = Project {
        git,
        coverage: Coverage::new(root.clone(), reach, clock, temporary),
        accesses,
        index,
        linked: Linked::new(Links::new(links), neighbours),
        search,
        memory: memory::open(&root, clock, state.as_deref()),
        sessions: Arc::new(Sessions::new(state, clock)),
        approval,
        docs,
        root,
        clock,
    };
    Ok((Dispatch::new(tools, project, limits), http))
}

/// Opens a linked project by its own settings.
fn neighbour(path: &Path, remote: Option<Arc<Remote>>, fills: bool) -> anyhow::Result<Neighbour> {
    let flags = Flags {
        root: Some(path.to_owned()),
        set: Vec::new(),
    };
    let mut settings = settings(&flags, &tools::all())?;
    (settings.index.remote, settings.index.fills) = (remote, fills);
    let (index, accesses) = index::open(&settings);
    Ok(Neighbour {
        index,
        root: settings.root,
        accesses,
    })
}

fn serve(given: &ArgMatches, flags: &Flags, tools: Vec<Tool>) -> anyhow::Result<ExitCode> {
    let address = given.get_one::<String>("http");
    let stay = if address.is_some() {
        Stay::OverHttp
    } else {
        Stay::OverStdio
    };
    let (dispatch, http) = prepare(flags, tools, stay)?;
    let outcome = match address {
        None => mcp::stdio(dispatch),
        Some(address) => mcp::http(dispatch, address, http),
    };
    Ok(outcome.map_or_else(
        |error| {
            terminal::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    ))
}

/// Writes a text that was asked for.
fn write(text: &str) -> anyhow::Result<ExitCode> {
    TerminalPage::new(Colour::Never).verbatim(text)?;
    Ok(ExitCode::SUCCESS)
}

fn manual<'a>(mut command: Command, words: impl Iterator<Item = &'a String>) -> anyhow::Result<String> {
    command.build();
    let mut title = String::from("docent");
    for word in words {
        let Some(inner) = command.find_subcommand(word) else {
            bail!("there is no command {word}")
        };
        title = format!("{title}-{word}");
        command = inner.clone();
    }
    let command = command.name(title.clone()).display_name(title);
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(String::from_utf8(page)?)
}

/// A call to make.
struct PlannedCall<'a> {
    tool: &'a str,
    arguments: Object,
    paths: Paths,
    left_out: Option<LeftOut>,
    /// Lays the answer out for people. Without, it is printed as clients get it.
    show: Option<(Show, TerminalPage)>,
}

/// Where relative paths in the arguments begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paths {
    /// In the project's directory, as clients write them.
    FromRoot,
    /// In the working directory, as people do, where something is there.
    FromHere,
}

type Show = fn(&Value, &mut TerminalPage) -> io::Result<()>;

fn call(flags: &Flags, tools: Vec<Tool>, order: PlannedCall<'_>) -> anyhow::Result<ExitCode> {
    let PlannedCall {
        tool,
        mut arguments,
        paths,
        left_out,
        show,
    } = order;
    let (mut dispatch, _) = prepare(flags, tools, Stay::ForOneCall)?;
    if show.is_some() {
        dispatch.audience = Audience::Person;
    }
    let root = dispatch.project.root.path();
    if paths == Paths::FromHere
        && let Some(here) = here(root)
    {
        tool_command::begin_at_root(&mut arguments, root, &here);
    }
    match left_out.map(|left_out| (left_out.find)(&dispatch.project, &mut arguments)) {
        None | Some(Ok(None)) => {}
        Some(Ok(Some(taken))) => terminal::announce(&taken),
        Some(Err(failure)) => {
            terminal::complain(&failure.sentence());
            return Ok(ExitCode::from(failure.kind.exit_code()));
        }
    }
    let session = Session::new(dispatch.project.sessions.clone());
    let deadline = dispatch.deadline();
    let bar = show.is_some().then(index::Bar::default);
    let caller = CallContext {
        session: &session,
        // Who calls like a client is treated like one; who types the command is the user.
        consent: match paths {
            Paths::FromRoot => Consent::Nobody,
            Paths::FromHere => Consent::Given,
        },
        deadline: &deadline,
        report: &|progress| {
            if let Some(bar) = &bar {
                bar.show(progress);
            }
        },
    };
    let answer = dispatch.call(caller, tool, arguments);
    drop(bar);
    let code = answer
        .failure
        .as_ref()
        .map_or(0, |failure| failure.kind.exit_code());
    match (answer.failure, show) {
        (None, Some((show, mut page))) => {
            show(
                &answer.structured.unwrap_or(Value::String(answer.text)),
                &mut page,
            )?;
            page.finish()?;
        }
        (Some(failure), Some(_)) => terminal::complain(&failure.sentence()),
        (_, None) => TerminalPage::new(Colour::Never).verbatim(&(answer.text + "\n"))?,
    }
    Ok(ExitCode::from(code))
}

/// The working directory as a path inside the project; nothing where it is the root, or outside.
fn here(root: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let inside = here.strip_prefix(root).ok()?.to_str()?;
    (!inside.is_empty()).then(|| inside.to_owned())
}

fn object(text: &str) -> anyhow::Result<Object> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => bail!("the arguments must be a JSON object, like {{\"path\": \"README.md\"}}"),
        Err(error) => bail!("the arguments are not JSON: {error}"),
    }
}
