//! Chunks of documents, data files and pages with scripts, and a check over all files of this repository.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests read their own fixtures, and a failure to do so fails the test"
)]

mod fixture;

use std::fs;
use std::ops::Range;
use std::path::Path;

use docent_core::chunk;
use fixture::{language_of, show_fixture};
use insta::assert_snapshot;

#[test]
fn html() {
    assert_snapshot!(show_fixture("page.html"), @"
    1-1 block
    2-11 block html, head, title, link, body, header, h1, main
    12-22 block section, section
    23-27 block script
    ");
}

#[test]
fn css() {
    assert_snapshot!(show_fixture("style.css"), @"
    1-1 block
    2-4 block :root
    6-17 block .shelf
    19-23 block @media (max-width: 40rem)
    ");
}

#[test]
fn json() {
    assert_snapshot!(show_fixture("package.json"), @"
    1-1 block
    2-3 block name, version
    4-15 block scripts
    16-19 block dependencies
    ");
}

#[test]
fn yaml() {
    assert_snapshot!(show_fixture("ci.yaml"), @"
    1-1 block
    2-7 block name, on, permissions
    8-20 block jobs
    ");
}

#[test]
fn toml() {
    assert_snapshot!(show_fixture("settings.toml"), @"
    1-1 block
    3-9 block loans, fines
    11-24 block branches.centre
    ");
}

#[test]
fn sql() {
    assert_snapshot!(show_fixture("schema.sql"), @"
    1-1 block
    2-6 block CREATE TABLE members
    8-18 block CREATE TABLE loans
    20-23 block CREATE VIEW overdue AS
    ");
}

#[test]
fn markdown() {
    assert_snapshot!(show_fixture("guide.md"), @"
    1-3 block Lending
    5-12 block Lending > Loans
    14-16 block Lending > Loans > Renewing
    18-20 block Lending > Fines
    ");
}

#[test]
fn vue() {
    assert_snapshot!(show_fixture("Shelf.vue"), @"
    1-11 module
    13-16 function title | function title(book: Book): string // What stands on the spine.
    18-20 function add | add = (book: Book) =>
    21-27 block
    ");
}

#[test]
fn svelte() {
    assert_snapshot!(show_fixture("Counter.svelte"), @"
    1-4 module
    6-8 function enter | function enter(): void
    10-21 block
    ");
}

/// Checks every text file of this repository: sources, fixtures, queries, documents and settings.
#[test]
fn chunks_cover_every_line_with_words_once() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut file_count = 0;
    for directory in ["crates", "docs", "scripts", "bench", "eval"] {
        check_directory(&repository.join(directory), &mut file_count);
    }
    assert!(file_count > 200, "{file_count}");
}

/// Fails unless the chunks of each file below `directory` follow each other, with no words between them.
fn check_directory(directory: &Path, file_count: &mut usize) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_directory(&path, file_count);
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let name = path.file_name().unwrap().to_str().unwrap();
        let chunked = chunk::chunk(language_of(name, &text), &text);
        let mut next_line = 1;
        for chunk in &chunked.chunks {
            assert!(*chunk.lines.start() >= next_line, "{} {chunk:?}", path.display());
            check_wordless(&path, &text, next_line..*chunk.lines.start());
            assert!(
                chunk.lines.end() - chunk.lines.start() < 200,
                "{} {chunk:?}",
                path.display()
            );
            next_line = chunk.lines.end() + 1;
        }
        check_wordless(&path, &text, next_line..text.lines().count() + 1);
        *file_count += 1;
    }
}

/// Fails if one of these lines has a word. `#endif` and `end` only close something.
fn check_wordless(path: &Path, text: &str, lines: Range<usize>) {
    for (number, line) in (1..).zip(text.lines()).skip(lines.start - 1).take(lines.len()) {
        assert!(
            !line.contains(char::is_alphanumeric) || line.split_whitespace().count() == 1,
            "{}:{number} is in no chunk: {line}",
            path.display()
        );
    }
}
