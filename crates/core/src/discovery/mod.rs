//! Discoveries: decisions, rules, patterns and known issues, extracted from texts that a project already has.
//!
//! Each source has an extractor with one promise: rather miss a discovery than report a text that is none. A
//! sentence of a guide counts if it tells people what to do, a commit if it says what was broken or why
//! something was done, a comment if it begins with a mark such as `FIXME`.
//!
//! To add a kind of discovery (beside decision, rule, pattern and issue):
//!
//! 1. Here: a variant of [`DiscoveryKind`], with its place in `ALL` and its name in `name`. The store and the
//!    overview go through `ALL`.
//! 2. In the extractors of this folder that yield it. Each of `memory.rs`, `record.rs`, `guide.rs`,
//!    `comment.rs` and `commit.rs` sets the kind of what it finds.
//! 3. In `app`: the variant of `Type` in `tools/context/search/arguments.rs`, the filter that callers name,
//!    and the reference pages that are generated from it.
//! 4. Also in `app`, the texts that name the kinds: `ABOUT` in `tools/context/search/mod.rs`, `INSTRUCTIONS`
//!    in `mcp/server.rs`. If words of a query ask for the kind: `intent_factor` in
//!    `core/rank/discoveries.rs`.
//! 5. In `engine`: raise `FORMAT_VERSION` in `index/disk/generation.rs`, so that indexes are rebuilt.
//!
//! To add a source: a file here with an extractor, a variant of [`DiscoverySource`], a call in
//! [`extract_from_file`] (or a function like [`extract_from_commit`] for texts outside of files), and its
//! weight in `rank/discoveries.rs` (`score_discovery`).
//!
//! Invariant: discoveries depend on the arguments alone, so that indexing twice gives the same.

mod comment;
mod commit;
mod commit_subject;
mod guide;
mod memory;
mod prose;
mod record;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use commit::{CommitMessage, extract_from_commit};
pub use memory::Origins;

use crate::language::Language;
use crate::memory::MemoryFile;
use crate::module::module_of;
use crate::path::RepoPath;
use crate::role::FileRole;
use crate::text::tokens::words;

/// A decision, rule, pattern or issue, with its source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    pub kind: DiscoveryKind,
    pub source: DiscoverySource,
    /// The heading above it, the title of a record, or the subject of a commit. Empty if there is none.
    pub title: String,
    pub content: String,
    pub module: String,
    /// The session that wrote it, if the entry names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Lines in its file. `None` for a commit, which is in no file.
    pub lines: Option<RangeInclusive<usize>>,
}

/// The kind of a discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiscoveryKind {
    /// A way that things are done in this project.
    #[default]
    Pattern,
    /// An instruction that must be followed.
    Rule,
    /// A choice with its reason.
    Decision,
    /// Something that is or was broken.
    Issue,
}

/// The kind of text that a discovery comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiscoverySource {
    /// An approved entry of the project's memory.
    #[default]
    Memory,
    /// An architecture decision record.
    Record,
    /// A guide for contributors or agents.
    Guide,
    Commit,
    Comment,
}

impl DiscoveryKind {
    pub const ALL: [Self; 4] = [Self::Pattern, Self::Rule, Self::Decision, Self::Issue];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Rule => "rule",
            Self::Decision => "decision",
            Self::Issue => "issue",
        }
    }
}

impl DiscoverySource {
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Record => "record",
            Self::Guide => "guide",
            Self::Commit => "commit",
            Self::Comment => "comment",
        }
    }
}

/// Characters of a discovery's content.
const MAX_DISCOVERY_CHARS: usize = 1_200;

/// Extracts the discoveries of a file.
pub fn extract_from_file(
    path: &RepoPath,
    language: Language,
    text: &str,
    origins: &Origins,
) -> Vec<Discovery> {
    if let Some(file) = MemoryFile::from_path(path.as_str()) {
        return memory::extract(file, text, origins);
    }
    let mut found = if record::is_record(path) {
        Vec::from_iter(record::extract(path, text))
    } else if guide::is_guide(path) {
        guide::extract(text)
    } else if is_own_code(path) {
        comment::extract(language, text)
    } else {
        Vec::new()
    };
    let module = module_of(path);
    for discovery in &mut found {
        if discovery.module.is_empty() {
            module.clone_into(&mut discovery.module);
        }
    }
    found.truncate(MAX_DISCOVERIES_PER_FILE);
    drop_near_duplicates(&mut found);
    found
}

/// True for code that this project's people write, as opposed to vendored code, tests and fixtures.
fn is_own_code(path: &RepoPath) -> bool {
    const FOREIGN_DIRECTORIES: [&str; 7] = [
        "vendor",
        "third_party",
        "thirdparty",
        "external",
        "deps",
        "testdata",
        "fixtures",
    ];
    let is_foreign = |part: &str| {
        FOREIGN_DIRECTORIES
            .iter()
            .any(|other| part.eq_ignore_ascii_case(other))
    };
    matches!(FileRole::of(path), FileRole::Entry | FileRole::Core) && !path.components().any(is_foreign)
}

/// Discoveries of one file. People do not write more. The memory has no limit.
const MAX_DISCOVERIES_PER_FILE: usize = 1_000;

