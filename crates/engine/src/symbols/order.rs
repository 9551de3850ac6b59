//! The order of definitions with the same name: the one that a reader looks for first.
//!
//! Invariant: the order is total and depends only on what is stored of the definitions.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_core::symbols::SymbolKind;

use super::NameMatch;
use super::candidate::SymbolCandidate;

/// Directories of other projects' code, and of code that a program wrote.
const FOREIGN_DIRECTORIES: [&str; 8] = [
    "vendor",
    "vendored",
    "node_modules",
    "third_party",
    "thirdparty",
    "third-party",
    "generated",
    "__generated__",
];

/// Directories of code that shows how the project is used.
const EXAMPLE_DIRECTORIES: [&str; 6] = ["example", "examples", "sample", "samples", "demo", "demos"];

/// A module of at most so many lines only declares that it exists.
const MAX_BARE_MODULE_LINES: u32 = 2;

/// Sorts candidates, the best first.
pub(super) fn sort_candidates(candidates: &mut Vec<SymbolCandidate>) {
    let reopened = reopened_modules(candidates);
    let mut keyed: Vec<(Rank, SymbolCandidate)> = candidates
        .drain(..)
        .map(|candidate| (rank(&candidate, &reopened), candidate))
        .collect();
    keyed.sort_by(|(a, left), (b, right)| {
        a.cmp(b)
            .then_with(|| left.path.cmp(&right.path))
            .then_with(|| compare_positions(left, right))
    });
    candidates.extend(keyed.into_iter().map(|(_, candidate)| candidate));
}

fn compare_positions(left: &SymbolCandidate, right: &SymbolCandidate) -> Ordering {
    let position = |candidate: &SymbolCandidate| (candidate.definition.name_at, candidate.id);
    position(left).cmp(&position(right))
}

/// The signals of a candidate, the most important first. The lowest rank is the best.
type Rank = (NameMatch, [bool; 4], u8, [bool; 2]);

fn rank(candidate: &SymbolCandidate, reopened: &HashSet<String>) -> Rank {
    let definition = &candidate.definition;
    let kind = definition.kind;
    let is_function = matches!(kind, SymbolKind::Function | SymbolKind::Method);
    let is_reopened = candidate.is_reopened
        || kind == SymbolKind::Module && (is_bare(candidate) || reopened.contains(&candidate.full_name()));
    let is_declaration = !definition.has_body && (is_function || kind.is_container());
    let kind_order = match kind {
        SymbolKind::Field => 2,
        SymbolKind::Constant | SymbolKind::Variable => 1,
        _ => 0,
    };
    // Of several parts of a type or module, the documented one, and the one in the file of its name.
    let lacks_doc = kind.is_container() && definition.doc.start == definition.doc.end;
    let is_in_other_file = kind.is_container() && !is_named_like_file(candidate);
    (
        candidate.matched,
        [
            is_foreign(&candidate.path),
            is_reopened,
            is_aside(candidate),
            is_declaration,
        ],
        kind_order,
        [lacks_doc, is_in_other_file],
    )
}

/// Modules that are defined in several files.
fn reopened_modules(candidates: &[SymbolCandidate]) -> HashSet<String> {
    let mut files: HashMap<String, HashSet<&str>> = HashMap::new();
    for candidate in candidates {
        if candidate.definition.kind == SymbolKind::Module {
            let paths = files.entry(candidate.full_name()).or_default();
            paths.insert(candidate.path.as_str());
        }
    }
    let several = files.into_iter().filter(|(_, paths)| paths.len() > 1);
    several.map(|(name, _)| name).collect()
}

fn is_bare(candidate: &SymbolCandidate) -> bool {
    let definition = &candidate.definition;
    !definition.has_body
        || definition.last_line - definition.name_at.line.min(definition.last_line) < MAX_BARE_MODULE_LINES
}

fn has_directory(path: &RepoPath, names: &[&str]) -> bool {
    let mut directories = path.components().rev().skip(1);
    directories.any(|name| names.contains(&name.to_ascii_lowercase().as_str()))
}

/// Code of other projects, or written by a program.
fn is_foreign(path: &RepoPath) -> bool {
    let name = path.file_name();
    has_directory(path, &FOREIGN_DIRECTORIES)
        || name.starts_with("zz_generated")
        || [".pb.", ".gen.", "_generated.", ".generated.", "_pb2.", ".g."]
            .iter()
            .any(|mark| name.contains(mark))
}

/// Code of tests, examples and documents.
fn is_aside(candidate: &SymbolCandidate) -> bool {
    let path = &candidate.path;
    matches!(FileRole::of(path), FileRole::Test | FileRole::Docs)
        || has_directory(path, &EXAMPLE_DIRECTORIES)
        || candidate
            .scope
            .split('.')
            .any(|part| matches!(part, "test" | "tests"))
}

/// Whether the file has the name of the definition: `row_cell.rb` for `RowCell`.
fn is_named_like_file(candidate: &SymbolCandidate) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let file = candidate.path.file_name();
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    plain(stem) == plain(&candidate.name)
}
