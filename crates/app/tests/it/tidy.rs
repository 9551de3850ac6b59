//! Rules of the house that a test can see.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The files below a directory with an extension. Fixtures are code of other projects.
fn collect_files(directory: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("fixtures") {
            continue;
        }
        if path.is_dir() {
            collect_files(&path, extension, files);
        } else if path.extension().is_some_and(|other| other == extension) {
            files.push(path);
        }
    }
}

pub(crate) fn all_sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect_files(&repository().join("crates"), "rs", &mut found);
    assert!(found.len() > 30, "the sources are where they were");
    found.sort();
    let name = |path: &Path| path.strip_prefix(repository()).unwrap().display().to_string();
    found
        .iter()
        .map(|path| (name(path), fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn reference_pages_are_what_the_program_prints() {
    let sandbox = sandbox();
    for page in ["tools", "cli", "config"] {
        let printed = sandbox.run(&["reference", page]).stdout;
        let path = repository().join(format!("docs/{page}.md"));
        if std::env::var_os("DOCENT_UPDATE_DOCS").is_some() {
            fs::write(&path, &printed).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == printed,
            "docs/{page}.md is stale: DOCENT_UPDATE_DOCS=1 cargo test reference_pages"
        );
    }
}

#[test]
fn every_source_file_says_what_it_is_and_stays_readable() {
    for (name, text) in all_sources() {
        assert!(text.starts_with("//!"), "{name} does not open with //!");
        let lines = text.lines().count();
        assert!(lines <= 600, "{name} has {lines} lines; split it");
    }
}

#[test]
fn files_are_named_for_what_they_hold() {
    for (name, _) in all_sources() {
        let stem = Path::new(&name).file_stem().unwrap().to_str().unwrap();
        for vague in [
            "util", "utils", "helper", "helpers", "common", "types", "manager", "misc",
        ] {
            assert_ne!(stem, vague, "{name}");
        }
    }
}

#[test]
fn crates_keep_to_their_side() {
    for (name, text) in all_sources() {
        let without_tests = text.split("#[cfg(test)]").next().unwrap();
        if name.starts_with("crates/core/src") {
            for forbidden in [
                "std::fs",
                "std::net",
                "std::env",
                "std::process",
                "SystemTime",
                "Instant",
                "tokio",
            ] {
                assert!(
                    !without_tests.contains(forbidden),
                    "{name} uses {forbidden}; core computes, it does not touch"
                );
            }
        }
        if name.starts_with("crates/engine/src") {
            for forbidden in ["rmcp", "axum", "clap", "std::env", "println!"] {
                assert!(
                    !without_tests.contains(forbidden),
                    "{name} uses {forbidden}; that is the app's"
                );
            }
        }
    }
}

#[test]
fn the_links_of_all_pages_lead_somewhere() {
    let mut pages: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
        .map(|page| repository().join(page))
        .into();
    collect_files(&repository().join("docs"), "md", &mut pages);
    for path in pages {
        let page = path.display();
        let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{page} is missing"));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !link.contains("://") && !link.starts_with('#') {
                let target = path.parent().unwrap().join(link.split('#').next().unwrap());
                assert!(target.exists(), "{page} links to {link}");
            }
        }
    }
}

#[test]
fn every_page_of_the_documentation_is_in_its_index() {
    let docs = repository().join("docs");
    let index = fs::read_to_string(docs.join("README.md")).unwrap();
    for entry in fs::read_dir(docs).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            Path::new(&name)
                .extension()
                .is_none_or(|extension| extension != "md")
                || name == "README.md"
                || index.contains(&format!("({name})")),
            "docs/README.md does not list {name}"
        );
    }
}

