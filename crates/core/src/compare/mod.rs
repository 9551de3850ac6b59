//! The comparison of two scripted agents on a project's own commits: questions, what an answer shows, and the
//! choices that both agents make by the words of a question.
//!
//! The agents themselves, which read files and ask tools, are in the engine and in the app. The rules are
//! those of `eval/agent`, which measures the same on other projects.
//!
//! Invariant: nothing here depends on which agent asks.

mod question;
mod shown;
mod words;

pub use question::{changed_functions, question_of};
pub use shown::{FunctionLines, KnownPaths, shows_function};
pub use words::{best_cluster, best_ranges, words_of};
