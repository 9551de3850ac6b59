//! Answers to questions about a symbol ("who calls X"): the chunks around its uses.
//!
//! The question is answered from references, not by words, so these chunks come before all others. If the
//! symbol is not defined in any of the projects, the search goes on as if it had not been asked.
//!
//! Left out: uses by name only, unless a test is asked for and none is exact. `find_references` lists all.

use std::collections::{HashMap, HashSet};

use docent_core::chunk::{Chunk, Rows, chunk};
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{AskedUses, ReferenceRole, SymbolQuestion, parse_question};

use super::project::{ProjectContext, SearchedProject};
use super::{Candidate, RankedCandidate, SearchRequest};
use crate::files::{Root, decode_file};
use crate::index::hash;
use crate::store::{StoreError, StoredChunk};
use crate::symbols::{
    Direction, Grade, ReferenceOutcome, ReferenceQuery, SymbolContext, SymbolError, find_references,
};

/// Uses of each project that are looked at. The results need no more than the limit of a search.
const MAX_USES: usize = 1_000;

/// The largest file that is cut into chunks again. Larger ones have no symbols.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The chunks that answer a question about a symbol.
pub(super) struct SymbolAnswer {
    pub(super) chunks: Vec<RankedCandidate>,
    pub(super) counts: UseCounts,
}

/// What was found about the symbol of a question, beside the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseCounts {
    /// The symbol as the question has it.
    pub symbol: String,
    pub asked: AskedUses,
    /// Uses of the symbol, whatever was asked; for implementations their number.
    pub exact: usize,
    pub by_name: usize,
}

/// Answers a question about a symbol. `None` if the query is no such question, if the caller does not want
/// code, or if no project defines the symbol.
pub(super) fn answer(
    projects: &[SearchedProject<'_>],
    contexts: &[ProjectContext<'_>],
    request: &SearchRequest<'_>,
) -> Result<Option<SymbolAnswer>, StoreError> {
    let (Some(kinds), Some(question)) = (request.chunks, parse_question(request.query)) else {
        return Ok(None);
    };
    let mut answer = SymbolAnswer {
        chunks: Vec::new(),
        counts: UseCounts {
            symbol: question.symbol.to_owned(),
            asked: question.asked,
            exact: 0,
            by_name: 0,
        },
    };
    let mut is_defined = false;
    for (at, project) in projects.iter().enumerate() {
        let Some(outcome) = ask(project, &question, request)? else {
            continue;
        };
        is_defined |= !outcome.targets.is_empty();
        answer.counts.exact += outcome.exact.max(outcome.tree.len());
        answer.counts.by_name += outcome.by_name;
        let mut files = ChunkedFiles::new(project.root);
        let mut seen = HashSet::new();
        for (path, line) in list_places(&outcome, question.asked) {
            if answer.chunks.len() == request.limit {
                break;
            }
            let Some(found) = request
                .accepts(path)
                .then(|| files.chunk_at(path, line))
                .flatten()
            else {
                continue;
            };
            if (kinds.is_empty() || kinds.contains(&found.kind))
                && seen.insert((found.path.clone(), found.id))
            {
                answer.chunks.push(RankedCandidate {
                    is_use: true,
                    ..contexts[at].boost(at, Candidate::Chunk(found), 1.0)
                });
            }
        }
    }
    Ok(is_defined.then_some(answer))
}

/// Asks one project. `None` if time is over: the search then answers without.
fn ask(
    project: &SearchedProject<'_>,
    question: &SymbolQuestion<'_>,
    request: &SearchRequest<'_>,
) -> Result<Option<ReferenceOutcome>, StoreError> {
    let context = SymbolContext {
        root: project.root,
        index: project.index,
        patience: request.patience,
        deadline: request.deadline,
        report: request.report,
        overlay: None,
    };
    let query = ReferenceQuery {
        symbol: question.symbol,
        path: None,
        depth: 1,
        direction: match question.asked {
            AskedUses::Implementations => Direction::Implementations,
            AskedUses::Callers | AskedUses::Everywhere | AskedUses::Tests => Direction::Callers,
        },
        limit: MAX_USES,
    };
    match find_references(&context, &query) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(SymbolError::Expired(_)) => Ok(None),
        Err(SymbolError::Store(error)) => Err(error),
    }
}

/// The places that answer the question, in the order of the outcome.
fn list_places(outcome: &ReferenceOutcome, asked: AskedUses) -> Vec<(&RepoPath, u32)> {
    if asked == AskedUses::Implementations {
        let nodes = outcome.tree.iter();
        return nodes.map(|node| (&node.symbol.path, node.symbol.line)).collect();
    }
    let uses = |grade: Grade| -> Vec<(&RepoPath, u32)> {
        let files = outcome
            .files
            .iter()
            .filter(|file| asked != AskedUses::Tests || file.is_test);
        files
            .flat_map(|file| file.uses.iter().map(move |one| (&file.path, one)))
            .filter(|(_, one)| one.grade == grade)
            .filter(|(_, one)| asked != AskedUses::Callers || one.role == ReferenceRole::Call)
            .filter(|(_, one)| asked != AskedUses::Tests || one.role != ReferenceRole::Import)
            .map(|(path, one)| (path, one.line))
            .collect()
    };
    let exact = uses(Grade::Exact);
    if exact.is_empty() && asked == AskedUses::Tests {
        return uses(Grade::ByName);
    }
    exact
}

/// The files of a project as they are now, each cut into chunks once.
pub(super) struct ChunkedFiles<'a> {
    root: &'a Root,
    /// By path. `None` for a file that cannot be read.
    files: HashMap<RepoPath, Option<ChunkedFile>>,
}

