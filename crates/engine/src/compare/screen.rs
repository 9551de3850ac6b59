//! The screen of one agent: what it has read so far, and whether the answer to its question was there.
//!
//! Invariant: both agents end by the same rule: at the answer, or at the limit of calls or characters.

use std::time::{Duration, Instant};

use docent_core::compare::{KnownPaths, shows_function};

use super::CommitQuestion;

const MAX_CALLS: usize = 12;
const MAX_CHARS: usize = 60_000;

/// What one agent reads for one question.
pub struct AgentScreen<'a> {
    question: &'a CommitQuestion,
    known: &'a KnownPaths,
    result: AgentResult,
}

/// How one agent got on with one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentResult {
    pub found: bool,
    pub steps: Vec<AgentStep>,
    /// Until its answers were there. Reading them takes a model longer, and is not measured.
    pub time: Duration,
}

/// One call of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStep {
    /// What it asked, as one would type it.
    pub command: String,
    /// Characters of the answer.
    pub chars: usize,
}

impl AgentResult {
    pub fn calls(&self) -> usize {
        self.steps.len()
    }

    pub fn chars(&self) -> usize {
        self.steps.iter().map(|step| step.chars).sum()
    }
}

/// An answer as the screen takes it.
pub struct ShownAnswer<'a> {
    pub command: String,
    pub text: &'a str,
    /// The file that it is about, if it does not name it.
    pub about: Option<&'a str>,
    /// False for lists of files and for outlines, on which no line of a body is.
    pub can_answer: bool,
}

impl<'a> AgentScreen<'a> {
    pub fn new(question: &'a CommitQuestion, known: &'a KnownPaths) -> Self {
        Self {
            question,
            known,
            result: AgentResult::default(),
        }
    }

    /// Runs a step whose time counts as the agent's.
    pub fn run<T>(&mut self, step: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let outcome = step();
        self.result.time += started.elapsed();
        outcome
    }

    /// Adds an answer. Returns whether the agent goes on.
    pub fn show(&mut self, answer: &ShownAnswer<'_>) -> bool {
        self.result.steps.push(AgentStep {
            command: answer.command.clone(),
            chars: answer.text.chars().count(),
        });
        let functions = &self.question.functions;
        self.result.found =
            answer.can_answer && shows_function(functions, self.known, answer.about, answer.text);
        !self.result.found && self.result.calls() < MAX_CALLS && self.result.chars() < MAX_CHARS
    }

    pub fn into_result(self) -> AgentResult {
        self.result
    }
}

#[cfg(test)]
mod tests {
    use docent_core::compare::FunctionLines;

    use super::*;

    #[test]
    fn an_agent_ends_at_the_answer_or_at_a_limit() {
        let text = "fn dive() {\n    hold_the_breath();\n}\n";
        let question = CommitQuestion {
            commit: String::new(),
            text: String::new(),
            functions: vec![FunctionLines::new("a.rs", text, 1, 3)],
        };
        let known = KnownPaths::from(["a.rs".to_owned()]);
        let answer = |text, can_answer| ShownAnswer {
            command: "read".to_owned(),
            text,
            about: Some("a.rs"),
            can_answer,
        };
        let mut screen = AgentScreen::new(&question, &known);
        assert!(screen.show(&answer(text, false)), "an outline is no answer");
        assert!(!screen.show(&answer(text, true)));
        let result = screen.into_result();
        assert!(result.found && result.calls() == 2 && result.chars() == 2 * text.len());

        let mut screen = AgentScreen::new(&question, &known);
        let calls = (0..100)
            .take_while(|_| screen.show(&answer("nothing", true)))
            .count();
        assert_eq!(calls + 1, MAX_CALLS);
        let mut screen = AgentScreen::new(&question, &known);
        assert!(!screen.show(&answer(&"x".repeat(MAX_CHARS), true)));
    }
}
