//! The weight of each line: how likely the reader needs it, by its syntax and by what it shares with the
//! focus.
//!
//! The weight is a log-linear model. Its coefficients were fitted on lines that fixes changed; see
//! `eval/folding`.

use std::collections::HashMap;

use super::Focus;
use super::line_syntax::{LineTraits, TextSyntax};
use crate::text::tokens::{self, ParsedQuery};

pub(super) const FEATURES: usize = 24;

pub(super) const COEFFICIENTS: [f64; FEATURES] = [
    0.0, // constant
    -1.5, -1.2, -0.8, -1.5, 0.6, 0.2, 0.2, 0.2, 0.2, 0.3, 0.1, 0.1, 0.1, 0.5, 0.3, 0.2, 0.1, 0.2,
    0.3, // match
    0.2, 0.0, 0.0, 0.0,
];

/// Words of commit subjects and questions about code that do not tell one line from another.
const GENERIC_WORDS: &[&str] = &[
    "fix",
    "bug",
    "issu",
    "add",
    "remov",
    "updat",
    "chang",
    "us",
    "mak",
    "allow",
    "support",
    "improv",
    "refactor",
    "regress",
    "ref",
    "chor",
    "feat",
    "test",
    "correct",
    "incorrect",
    "wrong",
    "properly",
    "avoid",
    "ensur",
    "prevent",
];

/// Longer lines are data, and only their start is compared with the focus.
const MAX_READ_LINE_BYTES: usize = 1_000;
const MAX_MATCH: f64 = 3.0;
const GIVEN_LINE_FACTOR: f64 = 1_000.0;

pub(super) fn weigh_lines(
    lines: &[&str],
    syntax: &TextSyntax,
    first_line: usize,
    focus: &Focus<'_>,
) -> Vec<f64> {
    let rows = features_of(lines, syntax, focus);
    let mut weights: Vec<f64> = rows
        .iter()
        .map(|features| {
            features
                .iter()
                .zip(&COEFFICIENTS)
                .map(|(a, b)| a * b)
                .sum::<f64>()
                .exp()
        })
        .collect();
    for line in focus.lines {
        if let Some(row) = line.checked_sub(first_line).filter(|row| *row < lines.len()) {
            weights[row] *= GIVEN_LINE_FACTOR;
        }
    }
    weights
}

pub(super) fn features_of(lines: &[&str], syntax: &TextSyntax, focus: &Focus<'_>) -> Vec<[f64; FEATURES]> {
    let matches = Matches::of(lines, focus.question);
    let count = lines.len();
    let at =
        |scores: &[f64], row: Option<usize>| row.and_then(|row| scores.get(row)).copied().unwrap_or_default();
    (0..count)
        .map(|row| {
            let traits = syntax.traits[row];
            let flag = |wanted: LineTraits| f64::from(u8::from(traits.has(wanted)));
            let near = |distance: usize| {
                at(&matches.direct, row.checked_sub(distance)).max(at(&matches.direct, Some(row + distance)))
            };
            let similarity = focus
                .line_scores
                .and_then(|scores| scores.get(row))
                .copied()
                .unwrap_or_default();
            let enclosing = syntax.enclosing[row].filter(|above| *above > 0);
            [
                1.0,
                flag(LineTraits::BLANK),
                flag(LineTraits::CLOSING),
                flag(LineTraits::COMMENT),
                flag(LineTraits::STRING),
                flag(LineTraits::BRANCH),
                flag(LineTraits::LOOP),
                flag(LineTraits::HANDLER),
                flag(LineTraits::EXIT),
                flag(LineTraits::ASSIGNMENT),
                flag(LineTraits::CALL),
                flag(LineTraits::FUNCTION),
                flag(LineTraits::STATEMENT),
                flag(LineTraits::HEADER),
                matches.direct[row],
                f64::from(u8::from(matches.direct[row] > 0.0)),
                near(1),
                near(2),
                matches.related[row],
                at(&matches.direct, enclosing),
                f64::from(u8::try_from(lines[row].trim().len().min(100)).unwrap_or(100)) / 50.0,
                f64::from(u8::try_from(syntax.indents[row].min(60)).unwrap_or(60)) / 20.0,
                f64::from(u8::try_from(row * 100 / count).unwrap_or(100)) / 100.0,
                f64::from(similarity),
            ]
        })
        .collect()
}

/// What each line shares with the question.
struct Matches {
    /// Words of the question on the line, by their rarity in the text.
    direct: Vec<f64>,
    /// Rare words on the line that matching lines have too.
    related: Vec<f64>,
}

impl Matches {
    fn of(lines: &[&str], question: &str) -> Self {
        let query = ParsedQuery::of(question);
        let wanted: Vec<&str> = query
            .words
            .iter()
            .map(String::as_str)
            .filter(|word| !GENERIC_WORDS.contains(word) && !word.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
        let words: Vec<Vec<String>> = lines.iter().map(|line| words_of_line(line)).collect();
        let mut line_counts: HashMap<&str, u32> = HashMap::new();
        for word in words.iter().flatten() {
            *line_counts.entry(word).or_default() += 1;
        }
        let total = f64::from(u32::try_from(lines.len()).unwrap_or(u32::MAX)) + 1.0;
        let rarity =
            |word: &str| (total / f64::from(line_counts.get(word).copied().unwrap_or(1))).ln() / total.ln();
        let direct: Vec<f64> = words
            .iter()
            .map(|words| {
                let found = words.iter().filter(|word| wanted.contains(&word.as_str()));
                found.map(|word| rarity(word)).sum::<f64>().min(MAX_MATCH)
            })
            .collect();
        let mut links: HashMap<&str, f64> = HashMap::new();
        for (words, score) in words.iter().zip(&direct).filter(|(_, score)| **score > 0.0) {
            for word in words.iter().filter(|word| !wanted.contains(&word.as_str())) {
                let strength = links.entry(word).or_default();
                *strength = strength.max(score * rarity(word));
            }
        }
        let related = words.iter().map(|words| {
            let sum: f64 = words.iter().filter_map(|word| links.get(word.as_str())).sum();
            sum.min(MAX_MATCH)
        });
        let related = related.collect();
        Self { direct, related }
    }
}

/// The words of a line, each once.
fn words_of_line(line: &str) -> Vec<String> {
    let mut end = line.len().min(MAX_READ_LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let mut words = tokens::words(&line[..end]);
    words.sort_unstable();
    words.dedup();
    words
}
