//! Manifests: how the pages below a directory are cut and labelled.
//!
//! The nearest manifest alone governs a page; manifests are not merged. Inside a manifest, the last matching
//! override decides how the page is cut, and the labels of all matching ones add up in order.
//!
//! Invariant: an invalid manifest governs nothing. Its pages are treated as if it did not exist, and the
//! problem is reported.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use super::Problem;
use crate::glob::is_reasonable;
use crate::path::RepoPath;
use crate::text::reveal::reveal;

/// File name of a manifest.
pub const MANIFEST_FILE: &str = ".docs-mcp.json";

/// A valid manifest.
#[derive(Clone, Debug, Default)]
pub struct DocsManifest {
    pub strategy: Option<Strategy>,
    pub metadata: Labels,
    pub taxonomy: BTreeMap<String, Facet>,
    pub instructions: Option<String>,
    overrides: Vec<Override>,
    /// Patterns of the overrides, in the same order.
    patterns: GlobSet,
}

/// Labels of a page by key: `language` is `go`.
pub type Labels = BTreeMap<String, String>;

/// How a page is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strategy {
    pub level: HeadingLevel,
    /// Sections with more characters are cut further.
    pub max_chars: usize,
    /// Parts of a section with fewer characters are joined with the part before.
    pub min_chars: usize,
}

/// The headings at which a page is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadingLevel {
    H1,
    H2,
    H3,
    /// No heading: the page is one section.
    File,
}

/// Settings of a label key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Facet {
    pub description: Option<String>,
    /// Pages that differ only in this label are shown once.
    #[serde(default)]
    pub vector_collapse: bool,
    /// Settings of single values. Unused, but parsed so that mistakes are found.
    #[serde(default)]
    pub properties: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

#[derive(Clone, Debug)]
struct Override {
    strategy: Option<Strategy>,
    metadata: Labels,
}

/// How one page is cut and labelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRules {
    pub strategy: Strategy,
    pub labels: Labels,
}

/// Limits for labels: keys, values per key, and characters of each.
pub const MAX_LABEL_KEYS: usize = 64;
pub const MAX_LABEL_VALUES: usize = 512;
const MAX_KEY_CHARS: usize = 64;
const MAX_VALUE_CHARS: usize = 128;

/// Overrides in one manifest.
const MAX_OVERRIDES: usize = 1_000;

impl Default for Strategy {
    fn default() -> Self {
        Self {
            level: HeadingLevel::H2,
            max_chars: 20_000,
            min_chars: 0,
        }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct WrittenManifest {
    version: String,
    strategy: Option<WrittenStrategy>,
    #[serde(default)]
    metadata: Labels,
    #[serde(default)]
    taxonomy: BTreeMap<String, Facet>,
    #[serde(rename = "mcpServerInstructions")]
    instructions: Option<String>,
    #[serde(default)]
    overrides: Vec<WrittenOverride>,
}

/// A strategy as a manifest or a page writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct WrittenStrategy {
    chunk_by: HeadingLevel,
    max_chunk_size: Option<usize>,
    min_chunk_size: Option<usize>,
}

#[derive(Deserialize)]
struct WrittenOverride {
    pattern: String,
    strategy: Option<WrittenStrategy>,
    #[serde(default)]
    metadata: Labels,
}

impl DocsManifest {
    /// Parses a manifest. The error names the mistake and its line.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let written: WrittenManifest =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                Problem::new(error.line().max(1), message)
            })?;
        let problem_at = |key: &str, message: String| Problem::new(find_line(text, key), message);
        if written.version != "1" {
            return Err(problem_at(
                "version",
                format!("version must be \"1\", not {}", quote_brief(&written.version)),
            ));
        }
        if written.overrides.len() > MAX_OVERRIDES {
            return Err(problem_at(
                "overrides",
                format!("more than {MAX_OVERRIDES} overrides"),
            ));
        }
        let all = written.overrides.iter().map(|one| &one.metadata);
        for labels in all.chain([&written.metadata]) {
            if let Err(message) = check_labels(labels) {
                return Err(problem_at("metadata", message));
            }
        }
        let strategy = |written: Option<WrittenStrategy>| {
            let Some(written) = written else { return Ok(None) };
            written
                .check()
                .map_err(|message| problem_at("chunk_by", message))?;
            Ok(Some(written.apply_to(Strategy::default())))
        };
        let mut overrides = Vec::new();
        let mut patterns = GlobSetBuilder::new();
        for one in written.overrides {
            let glob = GlobBuilder::new(&one.pattern).literal_separator(true).build();
            let Some(glob) = glob.ok().filter(|_| is_reasonable(&one.pattern)) else {
                return Err(problem_at(
                    &one.pattern,
                    format!("{} is no pattern of file names", quote_brief(&one.pattern)),
                ));
            };
            patterns.add(glob);
            overrides.push(Override {
                strategy: strategy(one.strategy)?,
                metadata: trim_labels(one.metadata),
            });
        }
        Ok(Self {
            strategy: strategy(written.strategy)?,
            metadata: trim_labels(written.metadata),
            taxonomy: written.taxonomy,
            instructions: written.instructions.filter(|text| !text.trim().is_empty()),
            overrides,
            patterns: patterns
                .build()
                .map_err(|error| problem_at("overrides", error.to_string()))?,
        })
    }

    /// The rules for a page; `path` is relative to the manifest's directory.
    pub fn rules(&self, path: &str) -> PageRules {
        let mut rules = PageRules {
            strategy: self.strategy.unwrap_or_default(),
            labels: self.metadata.clone(),
        };
        for at in self.patterns.matches(path) {
            let one = &self.overrides[at];
            if let Some(strategy) = one.strategy {
                rules.strategy = strategy;
            }
            rules.labels.extend(one.metadata.clone());
        }
        rules
    }
}

