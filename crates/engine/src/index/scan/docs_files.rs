//! The documentation among a project's files: pages, the manifests that govern them, and templates of
//! prompts.
//!
//! A page is indexed again when it changes, and when the manifest that governs it changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use docent_core::docs::manifest::{DocsManifest, MANIFEST_FILE, PageRules, find_nearest_manifest};
use docent_core::docs::{DocsFileKind, Problem, is_within};
use docent_core::path::RepoPath;

use crate::files::{Root, lossy_text};
use crate::index::content_hash::hash;
use crate::stamp::Stamp;

/// The documentation on disk.
#[derive(Default)]
pub(in crate::index) struct DocsFiles {
    /// Each page with its stamp and the hash of the rules by which it is cut.
    pub(in crate::index) pages: BTreeMap<RepoPath, (Stamp, u64)>,
    pub(in crate::index) templates: Vec<RepoPath>,
    pub(in crate::index) manifests: Arc<Manifests>,
}

/// Manifests, by the directory they are in; `""` is the root.
#[derive(Default)]
pub(crate) struct Manifests(BTreeMap<String, Governing>);

/// A manifest file, whether or not it can be parsed.
#[derive(Clone)]
struct Governing {
    stamp: Stamp,
    hash: u64,
    read: Result<DocsManifest, Problem>,
}

/// Larger manifests are refused.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

impl DocsFiles {
    /// Finds the documentation among the files of a scan. Only pages in `directories` count; all if that is
    /// empty.
    pub(in crate::index) fn refresh(
        &mut self,
        root: &Root,
        files: &BTreeMap<RepoPath, Stamp>,
        directories: &[RepoPath],
    ) {
        let mut found: Vec<(&RepoPath, Stamp)> = Vec::new();
        let mut manifests: BTreeMap<String, Governing> = BTreeMap::new();
        self.templates.clear();
        for (path, stamp) in files {
            let Some(kind) = DocsFileKind::of(path) else {
                continue;
            };
            let counts = is_within(path, directories);
            match kind {
                DocsFileKind::Manifest => {
                    let directory = directory_of(path.as_str()).to_owned();
                    let before = self.manifests.0.get(&directory);
                    let governing = match before.filter(|before| before.stamp == *stamp) {
                        Some(before) => before.clone(),
                        None => Governing::read(root, path, *stamp),
                    };
                    manifests.insert(directory, governing);
                }
                DocsFileKind::Template if counts => self.templates.push(path.clone()),
                DocsFileKind::Page if counts => found.push((path, *stamp)),
                DocsFileKind::Template | DocsFileKind::Page => {}
            }
        }
        self.manifests = Arc::new(Manifests(manifests));
        let mut pages: BTreeMap<RepoPath, (Stamp, u64)> = BTreeMap::new();
        for (path, stamp) in found {
            // An unsettled stamp was recorded when the file was indexed as code. It says nothing about when
            // the page was read, so the page keeps its own.
            let stamp = match self.pages.get(path) {
                Some((before, _)) if stamp.is_unsettled() => *before,
                _ => stamp,
            };
            let rules = self
                .manifests
                .governing(path)
                .map_or(0, |(_, governing)| governing.hash);
            pages.insert(path.clone(), (stamp, rules));
        }
        self.pages = pages;
    }

    /// The same from the files that are indexed, before the first scan. Only manifests and templates are
    /// read; pages come from the index.
    pub(in crate::index) fn restore<'a>(
        &mut self,
        root: &Root,
        files: impl Iterator<Item = &'a RepoPath>,
        directories: &[RepoPath],
    ) {
        let others = files.filter(|path| {
            matches!(
                DocsFileKind::of(path),
                Some(DocsFileKind::Manifest | DocsFileKind::Template)
            )
        });
        let files = others.map(|path| (path.clone(), Stamp::default())).collect();
        self.refresh(root, &files, directories);
    }
}

impl Manifests {
    /// Reads the manifests among files.
    pub(crate) fn among<'a>(root: &Root, files: impl Iterator<Item = &'a RepoPath>) -> Self {
        let manifests = files.filter(|path| DocsFileKind::of(path) == Some(DocsFileKind::Manifest));
        let read = |path: &RepoPath| {
            let governing = Governing::read(root, path, Stamp::default());
            (directory_of(path.as_str()).to_owned(), governing)
        };
        Self(manifests.map(read).collect())
    }

    fn governing<'a>(&'a self, page: &'a RepoPath) -> Option<(&'a str, &'a Governing)> {
        if self.0.is_empty() {
            return None;
        }
        let directory = find_nearest_manifest(page, |directory| self.0.contains_key(directory))?;
        Some((directory, &self.0[directory]))
    }

    /// How a page is cut and labelled.
    pub(crate) fn rules(&self, page: &RepoPath) -> PageRules {
        match self.governing(page) {
            Some((
                directory,
                Governing {
                    read: Ok(manifest), ..
                },
            )) => {
                let below = page.as_str().strip_prefix(directory).unwrap_or(page.as_str());
                manifest.rules(below.trim_start_matches('/'))
            }
            _ => PageRules::default(),
        }
    }

    /// Manifests that could be parsed, in the order of their directories.
    pub(in crate::index) fn parsed(&self) -> impl Iterator<Item = &DocsManifest> {
        self.0.values().filter_map(|one| one.read.as_ref().ok())
    }

    /// The paths of manifests that could not be parsed, each with its problem.
    pub(in crate::index) fn problems(&self) -> impl Iterator<Item = (String, &Problem)> {
        self.0.iter().filter_map(|(directory, one)| {
            let path = if directory.is_empty() {
                MANIFEST_FILE.to_owned()
            } else {
                format!("{directory}/{MANIFEST_FILE}")
            };
            Some((path, one.read.as_ref().err()?))
        })
    }
}

impl Governing {
    fn read(root: &Root, path: &RepoPath, stamp: Stamp) -> Self {
        let content = root
            .read(path, MAX_MANIFEST_BYTES)
            .map_err(|error| Problem::at_top(error.to_string()));
        let text = content.map(|content| lossy_text(content.bytes));
        let (hash, read) = match text {
            Ok(text) => (hash(&format!("{path}\0{text}")), DocsManifest::parse(&text)),
            Err(problem) => (hash(path.as_str()), Err(problem)),
        };
        Self { stamp, hash, read }
    }
}

/// The directory a file is in; `""` is the root.
pub(in crate::index) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
