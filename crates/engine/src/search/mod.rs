//! Search: one function from a query to the results as they are shown, for every caller and every
//! measurement.
//!
//! [`search`] reads top to bottom, and no step goes back:
//!
//! 1. `project.rs`: bring the indexes of all projects up to date, and read how their files are used.
//! 2. `reading.rs`: the query, a question or a report; `definitions.rs`: the names of it that a project
//!    defines. `chunks.rs`, `discoveries.rs`: find candidates in the store, and rank them by `core::rank`;
//!    `functions.rs` ranks inside the best files. `phrases.rs` raises what has a phrase word for word.
//!    `uses.rs`, `short.rs`: the chunks around the uses of a symbol, and those that a short name names.
//! 3. `merge.rs`: one list of both, cut at the limit, without duplicates.
//! 4. `reread.rs`: the text of each result from its file as it is now; `surroundings.rs`: the definitions in
//!    and around it.
//! 5. `notice.rs`: notices about what the results may miss.
//!
//! Wording, JSON and markdown are left to the caller. Weights and orders are in `core::rank`.
//!
//! Invariant: a result shows the text that its file has now. A chunk whose lines have changed since it was
//! indexed is found again by its id, or left out and counted.

mod chunks;
mod definitions;
mod discoveries;
mod functions;
mod merge;
mod nested;
mod notice;
mod phrases;
mod project;
mod reading;
mod reread;
mod short;
mod spelling;
mod surroundings;
mod uses;

pub use discoveries::discoveries_of_module;
pub use notice::SearchNotice;
pub use project::SearchedProject;
pub use spelling::Correction;
pub use surroundings::{HitSurroundings, InnerDefinition, WholeDefinition};
pub use uses::UseCounts;

use std::collections::HashSet;

use docent_core::chunk::ChunkKind;
use docent_core::discovery::DiscoveryKind;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::rank::Weights;
use docent_core::rank::boosts::{BoostRules, Boosts, Usage};
use jiff::Timestamp;

use crate::clock::Clock;
use crate::deadline::Deadline;
use crate::grep::FileFilter;
use crate::index::{Corpus, Freshness, Patience, Progress, RerankSkipped};
use crate::store::{StoreError, StoredChunk, StoredDiscovery};
use chunks::{ChunkPlace, FoundChunks};
use project::{ProjectContext, freshen_all, freshen_code_and_history};
use reading::QueryReading;
use reread::CurrentFiles;

/// A search: the query, its filters, and how long it may take.
#[derive(Clone, Copy)]
pub struct SearchRequest<'a> {
    pub query: &'a str,
    /// More about the query, such as the whole issue that it is the title of.
    pub details: Option<&'a str>,
    /// Chunks of these kinds, any kind if empty. `None` leaves out all chunks.
    pub chunks: Option<&'a [ChunkKind]>,
    /// Discoveries of these kinds, any kind if empty. `None` leaves out all discoveries.
    pub discoveries: Option<&'a [DiscoveryKind]>,
    /// Only results of this module.
    pub module: Option<&'a str>,
    /// Only results of files that it accepts. Commits have no file.
    pub paths: Option<&'a FileFilter>,
    /// The module that the caller works in. If unknown, that of the file accessed last.
    pub current_module: Option<&'a str>,
    pub limit: usize,
    /// Whether to read the definitions in and around each chunk ([`SearchHit::surroundings`]).
    pub with_surroundings: bool,
    pub weights: &'a Weights,
    pub boosts: BoostRules,
    /// How long to wait for the index.
    pub patience: Patience,
    /// Bounds the waits for the index and for an embedding server.
    pub deadline: &'a Deadline,
    /// Called with the progress of indexing during a wait.
    pub report: &'a (dyn Fn(Progress) + Sync),
    pub clock: Clock,
}

impl SearchRequest<'_> {
    /// Whether files of this path are searched.
    fn accepts(&self, path: &RepoPath) -> bool {
        self.module.is_none_or(|module| module_of(path) == module)
            && self.paths.is_none_or(|paths| paths.accepts(path))
    }
}

/// The results of a search, and what they may miss.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// At most the limit, the best first.
    pub hits: Vec<SearchHit>,
    /// The query in a few words: as it is, or the title and the first prose of a report.
    pub summary: String,
    /// How many chunks and discoveries were found, before the cut at the limit.
    pub chunks: usize,
    pub discoveries: usize,
    /// Freshness of code and of history, of all searched projects together.
    pub code: Freshness,
    pub history: Freshness,
    /// In the order in which a reader should see them.
    pub notices: Vec<SearchNotice>,
    /// The moment from which [`Usage::age`] counts.
    pub searched_at: Timestamp,
}

/// A result: a candidate with the lines and the text that its file has now.
#[derive(Clone, Debug)]
pub struct SearchHit {
    pub ranked: RankedCandidate,
    pub text: String,
    /// When its file was last changed. `None` for a commit.
    pub modified: Option<Timestamp>,
    /// The definitions in and around a chunk, if the request asked for them.
    pub surroundings: Option<HitSurroundings>,
}

/// A candidate with its rank.
#[derive(Clone, Debug)]
pub struct RankedCandidate {
    /// Position of its project among those searched.
    pub project: usize,
    pub candidate: Candidate,
    /// By the query alone, from 0 to 1.
    pub relevance: f64,
    /// The boosts of its file, and after ordering those that acted.
    pub boosts: Boosts,
    /// The final score, by which results of all kinds are ordered.
    pub score: f64,
    /// It answers a question about a symbol, so that it comes before all that do not.
    pub is_use: bool,
    /// The accesses of its file, if there were any in the last week.
    pub usage: Option<Usage>,
}