impl WrittenStrategy {
    pub(super) fn at_level(level: HeadingLevel) -> Self {
        Self {
            chunk_by: level,
            max_chunk_size: None,
            min_chunk_size: None,
        }
    }

    /// The error message is for the author of the page or manifest.
    pub(super) fn check(self) -> Result<(), String> {
        for (name, size) in [
            ("max_chunk_size", self.max_chunk_size),
            ("min_chunk_size", self.min_chunk_size),
        ] {
            if size == Some(0) {
                return Err(format!("{name} must be more than 0"));
            }
        }
        Ok(())
    }

    /// The strategy with the values that are set here.
    pub(super) fn apply_to(self, base: Strategy) -> Strategy {
        Strategy {
            level: self.chunk_by,
            max_chars: self.max_chunk_size.unwrap_or(base.max_chars),
            min_chars: self.min_chunk_size.unwrap_or(base.min_chars),
        }
    }
}

/// Checks labels. The error message is for the author of the page or manifest.
pub(super) fn check_labels(labels: &Labels) -> Result<(), String> {
    if labels.len() > MAX_LABEL_KEYS {
        return Err(format!("more than {MAX_LABEL_KEYS} keys of metadata"));
    }
    for (key, value) in labels {
        if key.trim().is_empty() || value.trim().is_empty() {
            return Err(format!("metadata {key:?} is empty"));
        }
        if RESERVED_KEYS.contains(&key.trim()) {
            return Err(format!(
                "metadata {key:?} has the name of an argument of search_docs"
            ));
        }
        // A key becomes the name of a tool argument, and clients allow no other characters there.
        let is_name = |key: &str| {
            key.chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        };
        if !is_name(key.trim()) || key.len() > MAX_KEY_CHARS {
            return Err(format!(
                "metadata {}: a key has at most {MAX_KEY_CHARS} letters, digits, `_`, `.` and `-`",
                quote_brief(key)
            ));
        }
        if value.chars().count() > MAX_VALUE_CHARS {
            return Err(format!(
                "metadata {key:?} has a value of more than {MAX_VALUE_CHARS} characters"
            ));
        }
        if value.chars().any(char::is_control) || reveal(value) != *value {
            return Err(format!("metadata {key:?} holds a character that cannot be seen"));
        }
    }
    Ok(())
}

/// The beginning of a text in quotes, for a message.
pub(super) fn quote_brief(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 80;
    let shown: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{:?}{more}", reveal(&shown))
}

/// Arguments of `search_docs` that a label would shadow.
const RESERVED_KEYS: [&str; 3] = ["query", "limit", "cursor"];

pub(super) fn trim_labels(labels: Labels) -> Labels {
    let trim = |(key, value): (String, String)| (key.trim().to_owned(), value.trim().to_owned());
    labels.into_iter().map(trim).collect()
}

/// Reports unknown keys of a manifest, which are often typing mistakes.
pub fn find_unknown_keys(text: &str) -> Vec<Problem> {
    const KNOWN: [&str; 7] = [
        "$schema",
        "version",
        "strategy",
        "metadata",
        "taxonomy",
        "mcpServerInstructions",
        "overrides",
    ];
    let Ok(written) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) else {
        return Vec::new();
    };
    let unknown = written.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    unknown
        .map(|key| {
            Problem::new(
                find_line(text, &format!("{key:?}")),
                format!("{} means nothing here", quote_brief(key)),
            )
        })
        .collect()
}

