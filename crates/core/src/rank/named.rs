//! The signal of what a report names: the definition by its symbol, its file by a path, its lines by a frame.

use super::Weights;

/// How directly a report names a chunk. All 0 for a question that is no report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NamedSignals {
    /// As a symbol, from 0 to about 1 ([`crate::report::IssueReport::definition`]).
    pub symbol: f32,
    /// Its file by a path, a module or a frame, and its lines by a frame, from 0 to 1
    /// ([`crate::report::place_scores`]).
    pub file: f32,
    pub lines: f32,
}

impl Weights {
    /// The weights for a report, from those for a question.
    #[must_use]
    pub fn for_report(self) -> Self {
        Self {
            similarity: self.similarity * self.similarity_of_reports,
            same_file_penalty: self.same_file_penalty.max(self.same_file_of_reports),
            first_files: self.first_files.min(self.first_files_of_reports),
            closeness: self.closeness.min(self.closeness_of_reports),
            file_rarity: 1.0,
            ..self
        }
    }
}

impl NamedSignals {
    pub(super) fn score(self, weights: &Weights) -> f32 {
        weights.named_symbol * self.symbol + weights.named_file * self.file + weights.named_lines * self.lines
    }
}
