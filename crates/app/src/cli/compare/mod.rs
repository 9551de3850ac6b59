//! `docent compare`: an agent with docent and one with a shell only, on questions made from the project's own
//! commits.
//!
//! Both are scripts with a fixed policy, so that no model and no network is needed. What that cannot show is
//! said below the figures and in `docs/compare.md`.
//!
//! Invariant: the project, its index and docent's logs stay as they are. Everything happens in a private
//! copy.

mod docent_agent;
mod report;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Command, value_parser};
use docent_core::access::Access;
use docent_core::compare::KnownPaths;
use docent_engine::compare::{
    AgentResult, AgentScreen, PrivateCopy, QuestionSet, ask_shell, choose_questions,
};
use docent_engine::deadline::Deadline;
use docent_engine::files::Root;
use docent_engine::git::Git;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::flags::flag;
use crate::settings::Settings;
use crate::terminal::TerminalPage;
use docent_agent::DocentAgent;

pub(super) fn command() -> Command {
    Command::new("compare")
        .about("Compare an agent that has docent with one that has grep, on questions from your commits; no model is needed")
        .arg(
            Arg::new("questions")
                .long("questions")
                .value_name("NUMBER")
                .value_parser(value_parser!(u16).range(1..=500))
                .default_value("30")
                .help("How many questions to ask"),
        )
        .arg(flag("json", "Print everything as JSON, each question included"))
}

/// How both agents got on with one question.
struct QuestionPair {
    question: String,
    commit: String,
    with_docent: AgentResult,
    with_shell: AgentResult,
}

/// Everything that was measured.
struct AgentComparison {
    questions: QuestionSet,
    pairs: Vec<QuestionPair>,
    /// From nothing to a complete index of the copy.
    indexing: Duration,
}

pub(super) fn run(settings: &Settings, given: &ArgMatches, page: TerminalPage) -> anyhow::Result<ExitCode> {
    let limit = usize::from(*given.get_one::<u16>("questions").expect("it has a default"));
    let comparison = compare(settings, limit)?;
    report::write(&comparison, given.get_flag("json"), page)?;
    Ok(ExitCode::SUCCESS)
}

fn compare(settings: &Settings, limit: usize) -> anyhow::Result<AgentComparison> {
    let deadline = Deadline::default();
    let progress = CompareProgress::new();
    progress.say("reading the history");
    let git = Git::new(
        settings.root.clone(),
        settings.surroundings.clone(),
        settings.clock,
        None,
    );
    let questions = choose_questions(&git, limit, &deadline)?;

    progress.say("writing a private copy of an earlier state");
    let copy = Arc::new(PrivateCopy::write(
        &git,
        &questions.files,
        &settings.temporary,
        &deadline,
    )?);
    drop(git);
    progress.say("indexing it");
    let started = Instant::now();
    let agent = DocentAgent::new(&copy)?;
    let indexing = started.elapsed();

    let root = Root::open(
        &copy.root(),
        Access::new([]).expect("the built-in rules are valid"),
    )?;
    let known: KnownPaths = questions
        .files
        .iter()
        .map(|file| file.path.as_str().to_owned())
        .collect();
    let mut pairs = Vec::new();
    for (at, question) in questions.questions.iter().enumerate() {
        progress.count(at, questions.questions.len());
        let mut screen = AgentScreen::new(question, &known);
        agent.ask(&root, &question.text, &mut screen, &deadline)?;
        let with_docent = screen.into_result();
        let mut screen = AgentScreen::new(question, &known);
        ask_shell(&root, &question.text, &mut screen, &deadline)?;
        pairs.push(QuestionPair {
            question: question.text.clone(),
            commit: question.commit.clone(),
            with_docent,
            with_shell: screen.into_result(),
        });
    }
    Ok(AgentComparison {
        questions,
        pairs,
        indexing,
    })
}

/// One line on a terminal that says what is going on. It disappears when it is dropped.
struct CompareProgress(Option<ProgressBar>);

impl CompareProgress {
    fn new() -> Self {
        let is_shown = std::io::stderr().is_terminal();
        Self(is_shown.then(|| {
            let style = ProgressStyle::with_template("{bar:24} {msg}").expect("a literal template");
            ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr()).with_style(style)
        }))
    }

    fn say(&self, message: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(message.to_owned());
            bar.tick();
        }
    }

    fn count(&self, done: usize, total: usize) {
        if let Some(bar) = &self.0 {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(format!("question {} of {total}", done + 1));
        }
    }
}

impl Drop for CompareProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}