/// The directory of the manifest nearest to a page; `""` is the root. `has_manifest` tells which directories
/// have one.
pub fn find_nearest_manifest(page: &RepoPath, mut has_manifest: impl FnMut(&str) -> bool) -> Option<&str> {
    let mut rest = page.as_str();
    while let Some((directory, _)) = rest.rsplit_once('/') {
        if has_manifest(directory) {
            return Some(directory);
        }
        rest = directory;
    }
    has_manifest("").then_some("")
}

/// Number of the first line that contains `needle`.
fn find_line(text: &str, needle: &str) -> usize {
    let at = text.find(needle).unwrap_or_default();
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{
        "version": "1",
        "strategy": { "chunk_by": "h3", "max_chunk_size": 8000, "min_chunk_size": 200 },
        "metadata": { "language": "Go ", "scope": "sdk-specific" },
        "taxonomy": { "language": { "vector_collapse": true, "properties": { "Go": { "mcp_resource": true } } } },
        "mcpServerInstructions": "About Go.",
        "overrides": [
            { "pattern": "models/**/*.md", "strategy": { "chunk_by": "file" } },
            { "pattern": "models/deep/*.md", "metadata": { "scope": "deep" } }
        ]
    }"#;

    fn rules(path: &str) -> PageRules {
        DocsManifest::parse(FULL).unwrap().rules(path)
    }

    fn problem(text: &str) -> String {
        let problem = DocsManifest::parse(text).unwrap_err();
        format!("{}: {}", problem.line, problem.message)
    }

    #[test]
    fn the_last_override_sets_the_strategy_and_labels_add_up() {
        assert_eq!(rules("a.md").strategy.level, HeadingLevel::H3);
        assert_eq!(rules("models/a.md").strategy.level, HeadingLevel::File);
        assert_eq!(rules("models/a.md").strategy.max_chars, 20_000);
        let deep = rules("models/deep/a.md");
        assert_eq!(deep.strategy.level, HeadingLevel::File);
        let labels = deep.labels.iter().map(|(key, value)| format!("{key}={value}"));
        assert_eq!(labels.collect::<Vec<_>>(), ["language=Go", "scope=deep"]);
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        assert_eq!(problem("{"), "1: EOF while parsing an object");
        assert_eq!(
            problem("{\n  \"version\": \"2\"\n}"),
            "2: version must be \"1\", not \"2\""
        );
        assert_eq!(problem("{}"), "1: missing field `version`");
        assert_eq!(
            problem("{\"version\": \"1\",\n\"strategy\": {\"chunk_by\": \"h9\"}}"),
            "2: unknown variant `h9`, expected one of `h1`, `h2`, `h3`, `file`"
        );
        assert_eq!(
            problem("{\"version\": \"1\",\n\n\"metadata\": {\"a\": 1}}"),
            "3: invalid type: integer `1`, expected a string"
        );
        assert_eq!(
            problem("{\"version\": \"1\", \"metadata\": {\"query\": \"x\"}}"),
            "1: metadata \"query\" has the name of an argument of search_docs"
        );
        assert_eq!(
            problem("{\"version\": \"1\",\n\"overrides\": [{\"pattern\": \"a[\"}]}"),
            "2: \"a[\" is no pattern of file names"
        );
        assert_eq!(
            problem("{\"version\": \"1\", \"strategy\": {\"chunk_by\": \"h1\", \"max_chunk_size\": 0}}"),
            "1: max_chunk_size must be more than 0"
        );
    }

    #[test]
    fn unknown_keys_are_reported() {
        let problems = find_unknown_keys("{\"version\": \"1\",\n\"instructions\": 1}");
        assert_eq!(problems, [Problem::new(2, "\"instructions\" means nothing here")]);
        assert!(find_unknown_keys(FULL).is_empty());
    }

    #[test]
    fn the_nearest_manifest_governs_a_page() {
        let page = RepoPath::parse("docs/sdk/go/auth.md").unwrap();
        assert_eq!(
            find_nearest_manifest(&page, |directory| ["docs", ""].contains(&directory)),
            Some("docs")
        );
        assert_eq!(find_nearest_manifest(&page, str::is_empty), Some(""));
        assert_eq!(find_nearest_manifest(&page, |_| false), None);
    }
}