/// A chunk or discovery that the store found.
#[derive(Clone, Debug)]
pub enum Candidate {
    Chunk(StoredChunk),
    Discovery {
        stored: StoredDiscovery,
        /// Paths and commits with discoveries that say almost the same.
        also_in: Vec<String>,
    },
}

/// Searches projects, of which the first is the caller's own.
pub fn search(
    projects: &[SearchedProject<'_>],
    request: &SearchRequest<'_>,
) -> Result<SearchOutcome, StoreError> {
    let (mut code, history) = freshen_code_and_history(projects, request);

    // Accesses are read after freshening, because a renamed file takes its accesses along when it is indexed.
    let searched_at = request.clock.now();
    let contexts = ProjectContext::read_all(projects, request, searched_at);
    let mut files: Vec<CurrentFiles<'_>> = projects.iter().map(|one| CurrentFiles::new(one.root)).collect();
    let mut found = match find(&contexts, request) {
        // The index has reported the damage to its worker, which rebuilds it while the second try waits.
        Err(StoreError::Damaged(_)) => {
            code = freshen_all(projects, Corpus::Code, request);
            find(&contexts, request)
        }
        found => found,
    }?;

    phrases::raise_exact(
        &mut found.chunks,
        &found.reading.phrases,
        &found.with_phrases,
        &mut files,
        request.weights.phrase,
    );
    let (chunks, discoveries) = (found.chunks.len(), found.discoveries.len());
    let mut nearest_of = None;
    if let (None, Some(kinds @ [_, ..]), 0) = (request.chunks, request.discoveries, discoveries) {
        let nearest = discoveries::find_nearest(&contexts, kinds, request)?;
        nearest_of = (nearest.count > 0).then_some(SearchNotice::NearestDiscoveries(nearest.count));
        found.discoveries = nearest.ranked;
    }
    let mut candidates = merge::merge(found.chunks, found.discoveries);
    let mut use_counts = None;
    if let Some(answer) = uses::answer(projects, &contexts, request)? {
        use_counts = Some(answer.counts);
        candidates = uses::put_first(answer.chunks, candidates);
    } else if let Some(named) = short::find(projects, &contexts, request)? {
        candidates = uses::put_first(named, candidates);
    }
    let candidates = merge::order(candidates, request.boosts.window);
    let mut selected = merge::select(candidates, &mut files, request.limit);
    if request.with_surroundings {
        for hit in &mut selected.hits {
            hit.surroundings = files[hit.ranked.project].surroundings(&hit.ranked.candidate);
        }
    }

    let mut notices = Vec::from_iter(use_counts.map(SearchNotice::UsesOf));
    if let Some(nearest) = nearest_of {
        notices.push(nearest);
    } else {
        notices.extend(spelling::notice(
            &found.reading,
            &found.corrections,
            &selected.hits,
        ));
    }
    notices.extend(notice::collect(
        request,
        &code,
        &history,
        found.rerank_skipped,
        selected.changed,
    ));
    Ok(SearchOutcome {
        hits: selected.hits,
        summary: found.reading.embedded,
        chunks,
        discoveries,
        code,
        history,
        notices,
        searched_at,
    })
}

/// Ranked candidates of both kinds, the best of each first.
struct FoundCandidates {
    chunks: Vec<RankedCandidate>,
    /// Chunks that have the words of a phrase of the query.
    with_phrases: HashSet<ChunkPlace>,
    discoveries: Vec<RankedCandidate>,
    rerank_skipped: Option<RerankSkipped>,
    reading: QueryReading,
    corrections: Vec<Correction>,
}

fn find(contexts: &[ProjectContext<'_>], request: &SearchRequest<'_>) -> Result<FoundCandidates, StoreError> {
    let mut reading = QueryReading::of(request);
    if request.chunks.is_some() && reading.report.is_none() {
        definitions::add_defined_names(contexts, &mut reading.parsed, request.query)?;
    }
    let chunks = match request.chunks {
        Some(kinds) => chunks::find(contexts, &reading, kinds, request)?,
        None => FoundChunks::default(),
    };
    let discoveries = match request.discoveries {
        Some(kinds) => discoveries::find(contexts, &reading.parsed, kinds, request)?,
        None => Vec::new(),
    };
    Ok(FoundCandidates {
        chunks: chunks.ranked,
        with_phrases: chunks.with_phrases,
        discoveries,
        rerank_skipped: chunks.rerank_skipped,
        reading,
        corrections: chunks.corrections,
    })
}

impl Candidate {
    /// The path of its file, or the id of its commit.
    pub fn path_or_commit(&self) -> &str {
        match self {
            Self::Chunk(chunk) => &chunk.path,
            Self::Discovery { stored, .. } => &stored.path_or_commit,
        }
    }

    /// Its first and last line. `None` for a commit.
    pub fn lines(&self) -> Option<(u32, u32)> {
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        match self {
            Self::Chunk(chunk) => Some((chunk.first_line, chunk.last_line)),
            Self::Discovery { stored, .. } => {
                let lines = stored.discovery.lines.as_ref()?;
                Some((number(*lines.start()), number(*lines.end())))
            }
        }
    }

    pub fn is_discovery(&self) -> bool {
        matches!(self, Self::Discovery { .. })
    }
}
