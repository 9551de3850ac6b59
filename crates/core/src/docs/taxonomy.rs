//! The taxonomy: all labels of the documentation, and the rules by which filters use them.
//!
//! Values are compared as written. No value means "any": a caller leaves the filter out instead.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{Facet, Labels, MAX_LABEL_KEYS, MAX_LABEL_VALUES};

/// Every label key with its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taxonomy {
    pub keys: BTreeMap<String, LabelKey>,
    /// Why keys are missing here: too many values, or beyond the allowed number of keys.
    pub left_out: Vec<String>,
}

/// A label key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelKey {
    pub description: Option<String>,
    pub values: BTreeSet<String>,
    /// Pages that differ only in this key are shown once.
    pub collapses: bool,
}

impl Taxonomy {
    /// Collects the labels of all pages; `facets` are the settings that manifests have for keys.
    pub fn of<'a>(
        labels: impl Iterator<Item = &'a Labels>,
        facets: impl Iterator<Item = (&'a String, &'a Facet)>,
    ) -> Self {
        let mut keys: BTreeMap<String, LabelKey> = BTreeMap::new();
        for labels in labels {
            for (key, value) in labels {
                if let Some(known) = keys.get_mut(key) {
                    if !known.values.contains(value) {
                        known.values.insert(value.clone());
                    }
                } else {
                    let key = keys.entry(key.clone()).or_default();
                    key.values.insert(value.clone());
                }
            }
        }
        for (name, facet) in facets {
            if let Some(key) = keys.get_mut(name.trim()) {
                key.collapses |= facet.vector_collapse;
                if key.description.is_none() {
                    key.description.clone_from(&facet.description);
                }
            }
        }
        let mut left_out: Vec<String> = Vec::new();
        keys.retain(|name, key| {
            let few = key.values.len() <= MAX_LABEL_VALUES;
            if !few {
                left_out.push(format!(
                    "{name} has {} values, more than {MAX_LABEL_VALUES}",
                    key.values.len()
                ));
            }
            few
        });
        while keys.len() > MAX_LABEL_KEYS
            && let Some((name, _)) = keys.pop_last()
        {
            left_out.push(format!("{name} is beyond the first {MAX_LABEL_KEYS} keys"));
        }
        Self { keys, left_out }
    }

    /// True if a filter by language should also find the guides that apply to all languages.
    pub fn includes_guides(&self, filters: &Labels) -> bool {
        filters.contains_key(LANGUAGE) && !filters.contains_key(SCOPE) && self.keys.contains_key(SCOPE)
    }

    /// The keys by which sibling pages are collapsed: those without a filter.
    pub fn collapsing_keys<'a>(&'a self, filters: &'a Labels) -> impl Iterator<Item = &'a str> {
        let keys = self
            .keys
            .iter()
            .filter(|(name, key)| key.collapses && !filters.contains_key(*name));
        keys.map(|(name, _)| name.as_str())
    }
}

pub const LANGUAGE: &str = "language";
const SCOPE: &str = "scope";

/// Values of the scope: pages for every language, and pages for one.
const GLOBAL_GUIDE: &str = "global-guide";
const SDK_SPECIFIC: &str = "sdk-specific";

/// True for a global guide, and for a page without a language that is not specific to one.
pub fn applies_to_all_languages(labels: &Labels) -> bool {
    match labels.get(SCOPE).map(String::as_str) {
        Some(GLOBAL_GUIDE) => true,
        Some(SDK_SPECIFIC) => false,
        _ => !labels.contains_key(LANGUAGE),
    }
}

/// A key that sibling sections share: the path with `*` for the values they differ in, and the section name
/// without its outermost heading. `None` for a page without siblings.
pub fn sibling_key<'a>(
    path: &str,
    name: &str,
    labels: &Labels,
    keys: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let mut differs = false;
    for key in keys {
        let value = labels.get(key)?;
        if let Some(part) = parts.iter_mut().find(|part| *part == value) {
            *part = "*";
            differs = true;
        }
    }
    // The outermost heading often names the value: "Go SDK".
    let inner = name.split_once('/').map_or(name, |(_, inner)| inner);
    differs.then(|| format!("{}#{inner}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn values_keep_their_case_and_are_listed_once() {
        let pages = [
            labels(&[("language", "TypeScript"), ("scope", "sdk-specific")]),
            labels(&[("language", "Go")]),
            labels(&[("language", "Go")]),
        ];
        let facet = Facet {
            description: Some("Which SDK.".into()),
            vector_collapse: true,
            ..Facet::default()
        };
        let facets = [
            ("language".to_owned(), facet),
            ("absent".to_owned(), Facet::default()),
        ];
        let taxonomy = Taxonomy::of(pages.iter(), facets.iter().map(|(name, facet)| (name, facet)));
        let values: Vec<&String> = taxonomy.keys["language"].values.iter().collect();
        assert_eq!(values, ["Go", "TypeScript"]);
        assert_eq!(
            taxonomy.keys["language"].description.as_deref(),
            Some("Which SDK.")
        );
        assert_eq!(taxonomy.keys.len(), 2);
        assert_eq!(
            taxonomy.collapsing_keys(&Labels::new()).collect::<Vec<_>>(),
            ["language"]
        );
        assert_eq!(
            taxonomy.collapsing_keys(&labels(&[("language", "Go")])).count(),
            0
        );
    }

    #[test]
    fn a_key_with_too_many_values_is_left_out_and_reported() {
        let pages: Vec<Labels> = (0..10_000).map(|at| labels(&[("id", &at.to_string())])).collect();
        let taxonomy = Taxonomy::of(pages.iter(), [].into_iter());
        assert!(taxonomy.keys.is_empty());
        assert_eq!(taxonomy.left_out, ["id has 10000 values, more than 512"]);
    }

    #[test]
    fn a_language_filter_includes_guides_unless_a_scope_is_given() {
        let pages = [
            labels(&[("language", "go"), ("scope", "sdk-specific")]),
            labels(&[("scope", "global-guide")]),
            labels(&[("language", "python")]),
            labels(&[]),
        ];
        let taxonomy = Taxonomy::of(pages.iter(), [].into_iter());
        assert!(taxonomy.includes_guides(&labels(&[("language", "go")])));
        assert!(!taxonomy.includes_guides(&labels(&[("language", "go"), ("scope", "sdk-specific")])));
        assert!(!taxonomy.includes_guides(&labels(&[("scope", "global-guide")])));
        assert_eq!(
            pages.iter().map(applies_to_all_languages).collect::<Vec<_>>(),
            [false, true, false, true]
        );
        let plain = Taxonomy::of(pages[2..].iter(), [].into_iter());
        assert!(!plain.includes_guides(&labels(&[("language", "python")])));
    }

    #[test]
    fn siblings_share_a_key() {
        let key = |path: &str, name: &str, language: &str| {
            sibling_key(
                path,
                name,
                &labels(&[("language", language)]),
                ["language"].into_iter(),
            )
        };
        let go = key("sdks/go/auth.md", "go-sdk/retries", "go");
        assert_eq!(go.as_deref(), Some("sdks/*/auth.md#retries"));
        assert_eq!(go, key("sdks/python/auth.md", "python-sdk/retries", "python"));
        assert_ne!(go, key("sdks/python/auth.md", "python-sdk/other", "python"));
        assert_eq!(key("guides/auth.md", "x", "go"), None);
    }
}
