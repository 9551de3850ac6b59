//! The order of what was found: how well words match is where it begins, what code is decides.
//!
//! Words alone prefer short texts and uses over definitions, and do not know what means the same. Here a chunk gains when it
//! defines what the query names, when its file is called what the query says, and when more of its file matches; tests,
//! generated code and their kind stand behind what they are about, unless the query asks for them.
//!
//! Invariant: the order depends on nothing but the query and the candidates; equal ones keep their order.

use std::collections::HashMap;
use std::hash::Hash;

use crate::chunk::ChunkKind;
use crate::path::RepoPath;
use crate::role::FileRole;
use crate::text::tokens::{ParsedQuery, fold_name, words};

/// Something that may be an answer.
#[derive(Clone, Copy, Debug)]
pub struct RankInput<'a> {
    /// Which project it is of, where several are searched.
    pub project: usize,
    pub path: &'a str,
    pub kind: ChunkKind,
    pub name: &'a str,
    /// What it stands inside of.
    pub outside: &'a str,
    pub generated: bool,
    /// How well its words match; only compared with that of other candidates.
    pub score: f32,
    /// How near it is to what is asked for, up to 1; compared with that of others too.
    pub similarity: f32,
    /// How much commits about this spoke of its file, from 0 to 1.
    pub spoken: f32,
}

/// How much each sign counts, beside the best match of words.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// How well words match.
    pub words: f32,
    /// What it is about; and what is left of that where the query is a name.
    pub meaning: f32,
    pub named: f32,
    /// Nothing counts that is less than this share as near as the nearest.
    pub near: f32,
    /// How much of what was found is in the same file.
    pub file: f32,
    /// Of what is no function, among the chunks of a file, where the query is no name.
    pub outline: f32,
    /// What is left of a second chunk of the same file.
    pub again: f32,
    /// What commits said about the file.
    pub history: f32,
    /// Words of the query in the file's name, and in the names of its directories.
    pub stem: f32,
    pub directory: f32,
    /// Words of the query in what the chunk is called.
    pub name: f32,
    /// The chunk is called what the query names, alone or among other words.
    pub defines: f32,
    pub mentions: f32,
    /// The file is called what the query names.
    pub called: f32,
    /// What is left of a chunk of a test, of generated code, of documents and settings, of examples and what is not ours.
    pub test: f32,
    pub generated: f32,
    pub prose: f32,
    pub example: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            words: 1.0,
            meaning: 1.0,
            named: 0.3,
            near: 0.5,
            file: 0.6,
            outline: 0.85,
            again: 0.5,
            history: 0.6,
            stem: 0.7,
            directory: 0.2,
            name: 0.15,
            defines: 2.0,
            mentions: 0.8,
            called: 0.6,
            test: 0.4,
            generated: 0.5,
            prose: 0.45,
            example: 0.5,
        }
    }
}

