//! Measures the cost of the bundled embedding table: loading it, embedding a question, embedding source, and
//! indexing with it and without.
//!
//!     embed DIRECTORY CACHE
//!
//! DIRECTORY is a project, CACHE a folder for the two indexes. Searches are measured by `search.rs`.

#![expect(clippy::print_stdout, reason = "a program that measures prints its figures")]

use std::error::Error;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_core::access::Access;
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_engine::accesses::Accesses;
use docent_engine::clock::Clock;
use docent_engine::deadline::Deadline;
use docent_engine::embed::{Embedder, Vector, bundled};
use docent_engine::files::Root;
use docent_engine::index::{Corpus, Index, IndexOptions, Patience};

/// An embedder without vectors, to compare with.
#[derive(Debug)]
struct NoVectors;

impl Embedder for NoVectors {
    fn name(&self) -> &'static str {
        "nothing"
    }

    fn embed(&self, _: &str) -> Option<Vector> {
        None
    }

    fn knows(&self, _: &str) -> bool {
        false
    }
}

static NO_VECTORS: NoVectors = NoVectors;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: embed DIRECTORY CACHE")?;
    let cache = arguments.next().ok_or("usage: embed DIRECTORY CACHE")?;
    let root = Root::open(Path::new(&directory), Access::new([])?)?;

    let before = resident();
    let started = Instant::now();
    let table = bundled();
    assert!(table.embed("first").is_some());
    println!(
        "load          {:7.3} ms, {:.1} MB more in memory",
        milliseconds(started.elapsed()),
        megabytes(resident().saturating_sub(before))
    );

    let question = "where is the retry policy of a failed request decided";
    let started = Instant::now();
    for _ in 0..10_000 {
        std::hint::black_box(table.embed(std::hint::black_box(question)));
    }
    println!("a question    {:7.3} µs", milliseconds(started.elapsed()) / 10.0);

    let mut texts = Vec::new();
    for entry in ignore::Walk::new(&directory).flatten() {
        let name = entry.path().strip_prefix(&directory)?.to_string_lossy();
        let Ok(path) = RepoPath::parse(&name) else {
            continue;
        };
        if let Ok(content) = root.read(&path, 1 << 20)
            && let Ok(text) = String::from_utf8(content.bytes)
            && ![Language::Markdown, Language::Json].contains(&Language::of_file(&path, &text))
        {
            texts.push(text);
        }
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    let started = processor_time();
    for text in &texts {
        std::hint::black_box(table.embed(text));
    }
    let took = processor_time().saturating_sub(started);
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let rate = bytes as f64 / 1e6 / took.as_secs_f64();
    println!(
        "source        {rate:7.1} MB/s on one core, {:.1} MB in {} files",
        megabytes(bytes as u64),
        texts.len()
    );
    drop(texts);

    // In alternating order, so that neither profits from the page cache more than the other.
    let with = |table: &'static dyn Embedder| index(&root, Path::new(&cache), table);
    let tables: [&'static dyn Embedder; 2] = [&NO_VECTORS, table];
    index(&root, Path::new(&cache), tables[0])?;
    let mut took = [Duration::MAX; 2];
    for order in [[0, 1], [1, 0], [0, 1]] {
        for which in order {
            took[which] = took[which].min(with(tables[which])?);
        }
    }
    println!(
        "index         {:.2} s of processor time without, {:.2} s with: {:.3} times",
        took[0].as_secs_f64(),
        took[1].as_secs_f64(),
        took[1].as_secs_f64() / took[0].as_secs_f64()
    );
    Ok(())
}

/// The processor time of building an index.
fn index(root: &Root, cache: &Path, embedder: &'static dyn Embedder) -> Result<Duration, Box<dyn Error>> {
    let folder = cache.join(embedder.name());
    let _ = std::fs::remove_dir_all(&folder);
    let accesses = Arc::new(Accesses::new(None, Clock::System));
    let options = IndexOptions {
        embedder,
        ..IndexOptions::default()
    };
    let started = processor_time();
    let index = Index::new(root.clone(), Some(folder), accesses, options);
    let freshness = index.freshen(Corpus::Code, Patience::UntilDone, &Deadline::default(), &|_| {});
    if freshness.pending > 0 {
        return Err("not everything was indexed".into());
    }
    Ok(processor_time().saturating_sub(started))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    proc("statm").get(1).map_or(0, |pages| pages * 4_096)
}

/// Processor time of this process. The kernel counts ticks of 10 ms.
fn processor_time() -> Duration {
    // The process name is the only field with blanks, and all numbers follow it.
    let fields = proc("stat");
    let ticks = fields.get(10..12).map_or(0, |both| both.iter().sum());
    Duration::from_millis(ticks * 10)
}

/// The numbers in a file of `/proc/self`, from behind the process name on.
fn proc(name: &str) -> Vec<u64> {
    #[expect(clippy::disallowed_methods, reason = "a file of the system")]
    let text = std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    let text = text.rsplit_once(") ").map_or(text.as_str(), |(_, rest)| rest);
    text.split_whitespace()
        .map(|field| field.parse().unwrap_or_default())
        .collect()
}
