//! What a user says to something a tool is about to do.
//!
//! A tool never waits for a person. It replies with a [`Question`], its call ends, and whoever made the call asks in the way
//! its client has; then the same call is made once more, with the answer. So both protocol eras walk one way, and a user who
//! thinks for an hour holds no place that another call could have.

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
    /// The client said that it can ask, and could not, or took too long.
    Unanswered,
}

/// Something to ask the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Tells it from every other question.
    pub(crate) key: String,
    pub(crate) message: String,
}