/// How relevant each candidate is, from 0 up.
pub fn relevance(query: &ParsedQuery, candidates: &[RankInput<'_>], weights: &Weights) -> Vec<f32> {
    let mut fits = fits(query, candidates, weights);
    order_inside(query, candidates, weights, &mut fits);
    let mut files: HashMap<(usize, &str), FileSignals> = HashMap::new();
    for (candidate, fit) in candidates.iter().zip(&fits) {
        let file = files
            .entry((candidate.project, candidate.path))
            .or_insert_with(|| FileSignals::of(query, candidate.path, weights));
        // Many chunks that hardly fit are not worth one that does.
        file.sum += fit * fit;
        file.best = file.best.max(*fit);
    }
    let most = files
        .values()
        .map(|file| file.sum)
        .fold(f32::MIN_POSITIVE, f32::max);
    candidates
        .iter()
        .zip(&fits)
        .map(|(candidate, fit)| {
            let file = &files[&(candidate.project, candidate.path)];
            let mut score = *fit;
            if *fit >= file.best {
                score += weights.file * file.sum / most;
            }
            score += file.gain + weights.history * candidate.spoken;
            score += weights.name * called(query, candidate.name);
            score += defines(query, candidate, weights);
            if candidate.generated && !query.has_word("generat") {
                score *= weights.generated;
            }
            score * file.factor
        })
        .collect()
}

/// How well candidates fit by their words and by what they are about, where the best fits 1.
fn fits(query: &ParsedQuery, candidates: &[RankInput<'_>], weights: &Weights) -> Vec<f32> {
    let most =
        |number: fn(&RankInput<'_>) -> f32| candidates.iter().map(number).fold(f32::MIN_POSITIVE, f32::max);
    let (best, nearest) = (most(|one| one.score), most(|one| one.similarity));
    // Who names something wants what is called so, and not what is like it.
    let meaning = weights.meaning * if query.is_name { weights.named } else { 1.0 };
    let fit = |one: &RankInput<'_>| {
        let near = (one.similarity / nearest - weights.near) / (1.0 - weights.near);
        weights.words * one.score / best + meaning * near.max(0.0)
    };
    let fits: Vec<f32> = candidates.iter().map(fit).collect();
    let top = fits.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    fits.into_iter().map(|fit| fit / top).collect()
}

/// Which chunk of a file comes first is another question than which file does: a class lists what is in it and so has the words of
/// all its methods, but who asks how something is done wants the method. The fits of a file's chunks stay what they are, and are
/// dealt out anew.
fn order_inside(query: &ParsedQuery, candidates: &[RankInput<'_>], weights: &Weights, fits: &mut [f32]) {
    if query.is_name {
        return;
    }
    let worth: Vec<f32> = candidates
        .iter()
        .zip(&*fits)
        .map(|(candidate, fit)| match candidate.kind {
            ChunkKind::Function | ChunkKind::Method => *fit,
            ChunkKind::Class
            | ChunkKind::Interface
            | ChunkKind::Type
            | ChunkKind::Module
            | ChunkKind::Block => fit * weights.outline,
        })
        .collect();
    let mut files: HashMap<(usize, &str), Vec<usize>> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let file = (candidate.project, candidate.path);
        files.entry(file).or_default().push(at);
    }
    for mut chunks in files.into_values() {
        let mut dealt: Vec<f32> = chunks.iter().map(|&at| fits[at]).collect();
        dealt.sort_by(|a, b| b.total_cmp(a));
        chunks.sort_by(|&a, &b| worth[b].total_cmp(&worth[a]));
        for (at, fit) in chunks.into_iter().zip(dealt) {
            fits[at] = fit;
        }
    }
}

/// What is known of a file for every chunk of it.
struct FileSignals {
    /// How well all of its candidates fit, and the best of them.
    sum: f32,
    best: f32,
    gain: f32,
    factor: f32,
}

impl FileSignals {
    fn of(query: &ParsedQuery, path: &str, weights: &Weights) -> Self {
        let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let stem = if stem.is_empty() { name } else { stem };
        let parents: Vec<&str> = directories.rsplit('/').take(2).collect();
        let gain = weights.stem * share(query, &words(stem))
            + weights.directory * share(query, &words(&parents.join(" ")));
        let whole = fold_name(stem);
        let is_called = query
            .names
            .iter()
            .any(|wanted| wanted.folded == whole || wanted.scope.as_ref() == Some(&whole));
        Self {
            sum: 0.0,
            best: 0.0,
            gain: gain + if is_called { weights.called } else { 0.0 },
            factor: factor(query, path, weights),
        }
    }
}

/// How many of the query's words are among these, as a share of all it has. A word counts for a longer one that begins
/// with it: `auth` for `authentication`.
fn share(query: &ParsedQuery, words: &[String]) -> f32 {
    if query.words.is_empty() || words.is_empty() {
        return 0.0;
    }
    let found = query
        .words
        .iter()
        .filter(|wanted| {
            words.iter().any(|word| {
                let (short, long) = if word.len() < wanted.len() {
                    (word, *wanted)
                } else {
                    (*wanted, word)
                };
                short == long || (short.len() >= 4 && long.starts_with(short.as_str()))
            })
        })
        .count();
    ratio(found, query.words.len())
}

/// How well a name is what the query says: the words both have, as a share of what each has.
fn called(query: &ParsedQuery, name: &str) -> f32 {
    if name.is_empty() {
        return 0.0;
    }
    let named = words(name);
    let common = named.iter().filter(|word| query.words.contains(word)).count();
    if common == 0 {
        return 0.0;
    }
    2.0 * ratio(common, named.len() + query.words.len())
}

/// The gain of a definition of what the query names.
fn defines(query: &ParsedQuery, candidate: &RankInput<'_>, weights: &Weights) -> f32 {
    if query.names.is_empty() || candidate.name.is_empty() {
        return 0.0;
    }
    let name = fold_name(candidate.name);
    let outside = fold_name(candidate.outside.rsplit('.').next().unwrap_or_default());
    let gain = if query.is_name {
        weights.defines
    } else {
        weights.mentions
    };
    let worth = match candidate.kind {
        // What makes one of a class is called as the class is.
        ChunkKind::Method | ChunkKind::Function if name == outside => 0.3,
        ChunkKind::Class | ChunkKind::Interface | ChunkKind::Type | ChunkKind::Function => 1.0,
        ChunkKind::Method => 0.9,
        ChunkKind::Module => 0.7,
        ChunkKind::Block => 0.4,
    };
    let fits = query
        .names
        .iter()
        .filter(|wanted| wanted.folded == name)
        .map(|wanted| {
            let scope = match &wanted.scope {
                None => 1.0,
                Some(scope) if *scope == outside => 1.25,
                Some(_) => 0.75,
            };
            // `Timeout` is not `timeout`.
            scope
                * if wanted.written == candidate.name {
                    1.0
                } else {
                    0.6
                }
        });
    gain * worth * fits.fold(0.0, f32::max)
}

/// What is left of a file's chunks because of what it is for.
fn factor(query: &ParsedQuery, path: &str, weights: &Weights) -> f32 {
    let Ok(parsed) = RepoPath::parse(path) else {
        return 1.0;
    };
    let directory = |names: &[&str]| {
        parsed
            .components()
            .rev()
            .skip(1)
            .any(|part| names.contains(&part.to_ascii_lowercase().as_str()))
    };
    let mut factor = match FileRole::of(&parsed) {
        FileRole::Test if !asks_for_tests(query) => weights.test,
        FileRole::Docs | FileRole::Config if !asks_for_prose(query) => weights.prose,
        _ => 1.0,
    };
    if directory(&[
        "example",
        "examples",
        "sample",
        "samples",
        "demo",
        "demos",
        "benches",
        "bench",
        "benchmarks",
    ]) && !query.has_word("exampl")
        && !query.has_word("bench")
    {
        factor *= weights.example;
    }
    if directory(&[
        "vendor",
        "third_party",
        "thirdparty",
        "legacy",
        "compat",
        "deprecated",
    ]) && !query.has_word("legacy")
    {
        factor *= weights.example;
    }
    factor
}

fn asks_for_tests(query: &ParsedQuery) -> bool {
    ["test", "spec", "fixtur", "mock", "assert"]
        .iter()
        .any(|word| query.has_word(word))
}

fn asks_for_prose(query: &ParsedQuery) -> bool {
    [
        "doc",
        "document",
        "readm",
        "guid",
        "config",
        "configurat",
        "sett",
        "changelog",
        "licens",
    ]
    .iter()
    .any(|word| query.has_word(word))
}

fn ratio(part: usize, whole: usize) -> f32 {
    let number = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    number(part) / number(whole)
}

/// Lowers what would be a second chunk of the same file, so that one of each comes before. `files` says which file each is of.
pub fn spread<F: Copy + Eq + Hash>(files: &[F], relevance: &mut [f32], again: f32) {
    let mut sorted: Vec<usize> = (0..relevance.len()).collect();
    sorted.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]));
    let mut seen: HashMap<F, i32> = HashMap::new();
    for at in sorted {
        let before = seen.entry(files[at]).or_default();
        relevance[at] *= again.powi(*before);
        *before += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(path: &str, score: f32) -> RankInput<'_> {
        RankInput {
            project: 0,
            path,
            kind: ChunkKind::Function,
            name: "run",
            outside: "",
            generated: false,
            score,
            similarity: 0.0,
            spoken: 0.0,
        }
    }

    /// The names of candidates, the most relevant first.
    fn ranked<'a>(query: &str, candidates: &[(&'a str, &'a str, ChunkKind, f32)]) -> Vec<&'a str> {
        let list: Vec<RankInput<'_>> = candidates
            .iter()
            .map(|&(path, name, kind, score)| RankInput {
                kind,
                name,
                ..candidate(path, score)
            })
            .collect();
        let relevance = relevance(&ParsedQuery::of(query), &list, &Weights::default());
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]));
        order.into_iter().map(|at| candidates[at].1).collect()
    }

    #[test]
    fn a_definition_comes_before_its_uses() {
        let candidates = [
            ("a.py", "caller", ChunkKind::Function, 9.0),
            ("b.py", "Timeout", ChunkKind::Class, 5.0),
            ("c.py", "timeout", ChunkKind::Method, 5.0),
        ];
        assert_eq!(ranked("Timeout", &candidates), ["Timeout", "timeout", "caller"]);
    }

    #[test]
    fn a_class_comes_before_what_makes_one_of_it() {
        let candidates = [
            RankInput {
                kind: ChunkKind::Method,
                name: "JsonMapper",
                outside: "JsonMapper",
                ..candidate("JsonMapper.java", 9.0)
            },
            RankInput {
                kind: ChunkKind::Class,
                name: "JsonMapper",
                ..candidate("JsonMapper.java", 6.0)
            },
        ];
        let relevance = relevance(&ParsedQuery::of("JsonMapper"), &candidates, &Weights::default());
        assert!(relevance[1] > relevance[0], "{relevance:?}");
    }

    #[test]
    fn a_method_comes_before_the_class_that_lists_it() {
        let candidates = [
            ("a.py", "Jar", ChunkKind::Class, 9.0),
            ("a.py", "load_cookies", ChunkKind::Method, 8.5),
            ("b.py", "Other", ChunkKind::Class, 8.7),
        ];
        assert_eq!(
            ranked("how are cookies loaded", &candidates),
            ["load_cookies", "Other", "Jar"]
        );
    }

    #[test]
    fn tests_come_after_what_they_test_unless_asked_for() {
        let candidates = [
            ("tests/test_router.py", "test_match", ChunkKind::Function, 9.0),
            ("src/router.py", "match", ChunkKind::Function, 6.0),
        ];
        assert_eq!(
            ranked("how are routes matched", &candidates),
            ["match", "test_match"]
        );
        assert_eq!(
            ranked("tests of route matching", &candidates),
            ["test_match", "match"]
        );
    }

    #[test]
    fn a_file_called_what_is_asked_for_gains() {
        let candidates = [
            ("src/server.py", "a", ChunkKind::Function, 6.0),
            ("src/retry.py", "b", ChunkKind::Function, 5.5),
        ];
        assert_eq!(ranked("retry a failed request", &candidates), ["b", "a"]);
    }

    #[test]
    fn what_is_about_the_question_comes_before_what_only_has_its_words() {
        let near = |query: &str, [one, other]: [f32; 2]| {
            let list = [
                RankInput {
                    similarity: one,
                    ..candidate("src/a.py", 5.2)
                },
                RankInput {
                    similarity: other,
                    ..candidate("src/b.py", 5.0)
                },
            ];
            let relevance = relevance(&ParsedQuery::of(query), &list, &Weights::default());
            relevance[0] > relevance[1]
        };
        assert!(!near("how are jobs started", [0.3, 0.6]));
        assert!(near("how are jobs started", [0.6, 0.3]));
        // Without vectors, and where none is near, words decide.
        assert!(near("how are jobs started", [0.0, 0.0]));
        assert!(near("how are jobs started", [-0.2, -0.1]));
    }

    #[test]
    fn a_file_that_commits_spoke_of_gains() {
        let list = [
            RankInput {
                spoken: 0.1,
                ..candidate("src/a.py", 5.2)
            },
            RankInput {
                spoken: 1.0,
                ..candidate("src/b.py", 5.0)
            },
        ];
        let relevance = relevance(
            &ParsedQuery::of("retry after a timeout"),
            &list,
            &Weights::default(),
        );
        assert!(relevance[1] > relevance[0]);
    }

    #[test]
    fn one_of_each_file_comes_before_a_second() {
        let mut relevance = [1.0, 0.9, 0.5, 0.4];
        spread(&["a", "a", "b", "a"], &mut relevance, 0.3);
        let shown: Vec<String> = relevance.iter().map(|value| format!("{value:.3}")).collect();
        assert_eq!(shown, ["1.000", "0.270", "0.500", "0.036"]);
    }
}
