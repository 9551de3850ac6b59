//! The weight of each line: how likely the reader needs it, by its syntax and by what it shares with the
//! focus.
//!
//! The weight is a log-linear model. Its coefficients were fitted on lines that fixes changed; see
//! `eval/folding`. Without effect there, and therefore left out: depth, position, length, identifiers shared
//! with matching lines, and similarity of embeddings.

use std::collections::HashMap;

use super::Focus;
use super::line_syntax::{LineTraits, TextSyntax};
use crate::text::tokens::{self, ParsedQuery};

/// Coefficients of the syntax of a line.
const TRAITS: [(LineTraits, f64); 9] = [
    (LineTraits::BLANK, 0.55),
    (LineTraits::CLOSING, -0.5),
    (LineTraits::COMMENT, -0.75),
    (LineTraits::STRING, -0.75),
    (LineTraits::BRANCH, 0.3),
    (LineTraits::HANDLER, 0.8),
    (LineTraits::ASSIGNMENT, 0.4),
    (LineTraits::CALL, 0.3),
    (LineTraits::HEADER, -0.1),
];
/// Coefficients of the match of a line itself, and of the lines at a distance of 1, 2 and 3.
const MATCH_AT_DISTANCE: [f64; 4] = [1.4, 0.45, 0.5, 0.35];
const MATCH_OF_HEADER: f64 = 0.65;
const MATCH_IN_PARAGRAPH: f64 = 0.35;
/// Coefficients of the mean and the highest rarity of its words.
const MEAN_RARITY: f64 = 1.15;
const MAX_RARITY: f64 = 0.4;
const COMPARISON: f64 = 0.2;
const COMMAS: f64 = 0.55;
/// Coefficients of the lines around it: new code is inserted at the edges of paragraphs and blocks.
const AFTER_BLANK: f64 = 0.6;
const BEFORE_BLANK: f64 = 0.2;
const BEFORE_CLOSING: f64 = 0.45;
/// Added to comments and strings if the question is about wording, and to lines with quotes if it is about
/// messages.
const WORDING: f64 = 2.2;
const MESSAGE: f64 = 0.5;
/// Lines that the caller names outweigh all others.
const GIVEN_LINE: f64 = 7.0;
const BESIDE_GIVEN_LINE: f64 = 2.5;

/// Words of commit subjects and questions about code that do not tell one line from another.
const GENERIC_WORDS: &str = "fix bug issue add remove update change use make allow support improve refactor \
                             regression refs chore feat test correct incorrect wrong properly avoid ensure prevent";
const WORDING_WORDS: &str = "typo spelling grammar comment docstring docs wording misspelling";
const MESSAGE_WORDS: &str = "message text log format string print output";

/// Only the start of a longer line is compared with the focus.
const MAX_READ_LINE_BYTES: usize = 1_000;
const MAX_MATCH: f64 = 3.0;
/// A longer run of lines without a blank one does not count as a paragraph: its lines have little in common.
const MAX_PARAGRAPH_LINES: usize = 25;

pub(super) fn weigh_lines(
    lines: &[&str],
    syntax: &TextSyntax,
    first_line: usize,
    focus: &Focus<'_>,
) -> Vec<f64> {
    let query = ParsedQuery::of(focus.question);
    let matches = Matches::of(lines, &query);
    let has_any = |words: &str| tokens::words(words).iter().any(|word| query.has_word(word));
    let (on_wording, on_messages) = (has_any(WORDING_WORDS), has_any(MESSAGE_WORDS));
    let mut sums: Vec<f64> = (0..lines.len())
        .map(|row| {
            let mut sum = syntax_sum(lines, syntax, row) + matches.sum(syntax, row);
            let traits = syntax.traits[row];
            if on_wording && (traits.has(LineTraits::COMMENT) || traits.has(LineTraits::STRING)) {
                sum += WORDING;
            }
            if on_messages && lines[row].contains(['"', '\'', '`']) {
                sum += MESSAGE;
            }
            sum
        })
        .collect();
    let count = lines.len();
    for row in focus
        .lines
        .iter()
        .filter_map(|line| line.checked_sub(first_line))
        .filter(|row| *row < count)
    {
        sums[row] += GIVEN_LINE;
        // The line itself is among them.
        for sum in &mut sums[row.saturating_sub(2)..=(row + 2).min(count - 1)] {
            *sum += BESIDE_GIVEN_LINE;
        }
    }
    // Many given lines around one line add up; a bound keeps the weights finite.
    sums.iter().map(|sum| sum.min(50.0).exp()).collect()
}

