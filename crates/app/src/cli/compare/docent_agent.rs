//! The agent that has docent: a search, then outlines and definitions of the best files, then an exact
//! search.
//!
//! It calls the same tools as a client, in the compact form, of a project that is the private copy. Settings
//! of the user and ranking by what was read before are left out, so that the same copy gives the same
//! answers.
//!
//! Invariant: no embedding server is asked, and nothing is written outside of the private copy's folder.

use std::ffi::OsString;

use anyhow::bail;
use docent_core::compare::best_ranges;
use docent_engine::compare::{AgentScreen, PrivateCopy, ShownAnswer, rarest_words};
use docent_engine::deadline::Deadline;
use docent_engine::files::Root;
use docent_engine::index::{Corpus, Patience};
use serde_json::{Value, json};

use super::super::flags::variable;
use super::super::progress::IndexProgress;
use crate::project::{Project, RunMode};
use crate::session::Session;
use crate::settings::{AnswerForm, Flags, Settings};
use crate::tools;
use crate::tools::arguments::Object;
use crate::tools::consent::Consent;
use crate::tools::dispatch::{CallContext, Dispatch};

/// Characters of the answer to the first search.
const SEARCH_CHARS: u64 = 4_000;

/// Files that are outlined, definitions of each that are read, and words that are searched for in the end.
const OUTLINED_FILES: usize = 3;
const READ_DEFINITIONS: usize = 3;
const SEARCHED_WORDS: usize = 2;

/// Calls are not counted, and what was read before has no weight.
const SETTINGS: [(&str, &str); 7] = [
    ("limit.context_search", "0"),
    ("limit.read_file", "0"),
    ("limit.grep_codebase", "0"),
    ("rank.recency_day", "1"),
    ("rank.recency_week", "1"),
    ("rank.module", "1"),
    ("rank.frequency", "1"),
];

pub(super) struct DocentAgent {
    dispatch: Dispatch,
}

impl DocentAgent {
    /// Opens the copy as a project and waits for its index.
    pub(super) fn new(copy: &PrivateCopy) -> anyhow::Result<Self> {
        let environment = |name: &str| -> Option<OsString> {
            match name {
                "XDG_CACHE_HOME" => Some(copy.directory("cache").into()),
                "XDG_STATE_HOME" => Some(copy.directory("state").into()),
                "XDG_CONFIG_HOME" => Some(copy.directory("config").into()),
                "DOCENT_FIXED_TIME" => variable(name),
                // The rest of the user's settings of docent.
                name if name.starts_with("DOCENT_") => None,
                name => variable(name),
            }
        };
        let tools = tools::all();
        let flags = Flags {
            root: Some(copy.root()),
            set: SETTINGS
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
        };
        let settings = Settings::resolve(&flags, &environment, &tools::default_limits(&tools))?;
        let no_links = Box::new(|_: &std::path::Path| bail!("the copy has no linked projects"));
        let project = Project::open(&settings, RunMode::Stdio, no_links);
        let bar = IndexProgress::default();
        project.index.freshen(
            Corpus::Code,
            Patience::UntilDone,
            &Deadline::default(),
            &|progress| bar.show(progress),
        );
        drop(bar);
        let mut dispatch = Dispatch::new(tools, project, settings.limits);
        dispatch.form = AnswerForm::Compact;
        Ok(Self { dispatch })
    }

    /// Looks for the answer to a question.
    pub(super) fn ask(
        &self,
        root: &Root,
        question: &str,
        screen: &mut AgentScreen<'_>,
        deadline: &Deadline,
    ) -> anyhow::Result<()> {
        // A new session, to which nothing was shown yet.
        let session = Session::new(self.dispatch.project.sessions.clone());
        let search = json!({ "query": question, "maxChars": SEARCH_CHARS });
        let found = screen.run(|| self.call(&session, "context_search", search));
        if !screen.show(&answer(format!("search \"{question}\""), &found, None)) {
            return Ok(());
        }
        for path in headings(&found).into_iter().take(OUTLINED_FILES) {
            let outline = json!({ "path": path, "outline": true });
            let outline = screen.run(|| self.call(&session, "read_file", outline));
            let shown = ShownAnswer {
                can_answer: false,
                ..answer(format!("outline {path}"), &outline, Some(path))
            };
            if !screen.show(&shown) {
                return Ok(());
            }
            for (first, last) in best_ranges(&outline, question, READ_DEFINITIONS) {
                let range = json!({ "path": path, "ranges": [format!("{first}-{last}")] });
                let text = screen.run(|| self.call(&session, "read_file", range));
                if !screen.show(&answer(
                    format!("read {path} --ranges {first}-{last}"),
                    &text,
                    Some(path),
                )) {
                    return Ok(());
                }
            }
        }
        let words = screen.run(|| rarest_words(root, question, deadline))?;
        for word in words.iter().take(SEARCHED_WORDS) {
            let found = screen.run(|| self.call(&session, "grep_codebase", json!({ "pattern": word })));
            if !screen.show(&answer(format!("grep {word}"), &found, None)) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The text of an answer or of an error, which an agent reads as well.
    fn call(&self, session: &Session, tool: &str, arguments: Value) -> String {
        let Value::Object(arguments) = arguments else {
            return String::new();
        };
        let arguments: Object = arguments;
        let deadline = self.dispatch.deadline();
        let caller = CallContext {
            session,
            consent: Consent::Nobody,
            deadline: &deadline,
            report: &|_| {},
        };
        self.dispatch.call(caller, tool, arguments).text
    }
}

fn answer<'a>(command: String, text: &'a str, about: Option<&'a str>) -> ShownAnswer<'a> {
    ShownAnswer {
        command,
        text,
        about,
        can_answer: true,
    }
}

/// The files that an answer in the compact form has headings of, `PATH:LINES NAME`, each once.
fn headings(answer: &str) -> Vec<&str> {
    let mut paths: Vec<&str> = Vec::new();
    for line in answer.lines() {
        let Some((path, rest)) = line.split_once(':') else {
            continue;
        };
        let is_heading = rest.starts_with(|c: char| c.is_ascii_digit())
            && !path.is_empty()
            && !path.contains(char::is_whitespace)
            && !path.chars().all(|c| c.is_ascii_digit());
        if is_heading && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_an_answer_are_those_of_its_headings() {
        let answer = "src/a.rs:1-4 function dive 0.9\n1\tfn dive() {\n2\t    at(\"b.rs:7\");\nsrc/b.rs:3 rise\n12:3\nsrc/a.rs:9 x\n";
        assert_eq!(headings(answer), ["src/a.rs", "src/b.rs"]);
    }
}
