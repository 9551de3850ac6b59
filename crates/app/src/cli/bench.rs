//! `docent bench`: how long docent takes on this project and this machine, compared with `rg`.
//!
//! Queries are names of the project's own files, which people who work on it would search for.
//!
//! Invariant: the index is built in a temporary folder, so that the one in use is left alone.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Arg, ArgMatches, Command, value_parser};
use docent_core::rank::Weights;
use docent_core::rank::boosts::BoostRules;
use docent_engine::accesses::Accesses;
use docent_engine::deadline::Deadline;
use docent_engine::grep::{Case, Grep, GrepQuery};
use docent_engine::index::{Corpus, Index, IndexOptions, Patience, Progress};
use docent_engine::search::{SearchRequest, SearchedProject, search};

use super::progress::{IndexProgress, format_rate, format_size};
use crate::markdown::count;
use crate::settings::Settings;
use crate::terminal::TerminalPage;

/// Width of the names at the beginning of a row.
const WIDTH: usize = 22;

pub(super) fn command() -> Command {
    Command::new("bench")
        .about("Measure docent on this project, beside rg: building the index, questions, exact search")
        .arg(
            Arg::new("questions")
                .long("questions")
                .value_name("NUMBER")
                .value_parser(value_parser!(u16).range(1..=1_000))
                .default_value("30")
                .help("How many questions to ask"),
        )
}

pub(super) fn run(
    settings: &Settings,
    given: &ArgMatches,
    mut page: TerminalPage,
) -> anyhow::Result<ExitCode> {
    let max_queries = usize::from(*given.get_one::<u16>("questions").expect("it has a default"));
    let folder = Scratch::new(&settings.temporary)?;
    let started = Instant::now();
    let index = create_index(settings, folder.path());
    let bar = IndexProgress::default();
    let freshness = index.freshen(
        Corpus::Code,
        Patience::UntilDone,
        &Deadline::default(),
        &|progress| bar.show(progress),
    );
    drop(bar);
    let built = started.elapsed();
    if freshness.files == 0 {
        bail!("there is nothing to index in {}", settings.root.path().display());
    }
    let Progress { chunks, bytes, .. } = index.progress();
    let on_disk = index.status().bytes_on_disk;

    let timings = Timings::of(settings, &index, &pick_names(&index, max_queries)?);

    let seconds = built.as_secs_f64();
    let files = count(freshness.files as u64);
    page.heading(&format!("{files} files, {} chunks", count(chunks)))?;
    page.row(
        "index from nothing",
        WIDTH,
        &format!("{seconds:.2} s"),
        &format!(
            "{}, {} on disk",
            format_rate(bytes, seconds),
            format_size(on_disk)
        ),
    )?;
    timings.write(&mut page)?;
    page.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// How long the queries took, each kind once per name.
struct Timings {
    names: usize,
    questions: Times,
    symbols: Times,
    grep: Times,
    /// `None` if `rg` is not installed.
    rg: Option<Times>,
}

impl Timings {
    fn of(settings: &Settings, index: &Index, names: &[String]) -> Self {
        let rg = settings.surroundings.find_program("rg", settings.root.path());
        Self {
            names: names.len(),
            questions: measure(names, |name| {
                ask(index, settings, &format!("where is {name} used"));
            }),
            symbols: measure(names, |name| ask(index, settings, name)),
            grep: measure(names, |name| {
                let pattern = regex::escape(name);
                let query = GrepQuery {
                    pattern: &pattern,
                    file_pattern: None,
                    paths: &[],
                    kinds: &[],
                    case: Case::Sensitive,
                    context_lines: 2,
                };
                let deadline = Deadline::default();
                let search = Grep::new(&settings.root, &query, &deadline);
                let read = search.and_then(|search| search.read(&search.count()?.files, 50));
                std::hint::black_box(read.is_ok());
            }),
            rg: rg
                .as_ref()
                .map(|program| measure(names, |name| run_rg(program, settings.root.path(), name))),
        }
    }

    fn write(&self, page: &mut TerminalPage) -> io::Result<()> {
        let searched = "context_search, its answers read";
        page.row("a question", WIDTH, &self.questions.format(), searched)?;
        page.row("a name", WIDTH, &self.symbols.format(), searched)?;
        page.row(
            "exact text",
            WIDTH,
            &self.grep.format(),
            "grep_codebase, every match counted",
        )?;
        match &self.rg {
            Some(rg) => page.row(
                "rg, the same text",
                WIDTH,
                &rg.format(),
                "a process each time, every match counted",
            )?,
            None => page.note("rg is not on the PATH, so there is nothing to compare with")?,
        }
        page.note(&format!("asked for {} names that this project has", self.names))
    }
}

/// A new index of the project, apart from the one in use.
fn create_index(settings: &Settings, folder: &Path) -> Index {
    let accesses = Arc::new(Accesses::new(None, settings.clock));
    let options = IndexOptions {
        // Watched as a server's index is: otherwise each question would scan all files first.
        watch: true,
        remote: None,
        ..settings.index.clone()
    };
    Index::new(
        settings.root.clone(),
        Some(folder.join("projects/bench")),
        accesses,
        options,
    )
}

/// Names of source files, spread evenly over the project.
fn pick_names(index: &Index, max: usize) -> anyhow::Result<Vec<String>> {
    let overview = index.overview()?;
    let mut names: Vec<String> = Vec::new();
    let paths: Vec<&String> = overview
        .modules
        .values()
        .flat_map(|module| &module.code)
        .collect();
    let step = (paths.len() / max).max(1);
    for path in paths.iter().step_by(step) {
        let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        if stem.len() >= 3 && !names.iter().any(|name| *name == stem) {
            names.push(stem.into_owned());
        }
    }
    names.truncate(max);
    if names.is_empty() {
        bail!("there is no code to ask about");
    }
    Ok(names)
}

/// One `context_search`, as the tool runs it.
fn ask(index: &Index, settings: &Settings, query: &str) {
    let accesses = Accesses::new(None, settings.clock);
    let project = SearchedProject {
        root: &settings.root,
        index,
        accesses: &accesses,
    };
    let request = SearchRequest {
        query,
        details: None,
        chunks: Some(&[]),
        discoveries: Some(&[]),
        module: None,
        paths: None,
        current_module: None,
        limit: 5,
        with_surroundings: false,
        weights: &Weights::default(),
        boosts: BoostRules::default(),
        patience: Patience::Moment,
        deadline: &Deadline::default(),
        report: &|_| {},
        clock: settings.clock,
    };
    std::hint::black_box(search(&[project], &request).is_ok());
}

fn run_rg(program: &Path, root: &Path, name: &str) {
    let output = Process::new(program)
        .args(["--hidden", "--fixed-strings", "--count-matches", "--", name])
        .current_dir(root)
        .stdin(Stdio::null())
        .output();
    std::hint::black_box(output.is_ok());
}

/// Durations in ascending order.
struct Times(Vec<Duration>);

fn measure(names: &[String], work: impl Fn(&str)) -> Times {
    // Warm up: the first call opens files that the others find open.
    work(&names[0]);
    let mut times: Vec<Duration> = names
        .iter()
        .map(|name| {
            let started = Instant::now();
            work(name);
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    Times(times)
}

impl Times {
    /// The median and the 95th percentile.
    fn format(&self) -> String {
        let at =
            |percent: usize| self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)].as_secs_f64() * 1e3;
        format!("{:>7.1} ms {:>7.1} ms", at(50), at(95))
    }
}

/// A temporary folder that is deleted when the command ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(temporary: &Path) -> anyhow::Result<Self> {
        let folder = temporary.join(format!("docent-bench-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
