//! Discoveries: what a project has decided, learned and found broken, taken from what it already holds.
//!
//! Each source has its own reader and one promise: rather nothing than something that is no discovery. A sentence of a guide
//! counts where it tells people what to do; a commit where it says what was broken, or why something was done; a comment where
//! it begins with the mark.

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

pub use commit::{CommitMessage, in_commit};
pub use memory::Origins;

use crate::language::Language;
use crate::memory::MemoryFile;
use crate::module::module_of;
use crate::path::RepoPath;
use crate::role::FileRole;
use crate::text::tokens::words;

/// Something a project knows about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    pub kind: DiscoveryKind,
    pub source: DiscoverySource,
    /// What it belongs to: the heading it stands under, the title of a record, the subject of a commit. `""` for nothing.
    pub title: String,
    pub content: String,
    pub module: String,
    /// Where it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Its lines in its file; none of what is in no file.
    pub lines: Option<RangeInclusive<usize>>,
}

/// What a discovery is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiscoveryKind {
    /// A way things are done here.
    #[default]
    Pattern,
    /// Something that must be, or must not.
    Rule,
    /// A choice, and why.
    Decision,
    /// Something that is or was broken.
    Issue,
}

/// Where a discovery was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiscoverySource {
    /// Written down to be remembered, and approved.
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

/// Characters of a discovery that are kept.
const MAX_DISCOVERY_CHARS: usize = 1_200;

/// What a file of the project holds.
pub fn in_file(path: &RepoPath, language: Language, text: &str, origins: &Origins) -> Vec<Discovery> {
    if let Some(file) = MemoryFile::at(path.as_str()) {
        return memory::read(file, text, origins);
    }
    let mut found = if record::is_record(path) {
        Vec::from_iter(record::read(path, text))
    } else if guide::is_guide(path) {
        guide::read(text)
    } else if is_ours(path) {
        comment::read(language, text)
    } else {
        Vec::new()
    };
    let module = module_of(path);
    for one in &mut found {
        if one.module.is_empty() {
            module.clone_into(&mut one.module);
        }
    }
    found.truncate(MAX_PER_FILE);
    merge(&mut found);
    found
}

/// Whether a file may speak for the project: it is written here, and is code.
fn is_ours(path: &RepoPath) -> bool {
    const OTHERS: [&str; 7] = [
        "vendor",
        "third_party",
        "thirdparty",
        "external",
        "deps",
        "testdata",
        "fixtures",
    ];
    let foreign = |part: &str| OTHERS.iter().any(|other| part.eq_ignore_ascii_case(other));
    matches!(FileRole::of(path), FileRole::Entry | FileRole::Core) && !path.components().any(foreign)
}

/// Discoveries of one file that are kept: more were not written by people. Of the memory, all are.
const MAX_PER_FILE: usize = 1_000;

/// Takes out what says almost the same as one before it.
pub fn merge(found: &mut Vec<Discovery>) {
    // Two that share more than four fifths of their words share one of the rarest fifth of each, so only those are compared.
    let words: Vec<Words> = found.iter().map(Words::of).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in words.iter().flat_map(|one| &one.all) {
        *counts.entry(word).or_default() += 1;
    }
    let mut kept: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut is_kept = Vec::with_capacity(found.len());
    for (at, one) in words.iter().enumerate() {
        let mut rarest: Vec<&str> = one.all.iter().map(String::as_str).collect();
        rarest.sort_unstable_by_key(|word| (counts[word], *word));
        rarest.truncate(rarest.len() / 5 + 1);
        let seen = rarest.iter().filter_map(|word| kept.get(word));
        let is_new = !seen
            .flat_map(|others| others.iter().rev().take(MAX_COMPARED))
            .any(|other| one.is_near(&words[*other]));
        if is_new {
            for word in rarest {
                kept.entry(word).or_default().push(at);
            }
        }
        is_kept.push(is_new);
    }
    let mut is_kept = is_kept.into_iter();
    found.retain(|_| is_kept.next().unwrap_or(true));
}

/// Of those that share a rare word, so many are looked at.
const MAX_COMPARED: usize = 50;

/// The words of a discovery, to tell whether another says the same.
#[derive(Clone, Debug)]
pub struct Words {
    kind: DiscoveryKind,
    all: HashSet<String>,
    /// What turns it into the opposite, or into something else: words that deny, and numbers.
    turning: BTreeSet<String>,
}

impl Words {
    pub fn of(discovery: &Discovery) -> Self {
        const DENYING: [&str; 14] = [
            "not", "no", "never", "without", "don", "cannot", "avoid", "always", "isn", "doesn", "won",
            "shouldn", "only", "except",
        ];
        let turns = |word: &&str| {
            DENYING.iter().any(|deny| word.eq_ignore_ascii_case(deny))
                || word.bytes().any(|byte| byte.is_ascii_digit())
        };
        let plain = discovery.content.split(|c: char| !c.is_alphanumeric());
        Self {
            kind: discovery.kind,
            all: words(&discovery.content).into_iter().collect(),
            turning: plain.filter(turns).map(str::to_ascii_lowercase).collect(),
        }
    }

    /// Over four fifths of the words of the longer one are in both, and neither denies the other.
    pub fn is_near(&self, other: &Self) -> bool {
        let (short, long) = if self.all.len() < other.all.len() {
            (&self.all, &other.all)
        } else {
            (&other.all, &self.all)
        };
        self.kind == other.kind
            && self.turning == other.turning
            && short.len() * 5 > long.len() * 4
            && short.intersection(long).count() * 5 > long.len() * 4
    }
}

/// The module of the first file that a text names, where it names one.
fn module_named(text: &str) -> Option<String> {
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

/// Whether ten bytes are a day: `2026-01-09`.
fn is_day(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

/// At most so much of a text, cut at a word.
fn cut(text: &str) -> String {
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
    fn what_says_almost_the_same_is_merged() {
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
        merge(&mut found);
        let kept: Vec<&str> = found.iter().map(|one| one.content.as_str()).collect();
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
    fn a_file_that_is_named_tells_the_module() {
        for (text, expected) in [
            ("see `src/auth/token.ts` for it", Some("auth")),
            ("in crates/engine/src/git/mod.rs:12", Some("engine")),
            ("either/or is no file", None),
            ("https://example.com/a/b.html", None),
        ] {
            assert_eq!(module_named(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn code_of_others_does_not_speak_for_the_project() {
        let found = |path: &str| {
            let path = RepoPath::parse(path).unwrap();
            in_file(
                &path,
                Language::Go,
                "// FIXME: the lock is held too long\n",
                &Origins::default(),
            )
            .len()
        };
        assert_eq!(found("src/lock.go"), 1);
        assert_eq!(found("vendor/x/lock.go"), 0);
        assert_eq!(found("pkg/testdata/lock.go"), 0);
    }
}
