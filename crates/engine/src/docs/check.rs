//! Checks a project's documentation for mistakes, and proposes a manifest for it.
//!
//! Links between pages are not checked.
//!
//! Invariant: nothing is written here.

use std::collections::BTreeSet;

use docent_core::docs::manifest::{DocsManifest, MANIFEST_FILE, find_unknown_keys};
use docent_core::docs::prompt::prompt_name;
use docent_core::docs::{DocsFileKind, Problem, is_within};
use docent_core::path::RepoPath;

use super::{prompts, read_page};
use crate::deadline::Deadline;
use crate::files::{Root, lossy_text};
use crate::index::{MAX_MANIFEST_BYTES, Manifests};
use crate::walk::{self, WalkExtent};

/// A mistake in a file of the documentation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocsFinding {
    pub path: RepoPath,
    pub line: usize,
    pub message: String,
}

/// A manifest for a project that has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// An existing manifest, which the proposed one would override.
    pub existing: Option<RepoPath>,
    /// The path to write it to.
    pub path: RepoPath,
    pub text: String,
}

/// Checks manifests, templates and pages. Returns the findings and the number of files.
pub fn check(root: &Root, directories: &[RepoPath]) -> (Vec<DocsFinding>, usize) {
    let mut findings: Vec<DocsFinding> = Vec::new();
    let mut add = |path: &RepoPath, problem: Problem| {
        findings.push(DocsFinding {
            path: path.clone(),
            line: problem.line,
            message: problem.message,
        });
    };
    let files = list_documentation(root, directories);
    let mut templates: Vec<RepoPath> = Vec::new();
    let manifests = Manifests::among(root, files.iter().map(|(path, _)| path));
    for (path, kind) in &files {
        match kind {
            DocsFileKind::Manifest => match root.read(path, MAX_MANIFEST_BYTES) {
                Err(error) => add(path, Problem::at_top(error.to_string())),
                Ok(content) => {
                    let text = lossy_text(content.bytes);
                    match DocsManifest::parse(&text) {
                        Err(problem) => add(path, problem),
                        Ok(_) => find_unknown_keys(&text)
                            .into_iter()
                            .for_each(|problem| add(path, problem)),
                    }
                }
            },
            DocsFileKind::Template => templates.push(path.clone()),
            DocsFileKind::Page => match read_page(root, path, manifests.rules(path)) {
                Err(error) => add(path, Problem::at_top(error.to_string())),
                Ok((page, _)) => page.problems.into_iter().for_each(|problem| add(path, problem)),
            },
        }
    }
    for (path, problem) in prompts(root, &templates).problems {
        add(&path, problem);
    }
    for pair in templates.windows(2) {
        if prompt_name(pair[0].as_str()) == prompt_name(pair[1].as_str()) {
            add(
                &pair[0],
                Problem::at_top(format!("{} has the same name, and counts", pair[1])),
            );
        }
    }
    findings.sort();
    (findings, files.len())
}

/// Proposes a manifest that labels the pages of each directory below the documentation with its name. `None`
/// if there are no pages.
pub fn propose(root: &Root, directories: &[RepoPath]) -> Option<Proposal> {
    let files = list_documentation(root, directories);
    let existing = files.iter().find(|(_, kind)| *kind == DocsFileKind::Manifest);
    let pages: Vec<&RepoPath> = files
        .iter()
        .filter(|(_, kind)| *kind == DocsFileKind::Page)
        .map(|(path, _)| path)
        .collect();
    let usual_homes = ["docs", "doc", "documentation"];
    let home = directories
        .first()
        .map(RepoPath::as_str)
        .or_else(|| {
            let is_used = |home: &&&str| {
                pages
                    .iter()
                    .any(|page| page.as_str().starts_with(&format!("{home}/")))
            };
            usual_homes.iter().find(is_used).copied()
        })
        .unwrap_or_default();
    let below: Vec<&str> = pages
        .iter()
        .filter_map(|page| match home {
            "" => Some(page.as_str()),
            _ => page.as_str().strip_prefix(home)?.strip_prefix('/'),
        })
        .collect();
    if below.is_empty() {
        return None;
    }
    let folders: BTreeSet<&str> = below
        .iter()
        .filter_map(|page| Some(page.split_once('/')?.0))
        .filter(|folder| !folder.starts_with('.'))
        .collect();
    let overrides: Vec<serde_json::Value> = folders
        .iter()
        .map(|folder| {
            serde_json::json!({ "pattern": format!("{}/**", globset::escape(folder)), "metadata": { "section": folder } })
        })
        .collect();
    let mut manifest = serde_json::Map::new();
    manifest.insert("version".into(), "1".into());
    manifest.insert("strategy".into(), serde_json::json!({ "chunk_by": "h2" }));
    if overrides.len() > 1 {
        manifest.insert(
            "taxonomy".into(),
            serde_json::json!({ "section": { "description": "Part of the documentation." } }),
        );
        manifest.insert("overrides".into(), overrides.into());
    }
    let path = if home.is_empty() {
        MANIFEST_FILE.to_owned()
    } else {
        format!("{home}/{MANIFEST_FILE}")
    };
    Some(Proposal {
        existing: existing.map(|(path, _)| path.clone()),
        path: RepoPath::parse(&path).ok()?,
        text: format!("{}\n", serde_json::to_string_pretty(&manifest).ok()?),
    })
}

/// The files of the documentation, in order.
fn list_documentation(root: &Root, directories: &[RepoPath]) -> Vec<(RepoPath, DocsFileKind)> {
    let survey = walk::survey(root, &WalkExtent::Everything, &Deadline::default());
    let files = survey.files.into_iter().filter_map(|(path, _)| {
        let kind = DocsFileKind::of(&path)?;
        (kind == DocsFileKind::Manifest || is_within(&path, directories)).then_some((path, kind))
    });
    files.collect()
}
