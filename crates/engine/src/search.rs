//! A question, answered from the index: what matches, in the order that helps, with its text as it is now.
//!
//! Invariant: what is shown is what the file says. A chunk whose lines have changed since it was indexed is looked for in the
//! file again, and left out and counted where it is not found.

use std::collections::HashMap;
use std::time::SystemTime;

use docent_core::chunk::{ChunkKind, Rows, chunk};
use docent_core::discovery::{Discovery, Origins, extract_from_file};
use docent_core::language::Language;
use docent_core::module::module_of;
use docent_core::path::RepoPath;
use docent_core::rank::boosts::{BoostRules, Boosts, Usage};
use docent_core::rank::fusion::{compare_chunks, compare_scores};
use docent_core::rank::signals::score_by_commits;
use docent_core::rank::{RankInput, Weights, rank_chunks};
use docent_core::text::tokens::ParsedQuery;
use jiff::Timestamp;

use crate::deadline::Deadline;
use crate::files::{Root, lossy_text};
use crate::index::{Index, RerankSkipped, hash};
use crate::store::{ChunkHit, ChunkQuery, StoreError, StoredChunk, StoredDiscovery};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    pub query: &'a str,
    /// Only these kinds; any, where there is none.
    pub kinds: &'a [ChunkKind],
    pub module: Option<&'a str>,
    pub weights: &'a Weights,
    /// A model on a server is waited for no longer than this.
    pub deadline: &'a Deadline,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// Those first that should be seen first.
    pub matches: Vec<FoundChunk>,
    /// Why a model on a server had no say in that, where there is one.
    pub unordered: Option<RerankSkipped>,
}

/// A project that is searched, and how it is worked on.
#[derive(Clone, Copy)]
pub struct SearchedProject<'a> {
    pub index: &'a Index,
    /// How its files were read, by path.
    pub usage: &'a HashMap<String, Usage>,
    /// The module being worked in.
    pub module: Option<&'a str>,
    pub rules: BoostRules,
}

/// A chunk that was found.
#[derive(Clone, Debug)]
pub struct FoundChunk {
    /// Which of the places it is in.
    pub place: usize,
    pub chunk: StoredChunk,
    /// How relevant it is by itself, from 0 to 1.
    pub relevance: f64,
    pub boosts: Boosts,
    pub usage: Option<Usage>,
}

impl FoundChunk {
    pub fn score(&self) -> f64 {
        self.relevance * self.boosts.product()
    }
}

/// How many chunks of a project are looked at for an answer.
const CANDIDATES: usize = 200;

