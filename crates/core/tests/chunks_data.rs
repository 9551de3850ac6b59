//! Chunks of documents, data and pages with script, and what holds for every real file at hand.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests set their own scene and fail loudly"
)]

mod fixture;

use std::fs;
use std::path::Path;

use docent_core::chunk;
use fixture::{chunks, language};
use insta::assert_snapshot;

#[test]
fn html() {
    assert_snapshot!(chunks("page.html"), @"
    1-1 block
    2-11 block html, head, title, link, body, header, h1, main
    12-22 block section, section
    23-27 block script
    ");
}

#[test]
fn css() {
    assert_snapshot!(chunks("style.css"), @"
    1-1 block
    2-5 block :root
    6-18 block .shelf
    19-23 block @media (max-width: 40rem)
    ");
}

#[test]
fn json() {
    assert_snapshot!(chunks("package.json"), @"
    1-1 block
    2-3 block name, version
    4-15 block scripts
    16-19 block dependencies
    ");
}

#[test]
fn yaml() {
    assert_snapshot!(chunks("ci.yaml"), @"
    1-1 block
    2-7 block name, on, permissions
    8-20 block jobs
    ");
}

#[test]
fn toml() {
    assert_snapshot!(chunks("settings.toml"), @"
    1-2 block
    3-10 block loans, fines
    11-24 block branches.centre
    ");
}

#[test]
fn sql() {
    assert_snapshot!(chunks("schema.sql"), @"
    1-1 block
    2-7 block CREATE TABLE members
    8-19 block CREATE TABLE loans
    20-23 block CREATE VIEW overdue AS
    ");
}

#[test]
fn markdown() {
    assert_snapshot!(chunks("guide.md"), @"
    1-4 block Lending
    5-13 block Lending > Loans
    14-17 block Lending > Loans > Renewing
    18-20 block Lending > Fines
    ");
}

#[test]
fn vue() {
    assert_snapshot!(chunks("Shelf.vue"), @"
    1-12 module
    13-17 function title | function title(book: Book): string // What stands on the spine.
    18-20 function add | add = (book: Book) =>
    21-27 block
    ");
}

#[test]
fn svelte() {
    assert_snapshot!(chunks("Counter.svelte"), @"
    1-5 module
    6-8 function enter | function enter(): void
    9-21 block
    ");
}

/// Every text of this repository: its sources, fixtures, queries, documents and settings.
#[test]
fn chunks_of_real_files_cover_them() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for directory in ["crates", "docs", "scripts", "bench", "eval"] {
        cover(&repository.join(directory), &mut seen);
    }
    assert!(seen > 200, "{seen}");
}

fn cover(directory: &Path, seen: &mut usize) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            cover(&path, seen);
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let name = path.file_name().unwrap().to_str().unwrap();
        let chunked = chunk::chunk(language(name, &text), &text);
        let mut next = 1;
        for chunk in &chunked.chunks {
            assert_eq!(*chunk.lines.start(), next, "{}", path.display());
            assert!(
                chunk.lines.end() - chunk.lines.start() < 200,
                "{} {chunk:?}",
                path.display()
            );
            next = chunk.lines.end() + 1;
        }
        assert_eq!(next - 1, text.lines().count(), "{}", path.display());
        *seen += 1;
    }
}
