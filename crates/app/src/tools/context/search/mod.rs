//! `context_search`: the parts of the project that answer a question, ranked by what the user works on.
//!
//! Promise: `docs/behaviour.md`, `context_search`. The search itself is `docent_engine::search`; here are its
//! arguments and the three forms of its answer: markdown and JSON of the contracts, and compact text.

mod arguments;
mod compact;
mod dates;
mod entry;
mod json;
mod markdown;
mod notices;

use std::sync::Arc;
use std::time::Duration;

use docent_core::rank::Weights;
use docent_engine::grep::FileFilter;
use docent_engine::search::{SearchOutcome, SearchRequest, SearchedProject, search};
use docent_engine::sessions::SessionUse;

use crate::project::LinkedProject;
use crate::settings::{AnswerForm, project_name};
use crate::tools::call::{Call, Reply};
use crate::tools::failure::{Dialect, Failure, FailureKind};
use crate::tools::tool::{Group, Tool};
use arguments::{Args, MAX_REPORT_CHARS, SearchFormat, reword_short_query};
use entry::{Output, SearchEntry, reveal};

const ABOUT: &str = "Search by meaning or by name. Returns code, sections, decisions, rules, patterns and known issues, the most relevant first. Start here.";

pub(crate) fn tool() -> Tool {
    Tool::new("context_search", Group::Context, ABOUT, run)
        .comes_first()
        .per_minute(100)
        .per_minute_paid(30)
        .slow_after(Duration::from_secs(2))
        .cli("search", &["query"])
        .compact_length("query", 1, MAX_REPORT_CHARS)
        .choose_dialect(|given| {
            (SearchFormat::of_object(given) == SearchFormat::Markdown).then_some(Dialect::Markdown)
        })
        .reword_problems(reword_short_query)
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let watch = call.project.clock.stopwatch();
    let form = SearchFormat::of_arguments(args);
    let (neighbours, mut notices) = args.neighbours(call);
    call.session.record_use(SessionUse::Search, &args.query);
    for neighbour in &neighbours {
        let name = project_name(neighbour.root.path());
        call.session.record_use(SessionUse::Project, &name);
    }

    let projects = list_projects(call, &neighbours);
    let paths = args.paths()?;
    let outcome = search_projects(call, args, paths.as_ref(), &projects)?;
    if notices::is_empty_project(&outcome) && neighbours.is_empty() {
        return Err(notices::no_index(form));
    }
    if let (Some(module), true) = (&args.module, outcome.chunks > 0) {
        call.session.set_module(module);
    }

    notices.extend(notices::word(&outcome, args));
    notices.extend(call.project.settings_notice());
    let no_results = outcome.hits.is_empty();
    let mut output = Output {
        query: reveal(&args.query),
        summary: outcome.summary.clone(),
        total_found: outcome.chunks + outcome.discoveries,
        results: SearchEntry::from_outcome(&outcome, &projects),
        search_time: 0,
        message: no_results.then(|| notices::explain_no_results(args, &outcome)),
        notice: None,
    };
    dates::date_discoveries(call, &mut output.results);
    output.search_time = watch.milliseconds();
    let budget = args.max_chars.map_or(call.budget, |most| most.min(call.budget));
    Ok(Reply::Text(match (call.form, form) {
        (AnswerForm::Compact, _) => compact::answer(&output, notices, args, call.budget),
        (AnswerForm::Contract, SearchFormat::Json) => json::write(output, notices, budget),
        (AnswerForm::Contract, SearchFormat::Markdown) => markdown::write(&output, notices, budget),
    }))
}

/// The caller's own project, and then those linked with it.
fn list_projects<'a>(call: &Call<'a>, neighbours: &'a [Arc<LinkedProject>]) -> Vec<SearchedProject<'a>> {
    let own = SearchedProject {
        root: &call.project.root,
        index: &call.project.index,
        accesses: &call.project.accesses,
    };
    let linked = neighbours.iter().map(|neighbour| SearchedProject {
        root: &neighbour.root,
        index: &neighbour.index,
        accesses: &neighbour.accesses,
    });
    std::iter::once(own).chain(linked).collect()
}

fn search_projects(
    call: &Call<'_>,
    args: &Args,
    paths: Option<&FileFilter>,
    projects: &[SearchedProject<'_>],
) -> Result<SearchOutcome, Failure> {
    let kinds = args.chunk_kinds();
    let current_module = call.session.module();
    let weights = match call.form {
        AnswerForm::Contract => Weights::default(),
        AnswerForm::Compact => Weights {
            same_file_penalty: compact::SAME_FILE_PENALTY,
            ..Weights::default()
        },
    };
    let request = SearchRequest {
        query: &args.query,
        details: args.details.as_deref(),
        chunks: args.wants_chunks().then_some(kinds.as_slice()),
        discoveries: args.wants_discoveries().then_some(args.discovery_kinds()),
        module: args.module.as_deref(),
        paths,
        current_module: current_module.as_deref(),
        limit: args.limit(call.form),
        with_surroundings: call.form == AnswerForm::Compact,
        weights: &weights,
        boosts: call.project.search.boosts,
        patience: call.project.search.patience,
        deadline: call.deadline,
        report: call.report,
        clock: call.project.clock,
    };
    search(projects, &request).map_err(|error| {
        Failure::new(FailureKind::Internal, "The index cannot be searched")
            .details(error.to_string())
            .hint("Use grep_codebase for text search")
    })
}

/// Characters of an answer that are reserved for its frame: title, notices, fields that are not results.
const FRAME_CHARS: usize = 600;

/// Characters of code that are worth showing. With less room, fewer results are shown.
const MIN_SHOWN_CODE_CHARS: usize = 160;
