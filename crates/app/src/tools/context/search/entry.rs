//! A result of `context_search` as the JSON contract has it; the other forms are written from it.

use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::text::reveal::reveal_part;
use docent_engine::clock::rfc3339;
use docent_engine::search::{
    Candidate, HitSurroundings, RankedCandidate, SearchHit, SearchOutcome, SearchedProject,
};
use docent_engine::store::{StoredChunk, StoredDiscovery};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::settings::project_name;

/// The answer of the JSON contract.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    pub(super) results: Vec<SearchEntry>,
    pub(super) query: String,
    /// The query, or what a report is about in a few lines: the compact form chooses lines by it.
    #[serde(skip)]
    pub(super) summary: String,
    pub(super) total_found: usize,
    /// In milliseconds
    pub(super) search_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// Sentences about what the results may miss
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notice: Option<String>,
}

/// A result of the JSON contract. Fields that are skipped serve the other forms.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SearchEntry {
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
    /// The source of a discovery: the memory, a record, a guide, a commit or a comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
    /// Paths and commits with discoveries that say almost the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) also_in: Vec<String>,
    #[serde(flatten)]
    pub(super) lines: Option<LineRange>,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) project: String,
    pub(super) language: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_accessed: Option<String>,
    pub(super) accesses_this_week: u64,
    pub(super) ranking: Ranking,
    /// Generated code, not written by people.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) generated: bool,
    /// When the file of a discovery was last changed, on this machine.
    #[serde(skip)]
    pub(super) modified: Option<String>,
    /// In a linked project.
    #[serde(skip)]
    pub(super) is_linked: bool,
    /// Seconds since the last access.
    #[serde(skip)]
    pub(super) age: Option<i64>,
    /// The definitions in and around a chunk, in the compact form.
    #[serde(skip)]
    pub(super) surroundings: Option<HitSurroundings>,
}

/// Lines of a file, as the JSON contract has them.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LineRange {
    pub(super) path: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
}

/// The factors of a score.
#[derive(Default, Serialize)]
pub(super) struct Ranking {
    pub(super) semantic: f64,
    pub(super) recency: f64,
    pub(super) module: f64,
    pub(super) frequency: f64,
    pub(super) r#final: f64,
}

impl SearchEntry {
    pub(super) fn is_discovery(&self) -> bool {
        self.origin.is_some()
    }

    /// Its name, or that of its file.
    pub(super) fn title(&self) -> String {
        let file = || {
            self.lines
                .as_ref()
                .and_then(|lines| lines.path.rsplit('/').next())
        };
        if self.name.is_empty() {
            file().unwrap_or_default().to_owned()
        } else {
            self.name.clone()
        }
    }

    /// Its lines, `src/a.rs:3-14`, or its commit.
    pub(super) fn address(&self) -> String {
        const DIGITS: usize = 10;
        match (&self.lines, &self.commit) {
            (Some(lines), _) => format!("{}:{}-{}", lines.path, lines.start_line, lines.end_line),
            (None, Some(commit)) => format!("commit {}", commit.get(..DIGITS).unwrap_or(commit)),
            (None, None) => String::new(),
        }
    }

    /// The results of a search of `projects`.
    pub(super) fn from_outcome(outcome: &SearchOutcome, projects: &[SearchedProject<'_>]) -> Vec<Self> {
        let entry = |hit: &SearchHit| {
            let project = project_name(projects[hit.ranked.project].root.path());
            Self::new(hit, &project, outcome.searched_at)
        };
        outcome.hits.iter().map(entry).collect()
    }

    fn new(hit: &SearchHit, project: &str, searched_at: Timestamp) -> Self {
        let modified = hit.modified.map(rfc3339);
        let lines = hit
            .ranked
            .candidate
            .lines()
            .map(|(start_line, end_line)| LineRange {
                path: reveal(hit.ranked.candidate.path_or_commit()),
                start_line,
                end_line,
            });
        let entry = Self {
            lines,
            surroundings: hit.surroundings.clone(),
            ..Self::from_rank(&hit.ranked, project, searched_at)
        };
        match &hit.ranked.candidate {
            Candidate::Chunk(chunk) => Self {
                content: reveal(hit.text.trim_end_matches(['\n', '\r'])),
                date: modified,
                ..entry.with_chunk(chunk)
            },
            Candidate::Discovery { stored, also_in } => Self {
                content: reveal(&hit.text),
                modified,
                also_in: also_in.iter().map(|other| reveal(other)).collect(),
                ..entry.with_discovery(stored)
            },
        }
    }

    /// Adds the fields of a chunk.
    fn with_chunk(self, chunk: &StoredChunk) -> Self {
        let path = RepoPath::parse(&chunk.path);
        Self {
            id: format!("{:016x}", chunk.id),
            r#type: source_of(chunk).to_owned(),
            module: path.map_or_else(|_| String::new(), |path| reveal(module_of(&path))),
            source: source_of(chunk).to_owned(),
            name: reveal(&chunk.scope),
            kind: chunk.kind.name().to_owned(),
            language: chunk.language.clone(),
            generated: chunk.generated,
            ..self
        }
    }

    /// Adds the fields of a discovery.
    fn with_discovery(self, stored: &StoredDiscovery) -> Self {
        let discovery = &stored.discovery;
        Self {
            id: format!("{:016x}", stored.id),
            r#type: discovery.kind.name().to_owned(),
            module: reveal(&discovery.module),
            session: discovery.session.as_deref().map(reveal),
            date: discovery.date.as_deref().map(reveal),
            source: "discovery".to_owned(),
            origin: Some(discovery.source.name().to_owned()),
            commit: discovery.lines.is_none().then(|| stored.path_or_commit.clone()),
            name: reveal(&discovery.title),
            kind: discovery.kind.name().to_owned(),
            language: "text".to_owned(),
            ..self
        }
    }

    /// The fields of every result: its score and its project.
    fn from_rank(ranked: &RankedCandidate, project: &str, searched_at: Timestamp) -> Self {
        let (boosts, usage) = (&ranked.boosts, ranked.usage);
        let last_accessed = usage.map(|usage| searched_at - SignedDuration::from_secs(usage.age));
        let score = ranked.score;
        Self {
            score: round(score.tanh()),
            project: reveal(project),
            last_accessed: last_accessed.map(rfc3339),
            accesses_this_week: usage.map_or(0, |usage| usage.times),
            ranking: Ranking {
                semantic: round(ranked.relevance),
                recency: round(boosts.recency),
                module: round(boosts.module),
                frequency: round(boosts.frequency),
                r#final: round(score),
            },
            is_linked: ranked.project > 0,
            age: usage.map(|usage| usage.age),
            ..Self::default()
        }
    }
}

/// A text with its invisible characters made visible.
pub(super) fn reveal(text: &str) -> String {
    reveal_part(text).into_owned()
}

/// Whether a chunk is of code or of documentation.
fn source_of(chunk: &StoredChunk) -> &'static str {
    match chunk.language.as_str() {
        "markdown" | "mdx" | "restructuredtext" | "asciidoc" | "plaintext" => "docs",
        _ => "code",
    }
}

/// To four decimals.
fn round(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
