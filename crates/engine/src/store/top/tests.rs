//! The same entries in other orders and batches, and so in other segments, give the same answers.

use docent_core::discovery::{Discovery, DiscoveryKind};

use crate::embed::{DIMENSIONS, Vector};
use crate::store::{
    ChunkEntry, ChunkQuery, ChunkStore, CommitEntry, DiscoveryEntry, DiscoveryQuery, EmbeddedChunks,
    EmbeddedSections, SectionEntry, SectionQuery, SectionStore, Store, StoreEntry, StoredChunk,
    StoredDiscovery, StoredSection,
};

/// Entries of each kind. They have few different texts, so that scores are equal around every cut.
const ENTRIES: u32 = 900;

const LIMIT: usize = 200;

/// Orders of entries, and how many of them are committed at a time.
const LAYOUTS: [(u32, u32); 5] = [(1, 900), (899, 900), (7, 100), (431, 37), (13, 290)];

/// Entries in another order: each of them once, because the step has no factor in common with their number.
fn layout<E>(step: u32, batch: u32, entry: impl Fn(u32) -> E) -> Vec<Vec<E>> {
    let order: Vec<u32> = (0..ENTRIES).map(|at| at * step % ENTRIES).collect();
    order
        .chunks(batch as usize)
        .map(|numbers| numbers.iter().map(|number| entry(*number)).collect())
        .collect()
}

fn fill<E>(store: &dyn Store<E>, batches: Vec<Vec<E>>) {
    let mut change = store.change(1_000).unwrap();
    for (number, batch) in (1..).zip(batches) {
        for entry in batch {
            change.add(entry).unwrap();
        }
        change.commit(number).unwrap();
    }
    drop(change);
    store.reload().unwrap();
}

/// Some of the words, in several numbers: scores are sums of several different summands, and lists of words
/// end at different documents.
fn text(number: u32) -> String {
    let words = ["walrus ", "tusk ", "ice ", "floe ", "colony "];
    let repeated = (2..).zip(words).map(|(divisor, word)| {
        let count = if number.is_multiple_of(divisor) {
            0
        } else {
            number % 3 + divisor % 2 + 1
        };
        word.repeat(count as usize)
    });
    repeated.collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[track_caller]
fn check_same<T: PartialEq + std::fmt::Debug>(answers: impl IntoIterator<Item = Vec<T>>) {
    let answers: Vec<Vec<T>> = answers.into_iter().collect();
    for answer in &answers {
        assert_eq!(answer.len(), LIMIT);
        assert_eq!(*answer, answers[0]);
    }
}

fn chunk(number: u32) -> StoreEntry {
    StoreEntry::Chunk(ChunkEntry {
        chunk: StoredChunk {
            path: format!("src/{number}.rs"),
            ..StoredChunk::default()
        },
        text: text(number),
        name: "walrus ".into(),
        path_words: "floe walrus ".into(),
        ..ChunkEntry::default()
    })
}

#[test]
fn chunks_are_the_same_in_any_segments() {
    let query = words("walrus tusk ice floe colony");
    let answers = LAYOUTS.map(|(step, batch)| {
        let store = EmbeddedChunks::in_memory().unwrap();
        fill(&store, layout(step, batch, chunk));
        let query = ChunkQuery {
            words: &query,
            names: &query[..1],
            weights: &[],
            files: &[],
            kinds: &[],
            module: None,
            paths: None,
            vector: None,
            limit: LIMIT,
        };
        let found = store.find_chunks(&query).unwrap();
        found
            .into_iter()
            .map(|hit| (hit.chunk.path, hit.score.to_bits()))
            .collect()
    });
    check_same(answers);
}

#[test]
fn commits_are_the_same_in_any_segments() {
    let query = words("walrus tusk ice floe colony");
    let commit = |number: u32| {
        StoreEntry::Commit(CommitEntry {
            key: format!("commit {number}"),
            paths: vec![format!("src/{number}.rs")],
            text: text(number),
        })
    };
    let answers = LAYOUTS.map(|(step, batch)| {
        let store = EmbeddedChunks::in_memory().unwrap();
        fill(&store, layout(step, batch, commit));
        let found = store.find_commits(&query, LIMIT).unwrap();
        found
            .into_iter()
            .map(|(paths, score)| (paths, score.to_bits()))
            .collect()
    });
    check_same(answers);
}

fn discovery(number: u32) -> StoreEntry {
    StoreEntry::Discovery(DiscoveryEntry {
        key: format!("src/{number}.rs"),
        discovery: StoredDiscovery {
            path_or_commit: format!("src/{number}.rs"),
            discovery: Discovery {
                kind: DiscoveryKind::Decision,
                module: "src".into(),
                ..Discovery::default()
            },
            ..StoredDiscovery::default()
        },
        text: text(number),
    })
}

#[test]
fn discoveries_are_the_same_in_any_segments() {
    let query = words("walrus tusk ice floe colony");
    // By words, and the newest of a module, which have no date and so the same one.
    for (words, module) in [(&query[..], None), (&[], Some("src"))] {
        let answers = LAYOUTS.map(|(step, batch)| {
            let store = EmbeddedChunks::in_memory().unwrap();
            fill(&store, layout(step, batch, discovery));
            let query = DiscoveryQuery {
                words,
                kinds: &[],
                module,
                paths: None,
                limit: LIMIT,
            };
            let found = store.find_discoveries(&query).unwrap();
            found
                .into_iter()
                .map(|(stored, score)| (stored.path_or_commit, score.to_bits()))
                .collect()
        });
        check_same(answers);
    }
}

fn section(number: u32) -> SectionEntry {
    let mut vector = [0; DIMENSIONS];
    (vector[0], vector[1]) = (if number.is_multiple_of(3) { 100 } else { 10 }, 10);
    SectionEntry {
        section: StoredSection {
            path: format!("docs/{number}.md"),
            ..StoredSection::default()
        },
        text: text(number),
        vector: Some(Vector(vector)),
        ..SectionEntry::default()
    }
}

#[test]
fn sections_are_the_same_in_any_segments() {
    let query = words("walrus tusk ice floe colony");
    let mut by_words = Vec::new();
    let mut by_phrase = Vec::new();
    let mut by_meaning = Vec::new();
    for (step, batch) in LAYOUTS {
        let store = EmbeddedSections::in_memory().unwrap();
        fill(&store, layout(step, batch, section));
        let mut vector = [0; DIMENSIONS];
        vector[1] = 100;
        let query = SectionQuery {
            words: &query,
            phrase: &query[3..],
            vector: Some(Vector(vector)),
            filters: &[],
            common: &[],
            minor_factor: 1.0,
            limit: LIMIT,
        };
        let snapshot = store.snapshot();
        let found = snapshot.find(&query).unwrap();
        let paths = |ranked: &[crate::store::Ranked]| -> Vec<(String, u32)> {
            let path = |one: &crate::store::Ranked| snapshot.section(one.address).unwrap().path;
            ranked
                .iter()
                .map(|one| (path(one), one.score.to_bits()))
                .collect()
        };
        by_words.push(paths(&found.by_words));
        by_phrase.push(paths(&found.by_phrase));
        by_meaning.push(paths(&found.by_meaning));
    }
    check_same(by_words);
    check_same(by_phrase);
    check_same(by_meaning);
}
