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

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // Fixtures are other people's code, as it were.
        if path.ends_with("fixtures") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    sources(&repository().join("crates"), &mut found);
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
fn the_documents_readers_start_from_are_there_and_their_links_lead_somewhere() {
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/architecture.md",
        "docs/behaviour.md",
    ] {
        let path = repository().join(page);
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
