//! `context_search`: the parts of the project that answer a question, ranked by what the user works on.
//!
//! Promise: `docs/behaviour.md`, `context_search`.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use docent_core::chunk::ChunkKind;
use docent_core::discovery::DiscoveryKind;
use docent_core::path::RepoPath;
use docent_core::text::tokens::ParsedQuery;
use docent_engine::git;
use docent_engine::sessions::SessionUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer;
use super::asked::{Answered, Searched};
use super::found::{Candidate, SearchEntry, Shelf};
use crate::markdown::inline_to;
use crate::settings::project_name;
use crate::terminal::TerminalPage;
use crate::tools::arguments::{ArgumentProblem, Object, ProblemKind};
use crate::tools::call::{Audience, Call, Reply};
use crate::tools::failure::{Dialect, Failure, FailureKind};
use crate::tools::freshness::{freshness_notices, history_notices};
use crate::tools::tool::{Group, Tool};

const ABOUT: &str = "Search the project by meaning: describe what you look for, or name a symbol. Returns functions, classes and sections \
    with their code, and decisions, rules, patterns and known issues; the most relevant first. Start here; grep_codebase is for exact text.";

pub(crate) fn tool() -> Tool {
    Tool::new("context_search", Group::Context, ABOUT, run)
        .comes_first()
        .per_minute(100)
        .per_minute_paid(30)
        .slow_after(Duration::from_secs(2))
        .cli("search", &["query"], show)
        .choose_dialect(|given| {
            (AnswerForm::of_object(given) == AnswerForm::Markdown).then_some(Dialect::Markdown)
        })
        .reword_problems(reword)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Args {
    /// What to find: a question, a description or a name
    #[schemars(length(min = 3, max = 500))]
    pub(super) query: String,
    /// Filter by discovery type (default: all)
    r#type: Option<Type>,
    /// Filter by module name
    pub(super) module: Option<String>,
    /// Maximum number of results to return
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 20))]
    limit: usize,
    /// Search current project only or all linked projects (default: current)
    project_scope: Option<ProjectScope>,
    /// Filter by chunk types (default: all types)
    pub(super) chunk_type: Option<Vec<ChunkType>>,
    /// Default: markdown; JSON with type or module
    format: Option<AnswerForm>,
}