/// The part of the sum that does not depend on the focus.
fn syntax_sum(lines: &[&str], syntax: &TextSyntax, row: usize) -> f64 {
    let traits = syntax.traits[row];
    let mut sum: f64 = TRAITS
        .iter()
        .filter(|(wanted, _)| traits.has(*wanted))
        .map(|(_, add)| add)
        .sum();
    let line = start_of_line(lines[row]);
    let commas = line.bytes().filter(|byte| *byte == b',').take(4).count();
    sum += COMMAS * [0.0, 0.25, 0.5, 0.75, 1.0][commas];
    if is_comparison(line) {
        sum += COMPARISON;
    }
    if row > 0 && syntax.traits[row - 1].has(LineTraits::BLANK) {
        sum += AFTER_BLANK;
    }
    if let Some(next) = syntax.traits.get(row + 1) {
        if next.has(LineTraits::BLANK) {
            sum += BEFORE_BLANK;
        }
        if next.has(LineTraits::CLOSING) {
            sum += BEFORE_CLOSING;
        }
    }
    sum
}

fn is_comparison(line: &str) -> bool {
    [
        "&&", "||", "==", "!", " and ", " or ", "not ", " is ", " < ", " > ", "<=", ">=",
    ]
    .iter()
    .any(|operator| line.contains(operator))
}

/// What each line shares with the question.
struct Matches {
    /// Words of the question on the line, by their rarity in the text.
    direct: Vec<f64>,
    /// The best match in the paragraph of the line.
    in_paragraph: Vec<f64>,
    mean_rarity: Vec<f64>,
    max_rarity: Vec<f64>,
}

impl Matches {
    fn of(lines: &[&str], query: &ParsedQuery) -> Self {
        let generic = tokens::words(GENERIC_WORDS);
        let is_telling =
            |word: &&String| !generic.contains(word) && !word.bytes().all(|byte| byte.is_ascii_digit());
        let wanted: Vec<&String> = query.words.iter().filter(is_telling).collect();
        let words: Vec<Vec<String>> = lines.iter().map(|line| words_of_line(line)).collect();
        let mut line_counts: HashMap<&str, u32> = HashMap::new();
        for word in words.iter().flatten() {
            *line_counts.entry(word).or_default() += 1;
        }
        let total = count_f64(lines.len()) + 1.0;
        // 1 for a word on a single line, falling to 0 for one on every line.
        let rarity = |word: &String| (total / f64::from(line_counts[word.as_str()])).ln() / total.ln();
        let direct: Vec<f64> = words
            .iter()
            .map(|words| {
                let found = words.iter().filter(|word| wanted.contains(word));
                found.map(rarity).sum::<f64>().min(MAX_MATCH)
            })
            .collect();
        let mean =
            |words: &Vec<String>| words.iter().map(rarity).sum::<f64>() / count_f64(words.len().max(1));
        Self {
            in_paragraph: best_in_paragraph(lines, &direct),
            mean_rarity: words.iter().map(mean).collect(),
            max_rarity: words
                .iter()
                .map(|words| words.iter().map(rarity).fold(0.0, f64::max))
                .collect(),
            direct,
        }
    }

    fn sum(&self, syntax: &TextSyntax, row: usize) -> f64 {
        let at = |row: Option<usize>| {
            row.and_then(|row| self.direct.get(row))
                .copied()
                .unwrap_or_default()
        };
        let by_distance = MATCH_AT_DISTANCE.iter().enumerate();
        let near: f64 = by_distance
            .map(|(distance, add)| add * at(row.checked_sub(distance)).max(at(Some(row + distance))))
            .sum();
        // The first line of a function is around all others.
        let header = syntax.enclosing[row].filter(|header| *header > 0);
        near + MATCH_OF_HEADER * at(header)
            + MATCH_IN_PARAGRAPH * self.in_paragraph[row]
            + MEAN_RARITY * self.mean_rarity[row]
            + MAX_RARITY * self.max_rarity[row]
    }
}

fn best_in_paragraph(lines: &[&str], matches: &[f64]) -> Vec<f64> {
    let mut best = Vec::with_capacity(lines.len());
    for paragraph in lines.chunk_by(|a, b| a.trim().is_empty() == b.trim().is_empty()) {
        let rows = best.len()..best.len() + paragraph.len();
        let highest = matches[rows].iter().copied().fold(0.0, f64::max);
        let is_paragraph = paragraph.len() <= MAX_PARAGRAPH_LINES;
        best.extend(paragraph.iter().map(|_| if is_paragraph { highest } else { 0.0 }));
    }
    best
}

/// The words of a line, each once.
fn words_of_line(line: &str) -> Vec<String> {
    let mut words = tokens::words(start_of_line(line));
    words.sort_unstable();
    words.dedup();
    words
}

fn start_of_line(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_READ_LINE_BYTES)]
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of lines and words are below 2^52"
)]
fn count_f64(count: usize) -> f64 {
    count as f64
}
