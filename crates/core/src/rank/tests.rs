//! Which of two candidates comes first, signal by signal.

use super::*;

fn candidate(path: &str, score: f32) -> RankInput<'_> {
    RankInput {
        project: 0,
        path,
        kind: ChunkKind::Function,
        name: "run",
        enclosing: "",
        generated: false,
        is_container_header: false,
        reopens: false,
        part: 1,
        parts: 1,
        bm25: score,
        similarity: 0.0,
        commit_score: 0.0,
        named: NamedSignals::default(),
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
    let scores = score_chunks(&ParsedQuery::of(query), &list, &Weights::default());
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
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
fn a_class_ranks_before_its_constructor() {
    let candidates = [
        RankInput {
            kind: ChunkKind::Method,
            name: "JsonMapper",
            enclosing: "JsonMapper",
            ..candidate("JsonMapper.java", 9.0)
        },
        RankInput {
            kind: ChunkKind::Class,
            name: "JsonMapper",
            ..candidate("JsonMapper.java", 6.0)
        },
    ];
    let scores = score_chunks(&ParsedQuery::of("JsonMapper"), &candidates, &Weights::default());
    assert!(scores[1] > scores[0], "{scores:?}");
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
        let scores = score_chunks(&ParsedQuery::of(query), &list, &Weights::default());
        scores[0] > scores[1]
    };
    assert!(!near("how are jobs started", [0.3, 0.6]));
    assert!(near("how are jobs started", [0.6, 0.3]));
    // Without vectors, and where none is near, words decide.
    assert!(near("how are jobs started", [0.0, 0.0]));
    assert!(near("how are jobs started", [-0.2, -0.1]));
}

#[test]
fn a_file_whose_commits_match_the_query_ranks_higher() {
    let list = [
        RankInput {
            commit_score: 0.1,
            ..candidate("src/a.py", 5.2)
        },
        RankInput {
            commit_score: 1.0,
            ..candidate("src/b.py", 5.0)
        },
    ];
    let scores = score_chunks(
        &ParsedQuery::of("retry after a timeout"),
        &list,
        &Weights::default(),
    );
    assert!(scores[1] > scores[0]);
}
