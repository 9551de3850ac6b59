//! `context_search`: the parts of the project that answer a question, ranked by what the user works on.
//!
//! Promise: `docs/behaviour.md`, `context_search`.

use std::io;
use std::time::Duration;

use docent_core::chunk::Kind as ChunkKind;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::reveal::reveal_part;
use docent_core::tokens::Query;
use docent_engine::clock::rfc3339;
use docent_engine::files::Root;
use docent_engine::search::{Match, Reader};
use docent_engine::store::Piece;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer;
use super::asked::Searched;
use crate::cli::print::Page;
use crate::tools::arguments::Problem;
use crate::tools::failure::{Failure, Kind};
use crate::tools::freshness::told;
use crate::tools::linked::project_name;
use crate::tools::markdown::inline_to;
use crate::tools::{Audience, Call, Group, Object, Reply, Tool};

const ABOUT: &str = "Search the project by meaning: describe what you look for, or name a symbol. Returns functions, classes and sections \
    with their code, and decisions, rules, patterns and known issues; the most relevant first. Start here; grep_codebase is for exact text.";

pub(crate) fn tool() -> Tool {
    Tool::new("context_search", Group::Context, ABOUT, run)
        .per_minute(100)
        .slow_after(Duration::from_secs(2))
        .cli("search", &["query"], show)
        .dialect(|given| (Form::of_object(given) == Form::Markdown).then_some(Group::Git))
        .refuses(refused)
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
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 20))]
    limit: usize,
    /// Search current project only or all linked projects (default: current)
    project_scope: Option<Scope>,
    /// Filter by chunk types (default: all types)
    pub(super) chunk_type: Option<Vec<ChunkType>>,
    /// Default: markdown; JSON with type or module
    format: Option<Form>,
}

fn five() -> usize {
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
enum Scope {
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
pub(super) enum Form {
    Markdown,
    Json,
}

impl Form {
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
    pub(super) results: Vec<Found>,
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

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) r#type: String,
    pub(super) content: String,
    pub(super) module: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) date: Option<String>,
    pub(super) score: f64,
    pub(super) source: String,
    pub(super) path: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) project: String,
    pub(super) language: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_accessed: Option<String>,
    pub(super) accesses_this_week: u64,
    pub(super) ranking: Ranking,
    /// Not written by people.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) generated: bool,
    /// Of another project than the one that is served.
    #[serde(skip)]
    pub(super) is_linked: bool,
    /// Seconds since the last access.
    #[serde(skip)]
    pub(super) age: Option<i64>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Ranking {
    pub(super) semantic: f64,
    pub(super) recency: f64,
    pub(super) module: f64,
    pub(super) frequency: f64,
    pub(super) r#final: f64,
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    let watch = call.clock.stopwatch();
    let form = Form::of_arguments(args);
    let mut notices = Vec::new();
    let neighbours = if args.project_scope == Some(Scope::AllLinked) {
        let (neighbours, missing) = call.linked.neighbours(call.root.path());
        notices.extend(missing);
        neighbours
    } else {
        Vec::new()
    };

    let wants_code = matches!(args.r#type, None | Some(Type::All));
    let mut is_complete = true;
    let matches = if wants_code {
        let searched = Searched::new(call, &neighbours);
        let (standing, matches) = searched.search(call, args)?;
        if standing.files == 0 && !standing.unknown && neighbours.is_empty() {
            return Err(empty(form));
        }
        if let (Some(module), false) = (&args.module, matches.is_empty()) {
            call.session.works_in(module);
        }
        is_complete = standing.pending == 0 && !standing.unknown;
        notices.extend(told(&standing));
        matches
    } else {
        Vec::new()
    };

    let total_found = matches.len();
    let mut shelves: Vec<Shelf<'_>> = vec![Shelf::new(call.root)];
    shelves.extend(neighbours.iter().map(|one| Shelf::new(&one.root)));
    let mut left_out = 0;
    let mut results = Vec::new();
    for found in matches {
        if results.len() == args.limit {
            break;
        }
        match shelves[found.place].read(&found, call.clock.now()) {
            Some(result) => results.push(result),
            None => left_out += 1,
        }
    }
    if left_out > 0 {
        notices.push(format!(
            "{left_out} {} changed after the index was written and {} left out",
            if left_out == 1 { "result" } else { "results" },
            if left_out == 1 { "was" } else { "were" },
        ));
    }
    let mut output = Output {
        message: (results.is_empty()).then(|| nothing(args, is_complete)),
        results,
        query: args.query.clone(),
        total_found,
        search_time: watch.milliseconds(),
        notice: None,
    };
    if call.audience == Audience::Person && args.format.is_none() {
        output.notice = crate::tools::room::notice(&notices);
        return Ok(Reply::json(&output));
    }
    Ok(Reply::Text(match form {
        Form::Json => answer::json(output, notices, call.room),
        Form::Markdown => answer::markdown(&output, notices, call.room),
    }))
}

/// A project whose files results are read from.
struct Shelf<'a> {
    reader: Reader<'a>,
    project: String,
}

