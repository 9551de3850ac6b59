//! The user's consent to a tool's effect.
//!
//! A tool never waits for a person. It replies with a [`Question`] and its call ends; the client asks the
//! user and repeats the call with the answer. So both protocol eras work alike, and a user who thinks for an
//! hour blocks no other call.
//!
//! Invariant: an answer counts once, and only for the question that was asked.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The user's consent, as far as it is known when a call is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The caller is the user.
    Given,
    /// The client can ask.
    CanBeAsked,
    /// The client has no way to ask.
    Nobody,
    /// The user was asked.
    Answered {
        /// The key of the question.
        question: String,
        verdict: Verdict,
    },
}

/// How a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Declined,
    /// Closed without an answer, as clients do in unattended runs.
    Dismissed,
    /// Nobody answered in time.
    Late,
    /// The client announced that it can ask, and failed to.
    Unanswered,
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Identifies the question: the file and the entry.
    pub(crate) key: String,
    pub(crate) message: String,
}

/// Open questions of the newer era, each under a random word that the client must return with the answer.
/// Without the word a client could make up the user's consent.
#[derive(Debug, Default)]
pub(crate) struct Questions(Mutex<VecDeque<(String, String)>>);

impl Questions {
    /// Bounds the memory for questions that no client answers.
    const MAX_OPEN_QUESTIONS: usize = 1_000;

    /// Opens a question and returns its word, which cannot be guessed.
    pub(crate) fn open(&self, question: &Question) -> String {
        let word = uuid::Uuid::new_v4().simple().to_string();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.push_back((word.clone(), question.key.clone()));
        if open.len() > Self::MAX_OPEN_QUESTIONS {
            open.pop_front();
        }
        word
    }

    /// Closes the question of this word and returns its key. `None` if it is unknown or already answered.
    pub(crate) fn take(&self, word: &str) -> Option<String> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|(other, _)| other == word)?;
        open.remove(at).map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_once() {
        let questions = Questions::default();
        let question = |key: &str| Question {
            key: key.into(),
            message: String::new(),
        };
        let (one, two) = (questions.open(&question("a")), questions.open(&question("a")));
        assert_ne!(one, two);
        assert_eq!(questions.take(&one).as_deref(), Some("a"));
        assert_eq!(questions.take(&one), None);
        assert_eq!(questions.take("made up"), None);
        for _ in 0..Questions::MAX_OPEN_QUESTIONS {
            questions.open(&question("b"));
        }
        assert_eq!(questions.take(&two), None);
    }
}