/// Removes each discovery that says almost the same as one before it.
pub fn drop_near_duplicates(found: &mut Vec<Discovery>) {
    // Two texts that share more than four fifths of their words share one of the rarest fifth of each.
    // Comparing only those that do keeps this from being quadratic.
    let words: Vec<DiscoveryWords> = found.iter().map(DiscoveryWords::of).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in words.iter().flat_map(|one| &one.all) {
        *counts.entry(word).or_default() += 1;
    }
    let mut kept_by_word: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut is_kept = Vec::with_capacity(found.len());
    for (at, one) in words.iter().enumerate() {
        let mut rarest: Vec<&str> = one.all.iter().map(String::as_str).collect();
        rarest.sort_unstable_by_key(|word| (counts[word], *word));
        rarest.truncate(rarest.len() / 5 + 1);
        let similar = rarest.iter().filter_map(|word| kept_by_word.get(word));
        let is_new = !similar
            .flat_map(|others| others.iter().rev().take(MAX_COMPARED))
            .any(|other| one.is_near_duplicate_of(&words[*other]));
        if is_new {
            for word in rarest {
                kept_by_word.entry(word).or_default().push(at);
            }
        }
        is_kept.push(is_new);
    }
    let mut is_kept = is_kept.into_iter();
    found.retain(|_| is_kept.next().unwrap_or(true));
}

/// Earlier discoveries with the same rare word that are compared.
const MAX_COMPARED: usize = 50;

/// The words of a discovery, by which near duplicates are found.
#[derive(Clone, Debug)]
pub struct DiscoveryWords {
    kind: DiscoveryKind,
    all: HashSet<String>,
    /// Negations and numbers, which turn a text into its opposite or into something else.
    deciding: BTreeSet<String>,
}

impl DiscoveryWords {
    pub fn of(discovery: &Discovery) -> Self {
        const NEGATIONS: [&str; 14] = [
            "not", "no", "never", "without", "don", "cannot", "avoid", "always", "isn", "doesn", "won",
            "shouldn", "only", "except",
        ];
        let is_deciding = |word: &&str| {
            NEGATIONS
                .iter()
                .any(|negation| word.eq_ignore_ascii_case(negation))
                || word.bytes().any(|byte| byte.is_ascii_digit())
        };
        let plain = discovery.content.split(|c: char| !c.is_alphanumeric());
        Self {
            kind: discovery.kind,
            all: words(&discovery.content).into_iter().collect(),
            deciding: plain.filter(is_deciding).map(str::to_ascii_lowercase).collect(),
        }
    }

    /// True if over four fifths of the words of the longer one are in both, and neither negates the other.
    pub fn is_near_duplicate_of(&self, other: &Self) -> bool {
        let (short, long) = if self.all.len() < other.all.len() {
            (&self.all, &other.all)
        } else {
            (&other.all, &self.all)
        };
        self.kind == other.kind
            && self.deciding == other.deciding
            && short.len() * 5 > long.len() * 4
            && short.intersection(long).count() * 5 > long.len() * 4
    }
}

/// The module of the first file that a text names.
fn module_named_in(text: &str) -> Option<String> {
    let is_edge = |c: char| c.is_whitespace() || "`\"'()[]{}<>,;:".contains(c);
    text.split(is_edge).find_map(|word| {
        let (_, name) = word.rsplit_once('/')?;
        let (stem, extension) = name.rsplit_once('.')?;
        let is_file = !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !word.contains("//");
        let path = RepoPath::parse(word).ok().filter(|_| is_file)?;
        Some(module_of(&path).to_owned())
    })
}

/// True if ten bytes are written like a day: `2026-01-09`.
fn is_day(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

/// A text, cut at a word if it is too long.
fn cut_content(text: &str) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(MAX_DISCOVERY_CHARS) else {
        return text.to_owned();
    };
    let cut = &text[..end];
    let end = cut.rfind(char::is_whitespace).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discovery(kind: DiscoveryKind, content: &str) -> Discovery {
        Discovery {
            kind,
            content: content.to_owned(),
            ..Discovery::default()
        }
    }

    #[test]
    fn near_duplicates_are_dropped_but_not_negations() {
        let rule = |content| discovery(DiscoveryKind::Rule, content);
        let mut found = vec![
            rule("Always close files after reading them in the parser"),
            rule("Always close the files after reading them in the parser"),
            rule("Always close sockets after reading from the network"),
            rule("Never close files after reading them in the parser"),
            discovery(
                DiscoveryKind::Issue,
                "Always close files after reading them in the parser",
            ),
        ];
        drop_near_duplicates(&mut found);
        let kept: Vec<&str> = found.iter().map(|discovery| discovery.content.as_str()).collect();
        assert_eq!(
            kept,
            [
                "Always close files after reading them in the parser",
                "Always close sockets after reading from the network",
                "Never close files after reading them in the parser",
                "Always close files after reading them in the parser",
            ]
        );
    }

    #[test]
    fn a_file_named_in_a_text_tells_the_module() {
        for (text, expected) in [
            ("see `src/auth/token.ts` for it", Some("auth")),
            ("in crates/engine/src/git/mod.rs:12", Some("engine")),
            ("either/or is no file", None),
            ("https://example.com/a/b.html", None),
        ] {
            assert_eq!(module_named_in(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn vendored_code_and_fixtures_have_no_discoveries() {
        let count = |path: &str| {
            let path = RepoPath::parse(path).unwrap();
            extract_from_file(
                &path,
                Language::Go,
                "// FIXME: the lock is held too long\n",
                &Origins::default(),
            )
            .len()
        };
        assert_eq!(count("src/lock.go"), 1);
        assert_eq!(count("vendor/x/lock.go"), 0);
        assert_eq!(count("pkg/testdata/lock.go"), 0);
    }
}
