//! Manifests: how the pages below a directory are cut, and what they are labelled with.
//!
//! The nearest manifest governs a page alone; manifests are not merged. Inside one, the last override that matches decides how
//! the page is cut, and labels add up in order.
//!
//! A manifest that cannot be read governs nothing: its pages are treated as if no manifest were there, and the problem is told.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use super::Problem;
use crate::glob::is_reasonable;
use crate::path::RepoPath;
use crate::text::reveal::reveal;

/// The name of a manifest's file.
pub const FILE: &str = ".docs-mcp.json";

/// A manifest that was read.
#[derive(Clone, Debug, Default)]
pub struct DocsManifest {
    pub strategy: Option<Strategy>,
    pub metadata: Labels,
    pub taxonomy: BTreeMap<String, Facet>,
    pub instructions: Option<String>,
    overrides: Vec<Override>,
    /// Of the overrides, in their order.
    patterns: GlobSet,
}

/// Labels of a page: `language` is `go`.
pub type Labels = BTreeMap<String, String>;

/// How a page is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strategy {
    pub by: HeadingLevel,
    /// Characters of the longest section that is not cut further.
    pub most: usize,
    /// Parts of a section with fewer characters are put to the part before.
    pub least: usize,
}

/// The headings at which a page is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadingLevel {
    H1,
    H2,
    H3,
    /// None: the page is one section.
    File,
}

/// What is said about a label as such.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Facet {
    pub description: Option<String>,
    /// Pages that differ in nothing but this label are shown once.
    #[serde(default)]
    pub vector_collapse: bool,
    /// What is said about single values; read, so that a mistake in it is found, and not used.
    #[serde(default)]
    pub properties: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

#[derive(Clone, Debug)]
struct Override {
    strategy: Option<Strategy>,
    metadata: Labels,
}

/// How one page is treated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRules {
    pub strategy: Strategy,
    pub labels: Labels,
}

/// Labels beyond this are no labels.
pub const MAX_LABEL_KEYS: usize = 64;
pub const MAX_LABEL_VALUES: usize = 512;
const MAX_KEY_CHARS: usize = 64;
const MAX_VALUE_CHARS: usize = 128;

/// Overrides of one manifest.
const MAX_OVERRIDES: usize = 1_000;

