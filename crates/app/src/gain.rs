//! Counting what docent saved.
//!
//! Left out: how counts are stored (`engine::gain`) and shown (`cli::gain`), and past sessions (`replay`).
//!
//! Invariant: a count that cannot be written is lost, and nothing else happens.

use docent_engine::gain::GainLog;

use crate::settings::{Environment, find_gain_log};

/// Counts for the project around the working directory.
pub(crate) struct GainCounter(Option<GainLog>);

impl GainCounter {
    pub(crate) fn new(environment: Environment<'_>) -> Self {
        Self(find_gain_log(environment))
    }

    /// Counts an answer of docent in place of a program's.
    pub(crate) fn record_answer(&self, program: &str, plain_chars: u64, shown_chars: u64) {
        if let Some(log) = &self.0 {
            let _ = log.record_answer(program, plain_chars, shown_chars);
        }
    }

    /// Counts a command that was left to its program.
    pub(crate) fn record_left_alone(&self, program: &str, reason: &str) {
        if let Some(log) = &self.0 {
            let _ = log.record_left_alone(program, reason);
        }
    }
}
