//! Runs `docent_engine::docs::search` over indexed documentation, inside one process, to measure its speed
//! and quality.
//!
//!     docs ask QUESTIONS.jsonl ANSWERS.jsonl CACHE (all|words|meaning)
//!     docs dump DIRECTORY > SECTIONS.jsonl
//!
//! A question is `{"root", "question"}`; questions about one root follow each other. An answer has the ids
//! of ten results.

#![expect(clippy::print_stdout, reason = "a program that measures prints its figures")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use docent_core::access::Access;
use docent_core::docs::DocsFileKind;
use docent_core::docs::manifest::{Labels, PageRules};
use docent_core::docs::page::{Markup, Page};
use docent_engine::accesses::Accesses;
use docent_engine::clock::Clock;
use docent_engine::deadline::Deadline;
use docent_engine::docs::{RetrievalMode, SectionRequest, search};
use docent_engine::files::Root;
use docent_engine::index::{Corpus, Index, IndexOptions, Patience};
use docent_engine::walk::{self, VisitOutcome, WalkedFile};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    match given.as_slice() {
        ["ask", questions, answers, cache, mode] => {
            let mode = match *mode {
                "words" => RetrievalMode::Words,
                "meaning" => RetrievalMode::Meaning,
                _ => RetrievalMode::All,
            };
            ask(questions, answers, Path::new(cache), mode)
        }
        ["dump", directory] => dump(Path::new(directory)),
        _ => Err("docs ask QUESTIONS ANSWERS CACHE WAYS, or docs dump DIRECTORY".into()),
    }
}

fn ask(questions: &str, answers: &str, cache: &Path, mode: RetrievalMode) -> Result<(), Box<dyn Error>> {
    let mut open: Option<(String, Root, Index)> = None;
    let (mut built, mut times) = (Duration::ZERO, Vec::new());
    let mut out = String::new();
    #[expect(clippy::disallowed_methods, reason = "not a file of a project")]
    for line in std::fs::read_to_string(questions)?.lines() {
        let question: Value = serde_json::from_str(line)?;
        let text = |name: &str| question[name].as_str().unwrap_or_default().to_owned();
        let path = text("root");
        if open.as_ref().is_none_or(|(name, ..)| *name != path) {
            let root = Root::open(Path::new(&path), Access::new([])?)?;
            let accesses = Arc::new(Accesses::new(None, Clock::System));
            let options = IndexOptions {
                watch: true,
                ..IndexOptions::default()
            };
            let started = Instant::now();
            let index = Index::new(
                root.clone(),
                Some(cache.join(path.replace('/', "+"))),
                accesses,
                options,
            );
            index.freshen(Corpus::Docs, Patience::UntilDone, &Deadline::default(), &|_| {});
            built += started.elapsed();
            open = Some((path, root, index));
        }
        let Some((_, root, index)) = &open else { continue };
        let started = Instant::now();
        let request = SectionRequest {
            query: &text("question"),
            filters: &Labels::new(),
            view: &index.docs(Duration::ZERO),
            after: 0,
            limit: 10,
            mode,
        };
        let results = search(root, index, &request, &Deadline::default())?;
        times.push(started.elapsed());
        let ids: Vec<String> = results.hits.iter().map(|hit| hit.section.id()).collect();
        out.push_str(&json!({ "question": text("question"), "ids": ids }).to_string());
        out.push('\n');
    }
    std::fs::write(answers, out)?;
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!(
        "built in {:.2} s  questions {}  p50 {:.3} ms  p95 {:.3} ms  max {:.3} ms",
        built.as_secs_f64(),
        times.len(),
        at(50),
        at(95),
        at(100),
    );
    Ok(())
}

fn dump(directory: &Path) -> Result<(), Box<dyn Error>> {
    let root = Root::open(directory, Access::new([])?)?;
    let (sender, found) = mpsc::channel();
    walk::visit_files(&root, &[], &Deadline::default(), || {
        let sender = sender.clone();
        move |listed: &WalkedFile| {
            let _ = sender.send(listed.path().clone());
            VisitOutcome::Continue
        }
    });
    drop(sender);
    let mut paths: Vec<_> = found
        .iter()
        .filter(|path| DocsFileKind::of(path) == Some(DocsFileKind::Page))
        .collect();
    paths.sort();
    for path in paths {
        let text = String::from_utf8_lossy(&root.read(&path, 64 << 20)?.bytes).into_owned();
        let page = Page::of(
            &text,
            Markup::of_path(&path).unwrap_or_default(),
            PageRules::default(),
        );
        for section in &page.sections {
            let plain = &page.plain[section.plain.clone()];
            let line = json!({
                "id": section.id(path.as_str()), "path": path.as_str(), "title": page.title,
                "heading": section.heading, "above": section.above, "text": plain,
            });
            println!("{line}");
        }
    }
    Ok(())
}