fn default_limit() -> usize {
    5
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Type {
    All,
    Pattern,
    Rule,
    Decision,
    Issue,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ProjectScope {
    Current,
    AllLinked,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChunkType {
    Function,
    Class,
    Method,
    Interface,
    Type,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum AnswerForm {
    Markdown,
    Json,
}

impl AnswerForm {
    /// As asked for; else the form of the contract whose arguments were given.
    fn of(asked: Option<Self>, older: bool, newer: bool) -> Self {
        asked.unwrap_or(if older && !newer {
            Self::Json
        } else {
            Self::Markdown
        })
    }

    fn of_object(given: &Object) -> Self {
        let has = |name: &str| given.get(name).is_some_and(|value| !value.is_null());
        let asked = given.get("format").and_then(|form| Self::deserialize(form).ok());
        Self::of(
            asked,
            has("type") || has("module"),
            has("projectScope") || has("chunkType"),
        )
    }

    fn of_arguments(args: &Args) -> Self {
        Self::of(
            args.format,
            args.r#type.is_some() || args.module.is_some(),
            args.project_scope.is_some() || args.chunk_type.is_some(),
        )
    }
}

/// The answer as clients get it in JSON.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    pub(super) results: Vec<SearchEntry>,
    pub(super) query: String,
    pub(super) total_found: usize,
    /// In milliseconds
    pub(super) search_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// What the answer cannot know of
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notice: Option<String>,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let watch = call.project.clock.stopwatch();
    let form = AnswerForm::of_arguments(args);
    let mut notices = Vec::new();
    let neighbours = if args.project_scope == Some(ProjectScope::AllLinked) {
        let (neighbours, missing) = call.project.linked.open_all(call.project.root.path());
        notices.extend(missing);
        neighbours
    } else {
        Vec::new()
    };

    call.session.record_use(SessionUse::Search, &args.query);
    for neighbour in &neighbours {
        call.session
            .record_use(SessionUse::Project, &project_name(neighbour.root.path()));
    }
    let searched = Searched::new(call, &neighbours);
    let Answered {
        freshness,
        history,
        chunks,
        discoveries,
        unordered,
    } = searched.search(call, args)?;
    if freshness.files == 0 && history.files == 0 && !freshness.unknown && neighbours.is_empty() {
        return Err(empty(form));
    }
    if let (Some(module), false) = (&args.module, chunks.is_empty()) {
        call.session.set_module(module);
    }
    let is_complete =
        freshness.pending == 0 && !freshness.unknown && history.pending == 0 && !history.unknown;
    notices.extend(freshness_notices(&freshness));
    notices.extend(history_notices(
        &history,
        args.wants_discoveries() && !args.wants_code(),
    ));
    notices.extend(unordered.map(|why| why.to_string()));

    let total_found = chunks.len() + discoveries.len();
    let mut candidates: Vec<Candidate> = chunks.into_iter().map(Candidate::Chunk).collect();
    candidates.extend(discoveries.into_iter().map(Candidate::Discovery));
    candidates.sort_by(|a, b| b.score().total_cmp(&a.score()));
    let mut shelves: Vec<Shelf<'_>> = vec![Shelf::new(&call.project.root)];
    shelves.extend(neighbours.iter().map(|one| Shelf::new(&one.root)));
    let mut left_out = 0;
    let mut results: Vec<SearchEntry> = Vec::new();
    for candidate in candidates {
        if results.len() == args.limit {
            break;
        }
        match shelves[candidate.project()].read(&candidate, call.project.clock.now()) {
            None => left_out += 1,
            Some(found) if is_duplicate_of_any(&found, &results) => {}
            Some(found) => results.push(found),
        }
    }
    if left_out > 0 {
        notices.push(format!(
            "{left_out} {} changed after the index was written and {} left out",
            if left_out == 1 { "result" } else { "results" },
            if left_out == 1 { "was" } else { "were" },
        ));
    }
    date(call, &mut results);
    let mut output = Output {
        message: (results.is_empty()).then(|| explain_no_results(args, is_complete)),
        results,
        query: args.query.clone(),
        total_found,
        search_time: watch.milliseconds(),
        notice: None,
    };
    if call.audience == Audience::Person && args.format.is_none() {
        output.notice = crate::tools::budget::notice(&notices);
        return Ok(Reply::json(&output));
    }
    Ok(Reply::Text(match form {
        AnswerForm::Json => answer::json(output, notices, call.budget),
        AnswerForm::Markdown => answer::markdown(&output, notices, call.budget),
    }))
}

impl Args {
    /// Whether chunks of files are asked for.
    pub(super) fn wants_code(&self) -> bool {
        self.discoveries().is_empty()
    }

    /// Discoveries are asked for. They have no part of a program that they are.
    pub(super) fn wants_discoveries(&self) -> bool {
        self.chunk_type.is_none()
    }

    /// The one kind of discovery that is asked for, where it is one.
    pub(super) fn discoveries(&self) -> &'static [DiscoveryKind] {
        self.r#type.map_or(&[], Type::kinds)
    }
}

impl Type {
    fn kinds(self) -> &'static [DiscoveryKind] {
        match self {
            Self::All => &[],
            Self::Pattern => &[DiscoveryKind::Pattern],
            Self::Rule => &[DiscoveryKind::Rule],
            Self::Decision => &[DiscoveryKind::Decision],
            Self::Issue => &[DiscoveryKind::Issue],
        }
    }
}

impl ChunkType {
    pub(super) fn kind(self) -> ChunkKind {
        match self {
            Self::Function => ChunkKind::Function,
            Self::Class => ChunkKind::Class,
            Self::Method => ChunkKind::Method,
            Self::Interface => ChunkKind::Interface,
            Self::Type => ChunkKind::Type,
        }
    }
}

/// Dates discoveries that do not say when they were made: by the last commit of their file, else by the file. What was
/// checked out today is not of today.
fn date(call: &Call<'_>, results: &mut [SearchEntry]) {
    let mut known: HashMap<String, Option<String>> = HashMap::new();
    let undated = |found: &&mut SearchEntry| found.is_discovery() && found.date.is_none();
    for found in results.iter_mut().filter(undated) {
        let path = found
            .place
            .as_ref()
            .filter(|_| !found.is_linked)
            .map(|place| &place.path);
        let committed = path.and_then(|path| {
            let date = known
                .entry(path.clone())
                .or_insert_with(|| last_commit(call, path));
            date.clone()
        });
        found.date = committed.or_else(|| found.modified.clone());
    }
}

/// The day of the last commit that changed a file.
fn last_commit(call: &Call<'_>, path: &str) -> Option<String> {
    let query = git::LogQuery {
        path: RepoPath::parse(path).ok(),
        count: 1,
        ..git::LogQuery::default()
    };
    let log = call.project.git.log(&query, call.deadline).ok()?;
    Some(format!("{}T00:00:00Z", log.commits.first()?.date))
}

/// Whether what is before it says the same: a discovery is a part of its file, which is found as well.
fn is_duplicate_of_any(found: &SearchEntry, before: &[SearchEntry]) -> bool {
    before
        .iter()
        .any(|other| found.is_discovery() != other.is_discovery() && found.overlaps(other))
}

/// Says why there is no result.
fn explain_no_results(args: &Args, is_complete: bool) -> String {
    let mut filters = Vec::new();
    if let Some([kind]) = args.r#type.map(Type::kinds) {
        filters.push(format!("type '{}'", kind.name()));
    }
    if let Some(module) = &args.module {
        filters.push(format!("module '{}'", inline_to(module, 100)));
    }
    if args.chunk_type.is_some() {
        filters.push("chunkType".to_owned());
    }
    if args.r#type == Some(Type::Pattern) && args.module.is_none() {
        return "No pattern matches. Patterns come from .context/memory/best_practices.md".to_owned();
    }
    match filters.as_slice() {
        [] if ParsedQuery::of(&args.query).words.is_empty() => "The query has no word to look for".to_owned(),
        _ if !is_complete => "Nothing was found in what is indexed so far".to_owned(),
        [] => "No match for any of these words. Use grep_codebase to search inside words".to_owned(),
        filters => format!(
            "Nothing matches with {}; search again without",
            filters.join(" and ")
        ),
    }
}

