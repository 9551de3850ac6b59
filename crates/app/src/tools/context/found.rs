//! A result of `context_search`: a chunk of a file or a discovery, with its text as it is now.

use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::rank::boosts::{Boosts, Usage};
use docent_core::text::reveal::reveal_part;
use docent_engine::clock::rfc3339;
use docent_engine::discoveries::DiscoveryCandidate;
use docent_engine::files::Root;
use docent_engine::search::{ChunkReader, FoundChunk};
use docent_engine::store::StoredChunk;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::settings::project_name;

#[derive(Default, Deserialize, Serialize)]
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
    /// Where a discovery comes from: the memory, a record, a guide, a commit or a comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
    /// Where else almost the same is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) also_in: Vec<String>,
    #[serde(flatten)]
    pub(super) place: Option<LineRange>,
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
    /// When the file of a discovery was last changed, on this machine.
    #[serde(skip)]
    pub(super) modified: Option<String>,
    /// Of another project than the one that is served.
    #[serde(skip)]
    pub(super) is_linked: bool,
    /// Seconds since the last access.
    #[serde(skip)]
    pub(super) age: Option<i64>,
}

/// Lines of a file.
#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LineRange {
    pub(super) path: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
}

#[derive(Default, Deserialize, Serialize)]
pub(super) struct Ranking {
    pub(super) semantic: f64,
    pub(super) recency: f64,
    pub(super) module: f64,
    pub(super) frequency: f64,
    pub(super) r#final: f64,
}

/// Something that was found, before its text is read.
pub(super) enum Candidate {
    Chunk(FoundChunk),
    Discovery(DiscoveryCandidate),
}

impl Candidate {
    pub(super) fn score(&self) -> f64 {
        match self {
            Self::Chunk(found) => found.score(),
            Self::Discovery(found) => found.score(),
        }
    }

    /// Which of the projects it is in.
    pub(super) fn project(&self) -> usize {
        match self {
            Self::Chunk(found) => found.place,
            Self::Discovery(found) => found.place,
        }
    }
}

impl SearchEntry {
    pub(super) fn is_discovery(&self) -> bool {
        self.origin.is_some()
    }

    /// What it is called: its name, or that of its file.
    pub(super) fn title(&self) -> String {
        let file = || {
            self.place
                .as_ref()
                .and_then(|place| place.path.rsplit('/').next())
        };
        if self.name.is_empty() {
            file().unwrap_or_default().to_owned()
        } else {
            self.name.clone()
        }
    }

    /// Where it is: `src/a.rs:3-14`, or a commit.
    pub(super) fn whereabouts(&self) -> String {
        const DIGITS: usize = 10;
        match (&self.place, &self.commit) {
            (Some(place), _) => format!("{}:{}-{}", place.path, place.start_line, place.end_line),
            (None, Some(commit)) => format!("commit {}", commit.get(..DIGITS).unwrap_or(commit)),
            (None, None) => String::new(),
        }
    }

    /// Whether its lines are among those of another result of the same file, or the other way round.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let (Some(one), Some(other)) = (&self.place, &other.place) else {
            return false;
        };
        one.path == other.path && one.start_line <= other.end_line && other.start_line <= one.end_line
    }
}

/// A project whose files results are read from.
pub(super) struct Shelf<'a> {
    reader: ChunkReader<'a>,
    project: String,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(root: &'a Root) -> Self {
        Self {
            reader: ChunkReader::new(root),
            project: project_name(root.path()),
        }
    }

    /// The result with its text as it is now; nothing where that is gone.
    pub(super) fn read(&mut self, found: &Candidate, now: Timestamp) -> Option<SearchEntry> {
        match found {
            Candidate::Chunk(found) => self.chunk(found, now),
            Candidate::Discovery(found) => self.note(found, now),
        }
    }

    fn chunk(&mut self, found: &FoundChunk, now: Timestamp) -> Option<SearchEntry> {
        let (chunk, text) = self.reader.read(&found.chunk)?;
        let path = RepoPath::parse(&chunk.path).ok()?;
        Some(SearchEntry {
            id: format!("{:016x}", chunk.id),
            r#type: source(&chunk).to_owned(),
            content: shown(text.trim_end_matches(['\n', '\r'])),
            module: shown(module_of(&path)),
            date: self.reader.modified(&chunk.path).map(rfc3339),
            source: source(&chunk).to_owned(),
            place: Some(LineRange {
                path: shown(&chunk.path),
                start_line: chunk.first_line,
                end_line: chunk.last_line,
            }),
            name: shown(&chunk.scope),
            kind: chunk.kind.name().to_owned(),
            language: chunk.language.clone(),
            generated: chunk.generated,
            is_linked: found.place > 0,
            ..self.ranked(found.relevance, &found.boosts, found.usage, now)
        })
    }

    fn note(&mut self, found: &DiscoveryCandidate, now: Timestamp) -> Option<SearchEntry> {
        let note = self.reader.confirm(&found.note)?;
        let discovery = &note.discovery;
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let place = discovery.lines.as_ref().map(|lines| LineRange {
            path: shown(&note.path_or_commit),
            start_line: number(*lines.start()),
            end_line: number(*lines.end()),
        });
        Some(SearchEntry {
            id: format!("{:016x}", note.id),
            r#type: discovery.kind.name().to_owned(),
            content: shown(&discovery.content),
            module: shown(&discovery.module),
            session: discovery.session.as_deref().map(shown),
            date: discovery.date.as_deref().map(shown),
            modified: self.reader.modified(&note.path_or_commit).map(rfc3339),
            source: "discovery".to_owned(),
            origin: Some(discovery.source.name().to_owned()),
            commit: place.is_none().then(|| note.path_or_commit.clone()),
            also_in: found.also.iter().map(|place| shown(place)).collect(),
            place,
            name: shown(&discovery.title),
            kind: discovery.kind.name().to_owned(),
            language: "text".to_owned(),
            is_linked: found.place > 0,
            ..self.ranked(found.relevance, &found.boosts, found.usage, now)
        })
    }

    /// What every result has: how it was ranked, and what is known of its file.
    fn ranked(&self, relevance: f64, boosts: &Boosts, usage: Option<Usage>, now: Timestamp) -> SearchEntry {
        let last = usage.map(|usage| now - SignedDuration::from_secs(usage.age));
        let final_score = relevance * boosts.product();
        SearchEntry {
            score: rounded(final_score.tanh()),
            project: shown(&self.project),
            last_accessed: last.map(rfc3339),
            accesses_this_week: usage.map_or(0, |usage| usage.times),
            ranking: Ranking {
                semantic: rounded(relevance),
                recency: boosts.recency,
                module: boosts.module,
                frequency: rounded(boosts.frequency),
                r#final: rounded(final_score),
            },
            age: usage.map(|usage| usage.age),
            ..SearchEntry::default()
        }
    }
}

fn shown(text: &str) -> String {
    reveal_part(text).into_owned()
}

/// What a chunk is a part of.
fn source(chunk: &StoredChunk) -> &'static str {
    match chunk.language.as_str() {
        "markdown" | "mdx" | "restructuredtext" | "asciidoc" | "plaintext" => "docs",
        _ => "code",
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
