//! What a user says to something a tool is about to do.
//!
//! A tool never waits for a person. It replies with a [`Question`], its call ends, and whoever made the call asks in the way
//! its client has; then the same call is made once more, with the answer. So both protocol eras walk one way, and a user who
//! thinks for an hour holds no place that another call could have.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// What is known of the user's will when a call is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Whoever calls is the user.
    Given,
    /// The client can ask.
    CanBeAsked,
    /// The client has no way to ask.
    Nobody,
    /// They were asked.
    Answered {
        /// The key of the question.
        about: String,
        verdict: Verdict,
    },
}

/// How a question was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Declined,
    /// Closed without an answer, as clients do where nobody is there.
    Dismissed,
    /// Nobody answered in time.
    Late,
    /// The client said that it can ask, and could not.
    Unanswered,
}

/// Something to ask the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Tells it from every other question.
    pub(crate) key: String,
    pub(crate) message: String,
}

/// Questions that clients of the newer era were handed, and have not come back with. An answer counts once, and only to a
/// question that was asked: what a client could make up is no consent.
#[derive(Debug, Default)]
pub(crate) struct Questions(Mutex<VecDeque<(String, String)>>);

impl Questions {
    /// Who asks more does not wait for answers.
    const MAX_OPEN_QUESTIONS: usize = 1_000;

    /// A word for the question that nobody can guess.
    pub(crate) fn ask(&self, question: &Question) -> String {
        let word = uuid::Uuid::new_v4().simple().to_string();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.push_back((word.clone(), question.key.clone()));
        if open.len() > Self::MAX_OPEN_QUESTIONS {
            open.pop_front();
        }
        word
    }

    /// What was asked under this word; nothing where it was not, or is answered.
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
        let (one, two) = (questions.ask(&question("a")), questions.ask(&question("a")));
        assert_ne!(one, two);
        assert_eq!(questions.take(&one).as_deref(), Some("a"));
        assert_eq!(questions.take(&one), None);
        assert_eq!(questions.take("made up"), None);
        for _ in 0..Questions::MAX_OPEN_QUESTIONS {
            questions.ask(&question("b"));
        }
        assert_eq!(questions.take(&two), None);
    }
}
