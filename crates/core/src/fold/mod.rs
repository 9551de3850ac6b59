//! Folding: a long function shown as the lines that matter for a question, the rest as counted folds.
//!
//! Each line gets a weight, the chance that the reader needs it: by its syntax (`line_syntax`), and by the
//! words and identifiers that it shares with the question (`relevance`). The lines with the largest
//! sum of weights that fit the budget are shown (`selection`). A hidden line near a shown one counts in part,
//! so that shown lines spread over the text and folds stay short.
//!
//! Left out on purpose: how a fold is written. The caller renders the parts.
//!
//! Invariant: every line of the text is in exactly one part, and parts are in order. The same text, focus and
//! budget give the same parts.

mod line_syntax;
mod relevance;
mod selection;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use crate::language::Language;

/// The question that a reader of a folded text has, and lines that must not be hidden.
#[derive(Clone, Copy, Debug, Default)]
pub struct Focus<'a> {
    /// A question, a query or a name. May be empty.
    pub question: &'a str,
    /// Lines that must be shown while the budget lasts, such as the matches of a pattern. Numbered like the
    /// lines of the text.
    pub lines: &'a [usize],
}

/// The most characters that the folded form may have, the markers of its folds included. The signature is
/// shown even if it does not fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FoldBudget {
    /// Characters.
    Chars(usize),
    /// A share of the characters of the text.
    Share(f32),
}

/// A run of lines that are all shown or all hidden, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldedPart {
    Shown(RangeInclusive<usize>),
    Folded(RangeInclusive<usize>),
}

impl FoldedPart {
    /// Its lines, counted as those of the text are.
    pub fn lines(&self) -> &RangeInclusive<usize> {
        match self {
            Self::Shown(lines) | Self::Folded(lines) => lines,
        }
    }

    pub fn is_shown(&self) -> bool {
        matches!(self, Self::Shown(_))
    }
}

/// Folds a text whose first line has the number `first_line`.
pub fn fold(
    text: &str,
    first_line: usize,
    language: Language,
    focus: &Focus<'_>,
    budget: FoldBudget,
) -> Vec<FoldedPart> {
    let lines: Vec<&str> = text.lines().collect();
    let costs: Vec<usize> = lines.iter().map(|line| line.chars().count() + 1).collect();
    let budget = budget.chars(costs.iter().sum());
    if costs.iter().sum::<usize>() <= budget {
        return parts_of(&vec![true; lines.len()], first_line);
    }
    let syntax = line_syntax::read_lines(text, &lines, language);
    let weights = relevance::weigh_lines(&lines, &syntax, first_line, focus);
    let shown = selection::select_lines(&selection::Candidates {
        weights: &weights,
        costs: &costs,
        signature: &syntax.signature,
        first_line,
        budget,
    });
    parts_of(&shown, first_line)
}

impl FoldBudget {
    fn chars(self, total: usize) -> usize {
        match self {
            Self::Chars(chars) => chars,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "a share of a length is a length; the cast saturates"
            )]
            Self::Share(share) => (total as f64 * f64::from(share)) as usize,
        }
    }
}

fn parts_of(shown: &[bool], first_line: usize) -> Vec<FoldedPart> {
    let mut parts = Vec::new();
    let mut row = 0;
    for run in shown.chunk_by(|a, b| a == b) {
        let lines = first_line + row..=first_line + row + run.len() - 1;
        row += run.len();
        parts.push(if run[0] {
            FoldedPart::Shown(lines)
        } else {
            FoldedPart::Folded(lines)
        });
    }
    parts
}
