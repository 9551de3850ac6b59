//! The documentation among a project's files: pages, the manifests that govern them, and templates.
//!
//! Which of them there are follows from the files; a page is cut anew when it changes, and when what governs it does.

use std::collections::BTreeMap;
use std::sync::Arc;

use docent_core::docs::manifest::{DocsManifest, MANIFEST_FILE, PageRules, find_nearest_manifest};
use docent_core::docs::{DocsFileKind, Problem, is_within};
use docent_core::path::RepoPath;

use super::build::hash;
use crate::files::{Root, lossy_text};
use crate::stamp::Stamp;

/// The documentation as it is now.
#[derive(Default)]
pub(super) struct Pages {
    /// Each page with its stamp, and what tells the rules it is cut by from others.
    pub(super) known: BTreeMap<RepoPath, (Stamp, u64)>,
    pub(super) templates: Vec<RepoPath>,
    pub(super) manifests: Arc<Manifests>,
}

/// Manifests, by the directory they are in; `""` is the root.
#[derive(Default)]
pub(crate) struct Manifests(BTreeMap<String, Governing>);

/// A manifest that is there, whether or not it can be read.
#[derive(Clone)]
struct Governing {
    stamp: Stamp,
    hash: u64,
    read: Result<DocsManifest, Problem>,
}

/// Larger manifests are no manifests.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

impl Pages {
    /// Sorts out the files once more, after something has changed. Only pages in `directories` count; all, where there is none.
    pub(super) fn sort_out(
        &mut self,
        root: &Root,
        files: &BTreeMap<RepoPath, Stamp>,
        directories: &[RepoPath],
    ) {
        let mut found: Vec<(&RepoPath, Stamp)> = Vec::new();
        let mut manifests: BTreeMap<String, Governing> = BTreeMap::new();
        self.templates.clear();
        for (path, stamp) in files {
            let Some(part) = DocsFileKind::of(path) else {
                continue;
            };
            let counts = is_within(path, directories);
            match part {
                DocsFileKind::Manifest => {
                    let directory = directory_of(path.as_str()).to_owned();
                    let known = self.manifests.0.get(&directory);
                    let governing = match known.filter(|known| known.stamp == *stamp) {
                        Some(known) => known.clone(),
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
            // A stamp that was taken within a tick of a change says only when the chunk of the file was read, not the page.
            let stamp = match self.known.get(path) {
                Some((known, _)) if stamp.is_unsettled() => *known,
                _ => stamp,
            };
            let rules = self
                .manifests
                .governing(path)
                .map_or(0, |(_, governing)| governing.hash);
            pages.insert(path.clone(), (stamp, rules));
        }
        self.known = pages;
    }

    /// The same from the files that were there before, whose pages are known: only manifests and templates are found.
    pub(super) fn recall<'a>(
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
        self.sort_out(root, &files, directories);
    }
}

impl Manifests {
    /// Reads those among files.
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

    /// Manifests that were read, in the order of their directories.
    pub(super) fn read(&self) -> impl Iterator<Item = &DocsManifest> {
        self.0.values().filter_map(|one| one.read.as_ref().ok())
    }

    /// Manifests that could not be read, each with what is wrong.
    pub(super) fn problems(&self) -> impl Iterator<Item = (String, &Problem)> {
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
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
