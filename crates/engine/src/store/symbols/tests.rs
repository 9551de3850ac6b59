//! Symbols are found by name, and leave the scores of everything else as they are.

use docent_core::discovery::{Discovery, DiscoveryKind};

use super::*;
use crate::store::{
    ChunkEntry, ChunkQuery, ChunkStore, CommitEntry, DiscoveryEntry, DiscoveryQuery, Store, StoreEntry,
    StoredChunk, StoredDiscovery,
};

fn symbols(path: &str, defined: &[&str], used: &[&str]) -> StoreEntry {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    StoreEntry::Symbols(SymbolsEntry {
        document: SymbolsDocument {
            path: path.into(),
            content_hash: u64::MAX - 7,
            bytes: format!("symbols of {path}").into_bytes(),
        },
        defined: owned(defined),
        used: owned(used),
    })
}

/// A store with these entries, committed `batch` at a time.
fn store(entries: Vec<StoreEntry>, batch: usize) -> EmbeddedChunks {
    let store = EmbeddedChunks::in_memory().unwrap();
    let mut change = store.change(1_000).unwrap();
    for (at, entry) in entries.into_iter().enumerate() {
        change.add(entry).unwrap();
        if at % batch == batch - 1 {
            change.commit(at as u64).unwrap();
        }
    }
    change.commit(100_000).unwrap();
    drop(change);
    store.reload().unwrap();
    store
}

/// The paths of found files, in order.
fn paths(store: &EmbeddedSymbols, found: Result<FilesWithName, StoreError>) -> Vec<String> {
    let files = found.unwrap().files.into_iter();
    let mut paths: Vec<String> = files.map(|file| store.read_symbols(file).unwrap().path).collect();
    paths.sort_unstable();
    paths
}

fn zoo() -> EmbeddedChunks {
    let long = "x".repeat(MAX_TERM_BYTES + 1);
    let entries = vec![
        symbols("src/b.rs", &["Walrus", "dive", "tusk"], &["Ice"]),
        symbols("src/a.rs", &["walrus", "tusks", "diev"], &["Ice", "tusk"]),
        symbols("src/c.rs", &["WalrusColony", "operator bool", &long], &["Ice"]),
        StoreEntry::Chunk(ChunkEntry {
            chunk: StoredChunk {
                path: "src/a.rs".into(),
                ..StoredChunk::default()
            },
            text: "tusk ".into(),
            ..ChunkEntry::default()
        }),
    ];
    store(entries, 2)
}

fn using(name: &str, limit: usize) -> UsingQuery<'_> {
    UsingQuery {
        name,
        beside: &[],
        narrow_above: limit,
        limit,
    }
}

#[test]
fn files_are_found_by_the_names_they_define_and_use() {
    let chunks = zoo();
    let store = chunks.embedded_symbols();
    assert_eq!(
        paths(&store, store.files_defining("tusk", usize::MAX)),
        ["src/b.rs"]
    );
    assert_eq!(paths(&store, store.files_using(&using("tusk", 9))), ["src/a.rs"]);
    assert_eq!(
        paths(&store, store.files_using(&using("Ice", 9))),
        ["src/a.rs", "src/b.rs", "src/c.rs"]
    );
    assert_eq!(
        paths(&store, store.files_defining("operator bool", usize::MAX)),
        ["src/c.rs"]
    );
    let long = "x".repeat(MAX_TERM_BYTES + 1);
    for name in ["", "Tusk", "ice", "tus", long.as_str()] {
        assert_eq!(
            store.files_defining(name, usize::MAX).unwrap().files,
            [],
            "{name}"
        );
        assert_eq!(store.files_using(&using(name, 9)).unwrap().files, [], "{name}");
    }
    assert_eq!(store.count_symbol_files().unwrap(), 3);
    assert_eq!(chunks.count_chunks().unwrap(), 1);
}

#[test]
fn the_symbols_of_a_path_are_read_as_they_were_written() {
    let store = zoo().embedded_symbols();
    let expected = SymbolsDocument {
        path: "src/a.rs".into(),
        content_hash: u64::MAX - 7,
        bytes: b"symbols of src/a.rs".to_vec(),
    };
    assert_eq!(store.symbols_of("src/a.rs").unwrap(), Some(expected.clone()));
    assert_eq!(store.symbols_of("src/d.rs").unwrap(), None);
    let bytes = expected.to_bytes();
    assert_eq!(SymbolsDocument::from_bytes(&bytes), Some(expected));
    for end in 0..12 + "src/a.rs".len() {
        assert_eq!(SymbolsDocument::from_bytes(&bytes[..end]), None, "{end}");
    }
}

#[test]
fn names_are_found_by_prefix_case_and_one_edit() {
    let store = zoo().embedded_symbols();
    assert_eq!(
        store.names_with_prefix("Walrus", 9).unwrap(),
        ["Walrus", "WalrusColony"]
    );
    assert_eq!(
        store.names_with_prefix("", 2).unwrap(),
        ["Walrus", "WalrusColony"]
    );
    assert_eq!(
        store.names_in_other_case("WALRUS", 9).unwrap(),
        ["Walrus", "walrus"]
    );
    assert_eq!(store.names_in_other_case("walrus", 9).unwrap(), ["Walrus"]);
    assert_eq!(store.similar_names("dvie", 1, 9).unwrap(), ["dive"]);
    assert_eq!(store.similar_names("tuskz", 1, 9).unwrap(), ["tusk", "tusks"]);
    assert_eq!(store.similar_names("tusk", 1, 9).unwrap(), ["tusks"]);
    assert_eq!(store.similar_names("ax", 1, 9).unwrap(), [""; 0]);
    assert_eq!(store.similar_names("dxvx", 1, 9).unwrap(), [""; 0]);
    assert_eq!(store.similar_names("dxvx", 2, 9).unwrap(), ["dive"]);
}

