//! Ranking: every weight and every order of a search, as pure functions.
//!
//! The store finds candidates by their words and scores them by BM25. BM25 alone prefers short texts and uses
//! over definitions, and it knows no synonyms. Here a chunk gains by structural signals: it defines the name
//! in the query, its file is named after the query, more of its file matches, commits with the query's words
//! changed it. Tests, generated code, prose and examples lose, unless the query asks for them.
//!
//! The steps, in the order in which a search takes them:
//!
//! 1. [`fusion`]: BM25 and similarity become one text score; functions come before classes that list them.
//! 2. [`signals`]: structural signals are added to it, and factors for the role of the file are applied.
//! 3. [`fusion`]: repeats of one file are lowered, and the score becomes a relevance from 0 to 1.
//! 4. [`discoveries`]: the same for decisions, rules, patterns and issues, by signals of their own.
//! 5. [`boosts`]: the relevance is multiplied by how the user works: recency, module, frequency.
//!
//! To add a ranking signal:
//!
//! 1. If it needs something that a candidate does not carry yet, add a field to [`RankInput`], and fill it in
//!    `engine/search/chunks.rs`. Facts from the history come from `Index::find_commits`, whose entries
//!    `engine/index/extract/commits.rs` makes; `commit_score` is an example.
//! 2. Write the signal as a function in `signals.rs` that returns 0 to 1, with a test there. How it competes
//!    with other signals is tested in `rank/tests.rs`.
//! 3. Add a line to `weights!` below: its name, its default, and what it multiplies and why.
//! 4. Add the product of both in `score_chunks`.
//! 5. Add the weight's steps and its default to `eval/search/tune.py`, measure, and commit the result before
//!    and after. A signal from the history is measured with `run.py commits` and `benchmark --whole`: tuning
//!    uses source folders without a history.
//! 6. Describe it in `docs/behaviour.md` (Order).
//!
//! Documentation search has its own fusion of ranked lists in `engine/docs`, with its own weights.
//!
//! Invariant: a relevance depends on the query, the candidates and the weights alone, and equal candidates
//! keep their order.

pub mod boosts;
pub mod discoveries;
pub mod functions;
pub mod fusion;
mod named;
pub mod signals;

pub use named::NamedSignals;

use std::collections::HashMap;

use crate::chunk::ChunkKind;
use crate::text::tokens::ParsedQuery;

/// A chunk as ranking sees it.
#[derive(Clone, Copy, Debug)]
pub struct RankInput<'a> {
    /// Number of its project, if several are searched.
    pub project: usize,
    pub path: &'a str,
    pub kind: ChunkKind,
    pub name: &'a str,
    /// Name of the enclosing class or module, empty at the top level.
    pub enclosing: &'a str,
    pub generated: bool,
    /// Only the line that opens a container, only imports, or only exports: it leads to other chunks of its
    /// file and says nothing by itself.
    pub is_container_header: bool,
    /// Adds members to a type that is defined elsewhere: `impl X`, `extension X`.
    pub reopens: bool,
    /// Number of the part, counted from 1, and how many there are: the parts of a long definition are chunks
    /// with the same path, name, enclosing name and kind.
    pub part: u32,
    pub parts: u32,
    /// The BM25 score of the store. It has no scale, so it is only compared with that of other candidates.
    pub bm25: f32,
    /// Similarity to the query, at most 1, compared with that of other candidates too. 0 if unknown.
    pub similarity: f32,
    /// How much commits with the query's words changed its file, from 0 to 1 ([`signals::score_by_commits`]).
    pub commit_score: f32,
    /// How directly a report names it.
    pub named: NamedSignals,
}

impl RankInput<'_> {
    /// Whether the chunk is what stands above the first definition: documentation and imports.
    fn is_top_of_file(&self) -> bool {
        self.kind == ChunkKind::Module && self.name.is_empty()
    }
}

