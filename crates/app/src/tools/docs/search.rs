//! `search_docs`: sections of the project's documentation that answer a question, a page of results at a time.
//!
//! What it takes depends on the documentation: every label of its pages is an argument, with the values there are.
//!
//! Promise: `docs/behaviour.md`, documentation.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use docent_core::docs::cursor;
use docent_core::docs::manifest::Labels;
use docent_core::docs::taxonomy::LabelKey;
use docent_core::reveal::reveal_part;
use docent_engine::docs::{Advice, RetrievalMode, SectionHit, SectionRequest, advice, search};
use docent_engine::index::{Freshness, View};
use docent_engine::store::StoreError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{freshen, unsearchable};
use crate::cli::print::TerminalPage;
use crate::tools::dispatch::Project;
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::freshness::freshness_notices;
use crate::tools::markdown::inline_to;
use crate::tools::{Call, Group, Object, Reply, Shape, Tool, room};

const ABOUT: &str =
    "Search the project's documentation. Use this to find relevant documentation, guides, or API references.";

pub(crate) fn tool() -> Tool {
    Tool::new("search_docs", Group::Docs, ABOUT, run)
        .answers::<Output>()
        .per_minute_paid(30)
        .strict()
        .shaped(shape)
        .indented()
        .slow_after(Duration::from_secs(2))
        .cli("docs", &["query"], show)
        .filters()
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    #[schemars(description = "The search query (e.g., 'how to paginate', 'RateLimitError').")]
    query: String,
    /// Maximum number of results to return. Default is 10.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// Opaque pagination token returned from a previous search. Omit for the first page. Returns an error if invalid or malformed.
    cursor: Option<String>,
    /// The values of labels; which there are is said by the documentation.
    #[serde(flatten)]
    #[schemars(skip)]
    filters: Labels,
}

/// Longer ones are no questions.
const MAX_QUERY_CHARS: usize = 1_000;

