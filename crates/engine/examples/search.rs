//! Runs `docent_engine::search` over indexed trees, inside one process, to measure its speed and quality.
//!
//!     search QUESTIONS.jsonl ANSWERS.jsonl CACHE [weight=value …]
//!
//! A question is `{"repo", "root", "query"}`, with `"details"` if there are any. An answer has the first ten
//! results, chunks and discoveries, as `context_search` shows them. Weights are those of
//! `docent_core::rank::Weights`, by name.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for measuring, not part of docent"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_core::access::Access;
use docent_core::rank::Weights;
use docent_core::rank::boosts::BoostRules;
use docent_engine::accesses::Accesses;
use docent_engine::clock::Clock;
use docent_engine::deadline::Deadline;
use docent_engine::files::Root;
use docent_engine::git::{Git, GitEnvironment};
use docent_engine::index::{Corpus, Index, IndexOptions, Patience};
use docent_engine::search::{SearchHit, SearchRequest, SearchedProject, search};
use serde_json::{Value, json};

const USAGE: &str = "search QUESTIONS.jsonl ANSWERS.jsonl CACHE [weight=value …]";

/// Questions by the root that they are about: those of one root in their order.
type Questions = BTreeMap<String, Vec<Question>>;

/// The repository, the query and its details.
type Question = (String, String, Option<String>);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(questions), Some(answers), Some(cache)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err(USAGE.into());
    };
    let mut weights = Weights::default();
    for setting in arguments {
        let (name, value) = setting.split_once('=').ok_or(USAGE)?;
        if !weights.set(name, value.parse()?) {
            return Err(format!("no weight {name}").into());
        }
    }
    let (order, questions) = read_questions(&questions)?;

    let (mut built, mut times) = (Duration::ZERO, Vec::new());
    let mut out = String::new();
    for root in &order {
        let folder = Path::new(&cache).join(root.replace('/', "+"));
        let accesses = Arc::new(Accesses::new(None, Clock::System));
        let started = Instant::now();
        let opened = Root::open(Path::new(root), Access::new([])?)?;
        let index = open_index(&opened, &folder, &accesses);
        for corpus in [Corpus::Code, Corpus::History] {
            index.freshen(corpus, Patience::UntilDone, &Deadline::default(), &|_| {});
        }
        built += started.elapsed();
        let project = SearchedProject {
            root: &opened,
            index: &index,
            accesses: &accesses,
        };
        for (repository, query, details) in &questions[root] {
            let started = Instant::now();
            let outcome = search(&[project], &request(query, details.as_deref(), &weights))?;
            times.push(started.elapsed());
            let results: Vec<Value> = outcome.hits.iter().map(to_json).collect();
            let answer = json!({ "repo": repository, "query": query, "results": results });
            out.push_str(&format!("{answer}\n"));
        }
    }
    std::fs::write(answers, out)?;
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!(
        "trees {}  built in {:.2} s  queries {}  p50 {:.3} ms  p95 {:.3} ms  max {:.3} ms",
        order.len(),
        built.as_secs_f64(),
        times.len(),
        at(50),
        at(95),
        at(100),
    );
    Ok(())
}

/// The roots in the order of the file, and the questions about each.
fn read_questions(path: &str) -> Result<(Vec<String>, Questions), Box<dyn Error>> {
    let (mut order, mut questions) = (Vec::new(), Questions::new());
    let text = std::fs::read_to_string(path)?;
    for line in text.lines() {
        let question: Value = serde_json::from_str(line)?;
        let field = |name: &str| question[name].as_str().unwrap_or_default().to_owned();
        let of_root = questions.entry(field("root")).or_insert_with(|| {
            order.push(field("root"));
            Vec::new()
        });
        let details = question["details"].as_str().map(str::to_owned);
        of_root.push((field("repo"), field("query"), details));
    }
    Ok((order, questions))
}

/// An index as a server has it: watched, and with the history of the repository, if it is one.
fn open_index(root: &Root, folder: &Path, accesses: &Arc<Accesses>) -> Index {
    let environment = GitEnvironment {
        temporary: std::env::temp_dir(),
        search: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
        ..GitEnvironment::default()
    };
    let options = IndexOptions {
        watch: true,
        git: Some(Arc::new(Git::new(root.clone(), environment, Clock::System, None))),
        ..IndexOptions::default()
    };
    Index::new(root.clone(), Some(folder.to_owned()), accesses.clone(), options)
}

/// A request as `context_search` makes it for a query alone.
fn request<'a>(query: &'a str, details: Option<&'a str>, weights: &'a Weights) -> SearchRequest<'a> {
    static NO_DEADLINE: std::sync::LazyLock<Deadline> = std::sync::LazyLock::new(Deadline::default);
    SearchRequest {
        query,
        details,
        chunks: Some(&[]),
        discoveries: Some(&[]),
        module: None,
        paths: None,
        current_module: None,
        limit: 10,
        with_surroundings: false,
        weights,
        boosts: BoostRules::default(),
        patience: Patience::Moment,
        deadline: &NO_DEADLINE,
        report: &|_| {},
        clock: Clock::System,
    }
}

/// As `eval/search/client.py` writes an answer of the server. A commit has no lines.
fn to_json(hit: &SearchHit) -> Value {
    let candidate = &hit.ranked.candidate;
    let path = candidate.path_or_commit();
    match candidate.lines() {
        Some((first, last)) => json!({ "path": path, "start_line": first, "end_line": last }),
        None => json!({ "path": format!("commit {path}"), "start_line": null, "end_line": null }),
    }
}