#[test]
fn removed_symbols_are_not_found() {
    let store = zoo();
    let mut change = store.change(10).unwrap();
    change.remove("src/b.rs");
    change.commit(100_001).unwrap();
    drop(change);
    let before = store.embedded_symbols();
    store.reload().unwrap();
    assert_eq!(
        paths(&before, before.files_defining("tusk", usize::MAX)),
        ["src/b.rs"],
        "one state of the store stays as it is"
    );
    let store = store.embedded_symbols();
    assert_eq!(store.files_defining("tusk", usize::MAX).unwrap().files, []);
    assert_eq!(store.symbols_of("src/b.rs").unwrap(), None);
    assert_eq!(store.names_with_prefix("W", 9).unwrap(), ["WalrusColony"]);
    assert_eq!(store.similar_names("tuskz", 1, 9).unwrap(), ["tusks"]);
    assert_eq!(store.names_in_other_case("WALRUS", 9).unwrap(), ["walrus"]);
    assert_eq!(store.count_symbol_files().unwrap(), 2);
}

#[test]
fn a_cut_list_of_files_is_the_same_in_any_segments() {
    let answers = [1, 7, 40].map(|step: usize| {
        let numbers = (1..41).map(|number| number * step % 41);
        let entries = numbers.map(|number| symbols(&format!("{number}.rs"), &["a"], &["Ice"]));
        let store = store(entries.collect(), step).embedded_symbols();
        paths(&store, store.files_using(&using("Ice", 10)))
    });
    assert_eq!(answers[0].len(), 10);
    assert_eq!([&answers[0], &answers[0]], [&answers[1], &answers[2]]);
}

/// Chunks, discoveries and commits with some words in common.
fn searched_entries(number: u32) -> Vec<StoreEntry> {
    let text = "walrus ".repeat(number as usize % 3 + 1) + &"ice ".repeat(number as usize % 4);
    let path = format!("src/{number}.rs");
    vec![
        StoreEntry::Chunk(ChunkEntry {
            chunk: StoredChunk {
                path: path.clone(),
                ..StoredChunk::default()
            },
            text: text.clone(),
            name: "walrus ".into(),
            ..ChunkEntry::default()
        }),
        StoreEntry::Discovery(DiscoveryEntry {
            key: path.clone(),
            discovery: StoredDiscovery {
                path_or_commit: path.clone(),
                discovery: Discovery {
                    kind: DiscoveryKind::Decision,
                    ..Discovery::default()
                },
                ..StoredDiscovery::default()
            },
            text: text.clone(),
        }),
        StoreEntry::Commit(CommitEntry {
            key: format!("/commit/{number}"),
            paths: vec![path],
            text,
        }),
    ]
}

/// The scores of all three kinds, bit by bit.
fn scores(store: &EmbeddedChunks) -> Vec<(String, u32)> {
    let words = ["walrus".to_owned(), "ice".to_owned()];
    let chunks = store.find_chunks(&ChunkQuery {
        words: &words,
        names: &words[..1],
        weights: &[],
        files: &[],
        kinds: &[],
        module: None,
        paths: None,
        vector: None,
        limit: 100,
    });
    let discoveries = store.find_discoveries(&DiscoveryQuery {
        words: &words,
        kinds: &[],
        module: None,
        paths: None,
        limit: 100,
    });
    let commits = store.find_commits(&words, 100).unwrap();
    let chunks = chunks.unwrap().into_iter().map(|hit| (hit.chunk.path, hit.score));
    let discoveries = discoveries.unwrap().into_iter();
    chunks
        .chain(discoveries.map(|(stored, score)| (stored.path_or_commit, score)))
        .chain(commits.into_iter().map(|(paths, score)| (paths.concat(), score)))
        .map(|(path, score)| (path, score.to_bits()))
        .collect()
}

#[test]
fn symbols_change_no_score() {
    let answers = [false, true].map(|has_symbols| {
        let mut entries: Vec<StoreEntry> = (0..20).flat_map(searched_entries).collect();
        if has_symbols {
            let names = ["walrus", "ice", "Walrus"];
            entries.extend((0..20).map(|number| symbols(&format!("src/{number}.rs"), &names, &names)));
        }
        let store = store(entries, 1_000);
        let before = scores(&store);
        // Removed documents count in some statistics, and must count the same.
        let mut change = store.change(10).unwrap();
        change.remove("src/3.rs");
        change.remove("src/4.rs");
        change.commit(100_001).unwrap();
        drop(change);
        store.reload().unwrap();
        (before, scores(&store))
    });
    assert_eq!(answers[0].0.len(), 60);
    assert_eq!(answers[0].1.len(), 56);
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn the_only_field_of_a_document_is_found_in_its_bytes() {
    for length in [0, 1, 127, 128, 20_000] {
        let mut entry = SymbolsEntry::default();
        entry.document.path = "a.rs".into();
        entry.document.bytes = vec![7; length];
        let written = entry.document.to_bytes();
        let store = store(vec![StoreEntry::Symbols(entry)], 1).embedded_symbols();
        let document = store.stored(0).unwrap().get_document_bytes(0).unwrap();
        assert_eq!(bytes_of_only_field(&document), Some(&written[..]), "{length}");
        for end in 0..document.len().min(20) {
            assert_eq!(
                bytes_of_only_field(&document[..end]),
                None,
                "{length}, cut at {end}"
            );
        }
    }
}
