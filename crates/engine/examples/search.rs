//! Indexes trees and asks them questions, inside one process: for measuring speed and quality.
//!
//!     search QUESTIONS.jsonl ANSWERS.jsonl CACHE [weight=value …]
//!
//! A question is `{"repo", "root", "query"}`; questions about one root stand together. An answer has ten results.

#![expect(clippy::print_stdout, reason = "what a program that measures is for")]

use std::collections::{BTreeMap, HashMap};
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
use docent_engine::index::{Corpus, Index, IndexOptions, Patience};
use docent_engine::search::{ChunkReader, SearchRequest, SearchedProject, search};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let (Some(questions), Some(answers), Some(cache)) = (given.next(), given.next(), given.next()) else {
        return Err("search QUESTIONS.jsonl ANSWERS.jsonl CACHE [weight=value …]".into());
    };
    let mut weights = Weights::default();
    for setting in given {
        set(&mut weights, &setting)?;
    }
    let mut roots: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    #[expect(clippy::disallowed_methods, reason = "no file of a project")]
    for line in std::fs::read_to_string(questions)?.lines() {
        let question: Value = serde_json::from_str(line)?;
        let text = |name: &str| question[name].as_str().unwrap_or_default().to_owned();
        let at = *places.entry(text("root")).or_insert_with(|| {
            roots.push((text("root"), Vec::new()));
            roots.len() - 1
        });
        roots[at].1.push((text("repo"), text("query")));
    }

    let usage = HashMap::new();
    let (mut built, mut asked) = (Duration::ZERO, Vec::new());
    let mut out = String::new();
    for (root, questions) in &roots {
        let folder = Path::new(&cache).join(root.replace('/', "+"));
        let root = Root::open(Path::new(root), Access::new([])?)?;
        let accesses = Arc::new(Accesses::new(None, Clock::System));
        let started = Instant::now();
        let index = Index::new(
            root.clone(),
            Some(folder),
            accesses,
            IndexOptions {
                watch: true,
                ..IndexOptions::default()
            },
        );
        index.freshen(Corpus::Code, Patience::UntilDone, &Deadline::default(), &|_| {});
        built += started.elapsed();
        for (repo, query) in questions {
            let started = Instant::now();
            let request = SearchRequest {
                query,
                kinds: &[],
                module: None,
                weights: &weights,
                deadline: &Deadline::default(),
            };
            let place = SearchedProject {
                index: &index,
                usage: &usage,
                module: None,
                rules: BoostRules::default(),
            };
            let found = search(&[place], &request)?;
            let mut reader = ChunkReader::new(&root);
            let results: Vec<Value> = found
                .matches
                .iter()
                .filter_map(|one| reader.read(&one.chunk))
                .take(10)
                .map(|(chunk, _)| {
                    json!({ "path": chunk.path, "start_line": chunk.first_line, "end_line": chunk.last_line })
                })
                .collect();
            asked.push(started.elapsed());
            out.push_str(&json!({ "repo": repo, "query": query, "results": results }).to_string());
            out.push('\n');
        }
    }
    std::fs::write(answers, out)?;
    asked.sort_unstable();
    let at = |share: usize| asked[(asked.len() * share / 100).min(asked.len() - 1)].as_secs_f64() * 1e3;
    println!(
        "trees {}  built in {:.2} s  queries {}  p50 {:.3} ms  p95 {:.3} ms  max {:.3} ms",
        roots.len(),
        built.as_secs_f64(),
        asked.len(),
        at(50),
        at(95),
        at(100),
    );
    Ok(())
}

fn set(weights: &mut Weights, setting: &str) -> Result<(), Box<dyn Error>> {
    let (name, value) = setting.split_once('=').ok_or("weight=value")?;
    if weights.set(name, value.parse()?) {
        Ok(())
    } else {
        Err(format!("no weight {name}").into())
    }
}