/// The chunks that answer a query.
pub fn search(
    places: &[SearchedProject<'_>],
    request: &SearchRequest<'_>,
) -> Result<SearchResult, StoreError> {
    let query = ParsedQuery::of(request.query);
    let kinds: Vec<&'static str> = request.kinds.iter().map(|kind| kind.name()).collect();
    let names: Vec<String> = query.names.iter().map(|name| name.folded.clone()).collect();
    let wanted = ChunkQuery {
        words: &query.words,
        names: &names,
        kinds: &kinds,
        module: request.module,
        vector: None,
        limit: CANDIDATES,
    };
    let mut hits: Vec<(usize, ChunkHit)> = Vec::new();
    let mut unordered = None;
    for (at, place) in places.iter().enumerate() {
        // Each project has vectors of its own embedder.
        let vector = place.index.embedder().embed(request.query);
        let mut found = place.index.find_chunks(&ChunkQuery { vector, ..wanted })?;
        // Who names something is shown what is called so; no server need be asked for that.
        if !query.is_name
            && let Err(why) = ask_server(place.index, request, &mut found)
        {
            unordered = Some(why);
        }
        hits.extend(found.into_iter().map(|hit| (at, hit)));
    }
    let mut scores: Vec<HashMap<String, f32>> = Vec::new();
    for place in places {
        scores.push(commit_scores(&query, place.index)?);
    }
    Ok(SearchResult {
        matches: ranked(&query, places, hits, &scores, request.weights),
        unordered,
    })
}

/// Has a model on a server say how near hits are, where there is one.
fn ask_server(
    index: &Index,
    request: &SearchRequest<'_>,
    hits: &mut [ChunkHit],
) -> Result<(), RerankSkipped> {
    if !index.has_server() {
        return Ok(());
    }
    let mut written: Vec<&mut ChunkHit> = hits.iter_mut().filter(|hit| !hit.chunk.generated).collect();
    let keys: Vec<u64> = written
        .iter()
        .map(|hit| StoredChunk::vector_key(&hit.chunk.path, &hit.chunk.scope, hit.chunk.hash))
        .collect();
    if let Some(near) = index.similarity(request.query, &keys, request.deadline)? {
        for (hit, near) in written.iter_mut().zip(near) {
            hit.similarity = near;
        }
    }
    Ok(())
}

/// Commit messages that are searched for the files that they changed.
const MAX_COMMITS: usize = 50;

/// The commit score of each file; none if the query is a name, which asks for its definition.
fn commit_scores(query: &ParsedQuery, index: &Index) -> Result<HashMap<String, f32>, StoreError> {
    if query.is_name {
        return Ok(HashMap::new());
    }
    Ok(score_by_commits(index.changed(&query.words, MAX_COMMITS)?))
}

fn ranked(
    query: &ParsedQuery,
    places: &[SearchedProject<'_>],
    mut hits: Vec<(usize, ChunkHit)>,
    commit_scores: &[HashMap<String, f32>],
    weights: &Weights,
) -> Vec<FoundChunk> {
    hits.sort_by(|(_, a), (_, b)| {
        compare_chunks(
            (a.score, &a.chunk.path, a.chunk.first_line),
            (b.score, &b.chunk.path, b.chunk.first_line),
        )
    });
    let inputs: Vec<RankInput<'_>> = hits
        .iter()
        .map(|(project, hit)| RankInput {
            project: *project,
            path: &hit.chunk.path,
            kind: hit.chunk.kind,
            name: hit.chunk.name(),
            enclosing: hit.chunk.enclosing(),
            generated: hit.chunk.generated,
            bm25: hit.score,
            similarity: hit.similarity,
            commit_score: commit_scores[*project]
                .get(&hit.chunk.path)
                .copied()
                .unwrap_or_default(),
        })
        .collect();
    let relevance = rank_chunks(query, &inputs, weights);
    drop(inputs);
    let mut matches: Vec<FoundChunk> = hits
        .into_iter()
        .zip(relevance)
        .map(|((at, hit), relevance)| {
            let place = &places[at];
            let usage = place.usage.get(&hit.chunk.path).copied();
            let module = place.module.is_some_and(|module| is_in(&hit.chunk.path, module));
            FoundChunk {
                place: at,
                boosts: place.rules.boosts(usage, module),
                usage,
                relevance,
                chunk: hit.chunk,
            }
        })
        .collect();
    matches.sort_by(|a, b| compare_scores(a.score(), b.score()));
    matches
}

fn is_in(path: &str, module: &str) -> bool {
    RepoPath::parse(path).is_ok_and(|path| module_of(&path) == module)
}

/// Reads the text of chunks, each file once.
#[derive(Debug)]
pub struct ChunkReader<'a> {
    root: &'a Root,
    files: HashMap<String, Option<ReadFile>>,
    /// Those of files that have changed since they were indexed.
    discoveries: HashMap<String, Vec<Discovery>>,
}

#[derive(Debug)]
struct ReadFile {
    text: String,
    modified: Option<SystemTime>,
}

/// Larger files were not indexed, whatever was configured.
const MAX_FILE_BYTES: u64 = 256 << 20;

impl<'a> ChunkReader<'a> {
    pub fn new(root: &'a Root) -> Self {
        Self {
            root,
            files: HashMap::new(),
            discoveries: HashMap::new(),
        }
    }

    /// When a file was last changed, of those that were read.
    pub fn modified(&self, path: &str) -> Option<Timestamp> {
        let modified = self.files.get(path)?.as_ref()?.modified?;
        Timestamp::try_from(modified).ok()
    }

    /// The text of a file. Nothing where it is gone.
    fn text(&mut self, path: &RepoPath) -> Option<&str> {
        let root = self.root;
        let file = self.files.entry(path.as_str().to_owned()).or_insert_with(|| {
            let content = root.read(path, MAX_FILE_BYTES).ok()?;
            Some(ReadFile {
                text: lossy_text(content.bytes),
                modified: content.modified,
            })
        });
        Some(&file.as_ref()?.text)
    }

    /// A discovery with the lines it has now. Nothing where its file no longer says it.
    pub fn confirm(&mut self, note: &StoredDiscovery) -> Option<StoredDiscovery> {
        let Some(lines) = &note.discovery.lines else {
            return Some(note.clone());
        };
        let path = RepoPath::parse(&note.path_or_commit).ok()?;
        let text = self.text(&path)?;
        if hash(Rows::of(text).lines(*lines.start(), *lines.end())) == note.hash {
            return Some(note.clone());
        }
        let text = text.to_owned();
        let found = self
            .discoveries
            .entry(note.path_or_commit.clone())
            .or_insert_with(|| {
                extract_from_file(&path, Language::of_file(&path, &text), &text, &Origins::default())
            });
        let moved = found.iter().find(|one| one.content == note.discovery.content)?;
        let mut note = note.clone();
        note.discovery.lines.clone_from(&moved.lines);
        Some(note)
    }

    /// The chunk with the lines it has now, and their text. `None` if its file no longer has it.
    pub fn read(&mut self, indexed: &StoredChunk) -> Option<(StoredChunk, String)> {
        let path = RepoPath::parse(&indexed.path).ok()?;
        let text = self.text(&path)?;
        let rows = Rows::of(text);
        let shown = rows.lines(indexed.first_line as usize, indexed.last_line as usize);
        if hash(shown) == indexed.hash {
            return Some((indexed.clone(), shown.to_owned()));
        }
        let chunks = chunk(Language::of_file(&path, text), text).chunks;
        let moved = chunks.into_iter().find(|chunk| chunk.id == indexed.id)?;
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let (first, last) = (*moved.lines.start(), *moved.lines.end());
        let chunk = StoredChunk {
            first_line: number(first),
            last_line: number(last),
            ..indexed.clone()
        };
        Some((chunk, rows.lines(first, last).to_owned()))
    }
}
