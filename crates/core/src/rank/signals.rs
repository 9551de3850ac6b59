//! The structural signals of a chunk: its definition, its name, its path, its role, and the commits of its
//! file.
//!
//! Each is a function of the query and one candidate, except for [`score_by_commits`], which the engine calls
//! before ranking. How much a signal counts is in [`Weights`]; `path_match` and `definition` have several
//! weights and apply them themselves.

use std::collections::{BTreeSet, HashMap};

use super::{RankInput, Weights, ratio};
use crate::chunk::ChunkKind;
use crate::path::RepoPath;
use crate::role::FileRole;
use crate::text::tokens::{ParsedQuery, fold_name, without_mark, words};

/// How much commits with the query's words changed each file, where the file they changed most has 1. Each
/// commit is given by the paths that it changed and the BM25 score of its message.
pub fn score_by_commits(commits: Vec<(Vec<String>, f32)>) -> HashMap<String, f32> {
    let mut scores: HashMap<String, f32> = HashMap::new();
    for (paths, bm25) in commits {
        let files = f32::from(u16::try_from(paths.len()).unwrap_or(u16::MAX));
        for path in paths {
            // A message says the more about a file, the better it matches and the fewer files it is about.
            *scores.entry(path).or_default() += bm25 * bm25 / files;
        }
    }
    let best = scores.values().copied().fold(f32::MIN_POSITIVE, f32::max);
    for score in scores.values_mut() {
        *score /= best;
    }
    scores
}

