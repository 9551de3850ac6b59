//! What is wrong with a project's documentation, and a manifest that would suit it.

use std::collections::BTreeSet;

use docent_core::docs::manifest::{DocsManifest, MANIFEST_FILE, find_unknown_keys};
use docent_core::docs::prompt::prompt_name;
use docent_core::docs::{DocsFileKind, Problem, is_within};
use docent_core::path::RepoPath;

use super::{page, prompts};
use crate::deadline::Deadline;
use crate::files::{Root, lossy_text};
use crate::index::{MAX_MANIFEST_BYTES, Manifests};
use crate::walk::{self, WalkExtent};

/// Something that is not as it should be, with the file and the line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocsFinding {
    pub path: RepoPath,
    pub line: usize,
    pub message: String,
}

/// A manifest for a project that has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// A manifest that is there already, which another one would put out of force.
    pub there: Option<RepoPath>,
    /// Where it would be written.
    pub path: RepoPath,
    pub text: String,
}

/// Looks through manifests, templates and pages, and says how many of them there are.
pub fn check(root: &Root, directories: &[RepoPath]) -> (Vec<DocsFinding>, usize) {
    let mut findings: Vec<DocsFinding> = Vec::new();
    let mut add = |path: &RepoPath, problem: Problem| {
        findings.push(DocsFinding {
            path: path.clone(),
            line: problem.line,
            message: problem.message,
        });
    };
    let files = documentation(root, directories);
    let mut templates: Vec<RepoPath> = Vec::new();
    let manifests = Manifests::among(root, files.iter().map(|(path, _)| path));
    for (path, part) in &files {
        match part {
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
            DocsFileKind::Page => match page(root, path, manifests.rules(path)) {
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

/// A manifest that labels the pages of each directory below the documentation by its name. Nothing where there are no pages.
pub fn propose(root: &Root, directories: &[RepoPath]) -> Option<Proposal> {
    let files = documentation(root, directories);
    let there = files.iter().find(|(_, part)| *part == DocsFileKind::Manifest);
    let pages: Vec<&RepoPath> = files
        .iter()
        .filter(|(_, part)| *part == DocsFileKind::Page)
        .map(|(path, _)| path)
        .collect();
    let usual = ["docs", "doc", "documentation"];
    let home = directories
        .first()
        .map(RepoPath::as_str)
        .or_else(|| {
            let is_used = |home: &&&str| {
                pages
                    .iter()
                    .any(|page| page.as_str().starts_with(&format!("{home}/")))
            };
            usual.iter().find(is_used).copied()
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
    let place = if home.is_empty() {
        MANIFEST_FILE.to_owned()
    } else {
        format!("{home}/{MANIFEST_FILE}")
    };
    Some(Proposal {
        there: there.map(|(path, _)| path.clone()),
        path: RepoPath::parse(&place).ok()?,
        text: format!("{}\n", serde_json::to_string_pretty(&manifest).ok()?),
    })
}

/// The files that make the documentation, in order.
fn documentation(root: &Root, directories: &[RepoPath]) -> Vec<(RepoPath, DocsFileKind)> {
    let survey = walk::survey(root, &WalkExtent::Everything, &Deadline::default());
    let parts = survey.files.into_iter().filter_map(|(path, _)| {
        let part = DocsFileKind::of(&path)?;
        (part == DocsFileKind::Manifest || is_within(&path, directories)).then_some((path, part))
    });
    parts.collect()
}
