//! Questions from the history: commits that changed few functions, asked at a state before all of them.
//!
//! Invariant: the same history gives the same questions in the same order.

use std::collections::{BTreeMap, HashSet};

use docent_core::chunk::has_grammar;
use docent_core::compare::{FunctionLines, changed_functions, question_of};
use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::programs::is_aside;
use docent_core::role::FileRole;

use super::CommitQuestion;
use crate::deadline::Deadline;
use crate::files::decode_file;
use crate::git::{Git, GitError, PastCommit, PastFile};

/// How far back the state lies, in commits: the least that gives enough questions. The further back, the more
/// functions of later commits are not there yet.
const DISTANCES: [usize; 4] = [60, 200, 600, 2_000];

/// Files that a commit may change: of code, and of any kind.
const MAX_CODE_FILES: usize = 3;
const MAX_FILES: usize = 12;

const MAX_FUNCTIONS: usize = 4;

/// Larger files are generated.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Questions, and the state that they are asked at.
#[derive(Clone, Debug)]
pub struct QuestionSet {
    /// The commit of the state.
    pub base: String,
    pub files: Vec<PastFile>,
    pub questions: Vec<CommitQuestion>,
    /// Commits that were looked at.
    pub commits: usize,
}

/// Why nothing can be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("the history cannot be read: {0}")]
    Git(#[from] GitError),
    #[error(
        "there are no questions: none of the newest {commits} commits has a subject of four words and changes one to {MAX_FUNCTIONS} \
         functions that were there before; try a project with a longer history"
    )]
    NoQuestions { commits: usize },
    #[error("the private copy cannot be written: {0}")]
    Copy(#[from] std::io::Error),
    #[error("the search fails: {0}")]
    Grep(#[from] crate::grep::GrepError),
}

/// True for code that a question may be about: no test, no sample.
pub(super) fn is_code(path: &RepoPath) -> bool {
    has_grammar(Language::of_path(path, "")) && !is_prose_or_data(path)
}

/// Grammars for pages and data have no functions.
fn is_prose_or_data(path: &RepoPath) -> bool {
    !path
        .extension()
        .is_some_and(|extension| Language::is_source_code_extension(&extension.to_ascii_lowercase()))
}

/// True for files that serve the work on the project: tests, samples, documentation.
pub(super) fn is_beside(path: &RepoPath) -> bool {
    is_aside(path)
        || matches!(
            FileRole::of(path),
            FileRole::Test | FileRole::Fixture | FileRole::Docs
        )
}

/// Chooses at most `limit` questions, of the newest commits.
pub fn choose_questions(git: &Git, limit: usize, deadline: &Deadline) -> Result<QuestionSet, CompareError> {
    let mut best: Option<QuestionSet> = None;
    let mut oldest_seen = 0;
    for distance in DISTANCES {
        let Some(base) = git.ancestor(distance, deadline)? else {
            // The history is shorter: half of it is the state, the other half asks.
            let half = shortest_half(git, oldest_seen, distance, deadline)?;
            if let Some(base) = half {
                best = Some(better(best, choose_since(git, &base, limit, deadline)?));
            }
            break;
        };
        oldest_seen = distance;
        best = Some(better(best, choose_since(git, &base, limit, deadline)?));
        if best.as_ref().is_some_and(|best| best.questions.len() >= limit) {
            break;
        }
    }
    match best {
        Some(best) if !best.questions.is_empty() => Ok(best),
        best => Err(CompareError::NoQuestions {
            commits: best.map_or(0, |best| best.commits),
        }),
    }
}

/// The state in the middle of a history whose length is between two numbers.
fn shortest_half(
    git: &Git,
    known: usize,
    absent: usize,
    deadline: &Deadline,
) -> Result<Option<String>, GitError> {
    let (mut known, mut absent) = (known, absent);
    while absent - known > 1 {
        let middle = usize::midpoint(known, absent);
        match git.ancestor(middle, deadline)? {
            Some(_) => known = middle,
            None => absent = middle,
        }
    }
    git.ancestor(known / 2, deadline)
}

/// The set with more questions; of two equal ones, the first.
fn better(best: Option<QuestionSet>, other: QuestionSet) -> QuestionSet {
    match best {
        Some(best) if best.questions.len() >= other.questions.len() => best,
        _ => other,
    }
}

fn choose_since(
    git: &Git,
    base: &str,
    limit: usize,
    deadline: &Deadline,
) -> Result<QuestionSet, CompareError> {
    let files = git.files_at(base, deadline)?;
    let commits = git.since(base, deadline)?;
    let mut chosen = QuestionSet {
        base: base.to_owned(),
        questions: Vec::new(),
        commits: commits.len(),
        files,
    };
    let objects: BTreeMap<&str, &PastFile> = chosen
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    let mut subjects = HashSet::new();
    let mut questions = Vec::new();
    for commit in &commits {
        if questions.len() == limit {
            break;
        }
        let Some(text) = question_of(&commit.subject).filter(|text| !subjects.contains(text)) else {
            continue;
        };
        if let Some(functions) = functions_of(git, commit, &objects, deadline)? {
            subjects.insert(text.clone());
            questions.push(CommitQuestion {
                commit: commit.id.clone(),
                text,
                functions,
            });
        }
    }
    chosen.questions = questions;
    Ok(chosen)
}

/// The functions that a commit changed, as the state has them. `None` if they cannot be asked for.
fn functions_of(
    git: &Git,
    commit: &PastCommit,
    objects: &BTreeMap<&str, &PastFile>,
    deadline: &Deadline,
) -> Result<Option<Vec<FunctionLines>>, GitError> {
    let Some(modified) = git.modified_files(&commit.id, MAX_FILES, deadline)? else {
        return Ok(None);
    };
    let code: Vec<_> = modified
        .iter()
        .filter(|file| is_code(&file.path) && !is_beside(&file.path))
        .collect();
    if code.is_empty() || code.len() > MAX_CODE_FILES {
        return Ok(None);
    }
    let mut found = Vec::new();
    for file in code {
        let Some(base) = objects
            .get(file.path.as_str())
            .filter(|base| base.bytes <= MAX_FILE_BYTES)
        else {
            return Ok(None);
        };
        let mut texts: Vec<String> = Vec::new();
        let wanted = [file.before.as_str(), file.after.as_str(), base.object.as_str()];
        git.contents(&wanted, deadline, |_, bytes| {
            texts.push(decode_file(bytes));
            Ok(())
        })?;
        let [before, after, at_base] = texts.as_slice() else {
            return Ok(None);
        };
        let Some(functions) = changed_functions(&file.path, before, after, at_base) else {
            return Ok(None);
        };
        found.extend(
            functions
                .into_iter()
                .map(|(first, last)| FunctionLines::new(file.path.as_str(), at_base, first, last)),
        );
    }
    let can_be_asked =
        (1..=MAX_FUNCTIONS).contains(&found.len()) && found.iter().all(FunctionLines::can_be_seen);
    Ok(can_be_asked.then_some(found))
}