/// The weighted matches of the query with a file's stem and its two nearest directories.
pub(super) fn path_match(query: &ParsedQuery, path: &str, weights: &Weights) -> f32 {
    let (directories, file_name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file_name.split_once('.').map_or(file_name, |(stem, _)| stem);
    let stem = if stem.is_empty() { file_name } else { stem };
    let parents: Vec<&str> = directories.rsplit('/').take(2).collect();
    let shares = weights.stem_match * share_of_query(query, &words(stem))
        + weights.directory_match * share_of_query(query, &words(&parents.join(" ")));
    let folded_stem = fold_name(stem);
    let is_name = query.names.iter().any(|name| {
        !name.is_loose && name.folded == folded_stem || name.scope.as_ref() == Some(&folded_stem)
    });
    shares + if is_name { weights.stem_is_name } else { 0.0 }
}

/// The share of the query's words that are among `words`. A word counts for a longer one that begins with it:
/// `auth` for `authentication`.
fn share_of_query(query: &ParsedQuery, words: &[String]) -> f32 {
    /// Shorter words begin too many others.
    const MIN_PREFIX_BYTES: usize = 4;
    if query.words.is_empty() || words.is_empty() {
        return 0.0;
    }
    let count = query
        .words
        .iter()
        .filter(|query_word| {
            words.iter().any(|word| {
                let (short, long) = if word.len() < query_word.len() {
                    (word, *query_word)
                } else {
                    (*query_word, word)
                };
                short == long || (short.len() >= MIN_PREFIX_BYTES && long.starts_with(short.as_str()))
            })
        })
        .count();
    ratio(count, query.words.len())
}

/// The overlap of a name's words and the query's words (Dice coefficient).
pub(super) fn name_match(query: &ParsedQuery, name: &str) -> f32 {
    if name.is_empty() {
        return 0.0;
    }
    let name_words = words(name);
    let common = name_words
        .iter()
        .filter(|word| query.words.contains(word))
        .count();
    if common == 0 {
        return 0.0;
    }
    2.0 * ratio(common, name_words.len() + query.words.len())
}

/// Factors of a definition whose enclosing class is the one in the query, and of one in another class:
/// `Client.send` names `send` of `Client`.
const SAME_SCOPE: f32 = 1.25;
const OTHER_SCOPE: f32 = 0.75;

/// Factor of a definition whose name differs in case or separators: `Timeout` is not `timeout`.
const OTHER_SPELLING: f32 = 0.6;

/// Factor of a type that is only opened again.
const REOPENED: f32 = 0.6;

/// The weighted signal that a chunk defines a name in the query.
pub(super) fn definition(query: &ParsedQuery, candidate: &RankInput<'_>, weights: &Weights) -> f32 {
    if query.names.is_empty() || candidate.name.is_empty() {
        return 0.0;
    }
    let name = fold_name(candidate.name);
    let enclosing = fold_name(candidate.enclosing.rsplit('.').next().unwrap_or_default());
    let weight = if query.is_name {
        weights.definition
    } else {
        weights.definition_in_sentence
    };
    let kind_factor = match candidate.kind {
        // A constructor has the name of its class, which is the definition.
        ChunkKind::Method | ChunkKind::Function if name == enclosing => 0.3,
        ChunkKind::Class | ChunkKind::Interface | ChunkKind::Type | ChunkKind::Function => 1.0,
        ChunkKind::Method => 0.9,
        ChunkKind::Module => 0.7,
        ChunkKind::Block => 0.4,
    };
    // `impl Retry` is not where `Retry` is defined.
    let kind_factor = kind_factor * if candidate.reopens { REOPENED } else { 1.0 };
    let matches = query
        .names
        .iter()
        .filter(|query_name| query_name.folded == name)
        .map(|query_name| {
            let scope_factor = match &query_name.scope {
                None => 1.0,
                Some(scope) if *scope == enclosing => SAME_SCOPE,
                Some(_) => OTHER_SCOPE,
            };
            let loose_factor = if query_name.is_loose {
                weights.definition_of_loose_name
            } else {
                1.0
            };
            loose_factor
                * scope_factor
                * if query_name.written == without_mark(candidate.name) {
                    1.0
                } else {
                    OTHER_SPELLING
                }
        });
    weight * kind_factor * matches.fold(0.0, f32::max)
}

/// How many files open each container again: a module that a hundred files open is defined by none of them.
pub(super) struct Openers<'a>(HashMap<&'a str, BTreeSet<(usize, &'a str)>>);

impl<'a> Openers<'a> {
    pub(super) fn count(candidates: &[RankInput<'a>]) -> Self {
        let mut files: HashMap<&str, BTreeSet<(usize, &str)>> = HashMap::new();
        for one in candidates.iter().filter(|one| opens_again(one)) {
            files.entry(one.name).or_default().insert((one.project, one.path));
        }
        Self(files)
    }

    /// The number of files among which a chunk shares the signal of its definition.
    pub(super) fn of(&self, candidate: &RankInput<'_>) -> f32 {
        match self.0.get(candidate.name) {
            Some(files) if opens_again(candidate) => ratio(files.len().max(1), 1),
            _ => 1.0,
        }
    }
}

fn opens_again(candidate: &RankInput<'_>) -> bool {
    !candidate.name.is_empty() && (candidate.reopens || candidate.is_container_header)
}

/// Directories named after versions: the newest of each, by the path above it.
pub(super) struct Versions<'a>(HashMap<&'a str, (u32, u32)>);

impl<'a> Versions<'a> {
    pub(super) fn read(candidates: &[RankInput<'a>]) -> Self {
        let mut newest: HashMap<&str, (u32, u32)> = HashMap::new();
        for (above, version) in candidates.iter().filter_map(|one| version_of(one.path)) {
            let known = newest.entry(above).or_insert(version);
            *known = version.max(*known);
        }
        Self(newest)
    }

    pub(super) fn has_newer(&self, path: &str) -> bool {
        version_of(path)
            .is_some_and(|(above, version)| self.0.get(above).is_some_and(|newest| *newest > version))
    }
}

/// The path above a directory such as `v1` or `v1beta2`, and its version: the stable one is newer than its
/// betas, and those than its alphas.
fn version_of(path: &str) -> Option<(&str, (u32, u32))> {
    const STABLE: u32 = u32::MAX;
    let mut start = 0;
    for part in path.split('/') {
        let (above, rest) = (&path[..start], part.strip_prefix('v'));
        start += part.len() + 1;
        let Some(rest) = rest.filter(|_| start <= path.len()) else {
            continue;
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let Ok(major) = rest[..digits].parse() else {
            continue;
        };
        let of_stage = |base: u32, number: &str| match number {
            "" => Some(base),
            number => number
                .parse::<u32>()
                .ok()
                .map(|number| base.saturating_add(number)),
        };
        let stage = match &rest[digits..] {
            "" => Some(STABLE),
            stage => match (stage.strip_prefix("beta"), stage.strip_prefix("alpha")) {
                (Some(number), _) => of_stage(STABLE / 2, number),
                (_, Some(number)) => of_stage(0, number),
                _ => None,
            },
        };
        if let Some(stage) = stage {
            return Some((above, (major, stage)));
        }
    }
    None
}

/// Directories of code that shows how the project is used.
const EXAMPLE_DIRECTORIES: [&str; 9] = [
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "benches",
    "bench",
    "benchmarks",
];

/// Directories of other projects' code, and of code that is no longer worked on.
const FOREIGN_DIRECTORIES: [&str; 6] = [
    "vendor",
    "third_party",
    "thirdparty",
    "legacy",
    "compat",
    "deprecated",
];

/// The factor of all chunks of a file for its role: test, prose, example. 1 for the project's own code, and
/// for a role that the query asks for.
pub(super) fn role_factor(query: &ParsedQuery, path: &str, weights: &Weights) -> f32 {
    let Ok(parsed) = RepoPath::parse(path) else {
        return 1.0;
    };
    let is_below = |names: &[&str]| {
        parsed
            .components()
            .rev()
            .skip(1)
            .any(|part| names.contains(&part.to_ascii_lowercase().as_str()))
    };
    let mut factor = match FileRole::of(&parsed) {
        FileRole::Test if !query.intent.tests => weights.test,
        FileRole::Docs | FileRole::Config if !query.intent.prose => weights.prose,
        FileRole::Fixture if !query.intent.tests => weights.test * weights.prose,
        // They repeat the words of code and prose, and nobody edits them for what they say.
        FileRole::Changelog | FileRole::IssueTemplate if !query.intent.changes => {
            weights.prose * weights.generated
        }
        FileRole::Translation if !query.intent.translations => weights.prose * weights.generated,
        FileRole::Lock => weights.prose * weights.generated,
        FileRole::Core | FileRole::Entry if query.intent.tests => weights.no_test,
        _ => 1.0,
    };
    if is_below(&EXAMPLE_DIRECTORIES) && !query.intent.examples {
        factor *= weights.example;
    }
    if is_below(&FOREIGN_DIRECTORIES) && !query.has_word("legacy") {
        factor *= weights.example;
    }
    factor
}

/// Whether a chunk is a test beside the code it tests, in a module named `tests`.
pub(super) fn is_inline_test(candidate: &RankInput<'_>) -> bool {
    let mut steps = candidate.enclosing.split(['.', ':']);
    steps.any(|step| matches!(step, "test" | "tests"))
}

/// The factor of a test that lies beside the code it tests, in a module named `tests`.
pub(super) fn inline_test_factor(query: &ParsedQuery, candidate: &RankInput<'_>, weights: &Weights) -> f32 {
    let mut steps = candidate.enclosing.split(['.', ':']);
    match (
        steps.any(|step| matches!(step, "test" | "tests")),
        query.intent.tests,
    ) {
        (true, false) => weights.test,
        // The factor of its file is for the code beside it.
        (true, true) => 1.0 / weights.no_test,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_directories_are_ordered() {
        let check = |path: &str, expected: Option<(&str, u32)>| {
            let found = version_of(path).map(|(above, (major, _))| (above, major));
            assert_eq!(found, expected, "{path}");
        };
        check("src/v1/run.rs", Some(("src/", 1)));
        check("v3/run.rs", Some(("", 3)));
        check("src/vendor/run.rs", None);
        check("src/v1", None);
        let order = ["a/v1alpha1/x", "a/v1beta1/x", "a/v1beta2/x", "a/v1/x", "a/v2/x"];
        assert!(order.is_sorted_by_key(|path| version_of(path)));
    }

    #[test]
    fn a_commit_about_one_file_says_more_of_it_than_one_about_many() {
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let scores = score_by_commits(vec![(paths(&["a", "b"]), 2.0), (paths(&["c"]), 2.0)]);
        let mut shown: Vec<String> = scores
            .iter()
            .map(|(path, score)| format!("{path} {score}"))
            .collect();
        shown.sort();
        assert_eq!(shown, ["a 0.5", "b 0.5", "c 1"]);
    }
}
