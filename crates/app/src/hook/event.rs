//! Events of clients and answers to them, as values.
//!
//! Invariant: an answer that replaces the input of a tool has every field that the input had.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// An event of a client.
#[derive(Clone, Debug)]
pub(super) struct HookEvent {
    pub(super) kind: EventKind,
    /// The client's name for its session, empty if it says none.
    pub(super) session: String,
    pub(super) directory: PathBuf,
}

#[derive(Clone, Debug)]
pub(super) enum EventKind {
    /// A shell command is about to run.
    Shell(ShellCall),
    /// A file is about to be read, with this input of the client's tool.
    Read(Map<String, Value>),
    /// A search of the client's own has ended.
    Search(SearchFound),
    SessionStart,
}

/// A call of a client's tool for shell commands.
#[derive(Clone, Debug)]
pub(super) struct ShellCall {
    pub(super) line: String,
    /// The directory that it would run in.
    pub(super) directory: PathBuf,
    /// The whole input of the tool.
    input: Map<String, Value>,
}

/// How much a search of a client's own found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchFound {
    Nothing,
    Some,
    /// More than a model should read, or more than the client shows.
    TooMuch,
}

/// The answer to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HookAnswer {
    /// The tool gets another command.
    Rewrite {
        input: Map<String, Value>,
        only_reads: bool,
    },
    /// The tool reads a part, and the model is told so.
    ReadPart {
        input: Map<String, Value>,
        context: String,
    },
    /// The model is told something.
    Context(String),
}

/// The key of the command line in the input of every client's tool.
const COMMAND: &str = "command";

/// Characters of a result above which a search found too much.
const MAX_SEARCH_CHARS: usize = 16_000;

impl ShellCall {
    /// A call with this input. `None` without a command line.
    pub(super) fn read(input: &Value, directory: &Path) -> Option<Self> {
        let input = input.as_object()?;
        Some(Self {
            line: input.get(COMMAND)?.as_str()?.to_owned(),
            directory: directory.to_owned(),
            input: input.clone(),
        })
    }

    /// The same call in the directory that a field of its input names.
    pub(super) fn in_directory_of(mut self, field: &str) -> Self {
        if let Some(directory) = self.input.get(field).and_then(Value::as_str) {
            self.directory = self.directory.join(directory);
        }
        self
    }

    /// The input with another command line.
    pub(super) fn with_line(&self, line: &str) -> Map<String, Value> {
        let mut input = self.input.clone();
        input.insert(COMMAND.to_owned(), line.into());
        input
    }
}

impl SearchFound {
    /// Reads a result as the client shows it to the model.
    pub(super) fn in_text(text: &str) -> Self {
        let start: String = text
            .trim_start()
            .chars()
            .take(20)
            .collect::<String>()
            .to_lowercase();
        if start.is_empty()
            || ["no matches", "no files", "no results"]
                .iter()
                .any(|none| start.starts_with(none))
        {
            Self::Nothing
        } else if text.len() > MAX_SEARCH_CHARS {
            Self::TooMuch
        } else {
            Self::Some
        }
    }
}

/// A text of an event. `None` if it is missing or of another type.
pub(super) fn text<'a>(input: &'a Value, name: &str) -> Option<&'a str> {
    input.get(name)?.as_str()
}

/// The directory in a field of an event.
pub(super) fn directory(input: &Value, name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(text(input, name)?);
    path.is_absolute().then_some(path)
}