/// Declares each weight once: its field, its default, and its name for programs that tune it.
macro_rules! weights {
    ($($(#[$comment:meta])* $name:ident = $default:literal,)*) => {
        /// How much each signal of a chunk counts. Scores are relative to the best text match, which has 1.
        #[derive(Clone, Copy, Debug)]
        pub struct Weights {
            $($(#[$comment])* pub $name: f32,)*
        }

        impl Default for Weights {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Weights {
            /// Sets a weight by its name. Returns false if there is none of that name.
            pub fn set(&mut self, name: &str, value: f32) -> bool {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

weights! {
    /// Multiplies the BM25 score relative to the best: words are the base of every rank.
    words = 1.0,
    /// Multiplies the similarity relative to the best, so that synonyms count.
    similarity = 1.0,
    /// Multiplies `similarity` if the query is a name: it asks for that symbol, not for similar ones.
    similarity_of_names = 0.3,
    /// Candidates whose similarity is below this fraction of the best one get no similarity score.
    min_similarity_ratio = 0.5,
    /// Multiplies the share of all matches that are in the file, for its best chunk: a file about the topic.
    file_matches = 0.6,
    /// Multiplies chunks that are not functions within their file: a class has the words of all its methods.
    non_function = 0.75,
    /// Multiplies the lines between definitions within their file: its first comment has the words of all of
    /// it.
    block = 0.6,
    /// Multiplies each further chunk of a file, once per chunk before it, so that several files are shown.
    same_file_penalty = 0.75,
    /// How much a word's rarity inside the file counts beside its rarity in the project, from 0 to 1.
    file_rarity = 0.7,
    /// Multiplies the share of the query's words that all chunks of a file have together.
    file_coverage = 0.5,
    /// Multiplies the similarity of a chunk relative to the best of its file.
    function_similarity = 1.0,
    /// Multiplies the overlap of the query's words and those of the chunk's name, inside its file.
    function_name = 0.5,
    /// The power of a further chunk's score relative to the best one of its file.
    closeness = 1.0,
    /// Multiplies a further part of a definition that is shown already.
    same_function_penalty = 0.7,
    /// Further functions of a file come behind the best ones of so many files.
    first_files = 5.0,
    /// Multiplies the commit score of the file: messages describe in prose what code does.
    history = 0.6,
    /// Multiplies the share of the query's words in the file's stem: names of files are chosen with care.
    stem_match = 0.7,
    /// Multiplies the share of the query's words in the two nearest directories, which name topics more
    /// loosely.
    directory_match = 0.2,
    /// Multiplies the overlap of the query's words and those of the chunk's name.
    name_match = 0.15,
    /// Multiplies how well the chunk defines the name that is the whole query: definitions come before uses.
    definition = 2.0,
    /// The same for a name among other words of the query, which may ask for something about it instead.
    definition_in_sentence = 0.8,
    /// Multiplies that of a name that only its capital tells, which may be that of a product.
    definition_of_loose_name = 0.4,
    /// Added if the file's stem is a name in the query: `retry.rs` for `Retry`.
    stem_is_name = 0.6,
    /// Multiplies `similarity` of a report: a vector of a whole issue is about several things.
    similarity_of_reports = 0.5,
    /// Replaces `same_file_penalty` for a report, if that is lower: a fix changes one file in several places.
    same_file_of_reports = 0.95,
    /// Replaces `first_files` for a report, if that is higher.
    first_files_of_reports = 4.0,
    /// Replaces `closeness` for a report, if that is higher: its functions are close to each other in words.
    closeness_of_reports = 0.7,
    /// Multiplies how surely a report names the definition, by symbol.
    named_symbol = 0.3,
    /// Multiplies how strongly paths and frames of a report point to the file.
    named_file = 1.0,
    /// Multiplies how strongly a frame points to the lines or the function.
    named_lines = 0.6,
    /// Multiplies the share of a phrase of the query that the chunk has word for word.
    phrase = 1.5,
    /// Multiplies functions within their file, for a question about a type.
    function_for_type = 0.6,
    /// Multiplies chunks that are no tests, for a question that asks for tests.
    no_test = 0.35,
    /// Multiplies chunks of tests, which repeat the words of the code that they test.
    test = 0.4,
    /// Multiplies generated chunks, which nobody edits.
    generated = 0.5,
    /// Multiplies chunks of documents and configuration, which have more of the query's words than code has.
    prose = 0.45,
    /// Multiplies chunks of a directory such as `v1` if another candidate is in `v2` beside it.
    older_version = 0.7,
    /// Multiplies chunks of examples and of vendored or legacy code, which resemble the project's own code.
    example = 0.5,
}

impl Weights {
    /// The factor of what does not define the queried name: lower if the query is a name, which asks for its
    /// definition.
    fn name_factor(&self, query: &ParsedQuery) -> f32 {
        if query.is_name {
            self.similarity_of_names
        } else {
            1.0
        }
    }

    /// The score of a similarity, from 0 to 1, relative to the best one.
    fn similarity_score(&self, similarity: f32, best: f32) -> f32 {
        let min_ratio = self.min_similarity_ratio;
        ((similarity / best - min_ratio) / (1.0 - min_ratio)).max(0.0)
    }
}

/// The relevance of each chunk by its score, from 0 to 1, where further chunks of a file are lowered.
pub fn spread_files(candidates: &[RankInput<'_>], mut scores: Vec<f32>, weights: &Weights) -> Vec<f64> {
    let files: Vec<(usize, &str)> = candidates.iter().map(|one| (one.project, one.path)).collect();
    fusion::penalise_same_file(&files, &mut scores, weights.same_file_penalty);
    scores.into_iter().map(fusion::saturate).collect()
}

/// The score of each chunk by itself, from 0 up, in the order of `candidates`: the text score, the signals,
/// and the factors of its file.
///
/// `candidates` must be sorted by [`fusion::compare_chunks`]: sums of floats and ties depend on their order.
pub fn score_chunks(query: &ParsedQuery, candidates: &[RankInput<'_>], weights: &Weights) -> Vec<f32> {
    let mut text_scores = fusion::fuse_text_scores(query, candidates, weights);
    fusion::prefer_functions(query, candidates, weights, &mut text_scores);
    let mut files: HashMap<(usize, &str), FileSignals> = HashMap::new();
    for (candidate, text_score) in candidates.iter().zip(&text_scores) {
        let file = files
            .entry((candidate.project, candidate.path))
            .or_insert_with(|| FileSignals::new(query, candidate.path, weights));
        // Squares, because many chunks that hardly match are not worth one that does.
        file.sum_of_squares += text_score * text_score;
        file.best = file.best.max(*text_score);
    }
    let max_sum = files
        .values()
        .map(|file| file.sum_of_squares)
        .fold(f32::MIN_POSITIVE, f32::max);
    let openers = signals::Openers::count(candidates);
    let versions = signals::Versions::read(candidates);
    candidates
        .iter()
        .zip(&text_scores)
        .map(|(candidate, text_score)| {
            let file = &files[&(candidate.project, candidate.path)];
            let mut score = *text_score;
            if *text_score >= file.best {
                score += weights.file_matches * file.sum_of_squares / max_sum;
            }
            score += file.path_match + weights.history * candidate.commit_score;
            score += weights.name_match * signals::name_match(query, candidate.name);
            score += signals::definition(query, candidate, weights) / openers.of(candidate);
            score += candidate.named.score(weights);
            if candidate.generated && !query.has_word("generat") {
                score *= weights.generated;
            }
            if versions.has_newer(candidate.path) {
                score *= weights.older_version;
            }
            if query.intent.tests && signals::is_inline_test(candidate) {
                return score;
            }
            score * file.role_factor
        })
        .collect()
}

/// The signals that all chunks of a file share.
struct FileSignals {
    /// Of the text scores of its candidates.
    sum_of_squares: f32,
    /// The best text score of its candidates.
    best: f32,
    path_match: f32,
    role_factor: f32,
}

impl FileSignals {
    fn new(query: &ParsedQuery, path: &str, weights: &Weights) -> Self {
        Self {
            sum_of_squares: 0.0,
            best: 0.0,
            path_match: signals::path_match(query, path, weights),
            role_factor: signals::role_factor(query, path, weights),
        }
    }
}

/// `part / whole` of two small counts.
fn ratio(part: usize, whole: usize) -> f32 {
    let number = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    number(part) / number(whole)
}

#[cfg(test)]
mod tests;