struct ChunkedFile {
    text: String,
    language: Language,
    chunks: Vec<Chunk>,
}

impl<'a> ChunkedFiles<'a> {
    pub(super) fn new(root: &'a Root) -> Self {
        Self {
            root,
            files: HashMap::new(),
        }
    }

    /// The smallest chunk of a file that has this line, as it would be stored.
    pub(super) fn chunk_at(&mut self, path: &RepoPath, line: u32) -> Option<StoredChunk> {
        let root = self.root;
        let file = self.files.entry(path.clone()).or_insert_with(|| {
            let text = decode_file(root.read(path, MAX_FILE_BYTES).ok()?.bytes);
            let language = Language::of_file(path, &text);
            let chunks = chunk(language, &text).chunks;
            Some(ChunkedFile {
                text,
                language,
                chunks,
            })
        });
        let ChunkedFile {
            text,
            language,
            chunks,
        } = file.as_ref()?;
        let found = chunks
            .iter()
            .filter(|one| one.lines.contains(&(line as usize)))
            .min_by_key(|one| one.lines.end() - one.lines.start())?;
        let (first, last) = (*found.lines.start(), *found.lines.end());
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        Some(StoredChunk {
            path: path.as_str().to_owned(),
            language: language.to_string(),
            kind: found.kind,
            name_length: found.name.len().min(found.path.len()),
            scope: found.path.clone(),
            first_line: number(first),
            last_line: number(last),
            part: number(found.part),
            parts: number(found.parts),
            is_container_header: found.is_container_header,
            reopens: found.reopens,
            generated: false,
            id: found.id,
            hash: hash(Rows::of(text).lines(first, last)),
            nested: Vec::new(),
        })
    }
}

/// One list of the chunks around uses and of the other candidates, without those that repeat a use.
pub(super) fn put_first(uses: Vec<RankedCandidate>, others: Vec<RankedCandidate>) -> Vec<RankedCandidate> {
    let is_repeated = |other: &RankedCandidate| match &other.candidate {
        Candidate::Chunk(chunk) => uses.iter().any(|one| match &one.candidate {
            Candidate::Chunk(first) => {
                (one.project, &first.path, first.id) == (other.project, &chunk.path, chunk.id)
            }
            Candidate::Discovery { .. } => false,
        }),
        Candidate::Discovery { .. } => false,
    };
    let mut rest: Vec<RankedCandidate> = others.into_iter().filter(|other| !is_repeated(other)).collect();
    let mut all = uses;
    all.append(&mut rest);
    all
}
