//! The comparison of an agent with docent and one without on the project's own commits: questions from the
//! history, a private copy of the state before, and the agent that has a shell only.
//!
//! The agent that has docent asks its tools, so it is in the app. How both choose is in `core::compare`.
//!
//! Invariant: the working tree, git's index and docent's index of the project are only read, if at all.
//! Everything is written below one private folder, which is removed in the end.

mod copy;
mod questions;
mod screen;
mod shell_agent;

pub use copy::PrivateCopy;
pub use questions::{CompareError, QuestionSet, choose_questions};
pub use screen::{AgentResult, AgentScreen, AgentStep, ShownAnswer};
pub use shell_agent::{ask_shell, rarest_words};

use docent_core::compare::FunctionLines;

/// A question, and the functions that answer it.
#[derive(Clone, Debug)]
pub struct CommitQuestion {
    pub commit: String,
    pub text: String,
    /// As the state has them that the question is asked at.
    pub functions: Vec<FunctionLines>,
}