impl<'a> Shelf<'a> {
    fn new(root: &'a Root) -> Self {
        Self {
            reader: Reader::new(root),
            project: project_name(root.path()),
        }
    }

    /// The result with its text as it is now; nothing where that is gone.
    fn read(&mut self, found: &Match, now: Timestamp) -> Option<Found> {
        let (piece, text) = self.reader.read(&found.piece)?;
        let path = RepoPath::parse(&piece.path).ok()?;
        let final_score = found.score();
        let usage = found.usage;
        let last = usage.map(|usage| now - SignedDuration::from_secs(usage.age));
        let shown = |text: &str| reveal_part(text).into_owned();
        Some(Found {
            id: format!("{:016x}", piece.id),
            r#type: source(&piece).to_owned(),
            content: shown(text.trim_end_matches(['\n', '\r'])),
            module: shown(module_of(&path)),
            session: None,
            date: self.reader.modified(&piece.path).map(rfc3339),
            score: rounded(final_score.tanh()),
            source: source(&piece).to_owned(),
            path: shown(&piece.path),
            start_line: piece.first_line,
            end_line: piece.last_line,
            name: shown(&piece.scope),
            kind: piece.kind.name().to_owned(),
            project: shown(&self.project),
            language: piece.language.clone(),
            last_accessed: last.map(rfc3339),
            accesses_this_week: usage.map_or(0, |usage| usage.times),
            ranking: Ranking {
                semantic: rounded(found.relevance),
                recency: found.boosts.recency,
                module: found.boosts.module,
                frequency: rounded(found.boosts.frequency),
                r#final: rounded(final_score),
            },
            generated: piece.generated,
            is_linked: found.place > 0,
            age: usage.map(|usage| usage.age),
        })
    }
}

/// What a piece is a part of.
fn source(piece: &Piece) -> &'static str {
    match piece.language.as_str() {
        "markdown" | "mdx" | "restructuredtext" | "asciidoc" | "plaintext" => "docs",
        _ => "code",
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
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

/// Says why there is no result.
fn nothing(args: &Args, is_complete: bool) -> String {
    if !matches!(args.r#type, None | Some(Type::All)) {
        return "The project holds no discoveries yet; leave type out to search code and documents"
            .to_owned();
    }
    let mut filters = Vec::new();
    if let Some(module) = &args.module {
        filters.push(format!("module '{}'", inline_to(module, 100)));
    }
    if args.chunk_type.is_some() {
        filters.push("chunkType".to_owned());
    }
    match filters.as_slice() {
        [] if Query::of(&args.query).words.is_empty() => "The query has no word to look for".to_owned(),
        _ if !is_complete => "Nothing was found in what is indexed so far".to_owned(),
        [] => "Nothing in the project has any of these words; grep_codebase finds parts of words".to_owned(),
        filters => format!(
            "Nothing matches with {}; search again without",
            filters.join(" and ")
        ),
    }
}

/// The contract's words for a query that is too short.
fn refused(problems: &[Problem]) -> Option<Failure> {
    match problems {
        [problem] if problem.path == ["query"] && problem.message.contains("at least") => {
            Some(Failure::new(Kind::Invalid, "Query must be at least 3 characters"))
        }
        _ => None,
    }
}

fn empty(form: Form) -> Failure {
    const INSTEAD: &str = "Use grep_codebase for text search";
    let failure = Failure::new(
        Kind::Missing,
        "No embeddings found. Run initial session to generate context.",
    );
    match form {
        Form::Json => failure.about("fallback", INSTEAD),
        Form::Markdown => failure.hint(INSTEAD),
    }
}

/// For people: where it is, what it is and how well it fits, and the code with the words that were asked for.
fn show(answer: &Value, page: &mut Page) -> io::Result<()> {
    let Ok(output) = Output::deserialize(answer) else {
        return page.markdown(answer.as_str().unwrap_or_default());
    };
    let query = Query::of(&output.query);
    for (at, found) in output.results.iter().enumerate() {
        if at > 0 {
            page.line("")?;
        }
        let Found {
            path,
            start_line,
            end_line,
            ..
        } = found;
        page.found(
            &format!("{path}:{start_line}-{end_line}"),
            &answer::title(found),
            &format!("{} · {:.2}", found.kind, found.score),
        )?;
        for (number, line) in (u64::from(*start_line)..)
            .zip(found.content.lines())
            .take(MOST_LINES)
        {
            page.marked(number, line, &query.words)?;
        }
        let lines = found.content.lines().count();
        if lines > MOST_LINES {
            page.dim(&format!("       … {} more lines", lines - MOST_LINES))?;
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
const MOST_LINES: usize = 24;