#[test]
fn a_type_name_is_defined_once() {
    // Every tool has arguments, most have an output, and errors are named by their module.
    const SHARED: [&str; 3] = ["Args", "Output", "Error"];
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, text) in all_sources() {
        if name.contains("/tests") || name.contains("/examples/") {
            continue;
        }
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        for line in code {
            let words: Vec<&str> = line.split_whitespace().collect();
            let definition = match words.as_slice() {
                ["struct" | "enum" | "trait", name, ..] => *name,
                [visibility, "struct" | "enum" | "trait", name, ..] if visibility.starts_with("pub") => *name,
                _ => continue,
            };
            let end = definition.find(|c: char| !c.is_alphanumeric());
            let definition = &definition[..end.unwrap_or(definition.len())];
            if !SHARED.contains(&definition) {
                defined
                    .entry(definition.to_owned())
                    .or_default()
                    .push(name.clone());
            }
        }
    }
    assert!(defined.len() > 300, "definitions are written as they were");
    let twice: Vec<_> = defined.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn a_function_fits_on_a_page() {
    const MAX_LINES: usize = 80;
    for (name, text) in all_sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let indent = line.len() - code.len();
            let is_function = code.starts_with("fn ")
                || ((code.starts_with("pub") || code.starts_with("const ")) && code.contains(" fn "));
            if !is_function || code.ends_with('}') {
                continue;
            }
            let closing = format!("{}}}", " ".repeat(indent));
            let length = lines[at..].iter().position(|line| *line == closing).unwrap_or(0) + 1;
            let has_reason = at > 0
                && lines[..at]
                    .iter()
                    .rev()
                    .take(4)
                    .any(|line| line.contains("Long because"));
            assert!(
                length <= MAX_LINES || has_reason,
                "{name}:{}: {length} lines; split the function",
                at + 1
            );
        }
    }
}

#[test]
fn comments_keep_to_their_width() {
    // As rustfmt keeps code.
    const MAX_COLUMNS: usize = 110;
    for (name, text) in all_sources() {
        for (at, line) in text.lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            let is_breakable = line.trim_start().split(' ').nth(2).is_some();
            assert!(
                !is_comment || !is_breakable || line.chars().count() <= MAX_COLUMNS,
                "{name}:{}: the comment is wider than {MAX_COLUMNS} columns",
                at + 1
            );
        }
    }
}

#[test]
fn pages_keep_to_their_width() {
    const MAX_COLUMNS: usize = 120;
    let mut pages = Vec::new();
    for directory in ["docs", "eval", "bench", "fuzz"] {
        collect_files(&repository().join(directory), "md", &mut pages);
    }
    for page in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        pages.push(repository().join(page));
    }
    for path in pages {
        let name = path.strip_prefix(repository()).unwrap().display().to_string();
        // Generated pages are as wide as what they quote. Records of runs and of clients are kept as they
        // were written.
        let is_generated = [
            "docs/tools.md",
            "docs/cli.md",
            "docs/config.md",
            "docs/conformance.md",
        ]
        .contains(&name.as_str());
        if is_generated
            || ["docs/clients/", "bench/runs/"]
                .iter()
                .any(|folder| name.starts_with(folder))
        {
            continue;
        }
        let mut is_code = false;
        for (at, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            // Tables and lines with a link or a long word cannot be broken.
            let is_text = !is_code
                && !line.trim_start().starts_with('|')
                && !line.contains("](")
                && !line.contains("http");
            assert!(
                !is_text || line.chars().count() <= MAX_COLUMNS,
                "{name}:{}: the line is wider than {MAX_COLUMNS} columns",
                at + 1
            );
        }
    }
}

/// Words that have a better one in `docs/glossary.md`, or that hide the subject of a sentence.
const FORBIDDEN_WORDS: [&str; 8] = [
    "anew",
    "whoever",
    "nothing where",
    "is told of",
    "who asks",
    "nearness",
    "the keeper",
    "made known",
];

#[test]
fn the_words_of_the_glossary_are_used() {
    let mut texts: Vec<(String, String)> = all_sources();
    // This list itself.
    texts.retain(|(name, _)| !name.ends_with("/tidy.rs"));
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/architecture.md",
        "docs/behaviour.md",
        "docs/glossary.md",
    ] {
        texts.push((
            page.to_owned(),
            fs::read_to_string(repository().join(page)).unwrap(),
        ));
    }
    for (name, text) in texts {
        for (at, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for forbidden in FORBIDDEN_WORDS {
                let is_word = |start: usize| {
                    let before = line[..start].chars().next_back();
                    let after = line[start + forbidden.len()..].chars().next();
                    [before, after]
                        .into_iter()
                        .flatten()
                        .all(|c| !c.is_alphanumeric())
                };
                let is_used = line.match_indices(forbidden).any(|(start, _)| is_word(start));
                assert!(!is_used, "{name}:{}: says \"{forbidden}\"", at + 1);
            }
        }
    }
}

#[test]
fn databases_are_opened_in_one_place() {
    for (name, text) in all_sources() {
        let code = text.split("#[cfg(test)]").next().unwrap();
        let is_opener = name == "crates/engine/src/sqlite.rs";
        let is_test = name.contains("/tests");
        assert!(
            is_opener || is_test || !code.contains("Connection::open("),
            "{name} opens a database; engine/src/sqlite.rs does that"
        );
    }
}