fn ten() -> usize {
    10
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Output {
    hits: Vec<DocsHit>,
    next_cursor: Option<String>,
    hint: Option<SearchHint>,
    /// What the answer cannot know of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct DocsHit {
    chunk_id: String,
    score: f64,
    heading: String,
    breadcrumb: String,
    snippet: String,
    filepath: String,
    metadata: Labels,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct SearchHint {
    message: String,
    suggested_filters: BTreeMap<String, Vec<String>>,
}

/// Says what there is to search, and offers its labels.
fn shape(project: &Project, shape: &mut Shape) {
    shape.about = ABOUT.replacen("project's documentation", &project.docs.description, 1);
    let view = project.index.docs(Duration::ZERO);
    let Some(Value::Object(properties)) = shape.input.get_mut("properties") else {
        return;
    };
    let room = if shape.is_listed {
        MAX_LABEL_BYTES
    } else {
        usize::MAX
    };
    let facets = facets(&view, room);
    let all = facets.len() == view.taxonomy.keys.len();
    properties.extend(facets);
    if !all {
        // A client that holds calls against the list must be able to send the others.
        let others = json!({ "type": "string" });
        shape.input.insert("additionalProperties".to_owned(), others);
    }
}

/// Bytes that labels may take in the list of tools, and those of a description.
const MAX_LABEL_BYTES: usize = 500;
const DESCRIPTION_CHARS: usize = 100;

/// Each label as an argument, as far as there is room: the longest lists of values go first, then labels. What is not listed
/// is known all the same, and results show it.
fn facets(view: &View, room: usize) -> Object {
    let describe = |name: &String, key: &LabelKey| {
        let about = key.description.as_deref();
        about.map_or_else(
            || format!("Filter results by {name}."),
            |about| inline_to(about, DESCRIPTION_CHARS),
        )
    };
    let mut facets: Object = view
        .taxonomy
        .keys
        .iter()
        .map(|(name, key)| {
            let full = json!({ "type": "string", "description": describe(name, key), "enum": key.values });
            (name.clone(), full)
        })
        .collect();
    let takes = |facets: &Object| Value::Object(facets.clone()).to_string().len();
    if takes(&facets) <= room {
        return facets;
    }
    let mut longest: Vec<(&String, &LabelKey)> = view.taxonomy.keys.iter().collect();
    longest.sort_by_key(|(_, key)| Reverse(key.values.iter().map(String::len).sum::<usize>()));
    for (name, key) in longest {
        let about = format!("{} {} values.", describe(name, key), key.values.len());
        facets.insert(name.clone(), json!({ "type": "string", "description": about }));
        if takes(&facets) <= room {
            return facets;
        }
    }
    while takes(&facets) > room
        && let Some(last) = facets.keys().next_back().cloned()
    {
        facets.shift_remove(&last);
    }
    facets
}

fn run(call: &Call<'_>, args: &Args) -> Result<Reply, Failure> {
    if args.query.trim().is_empty() || args.query.chars().count() > MAX_QUERY_CHARS {
        return Err(Failure::new(
            FailureKind::Invalid,
            format!("query must have between 1 and {MAX_QUERY_CHARS} characters"),
        )
        .hint("Say what you look for in a few words."));
    }
    // It was brought up to date before the arguments were looked at, which depend on it.
    let mut freshness = call.docs.clone().unwrap_or_default();
    let view = call.index.docs(Duration::ZERO);
    // A list that a model on a server has ordered is another one, and so is its state.
    let asked = |by_server: bool| cursor::CursorScope {
        query: &args.query,
        filters: &args.filters,
        generation: view.generation.wrapping_add(u64::from(by_server)),
    };
    let refused = |why: &dyn std::fmt::Display| {
        Failure::new(FailureKind::Invalid, format!("The cursor {why}"))
            .hint("Search again without it to start from the first page.")
    };
    let (after, was_by_server) = match args.cursor.as_deref() {
        None => (0, None),
        Some(cursor) => match asked(false).resume(cursor) {
            Ok(after) => (after, Some(false)),
            Err(cursor::CursorRefused::Stale) => {
                let after = asked(true).resume(cursor).map_err(|why| refused(&why))?;
                (after, Some(true))
            }
            Err(why) => return Err(refused(&why)),
        },
    };
    let request = SectionRequest {
        query: &args.query,
        filters: &args.filters,
        view: &view,
        after,
        limit: args.limit,
        mode: RetrievalMode::All,
    };
    let results = match search(call.root, call.index, &request, call.deadline) {
        Err(StoreError::Damaged(_)) => {
            freshness = freshen(call);
            search(call.root, call.index, &request, call.deadline)
        }
        results => results,
    };
    let results = results.map_err(|error| unsearchable(&error))?;
    if was_by_server.is_some_and(|was| was != results.by_server) {
        return Err(refused(
            &"belongs to results in another order: the embedding server came or went",
        ));
    }
    let asked = asked(results.by_server);

    let mut notices = freshness_notices(&freshness);
    notices.extend(unused(&view));
    notices.extend(
        view.taxonomy
            .left_out
            .iter()
            .map(|what| format!("No filter: {what}")),
    );
    notices.extend(results.unordered.iter().map(ToString::to_string));
    if results.gone > 0 {
        notices.push(format!(
            "{} results changed after they were indexed and were left out",
            results.gone
        ));
    }
    let mut ends: Vec<usize> = results.hits.iter().map(|hit| hit.at).collect();
    let passed = ends.last().copied().unwrap_or(after + results.gone);
    let hint = if results.hits.is_empty() && after == 0 {
        Some(hint(call, &request, &freshness)?)
    } else {
        None
    };
    let mut output = Output {
        hits: results.hits.into_iter().map(found).collect(),
        next_cursor: results.more.then(|| asked.cursor(passed)),
        hint,
        notice: room::notice(&notices),
    };
    // What does not fit is on the next page.
    while output.hits.len() > 1 && length(&output) > call.room {
        output.hits.pop();
        ends.pop();
        output.next_cursor = ends.last().map(|end| asked.cursor(*end));
    }
    Ok(Reply::json(&output))
}

/// Manifests that say nothing, the first few of them.
fn unused(view: &View) -> Vec<String> {
    const NAMED: usize = 3;
    let mut sentences: Vec<String> = view
        .problems
        .iter()
        .take(NAMED)
        .map(|problem| format!("A manifest is not used: {}", inline_to(problem, 300)))
        .collect();
    if view.problems.len() > NAMED {
        sentences.push(format!(
            "{} more are not; `docent docs check` names them",
            view.problems.len() - NAMED
        ));
    }
    sentences
}

fn length(output: &Output) -> usize {
    serde_json::to_string_pretty(output).map_or(0, |text| text.chars().count())
}

fn found(hit: SectionHit) -> DocsHit {
    let shown = |text: &str| reveal_part(text).into_owned();
    let breadcrumb = hit.section.breadcrumb();
    DocsHit {
        chunk_id: shown(&hit.section.id()),
        score: (hit.score * 1e4).round() / 1e4,
        heading: shown(&hit.section.heading),
        breadcrumb: shown(&breadcrumb),
        snippet: shown(&hit.snippet),
        filepath: shown(&hit.section.path),
        metadata: hit.labels,
    }
}

/// What to do where nothing was found.
fn hint(call: &Call<'_>, request: &SectionRequest<'_>, freshness: &Freshness) -> Result<SearchHint, Failure> {
    let quoted = inline_to(request.query, 80);
    if request.view.pages == 0 {
        let message = if freshness.pending > 0 || freshness.unknown {
            "The documentation is being indexed; ask again in a moment."
        } else {
            "The project has no documentation: no .md, .mdx or .markdown file. context_search searches its code."
        };
        return Ok(SearchHint {
            message: message.to_owned(),
            suggested_filters: BTreeMap::new(),
        });
    }
    let Advice {
        filters,
        without,
        words,
        headings,
    } = advice(call.index, request).map_err(|error| unsearchable(&error))?;
    let active: Vec<String> = request
        .filters
        .iter()
        .map(|(key, value)| format!("{key} '{}'", inline_to(value, 40)))
        .collect();
    let mut message = if active.is_empty() {
        format!("0 results found for '{quoted}'.")
    } else {
        format!("0 results found for '{quoted}' with {}.", active.join(" and "))
    };
    if !filters.is_empty() {
        message += " Other values match: see suggested_filters, or leave the filter out.";
    } else if without {
        message += " It is found without the filter.";
    }
    if !words.is_empty() {
        let pairs: Vec<String> = words
            .iter()
            .map(|(asked, meant)| format!("'{}' for '{}'", inline_to(meant, 40), inline_to(asked, 40)))
            .collect();
        message += &format!(" Did you mean {}?", pairs.join(", "));
    }
    if !headings.is_empty() {
        let headings: Vec<String> = headings
            .iter()
            .map(|heading| format!("'{}'", inline_to(heading, 80)))
            .collect();
        message += &format!(" The closest headings: {}.", headings.join(", "));
    }
    if !without && words.is_empty() && headings.is_empty() {
        message += " No section has any of these words; try others, or context_search for code.";
    }
    Ok(SearchHint {
        message,
        suggested_filters: filters,
    })
}

/// For people: what to ask `docent doc` for, where it stands, and what it says.
fn show(answer: &Value, page: &mut TerminalPage) -> io::Result<()> {
    let output = Output::deserialize(answer).expect("it was written by `run`");
    for (at, found) in output.hits.iter().enumerate() {
        if at > 0 {
            page.line("")?;
        }
        page.found(&found.breadcrumb, "", &format!("{:.2}", found.score))?;
        page.dim(&format!("  docent doc {}", found.chunk_id))?;
        page.prose(&found.snippet)?;
    }
    if let Some(hint) = &output.hint {
        page.note(&hint.message)?;
        for (key, values) in &hint.suggested_filters {
            page.note(&format!(
                "--filter {key}={}",
                values.join(&format!(", --filter {key}="))
            ))?;
        }
    }
    if let Some(cursor) = &output.next_cursor {
        page.note(&format!("more with --cursor {cursor}"))?;
    }
    output.notice.iter().try_for_each(|notice| page.note(notice))
}