impl Default for Strategy {
    fn default() -> Self {
        Self {
            by: HeadingLevel::H2,
            most: 20_000,
            least: 0,
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

/// A strategy as it is written, in a manifest or in a page.
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
    /// Reads a manifest, or says what is wrong with it and where.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let written: WrittenManifest =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                Problem::new(error.line().max(1), message)
            })?;
        let wrong = |what: &str, message: String| Problem::new(line_of(text, what), message);
        if written.version != "1" {
            return Err(wrong(
                "version",
                format!("version must be \"1\", not {}", brief(&written.version)),
            ));
        }
        if written.overrides.len() > MAX_OVERRIDES {
            return Err(wrong("overrides", format!("more than {MAX_OVERRIDES} overrides")));
        }
        let all = written.overrides.iter().map(|one| &one.metadata);
        for labels in all.chain([&written.metadata]) {
            if let Err(message) = check_labels(labels) {
                return Err(wrong("metadata", message));
            }
        }
        let strategy = |written: Option<WrittenStrategy>| {
            let Some(written) = written else { return Ok(None) };
            written.check().map_err(|message| wrong("chunk_by", message))?;
            Ok(Some(written.over(Strategy::default())))
        };
        let mut overrides = Vec::new();
        let mut patterns = GlobSetBuilder::new();
        for one in written.overrides {
            let glob = GlobBuilder::new(&one.pattern).literal_separator(true).build();
            let Some(glob) = glob.ok().filter(|_| is_reasonable(&one.pattern)) else {
                return Err(wrong(
                    &one.pattern,
                    format!("{} is no pattern of file names", brief(&one.pattern)),
                ));
            };
            patterns.add(glob);
            overrides.push(Override {
                strategy: strategy(one.strategy)?,
                metadata: trimmed(one.metadata),
            });
        }
        Ok(Self {
            strategy: strategy(written.strategy)?,
            metadata: trimmed(written.metadata),
            taxonomy: written.taxonomy,
            instructions: written.instructions.filter(|text| !text.trim().is_empty()),
            overrides,
            patterns: patterns
                .build()
                .map_err(|error| wrong("overrides", error.to_string()))?,
        })
    }

    /// How a page is treated; `below` is its path from the manifest's directory.
    pub fn rules(&self, below: &str) -> PageRules {
        let mut rules = PageRules {
            strategy: self.strategy.unwrap_or_default(),
            labels: self.metadata.clone(),
        };
        for at in self.patterns.matches(below) {
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
    pub(super) fn by(level: HeadingLevel) -> Self {
        Self {
            chunk_by: level,
            max_chunk_size: None,
            min_chunk_size: None,
        }
    }

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

    /// What is said here, and for the rest what was said before.
    pub(super) fn over(self, before: Strategy) -> Strategy {
        Strategy {
            by: self.chunk_by,
            most: self.max_chunk_size.unwrap_or(before.most),
            least: self.min_chunk_size.unwrap_or(before.least),
        }
    }
}

/// Says what is wrong with labels.
pub(super) fn check_labels(labels: &Labels) -> Result<(), String> {
    if labels.len() > MAX_LABEL_KEYS {
        return Err(format!("more than {MAX_LABEL_KEYS} keys of metadata"));
    }
    for (key, value) in labels {
        if key.trim().is_empty() || value.trim().is_empty() {
            return Err(format!("metadata {key:?} is empty"));
        }
        if RESERVED.contains(&key.trim()) {
            return Err(format!(
                "metadata {key:?} has the name of an argument of search_docs"
            ));
        }
        // A key is the name of an argument, and models take no others.
        let is_name = |key: &str| {
            key.chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        };
        if !is_name(key.trim()) || key.len() > MAX_KEY_CHARS {
            return Err(format!(
                "metadata {}: a key has at most {MAX_KEY_CHARS} letters, digits, `_`, `.` and `-`",
                brief(key)
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

/// Enough of a text to know it by, as it is repeated in a message.
pub(super) fn brief(text: &str) -> String {
    const MOST: usize = 80;
    let shown: String = text.chars().take(MOST).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{:?}{more}", reveal(&shown))
}

/// Arguments that a label would hide.
const RESERVED: [&str; 3] = ["query", "limit", "cursor"];

pub(super) fn trimmed(labels: Labels) -> Labels {
    let trim = |(key, value): (String, String)| (key.trim().to_owned(), value.trim().to_owned());
    labels.into_iter().map(trim).collect()
}

/// Keys that mean nothing in a manifest, for who wonders why they do nothing.
pub fn strays(text: &str) -> Vec<Problem> {
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
    let strays = written.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    strays
        .map(|key| {
            Problem::new(
                line_of(text, &format!("{key:?}")),
                format!("{} means nothing here", brief(key)),
            )
        })
        .collect()
}

/// The directory that the manifest nearest to a page is in, of those there are; `""` is the root.
pub fn nearest(page: &RepoPath, mut is_there: impl FnMut(&str) -> bool) -> Option<&str> {
    let mut rest = page.as_str();
    while let Some((directory, _)) = rest.rsplit_once('/') {
        if is_there(directory) {
            return Some(directory);
        }
        rest = directory;
    }
    is_there("").then_some("")
}

/// The line that first holds a text.
fn line_of(text: &str, what: &str) -> usize {
    let at = text.find(what).unwrap_or_default();
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

    fn rules(below: &str) -> PageRules {
        DocsManifest::parse(FULL).unwrap().rules(below)
    }

    fn problem(text: &str) -> String {
        let problem = DocsManifest::parse(text).unwrap_err();
        format!("{}: {}", problem.line, problem.message)
    }

    #[test]
    fn the_last_match_decides_how_to_cut_and_labels_add_up() {
        assert_eq!(rules("a.md").strategy.by, HeadingLevel::H3);
        assert_eq!(rules("models/a.md").strategy.by, HeadingLevel::File);
        assert_eq!(rules("models/a.md").strategy.most, 20_000);
        let deep = rules("models/deep/a.md");
        assert_eq!(deep.strategy.by, HeadingLevel::File);
        let labels = deep.labels.iter().map(|(key, value)| format!("{key}={value}"));
        assert_eq!(labels.collect::<Vec<_>>(), ["language=Go", "scope=deep"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
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
    fn keys_that_mean_nothing_are_told() {
        let told = strays("{\"version\": \"1\",\n\"instructions\": 1}");
        assert_eq!(told, [Problem::new(2, "\"instructions\" means nothing here")]);
        assert!(strays(FULL).is_empty());
    }

    #[test]
    fn the_nearest_manifest_governs() {
        let page = RepoPath::parse("docs/sdk/go/auth.md").unwrap();
        assert_eq!(
            nearest(&page, |directory| ["docs", ""].contains(&directory)),
            Some("docs")
        );
        assert_eq!(nearest(&page, str::is_empty), Some(""));
        assert_eq!(nearest(&page, |_| false), None);
    }
}
