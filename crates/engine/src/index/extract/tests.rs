//! Extraction from real files.

use std::fs;

use docent_core::access::Access;
use docent_core::docs::manifest::PageRules;
use tempfile::TempDir;

use docent_core::path::RepoPath;

use super::*;
use crate::embed::bundled;
use crate::files::Root;
use crate::index::disk::IndexedFile;
use crate::stamp::Stamp;
use crate::store::{Label, StoreEntry};

struct Project {
    directory: TempDir,
    root: Root,
}

impl Project {
    fn with(path: &str, content: &[u8]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let file = directory.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
        Self { directory, root }
    }

    fn extract(&self, path: &str, indexed: Option<&IndexedFile>) -> Extracted<StoreEntry> {
        let path = RepoPath::parse(path).unwrap();
        extract_code(&self.job(&path, indexed), bundled())
    }

    fn job<'a>(&'a self, path: &'a RepoPath, indexed: Option<&'a IndexedFile>) -> FileJob<'a> {
        FileJob {
            root: &self.root,
            path,
            scanned: Stamp::default(),
            indexed,
            rules: 0,
            max_bytes: 1_000,
        }
    }
}

/// The note of a file that is skipped.
#[track_caller]
fn check_skipped(path: &str, content: &[u8], expected: &SkipReason) {
    match Project::with(path, content).extract(path, None) {
        Extracted::Changed { row, entries, .. } => {
            assert_eq!(row.note, Some(expected.to_string()));
            assert!(entries.is_empty());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_large_file_is_skipped() {
    check_skipped("a.txt", &[b'x'; 1_001], &SkipReason::TooLarge);
}

#[test]
fn a_binary_file_is_skipped() {
    check_skipped("a.rs", b"fn a() {}\0", &SkipReason::Binary);
}

#[test]
fn a_file_in_utf_16_is_extracted_as_text() {
    let text = "fn walrus() {}\n\nfn narwhal() {}\n";
    let little = text.encode_utf16().flat_map(u16::to_le_bytes);
    let big = text.encode_utf16().flat_map(u16::to_be_bytes);
    for content in [
        [0xff, 0xfe].into_iter().chain(little).collect::<Vec<u8>>(),
        [0xfe, 0xff].into_iter().chain(big).collect(),
    ] {
        let project = Project::with("a.rs", &content);
        let Extracted::Changed { row, entries, .. } = project.extract("a.rs", None) else {
            panic!("not extracted");
        };
        assert_eq!(
            (
                row.note.as_deref(),
                row.language.as_str(),
                row.chunks,
                entries.len()
            ),
            (None, "rust", 2, 3)
        );
        assert!(matches!(project.extract("a.rs", Some(&row)), Extracted::Same(_)));
    }
    // Without a mark it is not known to be text, and with NUL in the text it is none.
    check_skipped("a.rs", b"f\0n\0", &SkipReason::Binary);
    check_skipped("a.rs", b"\xff\xfe\0\0f\0\0\0", &SkipReason::Binary);
}

#[test]
fn a_missing_file_is_gone() {
    let project = Project::with("a.rs", b"");
    assert!(matches!(project.extract("b.rs", None), Extracted::Gone));
    fs::create_dir(project.directory.path().join("c.rs")).unwrap();
    assert!(matches!(project.extract("c.rs", None), Extracted::Gone));
}

#[test]
fn a_panic_skips_the_file() {
    let project = Project::with("a.rs", b"fn a() {}");
    let path = RepoPath::parse("a.rs").unwrap();
    let extracted: Extracted<()> = project.job(&path, None).run(|_, _| panic!("on purpose"));
    match extracted {
        Extracted::Changed { row, .. } => assert_eq!(row.note.as_deref(), Some("could not be cut")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_with_the_indexed_content_is_the_same() {
    let project = Project::with("a.rs", b"fn walrus() {}\n");
    let Extracted::Changed { row, entries, bytes } = project.extract("a.rs", None) else {
        panic!("not extracted");
    };
    assert_eq!(
        (row.language.as_str(), row.chunks, entries.len(), bytes),
        ("rust", 1, 2, 15)
    );
    assert!(matches!(project.extract("a.rs", Some(&row)), Extracted::Same(_)));
    let other_rules = IndexedFile { rules: 1, ..row };
    assert!(matches!(
        project.extract("a.rs", Some(&other_rules)),
        Extracted::Changed { .. }
    ));
}

#[test]
fn a_section_can_be_filtered_by_every_directory_above_its_page() {
    let project = Project::with("docs/guide/a.md", b"# Walrus\n\ntext\n");
    let path = RepoPath::parse("docs/guide/a.md").unwrap();
    let extracted = extract_sections(&project.job(&path, None), bundled(), PageRules::default);
    let Extracted::Changed { entries, .. } = extracted else {
        panic!("not extracted");
    };
    let directories: Vec<&Label> = entries[0]
        .labels
        .iter()
        .filter(|label| matches!(label, Label::Directory(_)))
        .collect();
    assert_eq!(
        directories,
        [
            &Label::Directory("docs/guide".into()),
            &Label::Directory("docs".into())
        ]
    );
}

#[test]
fn a_secret_is_not_sent_to_a_server() {
    let key = ["ghp", "_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
    let text = format!("fn open() {{ let token = \"{key}\"; }}\n\nfn shut() {{ close(1); }}\n");
    let project = Project::with("a.rs", text.as_bytes());
    let path = RepoPath::parse("a.rs").unwrap();
    let Extracted::Changed { entries, .. } = chunk_texts(&project.job(&path, None)) else {
        panic!("not extracted");
    };
    assert!(!entries.is_empty());
    assert!(entries.iter().all(|text| !text.text.contains(&key)));
}

#[test]
fn the_symbols_of_a_parsed_file_are_extracted_and_no_others() {
    let project = Project::with("src/a.rs", b"struct Row;\n\nfn walrus() {}\n");
    let Extracted::Changed { row, entries, .. } = project.extract("src/a.rs", None) else {
        panic!("not extracted");
    };
    let symbols = entries.iter().find_map(|entry| match entry {
        StoreEntry::Symbols(symbols) => Some(symbols),
        _ => None,
    });
    let symbols = symbols.unwrap();
    assert_eq!(symbols.defined, ["Row", "walrus"]);
    assert_eq!(
        (symbols.document.path.as_str(), symbols.document.content_hash),
        ("src/a.rs", row.hash)
    );
    let generated = "// @generated by a tool\nfn walrus() {}\n";
    let long = format!("{generated}{}", "// a line\n".repeat(5_000));
    for (path, text, expected) in [
        ("a.rs", generated, true),
        ("long.rs", long.as_str(), false),
        ("notes.md", "# Walrus\n", false),
        ("data.json", "{\"walrus\": 1}\n", false),
    ] {
        let Extracted::Changed { entries, .. } = Project::with(path, text.as_bytes()).extract(path, None)
        else {
            panic!("not extracted");
        };
        let has_symbols = entries
            .iter()
            .any(|entry| matches!(entry, StoreEntry::Symbols(_)));
        assert_eq!(has_symbols, expected, "{path}");
    }
}
