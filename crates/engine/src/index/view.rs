//! The documentation as searches and clients see it: labels, templates and problems, for one state of the
//! pages.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docent_core::docs::manifest::Labels;
use docent_core::docs::taxonomy::{LabelKey, Taxonomy};
use docent_core::path::RepoPath;
use xxhash_rust::xxh3::Xxh3;

use super::disk::IndexedFile;
use super::scan::{DocsFiles, directory_of};
use crate::store::Label;

/// The documentation at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Hash of the indexed pages: another state of the pages has another.
    pub generation: u64,
    pub taxonomy: Taxonomy,
    pub templates: Vec<RepoPath>,
    pub pages: usize,
    /// Problems in manifests, each with its file and line.
    pub problems: Vec<String>,
    /// Pages without labels are filtered by directory instead. This is the common parent of those
    /// directories.
    above: Option<String>,
}

/// The key of the filter by directory, for documentation without labels.
const SECTION: &str = "section";

/// With fewer directories there is nothing to choose, and with more the list is too long to help.
const MIN_DIRECTORIES: usize = 2;
const MAX_DIRECTORIES: usize = 40;

impl View {
    pub(super) fn new(docs: &DocsFiles, indexed: &BTreeMap<RepoPath, IndexedFile>) -> Self {
        let mut generation = Xxh3::new();
        let mut read: HashMap<&str, Labels> = HashMap::new();
        for (path, row) in indexed {
            generation.update(path.as_str().as_bytes());
            generation.update(&row.hash.to_le_bytes());
            generation.update(&row.rules.to_le_bytes());
            if !row.labels.is_empty() {
                read.entry(&row.labels)
                    .or_insert_with(|| serde_json::from_str(&row.labels).unwrap_or_default());
            }
        }
        let facets = docs.manifests.parsed().flat_map(|manifest| &manifest.taxonomy);
        let mut view = Self {
            generation: generation.digest(),
            taxonomy: Taxonomy::of(read.values(), facets),
            templates: docs.templates.clone(),
            pages: indexed.len(),
            problems: docs
                .manifests
                .problems()
                .map(|(path, problem)| format!("{path}:{}: {}", problem.line, problem.message))
                .collect(),
            above: None,
        };
        if view.taxonomy.keys.is_empty() && view.taxonomy.left_out.is_empty() {
            view.filter_by_directory(indexed.keys());
        }
        view
    }

    fn filter_by_directory<'a>(&mut self, pages: impl Iterator<Item = &'a RepoPath>) {
        let directories: BTreeSet<&str> = pages
            .map(|page| directory_of(page.as_str()))
            .filter(|path| !path.is_empty())
            .collect();
        let (Some(first), Some(last)) = (directories.first(), directories.last()) else {
            return;
        };
        // The list is ordered, so a prefix of the first and the last is a prefix of all.
        let mut shared: Vec<&str> = Vec::new();
        for (one, other) in first.split('/').zip(last.split('/')) {
            if one != other {
                break;
            }
            shared.push(one);
        }
        let above = shared.join("/");
        let values: BTreeSet<String> = directories
            .iter()
            .filter_map(|directory| first_below(directory, &above))
            .map(str::to_owned)
            .collect();
        if (MIN_DIRECTORIES..=MAX_DIRECTORIES).contains(&values.len()) {
            let key = LabelKey {
                description: Some("Only pages below this directory.".into()),
                values,
                collapses: false,
            };
            self.taxonomy.keys.insert(SECTION.to_owned(), key);
            self.above = Some(above);
        }
    }

    /// The labels of a page, as results show them.
    pub fn labels_of(&self, path: &str, labels: &[(String, String)]) -> Labels {
        if let Some(above) = &self.above {
            let section = first_below(directory_of(path), above);
            return section
                .map(|section| (SECTION.to_owned(), section.to_owned()))
                .into_iter()
                .collect();
        }
        let known = labels
            .iter()
            .filter(|(key, _)| self.taxonomy.keys.contains_key(key));
        known.cloned().collect()
    }

    /// The labels that a section must have to pass the filters: at least one of each list.
    pub(crate) fn filters(&self, filters: &Labels) -> Vec<Vec<Label>> {
        let one = |(key, value): (&String, &String)| {
            if let Some(above) = &self.above {
                let below = if above.is_empty() {
                    value.clone()
                } else {
                    format!("{above}/{value}")
                };
                return vec![Label::Directory(below)];
            }
            let label = |key: &str, value: &str| Label::Value {
                key: key.to_owned(),
                value: value.to_owned(),
            };
            let mut any = vec![label(key, value)];
            if key == docent_core::docs::taxonomy::LANGUAGE && self.taxonomy.includes_guides(filters) {
                any.push(Label::ForAll);
            }
            any
        };
        filters.iter().map(one).collect()
    }
}

/// The first component of a directory below `above`.
fn first_below<'a>(directory: &'a str, above: &str) -> Option<&'a str> {
    let below = match above {
        "" => directory,
        _ => directory.strip_prefix(above)?.strip_prefix('/')?,
    };
    below.split('/').next().filter(|part| !part.is_empty())
}