/// The contract's words for a query that is too short.
fn reword(problems: &[ArgumentProblem]) -> Option<Failure> {
    match problems {
        [problem] if problem.path == ["query"] && problem.kind == ProblemKind::TooShort => Some(
            Failure::new(FailureKind::Invalid, "Query must be at least 3 characters"),
        ),
        _ => None,
    }
}

fn empty(form: AnswerForm) -> Failure {
    const INSTEAD: &str = "Use grep_codebase for text search";
    let failure = Failure::new(
        FailureKind::Missing,
        "No embeddings found. Run initial session to generate context.",
    );
    match form {
        AnswerForm::Json => failure.about("fallback", INSTEAD),
        AnswerForm::Markdown => failure.hint(INSTEAD),
    }
}

/// For people: where it is, what it is and how well it fits, and the code with the words that were asked for.
fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let Ok(output) = Output::deserialize(answer) else {
        return page.markdown(answer.as_str().unwrap_or_default());
    };
    let query = ParsedQuery::of(&output.query);
    for (at, found) in output.results.iter().enumerate() {
        if at > 0 {
            page.line("")?;
        }
        let date = found.date.as_deref().filter(|_| found.is_discovery());
        let day = date.map(|date| format!(" · {}", date.get(..10).unwrap_or(date)));
        page.result_heading(
            &found.whereabouts(),
            &found.title(),
            &format!("{}{} · {:.2}", found.kind, day.unwrap_or_default(), found.score),
        )?;
        let first = match &found.place {
            Some(place) if !found.is_discovery() => place.start_line,
            _ => 1,
        };
        for (number, line) in (u64::from(first)..)
            .zip(found.content.lines())
            .take(MAX_SHOWN_LINES)
        {
            page.highlighted_line(number, line, &query.words)?;
        }
        let lines = found.content.lines().count();
        if lines > MAX_SHOWN_LINES {
            page.dim(&format!("       … {} more lines", lines - MAX_SHOWN_LINES))?;
        }
    }
    if let Some(message) = &output.message {
        page.note(message)?;
    }
    page.note(&format!(
        "{} of {} results in {} ms",
        output.results.len(),
        output.total_found,
        output.search_time
    ))?;
    output.notice.iter().try_for_each(|notice| page.note(notice))
}

/// Lines of a result that people see.
const MAX_SHOWN_LINES: usize = 24;
