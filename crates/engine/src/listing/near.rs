//! Names that come near to those that `find` was asked for, noted during the walk for a list that stays
//! empty: the name in another letter case, or within two edits.
//!
//! Invariant: a name costs a few comparisons, because every entry of the walk is offered.

use docent_core::coverage::near::count_typos;
use docent_core::shell::find::{Charset, EntryKind, FindExpression, FindTest, FnmatchPattern, PatternMatch};

use super::{NearPath, NearReason};

/// Paths that are named.
const MAX_NEAR_PATHS: usize = 3;

/// Edits by which a name may differ.
const MAX_TYPOS: usize = 2;

/// Shorter names become other words by two edits.
const MIN_NAME_CHARS: usize = 5;

#[derive(Debug, Default)]
pub(super) struct NearSearch {
    patterns: Vec<NearPattern>,
    kinds: Vec<EntryKind>,
    found: Vec<NearPath>,
}

#[derive(Debug)]
struct NearPattern {
    any_case: Option<FnmatchPattern>,
    /// The name, if the pattern has no wildcards.
    literal: Option<String>,
}

impl NearSearch {
    pub(super) fn for_expression(expression: &FindExpression) -> Self {
        let mut search = Self::default();
        search.add(expression);
        search
    }

    /// Takes the names that an entry may have. Names that are excluded are not looked for.
    fn add(&mut self, expression: &FindExpression) {
        match expression {
            FindExpression::And(parts) | FindExpression::Or(parts) => {
                for part in parts {
                    self.add(part);
                }
            }
            FindExpression::Test(FindTest::Type(kinds)) => self.kinds.extend_from_slice(kinds),
            FindExpression::Test(FindTest::Name(pattern)) => {
                let text = pattern.text();
                let is_literal = !text.contains(['*', '?', '[', '\\']);
                self.patterns.push(NearPattern {
                    any_case: if pattern.ignores_case() {
                        None
                    } else {
                        FnmatchPattern::parse(text, true).ok()
                    },
                    literal: (is_literal && text.chars().count() >= MIN_NAME_CHARS).then(|| text.to_owned()),
                });
            }
            FindExpression::Test(_) | FindExpression::Action(_) | FindExpression::Not(_) => {}
        }
    }

    pub(super) fn offer(&mut self, name: &[u8], path: &[u8], kind: EntryKind) {
        let is_wanted = self.kinds.is_empty() || self.kinds.contains(&kind);
        if self.patterns.is_empty() || !is_wanted || self.found.len() >= 2 * MAX_NEAR_PATHS {
            return;
        }
        let is_other_case = |pattern: &NearPattern| {
            let any_case = pattern.any_case.as_ref();
            any_case.is_some_and(|any| any.matches(name, Charset::PlainUtf8) == PatternMatch::Yes)
        };
        let is_misspelt = |pattern: &NearPattern| {
            let literal = pattern.literal.as_deref();
            literal.is_some_and(|literal| {
                literal.len().abs_diff(name.len()) <= 4 * MAX_TYPOS
                    && std::str::from_utf8(name)
                        .is_ok_and(|name| count_typos(literal, name, MAX_TYPOS).is_some())
            })
        };
        let reason = if self.patterns.iter().any(is_other_case) {
            NearReason::OtherCase
        } else if self.patterns.iter().any(is_misspelt) {
            NearReason::Misspelt
        } else {
            return;
        };
        self.found.push(NearPath {
            path: path.to_vec(),
            reason,
        });
    }

    pub(super) fn finish(mut self) -> Vec<NearPath> {
        self.found.sort_by_key(|near| near.reason == NearReason::Misspelt);
        self.found.truncate(MAX_NEAR_PATHS);
        self.found
    }
}
